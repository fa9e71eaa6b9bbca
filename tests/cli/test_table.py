"""`killpoint table`: every verdict on a table, by tables whose answer can be read off."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from checker.engines import consultations
from checker.verdict import ExitCode
from model.evaluate_expressions import Frame
from model.specification import Table
from tests.cli.running import Edit, Killpoint

# A clerk looks at two things and acts by the table; whoever sits next to it turns the knob and presses the button. So
# the reachable situations are those in which the button is pressed only while the knob is not at `high`.
DESK = """
language: 1
protocol: desk
types:
  Knob: [low, middle, high]
  Act: [wait, go, stop_it]
stores:
  desk: {{holds: {{knob: {{type: Knob}}, pressed: {{type: bool}}, done: {{type: Act}}}}}}
faults:
  crash: {{of: [clerk]}}
tables:
  plan:
    match: {match}
    gives: {{act: Act}}
    rows:
{rows}
processes:
  clerk:
    steps:
      look: |
        when(pressed)
        done = plan.act
      lay: pass
      file: pressed = False
  neighbour:
    environment: true
    steps:
      turn: {{fair: false, do: "knob = choose({{low, middle}})"}}
      press: {{fair: false, do: "when(knob != high)\\npressed = True"}}
      turn_up: {{fair: false, do: "when(not pressed)\\nknob = high\\npressed = False"}}
scenarios:
  baseline: {{}}
  calm: {{allow: {{crash: 0}}}}
unused:
{unused}
"""


@pytest.fixture
def table(killpoint: Killpoint, here: Path) -> Any:
    """Look at a table with these rows, each `name: condition → cell`; return its document."""

    def looked(*rows: str, match: str = "exclusive", code: int = 0, options: tuple[str, ...] = ()) -> dict[str, Any]:
        lines, unused = [], []
        for row in rows:
            name, rest = row.split(": ", 1)
            when, cell = rest.split(" → ")
            lines.append(f'      {name}: {{when: "{when}", act: "{cell}"}}')
            unused.append(f"  plan.{name}: a test")
        text = DESK.format(match=match, rows="\n".join(lines), unused="\n".join(unused))
        (here / "desk.yaml").write_text(text, encoding="utf-8")
        done = killpoint("table", "desk.yaml", "--json", *(options if "--scenario" in options else ("--all", *options)))
        assert done.code == code, done.words
        (found,) = done.json["tables"]
        return dict(found)

    return looked


def rows_by(table: dict[str, Any], key: str) -> dict[str, Any]:
    return {row["name"]: row[key] for row in table["rows"]}


TOTAL = ("low: knob == low → wait", "middle: knob == middle → go", "high: knob == high → stop_it")


# --- Over all inputs ---


def test_a_table_with_one_row_for_every_value_is_total_and_exclusive(table: Any) -> None:
    found = table(*TOTAL)

    assert (found["gap"], found["overlaps"], found["valueless"], found["alike"]) == (None, [], [], [])
    assert found["inputs"] == [{"name": "knob", "values": 3}]
    assert found["typed_situations"] == 3


def test_a_situation_in_which_no_row_fits_is_shown_though_nothing_comes_to_it(table: Any) -> None:
    # With the button pressed the knob never stands at `high`, and the clerk looks only then.
    found = table("low: knob == low → wait", "middle: knob == middle → go", "high: knob == high and not pressed → go")

    assert found["gap"]["situation"] == {"knob": "high", "pressed": True}
    assert found["gap"]["reached_in"] is None


def test_two_rows_that_fit_are_shown_though_nothing_comes_to_it(table: Any) -> None:
    found = table(*TOTAL[:2], "high: knob == high → stop_it", "other: knob == high and pressed → wait")

    (pair,) = found["overlaps"]
    assert (pair["rows"], pair["text"], pair["reached_in"]) == (["high", "other"], "knob=high, pressed=True", None)


def test_of_the_first_row_that_fits_a_second_one_is_only_mentioned(table: Any) -> None:
    found = table("pressed: pressed → go", "low: knob == low → wait", "rest: True → go", match="first")

    (pair,) = found["overlaps"]
    assert pair["rows"] == ["pressed", "low"]
    assert pair["situation"] == {"knob": "low", "pressed": True}
    # A situation that is reached is shown whole.
    assert pair["reached_in"] == "baseline"


def test_a_row_behind_others_that_leave_it_nothing_is_shadowed(table: Any) -> None:
    rows = ("low: knob == low → wait", "not_low: knob != low → go", "late: knob == middle → stop_it")
    found = table(*rows, match="first")

    assert rows_by(found, "standing")["late"] == "shadowed"
    assert rows_by(found, "fits")["late"] is True
    assert rows_by(found, "fires")["late"] is False


def test_a_row_whose_condition_is_never_true_never_fits(table: Any) -> None:
    found = table(*TOTAL, "both: knob == low and knob == high → go")

    assert rows_by(found, "standing")["both"] == "never fits"


def test_rows_that_give_the_same_could_be_one(table: Any) -> None:
    found = table("low: knob == low → go", "middle: knob == middle → stop_it", "high: knob == high → go")

    assert found["alike"] == [["low", "high"]]


def test_cells_are_compared_by_what_they_come_to_where_the_rows_are_taken(table: Any) -> None:
    found = table("low: knob == low → wait", "other: knob != low → go if knob == low else wait")

    # On `low` the second one would give `go`; it is not taken there, but its row would have to say what both say.
    assert found["alike"] == []
    found = table("low: knob == low → wait", "other: knob != low → wait if pressed or not pressed else go")
    assert found["alike"] == [["low", "other"]]


def test_a_row_that_would_overtake_another_is_not_alike(table: Any) -> None:
    # Moved up to the first row, the third would take what the second one takes now.
    rows = ("low: knob == low → go", "pressed: pressed → stop_it", "middle: knob == middle → go", "rest: True → wait")

    assert table(*rows, match="first")["alike"] == []


def test_a_condition_without_value_is_shown(killpoint: Killpoint, table: Any, here: Path) -> None:
    table(*TOTAL)
    text = (here / "desk.yaml").read_text(encoding="utf-8")
    text = text.replace("done: {type: Act}", 'done: {type: Act}, seat: {type: "1..2?", init: 1}')
    text = text.replace('"knob == high"', '"knob == high and seat > 1"')
    (here / "desk.yaml").write_text(text, encoding="utf-8")

    (found,) = killpoint("table", "desk.yaml", "--all", "--json").json["tables"]
    (valueless,) = found["valueless"]
    assert (valueless["rows"], valueless["situation"]) == (["high"], {"knob": "high", "seat": None})
    assert found["gap"]["situation"] == {"knob": "high", "seat": 1}


def test_a_witness_says_only_what_matters(table: Any) -> None:
    found = table("low: knob == low → wait", "middle: knob == middle and (pressed or not pressed) → go")

    assert [one["name"] for one in found["inputs"]] == ["knob", "pressed"]
    assert found["gap"]["situation"] == {"knob": "high"}


# --- In reachable states ---


def test_situations_are_counted_at_the_moment_at_which_the_table_is_consulted(table: Any) -> None:
    found = table("low: knob == low → wait", "rest: knob != low and (pressed or not pressed) → go")

    # Only when the button is pressed, and then the knob is not at `high`.
    assert found["typed_situations"] == 6
    assert found["reached_situations"] == 2
    assert rows_by(found, "situations") == {"low": 1, "rest": 1}
    assert rows_by(found, "taken_in") == {"low": ["baseline", "calm"], "rest": ["baseline", "calm"]}


def test_a_row_that_could_be_taken_and_is_not_is_not_reached(table: Any) -> None:
    found = table(*TOTAL)

    assert rows_by(found, "standing") == {"low": "taken", "middle": "taken", "high": "not reached"}


def test_a_gap_that_is_reached_makes_the_exit_code_1(table: Any) -> None:
    found = table("low: knob == low → wait", "high: knob == high → go", code=1)

    assert found["gap"]["reached_in"] == "baseline"
    assert found["gap"]["situation"] == {"knob": "middle"}


def test_an_overlap_that_is_reached_makes_the_exit_code_1_of_an_exclusive_table_only(table: Any) -> None:
    rows = (*TOTAL, "pressed_low: pressed and knob == low → go")

    assert table(*rows, code=1)["overlaps"][0]["reached_in"] == "baseline"
    assert table(*rows, match="first")["overlaps"][0]["reached_in"] == "baseline"


def test_kill_points_are_those_after_which_the_killed_one_takes_the_row_next(killpoint: Killpoint) -> None:
    (found,) = killpoint("table", "lamp.yaml", "--scenario", "baseline", "--json").json["tables"]

    # Before `ask` nothing has been ordered, behind it something has; somebody may cancel before the hand looks again.
    after = ["hand.light", "hand.record", "hand.look"]
    assert rows_by(found, "kill_points") == {"new": ["hand.ask"], "asked": after, "over": ["hand.ask", *after]}


WATCHED = """
language: 1
protocol: watched
types:
  Work: [idle, started, finished]
stores:
  bench: {holds: {work: {type: Work}}}
  chair: {holds: {seen: {type: Work}}}
faults:
  crash: {of: [worker]}
tables:
  look:
    gives: {at: Work}
    rows:
      idle: {when: "work == idle", at: idle}
      started: {when: "work == started", at: started}
      finished: {when: "work == finished", at: finished}
processes:
  worker:
    steps:
      begin: |
        when(work == idle)
        work = started
      finish: work = finished
  watcher:
    environment: true
    steps:
      watch: seen = look.at
"""


def test_where_who_consults_never_crashes_kill_points_are_those_of_others(killpoint: Killpoint, here: Path) -> None:
    (here / "watched.yaml").write_text(WATCHED, encoding="utf-8")

    (found,) = killpoint("table", "watched.yaml", "--all", "--json").json["tables"]
    # Killed before it finishes, the worker never finishes: it waits for a bench that is idle.
    assert rows_by(found, "kill_points") == {"idle": [], "started": ["worker.finish"], "finished": []}
    assert rows_by(found, "standing") == {"idle": "taken", "started": "taken", "finished": "taken"}


STAGES = """
language: 1
protocol: stages
types:
  Stage: 0..2
stores:
  bench: {holds: {stage: {type: Stage}, seen: {type: Stage}, ticked: {type: bool}}}
faults:
  crash: {of: [worker]}
tables:
  look:
    match: first
    gives: {at: Stage}
    rows:
      ticked: {when: ticked, at: "0"}
      one: {when: "stage == 1", at: "1"}
      two: {when: "stage == 2", at: "2"}
processes:
  worker:
    steps:
      begin: |
        if stage == 1: goto(second)
        if stage == 2: goto(see)
      first: |
        stage = 1
        goto(see)
      second: stage = 2
      see: seen = look.at
  clock:
    environment: true
    steps:
      tick: {fair: false, do: "when(worker[0].at(see) and not ticked)\\nticked = True"}
"""


def test_the_last_crash_counts_and_a_consultation_ends_what_comes_after_it(killpoint: Killpoint, here: Path) -> None:
    (here / "stages.yaml").write_text(STAGES, encoding="utf-8")

    (found,) = killpoint("table", "stages.yaml", "--all", "--json").json["tables"]
    # At stage 1 the first look comes next after a crash before `first`. At stage 2 there has been a look since, or a
    # later crash. The clock ticks between the crash and the look.
    assert rows_by(found, "kill_points") == {
        "ticked": ["worker.first", "worker.second", "worker.see"],
        "one": ["worker.first"],
        "two": ["worker.second", "worker.see"],
    }


WAITING = """
language: 1
protocol: waiting
stores:
  lid: {holds: {lifted: {type: bool}}}
faults:
  crash: {of: [worker]}
tables:
  look:
    gives: {open: bool}
    rows:
      shut: {when: "not lifted", open: false}
      open: {when: "lifted", open: true}
processes:
  worker:
    on_crash: lifted = False
    steps:
      come: pass
      wait: when(look.open)
  helper:
    environment: true
    steps:
      lift: |
        when(worker[0].at(wait))
        lifted = True
"""


def test_looking_without_going_on_ends_nothing(killpoint: Killpoint, here: Path) -> None:
    (here / "waiting.yaml").write_text(WAITING, encoding="utf-8")

    (found,) = killpoint("table", "waiting.yaml", "--all", "--json").json["tables"]
    # Killed while it waits, it comes back to a lid that is shut, and waits on until somebody lifts it.
    assert "worker.wait" in rows_by(found, "kill_points")["shut"]
    assert "worker.wait" in rows_by(found, "kill_points")["open"]


def test_without_allowed_crashes_no_row_comes_after_a_kill_point(table: Any) -> None:
    found = table(*TOTAL, options=("--scenario", "calm"))

    assert rows_by(found, "kill_points") == {"low": [], "middle": [], "high": []}
    assert [one["name"] for one in found["scenarios"]] == ["calm"]


def test_a_run_that_is_cut_short_is_inconclusive(table: Any) -> None:
    assert table(*TOTAL, options=("--max-states", "3"), code=ExitCode.INCONCLUSIVE)["cut"] == ["baseline", "calm"]


def test_a_table_that_a_scenario_changes_is_left_out_and_looked_at_on_its_own(
    killpoint: Killpoint, table: Any, here: Path
) -> None:
    table(*TOTAL)
    text = (here / "desk.yaml").read_text(encoding="utf-8")
    text = text.replace("scenarios:\n", "scenarios:\n  bold: {variant: bold}\n")
    text += "\nvariants:\n  bold: {tables: {plan: {rows: {low: {act: go}}}}}\n"
    (here / "desk.yaml").write_text(text, encoding="utf-8")

    (plain,) = killpoint("table", "desk.yaml", "--all", "--json").json["tables"]
    (bold,) = killpoint("table", "desk.yaml", "--json", "--scenario", "bold").json["tables"]
    assert plain["left_out"] == ["bold"]
    assert [row["gives"]["act"] for row in plain["rows"]] == ["wait", "go", "stop_it"]
    assert [row["gives"]["act"] for row in bold["rows"]] == ["go", "go", "stop_it"]
    assert bold["alike"] == [["low", "middle"]]


# --- For people ---


def test_people_see_the_table_with_what_is_known_of_each_row(killpoint: Killpoint) -> None:
    lines = killpoint("table", "lamp.yaml", "--all").out.splitlines()

    assert lines[0] == "plan  first match, consulted by hand"
    row = next(line for line in lines if line.strip().startswith("asked"))
    assert row.split() == ["asked", "order", "==", "asked", "→", "true", "true", "1", "ask", "light", "record", "look"]
    assert "  total        in every situation some row fits" in lines


def test_a_table_that_does_not_exist_and_a_file_without_any_are_bad_input(killpoint: Killpoint, here: Path) -> None:
    done = killpoint("table", "lamp.yaml", "plann")
    assert done.code == ExitCode.BAD_INPUT
    assert "did you mean `plan`" in done.words

    (here / "bare.yaml").write_text(
        "language: 1\nprotocol: bare\nprocesses: {p: {steps: {rest: pass}}}\n", encoding="utf-8"
    )
    assert killpoint("table", "bare.yaml").code == ExitCode.BAD_INPUT


def test_a_consultation_counts_once_however_often_it_happens(monkeypatch: pytest.MonkeyPatch, table: Any) -> None:
    asked: list[Table] = []
    right = consultations._judged

    def judged(table: Table, frame: Frame) -> consultations.Consulted:
        asked.append(table)
        return right(table, frame)

    monkeypatch.setattr(consultations, "_judged", judged)

    table(*TOTAL, options=("--scenario", "baseline"))

    assert len(asked) == 2


def test_unless_told_it_is_about_the_first_scenario_alone(killpoint: Killpoint) -> None:
    unless_told = killpoint("table", "lamp.yaml").out

    assert unless_told == killpoint("table", "lamp.yaml", "--scenario", "baseline").out
    assert "states of baseline" in unless_told


def test_one_scenario_and_all_of_them_exclude_each_other(killpoint: Killpoint) -> None:
    assert killpoint("table", "lamp.yaml", "--all", "--scenario", "baseline").code == ExitCode.BAD_INPUT


def test_what_has_no_room_side_by_side_stands_row_by_row(
    killpoint: Killpoint, edit: Edit, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = edit(("look", "look_whether_it_is_lit"), ('"order == asked"', '"order == asked and order != done"'))
    monkeypatch.setenv("COLUMNS", "60")
    done = killpoint("table", name)

    assert max(len(line) for line in done.out.splitlines()) <= 60
    assert "when order == asked and order != done" in done.words
    assert "→ act=true look_whether_it_is_lit=true" in done.words
    assert "…" not in done.out

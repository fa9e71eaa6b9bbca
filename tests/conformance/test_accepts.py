"""Logs: runs of the model are accepted with what is hidden filled in, and tampered ones are not."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from checker.conformance.accepts import Acceptor, TooManyStates
from checker.conformance.eventlog import Recorded, events_of, header_of, recorded_of
from checker.conformance.graph import CutShort, Erring, Graph, build
from checker.conformance.translation import plain, values_of
from checker.exploration import Limits
from model.diagnostics import SpecificationError
from model.loader import load_file
from model.system import TransitionSystem
from tests.cli.schemas import validator
from tests.conformance.commands import STAMPS, answered, ran
from tests.strategies.specifications import specifications
from tests.strategies.trying import loaded, tries

Capture = pytest.CaptureFixture[str]
Line = dict[str, Any]

HEADER: Line = {"killpoint": 1, "protocol": "stamps", "scenario": "baseline"}
STAMP_ONLY: Line = {**HEADER, "records": {"steps": ["clerk.stamp"]}}
ONE_STAMP: list[Line] = [
    {"step": "clerk.rest", "instance": 0},
    {"step": "clerk.pick", "choices": ["blue"], "observed": {"status": "stamping", "clerk.picked": "blue"}},
    {"step": "clerk.stamp", "faults": [], "observed": {"inked": ["blue"]}},
    {"step": "clerk.record"},
    {"observed": {"status": "stamped", "stamps": 1}},
]


def written(tmp_path: Path, *lines: Line) -> str:
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return str(path)


def test_a_full_log_is_a_run(capsys: Capture, tmp_path: Path) -> None:
    document = answered(capsys, "accepts", STAMPS, written(tmp_path, HEADER, *ONE_STAMP))

    assert (document["exit_code"], document["accepted"], document["events"]) == (0, True, 5)
    assert document["lines"] == [2, 3, 4, 5]
    assert document["run"]["final"]["status"] == "stamped"


def test_a_log_without_events_is_none(capsys: Capture, tmp_path: Path) -> None:
    done = ran(capsys, "accepts", STAMPS, written(tmp_path, HEADER))

    assert done.code == 2
    assert "the log has no event after its header" in " ".join(done.err.split())


def test_hidden_steps_are_filled_in(capsys: Capture, tmp_path: Path) -> None:
    log = written(
        tmp_path, STAMP_ONLY, {"step": "clerk.stamp", "observed": {"inked": ["red"]}}, {"step": "clerk.stamp"}
    )
    done = ran(capsys, "accepts", STAMPS, log)
    document = answered(capsys, "accepts", STAMPS, log)

    assert done.code == 0
    # Between two stamps: a crash and a restart, rest, pick; or record, the chief, rest, pick.
    assert "2 events, 6 of its 8 steps filled in" in done.words
    assert document["lines"] == [None, None, 2, None, None, None, None, 3]


def test_what_a_log_says_that_it_records_did_not_happen_unrecorded(capsys: Capture, tmp_path: Path) -> None:
    log = written(tmp_path, STAMP_ONLY, {"observed": {"stamps": 1}})
    done = ran(capsys, "accepts", STAMPS, log)

    assert done.code == 1
    assert "nothing explains line 2," in done.words


@pytest.mark.parametrize(
    ("change", "line", "reason"),
    [
        ({0: {"step": "clerk.pick"}}, 2, "clerk stands before rest"),
        ({1: {"step": "chief.empty", "observed": {"colour": "red"}}}, 3, "colour=red (the model: None)"),
        ({2: {"step": "chief.empty"}}, 4, "not enabled: `when(status != stamping)` bars the way"),
        ({2: {"step": "clerk.stamp", "faults": ["smudge"]}}, 4, "the scenario does not allow smudge"),
        (
            {2: {"step": "clerk.stamp", "observed": {"inked": ["blue", "red"]}}},
            4,
            "inked={blue, red} (the model: {blue})",
        ),
        ({1: {"step": "clerk.pick", "choices": ["green"]}}, 3, "it comes out otherwise: with choices ['red']"),
        ({3: {"restart": "clerk"}}, 5, "it is not down"),
        ({3: {"crash": "clerk.stamp"}}, 5, "clerk stands before record"),
        ({4: {"observed": {"status": "empty"}}}, 6, "status=empty (the model: stamped)"),
        ({3: {"step": "clerk.record", "observed": {"stamps": 2}}}, 5, "stamps=2 (the model: 1)"),
    ],
)
def test_a_log_that_was_tampered_with_is_rejected_at_its_line_with_the_reason(
    capsys: Capture, tmp_path: Path, change: dict[int, Line], line: int, reason: str
) -> None:
    lines = [change.get(number, event) for number, event in enumerate(ONE_STAMP)]
    log = written(tmp_path, HEADER, *lines)
    done = ran(capsys, "accepts", STAMPS, log)
    document = answered(capsys, "accepts", STAMPS, log)

    assert done.code == 1
    assert f"nothing explains line {line}," in done.words
    assert f"why not: {reason}" in done.words or reason in done.words
    assert document["rejection"]["line"] == line
    assert document["rejection"]["possible"] >= 1


def test_a_crash_where_the_scenario_allows_none_any_more_is_said(capsys: Capture, tmp_path: Path) -> None:
    header = {**HEADER, "scenario": "smudged"}
    crash: list[Line] = [*ONE_STAMP[:3], {"crash": "clerk.record"}, {"restart": "clerk"}]
    early = written(tmp_path, header, *ONE_STAMP[:1], {"crash": "clerk.pick"})
    assert "the scenario allows crash only at clerk.record" in ran(capsys, "accepts", STAMPS, early).words

    often = written(tmp_path, header, *crash, *crash, *crash)
    done = ran(capsys, "accepts", STAMPS, often)
    assert done.code == 1
    assert "the scenario allows crash at most 2 times, and so often it has happened" in done.words


IDLE = """
language: 1
protocol: idle
faults: {crash: {of: [worker]}}
stores: {shelf: {holds: {done: {type: bool}, crashes: {type: 0..1}}}}
processes:
  worker:
    volatile: {found: {type: bool}}
    steps: {rest: "found = done", work: "done = True"}
properties: {can_be_done: {possible: "done"}}
"""
ON_CRASH = ("    volatile", "    on_crash: crashes = 1\n    volatile")


@pytest.mark.parametrize(
    ("change", "lines", "accepted"),
    [
        (("", ""), [{"crash": "worker.rest"}, {"step": "worker.rest"}], True),
        (("", ""), [{"step": "worker.rest"}, {"crash": "worker.rest"}], False),
        (("", ""), [{"crash": "worker.rest", "observed": {"done": True}}], False),
        (("{of: [worker]}", "{of: [worker], at_most: 0}"), [{"crash": "worker.rest"}], False),
        # A crash that changes something is one of the model's, and the second one changes nothing more.
        (ON_CRASH, [{"crash": "worker.rest", "observed": {"crashes": 0}}], False),
        (ON_CRASH, [{"crash": "worker.rest", "observed": {"crashes": 1}}] * 2, True),
    ],
)
def test_a_crash_that_loses_nothing_is_no_transition_and_accepted(
    capsys: Capture, tmp_path: Path, change: tuple[str, str], lines: list[Line], accepted: bool
) -> None:
    (tmp_path / "idle.yaml").write_text(IDLE.replace(*change), encoding="utf-8")
    log = written(tmp_path, {"killpoint": 1}, *lines)

    assert ran(capsys, "accepts", str(tmp_path / "idle.yaml"), log).code == (0 if accepted else 1)


def test_the_scenario_of_the_option_comes_before_that_of_the_header(capsys: Capture, tmp_path: Path) -> None:
    log = written(tmp_path, HEADER, {"crash": "clerk.rest"})

    assert ran(capsys, "accepts", STAMPS, log).code == 0
    assert ran(capsys, "accepts", STAMPS, log, "-s", "smudged").code == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: the line is no JSON"),
        ("[]", "1: the line is no JSON object"),
        ("{}", "1: the first line is no header of version 1"),
        ('{"killpoint": 2}', "1: the first line is no header of version 1"),
        ('{"killpoint": 1, "protocl": "stamps"}', "the header has no key `protocl`"),
        ('{"killpoint": 1, "protocol": "letters"}', "the log is of the protocol `letters`"),
        ('{"killpoint": 1, "scenario": "basline"}', "there is no scenario `basline`"),
        ('{"killpoint": 1, "scenario": 3}', "`scenario` is a name, not 3"),
        ('{"killpoint": 1, "records": ["clerk.stamp"]}', "`records` has steps, crashes, restarts"),
        ('{"killpoint": 1, "records": {"step": []}}', "`records` has no key `step`"),
        ('{"killpoint": 1, "records": {"steps": "clerk"}}', "`records.steps` is a list of names"),
        ('{"killpoint": 1, "records": {"steps": ["clerk.stmp"]}}', "did you mean `clerk.stamp`"),
        ('{"killpoint": 1}\n{"step": "clerk.stmp"}', "2: no step is named `clerk.stmp`"),
        ('{"killpoint": 1}\n{"step": 3}', "2: `step` is a name, not 3"),
        ('{"killpoint": 1}\n\n{"step": "clerk.rest"', "3: the line is no JSON"),
        ('{"killpoint": 1}\n{"step": "clerk.rest", "instance": 1}', "`clerk` has no instance 1 here"),
        ('{"killpoint": 1}\n{"step": "clerk.rest", "instance": true}', "`clerk` has no instance true here"),
        ('{"killpoint": 1}\n{"step": "clerk.rest", "choices": 1}', "`choices` is a list, not 1"),
        ('{"killpoint": 1}\n{"step": "clerk.rest", "faults": ["smug"]}', 'no fault is named "smug"'),
        ('{"killpoint": 1}\n{"step": "clerk.rest", "crash": "clerk.rest"}', "an event is one of `step`, `crash`"),
        ('{"killpoint": 1}\n{"observed": []}', "`observed` has values by the names of variables"),
        ('{"killpoint": 1}\n{"observed": {"stmps": 1}}', "did you mean `stamps`"),
        ('{"killpoint": 1}\n{"observed": {"stamps": 1.5}}', "it observes 1.5 as the value of `stamps`"),
        ('{"killpoint": 1}\n{"restart": "clark"}', "no process is named `clark`"),
        ('{"killpoint": 1}\n' + "[" * 100_000, "2: the line is no JSON"),
        ('{"killpoint": 1}\n{"a": "' + "x" * (1 << 20) + '"}', "2: the line has more than 1,048,576 characters"),
    ],
)
def test_a_line_that_means_nothing_is_refused_with_its_number(
    capsys: Capture, tmp_path: Path, text: str, message: str
) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(text, encoding="utf-8")
    done = ran(capsys, "accepts", STAMPS, str(log))

    assert done.code == 2
    assert message in done.words
    answered(capsys, "accepts", STAMPS, str(log))


def test_a_log_that_cannot_be_read_is_refused(capsys: Capture, tmp_path: Path) -> None:
    binary = tmp_path / "log.jsonl"
    binary.write_bytes(b"\xff\xfe")

    assert "cannot be read: it is not UTF-8 text" in ran(capsys, "accepts", STAMPS, str(binary)).words
    assert "cannot be read: No such file" in ran(capsys, "accepts", STAMPS, str(tmp_path / "none")).words


def test_out_of_time_is_inconclusive(capsys: Capture, tmp_path: Path) -> None:
    log = written(tmp_path, STAMP_ONLY, {"step": "clerk.stamp"})
    done = ran(capsys, "accepts", STAMPS, log, "--timeout", "0.000001")

    assert done.code == 3
    assert "it cannot be followed further: out of time" in done.words


def test_too_many_possible_states_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("checker.conformance.accepts.POSSIBLE_MAX", 3)
    system = TransitionSystem.of(load_file(Path(STAMPS)).scenarios["baseline"])
    acceptor = Acceptor(system, Recorded(steps=frozenset({"clerk.stamp"}), crashes=frozenset(), restarts=frozenset()))

    (event,) = events_of(['{"step": "clerk.stamp"}'], system)

    with pytest.raises(TooManyStates, match="more than 3 states at once"):
        acceptor.take(event)


@pytest.mark.parametrize("line", [HEADER, STAMP_ONLY, *ONE_STAMP, {"crash": "clerk.stamp.torn"}, {"restart": "clerk"}])
def test_the_lines_of_logs_are_what_their_schema_says(line: Line) -> None:
    assert list(validator("log").iter_errors(line)) == []


@pytest.mark.parametrize("line", [{}, {"step": 3}, {"stp": "a.b"}, {"killpoint": 2}, {"step": "a.b", "crash": "a.b"}])
def test_the_schema_of_logs_refuses_other_lines(line: Line) -> None:
    assert list(validator("log").iter_errors(line)) != []


# --- Any protocol ---


def run_of(graph: Graph, random: Random, length: int) -> list[Line]:
    """Return a random run as a full log, with a few of the values after each event."""
    state, lines = random.randrange(graph.initial), []
    for _ in range(length):
        leaving = graph.leaving(state)
        if not leaving:
            break
        edge = random.choice(leaving)
        way, state = graph.ways[graph.way_of[edge]], graph.targets[edge]
        name = {"step": way.action.step, "crash": way.action.kill_point, "restart": way.action.process}[way.action.kind]
        values = values_of(graph.system, graph.states[state])
        shown = random.sample(sorted(values), min(3, len(values)))
        lines.append(
            {
                way.action.kind: name,
                "instance": way.action.instance,
                "choices": [plain(choice) for choice in way.choices],
                "faults": list(way.faults),
                "observed": {key: values[key] for key in shown},
            }
        )
    return lines


def small_graph(text: str) -> Graph:
    for claim in loaded(text).scenarios.values():
        try:
            graph = build(TransitionSystem.of(claim), Limits(), 300)
        except (CutShort, Erring, SpecificationError):
            continue
        if graph.targets:
            return graph
    assume(False)
    raise AssertionError


def follows(graph: Graph, lines: list[Line], records: Line | None = None) -> int | None:
    """Return the number of the first event that is not explained, from 0; None where all are."""
    header = header_of(json.dumps({"killpoint": 1} if records is None else {"killpoint": 1, "records": records}))
    acceptor = Acceptor(graph.system, recorded_of(header, graph.system.specification))
    for number, event in enumerate(events_of(map(json.dumps, lines), graph.system)):
        if acceptor.take(event) is not None:
            return number
    explained = acceptor.explanation()
    assert [event for event in explained.events if event is not None] == acceptor.events
    return None


@tries(25)
@given(specifications(), st.integers(0, 999))
def test_a_run_of_a_random_model_is_accepted_and_also_with_less_of_it_recorded(text: str, seed: int) -> None:
    graph, random = small_graph(text), Random(seed)
    lines = run_of(graph, random, 12)

    assert follows(graph, lines) is None

    steps = sorted({step.id for step in graph.system.steps()})
    hidden = set(random.sample(steps, len(steps) // 2))
    kept = [line for line in lines if line.get("step") not in hidden]
    records: Line = {"steps": [step for step in steps if step not in hidden]}
    records |= {kind: list(graph.system.specification.processes) for kind in ("crashes", "restarts")}
    assert follows(graph, kept, records) is None


@tries(25)
@given(specifications(), st.integers(0, 999))
def test_an_observation_that_no_successor_has_is_rejected_at_its_event(text: str, seed: int) -> None:
    graph, random = small_graph(text), Random(seed)
    lines = run_of(graph, random, 8)
    assume(lines)
    place = random.randrange(len(lines))
    label = next((slot.name for slot in graph.system.slots if slot.name.endswith(" at")), None)
    assume(label is not None)
    lines[place] = {**lines[place], "observed": {label: "nowhere"}}

    assert follows(graph, lines) == place

"""The plain explorer: counts that others have published, and each rule about properties, errors and coverage."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from checker.engines.oracle import explore
from checker.exploration import Exploration, Limits, Progress
from model.diagnostics import Code
from model.loader import load, load_file
from model.source import Source
from model.system import TransitionSystem

CLASSICS = Path(__file__).resolve().parents[2] / "spec" / "classics"

# A worker that may be killed between taking an item and storing it; the item is handed out again.
WORKER = """
language: 1
protocol: worker
stores:
  disk: {holds: {stored: {type: 0..2}, open: {type: bool, init: true}}}
faults:
  crash: {of: [worker], at_most: CRASHES}
processes:
  worker:
    volatile: {item: {type: bool}}
    steps:
      rest: |
        when(open)
        item = True
      store: |
        stored = min(stored + 1, 2)
      close: |
        open = False
        goto(rest)
properties:
  once: {always: "stored <= 1"}
  grows: {step: "next(stored) >= stored"}
  stays: {step: "next(stored) == stored"}
  can_close: {possible: "not open"}
  cannot: {possible: "stored == 2 and not open and worker[0].at(store)"}
  closes: {recoverable: "not open"}
"""


def run(text: str, limits: Limits | None = None) -> Exploration:
    file = load(Source("x.yaml", text))
    (scenario,) = file.scenarios.values()
    return explore(TransitionSystem.of(scenario), limits or Limits())


def worker(crashes: str = "unlimited", limits: Limits | None = None) -> Exploration:
    return run(WORKER.replace("CRASHES", crashes), limits)


def environment(steps: str, holds: str = "x: {type: 0..3}", properties: str = "") -> Exploration:
    """Explore a system of environment steps over one store; all three texts are in YAML's flow style."""
    text = f"""
language: 1
protocol: small
faults: {{mishap: {{at_most: unlimited}}}}
stores: {{s: {{holds: {{{holds}}}}}}}
processes: {{e: {{environment: true, steps: {{{steps}}}}}}}
"""
    return run(text + (f"properties: {{{properties}}}\n" if properties else ""))


def actions(exploration: Exploration, name: str) -> list[str]:
    return [
        step.action.label + (" killed" if step.action.fault else "") for step in exploration.findings[name].trace.steps
    ]


# --- Counting ---


@pytest.mark.parametrize(
    ("scenario", "published"), [("baseline", (288, 1145, 1146, 11)), ("five-managers", (8832, 58145, 58146, 17))]
)
def test_two_phase_commit_has_the_published_size(scenario: str, published: tuple[int, int, int, int]) -> None:
    file = load_file(CLASSICS / "two_phase_commit.yaml")

    found = explore(TransitionSystem.of(file.scenarios[scenario]), Limits())

    assert (found.states, found.transitions, found.generated, found.depth) == published
    assert found.complete
    assert not found.cut


def test_two_paths_to_one_successor_are_two_transitions_and_one_state() -> None:
    found = environment('a: "x = choose({1, 2 - 1, 2})\\nx = 3"')

    assert (found.states, found.transitions, found.depth) == (2, 4, 2)


def test_a_transition_that_changes_nothing_counts() -> None:
    assert (found := environment('a: "pass"')).transitions == 1
    assert found.states == 1


# --- Properties ---


def test_a_violated_always_property_has_its_shortest_trace() -> None:
    found = worker()

    assert actions(found, "once") == ["rest", "store", "close killed", "rest", "store"]
    assert found.findings["once"].depth == 5


def test_without_the_crash_nothing_is_stored_twice() -> None:
    assert "once" not in worker("0").findings


def test_exploration_goes_on_behind_a_violation() -> None:
    found = worker()

    # `stays` is violated by the second transition already, and everything else is still decided.
    assert actions(found, "stays") == ["rest", "store"]
    assert found.findings.keys() == {"once", "stays", "can_close"}
    assert found.complete


def test_a_step_property_is_asked_of_crashes() -> None:
    found = run(
        WORKER.replace("CRASHES", "unlimited").replace(
            "next(stored) == stored", "next(worker[0].item) or not next(open)"
        )
    )

    # Closing drops the item too, but then nothing is open; while it is open only a crash does.
    assert actions(found, "stays") == ["rest", "store killed"]


def test_a_step_property_is_asked_of_transitions_that_change_nothing() -> None:
    found = environment('a: "pass"', properties='moves: {step: "next(x) != x"}')

    assert found.findings["moves"].depth == 1


def test_a_witness_is_the_first_state_that_shows_it() -> None:
    found = worker()

    assert actions(found, "can_close") == ["rest", "store", "close"]
    assert "cannot" not in found.findings


def test_an_initial_state_can_be_a_witness() -> None:
    assert environment('a: "pass"', properties='here: {possible: "x == 0"}').findings["here"].depth == 0


# --- Recovery ---


RECOVERY = 'up: "when(x < 2)\\nx += 1", over: "when(x == 1)\\nx = 3"'


def test_a_state_that_cannot_reach_the_goal_is_found_with_what_can_still_happen() -> None:
    found = environment(RECOVERY, properties='ends: {recoverable: "x == 3"}')

    finding = found.findings["ends"]
    assert [step.action.label for step in finding.trace.steps] == ["up", "up"]
    assert finding.still_possible == ()


def test_where_every_state_can_reach_the_goal_there_is_no_finding() -> None:
    assert "ends" not in environment(RECOVERY, properties='ends: {recoverable: "x >= 2"}').findings


@pytest.mark.parametrize(
    "way",
    ['{fair: false, do: "when(x == 2)\\nx = 3"}', '"when(x == 2 and fault(mishap))\\nx = 3"'],
    ids=["unfair", "fault"],
)
def test_only_fair_transitions_lead_to_the_goal(way: str) -> None:
    found = environment(f'up: "when(x < 2)\\nx += 1", last: {way}', properties='ends: {recoverable: "x == 3"}')

    # Nothing fair reaches the goal from anywhere; the first such state is the initial one.
    assert found.findings["ends"].depth == 0
    assert found.findings["ends"].still_possible == ("e.last", "e.up")


def test_a_step_with_a_fault_keeps_its_fair_paths() -> None:
    step = 'go: "when(x == 0)\\nif fault(mishap): x = 1\\nelse: x = 3", back: "when(x == 1)\\nx = 0"'

    assert "ends" not in environment(step, properties='ends: {recoverable: "x == 3"}').findings


def test_a_crash_is_no_way_to_recover() -> None:
    text = WORKER.replace("CRASHES", "unlimited").replace("open = False", "when(stored == 0)")
    text = text.replace('closes: {recoverable: "not open"}', 'closes: {recoverable: "worker[0].at(rest)"}')
    found = run(text)

    # Whoever is about to store cannot close any more; only a crash leads back to the first step.
    assert actions(found, "closes") == ["rest"]
    assert found.findings["closes"].still_possible == ("worker.rest", "worker.store")


# --- Errors ---


def test_an_error_in_a_step_is_kept_with_the_action_that_could_not_be_completed() -> None:
    found = environment('up: "x += 1"')

    assert found.failure is not None
    assert found.failure.error is not None
    assert found.failure.error.code is Code.ASSIGNED_OUTSIDE_TYPE
    assert found.failure.depth == 3
    assert found.failure.trace.failing is not None
    assert found.failure.trace.failing.label == "up"
    assert (found.states, found.transitions, found.failing_states) == (4, 3, 1)


def test_an_erring_path_gives_no_successor_and_the_others_of_its_step_do() -> None:
    found = environment('a: "when(x < 2)\\nx = choose({1, 2, 3 + 1})"')

    assert (found.states, found.failing_states) == (3, 2)
    assert found.failure is not None
    assert found.failure.depth == 0, "the nearest of the two"


GAPS = "x: {type: 0..3}, y: {type: bool, per: 1..2}"


def test_an_error_in_a_state_property_is_kept_where_it_is_evaluated() -> None:
    found = environment('up: "when(x < 3)\\nx += 1"', GAPS.replace("1..2", "0..2"), 'p: {always: "y[x] == False"}')

    assert found.failure is not None
    assert found.failure.depth == 3
    assert found.failure.trace.failing is None
    assert found.failing_states == 1
    assert "p" not in found.findings


def test_an_error_on_a_transition_makes_its_source_erring() -> None:
    found = environment('up: "when(x < 3)\\nx += 1"', GAPS.replace("1..2", "0..2"), 'p: {step: "next(y[x]) == False"}')

    assert found.failure is not None
    assert found.failure.depth == 2
    assert found.failing_states == 1


def test_a_state_with_two_errors_counts_once() -> None:
    found = environment(
        'up: "x += 1"', GAPS.replace("1..2", "0..2"), 'p: {always: "not y[x]"}, q: {always: "not y[x]"}'
    )

    assert found.failing_states == 1


# --- Waiting ---


WAITING = WORKER.replace("open = False", "when(stored == 0)")


def test_an_end_state_in_the_middle_of_a_process_is_reported() -> None:
    found = run(WAITING.replace("CRASHES", "0"))

    assert found.waiting is not None
    assert [step.action.label for step in found.waiting.trace.steps] == ["rest", "store"]


def test_where_a_crash_is_possible_nothing_waits_for_ever() -> None:
    assert run(WAITING.replace("CRASHES", "unlimited")).waiting is None


def test_a_process_that_rests_at_its_first_step_does_not_wait() -> None:
    assert worker("0").waiting is None


# --- Coverage ---


TABLE = """
language: 1
protocol: tabled
types: {Answer: [yes_, no_, later]}
stores: {s: {holds: {x: {type: 0..3}}}}
tables:
  plan:
    match: first
    gives: {answer: Answer}
    rows:
      low: {when: "x <= 1", answer: later}
      one: {when: "x == 1", answer: yes_}
      four: {when: "x == 4", answer: yes_}
      rest: {when: "True", answer: no_}
processes:
  e:
    environment: true
    steps:
      up: |
        if x == 2: when(False)
        when(plan.answer == later)
        if x == 0: x = 1
        else: x += 1
      never: when(x == 3)
properties:
  p: {always: "implies(x == 1, x < 2) and implies(x == 3, True)"}
"""


def text_at(source: str, line: int, column: int, end_column: int) -> str:
    return source.splitlines()[line - 1][column - 1 : end_column - 1]


def test_coverage_names_what_transitions_and_properties_used() -> None:
    coverage = run(TABLE).coverage

    assert coverage.steps == {"e.up"}
    assert {text_at(TABLE, s.line, s.column, s.end_column) for s in coverage.premises} == {"implies(x == 1, x < 2)"}
    assert {text_at(TABLE, s.line, s.column, s.end_column) for s in coverage.rows} == {"low"}


def test_a_branch_counts_only_on_a_path_that_becomes_a_transition() -> None:
    branches = {(text_at(TABLE, s.line, s.column, s.end_column), taken) for s, taken in run(TABLE).coverage.branches}

    # The path behind `x == 2` ends in a false `when`: it does not exist, and neither of its arms is used.
    assert branches == {("x == 2", False), ("x == 0", True), ("x == 0", False)}


def test_a_branch_of_a_path_that_does_not_exist_is_not_given_to_the_next_one() -> None:
    found = environment('a: "when(x == 0)\\nx = choose({1, 2})\\nif x == 1: when(False)"')

    assert {taken for _, taken in found.coverage.branches} == {False}


def test_a_row_counts_where_it_keeps_a_when_false() -> None:
    text = TABLE.replace("if x == 2: when(False)", "pass")
    rows = {text_at(text, s.line, s.column, s.end_column) for s in run(text).coverage.rows}

    assert rows == {"low", "rest"}


def test_a_row_behind_the_one_that_matches_is_known_to_be_shadowed() -> None:
    shadowed = run(TABLE).coverage.shadowed_rows

    assert shadowed is not None
    # `rest` is always true and never taken here; `four` is dead by itself.
    assert {text_at(TABLE, s.line, s.column, s.end_column) for s in shadowed} == {"one", "rest"}


def test_a_shadowed_row_whose_condition_has_no_value_is_not_called_shadowed() -> None:
    text = TABLE.replace("x: {type: 0..3}", "x: {type: 0..3}, y: {type: bool, per: 2..3}").replace(
        '"x == 1", ', '"y[x]", '
    )
    found = run(text)

    assert found.failure is None
    assert found.coverage.shadowed_rows is not None
    assert "one" not in {text_at(text, s.line, s.column, s.end_column) for s in found.coverage.shadowed_rows}


def test_crashes_cover_kill_points_and_faults_but_no_steps() -> None:
    coverage = worker().coverage

    assert coverage.kill_points == {"worker.store", "worker.close"}
    assert coverage.faults == {"crash"}
    assert coverage.steps == {"worker.rest", "worker.store", "worker.close"}
    assert not worker("0").coverage.faults


# --- Limits ---


def test_a_limit_on_states_cuts_the_exploration_and_says_so() -> None:
    found = worker(limits=Limits(states_max=3))

    assert not found.complete
    assert "3 states" in found.cut
    # What is behind the cut may be the way to the goal.
    assert "closes" not in found.findings


def test_a_deadline_and_an_interrupt_cut_the_exploration() -> None:
    assert worker(limits=Limits(deadline=time.monotonic() - 1)).cut == "out of time"
    assert worker(limits=Limits(interrupted=True)).cut == "interrupted"


def test_a_recoverable_property_is_not_judged_by_a_part_of_the_space() -> None:
    text = WORKER.replace("CRASHES", "0").replace('closes: {recoverable: "not open"}', 'closes: {recoverable: "False"}')

    assert "closes" in run(text).findings
    assert "closes" not in run(text, Limits(states_max=2)).findings


def test_progress_is_reported_for_every_layer() -> None:
    seen: list[Progress] = []

    found = worker(limits=Limits(on_progress=seen.append))

    assert [progress.layer for progress in seen] == list(range(1, found.depth + 1))
    assert sum(progress.frontier for progress in seen) == found.states

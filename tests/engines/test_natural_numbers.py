"""Numbers without end: explored up to a bound, and what may then be said."""

import pytest

from checker.exploration import Exploration
from checker.judgement import ScenarioReport, judge_scenario
from checker.verdict import ExitCode, Verdict
from model.diagnostics import Code, SpecificationError
from model.evaluate import Evaluator
from model.loader import load
from model.source import Source
from model.system import TransitionSystem
from model.transitions import Failure
from tests.engines.exploring import ENGINES, explored_by

QUEUE = """\
language: 1
protocol: queue
stores:
  desk:
    holds:
      drawn: {type: nat}
      served: {type: nat}
processes:
  machine:
    environment: true
    steps:
      draw: "drawn += 1"
  clerk:
    steps:
      rest: "when(served < drawn)"
      serve: "served += 1"
properties:
  in_order: {always: "served <= drawn"}
  by_one: {step: "next(served) <= served + 1"}
  few: {always: "served < 3"}
  three: {possible: "drawn == 3 and served == 2"}
  far: {possible: "drawn == 9"}
  empties: {recoverable: "served == drawn"}
bound: 4
scenarios:
  baseline: {}
  near: {bound: 2}
  expecting: {bound: 2, only: [few], breaks: [few], because: it is said}
"""


def explored(name: str, engine: str) -> tuple[ScenarioReport, Exploration]:
    scenario = load(Source("queue.yaml", QUEUE)).scenarios[name]
    system = TransitionSystem.of(scenario)
    exploration = explored_by(engine, system)
    return judge_scenario(scenario, exploration), exploration


@pytest.mark.parametrize("engine", ENGINES)
class TestABound:
    def test_every_state_within_the_bound_is_looked_at_and_none_beyond(self, engine: str) -> None:
        # A state for each served <= drawn <= 4, and for each of those with somebody waiting one with the clerk ready.
        assert explored("baseline", engine)[1].states == 15 + 10

    def test_what_does_not_break_is_bounded(self, engine: str) -> None:
        verdicts = {p.name: p.verdict for p in explored("baseline", engine)[0].properties}

        assert verdicts["in_order"] is verdicts["by_one"] is Verdict.BOUNDED

    def test_what_breaks_within_it_breaks(self, engine: str) -> None:
        few = next(p for p in explored("baseline", engine)[0].properties if p.name == "few")

        assert few.verdict is Verdict.VIOLATED
        # Three times drawn, three times served in two steps each.
        assert few.finding is not None
        assert few.finding.depth == 9

    def test_what_is_reached_within_it_is_possible_and_what_is_not_is_open(self, engine: str) -> None:
        verdicts = {p.name: p.verdict for p in explored("baseline", engine)[0].properties}

        assert verdicts["three"] is Verdict.HOLDS
        assert verdicts["far"] is Verdict.UNKNOWN

    def test_ways_to_a_goal_are_open(self, engine: str) -> None:
        report = explored("near", engine)[0]

        assert next(p for p in report.properties if p.name == "empties").verdict is Verdict.UNKNOWN
        assert report.exit_code is ExitCode.INCONCLUSIVE

    def test_the_bound_is_among_what_is_not_covered(self, engine: str) -> None:
        report = explored("near", engine)[0]

        assert "runs in which a number exceeds the bound 2: drawn, served" in report.not_covered

    def test_a_declared_break_that_lies_beyond_is_open(self, engine: str) -> None:
        report = explored("expecting", engine)[0]

        assert [p.verdict for p in report.properties] == [Verdict.BOUNDED]
        assert report.exit_code is ExitCode.INCONCLUSIVE

    def test_a_process_that_can_go_on_only_beyond_it_does_not_wait(self, engine: str) -> None:
        text = QUEUE.replace('serve: "served += 1"', 'serve: "when(drawn > served + 4)"')
        system = TransitionSystem.of(load(Source("queue.yaml", text)).scenarios["baseline"])
        exploration = explored_by(engine, system)

        assert exploration.waiting is None


def test_assigning_something_below_zero_is_an_error() -> None:
    text = QUEUE.replace('serve: "served += 1"', 'serve: "served -= 1"')
    system = TransitionSystem.of(load(Source("queue.yaml", text)).scenarios["baseline"])

    exploration = explored_by("columnar", system)

    assert exploration.failure is not None
    assert exploration.failure.error is not None
    assert exploration.failure.error.code is Code.ASSIGNED_OUTSIDE_TYPE


def test_an_initial_value_beyond_the_bound_is_refused() -> None:
    text = QUEUE.replace("drawn: {type: nat}", "drawn: {type: nat, init: 7}")

    with pytest.raises(SpecificationError, match="beyond the bound 4"):
        TransitionSystem.of(load(Source("queue.yaml", text)).scenarios["baseline"])


def test_without_a_bound_the_evaluator_goes_on_for_ever() -> None:
    system = TransitionSystem.endless(load(Source("queue.yaml", QUEUE)).scenarios["baseline"])
    evaluator = Evaluator(system)
    state = system.initial_states[0]
    for _ in range(100):
        outcome = next(o for o in evaluator.transitions(state) if o.action.label == "draw")
        assert not isinstance(outcome, Failure)
        state = outcome.successor

    assert state[0] == 100

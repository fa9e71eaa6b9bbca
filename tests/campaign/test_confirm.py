"""An engine that is wrong is found out by the evaluator, whatever it is wrong about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from checker.exploration import Exploration, Finding
from checker.trace import Trace
from checker.verdict import ExitCode, Verdict
from model.diagnostics import Code
from model.transitions import EvaluationError

Judge = Any
Wrong = Callable[[Exploration], None]

RIGHT = """
language: 1
protocol: up
stores: {s: {holds: {x: {type: 0..3}, y: {type: bool, per: 1..2}}}}
processes:
  w: {steps: {up: "when(x < 2)\\nx += 1", again: "when(x < 2)\\nx += 1"}}
properties:
  low: {always: "x <= 1"}
  by_two: {step: "next(x) == x + 2"}
  full: {possible: "x == 2"}
  one: {recoverable: "x == 1"}
  two: {recoverable: "x == 2"}
scenarios:
  baseline: {breaks: [low, by_two, one], because: x}
"""


def cut_last(finding: Finding) -> Finding:
    """Return the finding without the last transition of its trace."""
    return replace(finding, depth=finding.depth - 1, trace=Trace(finding.trace.initial, finding.trace.steps[:-1]))


def shorter(name: str) -> Wrong:
    def change(exploration: Exploration) -> None:
        exploration.findings[name] = cut_last(exploration.findings[name])

    return change


def another_depth(exploration: Exploration) -> None:
    exploration.findings["low"] = replace(exploration.findings["low"], depth=7)


def another_action(exploration: Exploration) -> None:
    finding = exploration.findings["low"]
    last = finding.trace.steps[-1]
    steps = (*finding.trace.steps[:-1], replace(last, action=replace(last.action, label="up")))
    exploration.findings["low"] = replace(finding, trace=Trace(finding.trace.initial, steps))


def another_start(exploration: Exploration) -> None:
    finding = exploration.findings["low"]
    trace = Trace(finding.trace.steps[0].state, finding.trace.steps[1:])
    exploration.findings["low"] = Finding(len(trace), trace)


def lost_where_it_is_not(exploration: Exploration) -> None:
    start = exploration.findings["low"].trace.initial
    exploration.findings["two"] = Finding(0, Trace(start))


def transition_without_a_transition(exploration: Exploration) -> None:
    exploration.findings["by_two"] = Finding(0, Trace(exploration.findings["low"].trace.initial))


def waiting_where_something_can_happen(exploration: Exploration) -> None:
    assert exploration.waiting is None
    exploration.waiting = cut_last(exploration.findings["low"])


def waiting_where_nobody_waits(exploration: Exploration) -> None:
    exploration.waiting = exploration.findings["low"]


def an_error_where_there_is_none(exploration: Exploration) -> None:
    span = exploration.system.specification.processes["w"].span
    error = EvaluationError(Code.NO_ROW_MATCHES, "no row", span)
    exploration.failure = Finding(0, Trace(exploration.findings["low"].trace.initial), error)


def an_error_that_is_not_named(exploration: Exploration) -> None:
    exploration.failure = Finding(0, Trace(exploration.findings["low"].trace.initial))


def test_what_is_right_is_confirmed(judged: Judge) -> None:
    assert judged(RIGHT).claim().exit_code is ExitCode.AS_DECLARED


@pytest.mark.parametrize(
    "wrong",
    [
        shorter("low"),
        shorter("by_two"),
        shorter("full"),
        shorter("one"),
        another_depth,
        another_action,
        another_start,
        lost_where_it_is_not,
        transition_without_a_transition,
        waiting_where_something_can_happen,
        waiting_where_nobody_waits,
        an_error_where_there_is_none,
        an_error_that_is_not_named,
    ],
)
def test_an_engine_that_is_wrong_is_contradicted(judged: Judge, wrong: Wrong) -> None:
    found = judged(RIGHT, tamper=lambda explorations: wrong(explorations["baseline"]))

    assert found.claim().exit_code is ExitCode.DISAGREEMENT
    assert found.messages()[0].startswith("oracle: ")
    assert found.report.exit_code is ExitCode.DISAGREEMENT


def test_a_finding_that_is_contradicted_is_not_shown(judged: Judge) -> None:
    found = judged(RIGHT, tamper=lambda explorations: shorter("low")(explorations["baseline"]))

    assert found.of("low").finding is None
    assert found.of("low").verdict is Verdict.UNKNOWN
    assert found.of("by_two").verdict is Verdict.VIOLATED


def test_an_error_is_found_again_by_its_action(judged: Judge) -> None:
    text = RIGHT.replace("when(x < 2)\\nx += 1", "x += 1")

    def blame_another(explorations: dict[str, Exploration]) -> None:
        failure = explorations["baseline"].failure
        assert failure is not None
        assert failure.trace.failing is not None
        other = replace(failure.trace.failing, label="elsewhere")
        explorations["baseline"].failure = replace(failure, trace=replace(failure.trace, failing=other))

    assert judged(text).claim().exit_code is ExitCode.BAD_INPUT
    assert judged(text, tamper=blame_another).claim().verdict is not Verdict.ERROR
    assert any("oracle:" in m for m in judged(text, tamper=blame_another).messages())


@pytest.mark.parametrize("kind", ["always", "step"])
def test_an_error_in_a_property_is_found_again(judged: Judge, kind: str) -> None:
    text = RIGHT.replace("scenarios:", f'  idx: {{{kind}: "not y[x]"}}\nscenarios:')

    claim = judged(text).claim()

    assert claim.failure is not None
    assert claim.failure.trace.failing is None
    assert claim.exit_code is ExitCode.BAD_INPUT


def test_a_property_without_a_value_where_it_is_decided_is_a_contradiction(judged: Judge) -> None:
    text = RIGHT.replace("scenarios:", '  idx: {always: "not y[x]"}\nscenarios:')

    def decide(explorations: dict[str, Exploration]) -> None:
        found = explorations["baseline"]
        found.findings["idx"] = Finding(0, Trace(found.findings["low"].trace.initial))

    assert any("has no value" in m for m in judged(text, tamper=decide).messages())

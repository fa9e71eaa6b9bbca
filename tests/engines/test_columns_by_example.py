"""Small specifications on which the columns once differed from the oracle, or easily could."""

from __future__ import annotations

import pytest

from checker.engines import columnar, oracle
from checker.exploration import Exploration, Limits
from model.loader import load
from model.source import Source
from model.system import TransitionSystem

HEAD = """
language: 1
protocol: example
parameters:
  p: {default: false}
types:
  E: [a, b]
  Small: 0..2
stores:
  left:
    holds:
      array: {type: bool, per: 0..1}
      flag: {type: bool}
      letter: {type: E}
      low: {type: -1..0}
      number: {type: Small}
"""

STEPS = {
    "an index that folds to a constant outside, in a target": "array[3 if letter in E else 0] = flag",
    "an index that folds to a constant outside, in a value": "flag = array[3 if letter in E else 0]",
    "an error where a parameter has decided already": "if array[3 if letter in E else 1] and p: flag = True",
    "an assignment that leaves its type in some states": "number += 1",
    "an error behind a condition": "if number < 2 or array[number]: number = 2 - number\nnumber += 1",
    "a choice with equal elements": "number = choose({number, 1, number, 2 - number})",
    "a loop that ends in the middle": "for i in Small:\n    if number == i: goto(second)\n    array[min(i, 1)] = True",
    "a when behind a choice": "number = choose(Small)\nwhen(number != 1)\nlow = -number if number <= 1 else -1",
}

PROPERTIES = {
    "a premise about what comes next": '{step: "implies(next(low) > -1, flag)"}',
    "a premise that is never true": '{step: "implies(next(number) == 1 and number == 2, flag)"}',
    "a premise about before": '{step: "implies(number == 0, next(number) != 2)"}',
    "an index outside after the transition": '{step: "next(array[number])"}',
}


def system_of(text: str) -> TransitionSystem:
    return TransitionSystem.of(load(Source("example.yaml", text)).scenarios["default"])


def told(found: Exploration) -> dict[str, object]:
    """Everything that two engines must agree on."""
    coverage = found.coverage
    return {
        "counts": (found.states, found.transitions, found.depth, found.failing_states),
        "findings": {name: finding.depth for name, finding in found.findings.items()},
        "failure": None if found.failure is None else found.failure.depth,
        "coverage": (coverage.steps, coverage.branches, coverage.rows, coverage.premises, coverage.shadowed_rows),
    }


def indented(body: str) -> str:
    return "".join(f"        {line}\n" for line in body.splitlines())


@pytest.mark.parametrize("name", STEPS)
def test_a_step_means_the_same_to_both_engines(name: str) -> None:
    steps = f"      first: |\n{indented(STEPS[name])}      second: low = -1 - low\n"
    text = f"{HEAD}processes:\n  worker:\n    steps:\n{steps}"
    system = system_of(text)

    assert told(columnar.explore([system], Limits())[0]) == told(oracle.explore(system, Limits()))


@pytest.mark.parametrize("name", PROPERTIES)
def test_a_step_property_means_the_same_to_both_engines(name: str) -> None:
    steps = "      first: low = -1\n      second: number = choose(Small)\n"
    text = f"{HEAD}processes:\n  worker:\n    steps:\n{steps}properties:\n  asked: {PROPERTIES[name]}\n"
    system = system_of(text)

    assert told(columnar.explore([system], Limits())[0]) == told(oracle.explore(system, Limits()))


def test_rows_behind_a_row_that_is_always_taken_are_shadowed_for_both_engines() -> None:
    rows = '{first: {when: "True", act: a}, second: {when: "implies(True, True)", act: b}, third: {when: "p", act: b}}'
    text = (
        f"{HEAD}tables:\n  plan:\n    match: first\n    gives: {{act: E}}\n    rows: {rows}\n"
        "processes:\n  worker:\n    steps:\n      first: letter = plan.act\n"
    )
    system = system_of(text)
    fast = columnar.explore([system], Limits())[0]

    assert told(fast) == told(oracle.explore(system, Limits()))
    assert len(fast.coverage.shadowed_rows or ()) == 1

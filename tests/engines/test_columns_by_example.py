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


FULL_WORD = """
language: 1
protocol: wide
stores:
  s: {holds: {a: {type: 0..524288}, b: {type: 0..18}, c: {type: 0..4}, d: {type: 0..1099}, e: {type: 0..65536}, f: {type: 0..4999}}}
processes:
  p:
    environment: true
    steps:
      leap: |
        when(f == 0)
        f = choose({10, 4990})
      creep: |
        when(f in {10, 4990})
        f += 9
properties:
  never_there: {always: "f != 4999"}
"""  # noqa: E501 - one field of 64 bits, were they all to share it

SIZES = """
language: 1
protocol: sizes
parameters: {k: {default: 5, range: 3..30}}
types: {N: 0..k}
stores: {s: {holds: {x: {type: N}, y: {type: N}}}}
processes:
  p:
    environment: true
    steps:
      a: |
        x = choose(N)
        y = x
properties: {apart: {always: "not (x in {1, 3, 4} and y in {0, 2, 5})"}}
scenarios: {small: {}, large: {set: {k: 9}}, larger: {set: {k: 20}}}
"""

BOUNDED = """
language: 1
protocol: bounded
stores: {s: {holds: {x: {type: 0..9}, y: {type: 0..9}}}}
processes:
  p:
    environment: true
    steps:
      up: |
        when(x + y < 9)
        x += 1
        if x in {2, 5, 7}:
          y = 1
          y = 2
          y = 3
          y = 1
      end: |
        when(x + y >= 9)
        x = 9
      leap: |
        x = 9
        y = 9
properties: {reached: {possible: "y == 1"}}
"""


def test_a_state_that_fills_its_word_is_read_as_it_was_written() -> None:
    system = system_of(FULL_WORD)
    fast = columnar.explore([system], Limits())[0]

    assert told(fast) == told(oracle.explore(system, Limits()))
    assert fast.findings["never_there"].depth == 2


def test_systems_explored_together_may_give_a_type_different_sizes() -> None:
    systems = [TransitionSystem.of(claim) for claim in load(Source("sizes.yaml", SIZES)).scenarios.values()]

    assert [told(found) for found in columnar.explore(systems, Limits())] == [
        told(oracle.explore(system, Limits())) for system in systems
    ]


def test_a_value_that_would_leave_its_type_disturbs_nothing_behind_it() -> None:
    system = system_of(BOUNDED)

    assert told(columnar.explore([system], Limits())[0]) == told(oracle.explore(system, Limits()))


def test_the_limit_of_states_is_one_for_each_system() -> None:
    systems = [TransitionSystem.of(claim) for claim in load(Source("sizes.yaml", SIZES)).scenarios.values()]
    small, large, larger = columnar.explore(systems, Limits(states_max=10))

    assert (small.complete, large.complete, larger.complete) == (True, True, False)
    assert (small.states, large.states) == (6, 10)
    assert larger.cut == "more than 10 states"

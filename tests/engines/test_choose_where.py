"""`x = choose(v for v in T if e)`: any value for which `e`, in both engines."""

from __future__ import annotations

import pytest

from checker.exploration import Exploration
from model.loader import load
from model.source import Source
from model.system import TransitionSystem
from tests.engines.exploring import ENGINES, explored_by

TEXT = """
language: 1
protocol: example
types: {Name: 1..3}
stores: {s: {holds: {x: {type: 0..3}, used: {type: set of Name}}}}
processes:
  e:
    environment: true
    steps:
      go: |
"""


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def explored(engine: str, body: str) -> Exploration:
    lines = "".join(f"        {line}\n" for line in body.split("\n"))
    system = TransitionSystem(load(Source("example.yaml", TEXT + lines)).specification, {}, {})
    return explored_by(engine, system)


def test_only_values_for_which_the_condition_is_true_are_chosen(engine: str) -> None:
    found = explored(engine, "x = choose(v for v in Name if v != 2)")

    # 0 at first, then 1 or 3 from each of the three states.
    assert (found.states, found.transitions) == (3, 6)


def test_fresh_names_run_out(engine: str) -> None:
    found = explored(engine, "n: Name = choose(v for v in Name if v not in used)\nused.add(n)")

    # The subsets of three names, and one transition for each name that is missing in each: 3 * 4.
    assert (found.states, found.transitions, found.depth) == (8, 12, 4)


def test_the_condition_sees_what_the_variable_held_before(engine: str) -> None:
    found = explored(engine, "x = choose(v for v in Name if v > x)")

    # 0 < 1 < 2 < 3: each to each greater one.
    assert (found.states, found.transitions) == (4, 6)


def test_several_conditions_must_all_be_true(engine: str) -> None:
    assert explored(engine, "x = choose(v for v in Name if v > 1 if v < 3)").states == 2

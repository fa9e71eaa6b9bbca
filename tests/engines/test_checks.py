"""`check(name, e)`: what counts as a violation, what does not, and that both engines say so."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from checker.confirm import confirm_property
from checker.exploration import Exploration
from checker.trace import EngineDisagreement
from model.loader import load
from model.source import Source
from model.system import TransitionSystem
from tests.engines.exploring import ENGINES, explored_by

Explored = Callable[[str], Exploration]

TEXT = """
language: 1
protocol: example
types: {Seat: 0..0}
stores: {s: {holds: {x: {type: 0..3}, y: {type: 0..3}, seats: {type: bool, per: Seat}}}}
ghost: {seen: {type: bool}}
faults: {slip: {at_most: unlimited}}
processes:
  e:
    environment: true
    steps:
      go: |
"""
PROPERTIES = "properties: {one: {checked: x stays low}}\n"


@pytest.fixture(params=ENGINES)
def explored(request: pytest.FixtureRequest) -> Explored:
    """Explore an environment whose only step has this body."""

    def explore(body: str) -> Exploration:
        lines = "".join(f"        {line}\n" for line in body.split("\n"))
        file = load(Source("example.yaml", TEXT + lines + PROPERTIES))
        system = TransitionSystem(file.specification, {}, {})
        found = explored_by(request.param, system)
        for name, finding in found.findings.items():
            confirm_property(system, system.specification.properties[name], finding)
        return found

    return explore


def test_a_check_that_is_false_breaks_its_property_in_that_very_transition(explored: Explored) -> None:
    found = explored("when(x < 3)\nx += 1\ncheck(one, x <= 1)")

    assert found.findings["one"].depth == 2
    assert found.findings["one"].trace.last[0] == 2
    assert found.coverage.checks == {"one"}


def test_a_run_goes_on_after_a_failed_check(explored: Explored) -> None:
    assert explored("when(x < 3)\nx += 1\ncheck(one, x <= 1)").states == 4


def test_a_check_sees_the_values_of_its_moment_and_not_those_at_the_end(explored: Explored) -> None:
    assert "one" in explored("x = 2\ncheck(one, x == 0)\nx = 0").findings
    assert "one" not in explored("x = 2\ncheck(one, x == 2)\nx = 0").findings


def test_a_path_that_a_later_when_removes_has_checked_nothing(explored: Explored) -> None:
    found = explored("check(one, x > 0)\nwhen(x > 0)")

    assert found.findings == {}
    assert found.coverage.checks == set()


def test_a_path_that_errs_is_no_violation(explored: Explored) -> None:
    found = explored("check(one, x > 0)\nx = 0 - 1")

    assert found.failure is not None
    assert found.findings == {}


def test_a_check_without_a_value_is_an_error(explored: Explored) -> None:
    found = explored("check(one, not seats[x])\nx = choose({0, 1})")

    assert found.failure is not None
    assert found.failure.depth == 1


def test_a_check_in_a_loop_and_a_small_branch_is_not_merged_away(explored: Explored) -> None:
    found = explored("y = choose({0, 1, 2})\nfor b in bool:\n    if y == 2: check(one, x == 1)\n    x = 1 if b else 0")

    assert found.findings["one"].depth == 1
    assert found.findings["one"].trace.steps[-1].choices == (2,)


def test_of_two_ways_to_one_state_the_trace_takes_the_one_that_violates(explored: Explored) -> None:
    found = explored("z: bool = choose(bool)\nx = 1\ncheck(one, not z)")

    assert found.findings["one"].trace.steps[-1].choices == (True,)


def test_a_check_may_read_ghosts(explored: Explored) -> None:
    assert explored("check(one, not seen)\nseen = True").findings["one"].depth == 2


def test_a_violation_under_a_fault_names_the_fault(explored: Explored) -> None:
    found = explored("lost: bool = fault(slip)\nx = 1\ncheck(one, not lost)")

    assert found.findings["one"].trace.steps[-1].faults == ("slip",)


def test_a_trace_whose_last_transition_passes_the_check_is_not_believed(explored: Explored) -> None:
    found = explored("when(x < 3)\nx += 1\ncheck(one, x <= 1)")
    finding = found.findings["one"]
    shorter = type(finding)(1, type(finding.trace)(finding.trace.initial, finding.trace.steps[:1]))

    with pytest.raises(EngineDisagreement):
        confirm_property(found.system, found.system.specification.properties["one"], shorter)


CRASHING = """
language: 1
protocol: crashing
stores: {s: {holds: {x: {type: bool}}}}
faults: {crash: {of: [w]}}
processes:
  w:
    on_crash: check(one, not x)
    steps:
      rest: pass
      act: {do: "x = True", torn: "check(two, x)"}
properties:
  one: {checked: nothing has happened when it crashes}
  two: {checked: it has happened when it is torn}
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_what_a_crash_does_is_checked_too(engine: str) -> None:
    system = TransitionSystem(load(Source("example.yaml", CRASHING)).specification, {}, {})
    found = explored_by(engine, system)

    assert system.specification.checked == {"one", "two"}
    assert {name: finding.depth for name, finding in found.findings.items()} == {"one": 4, "two": 2}
    for name, finding in found.findings.items():
        confirm_property(system, system.specification.properties[name], finding)

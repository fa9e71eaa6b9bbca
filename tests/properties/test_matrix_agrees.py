"""Matrices and sweeps of random specifications say what one exploration after the other says."""

from __future__ import annotations

import itertools
from dataclasses import replace

from hypothesis import assume, event, given, note
from hypothesis import strategies as st

from checker.engines import oracle
from checker.exploration import Exploration, Limits
from checker.judgement import ScenarioReport, judge_scenario
from checker.matrix import Course, crashing, matrix, only_at, points_of, with_crashes
from checker.sweep import Combination, Swept, claim_of, sweep
from model.diagnostics import SpecificationError
from model.specification import Allowance, Dimension, PropertyKind, Scenario, Sweep
from model.system import TransitionSystem
from model.types import BoolType
from tests.strategies.judging import judged
from tests.strategies.specifications import specifications
from tests.strategies.trying import loaded, tries

STATES_MAX = 400
"""Of the scenario with crashes anywhere; all courses together are explored a hundred times over."""


def plain(claim: Scenario) -> Exploration:
    return oracle.explore(TransitionSystem.of(claim), Limits(states_max=20 * STATES_MAX))


def broken(report: ScenarioReport) -> dict[str, int]:
    """Return what breaks, with the lengths of the shortest runs."""
    return {
        asked.name: asked.finding.depth
        for asked in report.properties
        if asked.kind is not PropertyKind.POSSIBLE and asked.broken and asked.finding is not None
    }


def alone(claim: Scenario) -> dict[str, int]:
    """Return what breaks in an exploration of its own, by the slow engine."""
    return broken(judge_scenario(claim, plain(claim)))


def built(claim: Scenario) -> TransitionSystem | None:
    """Return the system of a claim, if it has one without numbers that are cut off."""
    try:
        return TransitionSystem.of(claim) if claim.bound is None else None
    except SpecificationError:
        return None


def small(text: str) -> tuple[Scenario, TransitionSystem]:
    """Return the scenario of a text with kill points and a small space, without run-time errors."""
    note(f"\n{text}")
    file = loaded(text)
    for claim in file.scenarios.values():
        system = built(claim)
        if system is None or not 1 <= len(points_of(system)) <= 5:
            continue
        whole = oracle.explore(
            TransitionSystem.of(with_crashes(claim, system, None, "any")), Limits(states_max=STATES_MAX)
        )
        if whole.complete and whole.failure is None:
            return claim, system
    assume(condition=False)
    raise AssertionError


@tries(12)
@given(specifications())
def test_a_cell_says_what_one_exploration_of_its_own_says(text: str) -> None:
    claim, system = small(text)
    made = matrix(loaded(text), claim, judged)
    points = points_of(system)
    courses: list[Course] = [(), *((p,) for p in points), *itertools.product(points, repeat=2)]
    event(f"something breaks: {any(row.once.broken for row in made.rows)}")
    for course in courses:
        crashes = tuple(frozenset([point]) for point in course)
        cell = made.cell(course)
        assert cell is not None
        expected = with_crashes(claim, system, crashes, "alone")
        assert {name: finding.depth for name, finding in cell.broken.items()} == alone(expected), course
        assert cell.reached == happens(expected, len(course)), course


def happens(claim: Scenario, count: int) -> bool:
    """Tell whether some run has so many crashes."""
    system = TransitionSystem.of(claim)
    slots = [slot for name, slot in system.budget_slots.items() if system.budgets[name].in_turn]
    if not count:
        return True
    explored = reachable(system)
    return any(state[slots[0]] == count for state in explored) if slots else False


def reachable(system: TransitionSystem) -> list[tuple[object, ...]]:
    from tests.strategies.trying import some_reachable

    return list(some_reachable(system, 20 * STATES_MAX))


@tries(12)
@given(specifications())
def test_a_kill_point_says_what_allowing_crashes_there_says(text: str) -> None:
    claim, system = small(text)
    for row in matrix(loaded(text), claim, judged, pairs=False).rows:
        # One crash there, said in the other way that a scenario can say it, where one fault alone crashes the process.
        faults = [n for n in crashing(system) if row.point.partition(".")[0] in system.specification.faults[n].crashes]
        if len(faults) == 1:
            off = dict.fromkeys(crashing(system), Allowance(0))
            once = {**claim.allow, **off, faults[0]: Allowance(1, frozenset([row.point]))}
            expected = alone(replace(claim, allow=once, crashes=None))
            assert {name: finding.depth for name, finding in row.once.broken.items()} == expected
        assert broken(row.only_there) == alone(only_at(claim, system, row.point))


@tries(10)
@given(specifications())
def test_as_many_crashes_are_needed_as_the_smallest_number_that_breaks_it(text: str) -> None:
    claim, system = small(text)
    needed = matrix(loaded(text), claim, judged).needed
    whole = alone(with_crashes(claim, system, None, "any"))
    assert {name for name, count in needed.items() if count is not None} == whole.keys()
    for name, count in needed.items():
        if count is not None:
            assert name in alone(with_crashes(claim, system, (None,) * count, "enough"))
            assert not count or name not in alone(with_crashes(claim, system, (None,) * (count - 1), "fewer"))


# --- Sweeps ---


@st.composite
def sweeps(draw: st.DrawFn) -> tuple[Sweep, Scenario]:
    text = draw(specifications())
    note(f"\n{text}")
    file = loaded(text)
    claim = next(iter(file.scenarios.values()))
    assume(claim.bound is None)
    parameters, faults = file.specification.parameters.values(), file.specification.faults.values()
    flags = [parameter.name for parameter in parameters if isinstance(parameter.type, BoolType)]
    found = [Dimension(name, False, draw(st.permutations([False, True]).map(tuple)), claim.span) for name in flags]
    counts = st.sampled_from([("unlimited", 1, 0), (1, 0)])
    found += [Dimension(fault.name, True, draw(counts), claim.span) for fault in faults]
    assume(len(found) >= 2)
    return Sweep("", tuple(found[:4]), None, claim.span), claim


@tries(12)
@given(sweeps())
def test_a_sweep_says_what_one_exploration_after_the_other_says(drawn: tuple[Sweep, Scenario]) -> None:
    declared, claim = drawn
    explored = {}
    for combination in itertools.product(*(range(len(d.values)) for d in declared.dimensions)):
        one = claim_of(claim, declared.dimensions, combination)
        explored[combination] = oracle.explore(TransitionSystem.of(one), Limits(states_max=STATES_MAX))
        assume(explored[combination].complete and explored[combination].failure is None)
    found = sweep(declared, claim, judged, [])
    event(f"something was concluded: {any(not outcome.explored for outcome in found.outcomes.values())}")
    for combination, exploration in explored.items():
        report = judge_scenario(claim_of(claim, declared.dimensions, combination), exploration)
        expected = {asked.name: asked.verdict for asked in report.properties if asked.name in found.kinds}
        assert found.outcomes[combination].verdicts == expected, found.outcomes[combination].promises
    check_minimal(found)


def check_minimal(found: Swept) -> None:
    """Check the minimal sets against what they mean, over all combinations."""
    unordered = {each.dimension for each in found.reversals}
    ordered = [n for n, d in enumerate(found.sweep.dimensions) if d.name not in unordered]
    rest = [n for n in range(len(found.sweep.dimensions)) if n not in ordered]

    def at_least(one: Combination, other: Combination) -> bool:
        return all(one[n] >= other[n] for n in ordered) and all(one[n] == other[n] for n in rest)

    everything = list(found.outcomes)
    enough = {c for c in everything if all(found.safe(o) is True for o in everything if at_least(o, c))}
    little = {c for c in everything if all(found.safe(o) is False for o in everything if at_least(c, o))}
    event(f"both kinds: {bool(enough and little)}")
    # What the contracts name covers exactly these, and no name can be left out.
    assert {
        c for c in everything if any(meets(found, c, names, ordered, up=True) for names in named(found, True))
    } == enough
    assert {
        c for c in everything if any(meets(found, c, names, ordered, up=False) for names in named(found, False))
    } == little
    for up, whole in ((True, enough), (False, little)):
        for names in named(found, up):
            for left_out in names:
                fewer = {name: value for name, value in names.items() if name != left_out}
                assert not {c for c in everything if meets(found, c, fewer, ordered, up=up)} <= whole


def named(found: Swept, up: bool) -> list[dict[str, object]]:
    return [dict(each.names) for each in (found.sufficient if up else found.breaking)]


def meets(found: Swept, combination: Combination, names: dict[str, object], ordered: list[int], *, up: bool) -> bool:
    for number, dimension in enumerate(found.sweep.dimensions):
        if dimension.name not in names:
            continue
        value = dimension.values.index(names[dimension.name])
        if number not in ordered:
            if combination[number] != value:
                return False
        elif combination[number] < value if up else combination[number] > value:
            return False
    return True

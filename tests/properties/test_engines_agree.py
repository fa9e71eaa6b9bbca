"""The fast explorer says of every random specification what the plain one says, and its traces can be taken."""

from __future__ import annotations

from hypothesis import assume, event, given, note

from checker.comparison import differences
from checker.confirm import confirm_property
from checker.engines import columnar, oracle
from checker.exploration import Exploration, Finding, Limits
from checker.trace import confirm_violation, replay
from model.evaluate import Evaluator
from model.specification import PropertyKind
from model.system import TransitionSystem
from model.transitions import EvaluationError, Failure
from tests.strategies.specifications import specifications
from tests.strategies.trying import loaded, systems, tries

# The plain explorer does some thousand states a second; larger spaces are given up.
STATES_MAX = 2_500


def plainly_explored(text: str) -> list[tuple[TransitionSystem, Exploration]]:
    """Explore all systems of a specification with the oracle; those that are small enough come back."""
    note(f"\n{text}")
    explored = [(system, oracle.explore(system, Limits(states_max=STATES_MAX))) for system in systems(loaded(text))]
    complete = [(system, exploration) for system, exploration in explored if exploration.complete]
    assume(complete)
    return complete


def explored_fast(system_list: list[TransitionSystem]) -> list[Exploration]:
    # A limit for an engine that goes astray; the oracle has already found fewer states.
    return columnar.explore(system_list, Limits(states_max=20 * STATES_MAX))


def check_agreement(text: str) -> None:
    for system, expected in plainly_explored(text):
        event(f"error {expected.failure is not None}, waiting {expected.waiting is not None}")
        (found,) = explored_fast([system])
        check_same(system, expected, found)


def check_same(system: TransitionSystem, expected: Exploration, found: Exploration) -> None:
    difference = next(differences(expected, found), "")
    assert not difference, f"{difference}\n{described(system)}"


def described(system: TransitionSystem) -> str:
    return f"parameters {system.parameters}, budgets {system.budgets}"


@tries(70)
@given(specifications())
def test_both_engines_find_the_same(text: str) -> None:
    check_agreement(text)


@tries(20)
@given(specifications(wide=True))
def test_both_engines_find_the_same_where_a_state_takes_several_words(text: str) -> None:
    check_agreement(text)


@tries(30)
@given(specifications())
def test_systems_explored_together_are_explored_like_each_alone(text: str) -> None:
    together = [system for system, _ in plainly_explored(text)]
    assume(len(together) > 1)

    for system, found in zip(together, explored_fast(together), strict=True):
        (alone,) = explored_fast([system])
        assert found.system is system
        # Together, only rows are looked for that no system takes.
        found.coverage.shadowed_rows = alone.coverage.shadowed_rows
        check_same(system, alone, found)


@tries(30)
@given(specifications())
def test_every_trace_of_the_fast_engine_can_be_taken_and_shows_what_it_is_said_to(text: str) -> None:
    for system, _ in plainly_explored(text):
        (found,) = explored_fast([system])
        for name, finding in found.findings.items():
            check_trace(system, finding)
            check_property(system, name, finding)
        if found.failure is not None:
            check_trace(system, found.failure)
            check_error(system, found.failure)
        if found.waiting is not None:
            check_trace(system, found.waiting)
            assert list(Evaluator(system).transitions(found.waiting.trace.last)) == []


def check_trace(system: TransitionSystem, finding: Finding) -> None:
    """Check that the evaluator can take a trace."""
    trace = finding.trace
    assert finding.depth == len(trace)
    actions = [step.action for step in trace.steps]
    assert replay(system, list(trace.states), actions, loop=trace.loop).states == trace.states


def check_property(system: TransitionSystem, name: str, finding: Finding) -> None:
    """Check that a property is violated, or witnessed, at the end of a trace."""
    asked = system.specification.properties[name]
    if asked.kind is PropertyKind.POSSIBLE:
        assert Evaluator(system).holds(asked.expression, finding.trace.last)
    elif asked.kind is PropertyKind.LEADS_TO:
        confirm_property(system, asked, finding)
    elif asked.kind is PropertyKind.CHECKED:
        states, actions = list(finding.trace.states), [step.action for step in finding.trace.steps]
        assert replay(system, states, actions, claimed=asked) == finding.trace
    elif asked.kind is PropertyKind.RECOVERABLE:
        try:
            assert not Evaluator(system).holds(asked.expression, finding.trace.last)
        except EvaluationError:
            event("recoverable errs where it is lost")
    else:
        confirm_violation(system, finding.trace, asked.expression, on_transition=asked.kind is PropertyKind.STEP)


def check_error(system: TransitionSystem, finding: Finding) -> None:
    """Check that something errs where a trace ends: a step, or a property in the state or on a transition from it."""
    evaluator, state = Evaluator(system), finding.trace.last
    assert finding.error is not None
    outcomes = list(evaluator.transitions(state))
    errors = [(o.error.code, o.error.span) for o in outcomes if isinstance(o, Failure)]
    successors = [o.successor for o in outcomes if not isinstance(o, Failure)]
    for asked in system.specification.properties.values():
        for successor in successors if asked.kind is PropertyKind.STEP else [state]:
            for expression in asked.expressions:
                try:
                    evaluator.holds(expression, state, successor)
                except EvaluationError as error:
                    errors.append((error.code, error.span))
    assert (finding.error.code, finding.error.span) in errors

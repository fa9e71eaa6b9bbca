"""The terms say of every random specification, in every state, what the evaluator says."""

from __future__ import annotations

from collections import Counter
from random import Random

from hypothesis import assume, event, given, note
from hypothesis import strategies as st

from checker.backends.smt.pointwise import Outcome, Pointwise, Values, Way
from checker.backends.smt.relation import Relation
from model.evaluate import Evaluator
from model.expressions import Expression
from model.specification import PropertyKind
from model.system import State, TransitionSystem
from model.transitions import Action, EvaluationError, Transition
from tests.strategies.specifications import specifications
from tests.strategies.trying import loaded, some_reachable, systems, tries, without_bounds

# States of each system that are looked at: reachable ones, and any.
STATES = 12

# Numbers without end are drawn below this one.
NUMBERS = 1_000_000_000_000


def any_states(system: TransitionSystem, random: Random) -> list[State]:
    """Draw states whose slots hold any values of their domains; hardly one can be reached."""
    domains = [slot.domain for slot in system.slots]
    return [tuple(d.value(random.randrange(d.size or NUMBERS)) for d in domains) for _ in range(STATES)]


def outcomes(system: TransitionSystem, state: State) -> dict[Action, Outcome]:
    """Return what the evaluator says of every action in a state."""
    found: dict[Action, Outcome] = {}
    for outcome in Evaluator(system).transitions(state):
        here = found.setdefault(outcome.action, Outcome())
        if isinstance(outcome, Transition):
            here.ways.add(Way(outcome.successor, outcome.fair, frozenset(outcome.violated)))
        else:
            here.fails = True
    return found


def values(system: TransitionSystem, state: State, successor: State | None = None) -> Values:
    """Return what the evaluator says of the properties of states, or of those of transitions."""
    found: Values = {}
    for asked in system.specification.properties.values():
        if (asked.kind is PropertyKind.STEP) == (successor is not None):
            found[asked.name] = tuple(value(system, each, state, successor) for each in asked.expressions)
    return found


def value(system: TransitionSystem, expression: Expression, state: State, successor: State | None) -> bool | None:
    try:
        return Evaluator(system).holds(expression, state, successor)
    except EvaluationError:
        return None


def check_state(system: TransitionSystem, terms: Pointwise, state: State) -> Counter[str]:
    """Check that both readings say the same of a state; return what there was to say."""
    expected, found = outcomes(system, state), terms.outcomes(state)
    for action in {*expected, *found}:
        assert found.get(action, Outcome()) == expected.get(action, Outcome()), (state, action)
    seen: Counter[str] = Counter(action.kind for action in expected)
    seen["failing"] = sum(outcome.fails for outcome in expected.values())
    ways = [way for outcome in expected.values() for way in outcome.ways]
    seen["checks"] = sum(bool(way.violated) for way in ways)
    for successor in (None, *{way.successor for way in ways}):
        wanted = values(system, state, successor)
        assert terms.values(state, successor) == wanted, (state, successor)
        kinds = system.specification.properties
        seen.update(f"{kinds[name].kind.value} {each}" for name, read in wanted.items() for each in read)
    return seen


@tries(30)
@given(specifications(), st.randoms(use_true_random=False))
def test_the_terms_say_of_every_state_what_the_evaluator_says(text: str, random: Random) -> None:
    note(f"\n{text}")
    seen: Counter[str] = Counter()
    for system in systems(loaded(text)):
        # Both kinds of numbers: bit vectors, and the integers that numbers without end need.
        terms = Pointwise(Relation(system, whole=random.random() < 0.5))
        for state in (*some_reachable(system, STATES), *any_states(system, random)):
            seen += check_state(system, terms, state)
    for what in seen:
        event(what)


@tries(30)
@given(specifications(), st.randoms(use_true_random=False))
def test_they_say_it_of_numbers_without_end_too(text: str, random: Random) -> None:
    endless = [system for system in without_bounds(loaded(text)) if system.naturals]
    assume(endless)
    note(f"\n{text}")
    for system in endless:
        terms = Pointwise(Relation(system))
        for state in (*some_reachable(system, STATES), *any_states(system, random)):
            check_state(system, terms, state)

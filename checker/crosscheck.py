"""The three readings of a specification compared: the evaluator, the columns and the terms.

State by state, what the evaluator says of a reachable state is what the other two must say: the successors of every
action, which transitions are fair, whether something errs, what `check` finds, and the value of every property. As a
whole, the oracle and the fast explorer must count the same and find the same. What this leaves open is said with the
result: how many states of a large space were compared, and that the oracle does not finish a very large one.

The first difference in the order of the search is the smallest: no state nearer to the start shows any.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from checker.backends.smt.pointwise import Outcome, Pointwise, Way
from checker.backends.smt.relation import Relation
from checker.comparison import differences
from checker.engines import columnar, oracle
from checker.engines.columnstates import ColumnOutcome, ColumnStates
from checker.exploration import Exploration, Limits, Progress
from checker.trace import EngineDisagreement, describe_state
from model.evaluate import Evaluator
from model.expressions import Expression
from model.specification import PropertyKind
from model.system import State, TransitionSystem
from model.transitions import Action, EvaluationError, Transition

STATES_COMPARED: Final = 300
"""States of one system that are compared, unless told: all of a space that has no more, evenly spread ones of others.

The terms take one to twenty milliseconds for a state.
"""

ORACLE_STATES_MAX: Final = 5_000
"""The oracle is not asked about larger spaces; it does some thousand states a second."""

_BATCH = 64


@dataclass(frozen=True, slots=True)
class CrossCheck:
    """How much of one system was compared, without a difference."""

    states: int
    compared: int
    transitions: int
    """The transitions out of the states compared."""
    oracle: bool
    """Whether the oracle has explored all of it and says the same."""
    cut: str = ""
    """Why the comparison was not finished; empty where it was."""


def cross_check(
    systems: Mapping[str, TransitionSystem], limits: Limits, most: int = STATES_COMPARED
) -> dict[str, CrossCheck]:
    """Compare the readings of some systems, which are explored together as `check` would; `most` states of each.

    Progress counts the states of one system that have been compared.

    Raises:
        EngineDisagreement: two of them say something different; the message shows the smallest difference.
        SpecificationError: a limit of the language is met.
    """
    done: dict[str, CrossCheck] = {}
    for name, system in systems.items():
        try:
            done[name] = _Comparison(system, limits, most).run()
        except EngineDisagreement as error:
            raise EngineDisagreement(f"{name}: {error}") from error
    if any(each.cut for each in done.values()):
        return done
    found = columnar.explore(list(systems.values()), limits)
    for (name, system), exploration in zip(systems.items(), found, strict=True):
        if exploration.states <= ORACLE_STATES_MAX and not exploration.cut:
            expected = oracle.explore(system, limits)
            if expected.complete:
                _check_same(name, expected, exploration)
            done[name] = replace(done[name], oracle=expected.complete, cut=expected.cut)
    return done


def _check_same(name: str, expected: Exploration, found: Exploration) -> None:
    # Of systems that are explored together, rows that another one takes are not looked for behind others.
    coverage = replace(found.coverage, shadowed_rows=None)
    difference = next(differences(expected, replace(found, coverage=coverage)), "")
    if difference:
        raise EngineDisagreement(f"{name}: the oracle and the fast explorer differ: {difference}")


class _Comparison:
    """Compares the readings of one system in some of its states."""

    def __init__(self, system: TransitionSystem, limits: Limits, most: int) -> None:
        self.system = system
        self.limits = limits
        self.most = most
        self.evaluator = Evaluator(system)
        self.columns = ColumnStates(system)
        self.terms = Pointwise(Relation(system))
        self.claims = list(system.specification.properties.values())
        self.transitions = 0

    def run(self) -> CrossCheck:
        self.columns.search(self.limits)
        keys = self.columns.chosen(self.most)
        started, compared = time.monotonic(), 0
        for start in range(0, len(keys), _BATCH):
            for outcome in self.columns.outcomes(keys[start : start + _BATCH]):
                if cut := self.limits.reason_to_stop(compared):
                    return self._result(compared, cut)
                self._compare(outcome)
                compared += 1
            if self.limits.on_progress is not None:
                left, seconds = len(keys) - compared, time.monotonic() - started
                self.limits.on_progress(
                    Progress(len(self.columns.searched.layers), compared, self.transitions, left, seconds)
                )
        return self._result(compared, self.columns.searched.cut)

    def _result(self, compared: int, cut: str) -> CrossCheck:
        return CrossCheck(self.columns.searched.states, compared, self.transitions, oracle=False, cut=cut)

    # -- one state ------------------------------------------------------------------------------------------------

    def _compare(self, columns: ColumnOutcome) -> None:
        state = columns.state
        if (misread := self.columns.misread(state)) is not None:
            self._differ(state, f"packed and unpacked it is another state: {self._between(state, misread)}")
        expected = self._expected(state)
        self._compare_columns(state, expected, columns)
        self._compare_terms(state, expected, self.terms.outcomes(state))
        ways = {way.successor for outcome in expected.values() for way in outcome.ways}
        self.transitions += sum(len(outcome.ways) for outcome in expected.values())
        for successor in (None, *sorted(ways, key=repr)) if self._asks_of_transitions else (None,):
            self._compare_values(state, successor, columns)
        for successor in columns.unknown:
            if not self.columns.searched.cut:
                self._differ(state, f"the search has not found its successor {self._described(successor)}")

    def _expected(self, state: State) -> dict[Action, Outcome]:
        expected: dict[Action, Outcome] = {}
        for outcome in self.evaluator.transitions(state):
            here = expected.setdefault(outcome.action, Outcome())
            if isinstance(outcome, Transition):
                here.ways.add(Way(outcome.successor, outcome.fair, frozenset(outcome.violated)))
            else:
                here.fails = True
        return expected

    def _compare_columns(self, state: State, expected: dict[Action, Outcome], columns: ColumnOutcome) -> None:
        found: dict[Action, Outcome] = {}
        for action, successor, fair in columns.ways:
            found.setdefault(action, Outcome()).ways.add(Way(successor, fair, frozenset()))
        for action in _in_order({*expected, *found}):
            # What a check finds false the columns say only of a whole search.
            wanted = {replace(way, violated=frozenset()) for way in expected.get(action, Outcome()).ways}
            self._compare_ways(state, action, wanted, found.get(action, Outcome()).ways, "the columns")
        if columns.fails != any(outcome.fails for outcome in expected.values()):
            self._differ(
                state, f"the evaluator says that {_errs(not columns.fails)}, the columns that {_errs(columns.fails)}"
            )

    def _compare_terms(self, state: State, expected: dict[Action, Outcome], found: dict[Action, Outcome]) -> None:
        for action in _in_order({*expected, *found}):
            wanted, got = expected.get(action, Outcome()), found.get(action, Outcome())
            self._compare_ways(state, action, wanted.ways, got.ways, "the terms")
            if wanted.fails != got.fails:
                message = f"the evaluator says that it {_errs(wanted.fails)}, the terms that it {_errs(got.fails)}"
                self._differ(state, message, action)

    def _compare_ways(self, state: State, action: Action, wanted: set[Way], got: set[Way], other: str) -> None:
        missing, extra = (sorted(ways, key=repr) for ways in (wanted - got, got - wanted))
        if missing and extra:
            # The two that are closest to each other: the difference is then a slot, not a whole state.
            first, second = min(((a, b) for a in missing for b in extra), key=lambda pair: _distance(*pair))
            differ = self._between(first.successor, second.successor) or _flags(first, second)
            self._differ(state, f"the evaluator and {other} come to different states: {differ}", action)
        for ways, one, another in ((missing, "the evaluator", other), (extra, other, "the evaluator")):
            if ways:
                message = f"for {one} it leads to {self._changes(state, ways[0].successor)}, for {another} it does not"
                self._differ(state, message, action)

    def _compare_values(self, state: State, successor: State | None, columns: ColumnOutcome) -> None:
        found = self.terms.values(state, successor)
        for claim in self.claims:
            if (claim.kind is PropertyKind.STEP) != (successor is not None):
                continue
            wanted = tuple(self._value(expression, state, successor) for expression in claim.expressions)
            where = "" if successor is None else f" on the way to {self._changes(state, successor)}"
            if found[claim.name] != wanted:
                said = f"{_values(wanted)} for the evaluator, {_values(found[claim.name])} for the terms"
                self._differ(state, f"`{claim.name}`{where} is {said}")
            if claim.name in columns.values:
                whole = None if None in wanted else wanted
                if columns.values[claim.name] != whole:
                    said = f"{_values(wanted)} for the evaluator, {_values(columns.values[claim.name])} for the columns"
                    self._differ(state, f"`{claim.name}` is {said}")

    def _value(self, expression: Expression, state: State, successor: State | None) -> bool | None:
        try:
            return self.evaluator.holds(expression, state, successor)
        except EvaluationError:
            return None

    @property
    def _asks_of_transitions(self) -> bool:
        return any(claim.kind is PropertyKind.STEP for claim in self.claims)

    # -- what is said ---------------------------------------------------------------------------------------------

    def _differ(self, state: State, message: str, action: Action | None = None) -> None:
        what = "" if action is None else f", {self._action(action)}"
        raise EngineDisagreement(f"in the state {self._described(state)}{what}: {message}")

    def _action(self, action: Action) -> str:
        instance = self.system.instance_name(action.process, action.instance)
        if action.kind == "restart":
            return f"restart of {instance}"
        where = f"{instance}.{action.label}"
        return (
            f"step {where}" if action.kind == "step" else f"{action.fault} {'in' if action.torn else 'before'} {where}"
        )

    def _described(self, state: State) -> str:
        return f"({describe_state(self.system, state)})"

    def _changes(self, before: State, after: State) -> str:
        slots = zip(self.system.slots, before, after, strict=True)
        return f"({', '.join(f'{slot.name}={new}' for slot, old, new in slots if old != new) or 'no change'})"

    def _between(self, first: State, second: State) -> str:
        slots = zip(self.system.slots, first, second, strict=True)
        return ", ".join(f"`{slot.name}` is {a} and {b}" for slot, a, b in slots if a != b)


def _in_order(actions: set[Action]) -> Iterator[Action]:
    yield from sorted(actions, key=repr)


def _distance(first: Way, second: Way) -> tuple[int, str]:
    unlike = sum(a != b for a, b in zip(first.successor, second.successor, strict=True))
    return unlike, repr((first.successor, second.successor))


def _flags(first: Way, second: Way) -> str:
    if first.fair != second.fair:
        return f"fair is {first.fair} and {second.fair}"
    violated = [", ".join(sorted(way.violated)) or "nothing" for way in (first, second)]
    return f"checks find false {violated[0]} and {violated[1]}"


def _errs(fails: bool) -> str:
    return "errs" if fails else "does not err"


def _values(values: tuple[bool | None, ...] | None) -> str:
    return (
        "without value"
        if values is None
        else ", ".join("without value" if v is None else str(v).lower() for v in values)
    )

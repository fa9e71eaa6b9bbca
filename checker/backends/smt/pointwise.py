"""The transition relation read in one state: everything an action comes to there, and the value of every claim.

No solver is asked. The state's values are put into the terms, which are simplified; what is then still open are the
choices, and they are tried one after the other. So a state takes milliseconds, and what is compared with the other
readings is the encoding itself: the same terms that proofs are made of.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import TypeAlias

import z3

from checker.backends.smt.relation import Relation, value_of
from checker.backends.smt.steps import Effect
from checker.backends.smt.values import Term, constant_of, held, sort_of, stored
from model.specification import PropertyKind
from model.system import State
from model.transitions import Action
from model.types import Value

Values: TypeAlias = dict[str, tuple[bool | None, ...]]
"""By property what its expressions are; None where one has no value."""


@dataclass(frozen=True, slots=True)
class Way:
    """One transition: where it leads, whether it is fair, and the `checked` properties found false on it."""

    successor: State
    fair: bool
    violated: frozenset[str]


@dataclass(slots=True)
class Outcome:
    """What an action comes to in one state."""

    ways: set[Way] = field(default_factory=set)
    fails: bool = False
    """Whether the action errs, for some of its choices."""


class Pointwise:
    """Reads the terms of one system in single states."""

    def __init__(self, relation: Relation) -> None:
        self.relation = relation
        self.system = relation.system
        with relation.arithmetic():
            self._after = tuple(
                z3.Const(f"{number}:{slot.name}'", sort_of(slot.domain))
                for number, slot in enumerate(self.system.slots)
            )
        self._known: dict[tuple[int, Value], z3.ExprRef] = {}
        self._last: tuple[State, z3.ExprRef] | None = None

    def outcomes(self, state: State) -> dict[Action, Outcome]:
        """Return what every action comes to; those that are not possible there and do not err are left out."""
        whole = self._put(self._all_shapes, self._substitution(self.relation.constants, state))
        found: dict[Action, Outcome] = {}
        for effect, shape, term in zip(self.relation.effects, self._shapes, whole.children(), strict=True):
            outcome = Outcome()
            for settled in _settled(term, effect.choices):
                parts = settled.children()
                _, exists, fails, fair, *rest = (z3.is_true(part) for part in parts[: shape.flags])
                outcome.fails |= fails
                if exists:
                    after = list(state)
                    for slot, part in zip(shape.changed, parts[shape.flags :], strict=True):
                        after[slot] = value_of(part, self.system.slots[slot].domain)
                    violated = (name for (name, _), false in zip(effect.violated, rest, strict=True) if false)
                    outcome.ways.add(Way(tuple(after), fair, frozenset(violated)))
            if outcome.ways or outcome.fails:
                found[effect.action] = outcome
        return found

    def values(self, state: State, successor: State | None = None) -> Values:
        """Return what every property of states, or with a successor every one of transitions, is there.

        For each of its expressions a truth value, or None where it has none.
        """
        asked, _ = self._of_states if successor is None else self._of_transitions
        if successor is None:
            parts = self._put(self._of_states[1], self._substitution(self.relation.constants, state)).children()
        else:
            parts = self._put(self._from(state), self._substitution(self._after, successor)).children()
        read: dict[str, list[bool | None]] = {}
        for name, value, error in zip(asked, parts[::2], parts[1::2], strict=True):
            assert z3.is_true(error) or z3.is_false(error), "a claim has no choices"
            read.setdefault(name, []).append(None if z3.is_true(error) else z3.is_true(value))
        return {name: tuple(values) for name, values in read.items()}

    # -- terms ----------------------------------------------------------------------------------------------------

    @cached_property
    def _shapes(self) -> list[_Shape]:
        with self.relation.arithmetic():
            return [_Shape.of(self.relation, effect) for effect in self.relation.effects]

    @cached_property
    def _all_shapes(self) -> z3.ExprRef:
        return _packed([shape.term for shape in self._shapes])

    @cached_property
    def _of_states(self) -> tuple[list[str], z3.ExprRef]:
        return self._claims(None, of_transitions=False)

    @cached_property
    def _of_transitions(self) -> tuple[list[str], z3.ExprRef]:
        with self.relation.arithmetic():
            after = tuple(held(c, slot.domain) for c, slot in zip(self._after, self.system.slots, strict=True))
        return self._claims(after, of_transitions=True)

    def _claims(self, successor: Sequence[Term] | None, *, of_transitions: bool) -> tuple[list[str], z3.ExprRef]:
        asked: list[str] = []
        terms: list[z3.ExprRef] = []
        for claim in self.system.specification.properties.values():
            if (claim.kind is PropertyKind.STEP) == of_transitions:
                for expression in claim.expressions:
                    asked.append(claim.name)
                    terms += self.relation.truth(expression, successor=successor)
        return asked, _packed(terms)

    def _from(self, state: State) -> z3.ExprRef:
        """Return the claims about transitions with the state before in them; asked again for every successor."""
        if self._last is None or self._last[0] != state:
            self._last = state, self._put(self._of_transitions[1], self._substitution(self.relation.constants, state))
        return self._last[1]

    # -- a state --------------------------------------------------------------------------------------------------

    def _put(self, term: z3.ExprRef, here: list[tuple[z3.ExprRef, z3.ExprRef]]) -> z3.ExprRef:
        return z3.simplify(z3.substitute(term, *here)) if here else z3.simplify(term)

    def _substitution(self, constants: Sequence[z3.ExprRef], state: State) -> list[tuple[z3.ExprRef, z3.ExprRef]]:
        return [
            (constant, self._constant(slot, value))
            for slot, (constant, value) in enumerate(zip(constants, state, strict=True))
        ]

    def _constant(self, slot: int, value: Value) -> z3.ExprRef:
        if (slot, value) not in self._known:
            domain = self.system.slots[slot].domain
            with self.relation.arithmetic():
                self._known[slot, value] = z3.simplify(stored(constant_of(domain, value), domain))
        return self._known[slot, value]


@dataclass(frozen=True, slots=True)
class _Shape:
    """All terms of an effect in one, so that what they share is put in and simplified once."""

    term: z3.ExprRef
    """An application whose arguments are `allowed`, `exists`, `fails`, `fair`, what is violated, and what changes."""
    flags: int
    """How many of the arguments are truth values of the effect."""
    changed: tuple[int, ...]
    """The slots whose values follow."""

    @classmethod
    def of(cls, relation: Relation, effect: Effect) -> _Shape:
        slots = relation.system.slots
        changed = tuple(i for i, value in enumerate(effect.values) if value is not relation.values[i])
        flags = [effect.allowed, effect.exists, effect.fails, effect.fair, *(false for _, false in effect.violated)]
        return cls(
            _packed([*flags, *(stored(effect.values[i], slots[i].domain) for i in changed)]), len(flags), changed
        )


def _packed(terms: Sequence[z3.ExprRef]) -> z3.ExprRef:
    """Return terms as the arguments of one application, which means nothing."""
    return z3.Function("together", *(term.sort() for term in terms), z3.BoolSort())(*terms)


def _settled(term: z3.ExprRef, choices: Sequence[z3.ExprRef]) -> Iterator[z3.ExprRef]:
    """Yield an effect for all ways in which its choices can come out that lead somewhere."""
    allowed, exists, fails = range(3)
    # Most actions are not possible in a state: nothing more is looked at than shows it.
    if z3.is_false(term.arg(exists)) and z3.is_false(term.arg(fails)):
        return
    if z3.is_false(term.arg(allowed)):
        return
    if not choices:
        yield term
        return
    first, rest = choices[0], choices[1:]
    tried: z3.ExprRef | None = None
    for value in _values_of(first.sort()):
        settled = z3.simplify(z3.substitute(term, (first, value)))
        if isinstance(first, z3.ArithRef) and z3.is_false(settled.arg(0)):
            return  # the options of a choice are the numbers from 0 on
        if tried is not None and z3.eq(settled, tried):
            continue
        tried = settled
        yield from _settled(settled, rest)


def _values_of(sort: z3.SortRef) -> Iterator[z3.ExprRef]:
    if sort == z3.BoolSort():
        yield from (z3.BoolVal(False), z3.BoolVal(True))
        return
    if sort == z3.IntSort():
        yield from (z3.IntVal(value) for value in count())
        return
    assert isinstance(sort, z3.BitVecSortRef)
    yield from (z3.BitVecVal(value, sort.size()) for value in range(1 << sort.size()))

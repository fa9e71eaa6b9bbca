"""The transition relation read in one state: everything an action comes to there, and the value of every claim.

No solver is asked. The state's values are put into the terms, which are simplified; what is then still open are the
choices, and they are tried one after the other. So a state takes milliseconds, and what is compared with the other
readings is the encoding itself: the same terms that proofs are made of.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import z3

from checker.backends.smt.relation import Relation, value_of
from checker.backends.smt.steps import Effect
from checker.backends.smt.values import constant_of, held, sort_of, stored
from model.expressions import Expression
from model.system import State
from model.transitions import Action


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
        self._after = tuple(
            z3.Const(f"{number}:{slot.name}'", sort_of(slot.domain)) for number, slot in enumerate(self.system.slots)
        )
        self._claims: dict[tuple[Expression, bool], z3.ExprRef] = {}

    def outcomes(self, state: State) -> dict[Action, Outcome]:
        """Return what every action comes to; those that are not possible there and do not err are left out."""
        here = self._substitution(self.relation.constants, state)
        found: dict[Action, Outcome] = {}
        for effect, shape in zip(self.relation.effects, self._shapes, strict=True):
            outcome = Outcome()
            for parts in _settled(shape.put(here), effect.choices):
                _, exists, fails, fair, *rest = (z3.is_true(part) for part in parts[: shape.flags])
                outcome.fails |= fails
                if exists:
                    after = list(state)
                    for slot, part in zip(shape.changed, parts[shape.flags :], strict=True):
                        after[slot] = value_of(part, self.system.slots[slot].domain)
                    violated = (name for (name, _), found_false in zip(effect.violated, rest, strict=True) if found_false)
                    outcome.ways.add(Way(tuple(after), fair, frozenset(violated)))
            if outcome.ways or outcome.fails:
                found[effect.action] = outcome
        return found

    def holds(self, expression: Expression, state: State, successor: State | None = None) -> bool | None:
        """Return the value of a property's expression in a state or on a transition; None where it has none."""
        key = (expression, successor is not None)
        if key not in self._claims:
            after = tuple(held(c, slot.domain) for c, slot in zip(self._after, self.system.slots, strict=True))
            value, error = self.relation.truth(expression, successor=None if successor is None else after)
            self._claims[key] = _packed([value, error])
        here = self._substitution(self.relation.constants, state)
        if successor is not None:
            here += self._substitution(self._after, successor)
        value, error = z3.simplify(z3.substitute(self._claims[key], *here)).children()
        assert z3.is_true(error) or z3.is_false(error), "a claim has no choices"
        return None if z3.is_true(error) else z3.is_true(value)

    @cached_property
    def _shapes(self) -> list[_Shape]:
        return [_Shape.of(self.relation, effect) for effect in self.relation.effects]

    def _substitution(self, constants: Sequence[z3.ExprRef], state: State) -> list[tuple[z3.ExprRef, z3.ExprRef]]:
        return [
            (constant, stored(constant_of(slot.domain, value), slot.domain))
            for constant, slot, value in zip(constants, self.system.slots, state, strict=True)
        ]


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

    def put(self, here: list[tuple[z3.ExprRef, z3.ExprRef]]) -> z3.ExprRef:
        """Return the term with the values of a state in it, simplified."""
        return z3.simplify(z3.substitute(self.term, *here))


def _packed(terms: Sequence[z3.ExprRef]) -> z3.ExprRef:
    """Return terms as the arguments of one application, which means nothing."""
    return z3.Function("together", *(term.sort() for term in terms), z3.BoolSort())(*terms)


def _settled(term: z3.ExprRef, choices: Sequence[z3.ExprRef]) -> Iterator[list[z3.ExprRef]]:
    """Yield the parts of an effect for all ways in which its choices can come out that lead somewhere."""
    parts = term.children()
    allowed, exists, fails = parts[:3]
    if z3.is_false(allowed) or (z3.is_false(exists) and z3.is_false(fails)):
        return
    if not choices:
        yield parts
        return
    first, rest = choices[0], choices[1:]
    tried: z3.ExprRef | None = None
    for value in _values_of(first.sort()):
        settled = z3.simplify(z3.substitute(term, (first, value)))
        if tried is not None and z3.eq(settled, tried):
            continue
        tried = settled
        yield from _settled(settled, rest)


def _values_of(sort: z3.SortRef) -> Iterator[z3.ExprRef]:
    if sort == z3.BoolSort():
        yield from (z3.BoolVal(False), z3.BoolVal(True))
        return
    assert isinstance(sort, z3.BitVecSortRef)
    yield from (z3.BitVecVal(value, sort.size()) for value in range(1 << sort.size()))

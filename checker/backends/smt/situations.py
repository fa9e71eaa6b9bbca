"""Situations: values of slots under which conditions are true, as short and as ordinary as possible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import z3

from checker.backends.smt.relation import value_of
from checker.backends.smt.values import all_of, constant_of, negation, stored
from model.system import Domain
from model.types import Value

Situation = tuple[tuple[str, Value], ...]
"""Values of slots by their names."""

_TRIED = 32
"""A witness has the first value of a slot that does; of a larger domain, any one where that is none of so many."""


@dataclass(frozen=True, slots=True)
class Place:
    """A slot as a solver sees it: its constant, the values that it may have, and the one with which it starts."""

    name: str
    constant: z3.ExprRef
    domain: Domain
    initial: Value


class Situations:
    """Asks a solver for situations over some slots."""

    def __init__(self, places: Sequence[Place], always: z3.BoolRef) -> None:
        """Take the slots in the order in which they are to be told, and what is true of them in any case."""
        self.places = places
        self._solver = z3.Solver()
        self._solver.add(always)

    def possible(self, *conditions: z3.BoolRef) -> bool:
        """Tell whether all conditions can be true together."""
        return bool(self._solver.check(*conditions) == z3.sat)

    def witness(self, *conditions: z3.BoolRef) -> Situation | None:
        """Return a situation in which all conditions are true: each slot as it starts, where that is possible.

        Slots whose value makes no difference then are left out.
        """
        if not self.possible(*conditions):
            return None
        fixed: dict[int, z3.BoolRef] = {}
        values: dict[int, Value] = {}
        for number in self.occurring(conditions):
            values[number] = self._first_value(number, [*conditions, *fixed.values()])
            fixed[number] = self._is(number, values[number])
        otherwise = negation(all_of(conditions))
        for number in reversed(list(fixed)):
            rest = [term for other, term in fixed.items() if other != number]
            if not self.possible(otherwise, *rest):
                del fixed[number]
        return tuple((self.places[number].name, values[number]) for number in fixed)

    def occurring(self, terms: Sequence[z3.ExprRef]) -> list[int]:
        """Return the numbers of the places whose constants occur in terms, in their order."""
        numbers = {place.constant.get_id(): number for number, place in enumerate(self.places)}
        found: set[int] = set()
        seen: set[int] = set()
        pending = list(terms)
        while pending:
            term = pending.pop()
            if term.get_id() in seen:
                continue
            seen.add(term.get_id())
            if term.get_id() in numbers:
                found.add(numbers[term.get_id()])
            pending += term.children()
        return sorted(found)

    def _first_value(self, number: int, fixed: Sequence[z3.BoolRef]) -> Value:
        place = self.places[number]
        candidates = [place.initial]
        candidates += [place.domain.value(index) for index in range(min(place.domain.size, _TRIED))]
        for value in candidates:
            if self.possible(*fixed, self._is(number, value)):
                return value
        self._solver.check(*fixed)
        return value_of(self._solver.model().eval(place.constant, model_completion=True), place.domain)

    def _is(self, number: int, value: Value) -> z3.BoolRef:
        place = self.places[number]
        same = place.constant == stored(constant_of(place.domain, value), place.domain)
        assert isinstance(same, z3.BoolRef)
        return same

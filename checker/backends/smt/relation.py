"""A whole transition system as Z3 terms: its slots, what every action does to them, and its claims."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property

import z3

from checker.backends.smt.expressions import Reader
from checker.backends.smt.steps import Effect, effects_of
from checker.backends.smt.values import (
    Term,
    all_of,
    any_of,
    constant_of,
    equal,
    held,
    negation,
    sort_of,
    stored,
    truth,
    well_formed,
    whole_numbers,
)
from model.expressions import Expression
from model.system import Domain, State, TransitionSystem
from model.types import Value

CASES_MAX = 64
"""Ways of choosing in one action that are written out."""


class Relation:
    """The transition relation of one system over free constants, one for each slot.

    Numbers are bit vectors; integers where the system has numbers without end, or where they are wanted.
    """

    def __init__(self, system: TransitionSystem, *, whole: bool = False) -> None:
        self.system = system
        self.whole = whole or any(slot.domain.endless for slot in system.slots)
        with self.arithmetic():
            self.constants = _constants(system)
            self.values = _held(self.constants, system)
            self.next_constants = _constants(system, "next ")
            self.next_values = _held(self.next_constants, system)
            """The slots of another state, for claims over two."""

    def arithmetic(self) -> AbstractContextManager[None]:
        """Let what is built inside have the numbers of this relation."""
        return whole_numbers(wanted=self.whole)

    @cached_property
    def effects(self) -> tuple[Effect, ...]:
        """What each action does: every step of every instance in the order of the file, then the crashes."""
        with self.arithmetic():
            return tuple(effects_of(self.system, self.values))

    @cached_property
    def well_formed(self) -> z3.BoolRef:
        """Every slot holds a value of its domain."""
        return all_of(
            well_formed(constant, slot.domain) for constant, slot in zip(self.constants, self.system.slots, strict=True)
        )

    @cached_property
    def initial(self) -> z3.BoolRef:
        """The state is one in which a run can start."""
        return any_of(self.is_state(state) for state in self.system.initial_states)

    def is_state(self, state: State, values: Sequence[Term] | None = None) -> z3.BoolRef:
        """Return whether the slots hold exactly a state's values."""
        with self.arithmetic():
            return all_of(
                equal(value, constant_of(slot.domain, held_value))
                for value, slot, held_value in zip(values or self.values, self.system.slots, state, strict=True)
            )

    def truth(
        self, expression: Expression, values: Sequence[Term] | None = None, successor: Sequence[Term] | None = None
    ) -> tuple[z3.BoolRef, z3.BoolRef]:
        """Return where the expression of a property is true, and where it has no value."""
        with self.arithmetic():
            reader = Reader(self.system, values or self.values, successor=successor)
            value = reader.truth(expression, truth(True))
            return value, reader.error

    def changes(self, effect: Effect) -> dict[int, z3.ExprRef]:
        """Return by its number what each slot that an action may change holds afterwards, as it is stored."""
        return {
            place: stored(value, slot.domain)
            for place, (value, slot) in enumerate(zip(effect.values, self.system.slots, strict=True))
            if value is not self.values[place]
        }

    def known(self, terms: Mapping[int, z3.ExprRef]) -> dict[int, int]:
        """Return, by slot, the positions of those values that are the same whatever the state was."""
        found: dict[int, int] = {}
        for place, term in terms.items():
            value = z3.simplify(term)
            if z3.is_bv_value(value) and value.as_long() < self.system.slots[place].domain.size:
                found[place] = value.as_long()
            elif z3.is_true(value) or z3.is_false(value):
                found[place] = int(z3.is_true(value))
        return found

    def known_before(self, effect: Effect) -> dict[int, int]:
        """Return the position of the label from which alone an action starts; nothing for the environment's."""
        slot = self.system.label_slots.get((effect.action.process, effect.action.instance))
        return {} if slot is None else {slot: self.system.slots[slot].domain.index(effect.action.label)}

    def can_be_tried(self, effect: Effect) -> bool:
        """Tell whether an action has few enough ways of choosing for `fair_cases`."""
        ways = math.prod(2 if z3.is_bool(choice) else 1 << choice.size() for choice in _free(effect))
        return bool(ways <= CASES_MAX)

    def fair_cases(self, effect: Effect) -> Iterator[tuple[z3.BoolRef, dict[int, z3.ExprRef]]]:
        """Yield an action's fair transitions, one for each way of choosing: where it is, and what slots hold then.

        Nothing is left free in them: faults do not happen on fair transitions, and every other choice is tried. None
        where that would be too much.
        """
        fair = all_of((effect.allowed, effect.exists, effect.fair))
        if z3.is_false(effect.fair) or not self.can_be_tried(effect):
            return
        changes = self.changes(effect)
        for values in itertools.product(*map(_values_of, _free(effect))):
            chosen = [(draw, truth(False)) for draw in effect.draws]
            chosen += zip(_free(effect), values, strict=True)
            if not z3.is_false(z3.simplify(z3.substitute(effect.allowed, chosen))):
                after = {place: z3.substitute(term, chosen) for place, term in changes.items()}
                yield z3.substitute(fair, chosen), after

    def state_of(self, valuation: z3.ModelRef, values: Sequence[Term]) -> State:
        """Return the state that a solver's valuation gives to values of the slots."""
        with self.arithmetic():
            return tuple(
                value_of(valuation.eval(stored(value, slot.domain), model_completion=True), slot.domain)
                for value, slot in zip(values, self.system.slots, strict=True)
            )

    def successors(self, effect: Effect, state: State) -> frozenset[State]:
        """Return every state to which an action leads from a state, by asking a solver for one after the other."""
        solver = z3.Solver()
        solver.add(self.is_state(state), effect.allowed, effect.exists)
        found: set[State] = set()
        while solver.check() == z3.sat:
            successor = self.state_of(solver.model(), effect.values)
            assert successor not in found, "a state was asked for once more"
            found.add(successor)
            solver.add(negation(self.is_state(successor, effect.values)))
        return frozenset(found)

    def possible(self, state: State, *conditions: z3.BoolRef) -> bool:
        """Tell whether in a state, for some choices, all of the conditions are true."""
        solver = z3.Solver()
        solver.add(self.is_state(state), *conditions)
        return bool(solver.check() == z3.sat)


def _free(effect: Effect) -> list[z3.ExprRef]:
    """Return the choices of an action but for those that are faults."""
    draws = {draw.get_id() for draw in effect.draws}
    return [choice for choice in effect.choices if choice.get_id() not in draws]


def _values_of(choice: z3.ExprRef) -> list[z3.ExprRef]:
    if z3.is_bool(choice):
        return [truth(False), truth(True)]
    return [z3.BitVecVal(value, choice.size()) for value in range(1 << choice.size())]


def _constants(system: TransitionSystem, prefix: str = "") -> tuple[z3.ExprRef, ...]:
    return tuple(
        # Two stores may have variables of one name; the number keeps their slots apart.
        z3.Const(f"{prefix}{number}:{slot.name}", sort_of(slot.domain))
        for number, slot in enumerate(system.slots)
    )


def _held(constants: Sequence[z3.ExprRef], system: TransitionSystem) -> tuple[Term, ...]:
    return tuple(held(constant, slot.domain) for constant, slot in zip(constants, system.slots, strict=True))


def value_of(term: z3.ExprRef, domain: Domain) -> Value:
    """Return the value whose stored form a constant term is."""
    if isinstance(term, z3.BoolRef):
        return bool(z3.is_true(term))
    assert isinstance(term, z3.BitVecNumRef | z3.IntNumRef)
    return domain.value(term.as_long())

"""Runs of a fixed length as terms: bounded model checking and k-induction ask a solver about them.

A *claim* is given by where it breaks: in a state, for some outcome of the choices of the step that is taken next. So a
property of states breaks in a state whatever is chosen, one of transitions where a transition from the state violates
it, and `NO_ERROR`, which is claimed of every system, where a step errs.

Sheeran, Singh, Stålmarck: Checking safety properties using induction and a SAT-solver (FMCAD 2000).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Final

import z3

from checker.backends.smt.relation import Relation
from checker.backends.smt.values import all_of, any_of, held, negation, stored
from model.specification import Property, PropertyKind
from model.system import State

NO_ERROR: Final = ""
"""The name of the claim that no step errs; no property has it."""

COVERED: Final = (PropertyKind.ALWAYS, PropertyKind.STEP, PropertyKind.CHECKED, PropertyKind.POSSIBLE)
"""What can be said by where it breaks; a `possible` one is taken for the claim that it is never reached."""


class Outcome(Enum):
    """What a solver finds of a question whether something breaks."""

    NEVER = "never"
    FOUND = "found"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Answer:
    """An outcome; where something was found the states of the run, and else the claims that the answer rests on."""

    outcome: Outcome
    states: tuple[State, ...] = ()
    by: frozenset[str] = frozenset()


class Claims:
    """The claims of one system and where they break, over the constants of its relation."""

    def __init__(self, relation: Relation, properties: Iterable[Property]) -> None:
        self.relation = relation
        self.breaks: dict[str, z3.BoolRef] = {}
        self.of_states: set[str] = set()
        """Those that break in a state whatever is chosen."""
        for claim in properties:
            if claim.kind in COVERED:
                self.breaks[claim.name] = self._breaks(claim)
                if not claim.kind.of_transitions:
                    self.of_states.add(claim.name)
        errors = [all_of((effect.allowed, effect.fails)) for effect in relation.effects]
        self.breaks[NO_ERROR] = any_of(errors)

    def _breaks(self, claim: Property) -> z3.BoolRef:
        if claim.kind is PropertyKind.CHECKED:
            found = [
                all_of((effect.allowed, effect.exists, false))
                for effect in self.relation.effects
                for name, false in effect.violated
                if name == claim.name
            ]
            return any_of(found)
        if claim.kind is PropertyKind.STEP:
            return any_of(self._broken_by(claim))
        holds, error = self.relation.truth(claim.expression)
        return any_of((error, holds if claim.kind is PropertyKind.POSSIBLE else negation(holds)))

    def _broken_by(self, claim: Property) -> Iterable[z3.BoolRef]:
        for effect in self.relation.effects:
            holds, error = self.relation.truth(claim.expression, successor=effect.values)
            yield all_of((effect.allowed, effect.exists, any_of((error, negation(holds)))))


class Unrolling:
    """The states and transitions of runs, one after the other, in one solver.

    `deadline` is a moment of `time.monotonic` after which nothing is found out any more.
    """

    def __init__(self, claims: Claims, deadline: float | None = None) -> None:
        self.claims = claims
        self.relation = claims.relation
        self.deadline = deadline
        self.solver = z3.Solver()
        self._frames: list[list[tuple[z3.ExprRef, z3.ExprRef]]] = []
        self._literals: dict[tuple[str, int, bool], z3.BoolRef] = {}
        self._apart: dict[tuple[int, int], z3.BoolRef] = {}
        self._connected = 0

    # -- what may be asked ----------------------------------------------------------------------------------------

    def breaks(self, name: str, depth: int, *, initially: bool, given: Mapping[str, int]) -> Answer:
        """Ask whether a claim can break after a number of transitions.

        The run starts in an initial state if `initially`, and else anywhere. `given` says of claims in how many states,
        from the first on, they are taken for true. Without `initially` no two states before the last are the same.
        """
        self._reach(depth)
        assumptions = [self._literal(name, depth, breaks=True)]
        names: dict[str, str] = {}
        for other, count in given.items():
            for frame in range(min(count, depth + 1)):
                literal = self._literal(other, frame, breaks=False)
                names[str(literal)] = other
                assumptions.append(literal)
        if initially:
            assumptions.append(self._initial)
        else:
            assumptions += [self._different(i, j) for j in range(depth) for i in range(j)]
        left = None if self.deadline is None else self.deadline - time.monotonic()
        if left is not None:
            if left <= 0:
                return Answer(Outcome.UNKNOWN)
            self.solver.set("timeout", max(1, int(left * 1000)))
        found = self.solver.check(*assumptions)
        if found == z3.unsat:
            used = {names[str(literal)] for literal in self.solver.unsat_core() if str(literal) in names}
            return Answer(Outcome.NEVER, by=frozenset(used))
        if found != z3.sat:
            return Answer(Outcome.UNKNOWN)
        valuation = self.solver.model()
        return Answer(Outcome.FOUND, tuple(self._state(valuation, frame) for frame in range(depth + 1)))

    # -- terms ----------------------------------------------------------------------------------------------------

    @cached_property
    def _transition(self) -> z3.BoolRef:
        """One transition, from the constants of the relation to the next ones, with all choices free."""
        slots = self.relation.system.slots
        ways = []
        with self.relation.arithmetic():
            for effect in self.relation.effects:
                after = [
                    constant == stored(value, slot.domain)
                    for constant, value, slot in zip(self.relation.next_constants, effect.values, slots, strict=True)
                ]
                ways.append(all_of((effect.allowed, effect.exists, *after)))
        return any_of(ways)

    @cached_property
    def _choices(self) -> list[z3.ExprRef]:
        return [choice for effect in self.relation.effects for choice in effect.choices]

    @cached_property
    def _initial(self) -> z3.BoolRef:
        literal = z3.Bool("initially")
        self.solver.add(z3.Implies(literal, self._at(self.relation.initial, 0)))
        return literal

    def _reach(self, depth: int) -> None:
        """Add states and transitions up to a depth."""
        while len(self._frames) <= depth:
            number = len(self._frames)
            pairs = [(c, z3.Const(f"{number}!{c.decl().name()}", c.sort())) for c in self.relation.constants]
            pairs += [(c, z3.Const(f"{number}!{c.decl().name()}", c.sort())) for c in self._choices]
            self._frames.append(pairs)
            self.solver.add(self._at(self.relation.well_formed, number))
        while self._connected < depth:
            following = self._frames[self._connected + 1][: len(self.relation.constants)]
            after = [(c, renamed) for c, (_, renamed) in zip(self.relation.next_constants, following, strict=True)]
            self.solver.add(z3.substitute(self._transition, *self._frames[self._connected], *after))
            self._connected += 1

    def _at(self, term: z3.BoolRef, frame: int) -> z3.BoolRef:
        placed = z3.substitute(term, *self._frames[frame])
        assert isinstance(placed, z3.BoolRef)
        return placed

    def _literal(self, name: str, frame: int, *, breaks: bool) -> z3.BoolRef:
        """Return a constant that, taken for true, lets a claim break in a state or be true of it."""
        key = (name, frame, breaks)
        if key not in self._literals:
            literal = self._literals[key] = z3.Bool(f"{name}@{frame}{'-' if breaks else '+'}")
            broken = self._at(self.claims.breaks[name], frame)
            self.solver.add(z3.Implies(literal, broken if breaks else negation(broken)))
        return self._literals[key]

    def _different(self, first: int, second: int) -> z3.BoolRef:
        if (first, second) not in self._apart:
            literal = self._apart[first, second] = z3.Bool(f"{first}/{second}")
            count = len(self.relation.constants)
            pairs = zip(self._frames[first][:count], self._frames[second][:count], strict=True)
            self.solver.add(z3.Implies(literal, z3.Or([a != b for (_, a), (_, b) in pairs])))
        return self._apart[first, second]

    def _state(self, valuation: z3.ModelRef, frame: int) -> State:
        slots = self.relation.system.slots
        with self.relation.arithmetic():
            values = [
                held(renamed, slot.domain) for (_, renamed), slot in zip(self._frames[frame], slots, strict=False)
            ]
        return self.relation.state_of(valuation, values)

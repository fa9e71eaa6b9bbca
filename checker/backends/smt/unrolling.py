"""Runs of a fixed length as terms: bounded model checking and k-induction ask a solver about them.

A *claim* is given by where it breaks: in a state, for some outcome of the choices of the step that is taken next. So a
property of states breaks in a state whatever is chosen, one of transitions where a transition from the state violates
it, and `NO_ERROR`, which is claimed of every system, where a step errs.

What is asked is put together in `Frames`: for a solver that is asked again and again (`Unrolling`), and as one set of
formulas for whoever writes it down.

Sheeran, Singh, Stålmarck: Checking safety properties using induction and a SAT-solver (FMCAD 2000).
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, partial
from typing import Final

import z3

from checker.backends.smt.relation import Relation
from checker.backends.smt.values import Term, all_of, any_of, held, negation, stored
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


@dataclass(frozen=True, slots=True)
class Round:
    """Claims that are true together: each follows in a state from all of them in so many states before it.

    They rest on those of the rounds before, and do not break in the first `length` states of any run.
    """

    length: int
    claims: tuple[str, ...]

    def given(self, name: str, before: Iterable[str], of_states: Collection[str]) -> dict[str, int]:
        """Return in how many states which claims are taken for true where one of these is to follow.

        `before` are the claims of earlier rounds. A claim of transitions may in the last state too rest on claims of
        states; these rest there on none of their own round.
        """
        given = dict.fromkeys(before, self.length + 1)
        for other in self.claims:
            here_too = name not in of_states and other in of_states
            given[other] = self.length + here_too
        return given


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


class Frames:
    """The states of a run one after the other, each with constants of its own, and what can be said of them."""

    def __init__(self, claims: Claims) -> None:
        self.claims = claims
        self.relation = claims.relation
        self._frames: list[list[tuple[z3.ExprRef, z3.ExprRef]]] = []

    def question(self, name: str, depth: int, *, initially: bool, given: Mapping[str, int]) -> list[z3.BoolRef]:
        """Return what is true together if a claim can break after a number of transitions.

        The run starts in an initial state if `initially`, and else anywhere; then no two states before the last are the
        same. `given` says of claims in how many states, from the first on, they are taken for true.
        """
        parts = [self.well_formed(frame) for frame in range(depth + 1)]
        parts += [self.transition(frame) for frame in range(depth)]
        if initially:
            parts.append(self.initial())
        else:
            parts += [self.differ(i, j) for j in range(depth) for i in range(j)]
        for other, count in given.items():
            parts += [self.true(other, frame) for frame in range(min(count, depth + 1))]
        return [*parts, self.broken(name, depth)]

    def values(self, frame: int) -> list[Term]:
        """Return what the slots of a state hold."""
        slots = self.relation.system.slots
        with self.relation.arithmetic():
            return [held(renamed, slot.domain) for (_, renamed), slot in zip(self._pairs(frame), slots, strict=False)]

    def well_formed(self, frame: int) -> z3.BoolRef:
        """Return that the slots of a state hold values of their domains."""
        return self._at(self.relation.well_formed, frame)

    def initial(self) -> z3.BoolRef:
        """Return that the first state is one in which a run can start."""
        return self._at(self.relation.initial, 0)

    def transition(self, frame: int) -> z3.BoolRef:
        """Return that a transition leads from a state to the next one."""
        following = zip(self.relation.next_constants, self._pairs(frame + 1), strict=False)
        return self._at(self._transition, frame, [(constant, renamed) for constant, (_, renamed) in following])

    def broken(self, name: str, frame: int) -> z3.BoolRef:
        """Return that a claim breaks in a state."""
        return self._at(self.claims.breaks[name], frame)

    def true(self, name: str, frame: int) -> z3.BoolRef:
        """Return that a claim does not break in a state."""
        return negation(self.broken(name, frame))

    def differ(self, first: int, second: int) -> z3.BoolRef:
        """Return that two states are not the same."""
        count = len(self.relation.constants)
        pairs = zip(self._pairs(first)[:count], self._pairs(second)[:count], strict=True)
        return z3.Or([a != b for (_, a), (_, b) in pairs])

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

    def _pairs(self, frame: int) -> list[tuple[z3.ExprRef, z3.ExprRef]]:
        """Return the constants of the relation, then its choices, each with what it is in one state of the run."""
        while len(self._frames) <= frame:
            number = len(self._frames)
            free = (*self.relation.constants, *self._choices)
            self._frames.append([(c, z3.Const(f"{number}!{c.decl().name()}", c.sort())) for c in free])
        return self._frames[frame]

    def _at(self, term: z3.BoolRef, frame: int, more: Iterable[tuple[z3.ExprRef, z3.ExprRef]] = ()) -> z3.BoolRef:
        placed = z3.substitute(term, *self._pairs(frame), *more)
        assert isinstance(placed, z3.BoolRef)
        return placed


class Unrolling:
    """The states and transitions of runs in one solver, which keeps what it has learnt of them.

    `deadline` is a moment of `time.monotonic` after which nothing is found out any more.
    """

    def __init__(self, claims: Claims, deadline: float | None = None) -> None:
        self.claims = claims
        self.deadline = deadline
        self.solver = z3.Solver()
        self._frames = Frames(claims)
        self._literals: dict[tuple[object, ...], z3.BoolRef] = {}
        self._reached = 0
        self._connected = 0

    # -- what may be asked ----------------------------------------------------------------------------------------

    def breaks(self, name: str, depth: int, *, initially: bool, given: Mapping[str, int]) -> Answer:
        """Ask whether a claim can break after a number of transitions, as `Frames.question` puts it.

        Every part of the question has a constant that stands for it, so that the solver can say on what it rests.
        """
        self._reach(depth)
        frames = self._frames
        assumptions = [self._literal(partial(frames.broken, name, depth))]
        names: dict[str, str] = {}
        for other, count in given.items():
            for frame in range(min(count, depth + 1)):
                literal = self._literal(partial(frames.true, other, frame))
                names[str(literal)] = other
                assumptions.append(literal)
        if initially:
            assumptions.append(self._literal(partial(frames.initial)))
        else:
            assumptions += [self._literal(partial(frames.differ, i, j)) for j in range(depth) for i in range(j)]
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

    def _reach(self, depth: int) -> None:
        """Add states and transitions up to a depth."""
        for frame in range(self._reached, depth + 1):
            self.solver.add(self._frames.well_formed(frame))
        for frame in range(self._connected, depth):
            self.solver.add(self._frames.transition(frame))
        self._reached, self._connected = max(self._reached, depth + 1), max(self._connected, depth)

    def _literal(self, meaning: partial[z3.BoolRef]) -> z3.BoolRef:
        """Return a constant that, taken for true, makes true what `Frames` says when it is so called."""
        key = (meaning.func.__name__, *meaning.args)
        if key not in self._literals:
            literal = self._literals[key] = z3.Bool(str(key))
            self.solver.add(z3.Implies(literal, meaning()))
        return self._literals[key]

    def _state(self, valuation: z3.ModelRef, frame: int) -> State:
        return self.claims.relation.state_of(valuation, self._frames.values(frame))

"""Proofs by property-directed reachability: Z3's engine Spacer, where numbers have no end.

Komuravelli, Gurfinkel, Chaki: SMT-based model checking for recursive programs (CAV 2014).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import z3

from checker.backends.smt.unrolling import Claims, Outcome
from checker.backends.smt.values import all_of, negation, stored

Invariant: TypeAlias = Callable[[Sequence[z3.ExprRef]], z3.BoolRef]
"""A condition on the values of the slots."""


def invariant_for(claims: Claims, name: str, given: Sequence[str], seconds: float) -> tuple[Outcome, bool]:
    """Let Spacer look for an inductive invariant that excludes where a claim breaks.

    Claims of states that are known to hold may be `given`. What Spacer finds is not believed: an invariant is checked
    again by a plain solver, and the second value says whether that has agreed.
    """
    relation = claims.relation
    fixedpoint = z3.Fixedpoint()
    fixedpoint.set(engine="spacer")
    fixedpoint.set("timeout", max(1, int(seconds * 1000)))
    reached = z3.Function("reached", *(c.sort() for c in relation.constants), z3.BoolSort())
    broken = z3.Bool("broken")
    fixedpoint.register_relation(reached, broken.decl())
    choices = [choice for effect in relation.effects for choice in effect.choices]
    fixedpoint.declare_var(*relation.constants, *choices)
    known = all_of((relation.well_formed, *(negation(claims.breaks[other]) for other in given)))
    here = reached(*relation.constants)
    fixedpoint.rule(here, relation.initial)
    for effect in relation.effects:
        with relation.arithmetic():
            slots = zip(effect.values, relation.system.slots, strict=True)
            after = reached(*(stored(value, slot.domain) for value, slot in slots))
        fixedpoint.rule(after, [here, known, effect.allowed, effect.exists])
    fixedpoint.rule(broken, [here, known, claims.breaks[name]])
    try:
        answer = fixedpoint.query(broken)
    except z3.Z3Exception:
        return Outcome.UNKNOWN, False
    if answer == z3.sat:
        return Outcome.FOUND, False
    if answer != z3.unsat:
        return Outcome.UNKNOWN, False
    invariant = _invariant(fixedpoint.get_answer(), reached)
    return Outcome.NEVER, invariant is not None and _is_invariant(claims, name, known, invariant, seconds)


def _invariant(answer: z3.ExprRef, reached: z3.FuncDeclRef) -> Invariant | None:
    """Read what Spacer says of `reached` out of its answer, a conjunction of definitions."""
    parts = answer.children() if z3.is_and(answer) else [answer]
    for part in parts:
        if not z3.is_quantifier(part):
            continue
        body = part.body()
        if z3.is_eq(body) and z3.is_app(body.arg(0)) and z3.eq(body.arg(0).decl(), reached):
            head, definition = body.arg(0), body.arg(1)
            order = [z3.get_var_index(argument) for argument in head.children()]

            def instantiated(
                values: Sequence[z3.ExprRef], definition: z3.ExprRef = definition, order: list[int] = order
            ) -> z3.BoolRef:
                by_index = dict(zip(order, values, strict=True))
                placed = z3.substitute_vars(definition, *(by_index[index] for index in range(len(order))))
                assert isinstance(placed, z3.BoolRef)
                return placed

            return instantiated
    return None


def _is_invariant(
    claims: Claims,
    name: str,
    known: z3.BoolRef,
    invariant: Invariant,
    seconds: float,
) -> bool:
    """Check with a plain solver: initial states are inside, every action stays inside, inside nothing breaks."""
    relation = claims.relation
    inside = invariant(relation.constants)
    questions = [[relation.initial, negation(inside)], [inside, known, claims.breaks[name]]]
    with relation.arithmetic():
        for effect in relation.effects:
            slots = zip(effect.values, relation.system.slots, strict=True)
            after = invariant([stored(value, slot.domain) for value, slot in slots])
            questions.append([inside, known, effect.allowed, effect.exists, negation(after)])
    for question in questions:
        solver = z3.Solver()
        solver.set("timeout", max(1, int(seconds * 1000)))
        solver.add(*question)
        if solver.check() != z3.unsat:
            return False
    return True

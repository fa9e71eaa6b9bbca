"""What has to be shown of an invariant, one SMT-LIB text each: `unsat` is the answer that proves it.

An inductive invariant is a set of states that holds the initial ones and that no action leaves (Floyd 1967). If inside
it every property is true and nothing errs, then so it is in every reachable state. Neither the explorer nor the way in
which the set was found is part of the argument: a set that misses a reachable state is left by some action, and the
obligation of that action is satisfiable.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import z3

from checker.backends.smt.relation import Relation
from checker.backends.smt.steps import Effect
from checker.backends.smt.values import all_of, any_of, negation, stored
from checker.certificates.diagram import FALSE, TRUE, Diagram
from model.specification import Property, PropertyKind
from model.system import BOOL_DOMAIN, TransitionSystem

LOGIC: Final = "QF_BV"


@dataclass(frozen=True, slots=True)
class Obligation:
    """A name that is a file's, what it says, and the SMT-LIB text whose answer has to be `unsat`."""

    name: str
    says: str
    text: str


class Obligations:
    """Writes the obligations of one system and one invariant."""

    def __init__(self, system: TransitionSystem, invariant: Diagram, properties: Sequence[Property]) -> None:
        self.system = system
        self.invariant = invariant
        self.properties = properties
        self.relation = Relation(system)
        self._inside = list(_definitions("before", invariant, system, [_symbol(c) for c in self.relation.constants]))

    def all(self) -> Iterator[Obligation]:
        """Yield them in a fixed order: initial states, every action, properties."""
        yield self._initial()
        for number, effect in enumerate(self.relation.effects):
            yield self._inductive(number, effect)
        yield from self._step_claims()
        yield from self._state_claims()

    def _initial(self) -> Obligation:
        outside = f"(assert (not {_node('before', self.invariant.root)}))"
        lines = [*self._inside, f"(assert {_text(self.relation.initial)})", outside]
        return self._obligation("initial", "every initial state is inside", lines)

    def _inductive(self, number: int, effect: Effect) -> Obligation:
        name = _action_name(self.system, effect)
        lines = [*self._choices(effect.choices), *self._inside]
        symbols = []
        for place, (value, constant) in enumerate(zip(effect.values, self.relation.constants, strict=True)):
            term = z3.simplify(stored(value, self.system.slots[place].domain))
            if z3.eq(term, constant):
                symbols.append(_symbol(constant))
                continue
            symbol = f"|after {place}:{self.system.slots[place].name}|"
            lines.append(f"(define-fun {symbol} () {term.sort().sexpr()} {_text(term)})")
            symbols.append(symbol)
        lines += _definitions("after", self.invariant, self.system, symbols)
        leaves = f"(and {_text(effect.exists)} (not {_node('after', self.invariant.root)}))"
        lines += [
            f"(assert {_node('before', self.invariant.root)})",
            f"(assert {_text(all_of((self.relation.well_formed, effect.allowed)))})",
            f"(assert (or {_text(effect.fails)} {leaves}))",
        ]
        says = f"{name} stays inside and never errs"
        return self._obligation(f"action-{number:03}-{_file_name(name)}", says, lines)

    def _step_claims(self) -> Iterator[Obligation]:
        for claim in self.properties:
            if claim.kind is not PropertyKind.STEP:
                continue
            broken = []
            for effect in self.relation.effects:
                holds, error = self.relation.truth(claim.expression, successor=effect.values)
                broken.append(all_of((effect.allowed, effect.exists, any_of((error, negation(holds))))))
            choices = [choice for effect in self.relation.effects for choice in effect.choices]
            says = f"{claim.name} is true of every action inside"
            yield self._refuted(f"step-{_file_name(claim.name)}", says, [z3.simplify(any_of(broken))], choices)

    def _state_claims(self) -> Iterator[Obligation]:
        for claim in self.properties:
            if claim.kind is PropertyKind.ALWAYS:
                holds, error = self.relation.truth(claim.expression)
                yield self._refuted(
                    f"always-{_file_name(claim.name)}",
                    f"{claim.name} is true inside",
                    [any_of((error, negation(holds)))],
                )

    def _refuted(
        self, file: str, says: str, terms: Sequence[z3.BoolRef], choices: Sequence[z3.ExprRef] = ()
    ) -> Obligation:
        """Return the obligation that nowhere inside all of the terms are true."""
        together = all_of((self.relation.well_formed, *terms))
        lines = [
            *self._choices(choices),
            *self._inside,
            f"(assert {_node('before', self.invariant.root)})",
            f"(assert {_text(together)})",
        ]
        return self._obligation(file, says, lines)

    def _choices(self, choices: Sequence[z3.ExprRef]) -> list[str]:
        return [f"(declare-const {_symbol(choice)} {choice.sort().sexpr()})" for choice in choices]

    def _obligation(self, name: str, says: str, lines: Sequence[str]) -> Obligation:
        declared = [f"(declare-const {_symbol(c)} {c.sort().sexpr()})" for c in self.relation.constants]
        head = [f"; {says}", f"(set-logic {LOGIC})", *declared]
        return Obligation(name, says, "\n".join([*head, *lines, "(check-sat)"]) + "\n")


def _definitions(when: str, diagram: Diagram, system: TransitionSystem, symbols: Sequence[str]) -> Iterator[str]:
    """Yield the definition of every node over the symbols of the slots."""
    for number, node in enumerate(diagram.nodes, start=TRUE + 1):
        domain = system.slots[node.slot].domain
        symbol = symbols[node.slot]
        if domain is BOOL_DOMAIN:
            body = f"(ite {symbol} {_node(when, node.children[1])} {_node(when, node.children[0])})"
        else:
            body = _cases(when, node.children, symbol, max(1, (domain.size - 1).bit_length()))
        yield f"(define-fun {_node(when, number)} () Bool {body})"


def _cases(when: str, children: Sequence[int], symbol: str, width: int) -> str:
    """Return what a node of a slot with numbered values is: by the most frequent child, and the others case by case."""
    usual = max(set(children), key=lambda child: (children.count(child), -child))
    body = _node(when, usual)
    for child in sorted(set(children) - {usual}):
        values = [f"(= {symbol} (_ bv{value} {width}))" for value, each in enumerate(children) if each == child]
        test = values[0] if len(values) == 1 else f"(or {' '.join(values)})"
        body = f"(ite {test} {_node(when, child)} {body})"
    return body


def _node(when: str, number: int) -> str:
    return {FALSE: "false", TRUE: "true"}.get(number, f"{when}.{number}")


def _text(term: z3.ExprRef) -> str:
    return " ".join(term.sexpr().split())


def _symbol(constant: z3.ExprRef) -> str:
    return constant.sexpr()


def _action_name(system: TransitionSystem, effect: Effect) -> str:
    action = effect.action
    who = system.instance_name(action.process, action.instance)
    return f"{who}.{action.label}" if action.fault is None else f"{action.fault} of {who} before {action.label}"


def _file_name(text: str) -> str:
    return "".join(character if character.isalnum() or character in "_." else "-" for character in text)

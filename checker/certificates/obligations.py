"""What has to be shown of an invariant, one SMT-LIB text each: `unsat` is the answer that proves it.

An inductive invariant is a set of states that holds the initial ones and that no action leaves (Floyd 1967). If inside
it every property is true and nothing errs, then so it is in every reachable state. Neither the explorer nor the way in
which the set was found is part of the argument: a set that misses a reachable state is left by some action, and the
obligation of that action is satisfiable.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from checker.backends.smt.relation import Relation
from checker.backends.smt.steps import Effect
from checker.backends.smt.text import Writer
from checker.backends.smt.values import (
    Formula,
    all_of,
    any_of,
    is_false,
    negation,
    position_width,
    stored,
    well_formed,
)
from checker.certificates.diagram import FALSE, TRUE, Diagram
from model.specification import Property, PropertyKind
from model.system import BOOL_DOMAIN, TransitionSystem

LOGIC: Final = "QF_BV"

INVARIANT_KINDS: Final = frozenset({PropertyKind.ALWAYS, PropertyKind.STEP, PropertyKind.CHECKED})
"""The kinds of properties that an inductive invariant can show."""


@dataclass(frozen=True, slots=True)
class Obligation:
    """A name that is a file's, what it says, and the SMT-LIB text whose answer has to be `unsat`."""

    name: str
    says: str
    text: str


class Obligations:
    """Writes the obligations of one system and one invariant: that `claimed` are true, and that all have values."""

    def __init__(self, system: TransitionSystem, invariant: Diagram, claimed: Collection[str]) -> None:
        self.system = system
        self.invariant = invariant
        self.claimed = claimed
        self.relation = Relation(system)
        self.writer = Writer()
        self._declared = [self.writer.declaration(constant) for constant in self.relation.constants]
        self._symbols = [self.writer.symbol(constant) for constant in self.relation.constants]
        self._next_symbols = [self.writer.symbol(constant) for constant in self.relation.next_constants]
        self._inside = list(_definitions("before", invariant, system, self._symbols, {}))
        self._slots_below = _slots_below(invariant)
        properties = system.specification.properties.values()
        self._steps = {p.name: self._broken_step(p) for p in properties if p.kind is PropertyKind.STEP}

    def all(self) -> Iterator[Obligation]:
        """Yield them in a fixed order: initial states, every action, properties."""
        yield self._initial()
        for number, effect in enumerate(self.relation.effects):
            yield self._of_action(number, effect)
        for claim in self.system.specification.properties.values():
            if not claim.kind.of_transitions:
                yield from self._of_property(claim)

    def _initial(self) -> Obligation:
        definitions, texts = self.writer.texts([self.relation.initial, negation(self.relation.well_formed)])
        outside = f"(or {texts[1]} (not {_node('before', self.invariant.root)}))"
        lines = [*self._inside, *definitions, f"(assert {texts[0]})", f"(assert {outside})"]
        return self._obligation("initial", "every initial state is inside", lines)

    def _of_action(self, number: int, effect: Effect) -> Obligation:
        """Return the obligation that an action does not lead out, does not err, and does what properties ask of it.

        What the action leaves alone is not defined again: a node that asks of nothing else is the same node before and
        after.
        """
        changed = {
            place: stored(value, slot.domain)
            for place, (value, slot) in enumerate(zip(effect.values, self.system.slots, strict=True))
            if value is not self.relation.values[place]
        }
        odd = any_of(negation(well_formed(term, self.system.slots[place].domain)) for place, term in changed.items())
        possible = all_of((self.relation.well_formed, effect.allowed))
        wrong = self._wrong_with(effect)
        terms = [possible, effect.fails, effect.exists, odd, *changed.values()]
        definitions, texts = self.writer.texts(terms)
        symbols = list(self._symbols)
        after = []
        for (place, term), text in zip(changed.items(), texts[4:], strict=True):
            symbols[place] = self._next_symbols[place]
            after.append(f"(define-fun {symbols[place]} () {self.writer.sort(term)} {text})")
        more, wrong_texts = self.writer.texts(wrong.values(), prefix="p")
        after += [
            f"(define-fun {self._next_symbols[place]} () {self.writer.sort(constant)} {self._symbols[place]})"
            for place, constant in enumerate(self.relation.next_constants)
            if place not in changed and any(self._next_symbols[place] in text for text in (*more, *wrong_texts))
        ]
        same = {n: _node("before", n) for n, below in self._slots_below.items() if not below & changed.keys()}
        nodes = _definitions("after", self.invariant, self.system, symbols, same)
        root = same.get(self.invariant.root) or _node("after", self.invariant.root)
        bad = [f"(not {root})", *(text for text in (texts[3], *wrong_texts) if text != "false")]
        lines = [
            *(self.writer.declaration(choice) for choice in effect.choices),
            *self._inside,
            *definitions,
            *after,
            *more,
            *nodes,
            f"(assert {_node('before', self.invariant.root)})",
            f"(assert {texts[0]})",
            f"(assert (or {texts[1]} (and {texts[2]} {_or(bad)})))",
        ]
        name = _action_name(self.system, effect)
        kept = ", ".join(claim for claim in wrong if claim in self.claimed)
        says = f"{name} stays inside and never errs{f', and keeps to {kept}' if kept else ''}"
        return self._obligation(f"action-{number:03}-{_file_name(name)}", says, lines)

    def _wrong_with(self, effect: Effect) -> dict[str, Formula]:
        """Return by property where a transition of an action is not what it asks for; it reads both states."""
        wrong = {name: term for name, term in self._steps.items() if not is_false(term)}
        return wrong | {name: term for name, term in effect.violated if name in self.claimed}

    def _broken_step(self, claim: Property) -> Formula:
        holds, error = self.relation.truth(claim.expression, successor=self.relation.next_values)
        return any_of((error, negation(holds))) if claim.name in self.claimed else error

    def _of_property(self, claim: Property) -> Iterator[Obligation]:
        """Yield that a property is true inside, where that is claimed, and else that it has a value there."""
        read = [self.relation.truth(expression) for expression in claim.expressions]
        errors = [error for _, error in read]
        if claim.name in self.claimed and claim.kind is PropertyKind.ALWAYS:
            wrong = any_of([*errors, negation(read[0][0])])
            yield self._refuted(f"always-{_file_name(claim.name)}", f"{claim.name} is true inside", wrong)
        elif not is_false(any_of(errors)):
            says = f"{claim.name} has a value inside"
            yield self._refuted(f"value-{_file_name(claim.name)}", says, any_of(errors))

    def _refuted(self, file: str, says: str, wrong: Formula) -> Obligation:
        """Return the obligation that something is true nowhere inside."""
        definitions, (text,) = self.writer.texts([all_of((self.relation.well_formed, wrong))])
        lines = [
            *self._inside,
            *definitions,
            f"(assert {_node('before', self.invariant.root)})",
            f"(assert {text})",
        ]
        return self._obligation(file, says, lines)

    def _obligation(self, name: str, says: str, lines: Sequence[str]) -> Obligation:
        head = [f"; {says}", f"(set-logic {LOGIC})", *self._declared]
        return Obligation(name, says, "\n".join([*head, *lines, "(check-sat)"]) + "\n")


def _definitions(
    when: str, diagram: Diagram, system: TransitionSystem, symbols: Sequence[str], known: Mapping[int, str]
) -> Iterator[str]:
    """Yield the definition of every node over the symbols of the slots, except of those that have a name already."""

    def name(number: int) -> str:
        return known.get(number) or _node(when, number)

    for number, node in enumerate(diagram.nodes, start=TRUE + 1):
        if number in known:
            continue
        domain = system.slots[node.slot].domain
        symbol = symbols[node.slot]
        children = [name(child) for child in node.children]
        if domain is BOOL_DOMAIN:
            body = _if(symbol, children[1], children[0])
        else:
            body = _cases(children, symbol, position_width(domain))
        yield f"(define-fun {name(number)} () Bool {body})"


def _cases(children: Sequence[str], symbol: str, width: int) -> str:
    """Return what a node of a slot with numbered values is: by the most frequent child, and the others case by case."""
    distinct = list(dict.fromkeys(children))
    usual = max(distinct, key=children.count)
    body = usual
    for child in distinct:
        if child != usual:
            values = [f"(= {symbol} (_ bv{value} {width}))" for value, each in enumerate(children) if each == child]
            body = _if(values[0] if len(values) == 1 else f"(or {' '.join(values)})", child, body)
    return body


def _if(condition: str, then: str, otherwise: str) -> str:
    match then, otherwise:
        case "true", "false":
            return condition
        case "false", "true":
            return f"(not {condition})"
        case "true", _:
            return f"(or {condition} {otherwise})"
        case "false", _:
            return f"(and (not {condition}) {otherwise})"
        case _, "true":
            return f"(or (not {condition}) {then})"
        case _, "false":
            return f"(and {condition} {then})"
        case _:
            return f"(ite {condition} {then} {otherwise})"


def _or(texts: Sequence[str]) -> str:
    return texts[0] if len(texts) == 1 else f"(or {' '.join(texts)})"


def _slots_below(diagram: Diagram) -> dict[int, frozenset[int]]:
    """Return for each node the slots that it and all below it ask for."""
    below: dict[int, frozenset[int]] = {FALSE: frozenset(), TRUE: frozenset()}
    shared: dict[frozenset[int], frozenset[int]] = {}
    for number, node in enumerate(diagram.nodes, start=TRUE + 1):
        slots = frozenset({node.slot}.union(*(below[child] for child in node.children)))
        below[number] = shared.setdefault(slots, slots)
    return below


def _node(when: str, number: int) -> str:
    return {FALSE: "false", TRUE: "true"}.get(number, f"{when}.{number}")


def _action_name(system: TransitionSystem, effect: Effect) -> str:
    action = effect.action
    who = system.instance_name(action.process, action.instance)
    if action.fault is None:
        return f"{who}.{action.label}"
    return f"{action.fault} of {who} {'in' if action.torn else 'before'} {action.label}"


def _file_name(text: str) -> str:
    return "".join(character if character.isalnum() or character in "_." else "-" for character in text)

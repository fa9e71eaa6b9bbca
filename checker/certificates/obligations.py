"""What has to be shown of an invariant, one SMT-LIB text each: `unsat` is the answer that proves it.

An inductive invariant is a set of states that holds the initial ones and that no action leaves (Floyd 1967). If inside
it every property is true and nothing errs, then so it is in every reachable state. Neither the explorer nor the way in
which the set was found is part of the argument: a set that misses a reachable state is left by some action, and the
obligation of that action is satisfiable.

For `recoverable` come a rank, a number for each state, and a plan, an action for each state: short of the goal, a fair
transition of that action leads to a lower rank. Ranks cannot fall for ever, so the goal can be reached; and as
transitions stay inside, so does the way.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from checker.backends.smt.relation import Relation
from checker.backends.smt.steps import Effect
from checker.backends.smt.text import Writer
from checker.backends.smt.values import Formula, all_of, any_of, is_false, negation, well_formed
from checker.certificates.diagram import Diagram
from checker.certificates.diagramtext import DiagramText
from model.specification import Property, PropertyKind
from model.system import TransitionSystem

LOGIC: Final = "QF_BV"

INVARIANT_KINDS: Final = frozenset({PropertyKind.ALWAYS, PropertyKind.STEP, PropertyKind.CHECKED})
"""The kinds of properties that an inductive invariant can show."""


@dataclass(frozen=True, slots=True)
class Obligation:
    """A name that is a file's, what it says, and the SMT-LIB text whose answer has to be `unsat`."""

    name: str
    says: str
    text: str


@dataclass(frozen=True, slots=True)
class Ranking:
    """Two diagrams: the rank of a state, and the number of the action that leads to a lower one."""

    rank: Diagram
    plan: Diagram


class Obligations:
    """Writes the obligations of one system and one invariant.

    They say that the properties in `claimed` are true, that all others have values, and that from everywhere inside the
    goals of the `recoverable` properties in `rankings` can be reached. `relation` is that of the system, if known.
    """

    def __init__(
        self,
        system: TransitionSystem,
        invariant: Diagram,
        claimed: Collection[str],
        rankings: Mapping[str, Ranking],
        relation: Relation | None = None,
    ) -> None:
        self.system = system
        self.claimed = claimed
        self.rankings = rankings
        self.relation = relation if relation is not None and relation.system is system else Relation(system)
        self._invariant = DiagramText.of_set(invariant, system)
        self._writer = Writer()
        self._declared = [self._writer.declaration(constant) for constant in self.relation.constants]
        self._symbols = [self._writer.symbol(constant) for constant in self.relation.constants]
        self._next_symbols = [self._writer.symbol(constant) for constant in self.relation.next_constants]
        root = self._invariant.root
        self._inside = list(self._invariant.definitions("before", self._symbols, [root]))
        self._root = self._invariant.name(root, "before")
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
            if claim.name in self.rankings:
                yield from self._recoverable(claim, self.rankings[claim.name])

    def _initial(self) -> Obligation:
        definitions, texts = self._writer.texts([self.relation.initial, negation(self.relation.well_formed)])
        outside = f"(or {texts[1]} (not {self._root}))"
        lines = [*self._inside, *definitions, f"(assert {texts[0]})", f"(assert {outside})"]
        return self._obligation("initial", "every initial state is inside", lines)

    # -- actions --------------------------------------------------------------------------------------------------

    def _of_action(self, number: int, effect: Effect) -> Obligation:
        """Return the obligation that an action does not lead out, does not err, and does what properties ask of it.

        What the action leaves alone is not defined again: a node that asks of nothing else is the same node before and
        after. Of the diagram only that part is written which has the label from which the action starts, and afterwards
        the values to which it always leads.
        """
        changed = self.relation.changes(effect)
        odd = any_of(negation(well_formed(term, self.system.slots[place].domain)) for place, term in changed.items())
        possible = all_of((self.relation.well_formed, effect.allowed))
        wrong = self._wrong_with(effect)
        definitions, texts = self._writer.texts([possible, effect.fails, effect.exists, odd, *changed.values()])
        more, wrong_texts = self._writer.texts(wrong.values(), prefix="p")
        after = self._after(changed, texts[4:])
        after += [
            f"(define-fun {self._next_symbols[place]} () {self._writer.sort(constant)} {self._symbols[place]})"
            for place, constant in enumerate(self.relation.next_constants)
            if place not in changed and any(self._next_symbols[place] in text for text in (*more, *wrong_texts))
        ]
        start = self._invariant.where(self.relation.known_before(effect))
        end = self._invariant.where(self.relation.known(changed))
        same = self._invariant.unchanged("before", changed)
        bad = [f"(not {self._invariant.name(end, 'after', same)})"]
        bad += [text for text in (texts[3], *wrong_texts) if text != "false"]
        lines = [
            *(self._writer.declaration(choice) for choice in effect.choices),
            *self._invariant.definitions("before", self._symbols, [start, *self._invariant.used([end], same)]),
            *definitions,
            *after,
            *more,
            *self._invariant.definitions("after", self._next(changed), [end], same),
            f"(assert {self._invariant.name(start, 'before')})",
            f"(assert {texts[0]})",
            f"(assert (or {texts[1]} (and {texts[2]} {_or(bad)})))",
        ]
        name = _action_name(self.system, effect)
        kept = ", ".join(claim for claim in wrong if claim in self.claimed)
        says = f"{name} stays inside and never errs{f', and keeps to {kept}' if kept else ''}"
        return self._obligation(f"action-{number:03}-{file_name(name)}", says, lines)

    def _after(self, changed: Mapping[int, Formula], texts: Sequence[str]) -> list[str]:
        """Return the definitions of the slots of the next state that an action changes."""
        return [
            f"(define-fun {self._next_symbols[place]} () {self._writer.sort(term)} {text})"
            for (place, term), text in zip(changed.items(), texts, strict=True)
        ]

    def _next(self, changed: Collection[int]) -> list[str]:
        """Return the symbols of the next state: of what an action leaves alone, those of the state before."""
        return [self._next_symbols[place] if place in changed else symbol for place, symbol in enumerate(self._symbols)]

    def _wrong_with(self, effect: Effect) -> dict[str, Formula]:
        """Return by property where a transition of an action is not what it asks for; it reads both states."""
        wrong = {name: term for name, term in self._steps.items() if not is_false(term)}
        return wrong | {name: term for name, term in effect.violated if name in self.claimed}

    def _broken_step(self, claim: Property) -> Formula:
        holds, error = self.relation.truth(claim.expression, successor=self.relation.next_values)
        return any_of((error, negation(holds))) if claim.name in self.claimed else error

    # -- properties -----------------------------------------------------------------------------------------------

    def _of_property(self, claim: Property) -> Iterator[Obligation]:
        """Yield that a property is true inside, where that is claimed, and else that it has a value there."""
        read = [self.relation.truth(expression) for expression in claim.expressions]
        errors = [error for _, error in read]
        if claim.name in self.claimed and claim.kind is PropertyKind.ALWAYS:
            wrong = any_of([*errors, negation(read[0][0])])
            yield self._refuted(f"always-{file_name(claim.name)}", f"{claim.name} is true inside", wrong)
        elif not is_false(any_of(errors)):
            says = f"{claim.name} has a value inside"
            yield self._refuted(f"value-{file_name(claim.name)}", says, any_of(errors))

    def _refuted(self, file: str, says: str, wrong: Formula) -> Obligation:
        """Return the obligation that something is true nowhere inside."""
        definitions, (text,) = self._writer.texts([all_of((self.relation.well_formed, wrong))])
        lines = [*self._inside, *definitions, f"(assert {self._root})", f"(assert {text})"]
        return self._obligation(file, says, lines)

    def _recoverable(self, claim: Property, ranking: Ranking) -> Iterator[Obligation]:
        """Yield for each action that the plan ever names that, short of the goal, it leads to a lower rank."""
        rank = DiagramText.of_ranking(ranking.rank, self.system)
        plan = DiagramText.of_ranking(ranking.plan, self.system)
        reached, _ = self.relation.truth(claim.expression)
        definitions, (text,) = self._writer.texts([all_of((self.relation.well_formed, negation(reached)))])
        for number in ranking.plan.used_leaves():
            lines = [
                *self._inside,
                *plan.definitions("plan", self._symbols, [plan.root]),
                *definitions,
                f"(assert {self._root})",
                f"(assert {text})",
                f"(assert (= {plan.name(plan.root, 'plan')} {plan.leaf(number)}))",
            ]
            name = "nothing"
            if number < len(self.relation.effects):
                effect = self.relation.effects[number]
                name = _action_name(self.system, effect)
                lines += self._not_closer(effect, rank)
            says = f"{claim.name}: short of its goal, where the plan says {name}, that leads fairly to a lower rank"
            yield self._obligation(f"rank-{file_name(claim.name)}-{number:03}-{file_name(name)}", says, lines)

    def _not_closer(self, effect: Effect, rank: DiagramText) -> Iterator[str]:
        """Yield that no fair transition of an action leads to a lower rank."""
        cases: list[str] = []
        needed = [rank.root]
        for number, (condition, changed) in enumerate(self.relation.fair_cases(effect)):
            case = f"c{number}"
            definitions, texts = self._writer.texts([condition, *changed.values()], prefix=case)
            symbols = list(self._symbols)
            cases += definitions
            for (place, term), text in zip(changed.items(), texts[1:], strict=True):
                symbols[place] = f"|{case} {self._symbols[place][1:]}"
                cases.append(f"(define-fun {symbols[place]} () {self._writer.sort(term)} {text})")
            end = rank.where(self.relation.known(changed))
            same = rank.unchanged("rank", changed)
            needed += rank.used([end], same)
            cases += rank.definitions(f"rank.{case}", symbols, [end], same)
            closer = f"(bvult {rank.name(end, f'rank.{case}', same)} {rank.name(rank.root, 'rank')})"
            cases.append(f"(assert (not (and {texts[0]} {closer})))")
        yield from rank.definitions("rank", self._symbols, needed)
        yield from cases

    def _obligation(self, name: str, says: str, lines: Sequence[str]) -> Obligation:
        head = [f"; {says}", f"(set-logic {LOGIC})", *self._declared]
        return Obligation(name, says, "\n".join([*head, *lines, "(check-sat)"]) + "\n")


def _or(texts: Sequence[str]) -> str:
    return texts[0] if len(texts) == 1 else f"(or {' '.join(texts)})"


def _action_name(system: TransitionSystem, effect: Effect) -> str:
    action = effect.action
    who = system.instance_name(action.process, action.instance)
    if action.fault is None:
        return f"{who}.{action.label}"
    return f"{action.fault} of {who} {'in' if action.torn else 'before'} {action.label}"


def file_name(text: str) -> str:
    """Return a text as a part of the name of a file."""
    return "".join(character if character.isalnum() or character in "_." else "-" for character in text)

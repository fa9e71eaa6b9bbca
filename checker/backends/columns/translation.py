"""Several transition systems of one file as guarded paths over common slots.

A slot that means the same in two systems has the same number in both, and what systems share is translated once: a
step once for each text and each set of parameters, faults and table rows that it reads.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from checker.backends.columns.compiler import Event, EventKey
from checker.backends.columns.paths import ActionPaths, GuardedPath, PathBuilder, PropertyTerm
from checker.backends.columns.terms import Term, Terms
from model.expressions import Expression, FaultDraw, ParameterValue, TableColumn, walk
from model.source import Span
from model.specification import Process, Property, PropertyKind, Row, Step, Table
from model.statements import expressions_of, reads_of, walk_statements
from model.system import CRASHED, TransitionSystem
from model.transitions import Action


@dataclass(frozen=True, slots=True)
class PathEntry:
    """A path of the program and the systems that have it, as bits."""

    path: GuardedPath
    systems: int


@dataclass(frozen=True, slots=True)
class Claim:
    """A property under one reading, and the systems in which it reads so."""

    name: str
    kind: PropertyKind
    expressions: tuple[Expression, ...]
    systems: int
    term: PropertyTerm
    """Of a `step` property: the reading for a transition that changes nothing."""
    before: frozenset[EventKey] = frozenset()
    """The events of a `step` property that the state before a transition decides alone."""


class Translation:
    """Systems as guarded paths and claims over common slots.

    Where something belongs to some of the systems only, they are given as bits by position in the list.
    """

    def __init__(self, systems: Sequence[TransitionSystem], properties: Collection[str] | None = None) -> None:
        """Translate the systems, with the properties that are named (None: all).

        Raises:
            SpecificationError: a limit of the translation is met (`PATHS_PER_STEP_MAX`, the range of integers).
        """
        self.systems = list(systems)
        self._properties = properties
        self.terms = Terms()
        self.layout = _Layout(self.systems)
        self.builders = [
            PathBuilder(s, self.terms, numbers) for s, numbers in zip(self.systems, self.layout.numbers, strict=True)
        ]
        self.entries: list[PathEntry] = []
        self.errors: list[tuple[Term, int]] = []
        """Where steps err, and the systems."""
        self.event_keys: dict[EventKey, int] = {}
        self.step_events: list[tuple[Action, Term, tuple[Event, ...], int]] = []
        """What evaluating a step meets: the action, where it is next, the events, and the systems."""
        self.waiting: list[tuple[Term, int]] = []
        """Where a process may wait outside its first step: a condition on the state, and the systems."""
        self._cache: dict[Hashable, ActionPaths | None] = {}
        self._uses = _Uses()
        self._translate_actions()
        self.claims = self._translate_properties()
        self._step_terms: dict[Hashable, PropertyTerm] = {}
        self._read_after: dict[Hashable, frozenset[int]] = {}

    def _translate_actions(self) -> None:
        merged: dict[int, tuple[ActionPaths, Term, bool, int]] = {}
        for number, builder in enumerate(self.builders):
            for actions, label, first in self._actions(builder):
                known = merged.get(id(actions))
                merged[id(actions)] = (actions, label, first, (known[3] if known else 0) | 1 << number)
        paths: dict[GuardedPath, int] = {}
        for actions, label, first, systems in merged.values():
            self._add_action(actions, label, first, systems, paths)
        self.entries = [PathEntry(path, systems) for path, systems in paths.items()]
        self.waiting = [
            (label, left) for label, systems in self.waiting if (left := systems & ~self._always_crashing(label))
        ]

    def _always_crashing(self, label: Term) -> int:
        """Return the systems in which an instance that is next to take this step can always crash instead."""
        found = 0
        for entry in self.entries:
            if entry.path.action.fault is not None and entry.path.guard is label:
                found |= entry.systems
        return found

    def _add_action(
        self, actions: ActionPaths, label: Term, first: bool, systems: int, paths: dict[GuardedPath, int]
    ) -> None:
        """Add the paths of an action; paths that steps with different texts have in common become one."""
        terms = self.terms
        for path in actions.paths:
            entry = replace(path, guard=terms.all_of((label, path.guard)))
            while paths.get(entry, 0) & systems:
                # Two paths of one step that look alike are still two transitions.
                entry = replace(entry, twin=entry.twin + 1)
            paths[entry] = paths.get(entry, 0) | systems
            for key, _ in path.events:
                self.event_keys.setdefault(key, len(self.event_keys))
        if actions.events:
            self.step_events.append((actions.action, label, actions.events, systems))
            for key, _ in actions.events:
                self.event_keys.setdefault(key, len(self.event_keys))
        if actions.error is not terms.false:
            self.errors.append((terms.all_of((label, actions.error)), systems))
        if actions.may_wait and actions.action.fault is None and not first:
            self.waiting.append((label, systems))

    def _actions(self, builder: PathBuilder) -> Iterable[tuple[ActionPaths, Term, bool]]:
        system = builder.system
        for process, instance in system.instances():
            for step in process.steps:
                label = self._label(builder, process, instance, step.name)
                yield (
                    self._step(builder, process, instance, step),
                    label,
                    process.environment or step.name == process.first,
                )
                if process.environment:
                    continue
                for crash in self._crashes(builder, process, instance, step):
                    yield crash, label, False
            if process.restarts == "later":
                yield self._restart(builder, process, instance), self._label(builder, process, instance, CRASHED), False

    def shadows(self, member: int, suspects: frozenset[Span]) -> list[tuple[Span, Term]]:
        """Return for rows of first-match tables where, in one system, they fit behind an earlier row that is taken."""
        builder = self.builders[member]
        builder.slots.suspects = suspects
        found: list[tuple[Span, Term]] = []
        for process, instance in builder.system.instances():
            for step in process.steps:
                label = self._label(builder, process, instance, step.name)
                for actions in self._consulting(builder, process, instance, step):
                    found += [
                        (key[1], self.terms.all_of((label, term)))
                        for key, term in actions.events
                        if key[0] == "shadowed"
                    ]
        for claim in self.claims:
            if not claim.systems >> member & 1 or not any(map(_asks_a_table, claim.expressions)):
                continue
            if claim.kind is not PropertyKind.STEP:
                events = builder.state_property(claim.expressions).events
                found += [(key[1], term) for key, term in events if key[0] == "shadowed"]
                continue
            for path in (entry.path for entry in self.entries if entry.systems >> member & 1):
                events = builder.step_property(claim.expressions[0], path.updates).events
                found += [(key[1], self.terms.all_of((path.guard, t))) for key, t in events if key[0] == "shadowed"]
        builder.slots.suspects = frozenset()
        return found

    def _consulting(self, builder: PathBuilder, process: Process, instance: int, step: Step) -> Iterable[ActionPaths]:
        """Yield a step, and the crashes before it and in it, as far as they consult tables; translated anew."""
        if _consults(step):
            yield builder.step(process, instance, step)
        for torn, body in ((False, None), (True, step.torn)):
            if any(each is not None and _consults(each) for each in (body, process.on_crash)):
                for fault, _ in builder.system.crash_faults(process) if not process.environment else ():
                    crash = builder.crash(process, instance, step, fault, torn=torn)
                    if crash is not None:
                        yield crash

    def _label(self, builder: PathBuilder, process: Process, instance: int, label: str) -> Term:
        if process.environment:
            return self.terms.true
        slot = builder.system.label_slots[process.name, instance]
        return self.terms.equal(builder.slots.before(slot), builder.slots.encode(slot, label))

    def _step(self, builder: PathBuilder, process: Process, instance: int, step: Step) -> ActionPaths:
        key = ("step", id(step), instance, self.layout.signature(builder.system), self._uses.of(step, builder.system))
        known = self._cache.get(key)
        if known is None:
            known = self._cache[key] = builder.step(process, instance, step)
        return known

    def _crashes(self, builder: PathBuilder, process: Process, instance: int, step: Step) -> Iterable[ActionPaths]:
        for fault, _ in builder.system.crash_faults(process):
            for torn in (False, True) if step.torn is not None else (False,):
                crash = self._crash(builder, process, instance, step, fault, torn=torn)
                if crash is not None:
                    yield crash

    def _crash(
        self, builder: PathBuilder, process: Process, instance: int, step: Step, fault: str, *, torn: bool
    ) -> ActionPaths | None:
        budget = builder.system.budgets[fault]
        point = step.torn.id if torn and step.torn is not None else step.id
        bodies = [body for body in (step if torn else None, step.torn if torn else None, process.on_crash) if body]
        initial = tuple(builder.system.slots[slot].initial for slot in builder.system.memory_slots(process, instance))
        key = (
            "crash",
            process.name,
            instance,
            step.name,
            fault,
            process.start,
            process.restarts,
            torn,
            tuple((id(body), self._uses.of(body, builder.system)) for body in bodies),
            point in builder.system.kill_points[process.name],
            initial,
            budget.turns_at(point),
            budget.in_turn is not None,  # what counts them is another slot then
            self.layout.signature(builder.system),
        )
        if key not in self._cache:
            self._cache[key] = builder.crash(process, instance, step, fault, torn=torn)
        return self._cache[key]

    def _restart(self, builder: PathBuilder, process: Process, instance: int) -> ActionPaths:
        key = ("restart", process.name, instance, process.start, self.layout.signature(builder.system))
        known = self._cache.get(key)
        if known is None:
            known = self._cache[key] = builder.restart(process, instance)
        return known

    def _translate_properties(self) -> list[Claim]:
        found: dict[
            tuple[str, PropertyKind, Term, Term, tuple[object, ...]], tuple[tuple[Expression, ...], int, PropertyTerm]
        ] = {}
        cache: dict[Hashable, PropertyTerm] = {}
        for number, builder in enumerate(self.builders):
            for claim in builder.system.specification.properties.values():
                if self._properties is not None and claim.name not in self._properties:
                    continue
                key = (id(claim), self.layout.signature(builder.system), self._uses.of(claim, builder.system))
                if key not in cache:
                    step = claim.kind is PropertyKind.STEP
                    cache[key] = (
                        builder.step_property(claim.expression, ())
                        if step
                        else builder.state_property(claim.expressions)
                    )
                term = cache[key]
                identity = (
                    claim.name,
                    claim.kind,
                    term.value,
                    term.error,
                    (id(claim.expression), key[1:]) if claim.kind is PropertyKind.STEP else (*term.events, term.goal),
                )
                expressions, systems, _ = found.get(identity, (claim.expressions, 0, term))
                found[identity] = (expressions, systems | 1 << number, term)
        claims = [
            Claim(name, kind, expressions, systems, term, self._events_before(kind, expressions[0], systems, term))
            for (name, kind, *_), (expressions, systems, term) in found.items()
        ]
        for made in claims:
            for event, _ in made.term.events:
                self.event_keys.setdefault(event, len(self.event_keys))
        return claims

    def _events_before(
        self, kind: PropertyKind, expression: Expression, systems: int, term: PropertyTerm
    ) -> frozenset[EventKey]:
        if kind is not PropertyKind.STEP or not term.events:
            return frozenset()
        return self.builders[(systems & -systems).bit_length() - 1].events_before(expression)

    def step_term(self, claim: int, path: GuardedPath) -> PropertyTerm:
        """Return a `step` property as it reads for the transitions of a path.

        It reads the same in all systems of the claim: they give the expression the same meaning.
        """
        key = (claim, path.updates)
        if key not in self._step_terms:
            subject = self.claims[claim]
            builder = self.builders[(subject.systems & -subject.systems).bit_length() - 1]
            changed = {slot for slot, _, _ in path.updates}
            if changed & self._slots_after(builder, subject.expressions[0]):
                self._step_terms[key] = builder.step_property(subject.expressions[0], path.updates)
            else:
                self._step_terms[key] = subject.term
            for event, _ in self._step_terms[key].events:
                self.event_keys.setdefault(event, len(self.event_keys))
        return self._step_terms[key]

    def _slots_after(self, builder: PathBuilder, expression: Expression) -> frozenset[int]:
        key = (id(expression), self.layout.signature(builder.system))
        if key not in self._read_after:
            self._read_after[key] = builder.slots_after(expression)
        return self._read_after[key]


def _consults(step: Step) -> bool:
    """Tell whether a body itself consults a table."""
    return any(isinstance(node, TableColumn) for s in walk_statements(step.body) for node in reads_of(s))


def _asks_a_table(expression: Expression) -> bool:
    return any(isinstance(node, TableColumn) for node in walk(expression))


class _Layout:
    """One numbering of slots for several systems: what means the same has the same number."""

    def __init__(self, systems: Sequence[TransitionSystem]) -> None:
        self.sizes: list[int] = []
        self.numbers: list[list[int]] = []
        known: dict[Hashable, int] = {}
        self._signatures: dict[int, Hashable] = {}
        for system in systems:
            row = []
            for key, slot in zip(slot_keys(system), system.slots, strict=True):
                number = known.setdefault(key, len(known))
                if number == len(self.sizes):
                    self.sizes.append(0)
                self.sizes[number] = max(self.sizes[number], slot.domain.size)
                row.append(number)
            self.numbers.append(row)
            # Budgets are left out: what is allowed of a fault is part of what a step or crash uses.
            budgets = set(system.budget_slots.values())
            domains = tuple(
                (n, s.domain, s.initial)
                for i, (n, s) in enumerate(zip(row, system.slots, strict=True))
                if i not in budgets
            )
            types = tuple((name, system.domain(t)) for name, t in system.specification.types.items())
            self._signatures[id(system)] = (domains, types, tuple(sorted(system.counts.items())))
        self._systems = list(systems)
        interned: dict[Hashable, int] = {}
        self._signatures = {k: interned.setdefault(v, len(interned)) for k, v in self._signatures.items()}

    def sizes_of(self, members: Sequence[int]) -> list[int]:
        """Return for each slot how many values it can have in some of the systems; 1 where none of them has it."""
        sizes = [1] * len(self.sizes)
        for i in members:
            for number, slot in zip(self.numbers[i], self._systems[i].slots, strict=True):
                sizes[number] = max(sizes[number], slot.domain.size)
        return sizes

    def signature(self, system: TransitionSystem) -> Hashable:
        """Return what is equal for systems whose slots mean and hold the same."""
        return self._signatures[id(system)]


def slot_keys(system: TransitionSystem) -> list[Hashable]:
    """Return for each slot what it means, independent of the system: variable, indices and instance."""
    keys: list[Hashable] = [None] * len(system.slots)
    for (name, instance), layout in system.layouts.items():
        combinations: list[tuple[object, ...]] = [()]
        for domain in layout.indices:
            combinations = [(*c, v) for c in combinations for v in domain.values()]
        for offset, indices in enumerate(combinations):
            keys[layout.first + offset] = (name, instance, indices)
    for (process, instance), slot in system.label_slots.items():
        keys[slot] = ("label", process, instance)
    for (process, instance, store), slot in system.fresh_slots.items():
        keys[slot] = ("fresh", process, instance, store)
    for slot in system.budget_slots.values():
        keys[slot] = ("budget", system.slots[slot].name)
    return keys


_TableKey = tuple[str, str | None]


def _reading(table: Table, columns: Sequence[str]) -> Hashable:
    """Return what decides how some columns of a table read; rows that differ in others are the same."""
    rows = [(row.name, row.span, id(row.when), *(id(row.gives[column]) for column in columns)) for row in table.rows]
    return (table.name, table.process, table.first_match, tuple(columns), tuple(rows))


class _Uses:
    """What, beside the layout, decides how a step or property reads: parameters, faults, table rows."""

    def __init__(self) -> None:
        self._of: dict[int, tuple[object, frozenset[str], frozenset[str], Mapping[_TableKey, frozenset[str]]]] = {}

    def of(self, subject: Step | Property, system: TransitionSystem) -> Hashable:
        """Return the values of everything that the subject uses in a system."""
        known = self._of.get(id(subject))
        if known is None:
            known = self._of[id(subject)] = (subject, *self._collect(subject))
        _, parameters, faults, tables = known
        consulted = [(system.specification.tables[key], sorted(tables[key])) for key in sorted(tables, key=str)]
        parameters = parameters | self._table_parameters(tables, system)
        return (
            tuple((p, system.parameters[p]) for p in sorted(parameters)),
            tuple((f, system.budgets[f].limit) for f in sorted(faults)),
            tuple(_reading(table, columns) for table, columns in consulted),
        )

    def _collect(
        self, subject: Step | Property
    ) -> tuple[frozenset[str], frozenset[str], Mapping[_TableKey, frozenset[str]]]:
        expressions = (
            list(subject.expressions)
            if isinstance(subject, Property)
            else [e for s in walk_statements(subject.body) for e in expressions_of(s)]
        )
        nodes = [node for expression in expressions for node in walk(expression)]
        columns = [((n.table, n.process), n.column) for n in nodes if isinstance(n, TableColumn)]
        return (
            frozenset(n.name for n in nodes if isinstance(n, ParameterValue)),
            frozenset(n.fault for n in nodes if isinstance(n, FaultDraw)),
            {key: frozenset(column for other, column in columns if other == key) for key, _ in columns},
        )

    def _table_parameters(self, tables: Iterable[_TableKey], system: TransitionSystem) -> frozenset[str]:
        found: set[str] = set()
        for key in tables:
            table: Table = system.specification.tables[key]
            for row in table.rows:
                found |= self._row_parameters(row)
        return frozenset(found)

    def _row_parameters(self, row: Row) -> set[str]:
        return {n.name for part in (row.when, *row.gives.values()) for n in walk(part) if isinstance(n, ParameterValue)}

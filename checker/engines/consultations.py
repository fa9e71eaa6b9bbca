"""In which situations the reachable states of a system consult its decision tables, and after which kill points.

A *situation* is the values of the variables that a table's rows read, at the moment at which the table is consulted: in
the middle of a step, where what the step has read and chosen so far counts, or in a property. Only the evaluator knows
these moments, so it explores here, some thousand states a second.

A situation comes *after* a kill point if in some run an instance is killed there and this is the first time that it
consults the table again. Where no fault crashes whoever consults, it is the first time after the crash of another.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from checker.engines.plainsearch import PlainSearch
from checker.exploration import Limits, Progress
from model.evaluate import Evaluator
from model.evaluate_expressions import Frame
from model.expressions import AtLabel, Expression, Stopped, TableColumn, VariableValue, walk
from model.observer import Unobserved
from model.specification import Property, PropertyKind, Table
from model.system import State, TransitionSystem
from model.transitions import Action, EvaluationError, Failure
from model.types import Value

TableKey = tuple[str, str | None]
"""A table's name and the process that consults it; None in a property."""

Situation = tuple[tuple[str, Value], ...]
"""The variables that a table reads, by name, with their values."""


@dataclass(slots=True)
class Consulted:
    """One table in one situation."""

    fits: tuple[bool | None, ...]
    """By row whether its condition is true; None where it has no value."""
    row: str | None
    """The row that is taken; None where the consultation is an error."""
    kill_points: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Consultations:
    """All situations in which the tables of one system are consulted."""

    states: int = 0
    cut: str = ""
    """Why not all states were looked at; empty where they were."""
    situations: dict[TableKey, dict[Situation, Consulted]] = field(default_factory=dict)
    left_behind: dict[str, set[tuple[Value, ...]]] = field(default_factory=dict)
    """By kill point the values that a crash there leaves in the slots that were asked for."""


def consultations(system: TransitionSystem, limits: Limits, seen: Sequence[int] = ()) -> Consultations:
    """Explore a system and return how its tables are consulted, and what crashes leave in the slots `seen`."""
    return _Explorer(system, limits, seen).run()


@dataclass(frozen=True, slots=True)
class _Moment:
    """A consultation: what is consulted by which instance, and the situation."""

    table: TableKey
    instance: int
    situation: Situation


@dataclass(frozen=True, slots=True)
class _Edge:
    target: int
    action: Action
    consulted: frozenset[tuple[TableKey, int]]


class _Explorer(Unobserved):
    """Explores breadth-first, and is what the evaluator tells of consultations."""

    def __init__(self, system: TransitionSystem, limits: Limits, seen: Sequence[int]) -> None:
        self.system = system
        self.limits = limits
        self.seen = seen
        self.evaluator = Evaluator(system, self)
        self.result = Consultations(situations={key: {} for key in system.specification.tables})
        self.reads = {key: list(_reads(table)) for key, table in system.specification.tables.items()}
        self.candidates = {
            key: sorted({slot for read in reads for slot in self._all_slots(read)}) for key, reads in self.reads.items()
        }
        """The slots that may decide the situation."""
        self.claims = [claim for claim in system.specification.properties.values() if _asks_a_table(claim)]
        self.now: set[_Moment] = set()
        """What is consulted on the path that is being run."""
        self.met: set[_Moment] = set()
        """What the steps from the present state have consulted."""
        self.taken: frozenset[tuple[TableKey, int]] = frozenset()
        """What was consulted on the way to the present transition, and by whom."""
        self.known: dict[tuple[TableKey, int, tuple[Value, ...]], _Moment] = {}
        self.search = PlainSearch()
        self.edges: list[list[_Edge]] = []
        self.moments: list[set[_Moment]] = []
        """By state what its steps consult, whether a transition comes of it or not."""
        self.started = time.monotonic()

    def run(self) -> Consultations:
        self.result.cut = self.search.run(self.system.initial_states, self._expand, self.limits, self._report)
        self.result.states = len(self.search.states)
        for key in self.result.situations:
            if key[1] is not None:
                self._trace_kill_points(key, key[1])
        return self.result

    def _report(self, layer: list[int]) -> None:
        if self.limits.on_progress is not None:
            seconds = time.monotonic() - self.started
            self.limits.on_progress(Progress(self.search.depth, len(self.search.states), 0, len(layer), seconds))

    def _expand(self, number: int) -> list[int]:
        state = self.search.states[number]
        following: list[int] = []
        edges: list[_Edge] = []
        self.met = set()
        for outcome in self.evaluator.transitions(state):
            consulted, self.taken = self.taken, frozenset()
            if isinstance(outcome, Failure):
                continue
            new = self.search.found(outcome.successor)
            following += [] if new is None else [new]
            edges.append(_Edge(self.search.numbers[outcome.successor], outcome.action, consulted))
            point = outcome.action.kill_point
            if point is not None:
                left = tuple(outcome.successor[slot] for slot in self.seen)
                self.result.left_behind.setdefault(point, set()).add(left)
            self._ask(PropertyKind.STEP, state, outcome.successor)
        self.edges.append(edges)
        self.moments.append(self.met)
        self._ask(None, state, None)
        return following

    def _ask(self, kind: PropertyKind | None, state: State, successor: State | None) -> None:
        """Evaluate the properties that consult tables: of transitions, or of states."""
        for claim in self.claims:
            if (claim.kind is PropertyKind.STEP) == (kind is PropertyKind.STEP):
                for expression in claim.expressions:
                    try:
                        self.evaluator.holds(expression, state, successor)
                    except EvaluationError:
                        continue
        # In a property nobody consults who could have been killed.
        self.now.clear()

    # -- what the evaluator tells ---------------------------------------------------------------------------------

    def consulted(self, table: Table, values: Sequence[Value], instance: int) -> None:
        """Note the situation."""
        key = (table.name, table.process)
        seen = (key, instance, tuple(values[slot] for slot in self.candidates[key]))
        moment = self.known.get(seen)
        if moment is None:
            moment = self.known[seen] = self._moment(table, list(values), instance)
        self.now.add(moment)

    def path_ended(self, completed: bool) -> None:
        """Note what a path has consulted; one that comes to nothing has looked, and goes on waiting."""
        self.met |= self.now
        self.taken = frozenset((moment.table, moment.instance) for moment in self.now) if completed else frozenset()
        self.now.clear()

    def _moment(self, table: Table, values: list[Value], instance: int) -> _Moment:
        key = (table.name, table.process)
        frame = Frame(self.system, Unobserved(), values, instance=instance)
        slots = tuple(dict.fromkeys(slot for read in self.reads[key] for slot in self._slots(frame, read)))
        situation = tuple((self._name(slot, table.process, instance), values[slot]) for slot in slots)
        if situation not in self.result.situations[key]:
            self.result.situations[key][situation] = _judged(table, frame)
        return _Moment(key, instance, situation)

    def _slots(self, frame: Frame, read: Expression) -> Iterable[int]:
        """Return the slots that a variable stands for: one, unless a quantifier or an error keeps it open."""
        if isinstance(read, VariableValue):
            try:
                return (frame.slot(read),)
            except (EvaluationError, KeyError):
                pass
        return self._all_slots(read)

    def _all_slots(self, read: Expression) -> list[int]:
        """Return all slots that a variable or label may stand for."""
        if isinstance(read, VariableValue):
            return [
                slot for (key, _), layout in self.system.layouts.items() if key == read.key for slot in layout.slots
            ]
        assert isinstance(read, AtLabel | Stopped)
        return [slot for (process, _), slot in self.system.label_slots.items() if process == read.process]

    def _name(self, slot: int, process: str | None, instance: int) -> str:
        name = self.system.slots[slot].name
        return name if process is None else name.removeprefix(f"{self.system.instance_name(process, instance)}.")

    # -- kill points ----------------------------------------------------------------------------------------------

    def _trace_kill_points(self, key: TableKey, process: str) -> None:
        """Find for every situation the kill points after which it may be the next.

        A least fixed point: for each state and instance the kill points since whose crash, on some way there, the
        instance has not consulted the table.
        """
        declared = self.system.specification.processes[process]
        own = not declared.environment and any(True for _ in self.system.crash_faults(declared))
        points: dict[str, int] = {}
        for instance in range(self.system.counts[process]):
            pending = self._pending(key, process, instance, points, own=own)
            for number, moments in enumerate(self.moments):
                for moment in moments:
                    if moment.table == key and moment.instance == instance and pending[number]:
                        here = self.result.situations[key][moment.situation]
                        here.kill_points |= {point for point, bit in points.items() if pending[number] & bit}

    def _pending(self, key: TableKey, process: str, instance: int, points: dict[str, int], *, own: bool) -> list[int]:
        pending = [0] * len(self.search.states)
        todo = list(range(len(self.edges)))
        while todo:
            number = todo.pop()
            for edge in self.edges[number]:
                mask = 0 if (key, instance) in edge.consulted else pending[number]
                point = edge.action.kill_point
                if point is not None:
                    same = (edge.action.process, edge.action.instance) == (process, instance)
                    if same or not own:
                        bit = points.setdefault(point, 1 << len(points))
                        mask = bit if same else mask | bit
                if mask & ~pending[edge.target]:
                    pending[edge.target] |= mask
                    if edge.target < len(self.edges):
                        todo.append(edge.target)
        return pending


def _judged(table: Table, frame: Frame) -> Consulted:
    """Ask every row on its own, then as the table does."""
    fits: list[bool | None] = []
    for row in table.rows:
        try:
            fits.append(bool(frame.value(row.when)))
        except EvaluationError:
            fits.append(None)
    asked = fits
    if table.first_match and True in fits:
        asked = fits[: fits.index(True) + 1]
    taken = [row.name for row, fit in zip(table.rows, asked, strict=False) if fit]
    return Consulted(tuple(fits), taken[0] if len(taken) == 1 and None not in asked else None)


def _reads(table: Table) -> Iterator[Expression]:
    """Yield the variables and labels that the rows of a table read."""
    for row in table.rows:
        for expression in (row.when, *row.gives.values()):
            yield from (node for node in walk(expression) if isinstance(node, VariableValue | AtLabel | Stopped))


def _asks_a_table(claim: Property) -> bool:
    return any(isinstance(node, TableColumn) for expression in claim.expressions for node in walk(expression))

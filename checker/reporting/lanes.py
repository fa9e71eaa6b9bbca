"""A trace on a terminal: one line a transition, only what changed, a lane for every process and store that takes part.

         ╭─ coordinator
         │ ╭─ ledger
         │ │ ╭─ provider
      1  ● │ │  coordinator.rest       read ledger
      2  ● ◆ │  coordinator.intend     run=dispatched
      3  ● │ ◆  coordinator.submit     job=running
      4  ✖ │ │  CRASH of coordinator before record   lost reply=accepted

`●` acts, `◆` is changed, `✖` is killed, `○` is a process whose knowledge has gone stale. What a process forgets when it
comes back to its first step is not shown: it always does. Fault draws stand before the changes; spent budgets, which
follow from them, are left out. In a lasso a line says where it begins to go round.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from checker.exploration import Finding
from checker.reporting.output import Line, Piece, aligned, blank, cells, flowed, sentence
from checker.trace import Trace, TraceStep
from model.system import State, TransitionSystem
from model.transitions import Action
from model.types import SetValue, Value

_ACTION_SHARE = 0.4
"""Of a line, what the action may take before the changes go to their own line."""


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What the end of a trace shows: good or bad, in a sentence, and the text of the claim."""

    good: bool
    message: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One line: what happens, in which lanes with which sign, and what changes."""

    action: Line
    signs: dict[str, Piece]
    items: tuple[Line, ...]


def shown_value(value: Value) -> str:
    """Write a value as a specification would."""
    if isinstance(value, SetValue):
        return "{" + ", ".join(map(shown_value, value.elements)) + "}"
    return str(value).lower() if isinstance(value, bool) else str(value)


def trace_lines(system: TransitionSystem, finding: Finding, conclusion: Conclusion, width: int) -> Iterator[Line]:
    """Yield the lines of a trace and what it shows at its end."""
    return _Drawing(system, finding, width).lines(conclusion)


def transition_items(system: TransitionSystem, before: State, step: TraceStep) -> tuple[Line, list[Line]]:
    """Return what one transition is called, and what it changes."""
    row = _Drawing(system, Finding(1, Trace(before, (step,))), 0).rows[1]
    return row.action, list(row.items)


def drawn_rows(system: TransitionSystem, finding: Finding) -> tuple[list[str], list[Row]]:
    """Return the lanes of a trace, and a row for its start and for each transition, for who draws them elsewhere."""
    drawing = _Drawing(system, finding, 0)
    return drawing.lanes, drawing.rows


class _Drawing:
    def __init__(self, system: TransitionSystem, finding: Finding, width: int) -> None:
        self.system = system
        self.trace: Trace = finding.trace
        self.width = width
        self.fresh = {slot: (self._lane(process, i), store) for (process, i, store), slot in system.fresh_slots.items()}
        self.labels = set(system.label_slots.values())
        self.budgets = set(system.budget_slots.values())
        self.rows = self._rows()
        self.lanes = self._lanes()

    def lines(self, conclusion: Conclusion) -> Iterator[Line]:
        number_width = len(str(len(self.rows) - 1)) + 2
        margin: Piece = ("", " " * (number_width + 2))
        for position, lane in enumerate(self.lanes):
            yield (margin, ("lane", "│ " * position + "╭─ "), ("name", lane))
        lanes_width = number_width + 2 + 2 * len(self.lanes) + 1
        action_width = self._action_width(lanes_width)
        for number, row in enumerate(self.rows):
            start: Line = (("dim", f"{number:>{number_width}}"), ("", "  "), *self._signs(row.signs), ("", " "))
            rest: Line = (margin, *self._signs({}), ("", " "))
            yield from self._row((*start, *row.action), rest, row, lanes_width + action_width + 2)
            if self.trace.cycle and number == self.trace.loop:
                yield (*rest, ("bad", "from here it goes round for ever"))
        yield from self._end(conclusion, margin)

    def _row(self, start: Line, rest: Line, row: Row, column: int) -> Iterator[Line]:
        """Yield a row with its changes from a column on; an action that is too long pushes them to the right."""
        if cells(start) <= column - 2:
            yield from flowed(aligned(start, column), row.items, width=self.width, rest=aligned(rest, column))
        else:
            start = (*start, ("", "  "))
            yield from flowed(start, row.items, width=self.width, rest=(*rest, ("", "    ")))

    def _end(self, conclusion: Conclusion, margin: Piece) -> Iterator[Line]:
        style, mark = ("good", "✓") if conclusion.good else ("bad", "✗")
        start: Line = (margin, ("lane", "╰─ "), (style, f"{mark} "))
        rest = blank(cells(start))
        yield from flowed(start, sentence(style, conclusion.message), width=self.width, rest=rest, gap=" ")
        if conclusion.text:
            yield from flowed(rest, sentence("dim", conclusion.text), width=self.width, rest=rest, gap=" ")

    def _signs(self, signs: Mapping[str, Piece]) -> Iterator[Piece]:
        for lane in self.lanes:
            yield signs.get(lane, ("lane", "│"))
            yield ("", " ")

    def _action_width(self, lanes_width: int) -> int:
        most = int((self.width - lanes_width) * _ACTION_SHARE)
        fitting = [w for w in (cells(row.action) for row in self.rows) if w <= most]
        return max(fitting, default=most)

    def _lanes(self) -> list[str]:
        """Return the lanes that take part: processes in the order of the file, then stores."""
        used = {lane for row in self.rows for lane in row.signs}
        processes = [self._lane(process.name, instance) for process, instance in self.system.instances()]
        stores = [slot.lane for slot in self.system.slots]
        return [lane for lane in dict.fromkeys([*processes, *stores]) if lane in used]

    def _lane(self, process: str, instance: int) -> str:
        return self.system.instance_name(process, instance)

    # -- rows -----------------------------------------------------------------------------------------------------

    def _rows(self) -> list[Row]:
        states = self.trace.states
        rows = [Row((("dim", "start"),), {}, tuple(self._start_items()))]
        rows += [self._of(before, step) for before, step in zip(states, self.trace.steps, strict=False)]
        if self.trace.failing is not None:
            action = self.trace.failing
            lane = self._lane(action.process, action.instance)
            text = f"{lane}.{action.label}" if action.kind == "step" else "".join(self._crash_words(action))
            rows.append(Row((("bad", text),), {lane: ("bad", "●")}, ((("bad", "cannot be completed"),),)))
        return rows

    def _start_items(self) -> Iterator[Line]:
        """Yield the initial values of what the trace changes, to read the changes against, and of what may differ."""
        states = self.trace.states
        hidden = self.labels | self.budgets | self.fresh.keys()
        for number, slot in enumerate(self.system.slots):
            if number in hidden or self._is_memory(number):
                continue
            if slot.free or len({state[number] for state in states}) > 1:
                yield (("dim", f"{slot.name}={shown_value(self.trace.initial[number])}"),)

    def _is_memory(self, number: int) -> bool:
        slot = self.system.slots[number]
        return slot.name.startswith(f"{slot.lane}.")

    def _of(self, before: State, step: TraceStep) -> Row:
        if step.action.kind == "crash":
            return self._crash(before, step)
        if step.action.kind == "restart":
            return self._restart(step)
        action = step.action
        actor = self._lane(action.process, action.instance)
        signs, changes = self._changes(actor, before, step, self._forgets(action, step.state))
        items: list[Line] = [((("fault", f"FAULT {fault}")),) for fault in step.faults]
        signs[actor] = ("fault", "●") if step.faults else ("actor", "●")
        return Row(self._action(actor, step), signs, (*items, *changes))

    def _changes(
        self, actor: str, before: State, step: TraceStep, forgotten: frozenset[int]
    ) -> tuple[dict[str, Piece], list[Line]]:
        """Return what a transition changes, apart from what the actor forgets, and the signs of where."""
        signs: dict[str, Piece] = {}
        items: list[Line] = []
        for number, slot in enumerate(self.system.slots):
            old, new = before[number], step.state[number]
            if old == new or number in self.labels or number in self.budgets or number in forgotten:
                continue
            if number in self.fresh:
                items.append(self._fresh(number, signs, read=bool(new)))
            else:
                signs[slot.lane] = ("changed", "◆")
                name = slot.name.removeprefix(f"{actor}.")
                items.append((("", f"{name}="), ("changed", shown_value(new))))
        return signs, items

    def _fresh(self, number: int, signs: dict[str, Piece], *, read: bool) -> Line:
        lane, store = self.fresh[number]
        if read:
            return (("", f"read {store}"),)
        signs[lane] = ("doubt", "○")
        return (("doubt", f"{store} no longer fresh for {lane}"),)

    def _action(self, actor: str, step: TraceStep) -> Line:
        action = step.action
        pieces: list[Piece] = [("actor", f"{actor}.{action.label}")]
        if step.choices:
            pieces.append(("", f"({', '.join(shown_value(choice) for choice in step.choices)})"))
        slot = self.system.label_slots.get((action.process, action.instance))
        if slot is not None:
            process = self.system.specification.processes[action.process]
            (declared,) = (s for s in process.steps if s.name == action.label)
            label = str(step.state[slot])
            if label != declared.next_label or label == process.first:
                pieces.append(("dim", f" → {label}"))
        return tuple(pieces)

    def _crash(self, before: State, step: TraceStep) -> Row:
        action = step.action
        actor = self._lane(action.process, action.instance)
        process = self.system.specification.processes[action.process]
        lost = [
            f"{slot.name.removeprefix(f'{actor}.')}={shown_value(before[number])}"
            for number in self.system.memory_slots(process, action.instance)
            if number not in self.fresh
            for slot in [self.system.slots[number]]
            if before[number] != slot.initial
        ]
        crash, place = self._crash_words(action)
        text: Line = (("crash", crash), ("bad", place))
        if step.choices:
            text = (*text, ("", f" ({', '.join(shown_value(choice) for choice in step.choices)})"))
        if process.restarts != "at_once":
            text = (*text, ("dim", " → down"))
        items: tuple[Line, ...] = tuple(
            (("dim", "lost " if i == 0 else ""), ("bad", one)) for i, one in enumerate(lost)
        )
        memory = frozenset(self.system.memory_slots(process, action.instance))
        signs, changes = self._changes(actor, before, step, memory)
        return Row(text, {**signs, actor: ("crash", "✖")}, (*changes, *items))

    def _crash_words(self, action: Action) -> tuple[str, str]:
        name = "CRASH" if action.fault == "crash" else f"CRASH ({action.fault})"
        place = "inside" if action.torn else "before"
        return f"{name} of {self._lane(action.process, action.instance)}", f" {place} {action.label}"

    def _restart(self, step: TraceStep) -> Row:
        actor = self._lane(step.action.process, step.action.instance)
        start = self.system.specification.processes[step.action.process].start
        return Row((("actor", f"{actor} restarts"), ("dim", f" → {start}")), {actor: ("actor", "●")}, ())

    def _forgets(self, action: Action, after: State) -> frozenset[int]:
        """Return what changes only because the process is back at its first step, or has stopped."""
        slot = self.system.label_slots.get((action.process, action.instance))
        process = self.system.specification.processes[action.process]
        if slot is None or after[slot] in {s.name for s in process.steps if s.name != process.first}:
            return frozenset()
        return frozenset(self.system.memory_slots(process, action.instance, kept=after[slot] != process.first))

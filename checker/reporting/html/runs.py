"""Traces as data for the player on a page: rows as on a terminal, and what it takes to show every whole state."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from checker.judgement import ScenarioReport
from checker.reporting.claims import ShownTrace, failure_trace, property_trace
from checker.reporting.lanes import Row, drawn_rows, shown_value
from checker.results import CheckedFile
from checker.trace import TraceStep
from model.specification import PropertyKind
from model.system import TransitionSystem


@dataclass
class Runs:
    """The runs of a page; claims with the same variables share their names."""

    layouts: list[list[list[str]]] = field(default_factory=list)
    """Of each system the variables: a name, and the process or store that it belongs to."""
    rows: list[dict[str, Any]] = field(default_factory=list)
    """What happens in one step; runs name rows by number, since most of them begin alike."""
    runs: list[dict[str, Any]] = field(default_factory=list)
    listed: int = 0
    """The first runs, which claims have; the others are of cells of the matrix, of which some have the same one."""
    places: dict[tuple[str, str], int] = field(default_factory=dict)
    """Where the run of a claim and a property is; of a run-time error the property is empty."""
    _known: dict[str, int] = field(default_factory=dict)
    """Rows and runs that there are, by what they say."""

    def add(self, shown: ShownTrace) -> None:
        """Add a run of a claim; those of cells come after all of these."""
        self.places[shown.report.name, shown.property] = len(self.runs)
        self.runs.append(self._run(shown, shown.report.name))
        self.listed = len(self.runs)

    def add_cell(self, shown: ShownTrace, claim: str) -> int:
        """Add the run of a cell in the matrix of a claim, unless it is there, and return its number."""
        return self._number(self.runs, self._run(shown, claim))

    def _run(self, shown: ShownTrace, claim: str) -> dict[str, Any]:
        system = shown.report.exploration.system
        lanes, rows = drawn_rows(system, shown.finding)
        trace = shown.finding.trace
        steps = [None, *trace.steps, *([None] if trace.failing is not None else [])]
        states = [trace.initial, *trace.states, trace.last]
        return {
            "claim": claim,
            "mutant": shown.report.mutant,
            "property": shown.property,
            "good": shown.conclusion.good,
            "message": shown.conclusion.message,
            "text": shown.conclusion.text,
            "length": len(trace),
            "loop": trace.loop,
            "layout": self._layout(system),
            "lanes": lanes,
            "initial": [shown_value(value) for value in trace.initial],
            "rows": [
                self._number(self.rows, _row(row, lanes, step, _changes(before, step)))
                for row, step, before in zip(rows, steps, states, strict=False)
            ],
        }

    def _number(self, table: list[dict[str, Any]], entry: dict[str, Any]) -> int:
        """Return where an entry is in a table, which gets it if it is not there."""
        written = json.dumps(entry)
        if written not in self._known:
            self._known[written] = len(table)
            table.append(entry)
        return self._known[written]

    def _layout(self, system: TransitionSystem) -> int:
        found = [[slot.name, slot.lane] for slot in system.slots]
        if found not in self.layouts:
            self.layouts.append(found)
        return self.layouts.index(found)

    def document(self) -> dict[str, Any]:
        """Return everything as the page's script reads it."""
        return {"layouts": self.layouts, "rows": self.rows, "runs": self.runs, "listed": self.listed}


def runs_of(checked: CheckedFile) -> Runs:
    """Return every run that breaks something, and of the first scenario those that show what is possible."""
    found = Runs()
    for number, report in enumerate(checked.claims):
        for shown in _shown(checked, report, witnesses=number == 0):
            found.add(shown)
    return found


def _shown(checked: CheckedFile, report: ScenarioReport, *, witnesses: bool) -> Iterator[ShownTrace]:
    failure = failure_trace(report)
    if failure is not None:
        yield failure
    for asked in report.properties:
        if asked.broken or (witnesses and asked.kind is PropertyKind.POSSIBLE):
            shown = property_trace(checked.file, report, asked)
            if shown is not None:
                yield shown


def _row(row: Row, lanes: list[str], step: TraceStep | None, changes: dict[str, str]) -> dict[str, Any]:
    return {
        "action": [list(piece) for piece in row.action],
        "items": [[list(piece) for piece in item] for item in row.items],
        "signs": {str(lanes.index(lane)): list(piece) for lane, piece in row.signs.items()},
        "choices": [] if step is None else [shown_value(choice) for choice in step.choices],
        "faults": [] if step is None else list(step.faults),
        "changes": changes,
    }


def _changes(before: tuple[Any, ...], step: TraceStep | None) -> dict[str, str]:
    """Return the new values of what a step changes, by the number of the variable."""
    if step is None:
        return {}
    return {
        str(number): shown_value(new)
        for number, (old, new) in enumerate(zip(before, step.state, strict=True))
        if (type(old), old) != (type(new), new)
    }

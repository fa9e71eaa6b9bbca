"""Explorations as JSON and back.

A value is stored by its position in its domain, a place in the file by its numbers; the system and the file that the
reader has must be those that were explored, which whoever stores has to see to (`checker.cache` does, by hashes).
Nothing is believed that can be asked again cheaply: the evaluator takes every transition of every trace once more.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from checker.exploration import Coverage, Exploration, Finding
from checker.trace import replay
from model.codes import code_of
from model.source import Span
from model.system import State, TransitionSystem
from model.transitions import Action, EvaluationError

Document = dict[str, Any]
"""A JSON object; whatever is read from one is checked by using it."""


class NotAsStored(Exception):
    """A document is not what `to_document` makes of an exploration of this system."""


def to_document(exploration: Exploration) -> Document:
    """Return everything of an exploration but its system."""
    system = exploration.system
    return {
        "engine": exploration.engine,
        "states": exploration.states,
        "transitions": exploration.transitions,
        "depth": exploration.depth,
        "complete": exploration.complete,
        "cut": exploration.cut,
        "failing_states": exploration.failing_states,
        "findings": {name: from_finding(system, finding) for name, finding in exploration.findings.items()},
        "failure": from_finding(system, exploration.failure) if exploration.failure else None,
        "waiting": from_finding(system, exploration.waiting) if exploration.waiting else None,
        "coverage": _from_coverage(exploration.coverage),
    }


def from_document(document: Document, system: TransitionSystem) -> Exploration:
    """Return the exploration that a document describes, its traces replayed.

    Raises:
        NotAsStored: the document has another shape, or a trace in it does not exist.
    """
    try:
        return _to_exploration(document, system)
    except Exception as error:  # A wrong document can go wrong in any way, and means nothing then.
        raise NotAsStored(str(error)) from error


def _to_exploration(document: Document, system: TransitionSystem) -> Exploration:
    failure, waiting = document["failure"], document["waiting"]
    return Exploration(
        system=system,
        engine=str(document["engine"]),
        states=int(document["states"]),
        transitions=int(document["transitions"]),
        depth=int(document["depth"]),
        complete=document["complete"] is True,
        cut=str(document["cut"]),
        failing_states=int(document["failing_states"]),
        findings={str(name): to_finding(system, finding, str(name)) for name, finding in document["findings"].items()},
        failure=to_finding(system, failure) if failure is not None else None,
        waiting=to_finding(system, waiting) if waiting is not None else None,
        coverage=_to_coverage(document["coverage"], _file_of(system)),
    )


def _file_of(system: TransitionSystem) -> str:
    return next(iter(system.specification.processes.values())).span.file


# --- Findings ---


def from_finding(system: TransitionSystem, finding: Finding) -> Document:
    """Return a finding as JSON."""
    trace, error = finding.trace, finding.error
    return {
        "states": [
            [slot.domain.index(value) for slot, value in zip(system.slots, state, strict=True)]
            for state in trace.states
        ],
        "actions": [_from_action(step.action) for step in trace.steps],
        "failing": _from_action(trace.failing) if trace.failing is not None else None,
        "loop": trace.loop,
        "error": [error.code.number, error.message, _from_span(error.span)] if error is not None else None,
        "still_possible": list(finding.still_possible),
    }


def to_finding(system: TransitionSystem, document: Document, name: str = "") -> Finding:
    """Return the finding that a document describes, its trace replayed; `name` is the property that it is about.

    Raises:
        EngineDisagreement: the trace does not exist.
        ValueError, KeyError, TypeError, IndexError: the document has another shape.
    """
    states = [_to_state(system, indices) for indices in document["states"]]
    actions = [_to_action(action) for action in document["actions"]]
    if len(states) != len(actions) + 1:
        raise ValueError("a trace has one state more than transitions")
    trace = replay(
        system, states, actions, claimed=system.specification.properties.get(name), loop=_to_loop(document["loop"])
    )
    if document["failing"] is not None:
        trace = replace(trace, failing=_to_action(document["failing"]))
    still_possible = tuple(str(step) for step in document["still_possible"])
    return Finding(len(trace), trace, _to_error(document["error"], _file_of(system)), still_possible)


def _to_loop(number: Any) -> int | None:
    return None if number is None else int(number)


def _to_state(system: TransitionSystem, indices: list[int]) -> State:
    for slot, index in zip(system.slots, indices, strict=True):
        if index < 0 or not (slot.domain.endless or index < slot.domain.size):
            raise ValueError(f"`{slot.name}` has no value number {index}")
    return tuple(slot.domain.value(index) for slot, index in zip(system.slots, indices, strict=True))


def _from_action(action: Action) -> list[object]:
    return [action.process, action.instance, action.label, action.fault, action.torn]


def _to_action(parts: list[Any]) -> Action:
    process, instance, label, fault, torn = parts
    return Action(str(process), int(instance), str(label), None if fault is None else str(fault), torn is True)


def _to_error(parts: list[Any] | None, file: str) -> EvaluationError | None:
    if parts is None:
        return None
    number, message, span = parts
    code = code_of(str(number))
    if code is None:
        raise ValueError(f"there is no code {number}")
    return EvaluationError(code, str(message), _to_span(span, file))


# --- Coverage ---


def _from_coverage(coverage: Coverage) -> Document:
    return {
        "steps": sorted(coverage.steps),
        "branches": sorted([_from_span(span), taken] for span, taken in coverage.branches),
        "rows": _from_spans(coverage.rows),
        "shadowed_rows": None if coverage.shadowed_rows is None else _from_spans(coverage.shadowed_rows),
        "premises": _from_spans(coverage.premises),
        "checks": sorted(coverage.checks),
        "kill_points": sorted(coverage.kill_points),
        "faults": sorted(coverage.faults),
    }


def _to_coverage(document: Document, file: str) -> Coverage:
    shadowed = document["shadowed_rows"]
    return Coverage(
        steps={str(step) for step in document["steps"]},
        branches={(_to_span(span, file), taken is True) for span, taken in document["branches"]},
        rows={_to_span(span, file) for span in document["rows"]},
        shadowed_rows=None if shadowed is None else {_to_span(span, file) for span in shadowed},
        premises={_to_span(span, file) for span in document["premises"]},
        checks={str(name) for name in document["checks"]},
        kill_points={str(point) for point in document["kill_points"]},
        faults={str(fault) for fault in document["faults"]},
    )


def _from_spans(spans: Iterable[Span]) -> list[list[int]]:
    return sorted(_from_span(span) for span in spans)


def _from_span(span: Span) -> list[int]:
    return [span.line, span.column, span.end_line, span.end_column]


def _to_span(parts: list[Any], file: str) -> Span:
    line, column, end_line, end_column = parts
    return Span(file, int(line), int(column), int(end_line), int(end_column))

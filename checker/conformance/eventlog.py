"""What a running system has written down of itself: a log in JSON lines, read and checked against a specification.

The first line is a header that says which events the log has; everything else may have happened unseen in between.

    {"killpoint": 1, "protocol": "…", "scenario": "…", "records": {"steps": […], "crashes": […], "restarts": […]}}
    {"step": "coordinator.submit", "instance": 0, "faults": ["lost_reply"], "observed": {"run": "dispatched"}}
    {"crash": "coordinator.record"}
    {"restart": "coordinator"}
    {"observed": {"job[1]": "running"}}
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from checker.conformance.adapter import Observation, Plain
from model.diagnostics import did_you_mean
from model.specification import Process, Specification
from model.system import TransitionSystem
from model.transitions import Action

LOG_FORMAT = 1
"""Counts up when an event changes its meaning."""

LINE_MAX = 1 << 20
"""Characters of a line."""

_KINDS = ("step", "crash", "restart")
_HEADER_KEYS = ("killpoint", "protocol", "scenario", "records")
_RECORDS_KEYS = ("steps", "crashes", "restarts")


class LogError(Exception):
    """A line of a log that means nothing; `line` counts from 1."""

    def __init__(self, line: int, message: str, help_text: str = "") -> None:
        super().__init__(message)
        self.line = line
        self.message = message
        self.help = help_text


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened, or that was only looked at (`observed`); None where the log does not say."""

    line: int
    kind: Literal["step", "crash", "restart", "observed"]
    process: str = ""
    label: str = ""
    torn: bool = False
    instance: int | None = None
    choices: tuple[Plain, ...] | None = None
    faults: tuple[str, ...] | None = None
    observed: Observation = field(default_factory=dict)
    prepared: bool = False
    """Whether choices and faults were prepared beforehand: the step may have come to the first of them only."""

    @property
    def text(self) -> str:
        """The event in a few words."""
        if self.kind == "observed":
            return "an observation"
        place = self.process if self.kind == "restart" else f"{self.process}.{self.label}{'.torn' * self.torn}"
        choices = f"({', '.join(map(str, self.choices))})" if self.choices else ""
        faults = self.faults[1:] if self.faults and self.kind == "crash" else self.faults
        number = "" if self.instance is None else f" of instance {self.instance}"
        with_faults = f" with {', '.join(faults)}" if faults else ""
        return f"{self.kind} {place}{choices}{with_faults}{number}"


@dataclass(frozen=True, slots=True)
class Recorded:
    """Which actions a log has an event for; None for all of a kind."""

    steps: frozenset[str] | None = None
    crashes: frozenset[str] | None = None
    restarts: frozenset[str] | None = None

    def has(self, action: Action) -> bool:
        """Tell whether an action leaves an event; a process stands for all that it does."""
        match action.kind:
            case "step":
                known, name = self.steps, action.step
            case "crash":
                known, name = self.crashes, action.kill_point
            case _:
                known, name = self.restarts, action.process
        return known is None or name in known or action.process in known


@dataclass(frozen=True, slots=True)
class Header:
    """What a log says of itself."""

    protocol: str
    scenario: str
    records: Mapping[str, Any] | None


def header_of(line: str) -> Header:
    """Read the first line of a log.

    Raises:
        LogError: it is no header.
    """
    found = _object(1, line)
    _only(1, found, _HEADER_KEYS, "the header")
    if found.get("killpoint") != LOG_FORMAT:
        raise LogError(1, f"the first line is no header of version {LOG_FORMAT}", 'it begins {"killpoint": 1, …}')
    for key in ("protocol", "scenario"):
        if not isinstance(found.get(key, ""), str):
            raise LogError(1, f"`{key}` is a name, not {_short(found[key])}")
    records = found.get("records")
    if records is not None and not isinstance(records, dict):
        raise LogError(1, f"`records` has {', '.join(_RECORDS_KEYS)}, and is not {_short(records)}")
    return Header(found.get("protocol", ""), found.get("scenario", ""), records)


def recorded_of(header: Header, specification: Specification) -> Recorded:
    """Return which actions of a specification a log has events for.

    Raises:
        LogError: it names something that the specification does not have.
    """
    if header.records is None:
        return Recorded()
    _only(1, header.records, _RECORDS_KEYS, "`records`")
    known = {
        "steps": [step.id for process in specification.processes.values() for step in process.steps],
        "crashes": [point for process in specification.processes.values() for point in process.kill_points],
        "restarts": [],
    }
    found: dict[str, frozenset[str]] = {}
    for kind in _RECORDS_KEYS:
        names = header.records.get(kind, [])
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise LogError(1, f"`records.{kind}` is a list of names, not {_short(names)}")
        candidates = [*known[kind], *specification.processes]
        for name in names:
            if name not in candidates:
                raise LogError(1, f"`records.{kind}` names `{name}`, which is none", did_you_mean(name, candidates))
        found[kind] = frozenset(names)
    return Recorded(found["steps"], found["crashes"], found["restarts"])


def events_of(lines: Iterable[str], system: TransitionSystem) -> Iterator[Event]:
    """Read the events of a log, the lines after its header; empty lines are passed over.

    Raises:
        LogError: a line is no event, or speaks of something that the system does not have.
    """
    slots = [slot.name for slot in system.slots]
    for number, line in enumerate(lines, start=2):
        if line.strip():
            event = _event(number, _object(number, line), system)
            for name in event.observed:
                if name not in slots:
                    message = f"`{name}` is no variable of the model here"
                    raise LogError(number, message, did_you_mean(name, slots))
            yield event


def _event(line: int, found: Mapping[str, Any], system: TransitionSystem) -> Event:
    kinds = [kind for kind in _KINDS if kind in found]
    _only(line, found, ("step", "crash", "restart", "instance", "choices", "faults", "observed"), "an event")
    observed = found.get("observed", {})
    if not isinstance(observed, dict):
        raise LogError(line, f"`observed` has values by the names of variables, and is not {_short(observed)}")
    if not kinds and set(found) == {"observed"}:
        return Event(line, "observed", observed=observed)
    if len(kinds) != 1:
        raise LogError(line, "an event is one of `step`, `crash`, `restart`, or `observed` alone")
    kind: Literal["step", "crash", "restart"] = kinds[0]  # type: ignore[assignment]
    process, label, torn = _place(line, kind, found[kind], system.specification)
    instance = found.get("instance")
    if instance is not None and (type(instance) is not int or not 0 <= instance < system.counts[process.name]):
        raise LogError(line, f"`{process.name}` has no instance {_short(instance)} here")
    choices, faults = found.get("choices"), found.get("faults")
    for key, value in (("choices", choices), ("faults", faults)):
        if value is not None and not isinstance(value, list):
            raise LogError(line, f"`{key}` is a list, not {_short(value)}")
    for name in faults or ():
        if name not in system.specification.faults:
            raise LogError(line, f"no fault is named {_short(name)}", did_you_mean(str(name), system.budgets))
    return Event(
        line,
        kind,
        process.name,
        label,
        torn,
        instance,
        None if choices is None else tuple(choices),
        None if faults is None else tuple(faults),
        observed,
    )


def _place(line: int, kind: str, name: object, specification: Specification) -> tuple[Process, str, bool]:
    """Return the process and label that an event names, and whether a crash falls inside the step."""
    if not isinstance(name, str):
        raise LogError(line, f"`{kind}` is a name, not {_short(name)}")
    if kind == "restart":
        if name not in specification.processes:
            raise LogError(line, f"no process is named `{name}`", did_you_mean(name, specification.processes))
        return specification.processes[name], "", False
    torn = kind == "crash" and name.endswith(".torn")
    for process in specification.processes.values():
        for step in process.steps:
            if step.id == (name.removesuffix(".torn") if torn else name):
                return process, step.name, torn
    known = [step.id for process in specification.processes.values() for step in process.steps]
    raise LogError(line, f"no step is named `{name}`", did_you_mean(name, known))


def _object(line: int, text: str) -> dict[str, Any]:
    if len(text) > LINE_MAX:
        raise LogError(line, f"the line has more than {LINE_MAX:,} characters")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise LogError(line, f"the line is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise LogError(line, f"the line is no JSON object: {_short(found)}")
    return found


def _only(line: int, found: Mapping[str, Any], keys: tuple[str, ...], what: str) -> None:
    for key in found:
        if key not in keys:
            raise LogError(line, f"{what} has no key `{key}`", did_you_mean(key, keys, known="it has"))


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}…"

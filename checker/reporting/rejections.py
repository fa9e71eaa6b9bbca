"""What `accepts` says: how a log is a run of the model, or which event is none of the model's, and why not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from checker.conformance.accepts import Acceptor, Rejection
from checker.conformance.reasons import Reason
from checker.conformance.translation import Difference
from checker.exploration import Finding
from checker.reporting.documents import trace_document
from checker.reporting.envelope import Document
from checker.reporting.lanes import Conclusion, trace_lines
from checker.reporting.output import Line, blank, flowed, sentence


@dataclass(frozen=True, slots=True)
class LogReport:
    """A log that was followed: by whom, as far as it went, and where it is no run."""

    log: str
    acceptor: Acceptor
    rejection: Rejection | None
    nearest: Sequence[Reason]
    cut: str = ""


def difference_text(difference: Difference) -> str:
    """Return in a few words how a variable differs."""
    return f"{difference.name}={_value(difference.observed)} (the model: {_value(difference.model)})"


def _value(value: object) -> str:
    if isinstance(value, list):
        return "{" + ", ".join(map(_value, value)) + "}"
    return str(value).lower() if isinstance(value, bool) else str(value)


def reason_lines(nearest: Sequence[Reason], width: int) -> Iterator[Line]:
    """Yield why an event is none of the model's."""
    for reason in nearest:
        differences = ", ".join(map(difference_text, reason.differences))
        text = f"{reason.text}{' ' + differences if differences else ''}"
        yield from flowed(
            (("", "      "), ("dim", "why not: ")), sentence("", text), width=width, rest=blank(8), gap=" "
        )


def reason_document(reason: Reason) -> Document:
    """Return one reason."""
    return {
        "text": reason.text,
        "differences": [{"name": one.name, "model": one.model, "observed": one.observed} for one in reason.differences],
    }


def log_lines(report: LogReport, width: int) -> Iterator[Line]:
    """Yield what came of following a log."""
    acceptor, rejection = report.acceptor, report.rejection
    events = len(acceptor.events)
    if report.cut:
        yield (("doubt", f"? {report.log}: after {events} events it cannot be followed further: {report.cut}"),)
        return
    found = acceptor.explanation(report.nearest[0].state if report.nearest else None)
    if rejection is None:
        filled = f", {found.hidden} of its {len(found.trace)} steps filled in" if found.hidden else ""
        text = f"{report.log} is a run of the model: {events} events{filled}"
        yield from flowed((("good", "✓ "),), sentence("good", text), width=width, rest=blank(2), gap=" ")
        return
    text = f"{report.log} is no run of the model: nothing explains line {rejection.event.line}, {rejection.event.text}"
    yield from flowed((("bad", "✗ "),), sentence("bad", text), width=width, rest=blank(2), gap=" ")
    yield ()
    states = len(rejection.possible)
    more = f" ({states} states are possible there, this is the nearest)" if states > 1 else ""
    conclusion = Conclusion(False, f"{rejection.event.text} cannot follow{more}")
    yield from trace_lines(acceptor.system, Finding(len(found.trace), found.trace), conclusion, width)
    yield from reason_lines(report.nearest, width)


def log_document(report: LogReport) -> Document:
    """Return what came of following a log."""
    acceptor, rejection = report.acceptor, report.rejection
    found = None
    if not report.cut:
        found = acceptor.explanation(report.nearest[0].state if report.nearest else None)
    return {
        "log": report.log,
        "accepted": None if report.cut else rejection is None,
        "events": len(acceptor.events),
        "cut": report.cut,
        "run": None if found is None else trace_document(acceptor.system, Finding(len(found.trace), found.trace)),
        "lines": None if found is None else [None if event is None else event.line for event in found.events],
        "rejection": None
        if rejection is None
        else {
            "line": rejection.event.line,
            "event": rejection.event.text,
            "observed": dict(rejection.event.observed),
            "possible": len(rejection.possible),
            "reasons": [reason_document(reason) for reason in report.nearest],
        },
    }

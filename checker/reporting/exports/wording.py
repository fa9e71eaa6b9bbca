"""What is wrong with a checked file, as a list that every export tells in its own form."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from checker.exploration import Finding
from checker.judgement import ScenarioReport
from checker.reporting.claims import ShownTrace, failure_trace, property_trace, surprises
from checker.results import CheckedFile
from checker.verdict import ExitCode
from model.source import Span

TRACE_WIDTH = 110


@dataclass(frozen=True, slots=True)
class Wrong:
    """One thing that is not as declared: of which kind, where, and the run that shows it."""

    kind: str
    """A name of `KINDS`."""
    message: str
    span: Span
    claim: ScenarioReport | None = None
    shown: ShownTrace | None = None
    broken: str = ""
    """What breaks, where that is what is wrong."""

    @property
    def finding(self) -> Finding | None:
        """The run that shows it."""
        return self.shown.finding if self.shown is not None else None

    @property
    def trace_text(self) -> str:
        """The run, drawn as on a terminal; empty where there is none."""
        if self.shown is None:
            return ""
        lines = ("".join(text for _, text in line).rstrip() for line in self.shown.lines(TRACE_WIDTH))
        return "\n".join(lines)


KINDS = {
    "breaks-undeclared": "A property breaks under a scenario or mutant that does not say so.",
    "declared-break-missing": "A property that is said to break does not: a mutant lives, or a claim is out of date.",
    "run-time-error": "A reachable state has no meaning: a value outside its type, or a gap in a table.",
    "vacuous": "A claim lives on something that never happens.",
    "unused": "No scenario puts this piece of the protocol to use.",
    "inconclusive": "The run was cut short, so nothing is known.",
    "engines-disagree": "Two readings of the specification contradict each other, which is a defect of killpoint.",
}
"""The kinds of what can be wrong, and what they mean."""

_KIND_OF = {
    ExitCode.NOT_AS_DECLARED: "declared-break-missing",
    ExitCode.BAD_INPUT: "run-time-error",
    ExitCode.VACUOUS: "vacuous",
    ExitCode.INCONCLUSIVE: "inconclusive",
    ExitCode.DISAGREEMENT: "engines-disagree",
}


def wrong_in(checked: CheckedFile) -> Iterator[Wrong]:
    """Yield what is wrong with the claims of a file, and what it leaves unused."""
    for report in checked.claims:
        yield from _of_claim(checked, report)
    teeth = checked.report.teeth
    for unused in teeth.unused:
        if not unused.excuse:
            yield Wrong("unused", f"{unused.name} is never used by a scenario", unused.element.span)
    for diagnostic in teeth.diagnostics:
        span = diagnostic.span or next(iter(checked.file.unused_spans.values()))
        yield Wrong("unused", diagnostic.message, span)


def _of_claim(checked: CheckedFile, report: ScenarioReport) -> Iterator[Wrong]:
    kind = "mutant" if report.mutant else "scenario"
    span = checked.claim(report).span
    undeclared = surprises(report) if report.problems else []
    for asked in undeclared:
        declared = report.exploration.system.specification.properties[asked.name]
        message = f"{asked.name} breaks in the {kind} {report.name}"
        shown = property_trace(checked.file, report, asked)
        yield Wrong("breaks-undeclared", message, declared.span, report, shown, asked.name)
    said = {f"`{asked.name}` breaks, undeclared" for asked in undeclared}
    for problem in report.problems:
        if problem.message not in said:
            shown = failure_trace(report) if problem.code is ExitCode.BAD_INPUT else None
            place = shown.finding.error.span if shown is not None and shown.finding.error is not None else span
            yield Wrong(_KIND_OF[problem.code], f"{kind} {report.name}: {problem.message}", place, report, shown)

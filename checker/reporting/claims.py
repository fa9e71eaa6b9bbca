"""The words for a claim and how it came out, shared by everything that is shown to people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from checker.caveats import course_text
from checker.exploration import Finding
from checker.judgement import PropertyReport, ScenarioReport
from checker.reporting.diagnostics import diagnostic_lines
from checker.reporting.lanes import Conclusion, shown_value, trace_lines
from checker.reporting.output import Line, aligned, blank, flowed, sentence
from checker.reporting.texts import FileTexts
from checker.verdict import ExitCode, Verdict
from model.diagnostics import Diagnostic
from model.source import Source
from model.specification import PropertyKind, Scenario, SpecificationFile
from model.system import Budget, TransitionSystem
from model.transitions import EvaluationError


@dataclass(frozen=True, slots=True)
class ShownTrace:
    """A trace worth showing, and what its end shows; `property` is empty for a run-time error."""

    report: ScenarioReport
    property: str
    finding: Finding
    conclusion: Conclusion

    def lines(self, width: int) -> Iterator[Line]:
        """Yield the trace as lines."""
        return trace_lines(self.report.exploration.system, self.finding, self.conclusion, width)


def mark(code: ExitCode) -> tuple[str, str]:
    """Return the style and the sign of an outcome."""
    match code:
        case ExitCode.AS_DECLARED:
            return "good", "✓"
        case ExitCode.INCONCLUSIVE:
            return "doubt", "?"
        case _:
            return "bad", "✗"


def setting_items(claim: Scenario) -> list[str]:
    """Return in a few words what a claim changes of the protocol's own parameters and faults."""
    items = [f"variant {claim.variant}"] if claim.variant else []
    items += [f"{name}={shown_value(value)}" for name, value in claim.set.items()]
    for name, allowance in claim.allow.items():
        how_often = "" if allowance.at_most is None else f" {_times(allowance.at_most)}"
        where = "" if allowance.at is None else f" at {', '.join(sorted(allowance.at))}"
        items.append(f"{name}{how_often}{where}")
    if claim.crashes is not None:
        items.append(f"crashes {course_text(claim.crashes) or 'off'}")
    return items + ([f"bound {claim.bound}"] if claim.bound is not None else [])


def system_items(system: TransitionSystem) -> list[str]:
    """Return the parameters and faults of a system in a few words."""
    values = [f"{name}={shown_value(value)}" for name, value in system.parameters.items()]
    return [*values, *fault_items(system), *bound_items(system)]


def fault_items(system: TransitionSystem, *, only_allowed: bool = False) -> list[str]:
    """Return how often each fault may happen, and where, in a few words; of all faults or only of those that may."""
    budgets = system.budgets.items()
    return [f"{name} {_budget(budget)}" for name, budget in budgets if budget.allowed or not only_allowed]


def bound_items(system: TransitionSystem) -> list[str]:
    """Return up to where numbers without end are followed, if there is a bound."""
    return [f"nat ≤ {system.bound}"] if system.bound is not None else []


def _budget(budget: Budget) -> str:
    if budget.in_turn is not None and budget.limit:
        return course_text(budget.in_turn)
    where = "" if budget.at is None else f" at {', '.join(sorted(budget.at))}"
    return f"{_times('unlimited' if budget.limit is None else budget.limit)}{where}"


def _times(count: int | str) -> str:
    return str(count) if isinstance(count, str) else "off" if count == 0 else f"≤ {count}"


def fault_assumptions(report: ScenarioReport) -> tuple[str, ...]:
    """Return what a verdict assumes beyond the values of the parameters, which are shown elsewhere."""
    values = tuple(f"{name} = " for name in report.exploration.system.parameters)
    return tuple(one for one in report.assumed if not one.startswith(values))


def caveat_lines(report: ScenarioReport, asked: PropertyReport | None, width: int) -> Iterator[Line]:
    """Yield what a verdict assumes and does not cover; of one property where only one is asked about."""
    # Whoever asks about one property knows that the others are left out.
    open_ = [one for one in report.not_covered if asked is None or not one.startswith("properties not asked about")]
    for heading, sentences in (
        ("assumed", [*fault_assumptions(report), *(asked.assumed if asked is not None else ())]),
        ("not covered", [*open_, *(asked.not_covered if asked is not None else ())]),
    ):
        if sentences:
            yield from remark_lines(heading, "; ".join(sentences), width, "dim")


def remark_lines(heading: str, text: str, width: int, style: str = "") -> Iterator[Line]:
    """Yield a remark under a heading in the margin."""
    start = aligned((("dim", heading),), 13)
    yield from flowed(start, sentence(style, text), width=width, rest=blank(13), gap=" ")


def lengths(reports: tuple[PropertyReport, ...]) -> list[str]:
    """Return properties with the length of their traces; one that is never reached has none."""
    return [f"{r.name} {len(r.finding.trace)}" if r.finding is not None else f"{r.name} never" for r in reports]


# --- Traces ---


def property_trace(file: SpecificationFile, report: ScenarioReport, asked: PropertyReport) -> ShownTrace | None:
    """Return the trace of a property, or None where there is none."""
    if asked.finding is None:
        return None
    conclusion = Conclusion(asked.verdict is Verdict.HOLDS, conclusion_of(asked), _property_text(file, report, asked))
    return ShownTrace(report, asked.name, asked.finding, conclusion)


def failure_trace(report: ScenarioReport) -> ShownTrace | None:
    """Return the trace to a run-time error, or None where there is none."""
    if report.failure is None or report.failure.error is None:
        return None
    error = report.failure.error
    return ShownTrace(report, "", report.failure, Conclusion(False, f"{error.code.number}: {error.message}"))


def shortest_surprise(file: SpecificationFile, reports: tuple[ScenarioReport, ...]) -> ShownTrace | None:
    """Return the shortest trace of what nobody declared: a run-time error first, then scenarios, then mutants."""
    failures = [trace for report in reports if (trace := failure_trace(report)) is not None]
    if failures:
        return min(failures, key=_length)
    for mutants in (False, True):
        broken = [
            trace
            for report in reports
            if report.mutant is mutants
            for asked in surprises(report)
            if (trace := property_trace(file, report, asked)) is not None
        ]
        if broken:
            return min(broken, key=_length)
    return None


def surprises(report: ScenarioReport) -> list[PropertyReport]:
    """Return the properties that break undeclared."""
    return [asked for asked in report.properties if asked.broken and not asked.declared]


def _length(trace: ShownTrace) -> int:
    return trace.finding.depth


def error_lines(error: EvaluationError, source: Source) -> Iterator[Line]:
    """Yield where in the file a run-time error happens."""
    return diagnostic_lines(Diagnostic(error.code, error.message, error.span), {source.file: source})


def conclusion_of(asked: PropertyReport) -> str:
    """Return in words what the end of a property's trace shows."""
    assert asked.finding is not None
    match asked.kind:
        case PropertyKind.ALWAYS:
            return f"{asked.name} is false here"
        case PropertyKind.STEP:
            return f"{asked.name} is false of the last transition"
        case PropertyKind.CHECKED:
            return f"a check of {asked.name} is false in the last transition"
        case PropertyKind.POSSIBLE:
            return f"{asked.name} is reached here"
        case PropertyKind.LEADS_TO:
            trace = asked.finding.trace
            ever = f"back at {trace.loop}, round for ever" if trace.cycle else "here it stays for ever"
            return f"{ever}, and {asked.name} is never answered"
        case PropertyKind.RECOVERABLE:
            steps = ", ".join(asked.finding.still_possible)
            rest = f"what can still happen: {steps}" if steps else "nothing more can happen"
            return f"from here no run of fair steps leads to {asked.name}; {rest}"


def _property_text(file: SpecificationFile, report: ScenarioReport, asked: PropertyReport) -> str:
    """Return the property as the file has it; nothing where a variant or mutant may have changed its text."""
    declared = file.specification.properties.get(asked.name)
    if declared != report.exploration.system.specification.properties[asked.name]:
        return ""
    return FileTexts(file.source).property(asked.name, asked.kind)

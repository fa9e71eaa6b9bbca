"""Results as JSON; `docs/schemas/` says which keys there are and what they mean."""

from __future__ import annotations

from collections.abc import Sequence

from checker.exploration import Finding
from checker.identity import claim_hash, course_of, file_hash
from checker.judgement import PropertyReport, ScenarioReport
from checker.reporting.crosschecks import compared_document
from checker.reporting.diagnostics import diagnostic_document
from checker.reporting.envelope import Document
from checker.results import CheckedFile
from checker.teeth import Teeth
from checker.trace import TraceStep
from model.diagnostics import Diagnostic
from model.specification import Scenario, SpecificationFile
from model.system import State, TransitionSystem
from model.transitions import Action
from model.types import SetValue, Value

# --- Files and claims ---


def checked_document(checked: CheckedFile) -> Document:
    """Return a file with all its scenarios and mutants."""
    report = checked.report
    return {
        **file_document(checked.file),
        "exit_code": int(checked.exit_code),
        "narrowed": report.narrowed,
        "not_run": list(report.not_run),
        "seconds": round(checked.seconds, 3),
        "scenarios": [_claim(checked, claim) for claim in report.scenarios],
        "mutants": [_claim(checked, claim) for claim in report.mutants],
        "teeth": _teeth(report.teeth),
        "warnings": [diagnostic_document(d) for d in checked.file.warnings],
        **({} if checked.compared is None else {"compared": compared_document(checked.compared)}),
    }


def file_document(file: SpecificationFile) -> Document:
    """Return what identifies a file."""
    return {
        "file": file.source.file,
        "protocol": file.specification.name,
        "title": file.specification.title,
        "sha256": file_hash(file.source),
    }


def _claim(checked: CheckedFile, report: ScenarioReport) -> Document:
    return claim_document(checked.file, checked.claim(report), report, cached=report.name in checked.cached)


def claim_document(file: SpecificationFile, claim: Scenario, report: ScenarioReport, *, cached: bool) -> Document:
    """Return how a scenario or mutant came out."""
    system = report.exploration.system
    return {
        "name": report.name,
        "mutant": report.mutant,
        "variant": report.variant,
        "sha256": claim_hash(file.source, claim, system),
        **system_document(system),
        "verdict": report.verdict.value,
        "exit_code": int(report.exit_code),
        "problems": [{"exit_code": int(p.code), "message": p.message} for p in report.problems],
        "declared": list(report.declared),
        "broken": list(report.broken),
        "because": report.because,
        "survives": report.survives,
        **effort_document(report, cached=cached),
        "properties": [property_document(system, asked) for asked in report.properties],
        "failure": _failure(system, report.failure),
        "waiting": None if report.waiting is None else trace_document(system, report.waiting),
        "unfired": list(report.unfired),
        "assumed": list(report.assumed),
        "not_covered": list(report.not_covered),
    }


def system_document(system: TransitionSystem) -> Document:
    """Return the parameters and faults of a system; `at_most` null for any number of times, `at` null for anywhere."""
    return {
        "parameters": dict(system.parameters),
        "faults": {
            name: {"at_most": budget.limit, "at": None if budget.at is None else sorted(budget.at)}
            for name, budget in system.budgets.items()
        },
        "bound": system.bound,
        "crashes": course_of(system),
    }


def effort_document(report: ScenarioReport, *, cached: bool) -> Document:
    """Return the size of an exploration."""
    exploration = report.exploration
    return {
        "states": exploration.states,
        "transitions": exploration.transitions,
        "generated": exploration.generated,
        "depth": exploration.depth,
        "complete": bool(exploration.complete),
        "cut": exploration.cut,
        "engine": exploration.engine,
        "cached": cached,
    }


def property_document(system: TransitionSystem, asked: PropertyReport) -> Document:
    """Return how a property came out; `length` counts transitions."""
    return {
        "name": asked.name,
        "kind": asked.kind.value,
        "verdict": asked.verdict.value,
        "declared": asked.declared,
        "length": None if asked.finding is None else len(asked.finding.trace),
        "trace": None if asked.finding is None else trace_document(system, asked.finding),
        "assumed": list(asked.assumed),
        "not_covered": list(asked.not_covered),
    }


def _failure(system: TransitionSystem, finding: Finding | None) -> Document | None:
    if finding is None or finding.error is None:
        return None
    error = finding.error
    return {
        "diagnostic": diagnostic_document(Diagnostic(error.code, error.message, error.span)),
        "trace": trace_document(system, finding),
    }


def _teeth(teeth: Teeth) -> Document:
    return {
        "judged": not teeth.why_not_judged,
        "why_not_judged": teeth.why_not_judged,
        "used": {tally.kind.value: {"used": tally.used, "total": tally.total} for tally in teeth.tallies},
        "unused": [
            {
                "kind": unused.element.kind.value,
                "name": unused.name,
                "variant": unused.variant,
                "excuse": unused.excuse,
                "shadowed": unused.shadowed,
                "line": unused.element.span.line,
            }
            for unused in teeth.unused
        ],
        "diagnostics": [diagnostic_document(diagnostic) for diagnostic in teeth.diagnostics],
    }


# --- Traces ---


def trace_document(system: TransitionSystem, finding: Finding) -> Document:
    """Return a trace: the initial state in full, then the transitions with what they change, then the last state."""
    trace = finding.trace
    states = trace.states
    return {
        "length": len(trace),
        "initial": _state(system, trace.initial),
        "steps": [
            _step(system, number, before, step)
            for number, (before, step) in enumerate(zip(states, trace.steps, strict=False), start=1)
        ],
        "final": _state(system, trace.last),
        "failing": None if trace.failing is None else _name(trace.failing),
        "loop": trace.loop,
        "still_possible": list(finding.still_possible),
    }


def _name(action: Action) -> str:
    """Return the id of a step, or of the kill point of a crash."""
    return action.kill_point or f"{action.process}.{action.label}"


def _step(system: TransitionSystem, number: int, before: State, step: TraceStep) -> Document:
    action = step.action
    process = system.specification.processes[action.process]
    return {
        "number": number,
        "kind": action.kind,
        "process": action.process,
        "instance": action.instance,
        "step": process.start if action.kind == "restart" else action.label,
        "kill_point": action.kill_point,
        "faults": list(step.faults),
        "choices": [value_document(choice) for choice in step.choices],
        "changes": {
            slot.name: value_document(new)
            for slot, old, new in zip(system.slots, before, step.state, strict=True)
            if (type(old), old) != (type(new), new)
        },
    }


def _state(system: TransitionSystem, state: Sequence[Value]) -> Document:
    return {slot.name: value_document(value) for slot, value in zip(system.slots, state, strict=True)}


def value_document(value: Value) -> object:
    """Return a value as JSON: a set as the list of its elements, `None` as null."""
    return list(value.elements) if isinstance(value, SetValue) else value

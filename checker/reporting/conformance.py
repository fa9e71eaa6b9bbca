"""What `conform` says: what an implementation was driven through, and where it and its model part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from checker.conformance.accepts import Rejection
from checker.conformance.driver import Divergence, Driven, Near
from checker.conformance.reasons import reasons
from checker.conformance.translation import Difference
from checker.conformance.walks import Walk, Wandered
from checker.exploration import Finding
from checker.identity import claim_hash
from checker.reporting.documents import system_document, trace_document
from checker.reporting.envelope import Document
from checker.reporting.lanes import Conclusion, shown_value, trace_lines
from checker.reporting.output import Line, blank, flowed, sentence
from checker.reporting.rejections import difference_text, reason_document, reason_lines
from checker.trace import Trace
from checker.verdict import ExitCode
from model.expressions import VariableValue, walk
from model.source import Source
from model.specification import Scenario
from model.system import TransitionSystem
from model.types import Value

_SHOWN = 12
"""Names that are listed."""


@dataclass(slots=True)
class ConformReport:
    """One scenario or mutant, held against an implementation.

    `states` and `transitions` are 0 where no graph was needed or it was not completed. `asked` and `trace` are set
    where only the trace of one property was driven.
    """

    claim: Scenario
    system: TransitionSystem
    mode: str
    states: int
    transitions: int
    driven: Driven
    wandered: Wandered | None = None
    asked: str = ""
    trace: Trace | None = None

    @property
    def exit_code(self) -> ExitCode:
        """Return 1 for a difference; what was cut short says nothing, and neither does what nobody has looked at."""
        if self.driven.divergence is not None or (self.wandered is not None and self.wandered.failed is not None):
            return ExitCode.NOT_AS_DECLARED
        if self.driven.cut or (self.wandered is not None and self.wandered.cut):
            return ExitCode.INCONCLUSIVE
        return ExitCode.VACUOUS if self.driven.blind else ExitCode.AS_DECLARED


# --- For people ---


def conform_lines(report: ConformReport, source: Source, width: int) -> Iterator[Line]:
    """Yield what came of one scenario."""
    style, sign = {ExitCode.AS_DECLARED: ("good", "✓"), ExitCode.NOT_AS_DECLARED: ("bad", "✗")}.get(
        report.exit_code, ("doubt", "?")
    )
    start: Line = (("", "  "), (style, f"{sign} "), ("name", report.claim.name), ("", "  "))
    yield from flowed(start, sentence("", "; ".join(_facts(report))), width=width, rest=blank(4), gap=" ")
    if report.driven.divergence is not None:
        yield ()
        yield from _divergence_lines(report.system, report.driven.divergence, width)
        yield ()
    elif report.trace is not None:
        yield ()
        yield from _replay_lines(report, report.trace, width)
        yield ()
    if report.wandered is not None and report.wandered.failed is not None:
        yield ()
        yield from _walk_lines(report.system, report.wandered.failed, source, width)
        yield ()
    if report.driven.blind and report.driven.divergence is None:
        text = "nothing is observed, so that whatever the system does would pass"
        yield from flowed((("", "   "),), sentence("doubt", text), width=width, rest=blank(6), gap=" ")
    elif report.driven.unseen and report.driven.divergence is None and not report.driven.cut:
        names = _listed(report.driven.unseen)
        yield from flowed(
            (("", "    "), ("dim", "not observed: ")), sentence("dim", names), width=width, rest=blank(6), gap=" "
        )


def _facts(report: ConformReport) -> Iterator[str]:
    driven = report.driven
    if report.asked:
        yield f"{driven.covered} of {_many(driven.wanted, 'transition')} of the trace of {report.asked}"
    elif report.states:
        what = "pairs of step path and situation" if report.mode == "situations" else "transitions"
        effort = f"{_many(driven.runs, 'run')} of {_many(driven.actions, 'action')}"
        yield f"{driven.covered:,} of {driven.wanted:,} {what}, in {effort}"
    if driven.cut:
        yield f"cut short: {driven.cut}"
    wandered = report.wandered
    if wandered is not None:
        walks = f"{_many(wandered.walks, 'random walk')} of {_many(wandered.taken, 'action')}"
        refused = f", {wandered.refused:,} more refused" if wandered.refused else ""
        yield f"{walks}{refused}" + (f", cut short: {wandered.cut}" if wandered.cut else "")


def _divergence_lines(system: TransitionSystem, found: Divergence, width: int) -> Iterator[Line]:
    conclusion = Conclusion(False, _message(found))
    yield from trace_lines(system, Finding(len(found.trace), found.trace), conclusion, width)
    if found.differences:
        heading = "though it refuses, the system changes:" if found.kind == "refused" else "the system:"
        yield from _remark(heading, "; ".join(map(difference_text, found.differences)), width)
    for near in found.nearest:
        yield from _remark("nearest in the model:", _near_text(system, near), width)


def _message(found: Divergence) -> str:
    match found.kind:
        case "start":
            return "the system starts otherwise"
        case "refused":
            return f"the model allows the last step, and the system refuses it: {found.refusal}"
        case "differs":
            return "after the last step the system is elsewhere"


def difference_sentence(report: ConformReport) -> str:
    """Say in one sentence where a system and the model part."""
    found = report.driven.divergence
    if found is not None:
        where = f"{report.claim.name}, {found.trace.steps[-1].action.process}.{found.trace.steps[-1].action.label}" if (
            found.trace.steps
        ) else f"{report.claim.name}, at the start"  # fmt: skip
        return f"{where}: {f'refused: {found.refusal}' if found.kind == 'refused' else _listed_differences(found)}"
    assert report.wandered is not None
    assert report.wandered.failed is not None
    assert report.wandered.failed.rejection is not None
    return f"{report.claim.name}, walking at random: {report.wandered.failed.rejection.event.text}"


def _listed_differences(found: Divergence) -> str:
    return "; ".join(map(difference_text, found.differences))


def _near_text(system: TransitionSystem, near: Near) -> str:
    what = "nothing happens" if near.step is None else _step_text(system, near)
    if not near.differences:
        return f"{what}; exactly what was observed"
    return f"{what}; differs in {', '.join(map(difference_text, near.differences))}"


def _step_text(system: TransitionSystem, near: Near) -> str:
    assert near.step is not None
    action = near.step.action
    lane = system.instance_name(action.process, action.instance)
    name = f"{lane} restarts" if action.kind == "restart" else f"{lane}.{action.label}"
    if action.kind == "crash":
        name = f"crash of {lane} {'inside' if action.torn else 'before'} {action.label}"
    choices = f"({', '.join(map(shown_value, near.step.choices))})" if near.step.choices else ""
    faults = near.step.faults[1:] if action.kind == "crash" else near.step.faults
    return f"{name}{choices}{' with ' + ', '.join(faults) if faults else ''}"


def _replay_lines(report: ConformReport, trace: Trace, width: int) -> Iterator[Line]:
    """Yield a trace that the system has followed to its end, and what was seen of what the property speaks of."""
    seen = [
        f"{name}={shown_value(value)}" for name, value in _spoken_of(report, trace) if name not in report.driven.unseen
    ]
    unseen = [name for name, _ in _spoken_of(report, trace) if name in report.driven.unseen]
    message = f"the system has followed to the end; observed there: {', '.join(seen)}" if seen else (
        f"the system has followed to the end, but nothing that {report.asked} speaks of is observed"
    )  # fmt: skip
    text = f"not observed: {', '.join(unseen)}" if unseen and seen else ""
    yield from trace_lines(report.system, Finding(len(trace), trace), Conclusion(bool(seen), message, text), width)


def _spoken_of(report: ConformReport, trace: Trace) -> Iterator[tuple[str, Value]]:
    """Yield the slots of the variables that a property speaks of, with their values at the end of its trace."""
    asked = report.system.specification.properties[report.asked]
    keys = {n.key for e in asked.expressions for n in walk(e) if isinstance(n, VariableValue)}
    for (key, _), layout in report.system.layouts.items():
        if key in keys:
            for slot in layout.slots:
                yield report.system.slots[slot].name, trace.last[slot]


def _walk_lines(system: TransitionSystem, failed: Walk, source: Source, width: int) -> Iterator[Line]:
    assert failed.rejection is not None
    nearest = reasons(failed.rejection, failed.acceptor, source)
    before = failed.acceptor.explanation(nearest[0].state if nearest else None).trace
    what = failed.rejection.event.text
    message = f"walking at random, the system then did what the model does not allow: {what}"
    if failed.rejection.event.kind == "observed":
        message = "walking at random, the system was then elsewhere, though it had refused to do anything"
    yield from trace_lines(system, Finding(len(before), before), Conclusion(False, message), width)
    yield from reason_lines(nearest, width)


def _remark(heading: str, text: str, width: int) -> Iterator[Line]:
    yield from flowed((("", "      "), ("dim", f"{heading} ")), sentence("", text), width=width, rest=blank(8), gap=" ")


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'s' * (count != 1)}"


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


# --- As JSON ---


def conform_document(report: ConformReport, source: Source) -> Document:
    """Return what came of one scenario."""
    driven = report.driven
    return {
        "name": report.claim.name,
        "mutant": report.claim.mutant,
        "variant": report.claim.variant,
        "sha256": claim_hash(source, report.claim, report.system),
        **system_document(report.system),
        "exit_code": int(report.exit_code),
        "mode": "trace" if report.asked else report.mode,
        "property": report.asked or None,
        "states": report.states,
        "transitions": report.transitions,
        "wanted": driven.wanted,
        "covered": driven.covered,
        "runs": driven.runs,
        "actions": driven.actions,
        "cut": driven.cut,
        "not_observed": list(driven.unseen),
        "divergence": None if driven.divergence is None else _divergence_document(report.system, driven.divergence),
        "walks": None if report.wandered is None else _walks_document(report.system, report.wandered, source),
    }


def _divergence_document(system: TransitionSystem, found: Divergence) -> Document:
    return {
        "kind": found.kind,
        "refusal": found.refusal,
        "trace": trace_document(system, Finding(len(found.trace), found.trace)),
        "observed": dict(found.observation),
        "differences": differences_document(found.differences),
        "nearest": [
            {
                "action": None if near.step is None else _step_text(system, near),
                "differences": differences_document(near.differences),
            }
            for near in found.nearest
        ],
    }


def differences_document(differences: Sequence[Difference]) -> list[Document]:
    """Return variables that differ."""
    return [{"name": one.name, "model": one.model, "observed": one.observed} for one in differences]


def _walks_document(system: TransitionSystem, wandered: Wandered, source: Source) -> Document:
    failed = wandered.failed
    return {
        "walks": wandered.walks,
        "taken": wandered.taken,
        "refused": wandered.refused,
        "cut": wandered.cut,
        "rejection": None
        if failed is None or failed.rejection is None
        else rejection_document(system, failed.rejection, failed, source),
    }


def rejection_document(system: TransitionSystem, rejection: Rejection, walk: Walk, source: Source) -> Document:
    """Return the event of a walk that is none of the model's, what came before, and why it is none."""
    nearest = reasons(rejection, walk.acceptor, source)
    before = walk.acceptor.explanation(nearest[0].state if nearest else None).trace
    return {
        "event": rejection.event.text,
        "observed": dict(rejection.event.observed),
        "trace": trace_document(system, Finding(len(before), before)),
        "reasons": [reason_document(reason) for reason in nearest],
    }

"""What `killpoint induct` has found, as lines and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from checker.caveats import assumed, assumed_by, left_open, not_covered_by
from checker.engines.induction import Decision, Gap
from checker.exploration import Finding
from checker.identity import claim_hash
from checker.judgement import PropertyReport
from checker.reporting.claims import conclusion_of, error_lines, mark, remark_lines, system_items
from checker.reporting.diagnostics import diagnostic_document
from checker.reporting.documents import property_document, system_document, trace_document
from checker.reporting.envelope import Document
from checker.reporting.lanes import Conclusion, shown_value, trace_lines
from checker.reporting.output import Line, aligned, blank, flowed, sentence
from checker.verdict import ExitCode, Verdict
from model.diagnostics import Diagnostic
from model.specification import Scenario, SpecificationFile
from model.system import TransitionSystem

_MARKS = {
    Verdict.HOLDS: ExitCode.AS_DECLARED,
    Verdict.UNKNOWN: ExitCode.INCONCLUSIVE,
}


@dataclass(frozen=True, slots=True)
class Induction:
    """The decisions about one scenario or mutant, the one about run-time errors last.

    `left_out` names the properties that were asked about and are of a kind that induction does not decide.
    """

    file: SpecificationFile
    claim: Scenario
    system: TransitionSystem
    decisions: tuple[Decision, ...]
    left_out: tuple[str, ...]
    seconds: float

    @property
    def not_covered(self) -> tuple[str, ...]:
        """What the decisions leave open."""
        properties = self.system.specification.properties
        asked = [properties[each.name] for each in self.decisions if each.name]
        names = ", ".join(self.left_out)
        ways = f"ways to a goal, which `killpoint check` looks for: {names}"
        open_ = left_open(self.claim, self.system, [*asked, *(properties[name] for name in self.left_out)])
        return (*([ways] if self.left_out else []), *open_)


# --- Lines ---


def induction_lines(result: Induction, code: ExitCode, width: int) -> Iterator[Line]:
    """Yield what was found: a line for each claim, then traces, then what all this rests on.

    A witness of what is possible is shown only to somebody who asks about nothing else.
    """
    claim, system = result.claim, result.system
    kind = "mutant" if claim.mutant else "scenario"
    yield (("title", f"{result.file.specification.name}: {kind} {claim.name}, {_reach(result)}"),)
    items: list[Line] = [(("dim", item),) for item in (result.file.source.file, *system_items(system))]
    yield from flowed((), items, width=width)
    yield ()
    named = [decision for decision in result.decisions if decision.name or decision.verdict is not Verdict.HOLDS]
    longest = max((len(_shown_name(decision)) for decision in named), default=0)
    for decision in named:
        yield from _decision(result, decision, longest, width)
    yield ()
    for decision in named:
        yield from _evidence(result, decision, width)
    if claim.because and claim.breaks:
        yield from remark_lines("because", claim.because, width)
    for heading, sentences in (("assumed", assumed(system)), ("not covered", result.not_covered)):
        if sentences:
            yield from remark_lines(heading, "; ".join(sentences), width, "dim")
    style, sign = mark(code)
    yield ()
    yield ((style, f"{sign} {_outcome(code)}"), ("dim", f"  {result.seconds:.1f} s"))


def _reach(result: Induction) -> str:
    names = ", ".join(variable.name for variable in result.system.naturals)
    return f"for any value of {names}" if names else "by induction"


def _outcome(code: ExitCode) -> str:
    match code:
        case ExitCode.AS_DECLARED:
            return "everything as declared"
        case ExitCode.INCONCLUSIVE:
            return "not everything is decided"
        case ExitCode.VACUOUS:
            return "something is never reached"
        case ExitCode.BAD_INPUT:
            return "the specification errs"
        case _:
            return "not as declared"


def _shown_name(decision: Decision) -> str:
    return decision.name or "(no run-time error)"


def _decision(result: Induction, decision: Decision, longest: int, width: int) -> Iterator[Line]:
    declared = decision.name in result.claim.breaks
    as_said = decision.verdict is Verdict.VIOLATED and declared
    style, sign = mark(ExitCode.AS_DECLARED if as_said else _MARKS.get(decision.verdict, ExitCode.NOT_AS_DECLARED))
    head: Line = ((style, f"{sign} "), ("name", _shown_name(decision)))
    start = (*aligned(aligned(head, longest + 4), longest + 4), (style, f"{decision.verdict.value:<10}"))
    words = decision.how
    if decision.lemmas:
        words += f", together with {', '.join(decision.lemmas)}"
    yield from flowed(start, sentence("", words), width=width, rest=blank(longest + 14), gap=" ")


def _evidence(result: Induction, decision: Decision, width: int) -> Iterator[Line]:
    alone = len(result.decisions) <= 2
    if decision.finding is not None and (alone or decision.verdict is not Verdict.HOLDS):
        yield (("heading", _shown_name(decision)),)
        yield from trace_lines(result.system, decision.finding, _conclusion(result, decision), width)
        if decision.finding.error is not None:
            yield from error_lines(decision.finding.error, result.file.source)
        yield ()
    if decision.gap is not None:
        yield from _gap(result.system, decision, decision.gap, width)
        yield ()


def _conclusion(result: Induction, decision: Decision) -> Conclusion:
    assert decision.finding is not None
    error = decision.finding.error
    if error is not None:
        return Conclusion(good=False, message=f"{error.code.number}: {error.message}")
    return Conclusion(decision.verdict is Verdict.HOLDS, conclusion_of(_report(result, decision)))


def _gap(system: TransitionSystem, decision: Decision, gap: Gap, width: int) -> Iterator[Line]:
    """Yield the states that a proof would have to exclude."""
    name = _shown_name(decision)
    before = "in this state everything is true" if gap.length < 2 else f"so it is in {gap.length} states up to this one"
    yield (("heading", name), ("", f" does not follow: {before}, and no run may ever come here"))
    state: list[Line] = [
        ((("dim", f"{slot.name}="), ("", shown_value(value))))
        for slot, value in zip(system.slots, gap.trace.initial, strict=True)
    ]
    yield from flowed(blank(4), state, width=width, rest=blank(4))
    message = f"and here {name} breaks: a property that excludes the state above would be a lemma"
    yield from trace_lines(system, Finding(len(gap.trace), gap.trace), Conclusion(good=False, message=message), width)


# --- JSON ---


def induction_document(result: Induction) -> Document:
    """Return the decisions about a claim."""
    claim, system = result.claim, result.system
    return {
        "name": claim.name,
        "mutant": claim.mutant,
        "variant": claim.variant,
        "sha256": claim_hash(result.file.source, claim, system),
        **system_document(system),
        "endless": [variable.key for variable in system.naturals],
        "declared": list(claim.breaks),
        "because": claim.because,
        "properties": [_decided(result, each) for each in result.decisions if each.name],
        "errors": _errors(result),
        "assumed": list(assumed(system)),
        "not_covered": list(result.not_covered),
    }


def _report(result: Induction, decision: Decision) -> PropertyReport:
    """Return a decision in the form in which explorations are told."""
    claimed = result.system.specification.properties[decision.name]
    return PropertyReport(
        name=decision.name,
        kind=decision.kind,
        verdict=decision.verdict,
        declared=decision.name in result.claim.breaks,
        finding=decision.finding,
        assumed=assumed_by(claimed),
        not_covered=not_covered_by(claimed),
    )


def _decided(result: Induction, decision: Decision) -> Document:
    return {**property_document(result.system, _report(result, decision)), **_means(result, decision)}


def _means(result: Induction, decision: Decision) -> Document:
    gap = decision.gap
    return {
        "how": decision.how,
        "lemmas": list(decision.lemmas),
        "searched": decision.searched if decision.searched >= 0 else None,
        "gap": None
        if gap is None
        else {"states": gap.length, "trace": trace_document(result.system, Finding(len(gap.trace), gap.trace))},
    }


def _errors(result: Induction) -> Document:
    """Return whether run-time errors are excluded."""
    (decision,) = (each for each in result.decisions if not each.name)
    finding = decision.finding
    diagnostic = None
    if finding is not None and finding.error is not None:
        error = finding.error
        diagnostic = diagnostic_document(Diagnostic(error.code, error.message, error.span))
    return {
        "verdict": decision.verdict.value,
        "diagnostic": diagnostic,
        "trace": None if finding is None else trace_document(result.system, finding),
        **_means(result, decision),
    }

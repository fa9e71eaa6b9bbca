"""What came of killing an implementation: for people, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checker.conformance.killing import Failed, Kill, Tally
from checker.conformance.scenarios import Gate, Killed
from checker.exploration import Finding
from checker.identity import claim_hash
from checker.reporting.documents import system_document, trace_document
from checker.reporting.envelope import Document
from checker.reporting.lanes import Conclusion, trace_lines
from checker.reporting.output import Line, aligned, blank, flowed, sentence
from model.source import Source
from model.system import TransitionSystem


def killed_lines(killed: Killed, width: int) -> Iterator[Line]:
    """Yield what came of one scenario."""
    doubtful = killed.cut or killed.blind
    style, sign = ("bad", "✗") if killed.refuted else ("doubt", "?") if doubtful else ("good", "✓")
    defect = f", with {killed.defect}" if killed.defect else ""
    yield ((style, f"  {sign} "), ("name", killed.claim.name), ("dim", defect))
    names = [*killed.errands, *(["altogether"] if len(killed.errands) > 1 else [])]
    column = max(map(len, ["errand", *names])) + 8
    heading = f"{'runs':>7}  {'kills':>7}  {'pairs':>7}  {'processes':>9}  {'transitions':>11}"
    yield (*aligned((("dim", "      errand"),), column), ("dim", heading))
    for name in names:
        yield (*aligned((("", f"      {name}"),), column), ("", _numbers(killed.errands.get(name) or killed.total)))
    yield ()
    for heading, text, shown in _remarks(killed):
        start = aligned((("", "      "), ("dim", heading)), 20)
        yield from flowed(start, sentence(shown, text), width=width, rest=blank(20), gap=" ")
    if killed.failed is not None:
        yield ()
        yield from failed_lines(killed.system, killed.failed, width)


def _numbers(tally: Tally) -> str:
    numbers = f"{tally.runs:>7,}  {tally.kills:>7,}  {tally.pairs:>7,}  {tally.processes:>9,}"
    return f"{numbers}  {tally.transitions:>11,}"


def _remarks(killed: Killed) -> Iterator[tuple[str, str, str]]:
    total = killed.total
    if total.most:
        yield "counted", "; ".join(f"{name} at most {most} in a run" for name, most in total.most.items()), ""
    if killed.blind:
        yield "observed", "nothing at all, so that of all this only the order of kill points was compared", "doubt"
    if killed.gate is not None:
        yield from _gate_remarks(killed.gate)
    if killed.cut:
        yield "cut short", f"{killed.cut}; kill points that were not come by so far are not judged", "doubt"


def _gate_remarks(gate: Gate) -> Iterator[tuple[str, str, str]]:
    came_by = len(gate.model) - len(gate.never_reached) - len(gate.excused)
    yield "kill points", f"{came_by} of the model's {len(gate.model)} come by", ""
    for point, reason in gate.excused.items():
        yield "", f"{point} never: {reason}", ""
    if gate.never_reached:
        yield "", f"never come by: {', '.join(gate.never_reached)}", "bad"
    for point in gate.stale:
        yield "", f"{point} is come by, or no kill point, and the adapter has a reason why it is not come by", "bad"


def failed_lines(system: TransitionSystem, failed: Failed, width: int) -> Iterator[Line]:
    """Yield a run that is none of the model: as far as the model goes, and what then is different."""
    where = "killed " + ", then ".join(map(kill_text, failed.kills)) if failed.kills else "killed nowhere"
    text = f"errand {failed.errand}, {where}. As far as it is a run of the model:"
    yield from flowed((), sentence("", text), width=width, rest=(), gap=" ")
    broken = (
        f"{', '.join(failed.broken)} {'is' if len(failed.broken) == 1 else 'are'} false here: " if failed.broken else ""
    )
    first, _, rest = failed.message.partition("\n")
    yield from trace_lines(
        system, Finding(len(failed.trace), failed.trace), Conclusion(False, f"{broken}{first}"), width
    )
    for line in rest.splitlines():
        yield (("dim", f"    {line}"),)


def kill_text(kill: Kill) -> str:
    """Write down in a few words where a process was killed."""
    return f"at {kill.point} (kill point {kill.visit}{' of the recovery' * kill.again})"


def caught_text(killed: Killed) -> str:
    """Say in one sentence what is wrong with an implementation."""
    failed = killed.failed
    if failed is None:
        assert killed.gate is not None
        return f"never comes by {', '.join(killed.gate.never_reached)}"
    where = f"killed {', then '.join(map(kill_text, failed.kills))}, " if failed.kills else ""
    broken = f" ({', '.join(failed.broken)} break{'s' * (len(failed.broken) == 1)})" if failed.broken else ""
    # Of a process that broke off: that it did, and what it raised.
    message = " ".join(dict.fromkeys([failed.message.splitlines()[0], failed.message.splitlines()[-1]]))
    return f"{killed.claim.name}, {failed.errand}: {where}{message}{broken}"


def killed_document(source: Source, killed: Killed) -> Document:
    """Return what came of one scenario, all of it the same in every run."""
    total = killed.total
    return {
        "name": killed.claim.name,
        "sha256": claim_hash(source, killed.claim, killed.system),
        **system_document(killed.system),
        "defect": killed.defect,
        "refuted": killed.refuted,
        "cut": killed.cut,
        "errands": [{"name": name, **_tally(tally)} for name, tally in killed.errands.items()],
        "killed_at": dict(sorted(total.killed_at.items())),
        "counted": {name: {"most": most, "total": total.total.get(name, 0)} for name, most in total.most.items()},
        "kill_points": None if killed.gate is None else _gate(killed.gate),
        "failed": None if killed.failed is None else _failed(killed.system, killed.failed),
    }


def _tally(tally: Tally) -> Document:
    return {
        "runs": tally.runs,
        "kills": tally.kills,
        "pairs": tally.pairs,
        "processes": tally.processes,
        "transitions": tally.transitions,
    }


def _gate(gate: Gate) -> Document:
    return {
        "model": list(gate.model),
        "never_reached": list(gate.never_reached),
        "excused": dict(gate.excused),
        "stale": list(gate.stale),
    }


def _failed(system: TransitionSystem, failed: Failed) -> Document:
    return {
        "errand": failed.errand,
        "kills": _kills(failed.kills),
        "message": failed.message,
        "broken": list(failed.broken),
        "trace": trace_document(system, Finding(len(failed.trace), failed.trace)),
    }


def _kills(kills: Sequence[Kill]) -> list[Document]:
    return [
        {"process": kill.process, "instance": kill.instance, "point": kill.point, "visit": kill.visit} for kill in kills
    ]

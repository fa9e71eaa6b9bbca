"""What `prove` and `recheck` say of certificates, to people, as JSON, and in `reports/proofs.md`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from checker.certificates.certificate import STATES_MAX
from checker.certificates.rechecking import Outcome, Rechecked
from checker.judgement import ScenarioReport, with_proofs
from checker.reporting.envelope import Document
from checker.reporting.markdown import cell
from checker.reporting.output import Line, blank, flowed, sentence
from checker.verdict import ExitCode

_NAME_WIDTH = 44
_LISTED_MAX = 8
_HASH_SHOWN = 12


@dataclass(frozen=True, slots=True)
class ProofReport:
    """A scenario as `prove` has left it: how it came out, and its certificate or the reason why there is none."""

    report: ScenarioReport
    sha256: str
    """The hash of what a certificate of it is about."""
    found: Rechecked | None
    reason: str = ""
    seconds: float = 0.0

    @property
    def proved(self) -> ScenarioReport:
        """The report, with what the certificate shows called `proved`."""
        shown = self.found.shown if self.found is not None and self.found.proves() else ()
        return with_proofs(self.report, shown)

    @property
    def exit_code(self) -> ExitCode:
        """A certificate of ours that is refuted means that two readings of the specification disagree."""
        if self.found is None:
            code = self.report.exit_code
            return code if code is not ExitCode.AS_DECLARED else ExitCode.INCONCLUSIVE
        return {
            Outcome.ACCEPTED: ExitCode.AS_DECLARED,
            Outcome.INCONCLUSIVE: ExitCode.INCONCLUSIVE,
            Outcome.REFUTED: ExitCode.DISAGREEMENT,
            Outcome.UNREADABLE: ExitCode.INTERNAL,
        }[self.found.outcome]


# --- For people ---


def certificate_lines(found: Rechecked, width: int) -> Iterator[Line]:
    """Yield what came of checking a certificate again."""
    style, sign = _MARKS[found.outcome]
    start: Line = (
        (style, f"  {sign} "),
        ("name", f"{found.folder:<{_NAME_WIDTH}}"),
        (style, f"  {found.outcome.value}"),
    )
    if found.unreadable:
        yield from flowed((*start, ("", ": ")), sentence("", found.unreadable), width=width, rest=blank(6), gap=" ")
        return
    size = f"{found.states:,} states  {found.nodes:,} nodes" if found.nodes else found.means
    yield (
        *start,
        ("", f"  {size}  {found.obligations} obligations"),
        ("dim", f"  {', '.join(found.refused)}"),
    )
    yield from _remarks(found, width)


def proof_lines(each: ProofReport, width: int) -> Iterator[Line]:
    """Yield what came of making a certificate."""
    if each.found is not None:
        yield from certificate_lines(each.found, width)
        return
    start: Line = (("doubt", "  ? "), ("name", f"{each.report.name:<{_NAME_WIDTH}}"), ("doubt", "  no certificate: "))
    yield from flowed(start, sentence("", each.reason), width=width, rest=blank(6), gap=" ")


def _remarks(found: Rechecked, width: int) -> Iterator[Line]:
    for difference in found.differences[:_LISTED_MAX]:
        yield from flowed(blank(6), sentence("bad", difference), width=width, rest=blank(8), gap=" ")
    if len(found.differences) > _LISTED_MAX:
        yield (("bad", f"      and {len(found.differences) - _LISTED_MAX} more differences"),)
    for solver, answers in found.refused.items():
        for name, answer in list(answers.items())[:_LISTED_MAX]:
            yield (("bad", f"      {solver} says {answer.value}: {name}"),)
    if found.not_shown:
        reasons: dict[str, list[str]] = {}
        for name, reason in found.not_shown.items():
            reasons.setdefault(reason, []).append(name)
        text = "; ".join(f"{', '.join(names)} ({reason})" for reason, names in reasons.items())
        yield from flowed(blank(6), sentence("dim", f"not covered: {text}"), width=width, rest=blank(8), gap=" ")


_MARKS = {
    Outcome.ACCEPTED: ("good", "✓"),
    Outcome.INCONCLUSIVE: ("doubt", "?"),
    Outcome.REFUTED: ("bad", "✗"),
    Outcome.UNREADABLE: ("bad", "✗"),
}


# --- For programs ---


def certificate_document(found: Rechecked) -> Document:
    """Return what came of checking a certificate again."""
    return {
        "folder": found.folder,
        "outcome": found.outcome.value,
        "unreadable": found.unreadable,
        "specification": found.specification,
        "scenario": found.scenario,
        "sha256": found.sha256,
        "means": found.means,
        "states": found.states,
        "nodes": found.nodes,
        "obligations": found.obligations,
        "obligations_sha256": found.digest,
        "shown": list(found.shown),
        "not_shown": dict(found.not_shown),
        "differences": list(found.differences),
        "solvers": {
            solver: {"refused": {name: answer.value for name, answer in refused.items()}}
            for solver, refused in found.refused.items()
        },
    }


def proof_document(each: ProofReport) -> Document:
    """Return what came of making a certificate; `certificate` is null where there is none."""
    return {
        "scenario": each.report.name,
        "verdict": each.proved.verdict.value,
        "exit_code": int(each.exit_code),
        "reason": each.reason,
        "certificate": None if each.found is None else certificate_document(each.found),
        "seconds": round(each.seconds, 3),
    }


# --- The record ---


def proofs_markdown(command: str, files: Mapping[str, tuple[str, Sequence[ProofReport]]]) -> str:
    """Return the record of proofs; `files` has by name the title and what came of each scenario.

    The same specifications give the same record, wherever and however often it is made.
    """
    return "\n".join(_proof_lines(command, files)) + "\n"


def _proof_lines(command: str, files: Mapping[str, tuple[str, Sequence[ProofReport]]]) -> Iterator[str]:
    everything = [each for _, proofs in files.values() for each in proofs]
    certified = [each for each in everything if each.found is not None and each.found.proves()]
    obligations = sum(each.found.obligations for each in certified if each.found is not None)
    yield "# What was proved"
    yield ""
    yield f"Made by `{command}`; do not edit. {len(certified)} of {len(everything)} scenarios have a certificate;"
    yield f"Z3 and cvc5 both confirm its obligations, together {obligations:,}."
    yield "[docs/proofs.md](../docs/proofs.md) says what that means."
    yield ""
    yield "*Shown* are properties that hold and that the certificate covers; a scenario is *proved* where these are all"
    yield "that it asks about. *By* is the size of the invariant, a decision diagram of the reachable states; where"
    yield "numbers have no end, it is induction, for all of them. The hashes are those of scenario and obligations."
    yield f"With more than {STATES_MAX:,} states a scenario has no certificate and stays `holds`; its row says so."
    for name, (title, proofs) in files.items():
        yield ""
        yield f"## {cell(title)}"
        yield ""
        yield f"`{name}`"
        yield ""
        yield "| Scenario | Verdict | States | By | Obligations | Shown | Not covered | Scenario | Obligations |"
        yield "|---|---|--:|---|--:|---|---|---|---|"
        yield from (_row(each) for each in proofs)


def _row(each: ProofReport) -> str:
    found, report = each.found, each.proved
    states = "without end" if report.exploration.system.naturals else f"{report.exploration.states:,}"
    start = [report.name, report.verdict.value, states]
    if found is None:
        cells = [*start, "", "", "", each.reason, each.sha256[:_HASH_SHOWN], ""]
    else:
        remark = "" if found.outcome is Outcome.ACCEPTED else f"{found.outcome.value}; "
        cells = [
            *start,
            f"{found.nodes:,} nodes" if found.nodes else found.means,
            str(found.obligations),
            ", ".join(found.shown),
            remark + ", ".join(found.not_shown),
            each.sha256[:_HASH_SHOWN],
            found.digest[:_HASH_SHOWN],
        ]
    return f"| {' | '.join(cell(text) for text in cells)} |".replace("|  |", "| |").replace("|  |", "| |")

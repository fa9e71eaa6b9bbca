"""The page of one file, and the index of several."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from checker.identity import claim_hash, file_hash
from checker.judgement import PropertyReport, ScenarioReport
from checker.matrix import Course
from checker.reporting.claims import ShownTrace, fault_assumptions, mark, setting_items
from checker.reporting.crosschecks import compared_text
from checker.reporting.envelope import MEANING, Document
from checker.reporting.exports.wording import KINDS, Wrong, wrong_in
from checker.reporting.html.heatmap import Play, heat_map
from checker.reporting.html.rendering import rendered
from checker.reporting.html.runs import Runs, runs_of
from checker.results import CheckedFile, exit_code_of
from checker.verdict import ExitCode, Verdict
from model.diagnostics import Diagnostic

_SIGN_OF = {
    Verdict.PROVED: ("good", "✓"),
    Verdict.HOLDS: ("good", "✓"),
    Verdict.BOUNDED: ("doubt", "≤"),
    Verdict.VIOLATED: ("bad", "✗"),
    Verdict.UNKNOWN: ("doubt", "?"),
    Verdict.VACUOUS: ("doubt", "∅"),
    Verdict.ERROR: ("bad", "!"),
}


@dataclass(frozen=True, slots=True)
class Proof:
    """A certificate that was checked again: the hash of its obligations, and the solvers that confirmed them."""

    obligations: str
    solvers: tuple[str, ...]


Cells = Mapping[tuple[Course, str], ShownTrace]
"""The runs of the cells of a matrix by what breaks; under an empty name that in which nothing does, or a failure."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What a page shows beside the claims: documents as with `--json`; None for what was not asked for."""

    tables: Document | None = None
    graph: str = ""
    """An SVG, or empty where there is none."""
    why_no_graph: str = ""
    why_no_tables: str = ""
    matrix: Document | None = None
    cells: Cells = field(default_factory=dict)
    unbroken: tuple[str, ...] = ()
    """The properties of the matrix that hold with any number of crashes anywhere."""
    sweep: Document | None = None
    no_view: bool = False
    """Whether the file declares no view to draw a graph through."""
    no_sweep: bool = False
    """Whether the file declares nothing to sweep."""
    mutation: Document | None = None
    proofs: Mapping[str, Proof] = field(default_factory=dict)
    """By scenario."""


def page_text(checked: CheckedFile, parts: Parts, command: str) -> str:
    """Return the page of a file."""
    report = checked.report
    runs = runs_of(checked)
    first = report.scenarios[0].name if report.scenarios else ""
    heat = None if parts.matrix is None else heat_map(parts.matrix, parts.unbroken, _player(parts, runs))
    return rendered(
        "page.html",
        {
            "title": report.title or report.protocol,
            "protocol": report.protocol,
            "file": report.file,
            "quoted": shlex.quote(report.file),
            "sha256": file_hash(checked.file.source),
            "command": command,
            "banner": _banner([checked]),
            "narrowed": report.narrowed,
            "wrong": [_wrong(each, runs) for each in wrong_in(checked)],
            "scenarios": [_claim(checked, each, runs, parts) for each in report.scenarios],
            "mutants": [_claim(checked, each, runs, parts) for each in report.mutants],
            "caveats": _caveats(checked),
            "teeth": report.teeth,
            "warnings": [f"{each.code.number} {each.message}" for each in checked.file.warnings],
            "runs": runs.document(),
            "first": first,
            "parts": parts,
            "heat": heat,
            "agreement": "" if checked.compared is None else compared_text(checked.compared),
        },
    )


def _player(parts: Parts, runs: Runs) -> Play:
    """Return what puts the run of a cell on the page, and says where it is."""
    assert parts.matrix is not None
    claim = str(parts.matrix["scenario"])

    def play(course: Course, name: str) -> int | None:
        shown = parts.cells.get((course, name))
        return None if shown is None else runs.add_cell(shown, claim)

    return play


def index_text(pages: Mapping[str, CheckedFile]) -> str:
    """Return the index of several pages, by their names."""
    rows = [
        {
            "href": name,
            "title": each.report.title or each.report.protocol,
            "file": each.report.file,
            **_outcome(each.exit_code),
            "scenarios": len(each.report.scenarios),
            "mutants": len(each.report.mutants),
            "states": sum(claim.exploration.states for claim in each.claims),
        }
        for name, each in pages.items()
    ]
    return rendered("index.html", {"banner": _banner(list(pages.values())), "rows": rows, "title": "killpoint"})


def refused_text(diagnostics: Sequence[Diagnostic]) -> str:
    """Return a page that says that the input was refused, and why."""
    return rendered("refused.html", {"diagnostics": [str(each) for each in diagnostics], "title": "refused"})


def _banner(checked: Sequence[CheckedFile]) -> dict[str, Any]:
    claims = [claim for each in checked for claim in each.claims]
    odd = sum(claim.exit_code is not ExitCode.AS_DECLARED for claim in claims)
    return {
        **_outcome(exit_code_of(checked)),
        "files": len(checked),
        "scenarios": sum(len(each.report.scenarios) for each in checked),
        "mutants": sum(len(each.report.mutants) for each in checked),
        "states": sum(claim.exploration.states for claim in claims),
        "odd": odd,
    }


def _outcome(code: ExitCode) -> dict[str, str]:
    style, sign = mark(code)
    return {"style": style, "sign": sign, "meaning": MEANING[code]}


def _wrong(wrong: Wrong, runs: Runs) -> dict[str, Any]:
    claim = wrong.claim.name if wrong.claim is not None else ""
    run = None if wrong.shown is None else runs.places.get((claim, wrong.shown.property))
    return {"message": wrong.message, "place": str(wrong.span), "run": run, "means": KINDS[wrong.kind]}


def _claim(checked: CheckedFile, report: ScenarioReport, runs: Runs, parts: Parts) -> dict[str, Any]:
    claim = checked.claim(report)
    verdict_style, verdict_sign = _SIGN_OF[report.verdict]
    return {
        "name": report.name,
        **_outcome(report.exit_code),
        "verdict": report.verdict.value,
        "verdict_style": verdict_style,
        "verdict_sign": verdict_sign,
        "states": report.exploration.states,
        "depth": report.exploration.depth,
        "transitions": report.exploration.transitions,
        "cut": report.exploration.cut,
        "broken": [_broken(report, each, runs) for each in report.properties if each.broken],
        "failure": runs.places.get((report.name, "")),
        "properties": [_property(report, each, runs) for each in report.properties],
        "settings": setting_items(claim),
        "parameters": [one for one in report.assumed if one not in fault_assumptions(report)],
        "because": report.because,
        "survives": report.survives,
        "problems": [problem.message for problem in report.problems],
        "assumed": list(fault_assumptions(report)),
        "not_covered": list(report.not_covered),
        "sha256": claim_hash(checked.file.source, claim, report.exploration.system),
        "proof": None if report.mutant else parts.proofs.get(report.name),
    }


def _broken(report: ScenarioReport, asked: PropertyReport, runs: Runs) -> dict[str, Any]:
    length = "never reached" if asked.finding is None else str(len(asked.finding.trace))
    run = runs.places.get((report.name, asked.name))
    return {"name": asked.name, "length": length, "run": run, "declared": asked.declared}


def _property(report: ScenarioReport, asked: PropertyReport, runs: Runs) -> dict[str, Any]:
    style, sign = _SIGN_OF[asked.verdict]
    return {
        "name": asked.name,
        "kind": asked.kind.value,
        "verdict": asked.verdict.value,
        "style": style,
        "sign": sign,
        "run": runs.places.get((report.name, asked.name)),
        "caveats": [*asked.assumed, *(f"not covered: {one}" for one in asked.not_covered)],
    }


def _caveats(checked: CheckedFile) -> list[tuple[str, list[tuple[str, int]]]]:
    """Return what claims assume and do not cover, each with the number of claims; what all have in common first."""
    return [
        ("Not covered", _counted(report.not_covered for report in checked.claims)),
        ("Assumed", _counted(fault_assumptions(report) for report in checked.claims)),
    ]


def _counted(sentences: Iterator[tuple[str, ...]]) -> list[tuple[str, int]]:
    return Counter(one for each in sentences for one in each).most_common()

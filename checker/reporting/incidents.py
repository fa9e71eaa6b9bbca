"""`reports/incidents.md`: specifications of real failures, by the pattern of their flaw."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from checker.judgement import ScenarioReport
from checker.reporting.claims import fault_items
from checker.reporting.findings import Answer, answers_of, outcome
from checker.reporting.markdown import cell, inline
from checker.results import CheckedFile


def incidents_markdown(command: str, files: Sequence[tuple[str, CheckedFile]]) -> str:
    """Return all files that are about a pattern as Markdown; each comes with the name under which it is known."""
    return "\n".join(_lines(command, files)) + "\n"


def _lines(command: str, files: Sequence[tuple[str, CheckedFile]]) -> Iterator[str]:
    answers = [(name, answer) for name, checked in files for answer in answers_of(checked)]
    yield "# Real failures, and what would have prevented them"
    yield ""
    yield f"Made by `{command}` from the specifications that name a `pattern`; do not edit."
    yield ""
    yield "The faults are the smallest set that breaks it: without one of them, or one time fewer, it holds. States"
    yield "and steps are those of the scenario that shows the failure; steps are the transitions of its shortest trace."
    yield ""
    yield "| Pattern | Failure | States | Steps | Faults it takes | Fixed by | Not fixed by |"
    yield "|---|---|--:|--:|---|---|---|"
    for name, answer in answers:
        yield _row(name, answer)
    for pattern, group in groupby(answers, key=lambda one: one[1].checked.file.pattern):
        yield ""
        yield f"## {inline(pattern)}"
        for name, answer in group:
            yield from _answer_lines(name, answer)


def _row(name: str, answer: Answer) -> str:
    file, shown = answer.checked.file, answer.shown_by
    cells = [
        cell(file.pattern),
        f"[{cell(file.specification.title)}](../{name})",
        ", ".join(f"{report.exploration.states:,}" for report in shown),
        "" if answer.steps is None else str(answer.steps),
        ", ".join(cell(_faults(report)) for report in shown) or "none",
        ", ".join(f"`{report.name}`" for report in answer.repaired_by) or "nothing here",
        ", ".join(f"`{report.name}`" for report in answer.not_repaired_by),
    ]
    return f"| {' | '.join(cells)} |".replace("|  |", "| |")


def _faults(report: ScenarioReport) -> str:
    """Return what the scenario allows, in a few words."""
    return ", ".join(fault_items(report.exploration.system, only_allowed=True)) or "none"


def _answer_lines(name: str, answer: Answer) -> Iterator[str]:
    file, question = answer.checked.file, answer.question
    yield ""
    yield f"### {inline(file.specification.title)}"
    yield ""
    yield f"[{inline(name)}](../{name}), after {', '.join(f'<{source}>' for source in file.sources)}"
    yield ""
    yield f"{inline(question.asks)} {inline(question.lesson or question.unanswered)}"
    yield ""
    for report in answer.shown_by:
        yield f"- Takes {inline(_faults(report))}: {outcome(report)}"
    for heading, reports in (("Fixed by", answer.repaired_by), ("Not fixed by", answer.not_repaired_by)):
        for report in reports:
            yield f"- {heading} `{report.name}`: {outcome(report)}"

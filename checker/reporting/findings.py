"""`reports/findings.md`: the questions that specifications ask, with the answers that came out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from checker.judgement import PropertyReport, ScenarioReport
from checker.reporting.claims import bound_items, fault_items, setting_items
from checker.reporting.envelope import Document
from checker.reporting.markdown import cell, inline
from checker.results import CheckedFile
from checker.verdict import ExitCode, Verdict
from model.specification import Question

_WORST_FIRST = (
    Verdict.ERROR,
    Verdict.UNKNOWN,
    Verdict.VIOLATED,
    Verdict.VACUOUS,
    Verdict.BOUNDED,
    Verdict.HOLDS,
)


@dataclass(frozen=True, slots=True)
class Answer:
    """A question, and how the scenarios and mutants came out that it speaks of."""

    question: Question
    checked: CheckedFile

    @property
    def shown_by(self) -> tuple[ScenarioReport, ...]:
        """How those came out that are the answer."""
        return self._reports(self.question.shown_by)

    @property
    def repaired_by(self) -> tuple[ScenarioReport, ...]:
        """How the repairs came out."""
        return self._reports(self.question.repaired_by)

    @property
    def not_repaired_by(self) -> tuple[ScenarioReport, ...]:
        """How those came out that only look like repairs."""
        return self._reports(self.question.not_repaired_by)

    @property
    def verdict(self) -> str:
        """The answer in one word; where the scenarios differ it is the worst that names them all."""
        if self.question.unanswered:
            return "not sayable"
        reports = self.shown_by
        if any(report.exit_code is not ExitCode.AS_DECLARED for report in reports):
            return "not as declared"
        verdicts = {report.verdict for report in reports}
        return next(verdict.value for verdict in _WORST_FIRST if verdict in verdicts)

    @property
    def steps(self) -> int | None:
        """The length of the shortest trace that breaks something in the answer; None where nothing has a trace."""
        lengths = (length for report in self.shown_by for _, length in _broken(report))
        return min((length for length in lengths if length is not None), default=None)

    def _reports(self, names: Sequence[str]) -> tuple[ScenarioReport, ...]:
        by_name = {report.name: report for report in self.checked.claims}
        return tuple(by_name[name] for name in names)


def answers_of(checked: CheckedFile) -> tuple[Answer, ...]:
    """Return the questions of a file that was checked as a whole."""
    return tuple(Answer(question, checked) for question in checked.file.questions.values())


def answer_document(answer: Answer) -> Document:
    """Return a question and its answer as JSON."""
    question = answer.question
    return {
        "name": question.name,
        "asks": question.asks,
        "verdict": answer.verdict,
        "steps": answer.steps,
        "lesson": question.lesson,
        "shown_by": list(question.shown_by),
        "repaired_by": list(question.repaired_by),
        "not_repaired_by": list(question.not_repaired_by),
        "unanswered": question.unanswered,
    }


def findings_markdown(command: str, files: Sequence[tuple[str, CheckedFile]]) -> str:
    """Return all findings as Markdown; each file comes with the name under which it is known."""
    return "\n".join(_lines(command, files)) + "\n"


def _lines(command: str, files: Sequence[tuple[str, CheckedFile]]) -> Iterator[str]:
    yield "# What was asked, and what came out"
    yield ""
    yield f"Made by `{command}` from the `questions` of the specifications; do not edit."
    yield ""
    yield "Each scenario was explored to the end. Steps are the transitions of a shortest trace; `killpoint trace FILE"
    yield "--scenario NAME` shows it."
    for name, checked in files:
        answers = answers_of(checked)
        if answers:
            yield from _file_lines(name, checked, answers)


def _file_lines(name: str, checked: CheckedFile, answers: Sequence[Answer]) -> Iterator[str]:
    report = checked.report
    yield ""
    yield f"## {inline(report.title or report.protocol)}"
    yield ""
    yield f"`{name}`"
    yield ""
    yield "| Question | Verdict | Steps | Lesson |"
    yield "|---|---|--:|---|"
    for answer in answers:
        question = answer.question
        steps = "" if answer.steps is None else str(answer.steps)
        cells = [question.name, answer.verdict, steps, question.lesson or question.unanswered]
        yield f"| {' | '.join(cell(text) for text in cells)} |".replace("|  |", "| |")
    for answer in answers:
        yield from _answer_lines(answer)


def _answer_lines(answer: Answer) -> Iterator[str]:
    question = answer.question
    yield ""
    yield f"### {inline(question.name)}: {inline(question.asks)}"
    yield ""
    if question.unanswered:
        yield f"The model cannot say: {inline(question.unanswered)}"
        return
    yield f"{inline(question.lesson)}"
    yield ""
    groups = (
        ("Shown by", answer.shown_by),
        ("Repaired by", answer.repaired_by),
        ("Not repaired by", answer.not_repaired_by),
    )
    for heading, reports in groups:
        for report in reports:
            yield f"- {heading} `{report.name}`{_settings(answer.checked, report)}: {outcome(report)}"


def _settings(checked: CheckedFile, report: ScenarioReport) -> str:
    items = setting_items(checked.claim(report)) or ["as the file declares"]
    return f" ({inline('; '.join(items))})"


def outcome(report: ScenarioReport) -> str:
    """Return in a sentence, as Markdown, how a scenario or mutant came out."""
    problems = "; ".join(problem.message for problem in report.problems)
    if problems:
        return f"**not as declared**: {inline(problems)}"
    broken = list(_broken(report))
    if not broken:
        system = report.exploration.system
        limits = ", ".join([*fault_items(system), *bound_items(system)])
        verdict = report.verdict.value
        return f"{verdict} over {report.exploration.states:,} states{f' ({inline(limits)})' if limits else ''}"
    words = ", ".join(_broken_text(asked, length) for asked, length in broken)
    return f"{words}{f': {inline(report.because)}' if report.because else ''}"


def _broken_text(asked: PropertyReport, length: int | None) -> str:
    if length is None:
        return f"`{asked.name}` is never reached"
    return f"`{asked.name}` breaks in {length} step{'s' * (length != 1)}"


def _broken(report: ScenarioReport) -> Iterator[tuple[PropertyReport, int | None]]:
    for asked in report.properties:
        if asked.broken:
            yield asked, None if asked.finding is None else len(asked.finding.trace)

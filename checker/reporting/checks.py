"""What `check` says of a file, and of all files together, to people."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from checker.campaign import NAMED_MAX
from checker.judgement import ScenarioReport
from checker.reporting.claims import (
    ShownTrace,
    error_lines,
    fault_assumptions,
    lengths,
    mark,
    setting_items,
    shortest_surprise,
    surprises,
)
from checker.reporting.crosschecks import compared_text
from checker.reporting.diagnostics import diagnostic_lines
from checker.reporting.envelope import MEANING
from checker.reporting.output import Line, Piece, aligned, blank, cells, flowed, one_line, sentence
from checker.results import CheckedFile
from checker.teeth import Teeth, Unused
from checker.verdict import ExitCode

_NAME_WIDTH_MAX = 40
_NOTES_WIDTH_MIN = 40
_LISTED_MAX = 12
_CAVEATS_MAX = 4


def file_lines(checked: CheckedFile, width: int) -> Iterator[Line]:
    """Yield everything that is said of one file."""
    report = checked.report
    start: Line = (("title", report.file), ("", "  "))
    yield from flowed(start, sentence("", report.title or report.protocol), width=width, rest=blank(2), gap=" ")
    yield ()
    if checked.claims:
        yield from _table(checked, width)
    if report.not_run:
        yield from _paragraph("not run", _not_run(checked), width, "dim")
    yield from _surprise(checked, width)
    yield from _teeth(checked, width)
    yield from _caveats(checked.claims, width)
    yield from _paragraph("explored", _effort(checked), width)
    if checked.compared is not None:
        yield from _paragraph("compared", compared_text(checked.compared), width)


def _not_run(checked: CheckedFile) -> str:
    """Name the claims that were left out, or count them where they are many: whoever chose some knows of the others."""
    names = checked.report.not_run
    if len(names) <= NAMED_MAX:
        return ", ".join(names)
    mutants = sum(name in checked.file.mutants for name in names)
    counts = [(len(names) - mutants, "scenario"), (mutants, "mutant")]
    counted = ", ".join(f"{count} {word}{'s' * (count != 1)}" for count, word in counts if count)
    return f"{counted} (named by `--json`)"


# --- The table of scenarios and mutants ---


def _table(checked: CheckedFile, width: int) -> Iterator[Line]:
    names = max(len("scenario"), *(len(report.name) for report in checked.claims))
    name_width = min(_NAME_WIDTH_MAX, names)
    for heading, reports in (("scenario", checked.report.scenarios), ("mutant", checked.report.mutants)):
        if reports:
            yield (("dim", f"    {heading:<{name_width}}  {'verdict':<8}  {'states':>10}  {'depth':>5}"),)
            for report in reports:
                yield from _claim(checked, report, name_width, width)
            yield ()


def _claim(checked: CheckedFile, report: ScenarioReport, name_width: int, width: int) -> Iterator[Line]:
    style, sign = mark(report.exit_code)
    exploration = report.exploration
    start: Line = (
        (style, f"  {sign} "),
        *aligned((("name", report.name),), name_width),
        ("", "  "),
        (style, f"{report.verdict.value:<8}"),
        ("", f"  {exploration.states:>10,}  {exploration.depth:>5}  "),
    )
    notes = list(_notes(checked, report))
    beside = width - cells(start) >= _NOTES_WIDTH_MIN
    if not beside and notes:
        yield start
        start = blank(6)
    if report.problems:
        yield from flowed(start, notes, width=width, rest=blank(cells(start)))
    else:
        # What is as it should be takes a line, and what does not fit on it is in the file and in `--json`.
        yield one_line(start, notes, width=width)


def _notes(checked: CheckedFile, report: ScenarioReport) -> Iterator[Line]:
    style = mark(report.exit_code)[0]
    undeclared = tuple(surprises(report)) if report.problems else ()
    if undeclared:
        yield ((style, f"breaks undeclared: {', '.join(lengths(undeclared))}"),)
    said = {f"`{asked.name}` breaks, undeclared" for asked in undeclared}
    for problem in report.problems:
        if problem.message not in said:
            yield ((style, problem.message),)
    declared = tuple(asked for asked in report.properties if asked.declared and asked.broken)
    if declared:
        heading = "traces" if report.problems else "caught by" if report.mutant else "as declared"
        yield (("", f"{heading}: {', '.join(lengths(declared))}"),)
    elif report.survives and not report.problems:
        yield (("", "survives, as declared"),)
    if report.waiting is not None:
        yield (("doubt", f"can end waiting: {len(report.waiting.trace)}"),)
    for item in setting_items(checked.claim(report)):
        yield (("dim", item),)
    if report.name in checked.cached and len(checked.cached) < len(checked.claims):
        yield (("dim", "(cached)"),)


# --- What nobody declared ---


def _surprise(checked: CheckedFile, width: int) -> Iterator[Line]:
    shown = shortest_surprise(checked.file, checked.claims)
    if shown is None:
        return
    what = f"`{shown.property}` breaks, undeclared" if shown.property else "a run-time error"
    kind = "mutant" if shown.report.mutant else "scenario"
    steps = len(shown.finding.trace)
    yield (
        ("bad", "✗ "),
        ("title", f"{kind} {shown.report.name}: {what}, after {steps} transition{'s' * (steps != 1)}"),
    )
    yield ()
    yield from shown.lines(width)
    yield ()
    if shown.finding.error is not None:
        yield from error_lines(shown.finding.error, checked.file.source)
        yield ()
    yield from _commands(checked, shown, width)


def _commands(checked: CheckedFile, shown: ShownTrace, width: int) -> Iterator[Line]:
    """Yield the commands that show what else breaks undeclared."""
    others = [
        (report, asked.name)
        for report in checked.claims
        for asked in surprises(report)
        if asked.finding is not None and (report is not shown.report or asked.name != shown.property)
    ]
    if not others:
        return
    yield (("", f"{len(others)} more break{'s' * (len(others) == 1)} undeclared:"),)
    for report, name in others[:_LISTED_MAX]:
        option = "--mutant" if report.mutant else "--scenario"
        command = f"killpoint trace {shlex.quote(checked.report.file)} {option} {report.name} --property {name}"
        yield from flowed(blank(4), sentence("", command), width=width, rest=blank(8), gap=" ")
    if len(others) > _LISTED_MAX:
        yield (("dim", f"    and {len(others) - _LISTED_MAX} more"),)
    yield ()


# --- Teeth, caveats, effort ---


def _teeth(checked: CheckedFile, width: int) -> Iterator[Line]:
    teeth: Teeth = checked.report.teeth
    for diagnostic in teeth.diagnostics:
        yield from diagnostic_lines(diagnostic, {checked.file.source.file: checked.file.source})
        yield ()
    if teeth.why_not_judged:
        yield from _paragraph("in use", f"not judged ({teeth.why_not_judged})", width)
        return
    if teeth.tallies:
        tallies = [
            f"{tally.used} of {tally.total} {tally.kind.value}{'s' * (tally.total != 1)}" for tally in teeth.tallies
        ]
        yield from _paragraph("in use", ", ".join(tallies), width)
    for unused in teeth.unused:
        yield from _unused(unused, width)


def _unused(unused: Unused, width: int) -> Iterator[Line]:
    where = f" (variant {unused.variant})" if unused.variant else ""
    if unused.excuse:
        yield from _paragraph("", f"· {unused.name}{where} is never used: {unused.excuse}", width, "dim")
        return
    why = ", always behind an earlier row that matches" if unused.shadowed else ""
    place = unused.element.span
    yield from _paragraph("", f"✗ {unused.name}{where} is never used{why} ({place.file}:{place.line})", width, "bad")


def _caveats(reports: Sequence[ScenarioReport], width: int) -> Iterator[Line]:
    """Yield what the verdicts of a file assume and leave open, the most common first; all of it is in `--json`."""
    for heading, sentences in (
        ("assumed", [fault_assumptions(report) for report in reports]),
        ("not covered", [report.not_covered for report in reports]),
    ):
        counted = Counter(one for each in sentences for one in each).most_common()
        if counted:
            shown = [
                one if number == len(reports) else f"{one} (in {number})" for one, number in counted[:_CAVEATS_MAX]
            ]
            more = [f"{len(counted) - _CAVEATS_MAX} more in `--json`"] if len(counted) > _CAVEATS_MAX else []
            yield from _paragraph(heading, "; ".join([*shown, *more]), width, "dim")


def _effort(checked: CheckedFile) -> str:
    cached, total = len(checked.cached), len(checked.claims)
    took = f"{checked.seconds:.1f} s"
    if not cached:
        return took
    return "all from the cache" if cached >= total else f"{took}, {cached} of {total} from the cache"


def _paragraph(heading: str, text: str, width: int, style: str = "") -> Iterator[Line]:
    start: Line = (("", "  "), *aligned((("dim", heading),), 13))
    yield from flowed(start, sentence(style, text), width=width, rest=blank(15), gap=" ")


# --- All files together ---


def summary_line(checked: Sequence[CheckedFile], code: ExitCode) -> Line:
    """Return the last line: how many of what, and what it comes to."""
    style, sign = mark(code)
    scenarios = sum(len(each.report.scenarios) for each in checked)
    mutants = sum(len(each.report.mutants) for each in checked)
    counts = [(len(checked), "file"), (scenarios, "scenario"), (mutants, "mutant")]
    text = ", ".join(f"{number} {word}{'s' * (number != 1)}" for number, word in counts if number)
    pieces: list[Piece] = [
        (style, f"{sign} "),
        ("title", f"{text or 'nothing was run'}: "),
        (style, _outcome(checked, code)),
    ]
    return tuple(pieces)


def _outcome(checked: Iterable[CheckedFile], code: ExitCode) -> str:
    wrong = [report for each in checked for report in each.claims if report.exit_code is not ExitCode.AS_DECLARED]
    if not wrong:
        return MEANING[code]
    counted = {c: sum(report.exit_code is c for report in wrong) for c in ExitCode}
    return ", ".join(f"{number} {_ADJECTIVES[c]}" for c, number in counted.items() if number)


_ADJECTIVES = {
    ExitCode.AS_DECLARED: "as declared",
    ExitCode.NOT_AS_DECLARED: "not as declared",
    ExitCode.BAD_INPUT: "with a run-time error",
    ExitCode.INCONCLUSIVE: "inconclusive",
    ExitCode.VACUOUS: "vacuous",
    ExitCode.DISAGREEMENT: "on which engines disagree",
    ExitCode.INTERNAL: "with an internal error",
}

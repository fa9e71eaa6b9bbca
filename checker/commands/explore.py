"""`killpoint explore`: one run of a protocol under parameters and faults of one's own choice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from checker.commands.answers import print_document, say, warn, write_itf
from checker.commands.choices import free_run, one_property
from checker.commands.inputs import Loaded, load_one
from checker.commands.running import RunOptions
from checker.commands.trace import explore_claim, setting_lines
from checker.judgement import PropertyReport, ScenarioReport, judge_scenario
from checker.reporting.claims import caveat_lines, error_lines, mark, remark_lines, shortest_surprise
from checker.reporting.documents import claim_document, file_document
from checker.reporting.output import Line, Output, aligned, standard_output
from checker.verdict import ExitCode, Verdict


@dataclass(frozen=True, slots=True)
class ExploreOptions:
    """What to explore, and in which form to tell."""

    specification: str
    variant: str = ""
    settings: Sequence[str] = ()
    allowances: Sequence[str] = ()
    crashes: str | None = None
    property: str = ""
    as_json: bool = False
    itf: Path | None = None


def run(options: ExploreOptions, running: RunOptions) -> ExitCode:
    """Explore, and print what holds and what breaks, with the shortest trace of what breaks.

    Raises:
        BadInput: the file or an option is wrong.
        EngineDisagreement: the evaluator contradicts the engine.
    """
    loaded = load_one(options.specification)
    claim = free_run(loaded, options.variant, options.settings, options.allowances, options.crashes)
    if options.property:
        one_property(claim, options.property)
        running = replace(running, properties=(options.property,))
    if not options.as_json:
        warn([loaded])
    explored = explore_claim(loaded, claim, running)
    report = judge_scenario(claim, explored.explorations[claim.name], [options.property] if options.property else None)
    if options.as_json:
        document = claim_document(loaded.file, claim, report, cached=bool(explored.cached))
        print_document("explore", report.exit_code, {**file_document(loaded.file), "claim": document})
    else:
        _print(standard_output(), loaded, report, cached=bool(explored.cached))
    if options.itf is not None:
        shown = shortest_surprise(loaded.file, (report,))
        if shown is None:
            say(f"{options.itf} is not written: nothing breaks")
        else:
            write_itf(options.itf, loaded, shown)
    return report.exit_code


def _print(output: Output, loaded: Loaded, report: ScenarioReport, *, cached: bool) -> None:
    output.line(("title", f"{loaded.file.specification.name}: a free run"))
    output.lines(setting_lines(loaded, report, output.width))
    output.line()
    width = max((len(asked.name) for asked in report.properties), default=0)
    for asked in report.properties:
        output.line(*_property(asked, width))
    output.line()
    shown = shortest_surprise(loaded.file, (report,))
    if shown is not None:
        output.lines(shown.lines(output.width))
        output.line()
        if shown.finding.error is not None:
            output.lines(error_lines(shown.finding.error, loaded.file.source))
            output.line()
    for heading, text in _remarks(report, cached=cached):
        output.lines(remark_lines(heading, text, output.width))
    output.lines(caveat_lines(report, report.properties[0] if len(report.properties) == 1 else None, output.width))


def _property(asked: PropertyReport, width: int) -> Line:
    style, sign = _MARKS[asked.verdict]
    after = "" if asked.finding is None else f"after {len(asked.finding.trace)}"
    return (
        (style, f"  {sign} "),
        *aligned((("name", asked.name),), width),
        ("dim", f"  {asked.kind.value:<11}"),
        (style, f"  {asked.verdict.value:<8}"),
        ("", f"  {after}"),
    )


def _remarks(report: ScenarioReport, *, cached: bool) -> Iterator[tuple[str, str]]:
    exploration = report.exploration
    size = f"{exploration.states:,} states, {exploration.transitions:,} transitions, depth {exploration.depth}"
    yield "explored", f"{size}{' (cached)' if cached else ''}"
    for problem in report.problems:
        if problem.code in {ExitCode.INCONCLUSIVE, ExitCode.DISAGREEMENT, ExitCode.VACUOUS}:
            yield mark(problem.code)[1], problem.message
    if report.waiting is not None:
        yield (
            "can end",
            f"waiting, after {len(report.waiting.trace)} transitions: a process is in the middle of its steps",
        )


_MARKS = {
    Verdict.PROVED: ("good", "✓"),
    Verdict.HOLDS: ("good", "✓"),
    Verdict.BOUNDED: ("doubt", "?"),
    Verdict.VIOLATED: ("bad", "✗"),
    Verdict.UNKNOWN: ("doubt", "?"),
    Verdict.VACUOUS: ("bad", "✗"),
    Verdict.ERROR: ("bad", "✗"),
}

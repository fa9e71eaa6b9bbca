"""`killpoint trace`: the shortest run that breaks a property, or that shows a `possible` one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from checker.commands.answers import print_document, warn, write_file, write_itf
from checker.commands.choices import one_claim, one_property
from checker.commands.inputs import Loaded, load_one
from checker.commands.refusal import BadInput
from checker.commands.running import Explored, Runner, RunOptions, systems_of
from checker.judgement import PropertyReport, ScenarioReport, judge_scenario
from checker.reporting.claims import (
    ShownTrace,
    caveat_lines,
    error_lines,
    failure_trace,
    mark,
    property_trace,
    remark_lines,
    system_items,
)
from checker.reporting.documents import claim_document, file_document
from checker.reporting.output import Line, Output, blank, flowed, sentence, standard_output
from checker.reporting.pytestfile import pytest_file
from checker.verdict import ExitCode, Verdict, worst
from model.diagnostics import Code, Diagnostic, quoted
from model.specification import PropertyKind, Scenario


@dataclass(frozen=True, slots=True)
class TraceOptions:
    """Which trace, and in which form. Without a property: the shortest of those that break."""

    specification: str
    scenario: str = ""
    mutant: str = ""
    property: str = ""
    as_json: bool = False
    itf: Path | None = None
    pytest: Path | None = None
    adapter: str = ""
    """The implementation that the test drives, `MODULE:CLASS`; the file's own where it is empty."""


def run(options: TraceOptions, running: RunOptions) -> ExitCode:
    """Explore one scenario or mutant and print one trace.

    Raises:
        BadInput: the file or an option is wrong.
        EngineDisagreement: the evaluator contradicts the engine.
    """
    loaded = load_one(options.specification)
    claim = one_claim(loaded, options.scenario, options.mutant)
    if options.property:
        one_property(claim, options.property)
    adapter = "" if options.pytest is None else _adapter(loaded, options.adapter)
    if not options.as_json:
        warn([loaded])
    explored = explore_claim(loaded, claim, running)
    report = judge_scenario(claim, explored.explorations[claim.name], [options.property] if options.property else None)
    asked = _asked(report, options.property)
    shown = failure_trace(report) or (property_trace(loaded.file, report, asked) if asked is not None else None)
    code = _exit_code(report, asked)
    if options.as_json:
        document = claim_document(loaded.file, claim, report, cached=bool(explored.cached))
        name = None if asked is None else asked.name
        print_document("trace", code, {**file_document(loaded.file), "property": name, "claim": document})
    else:
        _print(standard_output(), loaded, report, asked, shown)
    if options.itf is not None and shown is not None:
        write_itf(options.itf, loaded, shown)
    if options.pytest is not None and shown is not None:
        _write_pytest(options.pytest, loaded, claim, shown, adapter)
    return code


def _adapter(loaded: Loaded, named: str) -> str:
    """Return the implementation that a test is to drive, `MODULE:CLASS`.

    Raises:
        BadInput: neither the file nor an option names one.
    """
    reference = loaded.file.reference
    chosen = named or (f"checker.conformance.adapters.{reference}:Adapter" if reference else "")
    if re.fullmatch(r"[\w.]+:\w+", chosen):
        return chosen
    if chosen:
        # Both end up in the text of a program, and the name in a file may be a stranger's.
        message = f"{quoted(named or reference)} is no {'`MODULE:CLASS`' if named else 'name of an implementation'}"
        raise BadInput([Diagnostic(Code.OPTION_VALUE, message, None)])
    message = f"{quoted(loaded.file.source.file)} names no implementation that a test could drive"
    help_text = "name one with `--adapter MODULE:CLASS`"
    raise BadInput([Diagnostic(Code.OPTIONS_CONFLICT, message, None, help=help_text)])


def _write_pytest(path: Path, loaded: Loaded, claim: Scenario, shown: ShownTrace, adapter: str) -> None:
    what = shown.property or "error"
    kind = "mutant" if claim.mutant else "scenario"
    asked = f" -p {shown.property}" if shown.property else ""
    file = re.sub(r"[^\w.-]", "_", Path(loaded.file.source.file).name)
    command = f"killpoint trace {file} --{kind} {claim.name}{asked}"
    text = pytest_file(
        shown.report.exploration.system,
        shown.finding.trace,
        name=f"{claim.name} {what}",
        heading=f"The run that `{command}` shows.",
        variant=claim.variant,
        adapter=adapter,
        departs=claim.mutant,
    )
    write_file(path, text)


def explore_claim(loaded: Loaded, claim: Scenario, running: RunOptions) -> Explored:
    """Explore one claim of a file.

    Raises:
        BadInput: its parameters or faults are not possible.
    """
    with Runner(running) as runner:
        return explored_with(runner, loaded, claim)


def explored_with(runner: Runner, loaded: Loaded, claim: Scenario) -> Explored:
    """Explore one claim of a file with a runner that may have other things to do.

    Raises:
        BadInput: its parameters or faults are not possible.
    """
    claims = {claim.name: claim}
    file = loaded.file.source.file
    systems = systems_of({file: (loaded, claims)}, runner.options.bound)
    return runner.explore(loaded, claims, systems[file])


def _asked(report: ScenarioReport, name: str) -> PropertyReport | None:
    """Return the property to show: the one named, or the one that breaks first."""
    if name:
        return next(asked for asked in report.properties if asked.name == name)
    broken = [asked for asked in report.properties if asked.broken and asked.finding is not None]
    return min(broken, key=lambda asked: len(asked.finding.trace) if asked.finding else 0, default=None)


def _exit_code(report: ScenarioReport, asked: PropertyReport | None) -> ExitCode:
    """Return the code for the one property; where none breaks, for the whole claim."""
    hard = [p.code for p in report.problems if p.code in {ExitCode.BAD_INPUT, ExitCode.DISAGREEMENT}]
    if asked is None:
        return report.exit_code
    if asked.broken is None:
        return worst([*hard, ExitCode.INCONCLUSIVE])
    unreached = asked.verdict is Verdict.VACUOUS
    # A mutant may lose a check; of a scenario that asks about it that is no claim.
    unchecked = unreached and not asked.broken and not report.mutant
    if asked.broken is asked.declared and not unchecked:
        return worst([*hard, ExitCode.AS_DECLARED])
    return worst([*hard, ExitCode.VACUOUS if unreached else ExitCode.NOT_AS_DECLARED])


def _print(
    output: Output, loaded: Loaded, report: ScenarioReport, asked: PropertyReport | None, shown: ShownTrace | None
) -> None:
    kind = "mutant" if report.mutant else "scenario"
    title = sentence("title", f"{kind} {report.name}: {headline(report, asked, shown)}")
    output.lines(flowed((), title, width=output.width, rest=blank(2), gap=" "))
    output.lines(setting_lines(loaded, report, output.width))
    output.line()
    if shown is None:
        style, sign = mark(_exit_code(report, asked))
        text = without_trace(report, asked)
        output.lines(flowed(((style, f"{sign} "),), sentence("", text), width=output.width, rest=blank(2), gap=" "))
    else:
        output.lines(shown.lines(output.width))
        if shown.finding.error is not None:
            output.line()
            output.lines(error_lines(shown.finding.error, loaded.file.source))
    output.line()
    if report.because:
        output.lines(remark_lines("because", report.because, output.width))
    output.lines(caveat_lines(report, asked, output.width))


def setting_lines(loaded: Loaded, report: ScenarioReport, width: int) -> list[Line]:
    """Return the file, the variant, the parameters and the faults of a run."""
    items: Sequence[Line] = [
        ((("dim", item)),)
        for item in [
            loaded.file.source.file,
            *([f"variant {report.variant}"] if report.variant else []),
            *system_items(report.exploration.system),
        ]
    ]
    return list(flowed((), items, width=width))


def headline(report: ScenarioReport, asked: PropertyReport | None, shown: ShownTrace | None) -> str:
    """Return in a phrase what is shown."""
    if shown is None:
        return "no trace" if asked is None else f"{asked.name} {asked.verdict.value}"
    steps = len(shown.finding.trace)
    after = f"after {steps} transition{'s' * (steps != 1)}"
    if asked is None or not shown.property:
        return f"a run-time error {after}"
    if asked.kind is PropertyKind.POSSIBLE:
        return f"{asked.name} is reached {after}"
    declared = "as declared" if asked.declared else "undeclared" if report.problems else ""
    return f"{asked.name} breaks {after}{f', {declared}' if declared else ''}"


def without_trace(report: ScenarioReport, asked: PropertyReport | None) -> str:
    """Return why there is no trace."""
    exploration = report.exploration
    size = f"{exploration.states:,} states, {exploration.transitions:,} transitions"
    if not exploration.complete:
        return f"nothing found in {size}, and the run was cut short: {exploration.cut}"
    if asked is None:
        return f"nothing breaks in {size}"
    match asked.verdict:
        case Verdict.HOLDS:
            return f"{asked.name} holds: no trace breaks it in {size}"
        case Verdict.VACUOUS if asked.kind is PropertyKind.CHECKED:
            return f"{asked.name} is checked by no step, and claims nothing in {size}"
        case Verdict.BOUNDED:
            bound = exploration.system.bound
            return f"{asked.name} holds as long as no number exceeds {bound}: no trace breaks it in {size}"
        case Verdict.VACUOUS:
            return f"{asked.name} is never reached in {size}"
        case _:
            reasons = "; ".join(problem.message for problem in report.problems)
            return f"{asked.name} is {asked.verdict.value}: {reasons}"

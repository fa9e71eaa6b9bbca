"""`killpoint kill`: an implementation whose processes are killed at every kill point, and their recoveries again."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from checker.commands.answers import print_document, warn
from checker.commands.choices import check_names, positive, raise_if_any
from checker.commands.implementations import (
    Implementation,
    Wanted,
    blaming,
    first_showing,
    implementations,
    opened,
    refresh_record,
)
from checker.commands.refusal import BadInput
from checker.commands.running import Runner, RunOptions
from checker.commands.trace import explored_with
from checker.conformance.adapter import Killable
from checker.conformance.killing import KillableAdapter
from checker.conformance.scenarios import How, Killed, NoErrand, kill_scenario
from checker.exploration import Exploration
from checker.reporting.documents import file_document
from checker.reporting.envelope import Document
from checker.reporting.kills import caught_text, killed_document, killed_lines
from checker.reporting.mistakes import caught_document, caught_lines
from checker.reporting.output import Output, standard_output
from checker.verdict import ExitCode, worst
from model.diagnostics import Code, Diagnostic, did_you_mean, quoted
from model.specification import Scenario
from model.system import TransitionSystem


@dataclass(frozen=True, slots=True, kw_only=True)
class KillOptions:
    """What is killed, and how much."""

    specifications: Sequence[str] = ()
    scenarios: Sequence[str] = ()
    errands: Sequence[str] = ()
    wanted: Wanted = field(default_factory=Wanted)
    defect: str = ""
    defects: bool = False
    """Whether each deliberate mistake is switched on as well, to see whether a single kill shows it."""
    pairs: bool = True
    as_json: bool = False


@dataclass(slots=True)
class _Report:
    """What came of one implementation."""

    implementation: Implementation
    scenarios: list[Killed] = field(default_factory=list)
    caught: dict[str, str] = field(default_factory=dict)
    """Deliberate mistakes, and by what each shows; empty where by nothing."""


def run(options: KillOptions, running: RunOptions) -> ExitCode:
    """Kill, and print what came of it.

    Raises:
        BadInput: a file or an option is wrong, or an adapter is at fault.
        EngineDisagreement: the evaluator contradicts the engine.
    """
    raise_if_any(positive("--seconds", options.wanted.seconds))
    chosen = implementations(options.specifications, options.wanted)
    names = [name for each in chosen for name in each.loaded.file.scenarios]
    raise_if_any(check_names(options.scenarios, names, Code.NO_SUCH_SCENARIO, "scenario"))
    if not options.as_json:
        warn(each.loaded for each in chosen)
    output = standard_output()
    reports: list[_Report] = []
    with Runner(running) as runner:
        runner.unit = "run"
        for each in chosen:
            report = _Report(each)
            reports.append(report)
            if not options.as_json:
                output.line(("title", each.loaded.file.source.file), ("dim", f"  held against {each.name}"))
            for killed in _killed(report, options, runner):
                runner.progress.clear()
                report.scenarios.append(killed)
                if not options.as_json:
                    output.lines(killed_lines(killed, output.width))
                    output.flush()
            if not options.as_json:
                output.lines(caught_lines(report.caught, "no single kill shows it", output.width))
    _record(options, reports)
    code = worst(_code(killed) for report in reports for killed in report.scenarios)
    if options.as_json:
        print_document("kill", code, {"files": [_document(report, options) for report in reports]})
    else:
        _conclude(output, reports)
    return code


def _code(killed: Killed) -> ExitCode:
    if killed.refuted:
        return ExitCode.NOT_AS_DECLARED
    if killed.cut:
        return ExitCode.INCONCLUSIVE
    return ExitCode.VACUOUS if killed.blind else ExitCode.AS_DECLARED


def _document(report: _Report, options: KillOptions) -> Document:
    source = report.implementation.loaded.file.source
    return {
        **file_document(report.implementation.loaded.file),
        "implementation": report.implementation.name,
        "scenarios": [killed_document(source, killed) for killed in report.scenarios],
        "defects": caught_document(report.caught) if options.defects else None,
    }


def _record(options: KillOptions, reports: Sequence[_Report]) -> None:
    """Refresh the record of a checkout where all its specifications were gone over in full."""
    plain = KillOptions(as_json=options.as_json)
    if options == plain and not any(killed.cut for report in reports for killed in report.scenarios):
        refresh_record(
            "killed",
            "killpoint kill",
            [
                (
                    report.implementation.loaded.path,
                    _document(report, options),
                    {killed.claim.name: round(killed.seconds, 3) for killed in report.scenarios},
                )
                for report in reports
            ],
        )


def _conclude(output: Output, reports: Sequence[_Report]) -> None:
    scenarios = [killed for report in reports for killed in report.scenarios]
    refuted = sum(killed.refuted for killed in scenarios)
    kills = sum(killed.total.kills for killed in scenarios)
    processes = sum(killed.total.processes for killed in scenarios)
    what = f"{kills:,} kills of {processes:,} processes in {len(scenarios)} scenario{'s' * (len(scenarios) != 1)}"
    output.line()
    if refuted:
        output.line(("bad", f"✗ {what}: {refuted} not as the model says"))
    elif any(killed.cut for killed in scenarios):
        output.line(("doubt", f"? {what}: cut short"))
    elif any(killed.blind for killed in scenarios):
        output.line(("doubt", f"? {what}: where nothing is observed, nothing is shown"))
    else:
        output.line(("good", f"✓ {what}: every run is a run of the model"))


# --- Doing it ---


def _killed(report: _Report, options: KillOptions, runner: Runner) -> Iterator[Killed]:
    """Kill in one scenario after the other, then with each deliberate mistake."""
    implementation = report.implementation
    file = implementation.loaded.file.source.file
    with blaming(implementation, file, runner, as_json=options.as_json), opened(implementation) as adapter:
        if not isinstance(adapter, Killable):
            message = f"{quoted(implementation.name)} has no processes of its own that could be killed"
            raise BadInput([Diagnostic(Code.OPTION_VALUE, message, None)])
        both: KillableAdapter = adapter
        how = How(
            kills=1,
            errands=tuple(options.errands),
            defect=options.defect,
            workers=runner.options.workers,
            stop=lambda: runner.limits.reason_to_stop(0),
            tell=lambda text: runner.progress.tell(f"{file}, {text}"),
        )
        explored = _explored(implementation, options, runner)
        found = 0
        for number, (claim, exploration) in enumerate(explored):
            # What recovers a recovery is the same code everywhere: unless scenarios are named, pairs in the first one.
            pairs = options.pairs and (number == 0 or bool(options.scenarios))
            killed = _one(both, claim, exploration, replace(how, kills=2 if pairs else 1), implementation)
            found += bool(killed.errands)
            if killed.errands:
                yield killed
        if not found and not runner.interrupted:
            message = (
                f"{quoted(implementation.name)} has no errands in {', '.join(claim.name for claim, _ in explored)}"
            )
            raise BadInput([Diagnostic(Code.OPTION_VALUE, message, None)])
        if options.defects:
            # Where the implementation is wrong without it, a mistake shows nothing.
            wrong = {killed.claim.name for killed in report.scenarios if killed.refuted}
            sound = [(claim, exploration) for claim, exploration in explored if claim.name not in wrong]
            for defect in adapter.defects:
                report.caught[defect] = _caught(both, sound, replace(how, defect=defect), implementation)


def _explored(
    implementation: Implementation, options: KillOptions, runner: Runner
) -> list[tuple[Scenario, Exploration]]:
    found = []
    for claim in claims_to_kill(implementation, options):
        exploration = explored_with(runner, implementation.loaded, claim).explorations.get(claim.name)
        if exploration is None:
            raise KeyboardInterrupt
        found.append((claim, exploration))
    return found


def claims_to_kill(implementation: Implementation, options: KillOptions) -> list[Scenario]:
    """Return the scenarios that were named, or those marked for conformance in which anything may be killed."""
    file = implementation.loaded.file
    possible = {name: claim for name, claim in file.scenarios.items() if _kills_anywhere(claim)}
    if impossible := [name for name in options.scenarios if name not in possible]:
        message = f"{quoted(impossible[0])} allows no process to crash anywhere and any number of times"
        names = ", ".join(name for name, claim in possible.items() if claim.conform) or "none"
        help_text = f"what is killed elsewhere would not be of the model; of those marked `conform` these do: {names}"
        raise BadInput([Diagnostic(Code.OPTION_VALUE, message, None, help=help_text)])
    claims = [
        claim for name, claim in possible.items() if (name in options.scenarios if options.scenarios else claim.conform)
    ]
    if not claims:
        message = f"no scenario of {quoted(file.source.file)} says `conform` and allows crashes anywhere"
        raise BadInput([Diagnostic(Code.OPTION_VALUE, message, None, help="name one with --scenario")])
    return claims


def _kills_anywhere(claim: Scenario) -> bool:
    """Tell whether a scenario allows some process to crash everywhere, any number of times."""
    system = TransitionSystem.of(claim)
    crashes = [
        budget
        for process in system.specification.processes.values()
        if not process.environment
        for _, budget in system.crash_faults(process)
    ]
    return any(budget.limit is None and budget.at is None for budget in crashes)


def _made(implementation: Implementation) -> KillableAdapter:
    made = implementation.make()
    assert isinstance(made, Killable)
    both: KillableAdapter = made
    return both


def _one(
    adapter: KillableAdapter, claim: Scenario, exploration: Exploration, how: How, implementation: Implementation
) -> Killed:
    started = time.monotonic()
    try:
        killed = kill_scenario(adapter, claim, exploration, how, lambda: _made(implementation))
    except NoErrand as error:
        help_text = did_you_mean(error.name, error.known, known="there is")
        diagnostic = Diagnostic(Code.OPTION_VALUE, f"there is no errand {quoted(error.name)}", None, help=help_text)
        raise BadInput([diagnostic]) from error
    killed.seconds = time.monotonic() - started
    return killed


def _caught(
    adapter: KillableAdapter,
    explored: Sequence[tuple[Scenario, Exploration]],
    how: How,
    implementation: Implementation,
) -> str:
    """Return by what a deliberate mistake shows, empty where by nothing."""

    def shows(claim: Scenario, exploration: Exploration) -> str:
        killed = kill_scenario(adapter, claim, exploration, how, lambda: _made(implementation))
        return caught_text(killed) if killed.refuted else ""

    return first_showing({claim.name: partial(shows, claim, exploration) for claim, exploration in explored})

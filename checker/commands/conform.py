"""`killpoint conform`: an implementation driven through the scenarios of its model, and walking at random in it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from checker.commands.answers import print_document, warn
from checker.commands.choices import check_names, one_claim, one_property, positive, raise_if_any
from checker.commands.implementations import (
    Implementation,
    Wanted,
    blaming,
    first_showing,
    implementations,
    opened,
    refresh_record,
)
from checker.commands.inputs import Loaded
from checker.commands.refusal import BadInput
from checker.commands.running import Runner, RunOptions, systems_of
from checker.conformance.driver import Driven, Driver, drive
from checker.conformance.graph import STATES_MAX, CutShort, Erring, Graph, build
from checker.conformance.paths import Cover, cover, shortest
from checker.conformance.walks import Walk, Wandered, shortened, wander
from checker.judgement import judge_scenario
from checker.reporting.conformance import ConformReport, conform_document, conform_lines, difference_sentence
from checker.reporting.documents import file_document
from checker.reporting.envelope import Document
from checker.reporting.mistakes import caught_document, caught_lines
from checker.reporting.output import standard_output
from checker.trace import Trace
from checker.verdict import ExitCode, worst
from model.diagnostics import Code, Diagnostic, quoted
from model.specification import Conform, Scenario
from model.system import State, TransitionSystem


@dataclass(frozen=True, slots=True, kw_only=True)
class ConformOptions:
    """What is held against which implementation, and how far."""

    specifications: Sequence[str] = ()
    scenarios: Sequence[str] = ()
    adapter: str = ""
    command: str = ""
    seconds: float = 30.0
    defect: str = ""
    property: str = ""
    mutant: str = ""
    walks: int = 20
    length: int = 40
    seed: int = 0
    defects: bool = False
    """Whether each deliberate mistake is switched on as well, to see whether driving shows it."""
    as_json: bool = False


_Tours = dict[str, tuple[Graph, Cover]]
"""By the names of scenarios."""


@dataclass(slots=True)
class _Report:
    """What came of one implementation."""

    implementation: Implementation
    claims: Sequence[Scenario]
    scenarios: list[ConformReport] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    caught: dict[str, str] = field(default_factory=dict)
    """Deliberate mistakes, and by what each shows; empty where by nothing."""


def run(options: ConformOptions, running: RunOptions) -> ExitCode:
    """Drive, walk, and print what came of it.

    Raises:
        BadInput: a file or an option is wrong, or an adapter is at fault.
        EngineDisagreement: the evaluator contradicts the engine that a counterexample is from.
    """
    _check(options)
    wanted = Wanted(options.adapter, options.command, options.seconds)
    reports = [_Report(each, _claims(each.loaded, options)) for each in implementations(options.specifications, wanted)]
    if not options.as_json:
        warn(each.implementation.loaded for each in reports)
    output = standard_output()
    with Runner(running) as runner:
        runner.unit = "action"
        for each in reports:
            source = each.implementation.loaded.file.source
            if not options.as_json:
                output.line(("title", source.file), ("dim", f"  held against {each.implementation.name}"))
            for report in _conformed_all(each, options, runner):
                runner.progress.clear()
                if not options.as_json:
                    output.lines(conform_lines(report, source, output.width))
                    output.flush()
            if not options.as_json:
                output.lines(caught_lines(each.caught, "driving does not show it", output.width))
    codes = [report.exit_code for each in reports for report in each.scenarios]
    if any(not by for each in reports for by in each.caught.values()):
        codes.append(ExitCode.NOT_AS_DECLARED)  # where nothing shows a mistake, the cross-check looks away
    code = worst(codes)
    if options.as_json:
        print_document("conform", code, {"files": [_document(each, options) for each in reports]})
    _record(options, reports)
    return code


def _document(report: _Report, options: ConformOptions) -> Document:
    source = report.implementation.loaded.file.source
    return {
        **file_document(report.implementation.loaded.file),
        "implementation": report.implementation.name,
        "defect": options.defect,
        "scenarios": [conform_document(each, source) for each in report.scenarios],
        "defects": caught_document(report.caught) if options.defects else None,
    }


def _record(options: ConformOptions, reports: Sequence[_Report]) -> None:
    """Refresh the record of a checkout where all its specifications were gone over in full."""
    plain = ConformOptions(as_json=options.as_json)
    if options == plain and all(not each.driven.cut for report in reports for each in report.scenarios):
        refresh_record(
            "driven",
            "killpoint conform",
            [(each.implementation.loaded.path, _document(each, options), each.seconds) for each in reports],
        )


# --- What to do ---


def _check(options: ConformOptions) -> None:
    found = positive("--seconds", options.seconds) + positive("--length", options.length)
    if options.walks < 0:
        found.append(Diagnostic(Code.OPTION_VALUE, f"`--walks` cannot be {options.walks}", None))
    if (options.property or options.mutant) and len(options.scenarios) > 1:
        message = "`--property` and `--mutant` are about one scenario or mutant"
        found.append(Diagnostic(Code.OPTIONS_CONFLICT, message, None, help="name one `--scenario`"))
    if (options.property or options.mutant) and len(options.specifications) != 1:
        message = "`--property` and `--mutant` are about one specification"
        found.append(Diagnostic(Code.OPTIONS_CONFLICT, message, None, help="name it"))
    raise_if_any(found)


def _claims(loaded: Loaded, options: ConformOptions) -> list[Scenario]:
    file = loaded.file
    if options.property or options.mutant:
        claim = one_claim(loaded, next(iter(options.scenarios), ""), options.mutant)
        if options.property:
            one_property(claim, options.property)
        return [claim]
    raise_if_any(check_names(options.scenarios, file.scenarios, Code.NO_SUCH_SCENARIO, "scenario"))
    claims = [
        claim
        for name, claim in file.scenarios.items()
        if (name in options.scenarios if options.scenarios else claim.conform)
    ]
    if not claims:
        message = f"no scenario of {quoted(file.source.file)} says `conform`"
        raise BadInput([Diagnostic(Code.OPTION_VALUE, message, None, help="name one with --scenario")])
    return claims


# --- Doing it ---


def _conformed_all(report: _Report, options: ConformOptions, runner: Runner) -> Iterator[ConformReport]:
    """Drive the claims of a file one after the other, then with each deliberate mistake."""
    implementation = report.implementation
    loaded = implementation.loaded
    file = loaded.file.source.file
    systems = systems_of({file: (loaded, {claim.name: claim for claim in report.claims})})[file]
    tours: _Tours = {}
    with blaming(implementation, file, runner, as_json=options.as_json), opened(implementation) as adapter:
        for claim in report.claims:
            driver = Driver(claim, systems[claim.name], adapter, options.defect)
            started = time.monotonic()
            with blaming(implementation, f"{file}, {claim.name}", runner, as_json=options.as_json):
                conform = _replayed if options.property else _conformed
                found = conform(loaded, driver, options, runner, tours)
            report.scenarios.append(found)
            report.seconds[claim.name] = round(time.monotonic() - started, 3)
            yield found
        # Where the implementation is wrong without it, a mistake shows nothing.
        sound = [each.claim for each in report.scenarios if each.exit_code is ExitCode.AS_DECLARED]
        for defect in adapter.defects if options.defects else ():
            drivers = [Driver(claim, systems[claim.name], adapter, defect) for claim in sound]
            where = f"{file}, {defect}"
            with blaming(implementation, where, runner, as_json=options.as_json):
                report.caught[defect] = _caught(loaded, drivers, options, runner, tours)


def _caught(loaded: Loaded, drivers: Sequence[Driver], options: ConformOptions, runner: Runner, tours: _Tours) -> str:
    """Return by what a deliberate mistake shows, empty where by nothing."""

    def shows(driver: Driver) -> str:
        found = _conformed(loaded, driver, options, runner, tours)
        return difference_sentence(found) if found.exit_code is ExitCode.NOT_AS_DECLARED else ""

    return first_showing({driver.claim.name: partial(shows, driver) for driver in drivers})


def _conformed(loaded: Loaded, driver: Driver, options: ConformOptions, runner: Runner, tours: _Tours) -> ConformReport:
    claim, system = driver.claim, driver.system
    mode = claim.conform or "transitions"
    report = ConformReport(claim, system, mode, states=0, transitions=0, driven=Driven(0))
    name = f"{loaded.file.source.file}, {claim.name}"
    runner.limits.on_progress = runner.progress.of(name)
    try:
        graph, tour = tours.get(claim.name) or _tour(loaded, claim, system, mode, runner)
    except CutShort as error:
        report.driven.cut = str(error)
        return report
    tours[claim.name] = graph, tour
    report.states, report.transitions = len(graph.states), len(graph.targets)

    def stop(driven: Driven) -> str:
        runner.progress.tell(f"run {driven.runs + 1:,} of {len(tour.runs):,}  {driven.actions:,} actions  {name}")
        return runner.limits.reason_to_stop(0)

    report.driven = drive(driver, graph, tour, stop)
    if report.driven.divergence is None and not report.driven.cut and options.walks:
        report.wandered = _wander(driver, graph, options, runner, name)
    return report


def _tour(
    loaded: Loaded, claim: Scenario, system: TransitionSystem, mode: Conform, runner: Runner
) -> tuple[Graph, Cover]:
    """Return the graph of a scenario and the runs that cover it.

    Raises:
        BadInput: some step of it errs.
        CutShort: a limit was met before it was complete.
    """
    most = min(STATES_MAX, runner.limits.states_max or STATES_MAX)
    try:
        graph = build(system, replace(runner.limits, states_max=None), most)
    except Erring as error:
        diagnostic = Diagnostic(error.error.code, f"in {quoted(claim.name)}: {error.error.message}", error.error.span)
        raise BadInput([diagnostic], loaded.sources) from error
    return graph, cover(graph, mode)


def _wander(driver: Driver, graph: Graph, options: ConformOptions, runner: Runner, name: str) -> Wandered:
    def start(initial: State) -> Walk:
        return Walk(driver.claim, driver.system, driver.adapter, driver.defect, initial)

    def stop() -> str:
        runner.progress.tell(f"walking at random  {name}")
        return runner.limits.reason_to_stop(0)

    initial = driver.system.initial_states
    found = wander(start, initial, stop, seed=options.seed, walks=options.walks, length=options.length)
    if found.failed is not None and found.failed.rejection is not None:
        way = shortest(graph, graph.states.index(found.failed.rejection.possible[0]))
        trace = graph.trace(way.start, way.edges)
        found.failed = shortened(found.failed, lambda: start(trace.initial), trace)
    return found


def _replayed(loaded: Loaded, driver: Driver, options: ConformOptions, runner: Runner, _: _Tours) -> ConformReport:
    """Drive the counterexample or witness of a property.

    Raises:
        BadInput: there is none.
    """
    trace = _trace_of(loaded, driver.claim, driver.system, options.property, runner)
    driven = Driven(len(trace), runs=1)

    def taken(_: int) -> None:
        driven.covered += 1
        driven.actions += 1

    driven.divergence = driver.follow(trace, taken)
    driver.say_what_was_seen(driven)
    report = ConformReport(driver.claim, driver.system, "transitions", states=0, transitions=0, driven=driven)
    report.asked, report.trace = options.property, trace
    return report


def _trace_of(loaded: Loaded, claim: Scenario, system: TransitionSystem, name: str, runner: Runner) -> Trace:
    explored = runner.explore(loaded, {claim.name: claim}, {claim.name: system})
    if claim.name not in explored.explorations:
        raise KeyboardInterrupt
    judged = judge_scenario(claim, explored.explorations[claim.name], [name])
    finding = next(asked for asked in judged.properties if asked.name == name).finding
    if finding is None:
        message = f"there is no trace of {quoted(name)} in {quoted(claim.name)} to drive"
        help_text = "a scenario or mutant in which it breaks has one, and a `possible` one that is reached"
        raise BadInput([Diagnostic(Code.OPTION_VALUE, message, None, help=help_text)])
    return finding.trace

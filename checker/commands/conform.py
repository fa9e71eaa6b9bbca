"""`killpoint conform`: an implementation driven through the scenarios of its model, and walking at random in it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from checker.commands.answers import print_document, say, warn
from checker.commands.choices import check_names, one_claim, one_property, positive, raise_if_any
from checker.commands.inputs import Loaded, load_all
from checker.commands.refusal import BadInput
from checker.commands.running import Runner, RunOptions, systems_of
from checker.conformance.adapter import Adapter, AdapterFailed, UnknownSetting
from checker.conformance.choosing import MakeAdapter, NoAdapter, of_class, of_command, of_reference
from checker.conformance.driver import Driven, Driver, drive
from checker.conformance.graph import STATES_MAX, CutShort, Erring, Graph, build
from checker.conformance.paths import cover, shortest
from checker.conformance.walks import Walk, Wandered, shortened, wander
from checker.judgement import judge_scenario
from checker.reporting.conformance import ConformReport, conform_document, conform_lines
from checker.reporting.documents import file_document
from checker.reporting.output import standard_output
from checker.trace import Trace
from checker.verdict import ExitCode, worst
from model.diagnostics import Code, Diagnostic, quoted
from model.specification import Scenario
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
    as_json: bool = False


@dataclass(frozen=True, slots=True)
class _Chosen:
    """One file, the claims to drive, and the implementation."""

    loaded: Loaded
    claims: Sequence[Scenario]
    make: MakeAdapter
    implementation: str


def run(options: ConformOptions, running: RunOptions) -> ExitCode:
    """Drive, walk, and print what came of it.

    Raises:
        BadInput: a file or an option is wrong, or an adapter is at fault.
        EngineDisagreement: the evaluator contradicts the engine that a counterexample is from.
    """
    _check(options)
    loaded = load_all(options.specifications)
    chosen = [found for each in loaded if (found := _chosen(each, options)) is not None]
    if not chosen:
        message = "no specification says which implementation to hold against it"
        raise BadInput(
            [Diagnostic(Code.OPTION_VALUE, message, None, help="`reference: …` does, and so does --adapter")]
        )
    if not options.as_json:
        warn(each.loaded for each in chosen)
    output = standard_output()
    documents: list[dict[str, object]] = []
    codes: list[ExitCode] = []
    with Runner(running) as runner:
        runner.unit = "action"
        for each in chosen:
            reports: list[ConformReport] = []
            if not options.as_json:
                file = each.loaded.file.source.file
                output.line(("title", file), ("dim", f"  held against {each.implementation}"))
            for report in _reports(each, options, runner):
                runner.progress.clear()
                reports.append(report)
                if not options.as_json:
                    output.lines(conform_lines(report, each.loaded.file.source, output.width))
                    output.flush()
            codes += [report.exit_code for report in reports]
            documents.append(
                {
                    **file_document(each.loaded.file),
                    "implementation": each.implementation,
                    "defect": options.defect,
                    "scenarios": [conform_document(report, each.loaded.file.source) for report in reports],
                }
            )
    code = worst(codes)
    if options.as_json:
        print_document("conform", code, {"files": documents})
    return code


# --- What to do ---


def _check(options: ConformOptions) -> None:
    found = positive("--seconds", options.seconds) + positive("--length", options.length)
    if options.walks < 0:
        found.append(Diagnostic(Code.OPTION_VALUE, f"`--walks` cannot be {options.walks}", None))
    if options.adapter and options.command:
        found.append(Diagnostic(Code.OPTIONS_CONFLICT, "`--adapter` and `--command` both name an implementation", None))
    if (options.property or options.mutant) and len(options.scenarios) > 1:
        message = "`--property` and `--mutant` are about one scenario or mutant"
        found.append(Diagnostic(Code.OPTIONS_CONFLICT, message, None, help="name one `--scenario`"))
    if (options.property or options.mutant) and len(options.specifications) != 1:
        message = "`--property` and `--mutant` are about one specification"
        found.append(Diagnostic(Code.OPTIONS_CONFLICT, message, None, help="name it"))
    raise_if_any(found)


def _chosen(loaded: Loaded, options: ConformOptions) -> _Chosen | None:
    """Return what to do with a file; None where nobody asked for it and it names no implementation."""
    reference = loaded.file.reference
    named = options.adapter or options.command or reference
    if not named:
        if not options.specifications:
            return None
        message = f"{quoted(loaded.file.source.file)} names no implementation"
        help_text = "name one with --adapter or --command, or write `reference: …`"
        raise BadInput([Diagnostic(Code.OPTION_VALUE, message, None, help=help_text)])
    try:
        make = (
            of_class(options.adapter)
            if options.adapter
            else of_command(options.command, options.seconds)
            if options.command
            else of_reference(reference)
        )
    except NoAdapter as error:
        raise BadInput([Diagnostic(Code.OPTION_VALUE, str(error), None)]) from error
    return _Chosen(loaded, _claims(loaded, options), make, named)


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


def _reports(chosen: _Chosen, options: ConformOptions, runner: Runner) -> Iterator[ConformReport]:
    """Drive the claims of a file one after the other."""
    file = chosen.loaded.file.source.file
    systems = systems_of({file: (chosen.loaded, {claim.name: claim for claim in chosen.claims})})[file]
    where = file
    try:
        with _open(chosen.make) as adapter:
            for claim in chosen.claims:
                where = f"{file}, {claim.name}"
                driver = Driver(claim, systems[claim.name], adapter, options.defect)
                if options.property:
                    yield _replayed(chosen.loaded, driver, options, runner)
                else:
                    yield _conformed(chosen.loaded, driver, options, runner)
    except AdapterFailed as error:
        runner.progress.clear()
        if not options.as_json:
            for line in error.details.splitlines():
                say(line)
        message = f"{where}: the adapter {quoted(chosen.implementation)} is at fault: {error}"
        raise BadInput([Diagnostic(Code.ADAPTER_FAILED, message, None)]) from error
    except UnknownSetting as error:
        message = f"{where}: {quoted(chosen.implementation)} cannot be set up for this: {error}"
        raise BadInput([Diagnostic(Code.SETTING_REFUSED, message, None)]) from error


@contextlib.contextmanager
def _open(make: MakeAdapter) -> Iterator[Adapter]:
    """Make an adapter and close it in any case; that it cannot be closed counts only where nothing else went wrong."""
    adapter = make()
    try:
        yield adapter
    except BaseException:
        with contextlib.suppress(Exception):
            adapter.close()
        raise
    adapter.close()


def _conformed(loaded: Loaded, driver: Driver, options: ConformOptions, runner: Runner) -> ConformReport:
    claim, system = driver.claim, driver.system
    mode = claim.conform or "transitions"
    report = ConformReport(claim, system, mode, states=0, transitions=0, driven=Driven(0))
    name = f"{loaded.file.source.file}, {claim.name}"
    runner.limits.on_progress = runner.progress.of(name)
    most = min(STATES_MAX, runner.limits.states_max or STATES_MAX)
    try:
        graph = build(system, replace(runner.limits, states_max=None), most)
    except CutShort as error:
        report.driven.cut = str(error)
        return report
    except Erring as error:
        diagnostic = Diagnostic(error.error.code, f"in {quoted(claim.name)}: {error.error.message}", error.error.span)
        raise BadInput([diagnostic], loaded.sources) from error
    report.states, report.transitions = len(graph.states), len(graph.targets)
    tour = cover(graph, mode)

    def stop(driven: Driven) -> str:
        runner.progress.tell(f"run {driven.runs + 1:,} of {len(tour.runs):,}  {driven.actions:,} actions  {name}")
        return runner.limits.reason_to_stop(0)

    report.driven = drive(driver, graph, tour, stop)
    if report.driven.divergence is None and not report.driven.cut and options.walks:
        report.wandered = _wander(driver, graph, options, runner, name)
    return report


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


def _replayed(loaded: Loaded, driver: Driver, options: ConformOptions, runner: Runner) -> ConformReport:
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
    driven.unseen = tuple(driver.comparison.unseen())
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

"""`killpoint matrix`: what comes of a crash at each kill point, and of a second one at each other."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from checker.commands.answers import print_document, warn
from checker.commands.choices import check_names, one_claim, one_property, raise_if_any, viewed
from checker.commands.inputs import Loaded, load_one
from checker.commands.refusal import BadInput
from checker.commands.running import Runner, RunOptions, systems_of
from checker.engines.consultations import Consultations
from checker.exploration import Finding, Limits
from checker.judgement import ScenarioReport, judge_scenario
from checker.matrix import Cell, matrix, points_of, with_crashes
from checker.reporting.claims import ShownTrace, property_trace
from checker.reporting.lanes import Conclusion
from checker.reporting.matrix import MatrixView, cell_lines, matrix_document, matrix_lines
from checker.reporting.output import standard_output
from checker.verdict import ExitCode
from model.diagnostics import Code, Diagnostic
from model.specification import CrashCourse, Scenario
from model.system import TransitionSystem

SITUATION = "situation"
"""The view that says what a recovery sees."""

LOOKED_AT_MAX = 20_000
"""States in which the evaluator is asked what crashes leave behind."""

PAIRS_MAX = 60
"""Kill points of which all pairs are looked at."""


@dataclass(frozen=True, slots=True)
class MatrixOptions:
    """Of which scenario or mutant, and in which form to tell."""

    specification: str
    scenario: str = ""
    mutant: str = ""
    properties: Sequence[str] = ()
    cell: str = ""
    view: str = ""
    as_json: bool = False


def run(options: MatrixOptions, running: RunOptions) -> ExitCode:
    """Print the matrix of a scenario or mutant, or one cell of it.

    Raises:
        BadInput: the file or an option is wrong.
        EngineDisagreement: the evaluator contradicts the engine.
    """
    loaded = load_one(options.specification)
    claim = one_claim(loaded, options.scenario, options.mutant)
    for name in options.properties:
        one_property(claim, name)
    keys = situation_keys(claim, options.view)
    system = systems_of({loaded.file.source.file: (loaded, {claim.name: claim})}, running.bound)
    points = points_of(next(iter(next(iter(system.values())).values())))
    course = _course(options.cell, points)
    if not options.as_json:
        warn([loaded])
    with Runner(running) as runner:
        shown = matrix_view(loaded, claim, keys, runner, tuple(options.properties) or None)
        made = shown.matrix
        cell = made.cell(course) if course else None
        witness = _witness(loaded, claim, cell, runner) if cell is not None and not options.as_json else None
    if options.as_json:
        print_document("matrix", made.exit_code, matrix_document(shown, course))
        return made.exit_code
    output = standard_output()
    output.lines(cell_lines(shown, cell, witness, output.width) if cell else matrix_lines(shown, output.width))
    return made.exit_code


def matrix_view(
    loaded: Loaded, claim: Scenario, keys: tuple[str, ...], runner: Runner, properties: tuple[str, ...] | None
) -> MatrixView:
    """Make the matrix of a claim, and look at what crashes leave of some variables.

    Raises:
        EngineDisagreement: the evaluator contradicts the engine.
    """
    pairs = len(points_of(TransitionSystem.of(claim))) <= PAIRS_MAX
    made = matrix(loaded.file, claim, lambda claims: judged(loaded, claims, runner, properties), pairs=pairs)
    return MatrixView(loaded.file, claim, made, keys, *_consulted(loaded, claim, keys, runner))


def judged(
    loaded: Loaded, claims: Sequence[Scenario], runner: Runner, properties: tuple[str, ...] | None
) -> list[ScenarioReport]:
    """Explore claims together, and judge each."""
    by_name = {claim.name: claim for claim in claims}
    assert len(by_name) == len(claims), "claims are told apart by their names"
    file = loaded.file.source.file
    systems = systems_of({file: (loaded, by_name)}, runner.options.bound)[file]
    explored = runner.explore(loaded, by_name, systems).explorations
    return [judge_scenario(claim, explored[claim.name], properties) for claim in claims]


def situation_keys(claim: Scenario, view: str) -> tuple[str, ...]:
    """Return the variables that say what a recovery sees; none where nothing says which."""
    views = claim.specification.views
    if not view and not views:
        return ()
    return tuple(viewed(claim.specification, view or (SITUATION if SITUATION in views else "")))


def _course(text: str, points: Sequence[str]) -> tuple[str, ...]:
    """Read the option that names a cell: one kill point or two, with their process or, where that suffices, without."""
    if not text:
        return ()
    course = []
    for name in text.split(","):
        meant = [point for point in points if name in (point, point.partition(".")[2])]
        if len(meant) != 1:
            raise_if_any(check_names([name], points, Code.NO_KILL_POINT, "kill point"))
        course.append(meant[0])
    if len(course) > 2:
        message = f"`--cell` names one kill point or two, not {len(course)}"
        raise BadInput([Diagnostic(Code.OPTION_VALUE, message, None)])
    return tuple(course)


def _consulted(
    loaded: Loaded, claim: Scenario, keys: Sequence[str], runner: Runner
) -> tuple[TransitionSystem, Consultations]:
    """Find out what crashes leave behind, and which rows come next."""
    crashing = with_crashes(claim, TransitionSystem.of(claim), None, claim.name)
    return runner.consult(loaded, {claim.name: crashing}, keys, LOOKED_AT_MAX)[claim.name]


def _witness(loaded: Loaded, claim: Scenario, cell: Cell, runner: Runner) -> ShownTrace | None:
    """Return the shortest run that breaks something in a cell, or else the shortest through all its crashes."""
    if cell.shortest is not None:
        name, _ = cell.shortest
        return property_trace(loaded.file, cell.report, next(p for p in cell.decided if p.name == name))
    if not cell.reached:
        return None
    last = cell.course[-1]
    found = through(claim, tuple(frozenset([point]) for point in cell.course), [last], runner.limits)
    return ShownTrace(cell.report, "", found[last], UNBROKEN) if last in found else None


UNBROKEN = Conclusion(good=True, message="nothing breaks, here or later")


def through(claim: Scenario, crashes: CrashCourse, last: Collection[str], limits: Limits) -> dict[str, Finding]:
    """Return by kill point the shortest run of a course of crashes that ends with one there."""
    from checker.engines.courses import runs_through

    system = TransitionSystem.of(with_crashes(claim, TransitionSystem.of(claim), crashes, claim.name))
    return runs_through(system, last, limits)

"""What a page shows beside the claims of a file: what the commands that are asked for each of it would say.

Tables and graph are about the first scenario, as with the commands, and are there unless it is large. Matrix, sweep and
mutants take many explorations, and are there where somebody asks for them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from checker.certificates.memory import remembered
from checker.commands.inputs import Loaded
from checker.commands.matrix import UNBROKEN, through
from checker.commands.running import Runner, RunOptions, systems_of
from checker.engines.projection import projection, viewed_slots
from checker.engines.reachable import CutShort
from checker.identity import certified_hash
from checker.judgement import ScenarioReport
from checker.matrix import Cell, Course, Matrix, claims_of
from checker.reporting.claims import ShownTrace, failure_trace, property_trace
from checker.reporting.envelope import Document
from checker.reporting.html.heatmap import only_there
from checker.reporting.html.page import Cells, Parts, Proof
from checker.results import CheckedFile
from checker.verdict import Verdict
from model.specification import Scenario

_STATES_MAX = 20_000
"""Of the first scenario: with more states than this its tables and graph cost more than the check itself."""

_RUN_STATES_MAX = 20_000
"""Up to which the evaluator looks for the runs of cells in which nothing breaks."""

_SITUATIONS_MAX = 60
"""More boxes than this are no picture that anybody reads beside a text."""


def parts_of(loaded: Loaded, checked: CheckedFile, runner: Runner, wanted: Collection[str]) -> Parts:
    """Return what there is to say of a checked file beside its claims.

    Raises:
        BadInput: a limit of the language is met in translation.
        EngineDisagreement: the evaluator contradicts an engine.
    """
    tables, why_no_tables = _tables(loaded, checked, runner)
    graph, why_no_graph = _graph(loaded, checked, runner)
    matrix, unbroken, cells = _matrix(loaded, runner) if "matrix" in wanted else (None, (), {})
    return Parts(
        tables=tables,
        why_no_tables=why_no_tables,
        graph=graph,
        why_no_graph=why_no_graph,
        matrix=matrix,
        unbroken=unbroken,
        cells=cells,
        sweep=_sweep(loaded, runner) if "sweep" in wanted else None,
        mutation=_mutation(loaded, runner) if "mutate" in wanted else None,
        no_view=not loaded.file.specification.views,
        no_sweep=loaded.file.sweep is None,
        proofs=_proofs(checked, runner.options),
    )


def _matrix(loaded: Loaded, runner: Runner) -> tuple[Document, tuple[str, ...], Cells]:
    """Return the matrix, the properties that hold with any number of crashes, and the runs of its cells."""
    from checker.commands.matrix import matrix_view, situation_keys
    from checker.reporting.matrix import matrix_document

    claim = next(iter(loaded.file.scenarios.values()))
    view = matrix_view(loaded, claim, situation_keys(claim, ""), runner, None)
    holding = (Verdict.HOLDS, Verdict.PROVED)
    unbroken = tuple(asked.name for asked in claims_of(view.matrix.anywhere) if asked.verdict in holding)
    return matrix_document(view), unbroken, dict(_cells(loaded, claim, view.matrix, runner))


def _cells(
    loaded: Loaded, claim: Scenario, made: Matrix, runner: Runner
) -> Iterator[tuple[tuple[Course, str], ShownTrace]]:
    """Yield, of each cell, the shortest run for everything that breaks there, or else one through all its crashes."""

    def unbroken(cell: Cell) -> bool:
        return cell.reached and not cell.broken.keys() - made.none.broken.keys()

    for row in made.rows:
        yield from _breaking(loaded, row.once.course, row.once.report)
        yield from _breaking(loaded, only_there(row.point), row.only_there)
        for cell in row.then:
            yield from _breaking(loaded, cell.course, cell.report)
    limits = replace(runner.limits, states_max=_RUN_STATES_MAX)
    conclusion = replace(UNBROKEN, message="no more breaks than without crashes") if made.none.broken else UNBROKEN
    rows = {row.point: row for row in made.rows}
    singles = [row.point for row in made.rows if unbroken(row.once)]
    for point, finding in through(claim, (None,), singles, limits).items():
        shown = ShownTrace(rows[point].once.report, "", finding, conclusion)
        yield ((point,), ""), shown
        # Who may be killed there any number of times may be killed there once.
        yield (only_there(point), ""), shown
    for row in made.rows:
        seconds = [cell.course[-1] for cell in row.then if unbroken(cell)]
        for point, finding in through(claim, (frozenset([row.point]), None), seconds, limits).items():
            yield ((row.point, point), ""), ShownTrace(row.once.report, "", finding, conclusion)


def _breaking(
    loaded: Loaded, course: Course, report: ScenarioReport
) -> Iterator[tuple[tuple[Course, str], ShownTrace]]:
    failure = failure_trace(report)
    if failure is not None:
        yield (course, ""), failure
    for asked in claims_of(report):
        shown = property_trace(loaded.file, report, asked) if asked.broken else None
        if shown is not None:
            yield (course, asked.name), shown


def _sweep(loaded: Loaded, runner: Runner) -> Document | None:
    if loaded.file.sweep is None:
        return None
    from checker.commands.sweep import swept_of
    from checker.reporting.sweep import sweep_document

    return sweep_document(loaded.file, swept_of(loaded, loaded.file.sweep, runner))


def _mutation(loaded: Loaded, runner: Runner) -> Document:
    from checker.commands.mutate import mutated
    from checker.reporting.mutation import mutation_document

    try:
        return mutation_document(loaded.file, mutated(loaded, runner))
    finally:
        runner.progress.clear()


def _first(loaded: Loaded, checked: CheckedFile) -> tuple[Scenario | None, str]:
    """Return the first scenario, which tables and graph are about, or why they are left out."""
    report: ScenarioReport | None = next(iter(checked.report.scenarios), None)
    if report is None:
        return None, "no scenario was checked"
    if not report.exploration.complete:
        return None, f"not all states of {report.name} are known"
    if report.exploration.states > _STATES_MAX:
        return None, f"{report.name} has more than {_STATES_MAX:,} states"
    return loaded.file.scenarios[report.name], ""


def _tables(loaded: Loaded, checked: CheckedFile, runner: Runner) -> tuple[Document | None, str]:
    """Return the tables, or why they are left out; neither where there are none."""
    claim, why = _first(loaded, checked)
    if claim is None:
        return None, why
    names = list(dict.fromkeys(name for name, _ in claim.specification.tables))
    if not names:
        return None, ""
    from checker.commands.table import tables_of

    return tables_of(loaded, claim, names, runner)[0], ""


def _graph(loaded: Loaded, checked: CheckedFile, runner: Runner) -> tuple[str, str]:
    """Return the drawing, or why there is none."""
    claim, why = _first(loaded, checked)
    if claim is None:
        return "", why
    if not claim.specification.views:
        return "", "the specification declares no view to look through"
    from checker.reporting.graphs.pictures import svg

    file = loaded.file.source.file
    system = systems_of({file: (loaded, {claim.name: claim})}, runner.options.bound)[file][claim.name]
    name, keys = next(iter(claim.specification.views.items()))
    try:
        found = projection(system, viewed_slots(system, keys), runner.limits)
        if len(found.situations) > _SITUATIONS_MAX:
            return "", f"through the view {name} it has {len(found.situations):,} situations"
        return svg(found, f"{claim.specification.name}, {claim.name}, view {name}"), ""
    except CutShort as cut:
        return "", f"not all states are known ({cut})"
    except ImportError:
        return "", "drawing needs the extra `pictures`"


def _proofs(checked: CheckedFile, options: RunOptions) -> dict[str, Proof]:
    """Return the certificates that are remembered of the scenarios."""
    found = {}
    for report in checked.report.scenarios:
        claim = certified_hash(checked.file.source, checked.claim(report), report.exploration.system)
        known = remembered(options.cache, claim)
        if known is not None:
            found[report.name] = Proof(known.obligations, known.solvers)
    return found

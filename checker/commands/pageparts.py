"""What a page shows beside the claims of a file: what the commands that are asked for each of it would say.

Tables and graph are about the first scenario, as with the commands, and are there unless it is large. Matrix, sweep and
mutants take many explorations, and are there where somebody asks for them.
"""

from __future__ import annotations

from collections.abc import Collection

from checker.certificates.memory import remembered
from checker.commands.inputs import Loaded
from checker.commands.running import Runner, RunOptions, systems_of
from checker.engines.projection import projection, viewed_slots
from checker.engines.reachable import CutShort
from checker.identity import certified_hash
from checker.judgement import ScenarioReport
from checker.reporting.envelope import Document
from checker.reporting.html.page import Parts, Proof
from checker.results import CheckedFile
from checker.verdict import Verdict
from model.specification import Scenario

_STATES_MAX = 20_000
"""Of the first scenario: with more states than this its tables and graph cost more than the check itself."""

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
    matrix, unbroken = _matrix(loaded, runner) if "matrix" in wanted else (None, ())
    return Parts(
        tables=tables,
        why_no_tables=why_no_tables,
        graph=graph,
        why_no_graph=why_no_graph,
        matrix=matrix,
        unbroken=unbroken,
        sweep=_sweep(loaded, runner) if "sweep" in wanted else None,
        mutation=_mutation(loaded, runner) if "mutate" in wanted else None,
        no_view=not loaded.file.specification.views,
        no_sweep=loaded.file.sweep is None,
        proofs=_proofs(checked, runner.options),
    )


def _matrix(loaded: Loaded, runner: Runner) -> tuple[Document, tuple[str, ...]]:
    """Return the matrix, and the properties that hold with any number of crashes."""
    from checker.commands.matrix import matrix_view, situation_keys
    from checker.matrix import claims_of
    from checker.reporting.matrix import matrix_document

    claim = next(iter(loaded.file.scenarios.values()))
    view = matrix_view(loaded, claim, situation_keys(claim, ""), runner, None)
    holding = (Verdict.HOLDS, Verdict.PROVED)
    unbroken = tuple(asked.name for asked in claims_of(view.matrix.anywhere) if asked.verdict in holding)
    return matrix_document(view), unbroken


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

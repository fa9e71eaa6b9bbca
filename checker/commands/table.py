"""`killpoint table`: decision tables over all inputs, and where they are consulted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from checker.backends.smt.relation import Relation
from checker.commands.answers import print_document, warn
from checker.commands.choices import check_names, one_claim, raise_if_any
from checker.commands.inputs import Loaded, load_one
from checker.commands.refusal import BadInput
from checker.commands.running import Runner, RunOptions
from checker.engines.consultations import Consultations
from checker.reporting.envelope import Document
from checker.reporting.output import standard_output
from checker.reporting.tables import table_lines, tables_document
from checker.tables import table_report
from checker.verdict import ExitCode, worst
from model.diagnostics import Code, Diagnostic, SpecificationError
from model.specification import Scenario
from model.system import TransitionSystem


@dataclass(frozen=True, slots=True)
class TableOptions:
    """Which table, under which parameters."""

    specification: str
    table: str = ""
    scenario: str = ""
    all_scenarios: bool = False
    as_json: bool = False


def run(options: TableOptions, running: RunOptions) -> ExitCode:
    """Print what there is to say of one table or all of them.

    Raises:
        BadInput: the file or an option is wrong.
    """
    if options.scenario and options.all_scenarios:
        raise BadInput(
            [Diagnostic(Code.OPTIONS_CONFLICT, "`--scenario` takes one scenario, and `--all` all of them", None)]
        )
    loaded = load_one(options.specification)
    claim = None if options.all_scenarios else one_claim(loaded, options.scenario, "")
    system = _system(loaded, claim)
    names = list(dict.fromkeys(name for name, _ in system.specification.tables))
    if options.table:
        raise_if_any(check_names([options.table], names, Code.UNKNOWN_TABLE, "table"))
        names = [options.table]
    if not names:
        raise BadInput([Diagnostic(Code.UNKNOWN_TABLE, f"`{loaded.file.source.file}` has no tables", None)])
    if not options.as_json:
        warn([loaded])
    with Runner(running) as runner:
        document, code = tables_of(loaded, claim, names, runner)
    if options.as_json:
        print_document("table", code, document)
        return code
    output = standard_output()
    output.lines(table_lines(document, output.width))
    return code


def tables_of(loaded: Loaded, claim: Scenario | None, names: list[str], runner: Runner) -> tuple[Document, ExitCode]:
    """Return what there is to say of some tables under a scenario, or under all of them.

    Raises:
        BadInput: there is no such system.
    """
    system = _system(loaded, claim)
    consulted = _consulted(loaded, claim, names, runner)
    relation = Relation(system)
    reports = [table_report(name, system, relation, consulted) for name in names]
    scenario, variant = ("", "") if claim is None else (claim.name, claim.variant)
    document = tables_document(loaded.file, system, reports, scenario=scenario, variant=variant)
    return document, worst(report.exit_code for report in reports)


def _system(loaded: Loaded, claim: Scenario | None) -> TransitionSystem:
    """Return the system whose types the inputs have: the file as it stands, or one scenario."""
    try:
        return TransitionSystem.of(claim) if claim is not None else TransitionSystem(loaded.file.specification, {}, {})
    except SpecificationError as error:
        raise BadInput(error.diagnostics, loaded.sources) from error


def _consulted(
    loaded: Loaded, claim: Scenario | None, names: list[str], runner: Runner
) -> Mapping[str, tuple[TransitionSystem, Consultations]]:
    """Explore the scenarios that have one of the tables."""
    chosen = loaded.file.scenarios if claim is None else {claim.name: claim}
    having = {n: c for n, c in chosen.items() if any(table in names for table, _ in c.specification.tables)}
    return runner.consult(loaded, having)

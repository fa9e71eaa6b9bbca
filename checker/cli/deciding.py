"""Commands that decide whether the claims of a specification are true."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from checker.cli.answering import answer
from checker.cli.application import Purpose, command
from checker.cli.options import (
    AsJson,
    Bound,
    Engine,
    EngineChoice,
    MaxStates,
    NoCache,
    OnlyProperties,
    OnlyScenarios,
    OutItf,
    Specification,
    Specifications,
    Timeout,
    Workers,
    running_options,
)
from checker.verdict import ExitCode


@command(
    Purpose.DECIDE, "check", "check spec/killed_workflow.yaml", "check killed_workflow -s baseline -p one_submission"
)
def check(
    *,
    specifications: Specifications = None,
    scenario: OnlyScenarios = None,
    properties: OnlyProperties = None,
    mutant: Annotated[list[str] | None, typer.Option("--mutant", "-m", help="Only this one; may be repeated.")] = None,
    as_json: AsJson = False,
    max_states: MaxStates = None,
    timeout: Timeout = None,
    bound: Bound = None,
    workers: Workers = None,
    engine: EngineChoice = Engine.COLUMNAR,
    no_cache: NoCache = False,
    out_itf: OutItf = None,
    reports: Annotated[
        Path | None, typer.Option("--reports", metavar="DIR", help="Write summary.md, summary.json and run.json there.")
    ] = None,
    paranoid: Annotated[
        bool, typer.Option("--paranoid", help="First compare all engines on every claim; slow, see below.")
    ] = False,
    paranoid_states: Annotated[
        int, typer.Option("--paranoid-states", metavar="N", help="States of each claim that are compared one by one.")
    ] = 300,
    junit: Annotated[Path | None, typer.Option("--junit", metavar="FILE", help="Also write JUnit XML.")] = None,
    sarif: Annotated[Path | None, typer.Option("--sarif", metavar="FILE", help="Also write SARIF 2.1.0.")] = None,
    markdown: Annotated[
        Path | None, typer.Option("--markdown", metavar="FILE", help="Also write Markdown, for the summary of a job.")
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Also write a page (*.html), or one each into a directory."),
    ] = None,
    parts: Annotated[
        list[str] | None,
        typer.Option("--with", metavar="PART,…", help="Further parts of the page: matrix, sweep, mutate."),
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json-file", metavar="FILE", help="Also write what `--json` prints.")
    ] = None,
    certify: Annotated[
        bool, typer.Option("--certify", help="Make certificates where they are missing; takes minutes.")
    ] = False,
) -> None:
    """Decide every claim of a specification.

    Every scenario must break exactly what it declares, and every mutant must be caught.

    Of all the bundled specifications of a checkout the record in reports/ is refreshed.

    With --paranoid the evaluator, the columns and the SMT terms have to say the same of all states of a claim, or of so
    many evenly spread ones (1 to 20 milliseconds each), and the oracle explores what has no more than 5,000 states.
    """

    def run() -> ExitCode:
        from checker.commands.check import CheckOptions, run
        from checker.commands.choices import positive, raise_if_any
        from checker.commands.exports import Exports
        from checker.commands.pages import pages_of

        raise_if_any(positive("--paranoid-states", paranoid_states))
        chosen = CheckOptions(
            specifications or (),
            scenario or (),
            properties or (),
            mutant or (),
            as_json,
            out_itf,
            reports,
            paranoid_states if paranoid else 0,
            certify,
            Exports(junit, sarif, markdown, json_file),
            pages_of(html, parts or ()),
        )
        return run(chosen, running_options(max_states, timeout, workers, engine, no_cache=no_cache, bound=bound))

    answer("check", run, as_json=as_json)


@command(
    Purpose.DECIDE,
    "mutate --fail-on-survivors",
    "mutate killed_workflow --scenario baseline",
    "mutate two_phase_commit --fail-on-survivors",
    "mutate two_phase_commit --mutant 'manager.*'",
)
def mutate(
    *,
    specifications: Specifications = None,
    scenario: OnlyScenarios = None,
    operator: Annotated[
        list[str] | None, typer.Option("--operator", help="Only this way to change it; may be repeated.")
    ] = None,
    mutant: Annotated[
        list[str] | None,
        typer.Option("--mutant", "-m", metavar="NAME", help="Only these, `*` for any text; shown with their traces."),
    ] = None,
    fail_on_survivors: Annotated[
        bool, typer.Option("--fail-on-survivors", help="Exit code 1 where a survivor has no reason in the file.")
    ] = False,
    as_json: AsJson = False,
    max_states: MaxStates = None,
    timeout: Timeout = None,
    bound: Bound = None,
    workers: Workers = None,
    no_cache: NoCache = False,
    reports: Annotated[
        Path | None, typer.Option("--reports", metavar="DIR", help="Write mutation.md and run.json there.")
    ] = None,
) -> None:
    """Change the protocol in one place at a time; some claim should break.

    Guards, conjuncts, steps, rows, assignments, outputs of tables and boundaries are dropped or changed, one in each
    mutant, and every scenario that holds is asked again until one breaks. A mutant that survives shows that a piece of
    the protocol is superfluous, that a property is missing, or it is equivalent, which `equivalent:` in the file says
    with a reason. docs/mutation.md has the operators.

    Of all the bundled specifications of a checkout --fail-on-survivors refreshes the record reports/mutation.md.
    """

    def run() -> ExitCode:
        from checker.commands.mutate import MutateOptions, run

        chosen = MutateOptions(
            specifications or (), scenario or (), operator or (), mutant or (), fail_on_survivors, as_json, reports
        )
        running = running_options(max_states, timeout, workers, Engine.COLUMNAR, no_cache=no_cache, bound=bound)
        return run(chosen, running)

    answer("mutate", run, as_json=as_json)


@command(
    Purpose.DECIDE,
    "explore killed_workflow --set attempts=1 --allow stale_lookup=1 --allow crash=1@coordinator.record_reply",
)
def explore(
    *,
    specification: Specification,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A parameter; may be repeated.")
    ] = None,
    allow: Annotated[
        list[str] | None,
        typer.Option(
            "--allow",
            metavar="FAULT=COUNT",
            help="A fault: a number, unlimited or off; crashes also at kill points, crash=1@process.step.",
        ),
    ] = None,
    crashes: Annotated[
        str | None,
        typer.Option(
            "--crashes",
            metavar="POINT,...",
            help="Which crashes there are, one after the other: kill points, or anywhere.",
        ),
    ] = None,
    variant: Annotated[str, typer.Option("--variant", help="A variant of the protocol.")] = "",
    asked: Annotated[str, typer.Option("--property", "-p", help="Only this property.")] = "",
    as_json: AsJson = False,
    max_states: MaxStates = None,
    timeout: Timeout = None,
    bound: Bound = None,
    workers: Workers = None,
    engine: EngineChoice = Engine.COLUMNAR,
    no_cache: NoCache = False,
    out_itf: OutItf = None,
) -> None:
    """Ask what if: one free run.

    The protocol under parameters and faults of your choice: what holds, what breaks, and how.
    """

    def run() -> ExitCode:
        from checker.commands.explore import ExploreOptions, run

        chosen = ExploreOptions(specification, variant, settings or (), allow or (), crashes, asked, as_json, out_itf)
        return run(chosen, running_options(max_states, timeout, workers, engine, no_cache=no_cache, bound=bound))

    answer("explore", run, as_json=as_json)


@command(Purpose.DECIDE, "sweep killed_workflow", "sweep killed_workflow --property one_submission --json")
def sweep(
    *,
    specification: Specification,
    properties: OnlyProperties = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Also explore what follows from other combinations, and compare.")
    ] = False,
    as_json: AsJson = False,
    max_states: MaxStates = None,
    timeout: Timeout = None,
    bound: Bound = None,
    workers: Workers = None,
    engine: EngineChoice = Engine.COLUMNAR,
    no_cache: NoCache = False,
) -> None:
    """Find out what a protocol needs of its surroundings.

    Every combination of the promises that the file names under `sweep`, with a verdict for each property; the weakest
    contracts that are safe, and the fewest weaknesses that break something.

    What may happen less often breaks no more, so along faults many verdicts follow from others. Of parameters nothing
    is taken for granted; a promise that makes a property worse is reported.
    """

    def run() -> ExitCode:
        from checker.commands.sweep import SweepOptions, run

        chosen = SweepOptions(specification, properties or (), verify, as_json)
        return run(chosen, running_options(max_states, timeout, workers, engine, no_cache=no_cache, bound=bound))

    answer("sweep", run, as_json=as_json)

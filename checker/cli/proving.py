"""Commands that prove: for others to check again, and for any number."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from checker.cli.answering import answer
from checker.cli.application import Purpose, command
from checker.cli.options import (
    AsJson,
    Engine,
    InsteadMutant,
    MaxStates,
    NoCache,
    OneScenario,
    OnlyProperties,
    OnlyScenarios,
    Seconds,
    Solver,
    SolverChoice,
    Specification,
    Specifications,
    Timeout,
    Workers,
    running_options,
    solvers,
)
from checker.verdict import ExitCode


@command(Purpose.PROVE, "prove killed_workflow -s baseline -o certificates")
def prove(
    *,
    specifications: Specifications = None,
    scenario: OnlyScenarios = None,
    directory: Annotated[
        Path | None,
        typer.Option("-o", "--out", metavar="DIR", help="Keep the certificates there, a folder for each scenario."),
    ] = None,
    solver: SolverChoice = Solver.BOTH,
    seconds: Seconds = 60.0,
    as_json: AsJson = False,
    max_states: MaxStates = None,
    timeout: Timeout = None,
    workers: Workers = None,
    no_cache: NoCache = False,
    reports: Annotated[
        Path | None, typer.Option("--reports", metavar="DIR", help="Write proofs.md and run.json there.")
    ] = None,
) -> None:
    """Make certificates, and check them.

    The reachable states of each scenario become an inductive invariant, and that becomes obligations that Z3 and cvc5
    confirm. Where numbers have no end, an induction does.

    Of all the bundled specifications of a checkout the record reports/proofs.md is refreshed.
    """

    def run() -> ExitCode:
        from checker.commands.prove import ProveOptions, run

        chosen = ProveOptions(
            specifications or (), scenario or (), directory, solvers(solver), seconds, as_json, reports
        )
        return run(
            chosen, running_options(max_states, timeout, workers, Engine.COLUMNAR, no_cache=no_cache, bound=None)
        )

    answer("prove", run, as_json=as_json)


@command(Purpose.PROVE, "recheck certificates --solver cvc5")
def recheck(
    *,
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A certificate, or a directory of them.")],
    solver: SolverChoice = Solver.BOTH,
    seconds: Seconds = 60.0,
    specification: Annotated[
        str, typer.Option("--spec", metavar="FILE", help="The specification that it has to be about.")
    ] = "",
    as_json: AsJson = False,
    workers: Workers = None,
    no_cache: NoCache = False,
) -> None:
    """Check certificates again.

    Nothing of the explorer is needed for it. What was tampered with is found, and every obligation is put to the
    solvers.

    Exit codes: 0 every certificate stands, 1 one is refuted or not what it says, 2 no certificate, 3 a solver gave no
    answer in time.
    """

    def run() -> ExitCode:
        from checker.commands.recheck import RecheckCommand, run

        running = running_options(None, seconds, workers, Engine.COLUMNAR, no_cache=no_cache, bound=None)
        chosen = RecheckCommand(directory, solvers(solver), seconds, specification, as_json, running.workers)
        return run(chosen, running.cache)

    answer("recheck", run, as_json=as_json)


@command(Purpose.PROVE, "induct any_attempt")
def induct(
    *,
    specification: Specification,
    scenario: OneScenario = "",
    mutant: InsteadMutant = "",
    properties: OnlyProperties = None,
    depth: Annotated[int, typer.Option("--depth", metavar="K", help="Runs and inductions up to so many steps.")] = 10,
    timeout: Timeout = None,
    as_json: AsJson = False,
) -> None:
    """Prove or refute for any number, without a bound.

    Shortest counterexamples up to a length, induction over several states with all properties as lemmas, and Spacer
    where neither decides. What cannot be proved shows two states that a proof would have to exclude.
    """

    def run() -> ExitCode:
        from checker.commands.induct import InductOptions, run

        return run(InductOptions(specification, scenario, mutant, properties or (), depth, timeout, as_json))

    answer("induct", run, as_json=as_json)

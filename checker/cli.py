"""The command line: options as typed functions, exit codes, and what is said when something goes wrong.

Kept light: a command imports what it needs when it runs, so that `--help` waits for no engine.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from checker.installation import foreign_model, version
from checker.verdict import ExitCode

if TYPE_CHECKING:
    from checker.backends.smt.solvers import SolverName
    from checker.commands.running import RunOptions

_HELP = """Can any crash, together with any other fault we admit, make this protocol go wrong?

Exit codes: 0 everything as declared, 1 a property breaks undeclared or a declared break does not happen, 2 bad input,
3 inconclusive, 4 vacuous, 5 engines disagree, 70 internal error."""

app = typer.Typer(
    name="killpoint",
    help=_HELP,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


class Engine(StrEnum):
    """The explorers to choose from."""

    COLUMNAR = "columnar"
    ORACLE = "oracle"


class Solver(StrEnum):
    """The solvers to choose from."""

    Z3 = "z3"
    CVC5 = "cvc5"
    BOTH = "both"


Specification = Annotated[
    str, typer.Argument(metavar="SPEC", help="A YAML file, or the name of a bundled specification.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document (docs/schemas/) instead of text.")]
MaxStates = Annotated[int | None, typer.Option("--max-states", help="Stop a run beyond so many states.")]
Timeout = Annotated[float | None, typer.Option("--timeout", help="Stop after so many seconds.", metavar="SECONDS")]
Workers = Annotated[int | None, typer.Option("--workers", help="Processors to use; all of them unless told.")]
EngineChoice = Annotated[Engine, typer.Option("--engine", help="Which explorer; the oracle is slow and obvious.")]
Bound = Annotated[int | None, typer.Option("--bound", help="Follow each `nat` up to this number.")]
SolverChoice = Annotated[Solver, typer.Option("--solver", help="Who is asked; only cvc5 makes it `proved`.")]
Seconds = Annotated[
    float, typer.Option("--seconds", metavar="SECONDS", help="How long a solver may take for one obligation.")
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Explore anew, and store nothing.")]
OutItf = Annotated[Path | None, typer.Option("--out-itf", metavar="FILE", help="Also write the trace in ITF.")]


def _version(value: bool) -> None:
    if value:
        typer.echo(f"killpoint {version()}")
        raise typer.Exit


@app.callback()
def options(
    *,
    show_version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """Take the options that come before a command."""
    del show_version


@app.command()
def check(
    *,
    specifications: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SPEC]...", help="Files or directories; all bundled ones unless told."),
    ] = None,
    scenario: Annotated[
        list[str] | None, typer.Option("--scenario", "-s", help="Only this one; may be repeated.")
    ] = None,
    properties: Annotated[
        list[str] | None, typer.Option("--property", "-p", help="Only this one; may be repeated.")
    ] = None,
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
        )
        return run(chosen, _running(max_states, timeout, workers, engine, no_cache=no_cache, bound=bound))

    _answer("check", run, as_json=as_json)


@app.command()
def show(*, specification: Specification, as_json: AsJson = False) -> None:
    """Show what a specification declares.

    Kill points, steps, tables, faults, parameters, properties, scenarios and mutants at a glance.
    """

    def run() -> ExitCode:
        from checker.commands.show import run

        return run(specification, as_json=as_json)

    _answer("show", run, as_json=as_json)


@app.command("list")
def list_specifications(
    *,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[WORD]...", help="Only files whose text has all of these words.")
    ] = None,
    pattern: Annotated[str, typer.Option("--pattern", help="Only files about this pattern of flaw.")] = "",
    asked: Annotated[str, typer.Option("--property", "-p", help="Only files with this property.")] = "",
    fault: Annotated[str, typer.Option("--fault", help="Only files with this fault.")] = "",
    places: Annotated[
        list[str] | None,
        typer.Option("--in", metavar="PATH", help="A file or directory instead of the bundled ones; may be repeated."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List specifications, to find the one that is like yours.

    By pattern of flaw, property, fault, or any words.
    """

    def run() -> ExitCode:
        from checker.commands.list import ListOptions, run

        return run(ListOptions(words or (), places or (), pattern, asked, fault, as_json))

    _answer("list", run, as_json=as_json)


@app.command()
def trace(
    *,
    specification: Specification,
    scenario: Annotated[str, typer.Option("--scenario", "-s", help="The scenario; the first unless told.")] = "",
    asked: Annotated[
        str, typer.Option("--property", "-p", help="The property; the one that breaks soonest unless told.")
    ] = "",
    mutant: Annotated[str, typer.Option("--mutant", "-m", help="A mutant instead of a scenario.")] = "",
    as_json: AsJson = False,
    max_states: MaxStates = None,
    timeout: Timeout = None,
    bound: Bound = None,
    workers: Workers = None,
    engine: EngineChoice = Engine.COLUMNAR,
    no_cache: NoCache = False,
    out_itf: OutItf = None,
) -> None:
    """Show the shortest counterexample or witness.

    The shortest run that breaks a property, or that reaches a `possible` one.
    """

    def run() -> ExitCode:
        from checker.commands.trace import TraceOptions, run

        chosen = TraceOptions(specification, scenario, mutant, asked, as_json, out_itf)
        return run(chosen, _running(max_states, timeout, workers, engine, no_cache=no_cache, bound=bound))

    _answer("trace", run, as_json=as_json)


@app.command()
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

        chosen = ExploreOptions(specification, variant, settings or (), allow or (), asked, as_json, out_itf)
        return run(chosen, _running(max_states, timeout, workers, engine, no_cache=no_cache, bound=bound))

    _answer("explore", run, as_json=as_json)


@app.command()
def table(
    *,
    specification: Specification,
    name: Annotated[str, typer.Argument(metavar="[TABLE]", help="Only this table.")] = "",
    scenario: Annotated[
        str,
        typer.Option("--scenario", "-s", help="The parameters, variant and states of this one; the first unless told."),
    ] = "",
    all_scenarios: Annotated[
        bool, typer.Option("--all", help="The states of all scenarios, and the inputs under the file's own parameters.")
    ] = False,
    as_json: AsJson = False,
    max_states: MaxStates = None,
    timeout: Timeout = None,
) -> None:
    """Look at decision tables over all inputs, and where they are consulted.

    Over all values of the variables that the rows read: is there always a row, do two fit, which can never be the one,
    which could be one row. Beside it, for every row, in how many reachable situations it is taken, a situation being
    the values of these variables at the moment of the consultation, and after a crash at which kill points an instance
    may take it the next time that it consults the table; where nobody who consults it can crash, after a crash of
    others. Some thousand states a second are looked at.

    Exit code 1: a reachable state consults the table where no row fits, or two of an exclusive table do.
    """

    def run() -> ExitCode:
        from checker.commands.table import TableOptions, run

        return run(
            TableOptions(specification, name, scenario, all_scenarios, as_json),
            _running(max_states, timeout, 1, Engine.ORACLE, no_cache=True, bound=None),
        )

    _answer("table", run, as_json=as_json)


@app.command()
def induct(
    *,
    specification: Specification,
    scenario: Annotated[str, typer.Option("--scenario", "-s", help="The scenario; the first unless told.")] = "",
    mutant: Annotated[str, typer.Option("--mutant", "-m", help="A mutant instead of a scenario.")] = "",
    properties: Annotated[
        list[str] | None, typer.Option("--property", "-p", help="Only this one; may be repeated.")
    ] = None,
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

    _answer("induct", run, as_json=as_json)


@app.command()
def prove(
    *,
    specifications: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SPEC]...", help="Files or directories; all bundled ones unless told."),
    ] = None,
    scenario: Annotated[
        list[str] | None, typer.Option("--scenario", "-s", help="Only this one; may be repeated.")
    ] = None,
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
    confirm.

    Of all the bundled specifications of a checkout the record reports/proofs.md is refreshed.
    """

    def run() -> ExitCode:
        from checker.commands.prove import ProveOptions, run

        chosen = ProveOptions(
            specifications or (), scenario or (), directory, _solvers(solver), seconds, as_json, reports
        )
        return run(chosen, _running(max_states, timeout, workers, Engine.COLUMNAR, no_cache=no_cache, bound=None))

    _answer("prove", run, as_json=as_json)


@app.command()
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

        running = _running(None, seconds, workers, Engine.COLUMNAR, no_cache=no_cache, bound=None)
        chosen = RecheckCommand(directory, _solvers(solver), seconds, specification, as_json, running.workers)
        return run(chosen, running.cache)

    _answer("recheck", run, as_json=as_json)


@app.command()
def explain(
    *, code: Annotated[str, typer.Argument(metavar="CODE", help="KP201, 201 or UNKNOWN_NAME.")], as_json: AsJson = False
) -> None:
    """Explain a code, with examples."""

    def run() -> ExitCode:
        from checker.commands.explain import run

        return run(code, as_json=as_json)

    _answer("explain", run, as_json=as_json)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line, `sys.argv` unless told otherwise; return the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    foreign = foreign_model()
    if foreign:
        sys.stderr.write(f"killpoint cannot start: {foreign}\n")
        return ExitCode.BAD_INPUT
    try:
        app(None if arguments is None else list(arguments), prog_name="killpoint")
    except SystemExit as end:
        return (
            end.code if isinstance(end.code, int) else ExitCode.AS_DECLARED if end.code is None else ExitCode.INTERNAL
        )
    return ExitCode.AS_DECLARED


def _running(
    states_max: int | None,
    timeout: float | None,
    workers: int | None,
    engine: Engine,
    *,
    no_cache: bool,
    bound: int | None,
) -> RunOptions:
    from checker.cache import NO_CACHE, user_cache
    from checker.commands.choices import positive, raise_if_any, within
    from checker.commands.running import RunOptions, available_processors
    from model import limits

    found = [*positive("--max-states", states_max), *positive("--timeout", timeout), *positive("--workers", workers)]
    found += [] if bound is None else within("--bound", bound, limits.BOUND_MAX)
    raise_if_any(found)
    return RunOptions(
        states_max=states_max,
        timeout=timeout,
        workers=workers or available_processors(),
        engine=engine.value,
        cache=NO_CACHE if no_cache else user_cache(),
        bound=bound,
    )


def _solvers(solver: Solver) -> tuple[SolverName, ...]:
    from checker.backends.smt.solvers import SOLVERS

    return tuple(name for name in SOLVERS if solver in (name, Solver.BOTH))


def _answer(command: str, run: Callable[[], ExitCode], *, as_json: bool) -> None:
    """Run a command and leave with its code, whatever happens."""
    from checker.commands.answers import refuse
    from checker.commands.refusal import BadInput

    try:
        code = run()
        sys.stdout.flush()
    except BadInput as error:
        code = refuse(command, error, as_json=as_json)
    except MemoryError:
        sys.stderr.write("out of memory: nothing can be said; try `--max-states`, fewer faults or smaller parameters\n")
        code = ExitCode.INCONCLUSIVE
    except BrokenPipeError:
        code = _pipe_closed()
    except KeyboardInterrupt:
        code = _die_interrupted()
    except Exception as error:  # noqa: BLE001 - the last resort: say what happened and that it is our fault
        code = _our_fault(command, error)
    raise typer.Exit(code)


_PLEASE_REPORT = "This is a defect of killpoint. Please report it, with the command and the specification."


def _our_fault(command: str, error: Exception) -> ExitCode:
    """Say that the fault is not with whoever runs this."""
    from checker.trace import EngineDisagreement

    if isinstance(error, EngineDisagreement):
        sys.stderr.write(f"engines disagree: {error}\n{_PLEASE_REPORT}\n")
        return ExitCode.DISAGREEMENT
    traceback.print_exception(error)
    sys.stderr.write(f"\ninternal error in `killpoint {command}`. {_PLEASE_REPORT}\n")
    return ExitCode.INTERNAL


def _pipe_closed() -> ExitCode:
    """Leave quietly when whoever reads our output has seen enough (`killpoint show … | head`)."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    return ExitCode.AS_DECLARED


def _die_interrupted() -> ExitCode:
    """End as a program ends that does not handle Ctrl-C, so that a calling shell sees it too."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGINT)
    return ExitCode.INCONCLUSIVE

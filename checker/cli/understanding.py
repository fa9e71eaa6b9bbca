"""Commands that help to understand: what is declared, how it goes wrong, what a table does."""

from __future__ import annotations

from enum import StrEnum
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
    InsteadMutant,
    MaxStates,
    NoCache,
    OneScenario,
    OnlyProperties,
    OutItf,
    Specification,
    Timeout,
    Workers,
    running_options,
)
from checker.verdict import ExitCode


class GraphFormat(StrEnum):
    """What a graph can be written as."""

    DOT = "dot"
    GRAPHML = "graphml"
    MERMAID = "mermaid"
    SVG = "svg"
    PNG = "png"


@command(Purpose.UNDERSTAND, "show killed_workflow")
def show(*, specification: Specification, as_json: AsJson = False) -> None:
    """Show what a specification declares.

    Kill points, steps, tables, faults, parameters, properties, scenarios and mutants at a glance.
    """

    def run() -> ExitCode:
        from checker.commands.show import run

        return run(specification, as_json=as_json)

    answer("show", run, as_json=as_json)


@command(Purpose.UNDERSTAND, "list", "list lock file", 'list --pattern "absence believed"', name="list")
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

    answer("list", run, as_json=as_json)


@command(
    Purpose.UNDERSTAND,
    "trace killed_workflow -s q-a1-slow-coordinator",
    "trace killed_workflow -m submit-without-look-up -p one_submission",
    "trace killed_workflow -s q-a1-slow-coordinator --adapter yours:Adapter --as-pytest test_slow.py",
)
def trace(
    *,
    specification: Specification,
    scenario: OneScenario = "",
    asked: Annotated[
        str, typer.Option("--property", "-p", help="The property; the one that breaks soonest unless told.")
    ] = "",
    mutant: InsteadMutant = "",
    as_json: AsJson = False,
    max_states: MaxStates = None,
    timeout: Timeout = None,
    bound: Bound = None,
    workers: Workers = None,
    engine: EngineChoice = Engine.COLUMNAR,
    no_cache: NoCache = False,
    out_itf: OutItf = None,
    as_pytest: Annotated[
        Path | None,
        typer.Option("--as-pytest", metavar="FILE", help="Also write a test that drives an implementation through it."),
    ] = None,
    adapter: Annotated[
        str, typer.Option("--adapter", metavar="MODULE:CLASS", help="The implementation that the test drives.")
    ] = "",
) -> None:
    """Show the shortest counterexample or witness.

    The shortest run that breaks a property, or that reaches a `possible` one.

    With `--as-pytest` it becomes a test of an implementation: of the one that the file names under `reference`, unless
    told. An implementation passes that does the same, and where the run is a mutant's, one that does not.
    """

    def run() -> ExitCode:
        from checker.commands.trace import TraceOptions, run

        chosen = TraceOptions(specification, scenario, mutant, asked, as_json, out_itf, as_pytest, adapter)
        return run(chosen, running_options(max_states, timeout, workers, engine, no_cache=no_cache, bound=bound))

    answer("trace", run, as_json=as_json)


@command(Purpose.UNDERSTAND, "table killed_workflow", "table killed_workflow plan --all")
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
    """Look at decision tables, over all inputs and as they are used.

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
            running_options(max_states, timeout, 1, Engine.ORACLE, no_cache=True, bound=None),
        )

    answer("table", run, as_json=as_json)


@command(
    Purpose.UNDERSTAND,
    "matrix killed_workflow",
    "matrix killed_workflow --scenario q-a5-lagging-lookup --cell record_reply,look_up",
)
def matrix(
    *,
    specification: Specification,
    scenario: OneScenario = "",
    mutant: InsteadMutant = "",
    properties: OnlyProperties = None,
    cell: Annotated[
        str, typer.Option("--cell", metavar="A[,B]", help="Only a crash there, and then there: what follows, and how.")
    ] = "",
    view: Annotated[
        str,
        typer.Option(
            "--view", help="What a recovery sees: a view, or variables x,y; the view `situation` unless told."
        ),
    ] = "",
    as_json: AsJson = False,
    max_states: MaxStates = None,
    timeout: Timeout = None,
    bound: Bound = None,
    workers: Workers = None,
    engine: EngineChoice = Engine.COLUMNAR,
    no_cache: NoCache = False,
) -> None:
    """Crash at every kill point, and once more at every other.

    For each kill point: whether one crash there breaks anything, whether any number of them does, what a recovery may
    see and which row of a table it may take next. For each pair: whether a crash here and then one there does. And for
    each property the smallest number of crashes that breaks it.

    What the scenario says of crashes is what is varied; everything else is as it says.

    Exit code 4: at a kill point no scenario ever has a crash, and `unused` does not say why.
    """

    def run() -> ExitCode:
        from checker.commands.matrix import MatrixOptions, run

        chosen = MatrixOptions(specification, scenario, mutant, properties or (), cell, view, as_json)
        return run(chosen, running_options(max_states, timeout, workers, engine, no_cache=no_cache, bound=bound))

    answer("matrix", run, as_json=as_json)


@command(Purpose.UNDERSTAND, "explain KP201")
def explain(
    *, code: Annotated[str, typer.Argument(metavar="CODE", help="KP201, 201 or UNKNOWN_NAME.")], as_json: AsJson = False
) -> None:
    """Explain a code, with examples."""

    def run() -> ExitCode:
        from checker.commands.explain import run

        return run(code, as_json=as_json)

    answer("explain", run, as_json=as_json)


@command(
    Purpose.UNDERSTAND,
    "graph killed_workflow --view situation -o situations.svg",
    "graph killed_workflow --view run --format mermaid",
)
def graph(
    *,
    specification: Specification,
    view: Annotated[
        str, typer.Option("--view", metavar="VIEW", help="A view of the file, or variables with commas between them.")
    ] = "",
    scenario: OneScenario = "",
    mutant: InsteadMutant = "",
    form: Annotated[
        GraphFormat | None, typer.Option("--format", help="Unless told, what the ending of the file says.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", metavar="FILE", help="Where to; to standard output unless told.")
    ] = None,
    loops: Annotated[bool, typer.Option("--loops", help="Also draw what stays in its situation.")] = False,
    as_json: AsJson = False,
    max_states: MaxStates = None,
    timeout: Timeout = None,
    bound: Bound = None,
) -> None:
    """Draw the transition graph seen through a view.

    States that agree in the variables of the view are one situation. An arrow says which steps lead from one to
    another, a dashed one that only a crash does; the situations in which an `always` property breaks are red.

    Pictures need the extra `killpoint[pictures]`, and no program beside Python.
    """

    def run() -> ExitCode:
        from checker.commands.graph import GraphOptions, run

        chosen = GraphOptions(specification, view, scenario, mutant, form.value if form else "", out, loops, as_json)
        return run(chosen, running_options(max_states, timeout, 1, Engine.COLUMNAR, no_cache=True, bound=bound))

    answer("graph", run, as_json=as_json)


@command(Purpose.UNDERSTAND, "step killed_workflow", "step killed_workflow -m submit-without-look-up")
def step(
    *,
    specification: Specification,
    scenario: OneScenario = "",
    mutant: InsteadMutant = "",
    seed: Annotated[int, typer.Option("--seed", help="Where random walks go.")] = 0,
    max_states: MaxStates = None,
    timeout: Timeout = None,
    bound: Bound = None,
) -> None:
    """Walk through a protocol by hand.

    Lists what may happen, takes what you choose, goes back, lets a process crash, shows what its recovery would do, and
    jumps to a violation. Reads commands from standard input; `h` lists them.
    """

    def run() -> ExitCode:
        from checker.commands.step import StepOptions, run

        return run(
            StepOptions(specification, scenario, mutant, seed),
            running_options(max_states, timeout, None, Engine.COLUMNAR, no_cache=False, bound=bound),
        )

    answer("step", run, as_json=False)

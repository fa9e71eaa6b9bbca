"""Options and arguments that several commands take: the same word means the same everywhere."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from checker.backends.smt.solvers import SolverName
    from checker.commands.running import RunOptions


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
Specifications = Annotated[
    list[str] | None,
    typer.Argument(metavar="[SPEC]...", help="Files or directories; all bundled ones unless told."),
]
OneScenario = Annotated[str, typer.Option("--scenario", "-s", help="The scenario; the first unless told.")]
OnlyScenarios = Annotated[list[str] | None, typer.Option("--scenario", "-s", help="Only this one; may be repeated.")]
OnlyProperties = Annotated[list[str] | None, typer.Option("--property", "-p", help="Only this one; may be repeated.")]
InsteadMutant = Annotated[str, typer.Option("--mutant", "-m", help="A mutant instead of a scenario.")]
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


def running_options(
    states_max: int | None,
    timeout: float | None,
    workers: int | None,
    engine: Engine,
    *,
    no_cache: bool,
    bound: int | None,
) -> RunOptions:
    """Return how to explore.

    Raises:
        BadInput: with all numbers that are out of range.
    """
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


def solvers(solver: Solver) -> tuple[SolverName, ...]:
    """Return the solvers that an option names."""
    from checker.backends.smt.solvers import SOLVERS

    return tuple(name for name in SOLVERS if solver in (name, Solver.BOTH))

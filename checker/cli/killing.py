"""The command that kills implementations."""

from __future__ import annotations

from typing import Annotated

import typer

from checker.cli.answering import answer
from checker.cli.application import Purpose, command
from checker.cli.options import (
    AsJson,
    Engine,
    MaxStates,
    NoCache,
    OnlyScenarios,
    Specifications,
    Timeout,
    running_options,
)
from checker.verdict import ExitCode


@command(Purpose.CROSS_CHECK, "kill killed_workflow", "kill killed_workflow --singles --errand dispatch")
def kill(
    *,
    specifications: Specifications = None,
    scenario: OnlyScenarios = None,
    errand: Annotated[
        list[str] | None, typer.Option("--errand", metavar="NAME", help="Only this one; may be repeated.")
    ] = None,
    adapter: Annotated[
        str, typer.Option("--adapter", metavar="MODULE:CLASS", help="An adapter in Python instead of the bundled one.")
    ] = "",
    defect: Annotated[str, typer.Option("--defect", metavar="NAME", help="Switch a deliberate mistake of it on.")] = "",
    defects: Annotated[
        bool, typer.Option("--defects", help="Also see which of its deliberate mistakes a single kill shows.")
    ] = False,
    pairs: Annotated[
        bool, typer.Option("--pairs/--singles", help="Kill each recovery as well, at each of its kill points, or not.")
    ] = True,
    as_json: AsJson = False,
    max_states: MaxStates = None,
    timeout: Timeout = None,
    no_cache: NoCache = False,
) -> None:
    """Kill an implementation at every kill point.

    Its processes run as processes of their own and get a SIGKILL at each kill point that they come by, one run after
    the other, and so does each recovery. Every run must be a run of the model, and the kill points of the model must be
    those of the implementation.

    Without SPEC: all bundled specifications that have a reference implementation, in the scenarios that say `conform`
    and allow crashes anywhere.

    Exit codes: 0 no difference, 1 a difference, with where it was killed, 2 bad input or a broken adapter, 3 cut short.
    """

    def run() -> ExitCode:
        from checker.commands.implementations import Wanted
        from checker.commands.kill import KillOptions, run

        chosen = KillOptions(
            specifications=specifications or (),
            scenarios=scenario or (),
            errands=errand or (),
            wanted=Wanted(adapter=adapter),
            defect=defect,
            defects=defects,
            pairs=pairs,
            as_json=as_json,
        )
        return run(chosen, running_options(max_states, timeout, None, Engine.COLUMNAR, no_cache=no_cache, bound=None))

    answer("kill", run, as_json=as_json)

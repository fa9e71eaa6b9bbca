"""Commands that hold implementations against their models."""

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
    OnlyScenarios,
    Specification,
    Specifications,
    Timeout,
    Workers,
    running_options,
)
from checker.verdict import ExitCode

AdapterClass = Annotated[
    str, typer.Option("--adapter", metavar="MODULE:CLASS", help="An adapter in Python instead of the bundled one.")
]
AdapterCommand = Annotated[
    str, typer.Option("--command", metavar="COMMAND", help="An adapter that speaks JSON lines, in any language.")
]
AnswerSeconds = Annotated[
    float, typer.Option("--seconds", metavar="SECONDS", help="How long a --command may take for one answer.")
]
Defect = Annotated[str, typer.Option("--defect", metavar="NAME", help="Switch a deliberate mistake of it on.")]
Defects = Annotated[bool, typer.Option("--defects", help="Also see by what each of its deliberate mistakes shows.")]


@command(
    Purpose.CROSS_CHECK,
    "conform killed_workflow",
    "conform two_phase_commit -s baseline --command 'node adapter.mjs'",
    "conform killed_workflow -m submit-without-lookup -p one_submission --defect submit-without-lookup",
)
def conform(
    *,
    specifications: Specifications = None,
    scenario: OnlyScenarios = None,
    adapter: AdapterClass = "",
    adapter_command: AdapterCommand = "",
    seconds: AnswerSeconds = 30.0,
    defect: Defect = "",
    asked: Annotated[
        str, typer.Option("--property", "-p", help="Drive only the shortest counterexample or witness of this one.")
    ] = "",
    mutant: InsteadMutant = "",
    walks: Annotated[int, typer.Option("--walks", metavar="N", help="Random walks of the implementation.")] = 20,
    length: Annotated[int, typer.Option("--length", metavar="N", help="Actions of a walk.")] = 40,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Which walks.")] = 0,
    defects: Defects = False,
    as_json: AsJson = False,
    max_states: MaxStates = None,
    timeout: Timeout = None,
) -> None:
    """Drive an implementation through its model.

    The scenarios that say `conform` are driven step by step: every transition of them, or every pair of a path through
    a step and the view `situation`. After each action what is observed must be what the model says. Then the
    implementation walks at random, and each walk must be a run of the model.

    Without SPEC: all bundled specifications that have a reference implementation.

    Exit codes: 0 no difference, 1 a difference, with a trace to it, 2 bad input or a broken adapter, 3 cut short.
    """

    def run() -> ExitCode:
        from checker.commands.conform import ConformOptions, run

        chosen = ConformOptions(
            specifications=specifications or (),
            scenarios=scenario or (),
            adapter=adapter,
            command=adapter_command,
            seconds=seconds,
            defect=defect,
            property=asked,
            mutant=mutant,
            walks=walks,
            length=length,
            seed=seed,
            defects=defects,
            as_json=as_json,
        )
        return run(chosen, running_options(max_states, timeout, 1, Engine.COLUMNAR, no_cache=False, bound=None))

    answer("conform", run, as_json=as_json)


@command(Purpose.CROSS_CHECK, "accepts killed_workflow log.jsonl")
def accepts(
    *,
    specification: Specification,
    log: Annotated[Path, typer.Argument(metavar="TRACE.jsonl", help="What a system has recorded of itself.")],
    scenario: OneScenario = "",
    as_json: AsJson = False,
    timeout: Timeout = None,
) -> None:
    """Tell whether a recorded log is a run of the model.

    Steps that leave no record are filled in. Of a log that is no run the first event is shown that no action explains,
    and why the nearest ones do not.

    Exit codes: 0 it is a run, 1 it is none, 2 bad input, 3 too many possibilities, or out of time.
    """

    def run() -> ExitCode:
        from checker.commands.accepts import AcceptsOptions, run

        running = running_options(None, timeout, 1, Engine.ORACLE, no_cache=True, bound=None)
        return run(AcceptsOptions(specification, log, scenario, as_json), running)

    answer("accepts", run, as_json=as_json)


@command(Purpose.CROSS_CHECK, "kill killed_workflow", "kill killed_workflow --singles --errand dispatch")
def kill(
    *,
    specifications: Specifications = None,
    scenario: OnlyScenarios = None,
    errand: Annotated[
        list[str] | None, typer.Option("--errand", metavar="NAME", help="Only this one; may be repeated.")
    ] = None,
    adapter: AdapterClass = "",
    adapter_command: AdapterCommand = "",
    seconds: AnswerSeconds = 30.0,
    defect: Defect = "",
    defects: Defects = False,
    pairs: Annotated[bool, typer.Option("--pairs/--singles", help="Whether to kill each recovery as well.")] = True,
    as_json: AsJson = False,
    max_states: MaxStates = None,
    timeout: Timeout = None,
    workers: Workers = None,
    no_cache: NoCache = False,
) -> None:
    """Kill an implementation at every kill point.

    Its processes run as processes of their own and get a SIGKILL at each kill point that they come by, one run after
    the other, and so does each recovery. Every run must be a run of the model, and the kill points of the model must be
    those of the implementation. A deliberate mistake is looked for with one kill at most.

    Without SPEC: all bundled specifications that have a reference implementation, in the scenarios that say `conform`
    and allow crashes anywhere; pairs in the first of them, single kills in the others.

    Exit codes: 0 no difference, 1 a difference, with where it was killed, 2 bad input or a broken adapter, 3 cut short.
    """

    def run() -> ExitCode:
        from checker.commands.implementations import Wanted
        from checker.commands.kill import KillOptions, run

        chosen = KillOptions(
            specifications=specifications or (),
            scenarios=scenario or (),
            errands=errand or (),
            wanted=Wanted(adapter, adapter_command, seconds),
            defect=defect,
            defects=defects,
            pairs=pairs,
            as_json=as_json,
        )
        return run(
            chosen, running_options(max_states, timeout, workers, Engine.COLUMNAR, no_cache=no_cache, bound=None)
        )

    answer("kill", run, as_json=as_json)

"""Commands for reviewers of a change."""

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
    Timeout,
    Workers,
    running_options,
)
from checker.verdict import ExitCode


@command(
    Purpose.REVIEW,
    "diff audited_recovery audited_recovery_revised --rename unlocking=retiring",
    "diff --git main...HEAD -o comment.md",
    "diff --git HEAD~1..HEAD spec/killed_workflow.yaml",
)
def diff(
    *,
    old: Annotated[str, typer.Argument(metavar="[OLD]", help="The version before; with --git, a file in it.")] = "",
    new: Annotated[str, typer.Argument(metavar="[NEW]", help="The version after.")] = "",
    git: Annotated[
        str,
        typer.Option("--git", metavar="BASE..HEAD", help="What these commits change; BASE alone: up to the work tree."),
    ] = "",
    renames: Annotated[
        list[str] | None, typer.Option("--rename", metavar="OLD=NEW", help="What was only renamed; may be repeated.")
    ] = None,
    out: Annotated[Path | None, typer.Option("-o", "--out", metavar="FILE", help="Write the Markdown there.")] = None,
    as_json: AsJson = False,
    max_states: MaxStates = None,
    timeout: Timeout = None,
    bound: Bound = None,
    workers: Workers = None,
    engine: EngineChoice = Engine.COLUMNAR,
    no_cache: NoCache = False,
) -> None:
    """Say what a change of a protocol means.

    The scenarios of the old version are put to the new one, under the old parameters and faults. Tables and claims are
    compared by what they say, with a solver, and not by their text. Prints Markdown, for a comment on a pull request.

    Exit code 1: something got less safe, or is claimed no more.
    """

    def run() -> ExitCode:
        from checker.commands.diff import DiffOptions, run

        return run(
            DiffOptions(old, new, git, renames or (), out, as_json),
            running_options(max_states, timeout, workers, engine, no_cache=no_cache, bound=bound),
        )

    answer("diff", run, as_json=as_json)

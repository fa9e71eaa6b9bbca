"""Commands to start with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from checker.cli.answering import answer
from checker.cli.application import Purpose, command
from checker.verdict import ExitCode


@command(Purpose.START, "new order-payment")
def new(
    *,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of the protocol, as in `order-payment`.")],
    out: Annotated[
        Path | None, typer.Option("-o", "--out", metavar="FILE", help="Where to; NAME.yaml unless told.")
    ] = None,
) -> None:
    """Write a small specification to start from.

    It checks at once, has a crash, a fault, a table of claims and two mutants, and says at every line what it is.
    """

    def run() -> ExitCode:
        from checker.commands.new import run

        return run(name, out)

    answer("new", run, as_json=False)

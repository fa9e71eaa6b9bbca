"""The application: what all commands have in common, and the options that come before a command."""

from __future__ import annotations

from typing import Annotated

import typer

from checker.installation import version

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

"""The application: what all commands have in common, and the options that come before a command."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Annotated, Any, TypeVar

import typer
from typer.core import TyperGroup

from checker.installation import version

_HELP = """Can any crash, together with any other fault we admit, make this protocol go wrong?

Exit codes: 0 everything as declared, 1 a property breaks undeclared or a declared break does not happen, 2 bad input,
3 inconclusive, 4 vacuous, 5 engines disagree, 70 internal error."""

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Purpose(Enum):
    """What commands are for, in the order in which the help lists them."""

    START = "Start"
    DECIDE = "Decide"
    UNDERSTAND = "Understand"
    PROVE = "Prove"
    CROSS_CHECK = "Cross-check"
    REVIEW = "Review"


_purposes: dict[str, Purpose] = {}


class _ByPurpose(TyperGroup):
    """Lists the commands by what they are for."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write a section for each purpose; all have their second columns at the same place."""
        found = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        width = max(map(len, found))
        for purpose in Purpose:
            rows = [
                (name.ljust(width), command.get_short_help_str(formatter.width - width - 6))
                for name, command in found.items()
                if command is not None and _purposes[name] is purpose
            ]
            if rows:
                with formatter.section(purpose.value):
                    formatter.write_dl(rows)


app = typer.Typer(
    name="killpoint",
    cls=_ByPurpose,
    help=_HELP,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def command(purpose: Purpose, *examples: str, name: str | None = None) -> Callable[[_Function], _Function]:
    """Return a decorator that makes a function a command, with examples at the end of its help."""

    def register(function: _Function) -> _Function:
        lines = "\n".join(f"  killpoint {example}" for example in examples)
        app.command(name, epilog=f"\b\nExample{'s' * (len(examples) > 1)}:\n{lines}")(function)
        _purposes[name or function.__name__] = purpose
        return function

    return register


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

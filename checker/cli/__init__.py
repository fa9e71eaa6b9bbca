"""The command line: options as typed functions, exit codes, and what is said when something goes wrong.

Kept light: a command imports what it needs when it runs, so that `--help` waits for no engine.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence

from checker.cli import crosschecking, deciding, proving, reviewing, starting, understanding
from checker.cli.application import app
from checker.installation import foreign_model
from checker.verdict import ExitCode

__all__ = ["app", "crosschecking", "deciding", "main", "proving", "reviewing", "starting", "understanding"]

_ALLOCATIONS_BETWEEN_COLLECTIONS = 50_000
"""Specifications and traces are many small objects that live until the end; Python's 700 looks at them again and again,
which is an eighth of a `check`."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line, `sys.argv` unless told otherwise; return the exit code."""
    gc.set_threshold(_ALLOCATIONS_BETWEEN_COLLECTIONS)
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

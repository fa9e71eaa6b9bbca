"""Running a command: whatever comes of it becomes an exit code, and what went wrong is said."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable

import typer

from checker.verdict import ExitCode


def answer(command: str, run: Callable[[], ExitCode], *, as_json: bool) -> None:
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

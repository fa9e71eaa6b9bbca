"""What the commands share in answering: a document or lines, and where they go."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from checker.commands.refusal import BadInput
from checker.installation import version
from checker.reporting.diagnostics import counted, write_diagnostics
from checker.reporting.envelope import Document, envelope, refusal, written
from checker.reporting.files import write_whole
from checker.reporting.output import standard_error
from checker.verdict import ExitCode
from model.diagnostics import Code, Diagnostic, quoted

if TYPE_CHECKING:
    from checker.commands.inputs import Loaded
    from checker.reporting.claims import ShownTrace


def print_document(command: str, code: ExitCode, content: Mapping[str, object]) -> None:
    """Write a whole answer as JSON."""
    sys.stdout.write(written(envelope(command, version(), code, content)))


def refuse(command: str, error: BadInput, *, as_json: bool) -> ExitCode:
    """Say what is wrong with the input; return the code for it."""
    if as_json:
        print_document(command, ExitCode.BAD_INPUT, refusal(error.diagnostics))
        return ExitCode.BAD_INPUT
    output = standard_error()
    write_diagnostics(output, error.diagnostics, error.sources)
    output.line(("bad", counted(error.diagnostics)))
    return ExitCode.BAD_INPUT


def warn(loaded: Iterable[Loaded]) -> None:
    """Show the warnings of files that are otherwise fine, apart from the results."""
    output = standard_error()
    for each in loaded:
        write_diagnostics(output, each.file.warnings, each.sources)


def write_itf(path: Path, loaded: Loaded, shown: ShownTrace) -> None:
    """Write a trace in the Informal Trace Format.

    Raises:
        BadInput: the file cannot be written.
    """
    from checker.reporting.itf import itf_document

    report = shown.report
    about: Document = {
        "source": loaded.file.source.file,
        "protocol": loaded.file.specification.name,
        "mutant" if report.mutant else "scenario": report.name,
        "property": shown.property or None,
        "killpoint": version(),
    }
    document = itf_document(report.exploration.system, shown.finding, shown.conclusion, about)
    write_file(path, written(document))


def write_file(path: Path, text: str | bytes) -> None:
    """Write a file that an option names, whole or not at all.

    Raises:
        BadInput: it cannot be written.
    """
    try:
        write_whole(path, text)
    except OSError as error:
        raise unwritable(path, error) from error


def unwritable(path: Path, error: OSError) -> BadInput:
    """Return the refusal of a path that cannot be written to."""
    message = f"{quoted(str(path))} cannot be written: {error.strerror or error}"
    return BadInput([Diagnostic(Code.OPTION_VALUE, message, None)])


def say(text: str) -> None:
    """Write a remark that is no result, such as where a file was written to."""
    output = standard_error()
    output.line(("dim", text))

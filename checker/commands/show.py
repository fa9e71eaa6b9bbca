"""`killpoint show`: what a specification declares, at a glance."""

from __future__ import annotations

from checker.commands.answers import print_document, warn
from checker.commands.inputs import load_one
from checker.reporting.output import standard_output
from checker.reporting.overview import overview_document
from checker.reporting.overviewlines import overview_lines
from checker.verdict import ExitCode


def run(specification: str, *, as_json: bool) -> ExitCode:
    """Print the overview of one specification.

    Raises:
        BadInput: the file is wrong.
    """
    loaded = load_one(specification)
    overview = overview_document(loaded.file)
    if as_json:
        print_document("show", ExitCode.AS_DECLARED, overview)
        return ExitCode.AS_DECLARED
    warn([loaded])
    output = standard_output()
    output.lines(overview_lines(overview, output.width))
    return ExitCode.AS_DECLARED

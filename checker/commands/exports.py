"""Files that `check` writes for other programs beside what it prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from checker.commands.answers import write_file
from checker.commands.refusal import BadInput
from checker.installation import version
from checker.reporting.documents import checked_document
from checker.reporting.envelope import envelope, refusal, written
from checker.results import CheckedFile
from checker.verdict import ExitCode


@dataclass(frozen=True, slots=True)
class Exports:
    """Where to write what; None for not at all."""

    junit: Path | None = None
    sarif: Path | None = None
    markdown: Path | None = None
    json: Path | None = None

    def write(self, checked: Sequence[CheckedFile], code: ExitCode) -> None:
        """Write all of them.

        Raises:
            BadInput: one cannot be written.
        """
        if self.junit is not None:
            from checker.reporting.exports.junit import junit_text

            write_file(self.junit, junit_text(checked))
        if self.sarif is not None:
            from checker.reporting.exports.sarif import sarif_document

            write_file(self.sarif, written(sarif_document(checked, version())))
        if self.markdown is not None:
            from checker.reporting.exports.summary import summary_text

            write_file(self.markdown, summary_text(checked))
        if self.json is not None:
            content = {"files": [checked_document(each) for each in checked]}
            write_file(self.json, written(envelope("check", version(), code, content)))

    def write_refusal(self, error: BadInput) -> None:
        """Write that the input was refused: a pipeline that shows an old file would show a lie.

        Raises:
            BadInput: one cannot be written.
        """
        if self.junit is not None:
            from checker.reporting.exports.junit import refused_text

            write_file(self.junit, refused_text(error.diagnostics))
        if self.sarif is not None:
            from checker.reporting.exports.sarif import refused_document

            write_file(self.sarif, written(refused_document(error.diagnostics, version())))
        if self.markdown is not None:
            lines = [f"- {each}" for each in error.diagnostics]
            write_file(self.markdown, "\n".join(["# ✗ killpoint: refused", "", *lines, ""]))
        if self.json is not None:
            document = envelope("check", version(), ExitCode.BAD_INPUT, refusal(error.diagnostics))
            write_file(self.json, written(document))


NO_EXPORTS = Exports()

"""What every answer in JSON has in common; `docs/schemas/` says which keys there are."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from checker.reporting.diagnostics import diagnostic_document
from checker.verdict import ExitCode
from model.diagnostics import Diagnostic

Document = dict[str, object]
"""A JSON object."""

FORMAT = 1
"""Counts up when a key changes its meaning or disappears."""


def written(document: Document) -> str:
    """Return a document as text, the same for the same content."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def envelope(command: str, version: str, code: ExitCode, content: Mapping[str, object]) -> Document:
    """Return a whole answer: what every command says of itself, then its content."""
    return {
        "format": FORMAT,
        "killpoint": version,
        "command": command,
        "exit_code": int(code),
        "outcome": MEANING[code],
        **content,
    }


def refusal(diagnostics: Iterable[Diagnostic]) -> Document:
    """Return what is said of bad input."""
    return {"diagnostics": [diagnostic_document(diagnostic) for diagnostic in diagnostics]}


MEANING = {
    ExitCode.AS_DECLARED: "everything as declared",
    ExitCode.NOT_AS_DECLARED: "not as declared",
    ExitCode.BAD_INPUT: "the specification has errors",
    ExitCode.INCONCLUSIVE: "inconclusive",
    ExitCode.VACUOUS: "vacuous: something is never put to use",
    ExitCode.DISAGREEMENT: "engines disagree, which is a defect of killpoint: please report it",
    ExitCode.INTERNAL: "internal error, which is a defect of killpoint: please report it",
}
"""What an exit code says, in words."""

"""Errors and warnings for people and for programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from checker.reporting.output import Line, Output, Piece
from model.diagnostics import Diagnostic, Severity, render_segments
from model.source import Source, Span


def write_diagnostics(output: Output, diagnostics: Iterable[Diagnostic], sources: Mapping[str, Source]) -> None:
    """Write diagnostics, an empty line behind each."""
    for diagnostic in diagnostics:
        output.lines(diagnostic_lines(diagnostic, sources))
        output.line()


def diagnostic_lines(diagnostic: Diagnostic, sources: Mapping[str, Source]) -> Iterator[Line]:
    """Yield the lines of a rendered diagnostic."""
    line: list[Piece] = []
    for style, text in render_segments(diagnostic, sources):
        first, *rest = text.split("\n")
        line.append((style, first))
        for following in rest:
            yield tuple(line)
            line = [(style, following)]


def counted(diagnostics: Iterable[Diagnostic]) -> str:
    """Return how many errors and warnings there are."""
    found = list(diagnostics)
    errors = sum(d.severity is Severity.ERROR for d in found)
    parts = [(errors, "error"), (len(found) - errors, "warning")]
    return ", ".join(f"{number} {word}{'s' * (number != 1)}" for number, word in parts if number) or "no errors"


def diagnostic_document(diagnostic: Diagnostic) -> dict[str, object]:
    """Return a diagnostic as JSON."""
    return {
        "code": diagnostic.code.number,
        "name": diagnostic.code.name,
        "severity": diagnostic.severity.value,
        "message": diagnostic.message,
        "place": place_document(diagnostic.span),
        "label": diagnostic.label,
        "notes": [{"message": note.message, "place": place_document(note.span)} for note in diagnostic.notes],
        "help": diagnostic.help,
    }


def place_document(span: Span | None) -> dict[str, object] | None:
    """Return a place as JSON; lines and columns count from 1, the end is exclusive."""
    if span is None:
        return None
    return {
        "file": span.file,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
    }

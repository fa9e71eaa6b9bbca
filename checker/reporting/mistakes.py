"""Deliberate mistakes of an implementation, and by what each of them shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from checker.reporting.envelope import Document
from checker.reporting.output import Line, blank, flowed, sentence


def caught_lines(caught: Mapping[str, str], otherwise: str, width: int) -> Iterator[Line]:
    """Yield for each mistake by what it shows, or that it does not."""
    for name, by in caught.items():
        style, sign = ("good", "✓") if by else ("dim", "-")
        start: Line = (("", "  "), (style, f"{sign} "), ("dim", "mistake "), ("name", f"{name}: "))
        yield from flowed(start, sentence("" if by else "dim", by or otherwise), width=width, rest=blank(6), gap=" ")


def caught_document(caught: Mapping[str, str]) -> list[Document]:
    """Return for each mistake by what it shows; empty where by nothing."""
    return [{"name": name, "by": by} for name, by in caught.items()]

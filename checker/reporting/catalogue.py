"""A list of specifications: what each is about, and by what it can be found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

from checker.identity import file_hash
from checker.reporting.envelope import Document
from checker.reporting.output import Line, blank, flowed, sentence
from model.headings import Headings


def catalogue_document(listed: Sequence[Headings]) -> Document:
    """Return the list as JSON."""
    return {"specifications": [_specification(headings) for headings in listed]}


def _specification(headings: Headings) -> Document:
    return {
        "file": headings.source.file,
        "protocol": headings.protocol,
        "title": headings.title,
        "sha256": file_hash(headings.source),
        "pattern": headings.pattern,
        "sources": list(headings.sources),
        "properties": list(headings.properties),
        "faults": list(headings.faults),
        "scenarios": list(headings.scenarios),
        "mutants": list(headings.mutants),
        "questions": list(headings.questions),
    }


def catalogue_lines(catalogue: Document, width: int) -> Iterator[Line]:
    """Yield the list: first what is about no pattern in particular, then pattern by pattern."""
    listed = cast("list[dict[str, Any]]", catalogue["specifications"])
    patterns = sorted({one["pattern"] for one in listed})
    for number, pattern in enumerate(patterns):
        if number > 0:
            yield ()
        if pattern:
            yield (("heading", pattern),)
        for one in listed:
            if one["pattern"] == pattern:
                yield from _lines(one, width)
    count = len(listed)
    yield ()
    yield (("dim", f"{count} specification{'s' * (count != 1)}"),)


def _lines(one: dict[str, Any], width: int) -> Iterator[Line]:
    yield (*blank(2), ("name", one["file"]))
    yield from flowed(blank(4), sentence("", one["title"] or one["protocol"]), width=width, rest=blank(4), gap=" ")
    for what in ("properties", "faults"):
        if one[what]:
            items = [(("dim", name),) for name in one[what]]
            yield from flowed((*blank(4), ("dim", f"{what}: ")), items, width=width, rest=blank(6))

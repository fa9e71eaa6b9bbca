"""A list of specifications: what each is about, and by what it can be found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

from checker.reporting.documents import file_document
from checker.reporting.envelope import Document
from checker.reporting.output import Line, blank, flowed, sentence
from model.specification import SpecificationFile


def catalogue_document(files: Sequence[SpecificationFile]) -> Document:
    """Return the list as JSON."""
    return {"specifications": [_specification(file) for file in files]}


def _specification(file: SpecificationFile) -> Document:
    return {
        **file_document(file),
        "pattern": file.pattern,
        "sources": list(file.sources),
        "properties": list(file.specification.properties),
        "faults": list(file.specification.faults),
        "scenarios": list(file.scenarios),
        "mutants": list(file.mutants),
        "questions": list(file.questions),
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

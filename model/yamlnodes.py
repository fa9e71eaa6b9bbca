"""The tree of a YAML file: scalars, mappings and lists, each knowing where it stands.

Nodes are equal only to themselves, because each is a place in a file. Whoever merges trees builds new mappings from old
entries; the old nodes keep their places.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from model.scalartext import ScalarStyle, map_scalar
from model.source import Span

ScalarKind = Literal["str", "int", "bool", "null"]


@dataclass(frozen=True, slots=True, eq=False)
class Scalar:
    """A single value: its text after YAML's folding and escapes, and what kind of value it is.

    `raw` is how it stands in the file, quotes and block header included; without it `locate` knows only the whole.
    """

    text: str
    kind: ScalarKind
    span: Span
    style: ScalarStyle = "plain"
    raw: str = ""

    @property
    def integer(self) -> int:
        """Return the number that a scalar of kind `int` is."""
        assert self.kind == "int", f"{self.text!r} is {self.kind}"
        return int(self.text)

    def locate(self, line: int, column: int, end_line: int, end_column: int) -> Span:
        """Return where a stretch of `text` stands in the file, given as the positions of `ast` nodes are.

        Lines count from 1; columns from 0 and, as in `ast`, in UTF-8 bytes. What lies outside the text is moved to its
        nearest end. Where the way back is not known exactly the whole scalar is returned.
        """
        return self.locate_slice(self._offset(line, column), self._offset(end_line, end_column))

    def locate_slice(self, start: int, end: int) -> Span:
        """Return where `text[start:end]` stands in the file; the whole scalar where that is not known exactly."""
        scalar_map = map_scalar(self.raw, self.text, self.style)
        if scalar_map is None:
            return self.span
        first, last = scalar_map.raw_range(start, end)
        return Span(self.span.file, *self._position(scalar_map.raw_position(first)),
                    *self._position(scalar_map.raw_position(last)))  # fmt: skip

    def _position(self, raw_position: tuple[int, int]) -> tuple[int, int]:
        line, column = raw_position
        return self.span.line + line, column + (self.span.column if line == 0 else 1)

    def _offset(self, line: int, column: int) -> int:
        """Return the character offset in `text` of a position given as `ast` gives it."""
        scalar_map = map_scalar(self.raw, self.text, self.style)
        if scalar_map is None or line < 1:
            return 0
        if line > len(scalar_map.text_lines):
            return len(self.text)
        start = scalar_map.text_lines[line - 1]
        end = scalar_map.text_lines[line] - 1 if line < len(scalar_map.text_lines) else len(self.text)
        if self.text.isascii():
            return min(start + column, end)
        return start + len(self.text[start:end].encode()[:column].decode(errors="ignore"))


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """A key of a mapping with its value."""

    key: Scalar
    value: Node


@dataclass(frozen=True, slots=True, eq=False)
class Mapping:
    """Keys and values in the order of the file."""

    entries: dict[str, Entry]
    span: Span

    def get(self, key: str) -> Node | None:
        """Return the value of a key, or None where the mapping does not have it."""
        entry = self.entries.get(key)
        return entry.value if entry else None

    def __contains__(self, key: str) -> bool:
        return key in self.entries

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)


@dataclass(frozen=True, slots=True, eq=False)
class Sequence:
    """A list of values."""

    items: tuple[Node, ...]
    span: Span


Node: TypeAlias = Scalar | Mapping | Sequence

"""Where text comes from: files, positions in them, and how to show them safely.

Everything a specification says was written by somebody, possibly a stranger. Text that goes back to a terminal passes
through `visible`, so that no file can move the cursor, colour a line or reverse its reading direction.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field

# The line ends of YAML, Python and every editor alike. `str.splitlines` knows more (form feed, U+2028, …) and would
# number lines differently from all of them.
LINE_END = re.compile(r"\r\n|\n|\r")

# Control characters, the line ends that only some programs take for one, surrogates, and what makes a text look like
# another: direction overrides, zero-width and soft characters, tags. Joiners (U+200C, U+200D) are needed in prose.
HIDDEN = re.compile(
    "[^\\t\\n\\r\\x20-\\x7e\\xa0-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]"
    "|[\\xad\\u061c\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb\\U000e0000-\\U000e007f]"
)

_TAB_WIDTH = 4
_WIDE = frozenset("WF")
# Format and control characters, surrogates, unassigned and private code points, line and paragraph separators.
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp"})


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a file: lines and columns count characters from 1, the end is exclusive."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int

    def joined(self, other: Span) -> Span:
        """Return the smallest span that covers both; they must lie in one file."""
        assert self.file == other.file, f"spans of {self.file} and {other.file} cannot be joined"
        line, column = min((self.line, self.column), (other.line, other.column))
        end_line, end_column = max((self.end_line, self.end_column), (other.end_line, other.end_column))
        return Span(self.file, line, column, end_line, end_column)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Source:
    """A file's name, as messages show it, and its text."""

    file: str
    text: str
    _lines: list[str] = field(default_factory=list, init=False, repr=False, compare=False)

    def line_text(self, number: int) -> str:
        """Return line `number`, counted from 1, without its line end; empty where the file has no such line."""
        if not self._lines:
            self._lines.extend(LINE_END.split(self.text))
        return self._lines[number - 1] if 1 <= number <= len(self._lines) else ""

    def text_at(self, span: Span) -> str:
        """Return what stands at a span of this file, on one line."""
        lines = [self.line_text(number) for number in range(span.line, span.end_line + 1)]
        lines[-1] = lines[-1][: span.end_column - 1]
        lines[0] = lines[0][span.column - 1 :]
        return " ".join(" ".join(lines).split())


def visible(text: str, *, tab_width: int = _TAB_WIDTH) -> str:
    r"""Return `text` on one line, with everything that a terminal would obey instead of show written as an escape.

    >>> print(visible("a\x1b[31m\tb"))
    a\x1b[31m    b
    """
    # Printable ASCII is nearly every text there is, and the categories below are slow to look up.
    if text.isascii() and text.isprintable():
        return text
    return "".join(_visible_character(character, tab_width) for character in text)


def display_width(text: str) -> int:
    """Return the number of terminal cells that `text`, already made `visible`, takes."""
    if text.isascii():
        return len(text)
    return sum(_cells(character) for character in text)


def _visible_character(character: str, tab_width: int) -> str:
    if character == "\t":
        return " " * tab_width
    if unicodedata.category(character) in _INVISIBLE:
        return character.encode("unicode_escape").decode("ascii")
    return character


def _cells(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in _WIDE else 1

"""From a character of a YAML scalar's value back to the characters of the file that stand for it.

YAML folds lines, strips indentation and resolves escapes before anybody sees the text. Here the value is built a second
time from the raw text, by the rules of YAML 1.1 as PyYAML and libyaml apply them, keeping for every character where it
came from. The result is compared with the value that the parser gave: positions are either right or not offered, and
never depend on our having understood every corner of YAML.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, assert_never

from model.source import LINE_END

ScalarStyle = Literal["plain", "single", "double", "literal", "folded"]

# What may stand before a value: an anchor and, where one was refused, a tag.
_PROPERTIES = re.compile(r"(?:[&!][^\s,\[\]{}]*(?:\s+(?:#[^\r\n]*)?)*)*")
_BLOCK_HEADER = re.compile(r"[|>][-+0-9]*[ \t]*(?:#[^\r\n]*)?(?:\r\n|\n|\r|\Z)")
_ESCAPE = re.compile(r"\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|\r\n|.)", re.DOTALL)
_ESCAPED = dict(
    zip('0abt\tnvfre "\\/N_LP', '\0\a\b\t\t\n\v\f\r\x1b "\\/\x85\xa0\u2028\u2029', strict=True),
)
_BLANK = " \t"

# A character of the value and the half-open stretch of raw text that stands for it.
_Piece = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class ScalarMap:
    """Where each character of a scalar's value stands in its raw text, and where the lines of both begin."""

    starts: list[int]
    ends: list[int]
    text_lines: list[int]
    raw_lines: list[int]

    def raw_range(self, start: int, end: int) -> tuple[int, int]:
        """Return the raw offsets of the value's characters `start` to `end` (exclusive); an empty range is a point."""
        count = len(self.starts)
        start = max(0, min(start, count))
        end = max(start, min(end, count))
        if count == 0:
            return 0, 0
        first = self.starts[start] if start < count else self.ends[-1]
        return first, max(first, self.ends[end - 1]) if end > start else first

    def raw_position(self, offset: int) -> tuple[int, int]:
        """Return the line, counted from 0, and the column in that line of a raw offset."""
        line = bisect_right(self.raw_lines, offset) - 1
        return line, offset - self.raw_lines[line]


def properties_length(raw: str) -> int:
    """Return how many characters of a node's raw text come before its value: an anchor, a tag, blanks, comments."""
    match = _PROPERTIES.match(raw)
    return match.end() if match else 0


@lru_cache(maxsize=512)
def map_scalar(raw: str, text: str, style: ScalarStyle) -> ScalarMap | None:
    """Map the value `text` of a scalar to its raw text, quotes or header included; None where that fails."""
    pieces = _pieces(raw, text, style)
    if "".join(piece[0] for piece in pieces) != text:
        return None
    return ScalarMap([p[1] for p in pieces], [p[2] for p in pieces], _line_starts(text), _line_starts(raw))


def _pieces(raw: str, text: str, style: ScalarStyle) -> list[_Piece]:
    match style:
        case "plain":
            return _flow_pieces(raw, 0, len(raw), style)
        case "single" | "double":
            return _flow_pieces(raw, 1, len(raw) - 1, style)
        case "literal" | "folded":
            return _block_pieces(raw, text, folded=style == "folded")
        case _:
            assert_never(style)


def _line_starts(text: str) -> list[int]:
    return [0, *(match.end() for match in LINE_END.finditer(text))]


def _lines(raw: str, begin: int, end: int) -> list[tuple[int, int, int]]:
    """Return (start, end without the line end, end with it) of every line between two offsets."""
    lines: list[tuple[int, int, int]] = []
    for match in LINE_END.finditer(raw, begin, end):
        lines.append((begin, match.start(), match.end()))
        begin = match.end()
    lines.append((begin, end, end))
    return lines


# --- Plain and quoted scalars ---


def _flow_pieces(raw: str, begin: int, end: int, style: ScalarStyle) -> list[_Piece]:
    """Fold lines: a single line end is a space, of several all but the first are kept, blanks around them are dropped.

    In a double-quoted scalar a backslash before the line end stands for nothing and keeps the blanks before it.
    """
    pieces: list[_Piece] = []
    lines = _lines(raw, begin, end)
    pending: list[_Piece] = []  # line ends since the last text
    continued = False  # the first of them was escaped
    for number, (line_start, stop, following) in enumerate(lines):
        start = _skip_blanks(raw, line_start, stop) if number > 0 else line_start
        last = number == len(lines) - 1
        escaped = not last and style == "double" and _ends_escaped(raw, start, stop)
        content = stop - 1 if escaped else stop
        if not last and not escaped:
            while content > start and raw[content - 1] in _BLANK:
                content -= 1
        if content > start or last or number == 0 or escaped:
            if number > 0:
                pieces += _folded(pending, continued=continued)
            pieces += _characters(raw, start, content, style)
            pending, continued = [], escaped
        pending.append(("\n", content, following))
    return pieces


def _skip_blanks(raw: str, start: int, stop: int) -> int:
    while start < stop and raw[start] in _BLANK:
        start += 1
    return start


def _folded(line_ends: list[_Piece], *, continued: bool) -> list[_Piece]:
    first, *rest = line_ends
    if rest or continued:
        return rest
    return [(" ", first[1], first[2])]


def _ends_escaped(raw: str, start: int, stop: int) -> bool:
    backslashes = 0
    while stop - backslashes > start and raw[stop - backslashes - 1] == "\\":
        backslashes += 1
    return backslashes % 2 == 1


def _characters(raw: str, start: int, stop: int, style: ScalarStyle) -> list[_Piece]:
    """Return the characters of one line of a flow scalar, escapes resolved."""
    if style == "plain" or (style == "single" and raw.find("'", start, stop) < 0):
        return [(raw[at], at, at + 1) for at in range(start, stop)]
    pieces: list[_Piece] = []
    at = start
    while at < stop:
        character, width = raw[at], 1
        if style == "single" and character == "'":
            width = 2
        elif style == "double" and character == "\\":
            character, width = _escape(raw, at)
        pieces.append((character, at, at + width))
        at += width
    return pieces


def _escape(raw: str, at: int) -> tuple[str, int]:
    match = _ESCAPE.match(raw, at)
    if match is None:
        return raw[at], 1
    body = match.group()[1:]
    if body[0] in "xuU" and len(body) > 1:
        value = int(body[1:], 16)
        return (chr(value) if value <= 0x10FFFF else "\ufffd"), len(match.group())
    return _ESCAPED.get(body, body), len(match.group())


# --- Block scalars ---


def _block_pieces(raw: str, text: str, *, folded: bool) -> list[_Piece]:
    """Strip the indentation of a block scalar and, if asked, fold its lines."""
    header = _BLOCK_HEADER.match(raw)
    if header is None:
        return []
    lines = _lines(raw, header.end(), len(raw))
    indent = _indentation(raw, lines, text)
    contents = [(min(start + indent, stop), stop, following) for start, stop, following in lines]
    while contents and contents[-1][0] == contents[-1][1]:
        contents.pop()
    pieces: list[_Piece] = []
    for number, (start, stop, following) in enumerate(contents):
        pieces += [(raw[at], at, at + 1) for at in range(start, stop)]
        last = number == len(contents) - 1
        if last:
            pieces += _chomped(len(text) - len(pieces), stop, following)
        elif not folded or start == stop:
            pieces.append(("\n", stop, following))
        else:
            pieces += _folded_end(raw, contents, number)
    return pieces


def _folded_end(raw: str, contents: list[tuple[int, int, int]], number: int) -> list[_Piece]:
    """Return what the line end after a line with text folds to: it stays beside a line that begins with a blank."""
    start, stop, following = contents[number]
    next_text = next(line for line in range(number + 1, len(contents)) if contents[line][0] < contents[line][1])
    if raw[start] in _BLANK or raw[contents[next_text][0]] in _BLANK:
        return [("\n", stop, following)]
    return [(" ", stop, following)] if next_text == number + 1 else []


def _indentation(raw: str, lines: list[tuple[int, int, int]], text: str) -> int:
    """Infer how far the block is indented: how many more spaces its first line of text has in the file than in `text`.

    The header may name the indentation only relative to the parent's, which a scalar does not know.
    """
    in_file = next((raw[start:stop] for start, stop, _ in lines if raw[start:stop].strip(" ")), "")
    in_text = next((line for line in text.split("\n") if line.strip(" ")), "")
    leading = [len(line) - len(line.lstrip(" ")) for line in (in_file, in_text)]
    return max(0, leading[0] - leading[1])


def _chomped(kept: int, stop: int, following: int) -> list[_Piece]:
    """Return the `kept` line ends at the end of a block: the last line's own and empty lines after it.

    How many are kept, the header and the file's end decide; the parser has done so, and its value tells.
    """
    if kept <= 0:
        return []
    return [("\n", stop, following), *[("\n", following, following)] * (kept - 1)]

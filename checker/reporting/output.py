"""Lines of styled text, and the streams they go to.

Whatever is written for people is a line of pieces, each with a style. Layout counts cells and never looks at the
stream, so the same lines are plain text in a pipe and coloured on a terminal. All text passes through `visible` on
its way out: nothing that a specification, a file name or an option says can move the cursor.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TextIO

from model.source import display_width, visible

Piece = tuple[str, str]
"""A style, empty for none, and a text without line end."""

Line = tuple[Piece, ...]

WIDTH_WITHOUT_TERMINAL = 120
"""Columns where there is no terminal and `COLUMNS` does not say."""

WIDTH_MIN = 60
WIDTH_MAX = 160
"""Longer lines are no easier to read."""

_COLOURS = {
    "title": "bold",
    "heading": "bold",
    "name": "cyan",
    "good": "green",
    "bad": "bold red",
    "doubt": "yellow",
    "crash": "bold white on red",
    "fault": "bold black on yellow",
    "lane": "bright_black",
    "actor": "bold cyan",
    "changed": "green",
    "value": "default",
    "dim": "bright_black",
    "error": "bold red",
    "warning": "bold yellow",
    "location": "cyan",
    "gutter": "blue",
    "source": "default",
    "caret": "bold red",
    "label": "red",
    "note": "cyan",
    "help": "green",
}


class Output:
    """A stream for people."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.terminal = stream.isatty()
        self.colour = self.terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        self.width = _width(terminal=self.terminal)

    def lines(self, lines: Iterable[Line]) -> None:
        """Write lines."""
        for line in lines:
            self.line(*line)

    def line(self, *pieces: Piece) -> None:
        """Write one line; white space at its end is dropped."""
        shown = [(style, visible(text)) for style, text in pieces]
        while shown and not shown[-1][1].rstrip():
            shown.pop()
        if shown:
            shown[-1] = (shown[-1][0], shown[-1][1].rstrip())
        self.stream.write(f"{self._coloured(shown) if self.colour else ''.join(text for _, text in shown)}\n")

    def markdown(self, text: str) -> None:
        """Write Markdown of our own: as it is, or rendered where there is colour."""
        if not self.colour:
            self.stream.write(text.rstrip() + "\n")
            return
        from rich.console import Console
        from rich.markdown import Markdown

        console = Console(file=self.stream, force_terminal=True, width=min(self.width, WIDTH_WITHOUT_TERMINAL))
        console.print(Markdown(text, code_theme="ansi_dark"))

    def flush(self) -> None:
        """Let others see what was written so far."""
        self.stream.flush()

    def _coloured(self, pieces: Sequence[Piece]) -> str:
        from rich.color import ColorSystem
        from rich.style import Style

        return "".join(
            Style.parse(_COLOURS[style]).render(text, color_system=ColorSystem.STANDARD) if style else text
            for style, text in pieces
        )


def standard_output() -> Output:
    """Return where results go."""
    return Output(sys.stdout)


def standard_error() -> Output:
    """Return where errors and progress go."""
    return Output(sys.stderr)


def _width(*, terminal: bool) -> int:
    if not terminal and not os.environ.get("COLUMNS"):
        return WIDTH_WITHOUT_TERMINAL
    return max(WIDTH_MIN, min(WIDTH_MAX, shutil.get_terminal_size().columns))


def cells(pieces: Iterable[Piece]) -> int:
    """Return how many terminal cells pieces take."""
    return sum(display_width(visible(text)) for _, text in pieces)


def flowed(start: Line, items: Iterable[Line], *, width: int, rest: Line = (), gap: str = "  ") -> Iterator[Line]:
    """Set items one behind the other, `gap` between them, and go on in a new line where one does not fit.

    The first line begins with `start`, the following ones with `rest`. An item is broken, between words, only where it
    is longer than a whole line.
    """
    line, begins = list(start), True
    for item in (part for whole in items for part in _broken(whole, width - cells(rest))):
        if cells(line) + len(gap) * (not begins) + cells(item) > width and not (begins and tuple(line) == rest):
            yield tuple(line)
            line, begins = list(rest), True
        if not begins:
            line.append(("", gap))
        line += item
        begins = False
    yield tuple(line)


def one_line(start: Line, items: Iterable[Line], *, width: int, gap: str = "  ") -> Line:
    """Set items one behind the other on one line, and end it with `…` where it is too short for all."""
    pieces: list[Piece] = []
    for item in items:
        pieces += [("", gap if pieces else ""), *item]
    line = (*start, *pieces)
    if cells(line) <= width:
        return line
    kept: list[Piece] = []
    for style, text in line:
        room = width - 1 - cells(kept)
        if cells([("", text)]) > room:
            return (*kept, (style, f"{_cut(text, room)}…"))
        kept.append((style, text))
    return tuple(kept)


def _cut(text: str, width: int) -> str:
    while text and cells([("", text)]) > width:
        text = text[:-1]
    return text.rstrip(" ,")


def blank(width: int) -> Line:
    """Return so many spaces."""
    return (("", " " * width),)


def aligned(line: Line, width: int) -> Line:
    """Return a line filled up with spaces to a number of cells."""
    return (*line, *blank(width - cells(line)))


def sentence(style: str, text: str) -> list[Line]:
    """Return the words of a sentence as items to be flowed with a gap of one space."""
    return [((style, word),) for word in text.split()]


def _broken(item: Line, room: int) -> Iterator[Line]:
    if cells(item) <= room:
        yield item
        return
    part: list[Piece] = []
    for style, text in item:
        for number, word in enumerate(text.split(" ")):
            piece = (style, word if number == 0 else f" {word}")
            if part and cells([*part, piece]) > room:
                yield tuple(part)
                part, piece = [], (style, word)
            part.append(piece)
    yield tuple(part)

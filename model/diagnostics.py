"""Errors and warnings: collecting them, ordering them, and showing them as text.

A run reports everything that is wrong with a file, root cause first: whoever reports, reports a cause before what
follows from it, and a second error at the same place is taken for a consequence and dropped.

The shape of a message:

    error[KP201]: no variable, parameter or literal is named `atempt`
      --> spec/x.yaml:41:9
       |
    41 |         atempt += 1
       |         ^^^^^^ assigned here
       = help: did you mean `attempt`?

Messages quote what a file says. All text on its way out is made `visible` here and nowhere else, so nobody who writes a
message has to think of terminal escapes.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from model.codes import Code, Severity
from model.limits import DIAGNOSTICS_MAX
from model.source import Source, Span, display_width, visible

__all__ = [
    "Code",
    "Diagnostic",
    "Diagnostics",
    "Note",
    "Severity",
    "SpecificationError",
    "Style",
    "did_you_mean",
    "nearest",
    "quoted",
    "render",
    "render_segments",
]

# What a piece of a rendered message is, for whoever gives it a colour.
Style = Literal["error", "warning", "title", "location", "gutter", "source", "caret", "label", "note", "help"]

# Cells of a source line that are shown; a longer line is cut around the caret.
LINE_WIDTH_MAX = 110
_CONTEXT_BEFORE_CARET = 40
_ELLIPSIS = "…"

# A sentence of ours is far shorter; a name that it quotes may not be.
_SENTENCE_LENGTH_MAX = 1_000
_QUOTED_LENGTH_MAX = 60

# difflib is quadratic in the length of a name and linear in the number of candidates, which a file can make large.
_CANDIDATES_MAX = 1_000
_NAME_LENGTH_MAX = 60
_LISTED_MAX = 8
_SIMILARITY_MIN = 0.6


@dataclass(frozen=True, slots=True)
class Note:
    """A further remark, with the other place it speaks of if there is one."""

    message: str
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One error or warning.

    `message` is a sentence without its full stop, `label` stands behind the carets, `help` says what would help.
    """

    code: Code
    message: str
    span: Span | None
    label: str = ""
    notes: tuple[Note, ...] = ()
    help: str = ""

    @property
    def severity(self) -> Severity:
        """Tell whether it is an error or a warning."""
        return self.code.severity

    def __str__(self) -> str:
        place = f"{self.span}: " if self.span else ""
        return visible(f"{place}{self.severity.value}[{self.code.number}]: {self.message}")


class SpecificationError(Exception):
    """A specification was refused; `diagnostics` says why, in the order in which to show it, warnings included."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("\n".join(str(diagnostic) for diagnostic in self.diagnostics))


class Diagnostics:
    """Collects what is wrong with a specification.

    Of a file with very many errors the first `DIAGNOSTICS_MAX` are kept and the others counted in `omitted`; the same
    for warnings, so that no flood of warnings can hide an error.
    """

    __slots__ = ("_elsewhere", "_erroneous", "_kept", "_reported", "_seen", "omitted")

    def __init__(self) -> None:
        self._reported: list[Diagnostic] = []
        self._kept = dict.fromkeys(Severity, 0)
        self._erroneous: set[object] = set()
        self._seen: set[object] = set()
        self._elsewhere: tuple[Note, range] | None = None
        self.omitted = 0

    @contextmanager
    def noting(self, note: Note, lines: range) -> Iterator[None]:
        """Add a note to whatever is reported meanwhile of places outside these lines: it says what brings it about."""
        self._elsewhere = (note, lines)
        try:
            yield
        finally:
            self._elsewhere = None

    def report(
        self,
        code: Code,
        message: str,
        span: Span | None,
        *,
        label: str = "",
        notes: Iterable[Note] = (),
        help: str = "",  # noqa: A002 - the word that the message shows
    ) -> None:
        """Add an error or a warning; which of the two, the code says.

        Nothing is added that follows from what was reported before: a warning where the same warning or any error was
        reported at the same place, an error where an error was. So no text that is read a thousand times, such as a
        definition, uses up the errors that are kept.
        """
        # Without a position there is no telling what follows from what; only exact repetitions are dropped.
        place: object = span or (code, message)
        if place in self._erroneous or (place, code) in self._seen:
            return
        self._seen.add((place, code))
        if code.severity is Severity.ERROR:
            self._erroneous.add(place)
        if self._kept[code.severity] >= DIAGNOSTICS_MAX:
            self.omitted += 1
            return
        self._kept[code.severity] += 1
        if self._elsewhere is not None and (span is None or span.line not in self._elsewhere[1]):
            notes = (*notes, self._elsewhere[0])
        self._reported.append(Diagnostic(code, message, span, label, tuple(notes), help))

    @property
    def has_errors(self) -> bool:
        """Tell whether an error was reported; cheap, for use between passes."""
        return self._kept[Severity.ERROR] > 0

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The errors, as `sorted` orders them."""
        return tuple(diagnostic for diagnostic in self.sorted() if diagnostic.severity is Severity.ERROR)

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """The warnings, as `sorted` orders them."""
        return tuple(diagnostic for diagnostic in self.sorted() if diagnostic.severity is Severity.WARNING)

    def sorted(self) -> tuple[Diagnostic, ...]:
        """Return all by file and position; what has no position comes first."""
        return tuple(sorted(self._reported, key=_position))

    def raise_if_errors(self) -> None:
        """Raise what was collected if there is an error in it.

        Raises:
            SpecificationError: at least one error was reported.
        """
        if self.has_errors:
            raise SpecificationError(self.sorted())


def _position(diagnostic: Diagnostic) -> tuple[str, int, int]:
    span = diagnostic.span
    return (span.file, span.line, span.column) if span else ("", 0, 0)


# --- Sentences ---


def quoted(text: str) -> str:
    """Return what a file says between backticks, cut where it is long, for use in a message."""
    shown = text if len(text) <= _QUOTED_LENGTH_MAX else text[: _QUOTED_LENGTH_MAX - 1] + _ELLIPSIS
    return f"`{shown}`"


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate that `name` was most likely meant to be, or None where none is similar enough.

    Case counts only between candidates that are equally near without it; after that the alphabet decides, so that the
    answer does not depend on the order in which candidates come.
    """
    if len(name) > _NAME_LENGTH_MAX:
        return None
    usable = (candidate for candidate in candidates if len(candidate) <= _NAME_LENGTH_MAX)
    by_folded: dict[str, list[str]] = {}
    for candidate in islice(usable, _CANDIDATES_MAX):
        by_folded.setdefault(candidate.casefold(), []).append(candidate)
    close = difflib.get_close_matches(name.casefold(), list(by_folded), n=_LISTED_MAX, cutoff=_SIMILARITY_MIN)
    scored = [
        (-_similarity(folded, name.casefold()), -_similarity(candidate, name), candidate)
        for folded in close
        for candidate in by_folded[folded]
    ]
    return min(scored)[2] if scored else None


def _similarity(left: str, right: str) -> float:
    return difflib.SequenceMatcher(a=left, b=right).ratio()


def did_you_mean(name: str, candidates: Iterable[str], *, known: str = "known here") -> str:
    """Return a help sentence: the nearest candidate, else all of them where they are few, else nothing.

    `known` says what they are; empty where the message lists them already.

    >>> did_you_mean("atempt", ["attempt", "run"])
    'did you mean `attempt`?'
    >>> did_you_mean("zebra", ["attempt", "run"], known="the variables")
    'the variables: `attempt`, `run`'
    """
    listed = list(islice(dict.fromkeys(candidates), _CANDIDATES_MAX))
    near = nearest(name, listed)
    if near is not None:
        return f"did you mean {quoted(near)}?"
    if known and 0 < len(listed) <= _LISTED_MAX:
        return f"{known}: {', '.join(quoted(candidate) for candidate in listed)}"
    return ""


# --- Rendering ---


def render(diagnostic: Diagnostic, sources: Mapping[str, Source]) -> str:
    """Return a diagnostic as plain text that ends with a line end; `sources` are keyed by the file of their spans.

    A file that is missing from `sources` costs the source line, not the message.
    """
    return "".join(text for _, text in render_segments(diagnostic, sources))


def render_segments(diagnostic: Diagnostic, sources: Mapping[str, Source]) -> Iterator[tuple[Style, str]]:
    """Yield the pieces of a rendered diagnostic, line ends included, each with what it is.

    Joined they are what `render` returns; whoever colours them changes nothing but colour.
    """
    tone: Style = "error" if diagnostic.severity is Severity.ERROR else "warning"
    spans = [span for span in (diagnostic.span, *(note.span for note in diagnostic.notes)) if span]
    gutter = " " * max((len(str(span.line)) for span in spans), default=1)
    yield tone, f"{diagnostic.severity.value}[{diagnostic.code.number}]"
    yield "title", f": {_sentence(diagnostic.message)}\n"
    if diagnostic.span:
        yield from _place(diagnostic.span, diagnostic.label, tone, gutter, sources)
    for note in diagnostic.notes:
        yield "gutter", f"{gutter} = "
        yield "note", f"note: {_sentence(note.message)}\n"
        if note.span:
            yield from _place(note.span, "", "note", gutter, sources)
    if diagnostic.help:
        yield "gutter", f"{gutter} = "
        yield "help", f"help: {_sentence(diagnostic.help)}\n"


def _place(
    span: Span, label: str, tone: Style, gutter: str, sources: Mapping[str, Source]
) -> Iterator[tuple[Style, str]]:
    """Yield the location, the source line and the carets under it."""
    yield "gutter", f"{gutter}--> "
    yield "location", f"{visible(str(span))}\n"
    if span.file not in sources:
        return
    line = sources[span.file].line_text(span.line)
    # Of a span over several lines the first line is shown, with carets to its end.
    end = span.end_column - 1 if span.end_line == span.line else len(line)
    shown, before, width = _window(line, span.column - 1, end)
    yield "gutter", f"{gutter} |\n{span.line:>{len(gutter)}} | "
    yield "source", f"{shown}\n"
    yield "gutter", f"{gutter} | "
    yield ("caret" if tone != "note" else "note"), " " * before + "^" * width
    yield "label", (f" {_sentence(label)}\n" if label else "\n")


def _window(line: str, start: int, end: int) -> tuple[str, int, int]:
    """Return the part of a line to show, the cells before the carets, and the number of carets (at least one).

    `start` and `end` are character offsets; one beyond the line's end is the place where something is missing.
    """
    start = max(0, min(start, len(line)))
    end = max(start, min(end, len(line)))
    # Cut before measuring: a line of a megabyte is never made visible as a whole.
    first = 0 if end <= LINE_WIDTH_MAX else max(0, start - _CONTEXT_BEFORE_CARET)
    last = min(len(line), first + LINE_WIDTH_MAX)
    head = (_ELLIPSIS if first > 0 else "") + visible(line[first:start])
    marked = visible(line[start : min(end, last)])
    tail = visible(line[min(end, last) : last]).rstrip() + (_ELLIPSIS if last < len(line) else "")
    return head + marked + tail, display_width(head), max(1, display_width(marked))


def _sentence(text: str) -> str:
    """Return text of ours, with whatever it quotes, fit for a terminal."""
    return visible(text if len(text) <= _SENTENCE_LENGTH_MAX else text[: _SENTENCE_LENGTH_MAX - 1] + _ELLIPSIS)

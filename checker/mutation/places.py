"""Where a piece of text stands in a file, by name, and how it reads.

A name survives edits elsewhere in the file, which line numbers do not:

    coordinator.submit         a step
    coordinator.submit.torn    what a crash inside it leaves behind
    coordinator.on_crash       what every crash of the process does
    plan.in_doubt              a row of a decision table
    in_doubt                   a definition
    fix:coordinator.submit     any of these as the variant `fix` rewrites it
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from model.diagnostics import Diagnostics
from model.source import Source, Span
from model.yamlnodes import Mapping, Node, Scalar, Sequence
from model.yamltree import load_tree

_Path = tuple[str, ...]


class Places:
    """The texts of one file by their places."""

    def __init__(self, source: Source) -> None:
        """Read the file's tree again; it has been loaded before, so nothing is wrong with it."""
        self._source = source
        root = load_tree(source, Diagnostics())
        assert root is not None, "the file has been loaded"
        # An alias repeats a node. What counts is where its text stands, which is where the node came first.
        found: dict[tuple[int, int], _Path] = {}
        for path, span in _texts(root, (), set()):
            found.setdefault((span.line, span.column), path)
        self._starts = sorted(found)
        self._paths = [found[start] for start in self._starts]

    def name(self, span: Span) -> str:
        """Return the name of the place in which a piece of text stands."""
        position = bisect_right(self._starts, (span.line, span.column)) - 1
        return place_name(self._paths[max(0, position)])

    def text(self, span: Span) -> str:
        """Return a piece of text on one line."""
        return " ".join(self._raw(span).split())

    def exchanged(self, around: Span, inside: Span, new: str) -> tuple[str, str]:
        """Return how a text reads before and after a part of it is exchanged; the part alone where it lies outside."""
        if not self.within(inside, around):
            return self.text(inside), new
        before = self._raw(Span(around.file, around.line, around.column, inside.line, inside.column))
        after = self._raw(Span(around.file, inside.end_line, inside.end_column, around.end_line, around.end_column))
        return self.text(around), " ".join(f"{before}{new}{after}".split())

    @staticmethod
    def within(inside: Span, around: Span) -> bool:
        """Tell whether a text is a part of another."""
        starts = (around.line, around.column) <= (inside.line, inside.column)
        return starts and (inside.end_line, inside.end_column) <= (around.end_line, around.end_column)

    def _raw(self, span: Span) -> str:
        lines = [self._source.line_text(number) for number in range(span.line, span.end_line + 1)]
        lines[-1] = lines[-1][: span.end_column - 1]
        lines[0] = lines[0][span.column - 1 :]
        return "\n".join(lines)


def place_name(path: _Path) -> str:
    """Return the name of the place that keys lead to from the root of a file."""
    match path:
        case ("variants", variant, *rest):
            return f"{variant}:{place_name(tuple(rest))}"
        case ("processes", process, "steps", step, "torn"):
            return f"{process}.{step}.torn"
        case ("processes", process, "steps", step, *_) | ("processes", process, "on_crash" as step):
            return f"{process}.{step}"
        case ("tables", table, "rows", row, *_):
            return f"{table}.{row}"
        case ("definitions", definition):
            return definition.partition("(")[0]
        case _:
            return ".".join(path)


def _texts(node: Node, path: _Path, seen: set[int]) -> Iterator[tuple[_Path, Span]]:
    """Yield every key and every scalar with its path."""
    if id(node) in seen:
        return
    seen.add(id(node))
    match node:
        case Scalar():
            yield path, node.span
        case Sequence():
            for item in node.items:
                yield from _texts(item, path, seen)
        case Mapping():
            for name, entry in node.entries.items():
                yield (*path, name), entry.key.span
                yield from _texts(entry.value, (*path, name), seen)

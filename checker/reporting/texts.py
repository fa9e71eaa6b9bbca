"""What a specification says in its own words, for showing: expressions as written, on one line.

Typed expressions know where they stand, and definitions are already substituted in them; a person wants to see what
the file says in that place. So this reads the file's tree once more and takes the texts from there.
"""

from __future__ import annotations

from model.diagnostics import Diagnostics
from model.source import Source
from model.specification import PropertyKind
from model.yamltree import Mapping, Node, Scalar, Sequence, load_tree


class FileTexts:
    """The texts of one file; what cannot be found is empty."""

    def __init__(self, source: Source) -> None:
        self.root: Node | None = load_tree(source, Diagnostics())

    def property(self, name: str, kind: PropertyKind) -> str:
        """Return what a property says: its expression, of `leads_to` both, of a `checked` one its sentence."""
        node = self._at("properties", name, kind.value)
        return " leads to ".join(map(_text, node.items)) if isinstance(node, Sequence) else _text(node)

    def row(self, table: str, row: str, column: str, variant: str = "") -> str:
        """Return the condition (`when`) or the value of a column of a row; for a default that the table gives.

        A variant says only what it changes.
        """
        found = self._in_variant(variant, "tables", table, "rows", row, column)
        return _text(found) if found is not None else self.default(table, column, variant)

    def default(self, table: str, column: str, variant: str = "") -> str:
        """Return the value of a column where a row gives none."""
        return _text(self._in_variant(variant, "tables", table, "defaults", column))

    def type_of(self, *path: str) -> str:
        """Return the type of a variable or a parameter, as far as it is a single word or range."""
        return _text(self._at(*path, "type"))

    def initial_of(self, *path: str) -> str:
        """Return the initial value that a variable is given."""
        return _text(self._at(*path, "init"))

    def step(self, process: str, name: str) -> str:
        """Return the body of a step as it is written, line by line."""
        node = self._at("processes", process, "steps", name)
        body = node if isinstance(node, Scalar) else self._at("processes", process, "steps", name, "do")
        return body.text.strip("\n") if isinstance(body, Scalar) else ""

    def count(self, process: str) -> str:
        """Return how many instances a process is said to have."""
        return _text(self._at("processes", process, "count"))

    def at_most(self, fault: str) -> str:
        """Return how often a fault is said to happen."""
        return _text(self._at("faults", fault, "at_most"))

    def _in_variant(self, variant: str, *path: str) -> Node | None:
        changed = self._at("variants", variant, *path) if variant else None
        return self._at(*path) if changed is None else changed

    def _at(self, *path: str) -> Node | None:
        node = self.root
        for key in path:
            if not isinstance(node, Mapping) or key not in node.entries:
                return None
            node = node.entries[key].value
        return node


def _text(node: Node | None) -> str:
    if isinstance(node, Sequence):
        return f"[{', '.join(_text(item) for item in node.items)}]"
    return " ".join(node.text.split()) if isinstance(node, Scalar) else ""

"""What a specification is about, read off its tree: names only, nothing elaborated and nothing checked."""

from __future__ import annotations

from dataclasses import dataclass

from model.diagnostics import Diagnostics, SpecificationError
from model.source import Source
from model.yamlnodes import Mapping, Node, Scalar, Sequence
from model.yamltree import load_tree


@dataclass(frozen=True, slots=True)
class Headings:
    """The names by which a specification can be found; what it does not say is empty."""

    source: Source
    protocol: str
    title: str
    pattern: str
    sources: tuple[str, ...]
    properties: tuple[str, ...]
    faults: tuple[str, ...]
    scenarios: tuple[str, ...]
    mutants: tuple[str, ...]
    questions: tuple[str, ...]


def headings_of(source: Source) -> Headings:
    """Read the headings of a text.

    Raises:
        SpecificationError: it is no YAML that a specification could be written in.
    """
    diagnostics = Diagnostics()
    root = load_tree(source, diagnostics)
    if root is None:
        raise SpecificationError(diagnostics.sorted())
    return Headings(
        source,
        protocol=_text(root.get("protocol")),
        title=_text(root.get("title")),
        pattern=_text(root.get("pattern")),
        sources=_items(root.get("sources")),
        properties=_keys(root.get("properties")),
        faults=_keys(root.get("faults")),
        scenarios=_keys(root.get("scenarios")),
        mutants=_keys(root.get("mutants")),
        questions=_keys(root.get("questions")),
    )


def _text(node: Node | None) -> str:
    return node.text if isinstance(node, Scalar) else ""


def _keys(node: Node | None) -> tuple[str, ...]:
    return tuple(node) if isinstance(node, Mapping) else ()


def _items(node: Node | None) -> tuple[str, ...]:
    return tuple(_text(item) for item in node.items) if isinstance(node, Sequence) else ()

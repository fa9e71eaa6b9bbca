"""What two versions of a specification have in common: the same typed tree, wherever it stands in the file.

The typed tree has no definitions in it any more, so that whatever a changed definition changes is seen as changed.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from enum import Enum

from model.expressions import AtLabel
from model.source import Span
from model.statements import Goto
from model.types import EnumType

_WORD = re.compile(r"\w+(?:-\w+)*")

Shape = object
"""Nested tuples; equal where the meaning is written the same."""


class Renaming:
    """Names of the old version by which the new one calls the same things.

    What somebody says holds wherever the name stands. What was found to be renamed holds of that one thing: a literal
    may have the name of a step.
    """

    def __init__(
        self, names: Mapping[str, str] | None = None, found: Mapping[tuple[str, str], str] | None = None
    ) -> None:
        """Take what somebody says, and by kind and old name what was found."""
        self.names = dict(names or {})
        self.found = dict(found or {})

    def __call__(self, text: str) -> str:
        """Return a name of the old version as the new one has it; of `a.b` every part."""
        if text in self.names:
            return self.names[text]
        return _WORD.sub(lambda word: self.names.get(word[0], word[0]), text) if self.names else text

    def of(self, kind: str, name: str) -> str:
        """Return the name of a thing of a kind."""
        return self.found.get((kind, name)) or self(name)

    def label(self, process: str, label: str) -> str:
        """Return the label of a step."""
        return self.of("step", f"{process}.{label}").rpartition(".")[2]


def shape(node: object, renaming: Renaming | None = None, process: str = "") -> Shape:
    """Return what is compared of a declaration or a piece of the typed tree: everything but where it stands.

    `process` is the one whose labels a `goto` names.
    """
    named = renaming or Renaming()

    def inner(child: object) -> Shape:
        return shape(child, named, process)

    match node:
        case str():
            return named(node)
        case Enum() | bool() | int() | None:
            return node
        case Mapping():
            return tuple((inner(key), inner(value)) for key, value in node.items())
        case tuple() | list():
            return tuple(inner(each) for each in node)
        case frozenset() | set():
            return frozenset(inner(each) for each in node)
        case Goto():
            return ("Goto", named.label(process, node.label))
        case AtLabel():
            return ("AtLabel", named(node.process), inner(node.instance), named.label(node.process, node.label))
        case EnumType():
            # By its name: another literal changes the type, and not everything that speaks of it.
            return ("EnumType", named(node.name))
        case _ if dataclasses.is_dataclass(node) and not isinstance(node, type):
            fields = (field.name for field in dataclasses.fields(node))
            values = {name: getattr(node, name) for name in fields if name != "text"}
            kept = {name: value for name, value in values.items() if not isinstance(value, Span)}
            return (type(node).__name__, *((name, inner(value)) for name, value in kept.items()))
        case _:
            return repr(node)

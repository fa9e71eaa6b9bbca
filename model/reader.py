"""Reading the YAML tree: shapes, keys and names, with an error for everything that is not as it should be."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Iterator
from typing import NoReturn, TypeVar

from model.diagnostics import Code, Diagnostics, did_you_mean, quoted
from model.elaborate import CALLS, Failed
from model.source import Span
from model.yamltree import Entry, Mapping, Node, Scalar, Sequence

T = TypeVar("T")

IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
TITLE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*\Z")
RESERVED = frozenset({*keyword.kwlist, *CALLS, "self", "choose", "when", "goto", "stop", "read", "check", "crashed", "ghost", "parameters", "bool", "true", "false", "nat", "counter", "set"})
LATER = frozenset({"torn", "on_crash", "restarts", "boot", "keep", "initially", "leads_to", "checked"})


class Reader:
    """Checks shapes and reports; every method that cannot give what was asked for raises `Failed`."""

    def __init__(self, diagnostics: Diagnostics) -> None:
        self.diagnostics = diagnostics

    def fail(self, code: Code, message: str, span: Span, *, label: str = "", help: str = "") -> NoReturn:  # noqa: A002 - the word of the diagnostics
        """Report an error and give up the piece at hand."""
        self.diagnostics.report(code, message, span, label=label, help=help)
        raise Failed

    def attempt(self, read: Callable[[], T]) -> T | None:
        """Run a reader; None where it failed (and reported)."""
        try:
            return read()
        except Failed:
            return None

    # -- shapes ---------------------------------------------------------------------------------------------------

    def mapping(self, node: Node, what: str) -> Mapping:
        """Require a mapping."""
        if not isinstance(node, Mapping):
            self.fail(Code.WRONG_SHAPE, f"{what} is a mapping (`name: …` lines or `{{…}}`)", node.span)
        return node

    def sequence(self, node: Node, what: str) -> Sequence:
        """Require a list."""
        if not isinstance(node, Sequence):
            self.fail(Code.WRONG_SHAPE, f"{what} is a list (`[a, b]`)", node.span)
        return node

    def scalar(self, node: Node, what: str) -> Scalar:
        """Require a single value."""
        if not isinstance(node, Scalar) or node.kind == "null":
            self.fail(Code.WRONG_SHAPE, f"{what} is a single value", node.span)
        return node

    def text(self, node: Node, what: str) -> str:
        """Require a text and return it."""
        return self.scalar(node, what).text

    def flag(self, node: Node, what: str) -> bool:
        """Require `true` or `false`."""
        scalar = self.scalar(node, what)
        if scalar.kind != "bool":
            self.fail(Code.VALUE_NOT_ALLOWED, f"{what} is `true` or `false`", scalar.span, help=_boolean_help(scalar.text))
        return scalar.text == "true"

    def keys(self, mapping: Mapping, allowed: tuple[str, ...], what: str, required: tuple[str, ...] = ()) -> None:
        """Report keys that mean nothing here and required ones that are missing."""
        for name, entry in mapping.entries.items():
            if name in allowed:
                continue
            if name in LATER:
                self.diagnostics.report(Code.NOT_YET_SUPPORTED, f"`{name}` is not yet supported", entry.key.span)
                continue
            self.diagnostics.report(Code.UNKNOWN_KEY, f"{what} has no key {quoted(name)}", entry.key.span, help=did_you_mean(name, allowed, known="it has"))
        for name in required:
            if name not in mapping.entries:
                self.diagnostics.report(Code.MISSING_KEY, f"{what} needs `{name}`", mapping.span)
                raise Failed

    def entry(self, mapping: Mapping, name: str) -> Node | None:
        """Return the value under a key, None where it is absent."""
        entry = mapping.entries.get(name)
        return None if entry is None else entry.value

    def identifier(self, key: Scalar, what: str) -> str:
        """Require a name that expressions can use."""
        if not IDENTIFIER.match(key.text):
            self.fail(Code.NOT_AN_IDENTIFIER, f"{quoted(key.text)} cannot name {what}", key.span, help="letters, digits and `_`, not starting with a digit")
        if key.text in RESERVED:
            self.fail(Code.NOT_AN_IDENTIFIER, f"{quoted(key.text)} is a word of the language and cannot name {what}", key.span)
        return key.text

    def title_name(self, key: Scalar, what: str) -> str:
        """Require a name that stands on a command line: letters, digits, `_`, `-` and `.`."""
        if not TITLE_NAME.match(key.text):
            self.fail(Code.NOT_AN_IDENTIFIER, f"{quoted(key.text)} cannot name {what}", key.span, help="letters, digits, `_`, `-` and `.`")
        return key.text

    # -- collections ----------------------------------------------------------------------------------------------

    def named(self, mapping: Mapping, what: str) -> Iterator[tuple[str, Entry]]:
        """Yield the entries of a mapping whose keys are names for expressions; bad names are reported and skipped."""
        for entry in mapping.entries.values():
            name = self.attempt(lambda e=entry: self.identifier(e.key, what))  # type: ignore[misc]
            if name is not None:
                yield name, entry

    def section(self, root: Mapping, name: str, what: str) -> Mapping:
        """Return a section that is a mapping; an empty one where it is absent or failed."""
        node = self.entry(root, name)
        if node is None:
            return Mapping({}, root.span)
        return self.attempt(lambda: self.mapping(node, what)) or Mapping({}, root.span)

    def names(self, node: Node, what: str) -> list[Scalar]:
        """Require a list of names; repeated ones are reported."""
        items = [self.scalar(item, f"an entry of {what}") for item in self.sequence(node, what).items]
        seen: set[str] = set()
        for item in items:
            if item.text in seen:
                self.fail(Code.NAMED_TWICE, f"{quoted(item.text)} is named twice", item.span)
            seen.add(item.text)
        return items


def _boolean_help(text: str) -> str:
    likely = {"yes": "true", "on": "true", "True": "true", "no": "false", "off": "false", "False": "false"}
    return f"write {likely[text]}" if text in likely else ""

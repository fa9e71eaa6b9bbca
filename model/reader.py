"""Reading the YAML tree: shapes, keys and names, with an error for everything that is not as it should be."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NoReturn, TypeVar

from model import limits
from model.diagnostics import Code, Diagnostics, did_you_mean, nearest, quoted
from model.failures import Failed
from model.scope import Declarations
from model.source import Span
from model.words import IDENTIFIER, PYTHON_WORDS, RESERVED
from model.yamlnodes import Entry, Mapping, Node, Scalar, Sequence

T = TypeVar("T")

_TITLE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*\Z")
_BOOLEANS = {"yes": "true", "on": "true", "True": "true", "no": "false", "off": "false", "False": "false"}


class Reader:
    """Checks shapes and reports; every method that cannot give what was asked for raises `Failed`.

    What fails to be declared is remembered in `declarations`, so that its use is no further error.
    """

    def __init__(self, diagnostics: Diagnostics, declarations: Declarations) -> None:
        self.diagnostics = diagnostics
        self.declarations = declarations

    def fail(
        self,
        code: Code,
        message: str,
        span: Span,
        *,
        label: str = "",
        help: str = "",  # noqa: A002 - the word of the diagnostics
    ) -> NoReturn:
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
            self.fail(
                Code.WRONG_SHAPE, f"{what} is a mapping (`name: …` lines or `{{…}}`), not {_shape(node)}", node.span
            )
        return node

    def sequence(self, node: Node, what: str) -> Sequence:
        """Require a list."""
        if not isinstance(node, Sequence):
            help_text = f"write `[{node.text}]`" if isinstance(node, Scalar) and IDENTIFIER.match(node.text) else ""
            self.fail(Code.WRONG_SHAPE, f"{what} is a list (`[a, b]`), not {_shape(node)}", node.span, help=help_text)
        return node

    def scalar(self, node: Node, what: str) -> Scalar:
        """Require a single value."""
        if isinstance(node, Scalar) and node.kind != "null":
            return node
        help_text = ""
        if isinstance(node, Mapping) and len(node.entries) > 0:
            help_text = "put quotes around an expression that begins with a brace"
        self.fail(Code.WRONG_SHAPE, f"{what} is a single value, not {_shape(node)}", node.span, help=help_text)

    def text(self, node: Node, what: str) -> str:
        """Require a text and return it."""
        return self.scalar(node, what).text

    def flag(self, node: Node, what: str) -> bool:
        """Require `true` or `false`."""
        scalar = self.scalar(node, what)
        if scalar.kind != "bool":
            help_text = f"write `{_BOOLEANS[scalar.text]}`" if scalar.text in _BOOLEANS else ""
            message = f"{what} is `true` or `false`, not {quoted(scalar.text)}"
            self.fail(Code.VALUE_NOT_ALLOWED, message, scalar.span, help=help_text)
        return scalar.text == "true"

    def bound(self, mapping: Mapping, what: str = "`bound`") -> int | None:
        """Read up to where `nat` is explored; None where nothing says so."""
        node = self.entry(mapping, "bound")
        if node is None:
            return None
        scalar = self.scalar(node, what)
        if scalar.kind != "int" or not 0 <= int(scalar.text) <= limits.BOUND_MAX:
            message = f"{what} is a number from 0 to {limits.BOUND_MAX:,}, not {quoted(scalar.text)}"
            self.fail(Code.NO_BOUND, message, scalar.span)
        return int(scalar.text)

    def keys(
        self,
        mapping: Mapping,
        allowed: tuple[str, ...],
        what: str,
        required: tuple[str, ...] = (),
        *,
        at: Span | None = None,
        unknown: Code = Code.UNKNOWN_KEY,
    ) -> None:
        """Report keys that mean nothing here and required ones that are missing; of these, `at` is the place.

        Raises:
            Failed: a required key is missing.
        """
        missing = [name for name in required if name not in mapping.entries]
        failed = bool(missing)
        for name, entry in mapping.entries.items():
            if name in allowed:
                continue
            meant = nearest(name, allowed)
            if meant is not None and meant not in mapping.entries:
                # What stands under the misspelt key is not read, so what would follow from that is no further error.
                self.declarations.incomplete = True
                missing = [other for other in missing if other != meant]
            word = "column" if unknown is Code.UNKNOWN_COLUMN else "key"
            help_text = did_you_mean(name, [key for key in allowed if key != "note"], known="it has")
            if meant is None and isinstance(entry.value, Scalar) and entry.value.kind == "null":
                help_text = "inside braces a comma ends a text: put quotes around one that contains a comma"
            self.diagnostics.report(unknown, f"{what} has no {word} {quoted(name)}", entry.key.span, help=help_text)
        for name in missing:
            self.diagnostics.report(Code.MISSING_KEY, f"{what} needs the key `{name}`", at or mapping.span)
        if failed:
            raise Failed

    def entry(self, mapping: Mapping, name: str) -> Node | None:
        """Return the value under a key, None where it is absent."""
        entry = mapping.entries.get(name)
        return None if entry is None else entry.value

    def identifier(self, key: Scalar, what: str, *, words: frozenset[str] = RESERVED) -> str:
        """Require a name that expressions can use and that is none of the words."""
        if key.kind in {"null", "bool", "int"} or not IDENTIFIER.match(key.text):
            help_text = "a name is ASCII letters, digits and `_`, and does not begin with a digit"
            if key.kind == "bool":
                help_text = f"`{key.text}` is a truth value; choose another word"
            self.fail(Code.NOT_AN_IDENTIFIER, f"{quoted(key.text)} cannot name {what}", key.span, help=help_text)
        if key.text in words:
            message = f"{quoted(key.text)} is a word of the language and cannot name {what}"
            self.fail(Code.NOT_AN_IDENTIFIER, message, key.span)
        return key.text

    def title_name(self, key: Scalar, what: str) -> str:
        """Require a name that stands on a command line: letters, digits, `_`, `-` and `.`."""
        if not _TITLE_NAME.match(key.text):
            message = f"{quoted(key.text)} cannot name {what}"
            help_text = "it is ASCII letters, digits, `_`, `-` and `.`"
            self.fail(Code.NOT_AN_IDENTIFIER, message, key.span, help=help_text)
        return key.text

    # -- collections ----------------------------------------------------------------------------------------------

    def named(self, mapping: Mapping, what: str, *, words: frozenset[str] = RESERVED) -> Iterator[tuple[str, Entry]]:
        """Yield the entries of a mapping whose keys are names for expressions; bad names are reported and skipped."""
        for entry in mapping.entries.values():
            try:
                name = self.identifier(entry.key, what, words=words)
            except Failed:
                # What it is called where it is used: there a name is an identifier.
                self.declarations.failed |= {entry.key.text, re.sub(r"\W", "_", entry.key.text)}
            else:
                yield name, entry

    def section(self, root: Mapping, name: str, what: str) -> Mapping:
        """Return a section that is a mapping; an empty one where it is absent or failed."""
        node = self.entry(root, name)
        if node is None:
            return Mapping({}, root.span)
        if isinstance(node, Scalar) and node.kind == "null":
            # `scenarios:` with nothing below it declares nothing, like a section that is left out.
            return Mapping({}, node.span)
        mapping = self.attempt(lambda: self.mapping(node, what))
        if mapping is None:
            self.declarations.incomplete = True
            return Mapping({}, root.span)
        return mapping

    def names(self, node: Node, what: str) -> list[Scalar]:
        """Require a list of names; repeated ones are reported."""
        items = [self.scalar(item, f"an entry of {what}") for item in self.sequence(node, what).items]
        seen: set[str] = set()
        for item in items:
            if item.text in seen:
                self.fail(Code.NAMED_TWICE, f"{quoted(item.text)} is named twice in {what}", item.span)
            seen.add(item.text)
        return items

    def literals(self, node: Node, what: str) -> tuple[str, ...]:
        """Require a list of words that can be literals."""
        items = self.names(node, what)
        return tuple(self.identifier(item, "a literal", words=PYTHON_WORDS) for item in items)


def _shape(node: Node) -> str:
    if isinstance(node, Mapping):
        return "a mapping"
    if isinstance(node, Sequence):
        return "a list"
    return "nothing" if node.kind == "null" else quoted(node.text)

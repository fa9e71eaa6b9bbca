"""Builds the tree of a YAML file from the events of its parser.

One pass and no recursion: limits are checked before memory is spent, and no nesting can exhaust the stack.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

import yaml

from model import limits
from model.diagnostics import Code, Diagnostics, Note, quoted
from model.scalartext import ScalarStyle, properties_length
from model.source import HIDDEN, LINE_END, Source, Span
from model.yamlnodes import Entry, Mapping, Node, Scalar, ScalarKind, Sequence

if TYPE_CHECKING:
    from yaml._yaml import Mark as CMark
    from yaml.error import Mark

_STYLES: dict[str | None, ScalarStyle] = {
    None: "plain",
    "": "plain",
    "'": "single",
    '"': "double",
    "|": "literal",
    ">": "folded",
}
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")


class Refused(Exception):
    """Reading cannot go on; what is wrong has been reported."""


@dataclass(slots=True)
class _Frame:
    """A mapping or list that has begun and not ended."""

    start: tuple[int, int]
    is_mapping: bool
    flow: bool
    anchor: str | None
    end: tuple[int, int]
    items: list[Node] = field(default_factory=list)
    entries: dict[str, Entry] = field(default_factory=dict)
    key: Node | None = None
    nodes: int = 1
    height: int = 1


@dataclass(frozen=True, slots=True)
class _Anchored:
    """A node with an anchor: how many nodes it stands for, and how deep they go. No node yet: it is still open."""

    node: Node | None
    nodes: int = 0
    height: int = 0


class TreeBuilder:
    """Builds the tree from the parser's events; open collections are on a stack of our own."""

    def __init__(self, source: Source, diagnostics: Diagnostics) -> None:
        self._source = source
        self._diagnostics = diagnostics
        self._stack: list[_Frame] = []
        self._anchors: dict[str, _Anchored] = {}
        self._nodes = 0
        self._documents = 0
        self._root: Node | None = None

    def root(self) -> Mapping | None:
        """Return the finished tree."""
        if isinstance(self._root, Mapping):
            return self._root
        if self._root is None or (isinstance(self._root, Scalar) and self._root.kind == "null"):
            span = Span(self._source.file, 1, 1, 1, 1)
            self._diagnostics.report(Code.EMPTY_FILE, "the file holds no specification", span)
        else:
            shape = "a list" if isinstance(self._root, Sequence) else "a single value"
            message = f"a specification is a mapping of keys to values, and this is {shape}"
            self._diagnostics.report(Code.WRONG_SHAPE, message, self._root.span)
        return None

    def take(self, event: yaml.Event) -> None:
        """Add what one event of the parser says.

        Raises:
            Refused: it cannot be added, or a limit is reached; reported.
        """
        if isinstance(event, yaml.ScalarEvent):
            node = self._scalar(event)
            self._remember(event.anchor, node.span, _Anchored(node, 1, 0))
            self._add(node, 1, 0)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._open(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._close(event)
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event)
        elif isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                message = "a second YAML document begins here; a file holds one specification"
                self._refuse(Code.SEVERAL_DOCUMENTS, message, self._span(event))

    # --- Scalars ---

    def _scalar(self, event: yaml.ScalarEvent) -> Scalar:
        style = _STYLES[event.style]
        raw = self._source.text[_mark(event.start_mark).index : _mark(event.end_mark).index]
        start = _start(event)
        if raw[:1] in {"&", "!"}:
            skipped = properties_length(raw)
            start = _advanced(start, raw[:skipped])
            raw = raw[skipped:]
        end = _end(event)
        if style in {"literal", "folded"}:
            # A block ends where the next key begins; what is shown ends with its last line of text.
            end = _advanced(start, raw.rstrip())
        span = Span(self._source.file, *start, *end)
        if start == end and event.anchor is None:
            span = self._nothing(span)
        if event.tag is not None:
            self._tag(event.tag, span)
        text, kind = self._value(event.value, style, span)
        return Scalar(text, kind, span, style, raw)

    def _nothing(self, span: Span) -> Span:
        """Return where a value that was left out stands: directly behind its key, as the parsers disagree about it."""
        key = self._stack[-1].key if self._stack else None
        if key is None:
            return span
        return Span(span.file, key.span.end_line, key.span.end_column, key.span.end_line, key.span.end_column)

    def _value(self, text: str, style: ScalarStyle, span: Span) -> tuple[str, ScalarKind]:
        """Check a scalar's text and tell its kind."""
        if len(text) > limits.SCALAR_LENGTH_MAX:
            self._refuse(Code.LIMIT, f"one text has more than {limits.SCALAR_LENGTH_MAX:,} characters", span)
        if style == "double" and HIDDEN.search(text):
            self._diagnostics.report(Code.HIDDEN_CHARACTER, "an escape stands for an invisible character", span)
            return HIDDEN.sub("\ufffd", text), "str"
        if style != "plain":
            return text, "str"
        if text in {"", "~", "null"}:
            return text, "null"
        if text in {"true", "false"}:
            return text, "bool"
        if not _INTEGER.fullmatch(text):
            return text, "str"
        # `int` of very many digits is slow, and refused by Python.
        if len(text) > len(str(limits.INTEGER_MAX)) + 1 or abs(int(text)) > limits.INTEGER_MAX:
            self._diagnostics.report(Code.LIMIT, f"a number is larger than {limits.INTEGER_MAX:,}", span)
            return "0", "int"
        return text, "int"

    # --- Collections ---

    def _open(self, event: yaml.CollectionStartEvent) -> None:
        start = _start(event)
        if len(self._stack) >= limits.NESTING_MAX:
            self._refuse_nesting(self._span(event))
        if event.tag is not None:
            self._tag(event.tag, self._span(event))
        self._remember(event.anchor, self._span(event), _Anchored(None))
        mapping = isinstance(event, yaml.MappingStartEvent)
        self._stack.append(_Frame(start, mapping, bool(event.flow_style), event.anchor, start))

    def _close(self, event: yaml.CollectionEndEvent) -> None:
        frame = self._stack.pop()
        if frame.flow:
            frame.end = _end(event)
        # The parsers disagree about where a block ends; it is where its last value does.
        span = Span(self._source.file, *frame.start, *frame.end)
        node = Mapping(frame.entries, span) if frame.is_mapping else Sequence(tuple(frame.items), span)
        if frame.anchor is not None:
            self._anchors[frame.anchor] = _Anchored(node, frame.nodes, frame.height)
        self._add(node, frame.nodes, frame.height, counted=frame.nodes - 1)

    def _alias(self, event: yaml.AliasEvent) -> None:
        span = self._span(event)
        name = event.anchor or ""
        anchored = self._anchors.get(name)
        if anchored is None:
            self._diagnostics.report(Code.YAML_ALIAS, f"no anchor {quoted('&' + name)} comes before this", span)
            self._add(Scalar("", "null", span), 1, 0)
            return
        if anchored.node is None:
            self._refuse(Code.YAML_ALIAS, f"the alias {quoted('*' + name)} stands inside what it means", span)
        if len(self._stack) + anchored.height > limits.NESTING_MAX:
            self._refuse_nesting(span)
        self._add(anchored.node, anchored.nodes, anchored.height, place=span)

    def _add(self, node: Node, nodes: int, height: int, *, counted: int = 0, place: Span | None = None) -> None:
        """Put a node where it belongs: the next key, value or item of the innermost open collection, or the root.

        It stands for `nodes` nodes, of which `counted` have been counted before, and is `height` collections deep.
        `place` is where it stands, if it is an alias.
        """
        place = place or node.span
        self._nodes += nodes - counted
        if self._nodes > limits.NODES_MAX:
            message = f"the file has more than {limits.NODES_MAX:,} values, each alias counted as what it stands for"
            self._refuse(Code.LIMIT, message, place)
        if not self._stack:
            self._root = node
            return
        frame = self._stack[-1]
        frame.nodes += nodes
        frame.height = max(frame.height, height + 1)
        frame.end = (place.end_line, place.end_column)
        if not frame.is_mapping:
            frame.items.append(node)
        elif frame.key is None:
            frame.key = node
        else:
            self._enter(frame, frame.key, node)
            frame.key = None

    def _enter(self, frame: _Frame, key: Node, value: Node) -> None:
        """Add a key and its value to a mapping, unless the key is one that cannot be."""
        if not isinstance(key, Scalar) or key.kind == "null":
            message = "a key is a single text" if not isinstance(key, Scalar) else "this entry has no key"
            self._diagnostics.report(Code.KEY_NOT_A_NAME, message, key.span)
            return
        if key.style == "plain" and key.text == "<<":
            self._diagnostics.report(
                Code.MERGE_KEY,
                "the merge key `<<` is not part of the language",
                key.span,
                help="write the keys out, or declare a variant, which is a deep merge",
            )
            return
        if key.kind != "str":
            self._diagnostics.report(
                Code.KEY_NOT_A_NAME,
                f"a key is text, and {quoted(key.text)} is a {'number' if key.kind == 'int' else 'truth value'}",
                key.span,
                help=f"if it is a name, put it in quotes: '{key.text}'",
            )
        elif frame.flow and ":" in key.text and isinstance(value, Scalar) and value.kind == "null":
            self._diagnostics.report(
                Code.YAML_SYNTAX,
                f"{quoted(key.text)} is a key without a value",
                key.span,
                help="inside braces a `:` needs a space after it",
            )
        if key.text in frame.entries:
            self._diagnostics.report(
                Code.DUPLICATE_KEY,
                f"the key {quoted(key.text)} stands here twice",
                key.span,
                label="the second",
                notes=(Note("the first is here", frame.entries[key.text].key.span),),
            )
            return
        frame.entries[key.text] = Entry(key, value)

    # --- Anchors, tags, refusals ---

    def _remember(self, anchor: str | None, span: Span, anchored: _Anchored) -> None:
        if anchor is None:
            return
        if anchor in self._anchors:
            self._diagnostics.report(Code.YAML_ALIAS, f"the anchor {quoted('&' + anchor)} is given twice", span)
        self._anchors[anchor] = anchored

    def _tag(self, tag: str, span: Span) -> None:
        self._diagnostics.report(
            Code.YAML_TAG,
            f"the tag {quoted(tag.replace('tag:yaml.org,2002:', '!!'))} is not part of the language",
            span,
            help="leave it out; put text that looks like a number or truth value in quotes",
        )

    def _refuse_nesting(self, span: Span) -> None:
        message = f"mappings and lists are nested more than {limits.NESTING_MAX} deep"
        self._refuse(Code.LIMIT, message, span)

    def _refuse(self, code: Code, message: str, span: Span) -> NoReturn:
        self._diagnostics.report(code, message, span)
        raise Refused

    def _span(self, event: yaml.Event) -> Span:
        return Span(self._source.file, *_start(event), *_end(event))


def _mark(mark: Mark | CMark | None) -> Mark | CMark:
    assert mark is not None, "every event of a parser has positions"
    return mark


def _start(event: yaml.Event) -> tuple[int, int]:
    mark = _mark(event.start_mark)
    return mark.line + 1, mark.column + 1


def _end(event: yaml.Event) -> tuple[int, int]:
    mark = _mark(event.end_mark)
    return mark.line + 1, mark.column + 1


def _advanced(start: tuple[int, int], text: str) -> tuple[int, int]:
    """Return the position behind `text` that stands at `start`."""
    ends = list(LINE_END.finditer(text))
    if not ends:
        return start[0], start[1] + len(text)
    return start[0] + len(ends), len(text) - ends[-1].end() + 1

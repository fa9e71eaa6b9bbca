"""The types of a specification: declared ones, and those written where they are used."""

from __future__ import annotations

import re
from collections.abc import Mapping as Names
from functools import partial

from model import limits
from model.constants import constant_size
from model.diagnostics import Code, Diagnostics, did_you_mean, quoted
from model.elaborate import ExpressionElaborator
from model.expressions import Constant, Expression
from model.failures import Effort, Failed, give_up
from model.reader import Reader
from model.resolve import Parsed, describe
from model.scope import Declarations
from model.types import (
    INT,
    NAT,
    CounterType,
    DeclaredType,
    ElementType,
    EnumType,
    OptionalType,
    RangeType,
    SetType,
    ValueType,
    whole,
)
from model.words import IDENTIFIER
from model.yamlnodes import Mapping, Node, Scalar, Sequence

_COUNTER = re.compile(r"\s*counter\b")
_SET = re.compile(r"\s*set\s+of\b")
_TYPES = (
    "a type is `bool`, a range `lo..hi`, a name under `types` or `processes`, one of these with `?` behind it or "
    "`set of` before it, or `counter N` for ghosts"
)


class TypeReader:
    """Reads types, and the constants that they are made of, of one (patched) YAML tree."""

    def __init__(self, root: Mapping, diagnostics: Diagnostics, parsed: Parsed, effort: Effort) -> None:
        self.root = root
        self.diagnostics = diagnostics
        self.effort = effort
        self.declarations = Declarations()
        self.reader = Reader(diagnostics, self.declarations)
        self.expressions = ExpressionElaborator(self.declarations, diagnostics, parsed, effort)

    def limited(self, mapping: Mapping, what: str, most: int = limits.DECLARATIONS_MAX) -> None:
        """Read no further in a file that declares too much."""
        if len(mapping.entries) > most:
            message = f"{len(mapping.entries):,} {what}; at most {most:,} are allowed"
            give_up(self.diagnostics, message, mapping.span)
        self.effort.spend(len(mapping.entries), mapping.span)

    def constant(self, node: Node, expected: ValueType | None, what: str) -> Expression:
        """Read an expression over parameters."""
        return self.expressions.in_constant(self.reader.scalar(node, what), expected)

    # -- declared types -------------------------------------------------------------------------------------------

    def _words(self, node: Node, what: str) -> tuple[str, ...]:
        literals = self.reader.literals(node, what)
        if not literals:
            self.reader.fail(Code.NOTHING_DECLARED, f"{what} has no values", node.span)
        if len(literals) > limits.LITERALS_MAX:
            message = f"{what} has {len(literals):,} literals; at most {limits.LITERALS_MAX:,} are allowed"
            self.reader.fail(Code.LIMIT, message, node.span)
        return literals

    def _types(self, processes: Names[str, bool]) -> None:
        section = self.reader.section(self.root, "types", "`types`")
        self.limited(section, "types")
        # `T?` and `set of T` stand on other types, wherever those are written; the order is that of the file.
        entries = list(self.reader.named(section, "a type"))
        for name, entry in sorted(entries, key=lambda item: _is_derived(item[1].value)):
            declared = self.reader.attempt(partial(self._type, name, entry.value))
            if declared is None:
                self.declarations.failed.add(name)
                if isinstance(entry.value, Sequence):
                    literals = [item.text for item in entry.value.items if isinstance(item, Scalar)]
                    self.declarations.failed.update(literals)
                continue
            for kind, names in (("a parameter with `one_of`", self.declarations.types), ("a process", processes)):
                if name in names:
                    message = f"`{name}` is also the name of {kind}, whose values are a type already"
                    self.diagnostics.report(Code.DECLARED_TWICE, message, entry.key.span)
            self.declarations.types[name] = declared
        types = self.declarations.types
        for name, _ in entries:
            if name in types:
                types[name] = types.pop(name)

    def _type(self, name: str, node: Node) -> DeclaredType:
        if isinstance(node, Sequence):
            return EnumType(name, self._words(node, f"the type `{name}`"))
        scalar = self.reader.scalar(node, f"the type `{name}`")
        if _is_derived(scalar):
            return self._derived(scalar, name)
        if ".." not in scalar.text:
            self._refuse_nat(scalar, scalar.text.strip())
            message = f"a type is a list of literals, a range `lo..hi`, `T?` or `set of T`, not {quoted(scalar.text)}"
            self.reader.fail(Code.TYPE_SYNTAX, message, scalar.span)
        return self.range(scalar, name)

    def _derived(self, scalar: Scalar, name: str | None) -> OptionalType | SetType:
        """Read `T?` or `set of T`."""
        if found := _SET.match(scalar.text):
            element = self._plain_type(scalar, "the elements of a set are", found.end())
            size = constant_size(element)
            if size is not None and size > limits.SET_ELEMENTS_MAX:
                most = f"at most {limits.SET_ELEMENTS_MAX} are allowed"
                message = f"the elements of {quoted(scalar.text.strip())} are {size:,} values; {most}"
                self.reader.fail(Code.LIMIT, message, scalar.span)
            return SetType(element, name)
        return OptionalType(self._plain_type(scalar, "before `?` stands", 0, scalar.text.rindex("?")), name)

    def _plain_type(self, scalar: Scalar, what: str, start: int, end: int | None = None) -> ElementType:
        """Read the T of `T?` and `set of T`."""
        text = scalar.text[start:end].strip()
        if ".." in text:
            return self.range(scalar, None, start, end)
        if _COUNTER.match(text) or _SET.match(text) or text.endswith("?"):
            message = f"{what} an enumeration, a range, `bool` or a process, not {quoted(text)}"
            self.reader.fail(Code.TYPE_SYNTAX, message, scalar.span)
        found = self._named(text, scalar)
        if isinstance(found, OptionalType | SetType):
            message = f"{what} an enumeration, a range, `bool` or a process; `{text}` is {describe(found)}"
            self.reader.fail(Code.TYPE_SYNTAX, message, scalar.span)
        return found

    def _refuse_nat(self, scalar: Scalar, text: str) -> None:
        if text == "nat":
            message = "`nat` is the type of a variable, and nothing else: there is no end of its values"
            self.reader.fail(Code.NAT_PLACE, message, scalar.span, help="a range `lo..hi` has an end")

    def range(self, scalar: Scalar, name: str | None, start: int = 0, end: int | None = None) -> RangeType:
        """Read `lo..hi`, all of a scalar or its characters `start` to `end`."""
        text = scalar.text[start:end]
        low_text, dots, high_text = text.partition("..")
        if not dots or not low_text.strip() or not high_text.strip():
            message = f"a range is written `lo..hi`, not {quoted(text)}"
            self.reader.fail(Code.TYPE_SYNTAX, message, scalar.span)
        low = self.expressions.in_constant(scalar, INT, start, start + len(low_text))
        high = self.expressions.in_constant(scalar, INT, start + len(low_text) + 2, end)
        declared = RangeType(low, high, name, text.replace(" ", ""))
        size = constant_size(declared)
        if size is not None and size < 1:
            self.reader.fail(Code.EMPTY_TYPE, f"the range {quoted(text)} has no values", scalar.span)
        if size is not None and size > limits.RANGE_SIZE_MAX:
            most = f"at most {limits.RANGE_SIZE_MAX:,} are allowed"
            self.reader.fail(Code.LIMIT, f"the range {quoted(text)} has {size:,} values; {most}", scalar.span)
        return declared

    def variable_type(self, node: Node) -> ValueType:
        """Read the type of a variable, which may be `nat`."""
        if isinstance(node, Scalar) and node.text.strip() == "nat":
            return NAT
        return self.type_use(node, "`type`")

    def type_use(self, node: Node, what: str) -> ValueType:
        """Read a type where it is used: a name, a range in place, `T?`, `set of T`, or `counter N`."""
        scalar = self.reader.scalar(node, what)
        text = scalar.text.strip()
        if _is_derived(scalar):
            return self._derived(scalar, None)
        if found := _COUNTER.match(scalar.text):
            return self._counter(scalar, found.end())
        if ".." in text:
            return self.range(scalar, None)
        return self._named(text, scalar)

    def _named(self, text: str, scalar: Scalar) -> ElementType | OptionalType | SetType:
        """Return the type of a name."""
        self._refuse_nat(scalar, text)
        named = self.expressions.named_type(text)
        if named is not None:
            return named
        if self.declarations.excuses(text):
            raise Failed
        if not IDENTIFIER.match(text):
            self.reader.fail(Code.TYPE_SYNTAX, f"{quoted(text)} is no type", scalar.span, help=_TYPES)
        known = ["bool", *self.declarations.types, *self.declarations.processes]
        self.reader.fail(
            Code.UNKNOWN_TYPE, f"no type is named {quoted(text)}", scalar.span, help=did_you_mean(text, known)
        )

    def _counter(self, scalar: Scalar, start: int) -> CounterType:
        if not scalar.text[start:].strip():
            self.reader.fail(Code.TYPE_SYNTAX, "a counter says how far it counts: `counter 2`", scalar.span)
        limit = self.expressions.in_constant(scalar, INT, start)
        if isinstance(limit, Constant) and not 1 <= whole(limit.value) <= limits.COUNTER_MAX:
            message = f"a counter counts to a number from 1 to {limits.COUNTER_MAX:,}, not to {limit.value}"
            self.reader.fail(Code.LIMIT if whole(limit.value) > 0 else Code.EMPTY_TYPE, message, limit.span)
        return CounterType(limit)


def _is_derived(node: Node) -> bool:
    """Tell whether a type is written `T?` or `set of T`."""
    return isinstance(node, Scalar) and (node.text.rstrip().endswith("?") or _SET.match(node.text) is not None)

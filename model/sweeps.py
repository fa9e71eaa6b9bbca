"""The sweep: which promises of its surroundings a protocol is tried with, each from the weakest to the strongest."""

from __future__ import annotations

import math
from collections.abc import Callable
from collections.abc import Mapping as Dictionary
from functools import partial

from model import limits
from model.claims import ClaimReader
from model.declare import Declared
from model.diagnostics import Code, Diagnostics, did_you_mean, quoted
from model.failures import Failed
from model.reader import Reader
from model.source import Span
from model.specification import UNLIMITED, Count, Dimension, Scenario, Sweep
from model.types import Value
from model.yamlnodes import Mapping, Node

SWEEP_KEYS = ("scenario", "set", "allow", "only", "note")


class SweepReader:
    """Reads the sweep of a file whose scenarios have been read."""

    def __init__(self, reader: Reader, diagnostics: Diagnostics, claims: ClaimReader) -> None:
        self.reader = reader
        self.diagnostics = diagnostics
        self.claims = claims

    def sweep(
        self, root: Mapping, scenarios: Dictionary[str, Scenario], declared: Callable[[str], Declared]
    ) -> Sweep | None:
        """Read it, None where there is none; `declared` returns the protocol under a variant.

        Raises:
            Failed: something is wrong with it; reported.
        """
        read = self.reader
        node = read.entry(root, "sweep")
        if node is None:
            return None
        mapping = read.mapping(node, "`sweep`")
        read.keys(mapping, SWEEP_KEYS, "`sweep`")
        scenario = self._scenario(mapping, scenarios)
        protocol = declared(scenarios[scenario].variant if scenario else "")
        only = read.entry(mapping, "only")
        asked = None if only is None else self.claims.properties(only, "`only`", protocol, Code.UNKNOWN_PROPERTY)
        dimensions = [*self._parameters(mapping, protocol), *self._faults(mapping, protocol)]
        named = [name for key in ("set", "allow") for name in read.section(mapping, key, f"`{key}`").entries]
        if len(dimensions) < len(named):
            raise Failed
        if not dimensions:
            message = "`sweep` varies nothing"
            help_text = "write `set: {parameter: [weakest, …, strongest]}` or `allow: {fault: [unlimited, 0]}`"
            read.fail(Code.NOTHING_DECLARED, message, root.entries["sweep"].key.span, help=help_text)
        self._check_number(dimensions, root.entries["sweep"].key.span)
        return Sweep(scenario, tuple(dimensions), asked, root.entries["sweep"].key.span)

    def _scenario(self, mapping: Mapping, scenarios: Dictionary[str, Scenario]) -> str:
        node = self.reader.entry(mapping, "scenario")
        if node is None:
            return ""
        name = self.reader.text(node, "`scenario`")
        if name not in scenarios:
            if self.diagnostics.has_errors:
                raise Failed  # it may be one of those with errors
            message = f"there is no scenario {quoted(name)} to sweep"
            self.reader.fail(Code.SWEEP_SCENARIO, message, node.span, help=did_you_mean(name, scenarios))
        return name

    def _parameters(self, mapping: Mapping, declared: Declared) -> list[Dimension]:
        read, found = self.reader, []
        known = declared.specification.parameters
        for name, entry in read.section(mapping, "set", "`set`").entries.items():
            if name in known:
                value = partial(self._value, name, declared)
                made = read.attempt(partial(self._dimension, name, entry.value, entry.key.span, value, fault=False))
                found += [made] if made is not None else []
            elif not declared.excuses(name):
                message, help_text = f"no parameter is named {quoted(name)}", did_you_mean(name, known)
                self.diagnostics.report(Code.UNKNOWN_PARAMETER, message, entry.key.span, help=help_text)
        return found

    def _value(self, name: str, declared: Declared, node: Node) -> Value:
        return self.claims.value(name, node, declared, f"a value of `{name}`")

    def _faults(self, mapping: Mapping, declared: Declared) -> list[Dimension]:
        read, found = self.reader, []
        known = declared.specification.faults
        for name, entry in read.section(mapping, "allow", "`allow`").entries.items():
            if name in known:
                made = read.attempt(
                    partial(self._dimension, name, entry.value, entry.key.span, self._count, fault=True)
                )
                found += [made] if made is not None else []
            elif not declared.excuses(name):
                message, help_text = f"no fault is named {quoted(name)}", did_you_mean(name, known)
                self.diagnostics.report(Code.UNKNOWN_FAULT, message, entry.key.span, help=help_text)
        return found

    def _count(self, node: Node) -> Count:
        return self.claims.at_most(self.reader.scalar(node, "how often a fault may happen"))

    def _dimension(
        self, name: str, node: Node, span: Span, value: Callable[[Node], Value | Count], *, fault: bool
    ) -> Dimension:
        """Read the values of one dimension. Of a fault the more often it may happen, the weaker the promise."""
        items = self.reader.sequence(node, f"what `sweep` tries for `{name}`").items
        values = [value(item) for item in items]
        for position, (item, one) in enumerate(zip(items, values, strict=True)):
            if one in values[:position]:
                message = f"{quoted(str(one))} is named twice in `{name}`"
                self.reader.fail(Code.NAMED_TWICE, message, item.span)
        if len(values) < 2:
            message = f"`sweep` tries {'one value' if values else 'no value'} for `{name}`"
            help_text = "name two or more, from the weakest promise to the strongest"
            self.reader.fail(Code.SWEEP_VALUES, message, node.span, help=help_text)
        if fault:
            values.sort(key=lambda count: math.inf if count == UNLIMITED else int(str(count)), reverse=True)
        return Dimension(name, fault, tuple(values), span)

    def _check_number(self, dimensions: list[Dimension], span: Span) -> None:
        combinations = math.prod(len(dimension.values) for dimension in dimensions)
        if combinations > limits.COMBINATIONS_MAX:
            message = f"`sweep` has {combinations:,} combinations; at most {limits.COMBINATIONS_MAX:,} are allowed"
            self.reader.fail(Code.LIMIT, message, span)

"""Scenarios and mutants: what they set, allow, ask about and break (language, point 17)."""

from __future__ import annotations

from collections.abc import Mapping as Dictionary
from functools import partial

from model import limits
from model.declare import Declared
from model.declare_data import parameter_value
from model.diagnostics import Code, Diagnostics, did_you_mean, quoted
from model.failures import Failed
from model.killpoints import check_points, crashing
from model.merge import PATCHABLE
from model.reader import Reader
from model.source import Span
from model.specification import (
    CONFORM,
    SITUATION,
    UNLIMITED,
    Allowance,
    Conform,
    Count,
    CrashCourse,
    Scenario,
)
from model.types import NatType, Value
from model.yamlnodes import Entry, Mapping, Node, Scalar

_CLAIM_KEYS = ("variant", "set", "allow", "crashes", "bound", "only", "breaks", "because", "note")
SCENARIO_KEYS = (*_CLAIM_KEYS, "conform")
MUTANT_KEYS = (*_CLAIM_KEYS, "survives", *PATCHABLE)

ANYWHERE = "anywhere"
"""The word for a crash of `crashes` that may fall at every kill point."""


class ClaimReader:
    """Reads what a scenario or mutant says about one (patched) specification."""

    def __init__(self, reader: Reader, diagnostics: Diagnostics) -> None:
        self.reader = reader
        self.diagnostics = diagnostics
        self.bound: int | None = None
        """What the file says for scenarios that say nothing of their own."""
        self.referenced = False
        """Whether the file names an implementation."""

    def claim(self, entry: Entry, declared: Declared, variant: str, *, mutant: bool) -> Scenario:
        """Read a scenario or mutant whose keys have been checked.

        Raises:
            Failed: something is wrong with it; reported.
        """
        read = self.reader
        name, mapping, span = entry.key.text, read.mapping(entry.value, "this"), entry.key.span
        settings = read.attempt(partial(self._settings, read.section(mapping, "set", "`set`"), declared))
        allow = read.attempt(partial(self._allowances, read.section(mapping, "allow", "`allow`"), declared))
        questions = read.attempt(partial(self._questions, mapping, declared))
        bound = read.attempt(partial(self._bound, mapping, declared))
        crashes = read.attempt(partial(self._crashes, mapping, allow or {}, declared))
        conform = read.attempt(partial(self._conform, mapping, declared))
        because = self._sentence(mapping, "because")
        survives = self._sentence(mapping, "survives")
        if settings is None or allow is None or questions is None:
            raise Failed
        only, breaks = questions
        if breaks and not mutant and not because:
            message = f"the scenario {quoted(name)} breaks `{breaks[0]}` and does not say why"
            help_text = "add `because: …`"
            self.diagnostics.report(Code.BREAKS_WITHOUT_BECAUSE, message, span, help=help_text)
        if mutant and bool(breaks) == bool(survives):
            message = f"the mutant {quoted(name)} claims both `breaks` and `survives`"
            if not breaks:
                message = f"the mutant {quoted(name)} claims nothing"
            help_text = "`breaks` names the properties that catch it, or `survives` says why none can"
            read.fail(Code.MUTANT_WITHOUT_CLAIM, message, span, help=help_text)
        return Scenario(
            name=name,
            mutant=mutant,
            specification=declared.specification,
            set=settings,
            allow=allow,
            only=only,
            breaks=breaks,
            because=because,
            survives=survives,
            variant=variant,
            span=span,
            bound=self.bound if bound is None else bound,
            crashes=crashes,
            conform=conform or "",
        )

    def _bound(self, mapping: Mapping, declared: Declared) -> int | None:
        bound = self.reader.bound(mapping)
        variables = declared.specification.variables.values()
        if bound is not None and not declared.incomplete and not any(isinstance(v.type, NatType) for v in variables):
            span = mapping.entries["bound"].key.span
            self.reader.fail(Code.NO_BOUND, "`bound` bounds nothing: no variable is a `nat`", span)
        return bound

    def _conform(self, mapping: Mapping, declared: Declared) -> Conform:
        node = mapping.get("conform")
        if node is None:
            return ""
        word = self.reader.scalar(node, "`conform`")
        chosen = next((known for known in CONFORM if known == word.text), None)
        if chosen is None:
            message = f"`conform` is {' or '.join(map(quoted, CONFORM))}, not {quoted(word.text)}"
            help_text = did_you_mean(word.text, CONFORM, known="")
            self.reader.fail(Code.VALUE_NOT_ALLOWED, message, word.span, help=help_text)
        if not self.referenced:
            message = "there is no implementation to hold this against"
            self.reader.fail(Code.NOTHING_TO_CONFORM, message, word.span, help="name it at the end: `reference: …`")
        if chosen == "situations" and SITUATION not in declared.specification.views and not declared.incomplete:
            message = f"there is no view `{SITUATION}` that would say what a situation is"
            help_text = f"write `views: {{{SITUATION}: […]}}`, or `conform: transitions`"
            self.reader.fail(Code.NOTHING_TO_CONFORM, message, word.span, help=help_text)
        return chosen

    def _sentence(self, mapping: Mapping, key: str) -> str:
        node = mapping.get(key)
        return (self.reader.attempt(partial(self.reader.text, node, f"`{key}`")) or "") if node is not None else ""

    # -- set and allow --------------------------------------------------------------------------------------------

    def _settings(self, section: Mapping, declared: Declared) -> dict[str, Value]:
        settings: dict[str, Value] = {}
        known = declared.specification.parameters
        failed = False
        for name, entry in section.entries.items():
            if name in known:
                what = f"the value of `{name}`"
                value = self.reader.attempt(partial(self.value, name, entry.value, declared, what))
                failed = failed or value is None
                if value is not None:
                    settings[name] = value
                continue
            failed = True
            if not declared.excuses(name):
                message = f"no parameter is named {quoted(name)}"
                help_text = did_you_mean(name, known)
                if any(name == variable.name for variable in declared.specification.variables.values()):
                    help_text = "a variable is no parameter: it changes during a run"
                self.diagnostics.report(Code.UNKNOWN_PARAMETER, message, entry.key.span, help=help_text)
        if failed:
            raise Failed
        return settings

    def value(self, name: str, node: Node, declared: Declared, what: str) -> Value:
        """Read the value of a parameter.

        Raises:
            Failed: it cannot have that value; reported.
        """
        scalar = self.reader.scalar(node, what)
        return parameter_value(self.reader, name, declared.specification.parameters[name].type, scalar)

    def _allowances(self, section: Mapping, declared: Declared) -> dict[str, Allowance]:
        allow: dict[str, Allowance] = {}
        known = declared.specification.faults
        failed = False
        for name, entry in section.entries.items():
            if name not in known:
                failed = True
                if not declared.excuses(name):
                    message = f"no fault is named {quoted(name)}"
                    help_text = did_you_mean(name, known)
                    self.diagnostics.report(Code.UNKNOWN_FAULT, message, entry.key.span, help=help_text)
                continue
            allowance = self.reader.attempt(partial(self._allowance, name, entry.value, declared))
            failed = failed or allowance is None
            if allowance is not None:
                allow[name] = allowance
        if failed:
            raise Failed
        return allow

    def _allowance(self, name: str, node: Node, declared: Declared) -> Allowance:
        read = self.reader
        if isinstance(node, Scalar):
            return Allowance(self.at_most(read.scalar(node, f"what is allowed of `{name}`")))
        what = f"what is allowed of `{name}`"
        mapping = read.mapping(node, what)
        read.keys(mapping, ("at", "at_most"), what)
        most, at = mapping.get("at_most"), mapping.get("at")
        return Allowance(
            self.at_most(read.scalar(most, "`at_most`")) if most is not None else None,
            self._kill_points(name, at, declared) if at is not None else None,
        )

    def at_most(self, scalar: Scalar) -> Count:
        """Read how often a fault may happen.

        Raises:
            Failed: it is neither a number nor `unlimited`; reported.
        """
        if scalar.text == UNLIMITED:
            return UNLIMITED
        if scalar.kind == "int" and 0 <= int(scalar.text) <= limits.FAULT_BUDGET_MAX:
            return int(scalar.text)
        allowed = f"a fault is allowed `{UNLIMITED}` or 0 to {limits.FAULT_BUDGET_MAX:,} times"
        message = f"{allowed}, not {quoted(scalar.text)}"
        self.reader.fail(Code.FAULT_BUDGET, message, scalar.span, help=did_you_mean(scalar.text, [UNLIMITED], known=""))

    def _kill_points(self, name: str, node: Node, declared: Declared) -> frozenset[str]:
        fault = declared.specification.faults[name]
        if not fault.crashes:
            self.reader.fail(Code.FAULT_OF, f"`at` places crashes, and `{name}` is none", node.span)
        items = self.reader.names(node, "`at`")
        if not items:
            message = "`at` names no kill point"
            self.reader.fail(Code.NOTHING_DECLARED, message, node.span, help=f"write `{name}: 0` where it is off")
        check_points(items, f"`{name}`", fault.crashes, declared, self.reader)
        return frozenset(item.text for item in items)

    def _crashes(self, mapping: Mapping, allow: Dictionary[str, Allowance], declared: Declared) -> CrashCourse | None:
        """Read which crashes there are, one after the other."""
        node = self.reader.entry(mapping, "crashes")
        if node is None:
            return None
        items = [self.reader.scalar(i, "an entry of `crashes`") for i in self.reader.sequence(node, "`crashes`").items]
        if len(items) > limits.FAULT_BUDGET_MAX:
            message = f"there are more than {limits.FAULT_BUDGET_MAX:,} crashes"
            self.reader.fail(Code.FAULT_BUDGET, message, node.span)
        faults = {name: fault for name, fault in declared.specification.faults.items() if fault.crashes}
        for name in faults.keys() & allow.keys():
            if allow[name].at is not None or allow[name].at_most not in (0, UNLIMITED):
                message = f"`crashes` says where and how often, and so does `allow` of `{name}`"
                help_text = f"with `crashes`, `{name}` is allowed `{UNLIMITED}` or 0 times"
                entry = self.reader.section(mapping, "allow", "`allow`").entries[name]
                self.diagnostics.report(Code.CRASHES_TWICE, message, entry.key.span, help=help_text)
        placed = [item for item in items if item.text != ANYWHERE]
        check_points(placed, "this specification", crashing(declared), declared, self.reader)
        return tuple(None if item.text == ANYWHERE else frozenset([item.text]) for item in items)

    # -- only and breaks ------------------------------------------------------------------------------------------

    def _questions(self, mapping: Mapping, declared: Declared) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
        only_node, breaks_node = mapping.get("only"), mapping.get("breaks")
        only = None
        if only_node is not None:
            only = self.properties(only_node, "`only`", declared, Code.UNKNOWN_PROPERTY)
        breaks: tuple[str, ...] = ()
        if breaks_node is not None:
            breaks = self.properties(breaks_node, "`breaks`", declared, Code.BREAKS_UNKNOWN_PROPERTY)
            items = self.reader.names(breaks_node, "`breaks`")
            for name, item in zip(breaks, items, strict=True):
                self._check_asked(name, only, item.span)
        return only, breaks

    def _check_asked(self, name: str, only: tuple[str, ...] | None, span: Span) -> None:
        if only is not None and name not in only:
            message = f"`breaks` names `{name}`, which `only` leaves out"
            self.reader.fail(Code.BREAKS_NOT_ASKED, message, span, help="add it to `only`")

    def properties(self, node: Node, what: str, declared: Declared, code: Code) -> tuple[str, ...]:
        """Read a list of properties. One whose declaration has failed counts: its name is known.

        Raises:
            Failed: there is none of such a name; reported.
        """
        items = self.reader.names(node, what)
        failed = False
        for item in items:
            if item.text not in declared.properties:
                failed = True
                if not declared.incomplete:
                    message = f"no property is named {quoted(item.text)}"
                    help_text = did_you_mean(item.text, declared.properties)
                    self.diagnostics.report(code, message, item.span, help=help_text)
        if failed:
            raise Failed
        return tuple(item.text for item in items)

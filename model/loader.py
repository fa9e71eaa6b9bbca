"""From a YAML file to a `SpecificationFile`: the protocol, its variants, scenarios and mutants."""

from __future__ import annotations

from pathlib import Path

from model import limits
from model.declare import SECTIONS, Cache, Declarer, parameter_value
from model.diagnostics import Code, Diagnostics, SpecificationError, did_you_mean, quoted
from model.elaborate import Failed
from model.merge import PATCHABLE, patch_specification
from model.reader import Reader
from model.source import Source, Span
from model.specification import UNLIMITED, Allowance, Scenario, Specification, SpecificationFile
from model.types import Value
from model.yamltree import Entry, Mapping, Node, Scalar, load_tree, read_source

LANGUAGE_VERSION = "1"
SCENARIO_KEYS = ("variant", "set", "allow", "only", "breaks", "because", "note")
MUTANT_KEYS = (*SCENARIO_KEYS, "survives", *PATCHABLE)


def load_file(path: Path, shown_as: str = "") -> SpecificationFile:
    """Load a specification from a file; `shown_as` is the name that messages use.

    Raises:
        SpecificationError: with every error of the file.
    """
    diagnostics = Diagnostics()
    source = read_source(path, diagnostics, file=shown_as)
    if source is None:
        raise SpecificationError(diagnostics.sorted())
    return load(source)


def load(source: Source) -> SpecificationFile:
    """Load a specification from its text.

    Raises:
        SpecificationError: with every error of the text, in its order, warnings included.
    """
    diagnostics = Diagnostics()
    root = load_tree(source, diagnostics)
    if root is None:
        raise SpecificationError(diagnostics.sorted())
    result = _FileLoader(source, root, diagnostics).load()
    if result is None or diagnostics.has_errors:
        raise SpecificationError(diagnostics.sorted())
    return result


class _FileLoader:
    def __init__(self, source: Source, root: Mapping, diagnostics: Diagnostics) -> None:
        self.source = source
        self.root = root
        self.diagnostics = diagnostics
        self.reader = Reader(diagnostics)
        self.cache = Cache()
        self.variant_nodes: dict[str, Mapping] = {}
        self.variants: dict[str, Specification] = {}

    def load(self) -> SpecificationFile | None:
        read = self.reader
        read.attempt(lambda: read.keys(self.root, SECTIONS, "a specification", required=("language", "protocol", "processes")))
        self._language()
        base = self._declare(self.root)
        if base is None:
            return None
        self._variants()
        scenarios = self._scenarios(base)
        mutants = self._mutants(base)
        if len(scenarios) + len(mutants) > limits.SCENARIOS_MAX:
            self.diagnostics.report(Code.LIMIT, f"more than {limits.SCENARIOS_MAX:,} scenarios and mutants", self.root.span)
        unused, spans = self._unused()
        reference = self.root.entries.get("reference")
        sources = self.root.entries.get("sources")
        return SpecificationFile(
            source=self.source, specification=base, variants=self.variants, scenarios=scenarios, mutants=mutants, unused=unused, unused_spans=spans,
            sources=tuple(item.text for item in read.attempt(lambda: read.names(sources.value, "`sources`")) or ()) if sources else (),
            reference=(read.attempt(lambda: read.text(reference.value, "`reference`")) or "") if reference else "",
            warnings=self.diagnostics.warnings,
        )

    def _language(self) -> None:
        entry = self.root.entries.get("language")
        if entry is not None and (not isinstance(entry.value, Scalar) or entry.value.text != LANGUAGE_VERSION):
            self.diagnostics.report(Code.LANGUAGE_VERSION, f"this killpoint reads `language: {LANGUAGE_VERSION}`", entry.value.span)

    def _declare(self, root: Mapping) -> Specification | None:
        return Declarer(root, self.diagnostics, self.cache).specification()

    # -- variants -------------------------------------------------------------------------------------------------

    def _variants(self) -> None:
        read = self.reader
        for name, entry in read.section(self.root, "variants", "`variants`").entries.items():
            node = read.attempt(lambda e=entry, n=name: self._patch_node(e, f"the variant {quoted(n)}", PATCHABLE))  # type: ignore[misc]
            if node is not None:
                self.variant_nodes[name] = patch_specification(self.root, node, self.diagnostics)
        if self.diagnostics.has_errors:
            return
        for name, tree in self.variant_nodes.items():
            specification = self._declare(tree)
            if specification is not None:
                self.variants[name] = specification

    def _patch_node(self, entry: Entry, what: str, allowed: tuple[str, ...]) -> Mapping:
        self.reader.title_name(entry.key, "this")
        mapping = self.reader.mapping(entry.value, what)
        self.reader.keys(mapping, (*allowed, "because", "note"), what)
        if not any(key in PATCHABLE for key in mapping.entries):
            self.reader.fail(Code.CHANGES_NOTHING, f"{what} changes nothing", mapping.span)
        return mapping

    # -- scenarios and mutants ------------------------------------------------------------------------------------

    def _scenarios(self, base: Specification) -> dict[str, Scenario]:
        read = self.reader
        section = read.section(self.root, "scenarios", "`scenarios`")
        scenarios: dict[str, Scenario] = {}
        for name, entry in section.entries.items():
            made = read.attempt(lambda n=name, e=entry: self._scenario(n, e, base))  # type: ignore[misc]
            if made is not None:
                scenarios[name] = made
        if not section.entries and not self.diagnostics.has_errors:
            scenarios["default"] = Scenario("default", mutant=False, specification=base, set={}, allow={}, only=None, breaks=(), because="", survives="", variant="", span=self.root.span)
        return scenarios

    def _scenario(self, name: str, entry: Entry, base: Specification) -> Scenario:
        read = self.reader
        read.title_name(entry.key, "a scenario")
        mapping = read.mapping(entry.value, f"the scenario {quoted(name)}")
        read.keys(mapping, SCENARIO_KEYS, "a scenario")
        specification, variant = self._specification_of(mapping, base)
        return self._claim(name, mapping, specification, variant, entry.key.span, mutant=False)

    def _specification_of(self, mapping: Mapping, base: Specification) -> tuple[Specification, str]:
        entry = mapping.entries.get("variant")
        if entry is None:
            return base, ""
        name = self.reader.text(entry.value, "`variant`")
        if name not in self.variant_nodes:
            self.reader.fail(Code.UNKNOWN_VARIANT, f"no variant is named {quoted(name)}", entry.value.span, help=did_you_mean(name, self.variant_nodes))
        if name not in self.variants:
            raise Failed
        return self.variants[name], name

    def _mutants(self, base: Specification) -> dict[str, Scenario]:
        read = self.reader
        mutants: dict[str, Scenario] = {}
        for name, entry in read.section(self.root, "mutants", "`mutants`").entries.items():
            made = read.attempt(lambda n=name, e=entry: self._mutant(n, e, base))  # type: ignore[misc]
            if made is not None:
                mutants[name] = made
        return mutants

    def _mutant(self, name: str, entry: Entry, base: Specification) -> Scenario:
        read = self.reader
        read.title_name(entry.key, "a mutant")
        mapping = read.mapping(entry.value, f"the mutant {quoted(name)}")
        read.keys(mapping, MUTANT_KEYS, "a mutant")
        if not any(key in PATCHABLE for key in mapping.entries):
            read.fail(Code.CHANGES_NOTHING, f"the mutant {quoted(name)} changes nothing", entry.key.span)
        _, variant = self._specification_of(mapping, base)
        root = self.variant_nodes[variant] if variant else self.root
        errors = len(self.diagnostics.errors)
        patched = patch_specification(root, mapping, self.diagnostics)
        if len(self.diagnostics.errors) > errors:
            raise Failed
        specification = self._declare(patched)
        if specification is None:
            raise Failed
        claim = self._claim(name, mapping, specification, variant, entry.key.span, mutant=True)
        if bool(claim.breaks) == bool(claim.survives):
            read.fail(Code.MUTANT_WITHOUT_CLAIM, f"the mutant {quoted(name)} names what must catch it (`breaks`), or why nothing can (`survives`)", entry.key.span)
        return claim

    def _claim(self, name: str, mapping: Mapping, specification: Specification, variant: str, span: Span, *, mutant: bool) -> Scenario:
        read = self.reader
        settings = self._settings(read.section(mapping, "set", "`set`"), specification)
        allow = self._allowances(read.section(mapping, "allow", "`allow`"), specification)
        only_entry, breaks_entry = mapping.entries.get("only"), mapping.entries.get("breaks")
        only = self._property_names(only_entry.value, "`only`", specification, Code.UNKNOWN_PROPERTY) if only_entry else None
        breaks = self._property_names(breaks_entry.value, "`breaks`", specification, Code.BREAKS_UNKNOWN_PROPERTY) if breaks_entry else ()
        if only is not None and breaks_entry is not None:
            for item in breaks:
                if item not in only:
                    read.fail(Code.BREAKS_NOT_ASKED, f"`breaks` names `{item}`, which `only` leaves out", breaks_entry.value.span)
        texts = {key: read.text(mapping.entries[key].value, f"`{key}`") for key in ("because", "survives") if key in mapping.entries}
        if breaks and not mutant and "because" not in texts:
            self.diagnostics.report(Code.BREAKS_WITHOUT_BECAUSE, f"the scenario {quoted(name)} breaks `{breaks[0]}` and does not say why", span, help="add `because: …`")
        return Scenario(name, mutant, specification, settings, allow, only, breaks, texts.get("because", ""), texts.get("survives", ""), variant, span)

    def _settings(self, section: Mapping, specification: Specification) -> dict[str, Value]:
        settings: dict[str, Value] = {}
        for name, entry in section.entries.items():
            parameter = specification.parameters.get(name)
            if parameter is None:
                self.diagnostics.report(Code.UNKNOWN_PARAMETER, f"no parameter is named {quoted(name)}", entry.key.span, help=did_you_mean(name, specification.parameters))
                continue
            scalar = self.reader.scalar(entry.value, f"the value of `{name}`")
            settings[name] = parameter_value(self.reader, name, parameter.type, scalar, Code.PARAMETER_OUT_OF_RANGE)
        return settings

    def _allowances(self, section: Mapping, specification: Specification) -> dict[str, Allowance]:
        allow: dict[str, Allowance] = {}
        for name, entry in section.entries.items():
            if name not in specification.faults:
                self.diagnostics.report(Code.UNKNOWN_FAULT, f"no fault is named {quoted(name)}", entry.key.span, help=did_you_mean(name, specification.faults))
                continue
            allow[name] = self._allowance(name, entry.value, specification)
        return allow

    def _allowance(self, name: str, node: Node, specification: Specification) -> Allowance:
        read = self.reader
        if isinstance(node, Scalar):
            return Allowance(self._at_most(node))
        mapping = read.mapping(node, f"what is allowed of `{name}`")
        read.keys(mapping, ("at", "at_most"), f"what is allowed of `{name}`")
        most = mapping.entries.get("at_most")
        at = mapping.entries.get("at")
        return Allowance(
            self._at_most(read.scalar(most.value, "`at_most`")) if most else None,
            self._kill_points(name, at.value, specification) if at else None,
        )

    def _at_most(self, scalar: Scalar) -> int | str:  # type: ignore[return]
        if scalar.text == UNLIMITED:
            return UNLIMITED
        if scalar.kind != "int" or not 0 <= int(scalar.text) <= limits.FAULT_BUDGET_MAX:
            self.reader.fail(Code.FAULT_BUDGET, f"a fault is allowed `unlimited` or 0 to {limits.FAULT_BUDGET_MAX:,} times, not {quoted(scalar.text)}", scalar.span)
        return int(scalar.text)

    def _kill_points(self, name: str, node: Node, specification: Specification) -> frozenset[str]:
        fault = specification.faults[name]
        points = {step.id for process in fault.crashes for step in specification.processes[process].steps[1:]}
        if not fault.crashes:
            self.reader.fail(Code.FAULT_OF, f"`at` places crashes, and `{name}` is none", node.span)
        items = self.reader.names(node, "`at`")
        for item in items:
            if item.text not in points:
                self.reader.fail(Code.NO_KILL_POINT, f"{quoted(item.text)} is no kill point of `{name}`", item.span, help=did_you_mean(item.text, sorted(points)))
        return frozenset(item.text for item in items)

    def _property_names(self, node: Node, what: str, specification: Specification, code: Code) -> tuple[str, ...]:
        items = self.reader.names(node, what)
        for item in items:
            if item.text not in specification.properties:
                self.reader.fail(code, f"no property is named {quoted(item.text)}", item.span, help=did_you_mean(item.text, specification.properties))
        return tuple(item.text for item in items)

    def _unused(self) -> tuple[dict[str, str], dict[str, Span]]:
        read = self.reader
        unused: dict[str, str] = {}
        spans: dict[str, Span] = {}
        for what, entry in read.section(self.root, "unused", "`unused`").entries.items():
            reason = read.attempt(lambda e=entry: read.text(e.value, "the reason"))  # type: ignore[misc]
            if reason is not None:
                unused[what], spans[what] = reason, entry.key.span
        return unused, spans

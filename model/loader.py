"""From a YAML file to a `SpecificationFile`: the protocol, its variants, scenarios and mutants."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from model import limits
from model.claims import MUTANT_KEYS, SCENARIO_KEYS, ClaimReader
from model.declare import SECTIONS, Declared, Declarer
from model.declare_tables import Cache
from model.diagnostics import Code, Diagnostics, Note, SpecificationError, did_you_mean, quoted
from model.failures import Effort, Failed, GivenUp, give_up
from model.killpoints import meanings
from model.merge import PATCHABLE, Patched, patch_specification
from model.questions import QuestionReader
from model.reader import Reader
from model.scope import Declarations
from model.source import Source, Span
from model.specification import Question, Scenario, SpecificationFile, Sweep
from model.sweeps import SweepReader
from model.types import NatType
from model.usage import refuse_unused_additions, warn_of_unused
from model.yamlnodes import Entry, Mapping, Node, Scalar, Sequence
from model.yamltree import load_tree, read_source

LANGUAGE_VERSION = "1"


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
    try:
        result = _FileLoader(source, root, diagnostics).load()
    except GivenUp:
        raise SpecificationError(diagnostics.sorted()) from None
    diagnostics.raise_if_errors()
    return result


class _FileLoader:
    """Reads the base first, then what is said about it; a base with errors is as good as it gets."""

    def __init__(self, source: Source, root: Mapping, diagnostics: Diagnostics) -> None:
        self.source = source
        self.root = root
        self.diagnostics = diagnostics
        self.declarations = Declarations()
        self.reader = Reader(diagnostics, self.declarations)
        self.claims = ClaimReader(self.reader, diagnostics)
        self.cache = Cache()
        self.effort = Effort(diagnostics)
        self.declared: list[Declared] = []
        """The base, and every variant and mutant."""
        self.variants: dict[str, tuple[Mapping, Declared]] = {}

    def load(self) -> SpecificationFile:
        read = self.reader
        required = ("language", "protocol", "processes")
        read.attempt(partial(read.keys, self.root, SECTIONS, "a specification", required))
        self.declarations.incomplete |= "processes" not in self.root
        self._language()
        self._check_numbers()
        self.claims.bound = read.attempt(partial(read.bound, self.root))
        self.claims.referenced = "reference" in self.root
        base = self._declare(self.root, lint=True, base=True)
        self._variants(base)
        scenarios = self._scenarios(base)
        mutants = self._mutants(base, scenarios)
        questions = self._questions({**scenarios, **mutants})
        sweep = read.attempt(partial(self._sweep, base, scenarios))
        unused, spans = self._reasons("unused")
        equivalent, equivalent_spans = self._reasons("equivalent")
        self._check_places(base, equivalent_spans)
        if not self.diagnostics.has_errors:
            self._warn_of_bound()
            warn_of_unused(base, self.declared, self.diagnostics)
        return SpecificationFile(
            source=self.source,
            specification=base.specification,
            variants={name: declared.specification for name, (_, declared) in self.variants.items()},
            scenarios=scenarios,
            mutants=mutants,
            questions=questions,
            unused=unused,
            unused_spans=spans,
            equivalent=equivalent,
            equivalent_spans=equivalent_spans,
            sources=self._sources(),
            reference=self._sentence("reference"),
            pattern=self._sentence("pattern"),
            kill_points=meanings(self.root, base, read),
            sweep=sweep,
            bound=self.claims.bound,
            warnings=self.diagnostics.warnings,
        )

    def _warn_of_bound(self) -> None:
        variables = (v for declared in self.declared for v in declared.specification.variables.values())
        if self.claims.bound is not None and not any(isinstance(v.type, NatType) for v in variables):
            span = self.root.entries["bound"].key.span
            self.diagnostics.report(Code.NEVER_USED, "`bound` bounds nothing: no variable is a `nat`", span)

    def _language(self) -> None:
        node = self.root.get("language")
        if node is None or (isinstance(node, Scalar) and node.kind == "int" and node.text == LANGUAGE_VERSION):
            return
        message = f"this killpoint reads version {LANGUAGE_VERSION} of the language"
        help_text = f"write `language: {LANGUAGE_VERSION}`"
        self.diagnostics.report(Code.LANGUAGE_VERSION, message, node.span, help=help_text)

    def _check_numbers(self) -> None:
        """Give up on a flood of variants, scenarios and mutants before the first of them costs anything."""
        total = 0
        for name in ("variants", "scenarios", "mutants"):
            node = self.root.get(name)
            total += len(node.entries) if isinstance(node, Mapping) else 0
            if total > limits.SCENARIOS_MAX:
                message = f"there are more than {limits.SCENARIOS_MAX:,} variants, scenarios and mutants"
                give_up(self.diagnostics, message, self.root.entries[name].key.span)

    def _declare(self, tree: Mapping, *, lint: bool, base: bool = False) -> Declared:
        declarer = Declarer(tree, self.diagnostics, self.cache, self.effort, lint=lint, base=base)
        # What misspelt sections of the root would have declared is missing everywhere.
        declarer.declarations.incomplete = self.declarations.incomplete
        declared = declarer.declare()
        self.declared.append(declared)
        return declared

    # -- variants -------------------------------------------------------------------------------------------------

    def _variants(self, base: Declared) -> None:
        read = self.reader
        for entry in read.section(self.root, "variants", "`variants`").entries.values():
            read.attempt(partial(self._variant, entry, base))

    def _variant(self, entry: Entry, base: Declared) -> None:
        read = self.reader
        name = read.title_name(entry.key, "a variant")
        self.declarations.failed.add(name)
        what = f"the variant {quoted(name)}"
        mapping = read.mapping(entry.value, what)
        read.keys(mapping, (*PATCHABLE, "because", "note"), "a variant")
        patched = self._patched(self.root, mapping, entry, what)
        with self.diagnostics.noting(Note(f"in {what}", entry.key.span), _lines_of(entry)):
            declared = self._declare(patched.tree, lint=True)
        refuse_unused_additions(base, declared, what, self.diagnostics)
        self.declarations.failed.discard(name)
        self.variants[name] = (patched.tree, declared)

    def _patched(self, root: Mapping, patch: Mapping, entry: Entry, what: str) -> Patched:
        """Lay a patch over a tree, and refuse one that does not fit or changes nothing."""
        patched = patch_specification(root, patch, self.diagnostics)
        if not patched.sound:
            raise Failed
        # A mutant may also be broken by what it shares with scenarios: a variant, parameters, faults.
        if not patched.changed and not any(key in patch.entries for key in ("variant", "set", "allow", "crashes")):
            message = f"{what} changes nothing: all that it says the specification says already"
            self.reader.fail(Code.CHANGES_NOTHING, message, entry.key.span)
        return patched

    # -- scenarios and mutants ------------------------------------------------------------------------------------

    def _scenarios(self, base: Declared) -> dict[str, Scenario]:
        read = self.reader
        section = read.section(self.root, "scenarios", "`scenarios`")
        scenarios: dict[str, Scenario] = {}
        for name, entry in section.entries.items():
            made = read.attempt(partial(self._scenario, entry, base))
            if made is not None:
                scenarios[name] = made
        if not section.entries and not self.diagnostics.has_errors:
            scenarios["default"] = Scenario(
                name="default",
                mutant=False,
                specification=base.specification,
                set={},
                allow={},
                only=None,
                breaks=(),
                because="",
                survives="",
                variant="",
                span=self.root.span,
                bound=self.claims.bound,
            )
        return scenarios

    def _scenario(self, entry: Entry, base: Declared) -> Scenario:
        read = self.reader
        name = read.title_name(entry.key, "a scenario")
        mapping = read.mapping(entry.value, f"the scenario {quoted(name)}")
        read.keys(mapping, SCENARIO_KEYS, "a scenario")
        variant = self._variant_named(mapping)
        declared = self.variants[variant][1] if variant else base
        return self.claims.claim(entry, declared, variant, mutant=False)

    def _variant_named(self, mapping: Mapping) -> str:
        """Return the variant that a scenario or mutant speaks of, empty for the protocol itself."""
        node = mapping.get("variant")
        if node is None:
            return ""
        name = self.reader.text(node, "`variant`")
        if self.declarations.excuses(name):
            raise Failed
        if name not in self.variants:
            message = f"no variant is named {quoted(name)}"
            self.reader.fail(Code.UNKNOWN_VARIANT, message, node.span, help=did_you_mean(name, self.variants))
        return name

    def _mutants(self, base: Declared, scenarios: dict[str, Scenario]) -> dict[str, Scenario]:
        read = self.reader
        mutants: dict[str, Scenario] = {}
        for name, entry in read.section(self.root, "mutants", "`mutants`").entries.items():
            if name in scenarios:
                message = f"{quoted(name)} is the name of a scenario and of a mutant"
                note = Note("the scenario is here", scenarios[name].span)
                self.diagnostics.report(Code.DECLARED_TWICE, message, entry.key.span, notes=(note,))
                continue
            made = read.attempt(partial(self._mutant, entry, base))
            if made is not None:
                mutants[name] = made
        return mutants

    def _mutant(self, entry: Entry, base: Declared) -> Scenario:
        read = self.reader
        name = read.title_name(entry.key, "a mutant")
        what = f"the mutant {quoted(name)}"
        mapping = read.mapping(entry.value, what)
        read.keys(mapping, MUTANT_KEYS, "a mutant")
        variant = self._variant_named(mapping)
        root, original = self.variants[variant] if variant else (self.root, base)
        patched = self._patched(root, mapping, entry, what)
        # A mutant is broken on purpose, so what would be suspicious elsewhere is not.
        with self.diagnostics.noting(Note(f"in {what}", entry.key.span), _lines_of(entry)):
            declared = self._declare(patched.tree, lint=False)
        refuse_unused_additions(original, declared, what, self.diagnostics)
        return self.claims.claim(entry, declared, variant, mutant=True)

    # -- the rest -------------------------------------------------------------------------------------------------

    def _questions(self, claims: dict[str, Scenario]) -> dict[str, Question]:
        read = self.reader
        sections = (read.entry(self.root, "scenarios"), read.entry(self.root, "mutants"))
        named = frozenset(name for node in sections if isinstance(node, Mapping) for name in node.entries)
        questions = QuestionReader(read, self.diagnostics, claims, named | claims.keys())
        return questions.questions(read.section(self.root, "questions", "`questions`"))

    def _sweep(self, base: Declared, scenarios: dict[str, Scenario]) -> Sweep | None:
        sweeps = SweepReader(self.reader, self.diagnostics, self.claims)
        return sweeps.sweep(self.root, scenarios, lambda variant: self.variants[variant][1] if variant else base)

    def _sources(self) -> tuple[str, ...]:
        node = self.root.get("sources")
        items = self.reader.attempt(partial(self.reader.names, node, "`sources`")) if node is not None else None
        return tuple(item.text for item in items or ())

    def _sentence(self, key: str) -> str:
        node = self.root.get(key)
        return (self.reader.attempt(partial(self.reader.text, node, f"`{key}`")) or "") if node is not None else ""

    def _reasons(self, section: str) -> tuple[dict[str, str], dict[str, Span]]:
        """Read a section that gives a reason for each of some names."""
        read = self.reader
        reasons: dict[str, str] = {}
        spans: dict[str, Span] = {}
        for what, entry in read.section(self.root, section, f"`{section}`").entries.items():
            reason = read.attempt(partial(read.text, entry.value, "the reason"))
            if reason is not None:
                reasons[what], spans[what] = reason, entry.key.span
        return reasons, spans

    def _check_places(self, base: Declared, equivalent: dict[str, Span]) -> None:
        """Refuse names of mutants that begin with no place of the protocol or of the variant that they name."""
        for name, span in equivalent.items():
            variant, _, place = name.partition("/")[0].rpartition(":")
            if "/" not in name:
                message = f"{quoted(name)} names no mutant"
                help_text = "a mutant is named `place/operator`, or `place/operator/text`; `*` stands for any text"
                self.diagnostics.report(Code.EQUIVALENT_UNKNOWN, message, span, help=help_text)
            elif "*" in variant or "*" in place or self.diagnostics.has_errors:
                continue  # what has failed may have been the place
            elif variant and variant not in self.variants:
                message = f"no variant is named {quoted(variant)}"
                self.diagnostics.report(Code.UNKNOWN_VARIANT, message, span, help=did_you_mean(variant, self.variants))
            else:
                declared = self.variants[variant][1] if variant else base
                places = _places_of(declared)
                if place not in places:
                    message = f"{quoted(place)} is no step, row or definition"
                    self.diagnostics.report(Code.EQUIVALENT_UNKNOWN, message, span, help=did_you_mean(place, places))


def _places_of(declared: Declared) -> list[str]:
    """Return the places of a protocol that can be changed: definitions, rows, steps, and what crashes do."""
    specification = declared.specification
    rows = [f"{table.name}.{row.name}" for table in specification.tables.values() for row in table.rows]
    steps = [step for process in specification.processes.values() for step in process.steps]
    bodies = [*steps, *(step.torn for step in steps), *(p.on_crash for p in specification.processes.values())]
    return [*declared.definitions, *dict.fromkeys(rows), *(body.id for body in bodies if body is not None)]


def _lines_of(entry: Entry) -> range:
    """Return the lines of an entry with all that is in it; what an alias stands for may make them more."""
    last = entry.key.span.line
    stack: list[Node] = [entry.value]
    seen: set[int] = set()
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue  # through another alias
        seen.add(id(node))
        match node:
            case Mapping():
                stack += [inner.value for inner in node.entries.values()]
            case Sequence():
                stack += node.items
            case Scalar():
                # A text in several lines begins below its indicator.
                last = max(last, node.span.end_line, node.span.line + node.text.count("\n"))
    return range(entry.key.span.line, last + 1)

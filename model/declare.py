"""From the YAML tree of one protocol to its `Specification`.

Two passes: names first (types, variables, labels, columns), then the texts that use them. Elaborated steps, rows and
properties are kept by the identity of their YAML node and of everything that decides what names mean, so that the
specifications of a file's variants share what they do not change.
"""

from __future__ import annotations

from collections.abc import Mapping as Names
from dataclasses import dataclass
from functools import partial
from typing import Literal, cast

from model import limits
from model.declare_data import unrollings
from model.declare_starts import boot_of, following_of, restarts_of
from model.declare_tables import TableDeclarer
from model.diagnostics import Code, did_you_mean, quoted
from model.elaborate_steps import StepElaborator
from model.expressions import Constant, Expression, Implies
from model.failures import Failed, collect, give_up
from model.lints import lint_process, lint_step
from model.scope import Definition, Place, ProcessHeader, Scope
from model.source import Span
from model.specification import (
    Process,
    Property,
    PropertyKind,
    Role,
    Specification,
    Step,
    Variable,
)
from model.statements import Read, Stop, walk_statements
from model.types import BOOL, INT, whole
from model.words import PYTHON_WORDS
from model.yamlnodes import Entry, Mapping, Node, Scalar

SECTIONS = (
    "language",
    "protocol",
    "title",
    "pattern",
    "sources",
    "parameters",
    "types",
    "stores",
    "ghost",
    "initially",
    "definitions",
    "faults",
    "tables",
    "processes",
    "properties",
    "bound",
    "scenarios",
    "variants",
    "mutants",
    "questions",
    "sweep",
    "kill_points",
    "views",
    "reference",
    "unused",
    "equivalent",
    "note",
)
_PROCESS_KEYS = ("count", "volatile", "steps", "boot", "restarts", "on_crash", "environment", "fair", "note")
_OF_WHAT_CRASHES = ("boot", "restarts", "on_crash")
_STEP_KEYS = ("do", "torn", "fair", "atomic", "note")
_PROPERTY_KINDS = tuple(kind.value for kind in PropertyKind)
_WHERE_THEY_STAND = frozenset({"self", "fresh"})
"""What, like volatile memory, a definition can speak of only where it stands."""


@dataclass(frozen=True, slots=True, eq=False)
class Declared:
    """A specification, and all that the file gives names to, also where the declaration has failed."""

    specification: Specification
    tree: Mapping
    definitions: Names[str, Span]
    properties: frozenset[str]
    labels: Names[str, tuple[str, ...]]
    failed: frozenset[str]
    incomplete: bool
    used: frozenset[tuple[str, str]]
    mentioned: frozenset[str]
    """Names in definitions that were not elaborated, because nothing uses them: perhaps uses, perhaps not."""

    def excuses(self, name: str) -> bool:
        """Tell whether an unknown name follows from an error that has been reported."""
        return self.incomplete or name in self.failed


class Declarer(TableDeclarer):
    """Builds one `Specification` from the root mapping of one (patched) YAML tree."""

    def declare(self) -> Declared:
        """Declare everything. What fails is left out; errors are reported."""
        read = self.reader
        declarations = self.declarations
        stores, ghosts = self.data()
        self.found.append(self.expressions.findings)
        self.found.append(self.expressions.separate())
        self.definitions()
        headers = self._process_headers()
        tables = self.table_headers()
        self._property_headers()
        self._sign(headers, tables)
        processes = {name: p for name, node in headers.items() if (p := self._process(name, node)) is not None}
        properties = self._properties()
        initially = self._initially()
        built = self.tables(tables)
        for definition in declarations.definitions.values():
            self._check_definition(definition)
        variables = {v.key: v for group in declarations.shared.values() for v in group}
        variables.update({v.key: v for header in declarations.processes.values() for v in header.volatile.values()})
        specification = Specification(
            name=self._text("protocol"),
            title=self._text("title"),
            parameters=declarations.parameters,
            types=declarations.types,
            stores=stores,
            ghosts=ghosts,
            faults=declarations.faults,
            tables=built,
            processes=processes,
            properties=properties,
            views=self._views(variables),
            initially=initially,
            variables=variables,
            comparisons=tuple(dict.fromkeys(c for found in self.found for c in found.comparisons)),
            unrollings=unrollings(self.found, self.diagnostics),
        )
        used = frozenset(use for found in self.found for use in found.used)
        self._refuse_unchecked(properties, used)
        return Declared(
            specification,
            self.root,
            {name: definition.span for name, definition in declarations.definitions.items()},
            frozenset(read.section(self.root, "properties", "`properties`")),
            {name: header.labels for name, header in declarations.processes.items()},
            frozenset(declarations.failed),
            declarations.incomplete,
            used,
            self._mentioned(used),
        )

    # -- helpers --------------------------------------------------------------------------------------------------

    def _text(self, key: str) -> str:
        node = self.reader.entry(self.root, key)
        return (self.reader.attempt(partial(self.reader.text, node, f"`{key}`")) or "") if node is not None else ""

    def _mentioned(self, used: frozenset[tuple[str, str]]) -> frozenset[str]:
        names: set[str] = set()
        for definition in self.declarations.definitions.values():
            if ("definition", definition.name) not in used:
                names |= self.mentioned(definition)
        return frozenset(names)

    def _check_definition(self, definition: Definition) -> None:
        """Elaborate a definition on its own, so that one that nobody uses is checked too.

        One with arguments, or one that reads volatile memory, can only be read where it stands.
        """
        used = any(("definition", definition.name) in found.used for found in self.found)
        if used or definition.parameters or definition.name in self.declarations.failed:
            return
        volatile = {name for header in self.declarations.processes.values() for name in header.volatile}
        if self.mentioned(definition) & (volatile | _WHERE_THEY_STAND):
            return
        scope = Scope(Place.STEP_PROPERTY, history=True, active_definitions=(definition.name,))
        make = partial(self.expressions.from_scalar, definition.text, scope, None)
        if self.cached("definition", definition.text, None, make) is None:
            self.declarations.failed.add(definition.name)

    def _sign(self, headers: Names[str, Mapping], tables: Names[str, Mapping]) -> None:
        """Record what decides the meaning of names; steps, rows and properties are shared where it is the same."""

        def identity(mapping: Mapping, key: str) -> int:
            entry = mapping.entries.get(key)
            return 0 if entry is None else id(entry.value)

        sections = tuple(identity(self.root, name) for name in ("parameters", "types", "stores", "ghost", "faults"))
        definitions = tuple((d.name, d.parameters) for d in self.declarations.definitions.values())
        columns = tuple((name, identity(mapping, "gives")) for name, mapping in tables.items())
        processes = tuple(
            (name, identity(mapping, "volatile"), header.environment, header.labels, header.boot, header.restarts)
            for name, mapping in headers.items()
            for header in (self.declarations.processes[name],)
        )
        checked = self.declarations.checked
        signature = (sections, definitions, columns, processes, checked, frozenset(self.declarations.failed))
        self.signature = self.cache.signatures.setdefault(signature, len(self.cache.signatures))

    # -- processes ------------------------------------------------------------------------------------------------

    def _process_headers(self) -> dict[str, Mapping]:
        read = self.reader
        section = read.section(self.root, "processes", "`processes`")
        if self.base and "processes" in self.root and not section.entries and not self.diagnostics.has_errors:
            message = "a specification needs at least one process"
            self.diagnostics.report(Code.NOTHING_DECLARED, message, self.root.entries["processes"].key.span)
        nodes: dict[str, Mapping] = {}
        steps = 0
        for name, entry in read.named(section, "a process"):
            mapping = read.attempt(partial(self._process_header, name, entry))
            if mapping is None:
                self.declarations.failed.add(name)
                self.declarations.processes.pop(name, None)
                continue
            nodes[name] = mapping
            steps += len(self.declarations.processes[name].labels)
            if steps > limits.STEPS_MAX:
                give_up(
                    self.diagnostics, f"all processes together have more than {limits.STEPS_MAX:,} steps", mapping.span
                )
        return nodes

    def _process_header(self, name: str, entry: Entry) -> Mapping:
        read = self.reader
        mapping = read.mapping(entry.value, f"the process `{name}`")
        read.keys(mapping, _PROCESS_KEYS, "a process", required=("steps",), at=entry.key.span)
        environment_node = read.entry(mapping, "environment")
        environment = environment_node is not None and read.flag(environment_node, "`environment`")
        volatile_entry = mapping.entries.get("volatile")
        for key in _OF_WHAT_CRASHES if environment else ():
            if key in mapping.entries:
                message = f"an environment has no `{key}`, as it never crashes"
                read.fail(Code.CONFLICTING_KEYS, message, mapping.entries[key].key.span)
        if environment and volatile_entry is not None:
            message = "an environment has no volatile memory, as it never crashes"
            read.fail(Code.CONFLICTING_KEYS, message, volatile_entry.key.span, help="put it into a store")
        if volatile_entry is not None and name in self.declarations.stores:
            message = f"`{name}` is a store, and cannot be a process with memory of its own as well"
            help_text = f"`{name}.x` could be a variable of either; rename one of them"
            read.fail(Code.DECLARED_TWICE, message, volatile_entry.key.span, help=help_text)
        volatile = self.variables(read.section(mapping, "volatile", "`volatile`"), name, Role.VOLATILE)
        steps = read.mapping(mapping.entries["steps"].value, "`steps`")
        if not steps.entries:
            read.fail(Code.NOTHING_DECLARED, f"the process `{name}` has no steps", steps.span)
        self.limited(steps, "steps", limits.STEPS_MAX)
        labels = tuple(step for step, _ in read.named(steps, "a step"))
        boot = read.attempt(partial(boot_of, read, mapping, labels))
        restarts = read.attempt(partial(restarts_of, read, mapping)) or "at_once"
        memory = {v.name: v for v in volatile}
        self.declarations.processes[name] = ProcessHeader(name, environment, memory, labels, boot, restarts)
        return mapping

    def _process(self, name: str, mapping: Mapping) -> Process | None:
        read = self.reader
        header = self.declarations.processes[name]
        count = self._count(mapping)
        fair_node = read.entry(mapping, "fair")
        fair = fair_node is None or read.attempt(partial(read.flag, fair_node, "`fair`")) is not False
        steps_node = mapping.entries["steps"].value
        assert isinstance(steps_node, Mapping)
        steps: list[Step] = []
        found = len(self.found)
        for label in header.labels:
            following = following_of(label, header)
            entry = steps_node.entries[label]
            make = partial(self._step, header, label, following, entry, fair=fair)
            step = self.cached("step", entry.value, (name, label, following, fair), make)
            if isinstance(step, Step):
                steps.append(step)
        on_crash = mapping.entries.get("on_crash")
        body = None
        if on_crash is not None:
            make = partial(self._crash_body, header, "on_crash", "on_crash", on_crash)
            body = self.cached("on_crash", on_crash.value, name, make)
        if count is None or len(steps) != len(steps_node.entries) or (on_crash is not None and body is None):
            return None
        statements = [s for step in steps for s in walk_statements(step.body)]
        reads = tuple(dict.fromkeys(s.store for s in statements if isinstance(s, Read)))
        stops = any(isinstance(s, Stop) for s in statements)
        memory = tuple(header.volatile.values())
        process = Process(
            name,
            count,
            header.environment,
            memory,
            tuple(steps),
            reads,
            stops,
            mapping.span,
            header.boot,
            header.restarts,
            body if isinstance(body, Step) else None,
        )
        if self.lint and self.base:
            fresh = {store: span for each in self.found[found:] for store, span in each.fresh.items()}
            lint_process(process, fresh, self.diagnostics)
        return process

    def _count(self, mapping: Mapping) -> Expression | None:
        node = mapping.get("count")
        if node is None:
            return Constant(1, INT, mapping.span)
        count = self.reader.attempt(partial(self.constant, node, INT, "`count`"))
        if isinstance(count, Constant) and not 0 <= whole(count.value) <= limits.INSTANCES_MAX:
            message = f"a process has 0 to {limits.INSTANCES_MAX} instances, not {count.value}"
            self.diagnostics.report(Code.LIMIT, message, count.span)
            return None
        return count

    def _step(self, process: ProcessHeader, label: str, following: str, entry: Entry, *, fair: bool) -> Step:
        read = self.reader
        node = entry.value
        atomic = False
        if isinstance(node, Mapping):
            if "after" in node:
                message = "`after` says where a variant puts a step that is new; here the order of the steps counts"
                self.diagnostics.report(Code.UNKNOWN_KEY, message, node.entries["after"].key.span)
            read.keys(node, (*_STEP_KEYS, "after"), "a step", required=("do",), at=entry.key.span)
            body_node = read.scalar(node.entries["do"].value, "`do`")
            fair_node, atomic_node = node.get("fair"), node.get("atomic")
            fair = fair and (fair_node is None or read.flag(fair_node, "`fair`"))
            atomic = atomic_node is not None and read.flag(atomic_node, "`atomic`")
        else:
            body_node = read.scalar(node, f"the step `{label}`")
        body = StepElaborator(self.expressions, process.labels, lint=self.lint).body(
            body_node, Scope(Place.STEP, process)
        )
        torn = None
        if isinstance(node, Mapping) and "torn" in node:
            torn = self._crash_body(process, "torn", f"{label}.torn", node.entries["torn"])
        step = Step(label, process.name, body, fair, entry.key.span, following, torn)
        if self.lint and not self.declarations.incomplete:
            crashing = self._crashes(process)
            lint_step(
                step,
                self.declarations,
                self.diagnostics,
                crashing=crashing and not process.environment,
                atomic=atomic,
                environment=process.environment,
            )
        return step

    def _crash_body(self, process: ProcessHeader, key: Literal["torn", "on_crash"], name: str, entry: Entry) -> Step:
        """Read what a crash does; as nothing comes after it, it has no next label that would count."""
        faults = self.root.get("faults")
        failed = isinstance(faults, Mapping) and self.declarations.failed & faults.entries.keys()
        if not (self._crashes(process) or failed or self.declarations.incomplete):
            message = f"no fault crashes `{process.name}`, so `{key}` never happens"
            self.reader.fail(Code.NEVER_CRASHES, message, entry.key.span, help="declare one: `crash: {of: […]}`")
        elaborator = StepElaborator(self.expressions, process.labels, lint=self.lint)
        scope = Scope(Place.STEP, process, crash=key)
        body = elaborator.body(self.reader.scalar(entry.value, f"`{key}`"), scope)
        return Step(name, process.name, body, fair=False, span=entry.key.span, next_label="")

    def _crashes(self, process: ProcessHeader) -> bool:
        return any(process.name in fault.crashes for fault in self.declarations.faults.values())

    # -- properties and views -------------------------------------------------------------------------------------

    def _property_headers(self) -> None:
        """Find out which properties there are, for the steps that check some of them."""
        node = self.root.get("properties")
        entries = node.entries if isinstance(node, Mapping) else {}
        self.declarations.properties = frozenset(entries)
        self.declarations.checked = frozenset(
            name
            for name, entry in entries.items()
            if isinstance(entry.value, Mapping) and PropertyKind.CHECKED.value in entry.value.entries
        )

    def _refuse_unchecked(self, properties: Names[str, Property], used: frozenset[tuple[str, str]]) -> None:
        """Refuse a `checked` property that no step checks; a patch may lose the check, which then shows in a run."""
        if not self.base or self.diagnostics.has_errors:
            return
        for name, asked in properties.items():
            if asked.kind is PropertyKind.CHECKED and ("checked", name) not in used:
                message = f"no step checks {quoted(name)}"
                help_text = f"put `check({name}, …)` where it has to be true"
                self.diagnostics.report(Code.NEVER_CHECKED, message, asked.span, help=help_text)

    def _properties(self) -> dict[str, Property]:
        read = self.reader
        section = read.section(self.root, "properties", "`properties`")
        self.limited(section, "properties")
        properties: dict[str, Property] = {}
        for name, entry in read.named(section, "a property", words=PYTHON_WORDS):
            made = self.cached("property", entry.value, name, partial(self._property, name, entry))
            if isinstance(made, Property):
                properties[name] = made
        return properties

    def _initially(self) -> Expression | None:
        node = self.root.get("initially")
        if node is None:
            return None
        read = partial(self._cell, node, "`initially`", Scope(Place.PROPERTY), BOOL)
        made = self.cached("initially", node, None, read)
        return cast("Expression | None", made)

    def _property(self, name: str, entry: Entry) -> Property:
        read = self.reader
        mapping = read.mapping(entry.value, f"the property `{name}`")
        read.keys(mapping, (*_PROPERTY_KINDS, "note"), "a property")
        given = [kind for kind in _PROPERTY_KINDS if kind in mapping.entries]
        if len(given) != 1:
            if not given and any(key != "note" for key in mapping.entries):
                raise Failed  # by another kind, which has been reported
            kinds = " and ".join(f"`{kind}`" for kind in given) or "no kind"
            message = f"a property has exactly one kind; `{name}` has {kinds}"
            *others, last = (f"`{kind}`" for kind in _PROPERTY_KINDS)
            help_text = f"the kinds are {', '.join(others)} and {last}"
            read.fail(Code.PROPERTY_KIND, message, entry.key.span, help=help_text)
        kind = PropertyKind(given[0])
        if kind is PropertyKind.CHECKED:
            node = mapping.entries[given[0]].value
            return Property(name, kind, Constant(True, BOOL, node.span), entry.key.span, read.text(node, "`checked`"))
        if kind is PropertyKind.LEADS_TO:
            return self._leads_to(name, mapping.entries[given[0]].value, entry.key.span)
        scope = Scope(Place.STEP_PROPERTY if kind is PropertyKind.STEP else Place.PROPERTY)
        text = read.scalar(mapping.entries[given[0]].value, f"`{given[0]}`")
        expression = self.expressions.from_scalar(text, scope, BOOL)
        if self.lint and kind is PropertyKind.STEP and not self.expressions.findings.looks_ahead:
            message = f"the `step` property `{name}` never says `next`: it looks at single states"
            help_text = "write `always`, which looks at the last state of a run as well"
            self.diagnostics.report(Code.STEP_PROPERTY_WITHOUT_NEXT, message, entry.key.span, help=help_text)
        return Property(name, kind, expression, entry.key.span)

    def _leads_to(self, name: str, node: Node, span: Span) -> Property:
        items = self.reader.sequence(node, "`leads_to`").items
        if len(items) != 2:
            message = f"`leads_to` is a list of two expressions, not of {len(items)}"
            self.reader.fail(Code.WRONG_SHAPE, message, node.span, help="write `[p, q]`: whoever has `p` comes to `q`")
        texts = [self.reader.scalar(item, "an entry of `leads_to`") for item in items]
        scope = Scope(Place.PROPERTY)
        premise, goal = collect([partial(self.expressions.from_scalar, text, scope, BOOL) for text in texts])
        owed = Implies(premise, goal, " ".join(texts[0].text.split()), node.span)
        return Property(name, PropertyKind.LEADS_TO, owed, span, goal=goal)

    def _views(self, variables: Names[str, Variable]) -> dict[str, tuple[str, ...]]:
        read = self.reader
        views: dict[str, tuple[str, ...]] = {}
        for name, entry in read.named(read.section(self.root, "views", "`views`"), "a view", words=PYTHON_WORDS):
            items = read.attempt(partial(read.names, entry.value, "a view"))
            keys = [self._viewed(item, variables) for item in items or ()]
            views[name] = tuple(key for key in keys if key is not None)
        return views

    def _viewed(self, item: Scalar, variables: Names[str, Variable]) -> str | None:
        """Return the key of the variable that a view names."""
        found = [v.key for v in variables.values() if item.text in {v.name, v.key}]
        if len(found) == 1:
            return found[0]
        if found:
            message = f"{quoted(item.text)} has {len(found)} readings here"
            help_text = f"write {' or '.join(f'`{key}`' for key in found)}"
            self.diagnostics.report(Code.AMBIGUOUS_NAME, message, item.span, help=help_text)
        elif not self.declarations.excuses(item.text.rpartition(".")[2]):
            help_text = did_you_mean(item.text, [v.name for v in variables.values()])
            self.diagnostics.report(
                Code.UNKNOWN_NAME, f"no variable is named {quoted(item.text)}", item.span, help=help_text
            )
        return None


def span_of(root: Mapping, section: str, name: str) -> Span | None:
    """Return where a section declares a name."""
    node = root.get(section)
    entry = node.entries.get(name) if isinstance(node, Mapping) else None
    return entry.key.span if entry is not None else None

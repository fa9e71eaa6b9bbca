"""From the YAML tree of one protocol to its `Specification`.

Two passes: names first (types, variables, labels, columns), then the texts that use them. Elaborated steps, rows and
properties are kept by the identity of their YAML node and of everything that decides what names mean, so that the
specifications of a file's variants share what they do not change.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from collections.abc import Mapping as Names
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, cast

from model import limits
from model.declare_data import DataCache, DataReader, unrollings
from model.declare_starts import boot_of, following_of, restarts_of
from model.diagnostics import Code, Diagnostics, did_you_mean, quoted
from model.elaborate_steps import StepElaborator
from model.expressions import Constant, Expression
from model.failures import Effort, Failed, give_up
from model.lints import lint_process, lint_step, lint_table
from model.scope import Definition, Findings, Place, ProcessHeader, Scope, TableHeader
from model.source import Span
from model.specification import (
    Process,
    Property,
    PropertyKind,
    Role,
    Row,
    Specification,
    Step,
    Table,
    Variable,
)
from model.statements import Read, Stop, walk_statements
from model.types import BOOL, INT, ValueType, whole
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
    "scenarios",
    "variants",
    "mutants",
    "questions",
    "views",
    "reference",
    "unused",
    "note",
)
_TABLE_KEYS = ("match", "gives", "defaults", "rows", "note")
_PROCESS_KEYS = ("count", "volatile", "steps", "boot", "restarts", "on_crash", "environment", "fair", "note")
_OF_WHAT_CRASHES = ("boot", "restarts", "on_crash")
_STEP_KEYS = ("do", "torn", "fair", "atomic", "note")
_PROPERTY_KINDS = tuple(kind.value for kind in PropertyKind)
_COLUMN_WORDS = PYTHON_WORDS | {"when", "note"}
_WHERE_THEY_STAND = frozenset({"self", "fresh"})
"""What, like volatile memory, a definition can speak of only where it stands."""


@dataclass(frozen=True, slots=True)
class Piece:
    """An elaborated step, row, property or definition, with what its text turned out to use; None for a failed one."""

    value: object
    definitions: Names[str, int]
    """The definitions that it stands on: name → identity of the text."""
    findings: Findings


@dataclass(slots=True)
class Cache(DataCache):
    """Elaborated pieces by what they were made from."""

    pieces: dict[Hashable, list[Piece]] = field(default_factory=dict)
    signatures: dict[Hashable, int] = field(default_factory=dict)
    """What decides the meaning of names, numbered."""


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


class Declarer(DataReader):
    """Builds one `Specification` from the root mapping of one (patched) YAML tree."""

    def __init__(
        self, root: Mapping, diagnostics: Diagnostics, cache: Cache, effort: Effort, *, lint: bool, base: bool = False
    ) -> None:
        """Prepare to read; `lint` says whether warnings are wanted, `base` whether this is no patched tree."""
        super().__init__(root, diagnostics, cache, effort)
        self.cache = cache
        self.lint = lint
        self.base = base
        self._signature = 0
        self._findings: list[Findings] = []
        """Of everything that belongs to this specification."""

    def declare(self) -> Declared:
        """Declare everything. What fails is left out; errors are reported."""
        read = self.reader
        declarations = self.declarations
        stores, ghosts = self.data()
        self._findings.append(self.expressions.findings)
        self._findings.append(self.expressions.separate())
        self.definitions()
        headers = self._process_headers()
        tables = self._table_headers()
        self._sign(headers, tables)
        processes = {name: p for name, node in headers.items() if (p := self._process(name, node)) is not None}
        properties = self._properties()
        initially = self._initially()
        built = self._tables(tables)
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
            comparisons=tuple(dict.fromkeys(c for found in self._findings for c in found.comparisons)),
            unrollings=unrollings(self._findings, self.diagnostics),
        )
        used = frozenset(use for found in self._findings for use in found.used)
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

    def _cached(self, kind: str, node: Node, extra: Hashable, make: Callable[[], object]) -> object:
        """Return a piece made before from the same node under the same names and definitions, or make it."""
        definitions = self.declarations.definitions
        candidates = self.cache.pieces.setdefault((kind, id(node), self._signature, extra), [])
        for piece in candidates:
            if all(id(definitions[name].text) == identity for name, identity in piece.definitions.items()):
                break
        else:
            self.cache.alive.append(node)
            findings = self.expressions.separate()
            value = self.reader.attempt(make)
            used = {name: id(definitions[name].text) for kind, name in findings.used if kind == "definition"}
            piece = Piece(value, used, findings)
            candidates.append(piece)
        self._findings.append(piece.findings)
        return piece.value

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
        used = any(("definition", definition.name) in found.used for found in self._findings)
        if used or definition.parameters or definition.name in self.declarations.failed:
            return
        volatile = {name for header in self.declarations.processes.values() for name in header.volatile}
        if self.mentioned(definition) & (volatile | _WHERE_THEY_STAND):
            return
        scope = Scope(Place.STEP_PROPERTY, history=True, active_definitions=(definition.name,))
        make = partial(self.expressions.from_scalar, definition.text, scope, None)
        if self._cached("definition", definition.text, None, make) is None:
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
        signature = (sections, definitions, columns, processes, frozenset(self.declarations.failed))
        self._signature = self.cache.signatures.setdefault(signature, len(self.cache.signatures))

    # -- tables ---------------------------------------------------------------------------------------------------

    def _table_headers(self) -> dict[str, Mapping]:
        read = self.reader
        section = read.section(self.root, "tables", "`tables`")
        self.limited(section, "tables")
        nodes: dict[str, Mapping] = {}
        for name, entry in read.named(section, "a table"):
            mapping = read.attempt(partial(self._table_header, name, entry))
            if mapping is None:
                self.declarations.failed.add(name)
            else:
                nodes[name] = mapping
        return nodes

    def _table_header(self, name: str, entry: Entry) -> Mapping:
        read = self.reader
        mapping = read.mapping(entry.value, f"the table `{name}`")
        read.keys(mapping, _TABLE_KEYS, "a table", required=("gives", "rows"), at=entry.key.span)
        gives = read.mapping(mapping.entries["gives"].value, "`gives`")
        if not gives.entries:
            read.fail(Code.NOTHING_DECLARED, f"the table `{name}` gives nothing", gives.span)
        columns = {
            column: self.type_use(cell.value, f"the column `{column}`")
            for column, cell in read.named(gives, "a column", words=_COLUMN_WORDS)
        }
        self.declarations.tables[name] = TableHeader(name, columns)
        return mapping

    def _tables(self, nodes: Names[str, Mapping]) -> dict[tuple[str, str | None], Table]:
        """Build each table as it reads in every process that consults it."""
        built: dict[tuple[str, str | None], Table] = {}
        consulted = sorted({use for found in self._findings for use in found.tables}, key=str)
        for name, mapping in nodes.items():
            contexts = [process for table, process in consulted if table == name] or [None]
            for process in contexts:
                table = self.reader.attempt(partial(self._table, name, mapping, process))
                if table is not None:
                    built[name, process] = table
        return built

    def _table(self, name: str, mapping: Mapping, process: str | None) -> Table:
        read = self.reader
        columns = self.declarations.tables[name].columns
        match_node = read.entry(mapping, "match")
        match = read.text(match_node, "`match`") if match_node is not None else "exclusive"
        if match_node is not None and match not in {"first", "exclusive"}:
            message = f"`match` is `first` or `exclusive`, not {quoted(match)}"
            read.fail(Code.VALUE_NOT_ALLOWED, message, match_node.span)
        defaults = read.section(mapping, "defaults", "`defaults`")
        read.keys(defaults, tuple(columns), f"the table `{name}`", unknown=Code.UNKNOWN_COLUMN)
        rows_node = read.mapping(mapping.entries["rows"].value, "`rows`")
        if not rows_node.entries:
            read.fail(Code.NOTHING_DECLARED, f"the table `{name}` has no rows", rows_node.span)
        self.limited(rows_node, "rows", limits.ROWS_PER_TABLE_MAX)
        rows = []
        for row_name, entry in read.named(rows_node, "a row", words=PYTHON_WORDS):
            extra = (row_name, name, process, id(defaults) if defaults.entries else 0)
            make = partial(self._row, row_name, name, entry, defaults, process)
            row = self._cached("row", entry.value, extra, make)
            if isinstance(row, Row):
                rows.append(row)
        table = Table(name, process, match == "first", columns, tuple(rows), mapping.span)
        if self.lint:
            lint_table(table, self.diagnostics)
        return table

    def _row(self, name: str, table: str, entry: Entry, defaults: Mapping, process: str | None) -> Row:
        read = self.reader
        columns = self.declarations.tables[table].columns
        mapping = read.mapping(entry.value, f"the row `{name}`")
        known = ("when", *columns, "note")
        read.keys(mapping, known, f"the table `{table}`", unknown=Code.UNKNOWN_COLUMN)
        when_node = read.entry(mapping, "when")
        if when_node is None:
            read.fail(Code.ROW_INCOMPLETE, f"the row `{name}` has no `when`", entry.key.span)
        scope = Scope(Place.TABLE, self.declarations.processes.get(process) if process else None)
        when = read.attempt(partial(self._cell, when_node, "`when`", scope, BOOL))
        gives: dict[str, Expression] = {}
        for column, value_type in columns.items():
            cell = read.entry(mapping, column) or read.entry(defaults, column)
            if cell is None:
                # A column that is there under a wrong name is not missing as well.
                if all(key in known for key in mapping.entries):
                    message = f"the row `{name}` does not say what `{column}` is, and there is no default"
                    self.diagnostics.report(Code.ROW_INCOMPLETE, message, entry.key.span)
                continue
            value = read.attempt(partial(self._cell, cell, f"`{column}`", scope, value_type))
            if value is not None:
                gives[column] = value
        if when is None or len(gives) < len(columns):
            raise Failed
        return Row(name, when, gives, entry.key.span)

    def _cell(self, node: Node, what: str, scope: Scope, expected: ValueType) -> Expression:
        return self.expressions.from_scalar(self.reader.scalar(node, what), scope, expected)

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
        found = len(self._findings)
        for label in header.labels:
            following = following_of(label, header)
            entry = steps_node.entries[label]
            make = partial(self._step, header, label, following, entry, fair=fair)
            step = self._cached("step", entry.value, (name, label, following, fair), make)
            if isinstance(step, Step):
                steps.append(step)
        on_crash = mapping.entries.get("on_crash")
        body = None
        if on_crash is not None:
            make = partial(self._crash_body, header, "on_crash", "on_crash", on_crash)
            body = self._cached("on_crash", on_crash.value, name, make)
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
            fresh = {store: span for each in self._findings[found:] for store, span in each.fresh.items()}
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

    def _properties(self) -> dict[str, Property]:
        read = self.reader
        section = read.section(self.root, "properties", "`properties`")
        self.limited(section, "properties")
        properties: dict[str, Property] = {}
        for name, entry in read.named(section, "a property", words=PYTHON_WORDS):
            made = self._cached("property", entry.value, name, partial(self._property, name, entry))
            if isinstance(made, Property):
                properties[name] = made
        return properties

    def _initially(self) -> Expression | None:
        node = self.root.get("initially")
        if node is None:
            return None
        read = partial(self._cell, node, "`initially`", Scope(Place.PROPERTY), BOOL)
        made = self._cached("initially", node, None, read)
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
            help_text = "the kinds are `always`, `step`, `possible` and `recoverable`"
            read.fail(Code.PROPERTY_KIND, message, entry.key.span, help=help_text)
        kind = PropertyKind(given[0])
        scope = Scope(Place.STEP_PROPERTY if kind is PropertyKind.STEP else Place.PROPERTY)
        text = read.scalar(mapping.entries[given[0]].value, f"`{given[0]}`")
        expression = self.expressions.from_scalar(text, scope, BOOL)
        if self.lint and kind is PropertyKind.STEP and not self.expressions.findings.looks_ahead:
            message = f"the `step` property `{name}` never says `next`: it looks at single states"
            help_text = "write `always`, which looks at the last state of a run as well"
            self.diagnostics.report(Code.STEP_PROPERTY_WITHOUT_NEXT, message, entry.key.span, help=help_text)
        return Property(name, kind, expression, entry.key.span)

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

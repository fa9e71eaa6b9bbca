"""From the YAML tree of one protocol to its `Specification`.

Two passes: names first (types, variables, labels, columns), then the texts that use them. Elaborated steps, rows and
properties are kept by the identity of their YAML node and of everything that decides what names mean, so that the
specifications of a file's variants share what they do not change.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from collections.abc import Mapping as Mapping_
from dataclasses import dataclass
from typing import Literal, TypeVar

from model import limits
from model.diagnostics import Code, Diagnostics, did_you_mean, quoted
from model.elaborate import ExpressionElaborator, Failed
from model.elaborate_steps import StepElaborator
from model.expressions import Constant, Expression
from model.lints import lint_step
from model.reader import IDENTIFIER, RESERVED, Reader
from model.scope import Declarations, Definition, Place, ProcessHeader, Scope, TableHeader
from model.source import Span
from model.specification import (
    UNLIMITED,
    Fault,
    Parameter,
    Process,
    Property,
    PropertyKind,
    Role,
    Row,
    Specification,
    Step,
    Store,
    Table,
    Variable,
)
from model.statements import Read, Stop, walk_statements
from model.types import BOOL, INT, CounterType, EnumType, RangeType, Value, ValueType
from model.yamltree import Mapping, Node, Scalar, Sequence

T = TypeVar("T")

CONSTANT = Scope(Place.CONSTANT)
PARAMETER_KEYS = ("default", "range", "one_of", "note")
VARIABLE_KEYS = ("type", "per", "init", "note")
STORE_KEYS = ("versioned", "holds", "note")
FAULT_KEYS = ("of", "at_most", "note")
TABLE_KEYS = ("match", "gives", "defaults", "rows", "note")
PROCESS_KEYS = ("count", "volatile", "steps", "environment", "fair", "note")
STEP_KEYS = ("do", "fair", "atomic", "after", "note")
SECTIONS = ("language", "protocol", "title", "sources", "parameters", "types", "stores", "ghost", "definitions", "faults", "tables",
            "processes", "properties", "scenarios", "variants", "mutants", "views", "reference", "unused", "note")


@dataclass(frozen=True, slots=True)
class Piece:
    """An elaborated step, row or property, and what its text turned out to use; None for one that failed."""

    value: object
    definitions: Mapping_[str, int]
    """The definitions that it stands on: name → identity of the text."""
    tables: frozenset[tuple[str, str | None]]


class Cache:
    """Elaborated pieces by what they were made from."""

    def __init__(self) -> None:
        self.pieces: dict[Hashable, list[Piece]] = {}
        self.alive: list[object] = []
        """Keeps the nodes whose identities are keys from being collected."""


class Declarer:
    """Builds one `Specification` from the root mapping of one (patched) YAML tree."""

    def __init__(self, root: Mapping, diagnostics: Diagnostics, cache: Cache) -> None:
        self.root = root
        self.reader = Reader(diagnostics)
        self.diagnostics = diagnostics
        self.cache = cache
        self.declarations = Declarations()
        self.expressions = ExpressionElaborator(self.declarations, diagnostics)
        cache.alive.append(root)
        self._signature: tuple[Hashable, ...] = ()
        self._consulted: set[tuple[str, str | None]] = set()
        """Tables that some step or property consults, with the process in whose step."""
        self._used_definitions: set[str] = set()

    def specification(self) -> Specification | None:
        """Declare everything; None where an error leaves nothing to work with (reported)."""
        read = self.reader
        declarations = self.declarations
        self._parameters()
        self._types()
        stores = self._stores()
        ghosts = self._variables(read.section(self.root, "ghost", "`ghost`"), "ghost", Role.GHOST)
        self._faults()
        self._definitions()
        headers = self._process_headers()
        tables = self._table_headers()
        self._sign(headers, tables)
        processes = {name: p for name, node in headers.items() if (p := self._process(name, node)) is not None}
        properties = self._properties()
        built = self._tables(tables)
        for definition in declarations.definitions.values():
            self._check_definition(definition)
        variables = {v.key: v for group in declarations.shared.values() for v in group}
        variables.update({v.key: v for header in declarations.processes.values() for v in header.volatile.values()})
        if not processes and not self.diagnostics.has_errors:
            self.diagnostics.report(Code.NOTHING_DECLARED, "a specification needs at least one process", self.root.span)
        return Specification(
            name=self._text("protocol"), title=self._text("title"), parameters=dict(declarations.parameters), types=dict(declarations.types),
            stores=stores, ghosts=ghosts, faults=dict(declarations.faults), tables=built, processes=processes, properties=properties,
            views=self._views(variables), variables=variables,
        )

    # -- helpers --------------------------------------------------------------------------------------------------

    def _text(self, key: str) -> str:
        node = self.reader.entry(self.root, key)
        return (self.reader.attempt(lambda: self.reader.text(node, f"`{key}`")) or "") if node is not None else ""

    def _cached(self, kind: str, node: Node, extra: Hashable, make: Callable[[], object]) -> object:
        """Return a piece made before from the same node under the same names and definitions, or make it."""
        definitions = self.declarations.definitions
        candidates = self.cache.pieces.setdefault((kind, id(node), self._signature, extra), [])
        for piece in candidates:
            if all(id(definitions[name].text) == identity for name, identity in piece.definitions.items()):
                break
        else:
            self.cache.alive.append(node)
            self.expressions.used_definitions, self.expressions.table_uses = set(), set()
            value = self.reader.attempt(make)
            used = {name: id(definitions[name].text) for name in sorted(self.expressions.used_definitions)}
            piece = Piece(value, used, frozenset(self.expressions.table_uses))
            candidates.append(piece)
        self._consulted |= piece.tables
        self._used_definitions |= piece.definitions.keys()
        return piece.value

    def _constant(self, node: Node, expected: ValueType | None, what: str) -> Expression:
        return self.expressions.from_scalar(self.reader.scalar(node, what), CONSTANT, expected)

    def _limit(self, mapping: Mapping, what: str, most: int = limits.DECLARATIONS_MAX, code: Code = Code.LIMIT) -> None:
        if len(mapping.entries) > most:
            self.diagnostics.report(code, f"{len(mapping.entries):,} {what}; at most {most:,} are allowed", mapping.span)

    # -- parameters and types -------------------------------------------------------------------------------------

    def _parameters(self) -> None:
        section = self.reader.section(self.root, "parameters", "`parameters`")
        self._limit(section, "parameters")
        for name, entry in self.reader.named(section, "a parameter"):
            parameter = self.reader.attempt(lambda n=name, e=entry: self._parameter(n, e.value, e.key.span))  # type: ignore[misc]
            if parameter is not None:
                self.declarations.parameters[name] = parameter

    def _parameter(self, name: str, node: Node, span: Span) -> Parameter:
        read = self.reader
        mapping = read.mapping(node, f"the parameter `{name}`")
        read.keys(mapping, PARAMETER_KEYS, "a parameter", required=("default",))
        default = read.scalar(mapping.entries["default"].value, "`default`")
        bounds, options = read.entry(mapping, "range"), read.entry(mapping, "one_of")
        if bounds is not None and options is not None:
            read.fail(Code.CONFLICTING_KEYS, "a parameter has `range` or `one_of`, not both", options.span)
        value_type: ValueType
        if options is not None:
            value_type = EnumType(name, self._literals(options, f"`one_of` of `{name}`"))
            self.declarations.types[name] = value_type
        elif bounds is not None:
            value_type = self._range(read.scalar(bounds, "`range`"), None)
        elif default.kind == "bool":
            value_type = BOOL
        elif default.kind == "int":
            value_type = INT
        else:
            read.fail(Code.TYPE_MISMATCH, f"the default of `{name}` is neither a number nor `true` or `false`", default.span, help="list the possible words with `one_of`")
        return Parameter(name, value_type, parameter_value(read, name, value_type, default, Code.PARAMETER_OUT_OF_RANGE), span)

    def _literals(self, node: Node, what: str) -> tuple[str, ...]:
        items = self.reader.names(node, what)
        if not items:
            self.reader.fail(Code.EMPTY_TYPE, f"{what} has no values", node.span)
        if len(items) > limits.LITERALS_MAX:
            self.reader.fail(Code.LIMIT, f"{what} has {len(items):,} literals; at most {limits.LITERALS_MAX:,} are allowed", node.span)
        return tuple(self.reader.identifier(item, "a literal") for item in items)

    def _types(self) -> None:
        section = self.reader.section(self.root, "types", "`types`")
        self._limit(section, "types")
        for name, entry in self.reader.named(section, "a type"):
            declared = self.reader.attempt(lambda n=name, e=entry: self._type(n, e.value))  # type: ignore[misc]
            if declared is not None:
                if name in self.declarations.types:
                    self.diagnostics.report(Code.DECLARED_TWICE, f"`{name}` is also a parameter with `one_of`", entry.key.span)
                self.declarations.types[name] = declared

    def _type(self, name: str, node: Node) -> EnumType | RangeType:
        if isinstance(node, Sequence):
            return EnumType(name, self._literals(node, f"the type `{name}`"))
        scalar = self.reader.scalar(node, f"the type `{name}`")
        if ".." not in scalar.text:
            self._refuse_later(scalar)
            self.reader.fail(Code.TYPE_SYNTAX, f"a type is a list of literals or a range `lo..hi`, not {quoted(scalar.text)}", scalar.span)
        return self._range(scalar, name)

    def _refuse_later(self, scalar: Scalar) -> None:
        for pattern, what in ((r"\w+\?$", "`T?`"), (r"set of ", "`set of T`"), (r"nat$", "`nat`")):
            if re.match(pattern, scalar.text.strip()):
                self.reader.fail(Code.NOT_YET_SUPPORTED, f"{what} is not yet supported", scalar.span)

    def _range(self, scalar: Scalar, name: str | None) -> RangeType:
        low_text, dots, high_text = scalar.text.partition("..")
        if not dots or not low_text.strip() or not high_text.strip():
            self.reader.fail(Code.TYPE_SYNTAX, f"a range is written `lo..hi`, not {quoted(scalar.text)}", scalar.span)
        low = self.expressions.from_scalar(scalar, CONSTANT, INT, 0, len(low_text))
        high = self.expressions.from_scalar(scalar, CONSTANT, INT, len(low_text) + 2)
        if isinstance(low, Constant) and isinstance(high, Constant):
            size = int(high.value) - int(low.value) + 1
            if size < 1:
                self.reader.fail(Code.EMPTY_TYPE, f"the range {quoted(scalar.text)} has no values", scalar.span)
            if size > limits.RANGE_SIZE_MAX:
                self.reader.fail(Code.LIMIT, f"the range {quoted(scalar.text)} has {size:,} values; at most {limits.RANGE_SIZE_MAX:,} are allowed", scalar.span)
        return RangeType(low, high, name, scalar.text.replace(" ", ""))

    def _type_use(self, node: Node, what: str) -> ValueType:
        """Read a type where it is used: a name, a range in place, or `counter N`."""
        scalar = self.reader.scalar(node, what)
        text = scalar.text.strip()
        if text.startswith("counter"):
            limit = self.expressions.from_scalar(scalar, CONSTANT, INT, scalar.text.index("counter") + 7)
            return CounterType(limit)
        if ".." in text:
            return self._range(scalar, None)
        self._refuse_later(scalar)
        named = self.expressions.named_type(text)
        if named is None:
            known = ["bool", *self.declarations.types, *self.declarations.processes]
            self.reader.fail(Code.UNKNOWN_TYPE, f"no type is named {quoted(text)}", scalar.span, help=did_you_mean(text, known))
        return named

    # -- variables, stores, faults, definitions -------------------------------------------------------------------

    def _process_names(self) -> list[str]:
        return list(self.reader.section(self.root, "processes", "`processes`").entries)

    def _stores(self) -> dict[str, Store]:
        read = self.reader
        section = read.section(self.root, "stores", "`stores`")
        self._limit(section, "stores")
        # Instances of a process are a type that variables may use, so the names of processes come first.
        for name in self._process_names():
            self.declarations.processes[name] = ProcessHeader(name, environment=False, volatile={}, labels=())
        stores: dict[str, Store] = {}
        for name, entry in read.named(section, "a store"):
            mapping = read.attempt(lambda n=name, e=entry: read.mapping(e.value, f"the store `{n}`"))  # type: ignore[misc]
            if mapping is None:
                continue
            read.keys(mapping, STORE_KEYS, "a store")
            node = read.entry(mapping, "versioned")
            versioned = node is not None and read.attempt(lambda n=node: read.flag(n, "`versioned`")) is True  # type: ignore[misc]
            self.declarations.stores[name] = versioned
            variables = self._variables(read.section(mapping, "holds", "`holds`"), name, Role.STORE)
            stores[name] = Store(name, versioned, variables, entry.key.span)
        return stores

    def _variables(self, section: Mapping, owner: str, role: Role) -> tuple[Variable, ...]:
        self._limit(section, "variables")
        variables = []
        for name, entry in self.reader.named(section, "a variable"):
            variable = self.reader.attempt(lambda n=name, e=entry: self._variable(n, owner, role, e.value, e.key.span))  # type: ignore[misc]
            if variable is None:
                continue
            variables.append(variable)
            if role is not Role.VOLATILE:
                self.declarations.shared.setdefault(name, []).append(variable)
        return tuple(variables)

    def _variable(self, name: str, owner: str, role: Role, node: Node, span: Span) -> Variable:
        read = self.reader
        mapping = read.mapping(node, f"the variable `{name}`")
        read.keys(mapping, VARIABLE_KEYS, "a variable", required=("type",))
        value_type = self._type_use(mapping.entries["type"].value, "`type`")
        if isinstance(value_type, CounterType) and role is not Role.GHOST:
            read.fail(Code.COUNTER_OUTSIDE_GHOSTS, "only ghosts are counters", mapping.entries["type"].value.span, help="a range counts exactly, up to its end")
        per_node = read.entry(mapping, "per")
        per: tuple[ValueType, ...] = ()
        if per_node is not None:
            nodes = per_node.items if isinstance(per_node, Sequence) else (per_node,)
            per = tuple(self._type_use(item, "`per`") for item in nodes)
        init_node = read.entry(mapping, "init")
        if isinstance(init_node, Scalar) and init_node.text == "any":
            read.fail(Code.NOT_YET_SUPPORTED, "`init: any` is not yet supported", init_node.span)
        initial = self._constant(init_node, value_type, "`init`") if init_node is not None else None
        return Variable(name, owner, role, value_type, per, initial, span)

    def _faults(self) -> None:
        read = self.reader
        section = read.section(self.root, "faults", "`faults`")
        self._limit(section, "faults")
        for name, entry in read.named(section, "a fault"):
            fault = read.attempt(lambda n=name, e=entry: self._fault(n, e.value, e.key.span))  # type: ignore[misc]
            if fault is not None:
                self.declarations.faults[name] = fault

    def _fault(self, name: str, node: Node, span: Span) -> Fault:
        read = self.reader
        mapping = read.mapping(node, f"the fault `{name}`")
        read.keys(mapping, FAULT_KEYS, "a fault")
        of_node = read.entry(mapping, "of")
        crashes: list[str] = []
        if of_node is not None:
            for item in read.names(of_node, "`of`"):
                if item.text not in self._process_names():
                    read.fail(Code.UNKNOWN_PROCESS, f"no process is named {quoted(item.text)}", item.span, help=did_you_mean(item.text, self._process_names()))
                crashes.append(item.text)
        elif name == "crash":
            read.fail(Code.MISSING_KEY, "a crash says which processes it kills: `of: […]`", mapping.span)
        most = read.entry(mapping, "at_most")
        at_most: Expression | Literal["unlimited"]
        if most is None:
            # Crashes are unlimited by default; every other fault is off until a scenario allows it.
            at_most = UNLIMITED if crashes else Constant(0, INT, mapping.span)
        else:
            scalar = read.scalar(most, "`at_most`")
            at_most = UNLIMITED if scalar.text == UNLIMITED else self._constant(scalar, INT, "`at_most`")
        return Fault(name, tuple(crashes), at_most, span)

    def _definitions(self) -> None:
        read = self.reader
        section = read.section(self.root, "definitions", "`definitions`")
        self._limit(section, "definitions")
        for entry in section.entries.values():
            definition = read.attempt(lambda e=entry: self._definition(e.key, e.value))  # type: ignore[misc]
            if definition is None:
                continue
            if definition.name in self.declarations.definitions:
                self.diagnostics.report(Code.DECLARED_TWICE, f"the definition `{definition.name}` is declared twice", entry.key.span)
            self.declarations.definitions[definition.name] = definition

    def _definition(self, key: Scalar, node: Node) -> Definition:
        found = re.fullmatch(r"\s*(\w+)\s*(?:\(([^()]*)\))?\s*", key.text)
        if found is None:
            self.reader.fail(Code.NOT_AN_IDENTIFIER, f"{quoted(key.text)} cannot name a definition", key.span, help="write `name` or `name(a, b)`")
        name, inside = found.group(1), found.group(2)
        parameters = tuple(p.strip() for p in inside.split(",")) if inside is not None and inside.strip() else ()
        for word in (name, *parameters):
            if not IDENTIFIER.match(word) or word in RESERVED:
                self.reader.fail(Code.NOT_AN_IDENTIFIER, f"{quoted(word)} cannot name a definition or its argument", key.span)
        return Definition(name, parameters, self.reader.scalar(node, f"the definition `{name}`"))

    def _check_definition(self, definition: Definition) -> None:
        """Elaborate a definition on its own, so that one that nobody uses is checked too.

        One with arguments, or one that reads volatile memory, can only be read where it stands.
        """
        if definition.parameters or definition.name in self._used_definitions:
            return
        volatile = {name for header in self.declarations.processes.values() for name in header.volatile}
        if any(re.search(rf"\b{name}\b", definition.text.text) for name in [*volatile, "self"]):
            return
        scope = Scope(Place.STEP_PROPERTY, history=True, active_definitions=(definition.name,))
        self._cached("definition", definition.text, None, lambda: self.expressions.from_scalar(definition.text, scope, None))

    # -- tables ---------------------------------------------------------------------------------------------------

    def _table_headers(self) -> dict[str, Mapping]:
        read = self.reader
        section = read.section(self.root, "tables", "`tables`")
        self._limit(section, "tables")
        nodes: dict[str, Mapping] = {}
        for name, entry in read.named(section, "a table"):
            mapping = read.attempt(lambda n=name, e=entry: self._table_header(n, e.value))  # type: ignore[misc]
            if mapping is not None:
                nodes[name] = mapping
        return nodes

    def _table_header(self, name: str, node: Node) -> Mapping:
        read = self.reader
        mapping = read.mapping(node, f"the table `{name}`")
        read.keys(mapping, TABLE_KEYS, "a table", required=("gives", "rows"))
        gives = read.mapping(mapping.entries["gives"].value, "`gives`")
        columns = {column: self._type_use(entry.value, f"the column `{column}`") for column, entry in read.named(gives, "a column")}
        self.declarations.tables[name] = TableHeader(name, columns, mapping)
        return mapping

    def _tables(self, nodes: dict[str, Mapping]) -> dict[tuple[str, str | None], Table]:
        built: dict[tuple[str, str | None], Table] = {}
        consulted = sorted(self._consulted, key=str)
        for name, mapping in nodes.items():
            contexts = [process for table, process in consulted if table == name] or [None]
            for process in contexts:
                table = self.reader.attempt(lambda n=name, m=mapping, p=process: self._table(n, m, p))  # type: ignore[misc]
                if table is not None:
                    built[name, process] = table
        return built

    def _table(self, name: str, mapping: Mapping, process: str | None) -> Table:
        read = self.reader
        header = self.declarations.tables[name]
        match_node = read.entry(mapping, "match")
        match = read.text(match_node, "`match`") if match_node is not None else "exclusive"
        if match not in ("first", "exclusive"):
            assert match_node is not None
            read.fail(Code.VALUE_NOT_ALLOWED, f"`match` is `first` or `exclusive`, not {quoted(match)}", match_node.span)
        defaults = read.section(mapping, "defaults", "`defaults`")
        read.keys(defaults, tuple(header.columns), "`defaults`")
        rows_node = read.mapping(mapping.entries["rows"].value, "`rows`")
        if not rows_node.entries:
            read.fail(Code.NOTHING_DECLARED, f"the table `{name}` has no rows", rows_node.span)
        self._limit(rows_node, "rows", limits.ROWS_PER_TABLE_MAX)
        rows = []
        for row_name, entry in read.named(rows_node, "a row"):
            row = self._cached("row", entry.value, (row_name, name, process, id(defaults) if defaults.entries else 0),
                               lambda n=row_name, e=entry: self._row(n, header, e.value, defaults, process, e.key.span))  # type: ignore[misc]
            if isinstance(row, Row):
                rows.append(row)
        return Table(name, process, match == "first", header.columns, tuple(rows), mapping.span)

    def _row(self, name: str, header: TableHeader, node: Node, defaults: Mapping, process: str | None, span: Span) -> Row:
        read = self.reader
        mapping = read.mapping(node, f"the row `{name}`")
        read.keys(mapping, ("when", *header.columns, "note"), "a row")
        when_node = read.entry(mapping, "when")
        if when_node is None:
            read.fail(Code.ROW_INCOMPLETE, f"the row `{name}` has no `when`", span,
                      help=did_you_mean(name, self._row_names(header), known="the rows"))
        scope = Scope(Place.TABLE, self.declarations.processes[process] if process else None)
        failed = False
        when = read.attempt(lambda: self.expressions.from_scalar(read.scalar(when_node, "`when`"), scope, BOOL))
        gives: dict[str, Expression] = {}
        for column, value_type in header.columns.items():
            cell = read.entry(mapping, column) or read.entry(defaults, column)
            if cell is None:
                self.diagnostics.report(Code.ROW_INCOMPLETE, f"the row `{name}` does not say what `{column}` is, and there is no default", span)
                failed = True
                continue
            value = read.attempt(lambda c=cell, t=value_type: self.expressions.from_scalar(read.scalar(c, "a cell"), scope, t))  # type: ignore[misc]
            failed = failed or value is None
            if value is not None:
                gives[column] = value
        if when is None or failed:
            raise Failed
        return Row(name, when, gives, span)

    def _row_names(self, header: TableHeader) -> list[str]:
        rows = header.node.entries["rows"].value if isinstance(header.node, Mapping) else None
        return [n for n, e in rows.entries.items() if isinstance(e.value, Mapping) and "when" in e.value.entries] if isinstance(rows, Mapping) else []

    # -- processes ------------------------------------------------------------------------------------------------

    def _process_headers(self) -> dict[str, Mapping]:
        read = self.reader
        section = read.section(self.root, "processes", "`processes`")
        self._limit(section, "processes")
        nodes: dict[str, Mapping] = {}
        for name, entry in read.named(section, "a process"):
            mapping = read.attempt(lambda n=name, e=entry: self._process_header(n, e.value))  # type: ignore[misc]
            if mapping is not None:
                nodes[name] = mapping
            else:
                self.declarations.processes.pop(name, None)
        return nodes

    def _process_header(self, name: str, node: Node) -> Mapping:
        read = self.reader
        mapping = read.mapping(node, f"the process `{name}`")
        read.keys(mapping, PROCESS_KEYS, "a process", required=("steps",))
        environment_node = read.entry(mapping, "environment")
        environment = environment_node is not None and read.flag(environment_node, "`environment`")
        if environment and "volatile" in mapping.entries:
            read.fail(Code.CONFLICTING_KEYS, "an environment has no volatile memory: it never crashes", mapping.entries["volatile"].key.span, help="put it into a store")
        volatile = self._variables(read.section(mapping, "volatile", "`volatile`"), name, Role.VOLATILE)
        steps = read.mapping(mapping.entries["steps"].value, "`steps`")
        if not steps.entries:
            read.fail(Code.NOTHING_DECLARED, f"the process `{name}` has no steps", steps.span)
        self._limit(steps, "steps", limits.STEPS_MAX, Code.LIMIT)
        labels = tuple(step for step, _ in read.named(steps, "a step"))
        self.declarations.processes[name] = ProcessHeader(name, environment, {v.name: v for v in volatile}, labels)
        return mapping

    def _sign(self, headers: dict[str, Mapping], tables: dict[str, Mapping]) -> None:
        """Record what decides the meaning of names; steps, rows and properties are shared where it is the same."""

        def identity(mapping: Mapping, key: str) -> int:
            entry = mapping.entries.get(key)
            return 0 if entry is None else id(entry.value)

        sections = tuple(identity(self.root, name) for name in ("parameters", "types", "stores", "ghost", "faults"))
        definitions = tuple((d.name, d.parameters) for d in self.declarations.definitions.values())
        columns = tuple((name, identity(mapping, "gives")) for name, mapping in tables.items())
        processes = tuple(
            (name, identity(mapping, "volatile"), self.declarations.processes[name].environment, self.declarations.processes[name].labels)
            for name, mapping in headers.items()
        )
        self._signature = (sections, definitions, columns, processes)

    def _process(self, name: str, mapping: Mapping) -> Process | None:
        read = self.reader
        header = self.declarations.processes[name]
        count_node = read.entry(mapping, "count")
        count = read.attempt(lambda: self._constant(count_node, INT, "`count`")) if count_node is not None else Constant(1, INT, mapping.span)
        fair_node = read.entry(mapping, "fair")
        fair = fair_node is None or read.attempt(lambda: read.flag(fair_node, "`fair`")) is not False
        steps_node = mapping.entries["steps"].value
        assert isinstance(steps_node, Mapping)
        steps: list[Step] = []
        for position, label in enumerate(header.labels):
            following = header.labels[(position + 1) % len(header.labels)]
            entry = steps_node.entries[label]
            step = self._cached("step", entry.value, (name, label, following, fair),
                                lambda e=entry, lab=label, nxt=following: self._step(header, lab, nxt, e.value, e.key.span, fair=fair))  # type: ignore[misc]
            if isinstance(step, Step):
                steps.append(step)
        if count is None or len(steps) != len(header.labels):
            return None
        statements = [s for step in steps for s in walk_statements(step.body)]
        reads = tuple(dict.fromkeys(s.store for s in statements if isinstance(s, Read)))
        return Process(name, count, header.environment, tuple(header.volatile.values()), tuple(steps), reads,
                       any(isinstance(s, Stop) for s in statements), mapping.span)

    def _step(self, process: ProcessHeader, label: str, following: str, node: Node, span: Span, *, fair: bool) -> Step:
        read = self.reader
        atomic = False
        if isinstance(node, Mapping):
            read.keys(node, STEP_KEYS, "a step", required=("do",))
            body_node = read.scalar(node.entries["do"].value, "`do`")
            for key in ("fair", "atomic"):
                flag = read.entry(node, key)
                if flag is not None:
                    value = read.flag(flag, f"`{key}`")
                    fair = (fair and value) if key == "fair" else fair
                    atomic = value if key == "atomic" else atomic
        else:
            body_node = read.scalar(node, f"the step `{label}`")
        elaborator = StepElaborator(self.expressions, process.labels)
        body = elaborator.body(body_node, Scope(Place.STEP, process))
        step = Step(label, process.name, body, fair, span, following)
        crashes = any(process.name in fault.crashes for fault in self.declarations.faults.values())
        lint_step(step, self.declarations, self.diagnostics, crashing=crashes and not process.environment, atomic=atomic, environment=process.environment)
        return step

    # -- properties and views -------------------------------------------------------------------------------------

    def _properties(self) -> dict[str, Property]:
        read = self.reader
        section = read.section(self.root, "properties", "`properties`")
        self._limit(section, "properties")
        properties: dict[str, Property] = {}
        for name, entry in read.named(section, "a property"):
            made = self._cached("property", entry.value, name, lambda n=name, e=entry: self._property(n, e.value, e.key.span))  # type: ignore[misc]
            if isinstance(made, Property):
                properties[name] = made
        return properties

    def _property(self, name: str, node: Node, span: Span) -> Property:
        read = self.reader
        mapping = read.mapping(node, f"the property `{name}`")
        kinds = tuple(kind.value for kind in PropertyKind)
        read.keys(mapping, (*kinds, "note"), "a property")
        given = [kind for kind in kinds if kind in mapping.entries]
        if len(given) != 1:
            if any(key in mapping.entries for key in ("leads_to", "checked")):
                raise Failed
            read.fail(Code.PROPERTY_KIND, f"the property `{name}` says {'no kind' if not given else 'two kinds'}", span, help="one of `always`, `step`, `possible`, `recoverable`")
        kind = PropertyKind(given[0])
        scope = Scope(Place.STEP_PROPERTY if kind is PropertyKind.STEP else Place.PROPERTY)
        text = read.scalar(mapping.entries[given[0]].value, f"`{given[0]}`")
        return Property(name, kind, self.expressions.from_scalar(text, scope, BOOL), span)

    def _views(self, variables: dict[str, Variable]) -> dict[str, tuple[str, ...]]:
        read = self.reader
        views: dict[str, tuple[str, ...]] = {}
        for name, entry in read.named(read.section(self.root, "views", "`views`"), "a view"):
            items = read.attempt(lambda e=entry: read.names(e.value, "a view"))  # type: ignore[misc]
            keys = []
            for item in items or ():
                found = [v.key for v in variables.values() if item.text in (v.name, v.key)]
                if len(found) != 1:
                    code = Code.AMBIGUOUS_NAME if found else Code.UNKNOWN_NAME
                    message = f"{quoted(item.text)} has {len(found)} readings here" if found else f"no variable is named {quoted(item.text)}"
                    suggestion = f"write one of {', '.join(found)}" if found else did_you_mean(item.text, [v.name for v in variables.values()])
                    self.diagnostics.report(code, message, item.span, help=suggestion)
                else:
                    keys.append(found[0])
            views[name] = tuple(keys)
        return views


def parameter_value(read: Reader, name: str, value_type: ValueType, scalar: Scalar, code: Code) -> Value:
    """Read the value of a parameter and check it against the declaration.

    Raises:
        Failed: it has the wrong kind or lies outside; reported.
    """
    match value_type:
        case EnumType(literals=literals):
            if scalar.text not in literals:
                read.fail(code, f"`{name}` is one of {', '.join(literals)}; not {quoted(scalar.text)}", scalar.span, help=did_you_mean(scalar.text, literals))
            return scalar.text
        case RangeType(low=low, high=high):
            if scalar.kind != "int":
                read.fail(Code.TYPE_MISMATCH, f"`{name}` is a number, not {quoted(scalar.text)}", scalar.span)
            value = int(scalar.text)
            if isinstance(low, Constant) and isinstance(high, Constant) and not int(low.value) <= value <= int(high.value):
                read.fail(code, f"`{name}` lies in {low.value}..{high.value}; {value} is outside", scalar.span)
            return value
        case _:
            if scalar.kind != "bool":
                read.fail(Code.TYPE_MISMATCH, f"`{name}` is `true` or `false`, not {quoted(scalar.text)}", scalar.span)
            return scalar.text == "true"

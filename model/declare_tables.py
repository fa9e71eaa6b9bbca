"""Decision tables, and pieces of text that are elaborated once for all patches that leave them as they are."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from collections.abc import Mapping as Names
from dataclasses import dataclass, field
from functools import partial

from model import limits
from model.declare_data import DataCache, DataReader
from model.diagnostics import Code, Diagnostics, quoted
from model.expressions import Expression
from model.failures import Effort, Failed
from model.lints import lint_table
from model.scope import Findings, Place, Scope, TableHeader
from model.specification import (
    Row,
    Table,
)
from model.types import BOOL, ValueType
from model.words import PYTHON_WORDS
from model.yamlnodes import Entry, Mapping, Node

_TABLE_KEYS = ("match", "gives", "defaults", "rows", "note")
_COLUMN_WORDS = PYTHON_WORDS | {"when", "note"}


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


class TableDeclarer(DataReader):
    """Builds the tables of one (patched) YAML tree, each as it reads in every process that consults it."""

    def __init__(
        self, root: Mapping, diagnostics: Diagnostics, cache: Cache, effort: Effort, *, lint: bool, base: bool = False
    ) -> None:
        """Prepare to read; `lint` says whether warnings are wanted, `base` whether this is no patched tree."""
        super().__init__(root, diagnostics, cache, effort)
        self.cache = cache
        self.lint = lint
        self.base = base
        self.signature = 0
        self.found: list[Findings] = []
        """Of everything that belongs to this specification."""

    def cached(self, kind: str, node: Node, extra: Hashable, make: Callable[[], object]) -> object:
        """Return a piece made before from the same node under the same names and definitions, or make it."""
        definitions = self.declarations.definitions
        candidates = self.cache.pieces.setdefault((kind, id(node), self.signature, extra), [])
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
        self.found.append(piece.findings)
        return piece.value

    def table_headers(self) -> dict[str, Mapping]:
        """Declare the columns of all tables, and return those that could be read."""
        nodes: dict[str, Mapping] = {}
        self.each("tables", "a table", self._table_header, nodes)
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

    def tables(self, nodes: Names[str, Mapping]) -> dict[tuple[str, str | None], Table]:
        """Build each table as it reads in every process that consults it."""
        built: dict[tuple[str, str | None], Table] = {}
        consulted = sorted({use for found in self.found for use in found.tables}, key=str)
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
            row = self.cached("row", entry.value, extra, make)
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

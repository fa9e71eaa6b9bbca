"""Decision tables over all values of the variables that they read, reachable or not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import z3

from checker.backends.smt.expressions import Reader
from checker.backends.smt.relation import Relation
from checker.backends.smt.situations import Place, Situation, Situations
from checker.backends.smt.values import Term, all_of, any_of, equal, negation, truth
from model.specification import Row, Table


@dataclass(frozen=True, slots=True)
class TypedTable:
    """What is true of a table for all values of its inputs, with a witness for everything that is possible."""

    inputs: tuple[tuple[str, int], ...]
    """The slots that the rows read, by name, and how many values each has."""
    gap: Situation | None
    """Where no row fits."""
    overlaps: dict[tuple[str, str], Situation]
    """Where two rows fit; of a first-match table a last row that always fits is left out."""
    valueless: dict[str, Situation]
    """Where the condition of a row is asked for and has no value."""
    fits: dict[str, Situation]
    """Where the condition of a row is true."""
    fires: dict[str, Situation]
    """Where a row is the one that is taken."""
    alike: tuple[tuple[str, ...], ...]
    """Rows that give the same wherever one of them is taken, and could be one row in the place of the first."""


def typed_table(relation: Relation, table: Table, instance: int) -> TypedTable:
    """Look at a table as one instance of its process consults it."""
    return _Analysis(relation, table, instance).result()


@dataclass(frozen=True, slots=True)
class RowTerms:
    """A row as terms: where its condition is true, and what it gives."""

    row: Row
    fits: z3.BoolRef
    error: z3.BoolRef
    """Where the condition has no value."""
    cells: tuple[Term, ...]
    cells_err: z3.BoolRef

    @property
    def silent(self) -> z3.BoolRef:
        """Where the condition is false."""
        return negation(any_of((self.fits, self.error)))


def rows_as_terms(relation: Relation, table: Table, instance: int) -> list[RowTerms]:
    """Return the rows of a table as one instance of its process consults it."""
    system = relation.system
    process = system.specification.processes[table.process] if table.process else None
    found = []
    with relation.arithmetic():
        for row in table.rows:
            reader = Reader(system, relation.values, process, instance)
            condition = reader.truth(row.when, truth(True))
            error = reader.error
            reader.errors.clear()
            cells = tuple(reader.read(row.gives[column], truth(True)) for column in table.columns)
            found.append(RowTerms(row, all_of((condition, negation(error))), error, cells, reader.error))
    return found


def fires(table: Table, rows: Sequence[RowTerms], number: int) -> z3.BoolRef:
    """Return where a row is the one that is taken."""
    others = [*rows[:number], *([] if table.first_match else rows[number + 1 :])]
    return all_of([rows[number].fits, *(each.silent for each in others)])


class _Analysis:
    def __init__(self, relation: Relation, table: Table, instance: int) -> None:
        self.relation = relation
        self.system = relation.system
        self.table = table
        self.instance = instance
        self.rows = rows_as_terms(relation, table, instance)
        places = [
            Place(self._name(number), constant, slot.domain, slot.initial)
            for number, (constant, slot) in enumerate(zip(relation.constants, self.system.slots, strict=True))
        ]
        self.situations = Situations(places, relation.well_formed)
        self.fires = [fires(table, self.rows, number) for number in range(len(self.rows))]

    def result(self) -> TypedTable:
        """Ask everything."""
        always = {each.row.name for each in self.rows if self.table.first_match and z3.is_true(each.fits)}
        overlaps = {
            (a.row.name, b.row.name): witness
            for a, b in combinations(self.rows, 2)
            if b.row.name not in always and (witness := self.situations.witness(a.fits, b.fits)) is not None
        }
        return TypedTable(
            inputs=tuple(self._inputs()),
            gap=self.situations.witness(*(each.silent for each in self.rows)),
            overlaps=overlaps,
            valueless=self._by_row([all_of((self._open(n), each.error)) for n, each in enumerate(self.rows)]),
            fits=self._by_row([each.fits for each in self.rows]),
            fires=self._by_row(self.fires),
            alike=tuple(self._alike()),
        )

    # -- rows as terms --------------------------------------------------------------------------------------------

    def _open(self, number: int) -> z3.BoolRef:
        """Return where a row's condition is asked for: of a first-match table behind rows that do not fit."""
        return all_of(each.silent for each in self.rows[:number]) if self.table.first_match else truth(True)

    def _same(self, first: RowTerms, second: RowTerms) -> z3.BoolRef:
        equals = [equal(a, b) for a, b in zip(first.cells, second.cells, strict=True)]
        return all_of([*equals, negation(first.cells_err), negation(second.cells_err)])

    def _alike(self) -> Iterator[tuple[str, ...]]:
        """Yield groups of rows that could be one: taken where the first stands, nothing comes out differently."""
        left = [number for number in range(len(self.rows)) if self.situations.possible(self.fires[number])]
        while left:
            first, group = left[0], [left[0]]
            for number in left[1:]:
                differ = negation(self._same(self.rows[first], self.rows[number]))
                either = any_of((self.fires[first], self.fires[number]))
                if not self.situations.possible(either, differ) and not self._overtakes(number, first, group):
                    group.append(number)
            left = [number for number in left if number not in group]
            if len(group) > 1:
                yield tuple(self.rows[number].row.name for number in group)

    def _overtakes(self, number: int, first: int, group: Sequence[int]) -> bool:
        """Tell whether a row, moved up to another's place, takes something from a row in between that differs."""
        if not self.table.first_match:
            return False
        return any(
            self.situations.possible(
                self.rows[number].fits, self.fires[k], negation(self._same(self.rows[number], self.rows[k]))
            )
            for k in range(first + 1, number)
            if k not in group
        )

    # -- asking ---------------------------------------------------------------------------------------------------

    def _inputs(self) -> Iterator[tuple[str, int]]:
        terms = [term for each in self.rows for term in (each.fits, each.error, each.cells_err)]
        cells = [
            equal(cell, cell_of_other)
            for a, b in combinations(self.rows, 2)
            for cell, cell_of_other in zip(a.cells, b.cells, strict=True)
        ]
        for slot in self.situations.occurring([*terms, *cells]):
            yield self._name(slot), self.system.slots[slot].domain.size

    def _by_row(self, terms: Sequence[z3.BoolRef]) -> dict[str, Situation]:
        found = ((each.row.name, self.situations.witness(term)) for each, term in zip(self.rows, terms, strict=True))
        return {name: witness for name, witness in found if witness is not None}

    def _name(self, slot: int) -> str:
        """Return the name of a slot; of the instance's own memory without the instance."""
        name = self.system.slots[slot].name
        if self.table.process is None:
            return name
        return name.removeprefix(f"{self.system.instance_name(self.table.process, self.instance)}.")

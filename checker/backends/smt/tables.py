"""Decision tables over all values of the variables that they read, reachable or not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import z3

from checker.backends.smt.expressions import Reader
from checker.backends.smt.relation import Relation, value_of
from checker.backends.smt.values import Term, all_of, any_of, constant_of, equal, negation, stored, truth
from model.specification import Row, Table
from model.types import Value

Situation = tuple[tuple[str, Value], ...]
"""Values of slots by their names."""

_TRIED = 32
"""A witness has the first value of a slot that does; of a larger domain, any one where that is none of so many."""


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
class _Row:
    """A row as terms."""

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


class _Analysis:
    def __init__(self, relation: Relation, table: Table, instance: int) -> None:
        self.relation = relation
        self.system = relation.system
        self.table = table
        self.instance = instance
        self.rows = [self._row(row) for row in table.rows]
        self.solver = z3.Solver()
        self.solver.add(relation.well_formed)
        self.fires = [self._fires(number) for number in range(len(self.rows))]

    def result(self) -> TypedTable:
        """Ask everything."""
        always = {each.row.name for each in self.rows if self.table.first_match and z3.is_true(each.fits)}
        overlaps = {
            (a.row.name, b.row.name): witness
            for a, b in combinations(self.rows, 2)
            if b.row.name not in always and (witness := self._witness(a.fits, b.fits)) is not None
        }
        return TypedTable(
            inputs=tuple(self._inputs()),
            gap=self._witness(*(each.silent for each in self.rows)),
            overlaps=overlaps,
            valueless=self._by_row([all_of((self._open(n), each.error)) for n, each in enumerate(self.rows)]),
            fits=self._by_row([each.fits for each in self.rows]),
            fires=self._by_row(self.fires),
            alike=tuple(self._alike()),
        )

    # -- rows as terms --------------------------------------------------------------------------------------------

    def _row(self, row: Row) -> _Row:
        process = self.system.specification.processes[self.table.process] if self.table.process else None
        reader = Reader(self.system, self.relation.values, process, self.instance)
        condition = reader.truth(row.when, truth(True))
        error = reader.error
        reader.errors.clear()
        cells = tuple(reader.read(row.gives[column], truth(True)) for column in self.table.columns)
        return _Row(row, all_of((condition, negation(error))), error, cells, reader.error)

    def _open(self, number: int) -> z3.BoolRef:
        """Return where a row's condition is asked for: of a first-match table behind rows that do not fit."""
        return all_of(each.silent for each in self.rows[:number]) if self.table.first_match else truth(True)

    def _fires(self, number: int) -> z3.BoolRef:
        others = self.rows[:number] + ([] if self.table.first_match else self.rows[number + 1 :])
        return all_of([self.rows[number].fits, *(each.silent for each in others)])

    def _same(self, first: _Row, second: _Row) -> z3.BoolRef:
        equals = [equal(a, b) for a, b in zip(first.cells, second.cells, strict=True)]
        return all_of([*equals, negation(first.cells_err), negation(second.cells_err)])

    def _alike(self) -> Iterator[tuple[str, ...]]:
        """Yield groups of rows that could be one: taken where the first stands, nothing comes out differently."""
        left = [number for number in range(len(self.rows)) if self._possible(self.fires[number])]
        while left:
            first, group = left[0], [left[0]]
            for number in left[1:]:
                differ = negation(self._same(self.rows[first], self.rows[number]))
                either = any_of((self.fires[first], self.fires[number]))
                if not self._possible(either, differ) and not self._overtakes(number, first, group):
                    group.append(number)
            left = [number for number in left if number not in group]
            if len(group) > 1:
                yield tuple(self.rows[number].row.name for number in group)

    def _overtakes(self, number: int, first: int, group: Sequence[int]) -> bool:
        """Tell whether a row, moved up to another's place, takes something from a row in between that differs."""
        if not self.table.first_match:
            return False
        return any(
            self._possible(self.rows[number].fits, self.fires[k], negation(self._same(self.rows[number], self.rows[k])))
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
        for slot in self._slots([*terms, *cells]):
            yield self._name(slot), self.system.slots[slot].domain.size

    def _by_row(self, terms: Sequence[z3.BoolRef]) -> dict[str, Situation]:
        found = ((each.row.name, self._witness(term)) for each, term in zip(self.rows, terms, strict=True))
        return {name: witness for name, witness in found if witness is not None}

    def _possible(self, *conditions: z3.BoolRef) -> bool:
        return bool(self.solver.check(*conditions) == z3.sat)

    def _witness(self, *conditions: z3.BoolRef) -> Situation | None:
        """Return a situation in which all conditions are true: each slot as it starts, where that is possible.

        Slots whose value makes no difference then are left out.
        """
        if not self._possible(*conditions):
            return None
        fixed: dict[int, z3.BoolRef] = {}
        values: dict[int, Value] = {}
        for slot in self._slots(conditions):
            values[slot] = self._first_value(slot, [*conditions, *fixed.values()])
            fixed[slot] = self._is(slot, values[slot])
        otherwise = negation(all_of(conditions))
        for slot in reversed(list(fixed)):
            rest = [term for other, term in fixed.items() if other != slot]
            if not self._possible(otherwise, *rest):
                del fixed[slot]
        return tuple((self._name(slot), values[slot]) for slot in fixed)

    def _first_value(self, slot: int, fixed: Sequence[z3.BoolRef]) -> Value:
        domain = self.system.slots[slot].domain
        candidates = [self.system.slots[slot].initial]
        candidates += [domain.value(index) for index in range(min(domain.size, _TRIED))]
        for value in candidates:
            if self._possible(*fixed, self._is(slot, value)):
                return value
        self.solver.check(*fixed)
        return value_of(self.solver.model().eval(self.relation.constants[slot], model_completion=True), domain)

    def _is(self, slot: int, value: Value) -> z3.BoolRef:
        domain = self.system.slots[slot].domain
        same = self.relation.constants[slot] == stored(constant_of(domain, value), domain)
        assert isinstance(same, z3.BoolRef)
        return same

    def _slots(self, terms: Sequence[z3.ExprRef]) -> list[int]:
        """Return the slots whose constants occur in terms, in their order."""
        numbers = {constant.get_id(): number for number, constant in enumerate(self.relation.constants)}
        found: set[int] = set()
        seen: set[int] = set()
        pending = list(terms)
        while pending:
            term = pending.pop()
            if term.get_id() in seen:
                continue
            seen.add(term.get_id())
            if term.get_id() in numbers:
                found.add(numbers[term.get_id()])
            pending += term.children()
        return sorted(found)

    def _name(self, slot: int) -> str:
        """Return the name of a slot; of the instance's own memory without the instance."""
        name = self.system.slots[slot].name
        if self.table.process is None:
            return name
        return name.removeprefix(f"{self.system.instance_name(self.table.process, self.instance)}.")

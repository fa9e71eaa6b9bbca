"""Two versions of a protocol put to a solver: where a table gives something else, and which claim is the stronger.

The two relations have constants of their own. A slot that both have, with the same values, gets the same constant; one
whose values differ is linked by the values that both have. What only one version has stays free: where it decides, that
is a difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import z3

from checker.backends.smt.relation import Relation
from checker.backends.smt.situations import Place, Situation, Situations
from checker.backends.smt.tables import RowTerms, fires, rows_as_terms
from checker.backends.smt.values import all_of, any_of, constant_of, equal, negation, stored, well_formed
from model.expressions import Constant, Expression
from model.specification import Property, Table
from model.types import Value

Renamed = Callable[[str], str]
"""Gives a name of the old version as the new one has it."""

Swaps = list[tuple[z3.ExprRef, z3.ExprRef]]
"""Constants, each with what stands for it instead."""


@dataclass(frozen=True, slots=True)
class RowChange:
    """A situation in which a table gives something else than before; a row is "" where none fits."""

    before: str
    after: str
    gave: tuple[tuple[str, str], ...]
    """Columns and what the old row gave, of those that differ."""
    gives: tuple[tuple[str, str], ...]
    situation: Situation


@dataclass(frozen=True, slots=True)
class Strength:
    """Whether a claim says more than before: situations that it newly forbids, and that it forbids no more."""

    forbids: Situation | None
    allows: Situation | None


class TwoVersions:
    """The slots of both versions as one set of places."""

    def __init__(self, old: Relation, new: Relation, renamed: Renamed) -> None:
        """Link the slots of the two by their names, before a transition and after it."""
        self.old = old
        self.new = new
        self.renamed = renamed
        self._swaps: Swaps = []
        places: list[Place] = []
        links: list[z3.BoolRef] = []
        self._join("", old.constants, new.constants, places, links)
        self._join("next ", old.next_constants, new.next_constants, places, links)
        self.situations = Situations(places, all_of(links))

    def _join(
        self,
        prefix: str,
        olds: Sequence[z3.ExprRef],
        news: Sequence[z3.ExprRef],
        places: list[Place],
        links: list[z3.BoolRef],
    ) -> None:
        """Add the places of one state, and what the constants of the new version are to be replaced by."""
        by_name: dict[str, Place] = {}
        for constant, slot in zip(olds, self.old.system.slots, strict=True):
            name = self.renamed(slot.name)
            by_name[name] = Place(prefix + name, constant, slot.domain, slot.initial)
            places.append(by_name[name])
            links.append(well_formed(constant, slot.domain))
        for constant, slot in zip(news, self.new.system.slots, strict=True):
            earlier = by_name.get(slot.name)
            if earlier is not None and earlier.domain == slot.domain:
                self._swaps.append((constant, earlier.constant))
                continue
            place = Place(prefix + slot.name, z3.FreshConst(constant.sort(), slot.name), slot.domain, slot.initial)
            self._swaps.append((constant, place.constant))
            links.append(well_formed(place.constant, slot.domain))
            if earlier is None:
                places.append(place)
            else:
                links.append(self._link(earlier, place))

    def table_changes(self, before: Table, after: Table) -> Iterator[RowChange]:
        """Yield the pairs of rows that are taken in one situation and give something else, with that situation.

        Tables are compared as the first instance of their processes consults them.
        """
        old_rows = rows_as_terms(self.old, before, 0)
        memory = self._memory(before, after)
        new_rows = [self._common_row(row, memory) for row in rows_as_terms(self.new, after, 0)]
        columns = [column for column in before.columns if self.renamed(column) in after.columns]
        old_fires = [fires(before, old_rows, number) for number in range(len(old_rows))]
        new_fires = [fires(after, new_rows, number) for number in range(len(new_rows))]
        for i, old_row in enumerate(old_rows):
            for j, new_row in enumerate(new_rows):
                both = (old_fires[i], new_fires[j])
                if not self.situations.possible(*both):
                    continue
                differ = {column: self._differs(before, after, column, old_row, new_row, memory) for column in columns}
                situation = self.situations.witness(*both, any_of(differ.values()))
                if situation is not None:
                    told = [column for column in columns if not z3.is_false(differ[column])]
                    yield RowChange(
                        old_row.row.name,
                        new_row.row.name,
                        tuple((column, _text(old_row.row.gives[column])) for column in told),
                        tuple((self.renamed(c), _text(new_row.row.gives[self.renamed(c)])) for c in told),
                        situation,
                    )
            lost = self.situations.witness(old_fires[i], *(row.silent for row in new_rows))
            if lost is not None:
                yield RowChange(old_row.row.name, "", _all(before, old_row), (), lost)
        for j, new_row in enumerate(new_rows):
            found = self.situations.witness(new_fires[j], *(row.silent for row in old_rows))
            if found is not None:
                yield RowChange("", new_row.row.name, (), _all(after, new_row), found)

    def strength(self, before: Property, after: Property) -> Strength:
        """Compare what two claims say of all typed states, or pairs of them."""
        was = self._holds(self.old, before)
        now = self._common(self._holds(self.new, after))
        return Strength(
            forbids=self.situations.witness(was, negation(now)), allows=self.situations.witness(now, negation(was))
        )

    def _holds(self, relation: Relation, claim: Property) -> z3.BoolRef:
        value, error = relation.truth(claim.expression, None, relation.next_values)
        return all_of((value, negation(error)))

    def _common_row(self, row: RowTerms, memory: Swaps) -> RowTerms:
        """Return a row of the new version over the common constants; its cells stay as they are."""
        fits, error, cells_err = (self._common(term, memory) for term in (row.fits, row.error, row.cells_err))
        return RowTerms(row.row, fits, error, row.cells, cells_err)

    def _common(self, term: z3.BoolRef, memory: Swaps | None = None) -> z3.BoolRef:
        """Return a term of the new version over the common constants."""
        found = z3.substitute(z3.substitute(term, *self._swaps), *(memory or []))
        assert isinstance(found, z3.BoolRef)
        return found

    def _memory(self, before: Table, after: Table) -> Swaps:
        """Return what links the memory of the process that consulted a table to that of another that does so now."""
        if before.process is None or after.process is None or self.renamed(before.process) == after.process:
            return []
        was = self.old.system.instance_name(before.process, 0)
        now = self.new.system.instance_name(after.process, 0)
        mine = {self.renamed(slot.name.removeprefix(f"{was}.")): n for n, slot in enumerate(self.old.system.slots)}
        return [
            (place, self.old.constants[mine[name]])
            for (_, place), slot in zip(self._swaps, self.new.system.slots, strict=False)
            if slot.name.startswith(f"{now}.")
            and (name := slot.name.removeprefix(f"{now}.")) in mine
            and self.old.system.slots[mine[name]].domain == slot.domain
        ]

    def _differs(
        self,
        before: Table,
        after: Table,
        column: str,
        old_row: RowTerms,
        new_row: RowTerms,
        memory: Swaps,
    ) -> z3.BoolRef:
        other = self.renamed(column)
        was, now = old_row.row.gives[column], new_row.row.gives[other]
        if isinstance(was, Constant) and isinstance(now, Constant):
            return z3.BoolVal(self.renamed(_text(was)) != _text(now))
        types = self.old.system.domain(before.columns[column]), self.new.system.domain(after.columns[other])
        if types[0] != types[1]:
            return z3.BoolVal(True)
        first = old_row.cells[list(before.columns).index(column)]
        second = new_row.cells[list(after.columns).index(other)]
        return negation(self._common(equal(first, second), memory))

    def _link(self, first: Place, second: Place) -> z3.BoolRef:
        """Return that two slots hold the same; what one of them cannot hold, the other does not."""
        theirs = {str(value): value for value in second.domain.values()}
        pairs = [(value, theirs.get(self.renamed(str(value)))) for value in first.domain.values()]
        return any_of(all_of((_is(first, value), _is(second, other))) for value, other in pairs if other is not None)


def _is(place: Place, value: Value) -> z3.BoolRef:
    same = place.constant == stored(constant_of(place.domain, value), place.domain)
    assert isinstance(same, z3.BoolRef)
    return same


def _text(cell: Expression) -> str:
    if isinstance(cell, Constant):
        return str(cell.value).lower() if isinstance(cell.value, bool) else str(cell.value)
    return "…"


def _all(table: Table, row: RowTerms) -> tuple[tuple[str, str], ...]:
    return tuple((column, _text(row.row.gives[column])) for column in table.columns)

"""What there is to say of decision tables: over all typed inputs, and where reachable states consult them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from checker.backends.smt.relation import Relation
from checker.backends.smt.tables import TypedTable, typed_table
from checker.engines.consultations import Consultations, Consulted, Situation
from checker.verdict import ExitCode
from model.specification import Row, Specification, Table
from model.system import TransitionSystem


@dataclass(frozen=True, slots=True)
class Witness:
    """A situation, and the scenario in which a reachable state comes to one like it; empty where none does.

    Where a scenario comes to one, the situation is one that it comes to.
    """

    rows: tuple[str, ...]
    situation: Situation
    reached_in: str = ""


@dataclass(frozen=True, slots=True)
class RowReport:
    """One row: whether it can be the one, and where it is."""

    row: Row
    fits: bool
    """Whether its condition is true for some values of the inputs, whatever the other rows say."""
    fires: bool
    """Whether it is the one for some values of the inputs."""
    situations: int
    """In how many reachable situations it is the one, over all scenarios."""
    taken_in: tuple[str, ...]
    """The scenarios in which it is."""
    kill_points: tuple[str, ...]
    """After which it may be the one the next time, in the order of the file."""

    @property
    def standing(self) -> str:
        """Say in a word what becomes of the row."""
        if self.situations:
            return "taken"
        return "not reached" if self.fires else "shadowed" if self.fits else "never fits"


@dataclass(frozen=True, slots=True)
class TableReport:
    """One table."""

    name: str
    table: Table
    consulted_by: tuple[str, ...]
    """Processes whose steps consult it."""
    inputs: tuple[tuple[str, int], ...]
    rows: tuple[RowReport, ...]
    gap: Witness | None
    overlaps: tuple[Witness, ...]
    valueless: tuple[Witness, ...]
    alike: tuple[tuple[str, ...], ...]
    reached: int
    """In how many situations reachable states consult it."""
    counted: tuple[tuple[str, int], ...]
    """The scenarios that consult it as it stands here, with their states."""
    left_out: tuple[str, ...]
    """The scenarios that do not: their variant has changed it."""
    cut: tuple[str, ...]
    """The scenarios of which not all states were looked at."""

    @property
    def typed_situations(self) -> int:
        """How many situations there are over all typed inputs."""
        return prod(size for _, size in self.inputs)

    @property
    def exit_code(self) -> ExitCode:
        """Refuted where a reachable state consults the table and it errs, inconclusive where not all were looked at."""
        wrong = [*([self.gap] if self.gap else []), *([] if self.table.first_match else self.overlaps), *self.valueless]
        if any(witness.reached_in for witness in wrong):
            return ExitCode.NOT_AS_DECLARED
        return ExitCode.INCONCLUSIVE if self.cut else ExitCode.AS_DECLARED


def table_report(
    name: str,
    system: TransitionSystem,
    relation: Relation,
    consulted: Mapping[str, tuple[TransitionSystem, Consultations]],
) -> TableReport:
    """Report on one table of a system, and on where some scenarios consult it."""
    tables = contexts(system.specification, name)
    shape = _shape(tables[0])
    mine = {
        scenario: (other, found)
        for scenario, (other, found) in consulted.items()
        if any(_shape(table) == shape for table in contexts(other.specification, name))
    }
    reached = [
        (scenario, situation, judged)
        for scenario, (_, found) in mine.items()
        for key, situations in found.situations.items()
        if key[0] == name
        for situation, judged in situations.items()
    ]
    typed = [
        typed_table(relation, table, instance)
        for table in tables
        for instance in range(system.counts[table.process] if table.process else 1)
    ]
    points = [point for process in system.specification.processes.values() for point in process.kill_points]
    return TableReport(
        name=name,
        table=tables[0],
        consulted_by=tuple(table.process for table in tables if table.process is not None),
        inputs=tuple({one: size for each in typed for one, size in each.inputs}.items()),
        rows=tuple(_row(row, typed, reached, points) for row in tables[0].rows),
        gap=_gap(typed, reached),
        overlaps=tuple(_overlaps(tables[0], typed, reached)),
        valueless=tuple(_valueless(tables[0], typed, reached)),
        alike=_common([each.alike for each in typed]),
        reached=len({situation for _, situation, _ in reached}),
        counted=tuple((scenario, found.states) for scenario, (_, found) in mine.items()),
        left_out=tuple(scenario for scenario in consulted if scenario not in mine),
        cut=tuple(scenario for scenario, (_, found) in mine.items() if found.cut),
    )


def contexts(specification: Specification, name: str) -> list[Table]:
    """Return a table as it reads in every process that consults it; those of steps first."""
    found = [table for (table_name, _), table in specification.tables.items() if table_name == name]
    return sorted(found, key=lambda table: table.process is None)


def _shape(table: Table) -> tuple[object, ...]:
    """Return what two tables have in common that say the same: rows are the same where they stand in one place."""
    cells = (expression.span for row in table.rows for expression in (row.when, *row.gives.values()))
    return (table.first_match, *(row.span for row in table.rows), *cells)


Reached = Sequence[tuple[str, Situation, Consulted]]
"""Situations that scenarios come to, with what the table says there."""


def _row(row: Row, typed: Sequence[TypedTable], reached: Reached, points: Sequence[str]) -> RowReport:
    after = {point for _, _, judged in reached if judged.row == row.name for point in judged.kill_points}
    taken = [(scenario, situation, judged) for scenario, situation, judged in reached if judged.row == row.name]
    return RowReport(
        row=row,
        fits=any(row.name in each.fits for each in typed),
        fires=any(row.name in each.fires for each in typed),
        situations=len({situation for _, situation, _ in taken}),
        taken_in=tuple(dict.fromkeys(scenario for scenario, _, _ in taken)),
        # In the order of the file; a scenario's variant may have more of them.
        kill_points=tuple(
            sorted(after, key=lambda point: (points.index(point) if point in points else len(points), point))
        ),
    )


def _gap(typed: Sequence[TypedTable], reached: Reached) -> Witness | None:
    for scenario, situation, judged in reached:
        if not any(judged.fits) and None not in judged.fits:
            return Witness((), situation, scenario)
    found = next((each.gap for each in typed if each.gap is not None), None)
    return None if found is None else Witness((), found)


def _overlaps(table: Table, typed: Sequence[TypedTable], reached: Reached) -> Iterator[Witness]:
    """Yield pairs of rows that fit together, each with one witness, a reachable one where there is one."""
    names = [row.name for row in table.rows]
    found: dict[tuple[str, str], Witness] = {}
    for each in typed:
        for pair, situation in each.overlaps.items():
            found.setdefault(pair, Witness(pair, situation))
    for scenario, situation, judged in reached:
        fitting = [name for name, fits in zip(names, judged.fits, strict=True) if fits]
        for position, one in enumerate(fitting):
            for other in fitting[position + 1 :]:
                known = found.get((one, other))
                # Outside the inputs under these parameters, a scenario may find more.
                if known is None and table.first_match:
                    continue
                if known is None or not known.reached_in:
                    found[one, other] = Witness((one, other), situation, scenario)
    yield from found.values()


def _valueless(table: Table, typed: Sequence[TypedTable], reached: Reached) -> Iterator[Witness]:
    """Yield rows whose condition is asked for where it has no value."""
    found: dict[str, Witness] = {}
    for each in typed:
        for name, situation in each.valueless.items():
            found.setdefault(name, Witness((name,), situation))
    for scenario, situation, judged in reached:
        if judged.row is None and None in judged.fits:
            row = table.rows[judged.fits.index(None)].name
            before = judged.fits[: judged.fits.index(None)]
            if not (table.first_match and any(before)) and not (row in found and found[row].reached_in):
                found[row] = Witness((row,), situation, scenario)
    yield from found.values()


def _common(groups: Sequence[tuple[tuple[str, ...], ...]]) -> tuple[tuple[str, ...], ...]:
    """Return the groups that every reading has."""
    return tuple(group for group in groups[0] if all(group in other for other in groups[1:])) if groups else ()

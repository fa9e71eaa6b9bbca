"""Where a table gives something else: what the solver says, against the evaluator in every typed situation."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from checker.backends.smt.differences import TwoVersions
from checker.backends.smt.relation import Relation
from checker.commands.inputs import load_one, load_text
from checker.difference.shapes import Renaming
from model.evaluate_expressions import Frame
from model.observer import Unobserved
from model.specification import Row, Specification, Table
from model.system import State, TransitionSystem
from model.transitions import EvaluationError

FILE = load_one("killed_workflow").file
READ = ("run", "attempt", "submission[1]", "submission[2]", "failure[1]", "failure[2]")
"""What the rows of `plan` look at."""


def _table(specification: Specification) -> Table:
    return next(table for (name, _), table in specification.tables.items() if name == "plan")


def _situations(system: TransitionSystem) -> Iterator[State]:
    places = [number for number, slot in enumerate(system.slots) if slot.name in READ]
    initial = list(system.initial_states[0])
    for values in product(*(system.slots[place].domain.values() for place in places)):
        state = list(initial)
        for place, value in zip(places, values, strict=True):
            state[place] = value
        yield tuple(state)


def _taken(system: TransitionSystem, table: Table, state: State) -> Row | None:
    frame = Frame(system, Unobserved(), state)
    for row in table.rows:
        if frame.value(row.when):
            return row
    return None


def _given(system: TransitionSystem, row: Row | None, state: State) -> tuple[object, ...]:
    frame = Frame(system, Unobserved(), state)
    return () if row is None else tuple(frame.value(cell) for cell in row.gives.values())


@pytest.mark.parametrize(
    "mutant",
    ["unrecorded-not-reconciled", "doubt-is-plain-dispatch", "retry-in-doubt", "retry-without-gate", "preview-skipped"],
)
def test_the_solver_finds_exactly_the_rows_that_give_something_else(mutant: str) -> None:
    old, new = (
        TransitionSystem(specification, {}, {})
        for specification in (FILE.specification, FILE.mutants[mutant].specification)
    )
    before, after = _table(old.specification), _table(new.specification)
    expected: set[tuple[str, str]] = set()
    for state in _situations(old):
        try:
            was, now = _taken(old, before, state), _taken(new, after, state)
        except EvaluationError:
            continue  # a condition has no value there
        if _given(old, was, state) != _given(new, now, state):
            expected.add((was.name if was else "", now.name if now else ""))

    found = list(TwoVersions(Relation(old), Relation(new), Renaming()).table_changes(before, after))

    assert expected
    assert {(change.before, change.after) for change in found} == expected
    for change in found:
        values = dict(change.situation)
        state = tuple(
            values.get(slot.name, start) for slot, start in zip(old.slots, old.initial_states[0], strict=True)
        )
        assert _given(old, _taken(old, before, state), state) != _given(new, _taken(new, after, state), state)


def test_a_table_that_only_reads_differently_has_not_changed() -> None:
    text = FILE.source.text
    line = 'previewed: {when: "run == previewed", action: admit}'
    assert line in text
    other = load_text(text.replace(line, 'previewed: {when: "not run != previewed", action: admit}'), "other.yaml").file
    old, new = (TransitionSystem(file.specification, {}, {}) for file in (FILE, other))

    found = TwoVersions(Relation(old), Relation(new), Renaming()).table_changes(
        _table(old.specification), _table(new.specification)
    )

    assert list(found) == []

"""What the solver says of random decision tables is what comes of asking the evaluator about every situation."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from hypothesis import assume, event, given, note

from checker.backends.smt.relation import Relation
from checker.backends.smt.tables import typed_table
from checker.engines.consultations import Consulted, _judged, consultations
from checker.exploration import Limits
from model.evaluate_expressions import Frame
from model.observer import Unobserved
from model.specification import Table
from model.system import State, TransitionSystem
from tests.strategies.specifications import specifications
from tests.strategies.trying import loaded, systems, tries

# Situations that are enumerated; tables with more are given up.
SITUATIONS = 3_000


def situations(system: TransitionSystem, names: set[str], own: str) -> Iterator[State]:
    """Yield states with all values of the slots that are named, of the instance's own memory by the short name."""
    choices = [
        tuple(slot.domain.values()) if slot.name in names or slot.name.removeprefix(own) in names else (slot.initial,)
        for slot in system.slots
    ]
    size = 1
    for values in choices:
        size *= len(values)
    assume(size <= SITUATIONS)
    yield from itertools.product(*choices)


def asked(system: TransitionSystem, table: Table, instance: int, state: State) -> Consulted:
    return _judged(table, Frame(system, Unobserved(), state, instance=instance))


def check_table(system: TransitionSystem, table: Table, instance: int) -> None:
    own = f"{system.instance_name(table.process, instance)}." if table.process else ""
    found = typed_table(Relation(system), table, instance)
    all_of_them = [
        asked(system, table, instance, state) for state in situations(system, {name for name, _ in found.inputs}, own)
    ]
    rows = [row.name for row in table.rows]
    assert set(found.fits) == {rows[n] for each in all_of_them for n, fits in enumerate(each.fits) if fits}
    assert set(found.fires) == {each.row for each in all_of_them} - {None}
    assert (found.gap is not None) == any(not any(each.fits) and None not in each.fits for each in all_of_them)
    pairs = {
        (one, other)
        for each in all_of_them
        for one, other in itertools.combinations([r for r, fits in zip(rows, each.fits, strict=True) if fits], 2)
    }
    always = {rows[n] for n in range(len(rows)) if table.first_match and all(each.fits[n] for each in all_of_them)}
    assert {pair for pair in pairs if pair[1] not in always} <= set(found.overlaps) <= pairs
    event(f"gap {found.gap is not None}, overlap {bool(found.overlaps)}, no value {bool(found.valueless)}")
    event(f"alike {bool(found.alike)}, never taken {len(found.fires) < len(rows)}")


@tries(60)
@given(specifications())
def test_a_solver_and_enumeration_say_the_same_of_a_table(text: str) -> None:
    note(f"\n{text}")
    for system in systems(loaded(text))[:1]:
        for table in system.specification.tables.values():
            for instance in range(system.counts[table.process] if table.process else 1):
                check_table(system, table, instance)


@tries(40)
@given(specifications())
def test_what_reachable_states_come_to_is_possible_over_all_inputs(text: str) -> None:
    note(f"\n{text}")
    for system in systems(loaded(text))[:1]:
        found = consultations(system, Limits(states_max=1_000))
        relation = Relation(system)
        for key, table in system.specification.tables.items():
            reached = found.situations[key].values()
            instances = range(system.counts[table.process] if table.process else 1)
            typed = [typed_table(relation, table, instance) for instance in instances]
            assert {each.row for each in reached} - {None} <= {row for each in typed for row in each.fires}
            if any(not any(each.fits) and None not in each.fits for each in reached):
                assert any(each.gap is not None for each in typed)
            event(f"consulted {bool(reached)}, error {any(each.row is None for each in reached)}")

"""Whatever the specification, `check --paranoid` finds nothing: the readings of a random one say the same."""

from __future__ import annotations

from hypothesis import event, given, note

from checker.crosscheck import cross_check
from checker.exploration import Limits
from tests.strategies.specifications import specifications
from tests.strategies.trying import loaded, systems, tries

STATES_MAX = 400
STATES_COMPARED = 12


def check_readings(text: str) -> None:
    note(f"\n{text}")
    chosen = {str(number): system for number, system in enumerate(systems(loaded(text)))}
    done = cross_check(chosen, Limits(states_max=STATES_MAX), STATES_COMPARED)
    event(f"cut {any(each.cut for each in done.values())}, several {len(done) > 1}")


@tries(25)
@given(specifications())
def test_all_readings_of_a_specification_say_the_same(text: str) -> None:
    check_readings(text)


@tries(10)
@given(specifications(wide=True))
def test_all_readings_say_the_same_where_a_state_takes_several_words(text: str) -> None:
    check_readings(text)

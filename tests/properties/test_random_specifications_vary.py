"""The random specifications speak of what the engines are to be compared on; chance alone must not leave it out."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from checker.engines import oracle
from checker.exploration import Limits
from model.codes import Code
from tests.strategies.specifications import _Writer
from tests.strategies.trying import loaded, systems
from tests.strategies.words import Dice

SEEDS = 150
WORDS = ("None", "set of", ".add(", ".remove(", "size(", "set()", " | ", " & ", "init: any", "initially:")


def texts() -> Iterator[str]:
    """Yield some random specifications, always the same."""
    for seed in range(SEEDS):
        yield _Writer(Dice(Random(seed)), wide=False).text()


@pytest.mark.parametrize("word", WORDS)
def test_a_word_is_in_some_of_them(word: str) -> None:
    assert sum(word in text for text in texts()) >= 3


def test_a_value_is_asked_of_none_in_some_of_them() -> None:
    found = (
        oracle.explore(system, Limits(states_max=300)).failure
        for text in texts()
        if "None" in text
        for system in systems(loaded(text))
    )

    assert any(failure.error and failure.error.code is Code.NONE_HAS_NO_VALUE for failure in found if failure)


def test_runs_of_some_of_them_start_in_several_states() -> None:
    found = (system for text in texts() if "init: any" in text for system in systems(loaded(text)))

    assert any(len(system.initial_states) > 1 for system in found)

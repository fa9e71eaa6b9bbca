"""The generated transition relation over keys: what everybody needs who goes over columns of packed states.

A key is one word that stands for one state: the packed word itself, or where a state takes several its number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from checker.backends.columns.program import Program, Tally, Words
from checker.engines import frontier
from checker.engines.widestates import WideCodec
from checker.exploration import Limits

PART = 1 << 16
"""States that are looked at together, after or beside a search."""


@dataclass(frozen=True, slots=True)
class Searched:
    """The layers of a search, the transitions out of all their states, and why it was cut short, if it was."""

    layers: list[Words]
    transitions: int
    cut: str

    @property
    def states(self) -> int:
        """How many states were found."""
        return sum(map(len, self.layers))

    @property
    def keys(self) -> Words:
        """All states in the order of the search."""
        return np.concatenate([np.zeros(0, np.uint64), *self.layers])


class ColumnSearch:
    """Keys of states, and where transitions lead from them. Nothing is tallied; several threads may ask."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.expander = program.expander()
        self._codec = WideCodec(program.packing.words) if program.wide else None
        self._paths = (max(1, len(program.entries)), len(program.systems))
        self._events = (max(1, len(program.event_keys)), len(program.systems))

    # -- keys -----------------------------------------------------------------------------------------------------

    def keys_of(self, columns: Sequence[Words]) -> Words:
        """Return the keys of states, given word by word."""
        return columns[0] if self._codec is None else self._codec.encode(columns)

    def words_of(self, keys: Words) -> tuple[Words, ...]:
        """Return the words of states."""
        return (keys,) if self._codec is None else tuple(self._codec.decode(keys))

    def system_numbers(self, keys: Words) -> NDArray[np.int64]:
        """Return the number of the system that each state is one of."""
        return self.program.system_numbers(keys) if self._codec is None else np.zeros(len(keys), np.int64)

    def initial_keys(self) -> Words:
        """Return the initial states of all systems."""
        packed = (
            self.program.encode(number, state)
            for number, system in enumerate(self.program.systems)
            for state in system.initial_states
        )
        return self.keys_of([np.array(column, np.uint64) for column in zip(*packed, strict=True)])

    # -- transitions ----------------------------------------------------------------------------------------------

    def tally(self) -> Tally:
        """Return a tally with nothing in it."""
        return Tally(np.zeros(self._paths, np.int64), np.zeros(self._events, np.int64))

    def transitions(self, keys: Words) -> Iterator[tuple[int, NDArray[np.int64], Words]]:
        """Yield, path by path, the rows of the states from which it is taken, and where it leads them."""
        for path, rows, columns in self._successors(keys, np.arange(len(keys))):
            assert rows is not None
            yield path, rows, self.keys_of(columns)

    def have_successors(self, keys: Words) -> NDArray[np.bool_]:
        """Tell from which states a transition leads."""
        alive = np.zeros(len(keys), np.bool_)
        for _, rows, _ in self._successors(keys, np.arange(len(keys))):
            alive[rows] = True
        return alive

    def successors(self, states: Words) -> list[Words]:
        """Return where all transitions from some states lead."""
        return [self.keys_of(columns) for _, _, columns in self._successors(states, None)]

    def _successors(
        self, keys: Words, rows: NDArray[np.int64] | None
    ) -> list[tuple[int, NDArray[np.int64] | None, tuple[Words, ...]]]:
        unheard = self.tally()
        unheard.searching = [False] * len(self.program.claims)
        return self.expander(*self.words_of(keys), rows, unheard)

    def search(self, limits: Limits) -> Searched:
        """Find all states with one thread: wide states then get the same keys each time."""
        layers: list[Words] = []

        def reason() -> str:
            return limits.reason_to_stop(sum(map(len, layers)))

        outcome = frontier.explore(
            self.initial_keys(),
            self.successors,
            on_layer=lambda layer: layers.append(layer.states),
            limits=frontier.Limits(stop=lambda: bool(reason())),
        )
        return Searched(layers, outcome.transitions, reason() or ("" if outcome.complete else "cut short"))


def in_parts(keys: Words) -> Iterator[Words]:
    """Cut states into parts that are looked at together."""
    for start in range(0, len(keys), PART):
        yield keys[start : start + PART]

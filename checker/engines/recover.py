"""Which states of a large graph can still reach a goal.

The graph is two arrays, one entry an edge. Edges are grouped by target (compressed sparse rows of the reverse graph)
with one sort, then a breadth-first search goes backward from the goal, a whole frontier at a time. For `recoverable`
the edges are the fair transitions alone; that choice is the caller's.

Memory beyond the arrays given: 8 bytes an edge, 14 while they are grouped (of 32-bit indices), and some 20 bytes a
state. Edges that cannot matter, those from a goal, are dropped first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.integer[Any]]
Mask = NDArray[np.bool_]
Keys = NDArray[np.uint64]


class Layers(Protocol):
    """The layers of a search by depth, each sorted."""

    def __len__(self) -> int:
        """Return the number of layers."""

    def __getitem__(self, depth: int) -> Keys:
        """Return the states first reached at a depth."""


_SOURCE_BITS = np.uint64(32)
_SOURCE = np.uint64(0xFFFF_FFFF)
_STATES_MAX = 1 << 32
_CHUNK = 1 << 16
"""States expanded at a time."""

_SWEPT = 1 << 20
"""Graphs of more states are swept first."""

_SLICE = 1 << 22
"""Edges looked at together: bounds the temporary arrays of one very large frontier to some tens of megabytes."""


def can_reach(sources: Indices, targets: Indices, goal: Mask) -> Mask:
    """Return for each state whether some path, of no edge or more, leads to a state of the goal.

    `sources` and `targets` have one entry an edge, numbers of states below `len(goal)`; edges may repeat.

    Raises:
        ValueError: the arrays do not have the same length, or there are more states than 32 bits can number.
    """
    if len(sources) != len(targets):
        raise ValueError(f"{len(sources)} sources and {len(targets)} targets do not make edges")
    if len(goal) > _STATES_MAX:
        raise ValueError(f"{len(goal):,} states are more than can be numbered with 32 bits")
    reached = goal.copy()
    begins, predecessors = _grouped_by_target(sources, targets, reached)
    frontier = np.flatnonzero(reached)
    while len(frontier):
        frontier = _step_back(frontier, begins, predecessors, reached)
    return reached


Successors = Callable[[Keys], Iterable[tuple[NDArray[np.int64], Keys]]]
"""For some states: the rows of those that take a transition, and where it leads, in any number of pieces."""


def lost_states(layers: Layers, ordered: Keys, goal: Mask, successors: Successors) -> Keys:
    """Return, sorted, the states from which no path leads to a goal.

    `layers` are the layers of a breadth-first search, `ordered` all their states sorted, `goal` a truth value for each
    of `ordered`. Most states have a way that goes on to deeper layers: one sweep from the last layer to the first finds
    those without keeping an edge. Only what is left then becomes a graph.

    Memory: 1 byte a state, and for the states left by the sweep that of `can_reach`.
    """
    reached = goal.copy()
    # A sweep has a price for each layer; a graph that is small anyway is built at once.
    for depth in range(len(layers) - 1, -1, -1) if len(ordered) > _SWEPT else ():
        layer = layers[depth]
        places = np.searchsorted(ordered, layer)
        open_places = places[~reached[places]]
        for start in range(0, len(open_places), _CHUNK):
            chunk = open_places[start : start + _CHUNK]
            for rows, keys in successors(ordered[chunk]):
                waiting = ~reached[chunk[rows]]
                arrived = reached[np.searchsorted(ordered, keys[waiting])]
                reached[chunk[rows[waiting][arrived]]] = True
    return _lost_among(ordered[~reached], ordered, reached, successors)


def _lost_among(left: Keys, ordered: Keys, reached: Mask, successors: Successors) -> Keys:
    """Decide the states that a sweep has left, by the graph of the transitions between them."""
    direct = np.zeros(len(left), np.bool_)
    sources, targets = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
    for start in range(0, len(left), _CHUNK):
        for rows, keys in successors(left[start : start + _CHUNK]):
            there = reached[np.searchsorted(ordered, keys)]
            direct[start + rows[there]] = True
            sources.append((start + rows[~there]).astype(np.int32))
            targets.append(np.searchsorted(left, keys[~there]).astype(np.int32))
    return left[~can_reach(np.concatenate(sources), np.concatenate(targets), direct)]


def _grouped_by_target(
    sources: Indices, targets: Indices, reached: Mask
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where the predecessors of each state begin, with one more entry for the end, and all predecessors.

    Target and source are packed into one word, so that a single sort of plain numbers groups the edges; that is
    several times faster than sorting an index, and needs none.
    """
    useful = ~reached[sources]  # a mask, not indices: `compress` would make 8 bytes an edge of it
    packed = targets[useful].astype(np.uint64)
    begins = np.zeros(len(reached) + 1, np.int64)
    np.cumsum(np.bincount(packed.view(np.int64), minlength=len(reached)), out=begins[1:])
    packed <<= _SOURCE_BITS
    # Converted piece by piece inside the operation, which an `astype` would do all at once.
    np.bitwise_or(packed, sources[useful], out=packed, dtype=np.uint64, casting="unsafe")
    packed.sort()
    packed &= _SOURCE
    return begins, packed.view(np.int64)


def _step_back(
    frontier: NDArray[np.int64], begins: NDArray[np.int64], predecessors: NDArray[np.int64], reached: Mask
) -> NDArray[np.int64]:
    """Mark the predecessors of the frontier; return those that were not marked before, each once."""
    lengths = begins[frontier + 1] - begins[frontier]
    ends = np.cumsum(lengths)
    fresh: list[NDArray[np.int64]] = []
    first = 0
    while first < len(frontier):
        done = int(ends[first] - lengths[first])
        last = max(first + 1, int(np.searchsorted(ends, done + _SLICE, side="right")))
        part, size = frontier[first:last], lengths[first:last]
        # Where edge k of the slice stands: k counted from the beginning of its own row.
        shift = begins[part] - (ends[first:last] - size - done)
        found = predecessors.take(np.arange(int(ends[last - 1]) - done) + np.repeat(shift, size))
        found = _distinct(found.compress(~reached.take(found)))
        reached[found] = True
        fresh.append(found)
        first = last
    return fresh[0] if len(fresh) == 1 else np.concatenate(fresh)


def _distinct(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return each number once, in order; by sorting, which for millions is faster than NumPy's `unique` by hashing."""
    numbers.sort()
    first = np.ones(len(numbers), np.bool_)
    np.not_equal(numbers[1:], numbers[:-1], out=first[1:])
    return numbers.compress(first)

"""Sets of states as hash-consed decision diagrams over slots with finitely many values.

A multi-valued decision diagram (Srinivasan, Ham, Malik and Brayton, 1990): every node asks for the value of one slot
and has a child for each; slots are asked in one order on every path; equal nodes are one node, and a node all of whose
children are the same is left out. For a given order the diagram of a set is unique.

Built from a sorted array of states from the last slot to the first: at each level, states that agree in all earlier
slots become one node. Nothing of that is a loop over states.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Positions = NDArray[np.int32]
"""States, one a row: for each slot the position of its value in the slot's domain."""

FALSE, TRUE = 0, 1
"""The two leaves, by number."""


@dataclass(frozen=True, slots=True)
class Node:
    """Asks for the value of a slot; `children` has the number of a node or leaf for each position."""

    slot: int
    children: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Diagram:
    """A set of states. Node `n` has number `n + 2`; children have lower numbers than their parents."""

    nodes: tuple[Node, ...]
    root: int
    order: tuple[int, ...]
    """The slots in the order in which they are asked for, all of them."""

    def __len__(self) -> int:
        return len(self.nodes)

    def __contains__(self, state: Sequence[int]) -> bool:
        number = self.root
        while number > TRUE:
            node = self.nodes[number - 2]
            number = node.children[state[node.slot]]
        return number == TRUE

    def count(self, sizes: Sequence[int]) -> int:
        """Return how many states are in the set, given how many values each slot has."""
        level = {slot: place for place, slot in enumerate(self.order)}
        below = [1] * (len(self.order) + 1)
        """How many states there are of the slots from a level on."""
        for place in range(len(self.order) - 1, -1, -1):
            below[place] = below[place + 1] * sizes[self.order[place]]
        counts: list[int] = [0, 1]
        levels = [len(self.order), len(self.order)]
        for node in self.nodes:
            here = level[node.slot]
            counts.append(sum(counts[c] * (below[here + 1] // below[levels[c]]) for c in node.children))
            levels.append(here)
        return counts[self.root] * (below[0] // below[levels[self.root]])


def diagram_of(states: Positions, sizes: Sequence[int], order: Sequence[int]) -> Diagram:
    """Return the diagram of a set of states (rows may repeat) whose slots have `sizes` values, asked for in `order`.

    Memory: some twelve bytes a state and level while it is built.
    """
    builder = _Builder()
    if not len(states):
        return Diagram((), FALSE, tuple(order))
    if not len(order):
        return Diagram((), TRUE, ())
    ordered = states[:, list(order)]
    ordered = ordered[np.lexsort(ordered.T[::-1])]
    numbers = np.full(len(ordered), TRUE, np.int64)
    for place in range(len(order) - 1, -1, -1):
        # Rows that agree up to this slot have become one row already, apart from the first time.
        starts = _first_of_each(ordered[:, : place + 1])
        ordered, numbers = ordered[starts], numbers[starts]
        parents = np.flatnonzero(_first_of_each(ordered[:, :place]))
        size = sizes[order[place]]
        children = np.zeros((len(parents), size), np.int64)
        children[np.repeat(np.arange(len(parents)), np.diff([*parents, len(ordered)])), ordered[:, place]] = numbers
        numbers_of_parents = builder.numbers(order[place], children)
        ordered, numbers = ordered[parents], numbers_of_parents
    return Diagram(tuple(builder.nodes), int(numbers[0]), tuple(order))


class _Builder:
    def __init__(self) -> None:
        self.nodes: list[Node] = []

    def numbers(self, slot: int, children: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return for each row of children the number of its node; equal rows get one node, constant ones none."""
        distinct, which = np.unique(children, axis=0, return_inverse=True)
        numbers = np.empty(len(distinct), np.int64)
        for place, row in enumerate(distinct.tolist()):
            if len(set(row)) == 1:
                numbers[place] = row[0]
                continue
            self.nodes.append(Node(slot, tuple(row)))
            numbers[place] = len(self.nodes) + 1
        return numbers[which.reshape(-1)]


def _first_of_each(rows: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return which rows of a sorted array differ from the one before; the first one does."""
    first = np.ones(len(rows), np.bool_)
    if len(rows) > 1:
        first[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return first

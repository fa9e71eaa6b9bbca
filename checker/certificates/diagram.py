"""Sets and rankings of states as hash-consed decision diagrams over slots with finitely many values.

A multi-valued decision diagram (Srinivasan, Ham, Malik and Brayton, 1990): every node asks for the value of one slot
and has a child for each; slots are asked in one order on every path; equal nodes are one node, and a node all of whose
children are the same is left out. For a given order the diagram of a set is unique.

Built from a sorted array of states from the last slot to the first: at each level, states that agree in all earlier
slots become one node. Nothing of that is a loop over states.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Positions = NDArray[np.integer]
"""States, one a row: for each slot the position of its value in the slot's domain."""

FALSE, TRUE = 0, 1
"""The two leaves, by number."""

_WORD_BITS = 63
"""Bits of a word that are used: words are compared and shifted as signed numbers."""


@dataclass(frozen=True, slots=True)
class Node:
    """Asks for the value of a slot; `children` has the number of a node or leaf for each position."""

    slot: int
    children: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Diagram:
    """A set of states: those that come to the leaf `TRUE`. With more leaves, a number for each state.

    Leaves have the numbers from 0 on, then come the nodes; children have lower numbers than their parents.
    """

    nodes: tuple[Node, ...]
    root: int
    order: tuple[int, ...]
    """The slots in the order in which they are asked for, all of them."""
    leaves: int = 2

    def __len__(self) -> int:
        return len(self.nodes)

    def __contains__(self, state: Sequence[int]) -> bool:
        return self.leaf(state) == TRUE

    def leaf(self, state: Sequence[int]) -> int:
        """Return the leaf that a state comes to."""
        number = self.root
        while number >= self.leaves:
            node = self.nodes[number - self.leaves]
            number = node.children[state[node.slot]]
        return number

    def numbered(self) -> Iterator[tuple[int, Node]]:
        """Yield the nodes with their numbers, children first."""
        return enumerate(self.nodes, start=self.leaves)

    def used_leaves(self) -> list[int]:
        """Return the leaves that occur, and so all that a state can come to."""
        numbers = {self.root, *(child for node in self.nodes for child in node.children)}
        return sorted(number for number in numbers if number < self.leaves)

    def count(self, sizes: Sequence[int]) -> int:
        """Return how many states are in the set, given how many values each slot has."""
        assert self.leaves == 2, "a ranking is no set"
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

    def check(self, sizes: Sequence[int]) -> None:
        """Check that this is a diagram over slots with so many values.

        Raises:
            ValueError: with what is wrong.
        """
        if sorted(self.order) != list(range(len(sizes))):
            raise ValueError("the order does not have every slot once")
        level = {slot: place for place, slot in enumerate(self.order)}
        if self.leaves < 2:
            raise ValueError("a diagram has two leaves or more")
        for number, node in self.numbered():
            if node.slot not in level or len(node.children) != sizes[node.slot]:
                raise ValueError(f"node {number} does not have a child for each value of its slot")
            for child in node.children:
                if not 0 <= child < number:
                    raise ValueError(f"node {number} has a child that does not come before it")
                below = self.nodes[child - self.leaves].slot if child >= self.leaves else None
                if below is not None and level[below] <= level[node.slot]:
                    raise ValueError(f"node {number} and its child {child} are out of order")
        if not 0 <= self.root < len(self.nodes) + self.leaves:
            raise ValueError("the root does not exist")


def diagram_of(states: Positions, sizes: Sequence[int], order: Sequence[int]) -> Diagram:
    """Return the diagram of a set of states (rows may repeat) whose slots have `sizes` values, asked for in `order`.

    Memory: some forty bytes a state beside the states.
    """
    if not len(states):
        return Diagram((), FALSE, tuple(order))
    rows = _PackedRows(states, sizes, order)
    return _built(rows, np.full(len(rows), TRUE, np.int64), sizes, order, leaves=2, rest=FALSE)


def ranking_of(states: Positions, ranks: NDArray[np.int64], sizes: Sequence[int], order: Sequence[int]) -> Diagram:
    """Return a diagram that takes each state, all of them different, to its rank, a number from 0 on.

    Where other states come to is left open: wherever it makes the diagram small.
    """
    if not len(states):
        return Diagram((), 0, tuple(order))
    rows = _PackedRows(states, sizes, order)
    assert len(rows) == len(states), "a state has one rank"
    leaves = max(2, int(ranks.max()) + 1)
    return _built(rows, ranks[rows.chosen].astype(np.int64), sizes, order, leaves=leaves, rest=None)


def _built(
    rows: _PackedRows,
    numbers: NDArray[np.int64],
    sizes: Sequence[int],
    order: Sequence[int],
    *,
    leaves: int,
    rest: int | None,
) -> Diagram:
    """Build a diagram from the last slot to the first. `rest` is the leaf of all other states, None for any."""
    nodes: list[Node] = []
    for place in range(len(order) - 1, -1, -1):
        digits = rows.digits(place)
        starts = np.flatnonzero(rows.first_of_each(place))
        children = np.full((len(starts), sizes[order[place]]), -1 if rest is None else rest, np.int64)
        children[np.repeat(np.arange(len(starts)), np.diff([*starts, len(rows)])), digits] = numbers
        if rest is None:
            # Like the last one before it that is known, or else like the first.
            known = np.where(children >= 0, np.arange(children.shape[1]), -1)
            source = np.maximum.accumulate(known, axis=1)
            source = np.where(source >= 0, source, (children >= 0).argmax(axis=1)[:, None])
            children = np.take_along_axis(children, source, axis=1)
        rows.keep(starts)
        numbers = _numbers(nodes, order[place], children, leaves)
    return Diagram(tuple(nodes), int(numbers[0]), tuple(order), leaves)


class _PackedRows:
    """States as sorted rows of words, the slot that is asked first the most significant, each row once."""

    def __init__(self, states: Positions, sizes: Sequence[int], order: Sequence[int]) -> None:
        self.words: list[NDArray[np.int64]] = [np.zeros(len(states), np.int64)]
        self.chosen: NDArray[np.intp]
        """Which of the states each row is, before any slot is taken off."""
        self.places: list[tuple[int, int]] = []
        """For each place in the order the word, and how many bits of it the slot takes."""
        used = 0
        for slot in order:
            bits = max(1, (sizes[slot] - 1).bit_length())
            if used + bits > _WORD_BITS:
                self.words.append(np.zeros(len(states), np.int64))
                used = 0
            self.words[-1] <<= bits
            self.words[-1] |= states[:, slot].astype(np.int64)
            self.places.append((len(self.words) - 1, bits))
            used += bits
        order_of_rows = np.argsort(self.words[0]) if len(self.words) == 1 else np.lexsort(self.words[::-1])
        self.keep(order_of_rows)
        distinct = np.flatnonzero(self._differ())
        self.keep(distinct)
        self.chosen = order_of_rows[distinct]

    def __len__(self) -> int:
        return len(self.words[0])

    def keep(self, rows: NDArray[np.intp]) -> None:
        self.words = [word[rows] for word in self.words]

    def digits(self, place: int) -> NDArray[np.int64]:
        """Take off the last slot, which stands at this place, and return the position of its value in each row."""
        word, bits = self.places[place]
        digits = self.words[word] & ((1 << bits) - 1)
        self.words[word] >>= bits
        return digits

    def first_of_each(self, place: int) -> NDArray[np.bool_]:
        """Return which rows differ from the one before in the slots before this place; the first one does."""
        if place == 0 or self.places[place - 1][0] < len(self.words) - 1:
            # Nothing of the last word is left.
            self.words = self.words[:-1] if place else self.words
        return self._differ()

    def _differ(self) -> NDArray[np.bool_]:
        first = np.ones(len(self), np.bool_)
        first[1:] = False
        for word in self.words:
            first[1:] |= word[1:] != word[:-1]
        return first


def _numbers(nodes: list[Node], slot: int, children: NDArray[np.int64], leaves: int) -> NDArray[np.int64]:
    """Return for each row of children the number of its node; equal rows get one node, constant ones none."""
    distinct, which = _distinct_rows(children, len(nodes) + leaves)
    numbers = np.empty(len(distinct), np.int64)
    for place, row in enumerate(distinct.tolist()):
        if row.count(row[0]) == len(row):
            numbers[place] = row[0]
            continue
        nodes.append(Node(slot, tuple(row)))
        numbers[place] = len(nodes) - 1 + leaves
    return numbers[which]


def _distinct_rows(rows: NDArray[np.int64], bound: int) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """Return the distinct rows of numbers below `bound`, sorted, and for each row which of them it is."""
    keys = np.zeros(len(rows), np.int64)
    span = 1
    for column in rows.T:
        if span * bound >= 1 << _WORD_BITS:
            keys = np.unique(keys, return_inverse=True)[1].reshape(-1).astype(np.int64)
            span = int(keys.max()) + 1
        keys = keys * bound + column
        span *= bound
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    return rows[first], which.reshape(-1)

"""An order of the slots in which the diagram of a set of states is small.

Finding the best order is NP-hard; here a few good guesses are tried and the best one is improved by sifting (Rudell
1993): one slot after the other is moved through all places by swaps of neighbours, which change only the nodes of these
two, and stays where the diagram was smallest. The order decides how large a certificate is, never whether it is right.

What is tried is bounded by a count of nodes that are touched, not by time: the same states give the same diagram on
every machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from checker.certificates.diagram import TRUE, Diagram, Node, Positions, diagram_of

SAMPLE = 20_000
"""States that a guess looks at."""

WORK = 3_000_000
"""Children of nodes that sifting may touch; a few seconds."""

_GROWTH = 1.3
"""A slot is not moved on once the diagram has become larger than the best one by this factor."""


def small_diagram(states: Positions, sizes: Sequence[int], work: int = WORK) -> Diagram:
    """Return the smallest diagram found; sifting ends after about so much work."""
    guesses = [diagram_of(states, sizes, order) for order in _guesses(states, sizes)]
    best = min(guesses, key=len)
    sifting = _Sifting(best, sizes, work)
    sifting.run()
    return sifting.diagram()


def _guesses(states: Positions, sizes: Sequence[int]) -> Iterator[list[int]]:
    """Yield orders worth a try: as the slots stand, backwards, and slots together that go together."""
    file_order = list(range(len(sizes)))
    yield file_order
    yield file_order[::-1]
    narrow = _narrow(states[:: max(1, len(states) // SAMPLE)], sizes)
    yield narrow
    yield narrow[::-1]


def _narrow(states: Positions, sizes: Sequence[int]) -> list[int]:
    """Take slot after slot, each time the one that tells apart the fewest states beyond those before."""
    groups = np.zeros(len(states), np.int64)
    left = list(range(len(sizes)))
    order: list[int] = []
    while left:
        refined = [_groups(groups * sizes[slot] + states[:, slot]) for slot in left]
        chosen = min(range(len(left)), key=lambda place: int(refined[place].max(initial=0)))
        order.append(left.pop(chosen))
        groups = refined[chosen]
    return order


def _groups(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.unique(keys, return_inverse=True)[1].reshape(-1)


class _Sifting:
    """A diagram whose slots can change places. A number stands for the same set of states throughout."""

    def __init__(self, diagram: Diagram, sizes: Sequence[int], work: int) -> None:
        self.sizes = sizes
        self.order = list(diagram.order)
        self.root = diagram.root
        self.work = work
        self.nodes: dict[int, tuple[int, tuple[int, ...]]] = {}
        self.known: list[dict[tuple[int, ...], int]] = [{} for _ in sizes]
        """By slot and children the number of the node."""
        self.uses: dict[int, int] = {0: 0, 1: 0}
        self.next = len(diagram.nodes) + 2
        for number, node in diagram.numbered():
            self._add(number, node.slot, node.children)
        self.uses[self.root] += 1

    def run(self) -> None:
        """Sift, until nothing gets better or the work is done."""
        improved = True
        while improved and self.work > 0:
            before = len(self.nodes)
            # The slots with the most nodes first: there is the most to be gained.
            for slot in sorted(self.order, key=lambda slot: (-len(self.known[slot]), slot)):
                if self.work <= 0:
                    break
                self._sift(slot)
            improved = len(self.nodes) < before

    def diagram(self) -> Diagram:
        """Return what has become of the diagram, its nodes numbered anew from the last slot to the first."""
        numbers = {0: 0, 1: 1}
        nodes: list[Node] = []
        for slot in reversed(self.order):
            rows = sorted((tuple(numbers[c] for c in row), number) for row, number in self.known[slot].items())
            for row, number in rows:
                nodes.append(Node(slot, row))
                numbers[number] = len(nodes) + 1
        return Diagram(tuple(nodes), numbers[self.root], tuple(self.order))

    def _sift(self, slot: int) -> None:
        start = self.order.index(slot)
        best, place = len(self.nodes), start
        last = len(self.order) - 1
        ends = (last, 0) if last - start < start else (0, last)
        for end in ends:
            while (here := self.order.index(slot)) != end and self.work > 0:
                self._swap(min(here, here + (1 if end > here else -1)))
                size = len(self.nodes)
                if size < best:
                    best, place = size, self.order.index(slot)
                elif size > best * _GROWTH + 10:
                    break
        while (here := self.order.index(slot)) != place:
            self._swap(here if here < place else here - 1)

    def _swap(self, place: int) -> None:
        """Let the slots at a place and the next one change places."""
        upper, lower = self.order[place], self.order[place + 1]
        self.order[place], self.order[place + 1] = lower, upper
        nodes = self.nodes
        for row, number in list(self.known[upper].items()):
            self.work -= len(row)
            if not any(child > TRUE and nodes[child][0] == lower for child in row):
                continue
            del self.known[upper][row]
            below = [nodes[c][1] if c > TRUE and nodes[c][0] == lower else (c,) * self.sizes[lower] for c in row]
            self.work -= len(row) * self.sizes[lower]
            children = tuple(self._node(upper, column) for column in zip(*below, strict=True))
            for child in children:
                self.uses[child] += 1
            nodes[number] = (lower, children)
            self.known[lower][children] = number
            for child in row:
                self._drop(child)

    def _node(self, slot: int, children: tuple[int, ...]) -> int:
        if children.count(children[0]) == len(children):
            return children[0]
        number = self.known[slot].get(children)
        if number is None:
            number = self.next
            self.next += 1
            self._add(number, slot, children)
        return number

    def _add(self, number: int, slot: int, children: tuple[int, ...]) -> None:
        self.nodes[number] = (slot, children)
        self.known[slot][children] = number
        self.uses[number] = 0
        for child in children:
            self.uses[child] += 1

    def _drop(self, number: int) -> None:
        """Take away one use of a node, and the node where that was the last one."""
        todo = [number]
        while todo:
            number = todo.pop()
            self.uses[number] -= 1
            if number > TRUE and not self.uses[number]:
                slot, children = self.nodes.pop(number)
                del self.known[slot][children]
                del self.uses[number]
                todo += children

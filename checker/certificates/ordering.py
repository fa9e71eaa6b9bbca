"""An order of the slots in which the diagram of a set of states is small.

Finding the best order is NP-hard; here a few good guesses are tried and the best one is improved by moving one slot at
a time (sifting, Rudell 1993), as long as there is time. The order decides how large a certificate is, never whether it
is right.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from checker.certificates.diagram import Diagram, Positions, diagram_of

SAMPLE = 20_000
"""States that a guess looks at."""


def small_diagram(states: Positions, sizes: Sequence[int], seconds: float) -> Diagram:
    """Return the smallest diagram found; the search for a better order ends after about so many seconds."""
    deadline = time.monotonic() + seconds
    best: Diagram | None = None
    for order in _guesses(states, sizes):
        if best is not None and time.monotonic() > deadline:
            break
        found = diagram_of(states, sizes, order)
        best = found if best is None or len(found) < len(best) else best
    assert best is not None, "there is always a first guess"
    return _sifted(best, states, sizes, deadline)


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


def _sifted(best: Diagram, states: Positions, sizes: Sequence[int], deadline: float) -> Diagram:
    """Move one slot after the other to the place where it does best, until nothing helps or time is up."""
    improved = True
    while improved:
        improved = False
        for slot in range(len(sizes)):
            for place in range(len(sizes)):
                if time.monotonic() > deadline:
                    return best
                order = [each for each in best.order if each != slot]
                order.insert(place, slot)
                found = diagram_of(states, sizes, order)
                if len(found) < len(best):
                    best, improved = found, True
    return best

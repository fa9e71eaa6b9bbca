"""Strongly connected components over arrays, and which of them a weakly fair run can stay in for ever.

`checker.engines.plainlassos` says what is asked, and why judging maximal components is exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.integer[Any]]
Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_]
Bits = NDArray[np.uint64]

WORD = 64
_TRIMS_MAX = 30
"""So many times the states without a way in or out are set aside; a long chain of them is left to the search."""


def components(sources: Indices, targets: Indices, count: int) -> Numbers:
    """Return for each of `count` states the number of its strongly connected component, from 0 without gaps.

    States that no cycle passes are set aside first, all at once; what is left goes to Tarjan's algorithm over
    compressed sparse rows, which takes about a second for a million edges and some 50 bytes a state, 8 an edge.
    """
    alive = _trimmed(sources, targets, count)
    numbers = np.full(count, -1, np.int64)
    inner = alive[sources] & alive[targets]
    places = np.cumsum(alive) - 1
    kept = int(alive.sum())
    begins, following = _grouped(places[sources[inner]], places[targets[inner]], kept)
    numbers[alive] = _tarjan(begins, following)
    alone = np.flatnonzero(~alive)
    numbers[alone] = np.arange(len(alone)) + (int(numbers.max(initial=-1)) + 1)
    return numbers


def _trimmed(sources: Indices, targets: Indices, count: int) -> Mask:
    """Return the states that are left when those without a way in or a way out are set aside, again and again."""
    alive = np.ones(count, np.bool_)
    for _ in range(_TRIMS_MAX):
        inner = alive[sources] & alive[targets]
        sources, targets = sources[inner], targets[inner]
        left = np.zeros(count, np.bool_)
        entered = np.zeros(count, np.bool_)
        left[sources] = True
        entered[targets] = True
        staying = alive & left & entered
        if (staying == alive).all():
            break
        alive = staying
    return alive


def _grouped(sources: Numbers, targets: Numbers, count: int) -> tuple[Numbers, Numbers]:
    """Return where the edges of each state begin, with one more entry for the end, and the targets in that order."""
    begins = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(sources, minlength=count), out=begins[1:])
    return begins, targets[np.argsort(sources, kind="stable")]


def _tarjan(begins: Numbers, following: Numbers) -> Numbers:
    """Find the strongly connected components (R. Tarjan 1972), without recursion.

    Views of memory instead of lists: they hold plain numbers, and a graph of millions of edges stays as small as it is.
    """
    count = len(begins) - 1
    numbers = np.full(count, -1, np.int64)
    component = numbers.data
    low, entered = np.zeros(count, np.int64).data, np.zeros(count, np.int64).data
    cursor, last, edges = begins[:-1].copy().data, begins[1:].data, following.data
    met = found = 0
    open_: list[int] = []
    for root in range(count):
        if low[root]:
            continue
        work = [root]
        met += 1
        low[root] = entered[root] = met
        open_.append(root)
        while work:
            state = work[-1]
            if cursor[state] < last[state]:
                target = edges[cursor[state]]
                cursor[state] += 1
                if not low[target]:
                    met += 1
                    low[target] = entered[target] = met
                    open_.append(target)
                    work.append(target)
                elif component[target] < 0:
                    low[state] = min(low[state], low[target])
                continue
            work.pop()
            if work:
                low[work[-1]] = min(low[work[-1]], low[state])
            if low[state] == entered[state]:
                while True:
                    member = open_.pop()
                    component[member] = found
                    if member == state:
                        break
                found += 1
    return numbers


def fair_components(component: Numbers, enabled: Bits, sources: Indices, targets: Indices, pairs: Indices) -> Mask:
    """Return for each component whether a run that is fair to every pair can stay in it for ever.

    `enabled` has for each state the pairs that can be taken there as bits, in words of 64; `pairs` for each edge the
    one that it takes, or -1. A pair is done justice to where it is not enabled in some state of the component, or taken
    on an edge inside it.
    """
    count = int(component.max(initial=-1)) + 1
    order = np.argsort(component, kind="stable")
    begins = np.searchsorted(component[order], np.arange(count))
    always = np.bitwise_and.reduceat(enabled[order], begins, axis=0) if count else enabled[:0]
    inner = (component[sources] == component[targets]) & (pairs >= 0)
    where, which = component[sources[inner]], pairs[inner]
    for pair in np.unique(which).tolist():
        always[where[which == pair], pair // WORD] &= ~np.uint64(1 << pair % WORD)
    return np.asarray(~always.any(axis=1))

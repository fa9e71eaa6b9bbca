"""Which `leads_to` properties break, over arrays of packed states: the region, its graph, the shortest way, a cycle.

`checker.engines.plainlassos` says what is asked and how it is decided; this finds the same in the layers of a search.
Several systems can be looked at together, for no transition leads from one to another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from checker.backends.columns.paths import GuardedPath
from checker.engines.fairness import WORD, components, fair_components
from checker.engines.recover import Keys, Layers, Mask
from checker.engines.visited import VisitedSet
from checker.lassos import fair_cycle

_CHUNK = 1 << 16
"""States looked at together."""

Successors = Callable[[Keys], Iterable[tuple[int, NDArray[np.int64], Keys]]]
"""For some states: by path, the rows of those that take it, and where it leads."""

Walk = list[tuple[int, int]]
"""States, each with the path that led to it."""


@dataclass(frozen=True, slots=True)
class PathKinds:
    """What the search has to know of paths by their numbers.

    `pairs` has the number of the instance and fair step that a path takes, -1 for an unfair one; `steady` says that no
    fault happens on it.
    """

    pairs: Sequence[int]
    steady: Sequence[bool]

    @classmethod
    def of(cls, paths: Sequence[GuardedPath]) -> PathKinds:
        """Read this off guarded paths; fair paths of one action, a step or restart of an instance, are one pair."""
        numbers = {action: number for number, action in enumerate(dict.fromkeys(p.action for p in paths if p.fair))}
        return cls([numbers[path.action] if path.fair else -1 for path in paths], [not path.faults for path in paths])

    @property
    def words(self) -> int:
        """How many words the pairs take as bits."""
        return max(0, *self.pairs, 0) // WORD + 1


@dataclass(frozen=True, slots=True)
class KeyLasso:
    """A state of a layer, the way on from there to where it goes round for ever, and the cycle; none: it stays."""

    depth: int
    key: int
    stem: Walk
    cycle: Walk


class LassoSearch:
    """Looks for runs that go round for ever in states without `q`, by way of one with `p`."""

    def __init__(
        self,
        layers: Layers,
        owing: Callable[[Keys], Mask],
        silent: Callable[[Keys], Mask],
        successors: Successors,
        kinds: PathKinds,
    ) -> None:
        """Find the region: the states that are reached from one with `p` through states without `q`.

        `owing` tells which states have `p` and not `q`, `silent` which have not `q`.
        """
        self.successors = successors
        self.kinds = kinds
        self.starts = [_selected(layers[depth], owing) for depth in range(len(layers))]
        self.levels: list[Keys] = []
        """The region by the number of transitions that lead to a state by way of `p`, at least."""
        self._find_levels(silent)
        self.states = np.sort(np.concatenate([np.zeros(0, np.uint64), *self.levels]))

    def _find_levels(self, silent: Callable[[Keys], Mask]) -> None:
        seen = VisitedSet()
        level = np.zeros(0, np.uint64)
        last = max((depth for depth, start in enumerate(self.starts) if len(start)), default=-1)
        while len(level) or len(self.levels) <= last:
            depth = len(self.levels)
            fresh = seen.insert(np.concatenate([level, *self.starts[depth : depth + 1]]))
            level = np.sort(np.concatenate(fresh))
            self.levels.append(level)
            found = [keys[silent(keys)] for part in _parts(level) for _, _, keys in self.successors(part)]
            level = np.unique(np.concatenate([np.zeros(0, np.uint64), *found]))
            level = level[~seen.contains(level)]

    def lassos(self, system_numbers: Callable[[Keys], NDArray[np.int64]]) -> Iterator[tuple[int, KeyLasso]]:
        """Yield the number of each system that has a lasso, with one that a shortest way leads to."""
        if not len(self.states):
            return
        graph = _Graph(self.states, self.successors, self.kinds)
        ends = self.states[graph.in_fair_component()]
        done: set[int] = set()
        for length, level in enumerate(self.levels):
            here = level[np.isin(level, ends, assume_unique=True)]
            numbers, first = np.unique(system_numbers(here), return_index=True)
            for number, position in zip(numbers.tolist(), first.tolist(), strict=True):
                if number not in done:
                    done.add(number)
                    end = int(here[position])
                    depth, key, stem = self._stem(length, end, number, system_numbers)
                    yield number, KeyLasso(depth, key, stem, graph.cycle(end))

    def _stem(
        self, length: int, key: int, number: int, system_numbers: Callable[[Keys], NDArray[np.int64]]
    ) -> tuple[int, int, Walk]:
        """Walk back through the levels to a state with `p` that is a state of the layer as deep."""
        stem: Walk = []
        while not (length < len(self.starts) and _holds(self.starts[length], key)):
            length -= 1
            level = self.levels[length]
            before, path = self._predecessor(level[system_numbers(level) == number], key)
            stem.append((key, path))
            key = before
        return length, key, stem[::-1]

    def _predecessor(self, level: Keys, key: int) -> tuple[int, int]:
        for part in _parts(level):
            found = [
                (int(part[row]), path)
                for path, rows, keys in self.successors(part)
                for row in rows[keys == np.uint64(key)].tolist()
            ]
            if found:
                return min(found)
        raise AssertionError("a state of the region has no predecessor in it")


class _Graph:
    """The transitions between states of a region that can be part of a cycle: without faults, and with a change."""

    def __init__(self, states: Keys, successors: Successors, kinds: PathKinds) -> None:
        self.states = states
        self.kinds = kinds
        self.enabled = np.zeros((len(states), kinds.words), np.uint64)
        sources, targets, paths = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0, np.int32)]
        for start in range(0, len(states), _CHUNK):
            part = states[start : start + _CHUNK]
            for path, rows, after in successors(part):
                if not kinds.steady[path]:
                    continue
                moving = after != part[rows]
                places, keys = rows[moving] + start, after[moving]
                pair = kinds.pairs[path]
                if pair >= 0:
                    # Wherever it leads: also out of the region, or of the component.
                    self.enabled[places, pair // WORD] |= np.uint64(1 << pair % WORD)
                arrivals = np.minimum(np.searchsorted(states, keys), len(states) - 1)
                inside = states[arrivals] == keys
                sources.append(places[inside])
                targets.append(arrivals[inside])
                paths.append(np.full(int(inside.sum()), path, np.int32))
        order = np.argsort(np.concatenate(sources), kind="stable")
        self.sources, self.targets = np.concatenate(sources)[order], np.concatenate(targets)[order]
        self.paths = np.concatenate(paths)[order]
        self.component = components(self.sources, self.targets, len(states))

    def in_fair_component(self) -> Mask:
        """Tell of which states' components a fair run can go round in for ever, or stay."""
        pairs = np.array(self.kinds.pairs, np.int64)[self.paths] if len(self.paths) else np.zeros(0, np.int64)
        return fair_components(self.component, self.enabled, self.sources, self.targets, pairs)[self.component]

    def cycle(self, key: int) -> Walk:
        """Return a cycle in the component of a state that is fair to every pair."""
        end = int(np.searchsorted(self.states, np.uint64(key)))
        mine = self.component == self.component[end]
        inner = mine[self.sources] & mine[self.targets]
        sources, targets, paths = self.sources[inner], self.targets[inner], self.paths[inner]

        def edges(state: int) -> Iterator[tuple[int, int | None, int]]:
            first, last = np.searchsorted(sources, [state, state + 1]).tolist()
            for target, path in zip(targets[first:last].tolist(), paths[first:last].tolist(), strict=True):
                pair = self.kinds.pairs[path]
                yield path, pair if pair >= 0 else None, target

        walk = fair_cycle(end, edges, self._pairs_at)
        return [(int(self.states[state]), path) for path, state in walk]

    def _pairs_at(self, state: int) -> list[int]:
        words = self.enabled[state].tolist()
        return [number * WORD + bit for number, word in enumerate(words) for bit in range(WORD) if word >> bit & 1]


def _selected(keys: Keys, wanted: Callable[[Keys], Mask]) -> Keys:
    return np.concatenate([np.zeros(0, np.uint64), *(part[wanted(part)] for part in _parts(keys))])


def _holds(ordered: Keys, key: int) -> bool:
    place = int(np.searchsorted(ordered, np.uint64(key)))
    return place < len(ordered) and int(ordered[place]) == key


def _parts(keys: Keys) -> Iterator[Keys]:
    for start in range(0, len(keys), _CHUNK):
        yield keys[start : start + _CHUNK]

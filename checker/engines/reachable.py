"""The reachable states of one system, as an array, and how far each is from a goal: what certificates are made of.

The same generated transition relation and the same search as in `checker.engines.columnar`, without looking for
anything.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from checker.backends.columns.paths import GuardedPath
from checker.backends.columns.program import Program
from checker.backends.columns.translation import Claim, Translation
from checker.engines.columnsearch import ColumnSearch, in_parts
from checker.exploration import Limits
from model.specification import PropertyKind
from model.system import TransitionSystem
from model.transitions import Action


class CutShort(Exception):
    """A limit was met before all states were known; the message says which."""


@dataclass(frozen=True, slots=True)
class Ways:
    """Ways to a goal, for each state in the order of `Reachable.positions`.

    `distance` counts the transitions of a shortest one, -1 where there is none; `helpful` is the number in `actions` of
    one that leads closer, -1 at the goal and where there is no way.
    """

    distance: NDArray[np.int64]
    helpful: NDArray[np.int64]
    actions: tuple[Action, ...]


@dataclass(frozen=True, slots=True)
class _Edges:
    """Transitions: the states by number, and the number of the action."""

    sources: NDArray[np.int32]
    targets: NDArray[np.int32]
    actions: NDArray[np.int32]


class Reachable:
    """All reachable states of a system.

    `positions` has a row for each and in it for each slot the position of its value in the slot's domain. One thread
    finds them, so that wide states too come in the same order each time.
    """

    def __init__(self, system: TransitionSystem, limits: Limits, goals: Collection[str] = ()) -> None:
        """Explore; `goals` names the `recoverable` and `always` properties that will be asked for.

        Raises:
            CutShort: there are more states than allowed, or time is up.
            SpecificationError: a limit of the language is met in translation.
        """
        self._program = Program(Translation([system], goals), [0])
        self._search = ColumnSearch(self._program)
        searched = self._search.search(limits)
        if searched.cut:
            raise CutShort(searched.cut)
        keys = searched.keys
        self.positions = self._program.positions(self._search.words_of(keys))
        self._order = np.argsort(keys)
        self._sorted = keys[self._order]

    def ways(self, goal: str) -> Ways:
        """Return the ways to the goal of a `recoverable` property, on fair transitions."""
        distance = np.where(self._satisfying(goal), 0, -1)
        edges = self._fair_edges()
        sources, targets = edges.sources, edges.targets
        step = 0
        while len(sources):
            step += 1
            found = sources[(distance[targets] >= 0) & (distance[sources] < 0)]
            if not len(found):
                break
            distance[found] = step
            useful = distance[sources] < 0
            sources, targets = sources[useful], targets[useful]
        helpful = self._helpful(distance, edges)
        in_order = [np.empty_like(each) for each in (distance, helpful)]
        for each, by_key in zip(in_order, (distance, helpful), strict=True):
            each[self._order] = by_key
        return Ways(in_order[0], in_order[1], self._actions)

    def _helpful(self, distance: NDArray[np.int64], edges: _Edges) -> NDArray[np.int64]:
        """Choose for each state an action that leads closer, of few: those that help most states are taken first."""
        closer = (distance[edges.targets] >= 0) & (distance[edges.targets] < distance[edges.sources])
        sources, actions = edges.sources[closer], edges.actions[closer]
        helpful = np.full(len(distance), -1, np.int64)
        for action in np.argsort(-np.bincount(actions, minlength=len(self._actions)), kind="stable").tolist():
            helped = sources[actions == action]
            helpful[helped[helpful[helped] < 0]] = action
        return helpful

    @property
    def _actions(self) -> tuple[Action, ...]:
        return tuple(dict.fromkeys(entry.path.action for entry in self._program.entries if entry.path.fair))

    def _satisfying(self, name: str) -> NDArray[np.bool_]:
        goals = [c for c in self._program.claims if c.name == name and c.kind is PropertyKind.RECOVERABLE]
        return self._true(*goals)

    def _true(self, *claims: Claim) -> NDArray[np.bool_]:
        terms = self._program.terms
        wanted = [(terms.all_of((c.term.value, terms.negation(c.term.error))), c.systems) for c in claims]
        select = self._program.selector(wanted)
        return np.concatenate([select(*self._search.words_of(part)) for part in in_parts(self._sorted)])

    def transitions(self) -> Iterator[tuple[GuardedPath, NDArray[np.int64], NDArray[np.int64]]]:
        """Yield all transitions in parts: a path, and the rows of `positions` where each of its own starts and ends."""
        for path, sources, targets in self._transitions():
            yield path, self._order[sources], self._order[targets]

    def claims(self) -> dict[str, NDArray[np.bool_]]:
        """Return where the properties that were asked for are true, by row of `positions`."""
        by_row = np.argsort(self._order)
        return {claim.name: self._true(claim)[by_row] for claim in self._program.claims}

    def _transitions(self) -> Iterator[tuple[GuardedPath, NDArray[np.int64], NDArray[np.int64]]]:
        start = 0
        for part in in_parts(self._sorted):
            for number, rows, successors in self._search.transitions(part):
                yield self._program.entries[number].path, start + rows, np.searchsorted(self._sorted, successors)
            start += len(part)

    def _fair_edges(self) -> _Edges:
        numbers = {action: number for number, action in enumerate(self._actions)}
        sources, targets, actions = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
        for path, starts, ends in self._transitions():
            if path.fair:
                sources.append(starts.astype(np.int32))
                targets.append(ends.astype(np.int32))
                actions.append(np.full(len(starts), numbers[path.action], np.int32))
        return _Edges(np.concatenate(sources), np.concatenate(targets), np.concatenate(actions))

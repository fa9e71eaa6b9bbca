"""Runs that together come by everything that is to be driven, few and short.

A *transition tour* (Naito and Tsunoyama, 1981) takes every transition of a graph; the shortest one is a rural postman's
round, which is hard to find where only some transitions matter. This is the nearest-neighbour heuristic for it (Eiselt,
Gendreau and Laporte: Arc routing problems, part II, 1995): go on to the nearest transition that is still wanted, and
start again from an initial state where that is cheaper or where no way leads on.

The same graph gives the same runs.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass

from checker.conformance.graph import Graph
from model.specification import Conform

RESTART = 5
"""What a fresh start costs, in transitions: real parts are slower to set up than to step."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run by the numbers of its first state and its transitions."""

    start: int
    edges: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Cover:
    """Runs, and what they cover: for every transition the number of the aim that it serves."""

    runs: tuple[Run, ...]
    aims: array[int]
    wanted: int
    """How many aims there are."""

    @property
    def transitions(self) -> int:
        """How many transitions the runs have, repeated ones counted again."""
        return sum(len(run.edges) for run in self.runs)


def cover(graph: Graph, conform: Conform) -> Cover:
    """Return runs that take every transition, or show every pair of a path through a step and the situation before."""
    aims = _pairs(graph) if conform == "situations" else array("l", range(len(graph.targets)))
    return Cover(_Postman(graph, aims).runs(), aims, len(set(aims)))


def shortest(graph: Graph, state: int) -> Run:
    """Return a shortest run to a state."""
    sources = graph.sources()
    arrivals = _arrivals(graph)
    edges: list[int] = []
    while arrivals[state] >= 0:
        edges.append(arrivals[state])
        state = sources[arrivals[state]]
    return Run(state, tuple(reversed(edges)))


def _pairs(graph: Graph) -> array[int]:
    known: dict[tuple[Hashable, Hashable], int] = {}
    paths = [way.path for way in graph.ways]
    situations = graph.situations()
    return array(
        "l",
        (
            known.setdefault((paths[graph.way_of[edge]], situations[state]), len(known))
            for state in range(len(graph.states))
            for edge in graph.leaving(state)
        ),
    )


def _arrivals(graph: Graph) -> array[int]:
    """Return for each state the transition by which a breadth-first search finds it; -1 for the initial ones."""
    arrivals = array("l", [-1]) * len(graph.states)
    found = bytearray(len(graph.states))
    found[: graph.initial] = b"\1" * graph.initial
    pending = deque(range(graph.initial))
    while pending:
        for edge in graph.leaving(pending.popleft()):
            target = graph.targets[edge]
            if not found[target]:
                found[target] = 1
                arrivals[target] = edge
                pending.append(target)
    return arrivals


class _Postman:
    """Goes round."""

    def __init__(self, graph: Graph, aims: array[int]) -> None:
        self.graph = graph
        self.aims = aims
        self.sources = graph.sources()
        self.arrivals = _arrivals(graph)
        self.depths = array("l", [0]) * len(graph.states)
        for state in range(len(graph.states)):  # in the order of a breadth-first search
            if self.arrivals[state] >= 0:
                self.depths[state] = self.depths[self.sources[self.arrivals[state]]] + 1
        self.done = bytearray(max(aims, default=-1) + 1)
        order = sorted(range(len(aims)), key=lambda edge: (self.depths[self.sources[edge]], edge))
        self.nearest_to_start = deque(order)
        """The transitions, those that are reached soonest first; what is done is dropped when it comes to the front."""

    def runs(self) -> tuple[Run, ...]:
        """Return the runs."""
        runs: list[Run] = []
        while (edge := self._nearest_to_start()) is not None:
            edges = self._way_to(edge)
            start = self.sources[edges[0]]
            self._take(edges)
            while (more := self._onward(self.graph.targets[edges[-1]])) is not None:
                self._take(more)
                edges += more
            runs.append(Run(start, tuple(edges)))
        return tuple(runs)

    def _take(self, edges: list[int]) -> None:
        for edge in edges:
            self.done[self.aims[edge]] = 1

    def _nearest_to_start(self) -> int | None:
        waiting = self.nearest_to_start
        while waiting and self.done[self.aims[waiting[0]]]:
            waiting.popleft()
        return waiting[0] if waiting else None

    def _way_to(self, edge: int) -> list[int]:
        edges = [edge]
        while (before := self.arrivals[self.sources[edges[-1]]]) >= 0:
            edges.append(before)
        return edges[::-1]

    def _onward(self, state: int) -> list[int] | None:
        """Return the way from a state to the nearest wanted transition, if that is no dearer than a fresh start."""
        fresh = self._nearest_to_start()
        if fresh is None:
            return None
        farthest = self.depths[self.sources[fresh]] + RESTART
        graph = self.graph
        arrived: dict[int, int] = {state: -1}
        layer = [state]
        for _ in range(farthest + 1):
            following: list[int] = []
            for here in layer:
                for edge in graph.leaving(here):
                    if not self.done[self.aims[edge]]:
                        return self._back(arrived, edge)
                    target = graph.targets[edge]
                    if target not in arrived:
                        arrived[target] = edge
                        following.append(target)
            layer = following
        return None

    def _back(self, arrived: dict[int, int], edge: int) -> list[int]:
        edges = [edge]
        while (before := arrived[self.sources[edges[-1]]]) >= 0:
            edges.append(before)
        return edges[::-1]

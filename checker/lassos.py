"""The cycle of a lasso: a walk in a strongly connected part of a graph that is fair to everybody.

Whoever calls this has found that the part has such a walk; here it is made, short rather than shortest. It is no part
of any argument for soundness: the evaluator takes the lasso again and asks the same of it (`checker.confirm`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)
Edge = TypeVar("Edge")
Pair = TypeVar("Pair", bound=Hashable)


def fair_cycle(
    start: Node,
    edges: Callable[[Node], Iterable[tuple[Edge, Pair | None, Node]]],
    enabled: Callable[[Node], Iterable[Pair]],
) -> list[tuple[Edge, Node]]:
    """Return a walk from a node back to it on which each pair is taken, or comes by a node where it is not enabled.

    A pair is an instance and a fair step of it. `edges` gives what leads from a node to others of its part, each with
    the pair that takes it (None: an unfair step), `enabled` the pairs that can be taken at a node, to wherever. The
    walk is empty where nothing is enabled at the start: there a run may stay. It goes to whatever it still owes that is
    nearest, by breadth-first search.

    Raises:
        ValueError: there is no such walk.
    """
    owed = set(enabled(start))
    here = start
    walk: list[tuple[Edge, Node]] = []

    def pays(pair: Pair | None, node: Node) -> bool:
        return pair in owed or not owed <= set(enabled(node))

    while owed:
        for edge, pair, node in _nearest(here, edges, pays):
            walk.append((edge, node))
            owed = {other for other in owed & set(enabled(node)) if other != pair}
            here = node
    if here != start:
        walk += [(edge, node) for edge, _, node in _nearest(here, edges, lambda _, node: node == start)]
    return walk


def _nearest(
    start: Node,
    edges: Callable[[Node], Iterable[tuple[Edge, Pair | None, Node]]],
    wanted: Callable[[Pair | None, Node], bool],
) -> list[tuple[Edge, Pair | None, Node]]:
    """Return a shortest way, of at least one edge, whose last edge is wanted; of several the first in their order."""
    came: dict[Node, tuple[Node, tuple[Edge, Pair | None, Node]]] = {}
    pending = deque([start])
    while pending:
        source = pending.popleft()
        for edge in edges(source):
            _, pair, node = edge
            if wanted(pair, node):
                way = [edge]
                while source != start:
                    source, before = came[source]
                    way.append(before)
                return way[::-1]
            if node not in came and node != start:
                came[node] = (source, edge)
                pending.append(node)
    raise ValueError("the graph has no walk that is fair to everybody")

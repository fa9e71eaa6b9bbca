"""Which `leads_to` properties break, plainly: sets, lists, and Tarjan's strongly connected components.

A property `leads_to: [p, q]` breaks if a run has `p` and from then on never `q`, though from some moment on no fault
happens and every fair step that stays possible is taken. Such a run passes, from a state with `p`, through states
without `q` only, and in the end goes round in them for ever. So: take the states that can be reached from one with `p`
through states without `q`, by whatever transitions; and between them the transitions on which no fault happens and
something changes. What a run goes round in lies in one strongly connected component of that graph.

**Judging maximal components is exact.** Say that a set of states, strongly connected by such transitions, is *fair* if
each pair of instance and fair step has a state in it where the pair cannot be taken, or a transition inside it that
takes the pair. The states of a lasso's cycle are such a set, and fair, for this is what weak fairness asks of a cycle.
Fairness only says that states and transitions *exist*, so every larger strongly connected set is fair as well, the
component with all its transitions too. The other way round, in a fair component one walk visits every state and takes
every transition, and that is a cycle as it is wanted. (Under strong fairness the first half would fail, and components
would have to be taken apart again.)

A run may also stay in one state, where no fair pair can be taken. That is a component of one state without a
transition, under the same condition. Transitions that change nothing are left out of it all: they neither count as
enabled, nor as taken.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from checker.lassos import fair_cycle
from model.transitions import Action


@dataclass(frozen=True, slots=True)
class Edge:
    """A transition between numbered states. Where it is fair, its action is the pair that it takes."""

    target: int
    action: Action
    fair: bool
    faulty: bool


Walk = list[tuple[Action, int]]
"""Actions with the states that they lead to."""


@dataclass(frozen=True, slots=True)
class NumberedLasso:
    """A state of the search from which a way leads on to where it goes round for ever; no cycle: where it stays."""

    start: int
    stem: Walk
    cycle: Walk


def unanswered(
    edges: Sequence[Sequence[Edge]], depths: Sequence[int], owing: Collection[int], silent: Collection[int]
) -> NumberedLasso | None:
    """Find a lasso that passes a state where `p` is true and then never one where `q` is; None where there is none.

    `depths` says how many transitions lead to a state at least, `owing` has the states with `p` and without `q`,
    `silent` all those without `q`. Of all runs to a state of a component that breaks the property the lasso begins with
    a shortest one.
    """
    region = _Region(edges, depths, owing, silent)
    ends = [state for component in region.components() if region.is_fair(component) for state in component]
    if not ends:
        return None
    end = min(ends, key=lambda state: (region.lengths[state], state))
    return region.lasso(end)


class _Region:
    """The states in which `q` can be owed, and how many transitions lead to one of them, at least, by way of `p`."""

    def __init__(
        self,
        edges: Sequence[Sequence[Edge]],
        depths: Sequence[int],
        owing: Collection[int],
        silent: Collection[int],
    ) -> None:
        self.edges = edges
        self.lengths: dict[int, int] = {}
        self.parents: dict[int, tuple[int, Edge]] = {}
        starts: dict[int, list[int]] = {}
        for state in sorted(owing):
            starts.setdefault(depths[state], []).append(state)
        length, layer = 0, list[int]()
        while layer or length <= max(starts, default=-1):
            here = [state for state in starts.get(length, ()) if state not in self.lengths]
            for state in here:
                self.lengths[state] = length
            layer = self._next([*layer, *here], length + 1, silent)
            length += 1

    def _next(self, layer: list[int], length: int, silent: Collection[int]) -> list[int]:
        following: list[int] = []
        for source in layer:
            for edge in self.edges[source]:
                if edge.target in silent and edge.target not in self.lengths:
                    self.lengths[edge.target] = length
                    self.parents[edge.target] = (source, edge)
                    following.append(edge.target)
        return following

    def moves(self, state: int) -> list[Edge]:
        """Return the transitions that may be part of a cycle, wherever they lead."""
        return [edge for edge in self.edges[state] if not edge.faulty and edge.target != state]

    def enabled(self, state: int) -> set[Action]:
        """Return the fair pairs that can be taken: outcomes of one step are one, and may lead anywhere."""
        return {edge.action for edge in self.moves(state) if edge.fair}

    def is_fair(self, component: list[int]) -> bool:
        """Tell whether each fair pair is impossible in some state of a component or taken inside it."""
        members = set(component)
        always = set.intersection(*(self.enabled(state) for state in component))
        taken = {e.action for state in component for e in self.moves(state) if e.fair and e.target in members}
        return always <= taken

    def components(self) -> list[list[int]]:
        """Return the strongly connected components (R. Tarjan 1972, without recursion)."""
        found: list[list[int]] = []
        index: dict[int, int] = {}
        low: dict[int, int] = {}
        stack: list[int] = []
        waiting: set[int] = set()
        for root in self.lengths:
            if root in index:
                continue
            work = [(root, self._inside(root))]
            while work:
                state, left = work[-1]
                if state not in index:
                    index[state] = low[state] = len(index)
                    stack.append(state)
                    waiting.add(state)
                if left:
                    target = left.pop()
                    if target not in index:
                        work.append((target, self._inside(target)))
                    elif target in waiting:
                        low[state] = min(low[state], index[target])
                    continue
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[state])
                if low[state] == index[state]:
                    found.append(component := stack[stack.index(state) :])
                    del stack[-len(component) :]
                    waiting.difference_update(component)
        return found

    def _inside(self, state: int) -> list[int]:
        return [edge.target for edge in self.moves(state) if edge.target in self.lengths]

    def lasso(self, end: int) -> NumberedLasso:
        """Return the shortest way to a state of a fair component, and a fair cycle from there."""
        stem: Walk = []
        state = end
        while state in self.parents:
            before, edge = self.parents[state]
            stem.append((edge.action, state))
            state = before
        members = next(set(component) for component in self.components() if end in component)
        cycle = fair_cycle(
            end,
            lambda source: [
                (edge.action, edge.action if edge.fair else None, edge.target)
                for edge in self.moves(source)
                if edge.target in members
            ],
            self.enabled,
        )
        return NumberedLasso(state, stem[::-1], cycle)

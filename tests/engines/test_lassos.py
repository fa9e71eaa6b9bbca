"""Both searches for lassos, on small random graphs, against a search over runs with a memory of what they owe."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from checker.engines.fairness import components
from checker.engines.lassosearch import LassoSearch, PathKinds
from checker.engines.plainlassos import Edge, NumberedLasso, unanswered
from checker.lassos import fair_cycle
from model.transitions import Action

UNFAIR = 3
"""Actions up to here are fair steps, this one is not."""

SEEDS = 10


@dataclass(frozen=True, order=True)
class Arrow:
    """A transition of a small graph."""

    source: int
    target: int
    action: int
    faulty: bool

    @property
    def fair(self) -> bool:
        return self.action != UNFAIR and not self.faulty

    @property
    def steady(self) -> bool:
        """Whether it may be part of a cycle."""
        return not self.faulty and self.source != self.target


@dataclass(frozen=True)
class Small:
    """A graph that starts in state 0, with the states where `p` is true and those where `q` is."""

    arrows: tuple[Arrow, ...]
    p: frozenset[int]
    q: frozenset[int]

    def from_(self, state: int) -> list[Arrow]:
        return [arrow for arrow in self.arrows if arrow.source == state]

    def enabled(self, state: int) -> frozenset[int]:
        return frozenset(arrow.action for arrow in self.from_(state) if arrow.fair and arrow.steady)


def some_graphs(seed: int) -> Iterator[Small]:
    """Yield random graphs: small ones, with enough transitions that cycles are common and some of them fair."""
    random = Random(seed)
    for _ in range(1_000):
        states = random.randint(1, 6)
        arrows = {
            Arrow(random.randrange(states), random.randrange(states), random.randint(0, UNFAIR), random.random() < 0.15)
            for _ in range(random.randint(states, 3 * states))
        }
        likely = random.choice([0.15, 0.4])
        p = frozenset(state for state in range(states) if random.random() < likely)
        q = frozenset(state for state in range(states) if random.random() < 0.2)
        yield Small(tuple(sorted(arrows)), p, q)


def layers_of(small: Small) -> list[list[int]]:
    known, layers = {0}, [[0]]
    while layers[-1]:
        following = {a.target for state in layers[-1] for a in small.from_(state)} - known
        known |= following
        layers.append(sorted(following))
    return layers[:-1]


# --- The definition ---


def can_go_round(small: Small, start: int) -> bool:
    """Tell whether a fair cycle without `q` begins in a state, by trying every run together with what it still owes."""
    owed = small.enabled(start)
    if not owed:
        return True  # it may stay
    known = {(start, owed)}
    pending = deque(known)
    while pending:
        state, owed = pending.popleft()
        for arrow in small.from_(state):
            if not arrow.steady or arrow.target in small.q:
                continue
            left = frozenset(
                pair for pair in owed & small.enabled(arrow.target) if not (arrow.fair and pair == arrow.action)
            )
            if arrow.target == start and not left:
                return True
            if (arrow.target, left) not in known:
                known.add((arrow.target, left))
                pending.append((arrow.target, left))
    return False


def least_stem(small: Small) -> int | None:
    """Return the least number of transitions to a fair cycle, by way of `p` and never `q` after that."""
    before = {(0, False)}
    known = set(before)
    length = 0
    while before:
        owing = {(state, True) for state, owes in before if (owes or state in small.p) and state not in small.q}
        known |= owing
        if any(can_go_round(small, state) for state, _ in owing):
            return length
        both = before | owing
        after = {(a.target, owes and a.target not in small.q) for state, owes in both for a in small.from_(state)}
        before = after - known
        known |= before
        length += 1
    return None


# --- The two searches ---


def plainly(small: Small) -> NumberedLasso | None:
    layers = layers_of(small)
    depths = {state: depth for depth, layer in enumerate(layers) for state in layer}
    silent = set(depths) - small.q
    edges = [
        [Edge(a.target, Action("p", 0, str(a.action)), a.fair, a.faulty) for a in small.from_(state)]
        for state in range(6)
    ]
    return unanswered(edges, [depths.get(state, 99) for state in range(6)], silent & small.p, silent)


def keys_of(states: list[int]) -> NDArray[np.uint64]:
    return np.array(states, np.uint64)


def fast(small: Small) -> LassoSearch:
    def successors(keys: NDArray[np.uint64]) -> list[tuple[int, NDArray[np.int64], NDArray[np.uint64]]]:
        found = []
        for path, arrow in enumerate(small.arrows):
            rows = np.flatnonzero(keys == np.uint64(arrow.source))
            found.append((path, rows, np.full(len(rows), arrow.target, np.uint64)))
        return found

    pairs = [arrow.action if arrow.fair else -1 for arrow in small.arrows]
    return LassoSearch(
        [keys_of(layer) for layer in layers_of(small)],
        lambda keys: np.isin(keys, keys_of(sorted(small.p - small.q))),
        lambda keys: ~np.isin(keys, keys_of(sorted(small.q))),
        successors,
        PathKinds(pairs, [not arrow.faulty for arrow in small.arrows]),
    )


def check_walk(small: Small, start: int, stem: list[Arrow], cycle: list[Arrow]) -> None:
    """Check that a lasso is one: connected, without `q`, without faults where it goes round, and fair."""
    state = start
    for arrow in [*stem, *cycle]:
        assert arrow.source == state
        state = arrow.target
        assert state not in small.q
    assert all(arrow.steady for arrow in cycle)
    passed = [arrow.target for arrow in cycle] or [state]
    owed = frozenset.intersection(*map(small.enabled, passed)) - {arrow.action for arrow in cycle if arrow.fair}
    assert not owed
    assert not cycle or cycle[0].source == state


def named(small: Small, start: int, walk: list[tuple[Action, int]]) -> list[Arrow]:
    """Find arrows for the actions of a walk; of those alike in everything one without a fault."""
    arrows = []
    for action, target in walk:
        fitting = [a for a in small.from_(start) if a.target == target and str(a.action) == action.label]
        arrows.append(min(fitting, key=lambda arrow: arrow.faulty))
        start = target
    return arrows


@pytest.mark.parametrize("seed", range(SEEDS))
def test_the_plain_search_finds_a_lasso_where_the_definition_has_one(seed: int) -> None:
    for small in some_graphs(seed):
        found, wanted = plainly(small), least_stem(small)
        assert (found is None) is (wanted is None), small
        if found is not None:
            before = next(depth for depth, layer in enumerate(layers_of(small)) if found.start in layer)
            assert before + len(found.stem) == wanted, small
            assert found.start in small.p - small.q
            stem = named(small, found.start, found.stem)
            end = stem[-1].target if stem else found.start
            check_walk(small, found.start, stem, named(small, end, found.cycle))


@pytest.mark.parametrize("seed", range(SEEDS))
def test_the_search_over_arrays_finds_a_lasso_where_the_definition_has_one(seed: int) -> None:
    for small in some_graphs(seed):
        found, wanted = list(fast(small).lassos(lambda keys: np.zeros(len(keys), np.int64))), least_stem(small)
        assert bool(found) is (wanted is not None), small
        for _, lasso in found:
            assert lasso.depth + len(lasso.stem) == wanted, small
            assert lasso.key in small.p - small.q
            stem, cycle = ([small.arrows[path] for _, path in walk] for walk in (lasso.stem, lasso.cycle))
            check_walk(small, lasso.key, stem, cycle)


def test_the_random_graphs_have_lassos_of_every_kind() -> None:
    lassos = [plainly(small) for seed in range(SEEDS) for small in some_graphs(seed)]
    shapes = Counter(None if lasso is None else (min(len(lasso.stem), 1), min(len(lasso.cycle), 3)) for lasso in lassos)

    # By whether there is a way from `p` on, and by the length of the cycle: a run may stay, or needs two transitions.
    assert all(shapes[shape] >= 10 for shape in (None, *product((0, 1), (0, 2, 3)))), shapes


# --- Components ---

Edges = list[tuple[int, int]]


@given(st.integers(1, 12).flatmap(lambda n: st.tuples(st.just(n), st.lists(st.tuples(*[st.integers(0, n - 1)] * 2)))))
def test_two_states_are_in_one_component_where_each_reaches_the_other(graph: tuple[int, Edges]) -> None:
    count, edges = graph
    reach = np.eye(count, dtype=np.bool_)
    for source, target in edges:
        reach[source, target] = True
    for middle in range(count):
        reach |= np.outer(reach[:, middle], reach[middle])
    columns = np.array(edges, np.int64).reshape(-1, 2)

    found = components(columns[:, 0], columns[:, 1], count)

    assert ((found[:, None] == found[None, :]) == (reach & reach.T)).all()
    assert sorted(set(found.tolist())) == list(range(len(set(found.tolist()))))


@pytest.mark.parametrize("round_", [False, True])
def test_a_very_long_way_needs_no_recursion(round_: bool) -> None:
    states = np.arange(100_000)
    sources, targets = states[:-1], states[1:]
    if round_:
        sources, targets = states, np.roll(states, -1)

    assert len(set(components(sources, targets, len(states)).tolist())) == (1 if round_ else len(states))


def test_a_part_without_a_fair_cycle_is_refused() -> None:
    def edges(state: int) -> list[tuple[str, str | None, int]]:
        return [("go", None, 1 - state)]

    with pytest.raises(ValueError, match="no walk"):
        fair_cycle(0, edges, lambda _: {"starving"})

"""Reachability over arrays of edges, against a search in plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from checker.engines import recover
from checker.engines.recover import can_reach, lost_states

Graph = tuple[int, list[tuple[int, int]], list[int]]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """A number of states, edges between them (some repeated, some to themselves), and some states."""
    states = draw(st.integers(1, 30))
    number = st.integers(0, states - 1)
    return states, draw(st.lists(st.tuples(number, number), max_size=60)), draw(st.lists(number, max_size=4))


def columns(edges: list[tuple[int, int]], width: int = 8) -> tuple[NDArray[Any], NDArray[Any]]:
    array = np.array(edges, f"i{width}").reshape(-1, 2)
    return array[:, 0], array[:, 1]


def mask(states: int, chosen: list[int]) -> NDArray[np.bool_]:
    result = np.zeros(states, np.bool_)
    result[chosen] = True
    return result


def plainly(edges: list[tuple[int, int]], start: list[int]) -> set[int]:
    """Follow edges until nothing new is found."""
    known = set(start)
    while more := {target for source, target in edges if source in known} - known:
        known |= more
    return known


@given(graphs())
def test_can_reach_finds_what_a_plain_search_finds(graph: Graph) -> None:
    states, edges, goal = graph
    backward = [(target, source) for source, target in edges]

    found = can_reach(*columns(edges), mask(states, goal))

    assert set(np.flatnonzero(found).tolist()) == plainly(backward, goal)


@given(graphs(), st.booleans())
def test_lost_states_are_those_that_reach_no_goal(graph: Graph, swept: bool) -> None:
    _, edges, goal = graph
    # States are numbered by odd keys, and layers as a search from state 0 finds them.
    reachable = sorted(plainly(edges, [0]))
    ordered = np.array([2 * state + 1 for state in reachable], np.uint64)
    goal_mask = np.array([state in goal for state in reachable])

    def successors(keys: NDArray[np.uint64]) -> list[tuple[NDArray[np.int64], NDArray[np.uint64]]]:
        pairs = [(row, 2 * t + 1) for row, key in enumerate(keys.tolist()) for s, t in edges if 2 * s + 1 == key]
        rows, targets = columns(pairs)
        return [(rows[part::2], targets[part::2].astype(np.uint64)) for part in (0, 1)]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recover, "_SWEPT", 0 if swept else 1 << 20)
        patch.setattr(recover, "_CHUNK", 3)
        lost = lost_states(layers_from(0, edges), ordered, goal_mask, successors)

    backward = [(target, source) for source, target in edges]
    expected = [2 * state + 1 for state in reachable if state not in plainly(backward, goal)]
    assert lost.tolist() == expected


def layers_from(start: int, edges: list[tuple[int, int]]) -> list[NDArray[np.uint64]]:
    layers, known, layer = [], {start}, {start}
    while layer:
        layers.append(np.array(sorted(2 * state + 1 for state in layer), np.uint64))
        layer = {target for source, target in edges if source in layer} - known
        known |= layer
    return layers


@given(graphs(), st.integers(1, 5))
def test_a_frontier_may_be_taken_in_slices(graph: Graph, size: int) -> None:
    states, edges, goal = graph
    whole = can_reach(*columns(edges), mask(states, goal))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recover, "_SLICE", size)
        sliced = can_reach(*columns(edges), mask(states, goal))

    assert sliced.tolist() == whole.tolist()


def test_a_frontier_holds_every_state_once() -> None:
    assert recover._distinct(np.array([3, 1, 3, 1, 2])).tolist() == [1, 2, 3]


def test_the_arguments_are_left_as_they_are() -> None:
    sources, targets = columns([(0, 1), (1, 2)])
    goal = mask(3, [2])

    can_reach(sources, targets, goal)

    assert (sources.tolist(), targets.tolist(), goal.tolist()) == ([0, 1], [1, 2], [False, False, True])


def test_without_edges_only_the_goal_reaches_itself() -> None:
    assert can_reach(*columns([]), mask(3, [1])).tolist() == [False, True, False]
    assert can_reach(*columns([]), mask(0, [])).tolist() == []


def test_arrays_of_different_length_are_no_edges() -> None:
    sources, _ = columns([(0, 1)])

    with pytest.raises(ValueError, match="1 sources and 0 targets"):
        can_reach(sources, sources[:0], mask(2, [1]))


@pytest.mark.slow
def test_millions_of_edges_take_moments() -> None:
    states, edges = 1_000_000, 5_000_000
    random = np.random.default_rng(7)
    sources, targets = random.integers(0, states, (2, edges), dtype=np.int32)
    # A chain on top makes it deep, not only wide.
    chain = np.arange(2_000, dtype=np.int32)
    sources[:2_000], targets[:2_000] = chain + 1, chain

    found = can_reach(sources, targets, mask(states, [0]))

    assert found[:2_001].all()
    unable = ~found
    # Whoever cannot reach the goal has no edge to one who can.
    assert not (unable[sources] & found[targets]).any()

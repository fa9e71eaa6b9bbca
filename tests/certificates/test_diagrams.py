"""Decision diagrams are exactly the sets and rankings that they are made of, whatever the order of rows and slots."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.certificates.certificate import diagram_document, diagram_from
from checker.certificates.diagram import FALSE, TRUE, Diagram, Node, diagram_of, ranking_of
from checker.certificates.ordering import small_diagram

Set = tuple[list[int], list[tuple[int, ...]], list[int]]


@st.composite
def sets(draw: st.DrawFn) -> Set:
    """Sizes of slots, some states, and an order of the slots."""
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=5))
    state = st.tuples(*(st.integers(0, size - 1) for size in sizes))
    return sizes, draw(st.lists(state, max_size=30)), draw(st.permutations(range(len(sizes))))


def array(states: list[tuple[int, ...]], sizes: list[int]) -> np.ndarray[tuple[int, int], np.dtype[np.int16]]:
    return np.array(states, np.int16).reshape(len(states), len(sizes))


def everything(sizes: list[int]) -> list[tuple[int, ...]]:
    return list(itertools.product(*map(range, sizes)))


@given(sets())
def test_a_diagram_has_the_states_that_it_was_made_of_and_no_others(made: Set) -> None:
    sizes, states, order = made
    diagram = diagram_of(array(states, sizes), sizes, order)

    diagram.check(sizes)
    assert {state for state in everything(sizes) if state in diagram} == set(states)
    assert diagram.count(sizes) == len(set(states))


@given(sets(), st.randoms(use_true_random=False))
def test_neither_the_order_of_rows_nor_repetitions_make_a_difference(made: Set, random: object) -> None:
    sizes, states, order = made
    shuffled = [*states, *states[: len(states) // 2]]
    random.shuffle(shuffled)  # type: ignore[attr-defined]

    assert diagram_of(array(states, sizes), sizes, order) == diagram_of(array(shuffled, sizes), sizes, order)


@given(sets())
def test_no_two_nodes_mean_the_same(made: Set) -> None:
    sizes, states, order = made
    diagram = diagram_of(array(states, sizes), sizes, order)

    assert len(set(diagram.nodes)) == len(diagram.nodes)
    assert [node for node in diagram.nodes if len(set(node.children)) == 1] == []


@given(sets())
def test_sifting_changes_the_order_and_not_the_set(made: Set) -> None:
    sizes, states, order = made
    del order
    diagram = small_diagram(array(states, sizes), sizes)

    diagram.check(sizes)
    assert diagram == diagram_of(array(states, sizes), sizes, diagram.order)
    assert len(diagram) <= len(diagram_of(array(states, sizes), sizes, range(len(sizes))))


@given(sets())
def test_sifting_finds_the_same_order_again(made: Set) -> None:
    sizes, states, _ = made

    assert small_diagram(array(states, sizes), sizes, 50) == small_diagram(array(states[::-1], sizes), sizes, 50)


def test_sifting_finds_the_pairs_that_go_together() -> None:
    """Slots that are equal in pairs: side by side three nodes a pair are enough, far apart they grow exponentially."""
    pairs = 6
    states = [(*halves, *halves) for halves in itertools.product(range(2), repeat=pairs)]

    apart = diagram_of(array(states, [2] * 2 * pairs), [2] * 2 * pairs, range(2 * pairs))
    assert len(apart) == 3 * (2**pairs - 1)
    assert len(small_diagram(array(states, [2] * 2 * pairs), [2] * 2 * pairs)) == 3 * pairs


@given(sets(), st.data())
def test_a_ranking_gives_each_state_its_rank(made: Set, data: st.DataObject) -> None:
    sizes, states, order = made
    distinct = sorted(set(states))
    ranks = data.draw(st.lists(st.integers(0, 7), min_size=len(distinct), max_size=len(distinct)))
    diagram = ranking_of(array(distinct, sizes), np.array(ranks, np.int64), sizes, order)

    diagram.check(sizes)
    assert [diagram.leaf(state) for state in distinct] == ranks
    assert {diagram.leaf(state) for state in everything(sizes)} <= set(diagram.used_leaves())


def test_states_wider_than_a_word_are_told_apart() -> None:
    sizes = [1000] * 14
    rows = [tuple(number * (place + 1) % 1000 for place in range(14)) for number in range(50)]
    diagram = diagram_of(array(rows, sizes), sizes, range(14))

    assert diagram.count(sizes) == 50
    assert all(row in diagram for row in rows)
    assert (*rows[3][:-1], rows[4][-1]) not in diagram


@pytest.mark.parametrize(
    ("diagram", "problem"),
    [
        (Diagram((), TRUE, (0,)), "the order"),
        (Diagram((Node(0, (FALSE,)),), 2, (0, 1)), "a child for each value"),
        (Diagram((Node(0, (FALSE, 2)),), 2, (0, 1)), "come before"),
        (Diagram((Node(0, (FALSE, TRUE)), Node(1, (2, TRUE))), 3, (0, 1)), "out of order"),
        (Diagram((Node(1, (FALSE, TRUE)), Node(1, (2, TRUE))), 3, (0, 1)), "out of order"),
        (Diagram((), 2, (0, 1)), "root"),
        (Diagram((), 0, (0, 1), 1), "two leaves"),
    ],
)
def test_what_is_no_diagram_is_refused(diagram: Diagram, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        diagram.check([2, 2])


def test_the_empty_set_and_the_whole_one_have_no_nodes() -> None:
    sizes = [2, 3]

    assert diagram_of(array([], sizes), sizes, [1, 0]) == Diagram((), FALSE, (1, 0))
    assert diagram_of(array(everything(sizes), sizes), sizes, [1, 0]) == Diagram((), TRUE, (1, 0))
    assert Diagram((), TRUE, (1, 0)).count(sizes) == math.prod(sizes)


def test_a_diagram_comes_back_from_its_document() -> None:
    class Slot:
        class domain:  # noqa: N801 - as of a slot
            size = 2

    class System:
        slots = (Slot, Slot)

    diagram = diagram_of(array([(0, 1), (1, 0)], [2, 2]), [2, 2], [1, 0])

    assert diagram_from(diagram_document(diagram), System) == diagram  # type: ignore[arg-type]

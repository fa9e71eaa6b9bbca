"""The columnar search against a plain one over Python sets."""

import threading
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checker.engines import frontier, visited
from checker.engines.frontier import Expand, Exploration, Layer, LayerStore, Limits, explore
from checker.engines.visited import SeenFilter, States, VisitedSet

Graph = dict[int, list[int]]

LARGEST = 2**64 - 1

# The sizes that the fixture changes are the same for all examples of a test.
with_fixture = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@pytest.fixture(params=["spread", "crowded"])
def tiny(request: pytest.FixtureRequest) -> Iterator[None]:
    """Make every size at which something changes so small that small graphs get there; crowded: hashes collide."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frontier, "_SHARED_LAYER", 2)
        patch.setattr(frontier, "_FILTERED", 3)
        patch.setattr(frontier, "_FILTER_BITS", 2)
        patch.setattr(frontier, "_SLICE", 3)
        patch.setattr(frontier, "_CHUNK_SUCCESSORS", 8)
        patch.setattr(visited, "_BATCH", 4)
        patch.setattr(visited, "_SPLIT_AT", 16)
        patch.setattr(visited, "_FIRST_SLOTS", 16)
        patch.setattr(visited, "_ROOMY_SLOTS", 64)
        patch.setattr(visited, "_LINEAR_FROM", 4)
        if request.param == "crowded":
            patch.setattr(visited, "scatter", lambda states: (states & np.uint64(3)) << np.uint64(62))
        yield


def packed(*states: int) -> States:
    return np.array(states, np.uint64)


def transitions_of(graph: Graph) -> Expand:
    """Make the columns of a graph: each state's first successors in one array, its second ones in the next."""

    def expand(states: States) -> list[States]:
        rows = [graph.get(state, []) for state in states.tolist()]
        most = max(map(len, rows), default=0)
        return [packed(*(row[column] for row in rows if column < len(row))) for column in range(most)]

    return expand


def plain_layers(initial: set[int], graph: Graph) -> list[list[int]]:
    seen, layer, layers = set(initial), set(initial), []
    while layer:
        layers.append(sorted(layer))
        layer = {successor for state in layer for successor in graph.get(state, [])} - seen
        seen |= layer
    return layers


def layers_of(
    initial: States, expand: Expand, workers: int = 1, chunk: int | None = None, limits: Limits | None = None
) -> tuple[list[list[int]], Exploration]:
    layers: list[list[int]] = []

    def note(layer: Layer) -> None:
        assert layer.depth == len(layers)
        layers.append(layer.states.tolist())

    result = explore(initial, expand, workers=workers, on_layer=note, limits=limits or Limits(), chunk=chunk)
    return layers, result


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[int], Graph]:
    word = st.one_of(st.sampled_from([0, 1, LARGEST]), st.integers(0, 40), st.integers(0, LARGEST))
    nodes = draw(st.lists(word, min_size=1, max_size=60, unique=True))
    node = st.sampled_from(nodes)
    edges = draw(st.lists(st.tuples(node, node), max_size=200))
    graph: Graph = {}
    for source, target in edges:
        graph.setdefault(source, []).append(target)
    return draw(st.lists(node, max_size=5)), graph


@pytest.mark.usefixtures("tiny")
@with_fixture
@given(graphs(), st.sampled_from([1, 2, 3]), st.sampled_from([None, 1, 3]))
def test_layers_and_counts_are_those_of_a_plain_search(
    problem: tuple[list[int], Graph], workers: int, chunk: int | None
) -> None:
    initial, graph = problem
    layers, result = layers_of(packed(*initial), transitions_of(graph), workers, chunk)
    expected = plain_layers(set(initial), graph)
    assert layers == expected
    assert result.complete
    assert result.cut is None
    assert result.layers == len(expected)
    assert result.states == sum(map(len, expected))
    assert result.transitions == sum(len(graph.get(state, [])) for layer in expected for state in layer)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_large_space_with_the_real_sizes_has_the_layers_of_a_plain_search(workers: int) -> None:
    size = 400_000

    def expand(states: States) -> list[States]:
        number = states >> np.uint64(20)
        return [((number * np.uint64(factor) + np.uint64(7)) % np.uint64(size)) << np.uint64(20) for factor in (2, 3)]

    layers, result = layers_of(packed(0), expand, workers)
    seen, layer = {0}, {0}
    for found in layers:
        assert found == sorted(number << 20 for number in layer)
        layer = {(number * factor + 7) % size for number in layer for factor in (2, 3)} - seen
        seen |= layer
    assert not layer
    assert result.transitions == 2 * len(seen)


@pytest.mark.usefixtures("tiny")
@with_fixture
@given(st.lists(st.lists(st.one_of(st.integers(0, 30), st.integers(0, LARGEST)), max_size=40), max_size=8))
def test_the_set_reports_each_new_state_once_and_knows_its_members(batches: list[list[int]]) -> None:
    states, expected = VisitedSet(), set[int]()
    for batch in batches:
        new = np.concatenate(states.insert(packed(*batch))).tolist()
        assert len(new) == len(set(new))
        assert set(new) == set(batch) - expected
        expected |= set(batch)
        states.settle()
        assert len(states) == len(expected)
        asked = [*expected, 0, 5, 77, LARGEST, *(member ^ 4 for member in expected)]
        assert states.contains(packed(*asked)).tolist() == [member in expected for member in asked]


@pytest.mark.usefixtures("tiny")
@with_fixture
@given(st.lists(st.lists(st.integers(0, 12), max_size=20), max_size=6))
def test_the_filter_drops_only_states_that_have_passed(batches: list[list[int]]) -> None:
    seen, passed = SeenFilter(2), set[int]()
    for batch in batches:
        kept = seen(packed(*batch)).tolist()
        assert set(kept) <= set(batch)
        assert set(batch) <= passed | set(kept)
        passed |= set(kept)


def test_workers_that_insert_the_same_states_share_the_news_among_them() -> None:
    states = VisitedSet()
    states.insert(np.arange(200_000, dtype=np.uint64))
    states.settle()
    news: list[States] = []

    def insert(turn: int) -> None:
        for start in range(0, 300_000, 1000):
            news.extend(states.insert(np.arange(start, start + 3000, dtype=np.uint64), turn))

    threads = [threading.Thread(target=insert, args=(turn,)) for turn in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert np.sort(np.concatenate(news)).tolist() == list(range(200_000, 302_000))
    assert len(states) == 302_000


def test_a_large_set_needs_less_than_20_bytes_a_state_beside_the_fixed_allowance() -> None:
    states = VisitedSet()
    most = 0.0
    for start in range(0, 6_000_000, 100_000):
        states.insert(np.arange(start, start + 100_000, dtype=np.uint64))
        states.settle()
        if len(states) >= 3_000_000:
            most = max(most, states.nbytes / len(states))
    assert most < 20


def chain(length: int) -> Graph:
    """Make a graph in which each state has two successors, and the layers have one, two, two, … states."""
    return {state: [state // 2 * 2 + 2, state // 2 * 2 + 3] for state in range(1, 2 * length)}


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("workers", [1, 2])
def test_more_states_than_allowed_cut_the_search_at_a_whole_layer(workers: int) -> None:
    graph = chain(40)
    layers, result = layers_of(packed(1), transitions_of(graph), workers, 1, Limits(states=20))
    assert layers == plain_layers({1}, graph)[:10]
    assert (result.complete, result.cut, result.states, result.layers) == (False, "states", 19, 10)
    assert result.transitions == 2 * 17


@pytest.mark.usefixtures("tiny")
def test_a_limit_passed_after_the_calling_thread_ran_out_of_work_counts_for_the_same_layer() -> None:
    caller = threading.get_ident()
    other_began, caller_polled = threading.Event(), threading.Event()

    def expand(states: States) -> list[States]:
        if threading.get_ident() == caller:
            other_began.wait(5)
            return [states]
        other_began.set()
        caller_polled.wait(5)
        return [states + np.uint64(10)]

    def stop() -> bool:
        if other_began.is_set():
            caller_polled.set()
        return False

    result = explore(packed(1, 2), expand, workers=2, chunk=1, limits=Limits(states=2, stop=stop))
    assert (result.cut, result.states, result.transitions) == ("states", 2, 0)


def test_as_many_states_as_allowed_are_a_complete_search() -> None:
    graph = chain(4)
    whole = layers_of(packed(1), transitions_of(graph))[1]
    assert layers_of(packed(1), transitions_of(graph), limits=Limits(states=whole.states))[1] == whole
    assert not layers_of(packed(1), transitions_of(graph), limits=Limits(states=whole.states - 1))[1].complete


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("workers", [1, 2])
def test_a_stopped_search_does_not_look_complete(workers: int) -> None:
    polls = 0

    def stop() -> bool:
        nonlocal polls
        polls += 1
        return polls > 5

    layers, result = layers_of(packed(1), transitions_of(chain(40)), workers, 1, Limits(stop=stop))
    assert (result.complete, result.cut) == (False, "stop")
    assert layers == plain_layers({1}, chain(40))[: len(layers)]
    assert len(layers) < 6


def test_stop_is_polled_between_the_chunks_of_one_layer() -> None:
    calls = 0

    def expand(states: States) -> list[States]:
        nonlocal calls
        calls += 1
        return [states + np.uint64(1000)]

    limits = Limits(stop=lambda: calls == 3)
    assert not explore(np.arange(100, dtype=np.uint64), expand, limits=limits, chunk=10).complete
    assert calls == 3


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("in_calling_thread", [True, False])
def test_an_error_in_any_worker_ends_the_search_and_is_passed_on(in_calling_thread: bool) -> None:
    caller = threading.get_ident()
    raised = threading.Event()

    def expand(states: States) -> list[States]:
        if len(states) == 1 and (threading.get_ident() == caller) == in_calling_thread:
            raised.set()
            raise ArithmeticError("broken")
        raised.wait(0.05)
        return [states, states + np.uint64(1)]

    with pytest.raises(ArithmeticError, match="broken"):
        explore(np.arange(100, dtype=np.uint64), expand, workers=2, chunk=1)


def test_a_search_without_workers_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one worker"):
        explore(packed(0), transitions_of({}), workers=0)


def test_a_layer_cannot_be_written_to() -> None:
    def spoil(layer: Layer) -> None:
        layer.states[0] = 7

    with pytest.raises(ValueError, match="read-only"):
        explore(packed(0), transitions_of({}), on_layer=spoil)


@given(st.lists(st.integers(0, 6), max_size=12), st.integers(0, 80))
def test_layers_come_back_from_memory_or_file_and_the_budget_is_kept(sizes: list[int], budget: int) -> None:
    layers = [np.arange(size, dtype=np.uint64) + np.uint64(100 * depth) for depth, size in enumerate(sizes)]
    with LayerStore(budget) as store:
        for depth, layer in enumerate(layers):
            store.append(layer)
            assert store.nbytes <= budget
            assert store[depth].tolist() == layer.tolist()
        assert len(store) == len(layers)
        assert store.nbytes + store.spilled_bytes == sum(layer.nbytes for layer in layers)
        for depth in reversed(range(len(layers))):
            assert store[depth].tolist() == layers[depth].tolist()
        for depth in (-1, len(layers)):
            with pytest.raises(IndexError):
                store[depth]


def test_the_youngest_layers_stay_in_memory() -> None:
    layers = [np.arange(4, dtype=np.uint64) for _ in range(5)]
    with LayerStore(64) as store:
        for layer in layers:
            store.append(layer)
        assert [store[depth] is layers[depth] for depth in range(5)] == [False, False, False, True, True]
        assert (store.nbytes, store.spilled_bytes) == (64, 96)


def test_a_spilled_layer_leaves_no_name_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with LayerStore(0) as store:
        store.append(packed(1, 2, 3))
        assert store[0].tolist() == [1, 2, 3]
        assert list(tmp_path.iterdir()) == []


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 5), st.integers(0, LARGEST))
def test_sorting_in_parts_is_sorting(workers: int, seed: int) -> None:
    states = np.random.default_rng(seed).integers(0, LARGEST, 40_000, np.uint64, endpoint=True)
    states[:3] = (0, LARGEST, 1)
    states = np.unique(states)
    shuffled = np.random.default_rng(seed).permutation(states)
    layers, _ = layers_of(packed(5), lambda given: [shuffled] if given[0] == 5 else [], workers)
    assert layers[1] == sorted(set(states.tolist()) - {5})
    assert all(low < high for low, high in pairwise(layers[1]))

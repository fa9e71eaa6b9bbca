"""Runs that cover: everything that is wanted is in some run, and each run is one of the graph."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import assume, given

from checker.conformance.graph import CutShort, Erring, Graph, build
from checker.conformance.paths import Cover, cover, shortest
from checker.engines import oracle
from checker.exploration import Limits
from model.loader import load_file
from model.specification import Conform
from model.system import TransitionSystem
from tests.strategies.specifications import specifications
from tests.strategies.trying import loaded, systems, tries

ROOT = Path(__file__).resolve().parents[2]
TWO_PHASE_COMMIT = ROOT / "spec" / "classics" / "two_phase_commit.yaml"
STAMPS = Path(__file__).parent / "stamps.yaml"
STATES_MAX = 400


def graph_of(path: Path, scenario: str = "baseline") -> Graph:
    return build(TransitionSystem.of(load_file(path).scenarios[scenario]), Limits())


def check_runs(graph: Graph, found: Cover) -> None:
    """Every run starts in an initial state, each transition begins where the one before it ends, and all is covered."""
    sources = graph.sources()
    for run in found.runs:
        assert run.start < graph.initial
        here = run.start
        for edge in run.edges:
            assert sources[edge] == here
            here = graph.targets[edge]
    assert {found.aims[edge] for run in found.runs for edge in run.edges} == set(found.aims)


def test_the_runs_of_two_phase_commit_take_every_one_of_its_transitions() -> None:
    graph = graph_of(TWO_PHASE_COMMIT)
    found = cover(graph, "transitions")

    # TLC's published figure counts the initial state among those that it generates: 1,146.
    assert len({edge for run in found.runs for edge in run.edges}) == 1_146 - 1
    check_runs(graph, found)


def test_a_restart_is_taken_only_where_no_way_leads_on_cheaply() -> None:
    graph = graph_of(STAMPS)
    found = cover(graph, "transitions")

    # The graph goes round, so far fewer runs than transitions do, and they repeat little.
    assert len(found.runs) < len(graph.targets) / 10
    assert found.transitions < 3 * len(graph.targets)


def test_the_same_graph_gives_the_same_runs() -> None:
    first, second = (cover(graph_of(STAMPS, "smudged"), "situations") for _ in range(2))

    assert first.runs == second.runs


def test_situations_are_pairs_of_a_path_through_a_step_and_the_values_before_it() -> None:
    graph = graph_of(STAMPS, "smudged")
    found = cover(graph, "situations")

    names = [slot.name for slot in graph.system.slots]
    status, stamps = names.index("status"), names.index("stamps")
    driven = {
        (graph.ways[graph.way_of[edge]], graph.states[source][status], graph.states[source][stamps])
        for run in found.runs
        for source, edge in zip([run.start, *(graph.targets[e] for e in run.edges)], run.edges, strict=False)
    }
    every = {
        (graph.ways[graph.way_of[edge]], graph.states[state][status], graph.states[state][stamps])
        for state in range(len(graph.states))
        for edge in graph.leaving(state)
    }
    # There is one clerk only, so that a path of a step and the way of an instance are the same.
    assert driven == every
    assert found.wanted == len(every)


def test_two_branches_with_the_same_outcome_are_two_paths() -> None:
    graph = graph_of(STAMPS)
    picks = {way.path for way in graph.ways if way.action.label == "pick" and way.action.kind == "step"}

    # Two colours, and for each the book may have been written to since it was read.
    assert len(picks) == 4


def test_a_shortest_run_leads_to_the_state() -> None:
    graph = graph_of(STAMPS)
    depth = [0] * graph.initial + [0] * (len(graph.states) - graph.initial)
    for state in range(len(graph.states)):
        run = shortest(graph, state)
        assert (graph.targets[run.edges[-1]] if run.edges else run.start) == state
        depth[state] = len(run.edges)

    sources = graph.sources()
    assert all(depth[graph.targets[edge]] <= depth[sources[edge]] + 1 for edge in range(len(graph.targets)))


def test_too_many_states_are_refused_with_the_limit() -> None:
    system = TransitionSystem.of(load_file(STAMPS).scenarios["baseline"])

    with pytest.raises(CutShort, match="more than 50 states"):
        build(system, Limits(), 50)


def test_an_interrupt_ends_the_search() -> None:
    system = TransitionSystem.of(load_file(STAMPS).scenarios["baseline"])

    with pytest.raises(CutShort, match="interrupted"):
        build(system, Limits(interrupted=True))


@tries(25)
@given(specifications())
def test_a_random_graph_is_that_of_the_oracle_and_its_runs_cover_it(text: str) -> None:
    for system in systems(loaded(text)):
        explored = oracle.explore(system, Limits(states_max=STATES_MAX))
        assume(explored.complete)
        try:
            graph = build(system, Limits())
        except Erring:
            assert explored.failure is not None
            continue
        assert (len(graph.states), len(graph.targets)) == (explored.states, explored.transitions)
        modes: list[Conform] = ["transitions"]
        if "situation" in system.specification.views:
            modes.append("situations")
        for mode in modes:
            check_runs(graph, cover(graph, mode))

"""State counts that others have published: whoever means something else by the same protocol counts something else.

Sources:

- two-phase commit of three managers, 288 states, 1,146 generated, depth 11: the manifest of the TLA+ examples
  (`transaction_commit/TwoPhase.cfg`), as TLC counts.
- two-phase commit of three and of five managers, 288 and 8,832 states: asserted by stateright's example `2pc`, where
  one search is breadth first and the other depth first. The plain explorer counts five managers in `tests/engines`.
- everything larger, and the killed workflow: SPIN finds these counts in the models in `benchmarks/models/`, and rumur
  and TLC agreed with SPIN in models of their own languages.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from checker.engines import columnar, oracle
from checker.exploration import Exploration, Limits
from model.loader import load_file
from model.system import TransitionSystem

CLASSICS = Path(__file__).resolve().parents[2] / "spec" / "classics"

large = pytest.mark.skipif(
    not os.environ.get("KILLPOINT_LARGE"), reason="ten million states each: set KILLPOINT_LARGE=1 to count them"
)


def system_of(specification: str, settings: Mapping[str, int]) -> TransitionSystem:
    scenario = load_file(CLASSICS / f"{specification}.yaml").scenarios["baseline"]
    return TransitionSystem.of(replace(scenario, set={**scenario.set, **settings}))


def commit(managers: int) -> TransitionSystem:
    return system_of("two_phase_commit", {"managers": managers})


def workflow(coordinators: int, attempts: int, crashes: int) -> TransitionSystem:
    settings = {"coordinators": coordinators, "attempts": attempts, "crashes": crashes}
    return system_of("killed_workflow_benchmark", settings)


def explored(system: TransitionSystem, only: str, workers: int = 1) -> Exploration:
    """Explore looking at one safety property, which holds."""
    (exploration,) = columnar.explore([system], Limits(workers=workers), properties=[only])
    assert exploration.complete
    assert exploration.failure is None
    assert exploration.findings == {}
    return exploration


def counts(exploration: Exploration) -> tuple[int, int]:
    return exploration.states, exploration.transitions


def test_two_phase_commit_of_three_managers_is_as_large_as_tlc_says() -> None:
    system = commit(3)

    for exploration in (oracle.explore(system, Limits()), *columnar.explore([system], Limits())):
        assert exploration.complete
        assert (exploration.states, exploration.generated, exploration.depth) == (288, 1_146, 11), exploration.engine


def test_two_phase_commit_of_five_managers_is_as_large_as_stateright_says() -> None:
    (exploration,) = columnar.explore([commit(5)], Limits())

    assert exploration.complete
    assert counts(exploration) == (8_832, 58_145)


@pytest.mark.parametrize("workers", [1, 2])
def test_two_phase_commit_of_seven_managers_is_as_large_as_spin_says(workers: int) -> None:
    assert counts(explored(commit(7), "consistent", workers)) == (296_448, 2_744_705)


def test_the_killed_workflow_is_as_large_for_both_engines_as_spin_rumur_and_tlc_say() -> None:
    system = workflow(2, 2, 1)

    plain = oracle.explore(system, Limits())
    assert plain.complete
    assert counts(plain) == (16_887, 50_608)
    assert counts(explored(system, "one_submission")) == (16_887, 50_608)


@pytest.mark.slow
def test_the_killed_workflow_of_three_coordinators_is_as_large_as_spin_rumur_and_tlc_say() -> None:
    assert counts(explored(workflow(3, 2, 2), "one_submission", workers=2)) == (1_171_674, 5_787_290)


@large
def test_two_phase_commit_of_nine_managers_is_as_large_as_spin_and_tlc_say() -> None:
    assert counts(explored(commit(9), "consistent", workers=2)) == (10_340_352, 123_558_401)


@large
def test_the_killed_workflow_of_three_attempts_is_as_large_as_spin_rumur_and_tlc_say() -> None:
    assert counts(explored(workflow(3, 3, 2), "one_submission", workers=2)) == (9_837_759, 51_876_387)

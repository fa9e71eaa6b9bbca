"""The reference implementation of operator control is driven along its models, and its mistakes are told from it.

Everything is behind `make conform`; here are small scenarios, and every mistake in the scenario that shows it soonest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from checker.conformance.adapter import Adapter, Setting, UnknownSetting
from checker.conformance.adapters import delivery_profiles, operator_control
from checker.conformance.driver import Driven, Driver, drive
from checker.conformance.graph import Graph, build
from checker.conformance.paths import Cover, cover
from checker.exploration import Limits
from model.loader import load_file
from model.specification import Scenario
from model.system import TransitionSystem

ROOT = Path(__file__).parents[2]

HONEST = [
    ("delivery_profiles", "baseline"),
    ("delivery_profiles", "q-b10-short-window"),
    ("operator_control", "q-b14-receipts-full"),
]

MISTAKES = [
    ("delivery_profiles", "lease-ignored", "q-b3-accepted-too-late", {"worker at"}),
    ("delivery_profiles", "generation-not-compared", "q-b1-paused-worker", {"worker[0] at"}),
    ("delivery_profiles", "unknown-not-held", "baseline", {"state"}),
    ("delivery_profiles", "confirmation-dropped", "baseline", {"state", "delivery"}),
    ("delivery_profiles", "sends-before-it-is-stored", "baseline", {"worker at"}),
    ("delivery_profiles", "silence-is-failure", "baseline", {"state", "delivery"}),
    ("delivery_profiles", "attempt-counted-late", "baseline", {"attempts"}),
    ("delivery_profiles", "registration-reinterprets", "all-that-ends-an-attempt", {"state"}),
    ("delivery_profiles", "budgets-forgotten", "baseline", {"state", "reason"}),
    ("operator_control", "receipt-outside-the-transaction", "baseline", {"receipt[1]"}),
    ("operator_control", "version-before-receipt", "baseline", {"control.verdict"}),
    ("operator_control", "version-read-again", "baseline", {"receipt[1]"}),
    ("operator_control", "authority-not-asked-again", "q-b12-revoked", {"receipt[1]", "control.verdict"}),
    ("operator_control", "retry-resets-attempts", "baseline", {"attempts"}),
    ("operator_control", "retry-releases-hold", "baseline", {"state", "receipt[1]"}),
    ("operator_control", "budgets-forgotten", "baseline", {"state"}),
    ("operator_control", "unknown-not-held", "baseline", {"state"}),
    ("operator_control", "confirmation-dropped", "baseline", {"state", "delivery"}),
    ("operator_control", "silence-is-failure", "baseline", {"state", "delivery"}),
]
"""Specification, mistake, scenario, and some of the variables in which it shows."""

ADAPTERS: dict[str, Callable[[], Adapter]] = {
    "delivery_profiles": delivery_profiles.Adapter,
    "operator_control": operator_control.Adapter,
}


@cache
def claim_of(specification: str, scenario: str) -> Scenario:
    """Load a scenario."""
    return load_file(ROOT / "spec" / f"{specification}.yaml").scenarios[scenario]


@cache
def driven_through(specification: str, scenario: str) -> tuple[TransitionSystem, Graph, Cover]:
    """Return the graph of a scenario, and runs that take all its transitions."""
    system = TransitionSystem.of(claim_of(specification, scenario))
    graph = build(system, Limits())
    return system, graph, cover(graph, "transitions")


def driven(specification: str, scenario: str, adapter: Adapter, defect: str = "") -> Driven:
    """Drive the implementation through all transitions of a scenario."""
    system, graph, runs = driven_through(specification, scenario)
    driver = Driver(claim_of(specification, scenario), system, adapter, defect)
    return drive(driver, graph, runs, lambda _: "")


@pytest.fixture
def adapters() -> Iterator[dict[str, Adapter]]:
    made: dict[str, Adapter] = {name: make() for name, make in ADAPTERS.items()}
    yield made
    for adapter in made.values():
        adapter.close()


@pytest.mark.parametrize(("specification", "scenario"), HONEST)
def test_the_implementation_takes_every_transition_of_the_model(
    specification: str, scenario: str, adapters: dict[str, Adapter]
) -> None:
    result = driven(specification, scenario, adapters[specification])
    assert result.divergence is None
    assert result.covered == result.wanted
    assert result.unseen == ()


@pytest.mark.parametrize(("specification", "defect", "scenario", "where"), MISTAKES)
def test_every_mistake_shows_where_it_matters(
    specification: str, defect: str, scenario: str, where: set[str], adapters: dict[str, Adapter]
) -> None:
    found = driven(specification, scenario, adapters[specification], defect).divergence
    assert found is not None
    assert where <= {difference.name for difference in found.differences}


@pytest.mark.parametrize("specification", ADAPTERS)
def test_no_mistake_goes_untested(specification: str, adapters: dict[str, Adapter]) -> None:
    tested = {defect for name, defect, _, _ in MISTAKES if name == specification}
    assert tested == set(adapters[specification].defects)


@pytest.mark.parametrize("specification", ADAPTERS)
def test_what_the_implementation_does_not_have_is_refused(specification: str, adapters: dict[str, Adapter]) -> None:
    for setting in (Setting({}, "no-such-variant"), Setting({}, "", "no-such-defect"), Setting({"no_such": 1})):
        with pytest.raises(UnknownSetting):
            adapters[specification].reset(setting)

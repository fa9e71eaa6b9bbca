"""Audited recovery held against its two models: small scenarios in full, and every deliberate mistake once.

The other scenarios that say `conform` are driven by `killpoint conform`.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from importlib import import_module

import pytest

pytest.importorskip("fcntl", reason="leases are `flock` locks")

from checker.conformance.audited import AuditedAdapter
from checker.conformance.driver import Driven, Driver, drive
from checker.conformance.graph import Graph, build
from checker.conformance.paths import Cover, cover
from checker.exploration import Limits
from model.bundled import specification_directory
from model.loader import load_file
from model.specification import Scenario
from model.system import TransitionSystem

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="asks /proc and the kernel of Linux about processes")

FIRST, REVISED = "audited_recovery", "audited_recovery_revised"
CAUGHT = {
    FIRST: {
        "x1-one-force-flag": ("q-c9-others-come", "recheck_run"),
        "x2-judged-by-age": ("foreign-host", "recheck_lock"),
        "x3-intent-after-effect": ("q-c9-tested", "write_intent"),
        "x4-corrupt-transcript-as-ledger": ("what-it-was-made-for", "write_intent"),
        "x5-gate-for-release": ("foreign-host", "compare"),
        "unlock-without-recheck": ("foreign-host", "recheck_lock"),
        "unlock-of-any-lock": ("q-c3-start-time-compared", "recheck_lock"),
        "reclaim-without-recheck": ("q-c9-tested", "recheck_run"),
        "reclaim-of-any-evidence": ("q-c9-tested", "recheck_run"),
        "recovery-without-gate": ("q-c9-others-come", "enter"),
        "leases-only-tested": ("q-c9-tested", "enter"),
        "completion-never": ("q-c9-tested", "complete"),
        "completion-with-intent": ("q-c9-tested", "write_intent"),
        "audit-failure-ignored": ("foreign-host", "write_intent"),
        "proof-forbids": ("what-it-was-made-for", "start"),
        "life-left-out": ("q-c9-others-come", "recheck_run"),
        "inconclusive-is-dead": ("q-c3-start-time-compared", "recheck_lock"),
        "malformed-is-dead": ("unreadable-record", "recheck_lock"),
        "foreign-is-probed": ("foreign-host", "recheck_lock"),
        "acquire-without-gate": ("q-c9-tested", "start"),
        "acquire-replaces": ("foreign-host", "look"),
        "resume-in-ruins": ("q-c9-tested", "look"),
        "release-uncompared": ("q-c2-twin-host", "compare"),
    },
    REVISED: {
        "live-is-dead": ("gained-nobody-to-call", "look"),
        "inconclusive-is-dead": ("gained-nobody-to-call", "look"),
        "malformed-is-dead": ("kept-unreadable-records-out", "look"),
        "foreign-is-probed": ("kept-foreign-hosts-out", "look"),
        "second-look-dropped": ("q-c1-second-look", "look_again"),
        "owner-without-gate": ("kept-twin-hosts-mistake", "start"),
        "created-over-another": ("q-c1-second-look", "create"),
        "resume-in-ruins": ("q-c8-before", "look"),
        "release-uncompared": ("kept-twin-hosts-mistake", "compare"),
        "force-means-everything": ("q-c5-recheck-under-gate", "recheck"),
        "no-event": ("q-c8-before", "announce"),
        "no-completion": ("q-c8-both", "complete"),
    },
}


@functools.cache
def prepared(name: str, scenario: str) -> tuple[Scenario, Graph, Cover]:
    """The graph of a scenario, and the runs that cover what it is to be driven through."""
    claim = load_file(specification_directory() / f"{name}.yaml").scenarios[scenario]
    assert claim.conform
    graph = build(TransitionSystem.of(claim), Limits())
    return claim, graph, cover(graph, claim.conform)


@pytest.fixture(scope="module", params=[FIRST, REVISED])
def adapter(request: pytest.FixtureRequest) -> Iterator[AuditedAdapter]:
    made: AuditedAdapter = import_module(f"checker.conformance.adapters.{request.param}").Adapter()
    yield made
    made.close()


def driven(adapter: AuditedAdapter, scenario: str, defect: str = "") -> Driven:
    claim, graph, runs = prepared(name_of(adapter), scenario)
    return drive(Driver(claim, graph.system, adapter, defect), graph, runs, lambda _: "")


def name_of(adapter: AuditedAdapter) -> str:
    return type(adapter).__module__.rpartition(".")[2]


SMALL = {FIRST: ("q-c9-tested",), REVISED: ("q-c5-recheck", "kept-twin-hosts-mistake")}


def test_the_implementation_takes_every_transition_of_small_scenarios_as_the_model_has_it(
    adapter: AuditedAdapter,
) -> None:
    for scenario in SMALL[name_of(adapter)]:
        result = driven(adapter, scenario)
        assert result.divergence is None, (scenario, result.divergence)
        assert result.covered == result.wanted > 100


def test_every_mistake_is_looked_for_and_shows_in_the_step_that_has_it(adapter: AuditedAdapter) -> None:
    expected = CAUGHT[name_of(adapter)]
    assert set(expected) == set(adapter.defects)
    shown = {}
    for defect, (scenario, _) in expected.items():
        divergence = driven(adapter, scenario, defect).divergence
        shown[defect] = (scenario, divergence.trace.steps[-1].action.label if divergence else "nowhere")
    assert shown == expected

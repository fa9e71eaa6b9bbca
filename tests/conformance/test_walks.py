"""Random walks: an honest system's are runs of the model, and what it does beyond the model is found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from checker.conformance.accepts import Rejection
from checker.conformance.adapter import Action, Refused, Setting
from checker.conformance.graph import build
from checker.conformance.paths import shortest
from checker.conformance.walks import Walk, Wandered, shortened, wander
from checker.exploration import Limits
from model.loader import load_file
from model.system import State, TransitionSystem
from tests.conformance.machines import walk_everywhere
from tests.conformance.office import Office

FILE = load_file(Path(__file__).parent / "stamps.yaml")
BASELINE = FILE.scenarios["baseline"]


def wandered(defect: str = "", scenario: str = "baseline", seed: int = 0) -> Wandered:
    claim = FILE.scenarios[scenario]
    system = TransitionSystem.of(claim)
    return wander(
        lambda initial: Walk(claim, system, Office(), defect, initial),
        system.initial_states,
        str,
        seed=seed,
        walks=30,
        length=40,
    )


def rejection_of(found: Wandered) -> Rejection:
    assert found.failed is not None
    assert found.failed.rejection is not None
    return found.failed.rejection


@pytest.mark.parametrize("scenario", FILE.scenarios)
def test_the_walks_of_an_honest_system_are_runs_of_the_model(scenario: str) -> None:
    found = wandered(scenario=scenario)

    assert found.failed is None
    assert (found.walks, found.taken) == (30, 30 * 40)


def test_the_same_seed_gives_the_same_walks_and_another_one_others() -> None:
    assert wandered() == wandered()
    assert wandered().refused != wandered(seed=1).refused


def test_what_the_model_does_not_allow_and_never_drives_is_found() -> None:
    event = rejection_of(wandered("empties-early")).event

    assert (event.process, event.label) == ("chief", "empty")


def test_a_refusal_that_changes_something_is_found() -> None:
    assert rejection_of(wandered("changes-when-refusing")).event.kind == "observed"


def test_a_walk_is_not_offered_more_faults_than_the_scenario_allows() -> None:
    claim = FILE.scenarios["smudged"]
    walk = Walk(claim, TransitionSystem.of(claim), Office())
    for step, choices, faults in [
        ("rest", (), ()),
        ("pick", ("red",), ()),
        ("stamp", (), ("smudge",)),
        ("rest", (), ()),
    ]:
        assert all(offer.kind != "crash" for offer in walk.offers())
        walk.take(Action("step", "clerk", 0, step, choices, faults))
    walk.take(Action("step", "clerk", 0, "pick", ("red",)))

    assert walk.rejection is None
    assert all("smudge" not in offer.faults for offer in walk.offers())
    walk.take(Action("step", "clerk", 0, "stamp"))
    assert any(offer.kind == "crash" for offer in walk.offers())


def test_a_walk_that_went_wrong_is_gone_again_on_the_shortest_way() -> None:
    system = TransitionSystem.of(BASELINE)
    graph = build(system, Limits())
    failed = wandered("empties-early").failed
    assert failed is not None

    def again() -> Walk:
        return Walk(BASELINE, system, Office(), "empties-early")

    def way_to(state: State) -> Walk:
        way = shortest(graph, graph.states.index(state))
        return shortened(failed, again, graph.trace(way.start, way.edges))

    walk = way_to(rejection_of(wandered("empties-early")).possible[0])
    assert walk.rejection is not None
    assert walk.rejection.event.label == "empty"
    assert len(walk.acceptor.events) <= len(failed.acceptor.events)


class Lavish(Office):
    """Offers to decide more than the clerk comes to."""

    def offers(self) -> Sequence[Action]:
        return [replace(offer, choices=(*offer.choices, "gold")) for offer in super().offers()]

    def perform(self, action: Action) -> None:
        wanted = 1 if action.step == "pick" and action.kind == "step" else 0
        super().perform(replace(action, choices=action.choices[:wanted]))


def test_what_is_decided_beforehand_and_never_comes_up_is_no_difference() -> None:
    system = TransitionSystem.of(BASELINE)
    walk = Walk(BASELINE, system, Lavish())
    for offer in (walk.offers()[0], walk.offers()[0]):
        walk.take(offer)
        assert walk.rejection is None
    walk.take(Action("step", "clerk", 0, "pick", ("gold", "red")))
    assert rejection_of(Wandered(failed=walk)).event.choices == ("gold", "red")


class Quitting(Office):
    """It can close for good at any time; nothing happens after that."""

    def reset(self, setting: Setting) -> None:
        super().reset(setting)
        self.closed_for_good = False

    def perform(self, action: Action) -> None:
        if self.closed_for_good:
            raise Refused("closed")
        if action.id == "chief.empty":
            self.closed_for_good = True
        super().perform(action)


def test_what_ends_a_walk_early_is_drawn_more_seldom_and_others_come_further() -> None:
    system = TransitionSystem.of(BASELINE)
    quitting = Quitting()

    def walked(walks: int) -> Wandered:
        return wander(
            lambda initial: Walk(BASELINE, system, quitting, initial=initial),
            system.initial_states,
            str,
            seed=1,
            walks=walks,
            length=40,
        )

    # Drawn like any other action it would end a walk after four or so, and one in ten thousand would have its length.
    found = walked(100)
    assert found.failed is None
    assert found.taken - walked(50).taken > 50 * 20


def test_hypothesis_walks_an_honest_system() -> None:
    walk_everywhere(BASELINE, Office, walks=20, length=25)


@pytest.mark.parametrize("defect", ["empties-early", "stamps-twice", "changes-when-refusing"])
def test_hypothesis_finds_what_the_model_does_not_allow(defect: str) -> None:
    with pytest.raises(AssertionError, match="the model does not allow"):
        walk_everywhere(BASELINE, Office, defect, walks=100, length=25, shrink=False)

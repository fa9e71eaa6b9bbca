"""Driving: an honest system goes all the way, and every kind of difference is found and shown."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from checker.conformance.adapter import Action, Adapter, AdapterFailed, Observation, Plain, UnknownSetting
from checker.conformance.driver import Driven, Driver, drive
from checker.conformance.graph import CutShort, Erring, Graph, build
from checker.conformance.paths import cover
from checker.conformance.translation import Difference
from checker.conformance.walks import Walk, wander
from checker.exploration import Limits
from model.diagnostics import SpecificationError
from model.loader import load_file
from model.specification import Scenario
from model.system import TransitionSystem
from tests.conformance.mirror import Mirror
from tests.conformance.office import Office
from tests.strategies.specifications import specifications
from tests.strategies.trying import loaded, tries

FILE = load_file(Path(__file__).parent / "stamps.yaml")
BASELINE = FILE.scenarios["baseline"]


def driven(adapter: Adapter, defect: str = "", claim: Scenario = BASELINE) -> Driven:
    """Drive an adapter through a scenario."""
    system = TransitionSystem.of(claim)
    graph = build(system, Limits())
    return drive(Driver(claim, system, adapter, defect), graph, cover(graph, claim.conform or "transitions"), never)


def never(_: Driven) -> str:
    return ""


@pytest.mark.parametrize("scenario", FILE.scenarios)
def test_an_honest_system_is_driven_through_everything(scenario: str) -> None:
    result = driven(Office(), claim=FILE.scenarios[scenario])

    assert result.divergence is None
    assert result.covered == result.wanted > 0
    # Whether the book has been written to since is not something that the office tells.
    assert result.unseen == ("clerk fresh book",)


def test_a_wrong_value_is_shown_with_what_the_model_has() -> None:
    found = driven(Office(), "stamps-twice").divergence

    assert found is not None
    assert (found.kind, found.trace.steps[-1].action.label, found.trace.steps[-1].choices) == ("differs", "stamp", ())
    assert found.differences == (Difference("stamps", 1, 2),)
    # rest, pick(blue), stamp: no shorter run has a blue stamp in it.
    assert len(found.trace) == 3
    assert found.nearest[0].step is not None
    assert found.nearest[0].step.action.label == "stamp"


def test_a_step_that_does_nothing_is_recognized_as_what_it_does() -> None:
    found = driven(Office(), "forgets-to-record").divergence

    assert found is not None
    assert found.differences == (Difference("status", "stamped", "stamping"),)


def test_a_refusal_of_what_the_model_allows_is_a_difference_and_shown_on_a_shortest_way() -> None:
    found = driven(Office(), "refuses-blue").divergence

    assert found is not None
    assert (found.kind, found.refusal) == ("refused", "no blue any more")
    assert [step.action.label for step in found.trace.steps] == ["rest", "pick"]
    assert found.differences == ()


def test_a_system_that_starts_elsewhere_is_not_driven_at_all() -> None:
    result = driven(Office(), "starts-stamped")

    assert result.divergence is not None
    assert (result.divergence.kind, result.actions) == ("start", 0)
    assert result.divergence.differences == (Difference("status", "empty", "stamped"),)


def test_the_memory_that_a_step_or_crash_leaves_behind_is_compared() -> None:
    found = driven(Office(), "keeps-its-memory").divergence

    assert found is not None
    assert [difference.name for difference in found.differences] == ["clerk.picked"]


def test_what_is_cut_short_is_no_success() -> None:
    system = TransitionSystem.of(BASELINE)
    graph = build(system, Limits())
    result = drive(
        Driver(BASELINE, system, Office()), graph, cover(graph, "transitions"), lambda so_far: "enough" * so_far.runs
    )

    assert result.cut == "enough"
    assert 0 < result.covered < result.wanted


def test_a_mutant_of_the_model_is_conformed_to_by_the_system_with_the_same_defect_only() -> None:
    mutant = FILE.mutants["never-recorded"]

    assert driven(Office(), "forgets-to-record", mutant).divergence is None
    assert driven(Office(), "", mutant).divergence is not None


@pytest.mark.parametrize(
    ("defect", "message"),
    [
        ("observes-an-unknown", "it observes `letters`, which the model does not have here"),
        ("observes-nonsense", "it observes 1.5 as the value of `stamps`"),
        ("breaks-off", "it broke off in action 4, step clerk.record: ZeroDivisionError: out of ink"),
    ],
)
def test_an_adapter_that_is_at_fault_is_no_difference(defect: str, message: str) -> None:
    with pytest.raises(AdapterFailed, match=message.replace("(", r"\(")):
        driven(Office(), defect)


def test_a_defect_that_the_system_does_not_have_is_said() -> None:
    with pytest.raises(UnknownSetting, match="no defect is named nothing"):
        driven(Office(), "nothing")


class Untidy(Office):
    """Tells the colours in another order, and counts on where the model stops counting."""

    most = 0

    def observe(self) -> Observation:
        self.most = max(self.most, self.stamps)
        inked: list[Plain] = [*sorted(self.inked, reverse=True)]
        return {**super().observe(), "inked": inked}


def test_the_order_of_a_set_and_what_is_counted_beyond_the_end_of_a_counter_do_not_matter() -> None:
    untidy = Untidy()

    assert driven(untidy).divergence is None
    assert untidy.most > 2


class Boolean(Office):
    """Observes `true` where the model has 1."""

    def observe(self) -> Observation:
        return {**super().observe(), "stamps": self.stamps > 0 if self.stamps <= 1 else self.stamps}


def test_true_is_not_one() -> None:
    found = driven(Boolean()).divergence

    assert found is not None
    assert found.differences == (Difference("stamps", 0, False),)


# --- Any protocol, played by the evaluator ---


def told_apart(graph: Graph) -> bool:
    """Tell whether choices and faults say which transition is meant: two draws of one fault in a step do not."""
    alike = Counter(
        (state, way.action, way.choices, way.faults)
        for state in range(len(graph.states))
        for way in (graph.ways[graph.way_of[edge]] for edge in graph.leaving(state))
    )
    return max(alike.values(), default=0) <= 1


@tries(15)
@given(specifications())
def test_a_model_conforms_to_itself_and_walks_in_itself(text: str) -> None:
    for claim in loaded(text).scenarios.values():
        try:
            system = TransitionSystem.of(claim)
            graph = build(system, Limits(), 300)
        except (CutShort, Erring, SpecificationError):
            continue
        assume(told_apart(graph))
        mirror = Mirror(system)
        result = drive(Driver(claim, system, mirror), graph, cover(graph, "transitions"), never)
        assert result.divergence is None
        assert result.covered == result.wanted
        walked = wander(
            lambda initial: Walk(claim, system, mirror, initial=initial),  # noqa: B023 - called at once
            system.initial_states,
            str,
            seed=1,
            walks=2,
            length=10,
        )
        assert walked.failed is None


@tries(30)
@given(st.data())
def test_any_single_transition_that_comes_out_otherwise_is_found(data: st.DataObject) -> None:
    system = TransitionSystem.of(BASELINE)
    graph = build(system, Limits())
    edge = data.draw(st.integers(0, len(graph.targets) - 1))
    source, target = graph.sources()[edge], graph.targets[edge]
    other = data.draw(st.integers(0, len(graph.states) - 1).filter(lambda state: state != target))
    way = graph.ways[graph.way_of[edge]]

    def distortion(state: object, transition: object) -> object:
        hit = state == graph.states[source] and (transition.action, transition.choices) == (way.action, way.choices)  # type: ignore[attr-defined]
        return graph.states[other] if hit else transition.successor  # type: ignore[attr-defined]

    adapter = Mirror(system, distortion)  # type: ignore[arg-type]
    result = drive(Driver(BASELINE, system, adapter), graph, cover(graph, "transitions"), never)

    assert result.divergence is not None
    last = result.divergence.trace
    assert (last.states[-2], last.steps[-1].action) == (graph.states[source], way.action)


def test_actions_have_the_names_of_their_kill_points() -> None:
    assert Action("crash", "clerk", 0, "stamp", torn=True).id == "clerk.stamp.torn"

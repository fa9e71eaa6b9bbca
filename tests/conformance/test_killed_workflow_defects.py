"""Every deliberate mistake of the reference implementation shows where it is held against the model, with a trace."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from checker.conformance.adapters import killed_workflow, ledger_recovery
from checker.conformance.driver import Divergence, Driver, drive
from checker.conformance.graph import Graph, build
from checker.conformance.killing import Failed, Judge, Tally, kill_everywhere
from checker.conformance.paths import cover
from checker.conformance.translation import setting_of
from checker.exploration import Limits
from checker.trace import Trace, TraceStep
from model.evaluate import Evaluator
from model.loader import load_file
from model.specification import Scenario, SpecificationFile
from model.system import TransitionSystem
from model.transitions import Action, Transition
from model.types import Value
from tests.conformance.commands import ran

SPECIFICATIONS = Path(__file__).resolve().parents[2] / "spec"
Either = killed_workflow.Adapter | ledger_recovery.Adapter


@cache
def file(name: str) -> SpecificationFile:
    return load_file(SPECIFICATIONS / f"{name}.yaml")


@cache
def graph(name: str, scenario: str) -> Graph:
    return build(TransitionSystem.of(file(name).scenarios[scenario]), Limits())


@pytest.fixture
def workflow() -> Iterator[killed_workflow.Adapter]:
    adapter = killed_workflow.Adapter()
    yield adapter
    adapter.close()


@pytest.fixture
def ledger() -> Iterator[ledger_recovery.Adapter]:
    adapter = ledger_recovery.Adapter()
    yield adapter
    adapter.close()


def difference(adapter: Either, name: str, scenario: str, defect: str) -> Divergence | None:
    """Drive an adapter through a scenario, up to the first difference."""
    claim = file(name).scenarios[scenario]
    found = graph(name, scenario)
    assert claim.conform is not None
    driver = Driver(claim, found.system, adapter, defect)
    return drive(driver, found, cover(found, claim.conform), lambda _: "").divergence


WORKFLOW_SHOWS = {
    # The two that the documents name: where they are killed after the call, before its record.
    "unconfirmed-is-plain-dispatch": ("coordinator.rest", "coordinator at", "look_up", "record_intent"),
    "submit-without-look-up": ("coordinator.look_up", "coordinator at", "adopt", "submit"),
    "append-without-compare-and-set": (
        *("coordinator.advance", "run", "cancelled"),
        "recovery_inconsistent: illegal_transition",
    ),
    "confirmation-dropped": ("coordinator.record_reply", "submission[1]", "submitted", "not_submitted"),
    "doubt-forgotten": ("coordinator.rest", "coordinator at", "look_up", "advance"),
    "call-before-intent": ("coordinator.record_intent", "run", "dispatched", "admitted"),
    "retry-under-the-old-key": ("coordinator.rest", "coordinator.number", 2, 1),
}


@pytest.mark.parametrize("defect", WORKFLOW_SHOWS)
def test_a_mistake_of_the_workflow_shows_in_a_transition(workflow: killed_workflow.Adapter, defect: str) -> None:
    step, name, model, observed = WORKFLOW_SHOWS[defect]

    found = difference(workflow, "killed_workflow", "baseline", defect)

    assert found is not None
    last = found.trace.steps[-1].action
    assert f"{last.process}.{last.label}" == step
    assert (name, model, observed) in [(one.name, one.model, one.observed) for one in found.differences]


def test_a_retry_that_is_not_taken_shows_as_a_refusal(workflow: killed_workflow.Adapter) -> None:
    found = difference(workflow, "killed_workflow", "baseline", "failure-forgotten")

    assert found is not None
    assert (found.kind, found.refusal) == ("refused", "it waits at rest")
    assert found.trace.steps[-1].state[0] == "attempt_failed"


def killed(adapter: killed_workflow.Adapter, scenario: str, errand: str, defect: str) -> Failed | None:
    """Kill a coordinator once at every kill point of an errand, up to the first run that the model does not have."""
    claim = file("killed_workflow").scenarios[scenario]
    system = TransitionSystem.of(claim)
    holding = [p for p in system.specification.properties.values() if p.name == "one_submission"]
    setting = setting_of(claim, system, system.initial_states[0], defect)
    adapter.reset(setting)
    (chosen,) = (one for one in adapter.errands() if one.name == errand)
    judge = Judge(system, holding)
    return kill_everywhere(adapter, chosen, setting, judge, Tally(), kills=1, on_run=lambda _done, _of: None)


def test_a_gate_that_nobody_asks_shows_when_it_is_closed(workflow: killed_workflow.Adapter) -> None:
    found = killed(workflow, "q-a13-asked-by-the-provider", "gate-closed", "gate-dropped")

    assert found is not None
    assert not found.kills, "nobody has to be killed for it"
    assert found.message.startswith("the model does not allow step coordinator.rest")


@pytest.mark.parametrize("defect", ["unconfirmed-is-plain-dispatch", "submit-without-look-up"])
def test_the_mistakes_that_the_documents_name_submit_twice_when_killed(
    workflow: killed_workflow.Adapter, defect: str
) -> None:
    found = killed(workflow, "baseline", "decided", defect)

    assert found is not None
    assert [kill.point for kill in found.kills] in (["coordinator.submit"], ["coordinator.record_reply"])


READING_SHOWS = {
    "chain-is-enough": ("one-attempt", "verdict"),
    "end-may-repeat": ("one-attempt", "verdict"),
    "numbers-may-regress": ("two-numbers", "verdict"),
    "identity-is-free": ("two-numbers", "verdict"),
    "silence-takes-back": ("one-attempt", "submission[1]"),
    "doubt-stays": ("one-attempt", "submission[1]"),
    "decision-may-change": ("one-decision", "verdict"),
    "decision-without-record": ("one-decision", "verdict"),
    "failure-forgotten": ("q-a10-any-order", "failure[1]"),
    "append-again": ("one-attempt-planned", "verdict"),
}


@pytest.mark.parametrize("defect", READING_SHOWS)
def test_a_mistake_of_the_reader_shows_in_a_transition(ledger: ledger_recovery.Adapter, defect: str) -> None:
    scenario, name = READING_SHOWS[defect]

    found = difference(ledger, "ledger_recovery", scenario, defect)

    assert found is not None
    assert name in {one.name for one in found.differences}


def scheduled(claim: Scenario, *schedule: tuple[int, str, tuple[Value, ...]]) -> Trace:
    """Return the run in which writers take these steps with these choices."""
    system = TransitionSystem.of(claim)
    trace = Trace(system.initial_states[0], ())
    for writer, label, choices in schedule:
        state = trace.steps[-1].state if trace.steps else trace.initial
        action = Action("writer", writer, label)
        step = next(
            TraceStep.of(t)
            for t in Evaluator(system).transitions_of(state, action)
            if isinstance(t, Transition) and t.choices == choices and not t.faults
        )
        trace = Trace(trace.initial, (*trace.steps, step))
    return trace


def test_without_compare_and_set_a_slow_writer_takes_a_confirmation_back(ledger: ledger_recovery.Adapter) -> None:
    claim = file("ledger_recovery").scenarios["q-a9-read-again"]
    system = TransitionSystem.of(claim)
    intent, confirmation = (("an_attempt", "dispatched", 1, 1, 1, s) for s in ("not_submitted", "submitted"))
    run = [("the_run", state) for state in ("proposed", "previewed", "admitted")]
    admitted = [step for told in run for step in ((0, "compose", told), (0, "append", ()))]
    both_intend = [(0, "compose", intent), (1, "compose", intent), (0, "append", ())]
    confirmed = [(0, "compose", confirmation), (0, "append", ())]
    trace = scheduled(claim, *admitted, *both_intend, *confirmed, (1, "append", ()))

    assert Driver(claim, system, ledger).follow(trace) is None
    found = Driver(claim, system, ledger, "append-without-compare-and-set").follow(trace)

    assert found is not None
    assert len(found.trace) == len(trace)
    seen = [(one.name, one.model, one.observed) for one in found.differences]
    assert ("submission[1]", "submitted", "not_submitted") in seen


def test_every_mistake_has_been_seen() -> None:
    assert {*WORKFLOW_SHOWS, "gate-dropped", "failure-forgotten"} == {*killed_workflow.Adapter.defects}
    assert {*READING_SHOWS, "append-without-compare-and-set"} == {*ledger_recovery.Adapter.defects}


@pytest.mark.parametrize(
    ("which", "defect"),
    [
        # A mistake of the coordinator in the setting of the documents.
        (("--mutant", "submit-without-look-up"), "submit-without-look-up"),
        (("--mutant", "unconfirmed-is-plain-dispatch"), "unconfirmed-is-plain-dispatch"),
        (("--mutant", "call-before-intent"), "call-before-intent"),
        # No mistake at all, and a promise less than that setting has.
        (("--scenario", "q-a1-slow-coordinator"), ""),
        (("--scenario", "q-a2-late-call"), ""),
        (("--scenario", "q-a5-lagging-lookup"), ""),
    ],
)
def test_a_counterexample_submits_twice_on_real_parts_too(
    capsys: pytest.CaptureFixture[str], which: tuple[str, str], defect: str
) -> None:
    done = ran(capsys, "conform", "killed_workflow", *which, "-p", "one_submission", "--defect", defect)

    assert done.code == 0
    assert "the system has followed to the end; observed there: submissions[1]=2" in done.out

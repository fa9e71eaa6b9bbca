"""The pure functions of the reference implementation against the model's tables, on all that there is to ask.

`plan_recovery` is asked in every situation that a run of so many attempts can be recorded in, reachable or not. The
reader is asked, in every state that any history leads to, about every record that can come next; each state is carried
by the implementation from record to record beside the model, so by induction the two agree on every sequence of
records, of any length. Nothing is drawn at random, and what was asked is counted.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import get_args

import pytest

from model.evaluate import Evaluator
from model.evaluate_expressions import Frame
from model.expressions import TableColumn
from model.loader import load_file
from model.observer import Unobserved
from model.reference.killed_workflow.drafts import Writer, proposal, submission
from model.reference.killed_workflow.planner import RecoveryPlan, plan_recovery
from model.reference.killed_workflow.reconstruct import AttemptState, Reader, RecoveredRunState, RecoveryError
from model.reference.killed_workflow.records import (
    Attempt,
    EvidenceReference,
    Failure,
    HumanDecision,
    Record,
    RunState,
    SubmissionState,
)
from model.system import State, TransitionSystem
from model.transitions import Action, EvaluationError, Transition
from model.types import Value

SPECIFICATIONS = Path(__file__).resolve().parents[2] / "spec"
FIRST = proposal("run-1", Writer(clock=lambda: "2026-01-01T00:00:00Z"))


@cache
def slots(system: TransitionSystem) -> dict[str, int]:
    return {slot.name: number for number, slot in enumerate(system.slots)}


def put(system: TransitionSystem, state: State, values: Mapping[str, Value]) -> State:
    changed = list(state)
    for name, value in values.items():
        changed[slots(system)[name]] = value
    return tuple(changed)


# -- the planner ------------------------------------------------------------------------------------------------------

RUN_STATES = get_args(RunState)
SUBMISSIONS = (None, *get_args(SubmissionState))
FAILURES = (None, Failure("failed", "provider", retryable=True), Failure("failed", "provider", retryable=False))


def situations(attempts: int) -> Iterator[RecoveredRunState]:
    """Yield every state of a run with up to so many attempts, each in any state of its submission and failure."""
    known = [AttemptState("", 0, "connection-1", "initial", s, failure=f) for s, f in product(SUBMISSIONS, FAILURES)]
    bare = Reader().begin(FIRST)
    for run, count in product(RUN_STATES, range(attempts + 1)):
        for listed in product(known, repeat=count):
            numbered = [replace(one, attempt_id=f"a-{n}", number=n) for n, one in enumerate(listed, start=1)]
            yield replace(bare, state=run, attempts=tuple(numbered))


@cache
def planning(attempts: int) -> tuple[TransitionSystem, dict[str, TableColumn]]:
    specification = load_file(SPECIFICATIONS / "killed_workflow.yaml").specification
    table = specification.tables["plan", None]
    nowhere = table.span
    columns = {name: TableColumn("plan", name, None, kind, nowhere) for name, kind in table.columns.items()}
    return TransitionSystem(specification, {"attempts": attempts}, {}), columns


def in_the_model(system: TransitionSystem, state: RecoveredRunState) -> State:
    values: dict[str, Value] = {"run": state.state, "attempt": len(state.attempts)}
    for attempt in state.attempts:
        values[f"submission[{attempt.number}]"] = attempt.submission or "unrecorded"
        if attempt.failure is not None:
            values[f"failure[{attempt.number}]"] = "retryable" if attempt.failure.retryable else "permanent"
    return put(system, system.initial_states[0], values)


def planned_by_the_model(attempts: int, state: RecoveredRunState) -> tuple[Value, ...] | None:
    """Return action, flag and gate; None where the table asks for an attempt that does not exist."""
    system, columns = planning(attempts)
    frame = Frame(system, Unobserved(), in_the_model(system, state))
    try:
        return tuple(frame.value(columns[name]) for name in ("action", "blind_resubmission_forbidden", "gate"))
    except EvaluationError:
        return None


def said(plan: RecoveryPlan) -> tuple[Value, ...]:
    """Return a plan in the model's words."""
    action = "no_action" if plan.action == "none" else plan.action
    gate = "no_gate" if plan.authority_required is None else f"{plan.authority_required}_gate"
    return action, plan.blind_resubmission_forbidden, gate


def kind_of(state: RecoveredRunState, model: tuple[Value, ...] | None, plan: tuple[Value, ...]) -> str:
    """Say in which way the two agree, or why they need not; empty where there is no reason to differ."""
    if model == plan:
        return "agree"
    if model is None and not state.attempts and state.state in {"dispatched", "attempt_failed"}:
        return "no attempt"
    sent = any(attempt.submission == "submitted" for attempt in state.attempts)
    if state.state == "admitted" and sent and plan[:2] == ("reconcile_provider", True):
        return "sent before its dispatch"
    return ""


@pytest.mark.parametrize(
    ("attempts", "asked", "differing"),
    [
        # 14 states; per attempt 5 submissions and 3 failures. The model has no word for a dispatch without an attempt,
        # and no row for a submission on record before its dispatch: 3 of 15 attempts are submitted, 3 in doubt.
        (1, 14 * (1 + 15), {"no attempt": 2, "sent before its dispatch": 3}),
        (2, 14 * (1 + 15 + 225), {"no attempt": 2, "sent before its dispatch": 3 + (12**2 - 9**2)}),
        (3, 14 * (1 + 15 + 225 + 3375), {"no attempt": 2, "sent before its dispatch": 3 + 12**2 - 9**2 + 12**3 - 9**3}),
    ],
)
def test_the_plan_is_the_models_in_every_situation(attempts: int, asked: int, differing: dict[str, int]) -> None:
    found: Counter[str] = Counter()
    for state in situations(attempts):
        model, plan = planned_by_the_model(attempts, state), said(plan_recovery(state, attempts))
        kind = kind_of(state, model, plan)
        assert kind, (state.state, state.attempts, model, plan)
        found[kind] += 1

    assert found.total() == asked
    assert found - Counter({"agree": found["agree"]}) == differing


def test_a_bound_of_attempts_changes_the_last_retry_and_nothing_else() -> None:
    changed = [state for state in situations(2) if plan_recovery(state, 2) != plan_recovery(state)]

    assert {plan_recovery(state).action for state in changed} <= {"retry_attempt", "await_operator"}
    assert {plan_recovery(state, 2).action for state in changed} == {"await_operator"}
    assert {(state.state, len(state.attempts)) for state in changed} == {("attempt_failed", 2)}


# -- the reader -------------------------------------------------------------------------------------------------------

APPEND = Action("writer", 0, "append")
COMPOSE = Action("writer", 0, "compose")
LEDGER = ("verdict", "run", "latest", "number", "connector", "submission", "failure", "decision", "decided_by")
DECISIONS = {number: EvidenceReference("human_decision_record", f"sha256:{number:064}") for number in (1, 2)}


@cache
def reading(*settings: tuple[str, Value]) -> TransitionSystem:
    return TransitionSystem(load_file(SPECIFICATIONS / "ledger_recovery.yaml").specification, dict(settings), {})


def known_to_the_model(system: TransitionSystem, state: State) -> dict[str, Value]:
    named = {name: state[number] for name, number in slots(system).items()}
    return {name: value for name, value in named.items() if name.partition("[")[0] in LEDGER}


def known_to_the_reader(system: TransitionSystem, state: RecoveredRunState | RecoveryError | None) -> dict[str, Value]:
    known: dict[str, Value] = {"verdict": "accepted", "run": None, "decision": "not_recorded", "decided_by": None}
    attempts: dict[str, AttemptState] = {}
    if isinstance(state, RecoveryError):
        known["verdict"] = state.reason
    elif state is not None:
        known["run"], known["decision"] = state.state, state.human_decision.state
        numbers = {record: number for number, record in DECISIONS.items()}
        known["decided_by"] = None if state.human_decision.record is None else numbers[state.human_decision.record]
        attempts = {attempt.attempt_id: attempt for attempt in state.attempts}
    known["latest"] = max((attempt.number for attempt in attempts.values()), default=0)
    for number in range(1, int(str(system.parameters["attempts"])) + 1):
        attempt = attempts.get(f"a-{number}")
        failure = None if attempt is None else attempt.failure
        known[f"number[{number}]"] = None if attempt is None else attempt.number
        known[f"connector[{number}]"] = None if attempt is None else int(attempt.connector_id.removeprefix("c-"))
        known[f"submission[{number}]"] = None if attempt is None else attempt.submission
        known[f"failure[{number}]"] = None if failure is None else "retryable" if failure.retryable else "permanent"
    return known


def record_in_hand(system: TransitionSystem, state: State) -> Record:
    """Return the record that the model's writer holds."""
    held = {name.removeprefix("writer."): state[number] for name, number in slots(system).items()}
    reference = held["decision_record"]
    decision = HumanDecision(held["human_decision"], None if reference is None else DECISIONS[int(str(reference))])  # type: ignore[arg-type]
    record = replace(FIRST, event=replace(FIRST.event, state=held["state"]), human_decision=decision)  # type: ignore[arg-type]
    if held["attempt_id"] is None:
        return record
    told = held["failure_told"]
    return replace(
        record,
        attempt=Attempt(f"a-{held['attempt_id']}", held["attempt_number"], "initial", f"c-{held['connector_id']}"),  # type: ignore[arg-type]
        provider=None if held["submission_state"] is None else submission(held["submission_state"]),  # type: ignore[arg-type]
        failure=None if told is None else Failure("failed", "provider", retryable=told == "retryable"),
    )


def read(known: RecoveredRunState | None, record: Record) -> RecoveredRunState | RecoveryError:
    """Let the implementation read one more record."""
    try:
        return Reader().begin(record) if known is None else Reader().extend(known, record)
    except RecoveryError as refusal:
        return refusal


def at_rest(system: TransitionSystem, state: State) -> State:
    """Return a state of the ledger with a writer that holds nothing, and without history."""
    kept = known_to_the_model(system, state)
    return put(system, system.initial_states[0], kept)


def one_thing_at_a_time(system: TransitionSystem, state: State) -> Iterator[State]:
    """Yield the states in which the model's writer holds each record that it can compose."""
    for composed in Evaluator(system).transitions_of(state, COMPOSE):
        assert isinstance(composed, Transition)
        yield composed.successor


def everything_at_once(system: TransitionSystem, state: State) -> Iterator[State]:
    """Yield the states in which it holds each record that has all its fields, whatever they say."""
    composing = next(one_thing_at_a_time(system, state))
    ids, numbers, connectors = (
        range(1, int(str(system.parameters[name])) + 1) for name in ("attempts", "numbers", "connectors")
    )
    failures = (None, "retryable", "permanent") if system.parameters["failures"] else (None,)
    attempts: list[tuple[Value, ...]] = [(None,) * 5, *product(ids, numbers, connectors, SUBMISSIONS, failures)]
    decisions: list[tuple[Value, ...]] = [("not_recorded", None)]
    if system.parameters["decisions"]:
        decisions = list(product(("not_recorded", "pending", "recorded"), (None, 1, 2)))
    names = ("attempt_id", "attempt_number", "connector_id", "submission_state", "failure_told")
    for run, attempt, decision in product(RUN_STATES, attempts, decisions):
        held = {"state": run, **dict(zip(names, attempt, strict=True))}
        held |= dict(zip(("human_decision", "decision_record"), decision, strict=True))
        yield put(system, composing, {f"writer.{name}": value for name, value in held.items()})


WAYS = {"one thing": one_thing_at_a_time, "everything": everything_at_once}
SLOW = pytest.mark.slow
SMALL: dict[str, Value] = {"numbers": 1, "failures": False, "decisions": False}


# What can be told of an attempt: one of 5 submission states, and where none is told perhaps one of 2 failures.
@pytest.mark.parametrize(
    ("way", "settings", "states", "records"),
    [
        # 14 states of the run; an attempt that is not on record, or is in one of 5 states; and the empty ledger.
        pytest.param("one thing", SMALL, 14 * (1 + 5), 14 + 5, id="runs"),
        pytest.param("everything", SMALL, 14 * (1 + 5), 14 * (1 + 5), id="runs-whole-records"),
        pytest.param("one thing", SMALL | {"failures": True}, 14 * (1 + 5 * 3), 14 + 7, id="failures"),
        pytest.param(
            "one thing", SMALL | {"numbers": 2, "connectors": 2}, 14 * (1 + 4 * 5), 14 + 4 * 5, id="identities"
        ),
        # No decision, one that is asked for, and two that differ in their record.
        pytest.param("one thing", SMALL | {"decisions": True}, 14 * (1 + 5) * 4, 14 + 5 + 9, id="decisions"),
        # Two attempts: neither; one of them, of number 1 or 2; both, of either number each.
        pytest.param(
            "one thing",
            SMALL | {"attempts": 2, "numbers": 2},
            14 * (1 + 4 * 5 + 4 * 25),
            14 + 4 * 5,
            id="attempts",
            marks=SLOW,
        ),
        pytest.param("one thing", {}, 14 * (1 + 2 * 15) * 4, 14 + 2 * 7 + 9, id="baseline", marks=SLOW),
    ],
)
def test_every_record_is_read_as_the_model_reads_it_in_every_state(
    way: str, settings: dict[str, Value], states: int, records: int
) -> None:
    system = reading(*settings.items())
    evaluator = Evaluator(system)
    start = at_rest(system, system.initial_states[0])
    carried: dict[State, RecoveredRunState | None] = {start: None}
    pending = [start]
    asked: Counter[str] = Counter()
    while pending:
        before = pending.pop()
        for holding in WAYS[way](system, before):
            (appended,) = evaluator.transitions_of(holding, APPEND)
            assert isinstance(appended, Transition)
            record = record_in_hand(system, holding)
            after = read(carried[before], record)
            assert known_to_the_reader(system, after) == known_to_the_model(system, appended.successor), record
            asked[after.reason if isinstance(after, RecoveryError) else "accepted"] += 1
            state = at_rest(system, appended.successor)
            if isinstance(after, RecoveredRunState) and state not in carried:
                carried[state] = after
                pending.append(state)

    # Before the first record there is nothing to be told of but the run, unless everything is told at once.
    assert len(carried) == states + 1
    assert asked.total() == states * records + (records if way == "everything" else 14)

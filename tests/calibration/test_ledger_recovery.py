"""The reader of `spec/ledger_recovery.yaml` against another one, written from the same document in plain Python.

Record by record: what the specification does with each record in each of its states is what this reader does. And on
the whole: the specification lets a record tell one thing at a time; records that tell everything at once lead no
further.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import islice, product
from pathlib import Path
from typing import NamedTuple

import pytest

from model.evaluate import Evaluator
from model.loader import load_file
from model.specification import Scenario
from model.system import State, TransitionSystem
from model.transitions import Transition
from model.types import Value

SPECIFICATION = Path(__file__).resolve().parents[2] / "spec" / "ledger_recovery.yaml"

# The run table as the document has it: a state, and what may come after it.
RUN_TABLE = {
    line.split()[0]: frozenset(line.split()[1:])
    for line in """
    proposed previewed cancelled
    previewed admission_blocked admitted cancelled
    admission_blocked cancelled
    admitted dispatched cancelled
    dispatched attempt_failed candidate_observed cancelled
    attempt_failed dispatched cancelled
    candidate_observed normalized cancelled
    normalized verification_requested cancelled
    verification_requested verification_error evidence_ready cancelled
    verification_error verification_requested evidence_ready cancelled
    evidence_ready awaiting_human_decision
    awaiting_human_decision decided cancelled
    decided
    cancelled
    """.strip().splitlines()
}
TERMINAL = frozenset(state for state, following in RUN_TABLE.items() if not following)
SUBMISSIONS = ("not_submitted", "submitted", "ambiguous", "definite_failure")


class Attempt(NamedTuple):
    """An attempt as a record names it, or as it is known: the latest submission state and failure."""

    number: Value
    connector: Value
    submission: Value = None
    failure: Value = None


class Record(NamedTuple):
    """All that the rules look at."""

    state: Value
    attempt_id: Value
    attempt: Attempt
    decision: Value
    reference: Value


class Known(NamedTuple):
    """What a history comes to."""

    run: Value = None
    attempts: tuple[tuple[Value, Attempt], ...] = ()
    decision: Value = "not_recorded"
    reference: Value = None


NOBODY = Attempt(None, None)


def broken_rules(known: Known, record: Record) -> frozenset[str]:
    """Return the reasons for which a record may be refused."""
    broken = set()
    repeated = record.state == known.run and record.state not in TERMINAL
    following = RUN_TABLE[str(known.run)] if known.run is not None else {"proposed"}
    if not repeated and record.state not in following:
        broken.add("illegal_transition")
    numbers = [attempt.number for _, attempt in known.attempts]
    if record.attempt_id is not None and any(record.attempt.number < number for number in numbers):  # type: ignore[operator]
        broken.add("attempt_number_regressed")
    before = dict(known.attempts).get(record.attempt_id)
    if before is not None and before[:2] != record.attempt[:2]:
        broken.add("attempt_identity_changed")
    if known.decision == "recorded" and (record.decision, record.reference) != (known.decision, known.reference):
        broken.add("human_decision_changed")
    if (record.decision == "recorded") is (record.reference is None):
        broken.add("human_decision_inconsistent")
    return frozenset(broken)


def read(known: Known, record: Record) -> Known:
    """Take in a record that breaks no rule: the latest word counts, and silence takes nothing back."""
    attempts = dict(known.attempts)
    if record.attempt_id is not None:
        before = attempts.get(record.attempt_id, NOBODY)
        told = record.attempt
        attempts[record.attempt_id] = told._replace(
            submission=told.submission or before.submission, failure=told.failure or before.failure
        )
    return Known(record.state, tuple(sorted(attempts.items())), record.decision, record.reference)


# -- the specification ------------------------------------------------------------------------------------------------


@cache
def baseline() -> Scenario:
    return load_file(SPECIFICATION).scenarios["baseline"]


class Reading(NamedTuple):
    """One record folded by the specification: what was known, the record, the verdict, what is known then."""

    before: Known
    record: Record
    verdict: Value
    after: Known


def readings(settings: Mapping[str, Value]) -> Iterator[Reading]:
    """Walk through a system breadth-first and yield what it does with each record, until one has been refused."""
    scenario = baseline()
    system = TransitionSystem(scenario.specification, settings, scenario.allow)
    evaluator = Evaluator(system)
    seen: set[State] = set(system.initial_states)
    layer = list(seen)
    while layer:
        found: list[State] = []
        for state in layer:
            for outcome in evaluator.transitions(state):
                assert isinstance(outcome, Transition)
                if outcome.successor not in seen:
                    seen.add(outcome.successor)
                    found.append(outcome.successor)
                if outcome.action.label == "append":
                    before, after = named(system, state), named(system, outcome.successor)
                    if before["verdict"] == "accepted":
                        yield Reading(known_in(before), record_in(before), after["verdict"], known_in(after))
        layer = found


def named(system: TransitionSystem, state: State) -> dict[str, Value]:
    return {slot.name: value for slot, value in zip(system.slots, state, strict=True)}


def known_in(values: Mapping[str, Value]) -> Known:
    ids = [number for number in (1, 2) if values.get(f"number[{number}]") is not None]
    parts = ("number", "connector", "submission", "failure")
    attempts = tuple((i, Attempt(*(values[f"{part}[{i}]"] for part in parts))) for i in ids)
    return Known(values["run"], attempts, values["decision"], values["decided_by"])


def record_in(values: Mapping[str, Value]) -> Record:
    parts = ("attempt_number", "connector_id", "submission_state", "failure_told")
    attempt = Attempt(*(values[f"writer.{part}"] for part in parts))
    return Record(
        values["writer.state"],
        values["writer.attempt_id"],
        attempt,
        values["writer.human_decision"],
        values["writer.decision_record"],
    )


# -- the tests --------------------------------------------------------------------------------------------------------

CASES: dict[str, dict[str, Value]] = {
    "runs": {"numbers": 1, "failures": False, "decisions": False},
    "failures": {"numbers": 1, "failures": True, "decisions": False},
    "connectors": {"numbers": 1, "connectors": 2, "failures": False, "decisions": False},
    "decisions": {"numbers": 1, "failures": False, "decisions": True},
    "attempts": {"attempts": 2, "numbers": 2, "failures": False, "decisions": False},
}
REASONS = {
    "runs": {"illegal_transition"},
    "failures": {"illegal_transition"},
    "connectors": {"illegal_transition", "attempt_identity_changed"},
    "decisions": {"illegal_transition", "human_decision_changed", "human_decision_inconsistent"},
    "attempts": {"illegal_transition", "attempt_number_regressed", "attempt_identity_changed"},
}


@cache
def walk(case: str) -> tuple[Reading, ...]:
    """Return all readings of a case, of the largest only the first."""
    return tuple(islice(readings(CASES[case]), 2_000 if case == "attempts" else None))


@pytest.mark.parametrize("case", CASES)
def test_every_record_is_read_as_the_document_says(case: str) -> None:
    found: set[str] = set()
    for before, record, verdict, after in walk(case):
        broken = broken_rules(before, record)
        if broken:
            assert verdict in broken, (before, record)
            assert after == Known(), (before, record)
        else:
            assert (verdict, after) == ("accepted", read(before, record)), (before, record)
        found |= broken
    assert found == REASONS[case]


def whole_records() -> list[Record]:
    """Return every record that tells something of the run, of one attempt and of the decision, all at once."""
    attempts = [(None, NOBODY), *((1, Attempt(1, 1, submission)) for submission in (None, *SUBMISSIONS))]
    decisions = product(("not_recorded", "pending", "recorded"), (None, 1, 2))
    return [Record(state, *attempt, *decision) for state, attempt, decision in product(RUN_TABLE, attempts, decisions)]


def test_records_that_tell_everything_at_once_lead_no_further() -> None:
    records = whole_records()
    reached = {Known()}
    pending = [Known()]
    while pending:
        known = pending.pop()
        found = {read(known, record) for record in records if not broken_rules(known, record)} - reached
        reached |= found
        pending += found

    # 14 states of the run; no attempt, or one with or without a submission; 4 decisions. And before the first record.
    assert len(reached) == 14 * (1 + 5) * 4 + 1
    assert {reading.after for reading in walk("decisions")} == reached

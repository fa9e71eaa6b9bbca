"""Derive what a run is from its records alone, or refuse a history that no run could have had.

Pure: the records are read and nothing else. Any prefix of a legal history is a legal history, because a crash may land
after any record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from model.reference.killed_workflow.ledger import GitLedger
from model.reference.killed_workflow.records import (
    NEXT_STATES,
    TERMINAL,
    Attempt,
    AttemptReason,
    Event,
    EvidenceReference,
    Failure,
    HumanDecision,
    Provider,
    Record,
    RunState,
    SubmissionState,
    WorkUnit,
    record_digest,
)

CODE = "recovery_inconsistent"

Reason = Literal[
    "illegal_transition",
    "attempt_number_regressed",
    "attempt_identity_changed",
    "human_decision_changed",
    "human_decision_inconsistent",
    "run_identity_changed",
    "submission_without_attempt",
    "nothing_recorded",
]
"""The first five are those of the recovery contract. The others refuse what it is silent about and what would otherwise
be lost without a word: a record of another run, an observation of the provider that belongs to no attempt."""


class RecoveryError(Exception):
    """The records cannot be the history of one run.

    `code` is always `recovery_inconsistent`; `sequence` is the number of the first record that does not fit.
    """

    code = CODE

    def __init__(self, reason: Reason, sequence: int, detail: str) -> None:
        super().__init__(f"{CODE}: {reason} at record {sequence}: {detail}")
        self.reason: Reason = reason
        self.sequence = sequence


@dataclass(frozen=True, slots=True)
class AttemptState:
    """The latest that is known of one attempt. `submission` is None where no record has spoken of it."""

    attempt_id: str
    number: int
    connector_id: str
    reason: AttemptReason
    submission: SubmissionState | None = None
    external_run_id: str | None = None
    external_session_id: str | None = None
    external_job_id: str | None = None
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class RunIdentity:
    """What stays the same on every record of a run."""

    repository: str
    project_id: str
    run_id: str
    work_unit: WorkUnit


@dataclass(frozen=True, slots=True)
class RecoveredRunState:
    """What the records say of a run, and which hazards they leave open."""

    identity: RunIdentity
    dispatch_key: str
    state: RunState
    head_sequence: int
    head_digest: str
    last_event: Event
    attempts: tuple[AttemptState, ...] = ()
    failures: tuple[Failure, ...] = ()
    candidate_reference: EvidenceReference | None = None
    result_manifest: EvidenceReference | None = None
    verification_results: tuple[EvidenceReference, ...] = ()
    human_decision: HumanDecision = field(default_factory=HumanDecision)

    @property
    def terminal(self) -> bool:
        """Tell whether nothing may follow."""
        return self.state in TERMINAL

    @property
    def current(self) -> AttemptState | None:
        """Return the attempt that the run is at; the earlier ones are history."""
        return self.attempts[-1] if self.attempts else None

    @property
    def ambiguous_attempts(self) -> tuple[str, ...]:
        """Return the attempts of which nobody knows whether the provider has accepted them."""
        return tuple(attempt.attempt_id for attempt in self.attempts if attempt.submission == "ambiguous")

    @property
    def needs_reconciliation(self) -> bool:
        """Tell whether there are such attempts."""
        return bool(self.ambiguous_attempts)


def recover_run(ledger: GitLedger) -> RecoveredRunState | None:
    """Read a ledger and reconstruct its run; None where nothing is recorded yet.

    Raises:
        ChainBroken: the ledger is no chain of records.
        RecoveryError: it is one, but no run has such a history.
    """
    records = ledger.read().records
    return reconstruct_run_state(records) if records else None


def reconstruct_run_state(records: Sequence[Record]) -> RecoveredRunState:
    """Fold records into the state of their run.

    Raises:
        RecoveryError: with the reason and the number of the first record that cannot follow those before it.
    """
    return Reader().reconstruct(records)


class Reader:
    """The rules of a legal history, one method each, and what is kept of a record that keeps them.

    It has no state. A defect is a subclass with one rule less.
    """

    def reconstruct(self, records: Sequence[Record]) -> RecoveredRunState:
        """See `reconstruct_run_state`."""
        if not records:
            raise RecoveryError("nothing_recorded", 0, "there is no record to reconstruct from")
        state = self.begin(records[0])
        for record in records[1:]:
            state = self.extend(state, record)
        return state

    def begin(self, record: Record) -> RecoveredRunState:
        """Return the state after the first record: a run begins as a proposal.

        Raises:
            RecoveryError: it begins as something else, or the record contradicts itself.
        """
        self.refuse_a_wrong_beginning(record)
        empty = RecoveredRunState(
            identity=_identity(record),
            dispatch_key=record.idempotency.dispatch_key,
            state=record.event.state,
            head_sequence=0,
            head_digest="",
            last_event=record.event,
        )
        return self._with(empty, record)

    def extend(self, state: RecoveredRunState, record: Record) -> RecoveredRunState:
        """Return the state after one more record.

        Raises:
            RecoveryError: no run in that state goes on like this.
        """
        self.refuse_another_run(state, record)
        self.refuse_an_illegal_transition(state, record)
        return self._with(state, record)

    def _with(self, state: RecoveredRunState, record: Record) -> RecoveredRunState:
        # In the order in which the contract lists its reasons: a record that breaks several rules gets the first.
        attempts = self._attempts_after(state, record)
        self.refuse_a_changed_decision(state, record)
        self.refuse_an_inconsistent_decision(record)
        return replace(
            state,
            dispatch_key=record.idempotency.dispatch_key,
            state=record.event.state,
            head_sequence=record.ledger_sequence,
            head_digest=record_digest(record),
            last_event=record.event,
            attempts=attempts,
            failures=state.failures if record.failure is None else (*state.failures, record.failure),
            candidate_reference=record.candidate_reference or state.candidate_reference,
            result_manifest=record.result_manifest or state.result_manifest,
            verification_results=(*state.verification_results, *record.verification_results),
            human_decision=record.human_decision,
        )

    def _attempts_after(self, state: RecoveredRunState, record: Record) -> tuple[AttemptState, ...]:
        """Return all attempts, the failed ones too, each with the latest that is known of it."""
        if record.attempt is None:
            if record.provider is not None:
                detail = f"{record.provider.submission_state}, of no attempt"
                raise RecoveryError("submission_without_attempt", record.ledger_sequence, detail)
            return state.attempts
        known = {attempt.attempt_id: attempt for attempt in state.attempts}
        self.refuse_a_regressed_number(known, record.attempt, record.ledger_sequence)
        self.refuse_a_changed_attempt(known, record.attempt, record.ledger_sequence)
        before = known.get(record.attempt.attempt_id, _first_seen(record.attempt))
        known[record.attempt.attempt_id] = self.observed(before, record.provider, record.failure)
        return tuple(known.values())

    def observed(self, before: AttemptState, provider: Provider | None, failure: Failure | None) -> AttemptState:
        """Return what is known of an attempt after one more record; what it does not speak of stays as it was."""
        after = before if failure is None else replace(before, failure=failure)
        if provider is None:
            return after
        return replace(
            after,
            submission=provider.submission_state,
            external_run_id=provider.external_run_id,
            external_session_id=provider.external_session_id,
            external_job_id=provider.external_job_id,
        )

    def refuse_a_wrong_beginning(self, record: Record) -> None:
        """Refuse a first record that is no proposal."""
        if record.event.state != "proposed":
            raise RecoveryError("illegal_transition", record.ledger_sequence, f"a run begins as {record.event.state}")

    def refuse_another_run(self, state: RecoveredRunState, record: Record) -> None:
        """Refuse a record of another run, project, repository or piece of work."""
        if _identity(record) != state.identity:
            raise RecoveryError("run_identity_changed", record.ledger_sequence, f"a record of {record.run_id}")

    def refuse_an_illegal_transition(self, state: RecoveredRunState, record: Record) -> None:
        """Let a repeat through, a further observation; but nothing follows the end of a run, not even a repeat."""
        before, after = state.state, record.event.state
        if before in TERMINAL or (after != before and after not in NEXT_STATES[before]):
            raise RecoveryError("illegal_transition", record.ledger_sequence, f"{before} is not followed by {after}")

    def refuse_a_regressed_number(self, known: Mapping[str, AttemptState], attempt: Attempt, sequence: int) -> None:
        """Refuse a report on an attempt when one of a higher number is on record."""
        if any(attempt.attempt_number < other.number for other in known.values()):
            raise RecoveryError("attempt_number_regressed", sequence, f"attempt {attempt.attempt_number} was over")

    def refuse_a_changed_attempt(self, known: Mapping[str, AttemptState], attempt: Attempt, sequence: int) -> None:
        """Refuse a known attempt under another number or at another connector."""
        same = known.get(attempt.attempt_id)
        if same is not None and (same.number, same.connector_id) != (attempt.attempt_number, attempt.connector_id):
            detail = f"{attempt.attempt_id} was number {same.number} at {same.connector_id}"
            raise RecoveryError("attempt_identity_changed", sequence, detail)

    def refuse_a_changed_decision(self, state: RecoveredRunState, record: Record) -> None:
        """Refuse anything but the same decision once one is recorded."""
        before, after = state.human_decision, record.human_decision
        if before.state == "recorded" and after != before:
            raise RecoveryError("human_decision_changed", record.ledger_sequence, f"it was recorded, now {after.state}")

    def refuse_an_inconsistent_decision(self, record: Record) -> None:
        """Refuse a recorded decision without a reference, and a reference without a recorded decision."""
        decision = record.human_decision
        if (decision.state == "recorded") != (decision.record is not None):
            detail = f"{decision.state}, and {'a' if decision.record else 'no'} reference to a record"
            raise RecoveryError("human_decision_inconsistent", record.ledger_sequence, detail)


def _first_seen(attempt: Attempt) -> AttemptState:
    return AttemptState(attempt.attempt_id, attempt.attempt_number, attempt.connector_id, attempt.reason)


def _identity(record: Record) -> RunIdentity:
    return RunIdentity(record.repository, record.project_id, record.run_id, record.work_unit)

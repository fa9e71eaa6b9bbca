"""The records that a coordinator and others append: each continues the head record and says one thing more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from model.reference.killed_workflow.canonical import digest
from model.reference.killed_workflow.ledger import History
from model.reference.killed_workflow.provider_client import DRIVER, DRIVER_VERSION
from model.reference.killed_workflow.records import (
    Actor,
    Attempt,
    AttemptReason,
    Event,
    EvidenceReference,
    Failure,
    HumanDecision,
    Idempotency,
    Provider,
    Record,
    Routing,
    RunState,
    SubmissionState,
    Trigger,
    WorkUnit,
    record_digest,
)


def utc_now() -> str:
    """Return the present time as a record says it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


@dataclass(frozen=True, slots=True)
class Writer:
    """Who appends, and by which clock."""

    login: str = "coordinator"
    actor_id: int = 1
    trigger: Trigger = "recovery"
    clock: Callable[[], str] = utc_now

    def event(self, sequence: int, event_type: str, state: RunState) -> Event:
        """Return the event of a record of that number."""
        return Event(
            event_id=f"event-{sequence:06}",
            event_type=event_type,
            occurred_at=self.clock(),
            state=state,
            trigger=self.trigger,
            actor=Actor(self.actor_id, self.login),
        )


def dispatch_key(work_unit: WorkUnit, attempt_number: int) -> str:
    """Return the key by which the provider knows an attempt: the same from whatever process asks for it."""
    return f"dispatch:{work_unit.id}:{work_unit.version}:attempt-{attempt_number}"


def idempotency(work_unit: WorkUnit, attempt_number: int) -> Idempotency:
    """Return what identifies the request of an attempt."""
    key = dispatch_key(work_unit, attempt_number)
    return Idempotency(key, digest({"key": key, "work_unit": work_unit}), attempt_number)


def proposal(run_id: str, writer: Writer) -> Record:
    """Return the first record of a run."""
    work_unit = WorkUnit("work/1", 1, digest({"work": run_id}), "0" * 40)
    routing = Routing(
        routing_digest=digest({"routing": run_id}),
        policy_version="1",
        required_capability_tier="T1",
        authority_mode="agent_candidate",
        risk_class="low",
        selected_connection_id="connection-1",
    )
    return Record(
        record_id=f"{run_id}:record-000001",
        repository="example/work",
        project_id="project-1",
        run_id=run_id,
        ledger_sequence=1,
        previous_record_digest=None,
        event=writer.event(1, "run.proposed", "proposed"),
        work_unit=work_unit,
        routing=routing,
        idempotency=idempotency(work_unit, 1),
    )


def following(history: History, writer: Writer, event_type: str, state: RunState) -> Record:
    """Return the next record of a history, which says nothing but the state; the rest is put in with `replace`.

    A recorded human decision is said again: no later record may be without it.
    """
    last, head = history.records[-1], history.head
    assert head is not None
    return replace(
        last,
        record_id=f"{last.run_id}:record-{head.sequence + 1:06}",
        ledger_sequence=head.sequence + 1,
        previous_record_digest=record_digest(last),
        event=writer.event(head.sequence + 1, event_type, state),
        attempt=None,
        provider=None,
        candidate_reference=None,
        result_manifest=None,
        verification_results=(),
        failure=None,
    )


def attempt_of(record: Record, number: int, reason: AttemptReason | None = None) -> Attempt:
    """Return the attempt of that number, named alike by every process."""
    return Attempt(
        attempt_id=f"{record.run_id}:attempt-{number}",
        attempt_number=number,
        reason=reason or ("initial" if number == 1 else "retry"),
        connector_id=record.routing.selected_connection_id or "connection-1",
    )


def submission(state: SubmissionState, external_id: str | None = None) -> Provider:
    """Return what a record says of a submission."""
    return Provider(DRIVER, DRIVER_VERSION, state, external_job_id=external_id)


def about_attempt(
    record: Record,
    number: int,
    provider: Provider | None = None,
    failure: Failure | None = None,
) -> Record:
    """Return the record with an attempt's number and key, and what was seen of it."""
    return replace(
        record,
        idempotency=idempotency(record.work_unit, number),
        attempt=attempt_of(record, number),
        provider=provider,
        failure=failure,
    )


def with_candidate(record: Record) -> Record:
    """Return the record with a reference to what the provider has delivered."""
    seed = {"run": record.run_id, "key": record.idempotency.dispatch_key}
    return replace(
        record,
        candidate_reference=EvidenceReference("candidate_reference", digest({"candidate": seed})),
        result_manifest=EvidenceReference("result_manifest", digest({"result": seed})),
    )


def with_evidence(record: Record) -> Record:
    """Return the record with a verification result."""
    result = EvidenceReference("verification_result", digest({"verification": record.ledger_sequence}))
    return replace(record, verification_results=(result,))


def with_question(record: Record) -> Record:
    """Return the record with a person asked to decide."""
    return replace(record, human_decision=HumanDecision("pending"))


def with_decision(record: Record) -> Record:
    """Return the record with a person's decision, which no later record may change."""
    reference = EvidenceReference("human_decision_record", digest({"decision": record.run_id}))
    return replace(record, human_decision=HumanDecision("recorded", reference))

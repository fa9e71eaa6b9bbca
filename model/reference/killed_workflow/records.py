"""A ledger record: one immutable observation of a run, chained to the one before it by digest.

The record grants nothing: its seven authority flags are false for ever. What a run *is* now is stored nowhere; it
follows from all records together (`reconstruct.py`).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import Annotated, Literal

from model.reference.killed_workflow.canonical import AtLeast, AtMost, Malformed, Matching, digest

RunState = Literal[
    "proposed",
    "previewed",
    "admission_blocked",
    "admitted",
    "dispatched",
    "attempt_failed",
    "candidate_observed",
    "normalized",
    "verification_requested",
    "verification_error",
    "evidence_ready",
    "awaiting_human_decision",
    "decided",
    "cancelled",
]
SubmissionState = Literal["not_submitted", "submitted", "ambiguous", "definite_failure"]
Trigger = Literal[
    "issue", "workflow_dispatch", "workflow_call", "webhook", "schedule", "recovery", "provider_observation", "system"
]
AttemptReason = Literal["initial", "retry", "escalation", "recovery"]
FailureClass = Literal[
    "policy_denied",
    "configuration",
    "provider",
    "candidate_normalization",
    "verification",
    "timeout",
    "cancelled",
    "recovery_required",
    "internal",
]
DecisionState = Literal["not_recorded", "pending", "recorded"]
Tier = Literal["T0", "T1", "T2", "T3", "T4"]

Identifier = Annotated[str, AtMost(192), Matching(r"[A-Za-z0-9][A-Za-z0-9._:/-]*")]
Digest = Annotated[str, Matching(r"sha256:[0-9a-f]{64}")]
Revision = Annotated[str, Matching(r"[0-9a-f]{40}|[0-9a-f]{64}")]
Timestamp = Annotated[str, Matching(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")]
Code = Annotated[str, AtMost(128), Matching(r"[a-z][a-z0-9_.-]*")]
Key = Annotated[str, AtMost(256), Matching(r".+")]
Positive = Annotated[int, AtLeast(1)]

NEXT_STATES: dict[RunState, frozenset[RunState]] = {
    "proposed": frozenset({"previewed", "cancelled"}),
    "previewed": frozenset({"admission_blocked", "admitted", "cancelled"}),
    "admission_blocked": frozenset({"cancelled"}),
    "admitted": frozenset({"dispatched", "cancelled"}),
    "dispatched": frozenset({"attempt_failed", "candidate_observed", "cancelled"}),
    "attempt_failed": frozenset({"dispatched", "cancelled"}),
    "candidate_observed": frozenset({"normalized", "cancelled"}),
    "normalized": frozenset({"verification_requested", "cancelled"}),
    "verification_requested": frozenset({"verification_error", "evidence_ready", "cancelled"}),
    "verification_error": frozenset({"verification_requested", "evidence_ready", "cancelled"}),
    "evidence_ready": frozenset({"awaiting_human_decision"}),
    "awaiting_human_decision": frozenset({"decided", "cancelled"}),
    "decided": frozenset(),
    "cancelled": frozenset(),
}
"""Where a run can go from each state, besides staying: a repeat is a further observation."""

TERMINAL: frozenset[RunState] = frozenset({"decided", "cancelled"})


@dataclass(frozen=True, slots=True)
class Actor:
    """Who wrote a record: a number that is never reused, and the name at that time."""

    github_actor_id: Positive
    login: Annotated[str, AtMost(128), Matching(r".+")]


@dataclass(frozen=True, slots=True)
class Event:
    """What was observed, when and by whom; `state` is the run's state from here on."""

    event_id: Identifier
    event_type: Annotated[str, AtMost(64), Matching(r"[a-z][a-z0-9_.-]*")]
    occurred_at: Timestamp
    state: RunState
    trigger: Trigger
    actor: Actor
    github_delivery_id: Annotated[str, Matching(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")] | None = None


@dataclass(frozen=True, slots=True)
class WorkUnit:
    """What is to be done, at exactly which source revision."""

    id: Identifier
    version: Positive
    digest: Digest
    source_revision: Revision


@dataclass(frozen=True, slots=True)
class EligibleConnector:
    """A connector that may do the work."""

    connection_id: Identifier
    supported_tier: Tier


@dataclass(frozen=True, slots=True)
class IneligibleConnector:
    """A connector that may not, and why."""

    connection_id: Identifier
    reasons: tuple[Annotated[str, AtMost(256)], ...]


@dataclass(frozen=True, slots=True)
class Routing:
    """Which connectors were considered and which was taken."""

    routing_digest: Digest
    policy_version: Annotated[str, AtMost(128), Matching(r".+")]
    required_capability_tier: Tier
    authority_mode: Literal["deterministic", "agent_candidate", "human_gate_then_agent", "human_required"]
    risk_class: Literal["low", "medium", "high", "critical"]
    eligible_connectors: Annotated[tuple[EligibleConnector, ...], AtMost(128)] = ()
    ineligible_connectors: Annotated[tuple[IneligibleConnector, ...], AtMost(128)] = ()
    selected_connection_id: Identifier | None = None
    selection_reason: Annotated[tuple[Annotated[str, AtMost(256)], ...], AtMost(64)] = ()


@dataclass(frozen=True, slots=True)
class Idempotency:
    """By what the provider and an admission recognise the same request; on every record, even before an attempt."""

    dispatch_key: Key
    request_digest: Digest
    attempt_number: Positive


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try at the work. A retry is another attempt."""

    attempt_id: Identifier
    attempt_number: Positive
    reason: AttemptReason
    connector_id: Identifier


@dataclass(frozen=True, slots=True)
class Provider:
    """What is known of the submission to the provider, and by which names the provider knows it."""

    driver: Annotated[str, AtMost(128), Matching(r".+")]
    driver_version: Annotated[str, AtMost(128), Matching(r".+")]
    submission_state: SubmissionState
    external_run_id: Key | None = None
    external_session_id: Key | None = None
    external_job_id: Key | None = None


@dataclass(frozen=True, slots=True)
class EvidenceReference:
    """A compact reference to something that is kept elsewhere."""

    kind: Literal["candidate_reference", "result_manifest", "verification_result", "human_decision_record"]
    digest: Digest
    storage_path: Annotated[str, AtMost(1024), Matching(r"[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*")] | None = None


@dataclass(frozen=True, slots=True)
class HumanDecision:
    """Whether a person has decided, and where that is on record."""

    state: DecisionState = "not_recorded"
    record: EvidenceReference | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """Something that went wrong, and whether to try again was thought sensible then."""

    code: Code
    classification: FailureClass
    retryable: bool


@dataclass(frozen=True, slots=True)
class Authority:
    """What a record allows: nothing."""

    dispatch: Literal[False] = False
    verification: Literal[False] = False
    acceptance: Literal[False] = False
    canonical_state_write: Literal[False] = False
    git_push: Literal[False] = False
    integration: Literal[False] = False
    merge: Literal[False] = False


@dataclass(frozen=True, slots=True)
class Record:
    """One record of the ledger, as it is serialised and hashed."""

    record_id: Identifier
    repository: Annotated[str, Matching(r"[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+")]
    project_id: Identifier
    run_id: Identifier
    ledger_sequence: Positive
    previous_record_digest: Digest | None
    event: Event
    work_unit: WorkUnit
    routing: Routing
    idempotency: Idempotency
    attempt: Attempt | None = None
    provider: Provider | None = None
    candidate_reference: EvidenceReference | None = None
    result_manifest: EvidenceReference | None = None
    verification_results: Annotated[tuple[EvidenceReference, ...], AtMost(32)] = ()
    human_decision: HumanDecision = field(default_factory=HumanDecision)
    failure: Failure | None = None
    authority: Authority = field(default_factory=Authority)
    schema_version: Literal["0.1"] = "0.1"
    kind: Literal["idkmesh-github-ledger-record"] = "idkmesh-github-ledger-record"


@functools.lru_cache(maxsize=4096)
def record_digest(record: Record) -> str:
    """Return the digest by which the next record continues this one."""
    return digest(record)


def check_form(record: Record) -> None:
    """Check what the form of a record demands between its fields.

    Whether a human decision has the reference that it needs is left to who reconstructs a run, and has a reason for it.

    Raises:
        Malformed: a first record with a predecessor or a later one without; a reference of the wrong kind.
    """
    if (record.ledger_sequence == 1) != (record.previous_record_digest is None):
        raise Malformed("exactly the first record has no predecessor")
    expected = [
        (record.candidate_reference, "candidate_reference"),
        (record.result_manifest, "result_manifest"),
        (record.human_decision.record, "human_decision_record"),
        *((one, "verification_result") for one in record.verification_results),
    ]
    for reference, kind in expected:
        if reference is not None and reference.kind != kind:
            raise Malformed(f"a {reference.kind} stands where a {kind} belongs")

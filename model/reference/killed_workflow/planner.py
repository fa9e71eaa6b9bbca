"""Say what is safe to do next with a recovered run. Advice only: the plan names the gate that must allow it.

The one thing that cannot be undone is to send work to a provider twice, so everything that may have been sent already
is reconciled first: looked up by its dispatch key, and adopted if it is there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from model.reference.killed_workflow.reconstruct import RecoveredRunState
from model.reference.killed_workflow.records import RunState

Action = Literal[
    "none",
    "reconcile_provider",
    "observe_provider",
    "record_failure",
    "preview",
    "admit",
    "dispatch",
    "retry_attempt",
    "await_operator",
    "normalize",
    "request_verification",
    "observe_verification",
    "request_human_decision",
    "retry_verification",
    "await_human_decision",
]
Gate = Literal["dispatch", "verification", "human_decision"]


@dataclass(frozen=True, slots=True)
class RecoveryPlan:
    """The next step, why, what is forbidden on the way, and which gate has to allow it; None where none has to."""

    action: Action
    reason: str
    blind_resubmission_forbidden: bool = False
    authority_required: Gate | None = None


_BY_STATE: dict[RunState, RecoveryPlan] = {
    "proposed": RecoveryPlan("preview", "the proposal has not been previewed"),
    "previewed": RecoveryPlan("admit", "the preview has not been judged"),
    "admitted": RecoveryPlan("dispatch", "admitted, and nothing was sent", authority_required="dispatch"),
    "candidate_observed": RecoveryPlan("normalize", "the provider has delivered a candidate"),
    "normalized": RecoveryPlan(
        "request_verification", "the candidate has a normal form", authority_required="verification"
    ),
    "verification_requested": RecoveryPlan("observe_verification", "verification is under way"),
    "verification_error": RecoveryPlan(
        "retry_verification", "verification ended without a result", authority_required="verification"
    ),
    "evidence_ready": RecoveryPlan("request_human_decision", "the evidence is complete"),
    "awaiting_human_decision": RecoveryPlan(
        "await_human_decision", "a person has to decide", authority_required="human_decision"
    ),
}
"""The situations that the state of the run alone decides."""


def plan_recovery(state: RecoveredRunState, attempts: int | None = None) -> RecoveryPlan:
    """Return the next safe step of a run; a pure function of what its records say.

    `attempts` bounds the attempts of a run: a failure of the last one is for an operator, whatever was thought of it.
    """
    if state.terminal or state.state == "admission_blocked":
        return RecoveryPlan("none", f"the run is {state.state}")
    if state.needs_reconciliation:
        return _reconcile("it is unknown whether the provider accepted " + ", ".join(state.ambiguous_attempts))
    if state.state == "dispatched":
        return _plan_of_a_dispatch(state)
    if state.state == "attempt_failed":
        return _plan_after_a_failure(state, attempts)
    if state.state == "admitted" and any(attempt.submission == "submitted" for attempt in state.attempts):
        return _reconcile("something was sent although no dispatch is recorded")
    return _BY_STATE[state.state]


def _plan_of_a_dispatch(state: RecoveredRunState) -> RecoveryPlan:
    submission = None if state.current is None else state.current.submission
    if submission == "submitted":
        return RecoveryPlan("observe_provider", "the provider has confirmed the submission")
    if submission == "definite_failure":
        # The contract has no row for this. Nothing is under way; that the attempt has failed only lacks its record.
        return RecoveryPlan("record_failure", "the submission failed, and no failed attempt is on record")
    return _reconcile("the intent is recorded, and the call may have gone out before a crash")


def _plan_after_a_failure(state: RecoveredRunState, attempts: int | None) -> RecoveryPlan:
    current = state.current
    failure = None if current is None else current.failure
    if current is not None and attempts is not None and current.number >= attempts:
        return RecoveryPlan("await_operator", "the last attempt failed")
    if failure is not None and failure.retryable:
        return RecoveryPlan("retry_attempt", f"{failure.code} is worth another attempt", authority_required="dispatch")
    return RecoveryPlan("await_operator", "the attempt failed, and nothing says that another is worth it")


def _reconcile(reason: str) -> RecoveryPlan:
    return RecoveryPlan("reconcile_provider", reason, blind_resubmission_forbidden=True)

"""A short-lived coordinator: reads the ledger, takes one safe step after the other, and may be killed between any two.

The order on which at-most-once rests: append the intent, call the provider, append the confirmation. Whoever finds an
intent without a confirmation looks the work up by its key before anything is sent. Every append is compared with the
head that the coordinator has read, so of two coordinators one has to read again.

Nothing of a coordinator survives it. What it knows between two steps is `Memory`, and is forgotten back at `rest`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from model.reference.killed_workflow.drafts import (
    Writer,
    about_attempt,
    following,
    idempotency,
    submission,
    with_candidate,
    with_evidence,
    with_question,
)
from model.reference.killed_workflow.judgements import Judgements, Limits
from model.reference.killed_workflow.ledger import Conflict, GitLedger, History
from model.reference.killed_workflow.planner import Action, RecoveryPlan, plan_recovery
from model.reference.killed_workflow.provider_client import (
    Accepted,
    LookUpUnsupported,
    ProviderClient,
    Rejected,
    ReplyLost,
)
from model.reference.killed_workflow.reconstruct import RecoveredRunState, reconstruct_run_state
from model.reference.killed_workflow.records import Failure, Idempotency, Record, RunState

Label = Literal[
    "rest",
    "advance",
    "record_intent",
    "submit",
    "record_reply",
    "look_up",
    "settle",
    "report_doubt",
    "adopt",
    "observe",
    "record_outcome",
    "call",
]
"""The kill points: where a coordinator stands before the step of that name."""

_FIRST_STEPS: dict[Action, Label] = {
    "dispatch": "record_intent",
    "retry_attempt": "record_intent",
    "reconcile_provider": "look_up",
    "observe_provider": "observe",
}
"""What a plan begins with; every other plan takes one append and nothing else."""


@dataclass(slots=True)
class Memory:
    """What a coordinator knows for the length of one plan, and loses when it is killed."""

    history: History = field(default_factory=lambda: History((), None))
    state: RecoveredRunState | None = None
    plan: RecoveryPlan | None = None
    number: int = 0
    reply: Accepted | Rejected | Literal["lost"] | None = None
    found: Accepted | None = None
    outcome: Literal["succeeded", "failed"] | None = None


class Coordinator:
    """One coordinator process: where it stands, what it remembers, and its hands on ledger and provider."""

    def __init__(
        self,
        ledger: GitLedger,
        provider: ProviderClient,
        judgements: Judgements,
        limits: Limits | None = None,
        writer: Writer | None = None,
    ) -> None:
        self.at: Label = "rest"
        self.memory = Memory()
        self._ledger = ledger
        self._provider = provider
        self._judgements = judgements
        self._limits = Limits() if limits is None else limits
        self._writer = Writer() if writer is None else writer

    def close(self) -> None:
        """Let go of the repository's files; a killed coordinator leaves that to the system."""
        self._ledger.close()

    def run(self) -> Iterator[Label]:
        """Yield each kill point, then take the step after it; end where there is nothing to do now.

        A coordinator that has ended stands where it stood, and may be run again when something has changed around it.
        """
        while True:
            yield self.at
            before, after = self.at, self._step()
            if after is None:
                return
            if after == "rest":
                self.memory = Memory()
            self.at = after
            if before == "report_doubt":
                # Whoever has said on record that an operator is needed does not ask again by itself.
                return

    def _step(self) -> Label | None:
        """Take the step before which the coordinator stands, and return the next; None where it has to wait."""
        step = {
            "rest": self._rest,
            "advance": self._advance,
            "record_intent": self._record_intent,
            "submit": self._submit,
            "record_reply": self._record_reply,
            "look_up": self._look_up,
            "settle": self._settle,
            "report_doubt": self._report_doubt,
            "adopt": self._adopt,
            "observe": self._observe,
            "record_outcome": self._record_outcome,
            "call": self._call,
        }[self.at]
        return step()

    def _rest(self) -> Label | None:
        """Reconstruct, plan, and see whether the plan's gate is open. Nothing is written."""
        history = self._ledger.read()
        if not history.records:
            return None
        state = self.reconstruct(history)
        plan = self.plan(state)
        if not self._may_proceed(state, plan):
            return None
        self.memory = Memory(history, state, plan, self.number(state, plan))
        return _FIRST_STEPS.get(plan.action, "advance")

    def reconstruct(self, history: History) -> RecoveredRunState:
        """Return the run that a history tells of."""
        return reconstruct_run_state(history.records)

    def plan(self, state: RecoveredRunState) -> RecoveryPlan:
        """Return what to do with it."""
        return plan_recovery(state, self._limits.attempts)

    def number(self, state: RecoveredRunState, plan: RecoveryPlan) -> int:
        """Return the number of the attempt that a plan is about: a retry is another one, never the failed one again."""
        if plan.action == "retry_attempt":
            assert state.current is not None
            return state.current.number + 1
        # While one is in doubt none begins, so it is the current one, unless others wrote the ledger too.
        doubtful = [attempt.number for attempt in state.attempts if attempt.submission == "ambiguous"]
        return doubtful[0] if doubtful else 1 if state.current is None else state.current.number

    def _may_proceed(self, state: RecoveredRunState, plan: RecoveryPlan) -> bool:
        if plan.action in {"none", "await_operator", "await_human_decision"}:
            return False
        if state.needs_reconciliation and not self._provider.looks_up_by_key:
            return False
        if plan.authority_required is not None and not self._judgements.allows(plan.authority_required):
            return False
        return plan.action != "observe_verification" or self._judgements.verified() is not None

    def _advance(self) -> Label:
        """Append what the plan comes to where it needs nothing but the append."""
        return self._append(self._advanced(self._plan.action))

    def _advanced(self, action: Action) -> Record:
        if action == "preview":
            return self._draft("run.previewed", "previewed")
        if action == "admit":
            admitted = self._judgements.admits()
            return self._draft("run.judged", "admitted" if admitted else "admission_blocked")
        if action == "record_failure":
            failure = self._judged("rejected", "provider")
            draft = self._draft("attempt.failed", "attempt_failed")
            return about_attempt(draft, self.memory.number, failure=failure)
        if action == "normalize":
            return self._draft("candidate.normalized", "normalized")
        if action in {"request_verification", "retry_verification"}:
            return self._draft("verification.requested", "verification_requested")
        if action == "observe_verification":
            if self._judgements.verified():
                return with_evidence(self._draft("verification.passed", "evidence_ready"))
            failure = Failure("verification_error", "verification", retryable=True)
            return replace(self._draft("verification.failed", "verification_error"), failure=failure)
        assert action == "request_human_decision", action
        return with_question(self._draft("decision.requested", "awaiting_human_decision"))

    def _record_intent(self) -> Label:
        """Append that an attempt is about to be sent, before anything is sent."""
        draft = self._draft("dispatch.intended", "dispatched")
        return self._append(about_attempt(draft, self.memory.number, submission("not_submitted")), then="submit")

    def _submit(self) -> Label:
        """Call the provider."""
        return self._call()

    def _call(self) -> Label:
        request = self._request()
        try:
            self.memory.reply = self._provider.submit(request.dispatch_key, request.request_digest)
        except ReplyLost:
            self.memory.reply = "lost"
        return "record_reply"

    def _record_reply(self) -> Label:
        """Append what the provider has said, or that nobody knows."""
        number, reply = self.memory.number, self.memory.reply
        if isinstance(reply, Accepted):
            draft = self._draft("dispatch.submitted", "dispatched")
            return self._append(about_attempt(draft, number, submission("submitted", reply.external_id)))
        if isinstance(reply, Rejected):
            draft = self._draft("dispatch.rejected", "dispatched")
            return self._append(about_attempt(draft, number, submission("definite_failure")))
        if self._limits.timeout_fails_attempt:
            draft = self._draft("dispatch.timed_out", "attempt_failed")
            failure = self._judged("reply_lost", "timeout")
            return self._append(about_attempt(draft, number, submission("ambiguous"), failure))
        draft = self._draft("dispatch.in_doubt", "dispatched")
        return self._append(about_attempt(draft, number, submission("ambiguous")))

    def _look_up(self) -> Label | None:
        """Ask the provider for the attempt in doubt, and decide on its answer."""
        if not self._provider.looks_up_by_key:
            return "report_doubt"
        try:
            self.memory.found = self._provider.look_up(self._request().dispatch_key)
        except ReplyLost:
            return None
        except LookUpUnsupported:
            return "report_doubt"
        if self.memory.found is not None:
            return "adopt"
        if self._limits.on_miss == "stop":
            return "report_doubt"
        # Cheap, and it narrows the time in which somebody else may have sent the work; nothing here closes it.
        if self._ledger.read().head != self.memory.history.head:
            return "rest"
        return "submit" if self._state.state == "dispatched" else "settle"

    def _settle(self) -> Label:
        """Append that an attempt that was given up never reached the provider."""
        draft = self._draft("dispatch.settled", self._state.state)
        return self._append(about_attempt(draft, self.memory.number, submission("definite_failure")))

    def _report_doubt(self) -> Label:
        """Append that nobody knows whether the attempt reached the provider."""
        draft = self._draft("dispatch.in_doubt", self._state.state)
        return self._append(about_attempt(draft, self.memory.number, submission("ambiguous")))

    def _adopt(self) -> Label:
        """Append what the provider turned out to have; a run that waits for it goes on with it.

        An attempt that was given up is not taken up again, since a failed run can only begin another one. That one
        would run beside the job that was found, so the failure is no longer worth another attempt: an operator's case.
        """
        assert self.memory.found is not None
        draft = self._draft("dispatch.adopted", self._state.state)
        provider = submission("submitted", self.memory.found.external_id)
        failure = None
        if self._state.state == "attempt_failed":
            failure = Failure("job_found_alive", "recovery_required", retryable=False)
        return self._append(about_attempt(draft, self.memory.number, provider, failure))

    def _observe(self) -> Label | None:
        """Ask for the job's end, by the external id on record."""
        current = self._state.current
        assert current is not None
        assert current.external_job_id is not None
        try:
            outcome = self._provider.observe(current.external_job_id)
        except ReplyLost:
            return None
        if outcome == "running":
            return None
        self.memory.outcome = outcome
        return "record_outcome"

    def _record_outcome(self) -> Label:
        """Append how the job ended."""
        current = self._state.current
        assert current is not None
        if self.memory.outcome == "succeeded":
            draft = about_attempt(self._draft("candidate.observed", "candidate_observed"), current.number)
            return self._append(with_candidate(draft))
        failure = self._judged("job_failed", "provider")
        draft = self._draft("attempt.failed", "attempt_failed")
        return self._append(about_attempt(draft, current.number, failure=failure))

    def _append(self, record: Record, then: Label = "rest") -> Label:
        """Append if the head is still the one that was read; otherwise all that was planned is void."""
        try:
            head = self._ledger.append(record, self.memory.history.head)
        except Conflict:
            return "rest"
        self.memory.history = History((*self.memory.history.records, record), head)
        return then

    def _draft(self, event_type: str, state: RunState) -> Record:
        return following(self.memory.history, self._writer, event_type, state)

    def _judged(self, code: str, classification: Literal["provider", "timeout"]) -> Failure:
        return Failure(code, classification, self._judgements.worth_another_attempt(code))

    def _request(self) -> Idempotency:
        """Return by what the provider knows the attempt that the plan is about."""
        return idempotency(self._last.work_unit, self.memory.number)

    @property
    def _state(self) -> RecoveredRunState:
        assert self.memory.state is not None
        return self.memory.state

    @property
    def _plan(self) -> RecoveryPlan:
        assert self.memory.plan is not None
        return self.memory.plan

    @property
    def _last(self) -> Record:
        return self.memory.history.records[-1]

"""Deliberate mistakes, each of which a cross-check has to find: a defect replaces one part of the honest whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from model.reference.killed_workflow.coordinator import Coordinator, Label
from model.reference.killed_workflow.ledger import GitLedger, Head, History
from model.reference.killed_workflow.planner import RecoveryPlan
from model.reference.killed_workflow.provider_client import Accepted
from model.reference.killed_workflow.reconstruct import RecoveredRunState
from model.reference.killed_workflow.records import Record, record_digest


class OverwritingLedger(GitLedger):
    """Appends after whatever is there, as if nobody else could have written since the head was read."""

    def append(self, record: Record, expected: Head | None) -> Head:
        """Append to the present head, not to the expected one."""
        del expected
        history = self.read()
        if history.head is None:
            return super().append(record, None)
        moved = replace(
            record,
            ledger_sequence=history.head.sequence + 1,
            previous_record_digest=record_digest(history.records[-1]),
        )
        return super().append(moved, history.head)


class SendsUnconfirmed(Coordinator):
    """Takes an intent without a confirmation for something that was never sent."""

    def plan(self, state: RecoveredRunState) -> RecoveryPlan:
        """Plan a plain dispatch where the honest plan is to reconcile."""
        plan = super().plan(state)
        if plan.action == "reconcile_provider" and not state.needs_reconciliation:
            return RecoveryPlan("dispatch", "no confirmation, so nothing was sent", authority_required="dispatch")
        return plan


class SubmitsWithoutLookUp(Coordinator):
    """Sends what is in doubt again without asking the provider for it."""

    def _look_up(self) -> Label:
        return "submit"


class DropsConfirmation(Coordinator):
    """Takes the provider's word for granted and does not put it on record."""

    def _record_reply(self) -> Label:
        return "rest" if isinstance(self.memory.reply, Accepted) else super()._record_reply()


class IgnoresGates(Coordinator):
    """Plans without naming the gate, so nobody is asked."""

    def plan(self, state: RecoveredRunState) -> RecoveryPlan:
        """Plan what is honest, and leave out who has to allow it."""
        return replace(super().plan(state), authority_required=None)


class ForgetsFailures(Coordinator):
    """Reconstructs attempts without their failures, so a failed attempt is never worth another."""

    def reconstruct(self, history: History) -> RecoveredRunState:
        """Return the run as if nothing had ever failed."""
        state = super().reconstruct(history)
        return replace(state, attempts=tuple(replace(attempt, failure=None) for attempt in state.attempts))


class ForgetsDoubt(Coordinator):
    """Takes an ambiguous submission for a definite failure."""

    def reconstruct(self, history: History) -> RecoveredRunState:
        """Return the run as if every doubt had been settled."""
        state = super().reconstruct(history)
        attempts = tuple(
            replace(attempt, submission="definite_failure") if attempt.submission == "ambiguous" else attempt
            for attempt in state.attempts
        )
        return replace(state, attempts=attempts)


class CallsBeforeIntent(Coordinator):
    """Calls the provider first; what it puts on record after is the first that the ledger hears of the attempt."""

    def _record_intent(self) -> Label:
        return "submit"


class RetriesUnderOldKey(Coordinator):
    """Sends a retry as the attempt that has failed."""

    def number(self, state: RecoveredRunState, plan: RecoveryPlan) -> int:
        """Return the number that the attempt before had."""
        number = super().number(state, plan)
        return number - 1 if plan.action == "retry_attempt" else number


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of which a system is made."""

    coordinator: type[Coordinator] = Coordinator
    ledger: type[GitLedger] = GitLedger


DEFECTS: Mapping[str, Parts] = {
    "": Parts(),
    "unconfirmed-is-plain-dispatch": Parts(coordinator=SendsUnconfirmed),
    "submit-without-look-up": Parts(coordinator=SubmitsWithoutLookUp),
    "append-without-compare-and-set": Parts(ledger=OverwritingLedger),
    "confirmation-dropped": Parts(coordinator=DropsConfirmation),
    "gate-dropped": Parts(coordinator=IgnoresGates),
    "failure-forgotten": Parts(coordinator=ForgetsFailures),
    "doubt-forgotten": Parts(coordinator=ForgetsDoubt),
    "call-before-intent": Parts(coordinator=CallsBeforeIntent),
    "retry-under-the-old-key": Parts(coordinator=RetriesUnderOldKey),
}
"""What is used in the place of the honest parts, by the name of the mistake; the empty name is no mistake."""

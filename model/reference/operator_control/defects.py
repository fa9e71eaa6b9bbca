"""Deliberate mistakes, by name. Each replaces one part of a deployment by a subclass that does one thing wrong.

The cross-check must tell every one of them from the honest implementation; that is what says that it looks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from model.reference.operator_control.arbitration import Arbitration, Check, Question
from model.reference.operator_control.controls import ControlRules, Receipt, Request, Result
from model.reference.operator_control.deployment import Parts
from model.reference.operator_control.records import (
    Books,
    Claim,
    Delivery,
    Lease,
    Profile,
    WorkRecord,
)
from model.reference.operator_control.rules import Rules
from model.reference.operator_control.service import Control
from model.reference.operator_control.storage import Storage
from model.reference.operator_control.variants import UnlessReclaimed
from model.reference.operator_control.worker import Worker
from model.reference.operator_control.world import Answer


class GenerationNotCompared(Rules):
    """Whoever ever held a claim may finish what somebody else holds now."""

    def same_generation(self, lease: Lease, claim: Claim) -> bool:  # noqa: ARG002
        """Say that every lease is that of the claim."""
        return True


class UnknownNotHeld(Rules):
    """A hold is for timeouts and panics only, not for a send of which nothing more is known."""

    def uncertain(self, record: WorkRecord) -> bool:
        """Say whether a delivery may have happened, Unknown left out."""
        return super().uncertain(record) and record.delivery is not Delivery.UNKNOWN


class RegisteredProfileRules(Worker):
    """The worker believes the stored profile to be whatever is registered."""

    def registered(self) -> Profile:
        """Return the profile that is stored with the work."""
        return self.claim.intent.profile if self.claim is not None else super().registered()


class RetryResetsAttempts(ControlRules):
    """A retry gives the attempts back."""

    def retry(self, books: Books, record: WorkRecord, now: int) -> tuple[WorkRecord, Result]:
        """Return the record scheduled, as if it had never been tried."""
        scheduled, result = super().retry(books, record, now)
        return replace(scheduled, attempts=0), result


class RetryReleasesHold(ControlRules):
    """A plain retry takes work in doubt for work that has failed."""

    def retry(self, books: Books, record: WorkRecord, now: int) -> tuple[WorkRecord, Result]:
        """Return the record scheduled, whatever is known of its delivery."""
        if self.rules.uncertain(record) and self.hard(record, books, now) is None:
            return self.scheduled(record, now), Result.SCHEDULED
        return super().retry(books, record, now)


class BudgetsForgotten(ControlRules):
    """A release from a hold schedules the work, whether it may be tried again or not."""

    def released(self, books: Books, record: WorkRecord, now: int) -> tuple[WorkRecord, Result]:  # noqa: ARG002
        """Return the record pending."""
        return replace(self.scheduled(record, now), delivery=Delivery.PERMANENT), Result.SCHEDULED


class VersionBeforeReceipt(Arbitration):
    """The storage compares the version before it looks for a receipt."""

    def checks(self) -> Sequence[Check]:
        """Return the checks in another order."""
        others = [check for check in super().checks() if check != self.exact]
        return (*others, self.exact)


class VersionBeforeReplay(Control):
    """So does the Runtime."""

    def checks(self) -> Sequence[Callable[[Question], Answer | None]]:
        """Return what is looked at, in another order."""
        return (self.admit, self.may_control, self.as_seen, self.replay, self.can_answer, self.prepare)


class ReceiptLater(Storage):
    """The record is written in the transaction, the receipt some time afterwards."""

    owed: Receipt | None = None

    def _commit_control(self, before: Books, after: Books, receipt: Receipt) -> None:
        self._store(before, after)
        self.owed = receipt


class ReceiptWithAnswer(Control):
    """Writes the receipt when the answer goes out."""

    def reply(self, request: Request, answer: Answer) -> None:
        """Write what is owed, then tell the operator."""
        if isinstance(self.storage, ReceiptLater) and self.storage.owed is not None:
            self.storage.store_receipt(self.storage.owed)
            self.storage.owed = None
        super().reply(request, answer)


class VersionReadAgain(Control):
    """After the verification the version is taken from the record as it is then, so that no change is noticed."""

    def commit(self, request: Request) -> Answer:
        """Carry the control out on whatever the record has become."""
        snapshot = self.storage.snapshot()
        record = snapshot.record(request.handle)
        question = Question(self.principal, request, snapshot)
        if record is None or question.receipt is not None:
            return super().commit(request)
        version = replace(request.expected, generation=snapshot.generation, revision=record.revision)
        self.request = replace(request, expected=version)
        return super().commit(self.request)


class AuthorityNotAskedAgain(Control):
    """What was allowed before the verification is taken to be allowed after it, and when the answer goes out."""

    looked = False

    def look(self) -> Answer | None:
        """Look with authority, and remember that."""
        answer = super().look()
        self.looked = answer is None
        return answer

    def authorize(self, scope: str | None) -> None:
        """Refuse whoever had no authority at first."""
        if not self.looked:
            super().authorize(scope)


class ConfirmationDropped(Worker):
    """What came of a send is never stored."""

    def finish(self, claim: Claim, outcome: Delivery) -> None:
        """Store nothing."""


class SendsBeforeItIsStored(Worker):
    """The send comes first, and that it may have happened is stored afterwards."""

    def run(self) -> Iterator[str]:
        """Work on one claim, in another order."""
        self.claim = self.storage.claim(self.clock.now())
        if self.claim is None:
            return
        yield "match"
        if not self.still_holds(self.claim) or not self.match(self.claim):
            return
        yield "send"
        self.outcome = self.send(self.claim)
        yield "start"
        if not self.start(self.claim):
            return
        yield "finish"
        self.finish(self.claim, self.outcome)


class SilenceIsFailure(Worker):
    """No answer is filed as a refusal that may be tried again."""

    def finish(self, claim: Claim, outcome: Delivery) -> None:
        """Store the outcome, Retryable where there was none."""
        silent = outcome in (Delivery.UNKNOWN, Delivery.TIMED_OUT)
        super().finish(claim, Delivery.RETRYABLE if silent else outcome)


class AttemptCountedLate(Rules):
    """An attempt is counted when it is finished, so that a crash costs none."""

    def _leased(self, books: Books, record: WorkRecord, now: int) -> tuple[Books, Claim]:
        after, claim = super()._leased(books, record, now)
        leased = after.records[record.id]
        uncounted = after.with_record(replace(leased, attempts=record.attempts))
        return uncounted.with_use(record.intent.cause.root, record.attempts), claim

    def delivery_finished(self, books: Books, claim: Claim, outcome: Delivery, now: int) -> Books:
        """Count the attempt, then store what came of the send."""
        record = self.claimed(books, claim, now)
        counted = books.with_record(replace(record, attempts=record.attempts + 1))
        return super().delivery_finished(
            counted.with_use(record.intent.cause.root, record.attempts + 1), claim, outcome, now
        )


DEFECTS: dict[str, Parts] = {
    "receipt-outside-the-transaction": Parts(storage=ReceiptLater, control=ReceiptWithAnswer),
    "version-before-receipt": Parts(arbitration=VersionBeforeReceipt, control=VersionBeforeReplay),
    "version-read-again": Parts(control=VersionReadAgain),
    "authority-not-asked-again": Parts(control=AuthorityNotAskedAgain),
    "retry-resets-attempts": Parts(controls=RetryResetsAttempts),
    "retry-releases-hold": Parts(controls=RetryReleasesHold),
    "budgets-forgotten": Parts(controls=BudgetsForgotten),
    "unknown-not-held": Parts(rules=UnknownNotHeld),
    "lease-ignored": Parts(rules=UnlessReclaimed),
    "generation-not-compared": Parts(rules=GenerationNotCompared),
    "confirmation-dropped": Parts(worker=ConfirmationDropped),
    "sends-before-it-is-stored": Parts(worker=SendsBeforeItIsStored),
    "silence-is-failure": Parts(worker=SilenceIsFailure),
    "attempt-counted-late": Parts(rules=AttemptCountedLate),
    "registration-reinterprets": Parts(worker=RegisteredProfileRules),
}
"""What each mistake replaces."""

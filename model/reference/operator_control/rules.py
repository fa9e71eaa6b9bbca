"""What becomes of work: the pure transitions that workers and a restore ask for.

Each rule takes the books and the time and returns new books, or refuses. Nothing here reads a clock or writes; the
storage runs a rule inside its transaction. The rules are methods so that a deliberate mistake is a subclass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from model.reference.operator_control.records import (
    Books,
    Claim,
    Code,
    Delivery,
    Intent,
    Lease,
    Limits,
    Payload,
    Phase,
    Profile,
    Reason,
    Refusal,
    WorkRecord,
    intent_text,
)

RETRY: None = None
"""How a worker says that work shall be tried again; a `Reason` stops it, `Phase.DONE` finishes it."""

Verdict = Phase | Reason | None

IN_DOUBT = frozenset({Delivery.UNKNOWN, Delivery.TIMED_OUT, Delivery.PANICKED})
"""Outcomes after which the provider may or may not have accepted."""


class Rules:
    """The transitions under one set of limits."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits

    # What is asked of a record.

    def uncertain(self, record: WorkRecord) -> bool:
        """Say whether a delivery that may have happened forbids another send."""
        return (
            record.intent.profile is Profile.RECONCILE_BEFORE_RETRY
            and record.is_notification
            and record.delivery in IN_DOUBT
        )

    def unexpired(self, lease: Lease, now: int) -> bool:
        """Say whether a lease still runs."""
        return lease.until > now

    def same_generation(self, lease: Lease, claim: Claim) -> bool:
        """Say whether a lease is the one that the claim was given."""
        return lease.generation == claim.generation

    def claimed(self, books: Books, claim: Claim, now: int) -> WorkRecord:
        """Return the record that a claim holds.

        Raises:
            Refusal: Conflict, the claim holds nothing any more.
        """
        record = books.records.get(claim.id)
        lease = record.lease if record is not None and record.phase is Phase.LEASED else None
        if (
            record is None
            or lease is None
            or not self.unexpired(lease, now)
            or not self.same_generation(lease, claim)
            or now < record.intent.not_before
        ):
            raise Refusal(Code.CONFLICT, f"the claim of {claim.id} is not live")
        return record

    def too_old(self, record: WorkRecord, now: int) -> bool:
        """Say whether the chain that the work belongs to is older than it may get."""
        return max(0, now - record.intent.cause.started_at) >= self.limits.max_age

    def out_of_attempts(self, record: WorkRecord) -> bool:
        """Say whether the record has had all the attempts that it may have."""
        return record.attempts >= self.limits.max_attempts

    def out_of_work(self, record: WorkRecord, books: Books) -> bool:
        """Say whether the root of the work has used all that it may use."""
        return books.used.get(record.intent.cause.root, 0) >= self.limits.max_work

    def exhausted(self, record: WorkRecord, books: Books, now: int) -> Reason | None:
        """Return the budget that forbids an attempt, in the order in which a claim names them."""
        if record.intent.cause.depth > self.limits.max_depth:
            return Reason.DEPTH
        if self.too_old(record, now):
            return Reason.AGE
        if self.out_of_attempts(record):
            return Reason.ATTEMPTS
        return Reason.WORK_BUDGET if self.out_of_work(record, books) else None

    # What workers ask for.

    def enqueue(self, books: Books, intent: Intent) -> Books:
        """Add work; work that is known already, and the same, is left as it is.

        Raises:
            Refusal: IdentityMismatch, other work has that identity; Overloaded; Invalid.
        """
        if intent.payload is not Payload.NOTIFICATION and intent.profile is not Profile.AT_LEAST_ONCE:
            raise Refusal(Code.INVALID, "only a notification has a delivery profile")
        known = books.records.get(intent.id)
        if known is not None:
            if known.intent != intent:
                raise Refusal(Code.IDENTITY_MISMATCH, f"{intent.id} is other work")
            return books
        size = sum(len(intent_text(record.intent)) for record in books.records.values()) + len(intent_text(intent))
        if len(books.records) >= self.limits.max_records or size > self.limits.max_bytes:
            raise Refusal(Code.OVERLOADED, "there is no room for more work")
        root = intent.cause.root
        return books.with_record(WorkRecord(intent, due=intent.not_before)).with_use(root, books.used.get(root, 0))

    def claim(self, books: Books, now: int) -> tuple[Books, Claim | None]:
        """Give out the first work that may be worked on, and hold or stop what is come by on the way."""
        for key in sorted(books.records):
            record = books.records[key]
            if record.phase is Phase.PENDING and record.due > now:
                if self.too_old(record, now):
                    books = books.with_record(replace(record, phase=Phase.STOPPED, stopped=Reason.AGE))
                continue
            if not self.eligible(record, now):
                continue
            if self.uncertain(record):
                books = books.with_record(self.held(record))
                continue
            return self._leased(books, record, now)
        return books, None

    def eligible(self, record: WorkRecord, now: int) -> bool:
        """Say whether work waits for a worker: it is due, or its worker's time is up."""
        if record.phase is Phase.PENDING:
            return record.due <= now
        return record.phase is Phase.LEASED and record.lease is not None and record.lease.until <= now

    def held(self, record: WorkRecord) -> WorkRecord:
        """Return the record as it waits for somebody to find out what became of the delivery."""
        return replace(
            record, phase=Phase.AWAITING_RECONCILIATION, lease=None, stopped=None, generation=record.generation + 1
        )

    def _leased(self, books: Books, record: WorkRecord, now: int) -> tuple[Books, Claim]:
        reason = self.exhausted(record, books, now)
        generation = record.generation + 1
        lease = Lease(now + self.limits.lease, generation, reason)
        leased = replace(record, phase=Phase.LEASED, lease=lease, generation=generation)
        if reason is None:
            leased = replace(leased, attempts=record.attempts + 1)
            root = record.intent.cause.root
            books = books.with_use(root, books.used[root] + 1)
        return books.with_record(leased), Claim(record.id, generation, record.intent, leased.attempts, reason)

    def delivery_started(self, books: Books, claim: Claim, now: int) -> Books:
        """Store that a send may happen from now on.

        Raises:
            Refusal: Conflict, the claim is not live or is none to send under.
        """
        record = self._notification(books, claim, now)
        if record.lease is None or record.lease.resolution_only is not None:
            raise Refusal(Code.CONFLICT, "the claim is for resolving only")
        return books.with_record(replace(record, delivery=Delivery.UNKNOWN))

    def delivery_finished(self, books: Books, claim: Claim, outcome: Delivery, now: int) -> Books:
        """Store what came of a send, and what follows from it.

        Raises:
            Refusal: Conflict, the claim is not live.
        """
        record = replace(self._notification(books, claim, now), delivery=outcome)
        if self.uncertain(record):
            return books.with_record(self.held(record))
        if outcome is Delivery.ACCEPTED:
            return books.with_record(self.ended(record, Phase.DONE))
        if outcome is Delivery.PERMANENT:
            return books.with_record(self.ended(record, Reason.DELIVERY_PERMANENT))
        if outcome is Delivery.PANICKED:
            return books.with_record(self.ended(record, Reason.CALLBACK_PANICKED))
        return books.with_record(self.retried(books, record, now))

    def finish(self, books: Books, claim: Claim, verdict: Verdict, now: int) -> Books:
        """Store what a worker made of its claim: done, stopped, or to be tried again; the delivery is kept.

        Raises:
            Refusal: Conflict, the claim is not live.
        """
        record = self.claimed(books, claim, now)
        if verdict is not None:
            return books.with_record(self.ended(record, verdict))
        if self.uncertain(record):
            return books.with_record(self.held(record))
        return books.with_record(self.retried(books, record, now))

    def materialize(self, books: Books, claim: Claim, children: Sequence[Intent], now: int) -> Books:
        """Turn a source into the work that follows from it, all at once.

        Raises:
            Refusal: Conflict, the claim is not live or not of a source; Invalid, a child of another cause; Overloaded.
        """
        parent = self.claimed(books, claim, now)
        if (
            parent.intent.payload is not Payload.SOURCE
            or parent.lease is None
            or parent.lease.resolution_only is not None
            or len(children) > self.limits.max_fanout
        ):
            raise Refusal(Code.CONFLICT, "the claim cannot be made into further work")
        for child in children:
            if not _inherits(child, parent.intent):
                raise Refusal(Code.INVALID, f"{child.id} does not follow from {parent.id}")
            books = self.enqueue(books, child)
        return books.with_record(self.ended(parent, Phase.DONE))

    def _notification(self, books: Books, claim: Claim, now: int) -> WorkRecord:
        record = self.claimed(books, claim, now)
        if not record.is_notification:
            raise Refusal(Code.CONFLICT, "only a notification is delivered")
        return record

    def ended(self, record: WorkRecord, verdict: Phase | Reason) -> WorkRecord:
        """Return the record done, or stopped for a reason."""
        if isinstance(verdict, Reason):
            return replace(record, phase=Phase.STOPPED, lease=None, stopped=verdict)
        return replace(record, phase=Phase.DONE, lease=None, stopped=None)

    def retried(self, books: Books, record: WorkRecord, now: int) -> WorkRecord:
        """Return the record put back with a growing delay, or stopped where a budget is used up.

        The order in which the budgets are named is another than at a claim.
        """
        if self.out_of_attempts(record):
            return self.ended(record, Reason.ATTEMPTS)
        if self.out_of_work(record, books):
            return self.ended(record, Reason.WORK_BUDGET)
        if self.too_old(record, now):
            return self.ended(record, Reason.AGE)
        delay = self.limits.retry_seconds * 2 ** max(0, min(record.attempts - 1, 10))
        due = max(now + delay, record.intent.not_before)
        return replace(record, phase=Phase.PENDING, lease=None, stopped=None, due=due)

    # What a restore does.

    def restored(self, books: Books) -> Books:
        """Return the books as they are taken up again from a backup: no claim of the past is honoured."""
        for record in books.records.values():
            if record.phase is not Phase.LEASED:
                continue
            if self.uncertain(record):
                books = books.with_record(self.held(record))
                continue
            pending = replace(record, phase=Phase.PENDING, lease=None, due=record.intent.not_before)
            books = books.with_record(replace(pending, generation=record.generation + 1))
        return books


def _inherits(child: Intent, parent: Intent) -> bool:
    theirs, ours = child.cause, parent.cause
    return (
        theirs.root == ours.root
        and theirs.started_at == ours.started_at
        and theirs.retry_epoch == ours.retry_epoch
        and theirs.parent == parent.id
        and theirs.depth == ours.depth + 1
    )

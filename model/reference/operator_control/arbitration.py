"""In which order a control is judged: by its epoch, its receipt, and then what it knows of the record.

The order is the protocol. A request that was committed must get its stored result although the record has moved on, so
the receipt is looked at before the version; and nobody is told anything whose epoch or authority has ended, so that is
looked at before the receipt.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from model.reference.operator_control.controls import Evidence, Receipt, Request, Version, well_formed
from model.reference.operator_control.records import Books, Code, Epochs, Refusal, WorkRecord

Identity = tuple[str, int, str]
"""Principal, retry epoch and key: what makes two requests the same control."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything that the storage knows, read at once."""

    generation: str
    epochs: Epochs
    books: Books
    receipts: Mapping[Identity, Receipt] = field(default_factory=dict)

    def record(self, handle: str) -> WorkRecord | None:
        """Return the record of a handle.

        Raises:
            Refusal: Storage, there are several.
        """
        found = [record for record in self.books.records.values() if record.intent.handle == handle]
        if len(found) > 1:
            raise Refusal(Code.STORAGE, "two records have one handle")
        return found[0] if found else None


@dataclass(frozen=True, slots=True)
class Question:
    """A request as it is judged against a snapshot."""

    principal: str
    request: Request
    snapshot: Snapshot
    evidence: Evidence | None = None

    @property
    def identity(self) -> Identity:
        """What makes another request the same control."""
        return self.principal, self.request.retry_epoch, self.request.key

    @property
    def receipt(self) -> Receipt | None:
        """The receipt of this control, if it was committed."""
        return self.snapshot.receipts.get(self.identity)


Check = Callable[[Question], Receipt | None]
"""Refuses, answers with a receipt that settles the question, or has no objection."""


class Arbitration:
    """The checks of the storage, in their order. A subclass with another order is a deliberate mistake."""

    def checks(self) -> Sequence[Check]:
        """Return the checks in the order in which they are made inside the transaction."""
        return (
            self.shape,
            self.replayable,
            self.exact,
            self.admitted,
            self.evidence,
            self.present,
            self.version,
            self.own_epoch,
        )

    def judge(self, question: Question) -> Receipt | None:
        """Return the receipt that settles the question, or None where the control may be carried out.

        Raises:
            Refusal: the first check that objects.
        """
        for check in self.checks():
            receipt = check(question)
            if receipt is not None:
                return receipt
        return None

    def shape(self, question: Question) -> None:
        """Refuse what is not well formed (Invalid)."""
        question.request.check()
        if not well_formed(question.principal):
            raise Refusal(Code.INVALID, "the principal is not well formed")

    def replayable(self, question: Question) -> None:
        """Refuse an epoch below the replay floor (IdentityExpired) or beyond the current one (Invalid)."""
        epochs = question.snapshot.epochs
        if question.request.retry_epoch < epochs.replay_floor:
            raise Refusal(Code.IDENTITY_EXPIRED, "the epoch is below the replay floor")
        if question.request.retry_epoch > epochs.current:
            raise Refusal(Code.INVALID, "the epoch has not begun")

    def exact(self, question: Question) -> Receipt | None:
        """Answer the request that is on file; refuse another one under its identity (IdentityMismatch)."""
        receipt = question.receipt
        if receipt is not None and receipt.request != question.request:
            raise Refusal(Code.IDENTITY_MISMATCH, "the key stands for another request")
        return receipt

    def admitted(self, question: Question) -> None:
        """Refuse a new control of an epoch below the admission floor (IdentityExpired)."""
        if question.request.retry_epoch < question.snapshot.epochs.admission_floor:
            raise Refusal(Code.IDENTITY_EXPIRED, "the epoch is below the admission floor")

    def evidence(self, question: Question) -> None:
        """Refuse a reference to evidence that is not well formed (Invalid)."""
        reference = question.request.evidence_ref
        if reference is not None and not well_formed(reference):
            raise Refusal(Code.INVALID, "the reference to evidence is not well formed")

    def present(self, question: Question) -> None:
        """Refuse a handle of nothing (Missing)."""
        if question.snapshot.record(question.request.handle) is None:
            raise Refusal(Code.MISSING, "there is no such work")

    def version(self, question: Question) -> None:
        """Refuse unless the record is as the operator has seen it (Conflict)."""
        record = question.snapshot.record(question.request.handle)
        expected = question.request.expected
        if record is None or expected != Version(question.snapshot.generation, record.revision):
            raise Refusal(Code.CONFLICT, "the record is not what the operator has looked at")

    def own_epoch(self, question: Question) -> None:
        """Refuse work whose own epoch is below the replay floor (IdentityExpired)."""
        record = question.snapshot.record(question.request.handle)
        if record is not None and record.intent.cause.retry_epoch < question.snapshot.epochs.replay_floor:
            raise Refusal(Code.IDENTITY_EXPIRED, "the work is older than what is replayed")

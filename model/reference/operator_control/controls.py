"""What an operator may ask for, what is kept of it, and what it does to a record (pure)."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from enum import StrEnum

from model.reference.operator_control.records import (
    HARD_REASONS,
    Books,
    Code,
    Delivery,
    Payload,
    Phase,
    Reason,
    Refusal,
    WorkRecord,
    canonical,
)
from model.reference.operator_control.rules import Rules

LONGEST_NAME = 128
"""Longest key, principal and evidence reference, in characters."""


class Operation(StrEnum):
    """What an operator can ask for. It cannot say what a provider did."""

    RETRY = "Retry"
    RECONCILE = "Reconcile"


class Result(StrEnum):
    """What a control came to."""

    SCHEDULED = "Scheduled"
    COMPLETED = "Completed"
    STOPPED = "Stopped"


class Finding(StrEnum):
    """What a verifier, which the host has registered, says of a delivery.

    NOT_ACCEPTED promises that the old attempt can never succeed later. A look-up that has merely found nothing is
    UNRESOLVED. PROVED says of an action that its own durable receipt shows that it was committed.
    """

    ACCEPTED = "Accepted"
    NOT_ACCEPTED = "NotAccepted"
    UNRESOLVED = "Unresolved"
    PROVED = "Proved"


@dataclass(frozen=True, slots=True)
class Evidence:
    """A finding and what it rests on; it is kept in the receipt and shown to nobody."""

    finding: Finding
    text: str = ""


@dataclass(frozen=True, slots=True)
class Version:
    """Which state of a record an operator has looked at."""

    generation: str
    revision: int


@dataclass(frozen=True, slots=True)
class Request:
    """A control as it is asked for. It is sent again unchanged until it is answered."""

    handle: str
    expected: Version
    key: str
    retry_epoch: int
    operation: Operation
    evidence_ref: str | None = None

    @property
    def text(self) -> str:
        """The canonical text, by which two requests are compared."""
        return canonical(asdict(self))

    def check(self) -> None:
        """Raise `Refusal` (Invalid) unless the request is well formed."""
        digits = len(self.handle) == 64 and set(self.handle) <= set("0123456789abcdef")
        if not digits or not well_formed(self.key) or self.retry_epoch < 0 or self.expected.revision < 0:
            raise Refusal(Code.INVALID, "the request is not well formed")
        if self.evidence_ref is not None and self.operation is Operation.RETRY:
            raise Refusal(Code.INVALID, "a retry has no evidence")


def read_request(text: str) -> Request:
    """Return the request that a canonical text was made from."""
    data = json.loads(text)
    expected = Version(**data["expected"])
    return Request(**{**data, "expected": expected, "operation": Operation(data["operation"])})


def well_formed(name: str) -> bool:
    """Say whether a key, principal or evidence reference may be stored."""
    return 0 < len(name) <= LONGEST_NAME and name.isprintable()


@dataclass(frozen=True, slots=True)
class Receipt:
    """What is kept of a control that was committed; never removed. (principal, epoch, key) is its identity."""

    principal: str
    request: Request
    result: Result
    time: int
    scope: str
    prior_phase: Phase
    prior_delivery: Delivery | None
    evidence: str | None

    @property
    def text(self) -> str:
        """The canonical text, whose length counts against the bound of the receipts."""
        return canonical(asdict(self))


def read_receipt(text: str) -> Receipt:
    """Return the receipt that a canonical text was made from."""
    data = json.loads(text)
    return Receipt(
        **{
            **data,
            "request": read_request(canonical(data["request"])),
            "result": Result(data["result"]),
            "prior_phase": Phase(data["prior_phase"]),
            "prior_delivery": None if data["prior_delivery"] is None else Delivery(data["prior_delivery"]),
        }
    )


class ControlRules:
    """What a control does to a record. A subclass is a deliberate mistake."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules

    def hard(self, record: WorkRecord, books: Books, now: int) -> Reason | None:
        """Return the used-up budget that no operator can give back, if there is one."""
        exhausted = self.rules.exhausted(record, books, now)
        if exhausted is not None:
            return exhausted
        return record.stopped if record.stopped in HARD_REASONS else None

    def control(
        self, books: Books, record: WorkRecord, operation: Operation, evidence: Evidence | None, now: int
    ) -> tuple[WorkRecord, Result]:
        """Return what a control makes of a record, and what it is called.

        Every control begins another generation, also one that leaves the rest as it was: so it moves the version, and
        of two controls for one version one is a Conflict.

        Raises:
            Refusal: Conflict, the record is not in the operator's reach; Invalid, evidence that establishes nothing.
        """
        if record.phase in (Phase.LEASED, Phase.DONE):
            raise Refusal(Code.CONFLICT, f"the work is {record.phase}")
        changed, result = self.changed(books, record, operation, evidence, now)
        return replace(changed, generation=record.generation + 1), result

    def changed(
        self, books: Books, record: WorkRecord, operation: Operation, evidence: Evidence | None, now: int
    ) -> tuple[WorkRecord, Result]:
        """Return what a control makes of a record that is in its reach, its generation apart."""
        if operation is Operation.RETRY:
            return self.retry(books, record, now)
        if evidence is None or evidence.finding is Finding.UNRESOLVED or not evidence.text:
            raise Refusal(Code.INVALID, "nothing is established about the delivery")
        if evidence.finding is Finding.PROVED:
            if record.intent.payload is not Payload.ACTION:
                raise Refusal(Code.INVALID, "only an action has a receipt of its own")
            done = self.rules.ended(record, Phase.DONE)
            return replace(done, delivery=None), Result.COMPLETED
        if not record.is_notification:
            raise Refusal(Code.INVALID, "only a notification is verified with a provider")
        if evidence.finding is Finding.ACCEPTED:
            return replace(self.rules.ended(record, Phase.DONE), delivery=Delivery.ACCEPTED), Result.COMPLETED
        return self.released(books, record, now)

    def retry(self, books: Books, record: WorkRecord, now: int) -> tuple[WorkRecord, Result]:
        """Return the record scheduled for now; nothing else about it changes."""
        if (
            record.phase not in (Phase.PENDING, Phase.STOPPED)
            or self.rules.uncertain(record)
            or self.hard(record, books, now) is not None
        ):
            raise Refusal(Code.CONFLICT, "a plain retry cannot help this work")
        return self.scheduled(record, now), Result.SCHEDULED

    def released(self, books: Books, record: WorkRecord, now: int) -> tuple[WorkRecord, Result]:
        """Return the record after it was established that the delivery did not and will not happen."""
        reason = self.hard(record, books, now)
        refused = replace(record, delivery=Delivery.PERMANENT)
        if reason is not None:
            return self.rules.ended(refused, reason), Result.STOPPED
        return self.scheduled(refused, now), Result.SCHEDULED

    def scheduled(self, record: WorkRecord, now: int) -> WorkRecord:
        """Return the record pending and due now, or when it may begin at all."""
        due = max(now, record.intent.not_before)
        return replace(record, phase=Phase.PENDING, lease=None, stopped=None, due=due)

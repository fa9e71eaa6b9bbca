"""What is stored about a piece of work, and the words for it.

A record has a frozen part, which no update and no operator ever changes, and a small mutable part. Everything here is a
value: the rules make new ones, the storage writes them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any

LARGEST_REVISION = 2**63 - 1
"""A revision beyond this is refused: SQLite could not store it."""


class Code(StrEnum):
    """Why something was refused."""

    CONFLICT = "Conflict"
    IDENTITY_MISMATCH = "IdentityMismatch"
    IDENTITY_EXPIRED = "IdentityExpired"
    OVERLOADED = "Overloaded"
    TOO_LARGE = "TooLarge"
    UNSUPPORTED = "Unsupported"
    DENIED = "Denied"
    MISSING = "Missing"
    INVALID = "Invalid"
    UNKNOWN = "Unknown"
    STORAGE = "Storage"


class Refusal(Exception):
    """An update or a control is refused with a code; nothing has changed."""

    def __init__(self, code: Code, why: str) -> None:
        super().__init__(f"{code}: {why}")
        self.code = code
        self.why = why


class Profile(StrEnum):
    """What a delivery may assume of its provider. Stored with the work, whatever is registered later."""

    AT_LEAST_ONCE = "AtLeastOnce"
    PROVIDER_DEDUPLICATED = "ProviderDeduplicated"
    RECONCILE_BEFORE_RETRY = "ReconcileBeforeRetry"


class Payload(StrEnum):
    """What kind of work it is."""

    SOURCE = "Source"
    ACTION = "Action"
    NOTIFICATION = "Notification"


class Delivery(StrEnum):
    """What is known of the delivery; UNKNOWN is also what is stored when a send begins."""

    ACCEPTED = "Accepted"
    RETRYABLE = "Retryable"
    PERMANENT = "Permanent"
    UNKNOWN = "Unknown"
    TIMED_OUT = "TimedOut"
    PANICKED = "Panicked"


class Reason(StrEnum):
    """Why work was stopped."""

    DEPTH = "Depth"
    WORK_BUDGET = "WorkBudget"
    ATTEMPTS = "Attempts"
    AGE = "Age"
    FANOUT = "Fanout"
    DENIED = "Denied"
    CONFLICT = "Conflict"
    INVALID = "Invalid"
    MISSING = "Missing"
    DEFINITION_CHANGED = "DefinitionChanged"
    CALLBACK_PANICKED = "CallbackPanicked"
    UNAVAILABLE = "Unavailable"
    DELIVERY_PERMANENT = "DeliveryPermanent"


HARD_REASONS = frozenset({Reason.DEPTH, Reason.FANOUT, Reason.ATTEMPTS, Reason.WORK_BUDGET, Reason.AGE})
"""What no operator can undo: a budget that is used up stays used up."""


class Phase(StrEnum):
    """Where a record stands."""

    PENDING = "Pending"
    LEASED = "Leased"
    AWAITING_RECONCILIATION = "AwaitingReconciliation"
    DONE = "Done"
    STOPPED = "Stopped"


@dataclass(frozen=True, slots=True)
class Lease:
    """Until when a claim holds, and why it may only be resolved and not be worked on, if so."""

    until: int
    generation: int
    resolution_only: Reason | None = None


@dataclass(frozen=True, slots=True)
class Cause:
    """Where work comes from. Children inherit all but `parent`, `depth` and `path`."""

    root: str
    started_at: int = 0
    retry_epoch: int = 0
    parent: str | None = None
    depth: int = 0
    path: str = ""


@dataclass(frozen=True, slots=True)
class Intent:
    """The frozen part of a record: what is to be done, for whom, and since when."""

    id: str
    cause: Cause
    payload: Payload = Payload.NOTIFICATION
    content: str = ""
    definition: str = "notice"
    version: int = 1
    service_key: str = "service"
    not_before: int = 0
    profile: Profile = Profile.AT_LEAST_ONCE

    @property
    def handle(self) -> str:
        """The public name of the work: a hash, which tells nothing and allows nothing."""
        return hashlib.sha256(b"work\0" + self.id.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class WorkRecord:
    """A piece of work: the frozen intent and how far it is."""

    intent: Intent
    phase: Phase = Phase.PENDING
    lease: Lease | None = None
    stopped: Reason | None = None
    attempts: int = 0
    generation: int = 0
    revision: int = 0
    due: int = 0
    delivery: Delivery | None = None

    @property
    def id(self) -> str:
        """The identity of the work."""
        return self.intent.id

    @property
    def is_notification(self) -> bool:
        """Say whether the work is a delivery to a provider."""
        return self.intent.payload is Payload.NOTIFICATION


@dataclass(frozen=True, slots=True)
class Limits:
    """The budgets. They are stored with the work, and a host that comes with others is refused."""

    max_depth: int = 16
    max_work: int = 256
    max_attempts: int = 3
    max_age: int = 3600
    retry_seconds: int = 1
    lease: int = 30
    max_fanout: int = 16
    max_records: int = 1024
    max_bytes: int = 1 << 20
    max_receipts: int = 1024
    max_receipt_bytes: int = 1 << 20


@dataclass(frozen=True, slots=True)
class Epochs:
    """Which retry epochs are current, still admit new controls, and still replay old ones."""

    current: int = 0
    admission_floor: int = 0
    replay_floor: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.replay_floor <= self.admission_floor <= self.current:
            raise Refusal(Code.INVALID, "the floors are in the order replay, admission, current")


@dataclass(frozen=True, slots=True)
class Claim:
    """What a worker holds of a record: its identity, and the generation that fences it."""

    id: str
    generation: int
    intent: Intent
    attempt: int
    resolution_only: Reason | None = None


@dataclass(frozen=True, slots=True)
class Books:
    """All records and what was used of each root: what an update reads and what it makes of it."""

    records: Mapping[str, WorkRecord] = field(default_factory=dict)
    used: Mapping[str, int] = field(default_factory=dict)

    def with_record(self, record: WorkRecord) -> Books:
        """Return the books with one record replaced."""
        return replace(self, records={**self.records, record.id: record})

    def with_use(self, root: str, used: int) -> Books:
        """Return the books with the account of one root replaced."""
        return replace(self, used={**self.used, root: used})


def settled(before: Books, after: Books) -> Books:
    """Return `after` with the revision of every record that was changed one higher than before.

    This is the only place that counts revisions, so that a transaction counts each record once.

    Raises:
        Refusal: TooLarge, a revision has run out.
    """
    result = after
    for key, record in after.records.items():
        old = before.records.get(key)
        if old is None or record == old:
            continue
        if old.revision >= LARGEST_REVISION:
            raise Refusal(Code.TOO_LARGE, f"no revision is left for {key}")
        result = result.with_record(replace(record, revision=old.revision + 1))
    return result


def canonical(value: Any) -> str:
    """Return the one JSON text of a value."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def intent_text(intent: Intent) -> str:
    """Return the canonical text of the frozen part."""
    return canonical(asdict(intent))


def read_intent(text: str) -> Intent:
    """Return the frozen part that a text was made from."""
    data = json.loads(text)
    return Intent(
        **{
            **data,
            "cause": Cause(**data["cause"]),
            "payload": Payload(data["payload"]),
            "profile": Profile(data["profile"]),
        }
    )

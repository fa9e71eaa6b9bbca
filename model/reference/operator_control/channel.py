"""The provider that notifications go to, and the verifier that asks it what became of one.

The provider is another system with a database of its own. It lives on when a worker is killed, and calls that were
begun arrive although their caller is gone. What it does is decided from outside: `plan` says how its next calls go.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from model.reference.operator_control.controls import Evidence, Finding
from model.reference.operator_control.records import Delivery

SCHEMA = """
CREATE TABLE IF NOT EXISTS accepted (number INTEGER PRIMARY KEY, id TEXT NOT NULL, attempt INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS memory (id TEXT PRIMARY KEY, known INTEGER NOT NULL, fence INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS flying (id TEXT, attempt INTEGER, PRIMARY KEY (id, attempt)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS plans (number INTEGER PRIMARY KEY, turn TEXT NOT NULL, outcome TEXT);
"""


class Manner(StrEnum):
    """What the provider does about a delivery id that it sees again, or has been asked about.

    FOLD: the second call is taken for the first. TOMBSTONE: an id that was looked up and not found is refused from then
    on. FENCE: so are attempts up to the one that was looked up.
    """

    NOTHING = "nothing"
    FOLD = "fold"
    TOMBSTONE = "tombstone_id"
    FENCE = "fence_attempt"


class Turn(StrEnum):
    """How a call goes.

    REPLY: it arrives and is answered. SILENT: it arrives, the answer is lost. LATE: the caller gives it up before it
    arrives. LOST: it never arrives. PANIC: it arrives, and then the callback fails.
    """

    REPLY = "reply"
    SILENT = "silent"
    LATE = "late"
    LOST = "lost"
    PANIC = "panic"


ANSWERS = {
    Turn.SILENT: Delivery.UNKNOWN,
    Turn.LATE: Delivery.TIMED_OUT,
    Turn.LOST: Delivery.UNKNOWN,
    Turn.PANIC: Delivery.PANICKED,
}
"""What a caller has when it gets no answer."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How the next call goes, and what the provider says where it is to say something else than it would."""

    turn: Turn = Turn.REPLY
    outcome: Delivery | None = None


class Provider:
    """The provider. Each call is a transaction of its own."""

    def __init__(self, path: Path, manner: Manner = Manner.NOTHING) -> None:
        self.path = path
        self.manner = manner
        self.connection = sqlite3.connect(path, isolation_level=None, timeout=10)
        self.connection.execute("PRAGMA journal_mode=WAL")
        self.connection.execute("PRAGMA synchronous=NORMAL")
        self.connection.executescript(SCHEMA)

    def close(self) -> None:
        """Close the database."""
        self.connection.close()

    def plan(self, *plans: Plan) -> None:
        """Say how the next calls go; without a plan a call is answered."""
        self.connection.executemany(
            "INSERT INTO plans (turn, outcome) VALUES (?, ?)", [(plan.turn, plan.outcome) for plan in plans]
        )

    def send(self, delivery_id: str, attempt: int) -> Delivery:
        """Deliver something, and return what the caller knows of it."""
        plan = self._next_plan()
        if plan.outcome not in (None, Delivery.ACCEPTED):
            # It says no, or fails, before it has looked at what it was sent.
            return plan.outcome
        if plan.turn is Turn.LOST:
            return ANSWERS[plan.turn]
        self.begin(delivery_id, attempt)
        if plan.turn is Turn.LATE:
            return ANSWERS[plan.turn]
        outcome = self.arrive(delivery_id, attempt)
        return ANSWERS.get(plan.turn, outcome)

    def _next_plan(self) -> Plan:
        row = self.connection.execute("SELECT number, turn, outcome FROM plans ORDER BY number LIMIT 1").fetchone()
        if row is None:
            return Plan()
        self.connection.execute("DELETE FROM plans WHERE number = ?", row[:1])
        return Plan(Turn(row[1]), None if row[2] is None else Delivery(row[2]))

    def begin(self, delivery_id: str, attempt: int) -> None:
        """Put a call on its way."""
        self.connection.execute("INSERT OR IGNORE INTO flying VALUES (?, ?)", (delivery_id, attempt))

    def arrive(self, delivery_id: str, attempt: int) -> Delivery:
        """Let a call that is on its way arrive."""
        db = self.connection
        db.execute("BEGIN IMMEDIATE")
        db.execute("DELETE FROM flying WHERE id = ? AND attempt = ?", (delivery_id, attempt))
        known, fence = self._memory(delivery_id)
        outcome = Delivery.ACCEPTED
        if attempt <= fence and not known:
            outcome = Delivery.PERMANENT
        elif not (known and self.manner is Manner.FOLD):
            db.execute("INSERT INTO accepted (id, attempt) VALUES (?, ?)", (delivery_id, attempt))
            db.execute("INSERT OR REPLACE INTO memory VALUES (?, 1, ?)", (delivery_id, fence))
        db.execute("COMMIT")
        return outcome

    def forget(self, delivery_id: str) -> None:
        """Remember nothing of a delivery any more, as at the end of the time for which it folds."""
        self.connection.execute("DELETE FROM memory WHERE id = ?", (delivery_id,))

    def look_up(self, delivery_id: str, attempt: int) -> bool:
        """Say whether a delivery was accepted; where it was not, forbid that it still is, if this provider can."""
        db = self.connection
        db.execute("BEGIN IMMEDIATE")
        known, fence = self._memory(delivery_id)
        if not known and self.manner is Manner.TOMBSTONE:
            fence = 2**31
        elif self.manner is Manner.FENCE:
            fence = max(fence, attempt)
        db.execute("INSERT OR REPLACE INTO memory VALUES (?, ?, ?)", (delivery_id, known, fence))
        db.execute("COMMIT")
        return known

    def _memory(self, delivery_id: str) -> tuple[bool, int]:
        row = self.connection.execute("SELECT known, fence FROM memory WHERE id = ?", (delivery_id,)).fetchone()
        return (False, 0) if row is None else (bool(row[0]), int(row[1]))

    def knows(self, delivery_id: str) -> bool:
        """Say whether a delivery was accepted and is remembered (seen from outside)."""
        return self._memory(delivery_id)[0]

    def fence(self, delivery_id: str) -> int:
        """Return up to which attempt calls are refused (seen from outside)."""
        return self._memory(delivery_id)[1]

    def flying(self, delivery_id: str) -> Sequence[int]:
        """Return the attempts whose calls are on their way (seen from outside)."""
        rows = self.connection.execute("SELECT attempt FROM flying WHERE id = ? ORDER BY attempt", (delivery_id,))
        return [int(row[0]) for row in rows]

    def deliveries(self, delivery_id: str) -> int:
        """Return how often something was delivered under an id (seen from outside)."""
        row = self.connection.execute("SELECT COUNT(*) FROM accepted WHERE id = ?", (delivery_id,)).fetchone()
        return int(row[0])


class Verifier(Protocol):
    """Host code that finds out what became of a delivery. It runs outside every gate and transaction."""

    def __call__(self, delivery_id: str, attempt: int, evidence_ref: str | None) -> Evidence:
        """Return what it has found."""


class LookupVerifier:
    """Asks the provider. That a miss is final is its promise, which only a provider that tombstones or fences keeps."""

    def __init__(self, provider: Provider) -> None:
        self.provider = provider

    def __call__(self, delivery_id: str, attempt: int, evidence_ref: str | None) -> Evidence:  # noqa: ARG002
        """Return that the delivery was accepted, or that it was not."""
        if self.provider.look_up(delivery_id, attempt):
            return Evidence(Finding.ACCEPTED, f"found {delivery_id}")
        return Evidence(Finding.NOT_ACCEPTED, f"not found {delivery_id}")

"""The provider that notifications go to, and the verifier that asks it what became of one.

The provider is another system with a database of its own. It lives on when a worker is killed, and calls that were
begun arrive although their caller is gone. How its next call or look-up goes is decided from outside.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from model.reference.operator_control.controls import Evidence, Finding
from model.reference.operator_control.records import Delivery

SCHEMA = """
CREATE TABLE IF NOT EXISTS accepted (number INTEGER PRIMARY KEY, id TEXT NOT NULL, attempt INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS memory (id TEXT PRIMARY KEY, known INTEGER NOT NULL, fence INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS flying (id TEXT, attempt INTEGER, PRIMARY KEY (id, attempt)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS plans (number INTEGER PRIMARY KEY, about TEXT NOT NULL, plan TEXT NOT NULL);
"""


EVERY_ATTEMPT = 2**31
"""A fence that no attempt passes."""


class Manner(StrEnum):
    """What the provider does about a delivery id that it sees again, or has been asked about.

    FOLD: the second call is taken for the first. TOMBSTONE: an id that was looked up and not found is refused from then
    on. FENCE: so are attempts up to the one that was looked up.
    """

    NOTHING = "nothing"
    FOLD = "fold"
    TOMBSTONE = "tombstone_id"
    FENCE = "fence_attempt"


@dataclass(frozen=True, slots=True)
class Plan:
    """How a call goes.

    `answer`: what the provider says where it is free to. `heard`: what the caller has instead of the answer. `late`:
    the caller gives up before the call has arrived, and the call arrives all the same.
    """

    answer: Delivery = Delivery.ACCEPTED
    heard: Delivery | None = None
    late: bool = False


class Sight(StrEnum):
    """How a look-up goes: it finds what there is, or something else, or there is no answer."""

    TRUE = "true"
    MISS = "miss"
    HIT = "hit"
    NOTHING = "nothing"


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

    def plan_call(self, plan: Plan) -> None:
        """Say how the next call goes; without a plan it is accepted and answered."""
        self._plan("call", json.dumps([plan.answer, plan.heard, plan.late]))

    def plan_look_up(self, sight: Sight) -> None:
        """Say how the next look-up goes; without a plan it tells the truth."""
        self._plan("look-up", json.dumps(sight))

    def _plan(self, about: str, plan: str) -> None:
        self.connection.execute("INSERT INTO plans (about, plan) VALUES (?, ?)", (about, plan))

    def _next_plan(self, about: str) -> Any:
        query = "DELETE FROM plans WHERE number = (SELECT MIN(number) FROM plans WHERE about = ?) RETURNING plan"
        row = self.connection.execute(query, (about,)).fetchone()
        return None if row is None else json.loads(row[0])

    def send(self, delivery_id: str, attempt: int) -> Delivery:
        """Deliver something, and return what the caller knows of it."""
        planned = self._next_plan("call")
        answer, heard, late = (Delivery.ACCEPTED, None, False) if planned is None else planned
        self.begin(delivery_id, attempt)
        if late:
            return Delivery.TIMED_OUT
        outcome = self.arrive(delivery_id, attempt, Delivery(answer))
        return outcome if heard is None else Delivery(heard)

    def begin(self, delivery_id: str, attempt: int) -> None:
        """Put a call on its way."""
        self.connection.execute("INSERT OR IGNORE INTO flying VALUES (?, ?)", (delivery_id, attempt))

    def arrive(self, delivery_id: str, attempt: int, answer: Delivery = Delivery.ACCEPTED) -> Delivery:
        """Let a call that is on its way arrive, and return what the provider answers."""
        db = self.connection
        db.execute("BEGIN IMMEDIATE")
        db.execute("DELETE FROM flying WHERE id = ? AND attempt = ?", (delivery_id, attempt))
        known, fence = self._memory(delivery_id)
        outcome = answer
        if attempt <= fence:
            outcome = Delivery.PERMANENT
        elif known and self.manner is Manner.FOLD:
            outcome = Delivery.ACCEPTED
        elif answer is Delivery.ACCEPTED:
            db.execute("INSERT INTO accepted (id, attempt) VALUES (?, ?)", (delivery_id, attempt))
            self._remember(delivery_id, known=True, fence=fence)
        db.execute("COMMIT")
        return outcome

    def forget(self, delivery_id: str) -> None:
        """Know nothing of a delivery any more, as at the end of the time for which it folds."""
        self._remember(delivery_id, known=False, fence=self.fence(delivery_id))

    def look_up(self, delivery_id: str, attempt: int) -> bool | None:
        """Say whether a delivery was accepted; where it was not, forbid that it still is, if this provider can."""
        db = self.connection
        sight = Sight(self._next_plan("look-up") or Sight.TRUE)
        if sight in (Sight.HIT, Sight.NOTHING):
            return True if sight is Sight.HIT else None
        db.execute("BEGIN IMMEDIATE")
        known, fence = self._memory(delivery_id)
        found = known and sight is Sight.TRUE
        if not found and self.manner is Manner.TOMBSTONE:
            self._remember(delivery_id, known=known, fence=EVERY_ATTEMPT)
        elif not found and self.manner is Manner.FENCE:
            self._remember(delivery_id, known=known, fence=max(fence, attempt))
        db.execute("COMMIT")
        return found

    def _remember(self, delivery_id: str, *, known: bool, fence: int) -> None:
        self.connection.execute("INSERT OR REPLACE INTO memory VALUES (?, ?, ?)", (delivery_id, known, fence))

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
        """Return that the delivery was accepted, that it was not, or that there was no answer."""
        found = self.provider.look_up(delivery_id, attempt)
        if found is None:
            return Evidence(Finding.UNRESOLVED)
        if found:
            return Evidence(Finding.ACCEPTED, f"found {delivery_id}")
        return Evidence(Finding.NOT_ACCEPTED, f"not found {delivery_id}")

"""The durable state in SQLite: one `BEGIN IMMEDIATE` transaction an update, so that all of it happens or nothing.

A connection belongs to one process; whoever forks opens the file anew in the child.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from model.reference.operator_control.arbitration import Arbitration, Question, Snapshot
from model.reference.operator_control.controls import ControlRules, Evidence, Receipt, Request, Result, read_receipt
from model.reference.operator_control.records import (
    Books,
    Claim,
    Code,
    Delivery,
    Epochs,
    Intent,
    Lease,
    Phase,
    Reason,
    Refusal,
    WorkRecord,
    canonical,
    intent_text,
    read_intent,
    settled,
)
from model.reference.operator_control.rules import Rules, Verdict

SCHEMA = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS roots (root TEXT PRIMARY KEY, used INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS work (
    id TEXT PRIMARY KEY, intent TEXT NOT NULL, phase TEXT NOT NULL, lease TEXT, stopped TEXT, attempts INTEGER NOT NULL,
    generation INTEGER NOT NULL, revision INTEGER NOT NULL, due INTEGER NOT NULL, delivery TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS receipts (
    principal TEXT, retry_epoch INTEGER, key TEXT, receipt TEXT NOT NULL,
    PRIMARY KEY (principal, retry_epoch, key)) WITHOUT ROWID;
"""

CLEAR = ("DELETE FROM work", "DELETE FROM roots", "DELETE FROM receipts")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Controlled:
    """What a control came to, and whether that was known before."""

    receipt: Receipt
    replayed: bool

    @property
    def result(self) -> Result:
        """What the control came to."""
        return self.receipt.result


class Storage:
    """The file of work records, accounts, limits, epochs, receipts and the storage generation."""

    def __init__(
        self, path: Path, rules: Rules, controls: ControlRules | None = None, arbitration: Arbitration | None = None
    ) -> None:
        self.path = path
        self.rules = rules
        self.controls = controls or ControlRules(rules)
        self.arbitration = arbitration or Arbitration()
        self.uncertain = False
        """A commit has failed: nobody knows what is stored until the file is opened anew."""
        self.connection = sqlite3.connect(path, isolation_level=None, timeout=10)
        self.connection.execute("PRAGMA journal_mode=WAL")
        self.connection.execute("PRAGMA synchronous=FULL")
        self._begin_or_take_up()

    def close(self) -> None:
        """Close the file."""
        self.connection.close()

    def _begin_or_take_up(self) -> None:
        limits = canonical(asdict(self.rules.limits))
        if not self.connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'receipts'").fetchone():
            self.connection.executescript(SCHEMA)
        with self.transaction():
            stored = self._fact("limits")
            if stored is None:
                self._set("limits", limits)
                self._set("epochs", canonical(asdict(Epochs())))
                self._set("generation", secrets.token_hex(8))
            elif stored != limits:
                raise Refusal(Code.UNSUPPORTED, "the stored limits are others")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Do everything that is done inside, or nothing.

        Raises:
            Refusal: Unknown, the commit failed, or one has failed before: nobody knows what is stored.
        """
        if self.uncertain:
            raise Refusal(Code.UNKNOWN, "a commit has failed")
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self.connection.execute("ROLLBACK")
            raise
        try:
            self.connection.execute("COMMIT")
        except sqlite3.Error as problem:
            self.uncertain = True
            raise Refusal(Code.UNKNOWN, f"the commit failed: {problem}") from problem

    # Updates of workers.

    def enqueue(self, intent: Intent) -> None:
        """Add work."""
        self._update(lambda books: (self.rules.enqueue(books, intent), None))

    def claim(self, now: int) -> Claim | None:
        """Give out a claim, if there is work to be done."""
        return self._update(lambda books: self.rules.claim(books, now))

    def delivery_started(self, claim: Claim, now: int) -> None:
        """Store that a send may happen from now on."""
        self._update(lambda books: (self.rules.delivery_started(books, claim, now), None))

    def delivery_finished(self, claim: Claim, outcome: Delivery, now: int) -> None:
        """Store what came of a send."""
        self._update(lambda books: (self.rules.delivery_finished(books, claim, outcome, now), None))

    def holds(self, claim: Claim, now: int) -> bool:
        """Say whether a claim is live."""
        try:
            self.rules.claimed(self.snapshot().books, claim, now)
        except Refusal:
            return False
        return True

    def finish(self, claim: Claim, verdict: Verdict, now: int) -> None:
        """Store what a worker made of its claim."""
        self._update(lambda books: (self.rules.finish(books, claim, verdict, now), None))

    def _update(self, rule: Callable[[Books], tuple[Books, T]]) -> T:
        with self.transaction():
            before = self._books()
            after, result = rule(before)
            self._store(before, after)
        return result

    # Controls of operators.

    def control_work(self, principal: str, request: Request, evidence: Evidence | None, now: int) -> Controlled:
        """Carry out a control, or tell its stored result: everything is judged inside the one transaction.

        Raises:
            Refusal: and then nothing was written.
        """
        with self.transaction():
            snapshot = self._snapshot()
            question = Question(principal, request, snapshot, evidence)
            stored = self.arbitration.judge(question)
            if stored is not None:
                return Controlled(stored, replayed=True)
            record = snapshot.record(request.handle)
            if record is None:
                raise Refusal(Code.MISSING, "there is no such work")
            changed, result = self.controls.control(snapshot.books, record, request.operation, evidence, now)
            receipt = Receipt(
                principal=principal,
                request=request,
                result=result,
                time=now,
                scope=record.intent.definition,
                prior_phase=record.phase,
                prior_delivery=record.delivery,
                evidence=evidence.text if evidence is not None else None,
            )
            self._make_room(snapshot, receipt)
            self._commit_control(snapshot.books, snapshot.books.with_record(changed), receipt)
        return Controlled(receipt, replayed=False)

    def _make_room(self, snapshot: Snapshot, receipt: Receipt) -> None:
        if len(snapshot.receipts) >= self.rules.limits.max_receipts or self.room() < len(receipt.text):
            raise Refusal(Code.OVERLOADED, "there is no room for another receipt")

    def room(self) -> int:
        """Return how many characters of receipts there is room for."""
        (size,) = self.connection.execute("SELECT COALESCE(SUM(LENGTH(receipt)), 0) FROM receipts").fetchone()
        return self.rules.limits.max_receipt_bytes - int(size)

    def _commit_control(self, before: Books, after: Books, receipt: Receipt) -> None:
        """Write the record and the receipt: in one transaction, or a replay would apply the control again."""
        self._store(before, after)
        self.store_receipt(receipt)

    def store_receipt(self, receipt: Receipt) -> None:
        """Write a receipt; part of the transaction that is open."""
        request = receipt.request
        values = (receipt.principal, request.retry_epoch, request.key, receipt.text)
        self.connection.execute("INSERT INTO receipts VALUES (?, ?, ?, ?)", values)

    # What the host does.

    def raise_epochs(self, epochs: Epochs) -> None:
        """Raise the current epoch or a floor.

        Raises:
            Refusal: Invalid, one of them would fall.
        """
        with self.transaction():
            old = self._epochs()
            if any(getattr(epochs, name) < value for name, value in asdict(old).items()):
                raise Refusal(Code.INVALID, "epochs and floors only rise")
            self._set("epochs", canonical(asdict(epochs)))

    def backup(self, path: Path) -> None:
        """Copy everything into another file, as of one moment."""
        target = sqlite3.connect(path)
        self.connection.backup(target)
        target.close()

    def restore(self, path: Path) -> None:
        """Take everything up again as it was at a backup, under a new storage generation.

        Nobody who has looked at the record before may act on what was seen then: that is what the new generation
        refuses. Receipts that the backup has are kept, so that their requests are still answered with their results.
        """
        source = sqlite3.connect(path)
        past = _read_books(source)
        facts = source.execute("SELECT name, value FROM facts").fetchall()
        receipts = source.execute("SELECT * FROM receipts").fetchall()
        source.close()
        books = settled(past, self.rules.restored(past))
        with self.transaction():
            for statement in CLEAR:
                self.connection.execute(statement)
            self._store(Books(), books)
            for name, value in facts:
                self._set(name, value)
            self.connection.executemany("INSERT INTO receipts VALUES (?, ?, ?, ?)", receipts)
            self._set("generation", secrets.token_hex(8))

    # Reading and writing.

    def snapshot(self) -> Snapshot:
        """Return everything as of one moment."""
        self.connection.execute("BEGIN")
        try:
            return self._snapshot()
        finally:
            self.connection.execute("COMMIT")

    def _snapshot(self) -> Snapshot:
        rows = self.connection.execute("SELECT receipt FROM receipts").fetchall()
        receipts = [read_receipt(row[0]) for row in rows]
        known = {(one.principal, one.request.retry_epoch, one.request.key): one for one in receipts}
        generation = self._fact("generation")
        if generation is None:
            raise Refusal(Code.STORAGE, "the storage has no generation")
        return Snapshot(generation, self._epochs(), self._books(), known)

    def _epochs(self) -> Epochs:
        return Epochs(**json.loads(self._fact("epochs") or "{}"))

    def _fact(self, name: str) -> str | None:
        row = self.connection.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def _set(self, name: str, value: str) -> None:
        self.connection.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))

    def _books(self) -> Books:
        return _read_books(self.connection)

    def _store(self, before: Books, after: Books) -> None:
        after = settled(before, after)
        for key, record in after.records.items():
            if before.records.get(key) != record:
                self.connection.execute(
                    "INSERT OR REPLACE INTO work VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", _row(record)
                )
        for root, used in after.used.items():
            if before.used.get(root) != used:
                self.connection.execute("INSERT OR REPLACE INTO roots VALUES (?, ?)", (root, used))


def _read_books(connection: sqlite3.Connection) -> Books:
    work = [_record(row) for row in connection.execute("SELECT * FROM work")]
    used = {str(root): int(count) for root, count in connection.execute("SELECT root, used FROM roots")}
    return Books({record.id: record for record in work}, used)


def _row(record: WorkRecord) -> tuple[Any, ...]:
    lease = None if record.lease is None else canonical(asdict(record.lease))
    counts = (record.attempts, record.generation, record.revision, record.due)
    return record.id, intent_text(record.intent), record.phase, lease, record.stopped, *counts, record.delivery


def _record(row: tuple[Any, ...]) -> WorkRecord:
    _, intent, phase, lease, stopped, attempts, generation, revision, due, delivery = row
    return WorkRecord(
        intent=read_intent(intent),
        phase=Phase(phase),
        lease=None if lease is None else _lease(lease),
        stopped=None if stopped is None else Reason(stopped),
        attempts=attempts,
        generation=generation,
        revision=revision,
        due=due,
        delivery=None if delivery is None else Delivery(delivery),
    )


def _lease(text: str) -> Lease:
    lease = Lease(**json.loads(text))
    reason = lease.resolution_only
    return lease if reason is None else replace(lease, resolution_only=Reason(reason))

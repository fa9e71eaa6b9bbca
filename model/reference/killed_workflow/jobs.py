"""The provider's own memory: jobs, first answers and calls under way, in SQLite, each change one transaction."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Answer = Literal["accept", "reject"]
Outcome = Literal["running", "succeeded", "failed"]
LookUp = Literal["exact", "absent"]

_TABLES = """
create table jobs (number integer primary key, dispatch_key text not null, outcome text not null);
create table answers (dispatch_key text primary key, request_digest text not null, job integer);
create table calls (number integer primary key, dispatch_key text not null, request_digest text not null);
"""


class KeyConflict(Exception):
    """One dispatch key with two different requests: neither is to be taken for the other."""


@dataclass(frozen=True, slots=True)
class Conduct:
    """How this provider treats its callers.

    `deduplicates`: a repeated dispatch key gets its first answer again. `look_up`: whether jobs can be found by key.
    `asks_gate`: it rejects whatever comes while the gate for dispatches is closed.
    """

    deduplicates: bool = False
    look_up: LookUp = "exact"
    asks_gate: bool = False


@dataclass(frozen=True, slots=True)
class Job:
    """A piece of work that the provider has accepted; `number` is its external id."""

    number: int
    dispatch_key: str
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Call:
    """A submission that has left its sender and not arrived."""

    number: int
    dispatch_key: str
    request_digest: str


class Jobs:
    """What the provider remembers. Used by one thread at a time: the server holds a lock around each request."""

    def __init__(self, path: Path, conduct: Conduct) -> None:
        fresh = not path.exists()
        self.conduct = conduct
        self._database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._database.execute("pragma journal_mode = wal")
        if fresh:
            self._database.executescript(_TABLES)

    def close(self) -> None:
        """Close the database; what it holds stays."""
        self._database.close()

    def forget_everything(self, conduct: Conduct) -> None:
        """Start afresh, as another provider."""
        self.conduct = conduct
        with self._database:
            self._database.execute("begin immediate")
            for table in ("jobs", "answers", "calls"):
                self._database.execute(f"delete from {table}")  # noqa: S608 - the names stand in the line above

    def submit(self, key: str, request_digest: str, answer: Answer) -> Job | None:
        """Accept a submission as a new job, or reject it, which gives None.

        A provider that deduplicates gives the first answer again instead, whatever `answer` would have been.

        Raises:
            KeyConflict: it deduplicates, and the key came with another request before.
        """
        with self._database:
            self._database.execute("begin immediate")
            first = self._database.execute(
                "select request_digest, job from answers where dispatch_key = ?", (key,)
            ).fetchone()
            if first is not None:
                if first[0] != request_digest:
                    raise KeyConflict(key)
                return None if first[1] is None else self.job(first[1])
            job = self._accept(key) if answer == "accept" else None
            if self.conduct.deduplicates:
                self._database.execute(
                    "insert into answers values (?, ?, ?)", (key, request_digest, None if job is None else job.number)
                )
            return job

    def _accept(self, key: str) -> Job:
        cursor = self._database.execute("insert into jobs (dispatch_key, outcome) values (?, 'running')", (key,))
        assert cursor.lastrowid is not None
        return Job(cursor.lastrowid, key, "running")

    def job(self, number: int) -> Job | None:
        """Return a job by its external id."""
        row = self._database.execute("select * from jobs where number = ?", (number,)).fetchone()
        return None if row is None else Job(*row)

    def find(self, key: str) -> Job | None:
        """Return the first job that was accepted under a dispatch key."""
        row = self._database.execute("select * from jobs where dispatch_key = ? order by number", (key,)).fetchone()
        return None if row is None else Job(*row)

    def finish(self, number: int, outcome: Outcome) -> Job | None:
        """Let a running job end; None where there is none of that number that still runs."""
        with self._database:
            changed = self._database.execute(
                "update jobs set outcome = ? where number = ? and outcome = 'running'", (outcome, number)
            )
        return self.job(number) if changed.rowcount else None

    def hold(self, key: str, request_digest: str) -> None:
        """Let a submission travel on."""
        with self._database:
            self._database.execute(
                "insert into calls (dispatch_key, request_digest) values (?, ?)", (key, request_digest)
            )

    def let_arrive(self, number: int, answer: Answer) -> bool:
        """Let a submission arrive at last; false where none of that number travels. Nobody waits for its answer."""
        with self._database:
            row = self._database.execute("select * from calls where number = ?", (number,)).fetchone()
            if row is None:
                return False
            self._database.execute("delete from calls where number = ?", (number,))
        call = Call(*row)
        self.submit(call.dispatch_key, call.request_digest, answer)
        return True

    def all_jobs(self) -> list[Job]:
        """Return every job that was ever accepted: as many of one key as it was submitted successfully."""
        return [Job(*row) for row in self._database.execute("select * from jobs order by number")]

    def rejected_keys(self) -> list[str]:
        """Return the keys of which it remembers that it rejected them."""
        return [row[0] for row in self._database.execute("select dispatch_key from answers where job is null")]

    def calls_under_way(self) -> list[Call]:
        """Return the submissions that travel."""
        return [Call(*row) for row in self._database.execute("select * from calls order by number")]

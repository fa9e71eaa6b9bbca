"""The ledger: a chain of records in a bare git repository, one commit a record, on a branch of its own.

A commit's message is the canonical form of its record and its only parent the commit of the record before, so a record
is bound to its predecessors twice: by git's hash and by the chain of digests, which needs no git. An append names the
head that its writer has read; git's compare-and-set on the branch decides between two writers who read the same.
Every read and every append verifies the chain from the first record on.

A writer that dies within git's own compare-and-set leaves `<branch>.lock` behind, in which git writes no owner. The
ledger then refuses with `Locked` until somebody removes it: it guesses nothing from the age of a lock.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from dulwich.file import FileLocked
from dulwich.objects import Commit, ObjectID, ShaFile, Tree
from dulwich.refs import Ref
from dulwich.repo import Repo

from model.reference.killed_workflow.canonical import Malformed, canonical, digest_of, read
from model.reference.killed_workflow.records import Record, check_form, record_digest

BRANCH = Ref(b"refs/heads/run-ledger")
"""Never the branch of the code, which is protected and rewritten."""

_AUTHOR = b"run ledger <ledger@invalid>"
_EMPTY_TREE = Tree()
_LOCK_PATIENCE_S = 1.0


class Conflict(Exception):
    """Somebody else has appended since: nothing was written, read again and decide anew."""


class Locked(Exception):
    """The branch stays locked: a writer died in the middle of git's compare-and-set, or is still at it."""


class ChainBroken(Exception):
    """The repository does not hold a chain of records, or a record does not continue it."""


@dataclass(frozen=True, slots=True)
class Head:
    """The end of the chain as somebody has read it: what an append is compared with."""

    commit: ObjectID
    sequence: int
    digest: str


@dataclass(frozen=True, slots=True)
class History:
    """All records, in order, and the head; None where nothing is recorded."""

    records: tuple[Record, ...]
    head: Head | None


class GitLedger:
    """One run's ledger in a git repository, opened by path; it holds nothing that the repository does not."""

    def __init__(self, path: Path) -> None:
        self._repository = Repo(str(path))

    @classmethod
    def create(cls, path: Path) -> Self:
        """Create an empty bare repository at a path where nothing is."""
        Repo.init_bare(str(path), mkdir=True).close()
        return cls(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, at: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the repository's files."""
        self._repository.close()

    def read(self) -> History:
        """Return the verified history.

        Raises:
            ChainBroken: an object is missing or altered, or the records are no chain.
        """
        commits = self._commits()
        records = tuple(_record(commit.message) for commit in commits)
        verify_chain(records)
        if not commits:
            return History((), None)
        return History(records, Head(commits[-1].id, len(records), digest_of(commits[-1].message)))

    def append(self, record: Record, expected: Head | None) -> Head:
        """Append a record if the head is still the expected one, and return the new head.

        Raises:
            Conflict: it is not; nothing was written.
            Locked: another writer holds git's lock and does not let go of it.
            ChainBroken: the record is malformed or does not continue the chain, or the chain is broken already.
        """
        _record(canonical(record))
        history = self.read()
        if history.head != expected:
            raise Conflict(f"the head has moved on from {expected} to {history.head}")
        verify_chain((*history.records, record))
        return self._publish(record, expected)

    def _publish(self, record: Record, expected: Head | None) -> Head:
        """Write the commit, then move the branch onto it if nobody else has: the one moment of an append."""
        message = canonical(record)
        commit = _commit(message, record.event.occurred_at, [] if expected is None else [expected.commit])
        self._repository.object_store.add_object(_EMPTY_TREE)
        self._repository.object_store.add_object(commit)
        if not self._move(None if expected is None else expected.commit, commit.id):
            raise Conflict(f"somebody else appended after {expected}")
        return Head(commit.id, record.ledger_sequence, digest_of(message))

    def _move(self, old: ObjectID | None, new: ObjectID) -> bool:
        until = time.monotonic() + _LOCK_PATIENCE_S
        while True:
            try:
                if old is None:
                    return self._repository.refs.add_if_new(BRANCH, new)
                return self._repository.refs.set_if_equals(BRANCH, old, new)
            except FileLocked as problem:
                if time.monotonic() > until:
                    raise Locked(f"{BRANCH.decode()} is locked") from problem
                time.sleep(0.01)

    def _commits(self) -> list[Commit]:
        """Return the commits of the branch from the first to the last, each hashed again."""
        commits: list[Commit] = []
        try:
            named = self._repository.refs.read_ref(BRANCH)
            following = None if named is None else ObjectID(named)
            while following is not None:
                kind, content = self._repository.object_store.get_raw(following)
                commit = ShaFile.from_raw_string(kind, content)
                if not isinstance(commit, Commit) or commit.id != following or len(commit.parents) > 1:
                    raise ChainBroken(f"object {following.decode()} is no commit of one parent that hashes to its name")
                commits.append(commit)
                following = commit.parents[0] if commit.parents else None
        except (KeyError, ValueError, AssertionError, OSError) as problem:
            raise ChainBroken(f"git cannot read the ledger: {problem!r}") from problem
        return commits[::-1]


def verify_chain(records: Sequence[Record]) -> None:
    """Check that records are numbered from 1 and that each carries the digest of the one before.

    Raises:
        ChainBroken: the first record for which it is not so.
    """
    previous: str | None = None
    for number, record in enumerate(records, start=1):
        if record.ledger_sequence != number:
            raise ChainBroken(f"record {number} says that it is number {record.ledger_sequence}")
        if record.previous_record_digest != previous:
            raise ChainBroken(f"record {number} does not continue the record before it")
        previous = record_digest(record)


def _commit(message: bytes, occurred_at: str, parents: list[ObjectID]) -> Commit:
    commit = Commit()
    commit.tree = _EMPTY_TREE.id
    commit.parents = parents
    commit.author = commit.committer = _AUTHOR
    commit.author_time = commit.commit_time = int(datetime.fromisoformat(occurred_at).timestamp())
    commit.author_timezone = commit.commit_timezone = 0
    commit.message = message
    return commit


# A function of the bytes alone, so remembering its results hides no change of the repository.
@functools.lru_cache(maxsize=4096)
def _record(message: bytes) -> Record:
    try:
        record = read(Record, message)
        check_form(record)
    except Malformed as problem:
        raise ChainBroken(f"the ledger holds something that is no record: {problem}") from problem
    return record

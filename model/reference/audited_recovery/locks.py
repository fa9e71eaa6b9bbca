"""The resume lock of a run: a file that says who owns the run, and is itself what is owned.

Who holds it is known by the record in it; *which* lock it is, by bytes, device and inode together. A lock appears
whole (the record is written before the name exists) and never takes the place of another.
"""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

from model.reference.audited_recovery import files
from model.reference.audited_recovery.files import Observed
from model.reference.audited_recovery.party import PID_MAX, Party

RECORD_MAX_BYTES = 4096


@dataclass(frozen=True, slots=True)
class OwnerRecord:
    """Who acquired a lock: host, PID, a nonce that no other acquisition has; since when it runs, if the record says."""

    host: str
    pid: int
    nonce: str
    started: int | None = None

    @classmethod
    def of(cls, party: Party) -> OwnerRecord:
        """Return a new record of a process, with a fresh nonce."""
        return cls(party.host.name, party.pid, party.nonce(), party.host.started_at(party.pid))

    def encode(self) -> bytes:
        """Return the record as it stands in the file."""
        fields: dict[str, str | int] = {"host": self.host, "nonce": self.nonce, "pid": self.pid}
        if self.started is not None:
            fields["started"] = self.started
        return canonical(fields)


def decode(data: bytes) -> OwnerRecord | None:
    """Return the record in a lock, None if it is malformed.

    A PID below 1 addresses process groups, so a record with one is malformed and is never probed. Fields that are not
    known are passed over; the start is not required, since records of before have none.
    """
    if len(data) > RECORD_MAX_BYTES:
        return None
    try:
        fields = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict):
        return None
    host, pid, nonce, started = (fields.get(name) for name in ("host", "pid", "nonce", "started"))
    if not isinstance(host, str) or not host or not isinstance(nonce, str) or not nonce:
        return None
    if not _is_count(pid, 1, PID_MAX) or not (started is None or _is_count(started, 0, sys.maxsize)):
        return None
    return OwnerRecord(host, pid, nonce, started)


@dataclass(frozen=True, slots=True)
class Acquired:
    """What an owner remembers of the lock that it has acquired."""

    nonce: str
    seen: Observed


@dataclass(frozen=True, slots=True)
class ResumeLock:
    """The place of a run's resume lock."""

    path: Path

    def observe(self) -> Observed | None:
        """Return the lock that is there now, None if there is none."""
        return files.observe(self.path)

    def create(self, nonce: str, record: bytes) -> Acquired:
        """Create the lock, whole.

        Raises:
            FileExistsError: there is a lock; it has not been touched.
        """
        return Acquired(nonce, files.draft(self.path, record).publish())

    def is_still(self, acquired: Acquired) -> bool:
        """Return whether the lock there now is exactly the acquired one: nonce, bytes and inode."""
        now = self.observe()
        if now is None or now != acquired.seen:
            return False
        record = decode(now.data)
        return record is None or record.nonce == acquired.nonce

    def unlink(self) -> None:
        """Remove whatever lock is there. Who calls this has just looked at it."""
        files.remove(self.path)


def digest(seen: Observed) -> str:
    """Return the digest that names a lock exactly: SHA-256 over its device, its inode and its bytes."""
    identity = canonical({"device": seen.device, "inode": seen.inode})
    return hashlib.sha256(identity + seen.data).hexdigest()


def canonical(value: object) -> bytes:
    """Return JSON that is the same for the same value: sorted keys, no spaces, a line feed at its end."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode() + b"\n"


def _is_count(value: object, least: int, most: int) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most

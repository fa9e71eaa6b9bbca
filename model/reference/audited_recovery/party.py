"""A process as the kernel sees it: where it runs, its PID, what it has open; and whether another process lives.

`flock` locks hang on an open file and die with it: a process that is killed holds none a moment later, whatever it was
doing. `Party` keeps the descriptors of one process in one place, so that a test which steps a process inside its own
can take them away exactly as the kernel does.
"""

from __future__ import annotations

import enum
import errno
import fcntl
import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

PID_MAX = 2**22
"""The kernel gives no larger PID (`proc(5)`, pid_max)."""


class Answer(enum.Enum):
    """What signal 0 says of a PID. Only ABSENT is proof of anything."""

    PRESENT = "present"
    ABSENT = "absent"
    INCONCLUSIVE = "inconclusive"


def probe(pid: int) -> Answer:
    """Ask the kernel whether there is a process of that PID. Signal 0 is never delivered.

    ESRCH is absence. EPERM is presence: there is one, and it is not ours to signal. Anything else proves nothing.
    """
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return Answer.ABSENT
    except PermissionError:
        return Answer.PRESENT
    except (OSError, OverflowError):
        return Answer.INCONCLUSIVE
    return Answer.PRESENT


def started_at(pid: int) -> int | None:
    """Return when a process started, in clock ticks after boot, None if there is none (`proc_pid_stat(5)`, field 22).

    With the PID it names a process for as long as the machine runs; the PID alone is given out again.
    """
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError as error:
        if error.errno in {errno.ENOENT, errno.ESRCH}:
            return None
        raise
    # The command's name stands in parentheses and may hold anything, also spaces and parentheses.
    return int(text.rpartition(")")[2].split()[19])


@dataclass(frozen=True, slots=True)
class Host:
    """A machine: the name that it calls itself, and the questions that it answers about its own processes.

    `compares_start`: a PID whose process started at another time than the record says is taken for another process.
    """

    name: str
    probe: Callable[[int], Answer] = probe
    started_at: Callable[[int], int | None] = started_at
    compares_start: bool = False


@dataclass(slots=True)
class Party:
    """One process: its host, its PID, the locks that it holds through open files."""

    host: Host
    pid: int
    label: str = ""
    nonce: Callable[[], str] = lambda: secrets.token_hex(16)
    _open: dict[Path, int] = field(default_factory=dict)

    def hold(self, path: Path) -> bool:
        """Take an exclusive lease on a file without waiting, and say whether it was free.

        The holder's label is written into the file for whoever wonders; nothing ever decides by it.
        """
        if path in self._open:
            return True
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return False
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, self.label.encode(), 0)
        self._open[path] = descriptor
        return True

    def holds(self, path: Path) -> bool:
        """Return whether this process holds a lease."""
        return path in self._open

    def let_go(self, path: Path) -> None:
        """Give a lease back; one that is not held is no error."""
        descriptor = self._open.pop(path, None)
        if descriptor is not None:
            os.close(descriptor)

    def die(self) -> None:
        """Lose what the kernel takes from a killed process: every open file, and with them every lease."""
        for path in list(self._open):
            self.let_go(path)


def is_held(path: Path) -> bool:
    """Return whether anybody holds a lease, by a look that does not take it."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False

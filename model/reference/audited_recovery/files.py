"""Files that are there whole or not at all, and what makes a file the same file.

A file becomes visible in two moves, so that a kill between them is a state of its own: it is written beside its place
and synced (`draft`), then it appears under its name (`publish` where nothing may stand yet, `replace` where the old
one gives way). Only the second is visible to readers, and it is atomic.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

DRAFT_SUFFIX = ".draft"


@dataclass(frozen=True, slots=True)
class Observed:
    """A file as it was seen through one descriptor: its bytes, and which file of which file system it is."""

    data: bytes
    device: int
    inode: int


@dataclass(frozen=True, slots=True)
class Draft:
    """A file that is written and synced, but not yet in its place."""

    path: Path
    target: Path

    def publish(self) -> Observed:
        """Let it appear under its name, if there is no file of that name.

        A link and not a rename: it fails where a rename would replace silently.

        Raises:
            FileExistsError: there is one; the draft is gone then.
        """
        try:
            os.link(self.path, self.target)
        except FileExistsError:
            self.path.unlink()
            raise
        self.path.unlink()
        sync_directory(self.target.parent)
        seen = observe(self.target)
        assert seen is not None, "who may publish here is held back by the gate"
        return seen

    def replace(self) -> None:
        """Let it take the place of what stands under its name."""
        self.path.replace(self.target)
        sync_directory(self.target.parent)


def draft(target: Path, data: bytes) -> Draft:
    """Write a file beside its place and sync it.

    A draft that a killed process left behind is written over: nobody reads drafts as what they were to become.
    """
    path = target.with_name(target.name + DRAFT_SUFFIX)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        _write_all(descriptor, data)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return Draft(path, target)


def append(path: Path, data: bytes) -> None:
    """Append to a file in one write and sync it; the directory too, since the file may be new."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        _write_all(descriptor, data)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    sync_directory(path.parent)


def remove(path: Path) -> None:
    """Unlink a file and sync its directory; one that is not there is no error."""
    path.unlink(missing_ok=True)
    sync_directory(path.parent)


def observe(path: Path) -> Observed | None:
    """Return what stands under a name, None if nothing does.

    Bytes and inode come from the same descriptor: two looks by name could see two files. A symbolic link is not
    followed; it and anything else that is no regular file is seen without bytes.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError:
        return _observe_unopened(path)
    try:
        status = os.fstat(descriptor)
        data = _read_all(descriptor) if stat.S_ISREG(status.st_mode) else b""
    finally:
        os.close(descriptor)
    return Observed(data, status.st_dev, status.st_ino)


def read(path: Path) -> bytes | None:
    """Return the bytes of a file, None if it is not there."""
    seen = observe(path)
    return None if seen is None else seen.data


def sync_directory(path: Path) -> None:
    """Make the names in a directory durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _observe_unopened(path: Path) -> Observed | None:
    try:
        status = path.lstat()
    except FileNotFoundError:
        return None
    return Observed(b"", status.st_dev, status.st_ino)


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _read_all(descriptor: int) -> bytes:
    parts = []
    while part := os.read(descriptor, 65536):
        parts.append(part)
    return b"".join(parts)

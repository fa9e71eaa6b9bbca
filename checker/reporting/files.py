"""Files written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path


def write_whole(path: Path, text: str | bytes) -> None:
    """Write a file so that nobody ever sees half of it: beside it, to the disk, and then in its place.

    What is no ordinary file (a pipe, `/dev/stdout`) is written as it is.

    Raises:
        OSError: it could not be written; the old content, if any, is still there.
    """
    write_all({path: text})


def write_all(texts: Mapping[Path, str | bytes]) -> None:
    """Write several files, none before all of them are on the disk.

    Raises:
        OSError: one could not be written; where that is the first one, all are as they were.
    """
    ready: list[tuple[Path, Path]] = []
    try:
        for path, text in texts.items():
            target = path.resolve()
            if target.exists() and not target.is_file():
                target.write_bytes(_bytes(text))
            else:
                ready.append((_written_beside(target, text), target))
        for temporary, target in ready:
            temporary.replace(target)
    finally:
        for temporary, _ in ready:
            temporary.unlink(missing_ok=True)
    for directory in {target.parent for _, target in ready}:
        _synchronise(directory)


def _written_beside(target: Path, text: str | bytes) -> Path:
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".new", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(_bytes(text))
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).chmod(mode)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return Path(name)


def _bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def _synchronise(directory: Path) -> None:
    """Make a renaming last; not every system lets a directory be opened."""
    with contextlib.suppress(OSError):
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

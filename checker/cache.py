"""Explorations that were finished before, by the hash of what was explored and of the program that explored it.

An entry is believed only if its checksum is right and the evaluator can take every transition of its traces. One that
is not is as good as absent: it is explored again and written over. Explorations that were cut short are neither stored
nor read. Nothing here ever fails: without a directory to write to there is no cache, and that is all.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import tempfile
from functools import cache
from pathlib import Path

from checker.exploration import Exploration
from checker.stored import Document, NotAsStored, from_document, to_document
from model.system import TransitionSystem

ENTRIES_MAX = 5_000
"""When there are more, the older half is deleted."""

ENTRY_SIZE_MAX = 64 << 20
"""Bytes of one entry that are read."""

_PACKAGES = Path(__file__).resolve().parent.parent


class Cache:
    """A directory of entries; None for no cache at all."""

    def __init__(self, directory: Path | None) -> None:
        self.directory = directory

    def load(self, key: str, system: TransitionSystem) -> Exploration | None:
        """Return what is stored under a key; None where there is nothing, or nothing that can be believed."""
        document = self.read(key)
        try:
            exploration = from_document(document, system) if document is not None else None
        except NotAsStored:
            return None
        return exploration if exploration is not None and exploration.complete else None

    def store(self, key: str, exploration: Exploration) -> None:
        """Store a finished exploration."""
        if self.directory is not None and exploration.complete:
            self.write(key, to_document(exploration))

    def read(self, key: str) -> Document | None:
        """Return the document under a key, if there is one and it is whole; what it says is for the caller to judge."""
        if self.directory is None:
            return None
        try:
            with (self.directory / f"{key}.json").open("rb") as stream:
                entry = json.loads(stream.read(ENTRY_SIZE_MAX))
            document: Document = entry["document"]
            return document if entry["sha256"] == _checksum(document) and isinstance(document, dict) else None
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def write(self, key: str, document: Document) -> None:
        """Store a document under a key, if that is possible."""
        if self.directory is None:
            return
        text = json.dumps({"sha256": _checksum(document), "document": document}, separators=(",", ":"))
        with contextlib.suppress(OSError):
            self.directory.mkdir(parents=True, exist_ok=True)
            self._make_room()
            handle, name = tempfile.mkstemp(suffix=".new", dir=self.directory)
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                stream.write(text)
            Path(name).replace(self.directory / f"{key}.json")

    def _make_room(self) -> None:
        assert self.directory is not None
        entries = list(self.directory.iterdir())
        if len(entries) <= ENTRIES_MAX:
            return
        for entry in sorted(entries, key=lambda path: path.stat().st_mtime)[: len(entries) // 2]:
            entry.unlink(missing_ok=True)


NO_CACHE = Cache(None)
"""Nothing is found and nothing is kept."""


def user_cache() -> Cache:
    """Return the cache of whoever runs this: `KILLPOINT_CACHE`, or a directory among the user's other caches."""
    chosen = os.environ.get("KILLPOINT_CACHE")
    if chosen:
        return Cache(Path(chosen))
    caches = os.environ.get("XDG_CACHE_HOME")
    try:
        home = Path(caches) if caches else Path.home() / ".cache"
    except RuntimeError:
        return NO_CACHE
    return Cache(home / "killpoint" / "explorations")


def cache_key(system: str, engine: str) -> str:
    """Return the key of what an engine or solver finds of the system or claim with this hash (`checker.identity`)."""
    return hashlib.sha256(f"{system} {engine} {_program()}".encode()).hexdigest()


@cache
def _program() -> str:
    """Return a hash of the program itself: every source file of both packages, and the Python that runs them.

    Not only of what decides: telling the two apart would have to be right, for the sake of some runs saved.
    """
    digest = hashlib.sha256(f"{sys.version_info} {_numpy_version()}".encode())
    for package in ("model", "checker"):
        for path in sorted((_PACKAGES / package).rglob("*.py")):
            digest.update(f"{path.relative_to(_PACKAGES).as_posix()}\n".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _numpy_version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("numpy")
    except PackageNotFoundError:
        return "none"


def _checksum(document: object) -> str:
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()

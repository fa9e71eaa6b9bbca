"""Making a certificate and checking it again, scenario by scenario, in processes of their own."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from checker.certificates.certificate import MANIFEST, folder_name
from checker.certificates.making import NoCertificate, make_certificate, versions
from checker.certificates.rechecking import Rechecked, RecheckOptions, loaded, recheck
from checker.certificates.sharing import processes
from checker.exploration import Limits
from checker.judgement import ScenarioReport
from checker.stored import from_document, to_document
from model.source import Source
from model.specification import Scenario
from model.system import TransitionSystem

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Task:
    """A scenario that has been explored and judged, as another process can be handed it."""

    file: str
    text: str
    scenario: str
    exploration: dict[str, Any]
    states: int
    directory: Path | None
    """Where the folder of the certificate is put; None to make it, check it, and throw it away."""
    options: RecheckOptions

    @classmethod
    def of(cls, source: Source, report: ScenarioReport, directory: Path | None, options: RecheckOptions) -> Task:
        """Return the task for a scenario."""
        found = report.exploration
        # Certificates are the same wherever the file lies.
        return cls(
            Path(source.file).name, source.text, report.name, to_document(found), found.states, directory, options
        )


@dataclass(frozen=True, slots=True)
class Proved:
    """What came of a task: a certificate that was checked again, or the reason why there is none."""

    found: Rechecked | None
    reason: str
    seconds: float


class Occupied(Exception):
    """A folder exists and is no certificate, so that it is not overwritten."""


def prove_all(tasks: Mapping[Key, Task], workers: int) -> Iterator[tuple[Key, Proved]]:
    """Carry out tasks, the largest first, and yield what comes of each, under its key, as soon as it is known.

    Raises:
        Occupied: a folder is in the way.
        OSError: a certificate cannot be written.
    """
    ordered = sorted(tasks.items(), key=lambda item: -item[1].states)
    with processes(min(workers, len(ordered))) as executor:
        if executor is None:
            yield from ((key, prove(task)) for key, task in ordered)
            return
        waiting = {executor.submit(prove, task): key for key, task in ordered}
        for done in as_completed(waiting):
            yield waiting[done], done.result()


def prove(task: Task) -> Proved:
    """Make the certificate of one scenario, write it, and check what was written."""
    started = time.monotonic()
    source = Source(task.file, task.text)
    claim = loaded(source).scenarios[task.scenario]
    try:
        found = _proved(task, source, claim)
    except NoCertificate as error:
        return Proved(None, str(error), time.monotonic() - started)
    return Proved(found, "", time.monotonic() - started)


def _proved(task: Task, source: Source, claim: Scenario) -> Rechecked:
    system = TransitionSystem.of(claim)
    exploration = from_document(task.exploration, system)
    limits = Limits(deadline=time.monotonic() + task.options.seconds if system.naturals else None)
    made = make_certificate(source, claim, system, exploration, limits)
    with contextlib.ExitStack() as stack:
        if task.directory is not None:
            task.directory.mkdir(parents=True, exist_ok=True)
        parent = task.directory or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="killpoint-")))
        folder = parent / folder_name(source, claim)
        write_certificate(folder, made.files(versions()))
        return recheck(folder, task.options, made=made)


def write_certificate(folder: Path, files: dict[str, str]) -> None:
    """Write the files of a certificate in place of one that is there.

    Raises:
        Occupied: what is there is no certificate.
        OSError: it cannot be written.
    """
    if folder.exists() and any(folder.iterdir()) and not (folder / MANIFEST).is_file():
        raise Occupied(f"{folder} is no certificate, and is left as it is")
    beside = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        for name, text in files.items():
            (beside / name).write_text(text, encoding="utf-8", newline="")
        beside.chmod(0o755)
        if folder.exists():
            shutil.rmtree(folder)
        beside.replace(folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)

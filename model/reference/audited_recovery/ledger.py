"""The recovery ledger of a run: what somebody was about to do, and, apart from it, that it was done.

An intent is immutable and durable before the first effect; it says who, why, what exactly, on which evidence, and that
the outcome is unknown. A completion is a file of its own, written after the operation has succeeded. Only the two
together say `done`; an intent alone says `unknown`, never that something was done or was not.

A ledger that cannot be written is no reason to go on: whoever appends gets the error of the file system.
"""

from __future__ import annotations

import enum
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from model.reference.audited_recovery import files
from model.reference.audited_recovery.files import DRAFT_SUFFIX, Draft
from model.reference.audited_recovery.locks import canonical

NAME = re.compile(r"(\d{6})-(unlock|reclaim)\.(intent|completion)")


class Operation(enum.Enum):
    """What an operator may do to a run."""

    UNLOCK = "unlock"
    RECLAIM = "reclaim"


class Outcome(enum.Enum):
    """What the ledger says of the latest recovery of a kind.

    TORN: somebody died while writing an intent; no authority follows from it, and no effect came of it, since effects
    wait for a whole one. UNKNOWN: an intent without completion.
    """

    NEVER = "never"
    TORN = "torn"
    UNKNOWN = "unknown"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Intent:
    """Who wants to do what to which run, why, to which exact target, and on which evidence."""

    run: str
    operation: Operation
    actor: str
    reason: str
    target: str
    evidence: Mapping[str, str | int | None]

    def encode(self) -> bytes:
        """Return the intent as it is filed; at that moment the outcome is unknown, and the file is never changed."""
        return canonical(
            {
                "run": self.run,
                "operation": self.operation.value,
                "actor": self.actor,
                "reason": self.reason,
                "target": self.target,
                "evidence": dict(self.evidence),
                "outcome": "unknown",
            }
        )


@dataclass(frozen=True, slots=True)
class RecoveryLedger:
    """The directory of a run's intents and completions, numbered in the order of the intents.

    `draft` writes a file beside its place; tests hand in one that fails.
    """

    directory: Path
    draft: Callable[[Path, bytes], Draft] = field(default=files.draft)

    def draft_intent(self, intent: Intent) -> Draft:
        """Write an intent under the next number, not yet in its place.

        Raises:
            OSError: it cannot be written; nothing has been recorded.
        """
        number = 1 + max((number for number, _, _ in self._names()), default=0)
        return self.draft(self._path(number, intent.operation, "intent"), intent.encode())

    def draft_completion(self, operation: Operation, intent: Draft) -> Draft:
        """Write the completion of an intent, not yet in its place.

        Raises:
            OSError: it cannot be written; the outcome stays unknown.
        """
        number = int(intent.target.name[:6])
        data = canonical({"intent": intent.target.name, "operation": operation.value, "outcome": "done"})
        return self.draft(self._path(number, operation, "completion"), data)

    def outcome(self, operation: Operation) -> Outcome:
        """Return what the ledger says of the latest recovery of a kind.

        A file under its name is whole; one that is not readable all the same counts as torn.
        """
        names = [(number, what) for number, of, what in self._names() if of is operation]
        if not names:
            return Outcome.NEVER
        latest = max(number for number, _ in names)
        intent = self._path(latest, operation, "intent")
        if not _is_readable(intent):
            return Outcome.TORN
        done = _is_readable(self._path(latest, operation, "completion"))
        return Outcome.DONE if done else Outcome.UNKNOWN

    def intents(self) -> list[Path]:
        """Return the intents that are in their places, oldest first."""
        return sorted(self.directory.glob("*.intent"))

    def _names(self) -> list[tuple[int, Operation, str]]:
        matches = (NAME.fullmatch(path.name.removesuffix(DRAFT_SUFFIX)) for path in self.directory.iterdir())
        return [(int(match[1]), Operation(match[2]), match[3]) for match in matches if match]

    def _path(self, number: int, operation: Operation, what: str) -> Path:
        return self.directory / f"{number:06}-{operation.value}.{what}"


def _is_readable(path: Path) -> bool:
    data = files.read(path)
    if data is None:
        return False
    try:
        return isinstance(json.loads(data), dict)
    except ValueError:
        return False

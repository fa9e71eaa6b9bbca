"""The provider's ledger of the revised version: one line for a forced reclaim, appended and synced."""

from __future__ import annotations

import enum
import json
from dataclasses import dataclass
from pathlib import Path

from model.reference.audited_recovery import files
from model.reference.audited_recovery.locks import canonical


class When(enum.Enum):
    """When the event is written; the revision does not say. Two events are what one event cannot replace."""

    BEFORE = "before"
    AMID = "amid"
    AFTER = "after"
    BEFORE_AND_AFTER = "before_and_after"


@dataclass(frozen=True, slots=True)
class ProviderLedger:
    """A file of JSON lines that many runs share."""

    path: Path

    def tell(self, run: str, event: str, actor: str, reason: str) -> None:
        """Append an event. The liveness of the run was unknown, and the event says so."""
        fields = {"run": run, "event": event, "actor": actor, "reason": reason, "liveness": "unknown"}
        files.append(self.path, canonical(fields))

    def has(self, run: str, event: str) -> bool:
        """Return whether an event has been told of a run."""
        lines = (files.read(self.path) or b"").splitlines()
        return any(fields["run"] == run and fields["event"] == event for fields in map(json.loads, lines))

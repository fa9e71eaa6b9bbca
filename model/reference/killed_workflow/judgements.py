"""What a coordinator does not decide itself: gates, judgements, and what others have found. All of it is handed in."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from model.reference.killed_workflow.planner import Gate


class Judgements(Protocol):
    """The authorities and judges around a coordinator."""

    def allows(self, gate: Gate) -> bool:
        """Tell whether the gate's own authority allows the step now."""

    def admits(self) -> bool:
        """Tell whether the preview may be admitted; otherwise admission is blocked."""

    def worth_another_attempt(self, code: str) -> bool:
        """Tell whether a failure of that code is worth another attempt."""

    def verified(self) -> bool | None:
        """Tell whether verification has given evidence (true) or ended in an error (false); None while it goes on."""


@dataclass(slots=True)
class Fixed:
    """Judgements that are what they were set to; a gate is closed while a file of its name stands in a directory."""

    closed_gates: Path | None = None
    admission: bool = True
    retryable: bool = True
    verification: bool | None = True

    def allows(self, gate: Gate) -> bool:
        """See `Judgements`."""
        return self.closed_gates is None or not (self.closed_gates / gate).exists()

    def admits(self) -> bool:
        """See `Judgements`."""
        return self.admission

    def worth_another_attempt(self, code: str) -> bool:  # noqa: ARG002 - every failure is judged alike
        """See `Judgements`."""
        return self.retryable

    def verified(self) -> bool | None:
        """See `Judgements`."""
        return self.verification


@dataclass(frozen=True, slots=True)
class Limits:
    """What a coordinator was told once and for all.

    `attempts` bounds how often work is tried. `on_miss`: whether an attempt that the provider does not have is
    submitted, or left to an operator. `timeout_fails_attempt`: a lost reply is filed as a failed attempt (unwise).
    """

    attempts: int = 2
    on_miss: Literal["submit", "stop"] = "submit"
    timeout_fails_attempt: bool = False

"""Coordinators of the killed workflow as processes of their own, and the runs in which they are worth killing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from checker.conformance.adapter import Action, Errand, Launch
from checker.conformance.forking import ComeBy
from model.reference.killed_workflow.coordinator import Coordinator
from model.reference.killed_workflow.defects import DEFECTS
from model.reference.killed_workflow.drafts import Writer
from model.reference.killed_workflow.gated import AsksBeforeTheCall, StandsBeforeTheCall
from model.reference.killed_workflow.judgements import Fixed, Limits
from model.reference.killed_workflow.provider_client import ProviderClient


@dataclass(frozen=True, slots=True)
class Build:
    """Of which parts a coordinator is made, and what it is told; JSON can hold it, for it starts elsewhere too."""

    directory: str
    port: int
    attempts: int
    on_miss: Literal["submit", "stop"]
    timeout_fails_attempt: bool
    look_up_by_key: bool
    gate_is_asked: str
    defect: str
    login: str = "coordinator"
    admission: bool = True
    retryable: bool = True
    verification: bool = True

    def judgements(self) -> Fixed:
        """Return the judgements of those who are asked."""
        return Fixed(Path(self.directory), self.admission, self.retryable, self.verification)

    def coordinator(self, judgements: Fixed) -> Coordinator:
        """Put a coordinator together, which knows nothing yet."""
        parts = DEFECTS[self.defect]
        kind = parts.coordinator
        if self.gate_is_asked:
            asking = AsksBeforeTheCall if self.gate_is_asked == "to_submit" else StandsBeforeTheCall
            kind = type("Asking", tuple(dict.fromkeys((asking, kind, Coordinator))), {})
        return kind(
            parts.ledger(Path(self.directory, "ledger.git")),
            ProviderClient(self.port, self.look_up_by_key),
            judgements,
            Limits(self.attempts, self.on_miss, self.timeout_fails_attempt),
            Writer(self.login),
        )


def run_coordinator(argument: Mapping[str, Any], come_by: ComeBy) -> str:
    """Be a coordinator as a process of its own, and say how its turn ended."""
    build = Build(**argument)
    label = ""
    for label in build.coordinator(build.judgements()).run():
        come_by(f"coordinator.{label}")
    # It has then called for an operator, though whoever comes next will look again.
    return "stopped" if label == "report_doubt" else "waiting"


@dataclass(frozen=True, slots=True)
class Scripted(Launch):
    """A launch of a coordinator under which the environment decides as it is told here.

    `answers` has for each attempt what the provider answers to it, in words: `accept`, `reject`, `accept lost`.
    """

    answers: tuple[str, ...] = ()
    admission: bool = True
    retryable: bool = True
    verification: bool = True


def _finish(number: int, outcome: Literal["succeeded", "failed"]) -> Action:
    return Action("step", "provider", 0, "finish", (number, outcome))


def _others(step: str) -> Action:
    return Action("step", "people", 0, step)


_PLAIN = Scripted("coordinator")
_DECIDE = _others("decide")


def in_doubt() -> Errand:
    """Return a run of which the only reply is lost."""
    lost = Scripted("coordinator", answers=("accept lost",))
    return Errand("in-doubt", (lost, _finish(1, "succeeded"), _PLAIN, _DECIDE, _PLAIN))


def errands() -> Sequence[Errand]:
    """Return every way in which a run of up to two attempts can go."""
    succeed, again, fail = _finish(1, "succeeded"), _finish(2, "succeeded"), _finish(1, "failed")
    return [
        in_doubt(),
        Errand("decided", (_PLAIN, succeed, _PLAIN, _DECIDE, _PLAIN)),
        Errand("retried", (_PLAIN, fail, _PLAIN, again, _PLAIN, _DECIDE)),
        Errand("rejected", (Scripted("coordinator", answers=("reject", "accept")), again, _PLAIN)),
        Errand("not-retried", (_PLAIN, fail, Scripted("coordinator", retryable=False), _PLAIN)),
        Errand("blocked", (Scripted("coordinator", admission=False), _PLAIN)),
        Errand("cancelled", (_PLAIN, _others("cancel"), _PLAIN)),
    ]


def gated_errands() -> Sequence[Errand]:
    """Return a run that comes to a closed gate."""
    turn = _others("turn_gate")
    return [in_doubt(), Errand("gate-closed", (turn, _PLAIN, turn, _PLAIN, _finish(1, "succeeded"), _PLAIN))]


def errands_of_two() -> Sequence[Errand]:
    """Return a run in which the second has planned, and comes to append when the first has long moved on."""
    rest, advance = (Action("step", "coordinator", 1, step) for step in ("rest", "advance"))
    acts = (rest, _PLAIN, advance, _finish(1, "succeeded"), Scripted("coordinator", 1), _DECIDE)
    return [in_doubt(), Errand("slow-second", acts)]


def errands_of_three_attempts() -> Sequence[Errand]:
    """Return a run that succeeds at last."""
    fails = [one for number in (1, 2) for one in (_PLAIN, _finish(number, "failed"))]
    return [in_doubt(), Errand("third-attempt", (*fails, _PLAIN, _finish(3, "succeeded"), _PLAIN, _DECIDE))]


def errands_with_timeouts() -> Sequence[Errand]:
    """Return a run whose first attempt is given up, and turns out not to have been taken."""
    lost = Scripted("coordinator", answers=("reject lost", "accept"))
    return [in_doubt(), Errand("settled", (lost, _finish(2, "succeeded"), _PLAIN, _DECIDE))]

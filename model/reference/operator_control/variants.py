"""What people have proposed instead: other ways to do it that are no mistakes of the writing."""

from __future__ import annotations

from collections.abc import Iterator

from model.reference.operator_control.records import Lease
from model.reference.operator_control.rules import Rules
from model.reference.operator_control.worker import Worker


class LooksAgain(Worker):
    """Asks once more whether its claim is live, between storing that it sends and sending."""

    def run(self) -> Iterator[str]:
        """Work on one claim, and look again before the call."""
        for label in super().run():
            if label == "send":
                yield "look_again"
                if self.claim is None or not self.still_holds(self.claim):
                    return
            yield label


class UnlessReclaimed(Rules):
    """A claim may be finished until somebody else has it; when its time is up does not matter."""

    def unexpired(self, lease: Lease, now: int) -> bool:  # noqa: ARG002
        """Say that every lease still runs."""
        return True

"""What a reclaim keeps to itself while it looks and destroys.

A lease keeps others out if it is held; that it was free at a look keeps nobody out. So a reclaim takes the leases, and
where one was not to be had at the beginning, it tries again before each look, so that nothing can come between a look
that found all leases its own and the effect behind it.
"""

from __future__ import annotations

import enum

from model.reference.audited_recovery.party import Party
from model.reference.audited_recovery.run import Run


class ReclaimHolds(enum.Enum):
    """The choice; the document names the leases as something to be tested and says nothing of holding them."""

    NOTHING = "nothing"
    GATE = "gate_only"
    GATE_AND_LEASES = "gate_and_leases"

    def enter(self, run: Run, party: Party) -> bool:
        """Take the gate, then what can be had of the leases; return whether the gate, if it is needed, was free."""
        if self is ReclaimHolds.NOTHING:
            return True
        if not party.hold(run.gate):
            return False
        self.hold_leases(run, party)
        return True

    def hold_leases(self, run: Run, party: Party) -> None:
        """Take the leases that are free; one that is not is somebody else's, and the look finds it."""
        if self is ReclaimHolds.GATE_AND_LEASES:
            for lease in run.leases:
                party.hold(lease)


def leave(run: Run, party: Party) -> None:
    """Give back the leases and the gate, as far as they are held."""
    for path in (*run.leases, run.gate):
        party.let_go(path)

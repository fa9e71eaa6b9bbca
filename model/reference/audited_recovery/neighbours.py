"""Others who may stand in the way of a reclaim, and who keep to the rules.

Whoever changes something that a reclaim checks does so under the leases that a reclaim holds, so it comes before the
look or after the effects and never between. That rule is ours: the document points to another one for these checks.
"""

from __future__ import annotations

import enum
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from model.reference.audited_recovery.party import Party, is_held
from model.reference.audited_recovery.run import Run
from model.reference.audited_recovery.workspace import Part

STRANGER = "another-run"


class Obstacle(enum.Enum):
    """What somebody else can do that a reclaim must not override."""

    OTHER_OWNER = "other_owner"
    NO_PATH_AUTHORITY = "no_path_authority"
    NO_REF_AUTHORITY = "no_ref_authority"
    BINDING_LEASE = "binding_lease"
    REPOSITORY_LEASE = "repository_lease"
    RESERVED = "reserved"
    RETAINED_PEER = "retained_peer"


LEASE_OF = {
    Obstacle.OTHER_OWNER: "resume",
    Obstacle.BINDING_LEASE: "binding",
    Obstacle.REPOSITORY_LEASE: "repository",
}


@dataclass(slots=True)
class Neighbour:
    """One process of somebody else."""

    run: Run
    party: Party

    def interfere(self, obstacle: Obstacle) -> bool:
        """Put an obstacle in the way, unless somebody holds a lease; return whether it could be done."""
        if not all(self.party.hold(lease) for lease in self.run.leases):
            self._keep(None)
            return False
        workspace = self.run.workspace
        match obstacle:
            case Obstacle.NO_PATH_AUTHORITY:
                workspace.allotment(Part.WORKTREE).write_text(STRANGER)
            case Obstacle.NO_REF_AUTHORITY:
                workspace.allotment(Part.REF).write_text(STRANGER)
            case Obstacle.RESERVED:
                (workspace.path(Part.RESERVATION).parent / STRANGER).touch()
            case Obstacle.RETAINED_PEER:
                (workspace.peers_directory / STRANGER).touch()
            case _:
                pass
        self._keep(LEASE_OF.get(obstacle))
        return True

    def withdraw(self) -> None:
        """Take back whatever is in the way; taking back needs no lease."""
        workspace = self.run.workspace
        for part in (Part.WORKTREE, Part.REF):
            workspace.allotment(part).write_text(workspace.run)
        (workspace.path(Part.RESERVATION).parent / STRANGER).unlink(missing_ok=True)
        (workspace.peers_directory / STRANGER).unlink(missing_ok=True)
        self._keep(None)

    def _keep(self, lease: str | None) -> None:
        for path in self.run.leases:
            if path.name != lease:
                self.party.let_go(path)


def obstacles(run: Run, own: Collection[Path]) -> list[Obstacle]:
    """Return what is in the way, as it can be seen on disk, the leases in `own` left aside."""
    workspace = run.workspace
    foreign = [path.name for path in run.leases if path not in own and is_held(path)]
    found = [obstacle for obstacle, lease in LEASE_OF.items() if lease in foreign]
    for part, obstacle in ((Part.WORKTREE, Obstacle.NO_PATH_AUTHORITY), (Part.REF, Obstacle.NO_REF_AUTHORITY)):
        if workspace.allotment(part).read_text() != workspace.run:
            found.append(obstacle)
    if workspace.reserved():
        found.append(Obstacle.RESERVED)
    return [*found, Obstacle.RETAINED_PEER] if workspace.peers() else found

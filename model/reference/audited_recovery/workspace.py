"""What a reclaim destroys, and whether it is the run's own.

A run has a worktree (a directory with a marker), a ref and a reservation. Each says whose it is, and each may be gone
already, since an earlier reclaim may have died between two effects: what is gone needs no authority, what is there
must be this run's. Peers are other runs that keep the worktree for themselves.
"""

from __future__ import annotations

import enum
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from model.reference.audited_recovery import files
from model.reference.audited_recovery.evidence import Binding

MARKER = "run"


class Part(enum.Enum):
    """What a reclaim takes away, in this order."""

    WORKTREE = "worktree"
    REF = "ref"
    RESERVATION = "reservation"


@dataclass(frozen=True, slots=True)
class Workspace:
    """The workspace of one run below a root that many runs share; `parts` are those that a reclaim takes away."""

    root: Path
    run: str
    parts: Sequence[Part] = tuple(Part)

    def prepare(self, binding: Binding) -> None:
        """Make the workspace that a binding names."""
        for part in Part:
            self.path(part).parent.mkdir(parents=True, exist_ok=True)
        self.path(Part.WORKTREE).mkdir()
        (self.path(Part.WORKTREE) / MARKER).write_text(self.run)
        self.path(Part.REF).write_text(binding.commit)
        self.path(Part.RESERVATION).write_text(self.run)
        (self.root / "peers" / self.run).mkdir(parents=True)

    def path(self, part: Part) -> Path:
        """Return where a part is."""
        folder = {Part.WORKTREE: "worktrees", Part.REF: "refs", Part.RESERVATION: "reservations"}[part]
        return self.root / folder / self.run

    def remaining(self) -> list[Part]:
        """Return the parts that are still there, in the order in which they are taken away."""
        return [part for part in self.parts if self.path(part).exists()]

    def is_whole(self) -> bool:
        """Return whether nothing has been taken away."""
        return len(self.remaining()) == len(self.parts)

    def strangers(self, binding: Binding | None) -> list[Part]:
        """Return the parts that are there and that the binding does not give to this run."""
        return [part for part in self.remaining() if binding is None or not self._is_own(part, binding)]

    def peers(self) -> list[str]:
        """Return the runs that keep the worktree."""
        return sorted(path.name for path in (self.root / "peers" / self.run).iterdir())

    def destroy(self, part: Part) -> None:
        """Take a part away, in one move that a kill cannot halve.

        A tree cannot be removed at once, but it can be renamed at once; what a kill leaves of it afterwards is rubbish
        that nobody takes for a worktree.
        """
        path = self.path(part)
        if part is not Part.WORKTREE:
            files.remove(path)
            return
        rubbish = path.with_name(f".{path.name}.removed")
        shutil.rmtree(rubbish, ignore_errors=True)
        path.rename(rubbish)
        files.sync_directory(path.parent)
        shutil.rmtree(rubbish)

    def _is_own(self, part: Part, binding: Binding) -> bool:
        path = self.path(part)
        match part:
            case Part.WORKTREE:
                return path.name == binding.worktree and files.read(path / MARKER) == self.run.encode()
            case Part.REF:
                return path.name == binding.ref and files.read(path) == binding.commit.encode()
            case Part.RESERVATION:
                return files.read(path) == self.run.encode()

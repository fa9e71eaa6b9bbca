"""What a reclaim destroys, and whether the run may dispose of it.

A run has a worktree (a directory with a marker), a ref and a reservation. Worktree and ref need authority: an allotment
that names the run, and, where the thing itself is there, that it is this run's and no other's. A part that is gone
already is no hindrance, since an earlier reclaim may have died between two effects. Reservations of others, and peers
that keep the worktree for themselves, stand beside it.
"""

from __future__ import annotations

import enum
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from model.reference.audited_recovery import files
from model.reference.audited_recovery.evidence import Binding

MARKER = "run"


class Part(enum.Enum):
    """What a reclaim takes away, in this order."""

    WORKTREE = "worktree"
    REF = "ref"
    RESERVATION = "reservation"


FOLDERS = {Part.WORKTREE: "worktrees/{run}", Part.REF: "refs/{run}", Part.RESERVATION: "reservations/{run}/{run}"}


@dataclass(frozen=True)
class Workspace:
    """The workspace of one run below a root that many runs share; `parts` are those that a reclaim takes away."""

    root: Path
    run: str
    parts: Sequence[Part] = tuple(Part)

    def prepare(self, binding: Binding) -> None:
        """Make the workspace that a binding names."""
        for directory in ("worktrees", "refs", "allotments", f"reservations/{self.run}", f"peers/{self.run}"):
            (self.root / directory).mkdir(parents=True, exist_ok=True)
        self.path(Part.WORKTREE).mkdir()
        (self.path(Part.WORKTREE) / MARKER).write_text(self.run)
        self.path(Part.REF).write_text(binding.commit)
        self.path(Part.RESERVATION).write_text(self.run)
        for part in (Part.WORKTREE, Part.REF):
            self.allotment(part).write_text(self.run)

    def path(self, part: Part) -> Path:
        """Return where a part is."""
        return self._paths[part]

    @cached_property
    def _paths(self) -> dict[Part, Path]:
        return {part: self.root / folder.format(run=self.run) for part, folder in FOLDERS.items()}

    @cached_property
    def peers_directory(self) -> Path:
        """The directory with a file for each run that keeps the worktree."""
        return self.root / "peers" / self.run

    def allotment(self, part: Part) -> Path:
        """Return the file that names the run which may dispose of a path or a ref."""
        return self.root / "allotments" / f"{part.value}-{self.run}"

    def remaining(self) -> list[Part]:
        """Return the parts that are still there, in the order in which they are taken away."""
        return [part for part in self.parts if self.path(part).exists()]

    def is_whole(self) -> bool:
        """Return whether nothing has been taken away."""
        return len(self.remaining()) == len(self.parts)

    def unowned(self, binding: Binding | None) -> list[Part]:
        """Return the path or ref over which the run has no authority, whether it is still there or not."""
        return [part for part in (Part.WORKTREE, Part.REF) if binding is None or not self._is_own(part, binding)]

    def reserved(self) -> list[str]:
        """Return the other runs that have reserved the workspace."""
        return sorted({path.name for path in self.path(Part.RESERVATION).parent.iterdir()} - {self.run})

    def peers(self) -> list[str]:
        """Return the runs that keep the worktree."""
        return sorted(path.name for path in self.peers_directory.iterdir())

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
        if files.read(self.allotment(part)) != self.run.encode():
            return False
        path = self.path(part)
        named = binding.worktree if part is Part.WORKTREE else binding.ref
        content = files.read(path / MARKER if part is Part.WORKTREE else path)
        expected = self.run if part is Part.WORKTREE else binding.commit
        return path.name == named and (not path.exists() or content == expected.encode())

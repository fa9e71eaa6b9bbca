"""A run on disk: everything that acquisition, unlock and reclaim look at, in one place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from model.reference.audited_recovery import files
from model.reference.audited_recovery.evidence import Binding, EvidenceFiles
from model.reference.audited_recovery.files import Draft
from model.reference.audited_recovery.judgement import Situation
from model.reference.audited_recovery.ledger import RecoveryLedger
from model.reference.audited_recovery.locks import ResumeLock
from model.reference.audited_recovery.party import Party, is_held
from model.reference.audited_recovery.workspace import Part, Workspace

LEASES = ("resume", "binding", "repository")


@dataclass(frozen=True)
class Run:
    """One run below a root directory. Nothing but paths is kept in memory: every question is asked of the files."""

    root: Path
    name: str
    parts: Sequence[Part] = tuple(Part)
    draft: Callable[[Path, bytes], Draft] = field(default=files.draft)

    @cached_property
    def directory(self) -> Path:
        """The directory of what belongs to this run only."""
        return self.root / "runs" / self.name

    @cached_property
    def lock(self) -> ResumeLock:
        """The resume lock."""
        return ResumeLock(self.directory / "resume.lock")

    @cached_property
    def gate(self) -> Path:
        """The file whose lease is the mutation gate: who changes whether there is a resume lock holds it."""
        return self.directory / "gate"

    @cached_property
    def leases(self) -> list[Path]:
        """The files whose leases keep others off the run while its workspace is at work or taken away."""
        return [self.directory / "leases" / name for name in LEASES]

    @cached_property
    def evidence(self) -> EvidenceFiles:
        """Binding, transcript and proof."""
        return EvidenceFiles(self.directory)

    @cached_property
    def workspace(self) -> Workspace:
        """Worktree, ref and reservation."""
        return Workspace(self.root, self.name, self.parts)

    @cached_property
    def ledger(self) -> RecoveryLedger:
        """Intents and completions."""
        return RecoveryLedger(self.directory / "recovery", self.draft)

    def prepare(self) -> None:
        """Make a run that has never been executed."""
        for directory in (self.directory / "leases", self.directory / "recovery"):
            directory.mkdir(parents=True)
        binding = Binding(self.name, 0, self.name, self.name, "0" * 40)
        self.evidence.bind(binding)
        self.evidence.transcript.touch()
        self.workspace.prepare(binding)

    def look(self, party: Party) -> Situation:
        """Return what a reclaim by a process looks at, as it is now."""
        evidence, workspace = self.evidence.look(), self.workspace
        return Situation(
            evidence=evidence,
            lock=self.lock.observe(),
            leased=[path.name for path in self.leases if not party.holds(path) and is_held(path)],
            unowned=workspace.unowned(evidence.binding()),
            reserved=workspace.reserved(),
            peers=workspace.peers(),
        )

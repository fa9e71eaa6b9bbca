"""What a run leaves behind that says whether it lives: binding, transcript, proof.

The *binding* ties a run to its current execution and to its workspace. The *transcript* gets a line when an execution
starts and when it ends; it may go missing or corrupt, and then it is not written on, since half a transcript would look
like a whole one. A *proof* says that an execution has ended; it matches if it is about the execution that is bound.
"""

from __future__ import annotations

import enum
import hashlib
import json
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from model.reference.audited_recovery import files
from model.reference.audited_recovery.locks import canonical


class Transcript(enum.Enum):
    """What can be read from a transcript."""

    MISSING = "missing"
    CORRUPT = "corrupt"
    OPEN = "open"
    CLOSED = "closed"


class Liveness(enum.Enum):
    """How a run is classified. UNKNOWN is the absence of evidence, and stays that whatever anybody confirms."""

    ACTIVE = "active"
    TERMINAL = "terminal"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Binding:
    """Which execution of a run is the current one, and what the run may call its own."""

    run: str
    execution: int
    worktree: str
    ref: str
    commit: str

    def encode(self) -> bytes:
        """Return the binding as it stands in its file."""
        return canonical(
            {
                "run": self.run,
                "execution": self.execution,
                "worktree": self.worktree,
                "ref": self.ref,
                "commit": self.commit,
            }
        )


@dataclass(frozen=True, slots=True)
class Evidence:
    """The three files as they were at one look, None for one that was missing; of the proofs, the one that matches."""

    binding_data: bytes | None
    transcript_data: bytes | None
    proof_data: bytes | None

    @property
    def digest(self) -> str:
        """Return the digest that pins the evidence, its absences included."""
        return hashlib.sha256(canonical(self.parts())).hexdigest()

    def parts(self) -> dict[str, str | None]:
        """Return the digest of each file by its name, None for one that was missing."""
        data = {"binding": self.binding_data, "transcript": self.transcript_data, "proof": self.proof_data}
        return {name: None if part is None else hashlib.sha256(part).hexdigest() for name, part in data.items()}

    def binding(self) -> Binding | None:
        """Return the binding, None if it is missing or malformed."""
        fields = _fields(self.binding_data)
        texts = [fields.get(name) for name in ("run", "worktree", "ref", "commit")]
        execution = fields.get("execution")
        if not isinstance(execution, int) or not all(isinstance(text, str) for text in texts):
            return None
        run, worktree, ref, commit = (str(text) for text in texts)
        return Binding(run, execution, worktree, ref, commit)

    def transcript(self) -> Transcript:
        """Return what can be read from the transcript.

        It must tell every execution from the first on, and it is about the last one that has started: what came before
        has ended or its owner died. An execution whose owner died between transcript and binding is begun twice.
        """
        if self.transcript_data is None:
            return Transcript.MISSING
        started: set[int] = set()
        ended: set[int] = set()
        for line in self.transcript_data.splitlines():
            execution, event = _entry(line)
            if event == "started" and execution in {len(started), len(started) + 1} and execution not in ended:
                started.add(execution)
            elif event == "ended" and execution in started - ended:
                ended.add(execution)
            else:
                return Transcript.CORRUPT
        return Transcript.OPEN if started and max(started) not in ended else Transcript.CLOSED

    def is_proven(self) -> bool:
        """Return whether there is a proof that the bound execution has ended."""
        binding, fields = self.binding(), _fields(self.proof_data)
        return binding is not None and fields == {"run": binding.run, "execution": binding.execution}

    def liveness(self) -> Liveness:
        """Classify the run. A proof of the end without a transcript beside it leaves the liveness unknown."""
        match self.transcript():
            case Transcript.OPEN:
                return Liveness.ACTIVE
            case Transcript.CLOSED if self.is_proven():
                return Liveness.TERMINAL
            case _:
                return Liveness.UNKNOWN


@dataclass(frozen=True)
class EvidenceFiles:
    """Where the evidence of a run is kept. Only the owner of the run writes here."""

    directory: Path

    @cached_property
    def _binding(self) -> Path:
        return self.directory / "binding"

    @cached_property
    def transcript(self) -> Path:
        """The file of the transcript."""
        return self.directory / "transcript"

    def look(self) -> Evidence:
        """Return the evidence as it is now."""
        binding_data, transcript_data = files.read(self._binding), files.read(self.transcript)
        binding = Evidence(binding_data, None, None).binding()
        proof_data = None if binding is None else files.read(self._proof(binding.execution))
        return Evidence(binding_data, transcript_data, proof_data)

    def bind(self, binding: Binding) -> None:
        """Put a binding in the place of the one before."""
        files.draft(self._binding, binding.encode()).replace()

    def begin(self) -> int:
        """Start the next execution and return its number.

        First it is recorded that there is activity, then that no older proof matches.

        Raises:
            ValueError: the run is not bound.
        """
        seen = self.look()
        binding = seen.binding()
        if binding is None:
            raise ValueError("a run without a binding cannot be executed")
        following = replace(binding, execution=binding.execution + 1)
        self._tell(seen, following.execution, "started")
        self.bind(following)
        return following.execution

    def prove(self, execution: int) -> None:
        """Record the proof that an execution has ended."""
        data = canonical({"run": self.directory.name, "execution": execution})
        files.draft(self._proof(execution), data).replace()

    def close(self, execution: int) -> None:
        """Tell the transcript that an execution has ended."""
        self._tell(self.look(), execution, "ended")

    def _proof(self, execution: int) -> Path:
        return self.directory / f"proof-{execution}"

    def _tell(self, seen: Evidence, execution: int, event: str) -> None:
        if seen.transcript() in {Transcript.OPEN, Transcript.CLOSED}:
            files.append(self.transcript, canonical({"execution": execution, "event": event}))


def _entry(line: bytes) -> tuple[int, str]:
    fields = _fields(line)
    execution, event = fields.get("execution"), fields.get("event")
    return (execution, event) if isinstance(execution, int) and isinstance(event, str) else (-1, "")


def _fields(data: bytes | None) -> dict[str, object]:
    if data is None:
        return {}
    try:
        fields = json.loads(data)
    except ValueError:
        return {}
    return fields if isinstance(fields, dict) else {}

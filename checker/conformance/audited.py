"""What the adapters of both versions of audited recovery share: a run on disk, and the processes around it.

The processes are generators in this process, each with its own host, open files and, as an owner, a stand-in with a
real PID. What is observed is read from disk and from the kernel; only what a process remembers comes from memory, and
two ghosts from counting what was seen to happen.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from checker.conformance.adapter import Action, Ended, Launch, Observation, Plain, Refused, Setting, UnknownSetting
from checker.conformance.forking import quick_directory
from checker.conformance.launching import Launches
from checker.conformance.standins import StandIn, Stepped
from model.reference.audited_recovery import files
from model.reference.audited_recovery.evidence import Transcript
from model.reference.audited_recovery.files import Draft
from model.reference.audited_recovery.locks import OwnerRecord, decode
from model.reference.audited_recovery.neighbours import Neighbour, Obstacle, obstacles
from model.reference.audited_recovery.party import PID_MAX, Answer, Host, Party, is_held, probe, started_at
from model.reference.audited_recovery.run import Run
from model.reference.audited_recovery.workspace import Part

RUN = "run"
ANSWERS: Mapping[Answer | None, str] = {
    None: "not_probed",
    Answer.PRESENT: "running",
    Answer.ABSENT: "absent",
    Answer.INCONCLUSIVE: "inconclusive",
}
_NONCE = re.compile(rb"owner-(\d+)-")


@dataclass(slots=True)
class Fate:
    """What the environment has decided for the step that is being taken."""

    faults: frozenset[str] = frozenset()
    reused: dict[int, str] = field(default_factory=dict)
    """PIDs that another process has by now, and what it is."""

    def draft(self, path: Path, data: bytes) -> Draft:
        """Write a file of the ledger, unless the file system is to fail."""
        if "audit_fails" in self.faults:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return files.draft(path, data)

    def probe(self, pid: int) -> Answer:
        """Ask the kernel, unless it is to say nothing; a PID that was given out again is present."""
        if "probe_inconclusive" in self.faults:
            return Answer.INCONCLUSIVE
        return Answer.PRESENT if pid in self.reused else probe(pid)

    def started_at(self, pid: int) -> int | None:
        """Ask the kernel; who has a PID now started after who had it before."""
        return 0 if pid in self.reused else started_at(pid)

    def encode(self, record: OwnerRecord) -> bytes:
        """Return a record, in a form that only another version can read if it is to be so."""
        return (b"version 9\n" if "unreadable_record" in self.faults else b"") + record.encode()


def probe_elsewhere(pid: int) -> Answer:
    """Ask another machine, where nobody has the PID: the kernel never gives this one."""
    del pid
    return probe(PID_MAX)


def hosts(place: Plain, record_names: Plain, fate: Fate, *, compares_start: bool = False) -> tuple[Host, Host]:
    """Return the host of the owners and that of the operators, which asks its own process table in any case.

    Raises:
        UnknownSetting: there is no such place.
    """
    same_name = {
        "same_host": True,
        "other_host": False,
        "twin_host": record_names == "host_name",
        "other_namespace": record_names != "machine_and_namespace",
    }
    if not isinstance(place, str) or place not in same_name:
        raise UnknownSetting(f"there is no place `{place}`")
    owners = Host("here", fate.probe, fate.started_at, compares_start)
    is_here = place == "same_host"
    name = "here" if same_name[place] else "elsewhere"
    return owners, Host(name, fate.probe if is_here else probe_elsewhere, fate.started_at, compares_start)


@dataclass(slots=True)
class Player:
    """One process of the model: its program (an owner or an operator), its party, and where it stands."""

    process: str
    instance: int
    number: int
    """What the model's gate calls it."""
    make: Callable[[Party], Any]
    begin: Callable[[Any], Iterator[str]]
    host: Callable[[], Host]
    """The host of its next life."""
    standin: StandIn | None = None
    party: Party = field(init=False)
    program: Any = field(init=False)
    stepped: Stepped = field(init=False)

    def __post_init__(self) -> None:
        self.come_alive()

    @property
    def label(self) -> str:
        """The kill point at which it stands."""
        return self.stepped.label

    def come_alive(self) -> None:
        """Be a new process that remembers nothing."""
        name = f"{self.process}-{self.instance}"
        pid = os.getpid() if self.standin is None else self.standin.pid
        counter = (f"{name}-{os.urandom(8).hex()}" for _ in iter(int, 1))
        self.party = Party(self.host(), pid, str(self.number), lambda: next(counter))
        self.program = self.make(self.party)
        self.stepped = Stepped(lambda: self.begin(self.program))

    def die(self) -> None:
        """Be killed: the kernel takes the open files, the PID becomes free, the memory is gone."""
        self.party.die()
        if self.standin is not None:
            self.standin.kill()
            self.standin = StandIn()
        self.come_alive()


class AuditedAdapter(ABC):
    """A run, its owners and its operators; subclasses say which programs they run and what else there is."""

    observes: Sequence[str]
    defects: Sequence[str]
    parts: Sequence[Part] = tuple(Part)
    child = ""
    """`module:function` that runs a process of its own."""

    def __init__(self) -> None:
        self._directory: tempfile.TemporaryDirectory[str] = quick_directory()
        self._starts = 0
        self._standins: list[StandIn] = []
        self._launches = Launches(self.child)
        self.players: dict[tuple[str, int], Player] = {}
        self.launched = False
        self.overlapped = False
        self.fate = Fate()
        self.setting = Setting({})
        self.run = Run(Path(self._directory.name, "0"), RUN)
        self.neighbour = self._neighbour()

    # -- what subclasses say ---------------------------------------------------------------------------------------

    @abstractmethod
    def cast(self, setting: Setting) -> dict[tuple[str, int], Player]:
        """Return the processes of a setting.

        Raises:
            UnknownSetting: the implementation has no such parameter, variant or defect.
        """

    @abstractmethod
    def happen(self, action: Action) -> None:
        """Let the environment do something.

        Raises:
            Refused: it cannot be done now.
        """

    @abstractmethod
    def observe(self) -> Observation:
        """Return the model's variables as they are now."""

    @abstractmethod
    def offers(self) -> Sequence[Action]:
        """Return what may be tried now."""

    # -- the adapter -----------------------------------------------------------------------------------------------

    def reset(self, setting: Setting) -> None:
        """Throw away what there is and start afresh.

        Raises:
            UnknownSetting: the implementation has no such parameter, variant or defect.
        """
        self._clear()
        shutil.rmtree(self.run.root, ignore_errors=True)
        self.setting = setting
        self.fate = Fate()
        self._starts += 1
        root = Path(self._directory.name, str(self._starts))
        self.run = Run(root, RUN, self.parts, self.fate.draft)
        self.neighbour = self._neighbour()
        self.players = self.cast(setting)
        self.run.prepare()
        if setting.initial.get("transcript") == "missing":
            self.run.evidence.transcript.unlink()
        if setting.initial.get("proof") == "proven":
            self.run.evidence.prove(self.executions())
        self.launched = False
        self.overlapped = False

    def perform(self, action: Action) -> None:
        """Let one thing happen.

        Raises:
            Refused: it cannot be done now.
        """
        if action.process == "others":
            self.happen(action)
            return
        player = self.players[action.process, action.instance]
        if action.kind == "restart" or action.step != player.label:
            raise Refused(f"{action.process} stands at {player.label}")
        if action.kind == "crash":
            if action.torn:
                player.stepped.tear()
            player.die()
            return
        if action.id == "owner.begin":
            self.overlapped = any(other.label in {"prove", "close"} for other in self.players.values())
        self.fate.faults = frozenset(action.faults)
        try:
            self.step(player, action)
        finally:
            self.fate.faults = frozenset()

    def step(self, player: Player, action: Action) -> None:
        """Let a process take the step at which it stands."""
        del action
        player.stepped.step()

    def close(self) -> None:
        """End every process and remove every file."""
        self._clear()
        for standin in self._standins:
            standin.kill()
        self._standins.clear()
        self._launches.close()
        self._directory.cleanup()

    def obstacles(self) -> list[Obstacle]:
        """Return what the neighbour has put in the way, as it is seen on disk."""
        own = [path for player in self.players.values() for path in self.run.leases if player.party.holds(path)]
        return obstacles(self.run, own)

    def _neighbour(self) -> Neighbour:
        return Neighbour(self.run, Party(Host("here"), os.getpid(), "neighbour"))

    def give_pid(self, player: Player) -> None:
        """Give a process a stand-in that is alive; those of the last start are used again."""
        player.standin = self._standins.pop() if self._standins else StandIn()
        player.come_alive()

    def has_transcript(self) -> bool:
        """Return whether there is a transcript."""
        return files.read(self.run.evidence.transcript) is not None

    def lose_transcript(self) -> None:
        """Let the transcript go missing."""
        files.remove(self.run.evidence.transcript)

    def reuse_pid(self, what: str) -> None:
        """Let another process have the PID in the lock, as far as anybody here asks for it."""
        lock = self.run.lock.observe()
        record = None if lock is None else decode(lock.data)
        assert record is not None, "the PID in the lock has just been looked up"
        self.fate.reused[record.pid] = what

    def _clear(self) -> None:
        self.neighbour.party.die()
        for player in self.players.values():
            player.party.die()
            if player.standin is not None:
                self._standins.append(player.standin)
        self.players = {}

    # -- what is seen ----------------------------------------------------------------------------------------------

    def observe_run(self) -> dict[str, Plain]:
        """Return what both versions have on disk: gate, lock, evidence, workspace.

        Whether a lock's record is malformed is left out where there is no lock.
        The evidence is left out where two executions overlap, which is a mistake already: here a proof and the end of a
        transcript are about one execution, and the model does not tell executions apart.
        """
        evidence = self.run.evidence.look()
        seen: dict[str, Plain] = {"gate": 0, "by": None}
        if is_held(self.run.gate):
            seen["gate"] = int(self.run.gate.read_text())
        lock = self.run.lock.observe()
        if lock is not None:
            match = _NONCE.search(lock.data)
            assert match is not None, "every nonce of this world names the owner"
            seen["by"] = int(match[1])
            seen["malformed"] = decode(lock.data) is None
        remaining = self.run.workspace.remaining()
        # The number says which parts are left only where they are taken away in their order.
        in_order = remaining == list(self.parts)[len(self.parts) - len(remaining) :]
        seen["left"] = len(remaining) if in_order else str(remaining)
        if not self.overlapped:
            transcripts = {Transcript.OPEN: "active", Transcript.CLOSED: "quiet"}
            seen["transcript"] = transcripts.get(evidence.transcript(), "missing")
            seen["proof"] = "proven" if evidence.is_proven() else "unproven"
        return seen

    def observe_labels(self) -> dict[str, Plain]:
        """Return where the processes stand."""
        return {f"{self.name(player)} at": player.label for player in self.players.values()}

    def name(self, player: Player) -> str:
        """Return the name that the model gives a process: with its number only where there are several."""
        count = self.setting.parameters[f"{player.process}s"]
        return player.process if count == 1 else f"{player.process}[{player.instance}]"

    def owner_state(self) -> str | None:
        """Return what the process table has under the PID in the lock, None if no record says a PID."""
        lock = self.run.lock.observe()
        record = None if lock is None else decode(lock.data)
        if record is None:
            return None
        if record.pid in self.fate.reused:
            return self.fate.reused[record.pid]
        is_there = probe(record.pid) is Answer.PRESENT and started_at(record.pid) == record.started
        return "its_owner" if is_there else "nobody"

    def executions(self) -> int:
        """Return how many executions have begun."""
        binding = self.run.evidence.look().binding()
        assert binding is not None, "nothing here takes the binding away"
        return binding.execution

    # -- processes of their own ------------------------------------------------------------------------------------

    def launch(self, launch: Launch, kill_at: int | None) -> Ended:
        """Start a process from what is on disk and wait for its end; kill it at the `kill_at`-th kill point, from 1."""
        player = self.players[launch.process, launch.instance]
        player.die()
        self.launched = True
        argument = {
            "root": str(self.run.root),
            "process": launch.process,
            "instance": launch.instance,
            "parameters": dict(self.setting.parameters),
            "variant": self.setting.variant,
            "defect": self.setting.defect,
        }
        return self._launches.run(argument, kill_at)


def come_by_all(process: str, turn: Iterator[str], come_by: Callable[[str], None]) -> str:
    """Run a process to the end of its turn, by all its kill points; it waits for nobody.

    Who gets no further than where it has begun, or stands where it stood, waits; every other end is that of a turn.
    """
    points = [""]
    for point in turn:
        if point == points[-1]:
            return "waiting"
        come_by(f"{process}.{point}")
        points.append(point)
    return "stopped" if len(points) > 2 else "waiting"


def acts_of_an_owner() -> tuple[list[Action], list[Action]]:
    """Return what an owner does until it is at work, and what it does from there to its release.

    It is stepped in this process, with a stand-in that lives, so that others meet a living owner.
    """
    labels = ("start", "look", "create", "leave_gate", "begin", "prove", "close", "compare", "unlink")
    actions = [Action("step", "owner", 0, label) for label in labels]
    return actions[:5], actions[5:]

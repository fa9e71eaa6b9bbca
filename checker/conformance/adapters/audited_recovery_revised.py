"""The revised version of audited recovery, held against `spec/audited_recovery_revised.yaml`."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from checker.conformance.adapter import Action, Errand, Launch, Observation, Plain, Refused, Setting, UnknownSetting
from checker.conformance.audited import ANSWERS, RUN, AuditedAdapter, Fate, Player, acts_of_an_owner, come_by_all, hosts
from checker.conformance.forking import ComeBy
from model.reference.audited_recovery.defects_revised import REVISED_DEFECTS, OwnerWithOneLook, RevisedCast
from model.reference.audited_recovery.holding import ReclaimHolds
from model.reference.audited_recovery.neighbours import Obstacle
from model.reference.audited_recovery.party import Host
from model.reference.audited_recovery.provider_ledger import ProviderLedger, When
from model.reference.audited_recovery.revised import (
    COMPLETION,
    EVENT,
    ForcingOperator,
    RetiringOperator,
    RetiringOwner,
    UncheckedOperator,
)
from model.reference.audited_recovery.run import Run
from model.reference.audited_recovery.workspace import Part

PARTS = (Part.WORKTREE, Part.REF)
VARIANTS = ("", "transcript-gone", "one-look", "reclaim-retires")
HINDRANCE = Obstacle.BINDING_LEASE
"""One for all, since each of them alone must stop a reclaim; the first version tries every one."""


class Adapter(AuditedAdapter):
    """Owners that retire dead locks, and an operator who forces a reclaim."""

    observes = (
        "gate",
        "alive",
        "by",
        "malformed",
        "transcript",
        "proof",
        "left",
        "hindered",
        "announced",
        "completed",
        "another_execution",
        "owner at",
        "owner.answer",
        "owner.holding",
        "operator at",
    )
    defects = tuple(REVISED_DEFECTS)
    parts = PARTS
    child = f"{__name__}:run_alone"

    def cast(self, setting: Setting) -> dict[tuple[str, int], Player]:
        """Return the owners and operators of a setting; see the base class."""
        self._seen_executions = 0
        players = players_of(self.run, self.fate, setting)
        for player in players.values():
            if player.process == "owner":
                self.give_pid(player)
        return players

    def step(self, player: Player, action: Action) -> None:
        """Let a process take its step, and keep count for the ghost."""
        player.stepped.step()
        if action.id == "operator.start":
            self._seen_executions = self.executions()

    def happen(self, action: Action) -> None:
        """Let the environment do something; see the base class."""
        match action.step:
            case "lose_transcript" if action.faults and self.has_transcript():
                self.lose_transcript()
            case "hinder" if self.setting.parameters["hindrances"] and self.neighbour.interfere(HINDRANCE):
                pass
            case "withdraw" if self.obstacles():
                self.neighbour.withdraw()
            case _:
                raise Refused(f"{action.step} cannot happen now")

    def observe(self) -> Observation:
        """Return the model's variables as they are now.

        Whether the owner lives is left out where no readable lock says who it is, and an owner's answer where it did
        not have to ask.
        """
        ledger = ProviderLedger(self.run.root / "provider-ledger")
        seen = self.observe_run() | self.observe_labels()
        seen["hindered"] = bool(self.obstacles())
        seen["announced"] = ledger.has(RUN, EVENT)
        seen["completed"] = ledger.has(RUN, COMPLETION)
        state = self.owner_state()
        if state is not None:
            seen["alive"] = state == "its_owner"
        if not self.launched:
            seen["another_execution"] = self.executions() > self._seen_executions
        for player in self.players.values():
            if player.process == "owner":
                seen |= self._remembered(player)
        return seen

    def _remembered(self, player: Player) -> dict[str, Plain]:
        owner: RetiringOwner = player.program
        seen: dict[str, Plain] = {f"{self.name(player)}.holding": owner.acquired is not None}
        if owner.retirement.answer is not None or player.label not in {"turn_away", "create"}:
            seen[f"{self.name(player)}.answer"] = ANSWERS[owner.retirement.answer]
        return seen

    def offers(self) -> Sequence[Action]:
        """Return what may be tried now; a fault is offered where the step comes to it."""
        offered = [action for player in self.players.values() for action in self.offers_of(player)]
        if self.has_transcript():
            offered.append(Action("step", "others", 0, "lose_transcript", faults=("transcript_lost",)))
        if self.obstacles():
            offered.append(Action("step", "others", 0, "withdraw"))
        elif self.setting.parameters["hindrances"]:
            offered.append(Action("step", "others", 0, "hinder"))
        return offered

    def offers_of(self, player: Player) -> Iterator[Action]:
        """Yield what a process may do, or what may happen to it, where it stands."""
        process, number, label = player.process, player.instance, player.label
        if label != "start":  # there a crash changes nothing, and is no event of the model
            yield Action("crash", process, number, label, faults=(f"crash_{process}",))
        yield Action("step", process, number, label)
        is_locked = self.run.lock.observe() is not None
        if label == "create" and not is_locked:
            yield Action("step", process, number, label, faults=("unreadable_record",))
        if label == "look" and is_locked and (process == "operator" or self.run.workspace.is_whole()):
            yield Action("step", process, number, label, faults=("probe_inconclusive",))

    def errands(self) -> Sequence[Errand]:
        """Return the runs that are worth killing."""
        owner = Launch("owner", 0)
        last = Launch("owner", int(str(self.setting.parameters["owners"])) - 1)
        begun, ended = acts_of_an_owner()
        errands = [Errand("an execution, and another one", (owner, last, owner))]
        if last != owner:
            errands.append(Errand("an execution beside a living owner", (*begun, last, *ended, last)))
        if not self.setting.parameters["operators"]:
            return errands
        operator = Launch("operator", 0)
        killed = Action("crash", "owner", 0, "begin", faults=("crash_owner",))
        lost = Action("step", "others", 0, "lose_transcript", faults=("transcript_lost",))
        return [
            *errands,
            Errand("an execution, a forced reclaim, a vain resumption", (owner, last, operator, owner)),
            Errand("a forced reclaim without a transcript", (lost, operator, owner)),
            Errand("a forced reclaim beside a dead owner's lock", (*begun[:-1], killed, operator, owner)),
        ]


def players_of(run: Run, fate: Fate, setting: Setting) -> dict[tuple[str, int], Player]:
    """Return the owners and operators of a setting.

    Raises:
        UnknownSetting: the implementation has no such parameter, variant or defect.
    """
    parameters = setting.parameters
    if setting.variant not in VARIANTS:
        raise UnknownSetting(f"the implementation has no {setting.variant}")
    if setting.defect and setting.defect not in REVISED_DEFECTS:
        raise UnknownSetting(f"the implementation has no defect {setting.defect}")
    cast = REVISED_DEFECTS.get(setting.defect, RevisedCast())
    make_owner = OwnerWithOneLook if setting.variant == "one-look" else cast.owner
    make_operator = cast.operator or _operator(setting)
    holds, when, gated = ReclaimHolds(parameters["reclaim_holds"]), When(parameters["event"]), parameters["gated"]
    here, there = hosts(parameters["place"], "host_name", fate)
    lives = itertools.count()

    def host() -> Host:
        # An owner asks about other owners, and about itself before it was killed: on another host, every life is on one
        # of its own, as in a container with a fresh name.
        return there if there.name == here.name else replace(here, name=f"host-{next(lives)}")

    ledger = ProviderLedger(run.root / "provider-ledger")
    owners, operators = int(str(parameters["owners"])), int(str(parameters["operators"]))
    players: dict[tuple[str, int], Player] = {}
    for number in range(owners):
        players["owner", number] = Player(
            "owner",
            number,
            number + 1,
            lambda party: make_owner(run, party, fate.encode, gated=bool(gated)),
            _turn,
            host,
        )
    for number in range(operators):
        players["operator", number] = Player(
            "operator",
            number,
            owners + number + 1,
            lambda party: make_operator(run, party, ledger, holds, when),
            _turn,
            lambda: there,
        )
    return players


def run_alone(argument: dict[str, Any], come_by: ComeBy) -> str:
    """Be one process for one turn."""
    fate = Fate()
    run = Run(Path(argument["root"]), RUN, PARTS, fate.draft)
    setting = Setting(argument["parameters"], argument["variant"], argument["defect"])
    player = players_of(run, fate, setting)[argument["process"], argument["instance"]]
    assert player.party.pid == os.getpid(), "no stand-in here: the process is its own"
    return come_by_all(player.process, player.begin(player.program), come_by)


def _operator(setting: Setting) -> type[ForcingOperator]:
    if not setting.parameters["reclaim_rechecks"]:
        return UncheckedOperator
    return RetiringOperator if setting.variant == "reclaim-retires" else ForcingOperator


def _turn(program: Any) -> Iterator[str]:
    turn: Iterator[str] = program.turn()
    return turn

"""The first version of audited recovery, held against `spec/audited_recovery.yaml`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from checker.conformance.adapter import Action, Errand, Launch, Observation, Plain, Refused, Setting, UnknownSetting
from checker.conformance.audited import ANSWERS, RUN, AuditedAdapter, Fate, Player, acts_of_an_owner, come_by_all, hosts
from checker.conformance.forking import ComeBy
from model.reference.audited_recovery.defects import DEFECTS, Cast
from model.reference.audited_recovery.holding import ReclaimHolds
from model.reference.audited_recovery.ledger import Operation, Outcome
from model.reference.audited_recovery.neighbours import Obstacle
from model.reference.audited_recovery.recovery import Operator, Order
from model.reference.audited_recovery.run import Run

RECORDS = {
    Outcome.NEVER: "no_record",
    Outcome.TORN: "torn",
    Outcome.UNKNOWN: "intent",
    Outcome.DONE: "completed",
}
OFFERED = {
    "both": tuple(Operation),
    "only_unlock": (Operation.UNLOCK,),
    "only_reclaim": (Operation.RECLAIM,),
}
NEWCOMERS = ("stranger", "sibling")
FIXED: Mapping[str, Plain] = {"probe_covers": "owner_only", "children_outlive": False, "gate_ends": "with_holder"}
"""What the model tries out for its questions, and the implementation has in one way only."""


class Adapter(AuditedAdapter):
    """Owners and operators of the first version, with real files, leases and owners' PIDs."""

    observes = (
        "gate",
        "pid_is",
        "children",
        "by",
        "malformed",
        "transcript",
        "proof",
        "left",
        "obstacle",
        "record",
        "another_lock",
        "another_execution",
        "owner at",
        "owner.holding",
        "operator at",
        "operator.operation",
        "operator.answer",
    )
    defects = tuple(DEFECTS)
    child = f"{__name__}:run_alone"

    def cast(self, setting: Setting) -> dict[tuple[str, int], Player]:
        """Return the owners and operators of a setting; see the base class."""
        self._operation = Operation.UNLOCK
        self._locks = 0
        self._seen_locks: dict[int, int] = {}
        self._seen_executions: dict[int, int] = {}
        players = players_of(self.run, self.fate, setting, lambda: self._operation)
        for player in players.values():
            if player.process == "owner":
                self.give_pid(player)
        return players

    def step(self, player: Player, action: Action) -> None:
        """Let a process take its step, and keep count for the ghosts."""
        if {"inode_reused", "bytes_repeat"} & set(action.faults):
            raise Refused("no file system can be asked for a certain inode, and nonces do not repeat")
        if action.id == "operator.start":
            self._operation = Operation(action.choices[0])
        player.stepped.step()
        if action.id == "owner.create":
            self._locks += 1
        if action.id == "operator.start":
            self._seen_locks[player.instance] = self._locks
            self._seen_executions[player.instance] = self.executions()

    def happen(self, action: Action) -> None:
        """Let the environment do something; see the base class."""
        match action.step:
            case "lose_transcript" if action.faults and self.has_transcript():
                self.lose_transcript()
            case "reuse_pid" if action.faults and self.owner_state() == "nobody":
                self.reuse_pid(str(action.choices[0]))
            case "interfere" if self.setting.parameters["neighbours"] and not self.obstacles():
                self.interfere(str(action.choices[0]))
            case "withdraw" if self.obstacles():
                self.neighbour.withdraw()
            case _:
                raise Refused(f"{action.step} cannot happen now")

    def interfere(self, what: str) -> None:
        """Let a neighbour put something in the way, if he gets the leases that he needs for it."""
        if what == "no_obstacle" or not self.neighbour.interfere(Obstacle(what)):
            raise Refused("somebody holds a lease")

    def observe(self) -> Observation:
        """Return the model's variables as they are now.

        What is under the PID in the lock is left out where no readable lock names one. What an operator remembers is
        left out where it has nothing in mind, and so is its answer where it did not have to ask: of a malformed or
        foreign record.
        """
        seen = self.observe_run() | self.observe_labels() | {"children": "no_children"}
        state = self.owner_state()
        if state is not None:
            seen["pid_is"] = state
        in_the_way = self.obstacles()
        seen["obstacle"] = in_the_way[0].value if in_the_way else "no_obstacle"
        for operation in Operation:
            seen[f"record[{operation.value}]"] = RECORDS[self.run.ledger.outcome(operation)]
        for player in self.players.values():
            seen |= self._remembered(player)
        return seen

    def _remembered(self, player: Player) -> dict[str, Plain]:
        name, number = self.name(player), player.instance
        if player.process == "owner":
            return {f"{name}.holding": player.program.acquired is not None}
        operator: Operator = player.program
        seen: dict[str, Plain] = {}
        if not self.launched:
            seen[f"another_lock[{number}]"] = self._locks > self._seen_locks.get(number, 0)
            seen[f"another_execution[{number}]"] = self.executions() > self._seen_executions.get(number, 0)
        if operator.operation is not None:
            seen[f"{name}.operation"] = operator.operation.value
        if operator.answer is not None or player.label not in {"unlink", "complete", "leave"}:
            seen[f"{name}.answer"] = ANSWERS[operator.answer]
        return seen

    def offers(self) -> Sequence[Action]:
        """Return what may be tried now; a fault is offered where the step comes to it."""
        offered = [action for player in self.players.values() for action in self.offers_of(player)]
        if self.has_transcript():
            offered.append(Action("step", "others", 0, "lose_transcript", faults=("transcript_lost",)))
        if self.owner_state() == "nobody":
            offered += [Action("step", "others", 0, "reuse_pid", (what,), ("pid_reused",)) for what in NEWCOMERS]
        if self.obstacles():
            offered.append(Action("step", "others", 0, "withdraw"))
        elif self.setting.parameters["neighbours"]:
            offered += [Action("step", "others", 0, "interfere", (obstacle.value,)) for obstacle in Obstacle]
        return offered

    def offers_of(self, player: Player) -> Iterator[Action]:
        """Yield what a process may do, or what may happen to it, where it stands."""
        process, number, label = player.process, player.instance, player.label
        if label != "start":  # there a crash changes nothing, and is no event of the model
            yield Action("crash", process, number, label, faults=(f"crash_{process}",))
        if label == "write_intent" and process == "operator":
            yield Action("crash", process, number, label, faults=("crash_operator",), torn=True)
        if label == "start" and process == "operator":
            for operation in OFFERED[str(self.setting.parameters["operations"])]:
                yield Action("step", process, number, label, (operation.value,))
            return
        yield Action("step", process, number, label)
        if label == "create":
            yield Action("step", process, number, label, faults=("unreadable_record",))
        if label in {"write_intent", "complete"}:
            yield Action("step", process, number, label, faults=("audit_fails",))
        if label == "recheck_lock" and self.run.lock.observe() == player.program.previewed.lock:
            yield Action("step", process, number, label, faults=("probe_inconclusive",))

    def errands(self) -> Sequence[Errand]:
        """Return the runs that are worth killing."""
        owner = Launch("owner", 0)
        last = Launch("owner", int(str(self.setting.parameters["owners"])) - 1)
        if not self.setting.parameters["operators"]:
            return [Errand("two executions", (owner, last))]
        operator = Launch("operator", 0)
        begun, ended = acts_of_an_owner()
        errands = [
            Errand("an execution, a recovery, another execution", (owner, operator, last)),
            Errand("a recovery beside a living owner", (*begun, operator, *ended, last)),
        ]
        if self.setting.parameters["operations"] != "only_unlock":
            lost = Action("step", "others", 0, "lose_transcript", faults=("transcript_lost",))
            errands.append(Errand("a recovery without a transcript", (lost, operator, owner)))
        return errands


def players_of(
    run: Run, fate: Fate, setting: Setting, operation: Callable[[], Operation]
) -> dict[tuple[str, int], Player]:
    """Return the owners and operators of a setting; `operation` says what an operator wants when it starts.

    Raises:
        UnknownSetting: the implementation has no such parameter, variant or defect.
    """
    parameters = setting.parameters
    unknown = [name for name, value in FIXED.items() if parameters[name] != value]
    if unknown or setting.variant not in {"", "transcript-gone"} or parameters["probe_compares"] == "program_too":
        raise UnknownSetting(f"the implementation has no {', '.join(unknown) or setting.variant or 'program_too'}")
    if setting.defect and setting.defect not in DEFECTS:
        raise UnknownSetting(f"the implementation has no defect {setting.defect}")
    cast = DEFECTS.get(setting.defect, Cast())
    holds = ReclaimHolds(parameters["reclaim_holds"])
    compares_start = parameters["probe_compares"] == "start_time_too"
    here, there = hosts(parameters["place"], parameters["record_names"], fate, compares_start=compares_start)

    def turn(operator: Operator) -> Iterator[str]:
        yield "start"
        order = operator.turn(Order(operation(), "operator", "the owner does not answer"))
        next(order)
        yield from order

    owners, operators = int(str(parameters["owners"])), int(str(parameters["operators"]))
    players: dict[tuple[str, int], Player] = {}
    for number in range(owners):
        players["owner", number] = Player(
            "owner", number, number + 1, lambda party: cast.owner(run, party, fate.encode), _turn, lambda: here
        )
    for number in range(operators):
        players["operator", number] = Player(
            "operator", number, owners + number + 1, lambda party: cast.operator(run, party, holds), turn, lambda: there
        )
    return players


def run_alone(argument: dict[str, Any], come_by: ComeBy) -> str:
    """Be one process for one turn: an owner, or an operator who removes a lock, or else reclaims the run."""
    fate = Fate()
    run = Run(Path(argument["root"]), RUN, draft=fate.draft)
    setting = Setting(argument["parameters"], argument["variant"], argument["defect"])
    offered = OFFERED[str(setting.parameters["operations"])]

    def operation() -> Operation:
        wanted = Operation.RECLAIM if run.lock.observe() is None else Operation.UNLOCK
        return wanted if wanted in offered else offered[0]

    player = players_of(run, fate, setting, operation)[argument["process"], argument["instance"]]
    assert player.party.pid == os.getpid(), "no stand-in here: the process is its own"
    return come_by_all(player.process, player.begin(player.program), come_by)


def _turn(owner: Any) -> Iterator[str]:
    turn: Iterator[str] = owner.turn()
    return turn

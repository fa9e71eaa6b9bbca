"""Holds the operator's controls of the reference implementation against `spec/operator_control.yaml`.

Requests are files, receipts are rows, and a version is a storage generation with a revision; the model keeps of a
version only whether it is still that of the record, and of an answered key nothing. So a key of the model stands for a
fresh key of the implementation each time that a request file is gone. What the model calls a step of the environment's
worker is what a worker here does from one of its kill points to another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from checker.conformance.adapter import (
    Action,
    Ended,
    Errand,
    Launch,
    Observation,
    Plain,
    Refused,
    Setting,
    UnknownSetting,
)
from checker.conformance.deployments import OPERATOR, WORK, number_of, state_of
from checker.conformance.forking import ComeBy
from checker.conformance.requests import RESULTS, Requests
from model.reference.operator_control.arbitration import Identity
from model.reference.operator_control.channel import Plan, Sight
from model.reference.operator_control.controls import Operation, Receipt, Request, Result
from model.reference.operator_control.defects import DEFECTS
from model.reference.operator_control.deployment import Deployment, Parts
from model.reference.operator_control.records import Cause, Delivery, Epochs, Intent, Limits, Phase, Profile
from model.reference.operator_control.worker import Worker

SOMEBODY = "somebody"
"""Whose receipts fill the ledger up."""

ROOM = 64 * 1024
"""Characters of receipts that the ledger takes: far more than a run can fill."""

SMALLEST_RECEIPT = 300
"""Characters that every receipt has."""

PARAMETERS: Mapping[str, tuple[Plain, ...] | None] = {
    "profile": None,
    "max_attempts": None,
    "stops_in_doubt": None,
    "verifier": None,
    "diligent": None,
    "keys": None,
    "handlers": None,
    "on_silence": None,
    "authority_returns": None,
    "floor_waits": None,
    "on_restore": ("as_written",),
}
"""The model's parameters, and which values of them the implementation knows where that is not all of them."""

VARIANTS = ("", "backups", "watched-holds", "watched-backoff")

_WORKER = ("worker", 0)


class Adapter(Requests):
    """The reference implementation under the model of operator control."""

    observes: Sequence[str] = (
        *("state", "due", "attempts", "delivery", "unchanged", "receipt", "receipts_full"),
        *("current_epoch", "admission_floor", "replay_floor", "calling", "known", "authorized", "registered_alike"),
        *("asked", "epoch", "edited", "closed", "deliveries", "controlled"),
        *("control at", "control.key", "control.evidence", "control.verdict"),
        *("backup", "old_state", "old_due", "old_attempts", "old_delivery", "old_receipt"),
    )
    defects: Sequence[str] = (
        *("receipt-outside-the-transaction", "version-before-receipt", "version-read-again"),
        *("authority-not-asked-again", "retry-resets-attempts", "retry-releases-hold", "budgets-forgotten"),
        *("unknown-not-held", "confirmation-dropped", "silence-is-failure"),
    )
    child = f"{__name__}:run_control"

    def __init__(self) -> None:
        super().__init__()
        self._worker: Worker | None = None
        self._backup = "not_taken"
        self._backed_up: dict[str, Plain] = {}
        self._backed_up_due = 0
        self._backed_up_keys: Mapping[int, str] = {}
        self._backed_up_receipts: Mapping[Identity, Receipt] = {}

    # -- the interface ---------------------------------------------------------------------------------------------

    def reset(self, setting: Setting) -> None:
        """Make a new directory with one piece of work in it, and an operator who has authority."""
        if setting.variant not in VARIANTS or (setting.defect and setting.defect not in self.defects):
            raise UnknownSetting(f"there is no variant {setting.variant} with defect {setting.defect} here")
        for name, value in setting.parameters.items():
            known = PARAMETERS.get(name, ())
            if known is not None and value not in known:
                raise UnknownSetting(f"{name} is not {value} here")
        self._deploy(setting, _deployed)
        self._used, self._first_receipts, self._backup, self._backed_up = 0, 0, "not_taken", {}
        self._backed_up_keys = {}
        profile = Profile(str(setting.parameters["profile"]))
        self._here.host.change(
            operators=(OPERATOR, SOMEBODY), registered=profile, verifier=setting.parameters["verifier"] != "absent"
        )
        self._here.storage.enqueue(Intent(WORK, Cause("root"), profile=profile))

    def perform(self, action: Action) -> None:
        """Let one thing happen."""
        if action.kind == "crash":
            self._generators.crash((action.process, action.instance))
            self._controls.pop(action.instance, None)
        elif action.process == "control":
            self._control(action)
        else:
            self._events()[action.id](action)

    def observe(self) -> Observation:
        """Return what the storage, the provider, the host and the operator's files say."""
        snapshot = self._here.storage.snapshot()
        record, policies = snapshot.books.records[WORK], self._here.host.policies
        receipts = sum(receipt.principal == OPERATOR for receipt in snapshot.receipts.values())
        seen: dict[str, Plain] = {
            **state_of(record),
            "receipts_full": self._here.storage.room() < SMALLEST_RECEIPT,
            "current_epoch": snapshot.epochs.current,
            "admission_floor": snapshot.epochs.admission_floor,
            "replay_floor": snapshot.epochs.replay_floor,
            "calling": self._generators.at(_WORKER, "") == "send",
            "known": self._here.provider.knows(WORK),
            "authorized": OPERATOR in policies.operators,
            "registered_alike": policies.registered is record.intent.profile,
            "deliveries": self._here.provider.deliveries(WORK),
        }
        if self._backup != "restored":
            seen["controlled"] = receipts > self._first_receipts
        if record.phase is Phase.PENDING:
            seen["due"] = record.due <= self._here.clock.now()
        for key in range(1, self._keys + 1):
            seen |= self._seen_of_key(key, snapshot)
        for instance in range(self._handlers):
            seen |= self._seen_of_control(instance)
        if self._setting.variant == "backups":
            seen |= self._seen_of_backup()
        return seen

    def offers(self) -> Sequence[Action]:
        """Return what may be tried, within what the model assumes of the environment."""
        return [*self._offers_of_controls(), *self._offers_of_operator(), *self._offers_of_others()]

    # -- the Runtime's handling of requests ------------------------------------------------------------------------

    def _control(self, action: Action) -> None:
        process = action.process, action.instance
        if action.step == "take":
            key = number_of(action.choices[0])
            if self._request(key) is None:
                raise Refused("there is no such request")
            control = self._here.control()
            if self._generators.begin(process, lambda: control.run(self._names[key])):
                self._controls[action.instance] = key, control
            return
        if self._generators.at(process, "take") != action.step:
            raise Refused(f"the handler stands at {self._generators.at(process, 'take')}")
        if action.step == "verify":
            self._here.provider.plan_look_up(_sight(action))
        self._generators.advance(process, action.step)
        if self._generators.at(process, "take") == "take":
            key, control = self._controls.pop(action.instance)
            self._remember(key, control.request)

    def _seen_of_control(self, instance: int) -> dict[str, Plain]:
        name = "control" if self._handlers == 1 else f"control[{instance}]"
        label = self._generators.at(("control", instance), "take")
        seen: dict[str, Plain] = {f"{name} at": label}
        if instance not in self._controls:
            return seen
        key, control = self._controls[instance]
        seen[f"{name}.key"] = key
        if label == "commit" and control.evidence is not None:
            seen[f"{name}.evidence"] = str(control.evidence.finding)
        if label == "answer" and control.answer is not None:
            code = "Replayed" if control.answer.replayed else str(control.answer.code)
            seen[f"{name}.verdict"] = "Proceed" if code in set(Result) else code
        return seen

    def _offers_of_controls(self) -> list[Action]:
        offers = []
        for instance in range(self._handlers):
            label = self._generators.at(("control", instance), "take")
            ways: list[tuple[tuple[Plain, ...], tuple[str, ...]]] = [((), ())]
            if label == "take":
                ways = [((key,), ()) for key in range(1, self._keys + 1) if self._request(key) is not None]
            elif label == "verify":
                ways = self._ways_to_verify()
            offers += [Action("step", "control", instance, label, *way) for way in ways]
            if label != "take":
                offers.append(Action("crash", "control", instance, label, (), ("crash",)))
        return offers

    def _ways_to_verify(self) -> list[tuple[tuple[Plain, ...], tuple[str, ...]]]:
        known = self._here.provider.knows(WORK)
        truthful = self._setting.parameters["verifier"] == "truthful"
        found: list[tuple[str, tuple[str, ...]]] = [("Accepted" if known else "NotAccepted", ())]
        if not known:
            found.append(("Accepted", ("wrong_accept",)))
        if not truthful:
            return [((), faults) for _, faults in found]
        return [((choice,), faults) for answer, faults in found for choice in (answer, "Unresolved")]

    # -- everybody else --------------------------------------------------------------------------------------------

    def _events(self) -> Mapping[str, Callable[[Action], None]]:
        return {
            "operator.ask": self._ask,
            "operator.edit": self._edit,
            "worker.fall_due": lambda _: self._fall_due(),
            "worker.claim": lambda _: self._claim(),
            "worker.give_up": lambda _: self._give_up(),
            "worker.start": lambda _: self._start(),
            "worker.finish": self._finish,
            "host.revoke": lambda _: self._authorize(granted=False),
            "host.authorize": lambda _: self._authorize(granted=True),
            "host.register": lambda _: self._register(),
            "host.fill": lambda _: self._fill(),
            "host.raise_epochs": lambda _: self._raise_epochs(),
            "host.back_up": lambda _: self._back_up(),
            "host.restore": lambda _: self._restore(),
        }

    def _offers_of_others(self) -> list[Action]:
        offers = [Action("step", "worker", 0, step) for step in ("fall_due", "claim", "start")]
        offers.append(Action("step", "worker", 0, "give_up", (), ("service_denied",)))
        for said in ("Accepted", "Retryable", "Permanent"):
            offers += [Action("step", "worker", 0, "finish", (said,), faults) for faults in ((), ("no_reply",))]
        offers.append(Action("step", "host", 0, "revoke", (), ("revocation",)))
        if self._setting.parameters["authority_returns"]:
            offers.append(Action("step", "host", 0, "authorize"))
        offers.append(Action("step", "host", 0, "register", (), ("reregistration",)))
        offers.append(Action("step", "host", 0, "fill", (), ("fills_up",)))
        if self._floor_may_rise():
            offers.append(Action("step", "host", 0, "raise_epochs", (), ("retention",)))
        if self._setting.variant == "backups":
            offers += [Action("step", "host", 0, step) for step in ("back_up", "restore")]
        return offers

    def _floor_may_rise(self) -> bool:
        waits = self._setting.parameters["floor_waits"]
        snapshot = self._here.storage.snapshot()
        if waits == "for_nothing" or snapshot.epochs.admission_floor == 0:
            return True
        record = snapshot.books.records[WORK]
        settled = record.phase is Phase.DONE or (
            record.phase is Phase.STOPPED and not self._here.storage.rules.uncertain(record)
        )
        asked = any(self._request(key) is not None for key in range(1, self._keys + 1))
        return settled and not (waits == "for_work_and_answers" and asked)

    def _fall_due(self) -> None:
        record = self._record
        if record.phase is not Phase.PENDING or record.due <= self._here.clock.now():
            raise Refused("there is nothing to wait for")
        self._here.clock.set(record.due)

    def _claim(self) -> None:
        before = self._record
        worker = self._here.worker()
        if self._generators.begin(_WORKER, worker.run) and worker.claim is not None:
            self._worker = worker
            if worker.claim.resolution_only is not None:
                self._generators.advance(_WORKER, "match")
        elif self._record == before:
            raise Refused("there is nothing to claim")

    def _give_up(self) -> None:
        """Let the service lose its authority, as the worker notices, and get it back."""
        label = self._generators.at(_WORKER, "")
        if self._worker is None or label not in ("match", "send"):
            raise Refused("nobody works")
        if label == "send" and not self._setting.parameters["stops_in_doubt"]:
            raise Refused("the worker is not asked for its authority any more")
        self._here.host.change(services=())
        if label == "match":
            self._generators.advance(_WORKER, "match")
        elif self._worker.claim is not None:
            self._worker.match(self._worker.claim)
            self._generators.crash(_WORKER)
        self._here.host.change(services=("service",))

    def _start(self) -> None:
        if self._generators.at(_WORKER, "") != "match":
            raise Refused("nobody has claimed the work")
        if self._generators.advance(_WORKER, "match"):
            self._generators.advance(_WORKER, "start")

    def _finish(self, action: Action) -> None:
        if self._generators.at(_WORKER, "") != "send":
            raise Refused("nobody calls")
        heard = Delivery.UNKNOWN if "no_reply" in action.faults else None
        self._here.provider.plan_call(Plan(Delivery(str(action.choices[0])), heard))
        self._generators.advance(_WORKER, "send")
        self._generators.advance(_WORKER, "finish")

    def _authorize(self, *, granted: bool) -> None:
        operators = (OPERATOR, SOMEBODY) if granted else (SOMEBODY,)
        if operators == self._here.host.policies.operators:
            raise Refused("nothing would change")
        self._here.host.change(operators=operators)

    def _fill(self) -> None:
        storage = self._here.storage
        snapshot = storage.snapshot()
        request = Request(WORK, self._version(snapshot), "other", 0, Operation.RECONCILE)
        other = Receipt(SOMEBODY, request, Result.COMPLETED, 0, "notice", Phase.PENDING, None, "")
        room = storage.room() - len(other.text)
        if room < 0:
            raise Refused("the ledger is full")
        with storage.transaction():
            storage.store_receipt(replace(other, evidence="." * room))

    def _raise_epochs(self) -> None:
        epochs = self._here.storage.snapshot().epochs
        if epochs.replay_floor:
            raise Refused("there is nothing to raise")
        if epochs.current == 0:
            raised = Epochs(1, 0, 0)
        else:
            raised = Epochs(1, 1, 0) if epochs.admission_floor == 0 else Epochs(1, 1, 1)
        self._here.storage.raise_epochs(raised)

    def _back_up(self) -> None:
        if self._backup != "not_taken":
            raise Refused("there is a backup")
        snapshot = self._here.storage.snapshot()
        self._here.storage.backup(self._backup_path)
        self._backup = "on_file"
        self._backed_up = {f"old_{name}": value for name, value in state_of(snapshot.books.records[WORK]).items()}
        self._backed_up_due = snapshot.books.records[WORK].due
        self._backed_up_keys = {key: name for key, name in self._names.items() if self._request(key) is not None}
        self._backed_up_receipts = snapshot.receipts

    def _seen_of_backup(self) -> dict[str, Plain]:
        """Tell what the backup has; of a request that is over no receipt, for its number is that of a fresh key now."""
        seen: dict[str, Plain] = {"backup": self._backup, **self._backed_up}
        if self._backed_up.get("old_state") == "Pending":
            seen["old_due"] = self._backed_up_due <= self._here.clock.now()
        for key in range(1, self._keys + 1):
            request = self._request(key)
            same = request is not None and self._backed_up_keys.get(key) == self._names[key]
            receipt = None
            if same and request is not None:
                receipt = self._backed_up_receipts.get((OPERATOR, request.retry_epoch, request.key))
            seen[f"old_receipt[{key}]"] = "NoReceipt" if receipt is None else RESULTS[receipt.result]
        return seen

    def _restore(self) -> None:
        if self._backup != "on_file" or any(
            self._generators.at(("control", i), "take") != "take" for i in range(self._handlers)
        ):
            raise Refused("there is no backup, or the Runtime is not down")
        self._here.storage.restore(self._backup_path)
        self._generators.crash(_WORKER)
        self._worker = None
        self._backup = "restored"

    # -- processes of their own ------------------------------------------------------------------------------------

    def errands(self) -> Sequence[Errand]:
        """Return a Retry of work that waits, and a Reconcile of work that is held, each to its end."""
        launch = Launch("control", 0)

        def act(step: str, *choices: Plain, faults: tuple[str, ...] = ()) -> Action:
            process, _, name = step.partition(".")
            return Action("step", process, 0, name, choices, faults)

        attempt = (act("worker.claim"), act("worker.start"))
        silence = act("worker.finish", "Accepted", faults=("no_reply",))
        failure = act("worker.finish", "Retryable", faults=("no_reply",))
        return [
            Errand("retry", (act("operator.ask", 1, "Retry"), launch, *attempt, act("worker.finish", "Accepted"))),
            Errand("accepted", (*attempt, silence, act("operator.ask", 1, "Reconcile"), launch)),
            Errand("not-accepted", (*attempt, failure, act("operator.ask", 1, "Reconcile"), launch, *attempt)),
            Errand("conflict", (act("operator.ask", 1, "Reconcile"), *attempt, launch)),
        ]

    def launch(self, launch: Launch, kill_at: int | None) -> Ended:
        """Run a handler as a process of its own until no request waits."""
        self._generators.crash((launch.process, launch.instance))
        self._controls.pop(launch.instance, None)
        requests = {key: self._request(key) for key in range(1, self._keys + 1)}
        ended = self._launches.run(self._argument(), kill_at)
        for key, request in requests.items():
            self._remember(key, request)
        return ended

    # -- parts -----------------------------------------------------------------------------------------------------

    def _argument(self) -> dict[str, Any]:
        limits = Limits(
            max_attempts=number_of(self._setting.parameters["max_attempts"]), max_receipt_bytes=ROOM, lease=10**6
        )
        return {
            "directory": self._path,
            "limits": asdict(replace(limits, max_age=10**9)),
            "defect": self._setting.defect,
        }

    def _throw_away(self) -> None:
        self._controls.clear()
        self._names.clear()
        self._closed.clear()
        self._worker = None
        super()._throw_away()


def run_control(argument: dict[str, Any], come_by: ComeBy) -> str:
    """Handle requests in a process of its own, each until its answer is final or there is nothing more to be had."""
    deployment = _deployed(argument)
    tried: set[str] = set()
    while True:
        come_by("control.take")
        waiting = [key for key in deployment.desk.waiting() if key not in tried]
        if not waiting:
            return "waiting"
        tried.add(waiting[0])
        for label in deployment.control().run(waiting[0]):
            come_by(f"control.{label}")


def _deployed(argument: Mapping[str, Any]) -> Deployment:
    parts = DEFECTS[argument["defect"]] if argument["defect"] else Parts()
    return Deployment(Path(argument["directory"]), Limits(**argument["limits"]), parts=parts)


def _sight(action: Action) -> Sight:
    if "Unresolved" in action.choices:
        return Sight.NOTHING
    return Sight.HIT if "wrong_accept" in action.faults else Sight.TRUE

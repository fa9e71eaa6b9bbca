"""Holds the workers, leases and the provider of the reference implementation against `spec/delivery_profiles.yaml`.

The model has no numbers for times: a lease is over, work is due, a chain is too old, each by itself. Here one clock
tells all of that. Leases and delays are moved to by setting the clock; a chain is aged by dating it back, since nothing
but its age is ever read of the date. Operators act on the storage, as in the model, where a control is one step.
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
from checker.conformance.deployments import OPERATOR, WORK, DeployedAdapter, number_of, state_of
from checker.conformance.forking import ComeBy
from model.reference.operator_control.channel import Manner, Plan, Sight
from model.reference.operator_control.controls import Evidence, Operation, Receipt, Request, Result, Version
from model.reference.operator_control.defects import DEFECTS
from model.reference.operator_control.deployment import Deployment, Parts
from model.reference.operator_control.records import (
    Cause,
    Delivery,
    Intent,
    Limits,
    Phase,
    Profile,
    Refusal,
    WorkRecord,
    intent_text,
)
from model.reference.operator_control.variants import LooksAgain, UnlessReclaimed
from model.reference.operator_control.worker import Worker

START = 10_000_000
"""When the work is enqueued: late enough that the clock may go back."""

MAX_AGE, LEASE, DELAY = 1_000_000, 1000, 10

VARIANTS: Mapping[str, Parts] = {
    "": Parts(),
    "looks-again-before-the-call": Parts(worker=LooksAgain),
    "finishes-unless-reclaimed": Parts(rules=UnlessReclaimed),
    "watched-tries": Parts(),
    "remembers-for-max-age": Parts(),
}
"""What the variants of the model are here; those that only watch or constrain the environment are the same."""

PARAMETERS = {"profile", "workers", "max_attempts", "max_work", "timely", "provider_does", "and_a_lease"}

SAID = {"NotStarted": None, **{str(delivery): delivery for delivery in Delivery}}
"""The model's words for what is known of a delivery; the same ones, and one for nothing."""


class Adapter(DeployedAdapter):
    """The reference implementation under the model of delivery profiles."""

    observes: Sequence[str] = (
        *("state", "reason", "attempts", "delivery", "claimant", "time_is_up", "too_old", "known", "in_flight"),
        *("fence", "registered_alike", "deliveries", "released", "retried", "was_too_old"),
        *("worker at", "worker.number", "worker.outcome"),
    )
    defects: Sequence[str] = (
        *("lease-ignored", "generation-not-compared", "unknown-not-held", "confirmation-dropped"),
        *("sends-before-it-is-stored", "silence-is-failure", "attempt-counted-late", "registration-reinterprets"),
        "budgets-forgotten",
    )
    child = f"{__name__}:run_worker"

    def __init__(self) -> None:
        super().__init__()
        self._workers: dict[int, Worker] = {}
        self._claims: dict[int, int] = {}
        self._keys = 0
        self._was_too_old = False

    # -- the interface ---------------------------------------------------------------------------------------------

    def reset(self, setting: Setting) -> None:
        """Make a new directory with one piece of work in it."""
        if setting.variant not in VARIANTS or not set(setting.parameters) <= PARAMETERS:
            raise UnknownSetting(f"there is no variant {setting.variant} with {', '.join(setting.parameters)} here")
        if setting.defect and setting.defect not in self.defects:
            raise UnknownSetting(f"there is no defect {setting.defect}")
        self._deploy(setting, _deployed)
        self._keys = 0
        self._was_too_old = False
        profile = Profile(str(setting.parameters["profile"]))
        self._here.clock.set(START)
        self._here.host.change(operators=(OPERATOR,), registered=profile)
        self._here.storage.enqueue(Intent(WORK, Cause("root", started_at=START), profile=profile))
        # Work is due when it may begin, and a control before that does not make it due. A Retry makes it due now
        # instead, so that the clock can go back without going that far.
        self._control(Operation.RETRY, None)

    def perform(self, action: Action) -> None:
        """Let one thing happen."""
        if action.kind == "crash":
            self._generators.crash((action.process, action.instance))
            self._workers.pop(action.instance, None)
        elif action.process == "worker":
            self._work(action)
        else:
            self._events()[action.id](action)

    def observe(self) -> Observation:
        """Return what the storage, the provider, the clock and the workers say."""
        record, now, receipts = self._record, self._here.clock.now(), self._receipts()
        self._was_too_old |= self._here.storage.rules.too_old(record, now)
        seen: dict[str, Plain] = {
            **state_of(record),
            "reason": str(_reason(record) or "NoReason"),
            "claimant": None if record.lease is None else self._claims.get(record.lease.generation),
            "too_old": self._here.storage.rules.too_old(record, now),
            "known": self._here.provider.knows(WORK),
            "fence": min(self._here.provider.fence(WORK), self._max_attempts + 1),
            "registered_alike": self._here.host.policies.registered is record.intent.profile,
            "deliveries": self._here.provider.deliveries(WORK),
            "released": any(r.result is not Result.COMPLETED and r.evidence for r in receipts),
            "retried": any(_restarts(receipt) for receipt in receipts),
            "was_too_old": self._was_too_old,
        }
        if (up := _time_is_up(record, now)) is not None:
            seen["time_is_up"] = up
        flying = self._here.provider.flying(WORK)
        seen |= {f"in_flight[{attempt}]": attempt in flying for attempt in range(1, self._max_attempts + 1)}
        for instance in range(self._count):
            seen |= self._seen_of(instance)
        return seen

    def offers(self) -> Sequence[Action]:
        """Return what may be tried, within what the model assumes of the environment."""
        return [*self._offers_of_workers(), *self._offers_of_others()]

    # -- workers ---------------------------------------------------------------------------------------------------

    def _work(self, action: Action) -> None:
        process = action.process, action.instance
        if action.step == "claim":
            before = self._record
            self._workers[action.instance] = worker = self._here.worker()
            begun = self._generators.begin(process, worker.run)
            if begun and worker.claim is not None:
                self._claims[worker.claim.generation] = action.instance
            elif self._record == before:
                raise Refused("there is nothing to claim")
            return
        if self._generators.at(process, "claim") != action.step:
            raise Refused(f"the worker stands at {self._generators.at(process, 'claim')}")
        if "service_denied" in action.faults:
            self._here.host.change(services=())
        if action.step == "send":
            self._here.provider.plan_call(_plan(action))
        self._generators.advance(process, action.step)
        if "service_denied" in action.faults:
            self._here.host.change(services=("service",))

    def _seen_of(self, instance: int) -> dict[str, Plain]:
        name = "worker" if self._count == 1 else f"worker[{instance}]"
        label = self._generators.at(("worker", instance), "claim")
        seen: dict[str, Plain] = {f"{name} at": label}
        worker = self._workers.get(instance)
        if worker is not None and worker.claim is not None and label in ("match", "start", "send"):
            seen[f"{name}.number"] = worker.claim.attempt
        if worker is not None and worker.outcome is not None and label == "finish":
            seen[f"{name}.outcome"] = str(worker.outcome)
        return seen

    def _offers_of_workers(self) -> list[Action]:
        offers = []
        for instance in range(self._count):
            label = self._generators.at(("worker", instance), "claim")
            ways: list[tuple[tuple[Plain, ...], tuple[str, ...]]] = [((), ())]
            if label == "send":
                ways = self._ways_to_send(instance)
            elif label == "match" and self._may_be_denied(instance):
                ways.append(((), ("service_denied",)))
            offers += [Action("step", "worker", instance, label, *way) for way in ways]
            if label != "claim":
                offers.append(Action("crash", "worker", instance, label, (), ("crash",)))
        return offers

    def _may_be_denied(self, instance: int) -> bool:
        """Tell whether the service's authority is asked for in this worker's next step."""
        worker = self._workers[instance]
        return (
            worker.claim is not None
            and self._here.storage.holds(worker.claim, self._here.clock.now())
            and worker.registered() is worker.claim.intent.profile
        )

    def _ways_to_send(self, instance: int) -> list[tuple[tuple[Plain, ...], tuple[str, ...]]]:
        claim = self._workers[instance].claim
        provider = self._here.provider
        settled = claim is not None and (
            claim.attempt <= provider.fence(WORK) or (provider.manner is Manner.FOLD and provider.knows(WORK))
        )
        answers: list[tuple[Plain, ...]] = [()] if settled else [("Accepted",), ("Retryable",), ("Permanent",)]
        ways: list[tuple[tuple[Plain, ...], tuple[str, ...]]] = [((), ("late_call",))]
        for answer in answers:
            for misreport in ((), ("misreport",)) if answer == ("Accepted",) else ((),):
                ways.append((answer, misreport))
                heard = ("Unknown", "TimedOut", "Panicked")
                ways += [((*answer, silence), (*misreport, "no_reply")) for silence in heard]
        return ways

    # -- everybody else --------------------------------------------------------------------------------------------

    def _events(self) -> Mapping[str, Callable[[Action], None]]:
        return {
            "operator.retry": lambda _: self._control(Operation.RETRY, None),
            "operator.reconcile": self._reconcile,
            "time.fall_due": lambda _: self._wait(Phase.PENDING),
            "time.expire": lambda _: self._wait(Phase.LEASED),
            "time.grow_old": lambda _: self._grow_old(),
            "time.go_back": lambda _: self._go_back(),
            "provider.arrive": self._arrive,
            "provider.forget": lambda _: self._forget(),
            "host.register": lambda _: self._register(),
        }

    def _offers_of_others(self) -> list[Action]:
        record = self._record
        at_work = record.lease is not None and any(
            self._claims.get(record.lease.generation) == instance
            and self._generators.at(("worker", instance), "claim") != "claim"
            for instance in range(self._count)
        )
        offers = [
            Action("step", "operator", 0, "reconcile"),
            Action("step", "time", 0, "fall_due"),
            Action("step", "time", 0, "grow_old", (), ("aging",)),
            Action("step", "time", 0, "go_back", (), ("clock_back",)),
            Action("step", "host", 0, "register", (), ("reregistration",)),
            *(Action("step", "provider", 0, "arrive", (attempt,)) for attempt in self._here.provider.flying(WORK)),
        ]
        if self._here.provider.knows(WORK):
            offers.append(Action("step", "operator", 0, "reconcile", (), ("stale_lookup",)))
            offers.append(Action("step", "provider", 0, "forget", (), ("forgets",)))
        if record.phase is Phase.STOPPED:  # a Retry of what is pending only makes it due, which time does as well
            offers.append(Action("step", "operator", 0, "retry"))
        if not (self._setting.parameters["timely"] and at_work):
            offers.append(Action("step", "time", 0, "expire"))
        return offers

    def _reconcile(self, action: Action) -> None:
        if self._record.phase in (Phase.LEASED, Phase.DONE):
            raise Refused("the work is out of an operator's reach, and nobody is asked")
        if "stale_lookup" in action.faults:
            self._here.provider.plan_look_up(Sight.MISS)
        self._control(Operation.RECONCILE, self._here.verifier(WORK, self._record.attempts, None))

    def _control(self, operation: Operation, evidence: Evidence | None) -> None:
        self._keys += 1
        storage, record = self._here.storage, self._record
        version = Version(storage.snapshot().generation, record.revision)
        request = Request(record.intent.handle, version, f"key-{self._keys}", 0, operation)
        try:
            storage.control_work(OPERATOR, request, evidence, self._here.clock.now())
        except Refusal as refusal:
            raise Refused(str(refusal)) from refusal

    def _wait(self, phase: Phase) -> None:
        record, now = self._record, self._here.clock.now()
        if record.phase is not phase or _time_is_up(record, now):
            raise Refused("there is nothing to wait for")
        self._here.clock.set(record.due if record.lease is None else record.lease.until)

    def _grow_old(self) -> None:
        now = self._here.clock.now()
        if self._here.storage.rules.too_old(self._record, now):
            raise Refused("the chain is too old")
        self._date(now - MAX_AGE)

    def _go_back(self) -> None:
        record, now = self._record, self._here.clock.now()
        old = self._here.storage.rules.too_old(record, now)
        if not old and not _time_is_up(record, now):
            raise Refused("whether the clock goes back makes no difference")
        if _time_is_up(record, now):
            now = (record.due if record.lease is None else record.lease.until) - 1
        self._here.clock.set(now)
        if old:
            self._date(now)

    def _date(self, started_at: int) -> None:
        """Make the chain as old as it should be: nobody has read more of its date than whether it is too old."""
        intent = self._record.intent
        dated = replace(intent, cause=replace(intent.cause, started_at=started_at))
        self._here.storage.connection.execute("UPDATE work SET intent = ?", (intent_text(dated),))

    def _arrive(self, action: Action) -> None:
        (attempt,) = action.choices
        assert isinstance(attempt, int)
        if attempt not in self._here.provider.flying(WORK):
            raise Refused("no such call is on its way")
        self._here.provider.arrive(WORK, attempt)

    def _forget(self) -> None:
        record = self._record
        young = not self._here.storage.rules.too_old(record, self._here.clock.now())
        leased = bool(self._setting.parameters.get("and_a_lease")) and record.phase is Phase.LEASED
        early = self._setting.variant == "remembers-for-max-age" and (young or leased)
        if early or not self._here.provider.knows(WORK):
            raise Refused("the provider knows nothing that it may forget")
        self._here.provider.forget(WORK)

    # -- processes of their own ------------------------------------------------------------------------------------

    def errands(self) -> Sequence[Errand]:
        """Return a delivery to its end, and one that meets with silence, a hold and an operator on its way."""
        launch = Launch("worker", 0)
        due = Action("step", "time", 0, "fall_due")
        expire = Action("step", "time", 0, "expire")
        reconcile = Action("step", "operator", 0, "reconcile")
        return [
            Errand("delivery", (launch, expire, launch, reconcile, launch)),
            Errand("release", (launch, expire, launch, reconcile, due, launch, expire, launch, reconcile)),
        ]

    def launch(self, launch: Launch, kill_at: int | None) -> Ended:
        """Run a worker as a process of its own until it finds nothing to do."""
        self._generators.crash((launch.process, launch.instance))
        self._workers.pop(launch.instance, None)
        ended = self._launches.run(self._argument(), kill_at)
        lease = self._record.lease
        if lease is not None:
            self._claims.setdefault(lease.generation, launch.instance)
        return ended

    # -- what there is ---------------------------------------------------------------------------------------------

    @property
    def _count(self) -> int:
        return number_of(self._setting.parameters["workers"])

    @property
    def _max_attempts(self) -> int:
        return self._here.limits.max_attempts

    def _receipts(self) -> Sequence[Receipt]:
        return list(self._here.storage.snapshot().receipts.values())

    def _argument(self) -> dict[str, Any]:
        parameters = self._setting.parameters
        limits = Limits(
            max_attempts=number_of(parameters["max_attempts"]),
            max_work=number_of(parameters["max_work"]),
            max_age=MAX_AGE,
            retry_seconds=DELAY,
            lease=LEASE,
        )
        return {
            "directory": self._path,
            "limits": asdict(limits),
            "manner": parameters["provider_does"],
            "variant": self._setting.variant,
            "defect": self._setting.defect,
        }

    def _throw_away(self) -> None:
        self._workers.clear()
        self._claims.clear()
        super()._throw_away()


def run_worker(argument: dict[str, Any], come_by: ComeBy) -> str:
    """Run a worker in a process of its own until there is nothing to claim."""
    deployment = _deployed(argument)
    while True:
        come_by("worker.claim")
        before = deployment.storage.snapshot().books
        for label in deployment.worker().run():
            come_by(f"worker.{label}")
        if deployment.storage.snapshot().books == before:
            return "waiting"


def _deployed(argument: Mapping[str, Any]) -> Deployment:
    parts = DEFECTS[argument["defect"]] if argument["defect"] else VARIANTS[argument["variant"]]
    return Deployment(Path(argument["directory"]), Limits(**argument["limits"]), Manner(argument["manner"]), parts)


def _plan(action: Action) -> Plan:
    """Return how the provider is to take a call: what it answers, where it is free to, and what is heard of that."""
    if "late_call" in action.faults:
        return Plan(late=True)
    silent = "no_reply" in action.faults
    answers = action.choices[:-1] if silent else action.choices
    heard = SAID[str(action.choices[-1])] if silent else Delivery.RETRYABLE if "misreport" in action.faults else None
    return Plan(Delivery(str(answers[0])) if answers else Delivery.ACCEPTED, heard)


def _restarts(receipt: Receipt) -> bool:
    """Tell whether a control has set work going that had stopped."""
    is_retry = receipt.request.operation is Operation.RETRY and receipt.result is Result.SCHEDULED
    return is_retry and receipt.prior_phase is Phase.STOPPED


def _reason(record: WorkRecord) -> str | None:
    return record.stopped if record.lease is None else record.lease.resolution_only


def _time_is_up(record: WorkRecord, now: int) -> bool | None:
    """Say whether pending work is due or a lease is over; None where there is nothing to wait for."""
    if record.phase is Phase.PENDING:
        return record.due <= now
    return None if record.lease is None else record.lease.until <= now

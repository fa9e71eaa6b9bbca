"""The reference implementation of the killed workflow, as an adapter: a git ledger, an HTTP provider, coordinators.

What the model calls the ledger is what recovery reconstructs from the git repository, read anew for each observation;
what it calls jobs, calls in flight and submissions is what the provider says of itself. A coordinator in this process
is a generator that is dropped where the model has it crash; as a process of its own it is killed.

A job of the model stands for the latest job that the provider has under a key: what holds lets there be one at most.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from checker.conformance import coordinators
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
from checker.conformance.coordinators import (
    Build,
    Scripted,
    errands,
    errands_of_three_attempts,
    errands_of_two,
    errands_with_timeouts,
    gated_errands,
    in_doubt,
)
from checker.conformance.forking import quick_directory
from checker.conformance.launching import Launches
from checker.conformance.standins import Stepped
from model.reference.killed_workflow.coordinator import Coordinator
from model.reference.killed_workflow.defects import DEFECTS
from model.reference.killed_workflow.drafts import Writer, dispatch_key, proposal
from model.reference.killed_workflow.judgements import Fixed
from model.reference.killed_workflow.ledger import GitLedger, Head, History
from model.reference.killed_workflow.people import cancel_run, decide_run
from model.reference.killed_workflow.provider import Provider
from model.reference.killed_workflow.provider_client import Accepted, Rejected
from model.reference.killed_workflow.reconstruct import RecoveredRunState, RecoveryError, reconstruct_run_state

_GATED = "revocable-gate"
_PARAMETERS = {
    "": {"attempts", "coordinators", "look_up_by_key", "on_miss", "deduplicates", "timeout_fails_attempt"},
}
_PARAMETERS[_GATED] = {*_PARAMETERS[""], "gate_is_asked"}
"""The parameters that the implementation has, by the variants of the model that it can be."""
_EAGER = 8
"""How much more often coordinators act in random walks than people and jobs do."""


@dataclass(slots=True)
class _Standing:
    """A coordinator in this process, with what stands still while it does."""

    coordinator: Coordinator
    judgements: Fixed
    stepped: Stepped


class Adapter:
    """The whole system: a directory with the ledger, a provider that lives on, and coordinators."""

    observes = (
        *("run", "attempt", "submission", "failure", "decision", "job", "in_flight", "submissions", "gate_open"),
        *("coordinator at", "coordinator number", "coordinator reply", "coordinator seen", "coordinator fresh ledger"),
    )
    defects = tuple(name for name in DEFECTS if name)

    def __init__(self) -> None:
        self._home = quick_directory()
        self._directory = Path(self._home.name)
        self._provider = Provider(self._directory)
        self._provider.start()
        self._launches = Launches(f"{coordinators.__name__}:run_coordinator")
        self._standing: list[_Standing] = []

    def reset(self, setting: Setting) -> None:
        """Begin a run anew, with a proposal and nothing else on record."""
        if setting.variant not in _PARAMETERS or setting.defect not in DEFECTS:
            raise UnknownSetting(f"variant {setting.variant or '-'}, defect {setting.defect or '-'}")
        parameters: dict[str, Any] = dict(setting.parameters)
        if unknown := parameters.keys() - _PARAMETERS[setting.variant]:
            raise UnknownSetting(f"parameters {', '.join(sorted(unknown))}")
        self._gated = setting.variant == _GATED
        self._attempts: int = parameters["attempts"]
        self._coordinators: int = parameters["coordinators"]
        self._deduplicates: bool = parameters["deduplicates"]
        self._build = Build(
            str(self._directory),
            self._provider.port,
            self._attempts,
            parameters["on_miss"],
            parameters["timeout_fails_attempt"],
            parameters["look_up_by_key"],
            parameters.get("gate_is_asked", ""),
            setting.defect,
        )
        self._close_ledgers()
        self._set_gate(open_=True)
        shutil.rmtree(self._directory / "ledger.git", ignore_errors=True)
        self._ledger = GitLedger.create(self._directory / "ledger.git")
        self._first = proposal("run-1", Writer())
        self._ledger.append(self._first, None)
        self._control(
            "reset",
            deduplicates=self._deduplicates,
            look_up="exact" if self._build.look_up_by_key else "absent",
            asks_gate=self._build.gate_is_asked == "by_the_provider",
        )
        self._standing = [self._new_coordinator(number) for number in range(self._coordinators)]

    def close(self) -> None:
        """End the provider and the parent of the coordinators, and remove the directory."""
        self._launches.close()
        self._close_ledgers()
        self._provider.close()
        self._home.cleanup()

    # -- what happens ----------------------------------------------------------------------------------------------

    def perform(self, action: Action) -> None:
        """Let one thing happen."""
        if action.process == "coordinator":
            if self._standing[action.instance].coordinator.at != action.step:
                raise Refused(f"it stands at {self._standing[action.instance].coordinator.at}")
            if action.kind == "crash":
                self._standing[action.instance] = self._new_coordinator(action.instance)
            else:
                self._take_step(self._standing[action.instance], action)
            return
        acts: dict[str, Callable[..., bool]] = {
            "provider.finish": self._finish,
            "provider.arrive": self._arrive,
            "people.decide": lambda: decide_run(self._ledger),
            "people.cancel": lambda: cancel_run(self._ledger),
            "people.turn_gate": self._turn_gate,
        }
        if not acts[action.id](*action.choices):
            raise Refused

    def _take_step(self, standing: _Standing, action: Action) -> None:
        """Arrange for what the environment decides on the way, then let the coordinator go on."""
        choices: set[Plain] = {*action.choices}
        standing.judgements.admission = "admission_blocked" not in choices
        standing.judgements.retryable = "permanent" not in choices
        standing.judgements.verification = "verification_error" not in choices
        if standing.coordinator.at in {"submit", "call", "look_up"}:
            number = standing.coordinator.memory.number
            self._set_turn(
                number,
                answer="reject" if "refused" in choices else "accept",
                lose_reply="lost_reply" in action.faults,
                delay="late_call" in action.faults,
                stale="stale_lookup" in action.faults,
            )
        standing.stepped.step()

    def _finish(self, number: int, outcome: str) -> bool:
        jobs = self._jobs(number)
        return bool(jobs) and self._control("finish", external_id=jobs[-1]["number"], outcome=outcome)

    def _arrive(self, number: int) -> bool:
        calls = [call for call in self._provider.state()["calls"] if call["dispatch_key"] == self._key(number)]
        return bool(calls) and self._control("arrive", call=calls[0]["number"], answer="accept")

    def _turn_gate(self) -> bool:
        self._set_gate(open_=not self._gate_open)
        return True

    # -- what can be seen ------------------------------------------------------------------------------------------

    def observe(self) -> Observation:
        """Return what the ledger, the provider and each coordinator tell."""
        history = self._ledger.read()
        seen: dict[str, Plain] = {**self._observed_ledger(history), **self._observed_provider()}
        if self._gated:
            seen["gate_open"] = self._gate_open
        for number, standing in enumerate(self._standing):
            seen.update(self._observed_coordinator(self._name(number), standing.coordinator, history.head))
        return seen

    def _observed_ledger(self, history: History) -> dict[str, Plain]:
        try:
            state = reconstruct_run_state(history.records)
        except RecoveryError as refusal:
            return {"run": f"{refusal.code}: {refusal.reason}"}
        seen: dict[str, Plain] = {
            "run": state.state,
            "attempt": 0 if state.current is None else state.current.number,
            "decision": state.human_decision.state,
        }
        return seen | dict(self._observed_attempts(state))

    def _observed_attempts(self, state: RecoveredRunState) -> Iterator[tuple[str, Plain]]:
        known = {attempt.number: attempt for attempt in state.attempts}
        for number in range(1, self._attempts + 1):
            attempt = known.get(number)
            failure = None if attempt is None else attempt.failure
            submission = None if attempt is None else attempt.submission
            yield f"submission[{number}]", submission or "unrecorded"
            told = "no_failure" if failure is None else "retryable" if failure.retryable else "permanent"
            yield f"failure[{number}]", told

    def _observed_provider(self) -> dict[str, Plain]:
        state = self._provider.state()
        seen: dict[str, Plain] = {}
        for number in range(1, self._attempts + 1):
            key = self._key(number)
            jobs = [job["outcome"] for job in state["jobs"] if job["dispatch_key"] == key]
            seen[f"job[{number}]"] = jobs[-1] if jobs else "turned_down" if key in state["rejected"] else "unknown"
            seen[f"submissions[{number}]"] = len(jobs)
            seen[f"in_flight[{number}]"] = sum(call["dispatch_key"] == key for call in state["calls"])
        return seen

    def _observed_coordinator(self, name: str, coordinator: Coordinator, now: Head | None) -> dict[str, Plain]:
        memory = coordinator.memory
        reply = {Accepted: "accepted", Rejected: "refused", str: "lost"}.get(type(memory.reply), "no_reply")
        head = memory.history.head
        return {
            f"{name} at": coordinator.at,
            f"{name}.number": memory.number,
            f"{name}.reply": reply,
            f"{name}.seen": memory.outcome or "unknown",
            f"{name} fresh ledger": head is not None and head == now,
        }

    # -- what may be tried -----------------------------------------------------------------------------------------

    def offers(self) -> Sequence[Action]:
        """Return what everybody might do now, in each way that it may turn out.

        What coordinators do stands there several times: a run that is likely to be cancelled at once shows little.
        """
        return [
            *self._offers_of_others(),
            *(action for action in self._offers_of_coordinators() for _ in range(_EAGER)),
        ]

    def _offers_of_coordinators(self) -> Iterator[Action]:
        now = self._ledger.read().head
        for number, standing in enumerate(self._standing):
            at = standing.coordinator.at
            if at != "rest":
                yield Action("crash", "coordinator", number, at, faults=("crash",))
            fresh = standing.coordinator.memory.history.head == now
            for choices, faults in self._ways(standing.coordinator, fresh=fresh):
                yield Action("step", "coordinator", number, at, choices, faults)

    def _ways(self, coordinator: Coordinator, *, fresh: bool) -> Iterator[tuple[tuple[Plain, ...], tuple[str, ...]]]:
        """Yield how the step of a coordinator can turn out, where the environment has a say in it."""
        at, memory = coordinator.at, coordinator.memory
        if at == ("call" if self._gated else "submit"):
            yield from self._ways_of_a_call(memory.number)
            return
        ways: list[tuple[Plain, ...]] = [()]
        judged: list[tuple[Plain, ...]] = [("retryable",), ("permanent",)]
        if at == "look_up" and self._build.look_up_by_key and self._jobs(memory.number):
            yield (), ("stale_lookup",)
        elif at == "advance" and fresh and memory.plan is not None:
            by_plan: dict[str, list[tuple[Plain, ...]]] = {
                "admit": [("admitted",), ("admission_blocked",)],
                "record_failure": judged,
                "observe_verification": [("evidence_ready",), ("verification_error",)],
            }
            ways = by_plan.get(memory.plan.action, ways)
        elif fresh and self._judges_a_failure(coordinator):
            ways = judged
        yield from ((way, ()) for way in ways)

    def _judges_a_failure(self, coordinator: Coordinator) -> bool:
        """Tell whether what a coordinator is about to append is a failure."""
        at, memory = coordinator.at, coordinator.memory
        if at == "record_outcome":
            return memory.outcome == "failed"
        return at == "record_reply" and memory.reply == "lost" and self._build.timeout_fails_attempt

    def _ways_of_a_call(self, number: int) -> Iterator[tuple[tuple[Plain, ...], tuple[str, ...]]]:
        seen = self._observed_provider()
        answered = self._deduplicates and seen[f"job[{number}]"] != "unknown"
        turned_away = self._build.gate_is_asked == "by_the_provider" and not self._gate_open
        if not self._gated and seen[f"in_flight[{number}]"] != 2:
            yield (), ("late_call",)
        for way in [()] if answered or turned_away else [("accepted",), ("refused",)]:
            yield way, ()
            yield way, ("lost_reply",)

    def _offers_of_others(self) -> Iterator[Action]:
        for number in range(1, self._attempts + 1):
            for outcome in ("succeeded", "failed"):
                yield Action("step", "provider", 0, "finish", (number, outcome))
            yield Action("step", "provider", 0, "arrive", (number,))
        for step in ("decide", "cancel", *(["turn_gate"] if self._gated else [])):
            yield Action("step", "people", 0, step)

    # -- processes of their own ------------------------------------------------------------------------------------

    def errands(self) -> Sequence[Errand]:
        """Return whole runs: how attempts can go, and how a run can end; all of them in the documents' own setting."""
        if self._gated:
            return gated_errands()
        if self._coordinators > 1:
            return errands_of_two()
        if self._attempts > 2:
            return errands_of_three_attempts()
        if self._build.timeout_fails_attempt:
            return errands_with_timeouts()
        if self._deduplicates or self._build.on_miss == "stop" or not self._build.look_up_by_key:
            return [in_doubt()]
        return errands()

    def launch(self, launch: Launch, kill_at: int | None) -> Ended:
        """Let a coordinator run as a process of its own, from what is in the repository."""
        script = launch if isinstance(launch, Scripted) else Scripted(launch.process, launch.instance)
        for number in range(1, self._attempts + 1):
            words = script.answers[number - 1].split() if number <= len(script.answers) else ["accept"]
            self._set_turn(number, answer=words[0], lose_reply="lost" in words)
        build = {name: getattr(self._build, name) for name in Build.__slots__}
        for name in ("admission", "retryable", "verification"):
            build[name] = getattr(script, name)
        build["login"] = f"coordinator-{launch.instance}"
        return self._launches.run(build, kill_at)

    # -- parts -----------------------------------------------------------------------------------------------------

    def _new_coordinator(self, number: int) -> _Standing:
        if number < len(self._standing):
            self._standing[number].coordinator.close()
        judgements = self._build.judgements()
        coordinator = self._build.coordinator(judgements)
        return _Standing(coordinator, judgements, Stepped(coordinator.run))

    def _close_ledgers(self) -> None:
        for standing in self._standing:
            standing.coordinator.close()
        self._standing = []
        if hasattr(self, "_ledger"):
            self._ledger.close()

    def _jobs(self, number: int) -> list[dict[str, Any]]:
        """Return the jobs that the provider has for an attempt."""
        return [job for job in self._provider.state()["jobs"] if job["dispatch_key"] == self._key(number)]

    def _control(self, command: str, **body: Any) -> bool:
        """Decide something in the provider's place; false where it cannot be."""
        return self._provider.control(command, body).status == 200

    def _set_turn(self, number: int, **turn: Any) -> None:
        self._control("turn", dispatch_key=self._key(number), **turn)

    def _set_gate(self, *, open_: bool) -> None:
        """Close or open the gate for dispatches, of which the authority's directory and the provider both know."""
        self._gate_open = open_
        closed = self._directory / "dispatch"
        if open_:
            closed.unlink(missing_ok=True)
        else:
            closed.touch()
        self._control("gate", open=open_)

    def _key(self, number: int) -> str:
        return dispatch_key(self._first.work_unit, number)

    def _name(self, number: int) -> str:
        return "coordinator" if self._coordinators == 1 else f"coordinator[{number}]"

"""The reference implementation's ledger, as an adapter for the model of its reader.

The model's variables are what the reader makes of the records in the git repository, read anew for each observation.
Its writers append to that repository, which checks the form of a record and the chain, and nothing else: what the
reader refuses stays there. Readers other than the documents', and other ways to insist on a record, are not built.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, cast

from checker.conformance import writers
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
from checker.conformance.forking import quick_directory
from checker.conformance.launching import Launches
from checker.conformance.standins import Stepped
from checker.conformance.writers import DECISION_RECORDS, HISTORIES, Telling, Told
from model.reference.killed_workflow.drafts import Writer
from model.reference.killed_workflow.ledger import Head, History
from model.reference.killed_workflow.reading_defects import READING_DEFECTS
from model.reference.killed_workflow.reconstruct import AttemptState, RecoveredRunState, RecoveryError
from model.reference.killed_workflow.records import (
    NEXT_STATES,
    HumanDecision,
    Record,
    SubmissionState,
    record_digest,
)
from model.reference.killed_workflow.writer import Draft, LedgerWriter, Restraint, UnreliableLedger

_VARIANTS = {"", "taken-for-granted", "planned-once", "evidence-kept"}
"""Variants of the model that ask for more properties and change nothing else."""
_ONLY: dict[str, Plain] = {
    "end_may_repeat": False,
    "late_reports": False,
    "submissions": "any_order",
    "on_lost_ack": "read_again",
}
"""The parameters that stand for another reader or writer, with the only value that is implemented."""
_SUBMISSIONS: tuple[SubmissionState | None, ...] = (
    None,
    "not_submitted",
    "submitted",
    "ambiguous",
    "definite_failure",
)
_DECISIONS = ("not_recorded", "pending", "recorded")


@dataclass(slots=True)
class _Standing:
    """A writer in this process."""

    writer: LedgerWriter
    ledger: UnreliableLedger
    stepped: Stepped


class Adapter:
    """A directory with the ledger, and writers."""

    observes = (
        *("verdict", "run", "latest", "number", "connector", "submission", "failure", "decision", "decided_by"),
        *("broken", "misread", "doubted", "late_report_refused", "writer at", "writer fresh ledger"),
        *("writer state", "writer attempt_id", "writer attempt_number", "writer connector_id"),
        *("writer submission_state", "writer failure_told", "writer human_decision", "writer decision_record"),
    )
    defects = tuple(name for name in READING_DEFECTS if name)

    def __init__(self) -> None:
        self._home = quick_directory()
        self._path = Path(self._home.name, "ledger.git")
        self._launches = Launches(f"{writers.__name__}:run_writer")
        self._standing: list[_Standing] = []

    def reset(self, setting: Setting) -> None:
        """Begin with a ledger in which nothing is recorded."""
        if setting.variant not in _VARIANTS or setting.defect not in READING_DEFECTS:
            raise UnknownSetting(f"variant {setting.variant or '-'}, defect {setting.defect or '-'}")
        for name, value in _ONLY.items():
            if setting.parameters[name] != value:
                raise UnknownSetting(f"{name} = {setting.parameters[name]}")
        self._parameters = cast("dict[str, Any]", dict(setting.parameters))
        self._planned = self._parameters["write"] == "what_is_planned"
        self._defect = setting.defect
        self._parts = READING_DEFECTS[setting.defect]
        self._reader = self._parts.reader()
        self._close_writers()
        shutil.rmtree(self._path, ignore_errors=True)
        self._ledger = self._parts.ledger.create(self._path)
        self._misread = False
        self._standing = [self._new_writer() for _ in range(self._parameters["writers"])]

    def close(self) -> None:
        """End the parent of the writers and remove the directory."""
        self._launches.close()
        self._close_writers()
        self._home.cleanup()

    # -- what happens ----------------------------------------------------------------------------------------------

    def perform(self, action: Action) -> None:
        """Let one thing happen."""
        standing = self._standing[action.instance]
        if standing.writer.at != action.step:
            raise Refused(f"it stands at {standing.writer.at}")
        if action.kind == "crash":
            standing.ledger.close()
            self._standing[action.instance] = self._new_writer()
            return
        if action.step == "compose":
            standing.writer.draft = self._draft(Told.of(action.choices, planned=self._planned))
        standing.ledger.losing = "lost_ack" in action.faults
        before, in_hand = self._ledger.read(), standing.writer.in_hand
        standing.stepped.step()
        if in_hand is not None:
            self._compare_with_what_was_told(before, in_hand)

    def _draft(self, told: Told) -> Draft:
        """Return what makes the record; where nothing is known of a run, nothing but a state can be told of it."""

        def draft(history: History, state: RecoveredRunState | None) -> Record | None:
            known = state is not None or told.subject == "the_run"
            return told.record(history, state, Writer("writer")) if known else None

        return draft

    def _compare_with_what_was_told(self, before: History, record: Record) -> None:
        """Remember if the reader has accepted a record and does not say what it says."""
        after = self._ledger.read()
        if after.head == before.head:
            return
        state = self._read(after.records)
        if isinstance(state, RecoveredRunState):
            self._misread = self._misread or not _tells(state, record)

    # -- what can be seen ------------------------------------------------------------------------------------------

    def observe(self) -> Observation:
        """Return what the reader says, what the records say, and what each writer holds."""
        history = self._ledger.read()
        seen: dict[str, Plain] = {**self._observed_run(history), **self._observed_ghosts(history)}
        for number, standing in enumerate(self._standing):
            seen.update(_observed_writer(self._name(number), standing.writer, history.head))
        return seen

    def _read(self, records: Sequence[Record]) -> RecoveredRunState | RecoveryError | None:
        if not records:
            return None
        try:
            return self._reader.reconstruct(records)
        except RecoveryError as refusal:
            return refusal

    def _observed_run(self, history: History) -> dict[str, Plain]:
        state = self._read(history.records)
        seen: dict[str, Plain] = {"verdict": "accepted", "run": None, "decision": "not_recorded", "decided_by": None}
        attempts: tuple[AttemptState, ...] = ()
        if isinstance(state, RecoveryError):
            seen["verdict"] = state.reason
        elif state is not None:
            seen["run"] = state.state
            seen["decision"] = state.human_decision.state
            seen["decided_by"] = DECISION_RECORDS[state.human_decision.record]
            attempts = state.attempts
        seen["latest"] = max((attempt.number for attempt in attempts), default=0)
        known = {attempt.attempt_id: attempt for attempt in attempts}
        for number in self._ids():
            seen.update(_observed_attempt(number, known.get(f"attempt-{number}")))
        return seen

    def _observed_ghosts(self, history: History) -> dict[str, Plain]:
        """Return what the records say on their own.

        That a record was against the rules is what the reader says of it; the model knows it from rules of its own.
        """
        verdict = self._read(history.records)
        refused = verdict if isinstance(verdict, RecoveryError) else None
        seen: dict[str, Plain] = {"broken": refused is not None, "misread": self._misread}
        told: dict[str, str | None] = {}
        for record in history.records:
            if record.attempt is not None and record.provider is not None:
                told[record.attempt.attempt_id] = record.provider.submission_state
        for number in self._ids():
            seen[f"doubted[{number}]"] = refused is None and told.get(f"attempt-{number}") == "ambiguous"
        seen["late_report_refused"] = refused is not None and self._was_late(history.records, refused)
        return seen

    def _was_late(self, records: Sequence[Record], refused: RecoveryError) -> bool:
        """Tell whether what was refused was a report on a known attempt, under its own number."""
        record = records[refused.sequence - 1]
        before = self._read(records[: refused.sequence - 1])
        if refused.reason != "attempt_number_regressed" or not isinstance(before, RecoveredRunState):
            return False
        assert record.attempt is not None
        return any(
            (one.attempt_id, one.number) == (record.attempt.attempt_id, record.attempt.attempt_number)
            for one in before.attempts
        )

    # -- what may be tried -----------------------------------------------------------------------------------------

    def offers(self) -> Sequence[Action]:
        """Return every record that somebody might write now, and every other way to go on."""
        offered: list[Action] = []
        for number, standing in enumerate(self._standing):
            at = standing.writer.at
            if at != "compose":
                offered.append(Action("crash", "writer", number, at, faults=("crash",)))
            if at == "compose":
                offered += [Action("step", "writer", number, at, choices) for choices in self._tellable()]
            else:
                offered.append(Action("step", "writer", number, at))
            if at == "append" and self._appends(standing.writer):
                offered.append(Action("step", "writer", number, at, faults=("lost_ack",)))
        return offered

    def _appends(self, writer: LedgerWriter) -> bool:
        """Tell whether what a writer is about to append will land."""
        history = self._ledger.read()
        assert writer.in_hand is not None
        refused = isinstance(self._read((*history.records, writer.in_hand)), RecoveryError)
        return writer.head == history.head and not (refused and self._parameters["write"] != "anything")

    def _tellable(self) -> Iterator[tuple[Plain, ...]]:
        yield from (("the_run", state) for state in NEXT_STATES)
        state = self._read(self._ledger.read().records)
        if not isinstance(state, RecoveredRunState):
            return
        # A dispatch may be told with its attempt; a run that is dispatched can choose that state in two ways.
        states: list[tuple[Plain, ...]] = [(state.state,), ("dispatched",)] if self._planned else [()]
        ranges = [range(1, self._parameters[name] + 1) for name in ("attempts", "numbers", "connectors")]
        for before, attempt, submitted in product(dict.fromkeys(states), product(*ranges), _SUBMISSIONS):
            told: tuple[Plain, ...] = ("an_attempt", *before, *attempt, submitted)
            if submitted is None and self._parameters["failures"]:
                yield from ((*told, failure) for failure in (None, "retryable", "permanent"))
            else:
                yield told
        if self._parameters["decisions"]:
            yield from (("the_decision", *one) for one in product(_DECISIONS, (None, 1, 2)))

    # -- processes of their own ------------------------------------------------------------------------------------

    def errands(self) -> Sequence[Errand]:
        """Return histories that a writer tells, of which it misses one acknowledgement or none."""
        if not self._planned:
            return []
        return [
            Errand(f"{name}-{lost}" if lost else name, (Telling("writer", 0, self._told(told), lost),))
            for name, told in HISTORIES.items()
            for lost in (0, 1, 4, len(told))
        ]

    def _told(self, history: Sequence[tuple[Plain, ...]]) -> tuple[tuple[Plain, ...], ...]:
        """Put in that nothing is told of a failure where the model asks."""
        asks = self._parameters["failures"]
        return tuple((*one, None) if asks and one[0] == "an_attempt" and one[5] is None else one for one in history)

    def launch(self, launch: Launch, kill_at: int | None) -> Ended:
        """Let a writer run as a process of its own, from what is in the repository."""
        assert isinstance(launch, Telling)
        argument = {
            "ledger": str(self._path),
            "defect": self._defect,
            "login": f"writer-{launch.instance}",
            "told": launch.told,
            "unacknowledged": launch.unacknowledged,
        }
        return self._launches.run(argument, kill_at)

    # -- parts -----------------------------------------------------------------------------------------------------

    def _new_writer(self) -> _Standing:
        ledger = self._parts.ledger(self._path)
        restraint: Restraint = self._parameters["write"]
        writer = self._parts.writer(ledger, lambda _history, _state: None, restraint, self._reader)
        return _Standing(writer, ledger, Stepped(writer.run))

    def _close_writers(self) -> None:
        for standing in self._standing:
            standing.ledger.close()
        self._standing = []
        if hasattr(self, "_ledger"):
            self._ledger.close()

    def _ids(self) -> range:
        return range(1, self._parameters["attempts"] + 1)

    def _name(self, number: int) -> str:
        return "writer" if self._parameters["writers"] == 1 else f"writer[{number}]"


def _observed_attempt(number: int, attempt: AttemptState | None) -> dict[str, Plain]:
    if attempt is None:
        return {f"{name}[{number}]": None for name in ("number", "connector", "submission", "failure")}
    failure = attempt.failure
    return {
        f"number[{number}]": attempt.number,
        f"connector[{number}]": int(attempt.connector_id.removeprefix("connector-")),
        f"submission[{number}]": attempt.submission,
        f"failure[{number}]": None if failure is None else "retryable" if failure.retryable else "permanent",
    }


def _observed_writer(name: str, writer: LedgerWriter, now: Head | None) -> dict[str, Plain]:
    record = writer.in_hand
    attempt = None if record is None else record.attempt
    provider = None if record is None else record.provider
    failure = None if record is None else record.failure
    decision = HumanDecision() if record is None else record.human_decision
    return {
        f"{name} at": writer.at,
        f"{name}.state": "proposed" if record is None else record.event.state,
        f"{name}.attempt_id": None if attempt is None else int(attempt.attempt_id.removeprefix("attempt-")),
        f"{name}.attempt_number": None if attempt is None else attempt.attempt_number,
        f"{name}.connector_id": None if attempt is None else int(attempt.connector_id.removeprefix("connector-")),
        f"{name}.submission_state": None if provider is None else provider.submission_state,
        f"{name}.failure_told": None if failure is None else "retryable" if failure.retryable else "permanent",
        f"{name}.human_decision": decision.state,
        f"{name}.decision_record": DECISION_RECORDS[decision.record],
        f"{name} fresh ledger": record is not None and _is_fresh(writer, record, now),
    }


def _is_fresh(writer: LedgerWriter, record: Record, now: Head | None) -> bool:
    """Tell whether nobody else has appended since the writer has read; what it has appended itself does not count."""
    landed = writer.at == "unsure" and now is not None and now.digest == record_digest(record)
    return writer.head == now or landed


def _tells(state: RecoveredRunState, record: Record) -> bool:
    """Tell whether the run is what its last record says."""
    if (state.state, state.human_decision) != (record.event.state, record.human_decision):
        return False
    if record.attempt is None:
        return True
    same = next(one for one in state.attempts if one.attempt_id == record.attempt.attempt_id)
    return (
        (same.number, same.connector_id) == (record.attempt.attempt_number, record.attempt.connector_id)
        and (record.provider is None or record.provider.submission_state == same.submission)
        and (record.failure is None or record.failure == same.failure)
    )

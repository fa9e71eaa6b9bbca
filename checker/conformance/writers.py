"""Writers of a ledger as processes of their own, and the histories that they tell, in the words of the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from checker.conformance.adapter import Launch, Plain
from checker.conformance.forking import ComeBy
from model.reference.killed_workflow.canonical import digest
from model.reference.killed_workflow.drafts import Writer, following, proposal, submission
from model.reference.killed_workflow.ledger import History
from model.reference.killed_workflow.reading_defects import READING_DEFECTS
from model.reference.killed_workflow.reconstruct import RecoveredRunState
from model.reference.killed_workflow.records import (
    Attempt,
    EvidenceReference,
    Failure,
    HumanDecision,
    Record,
    RunState,
    SubmissionState,
)


@dataclass(frozen=True, slots=True)
class Told:
    """The one thing that a record tells: of the run, of an attempt or of the decision, in the model's words."""

    subject: Literal["the_run", "an_attempt", "the_decision"]
    state: RunState | None = None
    """Of the run; None for what it is."""
    attempt_id: int = 0
    number: int = 0
    connector: int = 0
    submission: SubmissionState | None = None
    failure: Literal["retryable", "permanent"] | None = None
    decision: HumanDecision = field(default_factory=HumanDecision)

    @classmethod
    def of(cls, choices: Sequence[Plain], *, planned: bool) -> Told:
        """Return what the choices of a step `compose` say, in the order in which that step makes them."""
        subject, *rest = list[Any](choices)
        if subject == "the_run":
            return cls(subject, state=rest[0])
        if subject == "the_decision":
            return cls(subject, decision=HumanDecision(rest[0], decision_record(rest[1])))
        state = rest.pop(0) if planned else None
        attempt_id, number, connector, submitted, *failure = rest
        return cls(subject, state, attempt_id, number, connector, submitted, failure[0] if failure else None)

    def record(self, history: History, state: RecoveredRunState | None, writer: Writer) -> Record:
        """Return the record that tells this and repeats the rest."""
        told = self.state or (state.state if state is not None else "proposed")
        if history.records:
            record = following(history, writer, "run.observed", told)
        else:
            record = replace(proposal("run-1", writer), event=writer.event(1, "run.observed", told))
        decision = HumanDecision() if state is None else state.human_decision
        record = replace(record, human_decision=self.decision if self.subject == "the_decision" else decision)
        if self.subject != "an_attempt":
            return record
        return replace(
            record,
            attempt=Attempt(f"attempt-{self.attempt_id}", self.number, "initial", f"connector-{self.connector}"),
            provider=None if self.submission is None else submission(self.submission),
            failure=None if self.failure is None else Failure("failed", "provider", self.failure == "retryable"),
        )


def decision_record(number: int | None) -> EvidenceReference | None:
    """Return the reference to a decision that the model numbers."""
    return None if number is None else EvidenceReference("human_decision_record", digest({"decision": number}))


DECISION_RECORDS = {decision_record(number): number for number in (None, 1, 2)}
"""The number of a decision by its reference."""


def run_writer(argument: Mapping[str, Any], come_by: ComeBy) -> str:
    """Be a writer as a process of its own: put on record what is to be told next, until all has been told."""
    told = [Told.of(choices, planned=True) for choices in argument["told"]]
    parts = READING_DEFECTS[argument["defect"]]
    ledger = parts.ledger(Path(argument["ledger"]))
    who = Writer(argument["login"])

    def draft(history: History, state: RecoveredRunState | None) -> Record | None:
        number = len(history.records)
        ledger.losing = number + 1 == argument["unacknowledged"]
        return told[number].record(history, state, who) if number < len(told) else None

    for label in parts.writer(ledger, draft, "what_is_planned", parts.reader()).run():
        come_by(f"writer.{label}")
    return "waiting"


@dataclass(frozen=True, slots=True)
class Telling(Launch):
    """A launch of a writer with what there is to tell, and of which record it hears no acknowledgement."""

    told: tuple[tuple[Plain, ...], ...] = ()
    unacknowledged: int = 0


_DISPATCHED: tuple[Plain, ...] = ("an_attempt", "dispatched", 1, 1, 1)
_ADMITTED = tuple(("the_run", state) for state in ("proposed", "previewed", "admitted"))
_AFTER = ("candidate_observed", "normalized", "verification_requested", "evidence_ready", "awaiting_human_decision")
HISTORIES: Mapping[str, tuple[tuple[Plain, ...], ...]] = {
    "observed": (
        *_ADMITTED,
        (*_DISPATCHED, "not_submitted"),
        (*_DISPATCHED, "submitted"),
        *(("the_run", state) for state in (*_AFTER, "decided")),
    ),
    "doubted": (
        *_ADMITTED,
        *((*_DISPATCHED, submitted) for submitted in ("not_submitted", "ambiguous", "definite_failure")),
        ("the_run", "attempt_failed"),
        ("the_run", "cancelled"),
    ),
}
"""Whole histories, record by record."""

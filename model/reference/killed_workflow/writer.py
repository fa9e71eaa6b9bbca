"""Anybody who appends to a run's ledger: reads it, holds one record in hand, and appends it to the head that was read.

The ledger authenticates no one, so a writer may put anything on record that has the form of a record. A careful one
holds back what the reader would refuse; one that follows the plan also begins no attempt but the next, and none while
another is in doubt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

from model.reference.killed_workflow.ledger import Conflict, GitLedger, Head, History
from model.reference.killed_workflow.reconstruct import Reader, RecoveredRunState, RecoveryError
from model.reference.killed_workflow.records import NEXT_STATES, Record

Label = Literal["compose", "append", "unsure"]
"""The kill points: where a writer stands before the step of that name."""

Draft = Callable[[History, RecoveredRunState | None], Record | None]
"""Makes the next record from the history and what the reader makes of it, if anything; None where there is none."""

Restraint = Literal["anything", "what_is_accepted", "what_is_planned"]


class AcknowledgementLost(Exception):
    """The append may have landed, and nobody said so."""


class UnreliableLedger(GitLedger):
    """A ledger that loses its acknowledgement when told so: the append has landed, and its writer hears nothing."""

    losing = False

    def append(self, record: Record, expected: Head | None) -> Head:
        """Append, and perhaps say nothing of it.

        Raises:
            AcknowledgementLost: the record is there.
        """
        head = super().append(record, expected)
        if self.losing:
            raise AcknowledgementLost
        return head


class LedgerWriter:
    """One writer process: where it stands, and the record that it holds."""

    def __init__(self, ledger: GitLedger, draft: Draft, restraint: Restraint, reader: Reader | None = None) -> None:
        self.at: Label = "compose"
        self.draft = draft
        self.head: Head | None = None
        self.in_hand: Record | None = None
        self._ledger = ledger
        self._restraint = restraint
        self._reader = Reader() if reader is None else reader

    def close(self) -> None:
        """Let go of the repository's files."""
        self._ledger.close()

    def run(self) -> Iterator[Label]:
        """Yield each kill point, then take the step after it; end where it has nothing to write now."""
        while True:
            yield self.at
            after = self._step()
            if after is None:
                return
            if after == "compose":
                self.head = self.in_hand = None
            self.at = after

    def _step(self) -> Label | None:
        if self.at == "compose":
            return self._compose()
        return self._append() if self.at == "append" else self.find_out()

    def _compose(self) -> Label | None:
        """Read the ledger and take a record in hand."""
        history = self._ledger.read()
        state = self.read(history)
        record = self.draft(history, state)
        if record is None:
            return None
        if self._restraint == "what_is_planned" and not (tells_news(state, record) and follows_the_plan(state, record)):
            return None
        self.head, self.in_hand = history.head, record
        return "append"

    def _append(self) -> Label:
        """Append the record to the head that was read, unless it has moved or the reader would refuse the record."""
        assert self.in_hand is not None
        try:
            if self._restraint != "anything":
                history = self._ledger.read()
                if self.moved(history):
                    return "compose"
                self._reader.reconstruct((*history.records, self.in_hand))
            self._ledger.append(self.in_hand, self.head)
        except (Conflict, RecoveryError):
            return "compose"
        except AcknowledgementLost:
            return "unsure"
        return "compose"

    def moved(self, history: History) -> bool:
        """Tell whether somebody has appended since the writer has read."""
        return history.head != self.head

    def find_out(self) -> Label:
        """Read anew: if the record is there, the next plan starts from it, and otherwise it is planned again."""
        return "compose"

    def read(self, history: History) -> RecoveredRunState | None:
        """Return what the reader makes of a history; None where there is none, or where it is refused."""
        try:
            return self._reader.reconstruct(history.records)
        except RecoveryError:
            return None


def tells_news(state: RecoveredRunState | None, record: Record) -> bool:
    """Tell whether a record says something of a run that goes on, and could go on so, that is not on record already."""
    if state is None:
        return record.event.state == "proposed"
    if state.terminal or record.event.state not in {state.state, *NEXT_STATES[state.state]}:
        return False
    try:
        after = Reader().extend(state, record)
    except RecoveryError:
        return True
    before = (state.state, state.attempts, state.human_decision)
    return before != (after.state, after.attempts, after.human_decision)


def follows_the_plan(state: RecoveredRunState | None, record: Record) -> bool:
    """Tell whether a record begins the next attempt where it dispatches, none otherwise, and none in doubt."""
    known = () if state is None else state.attempts
    attempt = record.attempt
    begins = attempt is not None and attempt.attempt_id not in {one.attempt_id for one in known}
    dispatches = record.event.state == "dispatched" and (state is None or state.state != "dispatched")
    if begins != dispatches:
        return False
    if attempt is None or not begins:
        return True
    assert state is not None
    next_number = 1 if state.current is None else state.current.number + 1
    submission = None if record.provider is None else record.provider.submission_state
    return not state.needs_reconciliation and attempt.attempt_number == next_number and submission == "not_submitted"

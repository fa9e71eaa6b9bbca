"""Deliberate mistakes of who reads and writes a ledger, each of which a cross-check has to find."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from model.reference.killed_workflow.defects import OverwritingLedger
from model.reference.killed_workflow.ledger import History
from model.reference.killed_workflow.reconstruct import AttemptState, Reader, RecoveredRunState
from model.reference.killed_workflow.records import Attempt, Failure, Provider, Record, record_digest
from model.reference.killed_workflow.writer import Label, LedgerWriter, UnreliableLedger


class ChainIsEnough(Reader):
    """Takes every chain of records for a history."""

    def refuse_a_wrong_beginning(self, record: Record) -> None:
        """Refuse nothing."""

    def refuse_an_illegal_transition(self, state: RecoveredRunState, record: Record) -> None:
        """Refuse nothing."""


class FollowsTheEnd(Reader):
    """Takes a repeat of the last state for a further observation, though the run is over."""

    def refuse_an_illegal_transition(self, state: RecoveredRunState, record: Record) -> None:
        """Refuse what changes the state of a run that is over, and nothing else that comes after it."""
        if state.state != record.event.state:
            super().refuse_an_illegal_transition(state, record)


class NumbersMayRegress(Reader):
    """Reads a late report on an earlier attempt."""

    def refuse_a_regressed_number(self, known: Mapping[str, AttemptState], attempt: Attempt, sequence: int) -> None:
        """Refuse nothing."""


class IdentityIsFree(Reader):
    """Takes an attempt under another number or at another connector for the same."""

    def refuse_a_changed_attempt(self, known: Mapping[str, AttemptState], attempt: Attempt, sequence: int) -> None:
        """Refuse nothing."""


class DecisionMayChange(Reader):
    """Lets a recorded decision be taken back or replaced."""

    def refuse_a_changed_decision(self, state: RecoveredRunState, record: Record) -> None:
        """Refuse nothing."""


class DecisionWithoutRecord(Reader):
    """Believes in a decision without a reference to it."""

    def refuse_an_inconsistent_decision(self, record: Record) -> None:
        """Refuse nothing."""


class SilenceTakesBack(Reader):
    """Takes a record that does not speak of the submission for one that says that there is none."""

    def observed(self, before: AttemptState, provider: Provider | None, failure: Failure | None) -> AttemptState:
        """Keep what the record says, and nothing else."""
        after = super().observed(before, provider, failure)
        return after if provider is not None else replace(after, submission=None)


class FailuresForgotten(Reader):
    """Keeps a failure of an attempt only until the next record of that attempt."""

    def observed(self, before: AttemptState, provider: Provider | None, failure: Failure | None) -> AttemptState:
        """Keep what the record says of a failure."""
        return replace(super().observed(before, provider, failure), failure=failure)


class DoubtStays(Reader):
    """Never takes an attempt out of doubt again."""

    def observed(self, before: AttemptState, provider: Provider | None, failure: Failure | None) -> AttemptState:
        """Keep a doubt."""
        after = super().observed(before, provider, failure)
        return replace(after, submission="ambiguous") if before.submission == "ambiguous" else after


class InsistsOnItsRecord(LedgerWriter):
    """Appends its record once more where the acknowledgement was lost, after whatever is there by then."""

    def find_out(self) -> Label:
        """Append the record again."""
        assert self.in_hand is not None
        history = self._ledger.read()
        assert history.head is not None
        again = replace(
            self.in_hand,
            ledger_sequence=history.head.sequence + 1,
            previous_record_digest=record_digest(history.records[-1]),
        )
        self._ledger.append(again, history.head)
        return "compose"


class SeesNobodyElse(LedgerWriter):
    """Takes whatever head there is for the one that it has read."""

    def moved(self, history: History) -> bool:
        """See nothing."""
        del history
        return False


class OverwritingUnreliableLedger(OverwritingLedger, UnreliableLedger):
    """Both: what is appended comes after whatever is there, and its acknowledgement may be lost."""


@dataclass(frozen=True, slots=True)
class ReadingParts:
    """The parts of which a ledger, a writer and a reader are made."""

    reader: type[Reader] = Reader
    writer: type[LedgerWriter] = LedgerWriter
    ledger: type[UnreliableLedger] = UnreliableLedger


READING_DEFECTS: Mapping[str, ReadingParts] = {
    "": ReadingParts(),
    "chain-is-enough": ReadingParts(reader=ChainIsEnough),
    "end-may-repeat": ReadingParts(reader=FollowsTheEnd),
    "numbers-may-regress": ReadingParts(reader=NumbersMayRegress),
    "identity-is-free": ReadingParts(reader=IdentityIsFree),
    "decision-may-change": ReadingParts(reader=DecisionMayChange),
    "decision-without-record": ReadingParts(reader=DecisionWithoutRecord),
    "silence-takes-back": ReadingParts(reader=SilenceTakesBack),
    "failure-forgotten": ReadingParts(reader=FailuresForgotten),
    "doubt-stays": ReadingParts(reader=DoubtStays),
    "append-without-compare-and-set": ReadingParts(writer=SeesNobodyElse, ledger=OverwritingUnreliableLedger),
    "append-again": ReadingParts(writer=InsistsOnItsRecord),
}
"""What is used in the place of the honest parts, by the name of the mistake; the empty name is no mistake."""

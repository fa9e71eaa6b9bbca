"""People around a run: who decides on it, and who cancels it. Each is one append, like any other."""

from __future__ import annotations

from model.reference.killed_workflow.drafts import Writer, following, with_decision
from model.reference.killed_workflow.ledger import Conflict, GitLedger, History
from model.reference.killed_workflow.reconstruct import reconstruct_run_state
from model.reference.killed_workflow.records import NEXT_STATES, Record, RunState

PERSON = Writer(login="person", actor_id=2, trigger="issue")


def decide_run(ledger: GitLedger, writer: Writer = PERSON) -> bool:
    """Put a person's decision on record; false where none is awaited, or somebody else was first."""
    history = ledger.read()
    if _state_of(history) != "awaiting_human_decision":
        return False
    return _appended(ledger, with_decision(following(history, writer, "decision.recorded", "decided")), history)


def cancel_run(ledger: GitLedger, writer: Writer = PERSON) -> bool:
    """Put on record that a run is cancelled; false where its state has no way there, or somebody else was first."""
    history = ledger.read()
    state = _state_of(history)
    if state is None or "cancelled" not in NEXT_STATES[state]:
        return False
    return _appended(ledger, following(history, writer, "run.cancelled", "cancelled"), history)


def _state_of(history: History) -> RunState | None:
    return reconstruct_run_state(history.records).state if history.records else None


def _appended(ledger: GitLedger, record: Record, history: History) -> bool:
    try:
        ledger.append(record, history.head)
    except Conflict:
        return False
    return True

"""A user who cancels a run: one append, like any other, compared with the head."""

from __future__ import annotations

from model.reference.killed_workflow.drafts import Writer, following
from model.reference.killed_workflow.ledger import Conflict, GitLedger
from model.reference.killed_workflow.reconstruct import reconstruct_run_state
from model.reference.killed_workflow.records import NEXT_STATES


def cancel_run(ledger: GitLedger, writer: Writer) -> bool:
    """Append that a run is cancelled; false where its state has no way there, or somebody else was first."""
    history = ledger.read()
    if not history.records or "cancelled" not in NEXT_STATES[reconstruct_run_state(history.records).state]:
        return False
    try:
        ledger.append(following(history, writer, "run.cancelled", "cancelled"), history.head)
    except Conflict:
        return False
    return True

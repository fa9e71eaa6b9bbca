"""When something is refused, and why: pure judgements over what was seen.

The order of the reasons decides only which one is told. Each function is the whole of its rule.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass

from model.reference.audited_recovery.evidence import Evidence, Liveness
from model.reference.audited_recovery.files import Observed
from model.reference.audited_recovery.locks import OwnerRecord, decode
from model.reference.audited_recovery.party import Answer, Host
from model.reference.audited_recovery.workspace import Part


class Refusal(enum.Enum):
    """Why something was not done. Whatever the reason, nothing has been touched by then."""

    NO_LOCK = "there is no resume lock"
    LOCKED = "there is a resume lock"
    MALFORMED = "the record of the lock is malformed"
    FOREIGN = "the owner is on another host"
    LIVE = "the owner's PID is in use"
    INCONCLUSIVE = "the probe proves nothing"
    LOCK_CHANGED = "the lock is not the one that was observed"
    EVIDENCE_CHANGED = "the evidence is not what was observed"
    ACTIVE = "there is evidence of activity"
    TERMINAL = "there is matching proof that the run has ended"
    LEASED = "somebody holds a lease of the run"
    UNOWNED_PATH = "the worktree is not this run's"
    UNOWNED_REF = "the ref is not this run's"
    UNOWNED_RESERVATION = "the reservation is not this run's"
    RETAINED = "another run keeps the worktree"
    NOT_WHOLE = "the workspace is no longer whole"
    UNAUDITED = "the audit record could not be written"
    UNCONFIRMED = "an actor, a bounded reason and the digest of the preview are needed"


@dataclass(frozen=True, slots=True)
class Situation:
    """What a reclaim looks at: evidence, resume lock, leases of others, foreign parts, peers."""

    evidence: Evidence
    lock: Observed | None
    leased: Sequence[str]
    strangers: Sequence[Part]
    peers: Sequence[str]


def probe_owner(record: OwnerRecord | None, host: Host) -> Answer | None:
    """Ask whether the owner lives, where that can be asked at all: a valid record of this very host."""
    return None if record is None or record.host != host.name else host.probe(record.pid)


def judge_owner(lock: Observed, host: Host, answer: Answer | None) -> Refusal | None:
    """Return why the owner of a lock may not be taken for dead, None if it is proven absent.

    The only proof is ESRCH for a valid record of this host. Age is no reason, nor is a bad record.
    """
    record = decode(lock.data)
    if record is None:
        return Refusal.MALFORMED
    if record.host != host.name:
        return Refusal.FOREIGN
    match answer:
        case Answer.ABSENT:
            return None
        case Answer.PRESENT:
            return Refusal.LIVE
        case _:
            return Refusal.INCONCLUSIVE


def judge_reclaim(situation: Situation) -> Refusal | None:
    """Return why a run may not be reclaimed though its operator accepts that its liveness is unknown.

    The operator's word lifts one refusal, that of an UNKNOWN liveness, and no other.
    """
    if situation.lock is not None:
        return Refusal.LOCKED
    match situation.evidence.liveness():
        case Liveness.ACTIVE:
            return Refusal.ACTIVE
        case Liveness.TERMINAL:
            return Refusal.TERMINAL
        case Liveness.UNKNOWN:
            return judge_surroundings(situation)


def judge_surroundings(situation: Situation) -> Refusal | None:
    """Return what else keeps a run from being reclaimed: leases, authority over its parts, peers."""
    if situation.leased:
        return Refusal.LEASED
    for part in situation.strangers:
        return {
            Part.WORKTREE: Refusal.UNOWNED_PATH,
            Part.REF: Refusal.UNOWNED_REF,
            Part.RESERVATION: Refusal.UNOWNED_RESERVATION,
        }[part]
    return Refusal.RETAINED if situation.peers else None

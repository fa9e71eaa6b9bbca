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
    UNPROVEN = "there is no matching proof that the run has ended"
    UNKNOWN = "the liveness of the run is unknown"
    LEASED = "somebody holds a lease of the run"
    UNOWNED_PATH = "the worktree is not this run's"
    UNOWNED_REF = "the ref is not this run's"
    RESERVED = "another run has reserved the workspace"
    RETAINED = "another run keeps the worktree"
    NOT_WHOLE = "the workspace is no longer whole"
    UNAUDITED = "the audit record could not be written"
    UNCONFIRMED = "an actor, a bounded reason and the digest of the preview are needed"


@dataclass(frozen=True, slots=True)
class Situation:
    """What a reclaim looks at: evidence, resume lock, leases and reservations of others, authority, peers."""

    evidence: Evidence
    lock: Observed | None
    leased: Sequence[str]
    unowned: Sequence[Part]
    reserved: Sequence[str]
    peers: Sequence[str]


def probe_owner(record: OwnerRecord | None, host: Host) -> Answer | None:
    """Ask whether the owner lives, where that can be asked at all: a valid record of this very host.

    Where the host compares start times, a process that started at another time is not the owner, and the owner is gone.
    """
    if record is None or record.host != host.name:
        return None
    answer = host.probe(record.pid)
    is_another = record.started is not None and host.started_at(record.pid) != record.started
    return Answer.ABSENT if answer is Answer.PRESENT and host.compares_start and is_another else answer


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


def judge_reclaim(situation: Situation, *, admits_unknown: bool = True) -> Refusal | None:
    """Return why a run may not be reclaimed.

    Its operator's word admits an UNKNOWN liveness and lifts no other refusal. What it leaves standing names "matching
    terminal proof", which can be read as forbidding or as required. It is required: the decision was made for the run
    that has a matching proof and has lost its transcript, and such a proof must not be what keeps it blocked.
    """
    if situation.lock is not None:
        return Refusal.LOCKED
    liveness = situation.evidence.liveness()
    if liveness is Liveness.ACTIVE:
        return Refusal.ACTIVE
    if not situation.evidence.is_proven():
        return Refusal.UNPROVEN
    if liveness is Liveness.UNKNOWN and not admits_unknown:
        return Refusal.UNKNOWN
    return judge_surroundings(situation)


def judge_surroundings(situation: Situation) -> Refusal | None:
    """Return what else keeps a run from being reclaimed: leases, authority, and the checks of reservation and peers."""
    if situation.leased:
        return Refusal.LEASED
    if situation.unowned:
        return Refusal.UNOWNED_PATH if Part.WORKTREE in situation.unowned else Refusal.UNOWNED_REF
    if situation.reserved:
        return Refusal.RESERVED
    return Refusal.RETAINED if situation.peers else None

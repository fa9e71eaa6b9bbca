"""Deliberate mistakes, each switched on by name: what is left out or done otherwise, and nothing else.

They are there to be caught. The names of those that the decision record rejects, or that its model calls mutants, are
theirs.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from model.reference.audited_recovery.evidence import Transcript
from model.reference.audited_recovery.files import Draft, Observed
from model.reference.audited_recovery.judgement import (
    Refusal,
    judge_owner,
    judge_reclaim,
    judge_surroundings,
    probe_owner,
)
from model.reference.audited_recovery.ledger import Operation
from model.reference.audited_recovery.locks import Acquired, OwnerRecord, decode
from model.reference.audited_recovery.owner import Owner
from model.reference.audited_recovery.party import Answer
from model.reference.audited_recovery.recovery import Operator, Order, Preview, Refused


@dataclass(frozen=True, slots=True)
class Cast:
    """Which classes play owner and operator."""

    owner: type[Owner] = Owner
    operator: type[Operator] = Operator


class UnlockWithoutRecheck(Operator):
    """Removes the lock that was previewed without looking again what it is and whether its owner is dead."""

    def recheck_lock(self, preview: Preview) -> Refusal | None:  # noqa: ARG002
        """Go on, whatever is there."""
        return None


class UnlockOfAnyLock(Operator):
    """Asks whether the owner is dead, and not whether the lock is the one that was previewed."""

    def recheck_lock(self, preview: Preview) -> Refusal | None:  # noqa: ARG002
        """Judge whatever lock is there now."""
        now = self.run.lock.observe()
        return Refusal.NO_LOCK if now is None else Operator.recheck_lock(self, Preview("", lock=now))


class ReclaimWithoutRecheck(Operator):
    """Destroys what was previewed without looking again at the evidence and the guards."""

    def recheck_run(self, preview: Preview) -> Refusal | None:  # noqa: ARG002
        """Go on, whatever has come."""
        return None


class ReclaimOfAnyEvidence(Operator):
    """Looks again at the guards, and not whether the evidence is still that of the preview."""

    def recheck_run(self, preview: Preview) -> Refusal | None:  # noqa: ARG002
        """Judge the run as it is now."""
        return judge_reclaim(self.run.look(self.party))


class RecoveryWithoutGate(Operator):
    """Takes neither gate nor leases."""

    def enter(self, operation: Operation) -> bool:  # noqa: ARG002
        """Go in at once."""
        return True


class LeasesOnlyTested(Operator):
    """Reclaims under the gate, and looks at the leases without taking them."""

    def enter(self, operation: Operation) -> bool:  # noqa: ARG002
        """Take the gate."""
        return self.party.hold(self.run.gate)

    def recheck_run(self, preview: Preview) -> Refusal | None:
        """Look as the honest one, but hold nothing."""
        situation = self.run.look(self.party)
        return Refusal.EVIDENCE_CHANGED if situation.evidence != preview.evidence else judge_reclaim(situation)


class CompletionNever(Operator):
    """Files no completion."""

    def complete(self, operation: Operation, intent: Draft) -> Refusal | None:  # noqa: ARG002
        """Leave it at the effects."""
        return None


class CompletionWithIntent(Operator):
    """Files the completion as soon as the intent is filed."""

    def recover(self, order: Order, preview: Preview) -> Generator[str, None, Refusal | None]:
        """File both, then act."""
        yield "write_intent"
        draft = self.run.ledger.draft_intent(self.intent(order, preview))
        yield "write_intent.torn"
        draft.publish()
        self.complete(order.operation, draft)
        act = self.unlock if order.operation is Operation.UNLOCK else self.reclaim
        refusal = yield from act(preview)
        if refusal is None:
            yield "complete"
        return refusal


class IntentAfterEffect(Operator):
    """Files intent and completion together, after the effects."""

    def recover(self, order: Order, preview: Preview) -> Generator[str, None, Refusal | None]:
        """Act, then file."""
        yield "write_intent"
        act = self.unlock if order.operation is Operation.UNLOCK else self.reclaim
        refusal = yield from act(preview)
        if refusal is None:
            yield "complete"
            draft = self.run.ledger.draft_intent(self.intent(order, preview))
            draft.publish()
            return self.complete(order.operation, draft)
        return refusal


class AuditFailureIgnored(Operator):
    """Goes on where the intent cannot be written."""

    def recover(self, order: Order, preview: Preview) -> Generator[str, None, Refusal | None]:
        """File if it works, and act in any case."""
        refusal = yield from Operator.recover(self, order, preview)
        if refusal is not Refusal.UNAUDITED:
            return refusal
        act = self.unlock if order.operation is Operation.UNLOCK else self.reclaim
        return (yield from act(preview))


class TranscriptAsLedger(Operator):
    """Appends its intent to the transcript, where nobody can read it if that is corrupt; else files it."""

    def recover(self, order: Order, preview: Preview) -> Generator[str, None, Refusal | None]:
        """File in the ledger only beside a readable transcript."""
        is_readable = self.run.evidence.look().transcript() in {Transcript.OPEN, Transcript.CLOSED}
        if is_readable:
            return (yield from Operator.recover(self, order, preview))
        yield "write_intent"
        draft = self.run.ledger.draft_intent(self.intent(order, preview))
        act = self.unlock if order.operation is Operation.UNLOCK else self.reclaim
        refusal = yield from act(preview)
        if refusal is None:
            yield "complete"
            return self.complete(order.operation, draft)
        return refusal


class OneForceFlag(Operator):
    """Lets the operator's word lift every refusal of a reclaim."""

    def preview(self, operation: Operation, *, admits_unknown: bool) -> Preview:
        """Refuse nothing but an unlock without a lock."""
        if operation is Operation.UNLOCK:
            return Operator.preview(self, operation, admits_unknown=admits_unknown)
        evidence = self.run.evidence.look()
        return Preview(evidence.digest, evidence=evidence)

    def recheck_run(self, preview: Preview) -> Refusal | None:
        """Refuse only what is not what was previewed."""
        return None if self.run.evidence.look() == preview.evidence else Refusal.EVIDENCE_CHANGED


class ProofForbids(Operator):
    """Reads "never overrides matching terminal proof" the other way: where there is one, a reclaim is refused."""

    def preview(self, operation: Operation, *, admits_unknown: bool) -> Preview:
        """Refuse where the run is proven to have ended."""
        if operation is Operation.RECLAIM and self.run.evidence.look().is_proven():
            raise Refused(Refusal.UNPROVEN)
        return Operator.preview(self, operation, admits_unknown=admits_unknown)


class LifeLeftOut(Operator):
    """Asks everything of a run but whether it is alive and proven to have ended."""

    def preview(self, operation: Operation, *, admits_unknown: bool) -> Preview:
        """Look at the surroundings only."""
        if operation is Operation.UNLOCK:
            return Operator.preview(self, operation, admits_unknown=admits_unknown)
        situation = self.run.look(self.party)
        refusal = judge_surroundings(situation)
        if refusal is not None:
            raise Refused(refusal)
        return Preview(situation.evidence.digest, evidence=situation.evidence)

    def recheck_run(self, preview: Preview) -> Refusal | None:
        """Look at the surroundings only."""
        situation = self.run.look(self.party)
        return Refusal.EVIDENCE_CHANGED if situation.evidence != preview.evidence else judge_surroundings(situation)


class _OwnerJudgedOtherwise(Operator):
    """Compares the lock as the honest one does, and then judges its owner in its own way."""

    def recheck_lock(self, preview: Preview) -> Refusal | None:
        """Compare, then judge."""
        now = self.run.lock.observe()
        if now is None or now != preview.lock:
            return Refusal.LOCK_CHANGED
        self.answer = probe_owner(decode(now.data), self.party.host)
        return self.judge(now)

    def judge(self, lock: Observed) -> Refusal | None:
        """Return why the owner may not be taken for dead."""
        return judge_owner(lock, self.party.host, self.answer)


class JudgedByAge(_OwnerJudgedOtherwise):
    """Takes an owner for dead when its lock is old enough."""

    age_s: ClassVar[float] = 0.0

    def judge(self, lock: Observed) -> Refusal | None:
        """Look at the clock instead of the process."""
        del lock
        age = time.time() - self.run.lock.path.stat().st_mtime
        return None if age >= self.age_s else Refusal.LIVE


class InconclusiveIsDead(_OwnerJudgedOtherwise):
    """Takes whatever is not proven alive for dead."""

    def judge(self, lock: Observed) -> Refusal | None:
        """Accept a probe that proves nothing."""
        refusal = judge_owner(lock, self.party.host, self.answer)
        return None if refusal is Refusal.INCONCLUSIVE else refusal


class MalformedIsDead(_OwnerJudgedOtherwise):
    """Takes the owner of a lock that cannot be read for dead."""

    def judge(self, lock: Observed) -> Refusal | None:
        """Accept a malformed record."""
        refusal = judge_owner(lock, self.party.host, self.answer)
        return None if refusal is Refusal.MALFORMED else refusal


class ForeignIsProbed(_OwnerJudgedOtherwise):
    """Asks its own host about processes of others."""

    def judge(self, lock: Observed) -> Refusal | None:
        """Probe without comparing hosts."""
        record = decode(lock.data)
        if record is None:
            return Refusal.MALFORMED
        self.answer = self.party.host.probe(record.pid)
        return None if self.answer is Answer.ABSENT else Refusal.LIVE


class AcquireWithoutGate(Owner):
    """Acquires without the gate."""

    def enter(self) -> bool:
        """Go in at once."""
        return True


class AcquireReplaces(Owner):
    """Puts its lock in the place of whatever is there."""

    def look(self) -> Refusal | None:
        """Look away."""
        return None

    def create(self, record: OwnerRecord) -> None:
        """Unlink, then create."""
        self.run.lock.unlink()
        Owner.create(self, record)


class ResumeInRuins(Owner):
    """Resumes a run whose workspace is no longer whole."""

    def look(self) -> Refusal | None:
        """Look at the lock only."""
        return Refusal.LOCKED if self.run.lock.observe() is not None else None


class ReleaseUncompared(Owner):
    """Unlinks whatever lock is there."""

    def is_own(self, acquired: Acquired) -> bool:  # noqa: ARG002
        """Believe it."""
        return True


class ReleaseByBytes(Owner):
    """Compares the bytes of the lock and not its inode.

    It has no name below: nonces do not repeat, so only a test that copies a lock shows it.
    """

    def is_own(self, acquired: Acquired) -> bool:
        """Compare what another file can have, too."""
        now = self.run.lock.observe()
        return now is not None and now.data == acquired.seen.data


class GateForRelease(Owner):
    """Needs the gate to release, and leaves the lock where it is when somebody else has it."""

    def is_own(self, acquired: Acquired) -> bool:
        """Compare under the gate, if it can be had."""
        if not self.party.hold(self.run.gate):
            return False
        is_own = Owner.is_own(self, acquired)
        self.party.let_go(self.run.gate)
        return is_own


DEFECTS: Mapping[str, Cast] = {
    "x1-one-force-flag": Cast(operator=OneForceFlag),
    "x2-judged-by-age": Cast(operator=JudgedByAge),
    "x3-intent-after-effect": Cast(operator=IntentAfterEffect),
    "x4-corrupt-transcript-as-ledger": Cast(operator=TranscriptAsLedger),
    "x5-gate-for-release": Cast(owner=GateForRelease),
    "unlock-without-recheck": Cast(operator=UnlockWithoutRecheck),
    "unlock-of-any-lock": Cast(operator=UnlockOfAnyLock),
    "reclaim-without-recheck": Cast(operator=ReclaimWithoutRecheck),
    "reclaim-of-any-evidence": Cast(operator=ReclaimOfAnyEvidence),
    "recovery-without-gate": Cast(operator=RecoveryWithoutGate),
    "leases-only-tested": Cast(operator=LeasesOnlyTested),
    "completion-never": Cast(operator=CompletionNever),
    "completion-with-intent": Cast(operator=CompletionWithIntent),
    "audit-failure-ignored": Cast(operator=AuditFailureIgnored),
    "proof-forbids": Cast(operator=ProofForbids),
    "life-left-out": Cast(operator=LifeLeftOut),
    "inconclusive-is-dead": Cast(operator=InconclusiveIsDead),
    "malformed-is-dead": Cast(operator=MalformedIsDead),
    "foreign-is-probed": Cast(operator=ForeignIsProbed),
    "acquire-without-gate": Cast(owner=AcquireWithoutGate),
    "acquire-replaces": Cast(owner=AcquireReplaces),
    "resume-in-ruins": Cast(owner=ResumeInRuins),
    "release-uncompared": Cast(owner=ReleaseUncompared),
}

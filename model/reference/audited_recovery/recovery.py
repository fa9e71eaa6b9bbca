"""An operator's recovery, as first decided: `run unlock` and `run reclaim`.

Every confirmed recovery takes the same way: a preview, which shows a digest and changes nothing; the intent, durable
before the first effect; before each effect a second look at what the digest pinned; the completion, only after the
effects. Whoever dies on the way leaves an intent without completion, which says that the outcome is unknown.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field

from model.reference.audited_recovery.evidence import Evidence
from model.reference.audited_recovery.files import Draft, Observed
from model.reference.audited_recovery.holding import ReclaimHolds, leave
from model.reference.audited_recovery.judgement import Refusal, judge_owner, judge_reclaim, probe_owner
from model.reference.audited_recovery.ledger import Intent, Operation
from model.reference.audited_recovery.locks import decode, digest
from model.reference.audited_recovery.party import Answer, Party
from model.reference.audited_recovery.run import Run

REASON_MAX_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Order:
    """What somebody wants done. `digest` is that of an earlier preview; None confirms whatever this preview shows.

    `admits_unknown`: a reclaim may go on where the liveness of the run is unknown.
    """

    operation: Operation
    actor: str
    reason: str
    digest: str | None = None
    admits_unknown: bool = True

    def is_complete(self) -> bool:
        """Return whether there are an actor and a reason of bounded length."""
        return bool(self.actor) and 0 < len(self.reason) <= REASON_MAX_CHARACTERS


@dataclass(frozen=True, slots=True)
class Preview:
    """What a preview saw: the lock for an unlock, the evidence for a reclaim."""

    digest: str
    lock: Observed | None = None
    evidence: Evidence | None = None
    admits_unknown: bool = False


class Refused(Exception):
    """A preview ends in a refusal."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.value)
        self.refusal = refusal


@dataclass(slots=True)
class Operator:
    """One process that carries out orders, one after the other."""

    run: Run
    party: Party
    reclaim_holds: ReclaimHolds = ReclaimHolds.GATE_AND_LEASES
    operation: Operation | None = field(default=None, init=False)
    previewed: Preview | None = field(default=None, init=False)
    answer: Answer | None = field(default=None, init=False)
    refusal: Refusal | None = field(default=None, init=False)

    def turn(self, order: Order) -> Iterator[str]:
        """Carry out one order, or end with `refusal` set."""
        yield "start"
        self.refusal = None
        try:
            preview = self.confirm(order)
        except Refused as refused:
            self.refusal = refused.refusal
            return
        self.operation, self.previewed = order.operation, preview
        yield "enter"
        while not self.enter(order.operation):
            yield "enter"
        self.refusal = yield from self.recover(order, preview)
        yield "leave"
        self.leave()

    def confirm(self, order: Order) -> Preview:
        """Return the preview of an order whose digest, if it brings one, is that of the preview.

        Raises:
            Refused: the order is incomplete, or there is now something else than was confirmed.
        """
        if not order.is_complete():
            raise Refused(Refusal.UNCONFIRMED)
        preview = self.preview(order.operation, admits_unknown=order.admits_unknown)
        if order.digest not in {None, preview.digest}:
            unlocks = order.operation is Operation.UNLOCK
            raise Refused(Refusal.LOCK_CHANGED if unlocks else Refusal.EVIDENCE_CHANGED)
        return preview

    def preview(self, operation: Operation, *, admits_unknown: bool) -> Preview:
        """Look, and change nothing.

        Raises:
            Refused: there is nothing to unlock, or the run cannot be reclaimed as it is.
        """
        if operation is Operation.UNLOCK:
            lock = self.run.lock.observe()
            if lock is None:
                raise Refused(Refusal.NO_LOCK)
            return Preview(digest(lock), lock=lock)
        situation = self.run.look(self.party)
        refusal = judge_reclaim(situation, admits_unknown=admits_unknown)
        if refusal is not None:
            raise Refused(refusal)
        return Preview(situation.evidence.digest, evidence=situation.evidence, admits_unknown=admits_unknown)

    def enter(self, operation: Operation) -> bool:
        """Take what the operation holds, and say whether its gate was free."""
        if operation is Operation.UNLOCK:
            return self.party.hold(self.run.gate)
        return self.reclaim_holds.enter(self.run, self.party)

    def recover(self, order: Order, preview: Preview) -> Generator[str, None, Refusal | None]:
        """File the intent, look again and act, file the completion; return why it ended before that."""
        yield "write_intent"
        try:
            draft = self.run.ledger.draft_intent(self.intent(order, preview))
            yield "write_intent.torn"
            draft.publish()
        except OSError:
            return Refusal.UNAUDITED
        act = self.unlock if order.operation is Operation.UNLOCK else self.reclaim
        refusal = yield from act(preview)
        if refusal is not None:
            return refusal
        yield "complete"
        return self.complete(order.operation, draft)

    def intent(self, order: Order, preview: Preview) -> Intent:
        """Return the intent of a confirmed order."""
        if preview.evidence is not None:
            liveness = preview.evidence.liveness().value
            evidence: dict[str, str | int | None] = {**preview.evidence.parts(), "liveness": liveness}
        else:
            assert preview.lock is not None, "a preview is of a lock or of evidence"
            evidence = {"device": preview.lock.device, "inode": preview.lock.inode}
        return Intent(self.run.name, order.operation, order.actor, order.reason, preview.digest, evidence)

    def unlock(self, preview: Preview) -> Generator[str, None, Refusal | None]:
        """Remove the lock of the preview, if it is still that one and its owner is proven absent."""
        yield "recheck_lock"
        refusal = self.recheck_lock(preview)
        if refusal is not None:
            return refusal
        yield "unlink"
        self.run.lock.unlink()
        return None

    def recheck_lock(self, preview: Preview) -> Refusal | None:
        """Compare bytes and identity with those of the preview, and ask about the owner."""
        now = self.run.lock.observe()
        if now is None or now != preview.lock:
            return Refusal.LOCK_CHANGED
        self.answer = probe_owner(decode(now.data), self.party.host)
        return judge_owner(now, self.party.host, self.answer)

    def reclaim(self, preview: Preview) -> Generator[str, None, Refusal | None]:
        """Take away part after part, each after a look at everything that may forbid it.

        The last look finds nothing left. It refuses like the others: a completion, too, is about the run that was
        previewed.
        """
        while True:
            yield "recheck_run"
            refusal = self.recheck_run(preview)
            if refusal is not None:
                return refusal
            remaining = self.run.workspace.remaining()
            if not remaining:
                return None
            yield "destroy"
            self.run.workspace.destroy(remaining[0])

    def recheck_run(self, preview: Preview) -> Refusal | None:
        """Compare the evidence with that of the preview, and judge the run as it is now."""
        self.reclaim_holds.hold_leases(self.run, self.party)
        situation = self.run.look(self.party)
        if situation.evidence != preview.evidence:
            return Refusal.EVIDENCE_CHANGED
        return judge_reclaim(situation, admits_unknown=preview.admits_unknown)

    def complete(self, operation: Operation, intent: Draft) -> Refusal | None:
        """File that the operation has succeeded; where that fails its outcome stays unknown."""
        try:
            self.run.ledger.draft_completion(operation, intent).publish()
        except OSError:
            return Refusal.UNAUDITED
        return None

    def leave(self) -> None:
        """Give back what was taken, and forget the order."""
        leave(self.run, self.party)
        self.operation = self.previewed = self.answer = None

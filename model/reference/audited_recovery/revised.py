"""The rules after the revision: dead locks are retired by whoever meets them, and a forced reclaim leaves one event.

There is no `run unlock` and no recovery ledger any more. Acquisition and reclaim retire a lock whose owner is proven
absent on this host, under the same gate and with the same second look at bytes and inode that an unlock had.
`run reclaim --force --yes` accepts an unknown liveness; no digest ties it to what its operator has seen.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field

from model.reference.audited_recovery.files import Observed
from model.reference.audited_recovery.judgement import Refusal, Situation, judge_owner, judge_reclaim, probe_owner
from model.reference.audited_recovery.locks import Acquired, OwnerRecord, decode
from model.reference.audited_recovery.owner import Owner
from model.reference.audited_recovery.party import Answer, Party
from model.reference.audited_recovery.provider_ledger import ProviderLedger, When
from model.reference.audited_recovery.recovery import ReclaimHolds
from model.reference.audited_recovery.run import Run

EVENT = "reclaim-forced"
COMPLETION = "reclaim-completed"


@dataclass(slots=True)
class RetiringOwner(Owner):
    """An owner that retires a dead lock on its way to its own. `gated`: whether acquisition holds the gate."""

    gated: bool = True
    answer: Answer | None = field(default=None, init=False)

    def turn(self) -> Iterator[str]:
        """Acquire, execute, release; end early where acquisition is refused (see `refusal`)."""
        yield "start"
        while self.gated and not self.party.hold(self.run.gate):
            yield "start"
        self.refusal = yield from self.obtain()
        if self.refusal is not None:
            yield "turn_away"
            self.answer = None
            self.party.let_go(self.run.gate)
            return
        yield "leave_gate"
        self.party.let_go(self.run.gate)
        yield "begin"
        self.run.evidence.begin()
        yield "prove"
        self.run.evidence.prove()
        yield "close"
        self.run.evidence.close()
        yield from self.release()

    def obtain(self) -> Generator[str, None, Refusal | None]:
        """Create the lock, after retiring a dead one; return why that could not be."""
        yield "look"
        if not self.run.workspace.is_whole():
            return Refusal.NOT_WHOLE
        lock = self.run.lock.observe()
        if lock is not None:
            refusal = yield from self.retire(lock)
            if refusal is not None:
                return refusal
        yield "create"
        self.answer = None
        record = OwnerRecord.of(self.party)
        acquired = self.create_unless_present(record)
        if acquired is None:
            return Refusal.LOCKED
        self.acquired = acquired
        return None

    def create_unless_present(self, record: OwnerRecord) -> Acquired | None:
        """Create the lock; None if there is one after all, which only somebody without the gate can have made."""
        try:
            return self.run.lock.create(record.nonce, self.encode(record))
        except FileExistsError:
            return None

    def retire(self, lock: Observed) -> Generator[str, None, Refusal | None]:
        """Remove a lock whose owner is proven absent, unless it has become another by the second look."""
        self.answer = probe_owner(decode(lock.data), self.party.host)
        refusal = judge_owner(lock, self.party.host, self.answer)
        if refusal is not None:
            return refusal
        yield "look_again"
        if self.run.lock.observe() != lock:
            return Refusal.LOCK_CHANGED
        yield "retire"
        self.run.lock.unlink()
        return None


@dataclass(slots=True)
class ForcingOperator:
    """One process that carries out forced reclaims. `rechecks`: whether it looks again before every effect."""

    run: Run
    party: Party
    provider_ledger: ProviderLedger
    reclaim_holds: ReclaimHolds = ReclaimHolds.GATE_AND_LEASES
    when: When = When.BEFORE
    rechecks: bool = True
    actor: str = "operator"
    reason: str = "the run's liveness is unknown"
    refusal: Refusal | None = field(default=None, init=False)

    def turn(self) -> Iterator[str]:
        """Reclaim the run, or end with `refusal` set."""
        yield "start"
        self.refusal = self.judge(self.look())
        if self.refusal is not None:
            return
        yield "enter"
        while not self.enter():
            yield "enter"
        self.refusal = yield from self.reclaim()
        yield "leave"
        for path in (*self.run.leases, self.run.gate):
            self.party.let_go(path)

    def enter(self) -> bool:
        """Take gate and leases as far as the reclaim holds them, and say whether its gate was free."""
        if self.reclaim_holds is ReclaimHolds.NOTHING:
            return True
        if not self.party.hold(self.run.gate):
            return False
        if self.reclaim_holds is ReclaimHolds.GATE_AND_LEASES:
            for lease in self.run.leases:
                self.party.hold(lease)
        return True

    def reclaim(self) -> Generator[str, None, Refusal | None]:
        """Tell, take away part after part, tell: as many events as there are to be, and when they are to be."""
        refusal = yield from self.retire()
        if refusal is not None:
            return refusal
        yield "announce"
        if self.when in {When.BEFORE, When.BEFORE_AND_AFTER}:
            self.tell(EVENT)
        is_due = self.when is When.AMID
        while True:
            yield "recheck"
            remaining = self.run.workspace.remaining()
            if not remaining:
                break
            refusal = self.judge(self.look()) if self.rechecks else None
            if refusal is not None:
                return refusal
            yield "destroy"
            self.run.workspace.destroy(remaining[0])
            if is_due:
                yield "amid"
                self.tell(EVENT)
                is_due = False
        yield "complete"
        if self.when is When.AFTER:
            self.tell(EVENT)
        elif self.when is When.BEFORE_AND_AFTER:
            self.tell(COMPLETION)
        return None

    def retire(self) -> Generator[str, None, Refusal | None]:
        """Remove a lock whose owner is proven absent, as an acquisition does."""
        yield "look"
        lock = self.run.lock.observe()
        if lock is None:
            return None
        refusal = self.judge_lock(lock)
        if refusal is not None:
            return refusal
        yield "look_again"
        if self.run.lock.observe() != lock:
            return Refusal.LOCK_CHANGED
        yield "retire"
        self.run.lock.unlink()
        return None

    def judge(self, situation: Situation) -> Refusal | None:
        """Return why the run may not be reclaimed; a lock that can be retired is no reason."""
        if situation.lock is not None:
            refusal = self.judge_lock(situation.lock)
            if refusal is not None:
                return refusal
        unlocked = Situation(situation.evidence, None, situation.leased, situation.strangers, situation.peers)
        return judge_reclaim(unlocked)

    def judge_lock(self, lock: Observed) -> Refusal | None:
        """Return why a lock may not be retired."""
        return judge_owner(lock, self.party.host, probe_owner(decode(lock.data), self.party.host))

    def look(self) -> Situation:
        """Return what a reclaim looks at, as it is now."""
        evidence, workspace = self.run.evidence.look(), self.run.workspace
        return Situation(
            evidence=evidence,
            lock=self.run.lock.observe(),
            leased=self.run.held_leases(self.party),
            strangers=workspace.strangers(evidence.binding()),
            peers=workspace.peers(),
        )

    def tell(self, event: str) -> None:
        """Append an event to the provider's ledger."""
        self.provider_ledger.tell(self.run.name, event, self.actor, self.reason)

"""The rules after the revision: dead locks are retired by whoever meets them, and a forced reclaim leaves one event.

There is no `run unlock` and no recovery ledger any more. A lock whose owner is proven absent on this host is retired
under the same gate, and with the same second look at bytes and inode, that an unlock had. `run reclaim --force --yes`
admits an unknown liveness; no digest ties it to what its operator has seen.

Who retires, the revision does not say. An acquisition does. A reclaim was kept out by a dead lock just as well; of the
two operators here the one leaves it at that, and the other retires too.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field, replace
from typing import ClassVar

from model.reference.audited_recovery.files import Observed
from model.reference.audited_recovery.holding import ReclaimHolds, leave
from model.reference.audited_recovery.judgement import Refusal, judge_owner, judge_reclaim, probe_owner
from model.reference.audited_recovery.locks import OwnerRecord, decode
from model.reference.audited_recovery.owner import Owner
from model.reference.audited_recovery.party import Answer, Party
from model.reference.audited_recovery.provider_ledger import ProviderLedger, When
from model.reference.audited_recovery.run import Run

EVENT = "reclaim-forced"
COMPLETION = "reclaim-completed"


@dataclass(slots=True)
class Retirement:
    """The removal of a dead lock by one process, under the gate if there is one."""

    run: Run
    party: Party
    answer: Answer | None = field(default=None, init=False)

    def retire(self, lock: Observed) -> Generator[str, None, Refusal | None]:
        """Remove a lock whose owner is proven absent, unless it has become another by the second look."""
        refusal = self.judge(lock)
        if refusal is not None:
            return refusal
        yield "look_again"
        if not self.is_still(lock):
            return Refusal.LOCK_CHANGED
        yield "retire"
        self.run.lock.unlink()
        return None

    def judge(self, lock: Observed) -> Refusal | None:
        """Return why a lock may not be retired."""
        self.answer = probe_owner(decode(lock.data), self.party.host)
        return judge_owner(lock, self.party.host, self.answer)

    def is_still(self, lock: Observed) -> bool:
        """Return whether the lock there now is the one that was judged, by bytes and inode."""
        return self.run.lock.observe() == lock


@dataclass(slots=True)
class RetiringOwner(Owner):
    """An owner that retires a dead lock on its way to its own. `gated`: whether acquisition holds the gate."""

    gated: bool = True
    retirement: Retirement = field(init=False)
    retirement_class: ClassVar[type[Retirement]] = Retirement

    def __post_init__(self) -> None:
        self.retirement = self.retirement_class(self.run, self.party)

    def turn(self) -> Iterator[str]:
        """Acquire, execute, release; end early where acquisition is refused (see `refusal`)."""
        yield "start"
        while not self.enter():
            yield "start"
        self.refusal = yield from self.obtain()
        self.retirement.answer = None
        if self.refusal is not None:
            yield "turn_away"
            self.party.let_go(self.run.gate)
            return
        yield "leave_gate"
        self.party.let_go(self.run.gate)
        yield from self.execute()
        yield from self.release()

    def enter(self) -> bool:
        """Take the gate, if there is one to be taken and it is free."""
        return not self.gated or self.party.hold(self.run.gate)

    def obtain(self) -> Generator[str, None, Refusal | None]:
        """Create the lock, after retiring a dead one; return why that could not be."""
        yield "look"
        if not self.can_resume():
            return Refusal.NOT_WHOLE
        lock = self.run.lock.observe()
        if lock is not None:
            refusal = yield from self.retirement.retire(lock)
            if refusal is not None:
                return refusal
        yield "create"
        try:
            self.create(OwnerRecord.of(self.party))
        except FileExistsError:
            # Only somebody without the gate can have made one; creation fails then, and replaces nothing.
            return Refusal.LOCKED
        return None

    def can_resume(self) -> bool:
        """Return whether there is something to resume."""
        return self.run.workspace.is_whole()


@dataclass(slots=True)
class ForcingOperator:
    """One process that carries out forced reclaims, and refuses them where there is any resume lock."""

    run: Run
    party: Party
    provider_ledger: ProviderLedger
    reclaim_holds: ReclaimHolds = ReclaimHolds.GATE_AND_LEASES
    when: When = When.BEFORE
    actor: str = "operator"
    reason: str = "the liveness of the run is unknown"
    refusal: Refusal | None = field(default=None, init=False)

    def turn(self) -> Iterator[str]:
        """Reclaim the run, or end with `refusal` set."""
        yield "start"
        self.refusal = self.preview()
        if self.refusal is not None:
            return
        yield "enter"
        while not self.reclaim_holds.enter(self.run, self.party):
            yield "enter"
        self.refusal = yield from self.reclaim()
        yield "leave"
        leave(self.run, self.party)

    def preview(self) -> Refusal | None:
        """Look, change nothing, and return why the run cannot be reclaimed as it is."""
        return judge_reclaim(self.run.look(self.party))

    def reclaim(self) -> Generator[str, None, Refusal | None]:
        """Announce, take away part after part, complete."""
        yield "announce"
        if self.when in {When.BEFORE, When.BEFORE_AND_AFTER}:
            self.tell(EVENT)
        is_told = False
        while True:
            yield "recheck"
            refusal = self.recheck()
            if refusal is not None:
                return refusal
            remaining = self.run.workspace.remaining()
            if not remaining:
                break
            yield "destroy"
            self.run.workspace.destroy(remaining[0])
            if self.when is When.AMID:
                yield "amid"
                if not is_told:
                    self.tell(EVENT)
                is_told = True
        yield "complete"
        self.complete()
        return None

    def recheck(self) -> Refusal | None:
        """Return why the reclaim cannot go on, by a look at the run as it is now."""
        self.reclaim_holds.hold_leases(self.run, self.party)
        return judge_reclaim(self.run.look(self.party))

    def complete(self) -> None:
        """Tell what is to be told after the effects."""
        if self.when is When.AFTER:
            self.tell(EVENT)
        elif self.when is When.BEFORE_AND_AFTER:
            self.tell(COMPLETION)

    def tell(self, event: str) -> None:
        """Append an event to the provider's ledger."""
        self.provider_ledger.tell(self.run.name, event, self.actor, self.reason)


@dataclass(slots=True)
class RetiringOperator(ForcingOperator):
    """One that also retires a dead lock, under the gate, before its event and its effects."""

    def preview(self) -> Refusal | None:
        """Look as before, but leave the lock to the look under the gate."""
        return judge_reclaim(replace(self.run.look(self.party), lock=None))

    def reclaim(self) -> Generator[str, None, Refusal | None]:
        """Retire the lock if it is dead, then reclaim."""
        yield "look"
        lock = self.run.lock.observe()
        if lock is not None:
            refusal = yield from Retirement(self.run, self.party).retire(lock)
            if refusal is not None:
                return refusal
        return (yield from ForcingOperator.reclaim(self))


@dataclass(slots=True)
class UncheckedOperator(ForcingOperator):
    """One that does not look again. The revision does not say that a forced reclaim does; without it, it is unsafe."""

    def recheck(self) -> Refusal | None:
        """Go on, whatever has come since the first look."""
        return None

"""Deliberate mistakes of the revised version, each switched on by name, as in `defects`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from model.reference.audited_recovery.files import Observed
from model.reference.audited_recovery.judgement import Refusal
from model.reference.audited_recovery.locks import Acquired, OwnerRecord, decode
from model.reference.audited_recovery.party import Answer
from model.reference.audited_recovery.revised import ForcingOperator, Retirement, RetiringOwner


@dataclass(frozen=True, slots=True)
class RevisedCast:
    """Which classes play owner and operator; None: the operator that the setting asks for."""

    owner: type[RetiringOwner] = RetiringOwner
    operator: type[ForcingOperator] | None = None


class OneLook(Retirement):
    """Does not look again before it unlinks."""

    def is_still(self, lock: Observed) -> bool:  # noqa: ARG002
        """Believe it."""
        return True


class LiveIsDead(Retirement):
    """Takes every owner for dead whose PID can be asked for."""

    def judge(self, lock: Observed) -> Refusal | None:
        """Accept a live owner."""
        refusal = Retirement.judge(self, lock)
        return None if refusal is Refusal.LIVE else refusal


class InconclusiveIsDead(Retirement):
    """Takes whatever is not proven alive for dead."""

    def judge(self, lock: Observed) -> Refusal | None:
        """Accept a probe that proves nothing."""
        refusal = Retirement.judge(self, lock)
        return None if refusal is Refusal.INCONCLUSIVE else refusal


class MalformedIsDead(Retirement):
    """Takes the owner of a lock that cannot be read for dead."""

    def judge(self, lock: Observed) -> Refusal | None:
        """Accept a malformed record."""
        refusal = Retirement.judge(self, lock)
        return None if refusal is Refusal.MALFORMED else refusal


class ForeignIsProbed(Retirement):
    """Asks its own host about processes of others."""

    def judge(self, lock: Observed) -> Refusal | None:
        """Probe without comparing hosts."""
        record = decode(lock.data)
        if record is None:
            return Refusal.MALFORMED
        self.answer = self.party.host.probe(record.pid)
        return None if self.answer is Answer.ABSENT else Refusal.LIVE


class OwnerWithOneLook(RetiringOwner):
    """Retires after one look."""

    retirement_class: ClassVar[type[Retirement]] = OneLook


class OwnerToWhomTheLivingAreDead(RetiringOwner):
    """Retires the locks of the living."""

    retirement_class: ClassVar[type[Retirement]] = LiveIsDead


class OwnerToWhomTheUnknownAreDead(RetiringOwner):
    """Retires after an inconclusive probe."""

    retirement_class: ClassVar[type[Retirement]] = InconclusiveIsDead


class OwnerToWhomTheUnreadableAreDead(RetiringOwner):
    """Retires what it cannot read."""

    retirement_class: ClassVar[type[Retirement]] = MalformedIsDead


class OwnerWhoProbesForeigners(RetiringOwner):
    """Retires the locks of other hosts."""

    retirement_class: ClassVar[type[Retirement]] = ForeignIsProbed


class OwnerWithoutGate(RetiringOwner):
    """Acquires and retires without the gate."""

    def enter(self) -> bool:
        """Go in at once."""
        return True


class CreatedOverAnother(RetiringOwner):
    """Puts its lock in the place of one that has come since it looked."""

    def create(self, record: OwnerRecord) -> None:
        """Unlink, then create."""
        self.run.lock.unlink()
        RetiringOwner.create(self, record)


class ResumeInRuins(RetiringOwner):
    """Resumes a run whose workspace is no longer whole."""

    def can_resume(self) -> bool:
        """Look away."""
        return True


class ReleaseUncompared(RetiringOwner):
    """Unlinks whatever lock is there."""

    def is_own(self, acquired: Acquired) -> bool:  # noqa: ARG002
        """Believe it."""
        return True


class ForceMeansEverything(ForcingOperator):
    """Lets the operator's word lift every refusal."""

    def preview(self) -> Refusal | None:
        """Refuse nothing."""
        return None

    def recheck(self) -> Refusal | None:
        """Refuse nothing."""
        return None


class NoEvent(ForcingOperator):
    """Leaves no event."""

    def tell(self, event: str) -> None:
        """Say nothing."""


class NoCompletion(ForcingOperator):
    """Tells nothing after the effects."""

    def complete(self) -> None:
        """Say nothing."""


REVISED_DEFECTS: Mapping[str, RevisedCast] = {
    "live-is-dead": RevisedCast(OwnerToWhomTheLivingAreDead),
    "inconclusive-is-dead": RevisedCast(OwnerToWhomTheUnknownAreDead),
    "malformed-is-dead": RevisedCast(OwnerToWhomTheUnreadableAreDead),
    "foreign-is-probed": RevisedCast(OwnerWhoProbesForeigners),
    "second-look-dropped": RevisedCast(OwnerWithOneLook),
    "owner-without-gate": RevisedCast(OwnerWithoutGate),
    "created-over-another": RevisedCast(CreatedOverAnother),
    "resume-in-ruins": RevisedCast(ResumeInRuins),
    "release-uncompared": RevisedCast(ReleaseUncompared),
    "force-means-everything": RevisedCast(operator=ForceMeansEverything),
    "no-event": RevisedCast(operator=NoEvent),
    "no-completion": RevisedCast(operator=NoCompletion),
}

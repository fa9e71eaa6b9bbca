"""A worker: it claims work, stores that a send may happen, sends, and stores what came of it.

A worker is a generator that yields the kill point at which it stands before it takes that step. What it has in memory
are its attributes; they are gone when it is killed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from model.reference.operator_control.channel import Provider
from model.reference.operator_control.records import Claim, Code, Delivery, Profile, Reason, Refusal
from model.reference.operator_control.storage import Storage
from model.reference.operator_control.world import Clock, Host


class Worker:
    """A worker of notifications."""

    def __init__(self, storage: Storage, provider: Provider, clock: Clock, host: Host) -> None:
        self.storage = storage
        self.provider = provider
        self.clock = clock
        self.host = host
        self.claim: Claim | None = None
        self.outcome: Delivery | None = None

    def run(self) -> Iterator[str]:
        """Work on one claim, if there is one to be had."""
        self.claim = self.storage.claim(self.clock.now())
        if self.claim is None:
            return
        yield "match"
        if not self.still_holds(self.claim) or not self.match(self.claim):
            return
        yield "start"
        if not self.start(self.claim):
            return
        yield "send"
        self.outcome = self.send(self.claim)
        yield "finish"
        self.finish(self.claim, self.outcome)

    def still_holds(self, claim: Claim) -> bool:
        """Say whether the claim is live: the worker may have stood still since."""
        return self.storage.holds(claim, self.clock.now())

    def match(self, claim: Claim) -> bool:
        """Say whether the work may be done; stop it where it may not."""
        reason = self.objection(claim)
        if reason is not None:
            self._unless_too_late(lambda: self.storage.finish(claim, reason, self.clock.now()))
        return reason is None

    def objection(self, claim: Claim) -> Reason | None:
        """Return why the work is not to be done: its registration, its service's authority, or its budget.

        Authority comes first, as it does where an action is resolved: a budget is no reason to skip it.
        """
        if self.registered() is not claim.intent.profile:
            return Reason.DEFINITION_CHANGED
        return claim.resolution_only if self.host.serves(claim.intent.service_key) else Reason.DENIED

    def registered(self) -> Profile:
        """Return the profile under which the definition is registered now."""
        return self.host.policies.registered

    def start(self, claim: Claim) -> bool:
        """Store that a send may happen; say whether it may."""
        return self._unless_too_late(lambda: self.storage.delivery_started(claim, self.clock.now()))

    def send(self, claim: Claim) -> Delivery:
        """Send under the identity of the work, which is the same at every attempt."""
        return self.provider.send(claim.id, claim.attempt)

    def finish(self, claim: Claim, outcome: Delivery) -> None:
        """Store what came of the send. Where the claim has ended meanwhile, nobody learns it."""
        self._unless_too_late(lambda: self.storage.delivery_finished(claim, outcome, self.clock.now()))

    def _unless_too_late(self, update: Callable[[], None]) -> bool:
        """Do something under the claim, and say whether the claim was still good for it."""
        try:
            update()
        except Refusal as refusal:
            if refusal.code is not Code.CONFLICT:
                raise
            return False
        return True

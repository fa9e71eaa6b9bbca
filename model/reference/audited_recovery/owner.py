"""The owner of a run: acquires its resume lock, executes it, releases the lock.

Acquisition holds the gate and never replaces a lock that is there. Release does not take the gate: a live owner's lock
is removed by nobody else (acquisition does not replace, an unlock needs ESRCH), so the comparison and the unlink that
follow each other here need no third party's leave. Holding the gate would let a contender strand a live owner's lock.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field

from model.reference.audited_recovery.judgement import Refusal
from model.reference.audited_recovery.locks import Acquired, OwnerRecord
from model.reference.audited_recovery.party import Party
from model.reference.audited_recovery.run import Run


@dataclass(slots=True)
class Owner:
    """One process that wants to execute a run; what it remembers is gone when it is killed.

    `encode` makes the bytes of its record; tests hand in what another program would write.
    """

    run: Run
    party: Party
    encode: Callable[[OwnerRecord], bytes] = OwnerRecord.encode
    acquired: Acquired | None = field(default=None, init=False)
    refusal: Refusal | None = field(default=None, init=False)

    def turn(self) -> Iterator[str]:
        """Acquire, execute, release; end early where acquisition is refused (see `refusal`)."""
        yield "start"
        while not self.enter():
            yield "start"
        if not (yield from self.acquire()):
            return
        yield from self.execute()
        yield from self.release()

    def enter(self) -> bool:
        """Take the gate, if it is free."""
        return self.party.hold(self.run.gate)

    def acquire(self) -> Generator[str, None, bool]:
        """Create the lock under the gate, unless there is one or there is nothing to resume."""
        yield "look"
        self.refusal = self.look()
        if self.refusal is not None:
            self.party.let_go(self.run.gate)
            return False
        yield "create"
        self.create(OwnerRecord.of(self.party))
        yield "leave_gate"
        self.party.let_go(self.run.gate)
        return True

    def execute(self) -> Iterator[str]:
        """Begin a new execution, prove that it has ended, tell the transcript."""
        yield "begin"
        execution = self.run.evidence.begin()
        yield "prove"
        self.run.evidence.prove(execution)
        yield "close"
        self.run.evidence.close(execution)

    def look(self) -> Refusal | None:
        """Return why the lock cannot be acquired now."""
        if self.run.lock.observe() is not None:
            return Refusal.LOCKED
        return None if self.run.workspace.is_whole() else Refusal.NOT_WHOLE

    def create(self, record: OwnerRecord) -> None:
        """Create the lock with the record in it.

        Raises:
            FileExistsError: there is a lock; it has not been touched.
        """
        self.acquired = self.run.lock.create(record.nonce, self.encode(record))

    def release(self) -> Iterator[str]:
        """Unlink the lock if it is still exactly the acquired one. Nothing is awaited between the two moves."""
        yield "compare"
        assert self.acquired is not None, "who releases has acquired"
        if self.is_own(self.acquired):
            yield "unlink"
            self.run.lock.unlink()
        self.acquired = None

    def is_own(self, acquired: Acquired) -> bool:
        """Return whether the lock there now is the acquired one."""
        return self.run.lock.is_still(acquired)

"""The runtime's side of a control: authority, the look before the verification, the verification, and the commit.

While the verifier runs the gate is free, and anything may happen to the record. So everything is looked at again after
it, in the same order, and once more by the storage inside its transaction.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence

from model.reference.operator_control.arbitration import Question, Snapshot
from model.reference.operator_control.channel import Verifier
from model.reference.operator_control.controls import Evidence, Finding, Operation, Receipt, Request
from model.reference.operator_control.records import Code, Phase, Refusal, WorkRecord
from model.reference.operator_control.storage import Storage
from model.reference.operator_control.world import UNRESOLVED, Answer, Clock, Desk, Host

LARGEST_RESPONSE = 64 * 1024
"""Bytes that an answer may have; a control whose answer might be longer is not begun."""


class Control:
    """One caller's control, from the request file to the answer. `run` is a generator of kill points."""

    def __init__(
        self,
        storage: Storage,
        host: Host,
        clock: Clock,
        desk: Desk,
        verifier: Verifier | None,
        gate: threading.Lock | None = None,
    ) -> None:
        self.storage = storage
        self.host = host
        self.clock = clock
        self.desk = desk
        self.verifier = verifier
        self.gate = gate or threading.Lock()
        self.principal = ""
        self.request: Request | None = None
        self.evidence: Evidence | None = None
        self.answer: Answer | None = None

    def run(self, key: str | None = None) -> Iterator[str]:
        """Serve one request: that of a key, or the first that waits."""
        keys = [key] if key is not None else self.desk.waiting()
        found = self.desk.request(keys[0]) if keys else None
        if found is None:
            return
        self.principal, self.request = found
        self.answer = self.look()
        if self.answer is None:
            if self.needs_verification(self.request):
                yield "verify"
                self.evidence = self.verify(self.request)
            yield "commit"
            self.answer = self.commit(self.request)
        yield "answer"
        self.reply(self.request, self.answer)

    # Under the gate.

    def look(self) -> Answer | None:
        """Return the answer that needs no more than a look at what is stored, if there is one."""
        with self.gate:
            return self._answered(self._judge)

    def commit(self, request: Request) -> Answer:
        """Look at everything again, and carry the control out."""
        with self.gate:
            return self._answered(lambda: self._commit(request)) or Answer(UNRESOLVED)

    def _commit(self, request: Request) -> Answer | None:
        stored = self._judge()
        if stored is not None:
            return stored
        if self.needs_verification(request) and (self.evidence is None or self.evidence.finding is Finding.UNRESOLVED):
            return None
        controlled = self.storage.control_work(self.principal, request, self.evidence, self.clock.now())
        return Answer(controlled.result, controlled.replayed)

    def _answered(self, act: Callable[[], Answer | None]) -> Answer | None:
        try:
            return act()
        except Refusal as refusal:
            return Answer(refusal.code)

    def _judge(self) -> Answer | None:
        """Return the stored answer of a control that was committed.

        Raises:
            Refusal: the control cannot be carried out now.
        """
        if self.request is None:
            raise Refusal(Code.INVALID, "there is no request")
        self.authorize(None)
        question = Question(self.principal, self.request, self.storage.snapshot())
        for check in self.checks():
            answer = check(question)
            if answer is not None:
                return answer
        return None

    def checks(self) -> Sequence[Callable[[Question], Answer | None]]:
        """Return what is looked at under the gate, in that order."""
        return (self.replay, self.admit, self.may_control, self.as_seen, self.can_answer, self.prepare)

    def authorize(self, scope: str | None) -> None:
        """Refuse whoever may not do this now (Denied)."""
        if not self.host.authorized(self.principal, scope):
            raise Refusal(Code.DENIED, "the operator has no authority")

    def replay(self, question: Question) -> Answer | None:
        """Answer a control that was committed, if its caller still has authority over what it was about."""
        arbitration = self.storage.arbitration
        arbitration.replayable(question)
        if question.receipt is None:
            return None
        self.authorize(question.receipt.scope)
        receipt = arbitration.exact(question)
        return None if receipt is None else Answer(receipt.result, replayed=True)

    def admit(self, question: Question) -> None:
        """Refuse a new control of an epoch that admits none."""
        self.storage.arbitration.admitted(question)

    def may_control(self, question: Question) -> None:
        """Refuse whoever has no authority over the work, in the same words as where there is no such work."""
        self.authorize(self._record(question.snapshot, question.request).intent.definition)

    def as_seen(self, question: Question) -> None:
        """Refuse where the record is not what the operator has looked at, or is out of an operator's reach."""
        self.storage.arbitration.version(question)
        if self._record(question.snapshot, question.request).phase in (Phase.LEASED, Phase.DONE):
            raise Refusal(Code.CONFLICT, "the work is being done, or done")

    def can_answer(self, question: Question) -> None:
        """Refuse what could not be answered within the bound (TooLarge), before anything is done."""
        if len(question.request.text) > LARGEST_RESPONSE:
            raise Refusal(Code.TOO_LARGE, "the answer might be too long")

    def prepare(self, question: Question) -> None:
        """Refuse where the host cannot stand behind the control: other registration, no service, no verifier."""
        record = self._record(question.snapshot, question.request)
        policies = self.host.policies
        if policies.registered is not record.intent.profile:
            raise Refusal(Code.UNSUPPORTED, "the work was stored under another profile than is registered")
        if not self.host.serves(record.intent.service_key):
            raise Refusal(Code.DENIED, "the service has no authority")
        if self.needs_verification(question.request) and not record.is_notification:
            raise Refusal(Code.UNSUPPORTED, "only deliveries are verified here")
        if self.needs_verification(question.request) and (self.verifier is None or not policies.verifier):
            raise Refusal(Code.UNSUPPORTED, "no verifier is registered")

    def _record(self, snapshot: Snapshot, request: Request) -> WorkRecord:
        record = snapshot.record(request.handle)
        if record is None:
            raise Refusal(Code.DENIED, "the operator has no authority")
        return record

    # Outside the gate.

    def needs_verification(self, request: Request) -> bool:
        """Say whether the provider has to be asked before the control is carried out."""
        return request.operation is Operation.RECONCILE

    def verify(self, request: Request) -> Evidence:
        """Ask the host's verifier; whatever goes wrong there establishes nothing."""
        record = self.storage.snapshot().record(request.handle)
        if record is None or self.verifier is None:
            return Evidence(Finding.UNRESOLVED)
        try:
            evidence = self.verifier(record.id, record.attempts, request.evidence_ref)
        except Exception:  # noqa: BLE001 (host code may fail in any way, and none of them is evidence)
            return Evidence(Finding.UNRESOLVED)
        return evidence if evidence.text else Evidence(Finding.UNRESOLVED)

    def reply(self, request: Request, answer: Answer) -> None:
        """Tell the operator, if the receipt is there and authority still is; else the outcome is unknown to it."""
        self.desk.reply(request.key, self.checked(request, answer))

    def checked(self, request: Request, answer: Answer) -> Answer:
        """Return the answer as it may be told now."""
        receipt: Receipt | None = Question(self.principal, request, self.storage.snapshot()).receipt
        committed = answer.code in ("Scheduled", "Completed", "Stopped")
        if committed and (receipt is None or not self.host.authorized(self.principal, receipt.scope)):
            return Answer(Code.UNKNOWN)
        return answer

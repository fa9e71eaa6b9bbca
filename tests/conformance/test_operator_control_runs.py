"""The reference implementation on its real parts: SQLite, files, a provider, processes that are really killed.

What is expected is what the documents claim of controls, receipts and leases.
"""

from __future__ import annotations

import os
import signal
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from model.reference.operator_control.channel import Manner, Plan, Sight
from model.reference.operator_control.controls import Evidence, Finding, Operation, Request, Result, Version
from model.reference.operator_control.deployment import Deployment, Parts
from model.reference.operator_control.records import (
    Cause,
    Claim,
    Code,
    Delivery,
    Epochs,
    Intent,
    Limits,
    Phase,
    Profile,
    Reason,
    Refusal,
    WorkRecord,
)
from model.reference.operator_control.service import Control
from model.reference.operator_control.storage import Storage
from model.reference.operator_control.world import Answer

WORK = "w"
RBR = Profile.RECONCILE_BEFORE_RETRY
ACCEPTED = Evidence(Finding.ACCEPTED, "reference")
NOT_ACCEPTED = Evidence(Finding.NOT_ACCEPTED, "reference")


def deployment(directory: Path, profile: Profile = RBR, *, limits: Limits | None = None, **work: int) -> Deployment:
    """Return a deployment with one piece of work and an operator who has authority."""
    made = Deployment(directory, limits)
    made.host.change(operators=("operator", "other"), registered=profile)
    made.storage.enqueue(Intent(WORK, Cause("root"), profile=profile, **work))  # type: ignore[arg-type]
    return made


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Deployment]:
    made = deployment(tmp_path)
    yield made
    made.close()


def record(here: Deployment) -> WorkRecord:
    """Return the only record."""
    return here.storage.snapshot().books.records[WORK]


def request(here: Deployment, key: str = "key", operation: Operation = Operation.RETRY, epoch: int = 0) -> Request:
    """Return a request for the record as it is."""
    now = record(here)
    return Request(now.intent.handle, Version(here.storage.snapshot().generation, now.revision), key, epoch, operation)


def work_on(here: Deployment, plan: Plan | None = None, until: str = "") -> list[str]:
    """Let a worker work on one claim, up to a kill point."""
    if plan is not None:
        here.provider.plan_call(plan)
    passed = []
    for label in here.worker().run():
        passed.append(label)
        if label == until:
            break
    return passed


def handle(here: Deployment, wanted: Request, principal: str = "operator") -> Answer:
    """Submit a request and let it be handled to its answer."""
    here.desk.submit(principal, wanted)
    control = here.control()
    for _ in control.run(wanted.key):
        pass
    answer = here.desk.answer(wanted.key)
    assert answer is not None
    return answer


def everything(storage: Storage) -> list[str]:
    """Return all that the storage has, as SQL."""
    return list(storage.connection.iterdump())


def refused(code: Code) -> pytest.RaisesExc[Refusal]:
    """Expect a refusal."""
    return pytest.RaisesExc(Refusal, check=lambda refusal: refusal.code is code)


SILENCE = Plan(heard=Delivery.UNKNOWN)
FAILED_SILENTLY = Plan(Delivery.RETRYABLE, heard=Delivery.TIMED_OUT)


# Controls on one version.


def test_of_two_controls_for_one_version_one_is_committed_and_one_is_a_conflict(here: Deployment) -> None:
    for first, second in (("a", "b"), ("c", "d")):
        one, other = request(here, first), request(here, second)
        assert here.storage.control_work("operator", one, None, 0).result is Result.SCHEDULED
        with refused(Code.CONFLICT):
            here.storage.control_work("operator", other, None, 0)
    assert len(here.storage.snapshot().receipts) == 2


def test_a_control_that_leaves_the_record_as_it_was_moves_its_version_all_the_same(here: Deployment) -> None:
    for key in "ab":
        reconcile = request(here, key, Operation.RECONCILE)
        assert here.storage.control_work("operator", reconcile, NOT_ACCEPTED, 0).result is Result.SCHEDULED
    before, stale = record(here), request(here, "d", Operation.RECONCILE)
    here.storage.control_work("operator", request(here, "c", Operation.RECONCILE), NOT_ACCEPTED, 0)
    assert replace(record(here), revision=0, generation=0) == replace(before, revision=0, generation=0)
    with refused(Code.CONFLICT):
        here.storage.control_work("operator", stale, NOT_ACCEPTED, 0)


def test_the_same_request_twice_has_one_receipt_and_one_effect(here: Deployment) -> None:
    wanted = request(here)
    first = here.storage.control_work("operator", wanted, None, 5)
    after = everything(here.storage)
    again = here.storage.control_work("operator", wanted, None, 9)
    assert (first.replayed, again.replayed) == (False, True)
    assert again.receipt == first.receipt
    assert everything(here.storage) == after


def test_two_connections_that_control_at_once_are_served_one_after_the_other(here: Deployment, tmp_path: Path) -> None:
    other = Deployment(tmp_path)
    wanted, rival = request(here, "a"), request(here, "b")
    with other.storage.transaction():
        here.storage.connection.execute("PRAGMA busy_timeout = 10")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            here.storage.control_work("operator", wanted, None, 0)
    other.storage.control_work("other", rival, None, 0)
    with refused(Code.CONFLICT):
        here.storage.control_work("operator", wanted, None, 0)
    other.close()


# The storage's order of checks.


def raised(here: Deployment, current: int, admission: int, replay: int) -> None:
    """Raise epochs and floors."""
    here.storage.raise_epochs(Epochs(current, admission, replay))


def test_a_replay_comes_before_the_version_and_after_the_epoch(here: Deployment) -> None:
    wanted = request(here)
    here.storage.control_work("operator", wanted, None, 0)
    work_on(here)
    raised(here, 1, 1, 0)
    assert here.storage.control_work("operator", wanted, None, 0).replayed
    with refused(Code.IDENTITY_MISMATCH):
        here.storage.control_work("operator", replace(wanted, operation=Operation.RECONCILE), ACCEPTED, 0)
    raised(here, 1, 1, 1)
    with refused(Code.IDENTITY_EXPIRED):
        here.storage.control_work("operator", wanted, None, 0)
    assert len(here.storage.snapshot().receipts) == 1, "the receipt is audit evidence, also when it is not shown"


def test_new_controls_need_an_epoch_that_admits_them(here: Deployment) -> None:
    with refused(Code.INVALID):
        here.storage.control_work("operator", request(here, epoch=1), None, 0)
    raised(here, 1, 1, 0)
    with refused(Code.IDENTITY_EXPIRED):
        here.storage.control_work("operator", request(here, epoch=0), None, 0)
    here.storage.control_work("operator", request(here, epoch=1), None, 0)
    raised(here, 1, 1, 1)
    with refused(Code.IDENTITY_EXPIRED):
        here.storage.control_work("operator", request(here, "late", epoch=1), None, 0)


def test_epochs_only_rise_and_keep_their_order(here: Deployment) -> None:
    raised(here, 2, 1, 1)
    for epochs in ((1, 1, 1), (2, 1, 0)):
        with refused(Code.INVALID):
            raised(here, *epochs)
    with refused(Code.INVALID):
        Epochs(1, 2, 0)


def test_an_identity_is_principal_epoch_and_key(here: Deployment) -> None:
    here.storage.control_work("operator", request(here), None, 0)
    assert not here.storage.control_work("other", request(here), None, 0).replayed


@pytest.mark.parametrize(
    "change", [{"handle": "x"}, {"key": ""}, {"key": "k" * 129}, {"retry_epoch": -1}, {"evidence_ref": "of a retry"}]
)
def test_a_request_of_another_shape_is_invalid(here: Deployment, change: dict[str, str]) -> None:
    with refused(Code.INVALID):
        here.storage.control_work("operator", replace(request(here), **change), None, 0)  # type: ignore[arg-type]


def test_what_is_refused_leaves_everything_as_it_was(here: Deployment) -> None:
    before = everything(here.storage)
    for wanted, evidence in (
        (replace(request(here), handle="0" * 64), None),
        (replace(request(here), expected=Version("another", 0)), None),
        (request(here, operation=Operation.RECONCILE), Evidence(Finding.UNRESOLVED)),
    ):
        with pytest.raises(Refusal):
            here.storage.control_work("operator", wanted, evidence, 0)
    assert everything(here.storage) == before


def test_a_full_ledger_refuses_controls_and_neither_replays_nor_workers(tmp_path: Path) -> None:
    here = deployment(tmp_path, limits=Limits(max_receipts=1))
    wanted = request(here, "a")
    here.storage.control_work("operator", wanted, None, 0)
    before = everything(here.storage)
    with refused(Code.OVERLOADED):
        here.storage.control_work("operator", request(here, "b"), None, 0)
    assert everything(here.storage) == before
    assert here.storage.control_work("operator", wanted, None, 0).replayed
    work_on(here)
    assert record(here).phase is Phase.DONE
    here.close()


@pytest.mark.usefixtures("here")
def test_other_limits_than_the_stored_ones_are_refused(tmp_path: Path) -> None:
    with refused(Code.UNSUPPORTED):
        Deployment(tmp_path, Limits(max_attempts=7))


# The Runtime around it.


def test_authority_is_asked_before_a_receipt_is_shown(here: Deployment) -> None:
    wanted = request(here)
    assert handle(here, wanted) == Answer("Scheduled")
    here.host.change(operators=())
    assert handle(here, wanted) == Answer("Denied")
    here.host.change(operators=("operator",), scopes=())
    assert handle(here, wanted) == Answer("Denied")
    here.host.change(scopes=("notice",))
    assert handle(here, wanted) == Answer("Scheduled", replayed=True)


def test_work_that_is_not_there_is_denied_like_work_that_is_not_the_operators(here: Deployment) -> None:
    assert handle(here, replace(request(here), handle="0" * 64)) == Answer("Denied")


def test_nobody_has_authority_by_default(tmp_path: Path) -> None:
    made = Deployment(tmp_path)
    assert not made.host.authorized("operator")
    made.close()


def test_a_control_is_answered_unknown_when_authority_has_gone_since_its_commit(here: Deployment) -> None:
    here.desk.submit("operator", request(here))
    handling = here.control().run("key")
    assert [next(handling), next(handling)] == ["commit", "answer"]
    here.host.change(operators=())
    assert next(handling, None) is None
    assert here.desk.answer("key") == Answer("Unknown")
    assert len(here.storage.snapshot().receipts) == 1
    assert here.desk.waiting() == ["key"], "the request file is kept, to be sent again"


def test_the_host_stands_behind_a_control_or_refuses_it(here: Deployment) -> None:
    reconcile = request(here, operation=Operation.RECONCILE)
    here.host.change(registered=Profile.AT_LEAST_ONCE)
    assert handle(here, reconcile) == Answer("Unsupported")
    here.host.change(registered=RBR, verifier=False)
    assert handle(here, reconcile) == Answer("Unsupported")
    here.host.change(verifier=True, services=())
    assert handle(here, reconcile) == Answer("Denied")


def test_while_the_verifier_runs_the_gate_is_free_and_no_transaction_is_open(here: Deployment, tmp_path: Path) -> None:
    other = Deployment(tmp_path)

    def look(delivery_id: str, attempt: int, evidence_ref: str | None) -> Evidence:
        assert (delivery_id, attempt, evidence_ref) == (WORK, 1, None)
        assert not here.gate.locked()
        assert not here.storage.connection.in_transaction
        with other.storage.transaction():
            pass
        return ACCEPTED

    work_on(here, SILENCE)
    here.desk.submit("operator", request(here, operation=Operation.RECONCILE))
    control = here.control()
    control.verifier = look
    assert list(control.run("key")) == ["verify", "commit", "answer"]
    assert here.desk.answer("key") == Answer("Completed")
    other.close()


def meanwhile(here: Deployment, event: Callable[[], object]) -> Control:
    """Return a control of whose verification something happens in the middle."""
    control = here.control()
    truth = here.verifier

    def verifier(delivery_id: str, attempt: int, evidence_ref: str | None) -> Evidence:
        found = truth(delivery_id, attempt, evidence_ref)
        event()
        return found

    control.verifier = verifier
    return control


@pytest.mark.parametrize("answer", [Delivery.ACCEPTED, Delivery.RETRYABLE])
def test_a_record_that_changed_during_the_verification_is_a_conflict(tmp_path: Path, answer: Delivery) -> None:
    here = deployment(tmp_path, Profile.AT_LEAST_ONCE)
    here.desk.submit("operator", request(here, operation=Operation.RECONCILE))
    list(meanwhile(here, lambda: work_on(here, Plan(answer))).run("key"))
    assert here.desk.answer("key") == Answer("Conflict")
    assert record(here).delivery is answer
    assert not here.storage.snapshot().receipts
    here.close()


def test_authority_that_ended_during_the_verification_is_missed(here: Deployment) -> None:
    work_on(here, SILENCE)
    before = everything(here.storage)
    here.desk.submit("operator", request(here, operation=Operation.RECONCILE))
    list(meanwhile(here, lambda: here.host.change(operators=())).run("key"))
    assert here.desk.answer("key") == Answer("Denied")
    assert everything(here.storage) == before


def test_a_refusal_of_a_request_says_nothing_of_the_same_request_that_was_sent_before(here: Deployment) -> None:
    work_on(here, SILENCE)
    here.desk.submit("operator", request(here, operation=Operation.RECONCILE))

    def sent_again_while_registered_otherwise() -> None:
        here.host.change(registered=Profile.AT_LEAST_ONCE)
        list(here.control().run("key"))
        here.host.change(registered=RBR)

    first = meanwhile(here, sent_again_while_registered_otherwise)
    list(first.run("key"))
    assert here.desk.answer("key") == Answer("Unsupported")
    assert first.answer == Answer("Completed")
    assert record(here).phase is Phase.DONE


def test_the_exact_request_that_was_committed_during_the_verification_is_replayed(here: Deployment) -> None:
    work_on(here, FAILED_SILENTLY)
    wanted = request(here, operation=Operation.RECONCILE)
    here.desk.submit("operator", wanted)
    control = meanwhile(here, lambda: here.storage.control_work("operator", wanted, NOT_ACCEPTED, 0))
    list(control.run("key"))
    assert here.desk.answer("key") == Answer("Scheduled", replayed=True)


def test_what_establishes_nothing_writes_nothing_and_leaves_the_key_free(here: Deployment) -> None:
    def panic(delivery_id: str, attempt: int, evidence_ref: str | None) -> Evidence:
        raise RuntimeError(delivery_id, attempt, evidence_ref)

    work_on(here, SILENCE)
    before = everything(here.storage)
    wanted = request(here, operation=Operation.RECONCILE)
    here.provider.plan_look_up(Sight.NOTHING)
    assert handle(here, wanted) == Answer("Unresolved")
    for verifier in (panic, lambda *_: Evidence(Finding.ACCEPTED, "")):
        control = here.control()
        control.verifier = verifier
        list(control.run("key"))
        assert here.desk.answer("key") == Answer("Unresolved")
    assert everything(here.storage) == before
    assert handle(here, wanted) == Answer("Completed")


def test_a_full_ledger_is_noticed_after_the_verifier_was_asked(tmp_path: Path) -> None:
    here = deployment(tmp_path, limits=Limits(max_receipts=0))
    work_on(here, SILENCE)
    wanted = request(here, operation=Operation.RECONCILE)
    here.provider.plan_look_up(Sight.NOTHING)
    assert handle(here, wanted) == Answer("Unresolved")
    assert handle(here, wanted) == Answer("Overloaded")
    here.close()


# Workers and their leases.


def test_a_worker_passes_its_kill_points_and_delivers_under_the_identity_of_the_work(here: Deployment) -> None:
    assert work_on(here) == ["match", "start", "send", "finish"]
    assert here.provider.deliveries(WORK) == 1
    assert (record(here).phase, record(here).attempts) == (Phase.DONE, 1)


@pytest.mark.parametrize("profile", [Profile.AT_LEAST_ONCE, Profile.PROVIDER_DEDUPLICATED, RBR])
@pytest.mark.parametrize("where", ["match", "start"])
def test_a_crash_before_the_send_was_stored_burns_an_attempt_and_nothing_else(
    tmp_path: Path, profile: Profile, where: str
) -> None:
    here = deployment(tmp_path, profile)
    work_on(here, until=where)
    assert work_on(here) == [], "the lease is still on"
    here.clock.set(30)
    assert work_on(here) == ["match", "start", "send", "finish"]
    assert (record(here).phase, record(here).attempts, here.provider.deliveries(WORK)) == (Phase.DONE, 2, 1)
    here.close()


@pytest.mark.parametrize(
    ("profile", "manner", "deliveries"),
    [
        (Profile.AT_LEAST_ONCE, Manner.NOTHING, {"send": 1, "finish": 2}),
        (Profile.PROVIDER_DEDUPLICATED, Manner.FOLD, {"send": 1, "finish": 1}),
        (RBR, Manner.NOTHING, {"send": 0, "finish": 1}),
    ],
)
@pytest.mark.parametrize("where", ["send", "finish"])
def test_after_a_crash_once_the_send_was_stored_the_profile_decides(
    tmp_path: Path, profile: Profile, manner: Manner, deliveries: dict[str, int], where: str
) -> None:
    here = deployment(tmp_path, profile)
    here.provider.manner = manner
    work_on(here, until=where)
    here.clock.set(30)
    work_on(here)
    assert here.provider.deliveries(WORK) == deliveries[where]
    assert record(here).phase is (Phase.AWAITING_RECONCILIATION if profile is RBR else Phase.DONE)
    here.close()


def test_a_stale_worker_cannot_finish_what_was_claimed_again_held_or_controlled(tmp_path: Path) -> None:
    here = deployment(tmp_path, Profile.AT_LEAST_ONCE)
    claim = here.storage.claim(0)
    assert claim is not None
    here.storage.delivery_started(claim, 0)
    events: list[Callable[[], object]] = [lambda: here.clock.set(30), lambda: here.storage.claim(30)]
    for event in events:
        event()
        before = everything(here.storage)
        for outcome in Delivery:
            with refused(Code.CONFLICT):
                here.storage.delivery_finished(claim, outcome, here.clock.now())
        assert everything(here.storage) == before
    here.close()


def test_a_hold_ends_the_claim_that_led_to_it(here: Deployment) -> None:
    claim = here.storage.claim(0)
    assert claim is not None
    here.storage.delivery_started(claim, 0)
    assert here.storage.claim(30) is None
    assert record(here).phase is Phase.AWAITING_RECONCILIATION
    with refused(Code.CONFLICT):
        here.storage.delivery_finished(claim, Delivery.ACCEPTED, 0)


def test_work_is_done_only_as_it_is_registered_and_by_a_service_that_may(here: Deployment) -> None:
    here.host.change(registered=Profile.AT_LEAST_ONCE)
    assert work_on(here) == ["match"]
    assert record(here).stopped is Reason.DEFINITION_CHANGED
    here.host.change(registered=RBR)
    handle(here, request(here, "again"))
    here.host.change(services=())
    assert work_on(here) == ["match"]
    assert record(here).stopped is Reason.DENIED
    assert here.provider.deliveries(WORK) == 0


def test_the_reference_journey_stops_schedules_replays_and_delivers_once(here: Deployment) -> None:
    here.host.change(services=())
    work_on(here)
    here.host.change(services=("service",))
    wanted = request(here)
    assert handle(here, wanted) == Answer("Scheduled")
    assert handle(here, wanted) == Answer("Scheduled", replayed=True)
    work_on(here)
    assert (record(here).phase, here.provider.deliveries(WORK)) == (Phase.DONE, 1)


# Restore.


def test_a_restore_keeps_the_receipts_of_the_backup_and_no_version(here: Deployment, tmp_path: Path) -> None:
    wanted = request(here)
    here.storage.control_work("operator", wanted, None, 0)
    stale = request(here, "stale")
    here.storage.backup(tmp_path / "backup")
    work_on(here)
    here.storage.restore(tmp_path / "backup")
    assert record(here).phase is Phase.PENDING
    assert here.storage.control_work("operator", wanted, None, 0).replayed
    with refused(Code.CONFLICT):
        here.storage.control_work("operator", stale, None, 0)


def test_a_restore_holds_a_send_that_was_stored_and_ends_every_claim(here: Deployment, tmp_path: Path) -> None:
    claim = here.storage.claim(0)
    assert claim is not None
    here.storage.delivery_started(claim, 0)
    here.storage.backup(tmp_path / "backup")
    here.storage.restore(tmp_path / "backup")
    assert record(here).phase is Phase.AWAITING_RECONCILIATION
    with refused(Code.CONFLICT):
        here.storage.delivery_finished(claim, Delivery.ACCEPTED, 0)


# Real kills inside the transaction.


def kill_after(directory: Path, statements: int, act: Callable[[Storage], object], parts: Parts | None = None) -> bool:
    """Do something in a child that is killed when SQLite begins its n-th statement; return whether it was killed."""
    child = os.fork()
    if child == 0:
        try:
            storage = Deployment(directory, parts=parts).storage
            left = [statements]

            def count(_: str) -> None:
                left[0] -= 1
                if left[0] == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

            storage.connection.set_trace_callback(count)
            act(storage)
            os._exit(0)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return True
    assert os.waitstatus_to_exitcode(status) == 0
    return False


def test_receipt_and_transition_are_one_commit_wherever_the_process_is_killed(tmp_path: Path) -> None:
    made = deployment(tmp_path)
    wanted, before = request(made), record(made)
    made.close()
    seen = set()
    for statements in range(1, 100):
        killed = kill_after(tmp_path, statements, lambda storage: storage.control_work("operator", wanted, None, 0))
        fresh = Deployment(tmp_path)
        moved, receipts = record(fresh) != before, len(fresh.storage.snapshot().receipts)
        fresh.close()
        assert receipts == moved
        seen.add(moved)
        if not killed:
            break
    assert seen == {False, True}


def test_a_claim_and_the_account_of_its_root_are_one_commit_wherever_the_process_is_killed(tmp_path: Path) -> None:
    deployment(tmp_path, Profile.AT_LEAST_ONCE).close()
    killed = True
    for statements in range(1, 100):
        killed = kill_after(tmp_path, statements, lambda storage: storage.claim(0))
        fresh = Deployment(tmp_path)
        assert fresh.storage.snapshot().books.used == {"root": record(fresh).attempts}
        fresh.close()
        if not killed:
            break
    assert not killed


def test_a_failed_commit_leaves_nobody_with_a_wrong_belief(here: Deployment) -> None:
    class Broken:
        """A connection whose commits fail."""

        def __init__(self, connection: sqlite3.Connection) -> None:
            self.connection = connection

        def execute(self, statement: str, *values: object) -> sqlite3.Cursor:
            if statement == "COMMIT":
                self.connection.execute("ROLLBACK")
                raise sqlite3.OperationalError("disk I/O error")
            return self.connection.execute(statement, *values)  # type: ignore[arg-type]

    wanted = request(here)
    whole = here.storage.connection
    here.storage.connection = Broken(whole)  # type: ignore[assignment]
    for _ in range(2):
        with refused(Code.UNKNOWN):
            here.storage.control_work("operator", wanted, None, 0)
    here.storage.connection = whole
    assert here.storage.uncertain


def test_a_claim_knows_what_it_holds(here: Deployment) -> None:
    claim = here.storage.claim(7)
    assert claim == Claim(WORK, 1, record(here).intent, 1)
    assert here.storage.holds(claim, 36)
    assert not here.storage.holds(claim, 37)

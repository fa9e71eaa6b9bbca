"""The tables of the documents, row by row, against the pure transitions of the reference implementation.

The expected values are those of the work state machine, of the transition table for operators and of the outcomes by
profile, not those of the model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from model.reference.operator_control.controls import ControlRules, Evidence, Finding, Operation, Result
from model.reference.operator_control.records import (
    LARGEST_REVISION,
    Books,
    Cause,
    Claim,
    Code,
    Delivery,
    Intent,
    Lease,
    Limits,
    Payload,
    Phase,
    Profile,
    Reason,
    Refusal,
    WorkRecord,
    settled,
)
from model.reference.operator_control.rules import RETRY, Rules

LIMITS = Limits(max_attempts=3, max_work=4, max_age=1000, retry_seconds=10, lease=30, max_fanout=2, max_records=3)
RULES = Rules(LIMITS)
NOW = 100
HELD = Phase.AWAITING_RECONCILIATION
RBR, ALO, PD = Profile.RECONCILE_BEFORE_RETRY, Profile.AT_LEAST_ONCE, Profile.PROVIDER_DEDUPLICATED
IN_DOUBT = (Delivery.UNKNOWN, Delivery.TIMED_OUT, Delivery.PANICKED)


def work(profile: Profile = RBR, payload: Payload = Payload.NOTIFICATION, **cause: int) -> Intent:
    """Return a piece of work."""
    return Intent("w", Cause("root", **cause), payload, profile=profile)  # type: ignore[arg-type]


def books(record: WorkRecord, used: int | None = None) -> Books:
    """Return books with one record, whose root has used what the record has."""
    return Books({record.id: record}, {"root": record.attempts if used is None else used})


def leased(record: WorkRecord, until: int = NOW + 1) -> tuple[WorkRecord, Claim]:
    """Return the record under a lease, and the claim that holds it."""
    generation = record.generation + 1
    held = replace(record, phase=Phase.LEASED, lease=Lease(until, generation), generation=generation)
    return held, Claim(record.id, generation, record.intent, record.attempts)


def the(books: Books) -> WorkRecord:
    """Return the only record."""
    (record,) = books.records.values()
    return record


def refused(code: Code) -> pytest.RaisesExc[Refusal]:
    """Expect a refusal."""
    return pytest.RaisesExc(Refusal, check=lambda refusal: refusal.code is code)


# Work: enqueue.


def test_new_work_is_pending_and_has_used_nothing() -> None:
    after = RULES.enqueue(Books(), replace(work(), not_before=7))
    assert the(after) == WorkRecord(replace(work(), not_before=7), Phase.PENDING, due=7)
    assert after.used == {"root": 0}


def test_work_that_is_known_is_left_alone_and_other_work_may_not_take_its_identity() -> None:
    known = books(WorkRecord(work(), attempts=2))
    assert RULES.enqueue(known, work()) is known
    with refused(Code.IDENTITY_MISMATCH):
        RULES.enqueue(known, work(ALO))


def test_more_work_than_there_is_room_for_is_refused() -> None:
    full = Books()
    for name in "abc":
        full = RULES.enqueue(full, replace(work(), id=name))
    with refused(Code.OVERLOADED):
        RULES.enqueue(full, work())


def test_only_notifications_have_a_profile() -> None:
    with refused(Code.INVALID):
        RULES.enqueue(Books(), work(PD, Payload.ACTION))


# Work: claim.


@pytest.mark.parametrize(("age", "phase", "reason"), [(1000, Phase.STOPPED, Reason.AGE), (999, Phase.PENDING, None)])
def test_work_that_is_not_due_is_stopped_for_its_age_and_otherwise_left(
    age: int, phase: Phase, reason: Reason | None
) -> None:
    after, claim = RULES.claim(books(WorkRecord(work(), due=age + 1)), age)
    assert (the(after).phase, the(after).stopped, claim) == (phase, reason, None)


@pytest.mark.parametrize("delivery", IN_DOUBT)
@pytest.mark.parametrize("taken", [False, True])
def test_a_claim_holds_what_is_in_doubt_and_burns_no_attempt(delivery: Delivery, taken: bool) -> None:
    record = WorkRecord(work(), attempts=1, generation=1, delivery=delivery, due=NOW)
    before = leased(record, until=NOW)[0] if taken else record
    after, claim = RULES.claim(books(before), NOW)
    held = the(after)
    assert claim is None
    assert (held.phase, held.lease, held.attempts) == (HELD, None, 1)
    assert held.generation == before.generation + 1
    assert after.used == {"root": 1}


def test_holding_happens_even_when_every_budget_is_used_up() -> None:
    record = WorkRecord(work(), attempts=3, generation=3, delivery=Delivery.UNKNOWN)
    assert the(RULES.claim(books(record, used=4), 5000)[0]).phase is HELD


@pytest.mark.parametrize("taken", [False, True])
@pytest.mark.parametrize("profile", [ALO, PD])
def test_a_claim_of_what_is_due_or_expired_takes_an_attempt_and_a_new_generation(profile: Profile, taken: bool) -> None:
    record = WorkRecord(work(profile), attempts=1, generation=1, delivery=Delivery.UNKNOWN, due=NOW)
    before = leased(record, until=NOW)[0] if taken else record
    after, claim = RULES.claim(books(before), NOW)
    generation = before.generation + 1
    assert the(after) == replace(
        before, phase=Phase.LEASED, lease=Lease(NOW + 30, generation), attempts=2, generation=generation
    )
    assert claim == Claim("w", generation, before.intent, 2)
    assert after.used == {"root": 2}


@pytest.mark.parametrize(
    ("depth", "started", "attempts", "used", "reason"),
    [
        (17, 0, 3, 4, Reason.DEPTH),
        (16, 0, 3, 4, Reason.AGE),
        (16, 1, 3, 4, Reason.ATTEMPTS),
        (16, 1, 2, 4, Reason.WORK_BUDGET),
        (16, 1, 2, 3, None),
    ],
)
def test_a_claim_names_depth_before_age_before_attempts_before_the_work_budget(
    depth: int, started: int, attempts: int, used: int, reason: Reason | None
) -> None:
    record = WorkRecord(work(depth=depth, started_at=started), attempts=attempts, generation=3)
    after, claim = RULES.claim(books(record, used), 1000)
    assert claim is not None
    assert claim.resolution_only is reason
    assert the(after).lease == Lease(1030, 4, reason)
    assert the(after).attempts == attempts + (reason is None)
    assert after.used["root"] == used + (reason is None)


def test_a_claim_scans_in_the_order_of_identities_and_gives_out_one() -> None:
    first = WorkRecord(replace(work(), id="a"), due=NOW + 1)
    second, third = (WorkRecord(replace(work(), id=name)) for name in "bc")
    before = Books({"c": third, "b": second, "a": first}, {"root": 0})
    after, claim = RULES.claim(before, NOW)
    assert claim is not None
    assert claim.id == "b"
    assert after.records["c"] == third


# Work: what a claim may do, and when it may nothing.


def test_a_claim_is_live_up_to_its_last_second_and_only_in_its_generation() -> None:
    record, claim = leased(WorkRecord(work()), until=NOW)
    assert RULES.claimed(books(record), claim, NOW - 1) == record
    stale = replace(claim, generation=claim.generation - 1)
    for bad, now in ((claim, NOW), (stale, NOW - 1)):
        with refused(Code.CONFLICT):
            RULES.claimed(books(record), bad, now)
    early = replace(record, intent=replace(record.intent, not_before=NOW))
    with refused(Code.CONFLICT):
        RULES.claimed(books(early), claim, NOW - 1)


@pytest.mark.parametrize("phase", [Phase.PENDING, HELD, Phase.DONE, Phase.STOPPED])
def test_a_worker_cannot_finish_what_it_does_not_hold(phase: Phase) -> None:
    record = WorkRecord(work(), phase, generation=1)
    claim = Claim("w", 1, record.intent, 1)
    acts: list[Callable[[], Books]] = [
        lambda: RULES.finish(books(record), claim, Phase.DONE, NOW),
        lambda: RULES.delivery_started(books(record), claim, NOW),
        lambda: RULES.delivery_finished(books(record), claim, Delivery.ACCEPTED, NOW),
        lambda: RULES.materialize(books(record), claim, (), NOW),
    ]
    for act in acts:
        with refused(Code.CONFLICT):
            act()


def test_a_send_is_stored_before_it_happens_and_storing_it_again_changes_nothing() -> None:
    record, claim = leased(WorkRecord(work()))
    once = RULES.delivery_started(books(record), claim, NOW)
    assert the(once) == replace(record, delivery=Delivery.UNKNOWN)
    assert RULES.delivery_started(once, claim, NOW) == once


def test_nothing_is_sent_under_a_claim_that_may_only_resolve() -> None:
    record, claim = leased(WorkRecord(work()))
    assert record.lease is not None
    record = replace(record, lease=replace(record.lease, resolution_only=Reason.AGE))
    with refused(Code.CONFLICT):
        RULES.delivery_started(books(record), claim, NOW)


def test_only_a_notification_is_delivered() -> None:
    record, claim = leased(WorkRecord(work(ALO, Payload.ACTION)))
    with refused(Code.CONFLICT):
        RULES.delivery_started(books(record), claim, NOW)
    with refused(Code.CONFLICT):
        RULES.delivery_finished(books(record), claim, Delivery.ACCEPTED, NOW)


OUTCOMES = [
    (Delivery.ACCEPTED, Phase.DONE, None, Phase.DONE, None),
    (Delivery.PERMANENT, Phase.STOPPED, Reason.DELIVERY_PERMANENT, Phase.STOPPED, Reason.DELIVERY_PERMANENT),
    (Delivery.RETRYABLE, Phase.PENDING, None, Phase.PENDING, None),
    (Delivery.UNKNOWN, Phase.PENDING, None, HELD, None),
    (Delivery.TIMED_OUT, Phase.PENDING, None, HELD, None),
    (Delivery.PANICKED, Phase.STOPPED, Reason.CALLBACK_PANICKED, HELD, None),
]


@pytest.mark.parametrize("profile", [ALO, PD, RBR])
@pytest.mark.parametrize(("outcome", "phase", "reason", "held_phase", "held_reason"), OUTCOMES)
def test_each_outcome_leads_where_the_profile_says(
    profile: Profile,
    outcome: Delivery,
    phase: Phase,
    reason: Reason | None,
    held_phase: Phase,
    held_reason: Reason | None,
) -> None:
    record, claim = leased(WorkRecord(work(profile), attempts=1, delivery=Delivery.UNKNOWN))
    after = the(RULES.delivery_finished(books(record), claim, outcome, NOW))
    expected = (held_phase, held_reason) if profile is RBR else (phase, reason)
    assert (after.phase, after.stopped) == expected
    assert (after.delivery, after.lease, after.attempts) == (outcome, None, 1)
    assert after.generation == record.generation + (after.phase is HELD)
    if after.phase is Phase.PENDING:
        assert after.due == NOW + 10


@pytest.mark.parametrize(("attempts", "delay"), [(1, 10), (2, 20), (3, 40), (11, 10240), (12, 10240), (40, 10240)])
def test_the_delay_doubles_up_to_a_limit_and_never_ends_before_the_floor(attempts: int, delay: int) -> None:
    rules = Rules(replace(LIMITS, max_attempts=99, max_work=99, max_age=10**6))
    record, claim = leased(WorkRecord(work(ALO), attempts=attempts))
    assert the(rules.finish(books(record), claim, RETRY, NOW)).due == NOW + delay


@pytest.mark.parametrize(
    ("attempts", "used", "started", "reason"),
    [(3, 4, 0, Reason.ATTEMPTS), (2, 4, 0, Reason.WORK_BUDGET), (2, 3, 0, Reason.AGE), (2, 3, 1, None)],
)
def test_a_finish_names_attempts_before_the_work_budget_before_age(
    attempts: int, used: int, started: int, reason: Reason | None
) -> None:
    record, claim = leased(WorkRecord(work(ALO, started_at=started), attempts=attempts), until=1001)
    after = the(RULES.finish(books(record, used), claim, RETRY, 1000))
    assert (after.phase, after.stopped) == ((Phase.STOPPED, reason) if reason else (Phase.PENDING, None))


@pytest.mark.parametrize("delivery", IN_DOUBT)
def test_a_worker_that_asks_for_a_retry_of_what_is_in_doubt_gets_it_held(delivery: Delivery) -> None:
    record, claim = leased(WorkRecord(work(), attempts=3, delivery=delivery))
    after = the(RULES.finish(books(record), claim, RETRY, NOW))
    assert (after.phase, after.generation, after.delivery) == (HELD, record.generation + 1, delivery)


@pytest.mark.parametrize("verdict", [Phase.DONE, Reason.DENIED, Reason.DEFINITION_CHANGED])
def test_a_finish_keeps_what_is_known_of_the_delivery(verdict: Phase | Reason) -> None:
    record, claim = leased(WorkRecord(work(), attempts=1, delivery=Delivery.UNKNOWN))
    after = the(RULES.finish(books(record), claim, verdict, NOW))
    assert after.delivery is Delivery.UNKNOWN
    assert after.phase is (Phase.STOPPED if isinstance(verdict, Reason) else Phase.DONE)
    assert after.stopped is (verdict if isinstance(verdict, Reason) else None)


def test_a_source_becomes_its_children_at_once_and_only_what_follows_from_it() -> None:
    source, claim = leased(WorkRecord(work(ALO, Payload.SOURCE)))
    child = Intent("child", Cause("root", parent="w", depth=1))
    after = RULES.materialize(books(source), claim, [child], NOW)
    assert after.records["w"].phase is Phase.DONE
    assert after.records["child"].phase is Phase.PENDING
    with refused(Code.INVALID):
        RULES.materialize(books(source), claim, [replace(child, cause=Cause("other", parent="w", depth=1))], NOW)
    with refused(Code.CONFLICT):
        RULES.materialize(books(source), claim, [child] * 3, NOW)


# Restore.


@pytest.mark.parametrize("delivery", [None, *Delivery])
@pytest.mark.parametrize("profile", [ALO, PD, RBR])
def test_a_restore_honours_no_claim_and_holds_what_is_in_doubt(profile: Profile, delivery: Delivery | None) -> None:
    record, _ = leased(WorkRecord(replace(work(profile), not_before=3), attempts=1, due=50, delivery=delivery))
    after = the(RULES.restored(books(record)))
    if profile is RBR and delivery in IN_DOUBT:
        assert after == replace(record, phase=HELD, lease=None, generation=2)
    else:
        assert after == replace(record, phase=Phase.PENDING, lease=None, due=3, generation=2)


def test_a_restore_leaves_alone_what_nobody_works_on() -> None:
    for phase in (Phase.PENDING, HELD, Phase.DONE, Phase.STOPPED):
        before = books(WorkRecord(work(), phase, delivery=Delivery.UNKNOWN))
        assert RULES.restored(before) == before


def test_a_revision_is_counted_once_and_runs_out() -> None:
    before = books(WorkRecord(work(), revision=4))
    assert settled(before, before) == before
    twice = books(WorkRecord(work(), attempts=2, revision=4))
    assert the(settled(before, twice)).revision == 5
    last = books(WorkRecord(work(), revision=LARGEST_REVISION))
    with refused(Code.TOO_LARGE):
        settled(last, books(WorkRecord(work(), attempts=1, revision=LARGEST_REVISION)))


# The operator's transitions.

CONTROLS = ControlRules(RULES)
ACCEPTED, NOT_ACCEPTED = (Evidence(finding, "reference") for finding in (Finding.ACCEPTED, Finding.NOT_ACCEPTED))
PROVED = Evidence(Finding.PROVED, "receipt")
SOFT = Reason.DENIED
HARD = (Reason.DEPTH, Reason.FANOUT, Reason.ATTEMPTS, Reason.WORK_BUDGET, Reason.AGE)


def control(
    record: WorkRecord, operation: Operation, evidence: Evidence | None = None, used: int = 1
) -> tuple[WorkRecord, Result]:
    """Apply a control."""
    return CONTROLS.control(books(record, used), record, operation, evidence, NOW)


@pytest.mark.parametrize("phase", [Phase.LEASED, Phase.DONE])
@pytest.mark.parametrize(
    ("operation", "evidence"),
    [(Operation.RETRY, None), (Operation.RECONCILE, ACCEPTED), (Operation.RECONCILE, NOT_ACCEPTED)],
)
def test_no_control_reaches_what_is_leased_or_done(
    phase: Phase, operation: Operation, evidence: Evidence | None
) -> None:
    record = WorkRecord(work(), phase, Lease(0, 1) if phase is Phase.LEASED else None, generation=1)
    with refused(Code.CONFLICT):
        control(record, operation, evidence)


@pytest.mark.parametrize("profile", [ALO, PD, RBR])
@pytest.mark.parametrize(("phase", "reason"), [(Phase.PENDING, None), (Phase.STOPPED, SOFT)])
@pytest.mark.parametrize("delivery", [None, *Delivery])
def test_a_retry_schedules_what_is_neither_hard_nor_in_doubt_and_touches_nothing_else(
    profile: Profile, phase: Phase, reason: Reason | None, delivery: Delivery | None
) -> None:
    record = WorkRecord(work(profile), phase, stopped=reason, attempts=2, generation=5, due=700, delivery=delivery)
    if profile is RBR and delivery in IN_DOUBT:
        with refused(Code.CONFLICT):
            control(record, Operation.RETRY)
        return
    after, result = control(record, Operation.RETRY)
    assert result is Result.SCHEDULED
    assert after == replace(record, phase=Phase.PENDING, stopped=None, due=NOW, generation=6)


def test_a_retry_of_work_that_may_not_begin_yet_waits_for_that() -> None:
    record = WorkRecord(replace(work(), not_before=NOW + 5), due=NOW + 50)
    assert control(record, Operation.RETRY)[0].due == NOW + 5


def test_a_retry_releases_no_hold() -> None:
    with refused(Code.CONFLICT):
        control(WorkRecord(work(), HELD, delivery=Delivery.UNKNOWN), Operation.RETRY)


@pytest.mark.parametrize("reason", HARD)
def test_a_retry_gives_no_used_up_budget_back(reason: Reason) -> None:
    with refused(Code.CONFLICT):
        control(WorkRecord(work(), Phase.STOPPED, stopped=reason), Operation.RETRY)


@pytest.mark.parametrize(("attempts", "used"), [(3, 3), (2, 4)])
def test_a_retry_looks_at_the_budgets_as_they_are_now(attempts: int, used: int) -> None:
    with refused(Code.CONFLICT):
        control(WorkRecord(work(), attempts=attempts), Operation.RETRY, used=used)


def test_a_receipt_of_its_own_completes_an_action_and_nothing_else() -> None:
    action = WorkRecord(work(ALO, Payload.ACTION), Phase.STOPPED, stopped=SOFT, attempts=1)
    after, result = control(action, Operation.RECONCILE, PROVED)
    assert (after.phase, after.delivery, result) == (Phase.DONE, None, Result.COMPLETED)
    with refused(Code.INVALID):
        control(WorkRecord(work()), Operation.RECONCILE, PROVED)
    with refused(Code.INVALID):
        control(action, Operation.RECONCILE, ACCEPTED)


REACHABLE = [(Phase.PENDING, None), (HELD, None), *((Phase.STOPPED, reason) for reason in Reason)]


@pytest.mark.parametrize("profile", [ALO, PD, RBR])
@pytest.mark.parametrize(("phase", "reason"), REACHABLE)
def test_accepted_completes_whatever_is_not_leased_or_done(
    profile: Profile, phase: Phase, reason: Reason | None
) -> None:
    record = WorkRecord(work(profile), phase, stopped=reason, attempts=2, generation=4)
    after, result = control(record, Operation.RECONCILE, ACCEPTED)
    assert result is Result.COMPLETED
    assert after == replace(record, phase=Phase.DONE, stopped=None, delivery=Delivery.ACCEPTED, generation=5)


@pytest.mark.parametrize(("phase", "reason"), REACHABLE)
def test_not_accepted_releases_a_hold_and_then_the_budgets_count(phase: Phase, reason: Reason | None) -> None:
    record = WorkRecord(work(), phase, stopped=reason, attempts=2, generation=4, delivery=Delivery.UNKNOWN)
    after, result = control(record, Operation.RECONCILE, NOT_ACCEPTED)
    if reason in HARD:
        assert (after.phase, after.stopped, result) == (Phase.STOPPED, reason, Result.STOPPED)
    else:
        assert (after.phase, after.stopped, after.due, result) == (Phase.PENDING, None, NOW, Result.SCHEDULED)
    assert (after.delivery, after.attempts) == (Delivery.PERMANENT, 2)
    spent = control(replace(record, attempts=3, stopped=None, phase=HELD), Operation.RECONCILE, NOT_ACCEPTED)
    assert (spent[0].phase, spent[0].stopped, spent[1]) == (Phase.STOPPED, Reason.ATTEMPTS, Result.STOPPED)


@pytest.mark.parametrize("evidence", [None, Evidence(Finding.UNRESOLVED, "x"), Evidence(Finding.ACCEPTED, "")])
def test_nothing_follows_from_no_evidence(evidence: Evidence | None) -> None:
    with refused(Code.INVALID):
        control(WorkRecord(work(), HELD, delivery=Delivery.UNKNOWN), Operation.RECONCILE, evidence)

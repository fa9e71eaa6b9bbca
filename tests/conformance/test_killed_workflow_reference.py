"""The reference implementation of the killed workflow by itself: its ledger, its provider, and what a kill leaves."""

import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from dulwich.objects import Commit
from dulwich.repo import Repo

from checker.conformance.forking import quick_directory
from model.reference.killed_workflow import ledger as ledger_module
from model.reference.killed_workflow.canonical import Malformed, canonical, read
from model.reference.killed_workflow.coordinator import Coordinator
from model.reference.killed_workflow.drafts import Writer, about_attempt, following, proposal, submission
from model.reference.killed_workflow.judgements import Fixed
from model.reference.killed_workflow.ledger import BRANCH, ChainBroken, Conflict, GitLedger, Locked
from model.reference.killed_workflow.people import cancel_run, decide_run
from model.reference.killed_workflow.planner import plan_recovery
from model.reference.killed_workflow.provider import Provider
from model.reference.killed_workflow.provider_client import (
    Accepted,
    LookUpUnsupported,
    ProviderClient,
    Rejected,
    ReplyLost,
)
from model.reference.killed_workflow.reconstruct import RecoveryError, reconstruct_run_state, recover_run
from model.reference.killed_workflow.records import Attempt, HumanDecision, Record

ROOT = Path(__file__).resolve().parents[2]
WRITER = Writer()
DIGEST = f"sha256:{'0' * 64}"


@pytest.fixture
def directory() -> Iterator[Path]:
    with quick_directory() as name:
        yield Path(name)


@pytest.fixture
def provider(directory: Path) -> Iterator[Provider]:
    served = Provider(directory)
    served.start()
    yield served
    served.close()


@pytest.fixture
def client(provider: Provider) -> ProviderClient:
    return ProviderClient(provider.port)


def proposed(path: Path) -> GitLedger:
    """Return a ledger with a proposal in it."""
    ledger = GitLedger.create(path)
    ledger.append(proposal("run-1", WRITER), None)
    return ledger


def whole_run(ledger: GitLedger, client: ProviderClient) -> tuple[Record, ...]:
    """Take a run from its proposal over a failed attempt to a decision, and return its records."""
    for outcome in ("failed", "succeeded"):
        coordinate(ledger, client)
        assert client.control("finish", external_id=client.state()["jobs"][-1]["number"], outcome=outcome)
    coordinate(ledger, client)
    assert decide_run(ledger)
    coordinate(ledger, client)
    return ledger.read().records


def coordinate(ledger: GitLedger, client: ProviderClient) -> list[str]:
    """Let a new coordinator do what there is to do, and return where it came by."""
    return list(Coordinator(ledger, client, Fixed()).run())


# -- what the records come to -----------------------------------------------------------------------------------------


def test_every_prefix_of_a_whole_run_is_a_run(directory: Path, client: ProviderClient) -> None:
    records = whole_run(proposed(directory / "ledger.git"), client)

    assert [record.event.state for record in records[-2:]] == ["awaiting_human_decision", "decided"]
    for length in range(1, len(records) + 1):
        state = reconstruct_run_state(records[:length])
        assert (state.state, state.head_sequence) == (records[length - 1].event.state, length)
        assert state.failures == tuple(record.failure for record in records[:length] if record.failure is not None)
        assert plan_recovery(state).action != "none" or length == len(records)
    first, second = reconstruct_run_state(records).attempts
    assert (first.number, second.number) == (1, 2)
    assert first.failure is not None


def test_a_run_is_recovered_from_the_repository_alone(directory: Path, client: ProviderClient) -> None:
    ledger = proposed(directory / "ledger.git")
    whole_run(ledger, client)
    before = recover_run(ledger)
    ledger.close()

    moved = shutil.copytree(directory / "ledger.git", directory / "elsewhere.git")
    shutil.rmtree(directory / "ledger.git")
    script = (
        "import sys; from pathlib import Path\n"
        "from model.reference.killed_workflow.ledger import GitLedger\n"
        "from model.reference.killed_workflow.reconstruct import recover_run\n"
        "print(recover_run(GitLedger(Path(sys.argv[1]))))"
    )
    fresh = subprocess.run(
        [sys.executable, "-c", script, moved], capture_output=True, text=True, check=True, cwd=ROOT, timeout=60
    )

    assert fresh.stdout.strip() == str(before)


def test_an_empty_ledger_recovers_nothing(directory: Path) -> None:
    with GitLedger.create(directory / "ledger.git") as ledger:
        assert recover_run(ledger) is None


def test_the_history_that_skips_the_preview_is_a_chain_and_no_run(directory: Path) -> None:
    with proposed(directory / "ledger.git") as ledger:
        history = ledger.read()
        ledger.append(following(history, WRITER, "run.admitted", "admitted"), history.head)

        assert len(ledger.read().records) == 2
        with pytest.raises(RecoveryError, match="recovery_inconsistent: illegal_transition at record 2"):
            recover_run(ledger)


def refused(*records: Record) -> str:
    with pytest.raises(RecoveryError) as refusal:
        reconstruct_run_state(records)
    assert refusal.value.code == "recovery_inconsistent"
    return refusal.value.reason


def test_what_no_run_can_have_come_to_is_refused_with_its_reason() -> None:
    first = proposal("run-1", WRITER)
    told = about_attempt(first, 1, submission("ambiguous"))
    assert told.attempt is not None
    decided = replace(first, human_decision=HumanDecision("recorded"))

    assert refused() == "nothing_recorded"
    assert refused(replace(first, event=replace(first.event, state="admitted"))) == "illegal_transition"
    assert refused(first, replace(first, run_id="run-2")) == "run_identity_changed"
    assert refused(first, about_attempt(first, 2), told) == "attempt_number_regressed"
    renumbered = replace(told, attempt=Attempt(told.attempt.attempt_id, 2, "initial", told.attempt.connector_id))
    assert refused(first, told, renumbered) == "attempt_identity_changed"
    assert refused(first, decided) == "human_decision_inconsistent"
    assert refused(first, replace(told, attempt=None)) == "submission_without_attempt"


def test_nothing_is_said_twice_and_nothing_is_forgotten_of_an_attempt_in_doubt() -> None:
    first = proposal("run-1", WRITER)
    doubted = about_attempt(first, 1, submission("ambiguous"))

    assert reconstruct_run_state([first, doubted, first]).ambiguous_attempts == ("run-1:attempt-1",)
    assert plan_recovery(reconstruct_run_state([first, doubted, first])).blind_resubmission_forbidden
    settled = about_attempt(first, 1, submission("submitted", "7"))
    assert not reconstruct_run_state([first, doubted, settled]).needs_reconciliation


# -- the ledger -------------------------------------------------------------------------------------------------------


def rewritten(path: Path, *messages: bytes) -> GitLedger:
    """Return a ledger whose branch has these messages, each on its own commit, as git itself would take them."""
    repository = Repo(str(path))
    parents: list[bytes] = []
    for message in messages:
        last = repository.object_store[repository.refs[BRANCH]]
        assert isinstance(last, Commit)
        commit = Commit.from_string(last.as_raw_string())
        commit.parents = list(parents)  # type: ignore[arg-type]
        commit.message = message
        repository.object_store.add_object(commit)
        parents = [commit.id]
    repository.refs[BRANCH] = parents[0]  # type: ignore[assignment]
    repository.close()
    return GitLedger(path)


def test_a_tampered_chain_is_refused(directory: Path, client: ProviderClient) -> None:
    path = directory / "ledger.git"
    records = whole_run(proposed(path), client)
    whole = [canonical(record) for record in records]
    unsent = records[4].provider
    assert unsent is not None
    altered = canonical(replace(records[4], provider=replace(unsent, submission_state="not_submitted")))

    assert rewritten(path, *whole).read().records == records
    for tampered in (
        [*whole[:4], altered, *whole[5:]],
        [*whole[:4], *whole[5:]],
        [*whole[:3], whole[4], whole[3], *whole[5:]],
        whole[1:],
        [*whole[:-1], json.dumps(json.loads(whole[-1])).encode()],
        [*whole[:-1], whole[-1].replace(b'"merge":false', b'"merge":true')],
        [*whole, b"no record at all"],
    ):
        ledger = rewritten(path, *tampered)
        with pytest.raises(ChainBroken):
            ledger.read()
        with pytest.raises(ChainBroken):
            ledger.append(records[-1], None)


def test_an_object_that_is_not_what_its_name_says_is_refused(directory: Path) -> None:
    with proposed(directory / "ledger.git") as ledger:
        first = ledger.read()
        second = following(first, WRITER, "run.previewed", "previewed")
        head = ledger.append(second, first.head)
        assert first.head is not None
        objects = [directory / "ledger.git" / "objects" / name[:2] / name[2:] for name in (first.head.commit.decode(),)]
        newest = directory / "ledger.git" / "objects" / head.commit.decode()[:2] / head.commit.decode()[2:]
        newest.chmod(0o644)
        newest.write_bytes(objects[0].read_bytes())

        with pytest.raises(ChainBroken, match="hashes to its name"):
            ledger.read()
        newest.unlink()
        with pytest.raises(ChainBroken, match="git cannot read"):
            ledger.read()


def test_of_two_who_have_read_the_same_head_one_has_to_read_again(directory: Path) -> None:
    first, second = proposed(directory / "ledger.git"), GitLedger(directory / "ledger.git")
    read_by_first, read_by_second = first.read(), second.read()

    first.append(following(read_by_first, WRITER, "run.previewed", "previewed"), read_by_first.head)
    with pytest.raises(Conflict):
        second.append(following(read_by_second, WRITER, "run.cancelled", "cancelled"), read_by_second.head)

    assert [record.event.state for record in second.read().records] == ["proposed", "previewed"]
    assert cancel_run(second)


def test_nobody_appends_to_a_ledger_that_was_moved_between_the_look_and_the_compare_and_set(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, other = proposed(directory / "ledger.git"), GitLedger(directory / "ledger.git")
    history = ledger.read()
    add_object = ledger._repository.object_store.add_object

    def overtaken(obj: Commit) -> None:
        add_object(obj)
        monkeypatch.setattr(ledger._repository.object_store, "add_object", add_object)
        cancel_run(other)

    monkeypatch.setattr(ledger._repository.object_store, "add_object", overtaken)
    with pytest.raises(Conflict):
        ledger.append(following(history, WRITER, "run.previewed", "previewed"), history.head)

    assert [record.event.state for record in ledger.read().records] == ["proposed", "cancelled"]


def test_writers_who_race_lose_no_record_and_write_none_over(directory: Path) -> None:
    proposed(directory / "ledger.git").close()
    won: list[str] = []

    def observe(login: str) -> None:
        with GitLedger(directory / "ledger.git") as ledger:
            for _ in range(10):
                history = ledger.read()
                try:
                    ledger.append(following(history, Writer(login), "run.observed", "proposed"), history.head)
                except Conflict:
                    continue
                won.append(login)

    threads = [threading.Thread(target=observe, args=(f"writer-{number}",)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    with GitLedger(directory / "ledger.git") as ledger:
        records = ledger.read().records
    assert sorted(record.event.actor.login for record in records[1:]) == sorted(won)
    assert len(records) > 10


def test_a_lock_that_outlives_its_owner_is_reported_and_not_stolen(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_module, "_LOCK_PATIENCE_S", 0.05)
    with proposed(directory / "ledger.git") as ledger:
        lock = directory / "ledger.git" / f"{BRANCH.decode()}.lock"
        lock.touch()
        with pytest.raises(Locked):
            cancel_run(ledger)
        lock.unlink()

        assert cancel_run(ledger)


def test_a_malformed_record_is_refused_before_it_is_written(directory: Path) -> None:
    with proposed(directory / "ledger.git") as ledger:
        history = ledger.read()
        record = following(history, WRITER, "run.previewed", "previewed")
        for malformed in (
            replace(record, run_id="-"),
            replace(record, previous_record_digest=None),
            replace(record, ledger_sequence=3),
            replace(record, idempotency=replace(record.idempotency, attempt_number=0)),
        ):
            with pytest.raises(ChainBroken):
                ledger.append(malformed, history.head)

        assert ledger.read() == history


@pytest.mark.parametrize(
    "content",
    [
        b"{}",
        canonical(proposal("run-1", WRITER)).replace(b'"ledger_sequence":1', b'"ledger_sequence":true'),
        canonical(proposal("run-1", WRITER)).replace(b'"merge":false', b'"merge":0'),
        canonical(proposal("run-1", WRITER)).replace(b'"provider":null', b'"provider":null,"secret":""'),
        canonical(proposal("run-1", WRITER)).replace(b'"state":"proposed"', b'"state":"begun"'),
        b" " + canonical(proposal("run-1", WRITER)),
        b"\xff",
    ],
)
def test_what_is_no_record_is_not_read_as_one(content: bytes) -> None:
    with pytest.raises(Malformed):
        read(Record, content)


def test_a_record_is_read_as_it_was_written() -> None:
    record = proposal("run-1", WRITER)

    assert read(Record, canonical(record)) == record
    assert set(json.loads(canonical(record))) == {
        *("schema_version", "kind", "record_id", "repository", "project_id", "run_id", "ledger_sequence"),
        *("previous_record_digest", "event", "work_unit", "routing", "idempotency", "attempt", "provider"),
        *("candidate_reference", "result_manifest", "verification_results", "human_decision", "failure", "authority"),
    }


# -- the provider -----------------------------------------------------------------------------------------------------


def test_a_repeated_key_is_another_job_unless_the_provider_folds_it(provider: Provider, client: ProviderClient) -> None:
    assert client.submit("k", DIGEST) != client.submit("k", DIGEST)
    assert len(client.state()["jobs"]) == 2

    client.control("reset", deduplicates=True)
    client.control("turn", dispatch_key="no", answer="reject")
    assert client.submit("k", DIGEST) == client.submit("k", DIGEST)
    assert client.submit("k", f"sha256:{'1' * 64}") == Rejected("key_conflict")
    assert client.submit("no", DIGEST) == Rejected("rejected")
    client.control("turn", dispatch_key="no")
    assert client.submit("no", DIGEST) == Rejected("rejected")
    assert [job.dispatch_key for job in provider.jobs.all_jobs()] == ["k"]


def test_a_lost_reply_and_a_delayed_call_look_the_same_to_their_caller(client: ProviderClient) -> None:
    client.control("turn", dispatch_key="lost", lose_reply=True)
    client.control("turn", dispatch_key="late", delay=True)
    for key in ("lost", "late"):
        with pytest.raises(ReplyLost):
            client.submit(key, DIGEST)

    assert isinstance(client.look_up("lost"), Accepted)
    assert client.look_up("late") is None
    (call,) = client.state()["calls"]
    assert client.control("arrive", call=call["number"], answer="accept")
    assert isinstance(client.look_up("late"), Accepted)
    assert not client.control("arrive", call=call["number"], answer="accept")


def test_a_look_up_may_lag_or_be_absent_and_external_ids_do_not(client: ProviderClient) -> None:
    accepted = client.submit("k", DIGEST)
    assert isinstance(accepted, Accepted)
    client.control("turn", dispatch_key="k", stale=True)

    assert client.look_up("k") is None
    assert client.observe(accepted.external_id) == "running"
    assert client.control("finish", external_id=accepted.external_id, outcome="failed")
    assert client.observe(accepted.external_id) == "failed"
    client.control("reset", look_up="absent")
    with pytest.raises(LookUpUnsupported):
        client.look_up("k")


def test_a_provider_of_its_own_remembers_what_it_was_killed_with(directory: Path) -> None:
    def served() -> tuple[subprocess.Popen[str], ProviderClient]:
        process = subprocess.Popen(
            [sys.executable, "-m", "model.reference.killed_workflow.provider", directory],
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        assert process.stdout is not None
        return process, ProviderClient(int(process.stdout.readline()))

    process, client = served()
    accepted = client.submit("k", DIGEST)
    process.kill()
    process.communicate(timeout=10)
    with pytest.raises(ReplyLost):
        client.look_up("k")

    process, client = served()
    try:
        assert client.look_up("k") == accepted
    finally:
        process.kill()
        process.communicate(timeout=10)


# -- the coordinator --------------------------------------------------------------------------------------------------


def test_a_coordinator_that_is_dropped_at_any_point_leaves_a_run_that_is_sent_once(
    directory: Path, client: ProviderClient
) -> None:
    points = len(coordinate(proposed(directory / "whole.git"), client))
    for dropped_at in range(1, points + 1):
        client.control("reset")
        ledger = proposed(directory / f"{dropped_at}.git")
        coordinator = Coordinator(ledger, client, Fixed()).run()
        for _ in range(dropped_at):
            next(coordinator)
        del coordinator
        coordinate(ledger, client)

        state = recover_run(ledger)
        assert state is not None
        assert (state.state, [attempt.submission for attempt in state.attempts]) == ("dispatched", ["submitted"])
        assert len(client.state()["jobs"]) == 1
        ledger.close()


def test_a_failed_attempt_whose_job_turns_up_is_left_to_an_operator(directory: Path, client: ProviderClient) -> None:
    ledger = proposed(directory / "ledger.git")
    coordinate(ledger, client)
    history = ledger.read()
    failed = following(history, WRITER, "attempt.failed", "attempt_failed")
    ledger.append(about_attempt(failed, 1, submission("ambiguous")), history.head)

    assert "adopt" in coordinate(ledger, client)
    state = recover_run(ledger)
    assert state is not None
    assert (state.state, plan_recovery(state).action) == ("attempt_failed", "await_operator")
    assert len(client.state()["jobs"]) == 1


def test_a_plan_waits_for_its_gate_and_for_nobody_elses(directory: Path, client: ProviderClient) -> None:
    ledger = proposed(directory / "ledger.git")
    (directory / "dispatch").touch()

    waiting = list(Coordinator(ledger, client, Fixed(directory)).run())
    assert waiting == ["rest", "advance", "rest", "advance", "rest"]
    (directory / "dispatch").unlink()
    (directory / "verification").touch()
    assert "submit" in list(Coordinator(ledger, client, Fixed(directory)).run())

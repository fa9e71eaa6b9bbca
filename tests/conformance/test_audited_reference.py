"""The reference implementation of audited recovery by itself: what its document asks to be tested, on real files."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("fcntl", reason="leases are `flock` locks")

from model.reference.audited_recovery import files
from model.reference.audited_recovery.commands import Answered, command
from model.reference.audited_recovery.defects import ReleaseByBytes
from model.reference.audited_recovery.evidence import Liveness
from model.reference.audited_recovery.files import Draft
from model.reference.audited_recovery.judgement import Refusal
from model.reference.audited_recovery.ledger import Operation, Outcome
from model.reference.audited_recovery.locks import OwnerRecord
from model.reference.audited_recovery.owner import Owner
from model.reference.audited_recovery.party import Answer, Host, Party, is_held, probe, started_at
from model.reference.audited_recovery.recovery import Operator, Order
from model.reference.audited_recovery.run import Run
from model.reference.audited_recovery.workspace import Part

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="asks /proc and the kernel of Linux about processes")

HERE = Host("here")
UNLOCK = Order(Operation.UNLOCK, "somebody", "the owner is gone")
RECLAIM = Order(Operation.RECLAIM, "somebody", "the transcript is gone")
CONFIRMED = ["--actor", "somebody", "--reason", "the owner is gone", "--yes"]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    found = Run(tmp_path, "run")
    found.prepare()
    found.evidence.prove(0)
    return found


@pytest.fixture
def dead_pid() -> int:
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


def me() -> Party:
    return Party(HERE, os.getpid(), "me")


def until(turn: Iterator[str], point: str) -> None:
    """Let a process come as far as a kill point."""
    assert any(reached == point for reached in turn), f"it never came by {point}"


def lock_of(run: Run, pid: int, host: str = "here") -> bytes:
    data = OwnerRecord(host, pid, "nonce").encode()
    run.lock.path.write_bytes(data)
    return data


def unlock(run: Run, party: Party | None = None, order: Order = UNLOCK) -> Refusal | None:
    operator = Operator(run, party or me())
    list(operator.turn(order))
    return operator.refusal


# --- The probe ---


def test_a_dead_process_is_absent_and_a_live_one_present(dead_pid: int) -> None:
    assert probe(dead_pid) is Answer.ABSENT
    assert probe(os.getpid()) is Answer.PRESENT


def test_a_process_that_may_not_be_signalled_is_present() -> None:
    script = (
        "import os\nfrom model.reference.audited_recovery.party import probe\n"
        "os.getuid() or os.setuid(65534)\nprint(probe(1).value)"
    )
    root = str(Path(__file__).parents[2])
    done = subprocess.run([sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout == "present\n"


def test_nothing_but_signal_0_is_ever_sent(run: Run, dead_pid: int, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[int] = []
    kill = os.kill

    def noting(pid: int, number: int) -> None:
        sent.append(number)
        kill(pid, number)

    monkeypatch.setattr(os, "kill", noting)
    lock_of(run, dead_pid)
    assert unlock(run) is None
    assert sent == [0]


# --- Refusals of an unlock ---


def refused_and_unchanged(run: Run, refusal: Refusal, party: Party | None = None) -> None:
    before = run.lock.observe()
    assert unlock(run, party) is refusal
    assert run.lock.observe() == before
    assert run.ledger.outcome(Operation.UNLOCK) is Outcome.UNKNOWN


def test_a_live_owner_is_refused(run: Run) -> None:
    lock_of(run, os.getpid())
    refused_and_unchanged(run, Refusal.LIVE)


def test_an_owner_on_another_host_is_refused_though_nobody_here_has_its_pid(run: Run, dead_pid: int) -> None:
    lock_of(run, dead_pid, "elsewhere")
    refused_and_unchanged(run, Refusal.FOREIGN)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff",
        b"null",
        b"{}",
        b'{"host":"here","nonce":"n"}',
        b'{"host":"here","nonce":"n","pid":0}',
        b'{"host":"here","nonce":"n","pid":-1}',
        b'{"host":"here","nonce":"n","pid":true}',
        b'{"host":"here","nonce":"n","pid":"77"}',
        b'{"host":"here","nonce":"n","pid":99999999999}',
        b'{"host":"here","nonce":"","pid":77}',
        b"[" * 3000,
    ],
)
def test_a_malformed_record_is_refused(run: Run, data: bytes) -> None:
    run.lock.path.write_bytes(data)
    refused_and_unchanged(run, Refusal.MALFORMED)


def test_a_lock_that_is_no_file_is_refused(run: Run, dead_pid: int, tmp_path: Path) -> None:
    target = tmp_path / "record"
    target.write_bytes(OwnerRecord("here", dead_pid, "nonce").encode())
    run.lock.path.symlink_to(target)
    refused_and_unchanged(run, Refusal.MALFORMED)
    run.lock.path.unlink()
    run.lock.path.mkdir()
    refused_and_unchanged(run, Refusal.MALFORMED)


def test_an_inconclusive_probe_is_refused(run: Run, dead_pid: int) -> None:
    lock_of(run, dead_pid)
    unsure = Party(Host("here", lambda _: Answer.INCONCLUSIVE), os.getpid())
    refused_and_unchanged(run, Refusal.INCONCLUSIVE, unsure)


def test_a_reused_pid_blocks_unless_start_times_are_compared(run: Run) -> None:
    started = started_at(os.getpid())
    assert started is not None
    run.lock.path.write_bytes(OwnerRecord("here", os.getpid(), "nonce", started - 1).encode())
    refused_and_unchanged(run, Refusal.LIVE)
    assert unlock(run, Party(replace(HERE, compares_start=True), os.getpid())) is None


# --- What changes between preview and effect ---


def test_a_lock_that_was_replaced_after_the_preview_stays(run: Run, dead_pid: int) -> None:
    data = lock_of(run, dead_pid)
    for point in ("enter", "write_intent", "recheck_lock"):
        turn = Operator(run, me()).turn(UNLOCK)
        until(turn, point)
        other = run.lock.path.with_suffix(".other")
        other.write_bytes(data)  # the same bytes; what differs is the inode
        other.replace(run.lock.path)
        before = run.lock.observe()
        list(turn)
        assert run.lock.observe() == before, point


def test_evidence_that_changed_after_the_preview_stops_a_reclaim(run: Run) -> None:
    turn = Operator(run, me()).turn(RECLAIM)
    until(turn, "recheck_run")
    run.evidence.transcript.unlink()
    list(turn)
    assert run.workspace.is_whole()


def test_a_worktree_that_was_replaced_after_the_preview_stays(run: Run) -> None:
    operator = Operator(run, me())
    turn = operator.turn(RECLAIM)
    until(turn, "recheck_run")
    marker = run.workspace.path(Part.WORKTREE) / "run"
    marker.write_text("another run")
    list(turn)
    assert operator.refusal is Refusal.UNOWNED_PATH
    assert marker.read_text() == "another run"


def test_every_effect_of_a_reclaim_has_a_look_of_its_own(run: Run) -> None:
    operator = Operator(run, me())
    turn = operator.turn(RECLAIM)
    until(turn, "destroy")
    until(turn, "recheck_run")
    run.workspace.path(Part.REF).write_text("another commit")
    list(turn)
    assert operator.refusal is Refusal.UNOWNED_REF
    assert run.workspace.remaining() == [Part.REF, Part.RESERVATION]


# --- The ledger ---


def failing(path: Path, data: bytes) -> Draft:
    del path, data
    raise OSError(28, "no space left on device")


def test_a_failing_audit_leaves_the_target_unchanged(run: Run, dead_pid: int) -> None:
    lock_of(run, dead_pid)
    before = run.lock.observe()
    assert unlock(replace(run, draft=failing)) is Refusal.UNAUDITED
    assert run.lock.observe() == before
    assert run.ledger.outcome(Operation.UNLOCK) is Outcome.NEVER
    run.lock.path.unlink()
    assert unlock(replace(run, draft=failing), order=RECLAIM) is Refusal.UNAUDITED
    assert run.workspace.is_whole()


def test_a_completion_that_cannot_be_written_leaves_the_outcome_unknown(run: Run, dead_pid: int) -> None:
    lock_of(run, dead_pid)

    def no_completion(path: Path, data: bytes) -> Draft:
        return failing(path, data) if path.suffix == ".completion" else files.draft(path, data)

    assert unlock(replace(run, draft=no_completion)) is Refusal.UNAUDITED
    assert run.lock.observe() is None
    assert run.ledger.outcome(Operation.UNLOCK) is Outcome.UNKNOWN


@pytest.mark.parametrize(
    ("point", "outcome", "removed"),
    [
        ("write_intent", Outcome.NEVER, False),
        ("write_intent.torn", Outcome.TORN, False),
        ("recheck_lock", Outcome.UNKNOWN, False),
        ("unlink", Outcome.UNKNOWN, False),
        ("complete", Outcome.UNKNOWN, True),
        ("leave", Outcome.DONE, True),
    ],
)
def test_a_kill_leaves_an_outcome_that_claims_no_more_than_is_known(
    run: Run, dead_pid: int, point: str, outcome: Outcome, removed: bool
) -> None:
    lock_of(run, dead_pid)
    party = me()
    until(Operator(run, party).turn(UNLOCK), point)
    party.die()
    assert run.ledger.outcome(Operation.UNLOCK) is outcome
    assert (run.lock.observe() is None) is removed
    assert unlock(run) is (Refusal.NO_LOCK if removed else None), "the next one can go on from there"


def test_an_intent_says_who_why_and_what_and_is_never_written_over(run: Run, dead_pid: int) -> None:
    lock_of(run, dead_pid)
    unlock(run)
    (intent,) = run.ledger.intents()
    told = json.loads(intent.read_bytes())
    assert (told["actor"], told["reason"], told["run"]) == ("somebody", "the owner is gone", "run")
    assert told["outcome"] == "unknown"
    draft = files.draft(intent, b"something else")
    with pytest.raises(FileExistsError):
        draft.publish()
    assert json.loads(intent.read_bytes()) == told


def test_a_reclaim_without_a_transcript_stays_one_of_unknown_liveness(run: Run) -> None:
    run.evidence.transcript.unlink()
    assert unlock(run, order=RECLAIM) is None
    (intent,) = run.ledger.intents()
    assert json.loads(intent.read_bytes())["evidence"]["liveness"] == "unknown"
    assert run.evidence.look().liveness().value == "unknown"


# --- Acquisition and release ---


def test_a_lock_that_is_present_is_never_replaced(run: Run, dead_pid: int) -> None:
    lock_of(run, dead_pid)
    before = run.lock.observe()
    owner = Owner(run, me())
    list(owner.turn())
    assert owner.refusal is Refusal.LOCKED
    assert run.lock.observe() == before
    with pytest.raises(FileExistsError):
        run.lock.create("nonce", b"record")
    assert run.lock.observe() == before


@pytest.mark.parametrize(("kind", "stays"), [(Owner, True), (ReleaseByBytes, False)])
def test_a_stale_release_leaves_a_successors_lock_though_its_bytes_are_the_same(
    run: Run, kind: type[Owner], stays: bool
) -> None:
    turn = kind(run, me()).turn()
    until(turn, "compare")
    data = run.lock.path.read_bytes()
    run.lock.path.rename(run.lock.path.with_suffix(".old"))  # kept, so that its inode is not given out again
    run.lock.path.write_bytes(data)
    list(turn)
    assert (run.lock.observe() is not None) is stays


def test_a_release_does_not_need_the_gate(run: Run) -> None:
    turn = Owner(run, me()).turn()
    until(turn, "compare")
    contender = Party(HERE, os.getpid(), "contender")
    assert contender.hold(run.gate)
    list(turn)
    assert run.lock.observe() is None


# --- The gate ---

HOLDER = textwrap.dedent("""
    import os, sys, time
    from pathlib import Path
    from model.reference.audited_recovery.party import Host, Party
    assert Party(Host("here"), os.getpid()).hold(Path(sys.argv[1]))
    child = sys.argv[2] == "fork" and os.fork() == 0
    os.write(1, b"%d\\n" % (os.getpid() if child else 0))  # in one piece, for there are two writers
    time.sleep(60)
""")


def killed_holder(gate: Path, how: str) -> int:
    """Let a process take the gate, kill it, and return the PID of a child that it has left, or 0."""
    root = str(Path(__file__).parents[2])
    process = subprocess.Popen([sys.executable, "-c", HOLDER, str(gate), how], cwd=root, stdout=subprocess.PIPE)
    assert process.stdout is not None
    with process.stdout:
        lines = [int(process.stdout.readline()) for _ in range(2 if how == "fork" else 1)]
    assert is_held(gate)
    process.kill()
    process.wait()
    return max(lines)


def test_the_kernel_takes_the_gate_back_from_a_killed_holder(run: Run) -> None:
    assert killed_holder(run.gate, "alone") == 0
    assert not is_held(run.gate)


def test_a_child_that_was_forked_under_the_gate_keeps_it_for_a_dead_holder(run: Run) -> None:
    """The limit of "ends with its holder": `flock` ends with the last process that has the open file."""
    child = killed_holder(run.gate, "fork")
    assert is_held(run.gate)
    os.kill(child, signal.SIGKILL)
    deadline = time.monotonic() + 10
    while is_held(run.gate) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not is_held(run.gate)


# --- The command line ---


def test_a_command_without_yes_is_a_preview_and_changes_nothing(run: Run, dead_pid: int) -> None:
    lock_of(run, dead_pid)
    before = run.lock.observe()
    answered = command(["unlock", "run"], run.root, me())
    assert answered.digest is not None
    assert not answered.done
    assert run.lock.observe() == before
    assert run.ledger.intents() == []


def test_a_confirmation_needs_digest_actor_and_a_bounded_reason(run: Run, dead_pid: int) -> None:
    lock_of(run, dead_pid)
    digest = command(["unlock", "run"], run.root, me()).digest or ""
    named = ["unlock", "run", "--lock-sha256", digest]
    assert command(["unlock", "run", *CONFIRMED], run.root, me()).refusal is Refusal.LOCK_CHANGED
    assert command([*named, "--yes"], run.root, me()).refusal is Refusal.UNCONFIRMED
    long = ["--actor", "a", "--reason", "x" * 201, "--yes"]
    assert command([*named, *long], run.root, me()).refusal is Refusal.UNCONFIRMED
    assert command([*named, *CONFIRMED], run.root, me()) == Answered(done=True)
    assert run.lock.observe() is None


def test_a_digest_is_good_for_the_lock_that_was_seen_and_no_other(run: Run, dead_pid: int) -> None:
    data = lock_of(run, dead_pid)
    digest = command(["unlock", "run"], run.root, me()).digest or ""
    other = run.lock.path.with_suffix(".other")
    other.write_bytes(data)
    other.replace(run.lock.path)
    answered = command(["unlock", "run", "--lock-sha256", digest, *CONFIRMED], run.root, me())
    assert answered.refusal is Refusal.LOCK_CHANGED


def test_unknown_liveness_is_admitted_only_by_its_own_option(run: Run) -> None:
    run.evidence.transcript.unlink()
    digest = command(["reclaim", "run"], run.root, me()).digest or ""
    plainly = command(["reclaim", "run", "--evidence-sha256", digest, *CONFIRMED], run.root, me())
    assert plainly.refusal is Refusal.UNKNOWN
    assert run.workspace.is_whole()
    assert command(["reclaim", "run", "--unknown-liveness", digest, *CONFIRMED], run.root, me()).done
    assert run.workspace.remaining() == []


def test_force_does_not_override_evidence_of_activity(run: Run) -> None:
    run.evidence.begin()
    assert command(["reclaim", "run", "--force", "--yes"], run.root, me()).refusal is Refusal.ACTIVE


def test_a_forced_reclaim_retires_a_dead_lock_and_leaves_one_event(run: Run, dead_pid: int) -> None:
    lock_of(run, dead_pid)
    run.evidence.transcript.unlink()
    assert command(["reclaim", "run", "--force", "--yes"], run.root, me()).done
    assert run.lock.observe() is None
    events = (run.root / "provider-ledger").read_text().splitlines()
    assert [json.loads(event)["liveness"] for event in events] == ["unknown"]


def test_an_execution_that_ended_amid_its_beginning_has_left_evidence_of_activity(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(_: object, __: object) -> None:
        raise InterruptedError

    monkeypatch.setattr("model.reference.audited_recovery.evidence.EvidenceFiles.bind", killed)
    with pytest.raises(InterruptedError):
        run.evidence.begin()
    assert run.evidence.look().liveness() is Liveness.ACTIVE

"""Children are real processes, die where they are told to, and never outlive whoever wanted them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from checker.conformance.forking import ChildFailed, Zygote

MODULE = "tests.conformance.children"
ROOT = str(Path(__file__).parents[2])


@pytest.fixture(scope="module")
def zygote() -> Iterator[Zygote]:
    with Zygote(MODULE, path=[ROOT]) as started:
        yield started


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def _read_pid(path: Path) -> int:
    for _ in range(500):
        if path.exists() and (text := path.read_text("utf-8")):
            return int(text)
        time.sleep(0.01)
    raise AssertionError(f"nobody wrote {path.name}")


def _gone(pid: int) -> bool:
    for _ in range(500):
        if not _alive(pid):
            return True
        time.sleep(0.01)
    return False


def test_a_child_is_a_process_of_its_own(zygote: Zygote) -> None:
    first, second = (zygote.run(f"{MODULE}:walk", ["worker.rest", "worker.write"]) for _ in range(2))
    assert first.points == ("worker.rest", "worker.write")
    assert first.result == {"pid": first.pid, "parent": zygote.pid}
    assert len({first.pid, second.pid, zygote.pid, os.getpid()}) == 4


def test_a_child_dies_at_the_kill_point_that_it_is_told_and_not_after(zygote: Zygote, tmp_path: Path) -> None:
    ended = zygote.run(f"{MODULE}:leave_marks", str(tmp_path), kill_at=2)
    assert ended.killed
    assert ended.points == ("worker.0", "worker.1")
    assert [path.name for path in tmp_path.iterdir()] == ["0"]


def test_a_child_that_comes_by_fewer_kill_points_runs_to_its_end(zygote: Zygote, tmp_path: Path) -> None:
    ended = zygote.run(f"{MODULE}:leave_marks", str(tmp_path), kill_at=4)
    assert not ended.killed
    assert ended.result == "waiting"
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize(
    ("function", "said"),
    [
        ("give_up", "ValueError: nothing left to sell"),
        ("be_killed_by_another", f"ended with signal {int(signal.SIGTERM)}"),
        ("no_such_function", "no_such_function"),
        ("go_round", "it goes round for ever"),
    ],
)
def test_any_other_end_of_a_child_is_a_failure_that_says_why(zygote: Zygote, function: str, said: str) -> None:
    with pytest.raises(ChildFailed, match=said):
        zygote.run(f"{MODULE}:{function}", None, kill_at=501)
    assert zygote.run(f"{MODULE}:walk", ["worker.rest"]).points == ("worker.rest",)


def test_a_child_that_does_not_end_in_time_is_ended_with_all_that_it_started(zygote: Zygote, tmp_path: Path) -> None:
    with pytest.raises(ChildFailed, match="did not end in time; last it came by worker"):
        zygote.run(f"{MODULE}:stay", str(tmp_path), seconds=0.5)
    assert _gone(_read_pid(tmp_path / "child"))
    assert _gone(_read_pid(tmp_path / "grandchild"))


def test_threads_may_share_a_zygote(zygote: Zygote) -> None:
    with ThreadPoolExecutor(8) as threads:
        wanted = [[f"worker.{number}"] for number in range(40)]
        ended = list(threads.map(lambda points: zygote.run(f"{MODULE}:walk", points), wanted))
    assert [list(one.points) for one in ended] == wanted


def test_a_module_that_cannot_be_imported_is_named() -> None:
    with pytest.raises(ChildFailed, match="No module named 'no_such_module'"):
        Zygote("no_such_module")


@pytest.mark.parametrize("victim", ["caller", "zygote"])
def test_nobody_outlives_whoever_started_them(tmp_path: Path, victim: str) -> None:
    caller = subprocess.Popen(
        [
            sys.executable,
            "-c",
            f"""if True:
            from pathlib import Path
            from checker.conformance.forking import Zygote
            zygote = Zygote({MODULE!r})
            Path({str(tmp_path / "directory")!r}).write_text(zygote._directory.name)
            Path({str(tmp_path / "zygote")!r}).write_text(str(zygote.pid))
            zygote.run("{MODULE}:stay", {str(tmp_path)!r})""",
        ],
        env={**os.environ, "PYTHONPATH": ROOT},
        stderr=subprocess.DEVNULL,
    )
    pids = {name: _read_pid(tmp_path / name) for name in ("zygote", "child", "grandchild")}
    os.kill(caller.pid if victim == "caller" else pids["zygote"], signal.SIGKILL)
    caller.wait(10)
    assert _gone(pids["zygote"])
    assert _gone(pids["child"])
    if victim == "caller":
        assert _gone(pids["grandchild"])
        assert not Path((tmp_path / "directory").read_text("utf-8")).exists()
    else:
        os.kill(pids["grandchild"], signal.SIGKILL)  # what children start is theirs to look after in that case


def test_a_fork_takes_milliseconds(zygote: Zygote) -> None:
    started = time.perf_counter()
    for _ in range(50):
        zygote.run(f"{MODULE}:walk", ["worker.rest"], kill_at=1)
    assert (time.perf_counter() - started) / 50 < 0.1  # 5 ms on an idle machine


def test_no_other_signal_is_taken_for_a_kill(zygote: Zygote) -> None:
    with pytest.raises(ChildFailed, match=f"ended with signal {int(signal.SIGTERM)}"):
        zygote.run(f"{MODULE}:end_more_gently", None, kill_at=1)

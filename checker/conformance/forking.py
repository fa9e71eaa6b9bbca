"""Processes of their own that are really killed: forks of a parent that has imported everything and holds nothing.

A `Zygote` is a process without threads, files or state that imports a module once. For each request it forks a child,
which runs one function and is a process like any other: its own pid, its own memory, SIGKILL when its time has come.
So a test can have thousands of them at a few milliseconds each, though it has threads itself, which must not fork.

    # shop.py: what runs in the child. It must not rely on anything but the argument and what is on disk.
    def run_worker(argument, come_by):
        for label in Worker(argument["directory"]).steps():  # a generator that yields where it stands
            come_by(f"worker.{label}")                       # written down first; the n-th time this does not return
        return "waiting"

    with Zygote("shop") as zygote:
        ended = zygote.run("shop:run_worker", {"directory": "/some/where"}, kill_at=3)
        ended.killed, ended.points                           # True, ('worker.rest', 'worker.lock', 'worker.write')

No child outlives its parent, and no zygote whoever started it, however that ended: the zygote reads end-of-file from
its standard input when its starter is gone, and then kills the process group of the child; the kernel kills the child
when the zygote is gone.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from checker.conformance.adapter import AdapterFailed

ComeBy = Callable[[str], None]
"""Says in a child that it stands at a kill point. Where the child is to be killed there, the call does not return."""

POINTS_MAX = 500
"""A child that comes by more kill points goes round for ever."""

_PR_SET_PDEATHSIG = 1
_SHOWN = 6
_MEMORY = Path("/dev/shm")  # noqa: S108 - only ever a place for a directory of a fresh name


class ChildFailed(AdapterFailed):
    """A child ended neither with a result nor by its own kill: a defect of what runs in it. The message says all."""


class _Endless(Exception):
    """A child goes round for ever."""


@dataclass(frozen=True, slots=True)
class Forked:
    """How a child ended: where it came by, and what its function returned where it was not killed."""

    pid: int
    killed: bool
    points: tuple[str, ...]
    result: Any = None


def quick_directory() -> tempfile.TemporaryDirectory[str]:
    """Make a temporary directory in memory where the machine has one, else on disk."""
    return tempfile.TemporaryDirectory(prefix="killpoint-", dir=_MEMORY if os.access(_MEMORY, os.W_OK) else None)


def die_with(parent: int) -> None:
    """Let the kernel kill this process when the one that forked it is gone, which may be so already."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


class Zygote:
    """A parent that forks on request. Threads may share one; their requests are answered one after the other."""

    def __init__(self, *modules: str, path: Sequence[str] = ()) -> None:
        """Start it and let it import modules.

        `path` comes before the caller's `sys.path`.

        Raises:
            ChildFailed: a module cannot be imported.
        """
        self._lock = threading.Lock()
        self._directory = quick_directory()
        self._runs = 0
        setup = json.dumps({"path": [*path, *sys.path], "modules": modules, "directory": self._directory.name})
        # A session of its own: a Ctrl-C at the terminal is for the caller, who decides what becomes of the children.
        self._process = subprocess.Popen(  # noqa: S603 - ourselves
            [sys.executable, "-c", _START, setup],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            self._answer("the modules cannot be imported")
        except ChildFailed:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """The zygote's own process id."""
        return self._process.pid

    def run(self, function: str, argument: Any, *, kill_at: int | None = None, seconds: float = 60) -> Forked:
        """Run `module:function(argument, come_by)` in a child and wait for its end.

        The argument and what the function returns are whatever JSON can hold. The child kills itself with SIGKILL at
        the `kill_at`-th kill point that it comes by, from 1; a child that comes by fewer runs to its end.

        Raises:
            ChildFailed: the function raised something, the child ended in another way, did not end in time, or came by
                too many kill points.
        """
        with self._lock:
            self._runs += 1
            record = Path(self._directory.name, f"run-{self._runs}.jsonl")
            record.touch()
            try:
                request = {
                    "function": function,
                    "argument": argument,
                    "kill_at": kill_at,
                    "record": str(record),
                    "seconds": seconds,
                }
                answer = self._ask(request)
                return _read(function, answer, record.read_text("utf-8"), kill_at)
            finally:
                record.unlink()

    def close(self) -> None:
        """End the zygote and whatever it has forked."""
        with contextlib.suppress(OSError):
            assert self._process.stdin is not None
            self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._directory.cleanup()

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise ChildFailed(f"the parent of the children is gone: {error}") from error
        return self._answer("the parent of the children is gone")

    def _answer(self, otherwise: str) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise ChildFailed(otherwise)
        answer: dict[str, Any] = json.loads(line)
        if "failed" in answer:
            raise ChildFailed(f"{otherwise}:\n{answer['failed']}")
        return answer


def _read(function: str, answer: dict[str, Any], text: str, kill_at: int | None) -> Forked:
    """Make of the record and the wait status what became of a child."""
    entries = [json.loads(line) for line in text.splitlines()]
    points = tuple(entry["point"] for entry in entries if "point" in entry)
    last = entries[-1] if entries else {}
    status = answer["status"]
    by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    if answer["late"]:
        raise ChildFailed(f"{function} did not end in time; last it came by {', '.join(points[-_SHOWN:]) or 'nothing'}")
    if by == signal.SIGKILL and kill_at is not None and len(points) == kill_at:
        return Forked(answer["pid"], killed=True, points=points)
    if status == 0 and "result" in last:
        return Forked(answer["pid"], killed=False, points=points, result=last["result"])
    how = f"signal {by}" if by else f"status {os.waitstatus_to_exitcode(status)}"
    raise ChildFailed(f"{function} ended with {how}:\n{last.get('error', 'and said nothing')}")


_START = "import json, sys; setup = json.loads(sys.argv[1]); sys.path[:] = setup['path']; \
from checker.conformance.forking import serve; serve(setup['modules'], setup['directory'])"


def serve(modules: Sequence[str], directory: str) -> None:
    """Be the zygote: import modules, then answer requests until standard input ends; then remove the directory."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever a module or child prints must not be taken for an answer
    try:
        for module in modules:
            importlib.import_module(module)
    except BaseException:  # noqa: BLE001 - whatever it is, the caller is told
        print(json.dumps({"failed": traceback.format_exc()}), file=answers, flush=True)
        return
    gc.collect()
    gc.freeze()  # a collection in a child would otherwise copy every page of what was imported
    print(json.dumps({"ready": os.getpid()}), file=answers, flush=True)
    requests = sys.stdin.buffer
    for line in requests:
        answer = _fork(json.loads(line), answers.fileno())
        with contextlib.suppress(BrokenPipeError):  # whoever asked may be gone
            print(json.dumps(answer), file=answers, flush=True)
    shutil.rmtree(directory, ignore_errors=True)


def _fork(request: dict[str, Any], answers: int) -> dict[str, Any]:
    """Fork a child, wait for it, and say how it ended. Called with no request unread, so that input means the end."""
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        _be_child(request, parent, answers)
    # Both do this, since either may come first: without its group the child could not be killed with what it started.
    with contextlib.suppress(OSError):
        os.setpgid(child, child)
    watch = os.pidfd_open(child)
    ready, _, _ = select.select([watch, 0], [], [], request["seconds"])
    os.close(watch)
    over = watch in ready
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return {"pid": child, "status": status, "late": not over}


def _be_child(request: dict[str, Any], parent: int, answers: int) -> None:
    """Run the function that was asked for and end the process, whatever happens."""
    record = -1
    try:
        with contextlib.suppress(OSError):
            os.setpgid(0, 0)
        die_with(parent)
        os.close(answers)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        record = os.open(request["record"], os.O_WRONLY | os.O_APPEND)
        module, _, name = request["function"].partition(":")
        function = getattr(importlib.import_module(module), name)
        result = function(request["argument"], _counting(record, request["kill_at"]))
        _write(record, {"result": result})
        os._exit(0)
    except BaseException:  # noqa: BLE001 - a forked process must never go on where its parent was
        _write(record, {"error": traceback.format_exc()})
    finally:
        os._exit(1)


def _counting(record: int, kill_at: int | None) -> ComeBy:
    """Return what writes down each kill point that the process comes by and kills it at the `kill_at`-th."""
    visits = 0

    def come_by(point: str) -> None:
        nonlocal visits
        visits += 1
        if visits > POINTS_MAX:
            raise _Endless(f"it goes round for ever: it came by {POINTS_MAX} kill points and went on")
        _write(record, {"point": point})
        if visits == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
            signal.pause()  # pragma: no cover - the signal may need a moment

    return come_by


def _write(record: int, entry: dict[str, Any]) -> None:
    """Append one line at once: what has been written stays, whatever becomes of the process."""
    os.write(record, json.dumps(entry).encode() + b"\n")

"""What the children of a zygote run in the tests of forking."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

from checker.conformance.forking import ComeBy


def walk(points: list[str], come_by: ComeBy) -> dict[str, Any]:
    """Come by some kill points and tell who did."""
    for point in points:
        come_by(point)
    return {"pid": os.getpid(), "parent": os.getppid()}


def leave_marks(directory: str, come_by: ComeBy) -> str:
    """Leave a file behind after each kill point: the step before the next one."""
    for number in range(3):
        come_by(f"worker.{number}")
        Path(directory, str(number)).touch()
    return "waiting"


def give_up(_: None, come_by: ComeBy) -> None:
    """Fail as code fails."""
    come_by("worker.rest")
    raise ValueError("nothing left to sell")


def go_round(_: None, come_by: ComeBy) -> None:
    """Never come to an end."""
    while True:
        come_by("worker.rest")


def be_killed_by_another(_: None, come_by: ComeBy) -> None:
    """End by a signal that nobody asked for."""
    come_by("worker.rest")
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(60)


def stay(directory: str, come_by: ComeBy) -> None:
    """Start a process and stay, both with their process ids on disk."""
    come_by("worker.rest")
    if os.fork() == 0:
        Path(directory, "grandchild").write_text(str(os.getpid()), "utf-8")
        time.sleep(60)
    Path(directory, "child").write_text(str(os.getpid()), "utf-8")
    time.sleep(60)


def end_more_gently(_: None, come_by: ComeBy) -> None:
    """Have whatever is to kill it be another signal, which a process could have caught and tidied up after."""
    kill = os.kill
    os.kill = lambda pid, _: kill(pid, signal.SIGTERM)
    come_by("worker.rest")

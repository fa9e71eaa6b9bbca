"""Processes that end when the one that started them does, however that came to its end.

Nothing waits for what an orphan finds, and solvers may go on for minutes. A parent that is killed cannot tell its
children, so that they have to see to it themselves.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
import threading

_PR_SET_PDEATHSIG = 1
"""Of `prctl(2)`: a signal that the kernel sends when the parent is gone."""


def end_with(parent: int) -> None:
    """Let this process end with its parent, whose number is given; to be called in a process that was just started."""
    if sys.platform == "linux":
        # A thread would not do where there is this: cvc5 keeps the interpreter to itself for as long as it thinks.
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    else:
        threading.Thread(target=_wait, daemon=True).start()
    if os.getppid() != parent:
        os._exit(1)  # it was gone before anybody looked


def _wait() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)

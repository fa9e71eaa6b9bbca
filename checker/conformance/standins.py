"""Processes of an implementation that are stepped inside this one, and real processes that stand in for them.

An implementation that asks the kernel whether a process lives must get the kernel's answer, also while its processes
are generators here. So each of them has a stand-in: a real process with a PID of its own, which does nothing, and is
really killed when the generator is dropped.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator

from checker.conformance.adapter import Refused

TORN = ".torn"


class StandIn:
    """A real process that lives until it is killed, or its starter is gone."""

    def __init__(self) -> None:
        # It ends by itself when its standard input is closed, which the kernel does for a starter that is dead.
        self._process = subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)

    @property
    def pid(self) -> int:
        """Its PID."""
        return self._process.pid

    def kill(self) -> None:
        """Kill it with SIGKILL and wait until the kernel has forgotten it, so that its PID is proven absent."""
        assert self._process.stdin is not None
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()


class Stepped:
    """A process that is a generator of kill points, stepped from one to the next.

    `begin` makes the generator for the next turn. A turn that ends is followed by another: the process stands at the
    kill point with which that begins, in most programs always the same.
    """

    def __init__(self, begin: Callable[[], Iterator[str]]) -> None:
        self._begin = begin
        self._turn = begin()
        self.label = next(self._turn)

    def restart(self) -> None:
        """Drop the turn as a kill does, and stand where a new one begins."""
        self._turn = self._begin()
        self.label = next(self._turn)

    def step(self) -> None:
        """Take the step behind the kill point at which the process stands.

        Raises:
            Refused: it cannot be taken now, and the process still stands there.
        """
        before = self.label
        point = next(self._turn, "")
        while point.endswith(TORN):
            point = next(self._turn, "")
        if point:
            self.label = point
        else:
            self.restart()
        if self.label == before:
            raise Refused(f"it waits at {before}")

    def tear(self) -> None:
        """Go to the kill point inside the step.

        Raises:
            Refused: the step has none.
        """
        point = next(self._turn, "")
        if not point.endswith(TORN):
            raise Refused(f"{self.label} has no kill point inside")

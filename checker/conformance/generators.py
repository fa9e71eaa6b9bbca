"""Processes of an implementation that are generators: where each of them stands, a step on, a crash.

A generator yields the label before which it stands. Between its first `next` and the first label lies the step in which
a process waits for something to do; where it ends instead it has found nothing, or is through.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from checker.conformance.adapter import Refused

Process = tuple[str, int]
"""Name and instance."""


class Generators:
    """The processes that run inside this one, each at a kill point."""

    def __init__(self) -> None:
        self._running: dict[Process, tuple[Iterator[str], str]] = {}

    def at(self, process: Process, resting: str) -> str:
        """Return the label before which a process stands: `resting` where it has nothing begun."""
        return self._running[process][1] if process in self._running else resting

    def begin(self, process: Process, start: Callable[[], Iterator[str]]) -> bool:
        """Let a process that rests begin; return whether it has come to a kill point.

        Raises:
            Refused: it does not rest.
        """
        if process in self._running:
            raise Refused(f"{process[0]} stands at {self._running[process][1]}")
        return self._next(process, start())

    def advance(self, process: Process, label: str) -> bool:
        """Let a process take the step before which it stands; return whether it has come to another kill point.

        Raises:
            Refused: it stands elsewhere.
        """
        running = self._running.get(process)
        if running is None or running[1] != label:
            raise Refused(f"{process[0]} stands at {running[1]}" if running else f"{process[0]} has nothing begun")
        return self._next(process, running[0])

    def crash(self, process: Process) -> None:
        """Forget a process and what it had in memory. Nothing of it is closed or tidied up, as nothing would be."""
        self._running.pop(process, None)

    def clear(self) -> None:
        """Forget all processes."""
        self._running.clear()

    def _next(self, process: Process, generator: Iterator[str]) -> bool:
        self._running.pop(process, None)
        label = next(generator, None)
        if label is None:
            return False
        self._running[process] = generator, label
        return True

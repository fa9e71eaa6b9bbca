"""Processes of their own that an adapter launches: forked, run to their end or killed, and said how they ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from checker.conformance.adapter import Ended
from checker.conformance.forking import Zygote


class Launches:
    """The processes of one adapter, which all run one function.

    The parent that they are forked from is started when the first of them is wanted: most adapters launch none.
    """

    def __init__(self, function: str, *, path: Sequence[str] = ()) -> None:
        """Take the `module:function` to run; it returns how it ended, and `path` is where it is looked for first."""
        self._function = function
        self._path = path
        self._zygote: Zygote | None = None

    def run(self, argument: Any, kill_at: int | None) -> Ended:
        """Run a process to its end, or kill it at the `kill_at`-th kill point that it comes by, from 1.

        Raises:
            ChildFailed: it ended in another way, or not at all.
        """
        if self._zygote is None:
            self._zygote = Zygote(self._function.partition(":")[0], path=self._path)
        forked = self._zygote.run(self._function, argument, kill_at=kill_at)
        return Ended("killed" if forked.killed else forked.result, forked.points)

    def close(self) -> None:
        """End the parent; another launch starts another."""
        if self._zygote is not None:
            self._zygote.close()
            self._zygote = None

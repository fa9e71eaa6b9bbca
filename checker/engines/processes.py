"""Independent explorations in processes of their own, where the machine has more than one core.

Small explorations spend their time in Python, which one process does on one core only. Processes are forked, so that
nothing has to be handed to them; what they find comes back through a pipe.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from typing import TypeVar

from checker.exploration import Exploration, Limits
from checker.orphans import end_with

T = TypeVar("T")
Explore = Callable[[T, int, bool], list[Exploration]]
"""Explore a group with so many workers, silently or not."""

GRACE_S = 2.0
"""Seconds that a process has to end by itself after an interrupt."""


def in_processes(explore: Explore[T], groups: Sequence[T], limits: Limits) -> list[list[Exploration]]:
    """Explore every group, several at once where `limits.workers` allows, and return the results in their order.

    A single group is explored here with all workers. Where another process fails, its groups are explored here after
    all: whatever is wrong with them then shows here.
    """
    if len(groups) < 2 or limits.workers < 2 or sys.platform != "linux":
        return [explore(group, limits.workers, False) for group in groups]
    # One process more than processors evens out what cannot be known before: how long each group takes.
    count = min(limits.workers + 1, len(groups))
    shares = [list(range(first, len(groups), count)) for first in range(count)]
    children = [_Child(lambda share=share: [explore(groups[i], 1, True) for i in share]) for share in shares[1:]]  # type: ignore[misc]
    results: dict[int, list[Exploration]] = {}
    for i in shares[0]:
        results[i] = explore(groups[i], 1, False)
    for share, child in zip(shares[1:], children, strict=True):
        found = child.result(limits)
        for position, i in enumerate(share):
            results[i] = found[position] if found is not None else explore(groups[i], 1, False)
    return [results[i] for i in range(len(groups))]


class _Child:
    """A forked process that computes one thing."""

    def __init__(self, compute: Callable[[], list[list[Exploration]]]) -> None:
        context = multiprocessing.get_context("fork")
        self._here, there = context.Pipe(duplex=False)
        self._process = context.Process(target=_report, args=(os.getpid(), compute, there), daemon=True)
        with warnings.catch_warnings():
            # Python warns of threads at a fork; those that exist here belong to the linear algebra library, which the
            # child does not use.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._process.start()
        there.close()

    def result(self, limits: Limits) -> list[list[Exploration]] | None:
        """Wait for the result; None where the process failed, or had to be ended after an interrupt."""
        patience = GRACE_S
        while not self._here.poll(0.1):
            if limits.interrupted:
                patience -= 0.1
                if patience < 0:
                    self._process.terminate()
        try:
            found: list[list[Exploration]] | None = self._here.recv()
        except EOFError:
            found = None
        self._process.join()
        return found


def _report(parent: int, compute: Callable[[], list[list[Exploration]]], pipe: Connection) -> None:
    end_with(parent)
    try:
        found: list[list[Exploration]] | None = compute()
        for exploration in (exploration for group in found or () for exploration in group):
            # The parent has the system; sending the whole specification back would take longer than exploring it.
            exploration.system = None  # type: ignore[assignment]
    except Exception:  # noqa: BLE001 - the parent does it again and meets it there
        found = None
    pipe.send(found)
    pipe.close()

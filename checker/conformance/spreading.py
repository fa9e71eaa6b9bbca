"""Pieces of work side by side, in processes that each have an implementation of their own.

The processes are forked, so that nothing but numbers and results has to be handed over; whoever is quick does more.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import warnings
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor, wait
from multiprocessing import util
from typing import Any, Generic, TypeVar

from checker.conformance.adapter import Adapter
from checker.conformance.forking import die_with

A = TypeVar("A", bound=Adapter)
R = TypeVar("R")

_INTERVAL_SECONDS = 0.2


class Spread(Generic[A, R]):
    """Work with an adapter, by number; `make` makes the adapter in each process, and it is closed there."""

    def __init__(self, make: Callable[[], A], work: Callable[[A, int], R], workers: int) -> None:
        self._make = make
        self._work = work
        self._workers = workers

    def all(self, count: int, tell: Callable[[str], None]) -> list[R]:
        """Do so much and return what came of it in order; what one piece raises is raised here.

        `tell` hears from time to time how much is done.
        """
        global _current  # noqa: PLW0603 - forked processes find here what cannot be sent to them
        context = multiprocessing.get_context("fork")
        _current = _Current(self._make, self._work, os.getpid())
        with warnings.catch_warnings():
            # Python warns of threads at a fork; those that exist here belong to the linear algebra library, which the
            # forked processes do not use.
            warnings.simplefilter("ignore", DeprecationWarning)
            with ProcessPoolExecutor(min(self._workers, count), context, _open) as pool:
                futures: list[Future[R]] = [pool.submit(_do, number) for number in range(count)]
                while (done := len(wait(futures, _INTERVAL_SECONDS).done)) < count:
                    tell(f"{done} of {count} errands")
        _current = None
        return [future.result() for future in futures]


class _Current:
    """What is to be done, and by which adapter, once there is one."""

    def __init__(self, make: Callable[[], Any], work: Callable[[Any, int], Any], parent: int) -> None:
        self.make = make
        self.work = work
        self.parent = parent
        self.adapter: Any = None


_current: _Current | None = None


def _open() -> None:
    """Begin a forked process."""
    assert _current is not None
    die_with(_current.parent)
    _current.adapter = _current.make()
    util.Finalize(None, _current.adapter.close, exitpriority=10)


def _do(number: int) -> Any:
    assert _current is not None
    return _current.work(_current.adapter, number)


def can_spread(workers: int, count: int) -> bool:
    """Tell whether it is worth while, and possible."""
    return workers > 1 and count > 1 and sys.platform == "linux"

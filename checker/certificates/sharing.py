"""Sharing work among processors: solvers and what is done in Python run on one each."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor

from checker.orphans import end_with


@contextlib.contextmanager
def processes(workers: int) -> Iterator[Executor | None]:
    """Give so many processes to work in; None where the caller had better do it alone.

    They are started afresh and not forked: a solver library that has been used once need not survive a fork. They end
    with this process, even if it is killed.
    """
    if workers < 2:
        yield None
        return
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=end_with, initargs=(os.getpid(),))
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)

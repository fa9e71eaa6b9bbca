"""Explorations in processes of their own give what they would give here."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import replace

import pytest

from checker.engines import processes
from checker.engines.processes import in_processes
from checker.exploration import Exploration, Limits
from model.loader import load
from model.source import Source
from model.system import TransitionSystem

SYSTEM = TransitionSystem.of(
    load(
        Source("lamp.yaml", "language: 1\nprotocol: lamp\nprocesses:\n  lamp:\n    steps:\n      glow: pass\n")
    ).scenarios["default"]
)
EMPTY = Exploration(SYSTEM)
linux = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere groups are explored one after another")


def marked(group: int, workers: int, silent: bool) -> list[Exploration]:
    """An exploration that tells who made it: the group as states, the workers as depth, the process as its engine."""
    return [replace(EMPTY, states=group, depth=workers, complete=silent, engine=str(os.getpid()))]


def test_results_come_in_the_order_of_the_groups() -> None:
    found = in_processes(marked, [3, 1, 4, 1, 5], Limits(workers=2))

    assert [exploration.states for (exploration,) in found] == [3, 1, 4, 1, 5]


@linux
def test_several_groups_are_shared_between_processes_that_do_not_report() -> None:
    found = [exploration for (exploration,) in in_processes(marked, [1, 2, 3, 4], Limits(workers=2))]

    here = str(os.getpid())
    assert [e.engine == here for e in found] == [True, False, False, True]
    assert [e.complete for e in found] == [False, True, True, False]
    assert len({e.engine for e in found}) == 3
    assert {e.depth for e in found} == {1}


def test_a_single_group_gets_all_workers_here() -> None:
    ((exploration,),) = in_processes(marked, [7], Limits(workers=4))

    assert (exploration.engine, exploration.depth) == (str(os.getpid()), 4)


def test_what_fails_elsewhere_is_explored_here() -> None:
    here = os.getpid()

    def only_here(group: int, workers: int, silent: bool) -> list[Exploration]:
        if os.getpid() != here:
            raise RuntimeError("not here")
        return marked(group, workers, silent)

    assert [e.states for (e,) in in_processes(only_here, [1, 2], Limits(workers=2))] == [1, 2]


def test_what_is_wrong_with_a_group_shows_here() -> None:
    def wrong(group: int, *_: object) -> list[Exploration]:
        raise ValueError(f"group {group}")

    with pytest.raises(ValueError, match="group 1"):
        in_processes(wrong, [1, 2], Limits(workers=2))


@linux
def test_a_process_that_does_not_hear_of_an_interrupt_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "GRACE_S", 0.2)
    here, limits = os.getpid(), Limits(workers=2)

    def deaf(group: int, workers: int, silent: bool) -> list[Exploration]:
        if os.getpid() != here:
            time.sleep(60)
        limits.interrupted = True
        return marked(group, workers, silent)

    started = time.monotonic()

    assert [e.states for (e,) in in_processes(deaf, [1, 2], limits)] == [1, 2]
    assert time.monotonic() - started < 30

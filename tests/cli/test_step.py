"""`killpoint step`: walking through a protocol by hand."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from checker.commands.inputs import load_one
from checker.stepping import Walk
from model.evaluate import Evaluator
from model.system import TransitionSystem
from model.transitions import Transition
from tests.cli.running import Killpoint

CLERK = """
language: 1
protocol: clerk
stores: {desk: {holds: {filed: {type: 0..2}}}}
faults: {crash: {of: [clerk], at_most: unlimited}, ink_dries: {at_most: unlimited}}
processes:
  clerk:
    volatile: {page: {type: 0..2}}
    steps:
      take: |
        when(filed == 0)
        page = choose({1, 2})
      write: |
        filed = page
        if fault(ink_dries): filed = 1
properties: {never_two: {always: "filed != 2"}, kept: {step: "implies(filed == 1, next(filed) == 1)"}}
scenarios: {any: {breaks: [never_two], because: the clerk may take page two}}
"""


Said = Callable[..., list[str]]
"""Gives commands to `killpoint step` and returns its lines."""


@pytest.fixture
def clerk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("clerk.yaml").write_text(CLERK, encoding="utf-8")
    return "clerk.yaml"


@pytest.fixture
def said(killpoint: Killpoint, clerk: str, monkeypatch: pytest.MonkeyPatch) -> Said:
    def run(*commands: str, options: tuple[str, ...] = ()) -> list[str]:
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in commands)))
        done = killpoint("step", clerk, *options)
        assert done.code == 0
        assert done.err == ""
        return [" ".join(line.split()) for line in done.out.splitlines()]

    return run


def test_transitions_are_numbered_and_taken(said: Said) -> None:
    lines = said("2", "1")

    assert lines[1] == "crash unlimited ink_dries unlimited"
    assert lines[2:5] == ["state 0 clerk at=take", "1 clerk.take(1) page=1", "2 clerk.take(2) page=2"]
    after = lines[lines.index("> 2") :]
    assert after[1:5] == [
        "state 1 clerk at=write clerk.page=2",
        "1 clerk.write → take filed=2",
        "2 clerk.write → take FAULT ink_dries filed=1",
        "3 CRASH of clerk before write lost page=2",
    ]
    assert lines[lines.index("> 1") + 1 :] == [
        "state 2 filed=2 clerk at=take",
        "✗ never_two is false here",
        "nothing can happen any more",
    ]


def test_back_start_and_what_cannot_be_taken(said: Said) -> None:
    lines = said("b", "7", "1", "1", "b", "b 9", "b 0", "start")

    assert lines[lines.index("> b") + 1] == "this is the start"
    assert lines[lines.index("> 7") + 1] == "there is no transition 7; they are 1 to 2"
    assert lines[lines.index("> b 9") + 1] == "state 0 clerk at=take"
    assert lines[lines.index("> b 0") + 1] == "b takes a number of transitions"
    assert lines[lines.index("> start") + 1] == "state 0 clerk at=take"


def test_a_crash_and_what_recovery_would_do(said: Said) -> None:
    lines = said("c", "1", "w", "c desk", "c clerk")

    assert lines[lines.index("> c") + 1] == "nobody can crash here: it is not allowed, or would change nothing"
    shown = lines[lines.index("> w") + 1 : lines.index("> c desk")]
    assert [line.split(" ", 3)[-1] for line in shown if line.startswith(("1 ", "2 ", "3 "))] == [
        "CRASH of clerk before write lost page=1",
        "clerk.take(1) page=1",
        "clerk.write → take filed=1",
    ]
    assert shown[-1] == "╰─ ✓ clerk alone: then it waits"
    assert lines[lines.index("> c desk") + 1] == "desk cannot crash here; who can: clerk"
    assert lines[lines.index("> c clerk") + 1] == "state 2 clerk at=take"


def test_a_jump_to_a_violation(said: Said) -> None:
    lines = said("v kept", "v", "b")

    assert lines[lines.index("> v kept") + 1] == "kept does not break; what does: never_two"
    shown = lines[lines.index("> v") + 1 : lines.index("> b")]
    assert "╰─ ✗ never_two: false here" in shown
    assert "state 2 filed=2 clerk at=take" in shown
    assert lines[lines.index("> b") + 1] == "state 1 clerk at=write clerk.page=2"


def test_random_walks_depend_on_the_seed_alone(said: Said) -> None:
    def walked(seed: int) -> list[str]:
        lines = said("r 9", "t", options=("--seed", str(seed)))
        return lines[lines.index("> t") :]

    assert walked(3) == walked(3)
    assert len({tuple(walked(seed)) for seed in range(6)}) > 1


def test_a_list_can_be_narrowed_and_a_slip_is_answered(said: Said) -> None:
    lines = said("1", "a FAULT", "vv", "stat", "s", "h", "q", "1")

    assert lines[lines.index("> a FAULT") + 2] == "2 clerk.write → take FAULT ink_dries filed=1"
    assert lines[lines.index("> a FAULT") + 3] == "> vv"
    assert lines[lines.index("> stat") + 1] == "no such command: stat; did you mean `start`?"
    assert lines[lines.index("> s") + 1 : lines.index("> h")] == ["desk filed=0", "clerk at=write page=1"]
    assert lines[-1] == "> q"


def test_the_options_of_a_walk_are_the_transitions_of_the_evaluator() -> None:
    system = TransitionSystem.of(load_one("killed_workflow").file.scenarios["baseline"])
    walk, evaluator = Walk(system, seed=1), Evaluator(system)

    for _ in range(300):
        assert list(walk.options) == list(evaluator.transitions(walk.state))
        if not any(isinstance(option, Transition) for option in walk.options):
            walk.back(7)
        walk.wander(1)

"""What a crash does beside losing memory, in graphs that were counted by hand; both engines see the same."""

from __future__ import annotations

import pytest

from checker.engines import columnar, oracle
from checker.exploration import Exploration, Limits
from model.loader import load
from model.source import Source
from model.system import TransitionSystem


def explored(text: str) -> Exploration:
    """Explore with both engines, which have to agree, and return what the plain one says."""
    system = TransitionSystem.of(load(Source("crashes.yaml", text)).scenarios["default"])
    plain = oracle.explore(system, Limits())
    (fast,) = columnar.explore([system], Limits())
    assert told(fast) == told(plain)
    return plain


def told(found: Exploration) -> list[object]:
    coverage = found.coverage
    return [
        (found.states, found.transitions, found.depth, found.failing_states),
        {name: finding.depth for name, finding in found.findings.items()},
        found.failure and found.failure.depth,
        found.waiting and found.waiting.depth,
        (coverage.steps, coverage.kill_points, coverage.branches, coverage.rows, coverage.premises, coverage.faults),
    ]


def counts(found: Exploration) -> tuple[int, int, int]:
    return found.states, found.transitions, found.depth


def process(keys: str, steps: str = "{a: pass, b: pass}", more: str = "") -> str:
    """Return a specification with one process `p` that may crash any number of times."""
    return f"""
language: 1
protocol: crashes
faults: {{crash: {{of: [p]}}}}
processes:
  p:
    {keys}
    steps: {steps}
{more}
"""


# --- restarts ---


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        # a → b, b → a, and the crash before b.
        ("restarts: at_once", (2, 3, 2)),
        # The same steps, a crash before each, and the restart: down is one step away from a, like b.
        ("restarts: later", (3, 5, 2)),
        # Without the restart.
        ("restarts: never", (3, 4, 2)),
        # c → a, a → b, b → a, and crashes before a and b; one before c changes nothing.
        ("boot: c", (3, 5, 3)),
        # Down beside them: three steps, three crashes, the restart. From c it is a and down, then b.
        ("{boot: c, restarts: later}", (4, 7, 3)),
        ("{boot: c, restarts: never}", (4, 6, 3)),
    ],
)
def test_crashes_and_restarts_are_counted_as_by_hand(keys: str, expected: tuple[int, int, int]) -> None:
    keys = keys.strip("{}").replace(", ", "\n    ")
    steps = "{a: pass, b: pass, c: pass}" if "boot" in keys else "{a: pass, b: pass}"

    assert counts(explored(process(keys, steps))) == expected


def test_a_crashed_process_is_seen_down_and_comes_back_by_a_fair_transition() -> None:
    properties = """
properties:
  up: {always: "not crashed(p[0])"}
  comes_back: {recoverable: "p[0].at(b)"}
"""
    later, never = (explored(process(f"restarts: {word}", more=properties)) for word in ("later", "never"))

    assert later.findings["up"].depth == 1
    assert "comes_back" not in later.findings
    assert never.findings["comes_back"].depth == 1
    assert never.findings["comes_back"].still_possible == ()


def test_a_restart_is_an_action_of_its_own_and_no_step() -> None:
    found = explored(
        process(
            "restarts: later\n    boot: c",
            "{a: pass, b: pass, c: pass}",
            """
properties:
  not_back: {step: "not (crashed(p[0]) and next(p[0].at(c)))"}
""",
        )
    )
    trace = found.findings["not_back"].trace

    assert [(step.action.kind, step.action.step, step.action.kill_point) for step in trace.steps] == [
        ("crash", None, "p.c"),
        ("restart", None, None),
    ]
    assert found.coverage.steps == {"p.a", "p.b", "p.c"}


def test_memory_is_gone_while_a_process_is_down_and_a_budget_counts_each_crash() -> None:
    text = process(
        "restarts: later\n    volatile: {m: {type: bool}}",
        '{a: pass, b: "m = True", c: pass}',
        """
properties:
  forgotten: {always: "implies(crashed(p[0]), not p[0].m)"}
""",
    ).replace("{of: [p]}", "{of: [p], at_most: 1}")

    # Unspent: a, b, c with memory. Spent: down, then again a, b, c. Six steps, three crashes, one restart.
    found = explored(text)
    assert counts(found) == (7, 10, 5)
    assert found.findings == {}


@pytest.mark.parametrize(("word", "waiting"), [("never", None), ("at_once", 1)])
def test_a_process_that_is_down_does_not_wait(word: str, waiting: int | None) -> None:
    text = process(f"restarts: {word}", '{a: pass, b: "when(False)"}').replace("{of: [p]}", "{of: [p], at_most: 1}")
    found = explored(text)

    # At once, the second time at b nothing can happen; down for good, nothing can happen there but nobody waits.
    assert (found.waiting and found.waiting.depth) == (3 if waiting else None)


def test_a_crash_at_a_boot_step_that_was_gone_to_takes_what_was_remembered() -> None:
    text = process("boot: c\n    volatile: {m: {type: bool}}", '{a: "m = True", b: "goto(c)", c: pass}')

    # c, a, b with memory, c with memory: four steps, and crashes before a, b, and before c where there is memory.
    assert counts(explored(text)) == (4, 7, 4)


def test_nothing_falls_into_the_boot_step_wherever_it_stands() -> None:
    found = explored(
        process(
            "boot: b",
            "{a: pass, b: pass, c: pass}",
            """
properties:
  only_once: {step: "implies(not p[0].at(b), not next(p[0].at(b)))"}
""",
        ).replace("{of: [p]}", "{of: [p], at_most: 0}")
    )

    assert counts(found) == (3, 3, 3)
    assert found.findings == {}


# --- keep ---


def test_what_is_kept_is_lost_in_a_crash_and_not_back_at_the_first_step() -> None:
    text = process("volatile: {n: {type: 0..2, keep: true}}", '{a: "when(n < 2)\\nn += 1", b: pass}')

    # a0, b1, a1, b2, a2, one after the other; from each but the first a crash leads back to it.
    found = explored(text)
    assert counts(found) == (5, 8, 5)
    assert found.coverage.kill_points == {"p.a", "p.b"}


def test_what_is_not_kept_is_forgotten_beside_what_is() -> None:
    text = process(
        "volatile: {n: {type: bool, keep: true}, m: {type: bool}}",
        '{a: "n = True\\nm = True", b: pass}',
        """
properties:
  forgets: {always: "implies(p[0].at(a), not p[0].m)"}
  keeps: {step: "implies(p[0].n and next(p[0].at(a)) and p[0].at(b), next(p[0].n))"}
""",
    )
    found = explored(text)

    # a, b and a again, with n, b from there is the same: three steps, and crashes before b and the second a.
    assert counts(found) == (3, 5, 3)
    assert list(found.findings) == ["keeps"]  # by the crash before b
    assert found.findings["keeps"].trace.steps[-1].action.kind == "crash"


def test_stop_resets_what_is_kept() -> None:
    text = process(
        "volatile: {n: {type: bool, keep: true}}",
        '{a: "n = True", b: "stop()"}',
        """
properties:
  forgets: {always: "implies(stopped(p[0]), not p[0].n)"}
  stops: {possible: "stopped(p[0])"}
""",
    )

    assert list(explored(text).findings) == ["stops"]

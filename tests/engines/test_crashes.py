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


# --- on_crash ---

STORES = "stores: {s: {holds: {x: {type: 0..2}, y: {type: bool}}}}"


def test_what_a_crash_does_is_part_of_it_also_before_the_first_step() -> None:
    text = process('on_crash: "x = 1"', more=STORES)

    # a0, b0, and after the first crash a1, b1. Four steps; of the crashes only the one at a1 would change nothing.
    found = explored(text)
    assert counts(found) == (4, 7, 3)
    assert found.coverage.kill_points == {"p.a", "p.b"}


def test_each_outcome_of_a_choice_is_a_crash_of_its_own() -> None:
    text = process('on_crash: "x = choose({0, 1, 2})"', more=STORES)

    # Six states. At a, two of three values are new; at b all three lead elsewhere. Six steps, 3·2 + 3·3 crashes.
    assert counts(explored(text)) == (6, 21, 3)


def test_a_crash_sees_memory_before_it_is_lost() -> None:
    steps = '{a: "m = 2", b: pass}'
    text = process('on_crash: "x = m"\n    volatile: {m: {type: 0..2}}', steps, STORES)

    # a and b with x = 0, then a and b with x = 2. Steps 4; crashes: both b to a2, and a2 to a0, where m is 0.
    found = explored(text)
    assert counts(found) == (4, 7, 4)


def test_what_a_crash_writes_is_no_longer_fresh_for_others() -> None:
    text = """
language: 1
protocol: crashes
stores: {s: {versioned: true, holds: {x: {type: bool}}}}
faults: {crash: {of: [p], at_most: 1}}
processes:
  p: {on_crash: "x = x", steps: {a: pass, b: pass}}
  q: {steps: {a: "read(s)", b: "if not fresh(s): goto(d)", c: "goto(a)", d: "goto(a)"}}
properties:
  stale: {possible: "q[0].at(d)"}
  trusted: {possible: "q[0].at(c)"}
"""
    found = explored(text)

    # read, the crash, and the test that finds the store no longer fresh; a crash changes nothing else before p.a.
    assert found.findings["stale"].depth == 3
    assert found.findings["trusted"].depth == 2


def test_an_error_in_a_crash_is_a_failure_of_it() -> None:
    text = process('on_crash: "x += 1"', more=STORES).replace("{of: [p]}", "{of: [p], at_most: 3}")
    found = explored(text)

    assert found.failure is not None
    assert found.failure.depth == 2  # x is 2 after two crashes; the third cannot be completed
    assert found.failure.trace.failing is not None
    assert found.failure.trace.failing.kill_point == "p.a"


def test_an_arm_of_what_a_crash_does_is_covered_where_it_became_a_transition() -> None:
    text = process('on_crash: "if x == 0: x = 1"', more=STORES)
    found = explored(text)

    # The crash with x = 1 changes something only at b, where the label does.
    assert {taken for _, taken in found.coverage.branches} == {True, False}


# --- torn ---

TORN = '{{a: pass, b: {{do: "{do}", torn: "{torn}"}}, c: pass}}'


def torn(do: str, body: str, keys: str = "restarts: at_once", budget: str = "{of: [p]}") -> str:
    text = process(keys, TORN.format(do=do, torn=body), STORES)
    return text.replace("{of: [p]}", budget)


def test_a_torn_step_leaves_its_own_effects_and_not_the_step_s() -> None:
    found = explored(torn("x = 2", "x = 1", budget="{of: [p], at_most: 1}").replace("c: pass", 'c: "when(False)"'))

    # Unspent: a, b, c with x = 2. Spent: a0 (from b), a1 (torn in b), a2 (from c), and from each of them b and c,
    # where c has x = 2 always: a0, b0, a1, b1, a2, b2, c2. Steps 2 + 6, crashes 3.
    assert counts(found) == (10, 11, 5)
    assert found.coverage.kill_points == {"p.b", "p.c", "p.b.torn"}


def test_a_step_that_cannot_be_taken_cannot_be_torn() -> None:
    found = explored(torn("when(y)", "x = 1"))

    assert "p.b.torn" not in found.coverage.kill_points
    assert counts(found) == (2, 2, 2)


def test_a_step_that_only_a_fault_lets_through_cannot_be_torn() -> None:
    text = torn("when(fault(f))", "x = 1").replace("crash: {of: [p]}", "crash: {of: [p]}, f: {at_most: unlimited}")
    found = explored(text)

    # a, b, c without a torn crash: three steps, crashes before b and c.
    assert counts(found) == (3, 5, 3)


def test_a_torn_crash_may_be_conditional_and_may_be_a_choice() -> None:
    found = explored(torn("pass", "when(x == 0)\\nx = choose({1, 2})"))

    # a, b, c for each x: nine steps and two crashes each, and two torn ones where x is 0.
    assert counts(found) == (9, 9 + 6 + 2, 5)


def test_what_is_torn_comes_before_what_every_crash_does() -> None:
    found = explored(torn("pass", "x = 1", keys='on_crash: "y = x == 1"'))

    # Untorn x stays 0 and y false; torn, both change at once: a, b, c with (0, no) and with (1, yes).
    # Steps 6; crashes before b and c 4; torn ones 2 (of x = 1 to the same). Before a nothing changes.
    assert counts(found) == (6, 12, 5)


def test_a_torn_first_step_is_a_kill_point_though_a_crash_before_it_is_none() -> None:
    found = explored(process("restarts: at_once", '{a: {do: pass, torn: "x = 1"}, b: pass}', STORES))

    # a0, b0, a1, b1: four steps, two crashes before b, one torn; the torn one at a1 changes nothing.
    assert counts(found) == (4, 7, 3)
    assert found.coverage.kill_points == {"p.a.torn", "p.b"}


def test_a_torn_crash_spends_the_budget_and_obeys_the_place_of_its_fault() -> None:
    text = torn("pass", "x = 1") + "scenarios: {default: {allow: {crash: {at: [p.b.torn], at_most: 1}}}}\n"
    found = explored(text)

    # a, b, c; then once torn: a, b, c with x = 1.
    assert counts(found) == (6, 7, 5)
    assert found.coverage.kill_points == {"p.b.torn"}


def test_a_torn_body_sees_memory_and_not_the_locals_of_its_step() -> None:
    steps = '{a: "m = 2", b: {do: "t: bool = True\\ny = t", torn: "t: bool = m == 2\\nif t: x = 2"}, c: pass}'
    text = process("volatile: {m: {type: 0..2}}", steps, STORES + '\nproperties: {seen: {possible: "x == 2"}}')

    assert explored(text).findings["seen"].depth == 2


def test_a_process_torn_and_down_is_still_brought_up() -> None:
    found = explored(process("restarts: later", '{a: {do: pass, torn: "x = 1"}}', STORES))

    # a0, a1, down0, down1: two steps, two crashes before a, two inside it, two restarts.
    assert counts(found) == (4, 8, 3)


# --- crashes in turn ---


@pytest.mark.parametrize(
    ("crashes", "expected", "kill_points"),
    [
        # a, b, c; from c once more with one crash spent, and from its b with two: three times three steps, two crashes.
        ("[p.c, p.b]", (9, 11, 8), {"p.c", "p.b"}),
        # The second is never at b before the first has been at c.
        ("[p.c, p.c]", (9, 11, 9), {"p.c"}),
        # From b and from c to one and the same a.
        ("[anywhere]", (6, 8, 5), {"p.b", "p.c"}),
        ("[]", (3, 3, 3), set()),
    ],
)
def test_crashes_in_turn_are_counted_as_by_hand(
    crashes: str, expected: tuple[int, int, int], kill_points: set[str]
) -> None:
    scenarios = f"scenarios: {{default: {{crashes: {crashes}}}}}\n"
    found = explored(process("restarts: at_once", "{a: pass, b: pass, c: pass}", scenarios))

    assert counts(found) == expected
    assert found.coverage.kill_points == kill_points


def test_crashes_of_several_faults_are_counted_together() -> None:
    text = """
language: 1
protocol: crashes
faults: {crash: {of: [p]}, outage: {of: [q]}}
processes:
  p: {steps: {a: pass, b: pass}}
  q: {steps: {c: pass, d: pass}}
scenarios: {default: {crashes: [q.d, p.b]}}
"""
    found = explored(text)

    # Four pairs of labels with no crash, one and two; q goes from d to c in two of the first, p from b in two others.
    assert counts(found)[:2] == (12, 3 * 8 + 2 + 2)
    assert found.coverage.kill_points == {"q.d", "p.b"}


def test_systems_that_count_crashes_in_different_ways_are_explored_together() -> None:
    keys, steps = "on_crash: x = 1", "{a: pass, b: pass, c: pass}"
    text = process(keys, steps, STORES + '\nproperties: {uncrashed: {always: "x == 0"}}') + (
        "scenarios: {one: {allow: {crash: {at: [p.c], at_most: 1}}}, two: {crashes: [p.c]}, three: {crashes: [p.b]}}\n"
    )
    systems = [TransitionSystem.of(claim) for claim in load(Source("crashes.yaml", text)).scenarios.values()]

    for found, system in zip(columnar.explore(systems, Limits()), systems, strict=True):
        assert told(found) == told(oracle.explore(system, Limits()))

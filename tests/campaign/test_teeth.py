"""Everything that a file says must be put to use by some scenario, or be excused."""

from __future__ import annotations

from typing import Any

import pytest

from checker.elements import Kind
from checker.verdict import ExitCode
from model.diagnostics import Code

Judge = Any

# Every piece of it is used by the first scenario but what stands in the comments.
WORK = """
language: 1
protocol: work
parameters: {hard: {default: false}}
types: {Action: [wait, work, panic]}
stores: {s: {holds: {x: {type: 0..3}}}}
faults: {crash: {of: [w], at_most: unlimited}}
tables:
  plan:
    match: first
    gives: {action: Action}
    rows:
      low: {when: "x <= 1", action: work}
      one: {when: "x == 1", action: panic}          # shadowed
      four: {when: "hard and x == 2", action: panic}
      rest: {when: "True", action: wait}
processes:
  w:
    steps:
      look: |
        when(plan.action != wait)
      go: |
        if x == 0: x = 1
        else: x = 2
        goto(look)
      give_up: |                                    # nobody goes there
        if x == 3: x = 0
properties:
  p: {always: "implies(x == 3, hard) and implies(x == 2, x > 1)"}
scenarios:
  baseline: {}
"""
UNUSED = ["w.give_up", "plan.one", "plan.four", "p premise x == 3"]
EXCUSED = WORK + "unused:\n" + "".join(f"  {name}: it is so\n" for name in UNUSED)


def unused(found: Any) -> list[str]:
    return [u.name for u in found.report.teeth.unused]


def test_what_no_scenario_uses_is_listed_and_fails_the_check(judged: Judge) -> None:
    found = judged(WORK)

    assert found.claim().exit_code is ExitCode.AS_DECLARED
    assert unused(found) == UNUSED
    assert found.report.exit_code is ExitCode.VACUOUS


def test_what_is_excused_does_not_fail_the_check_and_is_still_listed(judged: Judge) -> None:
    found = judged(EXCUSED)

    assert unused(found) == UNUSED
    assert {u.excuse for u in found.report.teeth.unused} == {"it is so"}
    assert found.report.exit_code is ExitCode.AS_DECLARED


@pytest.mark.parametrize("name", UNUSED)
def test_every_unused_piece_needs_its_own_excuse(judged: Judge, name: str) -> None:
    assert judged(EXCUSED.replace(f"  {name}: it is so\n", "")).report.exit_code is ExitCode.VACUOUS


def test_a_row_is_used_when_another_scenario_uses_it(judged: Judge) -> None:
    assert "plan.four" not in unused(judged(WORK + "  second: {set: {hard: true}}"))


def test_mutants_do_not_count(judged: Judge) -> None:
    mutant = 'processes: {w: {steps: {go: "goto(give_up)"}}}'

    assert "w.give_up" in unused(judged(WORK + f"mutants:\n  m: {{{mutant}, survives: it is harmless}}"))


def test_a_dead_row_says_whether_an_earlier_one_hides_it(judged: Judge) -> None:
    found = judged(WORK)

    assert {u.name: u.shadowed for u in found.report.teeth.unused} == {
        "w.give_up": None,
        "plan.one": True,
        "plan.four": False,
        "p premise x == 3": None,
    }


def test_where_an_engine_does_not_look_for_hidden_rows_nothing_is_said(judged: Judge) -> None:
    def forget(explorations: Any) -> None:
        explorations["baseline"].coverage.shadowed_rows = None

    assert {u.shadowed for u in judged(WORK, tamper=forget).report.teeth.unused} == {None}


ARMS = WORK.replace("if x == 0: x = 1\n        else: x = 2", "if x <= 1: x += 1").replace(
    "goto(look)\n", "if x == 1: pass\n        if x == 1: pass\n        elif x == 3: x = 0\n        goto(look)\n"
)


def test_an_arm_is_named_by_its_step_and_condition(judged: Judge) -> None:
    names = unused(judged(ARMS))

    assert "w.go unless x <= 1" in names
    assert "w.go if x == 3" in names
    assert "w.go if x == 1" not in names


def test_of_equal_conditions_in_one_step_the_second_is_numbered(judged: Judge) -> None:
    text = WORK.replace("goto(look)\n", "if x == 3: pass\n        if x == 3: pass\n        goto(look)\n")

    assert {"w.go if x == 3", "w.go if x == 3 (2)"} <= set(unused(judged(text)))


def test_what_lies_in_an_unused_arm_is_not_listed_again(judged: Judge) -> None:
    text = WORK.replace("goto(look)\n", "if x == 3:\n            if hard: x = 0\n        goto(look)\n")

    assert "w.go if x == 3" in unused(judged(text))
    assert not [name for name in unused(judged(text)) if "hard" in name]


def test_an_if_inside_a_loop_has_arms_too(judged: Judge) -> None:
    text = WORK.replace("goto(look)\n", "for i in Pair:\n            if i == 2: pass\n        goto(look)\n")

    assert "w.go if i == 2" in unused(judged(text.replace("types: {", "types: {Pair: 0..1, ")))


def test_a_kill_point_that_no_crash_hits_is_unused(judged: Judge) -> None:
    found = judged(WORK.replace("baseline: {}", "baseline: {allow: {crash: {at: [w.give_up], at_most: 1}}}"))

    assert "kill point w.go" in unused(found)
    # Nothing gets to `give_up`, and that is said once.
    assert "kill point w.give_up" not in unused(found)


def test_a_second_scenario_may_cover_the_kill_point(judged: Judge) -> None:
    text = WORK.replace("baseline: {}", "baseline: {allow: {crash: {at: [w.give_up], at_most: 1}}}") + "  all: {}\n"

    assert "kill point w.go" not in unused(judged(text))


def test_where_crashes_are_off_everywhere_there_are_no_kill_points(judged: Judge) -> None:
    names = unused(judged(WORK.replace("at_most: unlimited", "at_most: 0")))

    assert not [name for name in names if name.startswith("kill point")]


def test_the_first_step_has_no_kill_point(judged: Judge) -> None:
    found = judged(EXCUSED.replace("w.give_up:", "kill point w.look:"))

    assert [d.code for d in found.report.teeth.diagnostics] == [Code.UNUSED_UNKNOWN]


def test_a_premise_in_a_property_that_nobody_asks_about_is_no_business_of_the_file(judged: Judge) -> None:
    text = WORK.replace("properties:", 'properties:\n  q: {always: "x >= 0"}').replace(
        "baseline: {}", "baseline: {only: [q]}"
    )

    assert not [name for name in unused(judged(text)) if "premise" in name]


def test_a_premise_is_used_only_where_its_property_is_asked(judged: Judge) -> None:
    text = WORK.replace('"implies(x == 3, hard) and', '"implies(hard, x < 3) and')
    text = text.replace("properties:", 'properties:\n  q: {always: "x >= 0"}')

    assert "p premise hard" not in unused(judged(text + "  second: {set: {hard: true}}"))
    assert "p premise hard" in unused(judged(text + "  second: {set: {hard: true}, only: [q]}"))


def test_a_definition_used_twice_in_a_property_has_one_premise(judged: Judge) -> None:
    text = WORK.replace('"implies(x == 3, hard) and', '"d and d and implies(x == 3, x > 0) and').replace(
        "faults:", 'definitions: {d: "implies(x == 3, hard)"}\nfaults:'
    )

    assert [name for name in unused(judged(text)) if "premise" in name] == [
        "p premise x == 3",
        "p premise x == 3 (2)",
    ]


# --- Variants ---


VARIANT = (
    WORK
    + """  patched: {variant: patch}
variants:
  patch:
    processes: {w: {steps: {go: "if x == 0: x = 1\\nelse: x = 2\\nif x == 3: x = 0\\ngoto(look)"}}}
"""
)


def test_what_a_variant_rewrites_must_be_used_as_well(judged: Judge) -> None:
    found = judged(VARIANT)

    assert "w.go if x == 3" in unused(found)
    assert [u.variant for u in found.report.teeth.unused if u.name == "w.go if x == 3"] == ["patch"]


def test_a_step_that_only_its_original_takes_is_unused_in_the_variant(judged: Judge) -> None:
    found = judged(VARIANT.replace("if x == 0: x = 1\\nelse: x = 2\\nif x == 3: x = 0", "when(x == 3)"))

    assert [(u.name, u.variant) for u in found.report.teeth.unused if u.name == "w.go"] == [("w.go", "patch")]


def test_a_row_that_a_variant_patches_is_a_row_of_its_own(judged: Judge) -> None:
    text = WORK + "  patched: {variant: patch}\nvariants:\n  patch: {tables: {plan: {rows: {rest: {when: 'x == 3'}, "
    text += "low: {when: 'x < 4'}}}}}\n"

    # With it every state is low.
    found = judged(text.replace("when(plan.action != wait)", "when(plan.action != wait and x < 2)"))

    assert [(u.name, u.variant) for u in found.report.teeth.unused if u.name == "plan.rest"] == [("plan.rest", "patch")]


# --- Excuses ---


def test_an_excuse_for_what_does_not_exist_is_an_error(judged: Judge) -> None:
    found = judged(EXCUSED.replace("  w.give_up:", "  w.givup: typo\n  w.give_up:"))

    (diagnostic,) = found.report.teeth.diagnostics
    assert diagnostic.code is Code.UNUSED_UNKNOWN
    assert diagnostic.help == "did you mean `w.give_up`?"
    assert diagnostic.span == found.file.unused_spans["w.givup"]
    assert found.report.exit_code is ExitCode.BAD_INPUT


def test_an_excuse_for_what_is_used_is_an_error(judged: Judge) -> None:
    found = judged(EXCUSED + "  plan.low: no more\n")

    assert [d.code for d in found.report.teeth.diagnostics] == [Code.UNUSED_STALE]
    assert found.report.exit_code is ExitCode.BAD_INPUT


def test_one_excuse_covers_all_pieces_of_the_name(judged: Judge) -> None:
    text = VARIANT + "".join(f"  {name}: it is so\n" for name in ("unused:", *UNUSED, "w.go if x == 3"))
    text = text.replace("  unused:: it is so", "unused:")

    assert judged(text).report.exit_code is ExitCode.AS_DECLARED


@pytest.mark.parametrize("first", ["baseline: {}", "earlier: {variant: patch}"])
def test_an_excuse_is_not_stale_while_one_piece_of_the_name_is_unused(judged: Judge, first: str) -> None:
    text = VARIANT.replace("if x == 0: x = 1\\nelse: x = 2\\nif x == 3: x = 0", "x = 1\\nif x == 0: x = 2")
    text = text.replace("  baseline: {}", f"  {first}\n  baseline: {{}}" if "variant" in first else "  baseline: {}")
    text += "unused: {w.go if x == 0: only in the patch}\n"

    found = judged(text)

    assert found.report.teeth.diagnostics == ()
    assert "w.go if x == 0" in unused(found)


# --- When it is judged ---


def test_a_narrowed_run_does_not_judge_the_file(judged: Judge) -> None:
    found = judged(WORK + "  second: {}", run=["baseline"])

    assert found.report.teeth.why_not_judged == "scenarios not run: second"
    assert found.report.teeth.unused == ()
    assert found.report.exit_code is ExitCode.AS_DECLARED


def test_a_cut_run_finds_stale_excuses_and_nothing_unused(judged: Judge) -> None:
    found = judged(EXCUSED + "  plan.low: no more\n", limits={"baseline": 1})

    assert found.report.teeth.why_not_judged == "not explored to the end: baseline"
    assert found.report.teeth.unused == ()
    assert [d.code for d in found.report.teeth.diagnostics] == [Code.UNUSED_STALE]


def test_the_pieces_are_counted_by_kind(judged: Judge) -> None:
    tallies = {t.kind: (t.used, t.total) for t in judged(WORK).report.teeth.tallies}

    assert tallies == {
        Kind.STEP: (2, 3),
        Kind.ARM: (2, 4),
        Kind.ROW: (2, 4),
        Kind.KILL_POINT: (1, 2),
        Kind.PREMISE: (1, 2),
    }


NEVER_CHECKED = """
language: 1
protocol: teeth
stores: {s: {holds: {x: {type: 0..3}}}}
processes:
  w:
    steps:
      up: |
        for b in bool:
            if x > 2: check(seen, x == 3)
        x = 1
properties: {seen: {checked: the third is the last}, low: {always: "x < 2"}}
scenarios: {baseline: {}}
"""


def test_a_checked_property_that_no_run_comes_by_is_not_used(judged: Judge) -> None:
    assert "check seen" in unused(judged(NEVER_CHECKED))
    assert "check seen" not in unused(judged(NEVER_CHECKED.replace("x > 2", "x == 1").replace("x == 3", "x > 0")))

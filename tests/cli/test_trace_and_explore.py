"""`killpoint trace` and `killpoint explore`."""

import pytest

from tests.cli.running import Edit, Killpoint


def test_without_options_the_first_scenario_and_what_breaks_soonest_are_shown(killpoint: Killpoint) -> None:
    holds = killpoint("trace", "lamp.yaml")
    breaks = killpoint("trace", "lamp.yaml", "--scenario", "careless")

    assert (holds.code, breaks.code) == (0, 0)
    assert "nothing breaks in 15 states" in holds.out
    assert "scenario careless: lit_once breaks after 7 transitions, as declared" in breaks.out


def test_a_crash_and_a_fault_are_unmistakable_without_colour(killpoint: Killpoint) -> None:
    crash = killpoint("trace", "lamp.yaml", "-s", "careless").out
    fault = killpoint("trace", "lamp.yaml", "-s", "deaf").out

    assert "✖ │ │ │  CRASH of hand before record  lost reply=yes" in crash
    assert "FAULT lost_reply" in fault


def test_a_witness_is_reached(killpoint: Killpoint) -> None:
    done = killpoint("trace", "lamp.yaml", "--property", "can_finish")

    assert done.code == 0
    assert "can_finish is reached after 1 transition" in done.out


def test_a_mutant_has_traces_too(killpoint: Killpoint) -> None:
    done = killpoint("trace", "lamp.yaml", "--mutant", "never-recorded", "--property", "lit_once")

    assert done.code == 0
    assert "mutant never-recorded: lit_once breaks after" in done.out


def test_a_recoverable_property_says_what_can_still_happen(killpoint: Killpoint) -> None:
    done = killpoint("trace", "lamp.yaml", "--mutant", "never-recorded", "--property", "finishes")

    assert "no run of fair steps leads to finishes; what can still happen: hand.ask" in " ".join(done.out.split())


def test_no_trace_of_what_holds_is_no_failure(killpoint: Killpoint) -> None:
    done = killpoint("trace", "lamp.yaml", "--property", "lit_once")

    assert done.code == 0
    assert "lit_once holds: no trace breaks it in 15 states" in done.out
    assert "not covered  lost_reply: off" in done.out


def test_no_trace_in_a_run_that_was_cut_short_is_inconclusive(killpoint: Killpoint) -> None:
    done = killpoint("trace", "lamp.yaml", "--property", "lit_once", "--max-states", "3")

    assert done.code == 3
    assert "the run was cut short: more than 3 states" in " ".join(done.out.split())


def test_an_undeclared_break_is_shown_and_exits_with_one(killpoint: Killpoint, edit: Edit) -> None:
    name = edit(("breaks: [lit_once], because: the reply is lost", "because: the reply is lost"))
    done = killpoint("trace", name, "-s", "deaf", "-p", "lit_once")

    assert done.code == 1
    assert "lit_once breaks after 7 transitions, undeclared" in done.out


def test_a_property_that_is_never_reached_is_vacuous(killpoint: Killpoint, edit: Edit) -> None:
    name = edit(("  can_finish: {", "  can_double: {possible: lightings == 2}\n  can_finish: {"))
    done = killpoint("trace", name, "-p", "can_double")

    assert done.code == 4
    assert "can_double is never reached" in done.out


def test_a_property_that_no_step_of_a_variant_checks_is_vacuous(killpoint: Killpoint, edit: Edit) -> None:
    name = edit(
        ("        lightings += 1\n", "        lightings += 1\n        check(lit_now, lit[1])\n"),
        ("  can_finish: {", "  lit_now: {checked: the lamp is lit}\n  can_finish: {"),
        ("variants:\n", "variants:\n  dark: {processes: {hand: {steps: {light: pass}}}}\n"),
        ("  baseline: {}", "  baseline: {}\n  dark: {variant: dark}"),
    )
    done = killpoint("trace", name, "-s", "dark", "-p", "lit_now")

    assert done.code == 4
    assert "✗ lit_now is checked by no step" in done.out


def test_a_run_time_error_is_the_trace(killpoint: Killpoint, edit: Edit) -> None:
    done = killpoint("trace", edit(('      over: {when: "order == done", act: false}\n', "")), "-p", "lit_once")

    assert done.code == 2
    assert "hand.rest cannot be completed" in " ".join(done.out.split())
    assert "--> edited.yaml:" in done.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--scenario", "careles"], "did you mean `careless`?"),
        (["--mutant", "never-record"], "did you mean `never-recorded`?"),
        (["--property", "lit_twice"], "did you mean `lit_once`?"),
        (["--scenario", "deaf", "--mutant", "never-recorded"], "KP709"),
    ],
)
def test_a_wrong_name_exits_with_two_and_helps(killpoint: Killpoint, arguments: list[str], message: str) -> None:
    done = killpoint("trace", "lamp.yaml", *arguments)

    assert (done.code, done.out) == (2, "")
    assert message in done.err


def test_a_property_that_the_scenario_does_not_ask_about_is_refused(killpoint: Killpoint, edit: Edit) -> None:
    done = killpoint("trace", edit(("  baseline: {}", "  baseline: {only: [lit_once]}")), "-p", "can_finish")

    assert done.code == 2
    assert "`baseline` does not ask about `can_finish`" in done.err


def test_a_directory_is_no_single_specification(killpoint: Killpoint, edit: Edit) -> None:
    edit()
    done = killpoint("trace", ".")

    assert done.code == 2
    assert "`.` holds 2 specifications" in done.err


# --- Explore ---


def test_a_free_run_that_holds_exits_with_zero_and_says_what_it_rests_on(killpoint: Killpoint) -> None:
    done = killpoint("explore", "lamp.yaml", "--allow", "lost_reply=unlimited")

    assert done.code == 0
    assert "✓ lit_once" in done.out
    assert "lost_reply: any number of times" in " ".join(done.out.split())
    assert "not covered  a crash inside a step" in done.out


def test_a_free_run_in_which_something_breaks_exits_with_one_and_shows_how(killpoint: Killpoint) -> None:
    done = killpoint("explore", "lamp.yaml", "--set", "careful=false", "--allow", "crash=1@hand.record")

    assert done.code == 1
    assert "✗ lit_once" in done.out
    assert "CRASH of hand before record" in done.out
    assert "crash ≤ 1 at hand.record" in done.out


def test_a_variant_can_be_explored(killpoint: Killpoint) -> None:
    holds = killpoint("explore", "lamp.yaml", "--variant", "forgetful")
    unknown = killpoint("explore", "lamp.yaml", "--variant", "forgetfull")

    assert holds.code == 0
    assert "variant forgetful" in holds.out
    assert "error[KP704]: there is no variant `forgetfull`" in unknown.err
    assert "did you mean `forgetful`?" in unknown.err


def test_everything_wrong_with_the_options_is_said_at_once(killpoint: Killpoint) -> None:
    wrong = ["limt=1", "careful=yes", "mood=hast", "limit=one", "limit", "limit=2"]
    faults = ["crsh=1", "lost_reply=-1", "crash=1@hand.recrd", "lost_reply=2"]
    options = [*(f"--set={text}" for text in wrong), *(f"--allow={text}" for text in faults)]
    done = killpoint("explore", "lamp.yaml", *options)

    assert (done.code, done.out) == (2, "")
    for message in (
        "error[KP702]: there is no parameter `limt`",
        "error[KP708]: `careful` cannot be `yes`",
        "did you mean `hasty`?",
        "error[KP708]: `limit` is a number, not `one`",
        "error[KP708]: `--set` takes a parameter and a value, `name=value`, not `limit`",
        "error[KP709]: `--set` names `limit` twice",
        "error[KP208]: there is no fault `crsh`",
        "error[KP708]: `lost_reply` can be allowed `unlimited`, `off` or 0 to 1,000 times, not `-1`",
        "error[KP507]: there is no kill point `hand.recrd`",
        "error[KP709]: `--allow` names `lost_reply` twice",
    ):
        assert message in done.err, message


@pytest.mark.parametrize("value", ["0", "4", "-1", "9" * 30])
def test_a_parameter_out_of_range_is_refused(killpoint: Killpoint, value: str) -> None:
    done = killpoint("explore", "lamp.yaml", "--set", f"limit={value}")

    assert (done.code, done.out) == (2, "")
    assert "KP111" in done.err
    assert "1..3" in done.err


def test_a_fault_that_is_no_crash_has_no_kill_point(killpoint: Killpoint) -> None:
    done = killpoint("explore", "lamp.yaml", "--allow", "lost_reply=1@hand.record")

    assert done.code == 2
    assert "`@` places crashes, and `lost_reply` is none" in done.err

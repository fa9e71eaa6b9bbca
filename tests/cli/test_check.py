"""`killpoint check`: exit codes, what is shown, what is narrowed."""

from pathlib import Path

import pytest

from tests.cli.running import Edit, Killpoint

UNDECLARED = ("breaks: [lit_once], because: the reply is lost", "because: the reply is lost")


def test_everything_as_declared_exits_with_zero(killpoint: Killpoint) -> None:
    done = killpoint("check", "lamp.yaml")

    assert (done.code, done.err) == (0, "")
    assert "1 file, 3 scenarios, 1 mutant: everything as declared" in done.out


def test_an_undeclared_break_exits_with_one_and_shows_its_trace_right_there(killpoint: Killpoint, edit: Edit) -> None:
    done = killpoint("check", edit(UNDECLARED))

    assert done.code == 1
    assert "✗ deaf" in done.out
    assert "scenario deaf: `lit_once` breaks, undeclared, after 7 transitions" in done.out
    assert "hand.light          FAULT lost_reply" in done.out
    assert "lit_once is false here" in done.out


def test_of_several_undeclared_breaks_the_shortest_is_shown_and_the_others_are_named(
    killpoint: Killpoint, edit: Edit
) -> None:
    name = edit(UNDECLARED, ("can_finish: {possible", "never_asked: {always: order != asked}\n  can_finish: {possible"))
    done = killpoint("check", name)

    assert done.out.count("╰─") == 1
    assert "never_asked is false here" in done.out
    assert "killpoint trace edited.yaml --scenario deaf --property lit_once" in done.out


def test_a_declared_break_that_does_not_happen_exits_with_one(killpoint: Killpoint, edit: Edit) -> None:
    done = killpoint("check", edit(("  baseline: {}", "  baseline: {breaks: [lit_once], because: so it is said}")))

    assert done.code == 1
    assert "`lit_once` is declared to break, and holds" in done.out


def test_a_run_time_error_exits_with_two_and_shows_trace_and_place(killpoint: Killpoint, edit: Edit) -> None:
    done = killpoint("check", edit(('      over: {when: "order == done", act: false}\n', "")))

    assert done.code == 2
    assert "KP803" in done.out
    assert "a run-time error, after" in done.out
    assert "--> edited.yaml:" in done.out
    assert "Traceback" not in done.out + done.err


def test_a_run_that_is_cut_short_exits_with_three_and_nothing_in_it_holds(killpoint: Killpoint) -> None:
    done = killpoint("check", "lamp.yaml", "--scenario", "baseline", "--max-states", "3")

    assert done.code == 3
    assert "? baseline" in done.out
    assert "unknown" in done.out
    assert "holds" not in done.out
    assert "more than 3 states" in done.out


def test_a_run_out_of_time_exits_with_three(killpoint: Killpoint) -> None:
    done = killpoint("check", "lamp.yaml", "--timeout", "0.000001", "--engine", "oracle")

    assert done.code == 3
    assert "out of time" in done.out


def test_a_piece_that_nothing_uses_exits_with_four_and_is_named(killpoint: Killpoint, edit: Edit) -> None:
    spare = '      spare: {when: "order == asked", act: true}\n'
    done = killpoint("check", edit(("      new: {when", f"{spare}      new: {{when")))

    assert done.code == 4
    assert "✗ plan.spare is never used" in done.out


def test_a_mutant_that_is_not_caught_exits_with_one(killpoint: Killpoint, edit: Edit) -> None:
    done = killpoint("check", edit(("breaks: [lit_once, finishes]", "breaks: [lit_once]")))

    assert done.code == 1
    assert "the mutant names `lit_once`; it is caught by `lit_once`, `finishes`" in " ".join(done.out.split())


# --- What to check ---


def test_scenarios_and_mutants_can_be_picked(killpoint: Killpoint) -> None:
    done = killpoint("check", "lamp.yaml", "--scenario", "deaf", "--mutant", "never-recorded")

    assert done.code == 0
    assert "1 scenario, 1 mutant" in done.out
    assert "not run      baseline, careless" in done.out
    assert "not judged (scenarios not run: baseline, careless)" in done.out


def test_many_claims_that_were_not_run_are_counted(killpoint: Killpoint, edit: Edit) -> None:
    more = "".join(f"  spare-{number}: {{allow: {{lost_reply: 1}}}}\n" for number in range(4))
    name = edit(("scenarios:\n", f"scenarios:\n{more}"))
    done = killpoint("check", name, "--scenario", "deaf")

    assert "not run      6 scenarios, 1 mutant (named by `--json`)\n" in done.out
    assert "not judged (6 scenarios not run)\n" in done.out
    assert "spare" not in done.out
    (document,) = killpoint("check", name, "--scenario", "deaf", "--json").json["files"]
    assert {"spare-0", "spare-3", "baseline", "never-recorded"} < set(document["not_run"])


def test_a_property_leaves_the_mutants_out_that_do_not_name_it(killpoint: Killpoint) -> None:
    document = killpoint("check", "lamp.yaml", "--property", "can_finish", "--json").json

    assert [claim["name"] for claim in document["files"][0]["scenarios"]] == ["baseline", "careless", "deaf"]
    assert document["files"][0]["mutants"] == []
    assert {p["name"] for claim in document["files"][0]["scenarios"] for p in claim["properties"]} == {"can_finish"}


def test_a_directory_is_searched_to_its_bottom(killpoint: Killpoint, here: Path, edit: Edit) -> None:
    (here / "deep" / "deeper").mkdir(parents=True)
    (here / edit()).rename(here / "deep" / "deeper" / "other.yml")
    done = killpoint("check", ".", "deep")

    assert done.code == 0
    assert "2 files, 6 scenarios, 2 mutants" in done.out
    assert "deep/deeper/other.yml" in done.out


def test_a_bundled_specification_goes_by_its_name(killpoint: Killpoint) -> None:
    done = killpoint("check", "two_phase_commit", "--scenario", "baseline")

    assert done.code == 0
    assert "288" in done.out


@pytest.mark.parametrize(
    ("arguments", "message", "help_"),
    [
        (["--scenario", "basline"], "error[KP701]: there is no scenario `basline`", "did you mean `baseline`?"),
        (["--property", "lit_onze"], "error[KP703]: there is no property `lit_onze`", "did you mean `lit_once`?"),
        (["--mutant", "never"], "error[KP705]: there is no mutant `never`", "the mutant names: `never-recorded`"),
        (["--max-states", "0"], "error[KP708]: `--max-states` must be above zero, not 0", ""),
        (["--timeout", "-1"], "error[KP708]: `--timeout` must be above zero, not -1", ""),
        (["--timeout", "nan"], "error[KP708]: `--timeout` must be above zero, not nan", ""),
        (["--workers", "-2"], "error[KP708]: `--workers` must be above zero, not -2", ""),
    ],
)
def test_a_wrong_option_exits_with_two_and_helps(
    killpoint: Killpoint, arguments: list[str], message: str, help_: str
) -> None:
    done = killpoint("check", "lamp.yaml", *arguments)

    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert help_ in done.err


def test_everything_wrong_with_the_names_is_said_at_once(killpoint: Killpoint) -> None:
    done = killpoint("check", "lamp.yaml", "-s", "basline", "-s", "deff", "-m", "none", "-p", "lit")

    assert done.code == 2
    assert "4 errors" in done.err


@pytest.mark.parametrize("arguments", [["--max-states", "many"], ["--engine", "fast"], ["--no-such-option"]])
def test_a_usage_error_exits_with_two(killpoint: Killpoint, arguments: list[str]) -> None:
    done = killpoint("check", "lamp.yaml", *arguments)

    assert (done.code, done.out) == (2, "")


def test_the_errors_of_several_files_come_at_once(killpoint: Killpoint, edit: Edit) -> None:
    edit(("order = asked", "ordr = asked"), name="one.yaml")
    edit(('when: "order == asked"', 'when: "order == asket"'), ("lightings <= 1", "lighting <= 1"), name="two.yaml")
    done = killpoint("check", "one.yaml", "lamp.yaml", "two.yaml", "three.yaml")

    assert (done.code, done.out) == (2, "")
    assert "--> one.yaml:" in done.err
    assert "`asket`" in done.err
    assert "`lighting`" in done.err
    assert "there is no file or directory `three.yaml`" in done.err


def test_a_setting_out_of_range_points_into_the_file(killpoint: Killpoint, edit: Edit) -> None:
    done = killpoint("check", edit(("  baseline: {}", "  baseline: {set: {limit: 7}}")))

    assert done.code == 2
    assert "KP111" in done.err
    assert "--> edited.yaml:" in done.err


def test_where_only_one_scenario_leaves_no_initial_state_it_is_named(killpoint: Killpoint, edit: Edit) -> None:
    done = killpoint(
        "check",
        edit(
            ("processes:\n", 'initially: "limit < 3"\n\nprocesses:\n'),
            ("  baseline: {}", "  baseline: {set: {limit: 2}}\n  third: {set: {limit: 3}}"),
        ),
    )

    assert done.code == 2
    assert "KP321" in done.err
    assert "in the scenario `third`" in done.err
    assert "baseline" not in done.err


def test_a_free_run_without_an_initial_state_is_in_no_scenario(killpoint: Killpoint, edit: Edit) -> None:
    name = edit(("processes:\n", 'initially: "limit < 3"\n\nprocesses:\n'))
    done = killpoint("explore", name, "--set", "limit=3")

    assert done.code == 2
    assert "KP321" in done.err
    assert "in the scenario" not in done.err


def test_warnings_are_shown_apart_from_the_results(killpoint: Killpoint, edit: Edit) -> None:
    done = killpoint(
        "check", edit(("\n    because: a crash after lighting and before recording leaves an order that looks new", ""))
    )

    assert done.code == 0
    assert "warning[KP910]" in done.err
    assert "warning" not in done.out


# --- An empty run is never a pass ---


def test_a_directory_without_specifications_is_an_error(killpoint: Killpoint, here: Path) -> None:
    (here / "empty").mkdir()
    done = killpoint("check", "empty")

    assert done.code == 2
    assert "`empty` holds no specification" in done.err


def test_options_that_choose_nothing_together_are_an_error(killpoint: Killpoint, edit: Edit) -> None:
    done = killpoint(
        "check", edit(("  baseline: {}", "  baseline: {only: [lit_once]}")), "-s", "baseline", "-p", "can_finish"
    )

    assert done.code == 2
    assert "leave nothing to check" in done.err


def test_a_mutant_is_not_judged_by_a_property_that_it_does_not_name(killpoint: Killpoint) -> None:
    done = killpoint("check", "lamp.yaml", "-m", "never-recorded", "-p", "can_finish")

    assert done.code == 2
    assert "leave nothing to check" in done.err


def test_a_mutant_may_be_broken_by_a_variant_alone(killpoint: Killpoint, edit: Edit) -> None:
    patched = '{variant: forgetful, processes: {hand: {steps: {look: "goto(light)"}}}, breaks: [lit_once, finishes]}'
    done = killpoint(
        "check", edit((f"never-recorded: {patched}", "only-forgetful: {variant: forgetful, breaks: [lit_once]}"))
    )

    assert "KP606" not in done.err
    assert "only-forgetful" in done.out


def test_a_name_that_a_scenario_and_a_mutant_share_is_an_error(killpoint: Killpoint, edit: Edit) -> None:
    done = killpoint("check", edit(("  never-recorded:", "  baseline:")))

    assert done.code == 2
    assert "KP203" in done.err


# --- Engines ---


def test_the_oracle_gives_the_same_answers(killpoint: Killpoint) -> None:
    documents = [
        killpoint("check", "lamp.yaml", "--json", "--engine", engine).json for engine in ("columnar", "oracle")
    ]
    keys = ("name", "verdict", "states", "transitions", "generated", "depth", "broken", "problems")
    answers = [
        [{key: claim[key] for key in keys} for claim in (*d["files"][0]["scenarios"], *d["files"][0]["mutants"])]
        for d in documents
    ]

    assert answers[0] == answers[1]
    assert {claim["engine"] for claim in documents[1]["files"][0]["scenarios"]} == {"oracle"}

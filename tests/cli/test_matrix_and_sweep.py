"""`killpoint matrix` and `killpoint sweep` on the command line."""

from __future__ import annotations

import pytest

from tests.cli.running import Edit, Killpoint

SWEEP = "\nsweep:\n  set: {careful: [false, true]}\n  allow: {crash: [unlimited, 0], lost_reply: [1, 0]}\n"
LAST = "breaks: [lit_once, finishes]}\n"


def test_a_scenario_that_holds_is_green_everywhere(killpoint: Killpoint) -> None:
    document = killpoint("matrix", "lamp.yaml", "--json").json

    assert document["exit_code"] == 0
    assert document["kill_points"] == ["hand.ask", "hand.light", "hand.record", "hand.look"]
    cells = [cell for row in document["rows"] for cell in (row["once"], *row["then"])]
    assert len(cells) == 4 + 4 * 4
    assert {cell["verdict"] for cell in cells} == {"holds"}
    assert set(document["needed"].values()) == {None}


def test_one_that_breaks_as_declared_shows_where(killpoint: Killpoint) -> None:
    """Whoever is not careful lights again what was lit and not recorded."""
    document = killpoint("matrix", "lamp.yaml", "--scenario", "careless", "--json").json

    assert document["exit_code"] == 0
    assert [row["kill_point"] for row in document["rows"] if row["once"]["broken"]] == ["hand.record"]
    assert document["needed"]["lit_once"] == 1
    (broken,) = document["rows"][2]["once"]["broken"]
    assert broken["property"] == "lit_once"
    assert [step["kill_point"] for step in broken["trace"]["steps"] if step["kill_point"]] == ["hand.record"]


def test_one_that_breaks_undeclared_is_red(killpoint: Killpoint, edit: Edit) -> None:
    name = edit(("    breaks: [lit_once]\n    because: a crash after lighting", "    because: a crash after lighting"))

    assert killpoint("matrix", name, "--scenario", "careless").code == 1


def test_without_a_crash_fault_it_is_red(killpoint: Killpoint, edit: Edit) -> None:
    name = edit(
        ("  crash: {of: [hand], at_most: unlimited}\n", ""),
        ("allow: {crash: 0, lost_reply: 1}", "allow: {lost_reply: 1}"),
    )
    done = killpoint("matrix", name)

    assert done.code == 4
    assert "there are no kill points" in done.words


def test_a_step_that_nobody_comes_to_any_more_is_red(killpoint: Killpoint, edit: Edit) -> None:
    done = killpoint("matrix", edit(("if plan.look and careful: goto(look)", "if plan.look and careful: goto(light)")))

    assert done.code == 1  # lit twice, which goes before
    assert "no scenario has a crash at `hand.look`" in done.words


@pytest.mark.parametrize(
    ("cell", "code"),
    [("record", 0), ("hand.record", 0), ("record,hand.look", 0), ("rest", 2), ("record,look,ask", 2)],
)
def test_a_cell_is_named_by_its_kill_points(killpoint: Killpoint, cell: str, code: int) -> None:
    assert killpoint("matrix", "lamp.yaml", "--cell", cell).code == code


def test_a_cell_is_what_exploring_its_crashes_says(killpoint: Killpoint) -> None:
    cell = killpoint("matrix", "lamp.yaml", "--scenario", "careless", "--cell", "light,record", "--json").json
    (found,) = cell["rows"][0]["then"]
    alone = killpoint(
        "explore", "lamp.yaml", "--set", "careful=false", "--crashes", "hand.light,hand.record", "--json"
    ).json
    broken = {p["name"]: p["length"] for p in alone["claim"]["properties"] if p["verdict"] == "violated"}
    assert {one["property"]: one["length"] for one in found["broken"]} == broken


def test_crashes_in_turn_and_a_count_exclude_each_other(killpoint: Killpoint) -> None:
    done = killpoint("explore", "lamp.yaml", "--crashes", "hand.light", "--allow", "crash=1")

    assert done.code == 2
    assert "KP709" in done.err


def test_a_sweep_needs_something_to_sweep(killpoint: Killpoint) -> None:
    done = killpoint("sweep", "lamp.yaml")

    assert done.code == 2
    assert "sweep:" in done.words


def test_a_sweep_names_what_it_takes(killpoint: Killpoint, edit: Edit) -> None:
    """Lit twice is who is not careful, and is killed or hears nothing."""
    document = killpoint("sweep", edit((LAST, LAST + SWEEP)), "--property", "lit_once", "--json").json

    assert document["exit_code"] == 0
    assert len(document["combinations"]) == 8
    assert [one["assumes"] for one in document["sufficient"]] == [{"careful": True}, {"crash": 0, "lost_reply": 0}]
    assert [one["without"] for one in document["breaking"]] == [
        {"careful": False, "crash": "unlimited"},
        {"careful": False, "lost_reply": 1},
    ]


def test_a_sweep_that_is_verified_says_the_same(killpoint: Killpoint, edit: Edit) -> None:
    name = edit((LAST, LAST + SWEEP))
    quick = killpoint("sweep", name, "--property", "lit_once", "--json").json
    whole = killpoint("sweep", name, "--property", "lit_once", "--verify", "--json").json

    assert all(one["explored"] for one in whole["combinations"])
    assert [one["verdicts"] for one in quick["combinations"]] == [one["verdicts"] for one in whole["combinations"]]
    assert whole["verified"] == sum(not one["explored"] for one in quick["combinations"]) > 0

"""`killpoint show`, `killpoint explain`, and the options before a command."""

import pytest

from checker.installation import version
from model.codes import Code
from tests.cli.running import Edit, Killpoint


def test_show_names_kill_points_faults_and_what_steps_do(killpoint: Killpoint) -> None:
    overview = killpoint("show", "lamp.yaml", "--json").json
    (hand, people) = overview["processes"]
    light = next(step for step in hand["steps"] if step["name"] == "light")

    assert overview["kill_points"] == ["hand.ask", "hand.light", "hand.record", "hand.look"]
    assert light["writes"] == ["lamp.lit", "ghost.lightings", "hand.reply"]
    assert (light["faults"], light["goes_to"]) == (["lost_reply"], ["record"])
    assert next(step for step in hand["steps"] if step["name"] == "record")["goes_to"] == ["rest"]
    assert (people["environment"], people["steps"][0]["fair"], people["steps"][0]["kill_point"]) == (True, False, False)
    assert overview["tables"][0]["rows"][1] == {
        "name": "asked",
        "when": "order == asked",
        "gives": {"act": "true", "look": "true"},
    }


def test_show_refuses_a_file_with_errors(killpoint: Killpoint, edit: Edit) -> None:
    done = killpoint("show", edit(("order = asked", "ordr = asked")))

    assert (done.code, done.out) == (2, "")
    assert "KP217" in done.err


@pytest.mark.parametrize("code", Code)
def test_every_code_can_be_explained_by_number_and_by_name(killpoint: Killpoint, code: Code) -> None:
    by_number = killpoint("explain", code.number.lower())

    assert by_number.code == 0
    assert by_number.out == killpoint("explain", code.name).out
    assert f"[{code.number}]: {code.meaning}" in by_number.out


def test_an_unknown_code_exits_with_two_and_helps(killpoint: Killpoint) -> None:
    assert "did you mean `UNKNOWN_NAME`?" in killpoint("explain", "unknown_nam").err
    assert killpoint("explain", "KP000").code == 2


def test_help_and_version_exit_with_zero(killpoint: Killpoint) -> None:
    assert killpoint("--version").out == f"killpoint {version()}\n"
    for arguments in (["--help"], ["check", "-h"], ["trace", "--help"], ["explore", "--help"]):
        assert killpoint(*arguments).code == 0


def test_no_command_and_an_unknown_command_exit_with_two(killpoint: Killpoint) -> None:
    assert killpoint().code == 2
    assert killpoint("chekc").code == 2

"""`killpoint induct`, and numbers without end in the other commands."""

import shutil
from functools import partial
from pathlib import Path

import pytest

from checker.engines.induction import Effort
from tests.cli.running import Killpoint

TICKETS = Path(__file__).parent / "data" / "tickets.yaml"


@pytest.fixture
def tickets(killpoint: Killpoint) -> str:
    """Put the specification where commands run."""
    del killpoint  # which has gone to that place
    shutil.copy(TICKETS, "tickets.yaml")
    return "tickets.yaml"


def test_what_follows_is_said_to_hold_for_any_number(killpoint: Killpoint, tickets: str) -> None:
    done = killpoint("induct", tickets)

    assert done.code == 0
    assert "for any value of drawn, served, mine" in done.out
    assert "in_order       holds     induction over 1 state, together with next_is_drawn" in done.out
    assert "everything as declared" in done.out


def test_a_declared_break_is_shown_with_its_shortest_run(killpoint: Killpoint, tickets: str) -> None:
    done = killpoint("induct", tickets, "-s", "two")

    assert done.code == 0
    # Two numbers are drawn, and each served in two steps.
    assert "not_two   violated  a run of 6 transitions, the shortest" in done.out
    assert "not_two is false of the last transition" in done.out


def test_a_break_that_nobody_declared_is_no_success(killpoint: Killpoint, tickets: str) -> None:
    assert killpoint("induct", tickets, "-s", "surprised").code == 1


def test_what_does_not_follow_shows_two_states(
    killpoint: Killpoint, tickets: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(tickets).write_text(
        TICKETS.read_text(encoding="utf-8")
        .replace("next_is_drawn, third", "third")
        .replace('  next_is_drawn: {always: "implies(clerk[0].at(serve), clerk[0].mine <= drawn)"}\n', "")
        .replace("variants:\n  forgetful: {properties: {next_is_drawn: null}}\n", ""),
        encoding="utf-8",
    )

    monkeypatch.setattr("checker.commands.induct.Effort", partial(Effort, spacer_seconds=0))

    done = killpoint("induct", tickets, "-p", "in_order", "--depth", "1")

    assert done.code == 3
    assert "in_order does not follow: in this state everything is true, and no run may ever come here" in done.out
    assert "clerk.serve" in done.out


def test_ways_to_a_goal_are_left_to_check(killpoint: Killpoint, tickets: str) -> None:
    done = killpoint("induct", tickets, "-s", "everything")
    asked = killpoint("induct", tickets, "-s", "everything", "-p", "reaches_all")

    assert done.code == 0
    assert "ways to a goal, which `killpoint check` looks for: reaches_all" in done.words
    assert asked.code == 2
    assert "KP708" in asked.err


def test_check_wants_a_bound(killpoint: Killpoint, tickets: str) -> None:
    done = killpoint("check", tickets)

    assert done.code == 2
    assert "KP510" in done.err
    assert "--bound 5" in done.err


def test_check_up_to_a_bound_says_bounded(killpoint: Killpoint, tickets: str) -> None:
    done = killpoint("check", tickets, "--bound", "4", "-s", "alone", "--no-cache")

    assert done.code == 0
    assert "bounded" in done.out
    assert "exceeds the bound 4" in done.words


def test_what_was_found_up_to_one_bound_is_not_said_of_another(killpoint: Killpoint, tickets: str) -> None:
    def states(bound: str) -> int:
        found: int = killpoint("check", tickets, "--bound", bound, "-s", "alone", "--json").json["files"][0][
            "scenarios"
        ][0]["states"]
        return found

    # One state for each served <= drawn, and one more where somebody is about to be served.
    assert [states("2"), states("4")] == [6 + 3, 15 + 10]


def test_a_free_run_takes_the_bound_of_the_file(killpoint: Killpoint) -> None:
    assert "nat ≤ 3" in killpoint("explore", "any_attempt", "--property", "one_submission").out
    assert "nat ≤ 1" in killpoint("explore", "any_attempt", "--property", "one_submission", "--bound", "1").out


def test_without_a_trace_the_bound_is_said(killpoint: Killpoint) -> None:
    done = killpoint("trace", "any_attempt", "--property", "one_submission")

    assert "one_submission holds as long as no number exceeds 3: no trace breaks it in" in done.words


@pytest.mark.parametrize("bound", ["-1", "1000001"])
def test_a_bound_that_is_none_is_refused(killpoint: Killpoint, tickets: str, bound: str) -> None:
    assert killpoint("check", tickets, "--bound", bound).code == 2

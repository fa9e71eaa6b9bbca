"""`killpoint mutate`: what it is asked, and how it ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.verdict import ExitCode
from tests.cli.running import Killpoint
from tests.mutation.lamp import FATES, LAMP


@pytest.fixture
def order(tmp_path: Path, killpoint: Killpoint) -> Path:
    """A file of which every mutant is known, where commands are run."""
    del killpoint
    path = tmp_path / "order.yaml"
    path.write_text(LAMP, encoding="utf-8")
    return path


def explained(path: Path, *entries: str) -> Path:
    """Give a reason for mutants."""
    reasons = "".join(f"  {entry!r}: so\n" for entry in entries)
    path.write_text(f"{LAMP}equivalent:\n{reasons}", encoding="utf-8")
    return path


def test_survivors_are_a_failure_only_where_somebody_says_so(killpoint: Killpoint, order: Path) -> None:
    assert killpoint("mutate", str(order)).code == ExitCode.AS_DECLARED
    assert killpoint("mutate", str(order), "--fail-on-survivors").code == ExitCode.NOT_AS_DECLARED


def test_survivors_with_a_reason_are_no_failure(killpoint: Killpoint, order: Path) -> None:
    done = killpoint("mutate", str(explained(order, "*/*")), "--fail-on-survivors", "--json")

    assert done.code == ExitCode.AS_DECLARED
    assert done.json["counts"]["unexplained"] == 0
    assert {m["explained"] for m in done.json["mutants"] if m["fate"] == "survived"} == {"so"}


def test_a_reason_for_nothing_is_a_failure_too(killpoint: Killpoint, order: Path) -> None:
    done = killpoint("mutate", str(explained(order, "*/*", "hand.intend/skip-step")), "--fail-on-survivors")

    assert done.code == ExitCode.NOT_AS_DECLARED
    assert "KP621 stale reason: `hand.intend/skip-step` is killed by `intended`" in done.words


def test_the_document_has_every_mutant(killpoint: Killpoint, order: Path) -> None:
    document = killpoint("mutate", str(order), "--json").json

    assert {m["id"]: m["fate"] for m in document["mutants"]} == {name: fate.value for name, (fate, _) in FATES.items()}


def test_operators_and_names_narrow_a_run(killpoint: Killpoint, order: Path) -> None:
    by_operator = killpoint("mutate", str(order), "--operator", "drop-row", "--json").json
    by_name = killpoint("mutate", str(order), "--mutant", "hand.*/skip-step", "--json").json

    assert {m["id"] for m in by_operator["mutants"]} == {"plan.new/drop-row", "plan.over/drop-row"}
    assert {m["place"] for m in by_name["mutants"]} == {"hand.look", "hand.intend", "hand.light", "hand.record"}
    assert by_operator["narrowed"] == "only operator drop-row"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--operator", "drop-rows"], "there is no operator `drop-rows`"),
        (["--mutant", "hand.look/nothing"], "no mutant is named `hand.look/nothing`"),
        (["--scenario", "basline"], "there is no scenario `basline`"),
    ],
)
def test_what_does_not_exist_is_refused(killpoint: Killpoint, order: Path, arguments: list[str], message: str) -> None:
    done = killpoint("mutate", str(order), *arguments)

    assert done.code == ExitCode.BAD_INPUT
    assert message in done.words


def test_a_scenario_that_breaks_something_is_not_asked(killpoint: Killpoint, order: Path) -> None:
    text = LAMP.replace("{baseline: {}}", "{baseline: {}, odd: {breaks: [once], because: so}}")
    order.write_text(text, encoding="utf-8")

    assert killpoint("mutate", str(order), "--json").json["scenarios"] == ["baseline"]
    assert "breaks a property anyway" in killpoint("mutate", str(order), "--scenario", "odd").words


def test_a_scenario_that_does_not_hold_is_left_out_and_a_failure(killpoint: Killpoint, order: Path) -> None:
    order.write_text(LAMP.replace("calls <= 1", "calls <= 0"), encoding="utf-8")

    done = killpoint("mutate", str(order))

    assert done.code == ExitCode.NOT_AS_DECLARED
    assert "the scenario baseline does not hold" in done.words


def test_one_mutant_is_shown_with_the_trace_that_decides(killpoint: Killpoint, order: Path) -> None:
    done = killpoint("mutate", str(order), "--mutant", "hand.intend/skip-step")

    assert "killed in baseline by intended" in done.words
    assert "hand.light" in done.out


def test_what_is_cut_short_is_inconclusive(killpoint: Killpoint, order: Path) -> None:
    done = killpoint("mutate", str(order), "--max-states", "3", "--no-cache")

    assert done.code in {ExitCode.INCONCLUSIVE, ExitCode.NOT_AS_DECLARED}

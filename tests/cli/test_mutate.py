"""`killpoint mutate`: what it is asked, and how it ends."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from checker.verdict import ExitCode
from model import bundled
from tests.cli.running import Done, Killpoint
from tests.mutation.lamp import FATES, LAMP


@pytest.fixture
def order(tmp_path: Path, killpoint: Killpoint) -> Path:
    """A file of which every mutant is known, where commands are run."""
    del killpoint
    path = tmp_path / "order.yaml"
    path.write_text(LAMP, encoding="utf-8")
    return path


def only(done: Done) -> dict[str, Any]:
    """Return what an answer says of the one file that it is about."""
    (document,) = done.json["files"]
    return dict(document)


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
    assert only(done)["counts"]["unexplained"] == 0
    assert {m["explained"] for m in only(done)["mutants"] if m["fate"] == "survived"} == {"so"}


def test_a_reason_for_nothing_is_a_failure_too(killpoint: Killpoint, order: Path) -> None:
    done = killpoint("mutate", str(explained(order, "*/*", "hand.intend/skip-step")), "--fail-on-survivors")

    assert done.code == ExitCode.NOT_AS_DECLARED
    assert "KP621 stale reason: `hand.intend/skip-step` is killed by `intended`" in done.words


def test_the_document_has_every_mutant(killpoint: Killpoint, order: Path) -> None:
    document = only(killpoint("mutate", str(order), "--json"))

    assert {m["id"]: m["fate"] for m in document["mutants"]} == {name: fate.value for name, (fate, _) in FATES.items()}


def test_operators_and_names_narrow_a_run(killpoint: Killpoint, order: Path) -> None:
    by_operator = only(killpoint("mutate", str(order), "--operator", "drop-row", "--json"))
    by_name = only(killpoint("mutate", str(order), "--mutant", "hand.*/skip-step", "--json"))

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

    assert only(killpoint("mutate", str(order), "--json"))["scenarios"] == ["baseline"]
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

    assert done.code == ExitCode.INCONCLUSIVE
    assert "scenario baseline: more than 3 states" in done.words


def test_what_has_a_reason_is_looked_into_only_where_it_is_named(killpoint: Killpoint, order: Path) -> None:
    name = "hand.light/drop-assignment/left -= 1"
    explained(order, name)

    def looked_into(*arguments: str) -> dict[str, Any]:
        mutants = only(killpoint("mutate", str(order), "--json", *arguments))["mutants"]
        return {m["id"]: m["same"] for m in mutants if m["fate"] == "survived"}

    assert looked_into() == {
        n: None if n == name else same for n, (fate, same) in FATES.items() if fate.value == "survived"
    }
    assert looked_into("--mutant", name) == {name: False}


# --- Several files ---


@pytest.fixture
def both(order: Path, here: Path) -> tuple[str, str]:
    """Two files: one whose scenario is called `baseline`, and one that also has `deaf`."""
    return str(order), str(here / "lamp.yaml")


def test_several_files_are_answered_for_in_one(killpoint: Killpoint, both: tuple[str, str]) -> None:
    done = killpoint("mutate", *both, "--json")
    apart = [only(killpoint("mutate", name, "--json")) for name in both]

    together = done.json["files"]
    for each in (*together, *apart):
        each["seconds"] = 0
    assert together == apart
    assert "\n\n2 specifications, " in killpoint("mutate", *both).out


def test_the_worst_file_decides_the_exit_code(killpoint: Killpoint, order: Path, here: Path) -> None:
    shutil.copy(order, here / "fine.yaml")
    fine = str(explained(here / "fine.yaml", "*/*"))

    assert killpoint("mutate", fine, "--fail-on-survivors").code == ExitCode.AS_DECLARED
    assert killpoint("mutate", fine, str(order), "--fail-on-survivors").code == ExitCode.NOT_AS_DECLARED


def test_of_several_files_what_nothing_explains_is_shown(killpoint: Killpoint, order: Path, here: Path) -> None:
    shutil.copy(order, here / "fine.yaml")
    done = killpoint("mutate", str(explained(here / "fine.yaml", "*/*")), str(order))

    assert done.out.count("hand.look/drop-conjunct/left > 0") == 1


def test_files_without_what_is_named_are_left_out(killpoint: Killpoint, both: tuple[str, str]) -> None:
    done = killpoint("mutate", *both, "--mutant", "hand.intend/skip-step", "--json")

    assert [each["file"] for each in done.json["files"]] == [both[0]]
    refused = killpoint("mutate", *both, "--mutant", "hand.*", "--mutant", "nobody.*")
    assert (refused.code, "no mutant is named `nobody.*`" in refused.words) == (ExitCode.BAD_INPUT, True)


# --- The record ---


def test_the_record_has_the_numbers_the_credits_and_the_reasons(killpoint: Killpoint, order: Path) -> None:
    killpoint("mutate", str(explained(order, "hand.*/*")), "--reports", "record")
    text = Path("record/mutation.md").read_text(encoding="utf-8")
    fates = [fate.value for fate, _ in FATES.values()]
    numbers = [fates.count(word) for word in ("killed", "error", "vacuous", "invalid", "narrower")]
    survivors = [name for name, (fate, _) in FATES.items() if fate.value == "survived"]
    equivalent = [name for name in survivors if name.startswith("hand.")]
    left = [name for name in survivors if not name.startswith("hand.")]

    row = " | ".join(map(str, [len(FATES), *numbers, len(equivalent), len(left)]))
    assert f"` | {row} |" in text
    assert f"| intended | {fates.count('killed')} | {fates.count('killed')} |" in text
    assert "Kill no mutant: `once`" in text
    listed = [line.strip() for line in text.splitlines() if line.startswith(("- ", "    - "))]
    heading = ["- **nothing explains**"] if left else []
    assert listed == ["- so", *(f"- `{n}`" for n in equivalent), *heading, *(f"- `{n}`" for n in left)]


def checkout(root: Path, *specifications: Path) -> Path:
    """Make a repository that has some specifications."""
    for name in ("spec", "model"):
        (root / name).mkdir(parents=True)
    (root / "pyproject.toml").touch()
    for path in specifications:
        shutil.copy(path, root / "spec")
    return root / "reports"


def test_a_run_over_everything_refreshes_the_record_and_two_runs_write_the_same(
    killpoint: Killpoint, both: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports = checkout(tmp_path / "checkout", *map(Path, both))
    monkeypatch.setattr(bundled, "_PACKAGE", tmp_path / "checkout" / "model")

    for arguments in ([], ["--fail-on-survivors", "--operator", "drop-row"], [both[0], "--fail-on-survivors"]):
        killpoint("mutate", *arguments)
        assert not reports.exists()
    killpoint("mutate", "--fail-on-survivors", "--workers", "1")
    first = (reports / "mutation.md").read_bytes()
    run = json.loads((reports / "run.json").read_text(encoding="utf-8"))
    (reports / "mutation.md").unlink()
    monkeypatch.chdir(tmp_path / "checkout")
    killpoint("mutate", "--fail-on-survivors", "--workers", "3")

    assert (reports / "mutation.md").read_bytes() == first
    assert list(run["mutation"]) == ["spec/lamp.yaml", "spec/order.yaml"]
    killpoint("check")
    assert "mutation" in json.loads((reports / "run.json").read_text(encoding="utf-8"))


def test_a_run_that_is_cut_short_leaves_the_record_alone(killpoint: Killpoint, order: Path) -> None:
    killpoint("mutate", str(order), "--reports", "record")
    before = Path("record/mutation.md").read_bytes()
    done = killpoint("mutate", str(order), "--reports", "record", "--max-states", "3", "--no-cache")

    assert "record is not refreshed" in done.words
    assert Path("record/mutation.md").read_bytes() == before


def test_part_of_a_file_is_not_recorded(killpoint: Killpoint, order: Path) -> None:
    done = killpoint("mutate", str(order), "--reports", "record", "--operator", "drop-row")

    assert (done.code, Path("record").exists()) == (ExitCode.BAD_INPUT, False)

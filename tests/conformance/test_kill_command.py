"""`killpoint kill` on the command line: what it prints, its exit codes, its JSON, and what it records."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from checker.cli import main
from checker.conformance.choosing import of_class
from tests.cli.schemas import problems

DELIVERY = Path(__file__).with_name("delivery.yaml")
HONEST = "tests.conformance.delivery:Adapter"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is explored from an earlier run, and lines are as long as ever."""
    monkeypatch.setenv("KILLPOINT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "120")


def _kill(*arguments: str, adapter: str = HONEST) -> int:
    return main(["kill", str(DELIVERY), "--adapter", adapter, "-s", "baseline", *arguments])


def test_what_was_done_is_counted_and_a_right_implementation_passes(capfd: pytest.CaptureFixture[str]) -> None:
    assert _kill("--singles") == 0
    said = " ".join(capfd.readouterr().out.split())
    assert "order 8 7 0" in said
    assert "kill points 4 of the model's 4 come by" in said
    assert "submissions at most 1 in a run" in said
    assert "8 kills of" in said


def test_a_failure_shows_the_run_and_where_it_was_killed(capfd: pytest.CaptureFixture[str]) -> None:
    assert _kill("--defect", "looks_nothing_up") == 1
    said = capfd.readouterr().out
    assert "errand order, killed at worker.record (kill point 5)" in said
    assert "CRASH of worker before record" in said
    assert "one_submission is false here: worker stands at `submit`; the model has it at `record`" in said
    assert "1 not as the model says" in said


def test_where_nothing_is_observed_nothing_is_shown(capfd: pytest.CaptureFixture[str]) -> None:
    assert _kill("--singles", adapter="tests.conformance.delivery:Blindfolded") == 4
    said = " ".join(capfd.readouterr().out.split())
    assert "? baseline" in said
    assert "observed nothing at all" in said
    assert "submissions at most" not in said


def test_deliberate_mistakes_are_looked_for_one_by_one(capfd: pytest.CaptureFixture[str]) -> None:
    assert _kill("--defects", "--singles") == 0
    said = " ".join(capfd.readouterr().out.split())
    assert "mistake orders_twice: baseline, order: submissions is 2, in the model 1 (one_submission breaks)" in said
    assert "mistake loses_its_notes: baseline, order: killed at worker.submit" in said
    assert "LookupError: no notes" in said


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--singles"], 0),
        (["--defects", "--singles"], 0),
        (["--errand", "idle"], 0),
        (["--defect", "orders_twice"], 1),
        (["--defect", "nothing"], 2),
        (["--timeout", "0.001"], 3),
    ],
)
def test_an_answer_is_what_its_schema_says(arguments: list[str], code: int, capfd: pytest.CaptureFixture[str]) -> None:
    assert _kill("--json", *arguments) == code
    document = json.loads(capfd.readouterr().out)
    assert problems("kill", document) == []
    assert document["exit_code"] == code


@pytest.mark.parametrize("defect", ["", "looks_nothing_up"])
def test_it_does_not_matter_how_many_errands_are_done_at_once(defect: str, capfd: pytest.CaptureFixture[str]) -> None:
    answers = []
    for workers in ("1", "2"):
        assert _kill("--json", "--defect", defect, "--workers", workers) == bool(defect)
        answers.append(json.loads(capfd.readouterr().out))
    assert answers[0] == answers[1]


@pytest.mark.parametrize(
    ("adapter", "arguments", "said"),
    [
        (HONEST, ["--errand", "ordr"], "there is no errand `ordr`"),
        (HONEST, ["--defect", "nothing"], "cannot be set up for this"),
        ("tests.conformance.office:Office", [], "has no processes of its own that could be killed"),
        ("tests.conformance.delivery:Nobody", [], "has no `Nobody`"),
        ("tests.conformance.press:Press", [], "which the model does not have"),
        (HONEST, ["-s", "no-crash"], "`no-crash` allows no process to crash anywhere and any number of times"),
    ],
)
def test_what_cannot_be_killed_is_refused(
    adapter: str, arguments: list[str], said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert _kill(*arguments, adapter=adapter) == 2
    assert said in " ".join(capfd.readouterr().err.split())


def test_a_run_that_is_cut_short_says_what_is_known(capfd: pytest.CaptureFixture[str]) -> None:
    assert _kill("--timeout", "0.5", "--defect", "") in (0, 3)  # a quick machine may be through by then
    assert _kill("--timeout", "0.0001") == 3
    said = capfd.readouterr().out
    assert "cut short" in said


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with one specification, which has a reference implementation."""
    root = tmp_path / "checkout"
    (root / "spec").mkdir(parents=True)
    (root / "reports").mkdir()
    text = DELIVERY.read_text("utf-8").replace("baseline: {}", "baseline: {conform: transitions}")
    (root / "spec" / "delivery.yaml").write_text(f"{text}\nreference: delivery\n", "utf-8")
    monkeypatch.setattr("checker.commands.inputs.specification_directory", lambda: root / "spec")
    monkeypatch.setattr("checker.commands.implementations.checkout_root", lambda: root)
    made = of_class(HONEST)
    monkeypatch.setattr("checker.commands.implementations.of_reference", lambda _: made)
    return root


def test_both_commands_write_their_part_of_the_record(checkout: Path) -> None:
    record = checkout / "reports" / "conformance.md"
    assert main(["kill", "--singles"]) == 0
    assert not record.exists()
    assert main(["kill"]) == 0
    killed = record.read_text("utf-8")
    assert main(["conform"]) == 0
    both = record.read_text("utf-8")
    assert "| baseline | order | 41 | 73 | 33 |" in killed
    assert "| baseline | 100 % | 15 | transitions |" in both
    assert "| baseline | order | 41 | 73 | 33 |" in both
    assert "4 of 4 kill points of the model were come by; `submissions` at most 1 in a run" in both
    assert set(_seconds(checkout)) == {"driven", "killed"}
    shutil.rmtree(checkout / "reports")


def test_the_record_says_nothing_of_when_or_where(checkout: Path, tmp_path: Path) -> None:
    documents = []
    for _ in range(2):
        assert main(["kill"]) == 0
        documents.append({path.name: path.read_text("utf-8") for path in (checkout / "reports").glob("conformance.*")})
    first, second = documents
    assert first == second
    assert not re.search(r"killpoint-\w{8}|seconds|\bpid\b", "".join(first.values()))
    assert str(tmp_path) not in "".join(first.values())


def _seconds(checkout: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((checkout / "reports" / "run.json").read_text("utf-8"))
    found: dict[str, Any] = document["conformance"]
    return found

"""`killpoint prove`, `recheck` and `check --certify`: who may say `proved`, and what is left behind."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from checker.backends.smt.solvers import Answer
from checker.certificates import making, rechecking
from model import bundled
from tests.cli.running import Edit, Killpoint
from tests.cli.schemas import problems

ALONE = ["--workers", "1"]


def prove(killpoint: Killpoint, *arguments: str, scenario: str = "baseline") -> dict[str, Any]:
    done = killpoint("prove", "lamp.yaml", "--scenario", scenario, "--json", *ALONE, *arguments)
    return {each["scenario"]: each for each in done.json["files"][0]["scenarios"]}


def verdicts(killpoint: Killpoint, *arguments: str) -> dict[str, str]:
    done = killpoint("check", "lamp.yaml", "--json", *arguments)
    return {each["name"]: each["verdict"] for each in done.json["files"][0]["scenarios"]}


def test_a_folder_for_each_scenario_and_nothing_deeper(killpoint: Killpoint, here: Path) -> None:
    scenarios = ("baseline", "deaf")
    for name in scenarios:
        prove(killpoint, "-o", "certificates", scenario=name)

    folders = sorted(path.name for path in (here / "certificates").iterdir())
    assert folders == [f"lamp.{name}" for name in scenarios]
    assert [path for path in (here / "certificates").glob("*/*") if path.is_dir()] == []


def test_answers_are_what_the_schemas_say(killpoint: Killpoint) -> None:
    baseline = ["lamp.yaml", "--scenario", "baseline"]
    assert problems("prove", killpoint("prove", *baseline, "--json", "-o", "out", *ALONE).json) == []
    assert problems("recheck", killpoint("recheck", "out", "--json", *ALONE).json) == []
    assert problems("recheck", killpoint("recheck", "nowhere", "--json", *ALONE).json) == []
    assert problems("prove", killpoint("prove", "nowhere", "--json", *ALONE).json) == []
    assert problems("check", killpoint("check", "lamp.yaml", "--json").json) == []


def test_check_says_proved_only_after_a_solver_other_than_z3(killpoint: Killpoint) -> None:
    assert verdicts(killpoint)["baseline"] == "holds"
    prove(killpoint, "--solver", "z3", "-o", "out")
    assert verdicts(killpoint)["baseline"] == "holds"
    killpoint("recheck", "out", "--solver", "cvc5", *ALONE)
    assert verdicts(killpoint)["baseline"] == "proved"
    assert verdicts(killpoint, "--no-cache")["baseline"] == "holds"


def test_what_breaks_as_declared_is_still_violated_and_the_rest_proved(killpoint: Killpoint) -> None:
    prove(killpoint, scenario="deaf")
    document = killpoint("check", "lamp.yaml", "--json").json
    deaf = next(each for each in document["files"][0]["scenarios"] if each["name"] == "deaf")

    assert deaf["verdict"] == "violated"
    assert {each["name"]: each["verdict"] for each in deaf["properties"]} == {
        "lit_once": "violated",
        "done_is_final": "proved",
        "can_finish": "proved",
        "finishes": "proved",
    }


def test_a_changed_specification_is_no_longer_proved(killpoint: Killpoint, here: Path) -> None:
    prove(killpoint)
    with (here / "lamp.yaml").open("a", encoding="utf-8") as text:
        text.write("# a remark\n")

    assert verdicts(killpoint)["baseline"] == "holds"


def test_certify_makes_what_is_missing_once(killpoint: Killpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    certify = ["--certify", "--scenario", "baseline", *ALONE]
    assert verdicts(killpoint, *certify)["baseline"] == "proved"

    def nobody(*_: object) -> Answer:
        raise AssertionError("a solver is asked again")

    monkeypatch.setattr(rechecking, "ask", nobody)
    assert verdicts(killpoint, *certify)["baseline"] == "proved"
    assert verdicts(killpoint)["baseline"] == "proved"


def test_check_loads_no_solver(here: Path) -> None:
    program = (
        "import sys; from checker.cli import main; code = main(['check', 'lamp.yaml']);"
        "sys.exit(code or 100 * bool({'z3', 'cvc5'} & sys.modules.keys()))"
    )
    root = str(Path(__file__).resolve().parents[2])
    done = subprocess.run([sys.executable, "-c", program], cwd=here, env={"PYTHONPATH": root}, check=False)

    assert done.returncode == 0


def test_the_record_says_the_same_whether_or_not_somebody_has_certificates(killpoint: Killpoint, here: Path) -> None:
    killpoint("check", "lamp.yaml", "--reports", "before")
    prove(killpoint)
    killpoint("check", "lamp.yaml", "--reports", "after")

    for name in ("summary.md", "summary.json", "findings.md"):
        before, after = ((here / folder / name).read_text(encoding="utf-8") for folder in ("before", "after"))
        assert before == after


def test_the_record_of_proofs_has_hashes_and_no_times(killpoint: Killpoint, here: Path) -> None:
    killpoint("check", "lamp.yaml", "--reports", "record")
    prove(killpoint, "--reports", "record")
    texts = (here / "record" / "proofs.md").read_text(encoding="utf-8")
    prove(killpoint, "--reports", "record")
    assert texts == (here / "record" / "proofs.md").read_text(encoding="utf-8")
    run = json.loads((here / "record" / "run.json").read_text(encoding="utf-8"))
    found = prove(killpoint)["baseline"]

    row = next(line for line in texts.splitlines() if line.startswith("| baseline |"))
    assert found["certificate"]["sha256"][:12] in row
    assert "| proved |" in row
    assert set(run["proofs"]["lamp.yaml"]) == {"baseline"}
    assert "seconds" in run

    killpoint("check", "lamp.yaml", "--reports", "record")
    assert "proofs" in json.loads((here / "record" / "run.json").read_text(encoding="utf-8"))


def test_a_run_over_everything_refreshes_the_record_and_two_runs_write_the_same(
    killpoint: Killpoint, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = here.parent / "checkout"
    (root / "spec").mkdir(parents=True)
    (root / "model").mkdir()
    (root / "pyproject.toml").touch()
    for name in ("lamp.yaml", "tickets.yaml"):
        shutil.copy(Path(__file__).parent / "data" / name, root / "spec")
    with (root / "spec" / "tickets.yaml").open("a", encoding="utf-8") as specification:
        specification.write("bound: 3\n")
    monkeypatch.setattr(bundled, "_PACKAGE", root / "model")

    killpoint("prove", *ALONE)
    first = (root / "reports" / "proofs.md").read_bytes()
    monkeypatch.chdir(root)
    killpoint("prove", "--no-cache", "--workers", "2")

    assert (root / "reports" / "proofs.md").read_bytes() == first
    assert [line for line in first.decode().splitlines() if line.startswith("`")] == [
        "`spec/lamp.yaml`",
        "`spec/tickets.yaml`",
    ]


def test_what_has_too_many_states_is_in_the_record_with_the_limit(
    killpoint: Killpoint, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "STATES_MAX", 14)
    done = killpoint("prove", "lamp.yaml", "-s", "baseline", "--reports", "record", *ALONE)
    text = (here / "record" / "proofs.md").read_text(encoding="utf-8")

    assert done.code == 3
    assert "| baseline | holds | 15 | | | | 15 states; certificates are made of up to 14 | " in text


def test_exit_codes_of_recheck(killpoint: Killpoint, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prove(killpoint, "-o", "out", "--scenario", "baseline")
    folder = here / "out" / "lamp.baseline"

    assert killpoint("recheck", "out", *ALONE).code == 0
    assert killpoint("recheck", str(folder), "--spec", "lamp.yaml", *ALONE).code == 0
    with monkeypatch.context() as patched:
        patched.setattr(rechecking, "ask", lambda *_: Answer.UNKNOWN)
        assert killpoint("recheck", "out", *ALONE).code == 3
    (folder / "initial.smt2").unlink()
    done = killpoint("recheck", "out", *ALONE)
    assert (done.code, "initial.smt2 is missing" in done.words) == (1, True)
    (folder / "manifest.json").unlink()
    assert killpoint("recheck", str(folder), *ALONE).code == 2
    assert killpoint("recheck", "nowhere", *ALONE).code == 2


def test_a_specification_that_has_changed_since_is_found(killpoint: Killpoint, edit: Edit) -> None:
    prove(killpoint, "-o", "out", "--scenario", "baseline")
    changed = edit(("language: 1", "language: 1  # still"))
    done = killpoint("recheck", "out", "--spec", changed, *ALONE)

    assert (done.code, "another text" in done.words) == (1, True)


def test_what_is_not_as_declared_gets_no_certificate(killpoint: Killpoint, edit: Edit) -> None:
    broken = edit(("breaks: [lit_once], because: the reply is lost", "because: the reply is lost"))
    done = killpoint("prove", broken, "--json", "--scenario", "deaf", *ALONE)
    (deaf,) = done.json["files"][0]["scenarios"]

    assert (done.code, deaf["certificate"]) == (1, None)
    assert "lit_once" in deaf["reason"]


def test_a_refuted_certificate_of_our_own_is_a_disagreement(
    killpoint: Killpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rechecking, "ask", lambda *_: Answer.SAT)

    assert killpoint("prove", "lamp.yaml", *ALONE).code == 5
    assert killpoint("check", "lamp.yaml", "--certify", *ALONE).code == 5


def test_what_is_bounded_is_proved_for_all_numbers_by_induction(killpoint: Killpoint, here: Path) -> None:
    tickets = ["tickets.yaml", "--scenario", "baseline"]
    shutil.copy(Path(__file__).parent / "data" / "tickets.yaml", here)
    with (here / "tickets.yaml").open("a", encoding="utf-8") as specification:
        specification.write("bound: 4\n")

    def found() -> dict[str, Any]:
        scenario: dict[str, Any] = killpoint("check", *tickets, "--json").json["files"][0]["scenarios"][0]
        return scenario

    assert found()["verdict"] == "bounded"
    done = killpoint("prove", *tickets, "--reports", "record", *ALONE)
    text = (here / "record" / "proofs.md").read_text(encoding="utf-8")

    assert done.code == 0
    assert found()["verdict"] == "proved"
    assert not any("exceeds the bound" in each for each in found()["not_covered"])
    assert "| baseline | proved | without end | induction over 1 state |" in text
    assert problems("prove", killpoint("prove", *tickets, "--json", *ALONE).json) == []


@pytest.mark.slow
def test_several_processes_say_the_same(killpoint: Killpoint, here: Path) -> None:
    both = ["lamp.yaml", "--scenario", "baseline", "--scenario", "deaf"]
    killpoint("prove", *both, "-o", "alone", *ALONE)
    killpoint("prove", *both, "-o", "together", "--workers", "2")
    alone = {
        path.relative_to(here / "alone"): path.read_bytes() for path in (here / "alone").rglob("*.*") if path.is_file()
    }
    together = {
        path.relative_to(here / "together"): path.read_bytes()
        for path in (here / "together").rglob("*.*")
        if path.is_file()
    }

    assert alone == together
    assert killpoint("recheck", "together", "--workers", "2").code == 0
    assert killpoint("recheck", "together/lamp.baseline", "--workers", "2").code == 0

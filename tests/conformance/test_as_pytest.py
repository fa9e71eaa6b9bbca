"""A trace becomes a test that tells right implementations from wrong ones."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from checker.cli import main
from tests.conformance.delivery import ROOT

DELIVERY = str(Path(__file__).with_name("delivery.yaml"))
MODULE = "tests.conformance.delivery"
NAME = "test_run.py"


@pytest.fixture
def written(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Path:
    del capfd  # what the command prints is nothing to look at here
    return tmp_path / NAME


def _write(path: Path, adapter: str, *arguments: str) -> int:
    options = ["--adapter", f"{MODULE}:{adapter}", "--as-pytest", str(path), "--no-cache"]
    return main(["trace", DELIVERY, *arguments, *options])


def _run(path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", NAME],
        cwd=path.parent,
        env={**os.environ, "PYTHONPATH": ROOT},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("arguments", "adapter", "said"),
    [
        (["-p", "can_finish"], "Adapter", "1 passed"),
        (["-p", "can_finish"], "EagerAdapter", "submissions is 2, and the schedule says 1"),
        (["-m", "looks-nothing-up"], "Adapter", "1 passed"),
        (["-m", "looks-nothing-up"], "ForgetfulAdapter", "DID NOT RAISE"),
    ],
)
def test_a_written_test_passes_on_the_right_implementation_only(
    written: Path, arguments: list[str], adapter: str, said: str
) -> None:
    assert _write(written, adapter, *arguments) == 0
    done = _run(written)
    assert said in done.stdout
    assert done.returncode == (0 if "passed" in said else 1)


def test_a_written_test_needs_nothing_of_the_checker_but_the_kit(written: Path) -> None:
    assert _write(written, "Adapter", "-p", "can_finish") == 0
    imported = [line for line in written.read_text("utf-8").splitlines() if line.startswith(("import", "from"))]
    assert imported == [
        "from checker.conformance.adapter import Action, Setting",
        "from checker.conformance.schedule import follow",
        f"from {MODULE} import Adapter as Implementation",
    ]


def test_a_written_test_is_laid_out_like_other_code(written: Path) -> None:
    assert _write(written, "Adapter", "-m", "looks-nothing-up") == 0
    config = str(Path(ROOT, "pyproject.toml"))
    ruff = [sys.executable, "-m", "ruff"]
    subprocess.run([*ruff, "format", "--no-cache", "--check", "--config", config, str(written)], check=True)
    checked = [*ruff, "check", "--no-cache", "--ignore", "D103", "--config", config, str(written)]
    subprocess.run(checked, check=True)


def test_a_test_that_cannot_be_written_is_an_error_and_nothing_is_left(tmp_path: Path) -> None:
    assert _write(tmp_path / "nowhere" / NAME, "Adapter", "-p", "can_finish") == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("named", ["no colon", "os:system; raise", "x:y\nimport os"])
def test_what_is_no_class_of_a_module_never_gets_into_a_test(written: Path, named: str) -> None:
    options = ["--adapter", named, "--as-pytest", str(written)]
    assert main(["trace", DELIVERY, "-p", "can_finish", *options]) == 2
    assert not written.exists()


def test_a_stranger_cannot_write_into_a_test_by_naming_a_reference(written: Path, tmp_path: Path) -> None:
    hostile = tmp_path / "hostile.yaml"
    text = Path(DELIVERY).read_text("utf-8")
    hostile.write_text(f"{text}\nreference: 'x import y; import os #'\n", "utf-8")
    assert main(["trace", str(hostile), "-p", "can_finish", "--as-pytest", str(written)]) == 2
    assert not written.exists()


def test_without_an_implementation_there_is_nothing_to_write(written: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["trace", DELIVERY, "-p", "can_finish", "--as-pytest", str(written)]) == 2
    assert "names no implementation that a test could drive" in capfd.readouterr().err

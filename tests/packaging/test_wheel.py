"""The wheel works where there is no checkout: from another directory, on somebody's own specification.

A flat layout hides what is missing from the wheel, because the tests find the packages in the repository.
"""

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.slow

LAMP = """\
language: 1
protocol: lamp
title: A lamp that remembers how it was left
types:
  Position: [dark, lit]
stores:
  lamp:
    holds:
      position: {type: Position, init: dark}
faults:
  crash: {of: [hand], at_most: unlimited}
processes:
  hand:
    steps:
      turn_on: |
        position = lit
      turn_off: |
        position = dark
properties:
  shines: {possible: "position == lit"}
  stays_dark: {always: "position == dark"}
scenarios:
  baseline: {breaks: [stays_dark]}
"""


@dataclass(frozen=True, slots=True)
class Installation:
    """A virtual environment that holds the wheel, and an empty directory to work in."""

    environment: Path
    elsewhere: Path

    def run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment, in the empty directory, with nothing of this process's Python paths."""
        variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        scripts = sysconfig.get_path("scripts", "venv", {"base": str(self.environment)})
        return subprocess.run(
            [str(Path(scripts) / program), *arguments],
            cwd=self.elsewhere,
            env=variables | {"NO_COLOR": "1", "COLUMNS": "120"},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    def evaluate(self, program: str) -> str:
        """Return what a Python program prints there; it must succeed."""
        done = self.run("python", "-c", program)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()


def pip(*arguments: str) -> None:
    """Run the pip of this environment without the network."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("wheel")
    pip("wheel", "--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir", str(directory), str(ROOT))
    (built,) = directory.glob("killpoint-*.whl")
    return built


@pytest.fixture(scope="module")
def installation(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """The wheel in a fresh environment that borrows the libraries, and only those, of this one.

    The path file names a directory whose own path files are not read, so an editable killpoint there stays invisible.
    """
    environment = tmp_path_factory.mktemp("environment")
    venv.EnvBuilder(with_pip=False, symlinks=os.name != "nt").create(environment)
    fresh = Path(sysconfig.get_path("purelib", "venv", {"base": str(environment)}))
    borrowed = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    pip("--python", str(environment), "install", "--quiet", "--no-deps", "--no-index", str(wheel))
    (fresh / "borrowed.pth").write_text("\n".join(sorted(borrowed)) + "\n", encoding="utf-8")
    return Installation(environment, tmp_path_factory.mktemp("elsewhere"))


def test_the_wheel_holds_the_two_packages_and_nothing_beside_them(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()

    assert {name.partition("/")[0] for name in names} == {"model", "checker", "killpoint-0.1.0.dist-info"}
    assert [name for name in names if "__pycache__" in name] == []


def test_the_wheel_holds_every_file_of_the_two_packages(wheel: Path) -> None:
    files = {path for package in ("model", "checker") for path in (ROOT / package).rglob("*") if path.is_file()}
    wanted = {path.relative_to(ROOT).as_posix() for path in files if "__pycache__" not in path.parts}

    assert wanted - set(zipfile.ZipFile(wheel).namelist()) == set()


def test_the_packages_are_imported_from_the_wheel(installation: Installation) -> None:
    found = installation.evaluate("import checker, model; print(model.__file__); print(checker.__file__)")

    assert all(Path(line).is_relative_to(installation.environment.resolve()) for line in found.splitlines()), found


def test_the_bundled_specifications_are_those_of_the_repository(installation: Installation) -> None:
    directory = installation.evaluate("from model.bundled import specification_directory as d; print(d())")

    def contents(root: Path) -> dict[str, bytes]:
        return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}

    assert Path(directory).is_relative_to(installation.environment.resolve())
    assert contents(Path(directory)) == contents(ROOT / "spec")


def check(installation: Installation, text: str) -> subprocess.CompletedProcess[str]:
    """Write the text to a file in the empty directory and check it there, named without a directory."""
    (installation.elsewhere / "lamp.yaml").write_text(text, encoding="utf-8")
    return installation.run("killpoint", "check", "lamp.yaml")


def test_claims_that_are_true_are_confirmed_from_any_directory(installation: Installation) -> None:
    done = check(installation, LAMP)

    assert done.returncode == 0, done.stdout + done.stderr


def test_a_property_that_breaks_undeclared_is_named_from_any_directory(installation: Installation) -> None:
    done = check(installation, LAMP.replace("{breaks: [stays_dark]}", "{}"))

    assert done.returncode == 1, done.stdout + done.stderr
    assert "stays_dark" in done.stdout


def test_a_mistake_is_pointed_at_from_any_directory(installation: Installation) -> None:
    done = check(installation, LAMP.replace("Position: [", "Posture: ["))

    assert done.returncode == 2, done.stdout + done.stderr
    assert "lamp.yaml:" in done.stdout + done.stderr

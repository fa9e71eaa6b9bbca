"""The state of the repository's text: what is in it, what is left out of it, and how it ends its lines."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINES_MAX = 600

# Put together from pieces, so that this file does not contain what it looks for.
UNFINISHED = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X|NotImplemented" + r"Error)\b")
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:work|tmp|opt|home|root|farm|Users)/")


def project_files() -> list[Path]:
    """Return the files that are tracked, or would be if everything were added now."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout: what belongs to the project is not known")
    command = ["git", "-c", f"safe.directory={ROOT}", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return sorted(path for name in set(listing.split("\0")) - {""} if (path := ROOT / name).is_file())


@pytest.fixture(scope="module")
def files() -> list[Path]:
    return project_files()


@pytest.fixture(scope="module")
def texts(files: list[Path]) -> dict[str, str]:
    """Every text file of the project under its name in the repository."""
    contents = {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in files}
    return {name: content.decode() for name, content in contents.items() if b"\0" not in content}


def places(texts: dict[str, str], pattern: re.Pattern[str]) -> list[str]:
    """Return ``file:line: text`` for every line in which the pattern is found."""
    return [
        f"{name}:{number}: {line}"
        for name, text in texts.items()
        for number, line in enumerate(text.split("\n"), start=1)
        if pattern.search(line)
    ]


def test_no_python_file_is_too_long_to_read(texts: dict[str, str]) -> None:
    lengths = {name: text.count("\n") for name, text in texts.items() if name.endswith(".py")}

    assert {name: length for name, length in lengths.items() if length > LINES_MAX} == {}


def test_nothing_is_left_unfinished(texts: dict[str, str]) -> None:
    assert places(texts, UNFINISHED) == []


def test_no_text_names_a_path_of_one_machine(texts: dict[str, str]) -> None:
    assert places(texts, MACHINE_PATH) == []


def test_no_line_ends_in_white_space(texts: dict[str, str]) -> None:
    assert places(texts, re.compile(r"\s$")) == []


def test_every_text_ends_with_one_newline(texts: dict[str, str]) -> None:
    assert [name for name, text in texts.items() if text and not re.search(r"(?<!\n)\n\Z", text)] == []


def test_no_tab_indents_anything_but_a_makefile(texts: dict[str, str]) -> None:
    others = {name: text for name, text in texts.items() if not name.endswith("Makefile")}

    assert places(others, re.compile(r"^ *\t")) == []


def test_specifications_and_reports_hold_no_python(files: list[Path]) -> None:
    python = {path.relative_to(ROOT) for path in files if path.suffix == ".py"}

    assert {path for path in python if path.parts[0] in {"spec", "reports"}} == set()


def test_tests_cannot_be_imported_as_a_package(files: list[Path]) -> None:
    assert [path for path in files if path.name == "__init__.py" and path.is_relative_to(ROOT / "tests")] == []

"""`reports/`: what is written, when, and that it is the same everywhere."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from checker.reporting.files import write_all, write_whole
from model import bundled
from tests.cli.running import Killpoint

LAMP = Path(__file__).parent / "data" / "lamp.yaml"
NAMES = ["findings.md", "incidents.md", "run.json", "summary.json", "summary.md"]


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose only specification is the lamp."""
    root = tmp_path / "checkout"
    (root / "spec" / "deep").mkdir(parents=True)
    (root / "model").mkdir()
    (root / "pyproject.toml").touch()
    shutil.copy(LAMP, root / "spec" / "deep" / "lamp.yaml")
    monkeypatch.setattr(bundled, "_PACKAGE", root / "model")
    return root


def contents(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def test_a_run_over_everything_refreshes_the_reports(killpoint: Killpoint, checkout: Path) -> None:
    done = killpoint("check")

    assert done.code == 0
    assert sorted(contents(checkout / "reports")) == NAMES
    summary = json.loads((checkout / "reports" / "summary.json").read_text(encoding="utf-8"))
    assert (summary["command"], summary["exit_code"]) == ("killpoint check", 0)
    assert summary["files"][0]["file"] == "spec/deep/lamp.yaml"
    assert [claim["states"] for claim in summary["files"][0]["scenarios"]] == [15, 24, 20]


def test_the_summaries_are_the_same_wherever_and_however_often_they_are_made(
    killpoint: Killpoint, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killpoint("check")
    first = contents(checkout / "reports")
    monkeypatch.chdir(checkout)
    killpoint("check", "--workers", "2", "--timeout", "600")
    again = contents(checkout / "reports")
    killpoint("check", "--no-cache")
    anew = contents(checkout / "reports")

    for name in ("findings.md", "incidents.md", "summary.json", "summary.md"):
        assert first[name] == again[name] == anew[name]
        assert str(checkout).encode() not in first[name]
    assert json.loads(first["run.json"])["cached"] == {"spec/deep/lamp.yaml": []}
    assert len(json.loads(again["run.json"])["cached"]["spec/deep/lamp.yaml"]) == 4


@pytest.mark.parametrize(
    "arguments", [["--scenario", "baseline"], ["--property", "lit_once"], ["--mutant", "never-recorded"]]
)
def test_a_narrowed_run_does_not_refresh_them(killpoint: Killpoint, checkout: Path, arguments: list[str]) -> None:
    killpoint("check", *arguments)

    assert not (checkout / "reports").exists()


def test_a_run_over_named_files_does_not_refresh_them(killpoint: Killpoint, checkout: Path) -> None:
    killpoint("check", str(checkout / "spec"))

    assert not (checkout / "reports").exists()


def test_a_run_that_was_cut_short_does_not_refresh_them(killpoint: Killpoint, checkout: Path) -> None:
    killpoint("check")
    before = contents(checkout / "reports")
    done = killpoint("check", "--no-cache", "--max-states", "20")

    assert done.code == 3
    assert "is not refreshed: the run was cut short" in done.err
    assert contents(checkout / "reports") == before


def test_a_claim_that_fails_is_recorded_too(killpoint: Killpoint, checkout: Path) -> None:
    path = checkout / "spec" / "deep" / "lamp.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("breaks: [lit_once], because: the", "because: the"))
    done = killpoint("check")

    assert done.code == 1
    assert "| deaf | ✗ | violated |" in (checkout / "reports" / "summary.md").read_text(encoding="utf-8")


def test_a_file_with_errors_leaves_the_reports_alone(killpoint: Killpoint, checkout: Path) -> None:
    (checkout / "spec" / "broken.yaml").write_text("language: 1\n", encoding="utf-8")

    assert killpoint("check").code == 2
    assert not (checkout / "reports").exists()


def test_a_directory_can_be_named(killpoint: Killpoint, here: Path) -> None:
    assert killpoint("check", "lamp.yaml", "--reports", "out/of/here").code == 0
    assert sorted(contents(here / "out" / "of" / "here")) == NAMES
    assert killpoint("check", "lamp.yaml", "--scenario", "deaf", "--reports", "out").code == 2


def test_a_directory_that_cannot_be_made_is_an_error(killpoint: Killpoint) -> None:
    done = killpoint("check", "lamp.yaml", "--reports", "lamp.yaml")

    assert done.code == 2
    assert "`lamp.yaml` cannot be written" in done.err


def test_an_installation_without_a_checkout_writes_no_reports(killpoint: Killpoint, checkout: Path, here: Path) -> None:
    (checkout / "spec").rename(checkout / "model" / "_spec")

    assert killpoint("check").code == 0
    assert not (checkout / "reports").exists()
    assert sorted(path.name for path in here.iterdir()) == ["lamp.yaml"]


def test_text_of_a_specification_cannot_become_markup(killpoint: Killpoint, checkout: Path) -> None:
    path = checkout / "spec" / "deep" / "lamp.yaml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("because: the reply is lost", 'because: "<b>|</b> [x](y) # `z`"'), encoding="utf-8")
    killpoint("check")

    markdown = (checkout / "reports" / "summary.md").read_text(encoding="utf-8")
    assert r"\<b\>\|\</b\> \[x\](y) \# \`z\`" in markdown


# --- Files written whole or not at all ---


def test_a_file_is_replaced_and_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old", encoding="utf-8")
    path.chmod(0o640)
    write_whole(path, "new")

    assert path.read_text(encoding="utf-8") == "new"
    assert path.stat().st_mode & 0o777 == 0o640
    assert contents(tmp_path).keys() == {"file"}


def test_a_link_is_written_through(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    write_whole(tmp_path / "link", "new")

    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text(encoding="utf-8") == "new"


def test_where_one_of_several_cannot_be_written_none_is(tmp_path: Path) -> None:
    (tmp_path / "one").write_text("old", encoding="utf-8")
    with pytest.raises(OSError, match="nowhere"):
        write_all({tmp_path / "one": "new", tmp_path / "nowhere" / "two": "new"})

    assert contents(tmp_path) == {"one": b"old"}


def test_a_pipe_is_written_to_as_it_is(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_whole(tmp_path / "pipe", "new")
        assert os.read(reader, 10) == b"new"
    finally:
        os.close(reader)

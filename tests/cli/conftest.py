"""Running the command line in this process, in an empty directory with the lamp in it and a cache of its own."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from checker.cli import main
from tests.cli.running import Done, Edit, Killpoint

LAMP = Path(__file__).parent / "data" / "lamp.yaml"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory in which commands run; the cache lies outside of it."""
    directory = tmp_path / "here"
    directory.mkdir()
    shutil.copy(LAMP, directory / "lamp.yaml")
    monkeypatch.chdir(directory)
    monkeypatch.setenv("KILLPOINT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return directory


@pytest.fixture
def cache_directory(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def killpoint(here: Path, capsys: pytest.CaptureFixture[str]) -> Killpoint:
    """The command line; nothing that it writes may end a line in white space."""
    del here

    def run(*arguments: str) -> Done:
        capsys.readouterr()
        code = main(list(arguments))
        out, err = capsys.readouterr()
        assert [line for line in (out + err).splitlines() if line != line.rstrip()] == []
        return Done(int(code), out, err)

    return run


@pytest.fixture
def edit(here: Path) -> Edit:
    """Write a copy of the lamp with replaced texts; return its name."""

    def replaced(*pairs: tuple[str, str], name: str = "edited.yaml") -> str:
        text = LAMP.read_text(encoding="utf-8")
        for old, new in pairs:
            assert old in text, old
            text = text.replace(old, new)
        (here / name).write_text(text, encoding="utf-8")
        return name

    return replaced

"""The table that the recipe shows is the one that the command prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.cli import main
from tests.docs.markdown import ROOT, blocks

RECIPE = ROOT / "docs" / "howto" / "decision-table.md"


def test_the_recipe_shows_what_the_command_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = next(block for block in blocks(RECIPE) if block.info == "yaml")
    shown = next(block for block in blocks(RECIPE) if block.info == "text parcel.yaml")
    (tmp_path / "parcel.yaml").write_text(whole.text, encoding="utf-8")
    monkeypatch.setenv("COLUMNS", "100")

    assert main(["table", str(tmp_path / "parcel.yaml")]) == 0
    assert capsys.readouterr().out == shown.text

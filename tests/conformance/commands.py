"""Running commands of the cross-check in this process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checker.cli import main
from tests.cli.running import Done
from tests.cli.schemas import problems

ROOT = Path(__file__).resolve().parents[2]
STAMPS = str(Path(__file__).parent / "stamps.yaml")
OFFICE = ("--adapter", "tests.conformance.office:Office")


def ran(capsys: pytest.CaptureFixture[str], *arguments: str) -> Done:
    """Run a command line."""
    capsys.readouterr()
    code = main(list(arguments))
    return Done(code, *capsys.readouterr())


def answered(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """Run a command line with `--json`, and check its answer against the schema of the command."""
    done = ran(capsys, *arguments, "--json")
    document: dict[str, Any] = json.loads(done.out)
    assert problems(arguments[0], document) == []
    assert document["exit_code"] == done.code
    return document

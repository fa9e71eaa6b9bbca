"""Of the small specifications nothing survives without a reason, and no reason is out of date."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import Killpoint

SPEC = Path(__file__).parents[2] / "spec"
SMALL = [*sorted((SPEC / "incidents").glob("*.yaml")), *sorted((SPEC / "classics").glob("*.yaml"))]


@pytest.mark.parametrize("path", SMALL, ids=lambda path: path.stem)
def test_every_survivor_is_explained(killpoint: Killpoint, path: Path) -> None:
    answer = killpoint("mutate", str(path), "--fail-on-survivors", "--json").json
    (document,) = answer["files"]

    left = [m["id"] for m in document["mutants"] if m["fate"] == "survived" and not m["explained"]]
    assert (left, document["stale"], answer["exit_code"]) == ([], [], 0)

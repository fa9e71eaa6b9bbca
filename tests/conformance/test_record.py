"""The record of conformance is about the files that are there, and says what the project promises."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from checker.commands.inputs import bundled_names
from checker.conformance.choosing import bundled_references
from checker.identity import file_hash
from model.source import Source

ROOT = Path(__file__).parents[2]
RECORD = ROOT / "reports" / "conformance.json"


def _referring() -> list[str]:
    """Return the bundled specifications that name an implementation that there is."""
    texts = {name: path.read_text("utf-8") for name, path in bundled_names().items()}
    named = {name: re.findall(r"(?m)^reference: (\S+)", text) for name, text in texts.items()}
    return sorted(name for name, found in named.items() if set(found) & set(bundled_references()))


REFERRING = _referring()


def _part(part: str, name: str) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(RECORD.read_text("utf-8"))
    found: dict[str, Any] = record[part]["files"][f"spec/{name}.yaml"]
    return found


def test_every_implementation_belongs_to_a_specification() -> None:
    texts = [path.read_text("utf-8") for path in bundled_names().values()]
    used = {found for text in texts for found in re.findall(r"(?m)^reference: (\S+)", text)}
    assert set(bundled_references()) - used == set()


@pytest.mark.parametrize("name", REFERRING)
@pytest.mark.parametrize("part", ["driven", "killed"])
def test_the_record_is_of_the_file_as_it_is(name: str, part: str) -> None:
    path = bundled_names()[name]
    assert _part(part, name)["sha256"] == file_hash(Source(str(path), path.read_text("utf-8")))


@pytest.mark.parametrize("name", REFERRING)
def test_everything_was_driven(name: str) -> None:
    scenarios = _part("driven", name)["scenarios"]
    assert scenarios
    assert [each["name"] for each in scenarios if each["covered"] != each["wanted"]] == []


@pytest.mark.parametrize("name", REFERRING)
def test_every_kill_point_was_come_by_or_there_is_a_reason(name: str) -> None:
    scenarios = _part("killed", name)["scenarios"]
    assert scenarios
    for each in scenarios:
        assert each["kill_points"]["model"]
        assert each["kill_points"]["never_reached"] == []
        assert each["kill_points"]["stale"] == []


@pytest.mark.skipif("killed_workflow" not in REFERRING, reason="no implementation")
def test_the_killed_workflow_is_killed_a_thousand_times_and_never_submits_twice() -> None:
    scenarios = _part("killed", "killed_workflow")["scenarios"]
    assert sum(errand["kills"] for each in scenarios for errand in each["errands"]) >= 1_000
    for each in scenarios:
        submissions = {name: one["most"] for name, one in each["counted"].items() if name.startswith("submissions")}
        assert submissions
        assert max(submissions.values()) == 1

"""The record of mutants is about the specifications as they are now, and about all of them."""

from __future__ import annotations

import re

import pytest

from checker.identity import file_hash
from model.source import Source
from tests.docs.markdown import ROOT

RECORD = ROOT / "reports" / "mutation.md"
SPECIFICATIONS = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "spec").rglob("*.yaml"))
REMEDY = "run `make mutate` and commit what it writes"


def recorded() -> dict[str, str]:
    """Return the hashes in the record, by file."""
    assert RECORD.is_file(), REMEDY
    return dict(re.findall(r"^`(\S+)`, SHA-256 `([0-9a-f]{64})`$", RECORD.read_text(encoding="utf-8"), re.MULTILINE))


def test_the_record_has_every_specification_and_no_other() -> None:
    assert list(recorded()) == SPECIFICATIONS, REMEDY


@pytest.mark.parametrize("name", SPECIFICATIONS)
def test_the_record_is_about_the_specification_as_it_is(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")

    assert recorded().get(name) == file_hash(Source(name, text)), REMEDY


def test_every_survivor_has_a_reason_and_every_reason_a_survivor() -> None:
    assert recorded(), REMEDY
    text = RECORD.read_text(encoding="utf-8")
    (left,) = {line.rpartition("| ")[2] for line in text.splitlines() if line.startswith("| `spec/")}

    assert left == "0 |"
    assert "**nothing explains**" not in text
    assert "Stale reason" not in text
    assert "Not asked:" not in text

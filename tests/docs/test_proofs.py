"""The record of proofs is about the specifications as they are now, and about all of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from checker.identity import certified_hash
from model.loader import load
from model.source import Source
from model.system import TransitionSystem
from tests.docs.markdown import ROOT

RECORD = ROOT / "reports" / "proofs.md"
SPECIFICATIONS = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "spec").rglob("*.yaml"))
REMEDY = "run `make prove` and commit what it writes"
ONE = """\
language: 1
protocol: one
parameters: {most: {range: 0..3, default: 1}}
processes: {walker: {steps: {walk: pass}}}
properties: {fine: {always: "most >= 0"}}
scenarios: {first: {}, second: {set: {most: 2}}}
"""


def recorded(text: str) -> dict[str, dict[str, str]]:
    """Return the scenarios in a record, by file, with the first digits of their hashes."""
    found: dict[str, dict[str, str]] = {}
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        name = re.search(r"^`(.+)`$", section, re.MULTILINE)
        rows = [re.split(r"\s*\|\s*", line[2:-2]) for line in section.splitlines() if line.startswith("| ")][1:]
        assert name is not None
        found[name[1]] = {row[0].replace("\\", ""): next(each for each in row[5:] if is_hash(each)) for row in rows}
    return found


def is_hash(cell: str) -> bool:
    return re.fullmatch("[0-9a-f]{12}", cell) is not None


def hashes(source: Source) -> dict[str, str]:
    """Return what a record has to have of a specification."""
    return {
        name: certified_hash(source, claim, TransitionSystem.of(claim))[:12]
        for name, claim in load(source).scenarios.items()
    }


def read(name: str) -> Source:
    # Certificates are the same wherever the file lies; the name is no part of a hash.
    return Source(Path(name).name, (ROOT / name).read_text(encoding="utf-8"))


def test_the_record_has_every_specification_and_no_other() -> None:
    assert sorted(recorded(RECORD.read_text(encoding="utf-8"))) == SPECIFICATIONS, REMEDY


@pytest.mark.parametrize("name", SPECIFICATIONS)
def test_the_record_is_about_the_specification_as_it_is(name: str) -> None:
    assert recorded(RECORD.read_text(encoding="utf-8")).get(name) == hashes(read(name)), REMEDY


def test_every_scenario_has_a_certificate_that_stands() -> None:
    text = RECORD.read_text(encoding="utf-8")
    rows = [re.split(r"\s*\|\s*", line)[1:] for line in text.splitlines() if re.match(r"\| (?!Scenario )", line)]

    assert {row[1] for row in rows} <= {"proved", "violated", "holds", "vacuous"}
    # By a set of states or by induction; and the hash of what was confirmed.
    assert all(re.fullmatch(r"[\d,]+ nodes|induction over .*", row[3]) for row in rows)
    assert all(is_hash(row[-2]) for row in rows)


def test_a_changed_specification_is_noticed() -> None:
    before, after = (hashes(Source("one.yaml", text)) for text in (ONE, ONE.replace("most: 2}", "most: 3}")))

    assert before.keys() == after.keys() == {"first", "second"}
    assert all(before[name] != after[name] for name in before)


def test_a_record_is_read_as_it_is_written() -> None:
    text = "# What\n\n## One\n\n`spec/one.yaml`\n\n| Scenario | Verdict |\n|---|---|\n"
    row = "| a\\_b | proved | 93 | 34 nodes | 9 | x, y | | 0123456789ab | ba9876543210 |\n"
    bare = "| c | holds | 3 | | | | too many states | 00ff00ff00ff | |\n"

    assert recorded(text + row + bare) == {"spec/one.yaml": {"a_b": "0123456789ab", "c": "00ff00ff00ff"}}

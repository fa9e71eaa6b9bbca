"""`killpoint list`: finding the specification that is like one's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import Killpoint

LAMP = Path(__file__).parent / "data" / "lamp.yaml"


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """Three lamps: one about nothing in particular, two about patterns, one of them with another fault."""
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    text = LAMP.read_text(encoding="utf-8")
    (shelf / "plain.yaml").write_text(text, encoding="utf-8")
    (shelf / "twice.yaml").write_text(text.replace("title:", "pattern: acting twice\ntitle:"), encoding="utf-8")
    stuck = text.replace("title:", "pattern: getting stuck\ntitle:").replace("lost_reply", "torn_wire")
    (shelf / "stuck.yaml").write_text(stuck, encoding="utf-8")
    return shelf


def found(killpoint: Killpoint, shelf: Path, *arguments: str) -> list[str]:
    done = killpoint("list", "--in", str(shelf), *arguments, "--json")
    return sorted(Path(one["file"]).stem for one in done.json["specifications"])


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], ["plain", "stuck", "twice"]),
        (["--pattern", "twice"], ["twice"]),
        (["--pattern", "Getting Stuck"], ["stuck"]),
        (["--fault", "torn_wire"], ["stuck"]),
        (["--fault", "crash"], ["plain", "stuck", "twice"]),
        (["--property", "lit_once"], ["plain", "stuck", "twice"]),
        (["forgets", "LOST_reply"], ["plain", "twice"]),
        (["forgets", "unicorn"], []),
        (["stuck"], ["stuck"]),
        (["--fault", "crash", "--pattern", "stuck", "lamp"], ["stuck"]),
    ],
)
def test_everything_that_is_asked_for_must_fit(
    killpoint: Killpoint, shelf: Path, arguments: list[str], expected: list[str]
) -> None:
    assert found(killpoint, shelf, *arguments) == expected


def test_patterns_are_headings_and_what_has_none_comes_first(killpoint: Killpoint, shelf: Path) -> None:
    lines = killpoint("list", "--in", str(shelf)).out.splitlines()

    headings = [line for line in lines if line in {"acting twice", "getting stuck"}]
    assert headings == ["acting twice", "getting stuck"]
    assert lines.index("acting twice") > next(n for n, line in enumerate(lines) if "plain.yaml" in line)
    assert lines[-1] == "3 specifications"


@pytest.mark.parametrize(
    ("option", "value", "helped"),
    [
        ("--pattern", "acting twic e", "acting twice"),
        ("--property", "lit_onse", "lit_once"),
        ("--fault", "torn_wir", "torn_wire"),
    ],
)
def test_what_no_file_has_is_refused_and_the_nearest_is_named(
    killpoint: Killpoint, shelf: Path, option: str, value: str, helped: str
) -> None:
    done = killpoint("list", "--in", str(shelf), option, value)

    assert done.code == 2
    assert f"did you mean `{helped}`?" in done.err

"""What a patch may leave out, and what is warned of on one way through a step only."""

from __future__ import annotations

import pytest

from model.diagnostics import SpecificationError
from model.loader import load
from model.source import Source

TEXT = """
language: 1
protocol: example
stores: {a: {holds: {x: {type: 0..1}}}, b: {holds: {y: {type: 0..1}}}}
faults: {crash: {of: [p]}}
processes:
  p:
    steps:
      rest: "pass"
      act: |
{body}
"""


def warnings(body: str) -> list[str]:
    lines = "\n".join(f"        {line}" for line in body.split("\n"))
    file = load(Source("example.yaml", TEXT.replace("{body}", lines)))
    return [warning.code.number for warning in file.warnings if warning.code.number == "KP901"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("x = 1\ny = 1", 1),
        ("if x == 0: x = 1\nelse: y = 1", 0),
        ("if x == 0: x = 1\nif x == 1: y = 1", 1),
        ("if x == 0:\n    x = 1\n    goto(rest)\ny = 1", 0),
        ("if x == 0:\n    x = 1\n    y = 1\n    goto(rest)", 1),
        ("for i in bool:\n    if i: x = 1\n    else: goto(rest)\ny = choose({0, 1})", 1),
        ("for i in bool:\n    if i: x = 1\n    else: y = 1", 1),
        ("if x == 0: stop()\nelse: x = 0\nx = 1", 0),
    ],
)
def test_two_stores_are_warned_of_only_where_one_way_changes_both(body: str, expected: int) -> None:
    assert warnings(body) == ["KP901"] * expected


BOOTED = (
    TEXT.replace("{body}", "        x = 1")
    + """
variants:
  recovering:
    processes: {p: {BOOT steps: {recover: "x = 0"}}}
"""
)


def test_a_boot_step_that_a_patch_adds_stands_after_nothing() -> None:
    file = load(Source("example.yaml", BOOTED.replace("BOOT", "boot: recover,")))

    assert file.variants["recovering"].processes["p"].start == "recover"


def test_any_other_step_that_a_patch_adds_has_to_say_where_it_stands() -> None:
    with pytest.raises(SpecificationError) as refused:
        load(Source("example.yaml", BOOTED.replace("BOOT", "")))

    assert [d.code.number for d in refused.value.diagnostics] == ["KP602"]

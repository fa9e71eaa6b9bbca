"""What a person sees, letter by letter.

After a change that is meant: `KILLPOINT_SNAPSHOTS=write pytest tests/snapshots`, and look at the difference.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from checker.cli import main

EXPECTED = Path(__file__).parent / "expected"
DATA = Path(__file__).parents[1] / "cli" / "data"
CLASSICS = Path(__file__).resolve().parents[2] / "spec" / "classics"
LAMP = DATA / "lamp.yaml"
BREAKS = "breaks: [lit_once], because: the reply is lost"
EDITS = {
    "broken.yaml": (BREAKS, "because: the reply is lost"),
    "gap.yaml": ('      over: {when: "order == done", act: false}\n', ""),
    "unused.yaml": ("      new: {when", '      spare: {when: "order == asked", act: true}\n      new: {when'),
    "round.yaml": ('{recoverable: "order == done"}', '{leads_to: ["order == asked", "order == done"]}'),
    "stay.yaml": ('{recoverable: "order == done"}', '{leads_to: ["order == nothing", "order == asked"]}'),
    "typing.yaml": ("order = asked", "ordr = asked"),
}
WIDE, NARROW = 120, 80

COMMANDS = {
    "check": (WIDE, ["check", "lamp.yaml"]),
    "check-narrow": (NARROW, ["check", "lamp.yaml"]),
    "check-undeclared": (WIDE, ["check", "broken.yaml"]),
    "check-undeclared-narrow": (NARROW, ["check", "broken.yaml"]),
    "check-error-when-run": (WIDE, ["check", "gap.yaml"]),
    "check-unused": (WIDE, ["check", "unused.yaml"]),
    "check-cut-short": (WIDE, ["check", "lamp.yaml", "--scenario", "baseline", "--max-states", "3"]),
    "matrix": (WIDE, ["matrix", "lamp.yaml", "--scenario", "careless"]),
    "matrix-narrow": (NARROW, ["matrix", "lamp.yaml", "--scenario", "careless"]),
    "matrix-workflow": (NARROW, ["matrix", "killed_workflow", "--scenario", "q-a5-lagging-lookup"]),
    "matrix-breaks-anyway": (WIDE, ["matrix", "lamp.yaml", "--scenario", "deaf", "--view", "order,lit"]),
    "matrix-cell": (WIDE, ["matrix", "lamp.yaml", "--scenario", "careless", "--cell", "record", "--view", "order"]),
    "matrix-cell-holds": (NARROW, ["matrix", "lamp.yaml", "--cell", "record,look"]),
    "sweep": (WIDE, ["sweep", "delivery_profiles"]),
    "sweep-narrow": (NARROW, ["sweep", "killed_workflow", "--property", "one_submission"]),
    "check-narrowed": (WIDE, ["check", "lamp.yaml", "--scenario", "deaf", "--property", "lit_once"]),
    "check-errors": (WIDE, ["check", "typing.yaml", "lamp.yml"]),
    "trace-crash": (WIDE, ["trace", "lamp.yaml", "--scenario", "careless"]),
    "trace-fault": (WIDE, ["trace", "lamp.yaml", "--scenario", "deaf", "--property", "lit_once"]),
    "trace-narrow": (NARROW, ["trace", "two_phase_commit", "--mutant", "change-of-mind"]),
    "trace-two-processes": (WIDE, ["trace", "killed_workflow", "--scenario", "q-a1-slow-coordinator"]),
    "trace-recoverable": (WIDE, ["trace", "lamp.yaml", "--mutant", "never-recorded", "--property", "finishes"]),
    "trace-torn": (WIDE, ["trace", "page.yaml", "--property", "whole"]),
    "trace-round": (WIDE, ["trace", "round.yaml", "--mutant", "never-recorded", "--property", "finishes"]),
    "trace-stay": (WIDE, ["trace", "stay.yaml", "--property", "finishes"]),
    "trace-witness": (WIDE, ["trace", "lamp.yaml", "--property", "can_finish"]),
    "trace-holds": (WIDE, ["trace", "lamp.yaml", "--property", "done_is_final"]),
    "show": (WIDE, ["show", "lamp.yaml"]),
    "show-crashes": (WIDE, ["show", "page.yaml"]),
    "show-narrow": (NARROW, ["show", "lamp.yaml"]),
    "explore": (WIDE, ["explore", "lamp.yaml", "--set", "careful=false", "--allow", "crash=1@hand.record"]),
    "mutate": (WIDE, ["mutate", "two_phase_commit.yaml"]),
    "mutate-narrow": (NARROW, ["mutate", "lamp.yaml", "--scenario", "baseline"]),
    "mutate-one": (
        NARROW,
        ["mutate", "two_phase_commit.yaml", "--mutant", "transaction_manager.hear_prepared/skip-step"],
    ),
    "explain": (WIDE, ["explain", "KP902"]),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_person_sees(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    width, arguments = COMMANDS[name]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("KILLPOINT_CACHE", str(tmp_path / "cache"))
    for name_of_file in ("lamp.yaml", "page.yaml"):
        shutil.copy(DATA / name_of_file, tmp_path / name_of_file)
    shutil.copy(CLASSICS / "two_phase_commit.yaml", tmp_path)
    for edited, (old, new) in EDITS.items():
        assert old in LAMP.read_text(encoding="utf-8")
        (tmp_path / edited).write_text(LAMP.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")

    code = main(arguments)
    out, err = capsys.readouterr()
    seen = f"$ killpoint {' '.join(arguments)}\n{_steady(out)}{_steady(err)}[exit code {code}]\n"

    path = EXPECTED / f"{name}.txt"
    if os.environ.get("KILLPOINT_SNAPSHOTS") == "write":
        path.write_text(seen, encoding="utf-8")
    assert seen == path.read_text(encoding="utf-8")
    assert all(len(line) <= width for line in seen.splitlines()[1:])


def _steady(text: str) -> str:
    """Return output without what differs from run to run: the time it took, and where bundled files lie."""
    text = re.sub(r"\b\d+\.\d s\b", "0.0 s", text)
    return re.sub(r"(?<=\s)\S*/spec/", "…/spec/", text)


def test_no_snapshot_is_left_over() -> None:
    assert sorted(path.stem for path in EXPECTED.iterdir()) == sorted(COMMANDS)

"""`reports/findings.md` and `reports/incidents.md`: what was asked, and what came out."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from model import bundled
from tests.cli.running import Killpoint

LAMP = Path(__file__).parent / "data" / "lamp.yaml"
QUESTIONS = """
questions:
  L-1:
    asks: Is an order that was carried out carried out again?
    shown_by: [careless, deaf]
    lesson: Look before you light.
    repaired_by: [baseline]
    not_repaired_by: [never-recorded]
  L-2:
    asks: Does it hold with care?
    shown_by: [baseline]
    lesson: It *does* | always.
  L-3:
    asks: How long does it take?
    unanswered: nothing here has a duration
"""


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose only specification is the lamp, with questions."""
    root = tmp_path / "checkout"
    (root / "spec").mkdir(parents=True)
    (root / "model").mkdir()
    (root / "pyproject.toml").touch()
    shutil.copy(LAMP, root / "spec" / "lamp.yaml")
    with (root / "spec" / "lamp.yaml").open("a", encoding="utf-8") as file:
        file.write(QUESTIONS)
    monkeypatch.setattr(bundled, "_PACKAGE", root / "model")
    return root


def findings(checkout: Path, name: str = "findings.md") -> list[str]:
    return (checkout / "reports" / name).read_text(encoding="utf-8").splitlines()


def test_each_question_has_its_verdict_the_shortest_trace_and_the_lesson(killpoint: Killpoint, checkout: Path) -> None:
    assert killpoint("check").code == 0

    lines = findings(checkout)
    # Ask, light, and a crash before the record, then light again: rest, ask, light, crash, rest, ask, light.
    # Without a crash: the record of a lost reply does nothing, so rest, ask, light, record, rest, ask, light.
    assert "| L-1 | violated | 7 | Look before you light. |" in lines
    assert "| L-2 | holds | | It \\*does\\* \\| always. |" in lines
    assert "| L-3 | not sayable | | nothing here has a duration |" in lines


def test_repairs_and_half_repairs_stand_below_the_question_with_what_came_out(
    killpoint: Killpoint, checkout: Path
) -> None:
    killpoint("check")

    text = "\n".join(findings(checkout))
    assert "### L-1: Is an order that was carried out carried out again?" in text
    assert (
        "- Shown by `deaf` (careful=false; crash off; lost\\_reply ≤ 1): `lit_once` breaks in 7 steps: the reply"
        in text
    )
    assert (
        "- Repaired by `baseline` (as the file declares): holds over 15 states (crash unlimited, lost\\_reply off)"
        in text
    )
    assert "- Not repaired by `never-recorded` (variant forgetful): `lit_once` breaks in " in text
    assert "The model cannot say: nothing here has a duration" in text


def test_an_answer_that_did_not_come_out_as_declared_is_none(killpoint: Killpoint, checkout: Path) -> None:
    specification = checkout / "spec" / "lamp.yaml"
    text = specification.read_text(encoding="utf-8")
    assert text.count("plan.look and careful") == 1
    specification.write_text(text.replace("plan.look and careful", "plan.look and not careful"), encoding="utf-8")

    assert killpoint("check").code != 0
    lines = findings(checkout)
    assert any(line.startswith("| L-2 | not as declared |") for line in lines)
    assert any(line.startswith("- Repaired by `baseline`") and "**not as declared**" in line for line in lines)


def test_the_summary_has_the_same_answers_for_programs(killpoint: Killpoint, checkout: Path) -> None:
    killpoint("check")

    summary = json.loads((checkout / "reports" / "summary.json").read_text(encoding="utf-8"))
    answers = {answer["name"]: (answer["verdict"], answer["steps"]) for answer in summary["files"][0]["questions"]}
    assert answers == {"L-1": ("violated", 7), "L-2": ("holds", None), "L-3": ("not sayable", None)}


def test_show_lists_the_questions(killpoint: Killpoint, checkout: Path) -> None:
    shown = killpoint("show", str(checkout / "spec" / "lamp.yaml")).out

    assert "Does it hold with care? → baseline" in shown
    assert "How long does it take? → no answer" in shown


def test_a_file_about_a_pattern_is_an_incident_and_no_finding(killpoint: Killpoint, checkout: Path) -> None:
    specification = checkout / "spec" / "lamp.yaml"
    text = specification.read_text(encoding="utf-8").split("  L-2:")[0]
    specification.write_text(text.replace("title:", "pattern: acting | twice\ntitle:"), encoding="utf-8")
    killpoint("check")

    incidents = "\n".join(findings(checkout, "incidents.md"))
    assert (
        "| acting \\| twice | [A lamp is lit once, whoever forgets that it was asked to](../spec/lamp.yaml) |"
        in incidents
    )
    assert "| 24, 20 | 7 | crash unlimited, lost\\_reply ≤ 1 | `baseline` | `never-recorded` |" in incidents
    assert "## acting | twice" in incidents
    assert "- Takes lost\\_reply ≤ 1: `lit_once` breaks in 7 steps: the reply is lost" in incidents
    assert not any("L-1" in line for line in findings(checkout))


def test_what_was_followed_to_a_bound_is_not_said_to_hold_and_one_step_is_one(
    killpoint: Killpoint, checkout: Path
) -> None:
    shutil.copy(LAMP.with_name("tickets.yaml"), checkout / "spec")
    with (checkout / "spec" / "tickets.yaml").open("a", encoding="utf-8") as file:
        file.write(
            "  eager: {properties: {none_drawn: {always: drawn == 0}}}\n"
            "bound: 4\n"
            "questions:\n"
            '  T-1: {asks: "Are they served in order?", shown_by: [alone], lesson: They are.}\n'
            '  T-2: {asks: "Is anybody about to be served?", shown_by: [at-once], lesson: At once.}\n'
        )
    path = checkout / "spec" / "tickets.yaml"
    text = path.read_text(encoding="utf-8")
    once = "  at-once: {variant: eager, only: [none_drawn], breaks: [none_drawn], because: somebody comes}\nvariants:\n"
    path.write_text(text.replace("variants:\n", once).replace("drawn == 0", '"drawn == 0"'), encoding="utf-8")
    killpoint("check")

    (bounded,) = (line for line in findings(checkout) if "`alone`" in line)
    (broken,) = (line for line in findings(checkout) if "`at-once`" in line)
    assert ": bounded over 25 states (crash unlimited, nat ≤ 4)" in bounded
    assert "`none_drawn` breaks in 1 step: somebody comes" in broken

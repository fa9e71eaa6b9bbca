"""The questions that the documents of the four protocols leave open are all answered, and repairs are real ones."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from model.loader import load_file
from model.specification import Question, Scenario, SpecificationFile
from model.system import TransitionSystem

SPEC = Path(__file__).resolve().parents[2] / "spec"
ASKED = [f"Q-{part}{number}" for part, last in (("A", 15), ("B", 15), ("C", 11)) for number in range(1, last + 1)]
"""As the documents number them: the ledger, operator control, audited recovery."""


@cache
def files() -> tuple[SpecificationFile, ...]:
    return tuple(load_file(path) for path in sorted(SPEC.glob("*.yaml")))


def questions() -> list[tuple[SpecificationFile, Question]]:
    return [(file, question) for file in files() for question in file.questions.values()]


def claim(file: SpecificationFile, name: str) -> Scenario:
    return file.scenarios.get(name) or file.mutants[name]


def test_every_question_is_answered_once() -> None:
    found = Counter(question.name for _, question in questions())

    assert {name: count for name, count in found.items() if count > 1} == {}
    assert [name for name in ASKED if name not in found] == []


@pytest.mark.parametrize("question", [question for _, question in questions()], ids=lambda question: question.name)
def test_the_names_of_the_scenarios_carry_the_number(question: Question) -> None:
    number = question.name.lower()
    named = (*question.shown_by, *question.repaired_by, *question.not_repaired_by)

    assert bool(named) != bool(question.unanswered)
    if named:
        assert any(name == number or name.startswith(f"{number}-") for name in question.shown_by)


@pytest.mark.parametrize(("file", "question"), questions(), ids=lambda value: getattr(value, "name", None))
def test_a_repair_holds_for_any_number_of_crashes(file: SpecificationFile, question: Question) -> None:
    for name in question.repaired_by:
        system = TransitionSystem.of(claim(file, name))
        crashes = [fault.name for fault in file.specification.faults.values() if fault.crashes]
        unlimited = [fault for fault in crashes if system.budgets[fault].limit is None]

        assert crashes == [] or unlimited != [], f"{name} counts its crashes"
        assert all(system.budgets[fault].at is None for fault in unlimited), f"{name} says where its crashes are"

"""What one reading gets wrong is found by comparing it with the others, and shown where it is smallest."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import checker.backends.columns.program as columns_program
from checker.backends.columns.packing import Packing, pack
from checker.backends.columns.runner import StepRunner
from checker.backends.smt import steps as smt_steps
from checker.backends.smt import values as smt_values
from checker.backends.smt.steps import _Run
from checker.cli import main
from checker.crosscheck import CrossCheck, cross_check
from checker.engines import oracle
from checker.engines.visited import VisitedSet
from checker.exploration import Limits
from checker.trace import EngineDisagreement
from checker.verdict import ExitCode
from model.evaluate import _StepRun
from model.loader import load_file
from model.statements import If, Statement, When
from model.system import TransitionSystem
from tests.cli.schemas import problems

LAMP = Path(__file__).parents[1] / "cli" / "data" / "lamp.yaml"

Patch = pytest.MonkeyPatch
Capture = pytest.CaptureFixture[str]


def compared(most: int = 1_000, limits: Limits | None = None) -> dict[str, CrossCheck]:
    file = load_file(LAMP)
    claims = {**file.scenarios, **file.mutants}
    systems = {name: TransitionSystem.of(claim) for name, claim in claims.items()}
    return cross_check(systems, limits or Limits(), most)


def difference() -> str:
    with pytest.raises(EngineDisagreement) as raised:
        compared()
    return str(raised.value)


# --- Nothing wrong ---


def test_engines_that_are_right_are_compared_in_every_state_and_as_a_whole() -> None:
    for name, each in compared().items():
        file = load_file(LAMP)
        claim = {**file.scenarios, **file.mutants}[name]
        expected = oracle.explore(TransitionSystem.of(claim), Limits())
        assert (each.states, each.compared, each.oracle, each.cut) == (expected.states, expected.states, True, "")
        # Transitions that differ in nothing are one here.
        assert 0 < each.transitions <= expected.transitions


def test_of_a_large_space_as_many_states_are_compared_as_were_asked_for_at_most() -> None:
    for each in compared(most=7).values():
        assert each.states > 7
        assert 4 <= each.compared <= 7
        assert each.oracle


def test_a_comparison_that_is_cut_short_says_so() -> None:
    interrupted = Limits()
    interrupted.interrupted = True

    assert {each.cut for each in compared(limits=interrupted).values()} == {"interrupted"}
    assert not any(each.oracle for each in compared(limits=interrupted).values())


# --- A bug in the terms ---


def without_guards(run: Callable[..., None]) -> Callable[..., None]:
    return lambda self, statement: None if isinstance(statement, When) else run(self, statement)


def test_a_guard_that_the_terms_drop_is_found(monkeypatch: Patch) -> None:
    monkeypatch.setattr(_Run, "_execute", without_guards(_Run._execute))

    # With nothing ordered and nothing done no `when` is false; after `cancel`, there is nothing left to do.
    assert difference() == (
        "baseline: in the state (order=done), step hand.rest: for the terms it leads to "
        "(hand at=ask, hand fresh ledger=True), for the evaluator it does not"
    )


def test_a_size_that_the_terms_get_wrong_by_one_is_found(monkeypatch: Patch) -> None:
    right = smt_values.position_width
    monkeypatch.setattr(smt_values, "position_width", lambda domain: right(replace(domain, size=domain.size - 1)))

    assert "baseline: in the state" in difference()


def test_a_fault_that_the_terms_allow_once_too_often_is_found(monkeypatch: Patch) -> None:
    def unspent(*arguments: object) -> object:
        del arguments
        return smt_values.truth(True)

    monkeypatch.setattr(smt_steps, "unspent", unspent)

    found = difference()
    assert found.startswith("deaf: in the state (")
    assert "step hand.light: for the terms it leads to (" in found


def swapped(run: Callable[..., object]) -> Callable[..., object]:
    def wrong(self: object, statement: If, *rest: object) -> object:
        return run(self, replace(statement, then=statement.otherwise, otherwise=statement.then), *rest)

    return wrong


def test_a_branch_that_the_terms_take_the_wrong_way_is_found(monkeypatch: Patch) -> None:
    monkeypatch.setattr(_Run, "_if", swapped(_Run._if))

    found = difference()
    assert found.startswith("baseline: in the state (the initial state), step hand.rest: ")
    assert "the evaluator and the terms come to different states: `hand at` is ask and" in found


# --- A bug in the columns ---


def test_a_guard_that_the_columns_drop_is_found(monkeypatch: Patch) -> None:
    right = StepRunner._execute

    def wrong(self: StepRunner, statement: Statement, run: object) -> object:
        return [run] if isinstance(statement, When) else right(self, statement, run)  # type: ignore[arg-type]

    monkeypatch.setattr(StepRunner, "_execute", wrong)

    assert difference() == (
        "baseline: in the state (order=done), step hand.rest: for the columns it leads to "
        "(hand at=ask, hand fresh ledger=True), for the evaluator it does not"
    )


def test_a_place_in_the_word_that_is_off_by_one_is_found(monkeypatch: Patch) -> None:
    def wrong(sizes: list[int]) -> Packing:
        packing = pack(sizes)
        last = packing.places[-1]
        return replace(packing, places=(*packing.places[:-1], replace(last, shift=last.shift - 1)))

    monkeypatch.setattr(columns_program, "pack", wrong)

    found = difference()
    assert found.startswith("baseline: in the state (the initial state), step hand.rest: ")
    assert "the evaluator and the columns come to different states: `hand.reply` is no_reply and " in found


def test_a_branch_that_the_columns_take_the_wrong_way_is_found(monkeypatch: Patch) -> None:
    monkeypatch.setattr(StepRunner, "_if", swapped(StepRunner._if))

    found = difference()
    assert found.startswith("baseline: in the state (the initial state), step hand.rest: ")
    assert "the evaluator and the columns come to different states: `hand at` is ask and" in found


def test_a_state_that_the_search_loses_is_found(monkeypatch: Patch) -> None:
    right = VisitedSet.insert

    def wrong(self: VisitedSet, states: object, turn: int = 0) -> object:
        fresh = right(self, states, turn)  # type: ignore[arg-type]
        return [part[:-1] for part in fresh] if len(self) > 3 else fresh

    monkeypatch.setattr(VisitedSet, "insert", wrong)

    assert "the search has not found its successor" in difference()


# --- A bug in the evaluator, or in what is made of it ---


def test_an_outcome_that_the_evaluator_forgets_is_found(monkeypatch: Patch) -> None:
    monkeypatch.setattr(_StepRun, "next_script", lambda _: [])

    found = difference()
    assert found.startswith("deaf: in the state (")
    assert "for the columns it leads to (" in found
    assert found.endswith("for the evaluator it does not")


def test_a_count_that_the_oracle_gets_wrong_is_found(monkeypatch: Patch) -> None:
    right = oracle.explore

    def wrong(system: TransitionSystem, limits: Limits) -> object:
        exploration = right(system, limits)
        exploration.depth += 1
        return exploration

    monkeypatch.setattr(oracle, "explore", wrong)

    found = difference()
    assert found.startswith("baseline: the oracle and the fast explorer differ: depth: ")


# --- On the command line ---


def test_a_disagreement_ends_check_with_code_5_and_shows_the_difference(monkeypatch: Patch, capsys: Capture) -> None:
    monkeypatch.setattr(_Run, "_if", swapped(_Run._if))

    code = main(["check", str(LAMP), "--paranoid", "--no-cache"])

    said = capsys.readouterr()
    assert code == ExitCode.DISAGREEMENT
    assert f"engines disagree: {LAMP}, baseline: in the state (the initial state), step hand.rest: " in said.err
    assert "as declared" not in said.out


def test_without_a_disagreement_check_says_how_far_it_has_compared(capsys: Capture) -> None:
    code = main(["check", str(LAMP), "--paranoid", "--paranoid-states", "7", "--no-cache"])

    said = " ".join(capsys.readouterr().out.split())
    assert code == ExitCode.AS_DECLARED
    assert "evaluator, columns and terms agree on 4 claims, in " in said
    assert "evenly spread states only of baseline " in said
    assert "the oracle, exploring everything, counts and finds the same" in said


def test_a_comparison_that_was_cut_short_is_inconclusive(capsys: Capture) -> None:
    arguments = ["check", str(LAMP), "--paranoid", "--json", "--max-states", "5", "--no-cache"]
    code = main(arguments)

    document = json.loads(capsys.readouterr().out)
    assert problems("check", document) == []
    assert code == ExitCode.INCONCLUSIVE
    assert document["files"][0]["compared"]["baseline"]["cut"] == "more than 5 states"

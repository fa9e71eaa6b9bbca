"""Certificates about all numbers: the rounds of an induction, which stand only if every claim of them follows."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from checker.backends.smt.solvers import SOLVERS, Answer, SolverName, ask
from checker.backends.smt.unrolling import NO_ERROR, Round
from checker.certificates.certificate import Certificate, invariant_document, invariant_from
from checker.certificates.inductive import Induction
from checker.certificates.making import NoCertificate, make_certificate, versions
from checker.certificates.proving import write_certificate
from checker.certificates.rechecking import Outcome, RecheckOptions, recheck
from checker.engines import columnar
from checker.exploration import Limits
from model.loader import load
from model.source import Source
from model.system import TransitionSystem

BOTH = RecheckOptions(SOLVERS, 60.0)
TEXT = """\
language: 1
protocol: tickets
stores:
  desk:
    holds:
      drawn: {type: nat}
      served: {type: nat}
      told: {type: set of 1..3}
processes:
  machine:
    environment: true
    steps:
      draw: "drawn += 1"
  clerk:
    volatile: {mine: {type: nat}}
    steps:
      rest: |
        when(served < drawn)
        mine = served + 1
      serve: |
        check(in_turn, mine == served + 1)
        served = mine
        if mine == 2: told.add(2)
properties:
  in_order: {always: "served <= drawn"}
  by_one: {step: "next(served) in {served, served + 1}"}
  in_turn: {checked: nobody is passed over}
  next_one: {always: "implies(clerk[0].at(serve), clerk[0].mine == served + 1 and clerk[0].mine <= drawn)"}
  second_told: {always: "(2 in told) == (served >= 2)"}
  others_not: {always: "1 not in told and 3 not in told"}
  nobody_third: {always: "served != 3"}
  far: {possible: "served == 4"}
  catches_up: {recoverable: "served == drawn"}
scenarios:
  baseline: {only: [in_order, by_one, in_turn, second_told, others_not, nobody_third, far], breaks: [nobody_third]}
bound: 4
"""
RING = """\
language: 1
protocol: ring
stores:
  ring: {holds: {place: {type: 0..5}, time: {type: nat}}}
processes:
  runner:
    environment: true
    steps:
      go: |
        time += 1
        place = 1 if place == 0 else 0 if place == 1 else 3 if place == 2 else 5 if place == 3 else 4
properties:
  never_five: {always: "place != 5"}
bound: 1
"""


@cache
def certificate(text: str = TEXT) -> Certificate:
    source = Source("tickets.yaml", text)
    claim = next(iter(load(source).scenarios.values()))
    system = TransitionSystem.of(claim)
    (explored,) = columnar.explore([system], Limits())
    return make_certificate(source, claim, system, explored, Limits())


def refused(made: Certificate, solver: SolverName = "z3") -> list[str]:
    return [each.name for each in made.obligations if ask(solver, each.text, 60.0) is not Answer.UNSAT]


def with_rounds(made: Certificate, *rounds: tuple[int, tuple[str, ...]]) -> Certificate:
    return replace(made, invariant=Induction(tuple(Round(*each) for each in rounds)))


def claims_of(made: Certificate) -> tuple[str, ...]:
    assert isinstance(made.invariant, Induction)
    return tuple(name for each in made.invariant.rounds for name in each.claims)


def test_both_solvers_confirm_an_induction_and_it_shows_what_holds(tmp_path: Path) -> None:
    write_certificate(tmp_path / "tickets", certificate().files(versions()))
    found = recheck(tmp_path / "tickets", BOTH)

    assert (found.outcome, found.differences, found.proves()) == (Outcome.ACCEPTED, (), True)
    assert found.shown == ("in_order", "by_one", "in_turn", "second_told", "others_not", "far")
    assert found.not_shown == {"nobody_third": "declared to break"}
    assert found.means == "induction over 1 state"


def test_a_claim_may_need_several_states() -> None:
    made = certificate(RING)

    assert made.means == "induction over up to 3 states"
    assert {each.name for each in made.obligations if "never_five" in each.name} == {
        *(f"begins-never_five-{depth}" for depth in range(3)),
        "follows-never_five",
    }
    for solver in SOLVERS:
        assert refused(made, solver) == []


def test_fewer_states_than_a_claim_needs_are_found_out() -> None:
    for length in (1, 2):
        made = with_rounds(certificate(RING), (1, (NO_ERROR,)), (length, ("never_five",)))
        for solver in SOLVERS:
            assert refused(made, solver) == ["follows-never_five"]


def test_a_claim_without_its_lemma_is_found_out() -> None:
    names = tuple(name for name in claims_of(certificate()) if name != "next_one")
    for solver in SOLVERS:
        assert "follows-in_order" in refused(with_rounds(certificate(), (1, names)), solver)


def test_a_claim_that_rests_on_a_later_round_is_found_out() -> None:
    later = ("next_one",)
    earlier = tuple(name for name in claims_of(certificate()) if name not in later)

    assert "follows-in_order" in refused(with_rounds(certificate(), (1, earlier), (1, later)))
    assert refused(with_rounds(certificate(), (1, later), (1, earlier))) == []


def test_a_claim_that_is_false_at_the_start_is_found_out() -> None:
    made = certificate(TEXT.replace("1 not in told and 3 not in told", "1 in told or 2 in told or 3 in told"))
    forged = with_rounds(made, (1, (*claims_of(made), "others_not")))

    assert "others_not" not in made.shown
    assert "begins-others_not-0" in refused(forged)


def test_nothing_is_shown_where_an_error_is_not_excluded() -> None:
    made = with_rounds(certificate(), (1, tuple(name for name in claims_of(certificate()) if name != NO_ERROR)))

    assert made.shown == ("far",)


def test_where_a_step_may_err_there_is_no_certificate() -> None:
    with pytest.raises(NoCertificate, match="no step errs"):
        certificate(TEXT.replace("served = mine\n", "served = mine - 3\n"))


def test_a_way_to_a_goal_is_not_covered() -> None:
    made = certificate(TEXT.replace("far],", "far, catches_up],"))

    assert not made.coverage["catches_up"].shown


@pytest.mark.parametrize(
    "rounds",
    [
        [[0, ["in_order"]]],
        [[True, ["in_order"]]],
        [[10**9, ["in_order"]]],
        [[1, ["in_order", "in_order"]]],
        [[1, ["in_order"]], [2, ["in_order"]]],
        [[1, ["nobody"]]],
        [[1, ["catches_up"]]],
        [[1, [3]]],
        [1],
    ],
)
def test_rounds_that_are_none_are_refused(rounds: object) -> None:
    made = certificate()

    with pytest.raises((ValueError, TypeError)):
        invariant_from({"rounds": rounds}, made.system)
    assert invariant_from(invariant_document(made.invariant), made.system) == made.invariant


def test_the_same_specification_gives_the_same_files() -> None:
    again = certificate.__wrapped__(TEXT)

    assert again.files({}) == certificate().files({})

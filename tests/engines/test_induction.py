"""Claims proved and refuted without a bound, and what a proof lacks."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from checker.backends.smt.unrolling import Answer, Outcome, Unrolling
from checker.engines import oracle
from checker.engines.induction import Decision, Effort, decide
from checker.exploration import Limits
from checker.trace import EngineDisagreement
from checker.verdict import Verdict
from model.codes import Code
from model.loader import load
from model.source import Source
from model.system import TransitionSystem

TICKETS = """\
language: 1
protocol: tickets
stores:
  desk:
    holds:
      drawn: {type: nat}
      served: {type: nat}
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
properties:
  in_order: {always: "served <= drawn"}
  by_one: {step: "next(served) in {served, served + 1}"}
  in_turn: {checked: nobody is passed over}
  nobody_third: {always: "served != 3"}
  late: {possible: "drawn == 2 and served == 1"}
  never: {possible: "served > drawn"}
"""
NEXT = "clerk[0].mine == served + 1 and clerk[0].mine <= drawn"
WITH_LEMMA = f'{TICKETS}  in_turn_too: {{always: "implies(clerk[0].at(serve), {NEXT})"}}\n'


def decided(text: str, *names: str, depth: int = 10, spacer: float = 20) -> dict[str, Decision]:
    scenario = load(Source("tickets.yaml", text)).scenarios["default"]
    system = TransitionSystem.endless(scenario)
    asked = names or tuple(system.specification.properties)
    return {decision.name: decision for decision in decide(system, asked, Effort(depth, None, spacer))}


def test_a_counterexample_is_a_shortest_one() -> None:
    found = decided(TICKETS, "nobody_third")["nobody_third"]

    assert found.verdict is Verdict.VIOLATED
    bounded = TransitionSystem.of(load(Source("tickets.yaml", TICKETS + "bound: 5\n")).scenarios["default"])
    expected = oracle.explore(bounded, Limits()).findings["nobody_third"]
    assert found.finding is not None
    assert found.finding.depth == expected.depth == 9


def test_a_witness_shows_what_is_possible_and_a_proof_that_it_is_not() -> None:
    found = decided(WITH_LEMMA, "late", "never")

    assert found["late"].verdict is Verdict.HOLDS
    assert found["late"].finding is not None
    assert found["never"].verdict is Verdict.VACUOUS


def test_properties_are_lemmas_for_one_another() -> None:
    found = decided(WITH_LEMMA, "in_order", "in_turn", "by_one", spacer=0)

    assert {d.verdict for d in found.values()} == {Verdict.HOLDS}
    # A solver says which lemmas it used, and not which fewest would do.
    assert "in_turn_too" in found["in_order"].lemmas
    assert found["in_order"].how == "induction over 1 state"


def test_a_claim_that_does_not_follow_shows_two_states_that_a_proof_would_exclude() -> None:
    found = decided(TICKETS, "in_order", depth=1, spacer=0)["in_order"]

    assert found.verdict is Verdict.UNKNOWN
    assert found.gap is not None
    before, after = found.gap.trace.states
    drawn, served, label, mine = before
    # True before and false afterwards, by a clerk who serves a number that nobody has drawn.
    assert isinstance(drawn, int)
    assert isinstance(served, int)
    assert served <= drawn
    assert label == "serve"
    assert isinstance(mine, int)
    assert mine > drawn
    assert after[1] == mine


def test_spacer_finds_what_is_missing() -> None:
    found = decided(TICKETS, "in_order", depth=1)["in_order"]

    assert found.verdict is Verdict.HOLDS
    assert found.how == "an invariant that Spacer found"


def test_some_claims_need_more_than_one_state_before() -> None:
    # A state that leads back to itself in two steps and nowhere else: only two states in a row exclude it.
    text = """\
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
"""
    found = decided(text, spacer=0)["never_five"]

    assert found.verdict is Verdict.HOLDS
    # 2 leads to 3 and 3 to 5, and nothing leads to 2: with three states before 5 there is none that could be the first.
    assert found.how == "induction over 3 states"


def test_a_run_time_error_is_found_and_nothing_is_said_to_hold() -> None:
    text = TICKETS.replace("served = mine\n", "served = mine - 3\n") + '  fine: {always: "drawn >= 0"}\n'

    found = decided(text, "fine")

    assert found["fine"].verdict is Verdict.UNKNOWN
    assert found["fine"].how == "induction over 1 state, unless something errs"

    assert found[""].verdict is Verdict.ERROR
    assert found[""].finding is not None
    assert found[""].finding.error is not None
    assert found[""].finding.error.code is Code.ASSIGNED_OUTSIDE_TYPE


def test_a_property_without_a_value_is_an_error() -> None:
    text = TICKETS.replace('{always: "served != 3"}', '{always: "table.x"}').replace(
        "processes:\n", 'tables: {table: {gives: {x: bool}, rows: {r: {when: "drawn < 2", x: true}}}}\nprocesses:\n', 1
    )

    found = decided(text, "nobody_third")["nobody_third"]

    assert found.verdict is Verdict.ERROR
    assert found.finding is not None
    assert found.finding.depth == 2


def test_a_check_that_fails_is_found_on_its_transition() -> None:
    text = TICKETS.replace("served = mine\n", "served = mine + 1\n").replace(
        "in_turn, mine == served + 1", "in_turn, served < 2"
    )

    found = decided(text, "in_turn")["in_turn"]

    assert found.verdict is Verdict.VIOLATED
    assert found.finding is not None
    assert found.finding.trace.steps[-1].action.label == "serve"


def test_nothing_follows_where_the_solver_cannot_tell_whether_it_is_true_at_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ask = Unrolling.breaks

    def hesitant(self: Unrolling, name: str, depth: int, *, initially: bool, given: Mapping[str, int]) -> Answer:
        return Answer(Outcome.UNKNOWN) if initially else ask(self, name, depth, initially=initially, given=given)

    monkeypatch.setattr(Unrolling, "breaks", hesitant)

    assert {d.verdict for d in decided(WITH_LEMMA, "in_order", spacer=0).values()} == {Verdict.UNKNOWN}


def test_a_run_that_the_evaluator_does_not_know_is_a_disagreement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("checker.engines.induction.Evaluator.transitions", lambda *_: iter(()))

    with pytest.raises(EngineDisagreement):
        decided(TICKETS, "nobody_third")


def test_locals_of_two_branches_may_share_a_name_and_not_a_type() -> None:
    text = """\
language: 1
protocol: names
stores:
  desk: {holds: {number: {type: 0..1}, flag: {type: bool}}}
processes:
  clerk:
    environment: true
    steps:
      write: |
        if flag: number = choose(each for each in clerk if each == number)
        else: flag = choose(each for each in bool if each != flag)
properties:
  low: {always: "number == 0"}
"""
    assert decided(text)["low"].verdict is Verdict.HOLDS


def test_a_truth_value_that_is_never_there_is_an_error_and_no_number() -> None:
    text = """\
language: 1
protocol: nothing
parameters: {far: {default: 2}}
stores:
  desk: {holds: {flag: {type: "bool?", per: 0..1}, time: {type: nat}}}
processes:
  clerk:
    environment: true
    steps:
      look: |
        time += 1
        if time > 3 and flag[far]: time = 0
properties:
  counts: {always: "time <= 4"}
"""
    found = decided(text)[""]

    assert found.finding is not None
    assert found.finding.error is not None
    assert found.finding.error.code is Code.INDEX_OUTSIDE_ARRAY

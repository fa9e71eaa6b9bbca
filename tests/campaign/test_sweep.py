"""Sweeps, with answers that can be reasoned out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from checker.exploration import Finding
from checker.judgement import ScenarioReport
from checker.sweep import Swept, sweep
from checker.trace import EngineDisagreement
from checker.verdict import ExitCode, Verdict
from model.loader import load
from model.source import Source
from model.specification import Scenario
from tests.strategies.judging import judged

# A letter is sent, perhaps twice; whoever gets it may throw away the second.
LETTER = """\
language: 1
protocol: letter
parameters:
  folds: {default: false}
  checks: {default: false}
  patience: {default: 0, range: 0..2}
stores:
  office: {holds: {arrived: {type: 0..4}, left: {type: bool}}}
faults:
  lost: {at_most: 0}
  slow: {at_most: 0}
processes:
  sender:
    steps:
      send: |
        when(not left)
        if not fault(slow):
            arrived = arrived + 1 if arrived == 0 or not folds else arrived
        if fault(lost): goto(again)
        left = True
        goto(send)
      again: |
        if checks and arrived > 0 and not fault(slow): left = True
        goto(send)
properties:
  once: {always: "arrived <= 1"}
  can_fail: {possible: "left and arrived == 0"}
sweep:
  set: {folds: [false, true], checks: [false, true]}
  allow: {lost: [0, 1, 2], slow: [0, 1]}
"""


def swept(text: str = LETTER, *asked: str, verify: bool = False) -> Swept:
    file = load(Source("letter.yaml", text))
    assert file.sweep is not None
    return sweep(file.sweep, file.scenarios["default"], judged, asked, verify=verify)


def test_every_combination_has_a_verdict_of_every_property() -> None:
    found = swept()
    assert len(found.outcomes) == 2 * 2 * 3 * 2
    assert all(outcome.verdicts.keys() == {"once", "can_fail"} for outcome in found.outcomes.values())
    assert found.exit_code is ExitCode.AS_DECLARED


def test_the_weakest_contracts_that_are_safe_are_those_that_one_would_name() -> None:
    """Two arrive only if an answer is lost; who checks is misled only if the post is slow as well."""
    assert [contract.names for contract in swept().sufficient] == [
        {"lost": 0},
        {"folds": True},
        {"checks": True, "slow": 0},
    ]


def test_the_fewest_weaknesses_that_break_are_those_that_one_would_name() -> None:
    assert [contract.names for contract in swept().breaking] == [
        {"folds": False, "checks": False, "lost": 1},
        {"folds": False, "lost": 1, "slow": 1},
    ]
    assert all(contract.broken == ("once",) for contract in swept().breaking)


def test_faults_are_in_order_however_they_are_listed() -> None:
    assert swept(LETTER.replace("lost: [0, 1, 2]", "lost: [1, 2, 0]")).sweep.dimensions[2].values == (2, 1, 0)


def test_what_is_concluded_is_what_is_found_by_looking() -> None:
    quick, whole = swept(LETTER, "once"), swept(LETTER, "once", verify=True)
    assert {c: o.verdicts for c, o in quick.outcomes.items()} == {c: o.verdicts for c, o in whole.outcomes.items()}
    assert any(not outcome.explored for outcome in quick.outcomes.values())
    assert all(outcome.explored for outcome in whole.outcomes.values())
    assert whole.verified > 0


def test_a_conclusion_that_is_false_is_a_disagreement() -> None:
    """An engine that finds nothing where faults may happen often misleads, and is found out."""

    def blind(claims: list[Scenario]) -> list[ScenarioReport]:
        return [_sighted(r, c) for r, c in zip(judged(claims), claims, strict=True)]

    def _sighted(report: ScenarioReport, claim: Scenario) -> ScenarioReport:
        if "lost=2" not in claim.name:
            return report
        properties = tuple(
            replace(asked, verdict=Verdict.HOLDS, finding=None) if asked.name == "once" else asked
            for asked in report.properties
        )
        return replace(report, properties=properties)

    file = load(Source("letter.yaml", LETTER))
    assert file.sweep is not None
    with pytest.raises(EngineDisagreement, match="once was concluded to be holds and is violated"):
        sweep(file.sweep, file.scenarios["default"], blind, ["once"], verify=True)  # type: ignore[arg-type]


def test_a_promise_that_makes_it_worse_is_a_choice_and_is_named_as_one() -> None:
    """Asked in the wrong order, folding is what breaks."""
    found = swept(LETTER.replace("folds: [false, true]", "folds: [true, false]"))
    assert {(each.property, each.dimension) for each in found.reversals} == {("once", "folds")}
    assert [contract.names for contract in found.sufficient] == [
        {"folds": True},
        {"lost": 0},
        {"checks": True, "slow": 0},
    ]


def test_what_makes_no_difference_is_named() -> None:
    assert swept().idle == ()
    text = LETTER.replace("checks: [false, true]}", "checks: [false, true], patience: [0, 1, 2]}")
    assert swept(text).idle == ("patience",)


def test_a_contract_shows_its_shortest_run() -> None:
    found = swept()
    for contract in found.breaking:
        finding: Finding = found.outcomes[contract.combination].findings["once"]
        assert found.outcomes[contract.combination].explored
        # Sent, the answer lost, asked after or not, and sent again.
        assert finding.depth == 3


@pytest.mark.parametrize("most", range(3, 12))
def test_what_is_open_is_neither_safe_nor_broken(most: int) -> None:
    file = load(Source("letter.yaml", LETTER))
    assert file.sweep is not None
    found = sweep(file.sweep, file.scenarios["default"], lambda claims: judged(claims, states_max=most), [])
    open_ = any(Verdict.UNKNOWN in outcome.verdicts.values() for outcome in found.outcomes.values())
    assert found.exit_code is (ExitCode.INCONCLUSIVE if open_ else ExitCode.AS_DECLARED)
    for contract in found.sufficient:
        stronger = [c for c in found.outcomes if all(a >= b for a, b in zip(c, contract.combination, strict=True))]
        assert all(found.safe(combination) is True for combination in stronger)

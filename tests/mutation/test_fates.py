"""Mutants of a protocol that is small enough to know them all: which there are, and what becomes of them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from checker.engines import columnar
from checker.exploration import Limits
from checker.mutation.deciding import Decider
from checker.mutation.explaining import apply_reasons, stale_reasons
from checker.mutation.fates import Decided, Fate, Held, credits_of
from checker.mutation.generation import mutants_of
from checker.mutation.mutants import Operator
from checker.mutation.survivors import explain
from model.loader import load
from model.source import Source
from model.specification import SpecificationFile
from model.system import TransitionSystem
from tests.mutation.lamp import FATES, LAMP


def file_of(text: str = LAMP, *changes: tuple[str, str]) -> SpecificationFile:
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    return load(Source("lamp.yaml", text))


def decided(file: SpecificationFile, limits: Limits | None = None) -> dict[str, Decided]:
    """Decide all mutants of a file as the command does."""
    scenarios = [scenario for scenario in file.scenarios.values() if not scenario.breaks]
    systems = [TransitionSystem.of(scenario) for scenario in scenarios]
    explored = columnar.explore(systems, Limits())
    held = [Held(*each) for each in zip(scenarios, systems, explored, strict=True)]
    mutants = mutants_of(file.source, list(dict.fromkeys(scenario.specification for scenario in scenarios)))
    decider = Decider(mutants, held, limits or Limits(), lambda _: None)
    decider.run()
    explain([each for each in decider.decided if each.fate is Fate.SURVIVED], held, Limits(), lambda _: None)
    apply_reasons(file, decider.decided)
    return {each.mutant.id: each for each in decider.decided}


@pytest.fixture(scope="module")
def found() -> Mapping[str, Decided]:
    return decided(file_of())


def test_every_operator_makes_its_mutants_and_no_others(found: Mapping[str, Decided]) -> None:
    assert set(found) == set(FATES)
    assert {each.mutant.operator for each in found.values()} == set(Operator)


@pytest.mark.parametrize("name", FATES)
def test_a_mutant_comes_out_as_by_hand(found: Mapping[str, Decided], name: str) -> None:
    fate, same = FATES[name]

    assert (found[name].fate, found[name].same) == (fate, same), found[name].why


def test_kills_are_credited_to_what_breaks(found: Mapping[str, Decided]) -> None:
    credits_ = {credit.property: credit for credit in credits_of(list(found.values()), ["intended", "once"])}

    killed = sorted(name for name, (fate, _) in FATES.items() if fate is Fate.KILLED)
    assert credits_["intended"].kills == len(killed)
    assert sorted(credits_["intended"].alone) == killed
    assert credits_["once"].kills == 0


def test_a_kill_has_its_shortest_trace(found: Mapping[str, Decided]) -> None:
    each = found["hand.intend/skip-step"]

    assert (each.scenario, each.property, each.broken) == ("baseline", "intended", {"intended": 3})
    assert each.finding is not None
    assert [step.action.label for step in each.finding.trace.steps] == ["look", "intend", "light"]


def test_a_survivor_shows_the_shortest_run_after_which_it_differs(found: Mapping[str, Decided]) -> None:
    difference = found["hand.light/drop-assignment/left -= 1"].difference

    assert difference is not None
    assert [step.action.label for step in difference.trace.steps] == ["look", "intend"]
    assert [move.action.label for move in (*difference.gained, *difference.lost)] == ["light", "light"]


def test_an_error_says_what_errs(found: Mapping[str, Decided]) -> None:
    assert found["plan.over/drop-row"].why == "KP803: no row of the table `plan` matches"
    assert found["hand.light/shift-boundary/left -= 2"].why.startswith("KP801")


def test_what_is_vacuous_says_what_is_not_put_to_use(found: Mapping[str, Decided]) -> None:
    assert found["plan.new/drop-row"].why == "`can_finish` is never reached"


def test_a_fault_that_never_happens_is_vacuous_too() -> None:
    change = ("        calls += 1", "        if lit and fault(flicker): lit = False\n        calls += 1")
    faulty = file_of(LAMP, change, ("ghost:", "faults: {flicker: {at_most: 1}}\nghost:"))

    each = decided(faulty)["hand.light/skip-step"]

    assert each.fate is Fate.VACUOUS
    assert each.why in {"the fault `flicker` never happens", "`can_finish` is never reached"}


def test_what_a_fault_does_is_assumed_and_not_changed() -> None:
    text = LAMP.replace("ghost:", "faults: {flicker: {at_most: 1}, storm: {at_most: 1}}\nghost:", 1)
    text = text.replace("        calls += 1", "        if lit and fault(flicker): lit = False\n        calls += 1", 1)
    storm = "  sky: {environment: true, steps: {blow: 'when(left > 0)\n\n    when(fault(storm))\n\n    lit = False'}}\n"
    text = text.replace("properties:", f"{storm}properties:", 1)

    assert set(decided(file_of(text))) == set(FATES)


def test_a_mutant_shows_how_its_text_reads_before_and_after(found: Mapping[str, Decided]) -> None:
    read = {name: (each.mutant.before, each.mutant.after) for name, each in found.items()}

    assert read["hand.look/drop-guard/plan.act == ask and left > 0"] == ("when(plan.act == ask and left > 0)", "")
    assert read["hand.look/shift-boundary/left > -1"] == ("left > 0", "left > -1")
    assert read["hand.record/drop-disjunct/lit"] == ("lit or order == done", "order == done")
    assert read["hand.record/negate-guard/lit or order == done"][1] == "when(not (lit or order == done))"
    assert read["plan.new/replace-output/act=wait"] == ("act: ask", "act: wait")
    assert str(found["hand.intend/drop-fresh/fresh(ledger)"].mutant.span) == "lamp.yaml:25:16"


def test_names_do_not_change_with_what_stands_elsewhere() -> None:
    remark = ("types:", "# A remark.\ntitle: Another title\ntypes:")
    longer = file_of(LAMP, remark, ("  intended:", "  too: {always: 'True'}\n  intended:"))

    assert set(decided(longer)) == set(FATES)


def test_equal_texts_in_one_place_are_numbered() -> None:
    names = set(decided(file_of(LAMP, ("        order = done\n", "        order = done\n        order = done\n"))))

    assert {"hand.record/drop-assignment/order = done", "hand.record/drop-assignment/order = done @2"} <= names


def test_a_definition_is_changed_wherever_the_protocol_uses_it_and_not_in_properties() -> None:
    definition = 'definitions: {started: "order != nothing and calls_are_possible", calls_are_possible: "left >= 0"}\n'
    text = LAMP.replace("tables:", f"{definition}tables:", 1)
    text = text.replace("when(lit or order == done)", "when(started)", 1)
    text = text.replace("implies(calls > 0, order != nothing)", "implies(calls > 0, started)", 1)

    found = decided(file_of(text))

    assert found["started/drop-conjunct/order != nothing"].fate is Fate.SURVIVED
    assert found["calls_are_possible/shift-boundary/left >= 1"].fate is Fate.VACUOUS
    assert found["started/drop-conjunct/calls_are_possible"].mutant.after == "order != nothing"


def test_a_step_that_a_variant_rewrites_is_changed_under_the_name_of_the_variant() -> None:
    variant = 'variants:\n  calm: {processes: {hand: {steps: {record: "when(lit)\\norder = done\\ngoto(look)"}}}}\n'
    text = LAMP.replace("scenarios: {baseline: {}}", f"{variant}scenarios: {{baseline: {{}}, calm: {{variant: calm}}}}")

    found = decided(file_of(text))

    assert found["calm:hand.record/drop-guard/lit"].asked == 1
    assert found["hand.light/drop-guard/order == asked"].asked == 2
    assert found["hand.record/drop-guard/lit or order == done"].asked == 1


def test_what_a_parameter_has_switched_off_is_switched_on_by_a_mutant() -> None:
    # Of a `when` that is false under these parameters the original has no path: what the mutant does is only more.
    text = LAMP.replace("types:", "parameters: {thief: {default: false}}\ntypes:", 1)
    street = """\
  street:
    environment: true
    steps:
      steal: |
        when(thief)
        lit = False
properties:
"""
    text = text.replace("properties:\n", street, 1)
    text = text.replace("  once:", "  stays: {step: 'implies(lit, next(lit))'}\n  once:")

    found = decided(file_of(text))["street.steal/drop-guard/thief"]

    assert (found.fate, tuple(found.broken)) == (Fate.KILLED, ("stays",))


# --- What survives is explained, or not ---


def test_a_reason_explains_the_survivors_that_it_fits() -> None:
    explained = file_of(LAMP + 'equivalent: {"hand.look/drop-conjunct/*": both say so}\n')

    found = decided(explained)

    assert {name for name, each in found.items() if each.explained == "both say so"} == {
        "hand.look/drop-conjunct/plan.act == ask",
        "hand.look/drop-conjunct/left > 0",
    }
    assert stale_reasons(explained, list(found.values()), whole=True) == ()


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("hand.intend/skip-step", "`hand.intend/skip-step` is killed by `intended`"),
        ("hand.*/skip-step", "`hand.look/skip-step` leaves something unused; nor do the 3 others survive"),
        ("hand.look/drop-fresh", "no mutant is named `hand.look/drop-fresh`"),
        ("plan.over/drop-row", "`plan.over/drop-row` comes to a run-time error"),
        ("plan.new/drop-row", "`plan.new/drop-row` leaves something unused"),
    ],
)
def test_a_reason_for_what_does_not_survive_is_stale(entry: str, message: str) -> None:
    wrong = file_of(LAMP + f"equivalent: {{{entry!r}: so}}\n")

    (stale,) = stale_reasons(wrong, list(decided(wrong).values()), whole=True)

    assert (stale.entry, stale.message) == (entry, message)
    assert stale.span.line == len(LAMP.splitlines()) + 1


def test_a_pattern_may_fit_mutants_that_are_killed_as_well() -> None:
    broad = file_of(LAMP + "equivalent: {hand.intend/*: so}\n")

    found = decided(broad)

    assert found["hand.intend/drop-fresh/fresh(ledger)"].explained == "so"
    assert stale_reasons(broad, list(found.values()), whole=True) == ()


def test_what_was_not_asked_is_not_called_stale() -> None:
    wrong = file_of(LAMP + "equivalent: {hand.look/drop-fresh: so}\n")

    assert stale_reasons(wrong, list(decided(wrong).values()), whole=False) == ()


def test_an_interrupted_run_leaves_open_what_it_has_not_decided() -> None:
    found = decided(file_of(), Limits(interrupted=True))

    assert {each.fate for each in found.values()} == {Fate.OPEN}


def test_a_run_that_is_cut_short_kills_what_it_has_seen_and_leaves_the_rest_open() -> None:
    found = decided(file_of(), Limits(states_max=3))

    # Its trace has four states, and states beyond the limit are looked at for what breaks but not followed.
    assert found["hand.record/skip-step"].fate is Fate.OPEN
    assert found["hand.intend/swap-steps/light"].fate is Fate.KILLED

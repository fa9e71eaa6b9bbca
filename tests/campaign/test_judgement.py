"""What a scenario or a mutant claims, and what becomes of the claim."""

from __future__ import annotations

from typing import Any

import pytest

from checker.verdict import ExitCode, Verdict
from model.diagnostics import Code

Judge = Any

# A counter that a mishap can push further than it should go.
COUNTER = """
language: 1
protocol: counter
stores: {s: {holds: {x: {type: 0..3}}}}
faults: {mishap: {at_most: 0}}
processes:
  e:
    environment: true
    steps:
      up: |
        when(x < 2)
        if fault(mishap): x += 2
        else: x += 1
properties:
  low: {always: "x <= 2"}
  by_one: {step: "next(x) == x + 1"}
  full: {possible: "x == 2"}
  ends: {recoverable: "x == 2"}
scenarios:
"""
BROKEN = "breaks: [low, by_one, ends], because: it is pushed"


def test_a_scenario_that_breaks_nothing_is_as_declared(judged: Judge) -> None:
    found = judged(COUNTER + "  baseline: {}")

    claim = found.claim()
    assert claim.verdict is Verdict.HOLDS
    assert claim.exit_code is ExitCode.AS_DECLARED
    assert [p.verdict for p in claim.properties] == [Verdict.HOLDS] * 4
    assert claim.properties[2].finding is not None, "the witness"


def test_a_scenario_that_breaks_what_it_declares_is_as_declared(judged: Judge) -> None:
    claim = judged(COUNTER + f"  baseline: {{allow: {{mishap: unlimited}}, {BROKEN}}}").claim()

    assert claim.exit_code is ExitCode.AS_DECLARED
    assert claim.verdict is Verdict.VIOLATED
    assert claim.broken == claim.declared == ("low", "by_one", "ends")


def test_an_undeclared_break_is_not_as_declared(judged: Judge) -> None:
    found = judged(COUNTER + "  baseline: {allow: {mishap: 1}, breaks: [by_one, ends], because: x}")

    assert found.claim().exit_code is ExitCode.NOT_AS_DECLARED
    assert found.messages() == ["`low` breaks, undeclared"]


def test_a_declared_break_that_does_not_happen_is_not_as_declared(judged: Judge) -> None:
    found = judged(COUNTER + "  baseline: {breaks: [low], because: x}")

    assert found.claim().exit_code is ExitCode.NOT_AS_DECLARED
    assert found.messages() == ["`low` is declared to break, and holds"]


def test_only_what_a_scenario_asks_about_is_judged(judged: Judge) -> None:
    claim = judged(COUNTER + "  baseline: {allow: {mishap: 1}, only: [full]}").claim()

    assert claim.exit_code is ExitCode.AS_DECLARED
    assert [p.name for p in claim.properties] == ["full"]
    assert "properties not asked about: low, by_one, ends" in claim.not_covered


# --- Vacuous ---


UNREACHED = COUNTER.replace('possible: "x == 2"', 'possible: "x == 3"')


def test_a_possible_state_that_is_never_reached_is_vacuous(judged: Judge) -> None:
    found = judged(UNREACHED + "  baseline: {}")

    assert found.of("full").verdict is Verdict.VACUOUS
    assert found.claim().verdict is Verdict.VACUOUS
    assert found.claim().exit_code is ExitCode.VACUOUS


def test_a_possible_state_may_be_declared_unreached(judged: Judge) -> None:
    assert judged(UNREACHED + "  baseline: {breaks: [full], because: x}").claim().exit_code is ExitCode.AS_DECLARED


def test_a_possible_state_that_is_declared_unreached_must_not_be_reached(judged: Judge) -> None:
    found = judged(COUNTER + "  baseline: {breaks: [full], because: x}")

    assert found.claim().exit_code is ExitCode.NOT_AS_DECLARED
    assert found.messages() == ["`full` is declared to break, and is reached"]


NO_MISHAP = COUNTER.replace("if fault(mishap): x += 2\n        else: x += 1", "x += 1")


@pytest.mark.parametrize(
    "text",
    [
        NO_MISHAP + "  baseline: {allow: {mishap: 1}}",
        NO_MISHAP.replace("mishap: {at_most: 0}", "mishap: {at_most: unlimited}") + "  baseline: {}",
    ],
    ids=["the scenario's own", "the file's default"],
)
def test_a_fault_that_is_allowed_and_never_happens_is_vacuous(judged: Judge, text: str) -> None:
    found = judged(text)

    assert found.claim().unfired == ("mishap",)
    assert found.claim().verdict is Verdict.VACUOUS
    assert found.claim().exit_code is ExitCode.VACUOUS
    assert found.messages() == ["the fault `mishap` is allowed and never happens"]


def test_a_fault_that_is_off_need_not_happen(judged: Judge) -> None:
    assert judged(NO_MISHAP + "  baseline: {}").claim().exit_code is ExitCode.AS_DECLARED


# --- Run-time errors ---


ERRING = COUNTER.replace("when(x < 2)", "when(x < 3)")


@pytest.mark.parametrize("breaks", ["", f", {BROKEN}"], ids=["undeclared", "declared broken"])
def test_a_reachable_error_is_bad_input_whatever_was_declared(judged: Judge, breaks: str) -> None:
    found = judged(ERRING + f"  baseline: {{allow: {{mishap: unlimited}}{breaks}}}")

    claim = found.claim()
    assert claim.verdict is Verdict.ERROR
    assert claim.exit_code is ExitCode.BAD_INPUT
    assert claim.failure is not None
    assert claim.failure.error is not None
    assert claim.failure.error.code is Code.ASSIGNED_OUTSIDE_TYPE
    assert claim.failure.error.span.file == "x.yaml"
    assert "what comes after a run-time error" in claim.not_covered
    assert found.messages()[0].startswith("run-time error KP801: ")


def test_behind_an_error_nothing_is_said_to_hold(judged: Judge) -> None:
    found = judged(ERRING + f"  baseline: {{allow: {{mishap: unlimited}}, {BROKEN}}}")

    assert found.of("low").verdict is Verdict.VIOLATED
    assert found.of("ends").verdict is Verdict.UNKNOWN
    assert found.of("full").verdict is Verdict.HOLDS


# --- Cut short ---


def test_an_exploration_that_was_cut_short_is_never_a_pass(judged: Judge) -> None:
    found = judged(COUNTER + "  baseline: {}", limits={"baseline": 1})

    assert found.claim().verdict is Verdict.UNKNOWN
    assert found.claim().exit_code is ExitCode.INCONCLUSIVE
    assert [p.verdict for p in found.claim().properties] == [Verdict.UNKNOWN] * 4
    assert found.claim().not_covered[-1] == "everything beyond the 2 states found so far: more than 1 states"


def test_what_was_violated_before_the_cut_stays_violated(judged: Judge) -> None:
    found = judged(COUNTER + "  baseline: {allow: {mishap: 1}}", limits={"baseline": 2})

    assert found.of("by_one").verdict is Verdict.VIOLATED
    assert found.of("low").verdict is Verdict.UNKNOWN
    assert found.claim().exit_code is ExitCode.NOT_AS_DECLARED


def test_a_cut_exploration_that_found_all_declared_breaks_is_still_no_pass(judged: Judge) -> None:
    text = COUNTER + "  baseline: {allow: {mishap: 1}, only: [by_one], breaks: [by_one], because: x}"

    assert judged(text, limits={"baseline": 2}).claim().exit_code is ExitCode.INCONCLUSIVE


def test_a_witness_found_before_the_cut_is_a_witness(judged: Judge) -> None:
    text = COUNTER.replace('possible: "x == 2"', 'possible: "x == 0"')

    assert judged(text + "  baseline: {}", limits={"baseline": 1}).of("full").verdict is Verdict.HOLDS


def test_a_fault_that_did_not_happen_before_the_cut_may_still_happen(judged: Judge) -> None:
    found = judged(NO_MISHAP + "  baseline: {allow: {mishap: 1}}", limits={"baseline": 1})

    assert found.claim().unfired == ()
    assert found.claim().exit_code is ExitCode.INCONCLUSIVE


def test_a_recoverable_finding_of_a_cut_exploration_is_not_believed(judged: Judge) -> None:
    def cut(explorations: Any) -> None:
        explorations["baseline"].complete = False

    found = judged(COUNTER.replace("else: x += 1", "else: x += 0") + "  baseline: {}", tamper=cut)

    assert "ends" in found.explorations["baseline"].findings
    assert found.of("ends").verdict is Verdict.UNKNOWN


def test_nothing_explored_is_no_pass(judged: Judge) -> None:
    def empty(explorations: Any) -> None:
        explorations["baseline"].states = 0

    assert judged(COUNTER + "  baseline: {}", tamper=empty).claim().exit_code is ExitCode.INCONCLUSIVE


def test_a_scenario_that_asks_nothing_is_no_pass(judged: Judge) -> None:
    text = COUNTER[: COUNTER.index("properties:")] + "scenarios:\n  baseline: {}"

    assert judged(text).claim().exit_code is ExitCode.INCONCLUSIVE


# --- Mutants ---


MUTANTS = (
    COUNTER.replace("at_most: 0", "at_most: 1")
    + f"  baseline: {{{BROKEN}}}\n"
    + """
mutants:
  mutant:
    allow: {mishap: 0}
    processes: {e: {steps: {up: "when(x < 2)\\nx += STEP"}}}
    CLAIM
"""
)


def mutant(step: str, claim: str) -> str:
    return MUTANTS.replace("STEP", step).replace("CLAIM", claim)


def test_a_mutant_that_is_caught_by_what_it_names_is_as_declared(judged: Judge) -> None:
    claim = judged(mutant("2", "breaks: [by_one]")).claim("mutant")

    assert claim.mutant
    assert claim.exit_code is ExitCode.AS_DECLARED


def test_a_mutant_that_survives_undeclared_is_not_as_declared(judged: Judge) -> None:
    found = judged(mutant("1", "breaks: [low, by_one]"))

    assert found.claim("mutant").exit_code is ExitCode.NOT_AS_DECLARED
    assert found.messages("mutant") == ["the mutant names `low`, `by_one`; it is caught by nothing"]


def test_a_mutant_that_others_catch_is_not_as_declared(judged: Judge) -> None:
    found = judged(mutant("2", "breaks: [low]"))

    assert found.claim("mutant").exit_code is ExitCode.NOT_AS_DECLARED
    assert found.messages("mutant") == ["the mutant names `low`; it is caught by `by_one`"]


def test_a_mutant_that_others_catch_as_well_is_not_as_declared(judged: Judge) -> None:
    found = judged(mutant("0", "breaks: [by_one, full]"))

    assert found.messages("mutant") == ["the mutant names `by_one`, `full`; it is caught by `by_one`, `full`, `ends`"]


def test_a_mutant_that_leaves_a_state_unreached_is_caught_by_that(judged: Judge) -> None:
    claim = judged(mutant("0", "breaks: [by_one, full, ends]")).claim("mutant")

    assert claim.exit_code is ExitCode.AS_DECLARED


def test_a_mutant_may_be_declared_to_survive(judged: Judge) -> None:
    assert judged(mutant("1", "survives: it is the same")).claim("mutant").exit_code is ExitCode.AS_DECLARED


def test_a_mutant_that_is_declared_to_survive_must_not_be_caught(judged: Judge) -> None:
    found = judged(mutant("2", "survives: it is the same"))

    assert found.claim("mutant").exit_code is ExitCode.NOT_AS_DECLARED
    assert found.messages("mutant") == ["the mutant is said to survive; it is caught by `by_one`"]


def test_a_mutant_that_was_cut_short_does_not_survive(judged: Judge) -> None:
    text = mutant("1", "survives: it is the same")

    assert judged(text, limits={"mutant": 1}).claim("mutant").exit_code is ExitCode.INCONCLUSIVE


def test_a_mutant_that_was_cut_short_may_still_be_caught(judged: Judge) -> None:
    claim = judged(mutant("1", "breaks: [low]"), limits={"mutant": 1}).claim("mutant")

    assert claim.exit_code is ExitCode.INCONCLUSIVE


def test_a_run_time_error_catches_no_mutant(judged: Judge) -> None:
    assert judged(mutant("4", "breaks: [by_one]")).claim("mutant").exit_code is ExitCode.BAD_INPUT


def test_a_mutant_may_leave_a_fault_no_place_to_happen(judged: Judge) -> None:
    claim = judged(mutant("2", "breaks: [by_one]").replace("    allow: {mishap: 0}\n", "")).claim("mutant")

    assert claim.unfired == ("mishap",)
    assert claim.exit_code is ExitCode.AS_DECLARED


# --- Assumptions ---


WORKER = """
language: 1
protocol: worker
parameters: {most: {default: 1, range: 1..2}, eager: {default: true}}
stores: {s: {holds: {x: {type: 0..most}}}}
faults: {crash: {of: [w], at_most: 0}, mishap: {at_most: unlimited}}
processes: {w: {steps: {a: "when(eager and fault(mishap))", b: "pass", c: "pass"}}}
properties: {low: {always: "x <= most"}, here: {possible: "x == 0"}, back: {recoverable: "x == 0"}}
scenarios:
"""


def test_a_verdict_says_what_it_assumes_and_what_it_leaves_open(judged: Judge) -> None:
    claim = judged(WORKER + "  baseline: {set: {most: 2}, allow: {crash: {at: [w.b], at_most: 2}}}").claim()

    assert claim.assumed == (
        "most = 2",
        "eager = true",
        "crash of w at w.b only: at most 2 times",
        "mishap: any number of times",
        "a process that crashes is at its first step again at once",
    )
    assert claim.not_covered == (
        "crash more than 2 times",
        "crash at any kill point but w.b",
        "a crash inside a step: each step happens as a whole or not at all",
        "other values of the parameters",
    )


def test_a_fault_that_is_off_is_not_covered(judged: Judge) -> None:
    claim = judged(WORKER + "  baseline: {}").claim()

    assert claim.not_covered == ("crash: off", "other values of the parameters")


def test_recoverable_says_that_choices_may_go_well_and_faults_stay_away(judged: Judge) -> None:
    found = judged(WORKER + "  baseline: {}")

    assert any("`choose` may go well" in line for line in found.of("back").assumed)
    assert found.of("back").not_covered == ("whether every run gets there: from every state some run does",)
    assert found.of("here").not_covered
    assert not found.of("low").assumed


# --- Checked ---

CHECKED = """
language: 1
protocol: checked
stores: {s: {holds: {x: {type: 0..3}}}}
processes: {e: {environment: true, steps: {up: "when(x < 3)\\nx += 1\\ncheck(low, x < 3)"}}}
properties: {low: {checked: x stays low}}
"""
LOSES_IT = '{processes: {e: {steps: {up: "when(x < 3)\\nx += 1"}}}'


def test_a_variant_that_loses_the_last_check_of_a_property_makes_it_vacuous(judged: Judge) -> None:
    found = judged(CHECKED + f"variants: {{bare: {LOSES_IT}}}}}\nscenarios: {{baseline: {{variant: bare}}}}")

    assert found.claim().exit_code is ExitCode.VACUOUS
    assert found.messages() == ["`low` is checked by no step of this variant"]


def test_a_variant_that_loses_the_last_check_does_not_break_the_property(judged: Judge) -> None:
    scenario = "baseline: {variant: bare, breaks: [low], because: x}"
    found = judged(CHECKED + f"variants: {{bare: {LOSES_IT}}}}}\nscenarios: {{{scenario}}}")

    assert found.claim().broken == ()
    assert ExitCode.NOT_AS_DECLARED in {problem.code for problem in found.claim().problems}


def test_a_mutant_that_loses_the_last_check_is_not_caught_by_the_property(judged: Judge) -> None:
    scenarios = "scenarios: {baseline: {breaks: [low], because: x}}\n"

    missed = judged(CHECKED + scenarios + f"mutants: {{m: {LOSES_IT}, breaks: [low]}}}}").claim("m")
    assert missed.exit_code is ExitCode.NOT_AS_DECLARED
    survived = judged(CHECKED + scenarios + f"mutants: {{m: {LOSES_IT}, survives: it checks nothing}}}}").claim("m")
    assert survived.exit_code is ExitCode.AS_DECLARED


# --- Leads to ---

LEADS = """
language: 1
protocol: leads
stores: {s: {holds: {x: {type: 0..3}, over: {type: bool}}}}
processes: {e: {environment: true, steps: {up: "when(x < 2)\\nx += 1", end: {fair: false, do: "over = True"}}}}
properties: {ends: {leads_to: ["x == 1", "over"]}}
"""


def test_a_lasso_of_a_cut_exploration_is_not_believed(judged: Judge) -> None:
    text = LEADS + "scenarios: {baseline: {breaks: [ends], because: nobody has to end it}}"
    assert judged(text).claim().exit_code is ExitCode.AS_DECLARED

    def cut(explorations: Any) -> None:
        explorations["baseline"].complete = False

    found = judged(text, tamper=cut)
    assert found.claim().properties[0].verdict is Verdict.UNKNOWN
    assert found.claim().exit_code is ExitCode.INCONCLUSIVE


def test_leads_to_says_under_which_fairness_and_that_faults_end(judged: Judge) -> None:
    text = LEADS.replace('["x == 1", "over"]', '["x == 0", "x > 0"]') + "scenarios: {baseline: {}}"
    (claim,) = judged(text).claim().properties

    assert claim.verdict is Verdict.HOLDS
    assert any("at every moment from some moment on" in one for one in claim.assumed)
    assert any("any finite number" in one for one in claim.assumed)

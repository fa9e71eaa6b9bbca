"""A whole file: which code stands for all of it, and what a narrowed run says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from checker.campaign import judge
from checker.engines.oracle import explore
from checker.exploration import Limits
from checker.verdict import ExitCode
from model.diagnostics import SpecificationError
from model.loader import load, load_file
from model.source import Source
from model.system import TransitionSystem

Judge = Any
SPEC = Path(__file__).resolve().parents[2] / "spec"

FILE = """
language: 1
protocol: steps
title: It goes up
parameters: {step: {default: 1, range: 1..2}}
stores: {s: {holds: {x: {type: 0..3}}}}
processes: {e: {environment: true, steps: {up: "when(x < 2)\\nx += step"}}}
properties:
  low: {always: "x <= 2"}
  by_one: {step: "next(x) == x + 1"}
  full: {possible: "x == 2"}
scenarios:
  baseline: {}
  wide: {set: {step: 2}, only: [low, by_one], breaks: [by_one], because: it is}
mutants:
  late: {processes: {e: {steps: {up: "when(x < 3)\\nx += step"}}}, breaks: [low]}
"""


def test_a_file_in_which_all_is_as_declared(judged: Judge) -> None:
    report = judged(FILE).report

    assert report.exit_code is ExitCode.AS_DECLARED
    assert [r.name for r in report.scenarios] == ["baseline", "wide"]
    assert [r.name for r in report.mutants] == ["late"]
    assert (report.file, report.protocol, report.title) == ("x.yaml", "steps", "It goes up")
    assert (report.not_run, report.narrowed) == ((), "")


@pytest.mark.parametrize(("old", "new"), [("breaks: [by_one], because: it is", ""), ("breaks: [low]", "survives: x")])
def test_one_claim_that_fails_fails_the_file(judged: Judge, old: str, new: str) -> None:
    assert judged(FILE.replace(old, new)).report.exit_code is ExitCode.NOT_AS_DECLARED


def test_the_worst_code_stands_for_the_file(judged: Judge) -> None:
    text = FILE.replace("breaks: [by_one], because: it is", "")

    # Not as declared comes before inconclusive.
    assert judged(text, limits={"baseline": 1}).report.exit_code is ExitCode.NOT_AS_DECLARED
    assert judged(FILE, limits={"baseline": 1}).report.exit_code is ExitCode.INCONCLUSIVE


def test_an_empty_run_is_inconclusive(judged: Judge) -> None:
    assert judged(FILE, run=[]).report.exit_code is ExitCode.INCONCLUSIVE


def test_a_run_of_some_scenarios_says_what_it_left_out(judged: Judge) -> None:
    report = judged(FILE, run=["wide"]).report

    assert report.exit_code is ExitCode.AS_DECLARED
    assert report.not_run == ("baseline", "late")
    assert report.narrowed == "scenarios not run: baseline"


def test_without_its_mutants_a_run_is_not_about_less_of_the_file(judged: Judge) -> None:
    report = judged(FILE, run=["baseline", "wide"]).report

    assert report.not_run == ("late",)
    assert report.narrowed == ""


def test_a_run_about_some_properties_judges_these_only(judged: Judge) -> None:
    report = judged(FILE, properties=["full"]).report

    assert [p.name for p in report.scenarios[0].properties] == ["full"]
    # `wide` does not ask about it.
    assert [r.name for r in report.scenarios] == ["baseline"]
    assert "only asked about: full" in report.narrowed
    assert report.teeth.why_not_judged == report.narrowed


def test_a_break_that_is_not_asked_about_is_not_missed(judged: Judge) -> None:
    assert judged(FILE, properties=["low"]).report.exit_code is ExitCode.AS_DECLARED


def test_a_run_about_no_property_of_the_file_is_inconclusive(judged: Judge) -> None:
    assert judged(FILE, properties=[]).report.exit_code is ExitCode.INCONCLUSIVE


def test_a_run_about_all_properties_by_name_is_not_narrowed(judged: Judge) -> None:
    assert judged(FILE, properties=["low", "by_one", "full"]).report.narrowed == ""


def test_an_exploration_of_something_else_is_refused(judged: Judge) -> None:
    found = judged(FILE)

    with pytest.raises(ValueError, match="no scenario or mutant other"):
        judge(found.file, {"other": found.explorations["baseline"]})


def test_a_name_that_stands_for_two_claims_is_refused() -> None:
    # By the loader if it looks; in any case before one exploration is taken for the other's.
    with pytest.raises((ValueError, SpecificationError)):
        judge(load(Source("x.yaml", FILE.replace("late:", "wide:"))), {})


@pytest.mark.slow
def test_two_phase_commit_is_as_declared() -> None:
    file = load_file(SPEC / "classics" / "two_phase_commit.yaml")
    claims = {**file.scenarios, **file.mutants}

    report = judge(file, {name: explore(TransitionSystem.of(claim), Limits()) for name, claim in claims.items()})

    assert report.exit_code is ExitCode.AS_DECLARED

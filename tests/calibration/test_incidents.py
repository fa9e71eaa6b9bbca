"""Real failures: the same words everywhere, the smallest faults that do it, and fixes that are needed."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from checker.engines.columnar import explore
from checker.exploration import Limits
from checker.judgement import judge_scenario
from model.loader import load_file
from model.specification import Allowance, Question, Scenario, SpecificationFile
from model.system import TransitionSystem

DIRECTORY = Path(__file__).resolve().parents[2] / "spec" / "incidents"
PATHS = sorted(DIRECTORY.glob("*.yaml"))
PATTERNS = {
    "a": "effect before identity",
    "b": "unknown outcome filed as failure",
    "c": "absence believed",
    "d": "identity reused",
    "e": "liveness judged by time",
    "f": "unfenced state write",
    "g": "lock stolen or forgotten",
    "h": "lock outlives its owner",
    "i": "dedup mark misplaced",
    "j": "two stores, no atomicity",
    "k": "commit right not tied to the attempt",
    "l": "recovery itself is wrong",
}
PROPERTIES = {"no_duplicate", "not_lost", "not_stuck", "released_by_holder", "record_true", "terminal_final"}
LINES_MAX = 92
INCIDENTS = 29


@cache
def loaded(path: Path) -> SpecificationFile:
    return load_file(path)


def question(file: SpecificationFile) -> Question:
    (found,) = file.questions.values()
    return found


def broken(scenario: Scenario) -> set[str]:
    """Return what breaks when a scenario is run, whatever it declares."""
    (found,) = explore([TransitionSystem.of(scenario)], Limits())
    assert found.complete
    assert found.failure is None
    return {asked.name for asked in judge_scenario(scenario, found).properties if asked.broken}


def test_there_is_a_file_for_each_failure() -> None:
    assert len(PATHS) == INCIDENTS
    assert {path.name[0] for path in PATHS} == set(PATTERNS)
    assert len({question(loaded(path)).name for path in PATHS}) == INCIDENTS


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_file_is_short_and_says_where_it_is_from(path: Path) -> None:
    file = loaded(path)

    assert len(path.read_text(encoding="utf-8").partition("\nequivalent:")[0].splitlines()) <= LINES_MAX
    assert file.pattern == PATTERNS[path.name.split("_")[0]]
    assert file.specification.name == path.stem.replace("_", "-")
    assert file.specification.title != ""
    assert file.sources != ()
    assert all(source.startswith("https://") for source in file.sources)
    assert file.warnings == ()


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_the_properties_have_the_same_names_everywhere(path: Path) -> None:
    file = loaded(path)
    named = {name for name in file.specification.properties if not name.startswith("can_")}

    assert named <= PROPERTIES
    assert set(file.scenarios["as-reported"].breaks) & PROPERTIES != set()


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_the_failure_takes_every_fault_that_it_allows(path: Path) -> None:
    reported = loaded(path).scenarios["as-reported"]
    budgets = TransitionSystem.of(reported).budgets
    assert reported.variant == ""
    for name, budget in budgets.items():
        assert budget.limit is not None, f"`{name}` is not counted"
        if budget.limit > 0:
            fewer = {**reported.allow, name: Allowance(budget.limit - 1, budget.at)}
            assert set(reported.breaks) & broken(replace(reported, allow=fewer)) == set(), f"`{name}` is not needed"


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_fix_is_needed_under_its_own_faults(path: Path) -> None:
    file = loaded(path)
    reported = file.scenarios["as-reported"]
    fixes = [file.scenarios[name] for name in question(file).repaired_by]

    assert fixes != []
    for fix in fixes:
        unfixed = replace(fix, specification=file.specification, set=reported.set)
        assert set(reported.breaks) & broken(unfixed) != set(), f"without its fix `{fix.name}` holds as well"

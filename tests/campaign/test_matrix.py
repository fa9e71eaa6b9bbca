"""The kill-point matrix, with answers that can be reasoned out by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from checker.commands.inputs import load_one
from checker.matrix import Matrix, matrix, points_of
from checker.verdict import ExitCode, Verdict
from model.loader import load
from model.source import Source
from model.specification import Allowance, SpecificationFile
from model.system import TransitionSystem
from tests.strategies.judging import judged

# Two pieces of work, one after the other, that each show when somebody was killed between doing and recording them.
TWO_PARTS = """\
language: 1
protocol: two-parts
stores:
  ledger:
    holds:
      part: {type: 0..2}
      begun: {type: bool}
      repeats: {type: 0..9}
      first_repeated: {type: bool}
faults: {crash: {of: [worker]}}
processes:
  worker:
    steps:
      rest: "when(part < 2)"
      act: |
        if begun and repeats < 9: repeats += 1
        if begun and part == 0: first_repeated = True
        begun = True
        if part == 1: goto(end_second)
      end_first: |
        part = 1
        begun = False
        goto(rest)
      end_second: |
        part = 2
        goto(rest)
properties:
  seldom: {always: "repeats <= 1"}
  rarely: {always: "repeats <= 2"}
  never_in_vain: {always: "not (part == 2 and first_repeated)"}
  ends: {recoverable: "part == 2"}
  can_end: {possible: "part == 2"}
"""


def made(text: str, name: str = "default") -> Matrix:
    file = load(Source("two-parts.yaml", text))
    return matrix(file, file.scenarios[name], judged)


NO_LOOK_UP = "submit-without-look-up"


def of_killed_workflow(name: str, **allow: int) -> Matrix:
    file = load_one("killed_workflow").file
    claim = {**file.scenarios, **file.mutants}[name]
    others = {fault: Allowance(count) for fault, count in allow.items()}
    return matrix(file, replace(claim, allow={**claim.allow, **others}), judged)


def broken(found: Matrix) -> set[tuple[str, ...]]:
    """Return the courses of crashes, those that can happen, that break something."""
    cells = [cell for row in found.rows for cell in (row.once, *row.then) if cell.reached and cell.broken]
    return {tuple(point.partition(".")[2] for point in cell.course) for cell in cells}


def test_a_pair_breaks_in_the_order_in_which_its_crashes_can_come() -> None:
    found = made(TWO_PARTS)
    assert found.points == ("worker.act", "worker.end_first", "worker.end_second")
    first, second = "worker.end_first", "worker.end_second"
    assert found.cell((first, second)).broken.keys() == {"seldom", "never_in_vain"}  # type: ignore[union-attr]
    back = found.cell((second, first))
    assert back is not None
    assert not back.reached
    assert not back.broken
    # Killed twice before the same record, the first repeat counts once more.
    assert found.cell((first, first)).broken.keys() == {"seldom", "never_in_vain"}  # type: ignore[union-attr]
    assert found.cell((second, second)).broken.keys() == {"seldom"}  # type: ignore[union-attr]


def test_as_many_crashes_are_needed_as_it_takes() -> None:
    found = made(TWO_PARTS)
    # One repeat is one crash after acting: two of them break `seldom`, three `rarely`, and one spoils the first part.
    assert found.needed == {"seldom": 2, "rarely": 3, "never_in_vain": 1, "ends": None}
    assert found.none.verdict is Verdict.HOLDS


def test_who_never_comes_back_is_not_killed_twice() -> None:
    found = made(TWO_PARTS.replace("  worker:\n", "  worker:\n    restarts: never\n"))
    assert found.needed["ends"] == 1
    assert all(row.once.reached for row in found.rows)
    assert not any(cell.reached for row in found.rows for cell in row.then)


def test_any_number_of_crashes_at_one_point_is_more_than_one() -> None:
    rows = {row.point: row for row in made(TWO_PARTS).rows}
    assert not rows["worker.end_second"].once.broken
    assert {a.name for a in rows["worker.end_second"].only_there.properties if a.broken} == {"seldom", "rarely"}
    assert not [a.name for a in rows["worker.act"].only_there.properties if a.broken]


def test_the_shortest_run_of_a_cell_has_no_other_crashes_than_the_cell() -> None:
    for row in made(TWO_PARTS).rows:
        for cell in row.then:
            for finding in cell.broken.values():
                crashes = [step.action.kill_point for step in finding.trace.steps if step.action.kind == "crash"]
                assert crashes == list(cell.course[: len(crashes)])


def test_a_lagging_look_up_breaks_the_workflow_between_the_call_and_its_record() -> None:
    """After the call there is a job that the ledger does not know; anywhere else there is none, or it is known."""
    found = of_killed_workflow("q-a5-lagging-lookup")
    assert {course for course in broken(found) if len(course) == 1} == {("record_reply",)}
    assert all("record_reply" in course for course in broken(found))
    assert found.needed["one_submission"] == 1
    assert found.exit_code is ExitCode.AS_DECLARED
    # Nobody looks anything up before a first crash, where no reply is lost.
    look_up = next(row for row in found.rows if row.point == "coordinator.look_up")
    assert look_up.crashed
    assert not look_up.once.reached


def test_who_submits_without_looking_up_is_caught_at_the_same_place() -> None:
    found = of_killed_workflow(NO_LOOK_UP)
    assert {course for course in broken(found) if len(course) == 1} == {("record_reply",)}
    # With lost replies it takes no crash at all.
    assert of_killed_workflow(NO_LOOK_UP, lost_reply=1).needed["one_submission"] == 0


def test_the_workflow_itself_holds_wherever_it_is_killed() -> None:
    found = of_killed_workflow("baseline")
    assert broken(found) == set()
    assert set(found.needed.values()) == {None}
    assert found.exit_code is ExitCode.AS_DECLARED
    assert {row.point for row in found.rows if not row.crashed} == {"coordinator.settle", "coordinator.report_doubt"}
    assert all(row.elsewhere for row in found.rows if not row.crashed)


# --- What is deleted turns it red ---


def edited(*changes: tuple[str, str]) -> str:
    text = TWO_PARTS
    for old, new in changes:
        assert text.count(old) == 1
        text = text.replace(old, new)
    return text


def test_without_the_fault_there_is_nothing_to_crash() -> None:
    found = made(edited(("faults: {crash: {of: [worker]}}\n", "")))
    assert found.exit_code is ExitCode.VACUOUS
    assert found.rows == ()


def test_a_kill_point_at_which_nothing_crashes_needs_an_excuse() -> None:
    idle = (
        (
            "begun = True\n        if part == 1: goto(end_second)",
            "begun = True\n        if part >= 0: goto(end_second)",
        ),
    )
    scenarios = "scenarios: {default: {only: [seldom, rarely], breaks: [seldom, rarely], because: two crashes}}\n"
    found = made(edited(*idle) + scenarios)
    assert found.exit_code is ExitCode.VACUOUS
    assert "worker.end_first" in found.problems[-1].message
    excused = "unused: {kill point worker.end_first: nobody comes there any more}\n"
    assert made(edited(*idle) + scenarios + excused).exit_code is ExitCode.AS_DECLARED


POINTS = "kill_points: {worker.act: a, worker.end_first: b, worker.end_second: c}\n"


@pytest.mark.parametrize(
    "change",
    [
        ("faults: {crash: {of: [worker]}}\n", ""),
        ("      end_second: |\n        part = 2\n        goto(rest)\n", ""),
        ("      end_second: |\n", "      finish: |\n"),
    ],
    ids=["the fault", "a step", "a name"],
)
def test_what_a_file_says_of_its_kill_points_misses_what_is_deleted(change: tuple[str, str]) -> None:
    from model.diagnostics import SpecificationError

    load(Source("two-parts.yaml", TWO_PARTS + POINTS))
    with pytest.raises(SpecificationError) as refused:
        load(Source("two-parts.yaml", edited(change) + POINTS))
    assert {"KP507", "KP512", "KP205"} & {d.code.number for d in refused.value.diagnostics}


@pytest.mark.parametrize("path", sorted(Path("spec").glob("*.yaml")), ids=lambda path: path.stem)
def test_the_protocols_say_what_a_crash_means_at_each_kill_point(path: Path) -> None:
    file = load_one(str(path)).file
    assert set(file.kill_points) == {
        point for process in crashed(file) for point in file.specification.processes[process].kill_points
    }


def crashed(file: SpecificationFile) -> set[str]:
    return {process for fault in file.specification.faults.values() for process in fault.crashes}


def test_a_matrix_varies_what_the_scenario_says_of_crashes() -> None:
    file = load(Source("two-parts.yaml", TWO_PARTS + "scenarios: {calm: {allow: {crash: 0}}}\n"))
    assert points_of(TransitionSystem.of(file.scenarios["calm"])) == (
        "worker.act",
        "worker.end_first",
        "worker.end_second",
    )
    found = matrix(file, file.scenarios["calm"], judged)
    assert found.needed["seldom"] == 2
    assert found.exit_code is ExitCode.AS_DECLARED  # it is about a run without crashes, which holds

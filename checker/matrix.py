"""The kill-point matrix of a scenario: what comes of a crash at each kill point, and of a second one at each other.

A *cell* is a course of crashes: none, one at A, or one at A and afterwards one at B. Its runs are those in which the
crashes that happen are a beginning of this course; everything else is as in the scenario. So the cell of A says what
one crash there can break, and the cell of A and B what a second crash can that hits the recovery from the first.

What the scenario itself says of crashes is what the matrix varies, and does not count. The faults that crash are those
that the scenario allows, at all their kill points; where it allows none, those of the specification.

A row `A, anywhere` has exactly the runs of the cells `A, B` together. Where it breaks no more than the cell A, neither
does any of them, and they are not looked at one by one. So n kill points take some 4 n systems instead of n².
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from checker.exploration import Finding
from checker.judgement import Problem, PropertyReport, ScenarioReport
from checker.verdict import ExitCode, Verdict, worst
from model.specification import UNLIMITED, Allowance, CrashCourse, PropertyKind, Scenario, SpecificationFile
from model.system import TransitionSystem

Course = tuple[str, ...]
"""Kill points in the order in which crashes fall there."""

_TOGETHER = 6
"""Scenarios that are explored together to find one with a crash at some kill point."""

Judge = Callable[[Sequence[Scenario]], Sequence[ScenarioReport]]
"""Explores claims, as many as possible in one run, and judges them."""


@dataclass(frozen=True, slots=True)
class Cell:
    """What comes of one course of crashes."""

    course: Course
    reached: bool
    """Whether all its crashes can happen, one after the other."""
    report: ScenarioReport

    @property
    def broken(self) -> dict[str, Finding]:
        """The properties that break, with the shortest trace of each. What is merely not reached does not break."""
        return {asked.name: asked.finding for asked in self.decided if asked.broken and asked.finding is not None}

    @property
    def decided(self) -> tuple[PropertyReport, ...]:
        """The properties that can break by what happens; fewer crashes make nothing possible that was not."""
        return claims_of(self.report)

    @property
    def verdict(self) -> Verdict:
        """How they came out together."""
        return verdict_of(self.report)

    @property
    def shortest(self) -> tuple[str, Finding] | None:
        """The property that breaks soonest."""
        return min(self.broken.items(), key=lambda item: (item[1].depth, item[0]), default=None)


@dataclass(frozen=True, slots=True)
class Row:
    """One kill point."""

    point: str
    meaning: str
    """What the file says of it."""
    crashed: bool
    """Whether, with crashes anywhere, one falls there."""
    elsewhere: str
    """Where it does not, a scenario of the file in which a crash falls there as declared; empty where none does."""
    excuse: str
    """Why no crash need fall there, from `unused`."""
    once: Cell
    only_there: ScenarioReport
    """With any number of crashes, all of them there."""
    then: tuple[Cell, ...]
    """By second kill point; empty where pairs were not asked for."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """All of a scenario."""

    declared: ScenarioReport
    """The scenario as it stands."""
    anywhere: ScenarioReport
    """With any number of crashes anywhere."""
    none: Cell
    rows: tuple[Row, ...]
    needed: Mapping[str, int | None]
    """By property how many crashes it takes to break it; None where no number does, or where that is not known."""
    problems: tuple[Problem, ...]

    @property
    def points(self) -> tuple[str, ...]:
        """The kill points, in the order of the file."""
        return tuple(row.point for row in self.rows)

    @property
    def exit_code(self) -> ExitCode:
        """The code of the worst problem."""
        return worst([problem.code for problem in self.problems] or [ExitCode.AS_DECLARED])

    def cell(self, course: Course) -> Cell | None:
        """Return the cell of a course; None where there is none."""
        if not course:
            return self.none
        row = next((row for row in self.rows if row.point == course[0]), None)
        if row is None or len(course) == 1:
            return None if row is None else row.once
        return next((cell for cell in row.then if cell.course == course), None)


def claims_of(report: ScenarioReport) -> tuple[PropertyReport, ...]:
    """Return the properties that can break by what happens."""
    return tuple(asked for asked in report.properties if asked.kind is not PropertyKind.POSSIBLE)


def verdict_of(report: ScenarioReport) -> Verdict:
    """Return how they came out together."""
    if report.failure is not None:
        return Verdict.ERROR
    verdicts = {asked.verdict for asked in claims_of(report)}
    order = (Verdict.VIOLATED, Verdict.UNKNOWN, Verdict.BOUNDED)
    return next((verdict for verdict in order if verdict in verdicts), Verdict.HOLDS)


def crashing(system: TransitionSystem) -> tuple[str, ...]:
    """Return the crash faults that a matrix lets happen: those that the system allows, or all where it allows none."""
    crashes = [name for name, fault in system.specification.faults.items() if fault.crashes]
    return tuple(name for name in crashes if system.budgets[name].allowed) or tuple(crashes)


def points_of(system: TransitionSystem) -> tuple[str, ...]:
    """Return the kill points at which these faults can crash somebody, in the order of the file."""
    faults = system.specification.faults
    victims = {process for name in crashing(system) for process in faults[name].crashes}
    return tuple(
        point
        for process in system.specification.processes.values()
        if process.name in victims and system.counts[process.name]
        for point in process.kill_points
    )


def with_crashes(claim: Scenario, system: TransitionSystem, crashes: CrashCourse | None, name: str) -> Scenario:
    """Return a claim like another, but for the crashes: a course of them, or any number anywhere."""
    allow = {**claim.allow, **dict.fromkeys(crashing(system), Allowance(UNLIMITED))}
    return replace(claim, name=name, allow=allow, crashes=crashes)


def only_at(claim: Scenario, system: TransitionSystem, point: str) -> Scenario:
    """Return a claim like another, with any number of crashes at one kill point and none elsewhere."""
    there = Allowance(UNLIMITED, frozenset([point]))
    faults, process = system.specification.faults, point.partition(".")[0]
    allow = {
        name: there if process in faults[name].crashes else Allowance(0)
        for name in (name for name, fault in faults.items() if fault.crashes)
    }
    allow = {name: each for name, each in allow.items() if name in crashing(system)}
    return replace(claim, name=f"only at {point}", allow={**claim.allow, **allow}, crashes=None)


def matrix(file: SpecificationFile, claim: Scenario, judge: Judge, *, pairs: bool = True) -> Matrix:
    """Make the matrix of a scenario or mutant.

    Raises:
        BadInput: whatever `judge` raises.
    """
    return _Maker(file, claim, judge).make(pairs=pairs)


class _Maker:
    def __init__(self, file: SpecificationFile, claim: Scenario, judge: Judge) -> None:
        self.file = file
        self.claim = claim
        self.judge = judge
        self.system = TransitionSystem.of(claim)
        self.points = points_of(self.system)
        self.cells: dict[Course, Cell] = {}
        self.rows: dict[str, ScenarioReport] = {}
        """By first kill point what comes of a second crash anywhere."""

    def make(self, *, pairs: bool) -> Matrix:
        claim, points = self.claim, self.points
        declared, anywhere, none, *rest = self.judge(
            [
                claim,
                with_crashes(claim, self.system, None, "any crashes"),
                self._course(()),
                *(self._course((point,)) for point in points),
                *(only_at(claim, self.system, point) for point in points),
                *(self._course((point, point)) for point in points if pairs),
                *(self._course((point, None)) for point in points if pairs),
            ]
        )
        groups = [rest[start : start + len(points)] for start in range(0, len(rest), max(1, len(points)))]
        once, only_there, *twice = groups if points else [[], []]
        self.cells[()] = Cell((), reached=True, report=none)
        for point, report in zip(points, once, strict=True):
            self.cells[point,] = Cell((point,), _crashed(report, point), report)
        if twice:
            self._pairs(*twice)
        idle = [point for point in points if not _crashed(anywhere, point)]
        elsewhere = self._elsewhere(idle)
        rows = tuple(
            self._row(point, anywhere, report, elsewhere.get(point, ""), pairs=pairs)
            for point, report in zip(points, only_there, strict=True)
        )
        needed = self._needed(anywhere)
        problems = tuple(self._problems(declared, anywhere, rows))
        return Matrix(declared, anywhere, self.cells[()], rows, needed, problems)

    def _course(self, course: tuple[str | None, ...]) -> Scenario:
        crashes = tuple(None if point is None else frozenset([point]) for point in course)
        name = ", ".join(point or "anywhere" for point in course) or "no crash"
        return with_crashes(self.claim, self.system, crashes, name)

    def _elsewhere(self, idle: Sequence[str]) -> dict[str, str]:
        """Find for kill points at which no crash falls here other scenarios of the file that have one.

        Those of the same variant are the likelier ones; the search ends as soon as nothing is left to find.
        """
        others = [other for other in self.file.scenarios.values() if other.name != self.claim.name]
        others.sort(key=lambda other: other.variant != self.claim.variant)
        found: dict[str, str] = {}
        for start in range(0, len(others), _TOGETHER):
            if len(found) == len(idle):
                break
            some = others[start : start + _TOGETHER]
            for other, report in zip(some, self.judge(some), strict=True):
                found |= {p: other.name for p in idle if p not in found and _crashed(report, p)}
        return found

    def _row(
        self, point: str, anywhere: ScenarioReport, only_there: ScenarioReport, elsewhere: str, *, pairs: bool
    ) -> Row:
        return Row(
            point=point,
            meaning=self.file.kill_points.get(point, ""),
            crashed=_crashed(anywhere, point),
            elsewhere=elsewhere,
            excuse=self.file.unused.get(f"kill point {point}", ""),
            once=self.cells[point,],
            only_there=only_there,
            then=tuple(self.cells[point, second] for second in self.points) if pairs else (),
        )

    def _pairs(self, same: Sequence[ScenarioReport], rows: Sequence[ScenarioReport]) -> None:
        """Take the cells of two crashes; look one by one only at those of rows in which something breaks."""
        wanted: list[Course] = []
        for first, twice, row in zip(self.points, same, rows, strict=True):
            self.rows[first] = row
            once = self.cells[first,].report
            for second in self.points:
                if first == second:
                    # Whatever comes after the second crash is a state of its own, which remembers that there were two.
                    reached = twice.exploration.states > once.exploration.states
                else:
                    reached = _crashed(row, second)
                self.cells[first, second] = Cell((first, second), reached, twice if first == second else once)
                if reached and first != second and not _adds_nothing(row, once):
                    wanted.append((first, second))
        if wanted:
            found = self.judge([self._course(course) for course in wanted])
            for course, report in zip(wanted, found, strict=True):
                self.cells[course] = replace(self.cells[course], report=report)

    # -- how many crashes it takes --------------------------------------------------------------------------------

    def _needed(self, anywhere: ScenarioReport) -> dict[str, int | None]:
        """Return by property how many crashes it takes to break it.

        The trace that is shortest with any number of crashes has some, and no more than these are needed.
        """
        most = {asked.name: _crashes_in(asked) for asked in claims_of(anywhere)}
        needed: dict[str, int | None] = dict.fromkeys(most)
        known = [[self.cells[()].report], [self.cells[point,].report for point in self.points], [*self.rows.values()]]
        count = 0
        while any(needed[name] is None and bound is not None and count <= bound for name, bound in most.items()):
            if count < len(known) and known[count]:
                reports = known[count]
            else:
                course = with_crashes(self.claim, self.system, (None,) * count, f"{count} crashes")
                reports = list(self.judge([course]))
            for name in _broken_in(reports):
                if needed.get(name) is None:
                    needed[name] = count
            count += 1
        return needed

    # -- what is wrong --------------------------------------------------------------------------------------------

    def _problems(self, declared: ScenarioReport, anywhere: ScenarioReport, rows: Sequence[Row]) -> Iterator[Problem]:
        yield from declared.problems
        if not rows:
            yield Problem(ExitCode.VACUOUS, "no fault crashes anybody: there are no kill points")
        complete = anywhere.exploration.complete and anywhere.failure is None
        for row in rows:
            if complete and not (row.crashed or row.elsewhere or row.excuse):
                message = f"no scenario has a crash at `{row.point}`, and `unused` does not say why"
                yield Problem(ExitCode.VACUOUS, message)
        known = {problem.message for problem in declared.problems}
        for report in (anywhere, *(cell.report for cell in self.cells.values())):
            for problem in report.problems:
                hard = problem.code in (ExitCode.BAD_INPUT, ExitCode.INCONCLUSIVE, ExitCode.DISAGREEMENT)
                if hard and problem.message not in known:
                    known.add(problem.message)
                    yield problem


def _adds_nothing(row: ScenarioReport, once: ScenarioReport) -> bool:
    """Tell whether a second crash, wherever it falls, breaks nothing more than one did, and nothing sooner.

    Then that is so for each second kill point: its cell lies between the two.
    """
    if verdict_of(row) not in (Verdict.HOLDS, Verdict.BOUNDED, Verdict.VIOLATED):
        return False
    depths = [{a.name: a.finding and a.finding.depth for a in claims_of(each) if a.broken} for each in (row, once)]
    return depths[0] == depths[1]


def _crashed(report: ScenarioReport, point: str) -> bool:
    return point in report.exploration.coverage.kill_points


def _crashes_in(asked: PropertyReport) -> int | None:
    """Return the number of crashes in the trace that breaks a property; None where it does not break."""
    if not asked.broken or asked.finding is None:
        return None
    return sum(step.action.kind == "crash" for step in asked.finding.trace.steps)


def _broken_in(reports: Sequence[ScenarioReport]) -> set[str]:
    return {asked.name for report in reports for asked in claims_of(report) if asked.broken}

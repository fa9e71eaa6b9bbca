"""What the exploration of one scenario or mutant means for its claim.

A scenario claims that exactly the properties in its `breaks` break, of those it asks about; a mutant is held to the
same. Nothing rounds up: an exploration that was cut short decides only what it has a trace for, and is never a pass.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace

from checker.caveats import assumed, assumed_by, beyond_the_bound, not_covered, not_covered_by
from checker.confirm import confirm_failure, confirm_property, confirm_waiting
from checker.exploration import Exploration, Finding
from checker.trace import EngineDisagreement
from checker.verdict import ExitCode, Verdict, worst
from model.specification import Property, PropertyKind, Scenario


@dataclass(frozen=True, slots=True)
class Problem:
    """One reason why a claim is not simply as declared, and the exit code that it alone would lead to."""

    code: ExitCode
    message: str


@dataclass(frozen=True, slots=True)
class PropertyReport:
    """How one property came out. `declared` says that the scenario expects it to break.

    `finding` is the trace that breaks it, or the witness of a `possible` one.
    """

    name: str
    kind: PropertyKind
    verdict: Verdict
    """`vacuous`: a `possible` one that is never reached, or a `checked` one that no step checks."""
    declared: bool
    finding: Finding | None
    assumed: tuple[str, ...]
    not_covered: tuple[str, ...]

    @property
    def broken(self) -> bool | None:
        """Whether it breaks, a `possible` one by never being reached; None where that is not known."""
        match self.verdict:
            case Verdict.VIOLATED:
                return True
            case Verdict.VACUOUS:
                # Nothing can break what is never checked; only that a scenario asks about it is wrong.
                return self.kind is PropertyKind.POSSIBLE
            case Verdict.HOLDS | Verdict.PROVED:
                return False
            case _:
                return None


@dataclass(frozen=True, slots=True)
class ScenarioReport:
    """How one scenario or mutant came out: by property, and what is wrong with its claim.

    `failure` and `waiting` are confirmed like every other finding; `unfired` are the faults that it allows and that
    never happened.
    """

    name: str
    mutant: bool
    variant: str
    because: str
    survives: str
    verdict: Verdict
    properties: tuple[PropertyReport, ...]
    failure: Finding | None
    waiting: Finding | None
    unfired: tuple[str, ...]
    problems: tuple[Problem, ...]
    assumed: tuple[str, ...]
    not_covered: tuple[str, ...]
    exploration: Exploration

    @property
    def exit_code(self) -> ExitCode:
        """The code of the worst problem; zero only where there is none."""
        return worst([problem.code for problem in self.problems] or [ExitCode.AS_DECLARED])

    @property
    def declared(self) -> tuple[str, ...]:
        """The properties that are said to break."""
        return tuple(p.name for p in self.properties if p.declared)

    @property
    def broken(self) -> tuple[str, ...]:
        """The properties that are known to break."""
        return tuple(p.name for p in self.properties if p.broken)


def asked_properties(scenario: Scenario, properties: Collection[str] | None = None) -> tuple[Property, ...]:
    """Return what a scenario asks about, of `properties` where a run is narrowed to some."""
    return tuple(
        p
        for name, p in scenario.specification.properties.items()
        if (scenario.only is None or name in scenario.only) and (properties is None or name in properties)
    )


def judge_scenario(
    scenario: Scenario, exploration: Exploration, properties: Collection[str] | None = None
) -> ScenarioReport:
    """Judge the claim of a scenario or mutant by its exploration, of `properties` only where given."""
    asked = asked_properties(scenario, properties)
    confirmation = _Confirmation(exploration)
    failure = confirmation.of(exploration.failure, lambda found: confirm_failure(exploration.system, found))
    waiting = confirmation.of(exploration.waiting, lambda found: confirm_waiting(exploration.system, found))
    reports = tuple(_judge_property(p, exploration, p.name in scenario.breaks, confirmation) for p in asked)
    unfired = faults_unfired(exploration)
    problems = [
        *(Problem(ExitCode.DISAGREEMENT, message) for message in confirmation.disagreements),
        *_problems_of_the_run(exploration, failure, reports),
        *(_problems_of_a_mutant(scenario, reports) if scenario.mutant else _problems_of_a_scenario(reports)),
        *([] if scenario.mutant else _problems_of_faults(unfired)),
        *(_problems_of_a_bound(exploration, reports) if explored_to_the_bound(exploration) else ()),
    ]
    return ScenarioReport(
        name=scenario.name,
        mutant=scenario.mutant,
        variant=scenario.variant,
        because=scenario.because,
        survives=scenario.survives,
        verdict=_verdict(reports, problems),
        properties=reports,
        failure=failure,
        waiting=waiting,
        unfired=unfired,
        problems=tuple(problems),
        assumed=assumed(exploration.system),
        not_covered=not_covered(scenario, exploration, asked),
        exploration=exploration,
    )


def with_proofs(report: ScenarioReport, shown: Collection[str]) -> ScenarioReport:
    """Return a report that calls `proved` what holds and is shown by a certificate that has been checked again.

    A certificate is about all numbers: what holds up to a bound is proved beyond it.
    """
    sound = (Verdict.HOLDS, Verdict.BOUNDED)
    properties = tuple(
        replace(asked, verdict=Verdict.PROVED) if asked.verdict in sound and asked.name in shown else asked
        for asked in report.properties
    )
    if report.verdict not in sound or any(asked.verdict is not Verdict.PROVED for asked in properties):
        return replace(report, properties=properties)
    bound = beyond_the_bound(report.exploration.system)
    left_open = tuple(each for each in report.not_covered if each not in bound)
    return replace(report, properties=properties, verdict=Verdict.PROVED, not_covered=left_open)


def explored_to_the_end(exploration: Exploration) -> bool:
    """Tell whether the absence of something in an exploration means that there is none."""
    return explored_to_the_bound(exploration) and exploration.system.bound is None


def explored_to_the_bound(exploration: Exploration) -> bool:
    """Tell whether there is none as long as each `nat` keeps within the bound of the exploration, if it has one."""
    return exploration.complete and exploration.failure is None and exploration.states > 0


class _Confirmation:
    """Lets the evaluator confirm findings; what it contradicts is dropped, and remembered."""

    def __init__(self, exploration: Exploration) -> None:
        self.exploration = exploration
        self.disagreements: list[str] = []

    def of(self, finding: Finding | None, confirm: Callable[[Finding], None]) -> Finding | None:
        if finding is None:
            return None
        try:
            confirm(finding)
        except EngineDisagreement as contradiction:
            self.disagreements.append(f"{self.exploration.engine or 'an engine'}: {contradiction}")
            return None
        return finding


def _judge_property(
    asked: Property, exploration: Exploration, declared: bool, confirmation: _Confirmation
) -> PropertyReport:
    reported = exploration.findings.get(asked.name)
    exhaustive = explored_to_the_end(exploration)
    if asked.kind in (PropertyKind.RECOVERABLE, PropertyKind.LEADS_TO) and not exhaustive:
        reported = None  # the way to the goal, or out of a cycle, may lead through what was not explored
    finding = confirmation.of(reported, lambda found: confirm_property(exploration.system, asked, found))
    if reported is not finding:
        verdict = Verdict.UNKNOWN
    elif finding is not None:
        # A witness that the evaluator has confirmed needs no exhaustive search.
        verdict = Verdict.HOLDS if asked.kind is PropertyKind.POSSIBLE else Verdict.VIOLATED
    elif exhaustive:
        verdict = Verdict.VACUOUS if _claims_nothing(asked, exploration) else Verdict.HOLDS
    else:
        verdict = _up_to_a_bound(asked, exploration)
    return PropertyReport(asked.name, asked.kind, verdict, declared, finding, assumed_by(asked), not_covered_by(asked))


def _up_to_a_bound(asked: Property, exploration: Exploration) -> Verdict:
    """Return what can be said of a property that has not been decided for every value of each `nat`."""
    if not explored_to_the_bound(exploration):
        return Verdict.UNKNOWN
    if asked.kind is PropertyKind.CHECKED and _claims_nothing(asked, exploration):
        return Verdict.VACUOUS
    # What is possible, and ways to a goal, may lie beyond the bound.
    return Verdict.BOUNDED if asked.kind is PropertyKind.ALWAYS or asked.kind.of_transitions else Verdict.UNKNOWN


def _claims_nothing(asked: Property, exploration: Exploration) -> bool:
    """Tell whether a property without a finding means nothing.

    The text of the protocol has a `check` of every `checked` property, or it would not load; a patch can lose it.
    """
    if asked.kind is PropertyKind.CHECKED:
        return asked.name not in exploration.system.specification.checked
    return asked.kind is PropertyKind.POSSIBLE


def faults_unfired(exploration: Exploration) -> tuple[str, ...]:
    """Return the faults that are allowed and never happened; none are known where something was left unexplored."""
    if not explored_to_the_end(exploration):
        return ()
    system = exploration.system
    # Where a process has no instances nobody is there to crash, which is for the parameters to say.
    nobody = {
        name
        for name, f in system.specification.faults.items()
        if f.crashes and not any(map(system.counts.get, f.crashes))
    }
    allowed = (name for name, budget in system.budgets.items() if budget.allowed and name not in nobody)
    return tuple(name for name in allowed if name not in exploration.coverage.faults)


def _problems_of_the_run(
    exploration: Exploration, failure: Finding | None, reports: tuple[PropertyReport, ...]
) -> Iterator[Problem]:
    if failure is not None:
        assert failure.error is not None, "it was confirmed"
        yield Problem(ExitCode.BAD_INPUT, f"run-time error {failure.error.code.number}: {failure.error.message}")
    if not exploration.complete or not exploration.states:
        yield Problem(ExitCode.INCONCLUSIVE, f"not explored to the end: {exploration.cut or 'no reason is given'}")
    if not reports:
        yield Problem(ExitCode.INCONCLUSIVE, "no property was asked about")


def _problems_of_a_scenario(reports: tuple[PropertyReport, ...]) -> Iterator[Problem]:
    for report in reports:
        unreached = report.verdict is Verdict.VACUOUS
        if report.broken and not report.declared:
            message = f"`{report.name}` is never reached" if unreached else f"`{report.name}` breaks, undeclared"
            yield Problem(ExitCode.VACUOUS if unreached else ExitCode.NOT_AS_DECLARED, message)
        elif report.broken is False and report.declared:
            came_out = "is reached" if report.kind is PropertyKind.POSSIBLE else "holds"
            yield Problem(ExitCode.NOT_AS_DECLARED, f"`{report.name}` is declared to break, and {came_out}")
        elif report.broken is False and unreached:
            yield Problem(ExitCode.VACUOUS, f"`{report.name}` is checked by no step of this variant")


def _problems_of_faults(unfired: tuple[str, ...]) -> Iterator[Problem]:
    for name in unfired:
        yield Problem(ExitCode.VACUOUS, f"the fault `{name}` is allowed and never happens")


def _problems_of_a_bound(exploration: Exploration, reports: tuple[PropertyReport, ...]) -> Iterator[Problem]:
    bound = exploration.system.bound
    if bound is None:
        return
    for report in reports:
        if report.verdict is Verdict.UNKNOWN:
            message = f"`{report.name}` is open: each `nat` was followed up to {bound} only"
            yield Problem(ExitCode.INCONCLUSIVE, message)
        elif report.verdict is Verdict.BOUNDED and report.declared:
            message = f"`{report.name}` is declared to break, and does not with each `nat` up to {bound}"
            yield Problem(ExitCode.INCONCLUSIVE, message)


def _problems_of_a_mutant(scenario: Scenario, reports: tuple[PropertyReport, ...]) -> Iterator[Problem]:
    """Yield what speaks against a mutant, which must be caught by exactly what it names.

    A stranger that catches it as well may hide that the guard it was made for is not the one that does.
    """
    named = [r.name for r in reports if r.declared]
    caught = [r.name for r in reports if r.broken]
    missed = [r.name for r in reports if r.declared and r.broken is False]
    if not missed and set(caught) <= set(named):
        return
    if scenario.survives:
        yield Problem(ExitCode.NOT_AS_DECLARED, f"the mutant is said to survive; it is caught by {_listed(caught)}")
    else:
        message = f"the mutant names {_listed(named)}; it is caught by {_listed(caught)}"
        yield Problem(ExitCode.NOT_AS_DECLARED, message)


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "nothing"


def _verdict(reports: tuple[PropertyReport, ...], problems: list[Problem]) -> Verdict:
    """Say in a word how the scenario came out, declared or not; what is wrong with the claim is in the problems."""
    codes = {problem.code for problem in problems}
    verdicts = {report.verdict for report in reports}
    if ExitCode.BAD_INPUT in codes:
        return Verdict.ERROR
    if Verdict.VIOLATED in verdicts:
        return Verdict.VIOLATED
    if codes & {ExitCode.DISAGREEMENT, ExitCode.INCONCLUSIVE} or Verdict.UNKNOWN in verdicts:
        return Verdict.UNKNOWN
    if Verdict.VACUOUS in verdicts or ExitCode.VACUOUS in codes:
        return Verdict.VACUOUS
    return Verdict.BOUNDED if Verdict.BOUNDED in verdicts else Verdict.HOLDS

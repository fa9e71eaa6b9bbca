"""From mutants to their fates: each is asked scenario by scenario until one of them notices.

A mutant is run only in scenarios that hold, with their faults, and only in those that run the text that it changes.
Scenarios that are cheap and ask about much come first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from checker.confirm import confirm_failure, confirm_property
from checker.engines.altered import Altered, explore_altered
from checker.exploration import Limits
from checker.judgement import asked_properties, faults_unfired
from checker.mutation.fates import NARROWING, Decided, Fate, Held
from checker.mutation.mutants import Mutant
from model.diagnostics import SpecificationError
from model.specification import PropertyKind, Scenario
from model.system import TransitionSystem

OnProgress = Callable[[str], None]

_CHEAP = 1_000
"""States of a scenario below which it costs the same: what there is to prepare."""


def in_order(held: Sequence[Held]) -> list[Held]:
    """Return scenarios in the order in which mutants are asked: cheap ones, and of these such as ask about much."""

    def cost(each: Held) -> tuple[int, bool, int]:
        asked = asked_properties(each.scenario)
        return (each.exploration.states // _CHEAP, bool(each.scenario.variant), -len(asked))

    return sorted(held, key=cost)


class Decider:
    """Decides mutants of one file; what is decided so far can be looked at at any time."""

    def __init__(self, mutants: Sequence[Mutant], held: Sequence[Held], limits: Limits, tell: OnProgress) -> None:
        self.decided = [Decided(mutant) for mutant in mutants]
        self.held = in_order(held)
        self.limits = limits
        self.tell = tell
        self._vacuous: dict[str, tuple[str, str]] = {}
        """By mutant: the scenario in which something is not put to use, and what."""
        self._unfinished: dict[str, tuple[str, str]] = {}
        """By mutant: the scenario that was not explored to the end, and why."""

    def run(self) -> None:
        """Ask scenario by scenario.

        Raises:
            EngineDisagreement: the evaluator contradicts the engine.
        """
        undecided = {each.mutant.id for each in self.decided}
        for number, held in enumerate(self.held, start=1):
            if self.limits.interrupted or not undecided:
                break
            over = len(self.decided) - len(undecided)
            scenario = f"scenario {number} of {len(self.held)}"
            self.tell(f"{over:,} of {len(self.decided):,} mutants decided  {scenario}  {held.scenario.name}")
            self._ask(held, [each for each in self.decided if each.mutant.id in undecided])
            undecided = {each.mutant.id for each in self.decided if each.fate is Fate.SURVIVED}
        for each in self.decided:
            if each.fate is Fate.SURVIVED:
                self._conclude(each)

    def _conclude(self, each: Decided) -> None:
        """Say what a mutant is that no scenario has killed."""
        if self.limits.interrupted:
            each.fate, each.why = Fate.OPEN, "interrupted"
        elif each.mutant.id in self._unfinished:
            each.fate = Fate.OPEN
            each.scenario, each.why = self._unfinished[each.mutant.id]
        elif each.mutant.id in self._vacuous:
            each.fate = Fate.VACUOUS
            each.scenario, each.why = self._vacuous[each.mutant.id]
        elif each.mutant.operator in NARROWING:
            each.fate = Fate.NARROWER

    def _ask(self, held: Held, asked: Sequence[Decided]) -> None:
        """Run mutants in one scenario."""
        systems: list[tuple[Decided, TransitionSystem]] = []
        for each in asked:
            system = _system(each, held.scenario)
            if system is not None:
                each.asked += 1
                systems.append((each, system))
        names = [claim.name for claim in asked_properties(held.scenario)]
        for each, found in self._explored(held, systems, names):
            self._judge(each, held, found)

    def _explored(
        self, held: Held, systems: list[tuple[Decided, TransitionSystem]], names: list[str]
    ) -> list[tuple[Decided, Altered]]:
        """Explore mutants together; where the language has no place for one of them, each half for itself."""
        if not systems:
            return []
        try:
            found = explore_altered(held.system, [system for _, system in systems], self.limits, names)
        except SpecificationError as error:
            if len(systems) == 1:
                _refuse(systems[0][0], held.scenario, error)
                return []
            middle = len(systems) // 2
            return self._explored(held, systems[:middle], names) + self._explored(held, systems[middle:], names)
        return [(each, outcome) for (each, _), outcome in zip(systems, found, strict=True)]

    def _judge(self, each: Decided, held: Held, found: Altered) -> None:
        if found.broken:
            each.fate, each.scenario, each.broken = Fate.KILLED, held.scenario.name, dict(found.broken)
            each.property, each.finding = next(iter(found.findings.items()))
            each.system = found.system
            confirm_property(found.system, found.system.specification.properties[each.property], each.finding)
        elif found.failure is not None:
            assert found.failure.error is not None, "the evaluator has found it"
            confirm_failure(found.system, found.failure)
            each.fate, each.scenario, each.finding = Fate.ERROR, held.scenario.name, found.failure
            each.system = found.system
            each.why = f"{found.failure.error.code.number}: {found.failure.error.message}"
        elif not found.complete:
            self._unfinished.setdefault(each.mutant.id, (held.scenario.name, found.cut))
        elif not found.alike:
            unused = _unused(held.scenario, found)
            if unused:
                self._vacuous.setdefault(each.mutant.id, (held.scenario.name, unused))


def _system(each: Decided, scenario: Scenario) -> TransitionSystem | None:
    """Return the system of a mutant in a scenario; None where it changes nothing there, or there is no such system."""
    changed = each.mutant.applied(scenario.specification)
    if changed is scenario.specification:
        return None
    try:
        return TransitionSystem.of(replace(scenario, specification=changed))
    except SpecificationError as error:
        _refuse(each, scenario, error)
        return None


def _refuse(each: Decided, scenario: Scenario, error: SpecificationError) -> None:
    each.fate, each.scenario, each.why = Fate.INVALID, scenario.name, error.diagnostics[0].message


def _unused(scenario: Scenario, found: Altered) -> str:
    """Say what a mutant does not put to use; empty where it does all that a scenario has to."""
    specification = found.system.specification
    for claim in asked_properties(scenario):
        if claim.kind is PropertyKind.POSSIBLE and claim.name not in found.reached:
            return f"`{claim.name}` is never reached"
        if claim.kind is PropertyKind.CHECKED and claim.name not in specification.checked:
            return f"`{claim.name}` is checked by no step"
    return next((f"the fault `{name}` never happens" for name in faults_unfired(found)), "")

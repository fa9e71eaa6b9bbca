"""What was claimed of the old version, put to the new one: the same parameters and faults, the new steps.

That is what a change of protocol means for its safety. A scenario that the change itself has edited, or left out, says
nothing of it: so the settings are the old ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from checker.difference.shapes import Renaming
from checker.exploration import Finding
from checker.judgement import PropertyReport, ScenarioReport
from checker.verdict import Verdict
from model.specification import Allowance, Scenario, SpecificationFile
from model.system import TransitionSystem
from model.types import BoolType, EnumType, Value, ValueType

_SAFE = (Verdict.HOLDS, Verdict.PROVED, Verdict.BOUNDED)
_UNSAFE = (Verdict.VIOLATED, Verdict.VACUOUS, Verdict.ERROR)
"""What is unknown is neither."""


@dataclass(frozen=True, slots=True)
class Posed:
    """A scenario of the old version as a question to the new one, or why it cannot be."""

    old: Scenario
    new: Scenario | None
    left_out: tuple[str, ...]
    """Parameters and faults of its setting that the new version does not have."""
    obstacle: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """A property that came out differently under one setting of the old version."""

    scenario: str
    claim: str
    before: Verdict
    after: Verdict
    finding: Finding | None
    """The trace that shows it: in the new version where it got worse, else in the old one."""
    system: TransitionSystem | None
    left_out: tuple[str, ...] = ()
    """What of the setting the new version does not have: then the two are not under the same conditions."""
    needs_off: tuple[str, ...] = ()
    """Faults each of which, were it not allowed, would let the property hold in the new version."""

    @property
    def worse(self) -> bool:
        """Whether it is less safe than before."""
        return self.after in _UNSAFE


def posed(old: SpecificationFile, new: SpecificationFile, renaming: Renaming) -> list[Posed]:
    """Return the scenarios of the old version as questions to the new one."""
    return [_posed(claim, new, renaming) for claim in old.scenarios.values()]


def _posed(claim: Scenario, new: SpecificationFile, renaming: Renaming) -> Posed:
    variant = renaming(claim.variant)
    if variant and variant not in new.variants:
        return Posed(claim, None, (), f"the new version has no variant {variant}")
    specification = new.variants[variant] if variant else new.specification
    setting: dict[str, Value] = {}
    allow: dict[str, Allowance] = {}
    left_out: list[str] = []
    # What the old version says unless told is said here: a default that has changed is another setting.
    for name, parameter in claim.specification.parameters.items():
        other = specification.parameters.get(renaming(name))
        value = claim.set.get(name, parameter.default)
        if other is None:
            left_out += [name] if name in claim.set else []
            continue
        chosen = renaming(value) if isinstance(value, str) else value
        if not _is_of(chosen, other.type):
            word = str(chosen).lower() if isinstance(chosen, bool) else str(chosen)
            return Posed(claim, None, (), f"in the new version {other.name} cannot be {word}")
        setting[other.name] = chosen
    for name, allowance in claim.allow.items():
        if renaming(name) in specification.faults:
            at = allowance.at and frozenset(renaming.of("step", point) for point in allowance.at)
            allow[renaming(name)] = replace(allowance, at=at)
        else:
            left_out.append(name)
    question = replace(
        claim,
        name=claim.name,
        specification=specification,
        set=setting,
        allow=allow,
        only=None,
        breaks=(),
        because="",
        variant=variant,
    )
    return Posed(claim, question, tuple(left_out))


def _is_of(value: Value, type_: ValueType) -> bool:
    """Tell whether a value is of a parameter's type; whether it is in its range, a system finds out."""
    if isinstance(type_, EnumType):
        return value in type_.literals
    return isinstance(value, bool) is isinstance(type_, BoolType) and not isinstance(value, str)


def without_fault(question: Posed, system: TransitionSystem) -> Iterator[tuple[str, Scenario]]:
    """Yield the question with each of the faults that it allows switched off, by the name of the fault."""
    if question.new is not None:
        for name, budget in system.budgets.items():
            if budget.allowed:
                allow = {**question.new.allow, name: Allowance(0)}
                yield name, replace(question.new, name=f"{question.new.name} without {name}", allow=allow)


def turns(
    questions: Iterable[Posed],
    before: Mapping[str, ScenarioReport],
    after: Mapping[str, ScenarioReport],
    renaming: Renaming,
) -> Iterator[Turn]:
    """Yield what came out differently, by the names of the old scenarios."""
    for question in questions:
        name = question.old.name
        if name not in before or name not in after:
            continue
        now = {report.name: report for report in after[name].properties}
        for was in before[name].properties:
            found = now.get(renaming.of("property", was.name))
            if found is None:
                continue
            if (was.verdict in _SAFE and found.verdict in _UNSAFE) or (
                was.verdict in _UNSAFE and found.verdict in _SAFE
            ):
                turn = _turn(name, was, found, before[name], after[name])
                # Where something of the setting is gone, a claim that holds now holds of less.
                if turn.worse or not question.left_out:
                    yield replace(turn, left_out=question.left_out)


def _turn(
    scenario: str, was: PropertyReport, found: PropertyReport, before: ScenarioReport, after: ScenarioReport
) -> Turn:
    worse = found.verdict in _UNSAFE
    shown, report = (found, after) if worse else (was, before)
    return Turn(scenario, found.name, was.verdict, found.verdict, shown.finding, report.exploration.system)

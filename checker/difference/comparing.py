"""Two versions of a specification compared in everything: what is declared, decided, claimed and reached."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from checker.backends.smt.differences import RowChange, Strength, TwoVersions
from checker.backends.smt.relation import Relation
from checker.difference.claims import Posed, Turn, posed, turns, without_fault
from checker.difference.declarations import Changes, changes
from checker.difference.shapes import Renaming
from checker.engines.projection import Projection, projection, viewed_slots
from checker.engines.reachable import CutShort
from checker.exploration import Exploration, Limits
from checker.judgement import ScenarioReport, judge_scenario
from model.diagnostics import SpecificationError
from model.specification import PropertyKind, Scenario, Specification, SpecificationFile, Table
from model.system import TransitionSystem
from model.types import Value

Explore = Callable[
    [SpecificationFile, Mapping[str, Scenario], Mapping[str, TransitionSystem]], Mapping[str, Exploration]
]
"""Explores systems of claims of a file."""

_DEMANDS = (PropertyKind.ALWAYS, PropertyKind.STEP, PropertyKind.RECOVERABLE, PropertyKind.LEADS_TO)
"""Kinds of claims that are the less the more they allow."""


@dataclass(frozen=True, slots=True)
class Reached:
    """The situations of a view that only one version comes to, under the setting of an old scenario."""

    view: str
    scenario: str
    variables: tuple[str, ...]
    newly: tuple[tuple[Value, ...], ...]
    gone: tuple[tuple[Value, ...], ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """What a change means."""

    old: SpecificationFile
    new: SpecificationFile
    changes: Changes
    renaming: Renaming
    tables: tuple[tuple[str, RowChange], ...]
    claims: tuple[tuple[str, Strength], ...]
    """Properties that both have and that say more or less than before."""
    turns: tuple[Turn, ...]
    reached: tuple[Reached, ...]
    posed: tuple[str, ...]
    """The old scenarios that were put to the new version."""
    not_compared: tuple[tuple[str, str], ...]
    """What could not be compared, and why."""
    undecided: tuple[str, ...]
    """The old scenarios of which one run was cut short."""

    @property
    def worse(self) -> list[str]:
        """In a few words each, everything that makes the new version less safe, or claim less."""
        found = [f"{turn.claim} in {turn.scenario}" for turn in self.turns if turn.worse]
        found += [f"{name} is claimed no more" for kind, name in self.changes.removed if kind == "property"]
        kinds = {name: claim.kind for name, claim in self.new.specification.properties.items()}
        found += [
            f"{name} allows more" for name, strength in self.claims if strength.allows and kinds[name] in _DEMANDS
        ]
        return found + [f"{name} is admitted no more" for kind, name in self.changes.removed if kind == "fault"]


def compare(
    old: SpecificationFile, new: SpecificationFile, renaming: Renaming, explore: Explore, limits: Limits
) -> Difference:
    """Compare two versions.

    Raises:
        SpecificationError: the scenarios of the old version have no systems.
        EngineDisagreement: the evaluator does not confirm what an engine has found.
    """
    declared, renaming = changes(old, new, renaming)
    not_compared: list[tuple[str, str]] = []
    questions = _answerable(posed(old, new, renaming), not_compared)
    before = _judged(old, {q.old.name: q.old for q in questions}, explore)
    after = _judged(new, {q.old.name: q.new for q in questions if q.new is not None}, explore)
    found = list(turns(questions, before, after, renaming))
    versions = _versions(old, new, renaming)
    cut = [name for name in before if not (before[name].exploration.complete and after[name].exploration.complete)]
    return Difference(
        old=old,
        new=new,
        changes=declared,
        renaming=renaming,
        tables=tuple(_tables(versions, old.specification, new.specification, renaming)),
        claims=tuple(_claims(versions, old.specification, new.specification, renaming)),
        turns=tuple(_with_needs(found, questions, new, explore)),
        reached=tuple(_reached(questions[:1], old, new, renaming, limits, not_compared)),
        posed=tuple(before),
        not_compared=tuple(not_compared),
        undecided=tuple(cut),
    )


def _answerable(questions: Sequence[Posed], not_compared: list[tuple[str, str]]) -> list[Posed]:
    """Return the questions that the new version has a system for; of the others say why it has none."""
    found = []
    for question in questions:
        obstacle = question.obstacle
        if question.new is not None:
            try:
                TransitionSystem.of(question.new)
            except SpecificationError as error:
                obstacle = error.diagnostics[0].message
        if obstacle:
            not_compared.append((f"scenario {question.old.name}", obstacle))
            continue
        if question.left_out:
            reason = f"put to the new version without {', '.join(question.left_out)}, which it does not have"
            not_compared.append((f"scenario {question.old.name}", reason))
        found.append(question)
    return found


def _judged(file: SpecificationFile, claims: Mapping[str, Scenario], explore: Explore) -> dict[str, ScenarioReport]:
    systems = {name: TransitionSystem.of(claim) for name, claim in claims.items()}
    explored = explore(file, claims, systems)
    return {name: judge_scenario(claims[name], exploration) for name, exploration in explored.items()}


def _with_needs(
    found: Sequence[Turn], questions: Sequence[Posed], new: SpecificationFile, explore: Explore
) -> Iterator[Turn]:
    """Add to what got worse the faults without which it would not have."""
    worse = {turn.scenario for turn in found if turn.worse and turn.system is not None}
    claims: dict[str, Scenario] = {}
    names: dict[tuple[str, str], str] = {}
    for question in questions:
        if question.old.name in worse and question.new is not None:
            for fault, claim in without_fault(question, TransitionSystem.of(question.new)):
                claims[claim.name] = claim
                names[question.old.name, fault] = claim.name
    reports = _judged(new, claims, explore) if claims else {}
    for turn in found:
        needs = [
            fault
            for (scenario, fault), name in names.items()
            if scenario == turn.scenario and turn.worse and name in reports and _holds(reports[name], turn.claim)
        ]
        yield replace(turn, needs_off=tuple(needs))


def _holds(report: ScenarioReport, name: str) -> bool:
    return report.exploration.complete and any(p.name == name and p.broken is False for p in report.properties)


def _versions(old: SpecificationFile, new: SpecificationFile, renaming: Renaming) -> TwoVersions:
    """Return both as a solver sees them: under the same parameters where both can have them."""
    later = TransitionSystem(new.specification, {}, {}, new.bound)
    setting = {
        name: later.parameters[renaming(name)]
        for name, parameter in old.specification.parameters.items()
        if renaming(name) in later.parameters and not isinstance(parameter.default, str)
    }
    try:
        earlier = TransitionSystem(old.specification, setting, {}, old.bound)
    except SpecificationError:
        earlier = TransitionSystem(old.specification, {}, {}, old.bound)
    whole = any(slot.domain.endless for system in (earlier, later) for slot in system.slots)
    return TwoVersions(Relation(earlier, whole=whole), Relation(later, whole=whole), renaming)


def _tables(
    versions: TwoVersions, old: Specification, new: Specification, renaming: Renaming
) -> Iterator[tuple[str, RowChange]]:
    after = _first_tables(new)
    for name, table in _first_tables(old).items():
        if renaming(name) in after:
            for change in versions.table_changes(table, after[renaming(name)]):
                yield renaming(name), change


def _first_tables(specification: Specification) -> dict[str, Table]:
    """Return each table as its first process consults it; a property only where nobody else does."""
    found: dict[str, Table] = {}
    for (name, process), table in specification.tables.items():
        if name not in found or (found[name].process is None and process is not None):
            found[name] = table
    return found


def _claims(
    versions: TwoVersions, old: Specification, new: Specification, renaming: Renaming
) -> Iterator[tuple[str, Strength]]:
    for name, claim in old.properties.items():
        other = new.properties.get(renaming.of("property", name))
        if other is not None and other.kind is claim.kind and claim.kind is not PropertyKind.CHECKED:
            strength = versions.strength(claim, other)
            if strength.forbids is not None or strength.allows is not None:
                yield other.name, strength


def _reached(
    questions: Sequence[Posed],
    old: SpecificationFile,
    new: SpecificationFile,
    renaming: Renaming,
    limits: Limits,
    not_compared: list[tuple[str, str]],
) -> Iterator[Reached]:
    """Compare the situations of the views that both versions have, under the setting of the first old scenario."""
    for view, keys in old.specification.views.items():
        mine = [renaming(key) for key in keys]
        if list(new.specification.views.get(view, ())) != mine:
            why = "the new version has no such view" if view not in new.specification.views else "it shows other things"
            not_compared.append((f"view {view}", why))
            continue
        for question in questions:
            assert question.new is not None
            try:
                before = _projected(TransitionSystem.of(question.old), keys, limits)
                after = _projected(TransitionSystem.of(question.new), mine, limits)
            except CutShort as cut:
                not_compared.append((f"view {view}", str(cut)))
                continue
            was = {tuple(renaming(str(value)) for value in s.values): s.values for s in before.situations}
            now = {tuple(map(str, s.values)): s.values for s in after.situations}
            newly = tuple(values for key, values in now.items() if key not in was)
            gone = tuple(values for key, values in was.items() if key not in now)
            yield Reached(view, question.old.name, after.slots, newly, gone)


def _projected(system: TransitionSystem, keys: Sequence[str], limits: Limits) -> Projection:
    return projection(system, viewed_slots(system, keys), limits)

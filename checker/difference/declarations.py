"""What is declared in only one of two versions, what in both but differently, and what was only renamed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from checker.difference.shapes import Renaming, Shape, shape
from model.specification import Process, Scenario, Specification, SpecificationFile, Step, Table

KINDS = (
    "parameter",
    "type",
    "variable",
    "fault",
    "process",
    "step",
    "kill point",
    "table",
    "row",
    "property",
    "variant",
    "scenario",
    "mutant",
)
"""Kinds of declarations, in the order in which changes of them are told."""

_RENAMED_BY_ITSELF = ("step", "property", "row", "scenario")
"""Kinds of which two that say the same under different names are one that was renamed."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """A name of a kind in one version, and what is compared of it."""

    kind: str
    name: str
    shape: Shape


@dataclass(frozen=True, slots=True)
class Changes:
    """By kind, the names that only one version has, those that both have differently, and those that were renamed."""

    added: tuple[tuple[str, str], ...]
    removed: tuple[tuple[str, str], ...]
    changed: tuple[tuple[str, str], ...]
    """By the name in the new version."""
    renamed: tuple[tuple[str, str, str], ...]
    """Kind, old name, new name."""

    def of(self, kind: str) -> tuple[list[str], list[str], list[str]]:
        """Return what of a kind was added, removed and changed."""
        added, removed, changed = (
            [name for k, name in names if k == kind] for names in (self.added, self.removed, self.changed)
        )
        return added, removed, changed


def changes(old: SpecificationFile, new: SpecificationFile, renaming: Renaming) -> tuple[Changes, Renaming]:
    """Compare what two versions declare; return also the renaming with what was found to be only renamed."""
    before, after = _by_name(old, renaming), _by_name(new)
    found = [each for kind in _RENAMED_BY_ITSELF for each in _only_renamed(kind, before, after)]
    renaming = Renaming(renaming.names, {(kind, old_name): new_name for kind, old_name, new_name in found})
    before = _by_name(old, renaming)
    named = ((kind, name, renaming.of(kind, name)) for kind, name in _by_name(old))
    return (
        Changes(
            added=tuple(key for key in after if key not in before),
            removed=tuple(key for key in before if key not in after),
            changed=tuple(key for key in after if key in before and before[key].shape != after[key].shape),
            renamed=tuple(
                (kind, was, now)
                for kind, was, now in named
                if was != now and kind != "kill point" and (kind, now) in after
            ),
        ),
        renaming,
    )


def _by_name(file: SpecificationFile, renaming: Renaming | None = None) -> dict[tuple[str, str], Declaration]:
    named = renaming or Renaming()
    return {(each.kind, _named(each, named)): each for each in _declarations(file, named)}


def _named(declaration: Declaration, renaming: Renaming) -> str:
    if declaration.kind != "kill point":
        return renaming.of(declaration.kind, declaration.name)
    step = declaration.name.removesuffix(".torn")
    return renaming.of("step", step) + declaration.name.removeprefix(step)


def _only_renamed(
    kind: str,
    before: Mapping[tuple[str, str], Declaration],
    after: Mapping[tuple[str, str], Declaration],
) -> Iterator[tuple[str, str, str]]:
    """Yield pairs of names that only one version each has, and that say the same; none where two pairs are possible."""
    gone = [key for key in before if key[0] == kind and key not in after]
    come = [key for key in after if key[0] == kind and key not in before]
    for _, name in gone:
        same = [
            other
            for _, other in come
            if _without_name(before[kind, name].shape, name) == _without_name(after[kind, other].shape, other)
        ]
        rivals = [
            other
            for _, other in gone
            if _without_name(before[kind, other].shape, other) == _without_name(before[kind, name].shape, name)
        ]
        # Without its place a name may say something else: of `a.b` only the last part may be new.
        if len(same) == 1 and len(rivals) == 1 and name.rpartition(".")[0] == same[0].rpartition(".")[0]:
            yield kind, name, same[0]


def _without_name(item: Shape, name: str) -> Shape:
    last = _last(name)
    if isinstance(item, tuple):
        return tuple(_without_name(each, name) for each in item)
    return "·" if item in (name, last) else item


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _declarations(file: SpecificationFile, renaming: Renaming) -> Iterator[Declaration]:
    specification = file.specification

    def each(kind: str, things: Mapping[str, object]) -> Iterator[Declaration]:
        for name, thing in things.items():
            yield Declaration(kind, name, shape(thing, renaming, name.partition(".")[0]))

    yield from each("parameter", specification.parameters)
    written = {name: _type(t) for name, t in specification.types.items() if name not in specification.parameters}
    yield from each("type", written)
    yield from each("variable", {v.key: v for v in specification.variables.values()})
    yield from each("fault", specification.faults)
    yield from each("process", {p.name: _process(p, renaming) for p in specification.processes.values()})
    yield from each("step", {s.id: _step(s) for p in specification.processes.values() for s in p.steps})
    mortal = {process for fault in specification.faults.values() for process in fault.crashes}
    points = [point for p in specification.processes.values() if p.name in mortal for point in p.kill_points]
    yield from each("kill point", dict.fromkeys(points, ""))
    yield from each("table", {name: list(table.columns) for name, table in _tables(specification).items()})
    rows = {
        f"{name}.{row.name}": (row.when, row.gives)
        for name, table in _tables(specification).items()
        for row in table.rows
    }
    yield from each("row", rows)
    yield from each("property", specification.properties)
    yield from each("variant", dict.fromkeys(file.variants, ""))
    yield from each("scenario", {name: _claim(claim) for name, claim in file.scenarios.items()})
    yield from each("mutant", {name: _claim(claim) for name, claim in file.mutants.items()})


def _tables(specification: Specification) -> dict[str, Table]:
    found: dict[str, Table] = {}
    for (name, _), table in specification.tables.items():
        found.setdefault(name, table)
    return found


def _type(declared: object) -> object:
    inner = getattr(declared, "type", declared)
    return getattr(inner, "literals", None) or inner


def _process(process: Process, renaming: Renaming) -> object:
    """Return what makes a process beside its steps and its memory: how many, how it starts, the order of its steps."""
    order = [renaming.label(process.name, step.name) for step in process.steps]
    on_crash = process.on_crash.body if process.on_crash is not None else ()
    return (process.count, process.environment, process.boot, process.restarts, on_crash, order)


def _step(step: Step) -> object:
    return (step.body, step.fair, step.torn.body if step.torn is not None else ())


def _claim(claim: Scenario) -> object:
    return (claim.variant, claim.set, claim.allow, claim.only, sorted(claim.breaks), claim.bound, bool(claim.survives))

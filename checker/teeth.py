"""Whether all that a file says is put to use by its scenarios: a claim about steps that never happen has no teeth.

Judged over all scenarios of a file together, mutants not counted, and only where every scenario was explored to its
end: what one scenario leaves unused, the next may use.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from checker.elements import Element, Kind, elements_of
from checker.exploration import Exploration
from checker.judgement import asked_properties, explored_to_the_bound, explored_to_the_end
from checker.verdict import ExitCode, worst
from model.diagnostics import Code, Diagnostic, did_you_mean, quoted
from model.specification import SpecificationFile


@dataclass(frozen=True, slots=True)
class Unused:
    """A piece that no scenario makes use of.

    `excuse` is the reason that the file gives under `unused:`, empty where it gives none. `shadowed` is for rows:
    whether the condition is true somewhere, but always behind an earlier row that matches; None where that is unknown.
    `variant` says which variant's text it is, empty for the protocol's own.
    """

    element: Element
    excuse: str
    shadowed: bool | None
    variant: str

    @property
    def name(self) -> str:
        """The stable name, as `unused:` wants it."""
        return self.element.name


@dataclass(frozen=True, slots=True)
class Tally:
    """How many pieces of one kind there are, and how many of them are used."""

    kind: Kind
    used: int
    total: int


@dataclass(frozen=True, slots=True)
class Teeth:
    """What came out for the file as a whole.

    Where `why_not_judged` gives a reason, nothing is said of what is unused; `diagnostics` may still hold errors in
    the file's `unused:` section.
    """

    why_not_judged: str
    unused: tuple[Unused, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    tallies: tuple[Tally, ...] = ()

    @property
    def exit_code(self) -> ExitCode:
        """Zero where nothing is wrong or nothing was judged."""
        codes = [ExitCode.BAD_INPUT for _ in self.diagnostics]
        codes += [ExitCode.VACUOUS for unused in self.unused if not unused.excuse]
        return worst(codes or [ExitCode.AS_DECLARED])


def judge_teeth(file: SpecificationFile, explorations: Mapping[str, Exploration], narrowed: str = "") -> Teeth:
    """Judge a file by the explorations of its scenarios; `narrowed` says why the run is not about all of it."""
    if narrowed:
        return Teeth(narrowed)
    usage = _Usage(file, explorations)
    diagnostics = _diagnostics(file, usage)
    unfinished = [name for name in file.scenarios if not explored_to_the_end(explorations[name])]
    if unfinished:
        bounded = all(explored_to_the_bound(explorations[name]) for name in unfinished)
        reason = "numbers without end followed to a bound" if bounded else "not explored to the end"
        return Teeth(f"{reason}: {', '.join(unfinished)}", diagnostics=diagnostics)
    return Teeth("", usage.unused(), diagnostics, usage.tallies())


class _Usage:
    """All elements of all scenarios by key, and which of them were used by a scenario that has them."""

    def __init__(self, file: SpecificationFile, explorations: Mapping[str, Exploration]) -> None:
        self.file = file
        self.explorations = [explorations[name] for name in file.scenarios]
        self.elements: dict[Hashable, Element] = {}
        self.variants: dict[Hashable, str] = {}
        self.used: set[Hashable] = set()
        crashing = self._crashing()
        for scenario, exploration in zip(file.scenarios.values(), self.explorations, strict=True):
            for element in elements_of(exploration.system, asked_properties(scenario), crashing[scenario.name]):
                if element.key not in self.elements:
                    self.elements[element.key] = element
                    self.variants[element.key] = scenario.variant
                if element.used_by(exploration.coverage):
                    self.used.add(element.key)

    def _crashing(self) -> dict[str, frozenset[str]]:
        """Return for each scenario the processes whose kill points it has: those that it lets crash.

        A process of which the file writes down what a crash does, and that no scenario lets crash, has its kill points
        in all of them: what is written there would never be looked at.
        """
        allowed: dict[str, frozenset[str]] = {}
        written: set[str] = set()
        for scenario, exploration in zip(self.file.scenarios, self.explorations, strict=True):
            system = exploration.system
            processes = system.specification.processes.values()
            allowed[scenario] = frozenset(p.name for p in processes if any(True for _ in system.crash_faults(p)))
            written |= {p.name for p in processes if p.on_crash is not None or any(step.torn for step in p.steps)}
        spared = written.difference(*allowed.values())
        return {scenario: processes | spared for scenario, processes in allowed.items()}

    def unused(self) -> tuple[Unused, ...]:
        """Return what nothing uses, root causes only: no arm of a step that never happens."""
        return tuple(
            Unused(element, self.file.unused.get(element.name, ""), self._shadowed(element), self.variants[key])
            for key, element in self.elements.items()
            if key not in self.used and (element.parent is None or element.parent in self.used)
        )

    def tallies(self) -> tuple[Tally, ...]:
        """Return the numbers by kind, without the kinds that do not occur."""
        found = []
        for kind in Kind:
            keys = {key for key, element in self.elements.items() if element.kind is kind}
            if keys:
                found.append(Tally(kind, len(keys & self.used), len(keys)))
        return tuple(found)

    def _shadowed(self, element: Element) -> bool | None:
        if element.kind is not Kind.ROW:
            return None
        looked = [e.coverage.shadowed_rows for e in self.explorations]
        if any(rows is not None and element.mark in rows for rows in looked):
            return True
        return None if any(rows is None for rows in looked) else False


def _diagnostics(file: SpecificationFile, usage: _Usage) -> tuple[Diagnostic, ...]:
    """Find the excuses for what does not exist, and for what is in use."""
    known: dict[str, bool] = {}
    for key, element in usage.elements.items():
        known[element.name] = known.get(element.name, True) and key in usage.used
    found = []
    for name, span in file.unused_spans.items():
        if name not in known:
            message = f"`unused` excuses {quoted(name)}, and the scenarios have nothing of that name"
            found.append(Diagnostic(Code.UNUSED_UNKNOWN, message, span, help=did_you_mean(name, known)))
        elif known[name]:
            message = f"`unused` excuses {quoted(name)}, and a scenario uses it"
            found.append(Diagnostic(Code.UNUSED_STALE, message, span, help="delete the line"))
    return tuple(found)

"""Many systems that differ a little from one another, explored for what breaks and no more.

The search is that of `checker.engines.columnar`. Left out is what nobody asks of a mutant: what it leaves unused, and
more than one trace. A system of which every path, error and claim is, term by term, that of its original need not be
explored at all.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np

from checker.backends.columns.program import SYSTEMS_MAX, Program
from checker.backends.columns.translation import Translation
from checker.engines.columnar import Run, Target
from checker.engines.grouping import grouped
from checker.engines.processes import in_processes
from checker.exploration import Coverage, Exploration, Limits
from checker.trace import Trace
from model.specification import PropertyKind
from model.system import State, TransitionSystem

_FEW = 8
"""Systems that are not worth a process of their own."""


@dataclass(slots=True)
class Altered(Exploration):
    """What came of exploring a system that differs from another in some text.

    Of `findings` only the shallowest violation is there, with its trace; `broken` has the depth of every one, and
    `reached` the `possible` properties that were. Of `coverage` there are the faults that happened.
    """

    broken: dict[str, int] = field(default_factory=dict)
    reached: frozenset[str] = frozenset()
    alike: bool = False
    """Whether it is in all its terms the original, and therefore was not explored."""


def explore_altered(
    original: TransitionSystem, systems: Sequence[TransitionSystem], limits: Limits, properties: Collection[str] | None
) -> list[Altered]:
    """Explore systems that all differ a little from an original, which itself is only compared with.

    `properties` names those to look at; all of them where it is None.

    Raises:
        SpecificationError: a limit of the language is met in translation.
        EngineDisagreement: the evaluator does not confirm a trace.
    """
    shares = _shared_out(systems, limits.workers)

    def explored(share: range, workers: int, silent: bool) -> list[Exploration]:
        del silent
        # Translated once, also where the states of few of them fit one word together: they hardly differ.
        translation = Translation([original, *(systems[i] for i in share)], properties)
        different = _different(translation)
        results: list[Exploration] = [Altered(systems[i], complete=True, alike=True) for i in share]
        for group in grouped([translation.systems[number] for number in different]):
            numbers = [different[i] for i in group]
            run = _Brief(Program(translation, numbers), limits, workers, silent=True, suspects=None)
            for number, found in zip(numbers, run.explore(), strict=True):
                results[number - 1] = found
        return results

    found = in_processes(explored, shares, limits)
    results = {
        i: each for share, several in zip(shares, found, strict=True) for i, each in zip(share, several, strict=True)
    }
    for i, system in enumerate(systems):
        results[i].system = system
    return [cast("Altered", results[i]) for i in range(len(systems))]


def _shared_out(systems: Sequence[TransitionSystem], workers: int) -> list[range]:
    """Divide systems so that those of a share can have one program and every processor has some."""
    shares = max(-(-len(systems) // SYSTEMS_MAX), min(workers, -(-len(systems) // _FEW)), 1)
    return [range(first, len(systems), shares) for first in range(shares)]


def _different(translation: Translation) -> list[int]:
    """Return the numbers of the systems of which some term is not the first system's."""
    shared = [
        *(entry.systems for entry in translation.entries),
        *(claim.systems for claim in translation.claims),
        *(systems for _, systems in translation.errors),
    ]
    differing = 0
    everywhere = (1 << len(translation.systems)) - 1
    for systems in shared:
        differing |= systems ^ everywhere if systems & 1 else systems
    return [number for number in range(1, len(translation.systems)) if differing >> number & 1]


class _Brief(Run):
    """An exploration that looks for violations only, and traces one of each system."""

    def explore(self) -> list[Exploration]:
        self.results = [Altered(result.system, engine=result.engine) for result in self.results]
        return super().explore()

    def cover(self) -> None:
        self.uncovered.clear()

    def coverage_of(self, i: int) -> Coverage:
        coverage = Coverage()
        for number, entry in enumerate(self.program.entries):
            if entry.path.faults and self.paths[number, i]:
                coverage.faults.update(entry.path.faults)
        return coverage

    def shadows(self) -> None:
        pass

    def possible_from(self, key: int) -> tuple[str, ...]:
        del key
        return ()

    def traces(self) -> None:
        least: dict[int, tuple[int, int, Target]] = {}
        for (claim, i), target in self.found.items():
            result = cast("Altered", self.results[i])
            asked = self.program.claims[claim]
            if asked.kind is PropertyKind.POSSIBLE:
                result.reached |= {asked.name}
                continue
            if i in self.failures and asked.kind in (PropertyKind.RECOVERABLE, PropertyKind.LEADS_TO):
                continue  # what comes after an error nobody knows, so that ways to a goal may be missing
            depth = target.depth + (target.path >= 0)
            result.broken[asked.name] = depth
            if i not in least or (depth, claim) < least[i][:2]:
                least[i] = (depth, claim, target)
        targets = {("claim", claim, i): target for i, (_, claim, target) in least.items()}
        self.trace(targets | {("failure", 0, i): t for i, t in self.failures.items() if i not in least})


def ways_to(system: TransitionSystem, places: Sequence[tuple[int, State]], limits: Limits) -> list[Trace]:
    """Return for reachable states, each given with its depth, a shortest trace to it.

    Raises:
        EngineDisagreement: the evaluator does not confirm a trace.
    """
    run = _Ways(Program(Translation([system], ()), [0]), limits, 1, silent=True, suspects=None)
    run.places = places
    run.explore()
    return run.ways


class _Ways(_Brief):
    """An exploration that finds the ways to some states."""

    places: Sequence[tuple[int, State]] = ()
    ways: list[Trace]

    def traces(self) -> None:
        words = [self.program.encode(0, state) for _, state in self.places]
        keys = self.search.keys_of([np.array(column, np.uint64) for column in zip(*words, strict=True)])
        targets = {
            ("waiting", 0, n): Target(depth, int(key))
            for n, ((depth, _), key) in enumerate(zip(self.places, keys, strict=True))
        }
        chains = self.walk_back(targets)
        self.ways = [self.replayed(0, chains[name], target, "") for name, target in targets.items()]

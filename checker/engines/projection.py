"""Transition graphs seen through a view: states that agree in its variables are one situation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from checker.engines.reachable import Reachable
from checker.exploration import Limits
from model.specification import PropertyKind
from model.system import TransitionSystem
from model.types import Value


@dataclass(frozen=True, slots=True)
class Situation:
    """The values of the viewed slots, and how many reachable states have them."""

    values: tuple[Value, ...]
    states: int
    initial: bool
    breaks: tuple[str, ...]
    """The `always` properties that are false in one of these states."""


@dataclass(frozen=True, slots=True)
class Passage:
    """What leads from one situation to another: step ids, and ids of kill points where a crash does."""

    source: int
    target: int
    steps: tuple[str, ...]
    crashes: tuple[str, ...]
    transitions: int


@dataclass(frozen=True, slots=True)
class Projection:
    """The graph of situations, in the order in which a breadth-first search comes to them."""

    slots: tuple[str, ...]
    situations: tuple[Situation, ...]
    passages: tuple[Passage, ...]
    states: int
    transitions: int


def projection(system: TransitionSystem, slots: Sequence[int], limits: Limits) -> Projection:
    """Explore a system and look at it through some of its slots, given by their numbers.

    Raises:
        CutShort: there are more states than allowed, or time is up.
        SpecificationError: a limit of the language is met in translation.
    """
    claims = system.specification.properties.values()
    reachable = Reachable(system, limits, [claim.name for claim in claims if claim.kind is PropertyKind.ALWAYS])
    viewed = reachable.positions[:, list(slots)]
    _, first, inverse, counts = np.unique(viewed, axis=0, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)
    number = np.empty_like(order)
    number[order] = np.arange(len(order))
    situation = number[inverse.reshape(-1)]
    starts = {tuple(state[slot] for slot in slots) for state in system.initial_states}
    breaking: list[list[str]] = [[] for _ in order]
    for name, true in reachable.claims().items():
        for place in np.unique(situation[~true]).tolist():
            breaking[place].append(name)
    situations = []
    for place, row in enumerate(viewed[first[order]].tolist()):
        values = tuple(system.slots[slot].domain.value(index) for slot, index in zip(slots, row, strict=True))
        found = tuple(dict.fromkeys(breaking[place]))
        situations.append(Situation(values, int(counts[order[place]]), values in starts, found))
    passages, transitions = _passages(reachable, situation, len(order))
    names = tuple(system.slots[slot].name for slot in slots)
    return Projection(names, tuple(situations), passages, len(situation), transitions)


def _passages(
    reachable: Reachable, situation: np.ndarray[tuple[int], np.dtype[np.int64]], size: int
) -> tuple[tuple[Passage, ...], int]:
    found: dict[tuple[int, int], tuple[set[str], set[str], list[int]]] = {}
    transitions = 0
    for path, sources, targets in reachable.transitions():
        transitions += len(sources)
        pairs, counts = np.unique(situation[sources] * size + situation[targets], return_counts=True)
        action = path.action
        for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True):
            steps, crashes, total = found.setdefault(divmod(pair, size), (set(), set(), [0]))
            if action.kill_point is not None:
                crashes.add(action.kill_point)
            else:
                steps.add(action.step or f"{action.process} restarts")
            total[0] += count
    passages = (
        Passage(source, target, tuple(sorted(steps)), tuple(sorted(crashes)), total[0])
        for (source, target), (steps, crashes, total) in sorted(found.items())
    )
    return tuple(passages), transitions


def viewed_slots(system: TransitionSystem, keys: Sequence[str]) -> list[int]:
    """Return the slots of variables, given by their keys, of all instances where they belong to a process."""
    return [
        slot for key in keys for (name, _), layout in system.layouts.items() if name == key for slot in layout.slots
    ]

"""The transition graph of a scenario, with every way that a step can go told apart: what a system is driven through.

The evaluator is asked and nobody else, some thousand states a second: what an implementation is held against is then
the meaning itself. A driven scenario has to be small anyhow, for real parts take milliseconds a step.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from itertools import pairwise

from checker.exploration import Limits, Progress
from checker.trace import Trace, TraceStep
from model.evaluate import Evaluator
from model.observer import Unobserved
from model.source import Span
from model.specification import SITUATION
from model.system import State, TransitionSystem
from model.transitions import Action, EvaluationError, Failure, Transition
from model.types import Value

STATES_MAX = 200_000
"""More states are refused: the evaluator would need minutes for them, and an implementation hours."""

_REPORT_EVERY = 256
"""States between two reports of progress."""


class CutShort(Exception):
    """The graph was not completed: there are too many states, time is up, or somebody interrupted."""


class Erring(Exception):
    """A reachable state errs, so that the model does not say what would be right there."""

    def __init__(self, error: EvaluationError) -> None:
        super().__init__(error.message)
        self.error = error


@dataclass(frozen=True, slots=True)
class Way:
    """What happens in a transition, and which branches it takes; two transitions with the same way are alike."""

    action: Action
    choices: tuple[Value, ...]
    faults: tuple[str, ...]
    branches: tuple[tuple[Span, bool], ...]

    @property
    def path(self) -> Hashable:
        """The way without the instance: what distinguishes paths through the text of a step."""
        what = (self.action.kind, self.action.process, self.action.label, self.action.torn)
        return (*what, self.choices, self.faults, self.branches)


@dataclass(slots=True)
class Graph:
    """States and transitions by number; those of state `s` are numbered from `first[s]` to `first[s + 1]`."""

    system: TransitionSystem
    states: list[State]
    initial: int
    """How many of the states, the first ones, are initial."""
    ways: list[Way] = field(default_factory=list)
    first: array[int] = field(default_factory=lambda: array("l", [0]))
    targets: array[int] = field(default_factory=lambda: array("l"))
    way_of: array[int] = field(default_factory=lambda: array("l"))

    def leaving(self, state: int) -> range:
        """Return the numbers of the transitions from a state."""
        return range(self.first[state], self.first[state + 1])

    def sources(self) -> array[int]:
        """Return for every transition the state that it leaves."""
        return array("l", (s for s, (a, b) in enumerate(pairwise(self.first)) for _ in range(b - a)))

    def trace(self, start: int, edges: Iterable[int]) -> Trace:
        """Return a run of the graph as a trace."""
        ways = ((self.ways[self.way_of[edge]], self.states[self.targets[edge]]) for edge in edges)
        steps = tuple(TraceStep(way.action, way.choices, way.faults, state) for way, state in ways)
        return Trace(self.states[start], steps)

    def situations(self) -> list[Hashable]:
        """Return for every state the value of the view `situation`."""
        layouts = self.system.layouts
        slots = [
            slot
            for key in self.system.specification.views[SITUATION]
            for (name, _), layout in layouts.items()
            if name == key
            for slot in layout.slots
        ]
        return [tuple(state[slot] for slot in slots) for state in self.states]


class _Branches(Unobserved):
    """Remembers the branches of the last path that the evaluator has completed."""

    def __init__(self) -> None:
        self.path: list[tuple[Span, bool]] = []
        self.last: tuple[tuple[Span, bool], ...] = ()

    def branch(self, span: Span, taken: bool) -> None:
        self.path.append((span, taken))

    def path_ended(self, completed: bool) -> None:
        del completed
        self.last = tuple(self.path)
        self.path.clear()


def build(system: TransitionSystem, limits: Limits, states_max: int = STATES_MAX) -> Graph:
    """Explore a system, breadth first, and keep all transitions.

    Raises:
        CutShort: a limit was met.
        Erring: a reachable state errs.
    """
    graph = Graph(system, list(system.initial_states), len(system.initial_states))
    numbers = {state: number for number, state in enumerate(graph.states)}
    known: dict[Way, int] = {}
    branches = _Branches()
    evaluator = Evaluator(system, branches)
    started = time.monotonic()
    for done, state in enumerate(graph.states):  # grows meanwhile
        _stop_or_report(graph, done, limits, states_max, started)
        for outcome in evaluator.transitions(state):
            if isinstance(outcome, Failure):
                raise Erring(outcome.error)
            way = Way(outcome.action, outcome.choices, outcome.faults, branches.last)
            graph.way_of.append(known.setdefault(way, len(known)))
            graph.targets.append(_number(graph, numbers, outcome))
        graph.first.append(len(graph.targets))
    graph.ways = list(known)
    return graph


def _number(graph: Graph, numbers: dict[State, int], transition: Transition) -> int:
    number = numbers.setdefault(transition.successor, len(graph.states))
    if number == len(graph.states):
        graph.states.append(transition.successor)
    return number


def _stop_or_report(graph: Graph, done: int, limits: Limits, states_max: int, started: float) -> None:
    if len(graph.states) > states_max:
        raise CutShort(f"more than {states_max:,} states; with fewer faults or smaller parameters there are less")
    if reason := limits.reason_to_stop(len(graph.states)):
        raise CutShort(reason)
    if limits.on_progress is not None and done % _REPORT_EVERY == 0:
        waiting = len(graph.states) - done
        limits.on_progress(Progress(0, len(graph.states), len(graph.targets), waiting, time.monotonic() - started))

"""Driving a system along runs of the model: after each action what is observed must be what the model says.

The first difference ends it. Of the actions that the model allows there, the one whose outcome is nearest to what was
observed tells most often what the system took the action for.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from checker.conformance.adapter import Adapter, AdapterFailed, Observation, Refused, UnknownSetting
from checker.conformance.graph import Graph
from checker.conformance.paths import Cover, shortest
from checker.conformance.translation import Comparison, Difference, action_of, setting_of
from checker.trace import Trace, TraceStep
from model.evaluate import Evaluator
from model.specification import Scenario
from model.system import State, TransitionSystem
from model.transitions import Failure

NEAREST_SHOWN = 3
"""Of the outcomes that are allowed, how many a difference shows."""


@dataclass(frozen=True, slots=True)
class Near:
    """Something that the model allows, and in what the system differs from it; no step: that nothing happens."""

    step: TraceStep | None
    differences: tuple[Difference, ...]


@dataclass(frozen=True, slots=True)
class Divergence:
    """Where a system and the model part: at the start, by a refusal, or by what is observed after an action.

    The last step of `trace` is what the model allows and the system did not do.
    """

    kind: Literal["start", "refused", "differs"]
    trace: Trace
    refusal: str
    """What the system said."""
    observation: Observation
    """What was observed, after the refusal or the action."""
    differences: tuple[Difference, ...]
    """From the state that the model is in then, or after a refusal from the one before, which it must not change."""
    nearest: tuple[Near, ...]
    """The outcomes that the model allows there, those that differ least first; none after a refusal."""


@dataclass(slots=True)
class Driven:
    """What came of driving a system through a scenario."""

    wanted: int
    covered: int = 0
    runs: int = 0
    actions: int = 0
    """How many actions were driven, repeated ones counted again."""
    divergence: Divergence | None = None
    cut: str = ""
    unseen: tuple[str, ...] = ()
    """The variables that were never observed, so that nothing is known of them."""
    blind: bool = False
    """Whether no variable was ever observed: then whatever the system did would have passed."""


@contextmanager
def asking(what: str) -> Iterator[None]:
    """Tell a fault of the adapter from one of ours: whatever else it raises is its own.

    Raises:
        AdapterFailed: with where it broke off.
    """
    try:
        yield
    except (Refused, UnknownSetting, AdapterFailed):
        raise
    except Exception as error:
        details = "".join(traceback.format_exception(error))
        raise AdapterFailed(f"it broke off {what}: {type(error).__name__}: {error}", details) from error


class Driver:
    """Drives one adapter through runs of one scenario."""

    def __init__(self, claim: Scenario, system: TransitionSystem, adapter: Adapter, defect: str = "") -> None:
        self.claim = claim
        self.system = system
        self.adapter = adapter
        self.defect = defect
        self.comparison = Comparison(system)

    def follow(
        self, trace: Trace, taken: Callable[[int], None] = lambda _: None, stop: Callable[[], bool] = lambda: False
    ) -> Divergence | None:
        """Start afresh and take a run.

        `taken` is told the number of each transition that came out right, from 0; `stop` is asked before each whether
        to leave the rest.

        Raises:
            AdapterFailed: the adapter is at fault.
            UnknownSetting: the system has no such parameter, variant or defect.
        """
        with asking("at the start"):
            self.adapter.reset(setting_of(self.claim, self.system, trace.initial, self.defect))
        observation = self._observed("at the start")
        differences = self.comparison.differences(trace.initial, observation)
        if differences:
            return Divergence("start", Trace(trace.initial), "", observation, tuple(differences), ())
        before = trace.initial
        for number, step in enumerate(trace.steps):
            if stop():
                return None
            found = self._take(before, Trace(trace.initial, trace.steps[: number + 1]))
            if found is not None:
                return found
            taken(number)
            before = step.state
        return None

    def say_what_was_seen(self, driven: Driven) -> None:
        """Note which variables no observation has had so far."""
        driven.unseen = tuple(self.comparison.unseen())
        driven.blind = not self.comparison.seen

    def _take(self, before: State, trace: Trace) -> Divergence | None:
        step = trace.steps[-1]
        action = action_of(step.action, step.choices, step.faults)
        what = f"in action {len(trace)}, {action.kind} {action.id}"
        after = f"observing after action {len(trace)}, {action.kind} {action.id}"
        try:
            with asking(what):
                self.adapter.perform(action)
        except Refused as refused:
            observation = self._observed(after)
            changed = tuple(self.comparison.differences(before, observation))
            return Divergence("refused", trace, str(refused) or "without a word", observation, changed, ())
        observation = self._observed(after)
        differences = tuple(self.comparison.differences(step.state, observation))
        if not differences:
            return None
        return Divergence("differs", trace, "", observation, differences, tuple(self._nearest(before, observation)))

    def _observed(self, when: str) -> Observation:
        with asking(when):
            return self.adapter.observe()

    def _nearest(self, before: State, observation: Observation) -> Sequence[Near]:
        """Return what is allowed in a state, that nothing happens included, what differs least first."""
        outcomes = [Near(None, tuple(self.comparison.differences(before, observation)))]
        for transition in Evaluator(self.system).transitions(before):
            if not isinstance(transition, Failure):
                step = TraceStep.of(transition)
                outcomes.append(Near(step, tuple(self.comparison.differences(step.state, observation))))
        return sorted(outcomes, key=lambda near: len(near.differences))[:NEAREST_SHOWN]


def drive(driver: Driver, graph: Graph, cover: Cover, reason_to_stop: Callable[[Driven], str]) -> Driven:
    """Drive a system along all runs of a cover; stop at the first difference, or where there is a reason to.

    A difference is looked for once more on a shortest way, because a long run explains little.

    Raises:
        AdapterFailed: the adapter is at fault.
        UnknownSetting: the system has no such parameter, variant or defect.
    """
    result = Driven(cover.wanted)
    done = bytearray(cover.wanted)

    def stop() -> bool:
        result.cut = reason_to_stop(result)
        return bool(result.cut)

    for run in cover.runs:
        if stop():
            break

        def taken(number: int, edges: tuple[int, ...] = run.edges) -> None:
            aim = cover.aims[edges[number]]
            result.covered += not done[aim]
            done[aim] = 1
            result.actions += 1

        result.divergence = driver.follow(graph.trace(run.start, run.edges), taken, stop)
        result.runs += 1
        if result.cut:
            break
        if result.divergence is not None:
            result.divergence = _shortened(driver, graph, run.edges, result.divergence)
            break
    driver.say_what_was_seen(result)
    return result


def _shortened(driver: Driver, graph: Graph, edges: tuple[int, ...], found: Divergence) -> Divergence:
    if not found.trace.steps:
        return found
    last = edges[len(found.trace) - 1]
    # States have the numbers of a breadth-first search, so the first transition alike is one of the nearest.
    for edge in dict.fromkeys((graph.way_of.index(graph.way_of[last]), last)):
        way = shortest(graph, graph.sources()[edge])
        if len(way.edges) + 1 < len(found.trace):
            shorter = driver.follow(graph.trace(way.start, (*way.edges, edge)))
            if shorter is not None:
                return shorter
    # What only the longer run brings about is a difference all the same.
    return found

"""Whether what was recorded of a system is a run of the model, with the steps filled in that leave no record.

The classical subset construction: the set of all states in which the model may be after what was recorded so far.
Before an event the set is closed under hidden transitions; an event leads to the states that its action leads to and
that agree with what was observed. A set that becomes empty refutes the log.

How every state was reached is kept, so that an accepted log gives a run, with as few hidden steps before each event as
that event needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from checker.conformance.adapter import Observation
from checker.conformance.eventlog import Event, Recorded
from checker.conformance.translation import Comparison, plain
from checker.exploration import Limits
from checker.trace import Trace, TraceStep
from model.evaluate import Evaluator
from model.system import State, TransitionSystem
from model.transitions import Action, Transition
from model.types import whole

POSSIBLE_MAX = 100_000
"""More possible states at once are too many to go on."""


class TooManyStates(Exception):
    """Hidden steps lead to more states than can be followed, or time is up; the message says which."""


@dataclass(frozen=True, slots=True)
class Origin:
    """How a possible state was reached: from which state of which stage, by which step; None where it stayed."""

    stage: int
    state: State
    step: TraceStep | None


@dataclass(frozen=True, slots=True)
class Rejection:
    """The first event that nothing explains, and the states that were possible before it."""

    event: Event
    number: int
    """Counts events from 1."""
    possible: tuple[State, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """A run of the model that explains a log, and for each step the event that records it: None for a hidden one."""

    trace: Trace
    events: tuple[Event | None, ...]

    @property
    def hidden(self) -> int:
        """How many steps were filled in."""
        return sum(event is None for event in self.events)


class Acceptor:
    """Follows events as they come."""

    def __init__(
        self,
        system: TransitionSystem,
        recorded: Recorded | None = None,
        limits: Limits | None = None,
        initial: Iterable[State] | None = None,
        evaluator: Evaluator | None = None,
    ) -> None:
        self.system = system
        self.recorded = recorded or Recorded()
        self.limits = limits or Limits()
        self.comparison = Comparison(system)
        self.evaluator = evaluator or Evaluator(system)
        starts = system.initial_states if initial is None else initial
        self.stages: list[dict[State, Origin | None]] = [dict.fromkeys(starts)]
        """The possible states after each event, those that hidden steps lead to included."""
        self.events: list[Event] = []
        self._closed = False
        self._hidden: dict[State, list[TraceStep]] = {}
        self._may_hide = self.recorded != Recorded()

    @property
    def possible(self) -> tuple[State, ...]:
        """The states in which the model may be now, before any hidden step."""
        return tuple(self.stages[-1])

    def take(self, event: Event) -> Rejection | None:
        """Follow one event; what is refused is not followed.

        Raises:
            AdapterFailed: an observation speaks of something else than the model.
            TooManyStates: hidden steps lead to too many states.
        """
        self.comparison.known(event.observed)
        self._close()
        return None if self.follow(event, self.ways) else Rejection(event, len(self.events) + 1, self.possible)

    def follow(self, event: Event, ways: Callable[[Event, State], Iterable[TraceStep | None]]) -> bool:
        """Follow an event by what it can be in a state: transitions, or None for nothing that changes the state.

        What then does not agree with what was observed after it is left out. Returns whether anything is left; if
        nothing is, the event is not followed.
        """
        stage = len(self.stages) - 1
        following: dict[State, Origin | None] = {}
        for state in self.stages[-1]:
            for step in ways(event, state):
                after = state if step is None else step.state
                if after not in following and self.comparison.agrees(after, event.observed):
                    following[after] = Origin(stage, state, step)
        if following:
            self.stages.append(following)
            self.events.append(event)
            self._closed = False
        return bool(following)

    def ways(self, event: Event, state: State) -> Iterator[TraceStep | None]:
        """Yield what an event can be in a state, as `follow` takes it."""
        if event.kind == "observed":
            yield None
            return
        steps = list(self.steps_of(event, state))
        yield from steps
        if event.kind == "crash" and not steps and self._loses_nothing(event, state):
            yield None

    def _loses_nothing(self, event: Event, state: State) -> bool:
        """Tell whether a crash would change nothing, which the model has no transition for and the world does."""
        system, process = self.system, self.system.specification.processes[event.process]
        if event.torn or event.label != process.start or process.restarts != "at_once":
            return False
        faults = [fault for fault, _ in system.crash_faults(process)]
        for instance in range(system.counts[process.name]) if event.instance is None else (event.instance,):
            memory = system.memory_slots(process, instance)
            if state[system.label_slots[process.name, instance]] == event.label and all(
                state[slot] == system.slots[slot].initial for slot in memory
            ):
                # What `on_crash` changes is known only where the model may crash: there it has no transition either.
                point = f"{process.name}.{event.label}"
                if process.on_crash is None:
                    return bool(faults)
                return any(may_crash(system, fault, point, state) for fault in faults)
        return False

    def steps_of(self, event: Event, state: State) -> Iterator[TraceStep]:
        """Yield the transitions from a state that an event can be, whatever was observed after it."""
        for action in self.actions_of(event, state):
            for outcome in self.evaluator.transitions_of(state, action):
                if isinstance(outcome, Transition) and fits(event, outcome):
                    yield TraceStep.of(outcome)

    def actions_of(self, event: Event, state: State) -> Iterator[Action]:
        """Yield the actions that an event can be in a state."""
        process = self.system.specification.processes[event.process]
        instances = range(self.system.counts[event.process]) if event.instance is None else (event.instance,)
        for instance in instances:
            match event.kind:
                case "step":
                    yield Action(process.name, instance, event.label)
                case "crash":
                    for fault, _ in self.system.crash_faults(process):
                        yield Action(process.name, instance, event.label, fault, event.torn)
                case _:
                    yield from self._restarts(process.name, instance, state)

    def _restarts(self, process: str, instance: int, state: State) -> Iterator[Action]:
        for outcome in self.evaluator.transitions(state):
            action = outcome.action
            if action.kind == "restart" and (action.process, action.instance) == (process, instance):
                yield action

    def explanation(self, state: State | None = None) -> Explanation:
        """Return a run that explains the events so far, to one of the possible states; the first unless told."""
        steps: list[TraceStep] = []
        events: list[Event | None] = []
        stage = len(self.stages) - 1
        if state is None:
            state = next(iter(self.stages[stage]))
        while (origin := self.stages[stage][state]) is not None:
            if origin.step is not None:
                steps.append(origin.step)
                events.append(None if origin.stage == stage else self.events[stage - 1])
            stage, state = origin.stage, origin.state
        return Explanation(Trace(state, tuple(reversed(steps))), tuple(reversed(events)))

    # -- hidden steps ---------------------------------------------------------------------------------------------

    def _close(self) -> None:
        """Add the states that hidden steps lead to."""
        if self._closed or not self._may_hide:
            return
        stage = len(self.stages) - 1
        states = self.stages[-1]
        pending = list(states)
        for state in pending:  # grows meanwhile
            for step in self._hidden_steps(state):
                if step.state not in states:
                    states[step.state] = Origin(stage, state, step)
                    pending.append(step.state)
            if len(pending) > POSSIBLE_MAX:
                raise TooManyStates(f"hidden steps lead to more than {POSSIBLE_MAX:,} states at once")
            if reason := self.limits.reason_to_stop(0):
                raise TooManyStates(reason)
        self._closed = True

    def _hidden_steps(self, state: State) -> list[TraceStep]:
        known = self._hidden.get(state)
        if known is None:
            known = self._hidden[state] = [
                TraceStep.of(outcome)
                for outcome in self.evaluator.transitions(state)
                if isinstance(outcome, Transition) and not self.recorded.has(outcome.action)
            ]
        return known


def fits(event: Event, transition: Transition) -> bool:
    """Tell whether the choices and faults of a transition are those of an event, as far as it says."""
    choices = tuple(plain(choice) for choice in transition.choices)
    return _are(choices, event.choices, event) and _are(transition.faults, event.faults, event)


def _are(found: tuple[object, ...], told: tuple[object, ...] | None, event: Event) -> bool:
    return told is None or found == (told[: len(found)] if event.prepared else told)


def may_crash(system: TransitionSystem, fault: str, point: str, state: State) -> bool:
    """Tell whether the scenario allows a crash at a kill point, and some of its budget is left."""
    budget = system.budgets[fault]
    return budget.allowed and (budget.at is None or point in budget.at) and not spent(system, fault, state)


def spent(system: TransitionSystem, fault: str, state: State) -> bool:
    """Tell whether a fault has happened as often as it may."""
    slot, limit = system.budget_slots.get(fault), system.budgets[fault].limit
    return slot is not None and limit is not None and whole(state[slot]) >= limit


def observed(line: int, observation: Observation) -> Event:
    """Return the event that something was only looked at."""
    return Event(line, "observed", observed=observation)

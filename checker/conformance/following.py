"""In which states the model can be after what has been seen of processes that run, and are killed, by themselves.

Such a process shows the kill points that it comes by, and not how its choices come out. So a `Follower` holds every
state that explains all that was seen, and forgets those that the next thing excludes. The algorithm is that of
`checker.conformance.accepts`, where a log is followed; here it is what a process says by standing, waiting, being gone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass

from checker.conformance.accepts import Acceptor
from checker.conformance.adapter import Action, Observation
from checker.conformance.eventlog import Event
from checker.conformance.translation import plain
from checker.trace import Trace, TraceStep
from model.evaluate import Evaluator
from model.system import CRASHED, STOPPED, State, TransitionSystem
from model.transitions import Action as ModelAction
from model.transitions import Failure, Transition


class Unexplained(Exception):
    """No state of the model explains what was seen."""


@dataclass(frozen=True, slots=True)
class Instance:
    """One process."""

    process: str
    number: int = 0


class Remembering(Evaluator):
    """An evaluator that looks the outcomes of an action in a state up once: runs have most of them in common."""

    def __init__(self, system: TransitionSystem) -> None:
        super().__init__(system)
        self._known: dict[tuple[State, ModelAction], tuple[Transition | Failure, ...]] = {}

    def transitions_of(self, state: State, action: ModelAction) -> Iterator[Transition | Failure]:
        """Yield the outcomes of an action in a state."""
        known = self._known.get((state, action))
        if known is None:
            known = self._known[state, action] = tuple(super().transitions_of(state, action))
        return iter(known)


class Follower:
    """Follows one run of an implementation."""

    def __init__(self, evaluator: Remembering, initial: Iterable[State]) -> None:
        """Begin in some of the initial states."""
        self.system = evaluator.system
        self._acceptor = Acceptor(self.system, initial=initial, evaluator=evaluator)

    @property
    def states(self) -> tuple[State, ...]:
        """Those that explain everything so far."""
        return self._acceptor.possible

    @property
    def trace(self) -> Trace:
        """A run of the model that explains everything so far."""
        return self._acceptor.explanation().trace

    def label(self, instance: Instance, state: State) -> str:
        """Return where a process stands in a state."""
        return str(state[self.system.label_slots[instance.process, instance.number]])

    def labels(self, instance: Instance) -> list[str]:
        """Return where a process may stand now."""
        return sorted({self.label(instance, state) for state in self.states})

    # -- what is seen ----------------------------------------------------------------------------------------------

    def stand(self, instance: Instance, label: str) -> None:
        """See that a process stands before a step.

        Raises:
            Unexplained: it stands elsewhere in the model.
        """
        where = " or ".join(f"`{place}`" for place in self.labels(instance))
        message = f"{self._name(instance)} stands at `{label}`; the model has it at {where}"
        self._keep((state for state in self.states if self.label(instance, state) == label), message)

    def step(self, instance: Instance, label: str, *, perhaps: bool = False) -> None:
        """See a process take a step, `perhaps` only, whatever comes of it.

        Raises:
            Unexplained: the model does not allow it.
        """
        self._take(Event(0, "step", instance.process, label, instance=instance.number), perhaps=perhaps)

    def act(self, action: Action) -> None:
        """See an action that came out as it was asked to.

        Raises:
            Unexplained: the model does not allow it.
        """
        self._take(_event_of(action))

    def refuse(self, action: Action) -> None:
        """See an action refused: the model is in a state in which it does not allow it either.

        Raises:
            Unexplained: it allows it wherever it may be.
        """
        event = _event_of(action)
        refusing = (state for state in self.states if not any(self._acceptor.steps_of(event, state)))
        self._keep(refusing, f"refused is {event.text}, which the model allows here")

    def crash(self, instance: Instance, label: str, *, torn: bool = False, perhaps: bool = False) -> None:
        """See a process killed before a step or inside it, `perhaps` only.

        Raises:
            Unexplained: the model does not allow it.
        """
        self._take(Event(0, "crash", instance.process, label, torn, instance.number), perhaps=perhaps)

    def leave(self, instance: Instance) -> None:
        """See a process gone that has ended by itself: its memory is lost like that of one that was killed."""
        for label in self.labels(instance):
            if label not in (CRASHED, STOPPED):
                self.crash(instance, label, perhaps=True)

    def restart(self, instance: Instance) -> None:
        """See a process started again, which takes something only where it is down.

        Raises:
            Unexplained: a process that is down stays down.
        """
        event = Event(0, "restart", instance.process, instance=instance.number)
        up = [state for state in self.states if self.label(instance, state) != CRASHED]
        if len(up) < len(self.states):
            self._take(event, staying=up)

    def rest(self, instance: Instance, *, stopped: bool) -> None:
        """See that a process has nothing to do now, or has `stopped` for good.

        One that the model never lets stop may do so where it begins again, since there it has nothing to lose.

        Raises:
            Unexplained: the model has it elsewhere, or go on, and not by an unfair step or a fault.
        """
        process = self.system.specification.processes[instance.process]
        end = STOPPED if process.stops else process.start

        def fits(state: State) -> bool:
            label = self.label(instance, state)
            return label == end if stopped else label != STOPPED and not self._goes_on(instance, state)

        does = "has stopped" if stopped else "waits"
        message = f"{self._name(instance)} {does} while the model has it at {', '.join(self.labels(instance))}"
        self._keep(filter(fits, self.states), message)

    def observe(self, observation: Observation, leaving_out: Collection[str] = ()) -> None:
        """Compare what was observed, all of it or without some slots.

        Raises:
            AdapterFailed: it speaks of something else than the model.
            Unexplained: no state has these values together; the message names what differs from the nearest.
        """
        comparison = self._acceptor.comparison
        seen = {name: value for name, value in comparison.known(observation).items() if name not in leaving_out}
        nearest = min((comparison.differences(state, seen) for state in self.states), key=len)
        message = "; ".join(f"{each.name} is {each.observed}, in the model {each.model}" for each in nearest)
        self._keep((state for state in self.states if comparison.agrees(state, seen)), message)

    def overlaid(self, observation: Observation, leaving_out: Collection[str] = ()) -> Iterator[State]:
        """Yield the possible states with what was observed written over them: perhaps states of no model."""
        numbers = self._acceptor.comparison.numbers
        for state in self.states:
            values = list(state)
            for name, value in observation.items():
                if name not in leaving_out:
                    domain = self.system.slots[numbers[name]].domain
                    fitting = [known for known in domain.values() if plain(known) == value]
                    values[numbers[name]] = fitting[0] if fitting else state[numbers[name]]
            yield tuple(values)

    # -- how -------------------------------------------------------------------------------------------------------

    def _name(self, instance: Instance) -> str:
        return self.system.instance_name(instance.process, instance.number)

    def _goes_on(self, instance: Instance, state: State) -> bool:
        action = ModelAction(instance.process, instance.number, self.label(instance, state))
        outcomes = self._acceptor.evaluator.transitions_of(state, action)
        return any(isinstance(outcome, Transition) and outcome.fair for outcome in outcomes)

    def _keep(self, states: Iterable[State], message: str) -> None:
        kept = set(states)
        self._follow(Event(0, "observed"), lambda _, state: [None] if state in kept else [], message)

    def _take(self, event: Event, *, perhaps: bool = False, staying: Collection[State] = ()) -> None:
        def ways(event: Event, state: State) -> Iterator[TraceStep | None]:
            if perhaps or state in staying:
                yield None
            yield from self._acceptor.ways(event, state)

        self._follow(event, ways, f"the model does not allow {event.text} here")

    def _follow(self, event: Event, ways: Callable[[Event, State], Iterable[TraceStep | None]], message: str) -> None:
        if not self._acceptor.follow(event, ways):
            raise Unexplained(message)


def _event_of(action: Action) -> Event:
    place = (action.process, action.step, action.torn, action.instance)
    return Event(0, action.kind, *place, action.choices, action.faults)

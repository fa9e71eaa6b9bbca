"""In which states the model can be after what has been seen of an implementation.

What was seen is incomplete: a step does not say how its choices came out, and an observation leaves variables out. So a
`Follower` holds every state that explains all of it, and forgets those that the next thing seen excludes. Where none is
left, the implementation did what the model does not allow. Only the evaluator is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from checker.conformance.adapter import Observation, Plain
from checker.trace import Trace, TraceStep
from model.evaluate import Evaluator
from model.system import CRASHED, STOPPED, State, TransitionSystem
from model.transitions import Action, Transition
from model.types import SetValue, Value

_Way = tuple[State, TraceStep] | None
"""Where a state was come from and how; None where the layer before has the same state."""


class Unexplained(Exception):
    """No state of the model explains what was seen. `states` are those that explained everything before."""

    def __init__(self, message: str, states: Sequence[State]) -> None:
        super().__init__(message)
        self.states = tuple(states)


class UnknownVariable(Exception):
    """An adapter tells of something that the model does not have; the message says what."""


@dataclass(frozen=True, slots=True)
class Instance:
    """One process."""

    process: str
    number: int = 0


def plain(value: Value) -> Plain:
    """Return a value as adapters have it."""
    return [*value.elements] if isinstance(value, SetValue) else value


def same(one: Plain, other: Plain) -> bool:
    """Tell whether two values are equal; true is not 1, and the elements of a set come in any order."""
    if isinstance(one, list) and isinstance(other, list):
        return sorted(map(repr, one)) == sorted(map(repr, other))
    return type(one) is type(other) and one == other


class Transitions:
    """The transitions of a system by state and action, looked up once: many runs have most of them in common."""

    def __init__(self, system: TransitionSystem) -> None:
        self.system = system
        self._evaluator = Evaluator(system)
        self._known: dict[tuple[State, Action], tuple[Transition, ...]] = {}

    def of(self, state: State, action: Action) -> tuple[Transition, ...]:
        """Return what an action can come to in a state; ways that end in an error lead nowhere."""
        known = self._known.get((state, action))
        if known is None:
            found = self._evaluator.transitions_of(state, action)
            known = self._known[state, action] = tuple(t for t in found if isinstance(t, Transition))
        return known


class Follower:
    """Follows one run of an implementation."""

    def __init__(self, transitions: Transitions, initial: Iterable[State] | None = None) -> None:
        """Begin in the initial states of the system, or in some of them."""
        self._transitions = transitions
        self.system = transitions.system
        first = self.system.initial_states if initial is None else initial
        self._layers: list[dict[State, _Way]] = [dict.fromkeys(first)]

    @property
    def states(self) -> tuple[State, ...]:
        """Those that explain everything so far."""
        return tuple(self._layers[-1])

    def label(self, instance: Instance, state: State) -> str:
        """Return where a process stands in a state; environment processes stand nowhere."""
        return str(state[self.system.label_slots[instance.process, instance.number]])

    def labels(self, instance: Instance) -> list[str]:
        """Return where a process may stand now."""
        return sorted({self.label(instance, state) for state in self.states})

    def stand(self, instance: Instance, label: str) -> None:
        """See that a process stands before a step.

        Raises:
            Unexplained: it stands elsewhere in the model.
        """
        before = self.labels(instance)
        here = [state for state in self.states if self.label(instance, state) == label]
        where = " or ".join(f"`{place}`" for place in before)
        self._keep(here, f"{self._name(instance)} stands at `{label}`; the model has it at {where}")

    def step(
        self,
        instance: Instance,
        label: str,
        choices: Sequence[Plain] | None = None,
        faults: Sequence[str] | None = None,
        *,
        perhaps: bool = False,
    ) -> None:
        """See a process take a step, `perhaps` only; without `choices` or `faults` they may come out in any way.

        Raises:
            Unexplained: the model does not allow it.
        """

        def fits(transition: Transition) -> bool:
            made = [plain(choice) for choice in transition.choices]
            chosen = choices is None or (len(made) == len(choices) and all(map(same, made, choices)))
            return chosen and (faults is None or transition.faults == tuple(faults))

        action = Action(instance.process, instance.number, label)
        how = "" if choices is None else f" that chooses {list(choices)}" if choices else ""
        how += f" with {', '.join(faults)}" if faults else ""
        self._go(lambda _: [action], fits, f"{action.step}{how} cannot happen in the model here", perhaps=perhaps)

    def crash(self, instance: Instance, label: str, *, torn: bool = False, perhaps: bool = False) -> None:
        """See a process killed before a step or inside it, `perhaps` only.

        Where nothing could be lost, because it is at its start, the model need not have a crash.

        Raises:
            Unexplained: the model does not allow it.
        """
        process = self.system.specification.processes[instance.process]
        point = f"{instance.process}.{label}{'.torn' if torn else ''}"
        idle = label == process.start and not torn and point not in self.system.kill_points[instance.process]
        faults = [name for name, _ in self.system.crash_faults(process)]
        actions = [Action(instance.process, instance.number, label, fault, torn) for fault in faults]

        def possible(state: State) -> list[Action]:
            return actions if self.label(instance, state) == label else []

        self._go(possible, _any, f"the model allows no crash at {point} here", perhaps=perhaps or idle)

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
        action = Action(instance.process, instance.number, CRASHED)
        down = {state for state in self.states if self.label(instance, state) == CRASHED}
        if down:
            message = f"{self._name(instance)} never starts again in the model"
            up: dict[State, _Way] = {state: None for state in self.states if state not in down}
            self._push({**up, **self._taken(down, lambda _: [action], _any)}, message)

    def rest(self, instance: Instance, *, stopped: bool) -> None:
        """See that a process has nothing to do now, or has `stopped` for good.

        Raises:
            Unexplained: the model has it go on, and not by an unfair step or a fault.
        """
        name = self._name(instance)
        if stopped:
            self._keep([s for s in self.states if self.label(instance, s) == STOPPED], f"{name} has stopped too early")
            return
        message = f"{name} waits where the model goes on: at {', '.join(self.labels(instance))}"
        self._keep([state for state in self.states if not self._goes_on(instance, state)], message)

    def observe(self, observation: Observation, leaving_out: Collection[str] = ()) -> None:
        """Compare what was observed, all of it or without some slots.

        Raises:
            Unexplained: no state has these values together; the message names what differs from the nearest.
            UnknownVariable: the model has no such slot.
        """
        seen = self._seen(observation, leaving_out)
        fitting = [s for s in self.states if all(same(plain(s[slot]), value) for slot, value in seen.items())]
        self._keep(fitting, "" if fitting else self._difference(seen))

    def overlaid(self, observation: Observation, leaving_out: Collection[str] = ()) -> Iterator[State]:
        """Yield the possible states with what was observed written over them: perhaps states of no model."""
        seen = self._seen(observation, leaving_out)
        for state in self.states:
            values = list(state)
            for slot, value in seen.items():
                domain = self.system.slots[slot].domain
                match = next((v for v in domain.values() if same(plain(v), value)), None)
                values[slot] = match if match is not None or value is None else state[slot]
            yield tuple(values)

    def trace(self, state: State | None = None) -> Trace:
        """Return a run of the model that explains what was seen, to one of the possible states."""
        now = self.states[0] if state is None else state
        steps: list[TraceStep] = []
        for layer in reversed(self._layers):
            way = layer[now]
            if way is not None:
                now = way[0]
                steps.append(way[1])
        return Trace(now, tuple(reversed(steps)))

    # -- how -------------------------------------------------------------------------------------------------------

    def _name(self, instance: Instance) -> str:
        return self.system.instance_name(instance.process, instance.number)

    def _goes_on(self, instance: Instance, state: State) -> bool:
        action = Action(instance.process, instance.number, self.label(instance, state))
        return any(transition.fair for transition in self._transitions.of(state, action))

    def _keep(self, states: Iterable[State], message: str) -> None:
        self._push(dict.fromkeys(states), message)

    def _go(
        self,
        actions: Callable[[State], Sequence[Action]],
        fits: Callable[[Transition], bool],
        message: str,
        *,
        perhaps: bool,
    ) -> None:
        taken = self._taken(self.states, actions, fits)
        stayed: dict[State, _Way] = dict.fromkeys(self.states) if perhaps else {}
        self._push({**taken, **stayed}, message)

    def _taken(
        self,
        states: Iterable[State],
        actions: Callable[[State], Sequence[Action]],
        fits: Callable[[Transition], bool],
    ) -> dict[State, _Way]:
        layer: dict[State, _Way] = {}
        for state in states:
            for action in actions(state):
                for t in self._transitions.of(state, action):
                    if t.successor not in layer and fits(t):
                        layer[t.successor] = state, TraceStep(t.action, t.choices, t.faults, t.successor)
        return layer

    def _push(self, layer: dict[State, _Way], message: str) -> None:
        if not layer:
            raise Unexplained(message, self.states)
        self._layers.append(layer)

    def _seen(self, observation: Observation, leaving_out: Collection[str]) -> Mapping[int, Plain]:
        numbers = {slot.name: number for number, slot in enumerate(self.system.slots)}
        unknown = sorted(set(observation) - set(numbers))
        if unknown:
            raise UnknownVariable(f"what is observed has no place in the model: {', '.join(unknown)}")
        return {numbers[name]: value for name, value in observation.items() if name not in leaving_out}

    def _difference(self, seen: Mapping[int, Plain]) -> str:
        """Say what is different in the state that has most of the values."""
        nearest = min(self.states, key=lambda s: sum(not same(plain(s[slot]), value) for slot, value in seen.items()))
        items = [
            f"{self.system.slots[slot].name} is {value}, in the model {plain(nearest[slot])}"
            for slot, value in seen.items()
            if not same(plain(nearest[slot]), value)
        ]
        return "; ".join(items)


def _any(_: Transition) -> bool:
    return True

"""Between the model's states and transitions and what adapters speak of: values as JSON has them, actions, settings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from checker.conformance.adapter import Action, AdapterFailed, Observation, Plain, Setting
from model.specification import Scenario
from model.system import Slot, State, TransitionSystem
from model.transitions import Action as ModelAction
from model.types import SetValue, Value


@dataclass(frozen=True, slots=True)
class Difference:
    """A variable that has another value in the system than in the model."""

    name: str
    model: Plain
    observed: Plain


def plain(value: Value) -> Plain:
    """Return a value as adapters have it: a set as the list of its elements."""
    return list(value.elements) if isinstance(value, SetValue) else value


def action_of(action: ModelAction, choices: tuple[Value, ...], faults: tuple[str, ...]) -> Action:
    """Return what an adapter is asked to do for a transition."""
    step = "" if action.kind == "restart" else action.label
    answers = tuple(plain(choice) for choice in choices)
    return Action(action.kind, action.process, action.instance, step, answers, faults, action.torn)


def setting_of(claim: Scenario, system: TransitionSystem, initial: State, defect: str = "") -> Setting:
    """Return how a system is to start for a scenario, in one of its initial states."""
    parameters = {name: plain(value) for name, value in system.parameters.items()}
    return Setting(parameters, claim.variant, defect, values_of(system, initial))


def values_of(system: TransitionSystem, state: State) -> dict[str, Plain]:
    """Return the values of all slots by their names, as `killpoint trace --json` has them."""
    return {slot.name: plain(value) for slot, value in zip(system.slots, state, strict=True)}


class Comparison:
    """Compares states of one system with what an adapter observes."""

    def __init__(self, system: TransitionSystem) -> None:
        self.system = system
        self.numbers = {slot.name: number for number, slot in enumerate(system.slots)}
        self.seen: set[str] = set()
        """The slots that have been compared so far."""

    def known(self, observation: Observation) -> Observation:
        """Check that an observation speaks of the model, and return it.

        Raises:
            AdapterFailed: it has a name that no slot has, or a value that JSON does not have.
        """
        for name, value in observation.items():
            if name not in self.numbers:
                slots = ", ".join(self.numbers)
                raise AdapterFailed(f"it observes `{name}`, which the model does not have here; it has {slots}")
            if not _is_plain(value):
                raise AdapterFailed(f"it observes {value!r} as the value of `{name}`, which is no value of a model")
        return observation

    def differences(self, state: State, observation: Observation) -> list[Difference]:
        """Return the variables that differ, in the order of the slots.

        An observation may leave slots out. A counter of the model that has reached its end stands for more, too.

        Raises:
            AdapterFailed: it speaks of something else than the model.
        """
        self.known(observation)
        self.seen.update(observation)
        numbers = sorted(self.numbers[name] for name in observation)
        return [
            Difference(slot.name, plain(state[number]), observation[slot.name])
            for number, slot in ((number, self.system.slots[number]) for number in numbers)
            if not _equal(slot, state[number], observation[slot.name])
        ]

    def agrees(self, state: State, observation: Observation) -> bool:
        """Tell whether nothing differs."""
        return all(
            _equal(self.system.slots[number], state[number], value)
            for number, value in ((self.numbers[name], value) for name, value in observation.items())
        )

    def unseen(self) -> Iterator[str]:
        """Yield the slots that no observation has had; what a fault has spent is nothing to observe."""
        spent = set(self.system.budget_slots.values())
        for number, slot in enumerate(self.system.slots):
            if slot.name not in self.seen and number not in spent:
                yield slot.name


def _is_plain(value: object) -> bool:
    if isinstance(value, list):
        return all(_is_plain(element) and not isinstance(element, list) for element in value)
    return value is None or isinstance(value, bool | int | str)


def _equal(slot: Slot, model: Value, observed: Plain) -> bool:
    """Compare one value; `True` is not 1, and the order of a set does not count."""
    if isinstance(model, SetValue):
        if not isinstance(observed, list):
            return False
        return sorted(map(repr, observed)) == sorted(map(repr, model.elements))
    if slot.domain.counter and isinstance(observed, int) and not isinstance(observed, bool):
        return model == min(observed, slot.domain.size - 1)
    return type(model) is type(observed) and model == observed

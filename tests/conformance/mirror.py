"""An adapter of anything: the evaluator plays the system. Driven along its own model it must conform to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from checker.conformance.adapter import Action, Observation, Plain, Refused, Setting
from checker.conformance.translation import action_of, values_of
from model.evaluate import Evaluator
from model.system import State, TransitionSystem
from model.transitions import Transition

Distortion = Callable[[State, Transition], State]
"""What the system makes of a transition instead."""


class Mirror:
    """Plays one transition system, distorted if you like."""

    observes: Sequence[str] = ()
    defects: Sequence[str] = ()

    def __init__(self, system: TransitionSystem, distortion: Distortion = lambda _, t: t.successor) -> None:
        self.system = system
        self.distortion = distortion
        self.state: State = ()

    def reset(self, setting: Setting) -> None:
        self.state = next(s for s in self.system.initial_states if values_of(self.system, s) == setting.initial)

    def perform(self, action: Action) -> None:
        for transition in self._transitions():
            if action_of(transition.action, transition.choices, transition.faults) == action:
                self.state = self.distortion(self.state, transition)
                return
        raise Refused("no transition")

    def observe(self) -> Observation:
        spent = {self.system.slots[slot].name for slot in self.system.budget_slots.values()}
        values: dict[str, Plain] = values_of(self.system, self.state)
        return {name: value for name, value in values.items() if name not in spent}

    def offers(self) -> Sequence[Action]:
        return [action_of(t.action, t.choices, t.faults) for t in self._transitions()]

    def close(self) -> None:
        pass

    def _transitions(self) -> list[Transition]:
        return [t for t in Evaluator(self.system).transitions(self.state) if isinstance(t, Transition)]

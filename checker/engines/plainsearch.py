"""Breadth-first over single states in plain lists, for those who ask the evaluator."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from checker.exploration import Limits
from checker.trace import Trace, TraceStep
from model.system import State
from model.transitions import Transition


class PlainSearch:
    """States, numbered in the order in which they are found: a smaller number is never farther from the start."""

    def __init__(self) -> None:
        self.states: list[State] = []
        self.numbers: dict[State, int] = {}
        self.depths: list[int] = []
        """How many transitions lead to each state at least."""
        self.depth = 0
        """How many layers have been begun."""
        self._ways: dict[int, tuple[int, Transition]] = {}
        """How each state that was `reached` was reached first, and from where."""

    def found(self, state: State) -> int | None:
        """Give a new state the next number; None for a known one."""
        if state in self.numbers:
            return None
        number = self.numbers[state] = len(self.states)
        self.states.append(state)
        self.depths.append(self.depth)
        return number

    def reached(self, source: int, transition: Transition) -> int | None:
        """Give the state to which a transition leads the next number, and keep the way; None for a known one."""
        number = self.found(transition.successor)
        if number is not None:
            self._ways[number] = (source, transition)
        return number

    def trace(self, number: int) -> Trace:
        """Return the way on which a state was reached, from the initial one it was found from."""
        steps: list[TraceStep] = []
        while number in self._ways:
            number, transition = self._ways[number]
            steps.append(TraceStep.of(transition))
        return Trace(self.states[number], tuple(reversed(steps)))

    def run(
        self,
        initial: Iterable[State],
        expand: Callable[[int], list[int]],
        limits: Limits,
        on_layer: Callable[[list[int]], None],
    ) -> str:
        """Search layer by layer; return why it was cut short, nothing where all states were expanded.

        `expand` takes the number of a state and returns the new ones among its successors; `on_layer` hears of each
        layer before it is expanded.
        """
        layer = [number for state in initial if (number := self.found(state)) is not None]
        while layer:
            self.depth += 1
            on_layer(layer)
            following: list[int] = []
            for number in layer:
                if cut := limits.reason_to_stop(len(self.states)):
                    return cut
                following += expand(number)
            layer = following
        return ""

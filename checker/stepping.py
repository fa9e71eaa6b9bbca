"""Walking through a transition system one transition at a time, and back."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cached_property

from checker.trace import Trace, TraceStep
from model.evaluate import Evaluator
from model.specification import PropertyKind
from model.system import State, TransitionSystem
from model.transitions import EvaluationError, Failure, Transition

_ALONE_MOST = 60
"""Steps after which nobody reads on what a process does alone."""


class Walk:
    """A run so far, and what may happen next. The evaluator says what that is, and nothing else is asked."""

    def __init__(self, system: TransitionSystem, start: int = 0, seed: int = 0) -> None:
        """Begin in the initial state with a number; `seed` decides where random walks go."""
        self.system = system
        self._evaluator = Evaluator(system)
        self._random = random.Random(seed)  # noqa: S311 - chooses where to walk, not what is secret
        self._initial = system.initial_states[start]
        self._taken: list[TraceStep] = []
        self._options: list[Transition | Failure] | None = None

    @property
    def state(self) -> State:
        """The state in which the walk is."""
        return self._taken[-1].state if self._taken else self._initial

    @property
    def trace(self) -> Trace:
        """The run so far."""
        return Trace(self._initial, tuple(self._taken))

    @property
    def options(self) -> Sequence[Transition | Failure]:
        """What may happen next, in the order of the evaluator: steps, restarts, crashes; and what would err."""
        if self._options is None:
            self._options = list(self._evaluator.transitions(self.state))
        return self._options

    def take(self, option: Transition) -> None:
        """Let one of the options happen."""
        self._taken.append(TraceStep.of(option))
        self._options = None

    def back(self, steps: int = 1) -> int:
        """Go back some transitions, to the start at most; return how many."""
        gone = min(steps, len(self._taken))
        del self._taken[len(self._taken) - gone :]
        self._options = None
        return gone

    def wander(self, steps: int) -> int:
        """Take random transitions until there are enough or nothing can happen; return how many."""
        for number in range(steps):
            possible = [option for option in self.options if isinstance(option, Transition)]
            if not possible:
                return number
            self.take(self._random.choice(possible))
        return steps

    def follow(self, trace: Trace) -> None:
        """Be at the end of a trace instead."""
        self._initial, self._taken, self._options = trace.initial, list(trace.steps), None

    def crashes(self) -> list[Transition]:
        """Return the crashes that may happen now."""
        found = [option for option in self.options if isinstance(option, Transition)]
        return [option for option in found if option.action.kind == "crash"]

    def false_here(self) -> list[str]:
        """Return the `always` properties that are false in this state, and what the last transition broke of others."""
        found = []
        before = self.trace.states[-2] if self._taken else None
        for claim in self.system.specification.properties.values():
            try:
                if claim.kind is PropertyKind.ALWAYS and not self._evaluator.holds(claim.expression, self.state):
                    found.append(claim.name)
                if claim.kind is PropertyKind.STEP and before is not None:
                    found += [] if self._evaluator.holds(claim.expression, before, self.state) else [claim.name]
            except EvaluationError:
                continue
        return found + [name for name in self._checked_false if name not in found]

    @property
    def _checked_false(self) -> Sequence[str]:
        if not self._taken:
            return ()
        last, before = self._taken[-1], self.trace.states[-2]
        return next(
            (
                transition.violated
                for transition in self._evaluator.transitions_of(before, last.action)
                if isinstance(transition, Transition)
                and (transition.choices, transition.faults, transition.successor)
                == (last.choices, last.faults, last.state)
            ),
            (),
        )

    def recovery(self, crash: Transition) -> tuple[Trace, bool]:
        """Return what the process does alone after a crash, without further faults, and whether it then waits.

        Of several ways the evaluator's first is shown; a process that comes back to where it was goes round.
        """
        before, state = self.state, crash.successor
        steps = [TraceStep(crash.action, crash.choices, crash.faults, state)]
        actor = (crash.action.process, crash.action.instance)
        seen = {state}
        while len(steps) < _ALONE_MOST:
            following = next(
                (
                    option
                    for option in self._evaluator.transitions(state)
                    if isinstance(option, Transition)
                    and (option.action.process, option.action.instance) == actor
                    and not option.faults
                ),
                None,
            )
            if following is None:
                return Trace(before, tuple(steps)), True
            state = following.successor
            steps.append(TraceStep(following.action, following.choices, following.faults, state))
            if state in seen:
                break
            seen.add(state)
        return Trace(before, tuple(steps)), False

    @cached_property
    def hidden(self) -> frozenset[int]:
        """The slots that only book-keeping needs: fresh bits and spent budgets."""
        return frozenset([*self.system.fresh_slots.values(), *self.system.budget_slots.values()])

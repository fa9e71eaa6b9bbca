"""Traces: finite runs of a transition system, and their replay by the evaluator.

Whichever engine found a trace, nobody is shown it before the evaluator has taken every transition of it
(`replay`). A trace that cannot be replayed is a defect of ours and is reported as one.
"""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

from model.evaluate import Evaluator
from model.expressions import Expression
from model.specification import Property, PropertyKind
from model.system import State, TransitionSystem
from model.transitions import Action, EvaluationError, Failure, Transition
from model.types import Value


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One transition of a trace; `choices` and `faults` say how it came out."""

    action: Action
    choices: tuple[Value, ...]
    faults: tuple[str, ...]
    state: State

    @classmethod
    def of(cls, transition: Transition) -> TraceStep:
        """Return a transition as a step of a trace."""
        return cls(transition.action, transition.choices, transition.faults, transition.successor)


@dataclass(frozen=True, slots=True)
class Trace:
    """An initial state and the transitions from it.

    `failing` is the action that could not be completed where the trace ends in a run-time error, else None. A *lasso*
    has in `loop` the number of the state from which it goes round for ever: the last state is the same one again. Where
    that is the last state's own number, the run stays there.
    """

    initial: State
    steps: tuple[TraceStep, ...] = ()
    failing: Action | None = None
    loop: int | None = None

    @property
    def cycle(self) -> tuple[TraceStep, ...]:
        """The transitions that go round for ever; none where there is no lasso, or where it stays in one state."""
        return self.steps[self.loop :] if self.loop is not None else ()

    @property
    def states(self) -> tuple[State, ...]:
        """All states, the initial one first."""
        return (self.initial, *(step.state for step in self.steps))

    @property
    def last(self) -> State:
        """The state in which the trace ends."""
        return self.states[-1]

    def __len__(self) -> int:
        """Return the number of transitions."""
        return len(self.steps)


class EngineDisagreement(Exception):
    """Two readings of a specification contradict each other; a defect of killpoint, never of the specification."""


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What a transition must be beside its action and successor: one that violates a property, one without a fault."""

    violates: str = ""
    steady: bool = False

    def fits(self, transition: Transition) -> bool:
        violates = not self.violates or self.violates in transition.violated
        return violates and not (self.steady and transition.faults)


_taken: WeakKeyDictionary[TransitionSystem, dict[tuple[State, Action, State, _Wanted], Transition]]
_taken = WeakKeyDictionary()
"""Transitions that the evaluator has taken: traces of one system have their beginnings in common."""


def replay(
    system: TransitionSystem,
    states: list[State],
    actions: list[Action],
    *,
    claimed: Property | None = None,
    loop: int | None = None,
) -> Trace:
    """Take a path that an engine found, transition by transition, with the evaluator.

    `states` has one more element than `actions`. Choices and faults are filled in by the evaluator: of several
    transitions with the same action and successor the first in its order. Of those the last one has to violate the
    `checked` property that is `claimed` to break: what a check finds leaves no mark in the state. From the state with
    the number `loop` on no transition may have a fault in it.

    Raises:
        EngineDisagreement: a state is not initial, or a transition does not exist.
    """
    if states[0] not in system.initial_states:
        raise EngineDisagreement(f"the trace does not start in an initial state: {describe_state(system, states[0])}")
    evaluator = Evaluator(system)
    taken = _taken.setdefault(system, {})
    steps: list[TraceStep] = []
    checked = claimed.name if claimed is not None and claimed.kind is PropertyKind.CHECKED else ""
    for number, (before, action, after) in enumerate(zip(states, actions, states[1:], strict=False), start=1):
        wanted = _Wanted(checked if number == len(actions) else "", steady=loop is not None and number > loop)
        found = taken.get((before, action, after, wanted)) or _transition(evaluator, before, action, after, wanted)
        if found is not None:
            taken[before, action, after, wanted] = found
        else:
            available = ", ".join(
                sorted({f"{t.action.process}.{t.action.label}" for t in evaluator.transitions(before)})
            )
            name = f"{action.kind} {action.process}[{action.instance}].{action.label}"
            raise EngineDisagreement(
                f"transition {len(steps) + 1} ({name}) of a trace is none of the evaluator's; "
                f"from that state it has: {available or 'nothing'}"
            )
        steps.append(TraceStep.of(found))
    return Trace(states[0], tuple(steps), loop=loop)


def _transition(
    evaluator: Evaluator, before: State, action: Action, after: State, wanted: _Wanted
) -> Transition | None:
    for candidate in evaluator.transitions_of(before, action):
        if isinstance(candidate, Transition) and candidate.successor == after and wanted.fits(candidate):
            return candidate
    return None


def confirm_violation(system: TransitionSystem, trace: Trace, expression: Expression, *, on_transition: bool) -> None:
    """Check with the evaluator that a property is false at the end of a trace, a `step` one on its last transition.

    Raises:
        EngineDisagreement: it is true there.
    """
    evaluator = Evaluator(system)
    states = trace.states
    false = (
        not evaluator.holds(expression, states[-2], states[-1])
        if on_transition
        else not evaluator.holds(expression, states[-1])
    )
    if not false:
        raise EngineDisagreement(
            f"an engine calls a property violated that the evaluator finds true in {describe_state(system, states[-1])}"
        )


def describe_state(system: TransitionSystem, state: State) -> str:
    """Write a state on one line, what differs from the initial state only."""
    initial = system.initial_states[0]
    changed = [
        f"{slot.name}={value}"
        for slot, value, start in zip(system.slots, state, initial, strict=True)
        if value != start
    ]
    return ", ".join(changed) or "the initial state"


def first_error(system: TransitionSystem, state: State) -> tuple[EvaluationError | None, Action | None]:
    """Return the first error that a state comes to, in a step or in a property, and the action where it is one's."""
    evaluator = Evaluator(system)
    transitions = list(evaluator.transitions(state))
    for transition in transitions:
        if isinstance(transition, Failure):
            return transition.error, transition.action
    for claim in system.specification.properties.values():
        successors = (
            [t.successor for t in transitions if not isinstance(t, Failure)]
            if claim.kind is PropertyKind.STEP
            else [None]
        )
        for successor in successors:
            for expression in claim.expressions:
                try:
                    evaluator.holds(expression, state, successor)
                except EvaluationError as error:
                    return error, None
    return None, None

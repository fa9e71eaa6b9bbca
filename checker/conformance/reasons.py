"""Why an event is none that the model allows: for the states that were possible before it, what stands against it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from checker.conformance.accepts import Acceptor, Rejection, fits, spent
from checker.conformance.eventlog import Event
from checker.conformance.translation import Difference, plain
from model.evaluate import Evaluator
from model.observer import Unobserved
from model.source import Source, Span
from model.system import State, TransitionSystem
from model.transitions import Action, Failure, Transition

REASONS_SHOWN = 3
"""How many different reasons are given, the nearest first."""

_STATES_ASKED = 2_000
"""Of the possible states, how many are asked for a reason."""


@dataclass(frozen=True, slots=True)
class Reason:
    """What stands against an event in some of the possible states; a smaller `distance` is nearer to an explanation."""

    distance: tuple[int, int]
    text: str
    differences: tuple[Difference, ...]
    state: State


def reasons(rejection: Rejection, acceptor: Acceptor, source: Source) -> list[Reason]:
    """Return the nearest reasons, each once."""
    found: dict[tuple[str, tuple[str, ...]], Reason] = {}
    for state in rejection.possible[:_STATES_ASKED]:
        for reason in _Asking(acceptor, source, state).reasons(rejection.event):
            key = (reason.text, tuple(difference.name for difference in reason.differences))
            known = found.get(key)
            if known is None or reason.distance < known.distance:
                found[key] = reason
    return sorted(found.values(), key=lambda reason: reason.distance)[:REASONS_SHOWN]


class _Bars(Unobserved):
    """Remembers what ended paths."""

    def __init__(self) -> None:
        self.spans: dict[Span, None] = {}

    def barred(self, span: Span) -> None:
        self.spans[span] = None


class _Asking:
    """Asks in one state."""

    def __init__(self, acceptor: Acceptor, source: Source, state: State) -> None:
        self.acceptor = acceptor
        self.system: TransitionSystem = acceptor.system
        self.source = source
        self.state = state

    def reasons(self, event: Event) -> Iterator[Reason]:
        if event.kind == "observed":
            yield self._differing(event, self.state, "what was observed is something else", 0)
            return
        actions = list(self.acceptor.actions_of(event, self.state))
        if not actions:
            text = "nothing may crash it here" if event.kind == "crash" else "it is not down"
            yield Reason((3, 0), text, (), self.state)
        for action in actions:
            yield from self._against(event, action)

    def _against(self, event: Event, action: Action) -> Iterator[Reason]:
        lane = self.system.instance_name(action.process, action.instance)
        slot = self.system.label_slots.get((action.process, action.instance))
        if slot is not None and action.kind != "restart" and self.state[slot] != action.label:
            yield Reason((3, 0), f"{lane} stands before {self.state[slot]}", (), self.state)
            return
        bars = _Bars()
        outcomes = list(Evaluator(self.system, bars).transitions_of(self.state, action))
        transitions = [outcome for outcome in outcomes if isinstance(outcome, Transition)]
        for outcome in outcomes:
            if isinstance(outcome, Failure):
                yield Reason((2, 1), f"the model itself errs here: {outcome.error.message}", (), self.state)
        if not transitions:
            yield Reason((2, 0), self._barred(action, bars), (), self.state)
        elif not any(fits(event, transition) for transition in transitions):
            refused = [text for fault in event.faults or () if (text := self._spent(fault))]
            text = f"it comes out otherwise: with {' or '.join(dict.fromkeys(map(_outcome, transitions)))}"
            yield Reason((1, 0), "; ".join(refused) or text, (), self.state)
        for transition in transitions:
            if fits(event, transition):
                yield self._differing(event, transition.successor, f"after it, with {_outcome(transition)},", 0)

    def _barred(self, action: Action, bars: _Bars) -> str:
        """Return why an instance that stands at the label cannot take the step, or crash there."""
        if action.kind == "crash":
            assert action.fault is not None
            budget = self.system.budgets[action.fault]
            if text := self._spent(action.fault):
                return text
            if budget.at is not None and action.kill_point not in budget.at:
                return f"the scenario allows {action.fault} only at {', '.join(sorted(budget.at))}"
            return f"{action.fault} there would change nothing"
        texts = [self.source.text_at(span) for span in bars.spans if span.file == self.source.file]
        return f"not enabled: {'; '.join(f'`{text}`' for text in texts)} bars the way" if texts else "not enabled"

    def _spent(self, fault: str) -> str:
        """Return that a fault may not happen any more; empty where it may."""
        budget = self.system.budgets[fault]
        if not budget.allowed:
            return f"the scenario does not allow {fault}"
        if not spent(self.system, fault, self.state):
            return ""
        return f"the scenario allows {fault} at most {budget.limit} times, and so often it has happened"

    def _differing(self, event: Event, state: State, text: str, nearness: int) -> Reason:
        differences = tuple(self.acceptor.comparison.differences(state, event.observed))
        return Reason((nearness, len(differences)), text, differences, self.state)


def _outcome(transition: Transition) -> str:
    """Return how a transition comes out, in a few words."""
    parts = [f"choices {[plain(choice) for choice in transition.choices]}"] if transition.choices else []
    faults = transition.faults[1:] if transition.action.kind == "crash" else transition.faults
    parts += [f"faults {', '.join(faults)}"] if faults else []
    return " and ".join(parts) or "no choice and no fault"

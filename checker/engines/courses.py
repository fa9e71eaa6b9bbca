"""The shortest run in which all the crashes of a course happen: how one comes to be killed there, and there again.

Only the evaluator is asked, and no further than to the last crash.
"""

from __future__ import annotations

from checker.exploration import Finding, Limits
from checker.trace import Trace, TraceStep
from model.evaluate import Evaluator
from model.system import State, TransitionSystem
from model.transitions import Transition


def run_through(system: TransitionSystem, limits: Limits) -> Finding | None:
    """Return the shortest run to the last crash that a system allows; None where there is none, or time is up.

    The system says which crashes there are, one after the other, at least one.
    """
    assert system.crashes, "without crashes there is nothing to come to"
    counters = {system.budget_slots[name] for name, budget in system.budgets.items() if budget.in_turn and budget.limit}
    if not counters:
        return None
    (counter,) = counters  # which all crashes share
    evaluator = Evaluator(system)
    parents: dict[State, tuple[State, Transition] | None] = dict.fromkeys(system.initial_states)
    for state in (order := list(parents)):  # grows meanwhile
        if limits.reason_to_stop(len(order)):
            return None
        for outcome in evaluator.transitions(state):
            if isinstance(outcome, Transition) and outcome.successor not in parents:
                parents[outcome.successor] = (state, outcome)
                order.append(outcome.successor)
                if outcome.successor[counter] == len(system.crashes):
                    trace = _trace(parents, outcome.successor)
                    return Finding(len(trace), trace)
    return None


def _trace(parents: dict[State, tuple[State, Transition] | None], last: State) -> Trace:
    steps: list[TraceStep] = []
    state = last
    while (parent := parents[state]) is not None:
        before, taken = parent
        steps.append(TraceStep(taken.action, taken.choices, taken.faults, state))
        state = before
    return Trace(state, tuple(reversed(steps)))

"""The shortest runs in which all the crashes of a course happen: how one comes to be killed there, and there again.

Only the evaluator is asked, and no further than to the last crash.
"""

from __future__ import annotations

from collections.abc import Collection

from checker.exploration import Finding, Limits
from checker.trace import Trace, TraceStep
from model.evaluate import Evaluator
from model.system import State, TransitionSystem
from model.transitions import Transition


def runs_through(system: TransitionSystem, wanted: Collection[str], limits: Limits) -> dict[str, Finding]:
    """Return by kill point the shortest run whose last crash falls there; those that there are, until time is up.

    The system says which crashes there are, one after the other, at least one.
    """
    assert system.crashes, "without crashes there is nothing to come to"
    counters = {system.budget_slots[name] for name, budget in system.budgets.items() if budget.in_turn and budget.limit}
    found: dict[str, Finding] = {}
    if not counters or not wanted:
        return found
    (counter,) = counters  # which all crashes share
    evaluator = Evaluator(system)
    parents: dict[State, tuple[State, Transition] | None] = dict.fromkeys(system.initial_states)
    for state in (order := list(parents)):  # grows meanwhile
        if limits.reason_to_stop(len(order)):
            break
        for outcome in evaluator.transitions(state):
            if not isinstance(outcome, Transition):
                continue
            point = outcome.action.kill_point
            if outcome.successor[counter] == len(system.crashes):
                # What comes after the last crash leads to none, and is not looked at. Two crashes may leave one state.
                if point in wanted and point not in found:
                    found[point] = _finding(parents, state, outcome)
                    if len(found) == len(wanted):
                        return found
            elif outcome.successor not in parents:
                parents[outcome.successor] = (state, outcome)
                order.append(outcome.successor)
    return found


def _finding(parents: dict[State, tuple[State, Transition] | None], state: State, last: Transition) -> Finding:
    steps = [_step(last)]
    while (parent := parents[state]) is not None:
        before, taken = parent
        steps.append(_step(taken))
        state = before
    trace = Trace(state, tuple(reversed(steps)))
    return Finding(len(trace), trace)


def _step(taken: Transition) -> TraceStep:
    return TraceStep(taken.action, taken.choices, taken.faults, taken.successor)

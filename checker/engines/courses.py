"""The shortest runs in which all the crashes of a course happen: how one comes to be killed there, and there again.

Only the evaluator is asked, and no further than to the last crash.
"""

from __future__ import annotations

from collections.abc import Collection

from checker.engines.plainsearch import PlainSearch
from checker.exploration import Finding, Limits
from checker.trace import Trace, TraceStep
from model.evaluate import Evaluator
from model.system import TransitionSystem
from model.transitions import Transition


def runs_through(system: TransitionSystem, wanted: Collection[str], limits: Limits) -> dict[str, Finding]:
    """Return by kill point the shortest run whose last crash falls there; those that there are, until time is up.

    The system says which crashes there are, one after the other, at least one.
    """
    assert system.crashes, "without crashes there is nothing to come to"
    counters = {system.budget_slots[name] for name, budget in system.budgets.items() if budget.in_turn and budget.limit}
    if not counters or not wanted:
        return {}
    (counter,) = counters  # which all crashes share
    last = len(system.crashes)
    evaluator = Evaluator(system)
    search = PlainSearch()
    ends: dict[str, tuple[int, Transition]] = {}

    def expand(number: int) -> list[int]:
        new: list[int] = []
        if len(ends) == len(wanted):
            return new
        for outcome in evaluator.transitions(search.states[number]):
            if not isinstance(outcome, Transition):
                continue
            point = outcome.action.kill_point
            if outcome.successor[counter] == last:
                # Crashes at two kill points may leave the same state, so it is the way that counts, and the first is
                # the shortest. What comes after it is of no interest.
                if point is not None and point in wanted:
                    ends.setdefault(point, (number, outcome))
            elif (reached := search.reached(number, outcome)) is not None:
                new.append(reached)
        return new

    search.run(system.initial_states, expand, limits, lambda _: None)
    return {point: _finding(search.trace(number), crash) for point, (number, crash) in ends.items()}


def _finding(before: Trace, crash: Transition) -> Finding:
    trace = Trace(before.initial, (*before.steps, TraceStep.of(crash)))
    return Finding(len(trace), trace)

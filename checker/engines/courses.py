"""The shortest run in which all the crashes of a course happen: how one comes to be killed there, and there again.

Only the evaluator is asked, and no further than to the last crash.
"""

from __future__ import annotations

from checker.engines.plainsearch import PlainSearch
from checker.exploration import Finding, Limits
from model.evaluate import Evaluator
from model.system import TransitionSystem
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
    last = len(system.crashes)
    evaluator = Evaluator(system)
    search = PlainSearch()
    ends: list[int] = []

    def expand(number: int) -> list[int]:
        if ends:
            return []
        outcomes = evaluator.transitions(search.states[number])
        ways = (search.reached(number, outcome) for outcome in outcomes if isinstance(outcome, Transition))
        new = [way for way in ways if way is not None]
        ends.extend(way for way in new if search.states[way][counter] == last)
        return new

    search.run(system.initial_states, expand, limits, lambda _: None)
    if not ends:
        return None
    trace = search.trace(ends[0])
    return Finding(len(trace), trace)

"""What survivors do: nothing else than the original, or something that no claim is about, shown by a shortest run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from checker.engines.altered import ways_to
from checker.engines.differences import compare
from checker.exploration import Limits
from checker.mutation.deciding import OnProgress, in_order
from checker.mutation.fates import Decided, Difference, Held, Move
from checker.trace import EngineDisagreement, Trace, describe_state
from model.evaluate import Evaluator
from model.system import State, TransitionSystem
from model.transitions import Failure, Transition


def explain(survivors: Sequence[Decided], held: Sequence[Held], limits: Limits, tell: OnProgress) -> None:
    """Find out of each survivor whether its transitions are the original's, and if not where they first differ.

    Of several scenarios in which they differ the first one is shown, in the order in which mutants are asked.

    Raises:
        EngineDisagreement: the evaluator does not see the difference, or a trace to it.
    """
    alike = list(survivors)
    known = {each.mutant.id: True for each in survivors}
    for number, one in enumerate(in_order(held), start=1):
        if limits.interrupted:
            break
        tell(f"comparing {len(alike)} survivors with the original  scenario {number} of {len(held)}")
        systems = [(each, system) for each in alike if (system := _system(each, one)) is not None]
        found = compare(one.system, [system for _, system in systems], limits) if systems else []
        differing: list[tuple[Decided, TransitionSystem, int, State]] = []
        for (each, system), result in zip(systems, found, strict=True):
            if result.differs_in is not None:
                each.same = False
                differing.append((each, system, result.differs_at, result.differs_in))
            elif not result.complete:
                known[each.mutant.id] = False
        _show(one, differing, limits)
        alike = [each for each in alike if each.same is None]
    for each in alike:
        each.same = True if known[each.mutant.id] and not limits.interrupted else None


def _system(each: Decided, one: Held) -> TransitionSystem | None:
    changed = each.mutant.applied(one.scenario.specification)
    if changed is one.scenario.specification:
        return None
    return TransitionSystem.of(replace(one.scenario, specification=changed))


def _show(one: Held, differing: Sequence[tuple[Decided, TransitionSystem, int, State]], limits: Limits) -> None:
    """Give each of some mutants the shortest run to where it differs, and what is possible there."""
    if not differing:
        return
    traces = ways_to(one.system, [(depth, state) for _, _, depth, state in differing], limits)
    for (each, system, _, state), trace in zip(differing, traces, strict=True):
        each.difference = difference_in(one.scenario.name, one.system, system, trace)
        if not (each.difference.gained or each.difference.lost):
            where = describe_state(one.system, state)
            raise EngineDisagreement(f"a mutant is said to differ from its original, and does not: {where}")


def difference_in(scenario: str, original: TransitionSystem, changed: TransitionSystem, trace: Trace) -> Difference:
    """Return what only one of two systems can do at the end of a trace."""
    here, there = (_moves(system, trace.last) for system in (original, changed))
    gained = tuple(move for key, move in there.items() if key not in here)
    lost = tuple(move for key, move in here.items() if key not in there)
    return Difference(scenario, trace, gained, lost)


def _moves(system: TransitionSystem, state: State) -> dict[object, Move]:
    found: dict[object, Move] = {}
    for outcome in Evaluator(system).transitions(state):
        match outcome:
            case Transition(action, choices, faults, successor, fair):
                found.setdefault((action, fair, successor), Move(action, choices, faults, successor))
            case Failure(action, choices, faults, error):
                found.setdefault((action, "errs"), Move(action, choices, faults, None, error))
    return found

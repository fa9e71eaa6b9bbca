"""Every finding is taken to the evaluator before anybody is shown it.

Whatever an engine says, here it is asked again of the one meaning: the trace transition by transition, then what is
claimed of its end. A contradiction is an `EngineDisagreement`: a defect of ours, never of the specification.
"""

from __future__ import annotations

from itertools import pairwise

from checker.exploration import Finding
from checker.trace import EngineDisagreement, Trace, confirm_violation, describe_state, replay
from model.evaluate import Evaluator
from model.specification import Property, PropertyKind
from model.system import State, TransitionSystem
from model.transitions import Action, EvaluationError, Failure, Transition

REGION_MAX = 2_000
"""So many states behind a state that is said to have no way to its goal are searched for one."""


def confirm_property(system: TransitionSystem, asked: Property, finding: Finding) -> None:
    """Confirm the violation of a property, or the witness of a `possible` one.

    For a `recoverable` one the states behind the end of the trace are searched for the goal that is said to be out of
    reach; where there are more than `REGION_MAX` of them the rest is taken from the engine.

    Raises:
        EngineDisagreement: the trace does not exist, or its end is not what it is said to be.
    """
    _confirm_trace(system, finding, asked)
    on_transition = asked.kind.of_transitions
    if on_transition and not finding.trace.steps:
        raise EngineDisagreement(f"`{asked.name}` is said to break on a transition, and the trace has none")
    try:
        if asked.kind is PropertyKind.POSSIBLE:
            _confirm_witness(system, asked, finding.trace)
        elif asked.kind is PropertyKind.LEADS_TO:
            _confirm_lasso(system, asked, finding.trace)
        elif asked.kind is not PropertyKind.CHECKED:  # which the trace violates, or it would not have been taken
            confirm_violation(system, finding.trace, asked.expression, on_transition=on_transition)
    except EvaluationError as error:
        raise EngineDisagreement(f"`{asked.name}` has no value where an engine decides it: {error.message}") from error
    if asked.kind is PropertyKind.RECOVERABLE:
        _confirm_lost(system, asked, finding.trace)


def confirm_failure(system: TransitionSystem, finding: Finding) -> None:
    """Confirm that the specification errs, as said, in the state in which a trace ends.

    Raises:
        EngineDisagreement: the trace does not exist, or there is no such error behind it.
    """
    _confirm_trace(system, finding)
    error = finding.error
    if error is None:
        raise EngineDisagreement("an engine reports a run-time error and does not say which")
    found = _errors_in(system, finding.trace)
    if not any((other.code, other.span) == (error.code, error.span) for other in found):
        raise EngineDisagreement(
            f"an engine reports `{error.message}` in {describe_state(system, finding.trace.last)}; "
            f"the evaluator finds there: {'; '.join(other.message for other in found) or 'no error'}"
        )


def confirm_waiting(system: TransitionSystem, finding: Finding) -> None:
    """Confirm that nothing can happen at the end of a trace, while a process is in the middle of its steps.

    Raises:
        EngineDisagreement: the trace does not exist, something can happen, or no process waits.
    """
    _confirm_trace(system, finding)
    state = finding.trace.last
    if any(True for _ in Evaluator(system).transitions(state)):
        raise EngineDisagreement(f"an engine takes {describe_state(system, state)} for an end state; it is none")
    if not system.waits(state):
        raise EngineDisagreement(f"no process waits in {describe_state(system, state)}")


def _confirm_trace(system: TransitionSystem, finding: Finding, claimed: Property | None = None) -> None:
    trace = finding.trace
    if finding.depth != len(trace):
        raise EngineDisagreement(f"a trace of {len(trace)} transitions is called {finding.depth} deep")
    actions = [step.action for step in trace.steps]
    replay(system, list(trace.states), actions, claimed=claimed, loop=trace.loop)


def _confirm_witness(system: TransitionSystem, asked: Property, trace: Trace) -> None:
    if not Evaluator(system).holds(asked.expression, trace.last):
        where = describe_state(system, trace.last)
        raise EngineDisagreement(f"an engine calls `{asked.name}` reached where the evaluator finds it false: {where}")


def _confirm_lasso(system: TransitionSystem, asked: Property, trace: Trace) -> None:
    """Check that a run has `p`, from then on never `q`, and goes round for ever without unfairness to anybody.

    That each transition exists, and has no fault in it where the lasso goes round, the replay has checked.
    """
    evaluator, states, loop = Evaluator(system), trace.states, trace.loop
    if loop is None or not 0 <= loop < len(states) or states[loop] != trace.last:
        raise EngineDisagreement(f"the trace of `{asked.name}` does not come back to where it is said to go round")
    assert asked.goal is not None, "`leads_to` has a goal"
    silent = len(states)
    while silent > 0 and not evaluator.holds(asked.goal, states[silent - 1]):
        silent -= 1
    if all(evaluator.holds(asked.expression, state) for state in states[silent : loop + 1]):
        raise EngineDisagreement(f"an engine finds `{asked.name}` unanswered where nothing is owed, or all is answered")
    round_ = states[loop:]
    if any(before == after for before, after in pairwise(round_)):
        raise EngineDisagreement(f"the trace of `{asked.name}` goes round by a transition that changes nothing")
    neglected = set.intersection(*(_fair_moves(evaluator, state) for state in round_))
    neglected -= {step.action for step in trace.cycle}
    if neglected:
        names = ", ".join(sorted(f"{action.process}[{action.instance}].{action.label}" for action in neglected))
        raise EngineDisagreement(f"the trace of `{asked.name}` goes round and never takes {names}, always possible")


def _fair_moves(evaluator: Evaluator, state: State) -> set[Action]:
    """Return the fair steps and restarts that can change something in a state."""
    outcomes = evaluator.transitions(state)
    return {o.action for o in outcomes if isinstance(o, Transition) and o.fair and o.successor != state}


def _confirm_lost(system: TransitionSystem, asked: Property, trace: Trace) -> None:
    evaluator = Evaluator(system)
    known = {trace.last}
    pending: list[State] = [trace.last]
    while pending and len(known) <= REGION_MAX:
        for outcome in evaluator.transitions(pending.pop()):
            if isinstance(outcome, Failure) or not outcome.fair or outcome.successor in known:
                continue
            if evaluator.holds(asked.expression, outcome.successor):
                where = describe_state(system, outcome.successor)
                raise EngineDisagreement(f"an engine finds no way to `{asked.name}`, and there is one, to {where}")
            known.add(outcome.successor)
            pending.append(outcome.successor)


def _errors_in(system: TransitionSystem, trace: Trace) -> list[EvaluationError]:
    """Return the errors of the last state: of the failing action, or where none is named all there are."""
    evaluator = Evaluator(system)
    outcomes = list(evaluator.transitions(trace.last))
    if trace.failing is not None:
        return [f.error for f in outcomes if isinstance(f, Failure) and f.action == trace.failing]
    successors = [outcome.successor for outcome in outcomes if not isinstance(outcome, Failure)]
    found = [outcome.error for outcome in outcomes if isinstance(outcome, Failure)]
    for asked in system.specification.properties.values():
        for successor in successors if asked.kind is PropertyKind.STEP else [None]:
            for expression in asked.expressions:
                try:
                    evaluator.holds(expression, trace.last, successor)
                except EvaluationError as error:
                    found.append(error)
    return found

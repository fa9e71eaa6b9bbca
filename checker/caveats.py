"""What a verdict rests on and what it leaves open, in sentences; no verdict is shown without them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from checker.exploration import Exploration
from model.specification import CrashCourse, Property, PropertyKind, Scenario
from model.system import Budget, TransitionSystem


def assumed(system: TransitionSystem) -> tuple[str, ...]:
    """Return what the verdicts of a system take as given: its parameters, and which faults happen how often."""
    return (*_parameters(system), *_allowed_faults(system))


def not_covered(scenario: Scenario, exploration: Exploration, asked: Iterable[Property]) -> tuple[str, ...]:
    """Return what the verdicts of a scenario say nothing of."""
    return (*left_open(scenario, exploration.system, asked), *_unexplored(exploration))


def left_open(scenario: Scenario, system: TransitionSystem, asked: Iterable[Property]) -> tuple[str, ...]:
    """Return what the verdicts of a scenario say nothing of, however they are found."""
    return (
        *_faults_left_out(system),
        *_crashes_inside_steps(system),
        *(["other values of the parameters"] if system.parameters else []),
        *_not_asked(scenario, asked),
    )


def assumed_by(asked: Property) -> tuple[str, ...]:
    """Return what the verdict on one property takes as given beyond that."""
    if asked.kind is PropertyKind.RECOVERABLE:
        return (
            "fairness: only fair steps help; a fault, a crash or an unfair step on the way is never needed",
            "choice: `choose` may go well",
        )
    if asked.kind is PropertyKind.LEADS_TO:
        return (
            "fairness: a fair step that could change something at every moment from some moment on is taken",
            "faults: any finite number of faults and crashes, not infinitely many",
        )
    return ()


def not_covered_by(asked: Property) -> tuple[str, ...]:
    """Return what the verdict on one property leaves open beyond that."""
    match asked.kind:
        case PropertyKind.POSSIBLE:
            return ("whether it is reached in every run, or from every state: one run reaches it",)
        case PropertyKind.CHECKED:
            return ("every other moment: it is looked at where a step checks it",)
        case PropertyKind.LEADS_TO:
            return ("how soon it comes to that",)
        case PropertyKind.RECOVERABLE:
            return ("whether every run gets there: from every state some run does",)
        case _:
            return ()


def _parameters(system: TransitionSystem) -> Iterator[str]:
    for name, value in system.parameters.items():
        yield f"{name} = {str(value).lower() if isinstance(value, bool) else value}"


def _allowed_faults(system: TransitionSystem) -> Iterator[str]:
    crashing = False
    for name, fault in system.specification.faults.items():
        budget = system.budgets[name]
        if budget.allowed:
            where = f" of {', '.join(fault.crashes)}{_where(budget)}" if fault.crashes else ""
            yield f"{name}{where}: {_how_often(budget)}"
            crashing = crashing or bool(fault.crashes)
    if crashing:
        yield from _what_follows_crashes(system)


def _what_follows_crashes(system: TransitionSystem) -> Iterator[str]:
    """Yield where crashed processes go on; they are named where not all of them do alike."""
    processes = [p for p in system.specification.processes.values() if any(True for _ in system.crash_faults(p))]
    ways: dict[str, list[str]] = {}
    for process in processes:
        start = "its first step" if process.boot is None else f"`{process.boot}`"
        way = {
            "at_once": f"that crashes is at {start} again at once",
            "later": f"that crashes is down until it restarts, at {start}; it may take any time and does restart",
            "never": "that crashes stays down",
        }[process.restarts]
        ways.setdefault(way, []).append(process.name)
    for way, names in ways.items():
        yield f"a process {way}" if len(ways) == 1 else f"a process {way}: {', '.join(names)}"


def course_text(crashes: CrashCourse) -> str:
    """Say where crashes fall in turn."""
    return ", then ".join("anywhere" if points is None else f"at {' or '.join(sorted(points))}" for points in crashes)


def _how_often(budget: Budget) -> str:
    if budget.in_turn is not None:
        crashes = f"at most {len(budget.in_turn)} crash{'es' * (len(budget.in_turn) != 1)} in all"
        return f"{crashes}, {course_text(budget.in_turn)}"
    if budget.limit is None:
        return "any number of times"
    return "at most once" if budget.limit == 1 else f"at most {budget.limit} times"


def _where(budget: Budget) -> str:
    if budget.in_turn is not None:
        return ""
    return " at every kill point" if budget.at is None else f" at {', '.join(sorted(budget.at))} only"


def _faults_left_out(system: TransitionSystem) -> Iterator[str]:
    for name, budget in system.budgets.items():
        if not budget.allowed:
            yield f"{name}: off"
        elif budget.in_turn is not None:
            yield f"{name} at another place or in another turn"
        elif budget.limit is not None:
            yield f"{name} more than {'once' if budget.limit == 1 else f'{budget.limit} times'}"
        if budget.allowed and budget.at is not None and budget.in_turn is None:
            yield f"{name} at any kill point but {', '.join(sorted(budget.at))}"


def _crashes_inside_steps(system: TransitionSystem) -> Iterator[str]:
    if any(system.budgets[name].allowed for name, fault in system.specification.faults.items() if fault.crashes):
        torn = [step.id for step in system.steps() if step.torn is not None]
        other = f" other than {', '.join(torn)}" if torn else ""
        yield f"a crash inside a step{other}: each step happens as a whole or not at all"


def _not_asked(scenario: Scenario, asked: Iterable[Property]) -> Iterator[str]:
    names = {a.name for a in asked}
    left_out = [name for name in scenario.specification.properties if name not in names]
    if left_out:
        yield f"properties not asked about: {', '.join(left_out)}"


def beyond_the_bound(system: TransitionSystem) -> tuple[str, ...]:
    """Return that an exploration has a bound, if it has one."""
    if system.bound is None:
        return ()
    names = ", ".join(variable.name for variable in system.naturals)
    return (f"runs in which a number exceeds the bound {system.bound}: {names}",)


def _unexplored(exploration: Exploration) -> Iterator[str]:
    system = exploration.system
    yield from beyond_the_bound(system)
    if exploration.failure is not None:
        yield "what comes after a run-time error"
    if not exploration.complete:
        yield f"everything beyond the {exploration.states:,} states found so far: {exploration.cut or 'cut short'}"

"""Guarded paths: every step, crash and property of a transition system as terms over one state.

A step is run symbolically. Each `if`, `choose` and `fault` splits the run, so that a path is a straight line with one
guard; a small `if` that only assigns is kept as a choice between values instead, or loops would explode. What the
evaluator does by running statements is done here by splitting, on purpose: the two must not share a mistake.

Soundness: the guards of the paths of one step that come from one resolution of its choices and faults exclude each
other, and each path stands for exactly one transition of the evaluator wherever its guard is true. A path whose
`errors` may be true has its guard restricted to where they are not.
"""

from __future__ import annotations

from dataclasses import dataclass

from checker.backends.columns.compiler import Event, EventKey, ExpressionCompiler, Slots
from checker.backends.columns.runner import StepRunner
from checker.backends.columns.terms import Term, Terms, slots_of
from model.expressions import (
    AtLabel,
    Expression,
    Next,
    Stopped,
    TableColumn,
    VariableValue,
    walk,
)
from model.specification import Process, Step
from model.system import BOOL_DOMAIN, CRASHED, TransitionSystem
from model.transitions import Action

Update = tuple[int, int, Term]
"""The number of a slot, the least value of its domain, and its value after the step."""


UNKNOWN = 1 << 20
"""Slots from this number on stand for values after a transition of which nothing is known."""


@dataclass(frozen=True, slots=True)
class GuardedPath:
    """One path: possible where `guard`, giving `updates` to the state."""

    action: Action
    guard: Term
    updates: tuple[Update, ...]
    faults: tuple[str, ...]
    fair: bool
    events: tuple[Event, ...]
    violations: tuple[tuple[str, Term], ...] = ()
    """The `checked` properties that the path checks, each with where, within the guard, the check is false."""
    twin: int = 0
    """Tells apart paths of one step that are alike in everything."""


@dataclass(frozen=True, slots=True)
class ActionPaths:
    """All paths of one step, crash or restart of one instance, and where it errs."""

    action: Action
    paths: tuple[GuardedPath, ...]
    error: Term
    may_wait: bool
    """Whether there may be states in which the step is next and no path exists."""
    events: tuple[Event, ...] = ()
    """What evaluating the step meets on the way, also on paths that come to nothing: rows and premises."""


@dataclass(frozen=True, slots=True)
class PropertyTerm:
    """A property as a term: its value, where it has none, and its events."""

    value: Term
    error: Term
    events: tuple[Event, ...]
    goal: Term | None = None
    """Of a `leads_to` property: its `q`; the value is that of `implies(p, q)`."""


class PathBuilder:
    """Builds the paths of one transition system from terms of one maker.

    See `Slots` for `slot_numbers`.
    """

    def __init__(self, system: TransitionSystem, terms: Terms, slot_numbers: list[int]) -> None:
        self.system = system
        self.terms = terms
        self.slots = Slots(system, terms, slot_numbers)

    # -- actions --------------------------------------------------------------------------------------------------

    def step(self, process: Process, instance: int, step: Step) -> ActionPaths:
        """Split a step into its guarded paths; the label is taken for granted, not part of the guards."""
        action = Action(process.name, instance, step.name)
        runner = StepRunner(self.slots, process, instance, step)
        paths = tuple(
            GuardedPath(
                action,
                run.guard,
                self._updates(run.values),
                run.faults,
                step.fair and not run.faults,
                tuple(dict.fromkeys(run.events)),
                tuple(dict.fromkeys(run.violations)),
            )
            for run in runner.runs()
        )
        return ActionPaths(action, paths, runner.error, runner.may_wait, tuple(dict.fromkeys(runner.events)))

    def crash(
        self, process: Process, instance: int, step: Step, fault: str, *, torn: bool = False
    ) -> ActionPaths | None:
        """Build the crash of an instance before a step or inside it; None where there is none or none is allowed.

        As for a step the label is taken for granted. A crash changes something wherever it changes the label; where it
        does not, the guard says what else has to differ.
        """
        system, terms = self.system, self.terms
        budget = system.budgets[fault]
        action = Action(process.name, instance, step.name, fault, torn)
        point = action.kill_point
        if point is None or point not in system.kill_points[process.name] or budget.turns_at(point) == ():
            return None
        runner = StepRunner(self.slots, process, instance, step)
        bodies = [body for body in (step.torn if torn else None, process.on_crash) if body is not None]
        start = self._in_turn(fault, budget.turns_at(point))
        if torn:
            start = terms.all_of((start, self._completes(process, instance, step)))
        paths = []
        for run in runner.crashes(start, bodies):
            if run.label == step.name:
                changes = (terms.negation(terms.equal(a, self.slots.before(slot))) for slot, a in run.values.items())
                run.guard = terms.all_of((run.guard, terms.any_of(changes)))
            if fault in system.budget_slots:
                slot = system.budget_slots[fault]
                run.values[slot] = terms.sum(self.slots.before(slot), terms.constant(1))
            if run.guard is not terms.false:
                updates = self._updates(run.values)
                events, violations = tuple(dict.fromkeys(run.events)), tuple(dict.fromkeys(run.violations))
                paths.append(GuardedPath(action, run.guard, updates, (fault,), False, events, violations))
        events = tuple(dict.fromkeys(runner.events))
        return ActionPaths(action, tuple(paths), runner.error, may_wait=False, events=events)

    def _in_turn(self, fault: str, turns: tuple[int, ...] | None) -> Term:
        """Return where so many crashes have been spent that the next may come; `None` for any number."""
        if turns is None:
            return self.terms.true
        spent = self.slots.before(self.system.budget_slots[fault])
        if turns == tuple(range(len(turns))):
            return self.terms.less_equal(spent, self.terms.constant(len(turns) - 1))
        return self.terms.any_of(self.terms.equal(spent, self.terms.constant(turn)) for turn in turns)

    def _completes(self, process: Process, instance: int, step: Step) -> Term:
        """Return where some path through a step without a fault reaches the end."""
        runs = StepRunner(self.slots, process, instance, step).runs()
        return self.terms.any_of(run.guard for run in runs if not run.faults)

    def restart(self, process: Process, instance: int) -> ActionPaths:
        """Build the restart of an instance that is down."""
        action = Action(process.name, instance, CRASHED)
        slot = self.system.label_slots[process.name, instance]
        updates = self._updates({slot: self.slots.encode(slot, process.start)})
        path = GuardedPath(action, self.terms.true, updates, (), fair=True, events=())
        return ActionPaths(action, (path,), self.terms.false, may_wait=False)

    def _updates(self, values: dict[int, Term]) -> tuple[Update, ...]:
        changed = ((slot, term) for slot, term in sorted(values.items()) if term is not self.slots.before(slot))
        return tuple((self.slots.numbers[slot], self.system.slots[slot].domain.low, term) for slot, term in changed)

    # -- properties -----------------------------------------------------------------------------------------------

    def state_property(self, expressions: tuple[Expression, ...]) -> PropertyTerm:
        """Translate the expressions of a property of states: one, or two of a `leads_to`."""
        values, errors, events = [], [], dict[Event, None]()
        for expression in expressions:
            compiler = ExpressionCompiler(self.slots, {}, {}, None, 0)
            values.append(compiler.compile(expression, self.terms.true))
            errors += compiler.errors
            events |= dict.fromkeys(compiler.events)
        goal = values[1] if len(values) > 1 else None
        return PropertyTerm(values[0], self.terms.any_of(errors), tuple(events), goal)

    def step_property(self, expression: Expression, updates: tuple[Update, ...]) -> PropertyTerm:
        """Translate a `step` property for the transitions that make these updates."""
        back = {number: slot for slot, number in enumerate(self.slots.numbers)}
        # Budgets of other systems are no slots here; no property can read them.
        successor = {back[number]: term for number, _, term in updates if number in back}
        compiler = ExpressionCompiler(self.slots, {}, {}, None, 0, successor=successor)
        value = compiler.compile(expression, self.terms.true)
        return PropertyTerm(value, self.terms.any_of(compiler.errors), tuple(dict.fromkeys(compiler.events)))

    def events_before(self, expression: Expression) -> frozenset[EventKey]:
        """Return the events of a `step` property that the state before a transition decides alone.

        The expression is read with an unknown value for everything after the transition: an event is decided before
        where no such value occurs in its condition.
        """
        unknown = {
            slot: self.terms.slot(UNKNOWN + number, domain.low, domain.size, is_bool=domain is BOOL_DOMAIN)
            for slot, number in enumerate(self.slots.numbers)
            for domain in (self.system.slots[slot].domain,)
        }
        compiler = ExpressionCompiler(self.slots, {}, {}, None, 0, successor=unknown)
        compiler.compile(expression, self.terms.true)
        return frozenset(key for key, term in compiler.events) - frozenset(
            key for key, term in compiler.events if any(slot >= UNKNOWN for slot in slots_of(term))
        )

    def slots_after(self, expression: Expression) -> frozenset[int]:
        """Return the numbers of the slots that an expression may read inside `next`."""
        found: set[int] = set()
        for node in walk(expression):
            if isinstance(node, Next):
                found |= self._slots_in(node.item)
        return frozenset(self.slots.numbers[slot] for slot in found)

    def _slots_in(self, expression: Expression) -> set[int]:
        found: set[int] = set()
        for node in walk(expression):
            match node:
                case VariableValue(key=key):
                    for (name, _), layout in self.system.layouts.items():
                        if name == key:
                            found |= set(layout.slots)
                case AtLabel(process=process) | Stopped(process=process):
                    found |= {slot for (name, _), slot in self.system.label_slots.items() if name == process}
                case TableColumn(table=table, process=context):
                    for row in self.system.specification.tables[table, context].rows:
                        for part in (row.when, *row.gives.values()):
                            found |= self._slots_in(part)
                case _:
                    continue
        return found

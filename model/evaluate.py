"""The meaning of the language: evaluates expressions and runs steps, statement by statement.

Every other reading of a specification — columns, solver, reference runs — must agree with this one. It is written to
be read and compared with the language's description, not to be fast.

Invariants:
- A step runs on a private copy of the state, each statement seeing the earlier ones; the copy becomes the successor
  only if the path reaches its end.
- A path is one resolution of every `choose` and `fault` on it. Paths are enumerated by running the step again for each
  *script*, the list of answers given so far, so no statement ever has to know that there are several.
- Order is part of the contract: processes, instances and steps as in the file; choices in the order of their type or
  set; a fault that does not happen before one that does; crashes last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from model.constants import elements_of
from model.diagnostics import Code, Diagnostic, SpecificationError
from model.evaluate_expressions import Frame
from model.expressions import (
    Expression,
    FaultDraw,
    Fresh,
    LocalValue,
    VariableValue,
)
from model.observer import Observer, Unobserved
from model.source import Span
from model.specification import Process, Step
from model.statements import Assign, Check, Choose, Count, For, Goto, If, Read, Statement, Stop, Target, When
from model.system import CRASHED, STOPPED, Budget, State, TransitionSystem
from model.transitions import Action, EvaluationError, Failure, Transition
from model.types import CounterType, RangeType, Value, ValueType, whole


class _NoPath(Exception):
    """A `when` was false, there was nothing to choose, or a `nat` beyond the bound: this path does not exist."""


class _StepEnded(Exception):
    """`goto` or `stop`."""


class Evaluator:
    """Evaluates expressions and enumerates transitions of one transition system."""

    def __init__(self, system: TransitionSystem, observer: Observer | None = None) -> None:
        self.system = system
        self.observer: Observer = observer or Unobserved()

    def holds(self, expression: Expression, state: State, successor: State | None = None) -> bool:
        """Evaluate the expression of a property in a state, or on the transition from it to `successor`.

        Raises:
            EvaluationError: the expression has no value there.
        """
        return bool(Frame(self.system, self.observer, state, successor=successor).value(expression))

    def transitions(self, state: State) -> Iterator[Transition | Failure]:
        """Yield every transition from a state, and every path that ends in an error, in the order of the contract."""
        for process, instance in self.system.instances():
            for step in self._enabled_steps(process, instance, state):
                yield from self._run_all(Action(process.name, instance, step.name), (step,), state)
            yield from self._restart(process, instance, state)
        yield from self._crashes(state)

    def transitions_of(self, state: State, action: Action) -> Iterator[Transition | Failure]:
        """Yield those transitions (and failing paths) from a state that are this step or crash."""
        if action.fault is not None:
            yield from self._crashes(state, only=action)
            return
        process = self.system.specification.processes[action.process]
        if action.kind == "restart":
            yield from self._restart(process, action.instance, state)
            return
        for step in self._enabled_steps(process, action.instance, state):
            if step.name == action.label:
                yield from self._run_all(action, (step,), state)

    def _enabled_steps(self, process: Process, instance: int, state: State) -> Iterator[Step]:
        if process.environment:
            yield from process.steps
            return
        label = state[self.system.label_slots[process.name, instance]]
        yield from (step for step in process.steps if step.name == label)

    def _run_all(
        self, action: Action, bodies: tuple[Step, ...], state: State, *, observer: Observer | None = None
    ) -> Iterator[Transition | Failure]:
        """Yield what comes of an action on every path through its bodies, which run one after the other."""
        script: list[int] = []
        while True:
            run = _StepRun(self.system, observer or self.observer, state, action, bodies, script)
            result = run.result()
            run.observer.path_ended(isinstance(result, Transition))
            if result is not None:
                yield result
            script = run.next_script()
            if not script:
                return

    def _crashes(self, state: State, *, only: Action | None = None) -> Iterator[Transition | Failure]:
        """Yield all crashes, or one: of each instance by each fault, first before its next step and then inside it."""
        for process, instance in self.system.instances():
            if process.environment:
                continue
            label = str(state[self.system.label_slots[process.name, instance]])
            for fault, budget in self.system.crash_faults(process):
                for torn in (False, True):
                    action = Action(process.name, instance, label, fault, torn)
                    if only in (None, action) and self._may_crash(action, budget, state):
                        yield from self._run_all(action, self._crash_bodies(process, action), state)

    def _may_crash(self, action: Action, budget: Budget, state: State) -> bool:
        """Tell whether a crash may fall there: at a kill point that is allowed, with some of the budget left.

        Inside a step it may where some path through the step without a fault reaches the end.
        """
        system = self.system
        if action.kill_point is None or action.kill_point not in system.kill_points[action.process]:
            return False
        turns = budget.turns_at(action.kill_point)
        if turns is not None and (not turns or whole(state[system.budget_slots[action.fault or ""]]) not in turns):
            return False
        if not action.torn:
            return True
        steps = system.specification.processes[action.process].steps
        step = next(step for step in steps if step.name == action.label)
        outcomes = self._run_all(
            Action(action.process, action.instance, step.name), (step,), state, observer=Unobserved()
        )
        return any(isinstance(outcome, Transition) and not outcome.faults for outcome in outcomes)

    def _crash_bodies(self, process: Process, action: Action) -> tuple[Step, ...]:
        torn = next((step.torn for step in process.steps if action.torn and step.name == action.label), None)
        return tuple(body for body in (torn, process.on_crash) if body is not None)

    def _restart(self, process: Process, instance: int, state: State) -> Iterator[Transition]:
        """Yield the restart of an instance that is down, which happens if nobody prevents it: it is fair."""
        slot = None if process.environment else self.system.label_slots[process.name, instance]
        if slot is None or state[slot] != CRASHED or process.restarts != "later":
            return
        after = (*state[:slot], process.start, *state[slot + 1 :])
        yield Transition(Action(process.name, instance, CRASHED), (), (), after, fair=True)


def satisfying(system: TransitionSystem, condition: Expression, states: Iterable[State]) -> tuple[State, ...]:
    """Return the states in which a condition is true.

    Raises:
        SpecificationError: it has no value in one of them.
    """
    evaluator = Evaluator(system)
    try:
        return tuple(state for state in states if evaluator.holds(condition, state))
    except EvaluationError as error:
        raise SpecificationError([Diagnostic(error.code, error.message, error.span)]) from error


class _StepRun(Frame):
    """One run of a step or crash: a private copy of the state, and a script that answers its choices."""

    def __init__(
        self,
        system: TransitionSystem,
        observer: Observer,
        state: State,
        action: Action,
        bodies: tuple[Step, ...],
        script: list[int],
    ) -> None:
        super().__init__(system, observer, list(state), instance=action.instance)
        self.state = state
        self.action = action
        self.process = system.specification.processes[action.process]
        self.bodies = bodies
        self.script = script
        self.answered: list[tuple[int, int]] = []
        """For each choice met: the answer given and the number of possible answers."""
        self.choices: list[Value] = []
        self.faults: list[str] = [] if action.fault is None else [action.fault]
        self.violated: list[str] = []
        self.written: set[str] = set()
        self.next_label: str = CRASHED if action.kind == "crash" else bodies[0].next_label

    def result(self) -> Transition | Failure | None:
        """Run to the end; None where this path does not exist, or is a crash that changes nothing."""
        try:
            for body in self.bodies:
                self.locals = {}
                self._block(body.body)
        except _NoPath:
            return None
        except _StepEnded:
            pass
        except EvaluationError as error:
            return Failure(self.action, tuple(self.choices), tuple(self.faults), error)
        self._finish()
        if self.action.fault is not None:
            if tuple(self.values) == self.state:
                return None
            self._spend(self.action.fault)
        fair = not self.faults and all(body.fair for body in self.bodies)
        violated = tuple(dict.fromkeys(self.violated))
        return Transition(self.action, tuple(self.choices), tuple(self.faults), tuple(self.values), fair, violated)

    def next_script(self) -> list[int]:
        """Return the script of the next path in order; empty when this was the last."""
        answers = list(self.answered)
        while answers:
            answer, possible = answers.pop()
            if answer + 1 < possible:
                return [*(given for given, _ in answers), answer + 1]
        return []

    def _decide(self, possible: int) -> int:
        position = len(self.answered)
        answer = self.script[position] if position < len(self.script) else 0
        self.answered.append((answer, possible))
        return answer

    def only_in_a_step(self, expression: Fresh | FaultDraw) -> Value:
        """Draw a fault, or tell whether what was read last is still so."""
        if isinstance(expression, FaultDraw):
            return self._draw(expression.fault)
        slot = self.system.fresh_slots.get((self.process.name, self.instance, expression.store))
        return slot is not None and self._copy[slot]

    @property
    def _copy(self) -> list[Value]:
        assert isinstance(self.values, list)
        return self.values

    def _draw(self, fault: str) -> bool:
        """Let a fault happen or not; without allowance or budget it cannot, and nothing is decided."""
        budget = self.system.budgets[fault]
        slot = self.system.budget_slots.get(fault)
        if not budget.allowed or (
            slot is not None and budget.limit is not None and whole(self._copy[slot]) >= budget.limit
        ):
            return False
        if self._decide(2) == 0:
            return False
        self.faults.append(fault)
        self._spend(fault)
        return True

    def _spend(self, fault: str) -> None:
        slot = self.system.budget_slots.get(fault)
        if slot is not None:
            self._copy[slot] = whole(self._copy[slot]) + 1

    def _block(self, body: tuple[Statement, ...]) -> None:
        for statement in body:
            self._execute(statement)

    def _execute(self, statement: Statement) -> None:
        match statement:
            case Assign(target=target, value=expression):
                slot = self._place(target)
                self._store(target, slot, self.value(expression), statement.span)
            case Count(target=target, amount=amount):
                self._count(target, self.integer(amount), statement.span)
            case Choose():
                self._choose(statement)
            case If(condition=condition):
                taken = bool(self.value(condition))
                self.observer.branch(statement.span, taken)
                self._block(statement.then if taken else statement.otherwise)
            case For(variable=variable, domain=domain, body=body):
                for value in self.system.domain(domain).values():
                    self.locals[variable] = value
                    self._block(body)
            case When(condition=condition):
                if not self.value(condition):
                    self.observer.barred(statement.span)
                    raise _NoPath
            case Goto(label=label):
                self.next_label = label
                raise _StepEnded
            case Stop():
                self.next_label = STOPPED
                raise _StepEnded
            case Read(store=store):
                self._copy[self.system.fresh_slots[self.process.name, self.instance, store]] = True
            case Check(property=name, condition=condition):
                true = self.value(condition)
                self.observer.check(name)
                if not true:
                    self.violated.append(name)
            case _:
                assert_never(statement)

    def _place(self, target: Target) -> int | None:
        """Return the slot of a target, None for a local; indices are evaluated before the value."""
        return None if isinstance(target, LocalValue) else self.slot(target)

    def _store(self, target: Target, slot: int | None, value: Value, span: Span) -> None:
        if slot is None:
            assert isinstance(target, LocalValue)
            if not self._unbounded(target.type) and not self.system.domain(target.type).contains(value):
                raise EvaluationError(
                    Code.ASSIGNED_OUTSIDE_TYPE,
                    f"`{target.name}` would become {value}, outside {self.system.domain(target.type)}",
                    span,
                )
            self.locals[target.name] = value
            return
        found = self.system.slots[slot]
        if found.domain.cuts_off(value):
            raise _NoPath
        if not found.domain.contains(value):
            raise EvaluationError(
                Code.ASSIGNED_OUTSIDE_TYPE, f"`{found.name}` would become {value}, outside {found.domain}", span
            )
        self._copy[slot] = value
        assert isinstance(target, VariableValue)
        self.written.add(target.key.split(".", 1)[0])

    def _unbounded(self, value_type: ValueType) -> bool:
        return isinstance(value_type, RangeType) and value_type.low is None

    def _count(self, target: VariableValue, amount: int, span: Span) -> None:
        slot = self.slot(target)
        assert isinstance(target.type, CounterType)
        if amount < 0:
            raise EvaluationError(Code.ASSIGNED_OUTSIDE_TYPE, f"a counter cannot count by {amount}", span)
        limit = self.system.slots[slot].domain.size - 1
        self._copy[slot] = min(limit, whole(self._copy[slot]) + amount)

    def _choose(self, statement: Choose) -> None:
        slot = self._place(statement.target)
        if statement.domain is not None:
            options = list(self.system.domain(statement.domain).values())
        elif statement.source is not None:
            options = list(elements_of(self.value(statement.source)))
        else:
            options = list(dict.fromkeys(self.value(element) for element in statement.elements))
        if not options:
            self.observer.barred(statement.span)
            raise _NoPath
        value = options[self._decide(len(options))]
        self.choices.append(value)
        self._store(statement.target, slot, value, statement.span)

    def _finish(self) -> None:
        """Clear the fresh bits that the writes made stale, forget what is forgotten, and move to the next label."""
        for store in self.written:
            for slot in self.system.others_fresh(self.process.name, self.instance, store):
                self._copy[slot] = False
        if self.process.environment:
            return
        if self.next_label in (self.process.first, STOPPED, CRASHED):
            for slot in self.system.memory_slots(
                self.process, self.instance, kept=self.next_label != self.process.first
            ):
                self._copy[slot] = self.system.slots[slot].initial
        at_once = self.next_label == CRASHED and self.process.restarts == "at_once"
        label = self.process.start if at_once else self.next_label
        self._copy[self.system.label_slots[self.process.name, self.instance]] = label

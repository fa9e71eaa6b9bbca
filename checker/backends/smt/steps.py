"""A step run once, on terms: where its ways part, what they leave behind is merged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

import z3

from checker.backends.smt.expressions import Reader, constant_of
from checker.backends.smt.values import (
    Number,
    Term,
    all_of,
    any_of,
    arithmetic,
    bounded,
    choice,
    equal,
    held,
    less_equal,
    negation,
    number,
    sort_of,
    truth,
    well_formed,
    within,
)
from model.expressions import LocalValue, VariableValue
from model.specification import Process, Step
from model.statements import Assign, Choose, Count, For, Goto, If, Read, Statement, Stop, Target, When
from model.system import STOPPED, Budget, TransitionSystem
from model.transitions import Action
from model.types import RangeType, ValueType


@dataclass(frozen=True, slots=True)
class Effect:
    """What an action does to the values of the slots, with its choices as free constants.

    A transition for every valuation of the choices in which `allowed` and `exists` are true; where `fails` is true as
    well as `allowed` the action errs.
    """

    action: Action
    allowed: z3.BoolRef
    """The choices take one of their options."""
    exists: z3.BoolRef
    """The way that the choices describe reaches the end of the step."""
    fails: z3.BoolRef
    values: tuple[Term, ...]
    """What each slot holds afterwards."""
    choices: tuple[z3.ExprRef, ...]
    fair: z3.BoolRef
    """Whether the transition is fair: no fault on it, and the step is."""


class StepRun:
    """Runs one step of one instance on terms."""

    def __init__(
        self, system: TransitionSystem, values: tuple[Term, ...], process: Process, instance: int, step: Step
    ) -> None:
        self.system = system
        self.process = process
        self.instance = instance
        self.step = step
        self.values = list(values)
        self.reader = Reader(system, self.values, process, instance, draw=self._draw)
        self.running = self._at_step(values)
        """Where the run has come to this point: enabled, not ended, no `when` false and no error so far."""
        self.ended: list[tuple[z3.BoolRef, str]] = []
        self.allowed: list[z3.BoolRef] = []
        self.choices: list[z3.ExprRef] = []
        self.drawn: list[z3.BoolRef] = []
        self.failed: list[z3.BoolRef] = []
        self.written: dict[str, z3.BoolRef] = {}

    def effect(self) -> Effect:
        """Run the step to its end."""
        self._block(self.step.body)
        self._end(self.step.next_label)
        exists = any_of([where for where, _ in self.ended])
        self._clear_fresh_bits()
        self._move()
        return Effect(
            action=Action(self.process.name, self.instance, self.step.name),
            allowed=all_of(self.allowed),
            exists=exists,
            fails=any_of(self.failed),
            values=tuple(self.values),
            choices=tuple(self.choices),
            fair=negation(any_of(self.drawn)) if self.step.fair else truth(False),
        )

    def _at_step(self, values: tuple[Term, ...]) -> z3.BoolRef:
        if self.process.environment:
            return truth(True)
        slot = self.system.label_slots[self.process.name, self.instance]
        return equal(values[slot], constant_of(self.system.slots[slot].domain, self.step.name))

    # -- choices --------------------------------------------------------------------------------------------------

    def _constant(self, sort: z3.SortRef) -> z3.ExprRef:
        # One name a choice of the whole system, so that several actions can stand in one formula.
        owner = f"{self.process.name}.{self.instance}.{self.step.name}"
        constant = z3.Const(f"{owner}!choice{len(self.choices)}", sort)
        self.choices.append(constant)
        return constant

    def _draw(self, fault: str, condition: z3.BoolRef) -> z3.BoolRef:
        budget = self.system.budgets[fault]
        if not budget.allowed:
            return truth(False)
        constant = self._constant(z3.BoolSort())
        assert isinstance(constant, z3.BoolRef)
        happens = all_of((self.running, condition, constant, self._left(fault, budget)))
        slot = self.system.budget_slots.get(fault)
        if slot is not None:
            spent = self.values[slot]
            assert isinstance(spent, Number)
            self.values[slot] = bounded(
                choice(happens, arithmetic("+", spent, number(1)), spent), spent.low, spent.high
            )
        self.drawn.append(happens)
        return happens

    def _left(self, fault: str, budget: Budget) -> z3.BoolRef:
        slot = self.system.budget_slots.get(fault)
        if slot is None or budget.limit is None:
            return truth(True)
        spent = self.values[slot]
        assert isinstance(spent, Number)
        return less_equal(spent, number(budget.limit - 1))

    # -- statements -----------------------------------------------------------------------------------------------

    def _block(self, body: tuple[Statement, ...]) -> None:
        for statement in body:
            self._execute(statement)

    def _execute(self, statement: Statement) -> None:
        match statement:
            case Assign(target=target, value=expression):
                places = self._places(target)
                value = self.reader.read(expression, self.running)
                self._settle()
                self._put(target, places, value)
            case Count(target=target, amount=amount):
                self._count(statement, self._places(target), self.reader.number(amount, self.running))
            case Choose():
                self._choose(statement)
            case If(condition=condition):
                self._if(statement, self.reader.truth(condition, self.running))
            case For(variable=variable, domain=domain, body=body):
                for value in self.system.domain(domain).values():
                    self.reader.locals[variable] = constant_of(self.system.domain(domain), value)
                    self._block(body)
            case When(condition=condition):
                met = self.reader.truth(condition, self.running)
                self._settle()
                self.running = all_of((self.running, met))
            case Goto(label=label):
                self._end(label)
            case Stop():
                self._end(STOPPED)
            case Read(store=store):
                slot = self.system.fresh_slots[self.process.name, self.instance, store]
                self.values[slot] = choice(self.running, truth(True), self.values[slot])
            case _:
                assert_never(statement)

    def _settle(self) -> None:
        """End the run where what was just read has no value."""
        error = all_of((self.running, self.reader.error))
        self.reader.errors.clear()
        self._fail(error)

    def _fail(self, where: z3.BoolRef) -> None:
        if not z3.is_false(where):
            self.failed.append(where)
            self.running = all_of((self.running, negation(where)))

    def _end(self, label: str) -> None:
        self.ended.append((self.running, label))
        self.running = truth(False)

    def _if(self, statement: If, condition: z3.BoolRef) -> None:
        """Run both sides, each where it is taken; every assignment is one only where the run has come to it."""
        self._settle()
        before = self.running
        self.running = all_of((before, condition))
        self._block(statement.then)
        after_then = self.running
        self.running = all_of((before, negation(condition)))
        self._block(statement.otherwise)
        self.running = any_of((after_then, self.running))

    # -- assignments ----------------------------------------------------------------------------------------------

    def _places(self, target: Target) -> list[tuple[z3.BoolRef, int]] | str:
        """Return the slots that a target may stand for, or the name of a local."""
        if isinstance(target, LocalValue):
            return target.name
        places = self.reader.places(target, self.running)
        self._settle()
        return places

    def _put(self, target: Target, places: list[tuple[z3.BoolRef, int]] | str, value: Term) -> None:
        if isinstance(value, Number) and not _unbounded(target.type):
            domain = self.system.domain(target.type)
            self._fail(all_of((self.running, negation(within(value, domain)))))
            value = bounded(value, domain.low, domain.low + domain.size - 1)
        if isinstance(places, str):
            before = self.reader.locals.get(places)
            self.reader.locals[places] = value if before is None else choice(self.running, value, before)
            return
        for here, slot in places:
            self.values[slot] = choice(all_of((self.running, here)), value, self.values[slot])
        self._note_written(target)

    def _note_written(self, target: Target) -> None:
        assert isinstance(target, VariableValue)
        owner = target.key.split(".", 1)[0]
        self.written[owner] = any_of((self.written.get(owner, truth(False)), self.running))

    def _count(self, statement: Count, places: list[tuple[z3.BoolRef, int]] | str, amount: Number) -> None:
        assert not isinstance(places, str)
        self._settle()
        self._fail(all_of((self.running, negation(less_equal(number(0), amount)))))
        limit = number(self.system.domain(statement.target.type).size - 1)
        for here, slot in places:
            before = self.values[slot]
            assert isinstance(before, Number)
            total = arithmetic("+", before, amount)
            counted = bounded(choice(less_equal(total, limit), total, limit), 0, limit.high)
            self.values[slot] = choice(all_of((self.running, here)), counted, before)
        self._note_written(statement.target)

    def _choose(self, statement: Choose) -> None:
        places = self._places(statement.target)
        if statement.domain is not None:
            domain = self.system.domain(statement.domain)
            if not domain.size:
                self.running = truth(False)
                return
            constant = self._constant(sort_of(domain))
            self.allowed.append(well_formed(constant, domain))
            self._put(statement.target, places, held(constant, domain))
            return
        options = [self.reader.read(element, self.running) for element in statement.elements]
        self._settle()
        which = z3.BitVecSort(max(1, (len(options) - 1).bit_length()))
        constant = self._constant(which)
        assert isinstance(constant, z3.BitVecRef)
        self.allowed.append(z3.ULT(constant, len(options)) if len(options) < 1 << constant.size() else truth(True))
        value = options[-1]
        for position in range(len(options) - 2, -1, -1):
            value = choice(constant == position, options[position], value)
        self._put(statement.target, places, value)

    # -- the end --------------------------------------------------------------------------------------------------

    def _clear_fresh_bits(self) -> None:
        for store, where in self.written.items():
            for slot in self.system.others_fresh(self.process.name, self.instance, store):
                self.values[slot] = choice(where, truth(False), self.values[slot])

    def _move(self) -> None:
        """Go to the next label; at the first step, and where it stops, the instance forgets."""
        if self.process.environment:
            return
        label_slot = self.system.label_slots[self.process.name, self.instance]
        domain = self.system.slots[label_slot].domain
        forgets = any_of([where for where, label in self.ended if label in (self.process.first, STOPPED)])
        for slot in self.system.memory_slots(self.process, self.instance):
            initial = constant_of(self.system.slots[slot].domain, self.system.slots[slot].initial)
            self.values[slot] = choice(forgets, initial, self.values[slot])
        for where, label in self.ended:
            self.values[label_slot] = choice(where, constant_of(domain, label), self.values[label_slot])


def effects_of(system: TransitionSystem, values: tuple[Term, ...]) -> Iterator[Effect]:
    """Yield what every step of every instance, and every crash, does to given values of the slots."""
    for process, instance in system.instances():
        for step in process.steps:
            yield StepRun(system, values, process, instance, step).effect()
    for process, instance in system.instances():
        if not process.environment:
            yield from _crashes(system, values, process, instance)


def _crashes(system: TransitionSystem, values: tuple[Term, ...], process: Process, instance: int) -> Iterator[Effect]:
    """Yield the crashes of an instance before each of its steps: possible where they change anything."""
    label_slot = system.label_slots[process.name, instance]
    labels = system.slots[label_slot].domain
    after = list(values)
    after[label_slot] = constant_of(labels, process.first)
    changed = [negation(equal(values[label_slot], after[label_slot]))]
    for slot in system.memory_slots(process, instance):
        after[slot] = constant_of(system.slots[slot].domain, system.slots[slot].initial)
        changed.append(negation(equal(values[slot], after[slot])))
    for fault, budget in system.crash_faults(process):
        for step in process.steps:
            if budget.at is not None and step.id not in budget.at:
                continue
            here = equal(values[label_slot], constant_of(labels, step.name))
            left, spent_values = truth(True), list(after)
            slot = system.budget_slots.get(fault)
            if slot is not None and budget.limit is not None:
                spent = values[slot]
                assert isinstance(spent, Number)
                left = less_equal(spent, number(budget.limit - 1))
                spent_values[slot] = bounded(arithmetic("+", spent, number(1)), spent.low, spent.high)
            yield Effect(
                action=Action(process.name, instance, step.name, fault),
                allowed=truth(True),
                exists=all_of((here, any_of(changed), left)),
                fails=truth(False),
                values=tuple(spent_values),
                choices=(),
                fair=truth(False),
            )


def _unbounded(value_type: ValueType) -> bool:
    return isinstance(value_type, RangeType) and value_type.low is None

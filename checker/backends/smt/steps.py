"""Steps, crashes and restarts run once, on terms: where the ways part, what they leave behind is merged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

import z3

from checker.backends.smt.expressions import Reader
from checker.backends.smt.values import (
    Number,
    Term,
    all_of,
    any_of,
    arithmetic,
    bounded,
    choice,
    constant_of,
    cut_off,
    equal,
    fitted,
    held,
    is_element,
    key_of,
    less_equal,
    members,
    negation,
    number,
    outside,
    sort_of,
    truth,
    well_formed,
)
from model.expressions import LocalValue, VariableValue
from model.specification import Process, Step
from model.statements import Assign, Check, Choose, Count, For, Goto, If, Read, Statement, Stop, Target, When
from model.system import CRASHED, STOPPED, Budget, Domain, TransitionSystem
from model.transitions import Action
from model.types import RangeType, SetType, ValueType, kind_of, may_be_none


@dataclass(frozen=True, slots=True)
class Effect:
    """What an action does to the values of the slots, with its choices as free constants.

    There is a transition for every valuation of the choices in which `allowed` and `exists` are true; where `fails` is
    true as well as `allowed` the action errs.
    """

    action: Action
    allowed: z3.BoolRef
    """The choices take one of their options."""
    exists: z3.BoolRef
    """The way that the choices describe reaches its end."""
    fails: z3.BoolRef
    values: tuple[Term, ...]
    """What each slot holds afterwards."""
    choices: tuple[z3.ExprRef, ...]
    fair: z3.BoolRef
    """Whether the transition is fair: no fault on it, and the step is."""
    draws: tuple[z3.ExprRef, ...] = ()
    """Those of the choices that decide whether a fault happens."""
    violated: tuple[tuple[str, z3.BoolRef], ...] = ()
    """By `checked` property where a `check` on the way is false; it counts where the way exists."""


class _Run:
    """Runs the bodies of one action of one instance on terms.

    `running` says where the run has come to the present point: it is possible there, and has met no end, no `when`
    that is false and no error. `faultless` says where no fault has happened on it.
    """

    def __init__(
        self, system: TransitionSystem, values: tuple[Term, ...], process: Process, action: Action, running: z3.BoolRef
    ) -> None:
        self.system = system
        self.process = process
        self.action = action
        self.instance = action.instance
        self.values = list(values)
        self.reader = Reader(system, self.values, process, action.instance, draw=self._draw)
        self.running = running
        self.ended: list[tuple[z3.BoolRef, str]] = []
        self.allowed: list[z3.BoolRef] = []
        self.choices: list[z3.ExprRef] = []
        self.draws: list[z3.ExprRef] = []
        self.drawn: list[z3.BoolRef] = []
        self.failed: list[z3.BoolRef] = []
        self.violated: dict[str, z3.BoolRef] = {}
        self.shapes: dict[str, tuple[str, bool]] = {}
        """By local what kind its last value is of, and whether that may be `None`."""
        self.written: dict[str, z3.BoolRef] = {}

    @property
    def faultless(self) -> z3.BoolRef:
        return negation(any_of(self.drawn))

    def run(self, body: tuple[Statement, ...]) -> None:
        """Run a body; locals of another one are none of its own."""
        self.reader.locals.clear()
        self._block(body)

    def end(self, label: str) -> None:
        """End the run where it has come to this point; next comes `label`."""
        self.ended.append((self.running, label))
        self.running = truth(False)

    def effect(self, exists: z3.BoolRef, fair: z3.BoolRef) -> Effect:
        """Return what the run comes to."""
        return Effect(
            action=self.action,
            allowed=all_of(self.allowed),
            exists=exists,
            fails=any_of(self.failed),
            values=tuple(self.values),
            choices=tuple(self.choices),
            fair=fair,
            draws=tuple(self.draws),
            violated=tuple(self.violated.items()),
        )

    # -- choices --------------------------------------------------------------------------------------------------

    def constant(self, sort: z3.SortRef) -> z3.ExprRef:
        """Return a free constant. No other action has one of its name: several of them can stand in one formula."""
        action = self.action
        owner = f"{action.process}.{action.instance}.{action.label}.{action.fault or ''}.{'torn' * action.torn}"
        constant = z3.Const(f"{owner}!choice{len(self.choices)}", sort)
        self.choices.append(constant)
        return constant

    def _draw(self, fault: str, condition: z3.BoolRef) -> z3.BoolRef:
        budget = self.system.budgets[fault]
        if not budget.allowed:
            return truth(False)
        constant = self.constant(z3.BoolSort())
        assert isinstance(constant, z3.BoolRef)
        self.draws.append(constant)
        happens = all_of((self.running, condition, constant, unspent(self.system, self.values, fault, budget)))
        self.spend(fault, happens)
        self.drawn.append(happens)
        return happens

    def spend(self, fault: str, where: z3.BoolRef) -> None:
        """Count a fault where it happens."""
        slot = self.system.budget_slots.get(fault)
        if slot is not None:
            spent = self.values[slot]
            assert isinstance(spent, Number)
            self.values[slot] = bounded(choice(where, arithmetic("+", spent, number(1)), spent), spent.low, spent.high)

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
            case Count():
                self._count(statement)
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
            case Check(property=name, condition=condition):
                true = self.reader.truth(condition, self.running)
                self._settle()
                false = all_of((self.running, negation(true)))
                self.violated[name] = any_of((self.violated.get(name, truth(False)), false))
            case Goto(label=label):
                self.end(label)
            case Stop():
                self.end(STOPPED)
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

    def _if(self, statement: If, condition: z3.BoolRef) -> None:
        """Run both sides, each where it is taken; an assignment is one only where the run has come to it."""
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
        """Store a value; outside the type of the target the run ends in an error, beyond a bound without one."""
        if not _unbounded(target.type):
            domain = self.system.domain(target.type)
            self.running = all_of((self.running, negation(cut_off(value, domain))))
            self._fail(all_of((self.running, outside(value, domain))))
            value = fitted(value, domain)
        if isinstance(places, str):
            # A local of another branch may have the name and another type; nothing reads it any more.
            shape = (kind_of(target.type), may_be_none(target.type))
            before = self.reader.locals.get(places) if self.shapes.get(places) == shape else None
            self.shapes[places] = shape
            self.reader.locals[places] = value if before is None else choice(self.running, value, before)
            return
        for here, slot in places:
            self.values[slot] = choice(all_of((self.running, here)), value, self.values[slot])
        self._note_written(target)

    def _note_written(self, target: Target) -> None:
        assert isinstance(target, VariableValue)
        owner = target.key.split(".", 1)[0]
        self.written[owner] = any_of((self.written.get(owner, truth(False)), self.running))

    def _count(self, statement: Count) -> None:
        places = self._places(statement.target)
        assert not isinstance(places, str)
        amount = self.reader.number(statement.amount, self.running)
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
        if statement.source is not None:
            self._choose_from(statement, places)
        elif statement.domain is not None:
            self._put(statement.target, places, self._any_of_type(statement.domain))
        else:
            self._put(statement.target, places, self._any_of_elements(statement))

    def _any_of_type(self, value_type: ValueType) -> Term:
        """Return any value of a type; of one without values there is no way on."""
        domain = self.system.domain(value_type)
        if not domain.size:
            self.running = truth(False)
            return number(0)
        constant = self.constant(sort_of(domain))
        self.allowed.append(well_formed(constant, domain))
        return held(constant, domain)

    def _any_of_elements(self, statement: Choose) -> Term:
        options = [self.reader.read(element, self.running) for element in statement.elements]
        self._settle()
        which = Domain(0, len(options))
        constant = self.constant(sort_of(which))
        self.allowed.append(well_formed(constant, which))
        value = options[-1]
        for position in range(len(options) - 2, -1, -1):
            value = choice(constant == position, options[position], value)
        return value

    def _choose_from(self, statement: Choose, places: list[tuple[z3.BoolRef, int]] | str) -> None:
        """Choose an element of a set; what is not in it is no way on."""
        assert statement.source is not None
        assert isinstance(statement.source.type, SetType)
        chosen_from = members(self.reader.read(statement.source, self.running))
        self._settle()
        element_type = statement.source.type.element
        value = self._any_of_type(element_type)
        domain = self.system.domain(element_type)
        keys = [key_of(domain, each) for each in domain.values()]
        inside = [all_of((chosen_from.has[key], is_element(value, key))) for key in keys if key in chosen_from.has]
        self.running = all_of((self.running, any_of(inside)))
        self._put(statement.target, places, value)

    # -- the end --------------------------------------------------------------------------------------------------

    def clear_fresh_bits(self) -> None:
        """Let nobody else be fresh on a store that the run has written."""
        for store, where in self.written.items():
            for slot in self.system.others_fresh(self.process.name, self.instance, store):
                self.values[slot] = choice(where, truth(False), self.values[slot])

    def forget(self, where: z3.BoolRef, *, kept: bool) -> None:
        """Reset memory, `kept` variables too or not."""
        for slot in self.system.memory_slots(self.process, self.instance, kept=kept):
            initial = constant_of(self.system.slots[slot].domain, self.system.slots[slot].initial)
            self.values[slot] = choice(where, initial, self.values[slot])

    def go_to(self, where: z3.BoolRef, label: str) -> None:
        """Let a label come next."""
        slot = self.system.label_slots[self.process.name, self.instance]
        self.values[slot] = choice(where, constant_of(self.system.slots[slot].domain, label), self.values[slot])


def effects_of(system: TransitionSystem, values: tuple[Term, ...]) -> Iterator[Effect]:
    """Yield what every step of every instance, every restart and every crash does to given values of the slots."""
    for process, instance in system.instances():
        for step in process.steps:
            yield _step(system, values, process, instance, step)
        if process.restarts == "later" and not process.environment:
            yield _restart(system, values, process, instance)
    for process, instance in system.instances():
        if not process.environment:
            yield from _crashes(system, values, process, instance)


def unspent(system: TransitionSystem, values: list[Term], fault: str, budget: Budget) -> z3.BoolRef:
    """Return where a fault may still happen."""
    slot = system.budget_slots.get(fault)
    if slot is None or budget.limit is None:
        return truth(True)
    spent = values[slot]
    assert isinstance(spent, Number)
    return less_equal(spent, number(budget.limit - 1))


def _in_turn(system: TransitionSystem, values: tuple[Term, ...], crash: Action) -> z3.BoolRef:
    """Return where so many crashes have been spent that this may be the next."""
    turns = system.budgets[crash.fault or ""].turns_at(crash.kill_point or "")
    if turns is None:
        return truth(True)
    spent = values[system.budget_slots[crash.fault or ""]]
    assert isinstance(spent, Number)
    return any_of(equal(spent, number(turn)) for turn in turns)


def _at(system: TransitionSystem, values: tuple[Term, ...], process: Process, instance: int, label: str) -> z3.BoolRef:
    if process.environment:
        return truth(True)
    slot = system.label_slots[process.name, instance]
    return equal(values[slot], constant_of(system.slots[slot].domain, label))


def _step(system: TransitionSystem, values: tuple[Term, ...], process: Process, instance: int, step: Step) -> Effect:
    action = Action(process.name, instance, step.name)
    run = _Run(system, values, process, action, _at(system, values, process, instance, step.name))
    run.run(step.body)
    run.end(step.next_label)
    run.clear_fresh_bits()
    if not process.environment:
        run.forget(any_of(where for where, label in run.ended if label == process.first), kept=False)
        run.forget(any_of(where for where, label in run.ended if label == STOPPED), kept=True)
        for where, label in run.ended:
            run.go_to(where, label)
    return run.effect(any_of(where for where, _ in run.ended), run.faultless if step.fair else truth(False))


def _restart(system: TransitionSystem, values: tuple[Term, ...], process: Process, instance: int) -> Effect:
    down = _at(system, values, process, instance, CRASHED)
    run = _Run(system, values, process, Action(process.name, instance, CRASHED), down)
    run.go_to(truth(True), process.start)
    return run.effect(down, truth(True))


def _crashes(system: TransitionSystem, values: tuple[Term, ...], process: Process, instance: int) -> Iterator[Effect]:
    for fault, budget in system.crash_faults(process):
        for step in process.steps:
            for torn in (False, True):
                action = Action(process.name, instance, step.name, fault, torn)
                point = action.kill_point
                if point in system.kill_points[process.name] and budget.turns_at(point) != ():
                    yield _crash(system, values, process, step, action)


def _crash(system: TransitionSystem, values: tuple[Term, ...], process: Process, step: Step, action: Action) -> Effect:
    """Return a crash: its bodies, then memory is lost, then the label; none where nothing but the budget changes."""
    fault, instance = action.fault or "", action.instance
    possible = [_at(system, values, process, instance, step.name)]
    possible.append(_in_turn(system, values, action))
    run = _Run(system, values, process, action, all_of(possible))
    if action.torn:
        # Possible where some way through the step without a fault reaches its end: that way's choices are free as well.
        whole = _Run(system, values, process, action, run.running)
        whole.choices = run.choices
        whole.run(step.body)
        whole.end(step.next_label)
        run.allowed += whole.allowed
        run.running = all_of((any_of(where for where, _ in whole.ended), whole.faultless))
    for body in (step.torn if action.torn else None, process.on_crash):
        if body is not None:
            run.run(body.body)
    exists = run.running
    run.clear_fresh_bits()
    run.forget(truth(True), kept=True)
    run.go_to(truth(True), process.start if process.restarts == "at_once" else CRASHED)
    changed = any_of(negation(equal(a, b)) for a, b in zip(values, run.values, strict=True) if a is not b)
    run.spend(fault, truth(True))
    return run.effect(all_of((exists, changed)), truth(False))


def _unbounded(value_type: ValueType) -> bool:
    return isinstance(value_type, RangeType) and value_type.low is None

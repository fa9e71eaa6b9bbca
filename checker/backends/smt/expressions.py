"""Expressions as Z3 terms, and where they have no value.

The same questions as in `model.evaluate`, for all states at once. `condition` says where an expression is evaluated at
all: `and`, `or`, `if` and quantifiers evaluate only what decides, and an error elsewhere is none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import assert_never

import z3

from checker.backends.smt.values import (
    NOTHING,
    Members,
    Number,
    Term,
    all_of,
    any_of,
    arithmetic,
    choice,
    compared,
    constant_of,
    equal,
    is_element,
    key_of,
    less_equal,
    maybe,
    members,
    negation,
    number,
    shared,
    truth,
    united,
)
from model.expressions import (
    And,
    Arithmetic,
    AtLabel,
    Comparison,
    Conditional,
    Constant,
    Expression,
    Extremum,
    FaultDraw,
    Fresh,
    Given,
    Implies,
    LocalValue,
    Membership,
    Next,
    Not,
    Or,
    ParameterValue,
    Quantifier,
    SelfValue,
    SetMembership,
    SetOf,
    SetOperation,
    Size,
    Stopped,
    TableColumn,
    VariableValue,
    Without,
)
from model.specification import Process, Table
from model.system import STOPPED, TransitionSystem
from model.types import Value, ValueType, kind_of

Draw = Callable[[str, z3.BoolRef], z3.BoolRef]
"""Draws a fault where a condition is true: a free constant, false where the fault cannot happen."""


class Reader:
    """Reads expressions over given values of the slots; `errors` collects where evaluation has no value."""

    def __init__(
        self,
        system: TransitionSystem,
        values: Sequence[Term],
        process: Process | None = None,
        instance: int = 0,
        *,
        successor: Sequence[Term] | None = None,
        draw: Draw | None = None,
    ) -> None:
        self.system = system
        self.values: Sequence[Term] = values
        self.process = process
        self.instance = instance
        self.successor = successor
        self.draw = draw
        self.locals: dict[str, Term] = {}
        self.errors: list[z3.BoolRef] = []

    @property
    def error(self) -> z3.BoolRef:
        """Where something that was read had no value."""
        return any_of(self.errors)

    def truth(self, expression: Expression, condition: z3.BoolRef) -> z3.BoolRef:
        """Return the term of a boolean expression."""
        term = self.read(expression, condition)
        assert isinstance(term, z3.BoolRef)
        return term

    def number(self, expression: Expression, condition: z3.BoolRef) -> Number:
        """Return the term of an integer expression."""
        term = self.read(expression, condition)
        assert isinstance(term, Number)
        return term

    def read(self, expression: Expression, condition: z3.BoolRef) -> Term:
        """Return the term of an expression that is evaluated where `condition`."""
        match expression:
            case Constant(value=value, type=value_type):
                return self._constant(value, value_type)
            case ParameterValue(name=name, type=value_type):
                return self._constant(self.system.parameters[name], value_type)
            case LocalValue(name=name):
                return self.locals[name]
            case SelfValue():
                return number(self.instance)
            case VariableValue():
                return self._variable(expression, condition)
            case AtLabel(process=process, label=label):
                return self._label(process, expression.instance, label, condition)
            case Stopped(process=process):
                return self._label(process, expression.instance, STOPPED, condition)
            case Fresh(store=store):
                return self._fresh(store)
            case FaultDraw(fault=fault):
                assert self.draw is not None, "only a step draws faults"
                return self.draw(fault, condition)
            case Comparison(operator=operator):
                return compared(operator, self.read(expression.left, condition), self.read(expression.right, condition))
            case Arithmetic(operator=operator):
                left, right = self.number(expression.left, condition), self.number(expression.right, condition)
                return arithmetic(operator, left, right)
            case Extremum(operator=operator, items=items):
                return self._extremum(operator, [self.number(item, condition) for item in items])
            case Not(item=item):
                return negation(self.truth(item, condition))
            case And(items=items):
                return self._until_decided(items, condition, decided_by=False)
            case Or(items=items):
                return self._until_decided(items, condition, decided_by=True)
            case Implies():
                premise = self.truth(expression.premise, condition)
                conclusion = self.truth(expression.conclusion, all_of((condition, premise)))
                return any_of((negation(premise), conclusion))
            case Conditional():
                test = self.truth(expression.condition, condition)
                then = self.read(expression.then, all_of((condition, test)))
                return choice(test, then, self.read(expression.otherwise, all_of((condition, negation(test)))))
            case Membership(elements=elements):
                item_term = self.read(expression.item, condition)
                return any_of([equal(item_term, self.read(element, condition)) for element in elements])
            case Given(item=item):
                given = maybe(self.read(item, condition))
                self.fails(all_of((condition, negation(given.present))))
                if z3.is_false(given.present):
                    # There is never a value, which is an error; any of the right kind will do.
                    return truth(False) if kind_of(expression.type) == "bool" else number(0)
                return given.content
            case SetOf():
                return self._set(expression, condition)
            case SetOperation(operator=operator):
                first, second = members(self.read(expression.left, condition)), self.read(expression.right, condition)
                return united(first, members(second)) if operator == "|" else shared(first, members(second))
            case Without(item=item):
                before, removed = members(self.read(expression.whole, condition)), self.read(item, condition)
                kept = {key: all_of((has, negation(is_element(removed, key)))) for key, has in before.has.items()}
                return Members(kept)
            case SetMembership(item=item):
                searched = self.read(item, condition)
                found = members(self.read(expression.whole, condition))
                return any_of([all_of((has, is_element(searched, key))) for key, has in found.has.items()])
            case Size(item=item):
                return _counted(list(members(self.read(item, condition)).has.values()))
            case Quantifier():
                return self._quantifier(expression, condition)
            case TableColumn():
                return self._table(expression, condition)
            case Next(item=item):
                return self._next(item, condition)
            case _:
                assert_never(expression)

    def fails(self, where: z3.BoolRef) -> None:
        """Record that evaluation has no value there."""
        if not z3.is_false(where):
            self.errors.append(where)

    def _constant(self, value: Value, value_type: ValueType) -> Term:
        if value is None:
            return NOTHING
        if isinstance(value, bool):
            return truth(value)
        return number(value) if isinstance(value, int) else constant_of(self.system.domain(value_type), value)

    def _set(self, expression: SetOf, condition: z3.BoolRef) -> Members:
        """Return the set of some elements; one outside the set's type is an error."""
        elements = self.system.domain(expression.type.element)
        keys = [key_of(elements, value) for value in elements.values()]
        read = [self.read(element, condition) for element in expression.elements]
        for element in read:
            inside = any_of([is_element(element, key) for key in keys])
            self.fails(all_of((condition, negation(inside))))
        return Members({key: any_of([is_element(element, key) for element in read]) for key in keys})

    def _fresh(self, store: str) -> z3.BoolRef:
        assert self.process is not None, "only a process has fresh bits"
        slot = self.system.fresh_slots.get((self.process.name, self.instance, store))
        if slot is None:
            return truth(False)
        bit = self.values[slot]
        assert isinstance(bit, z3.BoolRef)
        return bit

    def _extremum(self, operator: str, items: list[Number]) -> Number:
        best = items[0]
        for item in items[1:]:
            lower = less_equal(best, item)
            chosen = choice(lower, best, item) if operator == "min" else choice(lower, item, best)
            assert isinstance(chosen, Number)
            best = chosen
        return best

    def _until_decided(self, items: Sequence[Expression], condition: z3.BoolRef, *, decided_by: bool) -> z3.BoolRef:
        """Read items until one has the value that decides; those behind it are not evaluated."""
        read: list[z3.BoolRef] = []
        open_yet = condition
        for item in items:
            term = self.truth(item, open_yet)
            read.append(term)
            open_yet = all_of((open_yet, negation(term) if decided_by else term))
        return any_of(read) if decided_by else all_of(read)

    def _quantifier(self, expression: Quantifier, condition: z3.BoolRef) -> Term:
        outer = self.locals
        domain = self.system.domain(expression.domain)
        operator = expression.operator
        open_yet = condition
        bodies: list[z3.BoolRef] = []
        for value in domain.values():
            self.locals = {**outer, expression.variable: constant_of(domain, value)}
            chosen = truth(True) if expression.condition is None else self.truth(expression.condition, open_yet)
            body = self.truth(expression.body, all_of((open_yet, chosen)))
            if operator == "all":
                body = any_of((negation(chosen), body))
                open_yet = all_of((open_yet, body))
            else:
                body = all_of((chosen, body))
                if operator == "any":
                    open_yet = all_of((open_yet, negation(body)))
            bodies.append(body)
        self.locals = outer
        if operator == "count":
            return _counted(bodies)
        return all_of(bodies) if operator == "all" else any_of(bodies)

    def _table(self, expression: TableColumn, condition: z3.BoolRef) -> Term:
        """Return what the matching row gives; that no row matches, or two of an exclusive table, is an error."""
        table = self.system.specification.tables[expression.table, expression.process]
        outer, self.locals = self.locals, {}
        matches = self._matches(table, condition)
        cells = [
            self.read(row.gives[expression.column], all_of((condition, match)))
            for row, match in zip(table.rows, matches, strict=True)
        ]
        self.locals = outer
        result = cells[-1]
        for match, cell in zip(reversed(matches[:-1]), reversed(cells[:-1]), strict=True):
            result = choice(match, cell, result)
        return result

    def _matches(self, table: Table, condition: z3.BoolRef) -> list[z3.BoolRef]:
        """Return for each row whether it is the one."""
        matches: list[z3.BoolRef] = []
        earlier = truth(False)
        for row in table.rows:
            fits = self.truth(row.when, all_of((condition, negation(earlier))) if table.first_match else condition)
            if table.first_match:
                matches.append(all_of((fits, negation(earlier))))
            else:
                self.fails(all_of((condition, earlier, fits)))
                matches.append(fits)
            earlier = any_of((earlier, fits))
        self.fails(all_of((condition, negation(earlier))))
        return matches

    def _next(self, item: Expression, condition: z3.BoolRef) -> Term:
        assert self.successor is not None, "`next` outside a step property"
        before, self.values = self.values, self.successor
        term = self.read(item, condition)
        self.values = before
        return term

    # -- variables ------------------------------------------------------------------------------------------------

    def places(self, variable: VariableValue, condition: z3.BoolRef) -> list[tuple[z3.BoolRef, int]]:
        """Return the slots that a variable may stand for, each with the condition under which it does."""
        positions = [self.read(index, condition) for index in variable.indices]
        found: list[tuple[z3.BoolRef, int]] = []
        for here, instance in self._instances(variable, condition):
            layout = self.system.layouts.get((variable.key, instance))
            if layout is None:
                continue
            guards = [here]
            for position, domain in zip(positions, layout.indices, strict=True):
                guards = [
                    all_of((guard, equal(position, constant_of(domain, value))))
                    for guard in guards
                    for value in domain.values()
                ]
            found += [(guard, layout.first + offset) for offset, guard in enumerate(guards) if not z3.is_false(guard)]
        if variable.indices or variable.instance is not None:
            self.fails(all_of((condition, negation(any_of([guard for guard, _ in found])))))
        return found

    def _instances(self, variable: VariableValue, condition: z3.BoolRef) -> list[tuple[z3.BoolRef, int]]:
        if variable.instance is None:
            return [(truth(True), 0)]
        which = self.read(variable.instance, condition)
        count = self.system.counts[variable.key.split(".", 1)[0]]
        return [(equal(which, number(instance)), instance) for instance in range(count)]

    def _variable(self, variable: VariableValue, condition: z3.BoolRef) -> Term:
        options = self.places(variable, condition)
        if not options:
            # There is no such place at all: an error that is recorded, so that any value of the type will do.
            return self._constant(self.system.domain(variable.type).first, variable.type)
        result = self.values[options[-1][1]]
        for guard, slot in reversed(options[:-1]):
            result = choice(guard, self.values[slot], result)
        return result

    def _label(self, process: str, instance: Expression, label: str, condition: z3.BoolRef) -> z3.BoolRef:
        which = self.read(instance, condition)
        here = [equal(which, number(each)) for each in range(self.system.counts[process])]
        self.fails(all_of((condition, negation(any_of(here)))))
        found: list[z3.BoolRef] = []
        for each, chosen in enumerate(here):
            slot = self.system.label_slots[process, each]
            domain = self.system.slots[slot].domain
            if domain.contains(label):
                found.append(all_of((chosen, equal(self.values[slot], constant_of(domain, label)))))
        return any_of(found)


def _counted(items: Sequence[z3.BoolRef]) -> Number:
    """Return how many of the items are true."""
    total = number(0)
    for item in items:
        one = choice(item, number(1), number(0))
        assert isinstance(one, Number)
        total = arithmetic("+", total, one)
    return total

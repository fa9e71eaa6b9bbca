"""Expressions as terms: what an expression is worth in a state, where it errs, and what evaluating it meets.

The same questions as in `model.evaluate`, answered for all states at once. Nothing of it is taken from there.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import assert_never

from checker.backends.columns.compounds import Compound, Compounds, Maybe, Members
from checker.backends.columns.terms import Term, Terms, conjuncts
from model.diagnostics import Code, Diagnostic, SpecificationError
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
from model.source import Span
from model.specification import Process, Row, Table
from model.system import BOOL_DOMAIN, STOPPED, Domain, TransitionSystem
from model.types import NoneType, OptionalType, SetType, Value, ValueType

VALUE_MAX = 2**62
"""Terms are computed in signed 64-bit words; a value that could leave this interval is refused."""

EventKey = tuple[str, Span] | tuple[str, Span, bool] | tuple[str, Span, str]
"""What was met, and where: `row`, `shadowed`, `premise`, `branch` with the arm taken, or `check` with the property."""

Event = tuple[EventKey, Term]
"""Something worth counting (see `checker.exploration.Coverage`) and where it happens."""


class Slots:
    """The slots of a system as terms: what they hold before a step, and constants of their domains.

    `numbers` maps the system's slots to the numbers by which terms know them, so that systems with different layouts
    can share terms.
    """

    def __init__(self, system: TransitionSystem, terms: Terms, numbers: list[int]) -> None:
        self.system = system
        self.terms = terms
        self.compounds = Compounds(terms)
        self.numbers = numbers
        self.suspects: frozenset[Span] = frozenset()
        """Rows of which to find out whether they fit where an earlier row is taken."""

    def before(self, slot: int) -> Term:
        """Return the value of a slot before the step."""
        domain = self.system.slots[slot].domain
        return self.terms.slot(self.numbers[slot], domain.low, domain.size, is_bool=domain is BOOL_DOMAIN)

    def encode(self, slot: int, value: Value) -> Term:
        """Return a constant value of a slot."""
        return self.encoded(self.system.slots[slot].domain, value)

    def encoded(self, domain: Domain, value: Value) -> Term:
        """Return a constant of a domain: literals by their position, integers as they are."""
        if domain is BOOL_DOMAIN:
            return self.terms.truth(bool(value))
        return self.terms.constant(domain.low + domain.index(value))

    def forgotten(self, process: Process, instance: int, *, kept: bool) -> dict[int, Term]:
        """Return the memory of an instance that has forgotten it, by slot; what is kept is part of it or is not."""
        return {
            slot: self.encode(slot, self.system.slots[slot].initial)
            for slot in self.system.memory_slots(process, instance, kept=kept)
        }


class ExpressionCompiler:
    """Turns expressions into terms; `condition` says where an expression is evaluated at all.

    Errors and events are collected in `errors` and `events`, each restricted to where it can happen.
    """

    def __init__(
        self,
        slots: Slots,
        values: dict[int, Term],
        local_values: dict[str, Term],
        process: Process | None,
        instance: int,
        *,
        successor: dict[int, Term] | None = None,
        excluded: frozenset[frozenset[int]] = frozenset(),
        consulted: dict[Hashable, Term] | None = None,
        guard: Term | None = None,
    ) -> None:
        self.slots = slots
        self.system = slots.system
        self.terms = slots.terms
        self.compounds = slots.compounds
        self.values = values
        self.locals = local_values
        self.process = process
        self.instance = instance
        self.successor = successor
        self.excluded = excluded
        self.consulted = consulted if consulted is not None else {}
        self.guard = guard
        self.errors: list[Term] = []
        self.events: list[Event] = []

    def read(self, slot: int) -> Term:
        """Return the present value of a slot."""
        known = self.values.get(slot)
        return known if known is not None else self.slots.before(slot)

    def value(self, expression: Expression, condition: Term) -> Compound:
        """Return the value of an expression of any type that is evaluated where `condition`."""
        if not isinstance(expression.type, OptionalType | SetType | NoneType):
            return self.compile(expression, condition)
        compounds = self.compounds
        match expression:
            case Constant(value=None):
                return Maybe(self.terms.false, self.terms.constant(0))
            case LocalValue() | VariableValue():
                return compounds.read(self.compile(expression, condition), self.system.domain(expression.type))
            case Conditional():
                test = self.compile(expression.condition, condition)
                then = self.value(expression.then, self.terms.all_of((condition, test)))
                negated = self.terms.all_of((condition, self.terms.negation(test)))
                return compounds.choice(test, then, self.value(expression.otherwise, negated))
            case TableColumn():
                return self._table(expression, condition)
            case Next(item=item):
                return self._next(item, condition)
            case SetOf():
                return self._set(expression, condition)
            case SetOperation(operator=operator):
                left, right = self.members(expression.left, condition), self.members(expression.right, condition)
                return compounds.joined(operator, left, right)
            case Without():
                whole, removed = self.members(expression.whole, condition), self.compile(expression.item, condition)
                return compounds.without(whole, removed)
            case _:
                raise AssertionError(f"{type(expression).__name__} is of no such type")

    def members(self, expression: Expression, condition: Term) -> Members:
        """Return the value of an expression that is a set."""
        value = self.value(expression, condition)
        assert isinstance(value, Members)
        return value

    def _set(self, expression: SetOf, condition: Term) -> Members:
        """Return a set of elements; one outside the type of the set is an error."""
        terms = self.terms
        domain = self.system.domain(expression.type.element)
        elements = [self.compile(element, condition) for element in expression.elements]
        for element in elements:
            outside, _ = self.compounds.fitted(element, domain)
            self.error(terms.all_of((condition, outside)))
        present = []
        for value in domain.values():
            constant = self.slots.encoded(domain, value)
            key = domain.low + domain.index(value)
            present.append((key, terms.any_of([terms.equal(element, constant) for element in elements])))
        return Members(tuple(present), domain is BOOL_DOMAIN)

    def compile(self, expression: Expression, condition: Term) -> Term:
        """Return the term of an expression that is evaluated where `condition`.

        Of `T?` and sets only variables have one: the code of their slot.
        """
        terms = self.terms
        match expression:
            case Constant(value=value, type=value_type):
                return self._constant(value, value_type)
            case ParameterValue(name=name, type=value_type):
                return self._constant(self.system.parameters[name], value_type)
            case LocalValue(name=name):
                return self.locals[name]
            case SelfValue():
                return terms.constant(self.instance)
            case VariableValue():
                return self._variable(expression, condition)
            case AtLabel(process=process, label=label):
                return self._label(process, expression.instance, label, condition)
            case Stopped(process=process):
                return self._label(process, expression.instance, STOPPED, condition)
            case Fresh(store=store):
                assert self.process is not None
                slot = self.system.fresh_slots.get((self.process.name, self.instance, store))
                return terms.false if slot is None else self.read(slot)
            case FaultDraw():
                raise AssertionError("faults are drawn by the step runner")
            case Comparison():
                return self._comparison(
                    expression.operator,
                    self.value(expression.left, condition),
                    self.value(expression.right, condition),
                )
            case Arithmetic(operator=operator):
                left, right = self.compile(expression.left, condition), self.compile(expression.right, condition)
                made = (
                    terms.sum(left, right)
                    if operator == "+"
                    else terms.difference(left, right)
                    if operator == "-"
                    else terms.product(left, right)
                )
                return self._bounded(made, expression.span)
            case Extremum(operator=operator, items=items):
                return self._extremum(operator, [self.compile(item, condition) for item in items])
            case Not(item=item):
                return terms.negation(self.compile(item, condition))
            case And(items=items):
                return self._and(items, condition)
            case Or(items=items):
                return self._or(items, condition)
            case Implies():
                premise = self.compile(expression.premise, condition)
                there = terms.all_of((condition, premise))
                self._event(("premise", expression.span), there)
                return terms.any_of((terms.negation(premise), self.compile(expression.conclusion, there)))
            case Conditional():
                test = self.compile(expression.condition, condition)
                then = self.compile(expression.then, terms.all_of((condition, test)))
                return terms.choice(
                    test, then, self.compile(expression.otherwise, terms.all_of((condition, terms.negation(test))))
                )
            case Membership(elements=elements):
                sought = self.value(expression.item, condition)
                return terms.any_of(
                    [self.compounds.equal(sought, self.value(element, condition)) for element in elements]
                )
            case Given(item=item):
                given = self.compounds.maybe(self.value(item, condition))
                self.error(terms.all_of((condition, terms.negation(given.present))))
                return given.content
            case SetMembership(item=item):
                sought = self.value(item, condition)
                return self.compounds.contains(self.members(expression.whole, condition), sought)
            case Size(item=item):
                return self.compounds.size(self.members(item, condition))
            case SetOf() | SetOperation() | Without():
                raise AssertionError("a set is no single term")
            case Quantifier():
                return self._quantifier(expression, condition)
            case TableColumn():
                return _single(self._table(expression, condition))
            case Next(item=item):
                return _single(self._next(item, condition))
            case _:
                assert_never(expression)

    def _constant(self, value: Value, value_type: ValueType) -> Term:
        if isinstance(value, bool):
            return self.terms.truth(value)
        if isinstance(value, int):
            return self.terms.constant(value)
        return self.slots.encoded(self.system.domain(value_type), value)

    def _bounded(self, term: Term, span: Span) -> Term:
        if term.low < -VALUE_MAX or term.high > VALUE_MAX:
            message = "the value of this arithmetic could leave 62 bits"
            raise SpecificationError([Diagnostic(Code.LIMIT, message, span)])
        return term

    def _event(self, key: EventKey, where: Term) -> None:
        if self.errors:
            where = self.terms.all_of((where, self.terms.outside(self.terms.any_of(self.errors))))
        if where is not self.terms.false:
            self.events.append((key, where))

    def error(self, where: Term) -> None:
        """Record that evaluation errs there, unless an error that is already excluded covers it."""
        if where is self.terms.false:
            return
        conditions = {condition.number for condition in conjuncts(where)}
        if not any(known <= conditions for known in self.excluded):
            self.errors.append(where)

    def _comparison(self, operator: str, first: Compound, second: Compound) -> Term:
        terms = self.terms
        if operator in {"==", "!="}:
            same = self.compounds.equal(first, second)
            return same if operator == "==" else terms.negation(same)
        left, right = _single(first), _single(second)
        match operator:
            case "<=":
                return terms.less_equal(left, right)
            case ">=":
                return terms.less_equal(right, left)
            case "<":
                return terms.negation(terms.less_equal(right, left))
            case _:
                return terms.negation(terms.less_equal(left, right))

    def _extremum(self, operator: str, items: list[Term]) -> Term:
        best = items[0]
        for item in items[1:]:
            smaller = self.terms.less_equal(best, item)
            best = (
                self.terms.choice(smaller, best, item) if operator == "min" else self.terms.choice(smaller, item, best)
            )
        return best

    def _and(self, items: Iterable[Expression], condition: Term) -> Term:
        result = self.terms.true
        for item in items:
            here = self.terms.all_of((condition, result))
            if here is self.terms.false:
                break
            result = self.terms.all_of((result, self.compile(item, here)))
        return result

    def _or(self, items: Iterable[Expression], condition: Term) -> Term:
        result = self.terms.false
        for item in items:
            here = self.terms.all_of((condition, self.terms.negation(result)))
            if here is self.terms.false:
                break
            result = self.terms.any_of((result, self.compile(item, here)))
        return result

    def _quantifier(self, expression: Quantifier, condition: Term) -> Term:
        terms = self.terms
        outer = self.locals
        domain = self.system.domain(expression.domain)
        decided = terms.false
        count = terms.constant(0)
        for value in domain.values():
            here = terms.all_of((condition, terms.negation(decided))) if expression.operator != "count" else condition
            if here is terms.false and expression.operator != "count":
                break
            self.locals = {**outer, expression.variable: self.slots.encoded(domain, value)}
            if expression.condition is not None:
                chosen = self.compile(expression.condition, here)
                body = self.compile(expression.body, terms.all_of((here, chosen)))
            else:
                chosen, body = terms.true, self.compile(expression.body, here)
            match expression.operator:
                case "any":
                    decided = terms.any_of((decided, terms.all_of((chosen, body))))
                case "all":
                    decided = terms.any_of((decided, terms.all_of((chosen, terms.negation(body)))))
                case _:
                    count = terms.sum(
                        count, terms.choice(terms.all_of((chosen, body)), terms.constant(1), terms.constant(0))
                    )
        self.locals = outer
        if expression.operator == "count":
            return count
        return decided if expression.operator == "any" else terms.negation(decided)

    def _table(self, expression: TableColumn, condition: Term) -> Compound:
        """Return what the matching row gives.

        Of an exclusive table every row is evaluated, of one with `match: first` those up to the match.

        The number of the matching row is one term, `len(rows)` where none matches; every column is a function of it.
        """
        terms = self.terms
        table = self.system.specification.tables[expression.table, expression.process]
        outer, self.locals = self.locals, {}
        number = self._matching_row(table, condition)
        cells = []
        for position, row in enumerate(table.rows):
            here = terms.all_of((condition, terms.equal(number, terms.constant(position))))
            cells.append(self.value(row.gives[expression.column], here))
        self.locals = outer
        if not isinstance(expression.type, OptionalType | SetType):
            return self._cell(number, [_single(cell) for cell in cells])
        result = cells[-1]
        for position in range(len(cells) - 2, -1, -1):
            result = self.compounds.choice(terms.equal(number, terms.constant(position)), cells[position], result)
        return result

    def _matching_row(self, table: Table, condition: Term) -> Term:
        """Return the number of the matching row.

        A run that has consulted the table before, with the same values and wherever it has come since, meets the same
        row again: neither an error nor an event of that is new.
        """
        terms = self.terms
        key = (table.name, table.process, tuple(sorted((slot, term.number) for slot, term in self.values.items())))
        if key in self.consulted:
            return self.consulted[key]
        conditions = self._row_conditions(table, condition)
        number = terms.constant(len(table.rows))
        for position in range(len(table.rows) - 1, -1, -1):
            number = terms.choice(conditions[position], terms.constant(position), number)
        for position, row in enumerate(table.rows):
            self._event(("row", row.span), terms.all_of((condition, terms.equal(number, terms.constant(position)))))
            if row.span in self.slots.suspects and table.first_match:
                earlier = terms.all_of((condition, terms.less_equal(number, terms.constant(position - 1))))
                self._event(("shadowed", row.span), terms.all_of((earlier, self._fits(row, earlier))))
        self.error(terms.all_of((condition, terms.equal(number, terms.constant(len(table.rows))))))
        if condition is self.guard:
            self.consulted[key] = number
        return number

    def _fits(self, row: Row, condition: Term) -> Term:
        """Return whether a row's condition is true; where it has no value it is not."""
        aside = ExpressionCompiler(self.slots, self.values, {}, self.process, self.instance, successor=self.successor)
        fits = aside.compile(row.when, condition)
        return self.terms.all_of((fits, *(self.terms.outside(error) for error in aside.errors)))

    def _row_conditions(self, table: Table, condition: Term) -> list[Term]:
        """Return when each row's condition is true; two at once are an error of an exclusive table."""
        terms = self.terms
        conditions: list[Term] = []
        matched = terms.false
        for row in table.rows:
            evaluated = terms.all_of((condition, terms.negation(matched))) if table.first_match else condition
            conditions.append(self.compile(row.when, evaluated))
            if not table.first_match:
                self.error(terms.all_of((condition, matched, conditions[-1])))
            matched = terms.any_of((matched, conditions[-1]))
        return conditions

    def _cell(self, number: Term, cells: list[Term]) -> Term:
        terms = self.terms
        if number.constant is not None:
            return cells[min(number.constant, len(cells) - 1)]
        if all(cell.constant is not None for cell in cells):
            constants = [cell.constant if cell.constant is not None else 0 for cell in cells]
            # Where no row matches the value does not matter: that is an error.
            entries = [constants[min(i, len(cells) - 1)] for i in range(number.low, number.high + 1)]
            return terms.lookup(number, tuple(entries), is_bool=cells[0].is_bool)
        result = cells[-1]
        for position in range(len(cells) - 2, -1, -1):
            result = terms.choice(terms.equal(number, terms.constant(position)), cells[position], result)
        return result

    def _next(self, item: Expression, condition: Term) -> Compound:
        assert self.successor is not None
        before, self.values = self.values, self.successor
        value = self.value(item, condition)
        self.values = before
        return value

    # -- variables ------------------------------------------------------------------------------------------------

    def places(self, variable: VariableValue, condition: Term) -> list[tuple[Term, int]]:
        """Return the slots that a variable may stand for, each with the condition under which it does."""
        terms = self.terms
        positions = [self.compile(index, condition) for index in variable.indices]
        found: list[tuple[Term, int]] = []
        here = terms.false
        inside = True
        for chosen, instance in self._instances(variable, condition):
            layout = self.system.layouts.get((variable.key, instance))
            if layout is None:
                continue
            options: list[tuple[Term, int]] = [(chosen, 0)]
            for position, domain in zip(positions, layout.indices, strict=True):
                options = [
                    (
                        terms.all_of((guard, terms.equal(position, self.slots.encoded(domain, value)))),
                        offset * domain.size + domain.index(value),
                    )
                    for guard, offset in options
                    for value in domain.values()
                ]
                last = domain.low + domain.size - 1
                inside &= domain.literals is not None or domain.low <= position.low <= position.high <= last
            options = [(guard, offset) for guard, offset in options if guard is not terms.false]
            here = terms.any_of([here, *(guard for guard, _ in options)])
            found.extend((guard, layout.first + offset) for guard, offset in options)
        # By intervals every index may be known to lie in its array, which spares a test that is always true.
        known_instance = variable.instance is None or isinstance(variable.instance, SelfValue)
        if not (inside and known_instance and found):
            self.error(terms.all_of((condition, terms.negation(here))))
        return found

    def _instances(self, variable: VariableValue, condition: Term) -> list[tuple[Term, int]]:
        if variable.instance is None:
            return [(self.terms.true, 0)]
        number = self.compile(variable.instance, condition)
        process = variable.key.split(".", 1)[0]
        options = [(self.terms.equal(number, self.terms.constant(i)), i) for i in range(self.system.counts[process])]
        return [(guard, i) for guard, i in options if guard is not self.terms.false]

    def _variable(self, variable: VariableValue, condition: Term) -> Term:
        options = self.places(variable, condition)
        if not options:
            # No such place exists at all; the error is recorded, and any value of the type will do.
            return self._constant(self.system.domain(variable.type).first, variable.type)
        result = self.read(options[-1][1])
        for guard, slot in reversed(options[:-1]):
            result = self.terms.choice(guard, self.read(slot), result)
        return result

    def _label(self, process: str, instance: Expression, label: str, condition: Term) -> Term:
        terms = self.terms
        number = self.compile(instance, condition)
        inside, result = terms.false, terms.false
        for i in range(self.system.counts[process]):
            slot = self.system.label_slots[process, i]
            here = terms.equal(number, terms.constant(i))
            inside = terms.any_of((inside, here))
            if self.system.slots[slot].domain.contains(label):
                result = terms.any_of(
                    (result, terms.all_of((here, terms.equal(self.read(slot), self.slots.encode(slot, label)))))
                )
        self.error(terms.all_of((condition, terms.negation(inside))))
        return result


def _single(value: Compound) -> Term:
    """Return a value that is known to be a term."""
    assert isinstance(value, Term)
    return value

"""The meaning of expressions: what one is worth in a state, or where it has no value.

`and`, `or`, `if`, quantifiers and `implies` evaluate only what decides, and an error elsewhere is none. Steps are run
by `model.evaluate`, which draws faults and knows what an instance has read.
"""

from __future__ import annotations

from typing import assert_never

from model.constants import NO_VALUE, combined, compare, elements_of
from model.diagnostics import Code
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
from model.observer import Observer, Unobserved
from model.source import Span
from model.specification import Row, Table
from model.system import STOPPED, State, TransitionSystem
from model.transitions import EvaluationError
from model.types import SetValue, Value, collected, whole


class Frame:
    """Evaluates expressions: the values of the moment, the locals, and whose step it is."""

    def __init__(
        self,
        system: TransitionSystem,
        observer: Observer,
        values: State | list[Value],
        *,
        successor: State | None = None,
        instance: int = 0,
    ) -> None:
        self.system = system
        self.observer = observer
        self.values: State | list[Value] = values
        self.successor = successor
        self.instance = instance
        self.locals: dict[str, Value] = {}

    def value(self, expression: Expression) -> Value:
        """Evaluate; `and`, `or`, `if`, quantifiers and `implies` evaluate only what decides."""
        match expression:
            case Constant(value=value):
                return value
            case ParameterValue(name=name):
                return self.system.parameters[name]
            case LocalValue(name=name):
                return self.locals[name]
            case SelfValue():
                return self.instance
            case VariableValue():
                return self.values[self.slot(expression)]
            case AtLabel(process=process, label=label):
                return self.values[self._label_slot(process, expression.instance, expression.span)] == label
            case Stopped(process=process):
                return self.values[self._label_slot(process, expression.instance, expression.span)] == STOPPED
            case Fresh() | FaultDraw():
                return self.only_in_a_step(expression)
            case Comparison():
                return self._comparison(expression)
            case Arithmetic(operator=operator):
                left, right = self.integer(expression.left), self.integer(expression.right)
                return left + right if operator == "+" else left - right if operator == "-" else left * right
            case Extremum(operator=operator, items=items):
                numbers = [self.integer(item) for item in items]
                return min(numbers) if operator == "min" else max(numbers)
            case Not(item=item):
                return not self.value(item)
            case And(items=items):
                return all(self.value(item) for item in items)
            case Or(items=items):
                return any(self.value(item) for item in items)
            case Implies():
                return self._implies(expression)
            case Conditional():
                return self.value(expression.then if self.value(expression.condition) else expression.otherwise)
            case Membership(elements=elements):
                item_value = self.value(expression.item)
                return item_value in [self.value(element) for element in elements]
            case Given(item=item):
                given = self.value(item)
                if given is None:
                    raise EvaluationError(Code.NONE_HAS_NO_VALUE, NO_VALUE, expression.span)
                return given
            case SetOf():
                return self._set(expression)
            case SetOperation(operator=operator, type=set_type):
                return combined(operator, self.value(expression.left), self.value(expression.right), set_type)
            case Without(type=set_type):
                before, removed = elements_of(self.value(expression.whole)), self.value(expression.item)
                return collected([element for element in before if element != removed], set_type.element)
            case SetMembership(whole=searched):
                item_value = self.value(expression.item)
                return item_value in elements_of(self.value(searched))
            case Size(item=item):
                return len(elements_of(self.value(item)))
            case Quantifier():
                return self._quantifier(expression)
            case TableColumn(table=table, process=process_name, column=column):
                return self.value(
                    self._matching_row(self.system.specification.tables[table, process_name], expression.span).gives[
                        column
                    ]
                )
            case Next(item=item):
                return self._next(item)
            case _:
                assert_never(expression)

    def only_in_a_step(self, expression: Fresh | FaultDraw) -> Value:
        """Evaluate what has a value only while a step runs, which overrides this."""
        raise AssertionError(f"{type(expression).__name__} outside a step; the elaborator should have refused it")

    def integer(self, expression: Expression) -> int:
        """Evaluate an expression that is an integer."""
        return whole(self.value(expression))

    def slot(self, variable: VariableValue) -> int:
        """Return where a variable is.

        Raises:
            EvaluationError: an index lies outside its array.
        """
        instance = 0 if variable.instance is None else self.integer(variable.instance)
        layout = self.system.layouts.get((variable.key, instance))
        if layout is None:
            process = variable.key.split(".", 1)[0]
            raise EvaluationError(
                Code.INDEX_OUTSIDE_ARRAY, f"there is no instance {instance} of `{process}`", variable.span
            )
        offset = 0
        for index, domain in zip(variable.indices, layout.indices, strict=True):
            value = self.value(index)
            if not domain.contains(value):
                raise EvaluationError(Code.INDEX_OUTSIDE_ARRAY, f"the index {value} lies outside {domain}", index.span)
            offset = offset * domain.size + domain.index(value)
        return layout.first + offset

    def _label_slot(self, process: str, instance: Expression, span: Span) -> int:
        number = self.integer(instance)
        if (process, number) not in self.system.label_slots:
            raise EvaluationError(Code.INDEX_OUTSIDE_ARRAY, f"there is no instance {number} of `{process}`", span)
        return self.system.label_slots[process, number]

    def _comparison(self, expression: Comparison) -> bool:
        return compare(expression.operator, self.value(expression.left), self.value(expression.right))

    def _set(self, expression: SetOf) -> SetValue:
        domain = self.system.domain(expression.type.element)
        elements = [self.value(element) for element in expression.elements]
        for element, value in zip(expression.elements, elements, strict=True):
            if not domain.contains(value):
                message = f"{value} would be an element of a set of {domain}"
                raise EvaluationError(Code.ASSIGNED_OUTSIDE_TYPE, message, element.span)
        return collected(elements, expression.type.element)

    def _implies(self, expression: Implies) -> bool:
        if not self.value(expression.premise):
            return True
        self.observer.premise(expression.span)
        return bool(self.value(expression.conclusion))

    def _quantifier(self, expression: Quantifier) -> Value:
        found = 0
        outer = dict(self.locals)
        try:
            for value in self.system.domain(expression.domain).values():
                self.locals[expression.variable] = value
                if expression.condition is not None and not self.value(expression.condition):
                    continue
                true = bool(self.value(expression.body))
                found += true
                if expression.operator == "any" and true:
                    return True
                if expression.operator == "all" and not true:
                    return False
        finally:
            self.locals = outer
        return found if expression.operator == "count" else expression.operator == "all"

    def _matching_row(self, table: Table, span: Span) -> Row:
        """Find the row that matches; of an exclusive table every row is looked at."""
        self.observer.consulted(table, self.values, self.instance)
        outer, self.locals = self.locals, {}
        try:
            matching: Row | None = None
            for number, row in enumerate(table.rows, start=1):
                if not self.value(row.when):
                    continue
                if matching is not None:
                    message = f"in the table `{table.name}` both `{matching.name}` and `{row.name}` match"
                    raise EvaluationError(Code.TWO_ROWS_MATCH, message, span)
                matching = row
                if table.first_match:
                    self.observer.passed_over(table.rows[number:], self._fits_unobserved)
                    break
            if matching is None:
                raise EvaluationError(Code.NO_ROW_MATCHES, f"no row of the table `{table.name}` matches", span)
            self.observer.row(matching.span)
            return matching
        finally:
            self.locals = outer

    def _fits_unobserved(self, row: Row) -> bool:
        outer, self.observer = self.observer, Unobserved()
        try:
            return bool(self.value(row.when))
        except EvaluationError:
            return False  # the rows before may be what keeps this condition from being asked
        finally:
            self.observer = outer

    def _next(self, item: Expression) -> Value:
        assert self.successor is not None, "`next` outside a step property; the elaborator should have refused it"
        before, self.values = self.values, self.successor
        try:
            return self.value(item)
        finally:
            self.values = before

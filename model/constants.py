"""The value of an expression over parameters alone, known before a run."""

from __future__ import annotations

from collections.abc import Mapping

from model.codes import Code
from model.diagnostics import Diagnostic, SpecificationError
from model.expressions import (
    And,
    Arithmetic,
    Comparison,
    Conditional,
    Constant,
    Expression,
    Extremum,
    Given,
    Implies,
    Membership,
    Not,
    Or,
    ParameterValue,
    SetMembership,
    SetOf,
    SetOperation,
    Size,
    walk,
)
from model.types import (
    BoolType,
    EnumType,
    OptionalType,
    RangeType,
    SetType,
    SetValue,
    Value,
    ValueType,
    collected,
    whole,
)

NO_VALUE = "this is `None` here, and a value is needed"

_CONSTANT = (
    Constant | ParameterValue | Arithmetic | Extremum | Conditional | Comparison | Not | And | Or | Implies | Membership
)
_CONSTANT_SET = Given | SetOf | SetOperation | SetMembership | Size


def is_constant(expression: Expression) -> bool:
    """Tell whether the parameters alone decide the value."""
    return all(isinstance(node, _CONSTANT | _CONSTANT_SET) for node in walk(expression))


def constant_value(expression: Expression, parameters: Mapping[str, Value]) -> Value:
    """Evaluate an expression that the elaborator accepted as constant.

    It holds no variables, quantifiers, tables or instances (`is_constant`).

    Raises:
        SpecificationError: a value is asked of `None`.
    """
    match expression:
        case Constant(value=value):
            return value
        case ParameterValue(name=name):
            return parameters[name]
        case Arithmetic(operator=operator):
            left, right = (
                whole(constant_value(expression.left, parameters)),
                whole(constant_value(expression.right, parameters)),
            )
            return left + right if operator == "+" else left - right if operator == "-" else left * right
        case Extremum(operator=operator, items=items):
            values = [whole(constant_value(item, parameters)) for item in items]
            return min(values) if operator == "min" else max(values)
        case Conditional():
            chosen = expression.then if constant_value(expression.condition, parameters) else expression.otherwise
            return constant_value(chosen, parameters)
        case Comparison(operator=operator):
            return compare(
                operator, constant_value(expression.left, parameters), constant_value(expression.right, parameters)
            )
        case Not(item=item):
            return not constant_value(item, parameters)
        case And(items=items):
            return all(constant_value(item, parameters) for item in items)
        case Or(items=items):
            return any(constant_value(item, parameters) for item in items)
        case Implies():
            premise = constant_value(expression.premise, parameters)
            return not premise or constant_value(expression.conclusion, parameters)
        case Membership():
            value = constant_value(expression.item, parameters)
            return value in [constant_value(element, parameters) for element in expression.elements]
        case Given(item=item, span=span):
            given = constant_value(item, parameters)
            if given is None:
                raise SpecificationError([Diagnostic(Code.NONE_HAS_NO_VALUE, NO_VALUE, span)])
            return given
        case SetOf(elements=elements, type=value_type):
            return collected([constant_value(element, parameters) for element in elements], value_type.element)
        case SetOperation(operator=operator, type=value_type):
            first, second = constant_value(expression.left, parameters), constant_value(expression.right, parameters)
            return combined(operator, first, second, value_type)
        case SetMembership(item=item):
            return constant_value(item, parameters) in elements_of(constant_value(expression.whole, parameters))
        case Size(item=item):
            return len(elements_of(constant_value(item, parameters)))
        case _:
            raise AssertionError(f"{type(expression).__name__} is not constant; the elaborator should have refused it")


def compare(operator: str, left: Value, right: Value) -> bool:
    """Compare two values of one kind; order is asked of integers only."""
    if operator == "==":
        return left == right
    if operator == "!=":
        return left != right
    a, b = whole(left), whole(right)
    return a < b if operator == "<" else a <= b if operator == "<=" else a > b if operator == ">" else a >= b


def elements_of(value: Value) -> tuple[Value, ...]:
    """Return the elements of a value that is known to be a set."""
    assert isinstance(value, SetValue)
    return value.elements


def combined(operator: str, left: Value, right: Value, value_type: SetType) -> SetValue:
    """Return the union or the intersection of two sets."""
    first, second = elements_of(left), elements_of(right)
    elements = (*first, *second) if operator == "|" else [element for element in first if element in second]
    return collected(elements, value_type.element)


def constant_size(value_type: ValueType) -> int | None:
    """Return how many values a type has, None where that depends on parameters."""
    match value_type:
        case BoolType():
            return 2
        case EnumType(literals=literals):
            return len(literals)
        case RangeType(low=Constant(value=low), high=Constant(value=high)):
            return whole(high) - whole(low) + 1
        case OptionalType(inner=inner):
            size = constant_size(inner)
            return None if size is None else size + 1
        case SetType(element=element):
            size = constant_size(element)
            return None if size is None else 2 ** max(0, size)
        case _:
            return None

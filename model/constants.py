"""The value of an expression over parameters alone, known before a run."""

from __future__ import annotations

from collections.abc import Mapping

from model.expressions import (
    And,
    Arithmetic,
    Comparison,
    Conditional,
    Constant,
    Expression,
    Extremum,
    Implies,
    Membership,
    Not,
    Or,
    ParameterValue,
    walk,
)
from model.types import BoolType, EnumType, RangeType, Value, ValueType

_CONSTANT = (
    Constant | ParameterValue | Arithmetic | Extremum | Conditional | Comparison | Not | And | Or | Implies | Membership
)


def is_constant(expression: Expression) -> bool:
    """Tell whether the parameters alone decide the value."""
    return all(isinstance(node, _CONSTANT) for node in walk(expression))


def constant_value(expression: Expression, parameters: Mapping[str, Value]) -> Value:
    """Evaluate an expression that the elaborator accepted as constant.

    It holds no variables, quantifiers, tables or instances (`is_constant`).
    """
    match expression:
        case Constant(value=value):
            return value
        case ParameterValue(name=name):
            return parameters[name]
        case Arithmetic(operator=operator):
            left, right = (
                int(constant_value(expression.left, parameters)),
                int(constant_value(expression.right, parameters)),
            )
            return left + right if operator == "+" else left - right if operator == "-" else left * right
        case Extremum(operator=operator, items=items):
            values = [int(constant_value(item, parameters)) for item in items]
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
        case _:
            raise AssertionError(f"{type(expression).__name__} is not constant; the elaborator should have refused it")


def compare(operator: str, left: Value, right: Value) -> bool:
    """Compare two values of one kind; order is asked of integers only."""
    if operator == "==":
        return left == right
    if operator == "!=":
        return left != right
    a, b = int(left), int(right)
    return a < b if operator == "<" else a <= b if operator == "<=" else a > b if operator == ">" else a >= b


def constant_size(value_type: ValueType) -> int | None:
    """Return how many values a type has, None where that depends on parameters."""
    match value_type:
        case BoolType():
            return 2
        case EnumType(literals=literals):
            return len(literals)
        case RangeType(low=Constant(value=low), high=Constant(value=high)):
            return int(high) - int(low) + 1
        case _:
            return None

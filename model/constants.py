"""The value of an expression over parameters alone, known before a run."""

from __future__ import annotations

from collections.abc import Mapping

from model.expressions import Arithmetic, Comparison, Conditional, Constant, Expression, Extremum, ParameterValue
from model.types import Value


def constant_value(expression: Expression, parameters: Mapping[str, Value]) -> Value:
    """Evaluate an expression that the elaborator accepted as constant.

    It holds numbers, literals, parameters, arithmetic, `min`, `max`, comparisons and `a if c else b`.
    """
    match expression:
        case Constant(value=value):
            return value
        case ParameterValue(name=name):
            return parameters[name]
        case Arithmetic(operator=operator):
            left, right = int(constant_value(expression.left, parameters)), int(constant_value(expression.right, parameters))
            return left + right if operator == "+" else left - right if operator == "-" else left * right
        case Extremum(operator=operator, items=items):
            values = [int(constant_value(item, parameters)) for item in items]
            return min(values) if operator == "min" else max(values)
        case Conditional():
            chosen = expression.then if constant_value(expression.condition, parameters) else expression.otherwise
            return constant_value(chosen, parameters)
        case Comparison(operator=operator):
            return compare(operator, constant_value(expression.left, parameters), constant_value(expression.right, parameters))
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

"""Counters tell 0, 1, … N apart and no more, so not every comparison has an answer (language, point 12)."""

from __future__ import annotations

from model.expressions import ComparisonOperator

FLIPPED: dict[ComparisonOperator, ComparisonOperator] = {
    "==": "==",
    "!=": "!=",
    "<": ">",
    "<=": ">=",
    ">": "<",
    ">=": "<=",
}
"""The operator that says the same with its sides exchanged."""


def compares_above(operator: ComparisonOperator, threshold: int, limit: int) -> bool:
    """Tell whether `counter operator threshold` asks for more than a counter that stops at `limit` can tell.

    `c <= k` and `c > k` draw the line between k and k + 1, the others at k itself; N stands for all numbers above it.

    >>> compares_above("<=", 1, 2), compares_above("<=", 2, 2), compares_above("==", 2, 2)
    (False, True, False)
    """
    return threshold >= limit if operator in {"<=", ">"} else threshold > limit


def above_message(operator: ComparisonOperator, threshold: int, limit: int) -> str:
    """Say what is wrong with such a comparison."""
    answer = "true" if operator in {"<", "<=", "!="} else "false"
    return (
        f"the counter stops at {limit}, which means {limit} or more: `{operator} {threshold}` would always be {answer}"
    )

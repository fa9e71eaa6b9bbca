"""Copies of typed trees in which some nodes are others; what does not change stays the same object."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import assert_never

from model.expressions import Expression, LocalValue, VariableValue, children, with_children
from model.statements import (
    Assign,
    Check,
    Choose,
    Count,
    For,
    Goto,
    If,
    Read,
    Statement,
    Stop,
    Target,
    When,
)

Body = tuple[Statement, ...]
OfExpression = Callable[[Expression], Expression | None]
"""What stands for an expression; None where it stays, and its parts are looked at."""
OfStatement = Callable[[Statement], Body | None]
"""What stands for a statement, several or none; None where it stays."""


def rewritten(expression: Expression, change: OfExpression) -> Expression:
    """Return an expression with every changed part in it, the outermost first."""
    made = change(expression)
    if made is not None:
        return made
    parts = children(expression)
    changed = tuple(rewritten(part, change) for part in parts)
    same = all(new is old for new, old in zip(changed, parts, strict=True))
    return expression if same else with_children(expression, changed)


def rewritten_body(body: Body, of_expression: OfExpression, of_statement: OfStatement) -> Body:
    """Return a body with every changed statement and expression in it.

    What a `check` looks at stays: it is a claim and no behaviour.
    """
    made: list[Statement] = []
    for statement in body:
        changed = of_statement(statement)
        made += (_rebuilt(statement, of_expression, of_statement),) if changed is None else changed
    same = len(made) == len(body) and all(new is old for new, old in zip(made, body, strict=True))
    return body if same else tuple(made)


def _rebuilt(statement: Statement, of_expression: OfExpression, of_statement: OfStatement) -> Statement:
    def new(expression: Expression) -> Expression:
        return rewritten(expression, of_expression)

    match statement:
        case Assign(target=target, value=value):
            parts = (_target(target, of_expression), new(value))
            return statement if parts == (target, value) else replace(statement, target=parts[0], value=parts[1])
        case Count(target=target, amount=amount):
            counted = _target(target, of_expression)
            assert isinstance(counted, VariableValue), "only a variable counts"
            made = replace(statement, target=counted, amount=new(amount))
            return statement if made == statement else made
        case Choose(target=target, elements=elements, source=source):
            chosen = replace(
                statement,
                target=_target(target, of_expression),
                elements=tuple(map(new, elements)),
                source=None if source is None else new(source),
            )
            return statement if chosen == statement else chosen
        case If(condition=condition, then=then, otherwise=otherwise):
            arms = [rewritten_body(arm, of_expression, of_statement) for arm in (then, otherwise)]
            asked = new(condition)
            if asked is condition and arms[0] is then and arms[1] is otherwise:
                return statement
            return replace(statement, condition=asked, then=arms[0], otherwise=arms[1])
        case For(body=body):
            repeated = rewritten_body(body, of_expression, of_statement)
            return statement if repeated is body else replace(statement, body=repeated)
        case When(condition=condition):
            asked = new(condition)
            return statement if asked is condition else replace(statement, condition=asked)
        case Goto() | Stop() | Read() | Check():
            return statement
        case _:
            assert_never(statement)


def _target(target: Target, of_expression: OfExpression) -> Target:
    """Return a target with changed indices: which variable is assigned stays."""
    if isinstance(target, LocalValue):
        return target
    indices = tuple(rewritten(index, of_expression) for index in target.indices)
    return target if all(map(_is, indices, target.indices)) else replace(target, indices=indices)


def _is(new: Expression, old: Expression) -> bool:
    return new is old

"""One change of a protocol's text, as it is made in the typed tree."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace

from checker.mutation.mutants import Operator, Piece
from checker.mutation.rewriting import Body, rewritten, rewritten_body
from model.expressions import And, Constant, Expression, FaultDraw, Or, walk
from model.source import Span
from model.specification import Step
from model.statements import Statement, When
from model.types import BOOL


@dataclass(frozen=True, slots=True)
class Change:
    """One change of the text at `span`, and how to make it in a piece that has the text.

    `piece` tells it from other changes by the same operator at the same place, empty where there is no other.
    """

    operator: Operator
    span: Span
    piece: str
    before: str
    after: str
    made: Callable[[Piece], Piece]

    @property
    def key(self) -> Hashable:
        """What is equal for the same change of the same text, wherever the text is elaborated."""
        return (self.operator, self.span, self.piece, self.after)


def of_expression(old: Expression, new: Callable[[Expression], Expression]) -> Callable[[Piece], Piece]:
    """Return how to change an expression, and all others that the same text became."""

    def change(expression: Expression) -> Expression | None:
        found = type(expression) is type(old) and expression.span == old.span
        return new(expression) if found else None

    def made(piece: Piece) -> Piece:
        if isinstance(piece, Step):
            return replace(piece, body=rewritten_body(piece.body, change, lambda _: None))
        gives = {column: rewritten(cell, change) for column, cell in piece.gives.items()}
        return replace(piece, when=rewritten(piece.when, change), gives=gives)

    return made


def of_statement(old: Statement, new: Callable[[Statement], Body]) -> Callable[[Piece], Piece]:
    """Return how to change a statement."""

    def change(statement: Statement) -> Body | None:
        found = type(statement) is type(old) and statement.span == old.span
        return new(statement) if found else None

    def made(piece: Piece) -> Piece:
        assert isinstance(piece, Step), "only steps have statements"
        return replace(piece, body=rewritten_body(piece.body, lambda _: None, change))

    return made


def true(span: Span) -> Expression:
    """Return what is always true, in the place of something else."""
    return Constant(True, BOOL, span)


def is_fault(step: Step) -> bool:
    """Tell whether a step is a fault itself: without one it has no way to its end."""
    return any(isinstance(statement, When) and takes_a_fault(statement.condition) for statement in step.body)


def takes_a_fault(condition: Expression) -> bool:
    """Tell whether a condition is true only where a fault happens."""
    match condition:
        case And(items=items):
            return any(map(takes_a_fault, items))
        case Or(items=items):
            return all(map(takes_a_fault, items))
        case _:
            return isinstance(condition, FaultDraw)


def draws(expression: Expression) -> bool:
    """Tell whether a fault may happen in an expression."""
    return any(isinstance(node, FaultDraw) for node in walk(expression))

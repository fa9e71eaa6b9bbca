"""The operators on expressions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from checker.mutation.changes import Change, of_expression, true
from checker.mutation.mutants import Operator
from checker.mutation.places import Places
from model.expressions import (
    And,
    Arithmetic,
    Comparison,
    ComparisonOperator,
    Conditional,
    Constant,
    Expression,
    Extremum,
    Fresh,
    Implies,
    Membership,
    Not,
    Or,
    Quantifier,
    children,
)
from model.source import Span

_NEIGHBOUR: dict[ComparisonOperator, ComparisonOperator] = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}


def changes_of(expression: Expression, around: Span, places: Places) -> Iterator[Change]:
    """Yield the changes of an expression and its parts; `around` is the text by which a number in it is known."""
    match expression:
        case And(items=items):
            yield from _parts_left_out(Operator.DROP_CONJUNCT, " and ", expression, items, places)
        case Or(items=items):
            yield from _parts_left_out(Operator.DROP_DISJUNCT, " or ", expression, items, places)
        case Membership() if len(expression.elements) > 1:
            yield from _elements_left_out(expression, places)
        case Quantifier() if expression.condition is not None:
            yield _quantified_over_all(expression, expression.condition, places)
        case Implies(premise=premise, conclusion=conclusion):
            texts = [places.text(part.span) for part in (expression, premise, conclusion)]
            made = of_expression(expression, lambda e: e.conclusion if isinstance(e, Implies) else e)
            yield Change(Operator.DROP_DISJUNCT, premise.span, f"not {texts[1]}", texts[0], texts[2], made)
        case Comparison() if expression.operator in _NEIGHBOUR:
            yield from _order(expression, places)
        case Constant(value=value) if isinstance(value, int) and not isinstance(value, bool):
            yield from _numbers(expression, value, around, places)
        case Fresh(span=span):
            text = places.text(span)
            yield Change(Operator.DROP_FRESH, span, text, text, "True", of_expression(expression, lambda _: true(span)))
        case Conditional():
            yield from _alternatives(expression, places)
        case _:
            pass
    inside = expression.span if isinstance(expression, Comparison | Arithmetic | Extremum) else around
    for part in children(expression):
        yield from changes_of(part, inside, places)


def _parts_left_out(
    operator: Operator, word: str, expression: Expression, items: tuple[Expression, ...], places: Places
) -> Iterator[Change]:
    before = places.text(expression.span)
    texts = _parts(before, items, places)
    for i, item in enumerate(items):
        after = word.join(text for j, text in enumerate(texts) if j != i)
        # A definition has its text elsewhere; it stays, and is not asked here.
        span = item.span if places.within(item.span, expression.span) else expression.span
        made = of_expression(expression, lambda e, i=i: _without(e, i))  # type: ignore[misc]
        yield Change(operator, span, texts[i], before, after, made)


def _parts(text: str, items: tuple[Expression, ...], places: Places) -> list[str]:
    """Return how the parts of an `and` or `or` are written, with their brackets."""
    tree = ast.parse(text, mode="eval").body
    if isinstance(tree, ast.BoolOp) and len(tree.values) == len(items):
        written = [ast.get_source_segment(text, value) or "" for value in tree.values]
        loose = [isinstance(value, ast.BoolOp | ast.IfExp) for value in tree.values]
        return [f"({part})" if brackets else part for part, brackets in zip(written, loose, strict=True)]
    return [places.text(item.span) for item in items]


def _without(expression: Expression, position: int) -> Expression:
    assert isinstance(expression, And | Or)
    left = tuple(item for i, item in enumerate(expression.items) if i != position)
    return left[0] if len(left) == 1 else replace(expression, items=left)


def _elements_left_out(expression: Membership, places: Places) -> Iterator[Change]:
    item, before = places.text(expression.item.span), places.text(expression.span)
    texts = [places.text(element.span) for element in expression.elements]
    for i, element in enumerate(expression.elements):
        rest = ", ".join(text for j, text in enumerate(texts) if j != i)

        def without(e: Expression, i: int = i) -> Expression:
            assert isinstance(e, Membership)
            return replace(e, elements=(*e.elements[:i], *e.elements[i + 1 :]))

        piece, after = f"{texts[i]} of {item}", before.partition("{")[0] + f"{{{rest}}}"
        yield Change(Operator.DROP_DISJUNCT, element.span, piece, before, after, of_expression(expression, without))


def _quantified_over_all(expression: Quantifier, condition: Expression, places: Places) -> Change:
    text, before = places.text(condition.span), places.text(expression.span)

    def made(e: Expression) -> Expression:
        assert isinstance(e, Quantifier)
        return replace(e, condition=None)

    after = before.replace(f" if {text}", "")
    return Change(Operator.DROP_CONJUNCT, condition.span, text, before, after, of_expression(expression, made))


def _order(expression: Comparison, places: Places) -> Iterator[Change]:
    """Yield `<` for `<=`; where a number stands on a side, that number one more and one less is the same and more."""
    if isinstance(expression.left, Constant) or isinstance(expression.right, Constant):
        return
    other = _NEIGHBOUR[expression.operator]
    after = f"{places.text(expression.left.span)} {other} {places.text(expression.right.span)}"

    def made(e: Expression) -> Expression:
        assert isinstance(e, Comparison)
        return replace(e, operator=other)

    before = places.text(expression.span)
    yield Change(Operator.SHIFT_BOUNDARY, expression.span, after, before, after, of_expression(expression, made))


def _numbers(expression: Constant, value: int, around: Span, places: Places) -> Iterator[Change]:
    for other in (value + 1, value - 1):

        def made(e: Expression, other: int = other) -> Expression:
            assert isinstance(e, Constant)
            return replace(e, value=other)

        before, after = places.exchanged(around, expression.span, str(other))
        yield Change(Operator.SHIFT_BOUNDARY, expression.span, after, before, after, of_expression(expression, made))


def _alternatives(expression: Conditional, places: Places) -> Iterator[Change]:
    condition = expression.condition
    asked, then, otherwise = (places.text(e.span) for e in (condition, expression.then, expression.otherwise))
    before = places.text(expression.span)

    def made(e: Expression, operator: Operator) -> Expression:
        assert isinstance(e, Conditional)
        if operator is Operator.NEGATE_GUARD:
            return replace(e, condition=Not(e.condition, e.condition.span))
        return e.then if operator is Operator.DROP_GUARD else e.otherwise

    for operator, after in (
        (Operator.DROP_GUARD, then),
        (Operator.SKIP_BRANCH, otherwise),
        (Operator.NEGATE_GUARD, f"{then} if not ({asked}) else {otherwise}"),
    ):
        making = of_expression(expression, lambda e, operator=operator: made(e, operator))  # type: ignore[misc]
        yield Change(operator, expression.span, asked, before, after, making)

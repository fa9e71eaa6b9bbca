"""Typed expressions: a closed union of frozen nodes.

Names are resolved and kinds are checked when a node is built (`model.elaborate`), so whoever reads the tree — the
evaluator, the columns, later the solver — meets no unknown name. Expressions are still symbolic in the parameters,
in `self` and in the bound variables of quantifiers and loops; definitions are already substituted.

A reader of the tree is one total function that ends in `assert_never`: a node that it forgets is a type error.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from model.source import Span
from model.types import BOOL, INT, SetType, Value, ValueType


@dataclass(frozen=True, slots=True)
class Constant:
    """A number, a truth value, or a literal of an enumeration."""

    value: Value
    type: ValueType
    span: Span


@dataclass(frozen=True, slots=True)
class ParameterValue:
    """A parameter of the specification; fixed before a run."""

    name: str
    type: ValueType
    span: Span


@dataclass(frozen=True, slots=True)
class LocalValue:
    """A local of the step, or the bound variable of a loop or a quantifier."""

    name: str
    type: ValueType
    span: Span


@dataclass(frozen=True, slots=True)
class SelfValue:
    """The instance that takes the step."""

    type: ValueType
    span: Span


@dataclass(frozen=True, slots=True)
class VariableValue:
    """A state variable, indexed where it is an array.

    `key` names the declaration (`ledger.run`, `ghost.submissions`, `coordinator.reply`); `instance` says whose
    volatile variable it is and is None for stores and ghosts.
    """

    key: str
    indices: tuple[Expression, ...]
    instance: Expression | None
    type: ValueType
    span: Span


@dataclass(frozen=True, slots=True)
class AtLabel:
    """`p[i].at(label)`: the next step of the instance is `label`."""

    process: str
    instance: Expression
    label: str
    span: Span
    type: ValueType = BOOL


@dataclass(frozen=True, slots=True)
class Stopped:
    """`stopped(p[i])`: the instance has executed `stop()`."""

    process: str
    instance: Expression
    span: Span
    type: ValueType = BOOL


@dataclass(frozen=True, slots=True)
class Fresh:
    """`fresh(store)`: nobody else has written the store since this instance read it."""

    store: str
    span: Span
    type: ValueType = BOOL


@dataclass(frozen=True, slots=True)
class FaultDraw:
    """`fault(name)`: a fault that may happen here. Not pure: every evaluation is a fresh draw."""

    fault: str
    span: Span
    type: ValueType = BOOL


ComparisonOperator = Literal["==", "!=", "<", "<=", ">", ">="]
ArithmeticOperator = Literal["+", "-", "*"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two values of one kind compared; order only on integers."""

    operator: ComparisonOperator
    left: Expression
    right: Expression
    span: Span
    type: ValueType = BOOL


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Sum, difference or product of two integers."""

    operator: ArithmeticOperator
    left: Expression
    right: Expression
    span: Span
    type: ValueType = INT


@dataclass(frozen=True, slots=True)
class Extremum:
    """`min(…)` or `max(…)` of two or more integers."""

    operator: Literal["min", "max"]
    items: tuple[Expression, ...]
    span: Span
    type: ValueType = INT


@dataclass(frozen=True, slots=True)
class Not:
    """Negation."""

    item: Expression
    span: Span
    type: ValueType = BOOL


@dataclass(frozen=True, slots=True)
class And:
    """Conjunction from left to right; what follows a false item is not evaluated."""

    items: tuple[Expression, ...]
    span: Span
    type: ValueType = BOOL


@dataclass(frozen=True, slots=True)
class Or:
    """Disjunction from left to right; what follows a true item is not evaluated."""

    items: tuple[Expression, ...]
    span: Span
    type: ValueType = BOOL


@dataclass(frozen=True, slots=True)
class Implies:
    """`implies(premise, conclusion)`; the conclusion is evaluated only where the premise is true.

    `text` is the premise as a person would write it: coverage speaks of it ("this premise is never true").
    """

    premise: Expression
    conclusion: Expression
    text: str
    span: Span
    type: ValueType = BOOL


@dataclass(frozen=True, slots=True)
class Conditional:
    """`a if c else b`; only the chosen side is evaluated."""

    condition: Expression
    then: Expression
    otherwise: Expression
    type: ValueType
    span: Span


@dataclass(frozen=True, slots=True)
class Membership:
    """`x in {a, b}`: x equals one of the elements."""

    item: Expression
    elements: tuple[Expression, ...]
    span: Span
    type: ValueType = BOOL


@dataclass(frozen=True, slots=True)
class Given:
    """The value of a `T?` where a T is needed; `None` has none, and that is an error."""

    item: Expression
    type: ValueType
    span: Span


@dataclass(frozen=True, slots=True)
class SetOf:
    """`{a, b}` and `set()` where a set is expected; an element outside the set's type is an error."""

    elements: tuple[Expression, ...]
    type: SetType
    span: Span


@dataclass(frozen=True, slots=True)
class SetOperation:
    """`s | t`, the elements of either, and `s & t`, those of both; the element types are of one kind."""

    operator: Literal["|", "&"]
    left: Expression
    right: Expression
    type: SetType
    span: Span


@dataclass(frozen=True, slots=True)
class Without:
    """What `s.remove(x)` leaves of a set: the same set where `x` is not in it."""

    whole: Expression
    item: Expression
    type: SetType
    span: Span


@dataclass(frozen=True, slots=True)
class SetMembership:
    """`x in s` for a set that changes during a run; `None` is in none."""

    item: Expression
    whole: Expression
    span: Span
    type: ValueType = BOOL


@dataclass(frozen=True, slots=True)
class Size:
    """`size(s)`: how many elements a set has."""

    item: Expression
    span: Span
    type: ValueType = INT


@dataclass(frozen=True, slots=True)
class Quantifier:
    """`all/any/count(body for variable in domain if condition)`.

    `all` and `any` stop at the first element that decides; the body is evaluated only where the condition is true.
    """

    operator: Literal["all", "any", "count"]
    variable: str
    domain: ValueType
    condition: Expression | None
    body: Expression
    type: ValueType
    span: Span


@dataclass(frozen=True, slots=True)
class TableColumn:
    """`table.column`: the value that the table's matching row gives, for the values at this moment.

    `process` is the process in whose step it is consulted (a row may then read its volatile variables), else None.
    """

    table: str
    column: str
    process: str | None
    type: ValueType
    span: Span


@dataclass(frozen=True, slots=True)
class Next:
    """`next(e)` in a `step` property: the value of `e` after the transition."""

    item: Expression
    type: ValueType
    span: Span


Expression = (
    Constant
    | ParameterValue
    | LocalValue
    | SelfValue
    | VariableValue
    | AtLabel
    | Stopped
    | Fresh
    | FaultDraw
    | Comparison
    | Arithmetic
    | Extremum
    | Not
    | And
    | Or
    | Implies
    | Conditional
    | Membership
    | Given
    | SetOf
    | SetOperation
    | Without
    | SetMembership
    | Size
    | Quantifier
    | TableColumn
    | Next
)


def children(expression: Expression) -> tuple[Expression, ...]:
    """Return the direct sub-expressions, in the order of evaluation."""
    match expression:
        case Comparison() | Arithmetic() | SetOperation():
            return (expression.left, expression.right)
        case And() | Or() | Extremum():
            return expression.items
        case Not() | Next() | Given() | Size():
            return (expression.item,)
        case SetOf():
            return expression.elements
        case Without():
            return (expression.whole, expression.item)
        case SetMembership():
            return (expression.item, expression.whole)
        case Implies():
            return (expression.premise, expression.conclusion)
        case Conditional():
            return (expression.condition, expression.then, expression.otherwise)
        case Membership():
            return (expression.item, *expression.elements)
        case Quantifier():
            return (expression.body,) if expression.condition is None else (expression.condition, expression.body)
        case VariableValue():
            return expression.indices if expression.instance is None else (*expression.indices, expression.instance)
        case AtLabel() | Stopped():
            return (expression.instance,)
        case _:
            return ()


def with_children(expression: Expression, parts: tuple[Expression, ...]) -> Expression:
    """Return the expression with other direct sub-expressions, given in the order of `children`."""
    match expression:
        case Comparison() | Arithmetic() | SetOperation():
            return replace(expression, left=parts[0], right=parts[1])
        case And() | Or() | Extremum():
            return replace(expression, items=parts)
        case Not() | Next() | Given() | Size():
            return replace(expression, item=parts[0])
        case SetOf():
            return replace(expression, elements=parts)
        case Without():
            return replace(expression, whole=parts[0], item=parts[1])
        case SetMembership():
            return replace(expression, item=parts[0], whole=parts[1])
        case Implies():
            return replace(expression, premise=parts[0], conclusion=parts[1])
        case Conditional():
            return replace(expression, condition=parts[0], then=parts[1], otherwise=parts[2])
        case Membership():
            return replace(expression, item=parts[0], elements=parts[1:])
        case Quantifier(condition=None):
            return replace(expression, body=parts[0])
        case Quantifier():
            return replace(expression, condition=parts[0], body=parts[1])
        case VariableValue(instance=None):
            return replace(expression, indices=parts)
        case VariableValue():
            return replace(expression, indices=parts[:-1], instance=parts[-1])
        case AtLabel() | Stopped():
            return replace(expression, instance=parts[0])
        case _:
            return expression


def walk(expression: Expression) -> Iterator[Expression]:
    """Yield the expression and everything below it, outermost first."""
    stack = [expression]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(children(node)))

"""Typed statements of a step: a closed union of frozen nodes (see `model.expressions` for how to read it)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from model.expressions import Expression, LocalValue, VariableValue, walk
from model.source import Span
from model.types import ValueType

Target = VariableValue | LocalValue


@dataclass(frozen=True, slots=True)
class Assign:
    """`x = e`, `x: T = e` and `x += e`: the value must lie in the type of the target."""

    target: Target
    value: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class Count:
    """`c += e` on a counter: adds, and stays at the limit once it is reached."""

    target: VariableValue
    amount: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class Choose:
    """`x = choose(…)`: any element of a type (`domain`), of a set written in place (`elements`), or of a set variable.

    `source` is that set where there is one, an expression.
    """

    target: Target
    domain: ValueType | None
    elements: tuple[Expression, ...]
    span: Span
    source: Expression | None = None


@dataclass(frozen=True, slots=True)
class If:
    """`if c: … else: …`; `text` is the condition as written, by which its branches are named."""

    condition: Expression
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]
    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class For:
    """`for x in T: …`, once for each value in the order of the type."""

    variable: str
    domain: ValueType
    body: tuple[Statement, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class When:
    """`when(e)`: this path through the step exists only if `e`."""

    condition: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class Goto:
    """`goto(label)`: end the step; the next one is `label`."""

    label: str
    span: Span


@dataclass(frozen=True, slots=True)
class Stop:
    """`stop()`: end the step; there is no next one, ever."""

    span: Span


@dataclass(frozen=True, slots=True)
class Read:
    """`read(store)`: remember the head of a versioned store."""

    store: str
    span: Span


@dataclass(frozen=True, slots=True)
class Check:
    """`check(name, e)`: at this very moment `e`, or the `checked` property is violated; the path goes on either way."""

    property: str
    condition: Expression
    span: Span


Statement = Assign | Count | Choose | If | For | When | Goto | Stop | Read | Check


def walk_statements(body: tuple[Statement, ...]) -> Iterator[Statement]:
    """Yield every statement of a body, nested ones after the statement that holds them."""
    for statement in body:
        yield statement
        match statement:
            case If():
                yield from walk_statements(statement.then)
                yield from walk_statements(statement.otherwise)
            case For():
                yield from walk_statements(statement.body)
            case _:
                pass


def assigned(body: tuple[Statement, ...]) -> Iterator[str]:
    """Yield the key of every variable, locals aside, that a body may assign."""
    for statement in walk_statements(body):
        if isinstance(statement, Assign | Count | Choose) and isinstance(statement.target, VariableValue):
            yield statement.target.key


def always_ends(statement: Statement) -> bool:
    """Tell whether every path through the statement ends the step (`goto` or `stop`), or does not exist."""
    match statement:
        case Goto() | Stop():
            return True
        case If():
            return body_ends(statement.then) and body_ends(statement.otherwise)
        case _:
            return False


def body_ends(body: tuple[Statement, ...]) -> bool:
    """Tell whether no path goes on behind the body. Only its last statement can say so: none stands behind an end."""
    return bool(body) and always_ends(body[-1])


def expressions_of(statement: Statement) -> tuple[Expression, ...]:
    """Return the expressions that the statement itself evaluates (not those of nested statements)."""
    match statement:
        case Assign():
            return (*_target_indices(statement.target), statement.value)
        case Count():
            return (*statement.target.indices, statement.amount)
        case Choose():
            source = () if statement.source is None else (statement.source,)
            return (*_target_indices(statement.target), *statement.elements, *source)
        case If() | When() | Check():
            return (statement.condition,)
        case _:
            return ()


def _target_indices(target: Target) -> tuple[Expression, ...]:
    return target.indices if isinstance(target, VariableValue) else ()


def reads_of(statement: Statement) -> Iterator[Expression]:
    """Yield every expression node that the statement itself evaluates."""
    for expression in expressions_of(statement):
        yield from walk(expression)

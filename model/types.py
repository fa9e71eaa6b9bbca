"""The types of values, symbolic in the parameters of a specification.

A type is written once and fixed later: `1..attempts` becomes a set of integers only when a scenario says what
`attempts` is (`model.system`). For type *checking* only the kind of a value matters: an integer, a boolean, or a
literal of one enumeration. Whether an integer lies in its range is a question for a run (`model.evaluate`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from model.expressions import Expression


@dataclass(frozen=True, slots=True)
class SetValue:
    """A set of values, each once and in the order of their type, so that equal sets are equal."""

    elements: tuple[bool | int | str, ...] = ()

    def __str__(self) -> str:
        return "{" + ", ".join(map(str, self.elements)) + "}"


Value = bool | int | str | SetValue | None
"""What a variable holds: a boolean, an integer, a literal of an enumeration by its name, a set of these, or `None`."""


@dataclass(frozen=True, slots=True)
class BoolType:
    """The two truth values."""

    def __str__(self) -> str:
        return "bool"


@dataclass(frozen=True, slots=True)
class EnumType:
    """A finite set of named literals, in the order in which they are written."""

    name: str
    literals: tuple[str, ...]

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class RangeType:
    """All integers from `low` to `high`, both included; the bounds are expressions over parameters.

    `name` is the declared name, None for a range written in place. `low` and `high` are None only for the type of
    an integer of which nothing more is known (the result of arithmetic).
    """

    low: Expression | None = None
    high: Expression | None = None
    name: str | None = None
    text: str = "integer"

    def __str__(self) -> str:
        return self.name or self.text


@dataclass(frozen=True, slots=True)
class CounterType:
    """0, 1, …, `limit`, where `limit` stands for itself and everything above (ghosts only)."""

    limit: Expression

    def __str__(self) -> str:
        return "counter"


@dataclass(frozen=True, slots=True)
class NatType:
    """0, 1, 2, … without end; the type of variables only, because nothing can go over its values."""

    def __str__(self) -> str:
        return "nat"


@dataclass(frozen=True, slots=True)
class ProcessType:
    """The instances 0..count-1 of a process."""

    name: str

    def __str__(self) -> str:
        return self.name


ElementType = BoolType | EnumType | RangeType | ProcessType


@dataclass(frozen=True, slots=True)
class OptionalType:
    """`T?`: `None`, and then the values of T. `name` is the declared name, None where it is written in place."""

    inner: ElementType
    name: str | None = None

    def __str__(self) -> str:
        return self.name or f"{self.inner}?"


@dataclass(frozen=True, slots=True)
class SetType:
    """`set of T`: all sets of values of T. `name` is the declared name, None where it is written in place."""

    element: ElementType
    name: str | None = None

    def __str__(self) -> str:
        return self.name or f"set of {self.element}"


@dataclass(frozen=True, slots=True)
class NoneType:
    """The type of the word `None` alone."""

    def __str__(self) -> str:
        return "None"


DeclaredType = EnumType | RangeType | OptionalType | SetType
ValueType = BoolType | EnumType | RangeType | NatType | CounterType | ProcessType | OptionalType | SetType | NoneType

BOOL = BoolType()
INT = RangeType()
NAT = NatType()
NONE = NoneType()


def same_kind(left: ValueType, right: ValueType) -> bool:
    """Tell whether values of the two types can be compared and assigned to one another.

    `None` alone goes with every type that has it. Whether a value of `T?` is a T is a question for a run.
    """
    if isinstance(left, NoneType) or isinstance(right, NoneType):
        return may_be_none(left) and may_be_none(right)
    return kind_of(left) == kind_of(right)


def may_be_none(value_type: ValueType) -> bool:
    """Tell whether `None` is a value of the type."""
    return isinstance(value_type, OptionalType | NoneType)


def without_none(value_type: ValueType) -> ValueType:
    """Return the T of a `T?`, and every other type as it is."""
    return value_type.inner if isinstance(value_type, OptionalType) else value_type


def collected(elements: Iterable[Value], element_type: ValueType) -> SetValue:
    """Return the set of some values of one kind; `element_type` is a type of that kind."""
    found = {element for element in elements if element is not None and not isinstance(element, SetValue)}
    if isinstance(element_type, EnumType):
        return SetValue(tuple(literal for literal in element_type.literals if literal in found))
    return SetValue(tuple(sorted(found, key=int)))


def whole(value: Value) -> int:
    """Return a value that is known to be a number."""
    assert isinstance(value, int)
    return value


def kind_of(value_type: ValueType) -> str:
    """Name the kind of a type: `bool`, `integer`, the name of the enumeration, or `set of` one of these.

    Values of `T?` are of the kind of T.
    """
    match value_type:
        case BoolType():
            return "bool"
        case EnumType(name=name):
            return name
        case OptionalType(inner=inner):
            return kind_of(inner)
        case SetType(element=element):
            return f"set of {kind_of(element)}"
        case NoneType():
            return "None"
        case _:
            return "integer"

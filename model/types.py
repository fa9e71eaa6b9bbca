"""The types of values, symbolic in the parameters of a specification.

A type is written once and fixed later: `1..attempts` becomes a set of integers only when a scenario says what
`attempts` is (`model.system`). For type *checking* only the kind of a value matters: an integer, a boolean, or a
literal of one enumeration. Whether an integer lies in its range is a question for a run (`model.evaluate`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from model.expressions import Expression

Value = bool | int | str
"""What a variable holds: a boolean, an integer, or a literal of an enumeration by its name."""


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
class ProcessType:
    """The instances 0..count-1 of a process."""

    name: str

    def __str__(self) -> str:
        return self.name


ValueType = BoolType | EnumType | RangeType | CounterType | ProcessType

BOOL = BoolType()
INT = RangeType()


def same_kind(left: ValueType, right: ValueType) -> bool:
    """Tell whether values of the two types can be compared and assigned to one another."""
    return kind_of(left) == kind_of(right)


def kind_of(value_type: ValueType) -> str:
    """Name the kind of a type: `bool`, `integer`, or the name of the enumeration."""
    match value_type:
        case BoolType():
            return "bool"
        case EnumType(name=name):
            return name
        case _:
            return "integer"

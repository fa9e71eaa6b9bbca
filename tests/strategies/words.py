"""What a random specification has named so far, what may be read at a place in it, and the dice it is drawn with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import TypeVar

T = TypeVar("T")

INTEGER = "integer"


class Dice:
    """Draws for a writer; everything shrinks towards the first option, the smallest number, and `False`.

    The numbers come from a `Random` that Hypothesis controls and not from strategies: Hypothesis likes to repeat parts
    of an example that came from equal strategies, and would mostly try variations of a few specifications.
    """

    def __init__(self, random: Random) -> None:
        self._random = random

    def number(self, low: int, high: int) -> int:
        """Return a number between two, both included."""
        return self._random.randint(low, high) if high > low else low

    def chance(self, percent: int) -> bool:
        """Return `True` in about so many of a hundred cases."""
        return self.number(0, 99) >= 100 - percent

    def one(self, items: Sequence[T]) -> T:
        """Return one of the items."""
        return items[self.number(0, len(items) - 1)]

    def some(self, items: Sequence[T], least: int, most: int) -> list[T]:
        """Return `least` to `most` different items, in their order."""
        wanted = self.number(least, min(most, len(items)))
        chosen: set[int] = set()
        while len(chosen) < wanted:
            left = [index for index in range(len(items)) if index not in chosen]
            chosen.add(self.one(left))
        return [item for index, item in enumerate(items) if index in chosen]

    def weighted(self, options: Sequence[tuple[int, T]]) -> T:
        """Return an option, each as likely as its weight says."""
        point = self.number(0, sum(weight for weight, _ in options) - 1)
        for weight, option in options:
            if point < weight:
                return option
            point -= weight
        raise AssertionError("the weights were summed above")


@dataclass(frozen=True, slots=True)
class Kind:
    """A type as a text uses it; `low` and `high` are the bounds under the default parameters."""

    text: str
    kind: str
    low: int = 0
    high: int = 0
    literals: tuple[str, ...] = ()
    named: bool = True
    bounds: tuple[str, str] = ("0", "0")
    counter: bool = False
    inner: Kind | None = None
    """Of `T?`: T."""
    element: Kind | None = None
    """Of `set of T`: T."""

    @property
    def size(self) -> int:
        """The number of values under the default parameters."""
        if self.inner is not None:
            return 1 + self.inner.size
        if self.element is not None:
            return int(2**self.element.size)
        return len(self.literals) or self.high - self.low + 1

    def holds(self, other: Kind) -> bool:
        """Tell whether every value of the other type is one of this."""
        if self.inner is not None:
            return self.inner.holds(other.inner or other)
        if self.element is not None and other.element is not None:
            return self.element.holds(other.element)
        if self.kind != INTEGER or other.kind != INTEGER:
            return self.kind == other.kind
        return self.text == other.text or (not other.counter and self.low <= other.low and other.high <= self.high)


BOOLEAN = Kind("bool", "bool", literals=("False", "True"))


def between(low: str, high: str, first: int, last: int, name: str = "") -> Kind:
    """Return the type of a range with these bounds, as texts and as numbers."""
    return Kind(name or f"{low}..{high}", INTEGER, first, last, named=bool(name), bounds=(low, high))


def optional(inner: Kind, name: str = "") -> Kind:
    """Return the type of the values of another and `None`."""
    return Kind(name or f"{inner.text}?", f"{inner.kind}?", named=bool(name), inner=inner)


def set_of(element: Kind, name: str = "") -> Kind:
    """Return the type of the sets of another's values."""
    return Kind(name or f"set of {element.text}", f"set of {element.kind}", named=bool(name), element=element)


@dataclass(frozen=True, slots=True)
class Var:
    """Something that has a value: `text` is how it is written where it may be read."""

    text: str
    kind: Kind
    per: tuple[Kind, ...] = ()
    owner: str = ""

    @property
    def states(self) -> int:
        """The number of combinations of values of all elements."""
        elements = 1
        for kind in self.per:
            elements *= kind.size
        return int(self.kind.size**elements)


@dataclass(slots=True)
class ProcessWords:
    """A process before its steps are written."""

    name: str
    environment: bool
    count: int
    count_text: str
    labels: tuple[str, ...]
    volatile: list[Var] = field(default_factory=list)
    kept: bool = False
    boot: str = ""
    restarts: str = "at_once"
    crashes: bool = False
    torn: list[str] = field(default_factory=list)

    @property
    def start(self) -> str:
        """The label at which an instance starts."""
        return self.boot or self.labels[0]

    @property
    def kind(self) -> Kind:
        """The type of its instances."""
        return Kind(self.name, INTEGER, 0, self.count - 1, bounds=("0", str(self.count - 1)))


@dataclass(frozen=True, slots=True)
class DefinitionWords:
    """A definition: of which kind it is, and in the steps of which process it may stand (None: anywhere)."""

    name: str
    arguments: tuple[Kind, ...]
    kind: Kind
    process: str | None


@dataclass(frozen=True, slots=True)
class TableWords:
    """A table: its columns, and in the steps of which process it may be consulted (None: anywhere)."""

    name: str
    columns: tuple[Var, ...]
    process: str | None


@dataclass(slots=True)
class Words:
    """Everything declared so far."""

    parameters: list[Var] = field(default_factory=list)
    types: list[Kind] = field(default_factory=lambda: [BOOLEAN])
    stores: dict[str, bool] = field(default_factory=dict)
    variables: list[Var] = field(default_factory=list)
    ghosts: list[Var] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    checked: list[str] = field(default_factory=list)
    """The `checked` properties."""
    definitions: list[DefinitionWords] = field(default_factory=list)
    tables: list[TableWords] = field(default_factory=list)
    processes: dict[str, ProcessWords] = field(default_factory=dict)

    @property
    def versioned(self) -> list[str]:
        """The stores that offer `read` and `fresh`."""
        return [name for name, versioned in self.stores.items() if versioned]

    @property
    def sequential(self) -> list[ProcessWords]:
        """The processes that have labels."""
        return [process for process in self.processes.values() if not process.environment]

    def domains(self, most: int = 4) -> list[Kind]:
        """Return the types that a loop, a quantifier or `choose` may go over."""
        kinds = [*self.types, *(process.kind for process in self.processes.values())]
        return [kind for kind in kinds if kind.named and kind.size <= most]

    def numbering(self, most: int) -> list[Kind]:
        """Return the types that can number the elements of an array."""
        return [kind for kind in self.domains(most) if kind.inner is None and kind.element is None]

    def shared_literals(self) -> set[str]:
        """Return the literals that more than one enumeration has."""
        literals = [literal for kind in self.types if kind.kind not in {INTEGER, "bool"} for literal in kind.literals]
        return {literal for literal in literals if literals.count(literal) > 1}


@dataclass(frozen=True, slots=True)
class View:
    """What may be read at a place."""

    process: ProcessWords | None = None
    locals: tuple[Var, ...] = ()
    ghosts: bool = False
    processes: bool = False
    transitions: bool = False
    state: bool = True
    tables: bool = True
    step: bool = False

    def knowing(self, *more: Var) -> View:
        """Return the view with more locals."""
        return replace(self, locals=(*self.locals, *more))

"""What a name means at a place: the symbol table of a specification and the scopes laid over it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, auto

from model.expressions import Expression
from model.specification import Fault, Parameter, Variable
from model.types import EnumType, ProcessType, RangeType, ValueType
from model.yamltree import Node, Scalar


@dataclass(frozen=True, slots=True)
class Definition:
    """A named expression, substituted where it stands; with `parameters` it is a macro."""

    name: str
    parameters: tuple[str, ...]
    text: Scalar


@dataclass(frozen=True, slots=True)
class TableHeader:
    """What a table offers to those who consult it, before its rows are read."""

    name: str
    columns: Mapping[str, ValueType]
    node: Node


@dataclass(frozen=True, slots=True)
class ProcessHeader:
    """What is known of a process before its steps are read."""

    name: str
    environment: bool
    volatile: Mapping[str, Variable]
    labels: tuple[str, ...]

    @property
    def type(self) -> ProcessType:
        """The type of the instances of this process."""
        return ProcessType(self.name)


@dataclass(slots=True)
class Declarations:
    """The symbol table: everything that has a name, by the kind of thing it is.

    Processes, faults, tables and labels have namespaces of their own; all others share one.
    """

    parameters: dict[str, Parameter] = field(default_factory=dict)
    types: dict[str, EnumType | RangeType] = field(default_factory=dict)
    stores: dict[str, bool] = field(default_factory=dict)
    """Store name → whether it is versioned."""
    shared: dict[str, list[Variable]] = field(default_factory=dict)
    """Store and ghost variables by their short name; several where stores use the same name."""
    definitions: dict[str, Definition] = field(default_factory=dict)
    faults: dict[str, Fault] = field(default_factory=dict)
    tables: dict[str, TableHeader] = field(default_factory=dict)
    processes: dict[str, ProcessHeader] = field(default_factory=dict)

    def enums_with(self, literal: str) -> list[EnumType]:
        """Return the enumerations that have the literal."""
        return [t for t in self.types.values() if isinstance(t, EnumType) and literal in t.literals]

    def value_names(self) -> list[str]:
        """Return every name that an expression may use, for suggestions."""
        literals = [name for t in self.types.values() if isinstance(t, EnumType) for name in t.literals]
        volatile = [name for process in self.processes.values() for name in process.volatile]
        return [*self.parameters, *self.shared, *self.definitions, *self.processes, *volatile, *literals]


class Place(Enum):
    """Where an expression stands, which decides what it may see."""

    CONSTANT = auto()
    """Parameters only: bounds, counts, initial values."""
    TABLE = auto()
    STEP = auto()
    PROPERTY = auto()
    STEP_PROPERTY = auto()


@dataclass(frozen=True, slots=True)
class Scope:
    """What names mean at one place.

    `process` is the process whose step (or consulted table) this is. `history` says that ghosts and other processes'
    memory may be read: in properties, for ghosts, and (memory only) in environment steps.
    """

    place: Place
    process: ProcessHeader | None = None
    locals: Mapping[str, ValueType] = field(default_factory=dict)
    arguments: Mapping[str, Callable[[ValueType | None], Expression]] = field(default_factory=dict)
    """Macro parameters: how to elaborate the argument, in the scope of the caller, for an expected type."""
    history: bool = False
    fault_allowed: bool = False
    inside_next: bool = False
    active_definitions: tuple[str, ...] = ()

    def with_local(self, name: str, value_type: ValueType) -> Scope:
        """Return the scope with one more local."""
        return replace(self, locals={**self.locals, name: value_type})

    @property
    def sees_ghosts(self) -> bool:
        """Whether ghosts may be read here."""
        return self.history or self.place in (Place.PROPERTY, Place.STEP_PROPERTY)

    @property
    def sees_processes(self) -> bool:
        """Whether the memory and labels of any process may be read here."""
        environment = self.process is not None and self.process.environment
        return self.sees_ghosts or (self.place is Place.STEP and environment)

"""What a name means at a place: the symbol table of a specification and the scopes laid over it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import Literal

from model.expressions import Expression
from model.source import Span
from model.specification import CounterComparison, Fault, Parameter, Restarts, Variable
from model.types import DeclaredType, EnumType, ProcessType, ValueType
from model.yamlnodes import Scalar


@dataclass(frozen=True, slots=True)
class Definition:
    """A named expression, substituted where it stands; with `parameters` it is a macro."""

    name: str
    parameters: tuple[str, ...]
    text: Scalar
    span: Span


@dataclass(frozen=True, slots=True)
class TableHeader:
    """What a table offers to those who consult it, before its rows are read."""

    name: str
    columns: Mapping[str, ValueType]


@dataclass(frozen=True, slots=True)
class ProcessHeader:
    """What is known of a process before its steps are read."""

    name: str
    environment: bool
    volatile: Mapping[str, Variable]
    labels: tuple[str, ...]
    boot: str | None = None
    restarts: Restarts = "at_once"

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
    types: dict[str, DeclaredType] = field(default_factory=dict)
    stores: dict[str, bool] = field(default_factory=dict)
    """Store name → whether it is versioned."""
    shared: dict[str, list[Variable]] = field(default_factory=dict)
    """Store and ghost variables by their short name; several where stores use the same name."""
    definitions: dict[str, Definition] = field(default_factory=dict)
    faults: dict[str, Fault] = field(default_factory=dict)
    tables: dict[str, TableHeader] = field(default_factory=dict)
    processes: dict[str, ProcessHeader] = field(default_factory=dict)
    variable_names: frozenset[str] = frozenset()
    """All names that the file gives to variables: known before the variables themselves, for better messages."""
    properties: frozenset[str] = frozenset()
    """The names of all properties, known before any of them is read."""
    checked: frozenset[str] = frozenset()
    """Those of the `checked` ones."""
    failed: set[str] = field(default_factory=set)
    """Names whose declaration has failed: using one is no further error."""
    incomplete: bool = False
    """Whether a whole section could not be read, so that a name that nothing declares may be no further error."""

    def enums_with(self, literal: str) -> list[EnumType]:
        """Return the enumerations that have the literal."""
        return [t for t in self.types.values() if isinstance(t, EnumType) and literal in t.literals]

    def value_names(self) -> list[str]:
        """Return every name that an expression may use, for suggestions."""
        literals = [name for t in self.types.values() if isinstance(t, EnumType) for name in t.literals]
        volatile = [name for process in self.processes.values() for name in process.volatile]
        return [*self.parameters, *self.shared, *self.definitions, *self.processes, *volatile, *literals]

    def excuses(self, name: str) -> bool:
        """Tell whether an unknown name follows from an error that has been reported."""
        return self.incomplete or name in self.failed


@dataclass(slots=True)
class Findings:
    """What the expressions and statements read so far have come upon."""

    used: set[tuple[str, str]] = field(default_factory=set)
    """What they use, by kind and name: `("parameter", "attempts")`, `("read", "ledger.run")`, `("assigned", …)`."""
    tables: set[tuple[str, str | None]] = field(default_factory=set)
    """The tables they consult, with the process in whose step."""
    fresh: dict[str, Span] = field(default_factory=dict)
    """The stores that are asked whether they are fresh, and where first."""
    comparisons: list[CounterComparison] = field(default_factory=list)
    unrolled: dict[tuple[ValueType, ...], Span] = field(default_factory=dict)
    """The types that quantifiers and loops inside one another go over."""
    looks_ahead: bool = False
    """Whether there is a `next`."""


class Place(Enum):
    """Where an expression stands, which decides what it may see."""

    CONSTANT = auto()
    """Parameters only: bounds, counts, initial values."""
    TABLE = auto()
    STEP = auto()
    PROPERTY = auto()
    STEP_PROPERTY = auto()


@dataclass(frozen=True, slots=True)
class Local:
    """A local of a step, or the variable of a loop or quantifier.

    `name` is what the typed tree calls it. It differs from what the text calls it only inside a definition, where the
    text of an argument may speak of another variable of the same name.
    """

    name: str
    type: ValueType


@dataclass(frozen=True, slots=True)
class Scope:
    """What names mean at one place.

    `process` is the process whose step (or consulted table) this is. `history` says that ghosts and other processes'
    memory may be read: in properties, for ghosts, and (memory only) in environment steps.
    """

    place: Place
    process: ProcessHeader | None = None
    locals: Mapping[str, Local] = field(default_factory=dict)
    arguments: Mapping[str, Callable[[ValueType | None], Expression]] = field(default_factory=dict)
    """Macro parameters: how to elaborate the argument, in the scope of the caller, for an expected type."""
    taken: frozenset[str] = frozenset()
    """Names that the tree of an argument may use for variables of the caller."""
    declared: frozenset[str] = frozenset()
    """Locals that the step declares somewhere, though perhaps not on the way to here."""
    domains: tuple[ValueType, ...] = ()
    """What the loops and quantifiers around this place go over."""
    history: bool = False
    decides: bool = False
    """Whether this is the condition of an `if` whose branches do more than assign ghosts."""
    target: bool = False
    """Whether this is assigned to, not read."""
    fault_allowed: bool = False
    crash: Literal["", "torn", "on_crash"] = ""
    """The key of the body that this is part of, if a crash runs it."""
    inside_next: bool = False
    active_definitions: tuple[str, ...] = ()

    def with_local(self, name: str, value_type: ValueType) -> Scope:
        """Return the scope with one more local."""
        unique = name
        while unique in self.taken:
            unique += "'"
        return replace(self, locals={**self.locals, name: Local(unique, value_type)})

    def reading(self) -> Scope:
        """Return the scope for what is read on the way to what is assigned."""
        return replace(self, target=False) if self.target else self

    def inside_definition(
        self, definition: Definition, arguments: Mapping[str, Callable[[ValueType | None], Expression]]
    ) -> Scope:
        """Return the scope in which the text of a definition is read where it stands."""
        taken = self.taken | {local.name for local in self.locals.values()} if arguments else frozenset[str]()
        return replace(
            self,
            locals={},
            arguments=arguments,
            taken=taken,
            fault_allowed=False,
            active_definitions=(*self.active_definitions, definition.name),
        )

    @property
    def sees_ghosts(self) -> bool:
        """Whether ghosts may be read here."""
        return self.history or self.place in (Place.PROPERTY, Place.STEP_PROPERTY)

    @property
    def sees_processes(self) -> bool:
        """Whether the memory and labels of any process may be read here."""
        environment = self.process is not None and self.process.environment
        return self.sees_ghosts or (self.place is Place.STEP and environment)

"""What one YAML file declares, with names resolved and kinds checked; still symbolic in the parameters.

A `Specification` is one protocol: the file's own, or the file patched by a variant or a mutant. `SpecificationFile`
holds the file's scenarios and mutants beside it. Unpatched parts are the same objects in all specifications of a
file, so work on a step can be shared between them by identity.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, Literal

from model.diagnostics import Diagnostic
from model.expressions import ComparisonOperator, Expression
from model.source import Source, Span
from model.statements import Check, Goto, Statement, assigned, walk_statements
from model.types import DeclaredType, Value, ValueType

UNLIMITED: Final = "unlimited"
"""The word for a fault that may happen any number of times."""


Count = int | Literal["unlimited"]
"""How often a fault may happen."""

Restarts = Literal["at_once", "later", "never"]
"""When a crashed instance is up again: in the same transition, in one of its own, or not at all."""

RESTARTS: Final[tuple[Restarts, ...]] = ("at_once", "later", "never")


Conform = Literal["", "transitions", "situations"]
"""What an implementation is driven through of a scenario: nothing, every transition, or every pair of what a step does
and the situation before it."""

CONFORM: Final[tuple[Conform, ...]] = ("transitions", "situations")

SITUATION: Final = "situation"
"""The view whose values are the situations."""


class Role(Enum):
    """Where a variable lives, which decides who sees it and what a crash does to it."""

    STORE = "store"
    GHOST = "ghost"
    VOLATILE = "volatile"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A value fixed before a run; `type` bounds what a scenario or a sweep may choose."""

    name: str
    type: ValueType
    default: Value
    span: Span


@dataclass(frozen=True, slots=True)
class Variable:
    """A state variable. `owner` is its store, its process, or `ghost`; `key` is `owner.name`."""

    name: str
    owner: str
    role: Role
    type: ValueType
    per: tuple[ValueType, ...]
    initial: Expression | None
    span: Span
    keep: bool = False
    """Of volatile memory: whether only a crash and `stop()` reset it, and not the way back to the first step."""
    starts_anywhere: bool = False
    """Whether it says `init: any`: it starts with every value of its type, each element of an array on its own."""

    @property
    def key(self) -> str:
        """The name that no other variable of the specification has."""
        return f"{self.owner}.{self.name}"


@dataclass(frozen=True, slots=True)
class Store:
    """Variables that survive a crash; `versioned` ones offer `read` and `fresh`."""

    name: str
    versioned: bool
    variables: tuple[Variable, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault by name. `crashes` names the processes that it kills; empty for a fault drawn in steps.

    `at_most` is `UNLIMITED` or an integer expression over parameters.
    """

    name: str
    crashes: tuple[str, ...]
    at_most: Expression | Literal["unlimited"]
    span: Span


@dataclass(frozen=True, slots=True)
class CounterComparison:
    """A counter compared with something that only the parameters tell (see `model.counters`)."""

    operator: ComparisonOperator
    limit: Expression
    """The N of the counter."""
    threshold: Expression
    """What stands on the other side, of an operator that has the counter on its left."""
    span: Span


@dataclass(frozen=True, slots=True)
class Unrolling:
    """Quantifiers and loops inside one another, or an array: their elements are those of all `domains` multiplied."""

    domains: tuple[ValueType, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a decision table: what it gives where its condition is true."""

    name: str
    when: Expression
    gives: Mapping[str, Expression]
    span: Span


@dataclass(frozen=True, slots=True)
class Table:
    """A decision table as it reads where `process` consults it (None: in a property)."""

    name: str
    process: str | None
    first_match: bool
    columns: Mapping[str, ValueType]
    rows: tuple[Row, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """An atomic step. Equality is identity: the same object is the same text in the same surroundings."""

    name: str
    process: str
    body: tuple[Statement, ...]
    fair: bool
    span: Span
    next_label: str
    """Where a path goes that ends without `goto` or `stop`."""
    torn: Step | None = None
    """What a crash inside the step leaves behind: a body without a label of its own."""

    @property
    def id(self) -> str:
        """The stable name, also of the kill point before the step: `process.step`; of a crash inside it, `….torn`."""
        return f"{self.process}.{self.name}"


@dataclass(frozen=True, slots=True)
class Process:
    """Sequential (a label says which step is next) or an environment (any step whenever it is enabled)."""

    name: str
    count: Expression
    environment: bool
    volatile: tuple[Variable, ...]
    steps: tuple[Step, ...]
    reads: tuple[str, ...]
    """The versioned stores that some step reads: one fresh bit each."""
    stops: bool
    """Whether some step executes `stop()`."""
    span: Span
    boot: str | None = None
    """The step outside the order of falling through at which an instance starts, and starts again after a crash."""
    restarts: Restarts = "at_once"
    on_crash: Step | None = None
    """What every crash does before memory is lost: a body without a label."""

    @property
    def first(self) -> str:
        """The label of the first step: back there an instance forgets, and waiting there is no waiting."""
        return next(step.name for step in self.steps if step.name != self.boot)

    @property
    def start(self) -> str:
        """The label at which an instance starts, and starts again after a crash."""
        return self.first if self.boot is None else self.boot

    @property
    def kill_points(self) -> tuple[str, ...]:
        """The ids of all places where a crash could change anything but its budget, in the order of the steps."""
        return tuple(
            point
            for step in self.steps
            for point in (
                *([step.id] if step.name != self.start or self._crash_matters_at_start else []),
                *([step.torn.id] if step.torn is not None else []),
            )
        )

    @property
    def _crash_matters_at_start(self) -> bool:
        """Whether a crash can change anything of an instance that is where a crash would put it."""
        if self.restarts != "at_once" or (self.start == self.first and any(v.keep for v in self.volatile)):
            return True
        own = {variable.key for variable in self.volatile}
        if self.on_crash is not None and any(key not in own for key in assigned(self.on_crash.body)):
            return True
        gone_to = {s.label for step in self.steps for s in walk_statements(step.body) if isinstance(s, Goto)}
        return self.start == self.boot and self.boot in gone_to and bool(self.volatile or self.reads)


class PropertyKind(Enum):
    """How a property quantifies: over states, transitions, or what can be reached."""

    ALWAYS = "always"
    STEP = "step"
    POSSIBLE = "possible"
    RECOVERABLE = "recoverable"
    LEADS_TO = "leads_to"
    CHECKED = "checked"

    @property
    def of_transitions(self) -> bool:
        """Whether what violates it is a transition, the last one of its trace."""
        return self in (PropertyKind.STEP, PropertyKind.CHECKED)


@dataclass(frozen=True, slots=True)
class Property:
    """A named claim about every run.

    Of `leads_to: [p, q]` the expression is `implies(p, q)`, which is false in the states from which `q` is owed, and
    `goal` is `q`; of all others the goal is None.

    A `checked` one claims nothing of states: its expression is constantly true, and `sentence` says what the `check`
    statements of its name look at.
    """

    name: str
    kind: PropertyKind
    expression: Expression
    span: Span
    sentence: str = ""
    goal: Expression | None = None

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """Everything that has to have a value where the property is judged."""
        return (self.expression,) if self.goal is None else (self.expression, self.goal)


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a scenario says of one fault: how often, and for crashes at which kill points (None: anywhere)."""

    at_most: Count | None
    at: frozenset[str] | None = None


CrashCourse = tuple[frozenset[str] | None, ...]
"""Where the crashes of a run fall in turn, whichever fault they are: at one of some kill points, or anywhere (None).

A run may end before all of them have happened, and has no more of them.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Scenario:
    """A claim: under these parameters and faults exactly the properties in `breaks` break.

    `specification` is already patched by the scenario's variant. For a mutant `survives` may give the reason why
    nothing breaks. `only` is None where the scenario asks about every property.
    """

    name: str
    mutant: bool
    specification: Specification
    set: Mapping[str, Value]
    allow: Mapping[str, Allowance]
    only: tuple[str, ...] | None
    breaks: tuple[str, ...]
    because: str
    survives: str
    variant: str
    span: Span
    bound: int | None = None
    """Up to where an exploration follows each `nat`; None where nothing says so."""
    crashes: CrashCourse | None = None
    """Which crashes there are, one after the other; None where each crash fault has a budget of its own."""
    conform: Conform = ""


@dataclass(frozen=True, slots=True)
class Dimension:
    """A parameter or a fault that a sweep varies, with its values from the weakest promise to the strongest."""

    name: str
    fault: bool
    values: tuple[Value | Count, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Sweep:
    """The promises of its surroundings that a protocol is tried with, in all combinations; else as in a scenario."""

    scenario: str
    """Empty where everything else is as declared."""
    dimensions: tuple[Dimension, ...]
    only: tuple[str, ...] | None
    """The properties that it asks about; None for those of the scenario."""
    span: Span


@dataclass(frozen=True, slots=True)
class Question:
    """What somebody wanted to know, and the scenarios or mutants whose verdicts are the answer.

    Either `shown_by` and `lesson` say something, or `unanswered` says why the model cannot.
    """

    name: str
    asks: str
    shown_by: tuple[str, ...]
    lesson: str
    repaired_by: tuple[str, ...]
    """Hold where those of `shown_by` break."""
    not_repaired_by: tuple[str, ...]
    """Look like a repair and still break something."""
    unanswered: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Specification:
    """One protocol, all names resolved. Mappings keep the order of the file."""

    name: str
    title: str
    parameters: Mapping[str, Parameter]
    types: Mapping[str, DeclaredType]
    stores: Mapping[str, Store]
    ghosts: tuple[Variable, ...]
    faults: Mapping[str, Fault]
    tables: Mapping[tuple[str, str | None], Table]
    processes: Mapping[str, Process]
    properties: Mapping[str, Property]
    views: Mapping[str, tuple[str, ...]]
    initially: Expression | None = None
    """What holds in every initial state; the others that `init: any` makes are none."""
    variables: Mapping[str, Variable] = field(default_factory=dict)
    """Every variable by its key."""
    comparisons: tuple[CounterComparison, ...] = ()
    unrollings: tuple[Unrolling, ...] = ()
    """What can be checked only when the parameters are fixed (`model.system`)."""

    @property
    def checks(self) -> Iterator[Check]:
        """Every `check` of a step, or of what a crash leaves behind, in the order of the file."""
        for process in self.processes.values():
            for step in (*process.steps, *(step.torn for step in process.steps), process.on_crash):
                statements = walk_statements(step.body) if step is not None else ()
                yield from (statement for statement in statements if isinstance(statement, Check))

    @property
    def checked(self) -> frozenset[str]:
        """The properties that something of it has a `check` of."""
        return frozenset(check.property for check in self.checks)


@dataclass(frozen=True, slots=True, eq=False)
class SpecificationFile:
    """One YAML file: the protocol, its scenarios, its mutants, and what it says is unused."""

    source: Source
    specification: Specification
    variants: Mapping[str, Specification]
    scenarios: Mapping[str, Scenario]
    mutants: Mapping[str, Scenario]
    questions: Mapping[str, Question]
    unused: Mapping[str, str]
    unused_spans: Mapping[str, Span]
    equivalent: Mapping[str, str]
    """Why mutants survive that `mutate` makes, by name or pattern."""
    equivalent_spans: Mapping[str, Span]
    sources: tuple[str, ...]
    reference: str
    pattern: str
    """The kind of flaw that the file is about; empty where it is about none in particular."""
    kill_points: Mapping[str, str] = field(default_factory=dict)
    """What a crash at each kill point of the protocol means, in a sentence; empty where the file does not say."""
    sweep: Sweep | None = None
    bound: int | None = None
    """Up to where an exploration follows each `nat`, unless a scenario says otherwise."""
    warnings: tuple[Diagnostic, ...] = ()

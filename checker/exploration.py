"""What an explorer is asked and what it answers; nothing specific to an engine."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from checker.trace import Trace
from model.source import Span
from model.system import TransitionSystem
from model.transitions import EvaluationError


@dataclass(slots=True)
class Coverage:
    """What the transitions and properties of a run made use of.

    Spans name the piece of text: the condition of an `if` with the arm taken, a row, an `implies`.
    """

    steps: set[str] = field(default_factory=set)
    branches: set[tuple[Span, bool]] = field(default_factory=set)
    rows: set[Span] = field(default_factory=set)
    shadowed_rows: set[Span] | None = None
    """Rows that are never taken and whose condition was true where an earlier row was; None where nobody looked.

    Where systems are explored together, only rows are looked for that none of them takes.
    """
    premises: set[Span] = field(default_factory=set)
    checks: set[str] = field(default_factory=set)
    """The `checked` properties that some transition checked."""
    kill_points: set[str] = field(default_factory=set)
    faults: set[str] = field(default_factory=set)

    def add(self, other: Coverage) -> None:
        """Take over everything that another run made use of."""
        self.steps |= other.steps
        self.branches |= other.branches
        self.rows |= other.rows
        if other.shadowed_rows is not None:
            self.shadowed_rows = (self.shadowed_rows or set()) | other.shadowed_rows
        self.premises |= other.premises
        self.checks |= other.checks
        self.kill_points |= other.kill_points
        self.faults |= other.faults


@dataclass(frozen=True, slots=True)
class Finding:
    """A shortest trace to something: a violation, a witness, an error, a state without a way to the goal.

    `depth` is the number of transitions.
    """

    depth: int
    trace: Trace
    error: EvaluationError | None = None
    still_possible: tuple[str, ...] = ()
    """For `recoverable`: the steps that can still happen at or after the last state of the trace."""


@dataclass(slots=True)
class Exploration:
    """The outcome of exploring one transition system.

    `findings` has, by property name, the shortest trace that violates a property,
    and the shortest witness of a `possible` one. Where `complete` is false `cut` says why, and the absence of a
    finding says nothing.
    """

    system: TransitionSystem
    states: int = 0
    transitions: int = 0
    depth: int = 0
    """Levels of the breadth-first search, the initial one included."""
    complete: bool = False
    cut: str = ""
    findings: dict[str, Finding] = field(default_factory=dict)
    failure: Finding | None = None
    """The shortest trace to a run-time error."""
    failing_states: int = 0
    """How many states err: in a step, or in a property evaluated there."""
    waiting: Finding | None = None
    """The shortest trace to an end state in which a process waits outside its first step."""
    coverage: Coverage = field(default_factory=Coverage)
    engine: str = ""

    @property
    def generated(self) -> int:
        """Transitions and initial states, as TLC counts."""
        return self.transitions + len(self.system.initial_states)


@dataclass(slots=True)
class Progress:
    """What a long run says of itself after each layer."""

    layer: int
    states: int
    transitions: int
    frontier: int
    seconds: float


@dataclass(slots=True)
class Limits:
    """When to stop: at a number of states, at a moment of `time.monotonic`, or when a person interrupts.

    `on_progress` is called between layers.
    """

    states_max: int | None = None
    deadline: float | None = None
    workers: int = 1
    on_progress: Callable[[Progress], None] | None = None
    interrupted: bool = False

    def reason_to_stop(self, states: int) -> str:
        """Return why to stop now; empty to go on."""
        if self.interrupted:
            return "interrupted"
        if self.states_max is not None and states > self.states_max:
            return f"more than {self.states_max:,} states"
        if self.deadline is not None and time.monotonic() > self.deadline:
            return "out of time"
        return ""


def never_taken(results: Sequence[Exploration]) -> frozenset[Span]:
    """Return the rows of first-match tables that none of some systems takes."""
    tables = [t for result in results for t in result.system.specification.tables.values() if t.first_match]
    taken = set().union(*(result.coverage.rows for result in results))
    return frozenset(row.span for table in tables for row in table.rows) - taken

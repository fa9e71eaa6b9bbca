"""How mutants came out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from checker.exploration import Exploration, Finding
from checker.mutation.mutants import Mutant, Operator
from checker.trace import Trace
from model.source import Span
from model.specification import Scenario
from model.system import State, TransitionSystem
from model.transitions import Action, EvaluationError


class Fate(Enum):
    """What became of a mutant."""

    KILLED = "killed"
    """Some property breaks."""
    ERROR = "error"
    """A run-time error is reached, before any property breaks."""
    VACUOUS = "vacuous"
    """Nothing breaks, and something `possible` is never reached or an allowed fault never happens."""
    INVALID = "invalid"
    """There is no such protocol: a limit of the language is met, or a type is empty."""
    NARROWER = "narrower"
    """Nothing breaks, and nothing could: it has fewer runs and no others."""
    SURVIVED = "survived"
    """No claim notices."""
    OPEN = "open"
    """Not explored to the end."""


@dataclass(frozen=True, slots=True)
class Held:
    """A scenario that holds, its system, and what came of exploring it."""

    scenario: Scenario
    system: TransitionSystem
    exploration: Exploration


@dataclass(frozen=True, slots=True)
class Move:
    """A transition that only one of two systems has in a state; what errs has an error and no state after it."""

    action: Action
    choices: tuple[object, ...]
    faults: tuple[str, ...]
    after: State | None
    error: EvaluationError | None = None


@dataclass(frozen=True, slots=True)
class Difference:
    """The shortest run, common to both, after which a mutant and its original do not have the same transitions.

    `gained` are those of the mutant alone, `lost` those of the original alone.
    """

    scenario: str
    trace: Trace
    gained: tuple[Move, ...]
    lost: tuple[Move, ...]


@dataclass(slots=True)
class Decided:
    """A mutant and its fate.

    `scenario` names where it was decided; `broken` has the properties that break there with the depth of their
    shortest traces, `property` and `finding` the shallowest of these. `why` says what is not put to use, what erred, or
    what is not known.
    """

    mutant: Mutant
    fate: Fate = Fate.SURVIVED
    scenario: str = ""
    broken: Mapping[str, int] = field(default_factory=dict)
    property: str = ""
    finding: Finding | None = None
    system: TransitionSystem | None = None
    """The mutant as it runs where it was decided."""
    why: str = ""
    asked: int = 0
    """How many scenarios run the text that it changes."""
    same: bool | None = None
    """Of a survivor: whether every reachable transition is the original's in all of them; None where that is open."""
    difference: Difference | None = None
    explained: str = ""
    """The reason that the file gives for a survivor."""


@dataclass(frozen=True, slots=True)
class Stale:
    """An entry of `equivalent` that explains nothing: it fits no mutant, or none that survives."""

    entry: str
    span: Span
    message: str


@dataclass(frozen=True, slots=True)
class Credit:
    """What a property is good for: how many mutants it kills, and those that nothing else kills."""

    property: str
    kills: int
    alone: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MutationReport:
    """All mutants of a file, in the order of their texts.

    `left_out` names scenarios that are said to hold, and do not. `narrowed` says why the run was not about all of the
    mutants; `unfinished` why it ended early.
    """

    file: str
    protocol: str
    title: str
    scenarios: tuple[Held, ...]
    decided: tuple[Decided, ...]
    credits: tuple[Credit, ...]
    stale: tuple[Stale, ...]
    left_out: tuple[str, ...]
    narrowed: str
    unfinished: str
    seconds: float

    def of(self, fate: Fate) -> list[Decided]:
        """Return the mutants of one fate."""
        return [each for each in self.decided if each.fate is fate]

    @property
    def unexplained(self) -> list[Decided]:
        """The survivors for which the file gives no reason."""
        return [each for each in self.of(Fate.SURVIVED) if not each.explained]


def credits_of(decided: Sequence[Decided], properties: Sequence[str]) -> tuple[Credit, ...]:
    """Return what each of some properties is good for, in their order."""
    killed = [each for each in decided if each.fate is Fate.KILLED]
    return tuple(
        Credit(
            name,
            sum(name in each.broken for each in killed),
            tuple(each.mutant.id for each in killed if tuple(each.broken) == (name,)),
        )
        for name in properties
    )


NARROWING = frozenset({Operator.MERGE_STEPS})
"""Operators whose mutants have runs of the original only: what happens at once could also happen in two steps."""

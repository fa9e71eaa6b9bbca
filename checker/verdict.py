"""The words in which a claim is decided, and the exit codes; nothing here ever rounds up."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum, IntEnum


class Verdict(Enum):
    """How a claim came out, for exactly the system that was explored."""

    PROVED = "proved"
    """It holds, and a certificate of exactly this scenario has been checked again by a solver other than Z3."""
    HOLDS = "holds"
    """Every reachable state and transition was looked at, for any number of the faults allowed without count."""
    BOUNDED = "bounded"
    """Everything up to a bound was looked at; the bound is named."""
    VIOLATED = "violated"
    """There is a trace, and the evaluator has replayed it."""
    UNKNOWN = "unknown"
    """The run was cut short by a limit, by time or by a person."""
    VACUOUS = "vacuous"
    """True of nothing: a state that should be possible and is not, a fault that never happens, a premise never true."""
    ERROR = "error"
    """The specification has no meaning in some reachable state (a value outside its type, a table gap)."""


class ExitCode(IntEnum):
    """What a process says when it ends."""

    AS_DECLARED = 0
    NOT_AS_DECLARED = 1
    BAD_INPUT = 2
    INCONCLUSIVE = 3
    VACUOUS = 4
    DISAGREEMENT = 5
    INTERNAL = 70


_PRECEDENCE = (
    ExitCode.INTERNAL,
    ExitCode.BAD_INPUT,
    ExitCode.DISAGREEMENT,
    ExitCode.NOT_AS_DECLARED,
    ExitCode.INCONCLUSIVE,
    ExitCode.VACUOUS,
)


def worst(codes: Iterable[ExitCode]) -> ExitCode:
    """Return the code that stands for several outcomes together; of nothing at all, inconclusive.

    >>> worst([ExitCode.AS_DECLARED, ExitCode.VACUOUS, ExitCode.NOT_AS_DECLARED]).name
    'NOT_AS_DECLARED'
    >>> worst([]).name
    'INCONCLUSIVE'
    """
    found = set(codes)
    for code in _PRECEDENCE:
        if code in found:
            return code
    return ExitCode.AS_DECLARED if found else ExitCode.INCONCLUSIVE

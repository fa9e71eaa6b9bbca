"""Transitions: what happened, how it came out, and what went wrong where nothing came out."""

from __future__ import annotations

from dataclasses import dataclass

from model.diagnostics import Code
from model.source import Span
from model.system import State
from model.types import Value


@dataclass(frozen=True, slots=True)
class Action:
    """What happened in a transition: a step of an instance, or a crash before the step `label`.

    `fault` is the crash fault's name for a crash, else None.
    """

    process: str
    instance: int
    label: str
    fault: str | None = None

    @property
    def kill_point(self) -> str | None:
        """The stable id of the kill point that a crash hit; None for a step."""
        return f"{self.process}.{self.label}" if self.fault is not None else None


@dataclass(frozen=True, slots=True)
class Transition:
    """One transition: the action, how its choices and faults came out, and the state after it."""

    action: Action
    choices: tuple[Value, ...]
    faults: tuple[str, ...]
    """The faults that happened, in order; a crash counts."""
    successor: State
    fair: bool
    violated: tuple[str, ...] = ()
    """The `checked` properties that a `check` on this path found false."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A path that ends in a run-time error (language, point 14) instead of a successor."""

    action: Action
    choices: tuple[Value, ...]
    faults: tuple[str, ...]
    error: EvaluationError


class EvaluationError(Exception):
    """A run-time error of a specification: a value outside its type, an index outside its array, a table gap."""

    def __init__(self, code: Code, message: str, span: Span) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.span = span

    def __reduce__(self) -> tuple[type[EvaluationError], tuple[Code, str, Span]]:
        """Say how to make a copy in another process."""
        return EvaluationError, (self.code, self.message, self.span)

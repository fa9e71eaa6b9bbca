"""Transitions: what happened, how it came out, and what went wrong where nothing came out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from model.diagnostics import Code
from model.source import Span
from model.system import CRASHED, State
from model.types import Value


@dataclass(frozen=True, slots=True)
class Action:
    """What happened in a transition: a step of an instance, a crash before the step `label` or in it, or a restart.

    `fault` is the crash fault's name for a crash, else None. A restart leaves the pseudo label of an instance that is
    down, which stands in the place of a step's label.
    """

    process: str
    instance: int
    label: str
    fault: str | None = None
    torn: bool = False
    """Whether a crash falls inside the step and not before it."""

    @property
    def kind(self) -> Literal["step", "crash", "restart"]:
        """What happened."""
        if self.fault is not None:
            return "crash"
        return "restart" if self.label == CRASHED else "step"

    @property
    def step(self) -> str | None:
        """The stable id of the step that was taken; None for a crash or restart."""
        return f"{self.process}.{self.label}" if self.kind == "step" else None

    @property
    def kill_point(self) -> str | None:
        """The stable id of the kill point that a crash hit; None for a step."""
        if self.fault is None:
            return None
        return f"{self.process}.{self.label}.torn" if self.torn else f"{self.process}.{self.label}"


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

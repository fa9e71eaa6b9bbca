"""Who is told what a run of the evaluator makes use of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from model.source import Span
from model.specification import Row, Table
from model.types import Value


class Observer(Protocol):
    """Is told what a run makes use of; coverage is judged from it."""

    def branch(self, span: Span, taken: bool) -> None:
        """Record that the `if` whose condition stands at `span` went one way."""

    def barred(self, span: Span) -> None:
        """Record what ended a path before its end: a `when` that was false, or a `choose` of nothing."""

    def consulted(self, table: Table, values: Sequence[Value], instance: int) -> None:
        """Take note of a table that an instance of its process consults, and of the values of all slots then."""

    def row(self, span: Span) -> None:
        """Record that a row was the one that matched."""

    def passed_over(self, rows: tuple[Row, ...], fits: Callable[[Row], bool]) -> None:
        """Take note of the rows behind the one that matched in a first-match table.

        `fits` tells, for the values of that moment and without being observed, whether a row's condition is true; where
        the condition has no value it is not.
        """

    def premise(self, span: Span) -> None:
        """Record that the premise of the `implies` at `span` was true."""

    def check(self, name: str) -> None:
        """Record that a `check` of this property was met."""

    def path_ended(self, completed: bool) -> None:
        """Record that a path through a step is over; the branches and checks told since the last call are its own.

        Only a completed one is a transition. The others do not exist, or err.
        """


class Unobserved:
    """Takes note of nothing."""

    def branch(self, span: Span, taken: bool) -> None:
        """Ignore."""

    def barred(self, span: Span) -> None:
        """Ignore."""

    def consulted(self, table: Table, values: Sequence[Value], instance: int) -> None:
        """Ignore."""

    def passed_over(self, rows: tuple[Row, ...], fits: Callable[[Row], bool]) -> None:
        """Ignore."""

    def check(self, name: str) -> None:
        """Ignore."""

    def path_ended(self, completed: bool) -> None:
        """Ignore."""

    def row(self, span: Span) -> None:
        """Ignore."""

    def premise(self, span: Span) -> None:
        """Ignore."""

"""Going on after an error: what is wrong is reported once, and what stands beside it is still read.

`Failed` ends the piece at hand; whoever reads several pieces catches it, reads the others, and fails at the end.
`GivenUp` ends the reading of the file. It is for a file that is so large that going on would do harm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NoReturn, TypeVar

from model import limits
from model.diagnostics import Code, Diagnostics
from model.source import Span

T = TypeVar("T")


class Failed(Exception):
    """An error has been reported; give up this piece and go on with the next."""


class GivenUp(Exception):
    """A limit has been exceeded, and reported; nothing more of the file is read."""


def collect(items: Iterable[Callable[[], T]]) -> list[T]:
    """Run every thunk, even after one has failed.

    Raises:
        Failed: at least one of them did.
    """
    results: list[T] = []
    failed = False
    for item in items:
        try:
            results.append(item())
        except Failed:
            failed = True
    if failed:
        raise Failed
    return results


def give_up(diagnostics: Diagnostics, message: str, span: Span) -> NoReturn:
    """Report that a limit is exceeded, and read no further."""
    diagnostics.report(Code.LIMIT, message, span)
    raise GivenUp


class Effort:
    """Counts the work that one file has made so far, its variants and mutants included."""

    __slots__ = ("_diagnostics", "spent")

    def __init__(self, diagnostics: Diagnostics) -> None:
        self._diagnostics = diagnostics
        self.spent = 0

    def spend(self, work: int, span: Span) -> None:
        """Count some more work, which was done at `span`.

        Raises:
            GivenUp: it is more than any file may make; reported.
        """
        self.spent += work
        if self.spent > limits.WORK_MAX:
            message = (
                f"declarations and expressions have more than {limits.WORK_MAX:,} parts once definitions are "
                "substituted, in all variants and mutants together"
            )
            give_up(self._diagnostics, message, span)

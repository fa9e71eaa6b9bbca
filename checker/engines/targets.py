"""What a search over columns of packed states looks for, and in what portions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from checker.backends.columns.program import Words

EDGE_STATES = 1 << 16
"""States looked at again at a time, after or beside the search."""


@dataclass(frozen=True, slots=True)
class Target:
    """Something to find a trace to: a state of a layer and, for a transition, where it goes from there."""

    depth: int
    key: int
    path: int = -1
    successor: int = 0


class Coverer:
    """A generated function that looks for events, made when it is first needed."""

    def __init__(self, events: list[int], make: Callable[[], Callable[..., None]]) -> None:
        self.events = events
        self._make = make
        self._made: Callable[..., None] | None = None

    def function(self) -> Callable[..., None]:
        """Return the function."""
        if self._made is None:
            self._made = self._make()
        return self._made


def parts(keys: Words) -> Iterator[Words]:
    """Yield states in portions that are looked at together."""
    for start in range(0, len(keys), EDGE_STATES):
        yield keys[start : start + EDGE_STATES]


def bits(value: int) -> Iterator[int]:
    """Yield the positions of the bits that are set."""
    number = 0
    while value:
        if value & 1:
            yield number
        value >>= 1
        number += 1

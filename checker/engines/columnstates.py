"""The columns read state by state: what the fast explorer makes of single states, to be compared with other readings.

The same generated transition relation, packing and search as in `checker.engines.columnar`, for one system and without
looking for anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from checker.backends.columns.program import Program, Words
from checker.backends.columns.translation import Claim, Translation
from checker.engines.columnsearch import ColumnSearch, Searched
from checker.exploration import Limits
from model.specification import PropertyKind
from model.system import State, TransitionSystem
from model.transitions import Action


@dataclass(slots=True)
class ColumnOutcome:
    """What the columns say of one state."""

    state: State
    ways: set[tuple[Action, State, bool]] = field(default_factory=set)
    """Transitions: what happens, where it leads, and whether it is fair."""
    fails: bool = False
    """Whether some action errs; the columns do not say which."""
    unknown: set[State] = field(default_factory=set)
    """Successors that the search has not found."""
    values: dict[str, tuple[bool, ...] | None] = field(default_factory=dict)
    """By property of states the values of its expressions; None where one of them has none."""


class ColumnStates:
    """The reachable states of one system in the order of the search, and what the columns say of them."""

    def __init__(self, system: TransitionSystem) -> None:
        """Translate the system.

        Raises:
            SpecificationError: a limit of the language is met.
        """
        self.program = Program(Translation([system]), [0])
        self._search = ColumnSearch(self.program)
        self._errors = self.program.selector(self.program.errors) if self.program.errors else None
        self._claims = [(claim, self._selectors(claim)) for claim in self.program.claims if _of_states(claim)]
        self.searched = Searched([], 0, "")
        self._ordered: Words = np.zeros(0, np.uint64)

    def search(self, limits: Limits) -> None:
        """Find all states."""
        self.searched = self._search.search(limits)
        self._ordered = np.sort(self.searched.keys)

    def chosen(self, most: int) -> NDArray[np.uint64]:
        """Return all states if there are no more than `most`, else evenly spread ones, in the order of the search."""
        every = max(1, -(-self.searched.states // most))
        return self.searched.keys[::every]

    def outcomes(self, keys: Words) -> list[ColumnOutcome]:
        """Return what the columns say of some states."""
        words = self._search.words_of(keys)
        found = [ColumnOutcome(state) for state in self._decoded(words)]
        for number, rows, successors in self._search.transitions(keys):
            path = self.program.entries[number].path
            known = self._known(successors).tolist()
            states = self._decoded(self._search.words_of(successors))
            for row, successor, is_known in zip(rows.tolist(), states, known, strict=True):
                found[row].ways.add((path.action, successor, path.fair))
                if not is_known:
                    found[row].unknown.add(successor)
        if self._errors is not None:
            for outcome, fails in zip(found, self._errors(*words).tolist(), strict=True):
                outcome.fails = fails
        for claim, selectors in self._claims:
            read = [select(*words).tolist() for select in selectors]
            for outcome, (error, *values) in zip(found, zip(*read, strict=True), strict=True):
                outcome.values[claim.name] = None if error else tuple(values)
        return found

    def misread(self, state: State) -> State | None:
        """Return what is read of a state that is packed and unpacked again, if that is not the same state."""
        again = self.program.decode(self.program.encode(0, state))[1]
        return None if again == state else again

    def _selectors(self, claim: Claim) -> list[Callable[..., NDArray[np.bool_]]]:
        terms = [claim.term.error, claim.term.value] + ([claim.term.goal] if claim.term.goal is not None else [])
        return [self.program.selector([(term, claim.systems)]) for term in terms]

    def _known(self, keys: Words) -> NDArray[np.bool_]:
        places = np.minimum(np.searchsorted(self._ordered, keys), max(0, len(self._ordered) - 1))
        return self._ordered[places] == keys if len(self._ordered) else np.zeros(len(keys), np.bool_)

    def _decoded(self, columns: Sequence[Words]) -> list[State]:
        return [self.program.decode(words)[1] for words in zip(*(column.tolist() for column in columns), strict=True)]


def _of_states(claim: Claim) -> bool:
    return claim.kind not in (PropertyKind.STEP, PropertyKind.CHECKED)

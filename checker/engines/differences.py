"""Whether systems that differ in some text differ in what they do, and where first.

The states of the original are explored layer by layer, and in each of them every system is asked for its transitions.
Systems that agree on all layers have the same graph: the same initial states, hence by induction the same reachable
states and the same transitions between them. Where one does not agree, the runs up to there are common to both and no
shorter run tells them apart.

Only paths that one of the two does not have are compared; a difference in them counts if what they lead to is not also
reached by a path that both have.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from checker.backends.columns.program import SYSTEMS_MAX, Program, Successors, Tally, Words
from checker.backends.columns.translation import Translation
from checker.engines import frontier
from checker.engines.grouping import grouped
from checker.engines.processes import in_processes
from checker.exploration import Exploration, Limits
from model.evaluate import Evaluator
from model.system import State, TransitionSystem
from model.transitions import Action, Failure

PLAIN_STATES = 20_000
"""So many states are compared one by one where a state does not fit one word."""

_Moves = NDArray[np.uint64]
"""A row for each transition: the number of the state, the label, and the state after it."""


@dataclass(slots=True)
class Compared(Exploration):
    """What came of comparing a system with its original.

    Where `complete`, `differs_in` is None if every reachable transition is the same, else a state of both from which
    the transitions, or what errs, are not; `differs_at` is its depth. `states` counts those that were compared.
    """

    differs_in: State | None = None
    differs_at: int = 0


def compare(original: TransitionSystem, systems: Sequence[TransitionSystem], limits: Limits) -> list[Compared]:
    """Compare systems with an original that has the same slots and initial states, and in which nothing errs.

    Raises:
        SpecificationError: a limit of the language is met in translation.
    """
    # The original is one more in each group, so that a group is one smaller than what fits.
    groups = [part for group in grouped([original, *systems]) for part in _halves([i - 1 for i in group if i])]

    def compared(group: list[int], workers: int, silent: bool) -> list[Exploration]:
        del workers, silent
        return list(_compared(original, [systems[i] for i in group], limits))

    results: dict[int, Compared] = {}
    for group, found in zip(groups, in_processes(compared, groups, limits), strict=True):
        results |= {i: cast("Compared", each) for i, each in zip(group, found, strict=True)}
    for i, system in enumerate(systems):
        results[i].system = system
    return [results[i] for i in range(len(systems))]


def _halves(group: list[int]) -> list[list[int]]:
    parts = -(-len(group) // (SYSTEMS_MAX // 2))
    return [group[first::parts] for first in range(parts)]


def _compared(original: TransitionSystem, systems: list[TransitionSystem], limits: Limits) -> list[Compared]:
    program = Program(Translation([original, *systems], ()), range(len(systems) + 1))
    if program.wide:
        return [plainly_compared(original, system, limits) for system in systems]
    return _Comparison(program, limits).run()


class _Comparison:
    """The layers of the first system of a program, and what the others do in them."""

    def __init__(self, program: Program, limits: Limits) -> None:
        self.program = program
        self.limits = limits
        self.results = [Compared(system, engine="columnar") for system in program.systems[1:]]
        bits = [entry.systems for entry in program.entries]
        self.own = {i: {n for n, b in enumerate(bits) if (b ^ b >> i) & 1} for i in range(1, len(program.systems))}
        """By system: the paths that it has and the original has not, or the other way round."""
        self.asked = program.expander()
        self.some = program.expander(frozenset().union(*self.own.values()))
        labels: dict[tuple[Action, bool], int] = {}
        self.labels = [labels.setdefault((e.path.action, e.path.fair), len(labels)) for e in program.entries]
        self.open = {i for i, paths in self.own.items() if paths} | self._erring()
        self.states = 0

    def _erring(self) -> set[int]:
        """Return the systems that err where the original does not, or does not where it does."""
        count = len(self.program.systems)
        return {i for i in range(1, count) if any((b ^ b >> i) & 1 for _, b in self.program.errors)}

    def run(self) -> list[Compared]:
        program = self.program
        first = [program.encode(0, state)[0] for state in program.systems[0].initial_states]

        def stop() -> bool:
            return bool(self.limits.reason_to_stop(self.states)) or not self.open

        outcome = frontier.explore(
            np.array(first, np.uint64), self._expand, on_layer=self._on_layer, limits=frontier.Limits(stop=stop)
        )
        for i, result in enumerate(self.results, start=1):
            result.states = self.states
            result.complete = i not in self.open or outcome.complete
            result.cut = "" if result.complete else self.limits.reason_to_stop(self.states) or "cut short"
        return self.results

    def _expand(self, states: Words) -> list[Words]:
        return [columns[0] for _, _, columns in self._successors(self.asked, states)[0]]

    def _on_layer(self, layer: frontier.Layer) -> None:
        for start in range(0, len(layer.states), 1 << 14):
            part = layer.states[start : start + (1 << 14)]
            for i, row in self._differing(part).items():
                found = self.results[i - 1]
                _, found.differs_in = self.program.decode([int(part[row])])
                found.differs_at = layer.depth
                self.open.discard(i)
        self.states += len(layer.states)

    def _differing(self, states: Words) -> dict[int, int]:
        """Return for systems that differ in some of these states the number of the first one."""
        systems = [0, *sorted(self.open)]
        moves, errs = self._moves(self.some, states, systems)
        found: dict[int, int] = {}
        for i in systems[1:]:
            mine, theirs = (_of_paths(moves[j], self.own[i]) for j in (i, 0))
            rows = np.unique(np.concatenate([_only_once(mine, theirs)[:, 0].astype(np.int64), errs[i]]))
            if len(rows):
                row = self._first(i, states, rows, errs[i])
                if row is not None:
                    found[i] = row
        return found

    def _first(self, i: int, states: Words, rows: NDArray[np.int64], errs: NDArray[np.int64]) -> int | None:
        """Return the first of some rows in which all that is possible differs, whatever the path."""
        moves, _ = self._moves(self.asked, states[rows], [0, i])
        different = set(rows[_only_once(moves[0][:, :3], moves[i][:, :3])[:, 0].astype(np.int64)].tolist())
        different |= set(errs.tolist())
        return min(different, default=None)

    def _moves(
        self, expander: object, states: Words, systems: Sequence[int]
    ) -> tuple[dict[int, _Moves], dict[int, NDArray[np.int64]]]:
        """Return by system the transitions from some states, the path a fourth column, and the rows that err."""
        program, count = self.program, len(states)
        # All systems at once: the states of each one after the other.
        keys = np.concatenate([states + np.uint64(program.first_word_of(i)) for i in systems])
        found, failing = self._successors(expander, keys)
        columns = [np.zeros((0, 4), np.uint64)]
        for path, rows, words in found:
            assert rows is not None
            base = np.array([program.first_word_of(i) for i in systems], np.uint64)[rows // count]
            label = np.full(len(rows), self.labels[path], np.uint64)
            number = np.full(len(rows), path, np.uint64)
            columns.append(np.stack([rows.astype(np.uint64), label, words[0] - base, number], axis=1))
        table = np.concatenate(columns)
        of = (table[:, 0] // np.uint64(max(count, 1))).astype(np.int64)
        table[:, 0] %= np.uint64(max(count, 1))
        numbers = program.system_numbers(failing)
        moves = {i: table[of == position] for position, i in enumerate(systems)}
        errs = {
            i: np.searchsorted(states, failing[numbers == i] - np.uint64(program.first_word_of(i))) for i in systems
        }
        return moves, errs

    def _successors(self, expander: object, states: Words) -> tuple[list[Successors], Words]:
        program = self.program
        tally = Tally(
            np.zeros((max(1, len(program.entries)), len(program.systems)), np.int64), np.zeros((1, 1), np.int64)
        )
        found = expander(states, np.arange(len(states)), tally)  # type: ignore[operator]
        failing = [words[0] for words in tally.failing]
        return found, np.unique(np.concatenate(failing)) if failing else np.zeros(0, np.uint64)


def _of_paths(moves: _Moves, paths: Collection[int]) -> _Moves:
    return moves[np.isin(moves[:, 3], np.array(sorted(paths), np.uint64)), :3]


def _only_once(left: _Moves, right: _Moves) -> _Moves:
    """Return the rows that only one of two tables has."""
    both = np.concatenate([np.unique(left, axis=0), np.unique(right, axis=0)])
    rows, counts = np.unique(both, axis=0, return_counts=True)
    single: _Moves = rows[counts == 1]
    return single


def plainly_compared(original: TransitionSystem, system: TransitionSystem, limits: Limits) -> Compared:
    """Compare two systems state by state with the evaluator, up to `PLAIN_STATES` states."""
    result = Compared(system, engine="evaluator")
    evaluators = (Evaluator(original), Evaluator(system))
    layer: list[State] = list(original.initial_states)
    known = set(layer)
    depth = 0
    while layer:
        following: list[State] = []
        for state in layer:
            reason = limits.reason_to_stop(len(known)) or ("too wide" if len(known) > PLAIN_STATES else "")
            if reason:
                result.cut = reason
                return result
            result.states += 1
            here, there = (outcomes(evaluator, state) for evaluator in evaluators)
            if here != there:
                result.differs_in, result.differs_at, result.complete = state, depth, True
                return result
            for _, _, successor in sorted(here, key=str):
                if successor is not None and successor not in known:
                    known.add(successor)
                    following.append(successor)
        layer, depth = following, depth + 1
    result.complete = True
    return result


def outcomes(evaluator: Evaluator, state: State) -> frozenset[tuple[Action, bool, State | None]]:
    """Return what can happen in a state: the action, whether it is fair, and the state after it; None where it errs."""
    return frozenset(
        (o.action, False, None) if isinstance(o, Failure) else (o.action, o.fair, o.successor)
        for o in evaluator.transitions(state)
    )

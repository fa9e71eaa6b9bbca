"""The explorer that people use: breadth-first over columns of packed states, many systems in one run.

`checker.backends.columns` generates the transition relation as NumPy code, `checker.engines.frontier` searches; this
module reads off what was found. No parent pointers are kept: the layers are, and a trace is found by going back layer
by layer, for all findings of all systems at once. Every trace is replayed by the evaluator before it leaves.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from checker.backends.columns.compiler import EventKey
from checker.backends.columns.program import Program, Tally, Words
from checker.backends.columns.terms import Term
from checker.backends.columns.translation import Claim, Translation
from checker.engines import frontier
from checker.engines.columnsearch import ColumnSearch, in_parts
from checker.engines.grouping import grouped
from checker.engines.lassosearch import KeyLasso, LassoSearch, PathKinds
from checker.engines.processes import in_processes
from checker.engines.recover import lost_states
from checker.exploration import Coverage, Exploration, Finding, Limits, Progress, never_taken
from checker.trace import EngineDisagreement, Trace, first_error, replay
from model.source import Span
from model.specification import PropertyKind
from model.system import State, TransitionSystem
from model.transitions import Action

LAYERS_IN_MEMORY = 4 << 20
"""Bytes of layers held in memory; older ones go to a temporary file."""

COVERAGE_STATES = 1 << 14
"""Layers are looked at for coverage in batches of about so many states."""


def explore(
    systems: Sequence[TransitionSystem],
    limits: Limits,
    properties: Collection[str] | None = None,
    judged: Collection[TransitionSystem] | None = None,
) -> list[Exploration]:
    """Explore systems, all of those that fit into common states in one run.

    `properties` names the properties to look at; all of them where it is None. `judged` are the systems, all unless
    told, whose rows have to be of use: of those that none of them takes it is found out whether another row hides them.

    Raises:
        SpecificationError: a limit of the language is met in translation.
        EngineDisagreement: the evaluator does not confirm a trace.
    """
    groups = grouped(systems)
    if len(groups) == 1:
        return _explored(systems, groups, limits, properties, None)
    results = _explored(systems, groups, limits, properties, frozenset())
    own = {id(system) for system in (systems if judged is None else judged)}
    suspects = never_taken([result for result in results if id(result.system) in own])
    if suspects and all(result.complete for result in results):
        # Which rows these are is known only now, so that has to be looked at again; it is rare that there are any.
        for result, again in zip(results, _explored(systems, groups, limits, properties, suspects), strict=True):
            result.coverage.shadowed_rows = again.coverage.shadowed_rows
    return results


def _explored(
    systems: Sequence[TransitionSystem],
    groups: list[list[int]],
    limits: Limits,
    properties: Collection[str] | None,
    suspects: frozenset[Span] | None,
) -> list[Exploration]:
    """Explore every group. `suspects` are rows to look for behind others; None: those that no system takes."""

    def explored_group(group: list[int], workers: int, silent: bool) -> list[Exploration]:
        # Translated where it is explored, so that this too is shared between the processors.
        translation = Translation([systems[i] for i in group], properties)
        run = Run(Program(translation, range(len(group))), limits, workers, silent=silent, suspects=suspects)
        return run.explore()

    explored = in_processes(explored_group, groups, limits)
    results = {
        i: result for group, found in zip(groups, explored, strict=True) for i, result in zip(group, found, strict=True)
    }
    for i, system in enumerate(systems):
        # What comes back from another process leaves the systems behind.
        results[i].system = system
    return [results[i] for i in range(len(systems))]


@dataclass(frozen=True, slots=True)
class Target:
    """Something to find a trace to: a state of a layer and, for a transition, where it goes from there."""

    depth: int
    key: int
    path: int = -1
    successor: int = 0


class _Coverer:
    """A generated function that looks for events, made when it is first needed."""

    def __init__(self, events: list[int], make: Callable[[], Callable[..., None]]) -> None:
        self.events = events
        self._make = make
        self._made: Callable[..., None] | None = None

    def function(self) -> Callable[..., None]:
        if self._made is None:
            self._made = self._make()
        return self._made


class Run:
    """One exploration of a group of systems."""

    def __init__(
        self, program: Program, limits: Limits, workers: int, *, silent: bool, suspects: frozenset[Span] | None
    ) -> None:
        systems = program.systems
        self.suspects = suspects
        self.limits = limits
        self.workers = workers
        self.on_progress = None if silent else limits.on_progress
        self.program = program
        self.search = ColumnSearch(program)
        self.count = len(systems)
        self.layers = frontier.LayerStore(LAYERS_IN_MEMORY)
        self.layer_sizes: list[NDArray[np.int64]] = []
        self.boundaries = np.array([self.program.first_word_of(i) for i in range(1, self.count)], np.uint64)
        self.results = [Exploration(system, engine="columnar") for system in systems]
        whole = self.search.tally()
        self.paths, self.events = whole.paths, whole.events
        self.coverers = [_Coverer(events, make) for events, make in self.program.coverers()]
        self.uncovered: list[Words] = []
        """Layers that have not been looked at for coverage yet."""
        self.found: dict[tuple[int, int], Target] = {}
        self.failures: dict[int, Target] = {}
        self.waiting: dict[int, Target] = {}
        self.bounded = [i for i, system in enumerate(systems) if system.bound is not None]
        """Systems of which nothing is said of end states: what is waited for may lie beyond the bound."""
        self.lassos: dict[tuple[str, int], KeyLasso] = {}
        self.still_possible: dict[tuple[str, int], tuple[str, ...]] = {}
        self.tallies: list[Tally] = []
        self.idle: list[Tally] = []
        self.searching: list[bool] = []
        self._may_wait: Callable[..., NDArray[np.bool_]] | None = None
        self.started = time.monotonic()
        self.cut = ""
        self.over: list[int] = []
        """Systems with more states than allowed; they are not followed further."""

    def explore(self) -> list[Exploration]:
        """Explore, and return what was found for each system."""
        outcome = frontier.explore(
            self.search.initial_keys(),
            self._expand,
            workers=self.workers,
            on_layer=self._on_layer,
            limits=frontier.Limits(stop=self._stop),
        )
        self._drain()
        self.cover()
        self._summarise(outcome.complete)
        self.shadows()
        self._recoverable()
        self._leads_to()
        self.traces()
        self.layers.close()
        return self.results

    # -- packed states --------------------------------------------------------------------------------------------

    def _state(self, key: int) -> tuple[int, State]:
        words = self.search.words_of(np.array([key], np.uint64))
        return self.program.decode([int(column[0]) for column in words])

    # -- during the search ----------------------------------------------------------------------------------------

    def _stop(self) -> bool:
        self.cut = self.limits.reason_to_stop(0)
        return bool(self.cut)

    def _expand(self, states: Words) -> list[Words]:
        try:
            tally = self.idle.pop()
        except IndexError:
            tally = self.search.tally()
            self.tallies.append(tally)
        tally.searching = self.searching
        if self.over:
            states = states[~np.isin(self.search.system_numbers(states), self.over)]
        successors = self.search.expander(*self.search.words_of(states), None, tally)
        self.idle.append(tally)
        return [self.search.keys_of(columns) for _, _, columns in successors]

    def _on_layer(self, layer: frontier.Layer) -> None:
        self._drain()
        self.layers.append(layer.states)
        if self.count == 1:
            sizes = np.array([len(layer.states)])
        else:
            cuts = [0, *np.searchsorted(layer.states, self.boundaries).tolist(), len(layer.states)]
            sizes = np.diff(np.array(cuts))
        self.layer_sizes.append(sizes)
        if self.limits.states_max is not None:
            self.over = np.flatnonzero(sum(self.layer_sizes) > self.limits.states_max).tolist()
        active = sizes > 0
        self.searching = [
            any(active[i] and (number, i) not in self.found for i in _bits(claim.systems))
            for number, claim in enumerate(self.program.claims)
        ]
        if self.on_progress is not None:
            states = int(sum(int(s.sum()) for s in self.layer_sizes))
            self.on_progress(
                Progress(layer.depth, states, int(self.paths.sum()), len(layer.states), time.monotonic() - self.started)
            )

    def _drain(self) -> None:
        """Take over what the threads have tallied in the layer that has just been expanded."""
        depth = len(self.layer_sizes) - 1
        for tally in self.tallies:
            self.paths += tally.paths
            tally.paths[:] = 0
        failing = [self.search.keys_of(words) for tally in self.tallies for words in tally.failing]
        if failing:
            self._take_failing(np.unique(np.concatenate(failing)), depth)
        for tally in self.tallies:
            for claim, path, words, successors in tally.hits:
                self._take_hit(depth, claim, path, words, successors)
            tally.failing.clear()
            tally.hits.clear()
        if self.layer_sizes:
            self.uncovered.append(self.layers[depth])
            if sum(map(len, self.uncovered)) >= COVERAGE_STATES:
                self.cover()

    def cover(self) -> None:
        """Look in the states of the last layers for events that have not been seen; in batches, for calls are dear."""
        if not self.uncovered:
            return
        keys = np.concatenate(self.uncovered)
        sizes = [len(layer) for layer in self.uncovered]
        self._find_waiting(keys, len(self.layer_sizes) - len(sizes), sizes)
        self.uncovered.clear()
        tally = Tally(self.paths, self.events)
        unseen = (self.events == 0).any(axis=1)
        tally.open = unseen.tolist()
        for coverer in self.coverers:
            if unseen[coverer.events].any():
                for part in in_parts(keys):
                    coverer.function()(*self.search.words_of(part), tally)
        self._take_premises(tally)

    def _take_failing(self, keys: Words, depth: int) -> None:
        numbers = self.search.system_numbers(keys)
        for i in np.unique(numbers).tolist():
            mine = keys[numbers == i]
            self.results[i].failing_states += len(mine)
            self.failures.setdefault(i, Target(depth, int(mine.min())))

    def _take_hit(
        self, depth: int, claim: int, path: int, words: tuple[Words, ...], successors: tuple[Words, ...] | None
    ) -> None:
        """Keep the least state (and of its successors the least) that a layer has for a claim in each system."""
        keys = self.search.keys_of(words)
        after = self.search.keys_of(successors) if successors is not None else keys
        numbers = self.search.system_numbers(keys)
        for i in np.unique(numbers).tolist():
            chosen = np.flatnonzero(numbers == i)
            best = chosen[np.lexsort((after[chosen], keys[chosen]))[0]]
            target = Target(depth, int(keys[best]), path, int(after[best]))
            known = self.found.get((claim, i))
            if known is None or (
                known.depth == depth
                and (target.key, target.path, target.successor) < (known.key, known.path, known.successor)
            ):
                self.found[claim, i] = target

    def _take_premises(self, tally: Tally) -> None:
        """Count premises of `step` properties in states that have a successor: one state each is tried, then all."""
        pending = [(event, np.unique(self.search.keys_of(words))) for event, words in tally.premises]
        for only_first in (True, False):
            tried: list[tuple[int, Words]] = []
            for event, keys in pending:
                numbers = self.search.system_numbers(keys)
                chosen = np.flatnonzero(self.events[event][numbers] == 0)
                if only_first:
                    chosen = chosen[np.unique(numbers[chosen], return_index=True)[1]]
                tried.append((event, keys[chosen]))
            candidates = np.unique(np.concatenate([np.zeros(0, np.uint64), *(keys for _, keys in tried)]))
            if not len(candidates):
                return
            alive = candidates[self.search.have_successors(candidates)]
            for event, keys in tried:
                self.events[event] += np.bincount(
                    self.search.system_numbers(keys[np.isin(keys, alive)]), minlength=self.count
                )

    def _find_waiting(self, keys: Words, first_depth: int, sizes: list[int]) -> None:
        """Look in some layers for end states in which a process waits outside its first step."""
        if not self.program.waiting or len(self.waiting) + len(self.bounded) == self.count:
            return
        if self._may_wait is None:
            self._may_wait = self.program.selector(self.program.waiting)
        candidates = np.flatnonzero(self._may_wait(*self.search.words_of(keys)))
        candidates = candidates[~np.isin(self.search.system_numbers(keys[candidates]), [*self.waiting, *self.bounded])]
        if len(candidates):
            ends = candidates[~self.search.have_successors(keys[candidates])]
            ends = ends[~self._fails(keys[ends])]
            depths = first_depth + np.searchsorted(np.cumsum(sizes), ends, side="right")
            for i, depth, key in zip(
                self.search.system_numbers(keys[ends]).tolist(), depths.tolist(), keys[ends].tolist(), strict=True
            ):
                self.waiting.setdefault(i, Target(depth, key))

    def _fails(self, keys: Words) -> NDArray[np.bool_]:
        """Tell which states err in a step: what would follow there nobody knows, so that they are no end states."""
        if not self.program.errors:
            return np.zeros(len(keys), np.bool_)
        return self.program.selector(self.program.errors)(*self.search.words_of(keys))

    # -- after the search -----------------------------------------------------------------------------------------

    def _summarise(self, complete: bool) -> None:
        sizes = np.array(self.layer_sizes).reshape(-1, self.count)
        reason = self.cut or self.limits.reason_to_stop(2**63) or "cut short"
        for i, result in enumerate(self.results):
            result.states = int(sizes[:, i].sum())
            result.transitions = int(self.paths[:, i].sum())
            result.depth = int((sizes[:, i] > 0).sum())
            ended = complete or (len(sizes) > 0 and int(sizes[-1, i]) == 0)
            result.complete = ended and i not in self.over
            result.cut = "" if result.complete else self.limits.reason_to_stop(2**63) if i in self.over else reason
            result.coverage = self.coverage_of(i)

    def coverage_of(self, i: int) -> Coverage:
        """Return what the transitions and properties of a system made use of."""
        coverage = Coverage()
        program = self.program
        keys: set[EventKey] = {key for key, number in program.event_keys.items() if self.events[number, i]}
        for number in np.flatnonzero(self.paths[:, i]).tolist():
            path = program.entries[number].path
            action = path.action
            if action.step is not None:
                coverage.steps.add(action.step)
            if action.kill_point is not None:
                coverage.kill_points.add(action.kill_point)
            coverage.faults.update(path.faults)
            keys.update(program.implied_events(number))
        for key in keys:
            if len(key) == 3 and isinstance(key[2], str):
                coverage.checks.add(key[2])
            elif len(key) == 3:
                coverage.branches.add((key[1], key[2] is True))
            elif key[0] == "row":
                coverage.rows.add(key[1])
            else:
                coverage.premises.add(key[1])
        return coverage

    def shadows(self) -> None:
        """Look behind rows that were taken for suspects that fit as well."""
        if any(not result.complete for result in self.results):
            return
        suspects = never_taken(self.results) if self.suspects is None else self.suspects
        for i, result in enumerate(self.results):
            result.coverage.shadowed_rows = set()
            by_row: dict[Span, list[tuple[Term, int]]] = {}
            for span, term in self.program.translation.shadows(self.program.members[i], suspects) if suspects else ():
                by_row.setdefault(span, []).append((term, 1 << i))
            for span, conditions in by_row.items():
                select = self.program.selector(conditions)
                layers = (self.layers[depth] for depth in range(len(self.layers)))
                if any(select(*self.search.words_of(part)).any() for layer in layers for part in in_parts(layer)):
                    result.coverage.shadowed_rows.add(span)

    # -- recoverable ----------------------------------------------------------------------------------------------

    def _recoverable(self) -> None:
        groups = self._claims_by_name(PropertyKind.RECOVERABLE)
        if not groups:
            return
        ordered = np.sort(np.concatenate([self.layers[depth] for depth in range(len(self.layers))]))
        complete = np.array([result.complete for result in self.results])
        for group in groups:
            terms = self.program.terms
            goals = [(terms.all_of((c.term.value, terms.negation(c.term.error))), c.systems) for c in group]
            select = self.program.selector(goals)
            goal = np.concatenate([select(*self.search.words_of(part)) for part in in_parts(ordered)])
            asked = sum(claim.systems for claim in group)
            relevant = complete & np.array([bool(asked >> i & 1) for i in range(self.count)])
            goal |= ~relevant[self.search.system_numbers(ordered)]
            self._take_lost(group, lost_states(self.layers, ordered, goal, self._fair_successors))

    def _claims_by_name(self, kind: PropertyKind) -> list[list[Claim]]:
        """Return the claims of a kind that only the whole space decides, the readings of one property together."""
        by_name: dict[str, list[Claim]] = {}
        if any(result.complete for result in self.results):
            for claim in self.program.claims:
                if claim.kind is kind:
                    by_name.setdefault(claim.name, []).append(claim)
        return list(by_name.values())

    def _fair_successors(self, states: Words) -> Iterator[tuple[NDArray[np.int64], Words]]:
        """Yield, path by path, the rows of some states that take a fair path, and where it leads them."""
        for path, rows, successors in self.search.transitions(states):
            if self.program.entries[path].path.fair:
                yield rows, successors

    def _take_lost(self, group: list[Claim], lost: Words) -> None:
        """Keep for each system the first lost state in the order of the search."""
        missing = set(np.unique(self.search.system_numbers(lost)).tolist())
        for depth in range(len(self.layers)):
            if not missing:
                return
            here = np.intersect1d(self.layers[depth], lost, assume_unique=True)
            numbers, first = np.unique(self.search.system_numbers(here), return_index=True)
            for i, position in zip(numbers.tolist(), first.tolist(), strict=True):
                if i in missing:
                    missing.discard(i)
                    claim = next(c for c in group if c.systems >> i & 1)
                    key = int(here[position])
                    self.found[self.program.claims.index(claim), i] = Target(depth, key)
                    self.still_possible[claim.name, i] = self.possible_from(key)

    def possible_from(self, key: int) -> tuple[str, ...]:
        """Return the steps that can still happen at or after a state."""
        actions: set[Action] = set()

        def expand(states: Words) -> list[Words]:
            found = list(self.search.transitions(states))
            actions.update(self.program.entries[path].path.action for path, _, _ in found)
            return [successors for _, _, successors in found]

        frontier.explore(np.array([key], np.uint64), expand)
        return tuple(sorted({a.step for a in actions if a.step is not None}))

    # -- leads_to -------------------------------------------------------------------------------------------------

    def _leads_to(self) -> None:
        groups = self._claims_by_name(PropertyKind.LEADS_TO)
        if not groups:
            return
        terms = self.program.terms
        complete = sum(1 << i for i, result in enumerate(self.results) if result.complete)
        kinds = PathKinds.of([entry.path for entry in self.program.entries])
        for group in groups:
            owing, silent = [], []
            for claim in group:
                assert claim.term.goal is not None, "`leads_to` has a goal"
                sound, asked = terms.negation(claim.term.error), claim.systems & complete
                owing.append((terms.all_of((terms.negation(claim.term.value), sound)), asked))
                silent.append((terms.all_of((terms.negation(claim.term.goal), sound)), asked))
            search = LassoSearch(self.layers, self._asking(owing), self._asking(silent), self.search.transitions, kinds)
            for i, lasso in search.lassos(self.search.system_numbers):
                claim = next(c for c in group if c.systems >> i & 1)
                self.found[self.program.claims.index(claim), i] = Target(lasso.depth, lasso.key)
                self.lassos[claim.name, i] = lasso

    def _asking(self, conditions: list[tuple[Term, int]]) -> Callable[[Words], NDArray[np.bool_]]:
        select = self.program.selector(conditions)
        return lambda keys: select(*self.search.words_of(keys))

    # -- traces ---------------------------------------------------------------------------------------------------

    def traces(self) -> None:
        """Find the traces of all findings in one walk back through the layers."""
        targets = {("claim", c, i): t for (c, i), t in self.found.items()}
        targets |= {("failure", 0, i): t for i, t in self.failures.items()}
        targets |= {("waiting", 0, i): t for i, t in self.waiting.items()}
        self.trace(targets)

    def trace(self, targets: dict[tuple[str, int, int], Target]) -> None:
        """Find the traces of some findings, each a kind, the number of a claim, and that of a system."""
        chains = self.walk_back(targets)
        for (kind, claim, i), target in targets.items():
            name = self.program.claims[claim].name if kind == "claim" else ""
            trace = self.replayed(i, chains[kind, claim, i], target, name)
            if kind == "claim":
                self.results[i].findings[name] = Finding(
                    len(trace), trace, still_possible=self.still_possible.get((name, i), ())
                )
            elif kind == "waiting":
                self.results[i].waiting = Finding(len(trace), trace)
            else:
                self.results[i].failure = self._failure(i, trace)

    def walk_back(
        self, targets: dict[tuple[str, int, int], Target]
    ) -> dict[tuple[str, int, int], list[tuple[int, int]]]:
        """Return for each target the (state, path that led to it) from its initial state on; the first path is -1."""
        chains: dict[tuple[str, int, int], list[tuple[int, int]]] = {name: [] for name in targets}
        wanted: dict[tuple[str, int, int], int] = {}
        for depth in range(max((t.depth for t in targets.values()), default=-1), -1, -1):
            wanted |= {name: t.key for name, t in targets.items() if t.depth == depth}
            if depth == 0:
                for name, key in wanted.items():
                    chains[name].append((key, -1))
                break
            before = self._predecessors(depth - 1, np.unique(np.array(list(wanted.values()), np.uint64)))
            for name, key in wanted.items():
                source, path = before[key]
                chains[name].append((key, path))
                wanted[name] = source
        return {name: chain[::-1] for name, chain in chains.items()}

    def _predecessors(self, depth: int, keys: Words) -> dict[int, tuple[int, int]]:
        """Return for each key of the next layer the least state of this layer that leads to it, and by which path."""
        layer = self.layers[depth]
        if self.count > 1:
            layer = layer[np.isin(self.search.system_numbers(layer), np.unique(self.search.system_numbers(keys)))]
        found: dict[int, tuple[int, int]] = {}
        for states in in_parts(layer):
            for path, rows, successors in self.search.transitions(states):
                positions = np.minimum(np.searchsorted(keys, successors), len(keys) - 1)
                for hit in np.flatnonzero(keys[positions] == successors).tolist():
                    candidate = (int(states[rows[hit]]), path)
                    key = int(successors[hit])
                    if key not in found or candidate < found[key]:
                        found[key] = candidate
            if len(found) == len(keys):
                break
        if len(found) < len(keys):
            raise EngineDisagreement(f"a state of layer {depth + 1} has no predecessor in layer {depth}")
        return found

    def replayed(self, i: int, chain: list[tuple[int, int]], target: Target, claim: str) -> Trace:
        """Let the evaluator take the way to a target, and with it a lasso that shows that a claim is violated."""
        if target.path >= 0:
            chain = [*chain, (target.successor, target.path)]
        lasso, loop = self.lassos.get((claim, i)), None
        if lasso is not None:
            chain = [*chain, *lasso.stem, *lasso.cycle]
            loop = lasso.depth + len(lasso.stem)
        states = [self._state(key)[1] for key, _ in chain]
        actions = [self.program.entries[path].path.action for _, path in chain[1:]]
        system = self.results[i].system
        return replay(system, states, actions, claimed=system.specification.properties.get(claim), loop=loop)

    def _failure(self, i: int, trace: Trace) -> Finding:
        """Find with the evaluator what goes wrong in a state that the columns call failing."""
        error, action = first_error(self.results[i].system, trace.last)
        if error is None:
            raise EngineDisagreement("the columns find a run-time error in a state in which the evaluator finds none")
        return Finding(len(trace), Trace(trace.initial, trace.steps, action), error)


def _bits(value: int) -> Iterator[int]:
    number = 0
    while value:
        if value & 1:
            yield number
        value >>= 1
        number += 1

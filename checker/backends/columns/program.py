"""The generated functions for some systems of a translation.

The states of the systems live side by side: one more slot, the most significant, says which system a state belongs to,
so that states of one system are next to each other in every sorted array.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from checker.backends.columns.compiler import EventKey
from checker.backends.columns.packing import Packing, pack
from checker.backends.columns.paths import GuardedPath, PropertyTerm
from checker.backends.columns.source import Emitter, Leaf, Rows
from checker.backends.columns.terms import SET_SIZE_MAX, Term, conjuncts
from checker.backends.columns.translation import Claim, PathEntry, Translation
from model.specification import PropertyKind
from model.system import State
from model.transitions import Action

Words = NDArray[np.uint64]
Successors = tuple[int, NDArray[np.int64] | None, tuple[Words, ...]]
"""The number of a path, the rows that take it (where asked for), and the words of their successors."""

SYSTEMS_MAX = SET_SIZE_MAX
"""How many systems one program holds: a set of systems is a bit set."""


@dataclass(slots=True)
class Tally:
    """What one thread has counted in a layer.

    `paths` and `events` are counts by path (or event) and system. `open` says which events are still looked for,
    `searching` which claims; `failing` has the states that err; `hits` the claims that were found violated (or, for
    a `possible` one, true) with the states, and for a `step` property the path and the successors.
    """

    paths: NDArray[np.int64]
    events: NDArray[np.int64]
    open: list[bool] = field(default_factory=list)
    searching: list[bool] = field(default_factory=list)
    failing: list[tuple[Words, ...]] = field(default_factory=list)
    hits: list[tuple[int, int, tuple[Words, ...], tuple[Words, ...] | None]] = field(default_factory=list)
    premises: list[tuple[int, tuple[Words, ...]]] = field(default_factory=list)
    """Events that happen in these states if there is a transition from them."""


class Program:
    """The generated functions for some systems of a translation, and the way from states to packed words and back.

    Packed states are single words where everything fits, else rows of several; then there is one system only. Systems
    are numbered by their position in `members`.
    """

    def __init__(self, translation: Translation, members: Sequence[int]) -> None:
        """Lay out the states of the systems with these numbers."""
        assert 1 <= len(members) <= SYSTEMS_MAX
        self.translation = translation
        self.terms = translation.terms
        self.event_keys = translation.event_keys
        self.members = list(members)
        self.systems = [translation.systems[i] for i in members]
        self.all_systems = (1 << len(members)) - 1
        self._numbers = [translation.layout.numbers[i] for i in members]
        sizes = translation.layout.sizes_of(members)
        self._system_slot = len(sizes) if len(members) > 1 else None
        self.packing: Packing = pack([*sizes, len(members)] if len(members) > 1 else sizes)
        self.entries = [PathEntry(e.path, systems) for e in translation.entries if (systems := self._here(e.systems))]
        self.claims = [replace(c, systems=systems) for c in translation.claims if (systems := self._here(c.systems))]
        self._origins = [i for i, c in enumerate(translation.claims) if self._here(c.systems)]
        self.errors = [
            (term, systems) for term, everywhere in translation.errors if (systems := self._here(everywhere))
        ]
        self.waiting = [
            (term, systems) for term, everywhere in translation.waiting if (systems := self._here(everywhere))
        ]
        self._step_claims = [c for c in range(len(self.claims)) if self.claims[c].kind is PropertyKind.STEP]
        self._check_claims = {c.name: number for number, c in enumerate(self.claims) if c.kind is PropertyKind.CHECKED}

    def _here(self, systems: int) -> int:
        """Return the bits of the program's own systems for bits of the translation's."""
        return sum(1 << own for own, number in enumerate(self.members) if systems >> number & 1)

    def step_term(self, claim: int, path: GuardedPath) -> PropertyTerm:
        """Return a `step` property as it reads for the transitions of a path."""
        return self.translation.step_term(self._origins[claim], path)

    @property
    def wide(self) -> bool:
        """Whether a state takes several words."""
        return self.packing.words > 1

    # -- states ---------------------------------------------------------------------------------------------------

    def encode(self, system: int, state: State) -> tuple[int, ...]:
        """Pack a state into words."""
        words = [0] * self.packing.words
        numbers = self._numbers[system]
        for slot, value, number in zip(self.systems[system].slots, state, numbers, strict=True):
            place = self.packing.places[number]
            words[place.word] += slot.domain.index(value) * place.weight if place.radix > 1 else 0
        if self._system_slot is not None:
            place = self.packing.places[self._system_slot]
            words[place.word] += system * place.weight
        return tuple(words)

    def decode(self, words: Sequence[int]) -> tuple[int, State]:
        """Unpack words into the number of the system and its state."""
        system = 0
        if self._system_slot is not None:
            system = self._digit(words, self._system_slot)
        slots = self.systems[system].slots
        numbers = self._numbers[system]
        return system, tuple(
            slot.domain.value(self._digit(words, number)) for slot, number in zip(slots, numbers, strict=True)
        )

    def _digit(self, words: Sequence[int], number: int) -> int:
        place = self.packing.places[number]
        return ((int(words[place.word]) >> place.shift) & place.mask) // place.stride % place.radix

    def positions(self, words: Sequence[Words]) -> NDArray[np.integer]:
        """Return for packed states of the only system, a row each, the position of each slot's value in its domain."""
        assert self._system_slot is None
        slots = self.systems[0].slots
        kind = np.min_scalar_type(max((slot.domain.size for slot in slots), default=1))
        rows = np.empty((len(words[0]), len(slots)), kind)
        for column, number in enumerate(self._numbers[0]):
            place = self.packing.places[number]
            field = words[place.word] >> np.uint64(place.shift) & np.uint64(place.mask)
            rows[:, column] = field // np.uint64(place.stride) % np.uint64(place.radix)
        return rows

    def system_numbers(self, words: Words) -> NDArray[np.int64]:
        """Return the number of the system of each packed state."""
        slot = self._system_slot
        if slot is None:
            return np.zeros(len(words), np.int64)
        place = self.packing.places[slot]
        return (words >> np.uint64(place.shift)).astype(np.int64) & place.mask

    def first_word_of(self, system: int) -> int:
        """Return the least packed state that can belong to a system; states of one system are next to each other."""
        slot = self._system_slot
        return 0 if slot is None else system << self.packing.places[slot].shift

    # -- generated functions --------------------------------------------------------------------------------------

    def expander(self, chosen: Collection[int] | None = None) -> Callable[..., list[Successors]]:
        """Return `f(*words, rows, tally)`: the successors of packed states by path, and into the tally what was met.

        `rows` numbers the states, or is None where nobody asks which successor comes from which state. `chosen` are the
        numbers of the paths to take, all of them unless told.
        """
        emitter = Emitter(self.terms, self.packing)
        rows = self._top_rows(index="x")
        leaves = [self._path_leaf(n) for n in range(len(self.entries)) if chosen is None or n in chosen]
        leaves += [self._failing_leaf(guard, systems) for guard, systems in self._all_errors()]
        emitter.line("out = []")
        emitter.line("paths, searching = tally.paths, tally.searching")
        emitter.line("looking = True in searching")
        emitter.tree(leaves, rows)
        emitter.under("looking", rows, lambda: self._write_claims(emitter, rows))
        return emitter.compile("expand", f"{', '.join(rows.words)}, x, tally", "out")  # type: ignore[return-value]

    def selector(self, conditions: Sequence[tuple[Term, int]]) -> Callable[..., NDArray[np.bool_]]:
        """Return `f(words)`: the states in which one of the conditions is true, each asked of its systems only."""
        emitter = Emitter(self.terms, self.packing)
        rows = self._top_rows()
        term = self.terms.any_of([self._for_systems(condition, systems) for condition, systems in conditions])
        emitter.line(f"result = {self._mask(emitter, term, rows)}")
        return emitter.compile("select", ", ".join(rows.words), "result")  # type: ignore[return-value]

    def _top_rows(self, index: str = "") -> Rows:
        return Rows(tuple(f"w{i}" for i in range(self.packing.words)), index)

    def _for_systems(self, guard: Term, systems: int) -> Term:
        slot = self._system_slot
        if slot is None or systems == self.all_systems:
            return guard
        which = self.terms.slot(slot, 0, len(self.systems), is_bool=False)
        return self.terms.all_of((self.terms.member(which, systems), guard))

    def _system_column(self, emitter: Emitter, rows: Rows) -> str | None:
        slot = self._system_slot
        return None if slot is None else emitter.digit(slot, rows)

    def _path_leaf(self, number: int) -> Leaf:
        entry = self.entries[number]

        def write(emitter: Emitter, rows: Rows) -> None:
            system = self._system_column(emitter, rows)
            if system is None:
                emitter.line(f"paths[{number}, 0] += {rows.words[0]}.size")
            else:
                emitter.line(f"paths[{number}] += bincount({system}, minlength={len(self.systems)})")
            names = emitter.successor(entry.path.updates, rows)
            emitter.line(f"out.append(({number}, {rows.index}, ({', '.join(names)},)))")
            self._write_step_claims(emitter, rows, number, names)

        return Leaf(self._for_systems(entry.path.guard, entry.systems), write)

    def implied_events(self, number: int) -> Iterable[EventKey]:
        """Yield the events that happen on a path wherever it is taken."""
        entry = self.entries[number]
        known = {c.number for c in conjuncts(entry.path.guard)}
        for key, term in entry.path.events:
            if {c.number for c in conjuncts(term)} <= known:
                yield key

    def _write_step_claims(self, emitter: Emitter, rows: Rows, number: int, names: tuple[str, ...]) -> None:
        """Look at the transitions of a path: errors of `step` properties, and violations while sought."""
        entry = self.entries[number]
        for claim in self._step_claims:
            if systems := entry.systems & self.claims[claim].systems:
                self._write_failing(emitter, rows, self._for_systems(self.step_term(claim, entry.path).error, systems))

        def violations() -> None:
            for claim in self._step_claims:
                if systems := entry.systems & self.claims[claim].systems:
                    term = self.step_term(claim, entry.path)
                    violated = self.terms.all_of((self.terms.negation(term.value), self.terms.negation(term.error)))
                    self._write_hit(emitter, rows, claim, number, self._for_systems(violated, systems), names)
            for name, false in entry.path.violations:
                if name in self._check_claims:
                    claim = self._check_claims[name]
                    if systems := entry.systems & self.claims[claim].systems:
                        self._write_hit(emitter, rows, claim, number, self._for_systems(false, systems), names)

        emitter.under("looking", rows, violations)

    def _failing_leaf(self, guard: Term, systems: int) -> Leaf:
        return Leaf(
            self._for_systems(guard, systems), lambda emitter, rows: self._write_failing(emitter, rows, self.terms.true)
        )

    def _write_failing(self, emitter: Emitter, rows: Rows, term: Term) -> None:
        if term is not self.terms.false:
            emitter.line(f"tally.failing.append({self._selected(emitter, rows.words, rows, term)})")

    def _selected(self, emitter: Emitter, columns: Sequence[str], rows: Rows, term: Term) -> str:
        """Return the text of a tuple of columns, restricted to the rows in which a term is true."""
        if term is self.terms.true:
            return f"({', '.join(columns)},)"
        mask = emitter.boolean(term, rows)
        return f"({', '.join(f'{column}.compress({mask})' for column in columns)},)"

    def _all_errors(self) -> Iterable[tuple[Term, int]]:
        yield from self.errors
        for claim in self.claims:
            if claim.kind is not PropertyKind.STEP and claim.term.error is not self.terms.false:
                yield claim.term.error, claim.systems

    def _write_claims(self, emitter: Emitter, rows: Rows) -> None:
        """Look at the states themselves: for violations of `always`, and for what should be `possible`."""
        for number, claim in enumerate(self.claims):
            if claim.kind in (PropertyKind.ALWAYS, PropertyKind.POSSIBLE):
                wanted = (
                    claim.term.value if claim.kind is PropertyKind.POSSIBLE else self.terms.negation(claim.term.value)
                )
                found = self.terms.all_of((wanted, self.terms.negation(claim.term.error)))
                self._write_hit(emitter, rows, number, -1, self._for_systems(found, claim.systems), ())

    def _write_hit(
        self, emitter: Emitter, rows: Rows, claim: int, path: int, found: Term, successors: tuple[str, ...]
    ) -> None:
        """Record the rows in which a claim is found violated (or a `possible` one true), while that is looked for."""
        if found is self.terms.false:
            return
        test = (
            f"searching[{claim}]"
            if found is self.terms.true
            else f"searching[{claim}] and {emitter.boolean(found, rows)}.any()"
        )
        emitter.line(f"if {test}:")
        words = self._selected(emitter, rows.words, rows, found)
        after = self._selected(emitter, successors, rows, found) if successors else "None"
        emitter.indented(lambda: emitter.line(f"tally.hits.append(({claim}, {path}, {words}, {after}))"))

    # -- coverage -------------------------------------------------------------------------------------------------

    def coverers(self) -> list[tuple[list[int], Callable[[], Callable[..., None]]]]:
        """Return for each step, and for the properties, the events to look for and how to make `f(*words, tally)`.

        Events that are certain on a path are counted with the path (`implied_events`) and are not among them.
        """
        groups: dict[Action, tuple[Term, dict[int, list[Term]]]] = {}
        for action, label, events, everywhere in self.translation.step_events:
            if systems := self._here(everywhere):
                _, found = groups.setdefault(action, (label, {}))
                for key, term in events:
                    found.setdefault(self.event_keys[key], []).append(self._for_systems(term, systems))
        for entry in self.entries:
            for event, term in self._path_events(entry):
                _, found = groups.setdefault(entry.path.action, (self.terms.true, {}))
                found.setdefault(event, []).append(term)
        coverers: list[tuple[list[int], Callable[[], Callable[..., None]]]] = [
            (sorted(events), partial(self._step_coverer, label, events)) for label, events in groups.values()
        ]
        claimed = [
            (self.event_keys[key], term, claim)
            for claim in self.claims
            for key, term in claim.term.events
            if claim.kind is not PropertyKind.STEP or key in claim.before
        ]
        if claimed:
            coverers.append((sorted({event for event, *_ in claimed}), partial(self._claim_coverer, claimed)))
        return coverers

    def _path_events(self, entry: PathEntry) -> Iterable[tuple[int, Term]]:
        """Yield what happens only in some states that take a path: arms of merged branches, premises with `next`."""
        taken = self._for_systems(entry.path.guard, entry.systems)
        known = {c.number for c in conjuncts(entry.path.guard)}
        for key, term in entry.path.events:
            if not {c.number for c in conjuncts(term)} <= known:
                yield self.event_keys[key], self.terms.all_of((taken, term))
        for claim in self._step_claims:
            systems = entry.systems & self.claims[claim].systems
            if systems:
                for key, term in self.step_term(claim, entry.path).events:
                    if key not in self.claims[claim].before:
                        yield self.event_keys[key], self._for_systems(self.terms.all_of((taken, term)), systems)

    def _step_coverer(self, label: Term, events: dict[int, list[Term]]) -> Callable[..., None]:
        emitter = Emitter(self.terms, self.packing)
        emitter.line("events, open_ = tally.events, tally.open")
        rows = self._top_rows()

        def write(emitter: Emitter, rows: Rows) -> None:
            for event, terms in events.items():
                mask = " | ".join(self._mask(emitter, term, rows) for term in dict.fromkeys(terms))
                emitter.line(f"if open_[{event}]:")
                emitter.indented(lambda mask=mask, event=event: self._write_count(emitter, rows, mask, event))  # type: ignore[misc]

        emitter.tree([Leaf(label, write)], rows)
        return emitter.compile("cover", f"{', '.join(rows.words)}, tally", "None")  # type: ignore[return-value]

    def _mask(self, emitter: Emitter, term: Term, rows: Rows) -> str:
        """Return a column of truth values, also for a constant."""
        return (
            emitter.boolean(term, rows)
            if term.constant is None
            else f"({rows.words[0]} {'==' if term.constant else '!='} {rows.words[0]})"
        )

    def _write_count(self, emitter: Emitter, rows: Rows, mask: str, event: int) -> None:
        slot = self._system_slot
        if slot is None:
            emitter.line(f"events[{event}, 0] += ({mask}).sum()")
        else:
            place = self.packing.places[slot]
            word = rows.words[place.word]
            numbers = f"({word}.compress({mask}) >> {place.shift}).view(i8)"
            emitter.line(f"events[{event}] += bincount({numbers}, minlength={len(self.systems)})")

    def _claim_coverer(self, claimed: list[tuple[int, Term, Claim]]) -> Callable[..., None]:
        """Premises of properties of states; those of `step` properties that read only the state before a transition.

        The latter count where there is a transition, which the caller has to find out (`Tally.premises`).
        """
        emitter = Emitter(self.terms, self.packing)
        emitter.line("events, open_ = tally.events, tally.open")
        rows = self._top_rows()
        for event, term, claim in claimed:
            where = self._for_systems(term, claim.systems)
            if where is self.terms.false:
                continue
            mask = self._mask(emitter, where, rows)
            emitter.line(f"if open_[{event}]:")
            if claim.kind is PropertyKind.STEP:
                line = f"tally.premises.append(({event}, ({', '.join(f'{w}.compress({mask})' for w in rows.words)},)))"
                emitter.indented(lambda line=line: emitter.line(line))  # type: ignore[misc]
            else:
                emitter.indented(lambda mask=mask, event=event: self._write_count(emitter, rows, mask, event))  # type: ignore[misc]
        return emitter.compile("cover", f"{', '.join(rows.words)}, tally", "None")  # type: ignore[return-value]

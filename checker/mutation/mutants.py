"""What a mutant is: a protocol changed in one place, by a name that stays the same when something else changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from model.source import Span
from model.specification import Process, Row, Specification, Step, Table

Piece = Step | Row
"""What is elaborated as one: a step, what a crash does, a row of a table."""


class Operator(StrEnum):
    """The ways to break a protocol."""

    DROP_GUARD = "drop-guard"
    NEGATE_GUARD = "negate-guard"
    SKIP_BRANCH = "skip-branch"
    DROP_CONJUNCT = "drop-conjunct"
    DROP_DISJUNCT = "drop-disjunct"
    DROP_FRESH = "drop-fresh"
    SHIFT_BOUNDARY = "shift-boundary"
    DROP_ASSIGNMENT = "drop-assignment"
    SKIP_STEP = "skip-step"
    SWAP_STEPS = "swap-steps"
    MERGE_STEPS = "merge-steps"
    REPLACE_OUTPUT = "replace-output"
    DROP_ROW = "drop-row"


MEANINGS: Mapping[Operator, str] = {
    Operator.DROP_GUARD: "what a `when`, an `if` or a row asks is taken for true",
    Operator.NEGATE_GUARD: "it is asked the other way round",
    Operator.SKIP_BRANCH: "what an `if` asks is taken for false",
    Operator.DROP_CONJUNCT: "a part of an `and` is left out",
    Operator.DROP_DISJUNCT: "a part of an `or`, or an element of `in {…}`, is left out",
    Operator.DROP_FRESH: "`fresh(store)` is taken for true",
    Operator.SHIFT_BOUNDARY: "`<` for `<=`, and numbers one more and one less",
    Operator.DROP_ASSIGNMENT: "an assignment is left out",
    Operator.SKIP_STEP: "a step does nothing",
    Operator.SWAP_STEPS: "a step and the next one change places",
    Operator.MERGE_STEPS: "a step and the next one become one, with no kill point between them",
    Operator.REPLACE_OUTPUT: "a row gives what another row gives",
    Operator.DROP_ROW: "a row is left out",
}


@dataclass(frozen=True, slots=True, eq=False)
class Exchange:
    """Pieces of a specification and what stands in their places; None where nothing does.

    It changes a specification that has all of them, the very same objects.
    """

    pieces: tuple[tuple[Piece, Piece | None], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Mutant:
    """A change of one piece of text.

    `before` and `after` say how it reads, `after` empty where nothing is left. The same text is elaborated once for
    each variant and table in whose surroundings it means something else, hence several exchanges; those of the pieces
    that a specification has are made together.
    """

    id: str
    operator: Operator
    place: str
    span: Span
    before: str
    after: str
    exchanges: tuple[Exchange, ...]

    def applied(self, specification: Specification) -> Specification:
        """Return the specification with the change, or the same object where it does not have the text."""
        present = {id(piece) for piece in pieces_of(specification)}
        made: dict[int, Piece | None] = {}
        for exchange in self.exchanges:
            if all(id(old) in present for old, _ in exchange.pieces):
                made |= {id(old): new for old, new in exchange.pieces}
        if not made:
            return specification
        return replace(
            specification,
            processes={name: _process(process, made) for name, process in specification.processes.items()},
            tables={key: _table(table, made) for key, table in specification.tables.items()},
        )


def pieces_of(specification: Specification) -> list[Piece]:
    """Return every step, every body that a crash runs, and every row, in the order of the file."""
    found: list[Piece] = []
    for table in specification.tables.values():
        found += table.rows
    for process in specification.processes.values():
        for step in process.steps:
            found += [step] if step.torn is None else [step, step.torn]
        found += [] if process.on_crash is None else [process.on_crash]
    return found


def _process(process: Process, made: Mapping[int, Piece | None]) -> Process:
    steps = tuple(_step(step, made) for step in process.steps)
    on_crash = None if process.on_crash is None else _step(process.on_crash, made)
    if on_crash is process.on_crash and all(new is old for new, old in zip(steps, process.steps, strict=True)):
        return process
    return replace(process, steps=steps, on_crash=on_crash)


def _step(step: Step, made: Mapping[int, Piece | None]) -> Step:
    changed = made.get(id(step), step)
    assert isinstance(changed, Step), "a step is exchanged for a step"
    torn = changed.torn if changed.torn is None else made.get(id(changed.torn), changed.torn)
    assert torn is None or isinstance(torn, Step), "what a crash does is exchanged for the like"
    return changed if torn is changed.torn else replace(changed, torn=torn)


def _table(table: Table, made: Mapping[int, Piece | None]) -> Table:
    rows = tuple(made.get(id(row), row) for row in table.rows)
    left = tuple(row for row in rows if isinstance(row, Row))
    return table if all(new is old for new, old in zip(rows, table.rows, strict=True)) else replace(table, rows=left)

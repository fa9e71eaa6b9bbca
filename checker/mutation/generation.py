"""All mutants of a file: what its scenarios run, with one piece of text changed."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from checker.mutation.changes import Change
from checker.mutation.mutants import Exchange, Mutant, Operator, Piece, pieces_of
from checker.mutation.places import Places
from checker.mutation.statements import changes_of_row, changes_of_step
from checker.mutation.structure import structural
from model.source import Source, Span
from model.specification import Specification, Step

PIECE_MAX = 60
"""Characters of text in a name; of a longer one the beginning stands there and a hash of all of it."""


@dataclass(slots=True)
class _Found:
    operator: Operator
    span: Span
    piece: str
    before: str
    after: str
    exchanges: list[Exchange] = field(default_factory=list)


def mutants_of(
    source: Source, specifications: Sequence[Specification], operators: Collection[Operator] = tuple(Operator)
) -> list[Mutant]:
    """Return the mutants of some specifications of one file, in the order of their texts.

    What several specifications have in common is changed in all of them by the same mutant.
    """
    places = Places(source)
    found: dict[Hashable, _Found] = {}
    for operator, span, piece, before, after, exchange in _changes(specifications, places):
        if operator in operators:
            key = (operator, span, piece, after)
            found.setdefault(key, _Found(operator, span, piece, before, after)).exchanges.append(exchange)
    order = {operator: position for position, operator in enumerate(Operator)}
    in_order = sorted(found.values(), key=lambda f: (f.span.line, f.span.column, order[f.operator]))
    return list(_named(in_order, places))


def _changes(
    specifications: Sequence[Specification], places: Places
) -> Iterator[tuple[Operator, Span, str, str, str, Exchange]]:
    known: set[Hashable] = set()
    for specification in specifications:
        for piece in pieces_of(specification):
            if id(piece) not in known:
                known.add(id(piece))
                yield from _inside(piece, places)
        for operator, span, label, before, after, exchange in structural(specification, places):
            pieces = tuple(id(old) for old, _ in exchange.pieces)
            if (operator, label, pieces) not in known:
                known.add((operator, label, pieces))
                yield operator, span, label, before, after, exchange


def _inside(piece: Piece, places: Places) -> Iterator[tuple[Operator, Span, str, str, str, Exchange]]:
    """Yield the changes inside one piece; a text that it has twice, by a definition, is changed in both places."""
    changes = changes_of_step(piece, places) if isinstance(piece, Step) else changes_of_row(piece, places)
    made: dict[Hashable, Change] = {}
    for change in changes:
        made.setdefault(change.key, change)
    for change in made.values():
        exchange = Exchange(((piece, change.made(piece)),))
        yield change.operator, change.span, change.piece, change.before, change.after, exchange


def _named(found: Sequence[_Found], places: Places) -> Iterator[Mutant]:
    taken: dict[str, int] = {}
    for each in found:
        place = places.name(each.span)
        name = f"{place}/{each.operator.value}" + (f"/{_shortened(each.piece)}" if each.piece else "")
        taken[name] = taken.get(name, 0) + 1
        again = f" @{taken[name]}" if taken[name] > 1 else ""
        yield Mutant(name + again, each.operator, place, each.span, each.before, each.after, tuple(each.exchanges))


def _shortened(piece: str) -> str:
    if len(piece) <= PIECE_MAX:
        return piece
    return f"{piece[: PIECE_MAX - 10].rstrip()}… {sha256(piece.encode()).hexdigest()[:6]}"

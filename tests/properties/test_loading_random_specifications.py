"""Random specifications are read, or refused with positions that lie in the file; reading twice gives the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from enum import Enum

from hypothesis import event, given

from model.diagnostics import Diagnostic, Severity, SpecificationError, render
from model.loader import load
from model.source import Source, Span
from model.specification import SpecificationFile
from model.system import TransitionSystem
from tests.strategies.specifications import specifications
from tests.strategies.trying import FILE, claims, misplaced, obeyed, tries

# Of random specifications at most so many hundredths may be refused; otherwise the strategy has lost its grip.
REFUSED_MAX = 5


def read(text: str) -> SpecificationFile | tuple[Diagnostic, ...]:
    try:
        return load(Source(FILE, text))
    except SpecificationError as refusal:
        return refusal.diagnostics


def spans(value: object, seen: set[int]) -> Iterator[Span]:
    """Yield every position inside a value, each object once."""
    if isinstance(value, Span):
        yield value
        return
    if isinstance(value, str | int | Enum | Source) or value is None or id(value) in seen:
        return
    seen.add(id(value))
    if is_dataclass(value):
        for field in fields(value):
            yield from spans(getattr(value, field.name), seen)
    elif isinstance(value, dict):
        yield from spans(tuple(value.values()), seen)
    elif isinstance(value, tuple | list | frozenset):
        for item in value:
            yield from spans(item, seen)


def check_refusal(diagnostics: tuple[Diagnostic, ...], source: Source) -> None:
    """Check that a refusal names an error, that everything it names lies in the file, and that it can be shown."""
    assert any(d.severity is Severity.ERROR for d in diagnostics), "refused without an error"
    for diagnostic in diagnostics:
        places = [diagnostic.span, *(note.span for note in diagnostic.notes)]
        assert [wrong for place in places if place and (wrong := misplaced(place, source))] == [], str(diagnostic)
        shown = render(diagnostic, {source.file: source})
        assert shown.startswith(f"{diagnostic.severity.value}[{diagnostic.code.number}]: ")
        assert shown.endswith("\n")
        assert not obeyed(shown), repr(shown)


@tries(200)
@given(specifications())
def test_a_random_specification_is_read_or_refused_at_a_place_in_the_file(text: str) -> None:
    source = Source(FILE, text)
    outcome = read(text)
    event("refused" if isinstance(outcome, tuple) else "read")

    if isinstance(outcome, tuple):
        check_refusal(outcome, source)
        return
    for claim in claims(outcome):
        try:
            TransitionSystem.of(claim)
        except SpecificationError as refusal:
            event("refused under some parameters")
            check_refusal(refusal.diagnostics, source)


@tries(50)
@given(specifications())
def test_everything_in_a_specification_knows_where_in_the_file_it_stands(text: str) -> None:
    outcome = read(text)
    source = Source(FILE, text)

    assert [wrong for span in spans(outcome, set()) if (wrong := misplaced(span, source))] == []


@tries(50)
@given(specifications())
def test_reading_a_text_twice_gives_the_same(text: str) -> None:
    first, second = read(text), read(text)

    assert comparable(first) == comparable(second)


def comparable(value: object) -> object:
    """Return a value with every object that compares by identity replaced by its parts."""
    if isinstance(value, str | int | Enum | Span) or value is None:
        return value
    if is_dataclass(value):
        return (type(value).__name__, *(comparable(getattr(value, field.name)) for field in fields(value)))
    if isinstance(value, dict):
        return [(key, comparable(item)) for key, item in value.items()]
    if isinstance(value, frozenset):
        return sorted(map(repr, value))
    assert isinstance(value, tuple | list), f"{type(value).__name__} cannot be compared"
    return [comparable(item) for item in value]


def test_nearly_every_random_specification_is_read() -> None:
    outcomes: list[SpecificationFile | tuple[Diagnostic, ...]] = []

    @tries(100)
    @given(specifications())
    def collect(text: str) -> None:
        outcomes.append(read(text))

    collect()
    refused = [outcome for outcome in outcomes if isinstance(outcome, tuple)]

    assert len(refused) * 100 <= REFUSED_MAX * len(outcomes), "\n".join(str(d) for refusal in refused for d in refusal)

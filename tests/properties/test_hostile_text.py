"""Damaged and hostile text is refused with diagnostics that can be shown, and never with any other exception."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from model.diagnostics import Diagnostic, Severity, SpecificationError, render
from model.evaluate import Evaluator
from model.loader import load
from model.source import Source
from model.system import TransitionSystem
from tests.strategies.specifications import specifications
from tests.strategies.trying import FILE, claims, misplaced, obeyed, tries

ROOT = Path(__file__).resolve().parents[2]
BUNDLED = (ROOT / "spec/classics/two_phase_commit.yaml").read_text(encoding="utf-8")

TOKEN = re.compile(r"\w+|[ \t]+|\n *|[^\w\s]")
# What somebody who wants to do harm, or has slipped on the keyboard, might put anywhere.
INTRUDERS = (
    "", " ", "\n", "\t", ":", "- ", "'", '"', "`", "#", "|", ">", "&a ", "*a", "!!int ", "%", "@", "?", "{", "}",
    "[", "]", "(", ")", ",", "..", "null", "~", "true", "yes", "None", "0", "-1", "1.5", "1e3", "0x1F", "0o17",
    "017", "1_000", "9" * 30, "9" * 5_000, "\\", "\\d", "\x1b[31m", "\x00", "\u202e", "é", "\ufb01", "\u03a3",
    "\u2028", "\r", "\x85", "\ufeff", "self", "next(", "fault(", "choose(", "fresh(", "lambda: 0", "[x for x in y]",
    "a.b.c", "a[0][0]", "x := 1", "*x", "f'{x}'", "await x", "if", "else", "and", "not", "in", "is", "== ==",
    "0or 1", "1if 1else 2", ") or (", "counter 2", "counter", "set of ", "nat", "unlimited", "any", "stopped",
    "crash", "of", "at", "default", "(" * 60, "not " * 150, "-" * 150, "a" * 2_000,
)  # fmt: skip


@st.composite
def damaged(draw: st.DrawFn, texts: st.SearchStrategy[str]) -> str:
    """Draw a text and damage it in one to four places: tokens go, come twice, change places, or something intrudes."""
    tokens = TOKEN.findall(draw(texts))
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(tokens) - 1))
        other = draw(st.integers(0, len(tokens) - 1))
        match draw(st.sampled_from(["delete", "double", "swap", "copy", "intrude", "replace", "character"])):
            case "delete":
                tokens[place] = ""
            case "double":
                tokens[place] *= 2
            case "swap":
                tokens[place], tokens[other] = tokens[other], tokens[place]
            case "copy":
                tokens[place] = tokens[other]
            case "intrude":
                tokens[place] += draw(st.sampled_from(INTRUDERS))
            case "replace":
                tokens[place] = draw(st.sampled_from(INTRUDERS))
            case _:
                at = draw(st.integers(0, len(tokens[place])))
                tokens[place] = (
                    tokens[place][:at] + draw(st.characters()) + tokens[place][at + draw(st.integers(0, 1)) :]
                )
    return "".join(tokens)


def check_refused(diagnostics: tuple[Diagnostic, ...], source: Source) -> None:
    assert any(d.severity is Severity.ERROR for d in diagnostics), "refused without an error"
    for diagnostic in diagnostics:
        shown = render(diagnostic, {source.file: source})
        assert not obeyed(shown), repr(shown)
        places = [diagnostic.span, *(note.span for note in diagnostic.notes)]
        assert [wrong for place in places if place and (wrong := misplaced(place, source))] == [], shown


def check_survives(text: str) -> None:
    """Check that a text is refused properly or, where it is read, means something that can take a step."""
    source = Source(FILE, text)
    try:
        file = load(source)
    except SpecificationError as refusal:
        event("refused")
        check_refused(refusal.diagnostics, source)
        return
    event("read")
    for claim in claims(file):
        try:
            system = TransitionSystem.of(claim)
        except SpecificationError as refusal:
            check_refused(refusal.diagnostics, source)
            continue
        # Damage may have made a type so large that running one step takes for ever.
        if all(slot.domain.size < 100 for slot in system.slots) and len(system.slots) < 100:
            for state in system.initial_states:
                list(islice(Evaluator(system).transitions(state), 50))


@tries(400)
@given(damaged(specifications()))
def test_a_damaged_random_specification_is_refused_or_read(text: str) -> None:
    check_survives(text)


@tries(200)
@given(damaged(st.just(BUNDLED)))
def test_a_damaged_bundled_specification_is_refused_or_read(text: str) -> None:
    check_survives(text)


@tries(100)
@given(st.text())
@example("")
@example("language: 1")
@example("[" * 10_000)
@example("a: &a [*a]")
def test_any_text_at_all_is_refused(text: str) -> None:
    with pytest.raises(SpecificationError) as refusal:
        load(Source(FILE, text))

    check_refused(refusal.value.diagnostics, Source(FILE, text))

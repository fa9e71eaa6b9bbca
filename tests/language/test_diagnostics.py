"""Codes, the collector, suggestions, and what a message looks like — also when a file wants it to look otherwise."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import model.codes
from model.codes import Code, Severity, code_of, explanation
from model.diagnostics import (
    LINE_WIDTH_MAX,
    Diagnostic,
    Diagnostics,
    Note,
    SpecificationError,
    did_you_mean,
    nearest,
    quoted,
    render,
    render_segments,
)
from model.limits import DIAGNOSTICS_MAX
from model.source import Source, Span, display_width, visible

EXPLANATIONS = sorted((Path(model.codes.__file__).parent / "explanations").glob("*.md"))


def span(line: int, column: int, end_column: int, *, file: str = "spec/x.yaml", end_line: int | None = None) -> Span:
    return Span(file, line, column, end_line or line, end_column)


def shown(line: str, start: int, end: int) -> str:
    """Render an error at columns `start` to `end` of a one-line file."""
    source = Source("spec/x.yaml", line)
    return render(Diagnostic(Code.UNKNOWN_NAME, "m", span(1, start, end)), {source.file: source})


# --- Codes ---


def test_numbers_are_unique_ascending_and_of_one_form() -> None:
    numbers = [code.number for code in Code]
    assert numbers == sorted(set(numbers))
    assert all(re.fullmatch(r"KP\d{3}", number) for number in numbers)


def test_only_the_nine_hundreds_are_warnings() -> None:
    for code in Code:
        assert (code.severity is Severity.WARNING) == code.number.startswith("KP9")


def test_every_code_has_an_explanation_under_its_number_and_name_and_no_explanation_lacks_a_code() -> None:
    sections = [
        (match[1], match[2], path.stem[2])
        for path in EXPLANATIONS
        for match in re.finditer(r"^## (\S+) (\S+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert sections == [(code.number, code.name, code.number[2]) for code in Code]


@pytest.mark.parametrize("code", Code, ids=lambda code: code.number)
def test_an_explanation_says_something_and_shows_wrong_and_right(code: Code) -> None:
    text = explanation(code)
    assert re.match(r"[A-Z`]", text)
    assert re.search(r"^(# )?wrong", text, re.MULTILINE)
    assert re.search(r"^(# )?right", text, re.MULTILINE)
    assert text.count("```") == 2


def test_the_right_examples_are_yaml_without_errors_of_form() -> None:
    for code in Code:
        block = re.search(r"^# right\n(.*?)^```", explanation(code), re.MULTILINE | re.DOTALL)
        if block is not None:
            assert isinstance(yaml.safe_load(block[1]), dict | str), code.number


@pytest.mark.parametrize("written", ["KP201", "kp201", "201", " KP201 "])
def test_a_code_is_found_by_its_number(written: str) -> None:
    assert code_of(written) is Code.UNKNOWN_NAME


@pytest.mark.parametrize("written", ["", "KP", "KP999", "UNKNOWN_NAME"])
def test_what_is_no_number_of_a_code_finds_none(written: str) -> None:
    assert code_of(written) is None


# --- Spans and sources ---


def test_joined_spans_cover_both() -> None:
    assert span(3, 5, 9).joined(span(2, 7, 8)) == Span("spec/x.yaml", 2, 7, 3, 9)
    assert span(3, 5, 9).joined(span(3, 6, 7)) == span(3, 5, 9)


def test_spans_of_two_files_cannot_be_joined() -> None:
    with pytest.raises(AssertionError):
        span(1, 1, 2).joined(span(1, 1, 2, file="other"))


def test_lines_are_those_that_editors_count() -> None:
    source = Source("x", "a\r\nb\rc\n\nd\x0ce\u2028f\n")
    assert [source.line_text(number) for number in range(8)] == ["", "a", "b", "c", "", "d\x0ce\u2028f", "", ""]


# --- The collector ---


def collected(*places: tuple[Code, Span | None]) -> list[tuple[str, int]]:
    diagnostics = Diagnostics()
    for number, (code, place) in enumerate(places):
        diagnostics.report(code, f"message {number}", place)
    return [(d.message.removeprefix("message "), d.span.line if d.span else 0) for d in diagnostics.sorted()]


ERROR, OTHER, WARNING = Code.UNKNOWN_NAME, Code.TYPE_MISMATCH, Code.NEVER_USED


def test_diagnostics_come_in_the_order_of_the_file_and_those_without_a_place_first() -> None:
    assert collected(
        (ERROR, span(9, 1, 2)), (WARNING, span(2, 5, 6)), (ERROR, span(2, 4, 9)), (ERROR, None)
    ) == [("3", 0), ("2", 2), ("1", 2), ("0", 9)]  # fmt: skip


def test_an_error_that_follows_from_one_at_the_same_place_is_dropped() -> None:
    assert collected((ERROR, span(1, 1, 5)), (OTHER, span(1, 1, 5))) == [("0", 1)]
    assert collected((ERROR, span(1, 1, 5)), (WARNING, span(1, 1, 5))) == [("0", 1)]
    assert collected((ERROR, span(1, 1, 5)), (OTHER, span(1, 1, 4))) == [("0", 1), ("1", 1)]


def test_a_warning_hides_no_error_and_only_its_own_repetition() -> None:
    here = span(1, 1, 5)
    places = [(WARNING, here), (Code.NEVER_ASSIGNED, here), (WARNING, here), (ERROR, here)]
    assert collected(*places) == [("0", 1), ("1", 1), ("3", 1)]


def test_errors_without_a_place_do_not_hide_each_other() -> None:
    assert collected((ERROR, None), (OTHER, None)) == [("0", 0), ("1", 0)]


def test_errors_and_warnings_are_told_apart() -> None:
    diagnostics = Diagnostics()
    diagnostics.report(WARNING, "w", span(1, 1, 2))
    diagnostics.report(ERROR, "e", span(2, 1, 2), label="l", notes=[Note("n")], help="h")
    assert diagnostics.has_errors
    assert [d.message for d in diagnostics.warnings] == ["w"]
    assert diagnostics.errors == (Diagnostic(ERROR, "e", span(2, 1, 2), "l", (Note("n"),), "h"),)
    with pytest.raises(SpecificationError) as raised:
        diagnostics.raise_if_errors()
    assert raised.value.diagnostics == diagnostics.sorted()
    assert str(raised.value) == "spec/x.yaml:1:1: warning[KP906]: w\nspec/x.yaml:2:1: error[KP201]: e"


def test_warnings_alone_refuse_nothing() -> None:
    diagnostics = Diagnostics()
    diagnostics.report(WARNING, "w", span(1, 1, 2))
    diagnostics.raise_if_errors()
    assert not diagnostics.has_errors


def test_of_very_many_errors_the_first_are_kept_and_the_rest_is_counted() -> None:
    diagnostics = Diagnostics()
    for number in range(DIAGNOSTICS_MAX + 7):
        diagnostics.report(WARNING, "w", span(number + 1, 1, 2))
    diagnostics.report(ERROR, "e", span(1, 1, 2))
    assert (len(diagnostics.warnings), len(diagnostics.errors), diagnostics.omitted) == (DIAGNOSTICS_MAX, 1, 7)


# --- Suggestions ---


def test_the_nearest_name_is_suggested_whatever_the_order_of_candidates() -> None:
    assert nearest("atempt", ["run", "attempts", "attempt"]) == "attempt"
    assert nearest("ab_x", ["ab_z", "ab_y"]) == nearest("ab_x", ["ab_y", "ab_z"]) == "ab_y"
    assert nearest("Ledger", ["ledger", "LEDGERS"]) == "ledger"
    assert nearest("wait", ["Wait", "WAIT", "wai"]) == "Wait"
    assert nearest("zebra", ["run", "attempt"]) is None
    assert nearest("x", []) is None


def test_the_help_sentence_names_the_nearest_or_the_few_that_there_are() -> None:
    assert did_you_mean("atempt", ["attempt", "run"]) == "did you mean `attempt`?"
    assert did_you_mean("zebra", iter(["run", "attempt"])) == "known here: `run`, `attempt`"
    assert did_you_mean("zebra", [str(number) for number in range(20)]) == ""
    assert did_you_mean("zebra", []) == ""
    assert did_you_mean("zebra", ["run", "attempt"], known="") == ""


def test_names_that_nobody_would_write_are_not_compared() -> None:
    assert nearest("a" * 60, ["a" * 59]) is not None
    assert nearest("a" * 61, ["a" * 60]) is None
    assert nearest("a" * 60, ["a" * 61]) is None


def test_suggestions_take_no_time_however_many_and_long_the_names_are() -> None:
    started = time.perf_counter()
    nearest("a" * 100_000, ["a" * 100_000] * 1_000)
    nearest("attempt_number", (f"attempt_numbre_{number}" for number in range(1_000_000)))
    assert time.perf_counter() - started < 2


# --- Rendering ---


def test_a_message_shows_the_line_the_carets_and_what_would_help() -> None:
    source = Source("spec/x.yaml", "\n" * 40 + "        atempt += 1\n")
    other = Source("spec/y.yaml", "\n\nvariables: {attempt: 1}\n")
    diagnostic = Diagnostic(
        Code.UNKNOWN_NAME,
        "no variable, parameter or literal is named `atempt`",
        span(41, 9, 15),
        "assigned here",
        (
            Note("it is not a local either"),
            Note("a similar name is declared here", span(3, 13, 20, file="spec/y.yaml")),
        ),
        "did you mean `attempt`?",
    )
    assert render(diagnostic, {source.file: source, other.file: other}) == (
        "error[KP201]: no variable, parameter or literal is named `atempt`\n"
        "  --> spec/x.yaml:41:9\n"
        "   |\n"
        "41 |         atempt += 1\n"
        "   |         ^^^^^^ assigned here\n"
        "   = note: it is not a local either\n"
        "   = note: a similar name is declared here\n"
        "  --> spec/y.yaml:3:13\n"
        "   |\n"
        " 3 | variables: {attempt: 1}\n"
        "   |             ^^^^^^^\n"
        "   = help: did you mean `attempt`?\n"
    )


def test_a_message_without_a_place_is_a_sentence_with_its_help() -> None:
    assert render(Diagnostic(Code.NO_SUCH_CODE, "m", None, help="h"), {}) == "error[KP706]: m\n  = help: h\n"


def test_a_place_in_a_file_that_is_not_at_hand_shows_no_line() -> None:
    assert render(Diagnostic(Code.NEVER_USED, "m", span(7, 1, 2)), {}) == "warning[KP906]: m\n --> spec/x.yaml:7:1\n"


def test_segments_joined_are_the_text_and_say_what_they_are() -> None:
    source = Source("spec/x.yaml", "abc def\n")
    diagnostic = Diagnostic(Code.UNKNOWN_NAME, "m", span(1, 5, 8), "l", (Note("n", span(1, 1, 4)),), "h")
    segments = list(render_segments(diagnostic, {source.file: source}))
    assert "".join(text for _, text in segments) == render(diagnostic, {source.file: source})
    assert ("error", "error[KP201]") in segments
    assert ("caret", "    ^^^") in segments
    assert ("note", "^^^") in segments
    assert {style for style, _ in segments} == {
        "error", "title", "gutter", "location", "source", "caret", "label", "note", "help",
    }  # fmt: skip


def carets(rendered: str) -> str:
    """Return what the carets of a rendered message stand under, by terminal cells."""
    source, marks = (line.partition(" | ")[2] for line in rendered.splitlines()[3:5])
    start, end = marks.index("^"), marks.rindex("^") + 1
    cells = [character for character in source for _ in range(display_width(character))]
    return "".join(dict.fromkeys(cells[start:end]))


@pytest.mark.parametrize(
    "line", ["\t\tab\tX", "漢字 X", "é𝒳e\u0301 X", "a\x1b[31mbX", "a\u202ebX", "\x00\x07X", "\ud800X", "a\x85\u2028X"]  # noqa: RUF001
)  # fmt: skip
def test_carets_stand_under_the_character_whatever_comes_before_it(line: str) -> None:
    assert carets(shown(line, len(line), len(line) + 1)) == "X"


def test_a_span_over_lines_is_marked_to_the_end_of_its_first_line() -> None:
    source = Source("spec/x.yaml", "a: [1,\n 2]\n")
    text = render(Diagnostic(Code.WRONG_SHAPE, "m", span(1, 4, 4, end_line=2)), {source.file: source})
    assert text.endswith("1 | a: [1,\n  |    ^^^\n")


@pytest.mark.parametrize(
    ("start", "end", "before"), [(4, 4, 3), (4, 5, 3), (99, 120, 3), (0, 0, 0), (0, 9, 0), (3, 1, 2)]
)
def test_there_is_always_a_caret_on_or_just_behind_the_line(start: int, end: int, before: int) -> None:
    marks = shown("abc\n", start, end).splitlines()[4].removeprefix("  | ")
    assert marks == " " * before + ("^^^" if end == 9 else "^")


@pytest.mark.parametrize("start", [1, 50, 100, 5_000, 9_990])
def test_a_long_line_is_cut_around_the_caret(start: int) -> None:
    line = "".join(f"{number:<10}" for number in range(1_000))
    text = shown(line, start, start + 3).splitlines()[3].partition(" | ")[2]
    assert len(text) <= LINE_WIDTH_MAX + 2
    assert carets(shown(line, start, start + 3)).strip() == "".join(dict.fromkeys(line[start - 1 : start + 2])).strip()
    assert text.startswith("…") == (start > LINE_WIDTH_MAX - 3)
    assert text.endswith("…") == (start < 9_900)


def test_a_line_of_a_megabyte_is_shown_in_no_time() -> None:
    started = time.perf_counter()
    text = shown("\x1b" * 1_000_000, 500_000, 900_000)
    assert time.perf_counter() - started < 0.5
    assert len(text) < 5_000


@given(text=st.text(), place=st.tuples(st.integers(0, 9), st.integers(0, 99), st.integers(0, 99)))
def test_nothing_that_a_file_says_reaches_the_terminal_unseen(text: str, place: tuple[int, int, int]) -> None:
    where = Span(text, *place[:2], place[0], place[2])
    diagnostic = Diagnostic(Code.UNKNOWN_NAME, text, where, text, (Note(text, where), Note(text)), text)
    rendered = render(diagnostic, {text: Source(text, text)})
    assert visible(rendered.replace("\n", "")) == rendered.replace("\n", "")
    # No line of a message is a file's own: each is a title, a place, a source line or a remark.
    assert all(
        re.match(r"error\[KP201\]: | *--> | *\d* \| ?|  += (note|help): ", line) for line in rendered.splitlines()
    )
    assert visible(str(diagnostic)) == str(diagnostic)


def test_long_names_and_sentences_are_cut() -> None:
    assert quoted("a" * 1_000) == f"`{'a' * 59}…`"
    assert quoted("a" * 60) == f"`{'a' * 60}`"
    assert len(render(Diagnostic(Code.UNKNOWN_NAME, "a" * 1_000_000, None), {})) < 1_100


def test_width_is_counted_in_cells_of_the_terminal() -> None:
    assert [display_width(text) for text in ("ab", "é", "漢字", "e\u0301", "\u3099", "…")] == [2, 1, 4, 1, 0, 1]


def test_text_without_anything_to_hide_stays_as_it_is() -> None:
    for text in ("", "a b", "é漢", "e\u0301"):
        assert visible(text) == text
    assert visible("a\tb\n\x7f\u200b") == "a    b\\n\\x7f\\u200b"

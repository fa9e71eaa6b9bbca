"""Lines of pieces: how they are set, broken, cut and coloured."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.exploration import Progress
from checker.reporting.output import Line, Output, aligned, blank, cells, flowed, one_line, sentence
from checker.reporting.progress import progress_text


def text(line: Line) -> str:
    return "".join(piece for _, piece in line)


def test_items_go_on_in_a_new_line_where_one_does_not_fit() -> None:
    items = sentence("", "one two three four")

    assert [text(line) for line in flowed((("", "> "),), items, width=10, rest=blank(2), gap=" ")] == [
        "> one two",
        "  three",
        "  four",
    ]


def test_an_item_longer_than_a_line_is_broken_between_words() -> None:
    item: Line = (("bad", "one two"), ("", " three"))

    assert [text(line) for line in flowed((), [item], width=8, rest=blank(1))] == ["one two", " three"]


def test_a_line_that_is_too_long_ends_in_an_ellipsis() -> None:
    assert text(one_line((("", "ab"),), [(("", "cdef"),), (("", "ghij"),)], width=10)) == "abcdef  g…"
    assert text(one_line((("", "ab"),), [(("", "cdef"),)], width=6)) == "abcdef"


words = st.lists(st.text(st.characters(codec="utf-8"), max_size=12), max_size=8)


@given(words, words, st.integers(20, 60))
def test_no_word_is_lost_and_no_line_is_too_long_for_its_words(start: list[str], items: list[str], width: int) -> None:
    lines = list(
        flowed(
            tuple(("", w) for w in start[:1]), [(("", item),) for item in items], width=width, rest=blank(2), gap=" "
        )
    )
    joined = "".join(text(line) for line in lines)

    assert "".join(joined.split()) == "".join("".join([*start[:1], *items]).split())
    assert all(
        cells(line) <= max(width, 2 + max((cells([("", w)]) for w in [*start, *items]), default=0)) for line in lines
    )


def test_wide_characters_count_twice() -> None:
    assert cells(aligned((("", "鍵"),), 5)) == 5
    assert text(aligned((("", "鍵"),), 5)) == "鍵   "


@pytest.mark.parametrize("hostile", ["\x1b[31mred", "a\rb", "a\nb", "\u202eright to left", "a\x00"])
def test_nothing_that_is_written_can_move_the_cursor(hostile: str) -> None:
    stream = io.StringIO()
    Output(stream).line(("", hostile))

    assert stream.getvalue().endswith("\n")
    assert stream.getvalue()[:-1].isprintable()


def test_progress_says_layer_states_rate_and_memory() -> None:
    progress = Progress(layer=7, states=1_200_000, transitions=5, frontier=30_000, seconds=2.0)

    assert progress_text(progress, 512 << 20) == "layer 7  1,200,000 states  600,000/s  30,000 to expand  512 MiB"

"""Keys of wide states against Python tuples."""

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.engines import widestates
from checker.engines.visited import States
from checker.engines.widestates import TooManyWords, WideCodec, WordTable

LARGEST = 2**64 - 1
WORD = st.one_of(st.integers(0, 3), st.sampled_from([LARGEST, 2**32, 2**63]), st.integers(0, LARGEST))


def columns(rows: list[tuple[int, ...]], width: int) -> list[States]:
    return [np.array([row[place] for row in rows], np.uint64) for place in range(width)]


def rows_of(words: list[States]) -> list[tuple[int, ...]]:
    return list(zip(*(column.tolist() for column in words), strict=True))


@pytest.mark.parametrize("crowded", [False, True])
@given(st.data())
def test_rows_are_equal_exactly_when_their_keys_are_and_come_back_from_them(crowded: bool, data: st.DataObject) -> None:
    width = data.draw(st.integers(2, 9))
    batches = data.draw(st.lists(st.lists(st.tuples(*[WORD] * width), max_size=30), max_size=4))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(widestates, "_BATCH", 7)
        if crowded:
            patch.setattr(widestates, "scatter", lambda words: np.full(len(words), LARGEST, np.uint64))
        codec = WideCodec(width)
        key_of: dict[tuple[int, ...], int] = {}
        for rows in batches:
            keys = codec.encode(columns(rows, width))
            assert rows_of(codec.decode(keys)) == rows
            for row, key in zip(rows, keys.tolist(), strict=True):
                assert key_of.setdefault(row, key) == key
        assert len(set(key_of.values())) == len(key_of)


def test_many_words_keep_their_numbers_while_the_table_grows() -> None:
    words = np.random.default_rng(1).permutation(np.arange(300_000, dtype=np.uint64) << np.uint64(13))
    table = WordTable()
    first = table.numbers(words[:50_000])
    every = table.numbers(np.concatenate([words, words[::-1]]))
    assert every[:50_000].tolist() == first.tolist()
    assert every[:300_000].tolist() == every[:299_999:-1].tolist()
    assert sorted(every[:300_000].tolist()) == list(range(300_000))
    assert table.words(every[:300_000]).tolist() == words.tolist()
    assert len(table) == 300_000
    assert table.nbytes < 300_000 * 40


def test_threads_get_the_same_key_for_the_same_row() -> None:
    codec = WideCodec(3)
    rows = [np.arange(60_000, dtype=np.uint64) * np.uint64(factor) for factor in (3, 5, 7)]
    keys: list[States] = []
    threads = [threading.Thread(target=lambda: keys.append(codec.encode(rows))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(keys) == 4
    assert all((other == keys[0]).all() for other in keys)
    assert [column.tolist() for column in codec.decode(keys[0])] == [row.tolist() for row in rows]


def test_one_caller_gets_the_same_keys_in_every_run() -> None:
    rows = [np.array([5, 9, 5, 0], np.uint64), np.array([1, 1, 1, LARGEST], np.uint64)]
    assert WideCodec(2).encode(rows).tolist() == WideCodec(2).encode(rows).tolist()


def test_a_table_that_would_overflow_says_so_and_keeps_what_it_has() -> None:
    table = WordTable(3)
    assert sorted(table.numbers(np.array([7, 8, 7], np.uint64)).tolist()) in ([0, 0, 1], [0, 1, 1])
    before = table.numbers(np.array([7, 8], np.uint64)).tolist()
    with pytest.raises(TooManyWords, match="more than 3"):
        table.numbers(np.array([1, 2, 7], np.uint64))
    assert table.numbers(np.array([7, 8], np.uint64)).tolist() == before
    assert len(table) == 2
    assert table.numbers(np.array([9], np.uint64)).tolist() == [2]


def test_words_that_found_no_room_leave_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(widestates, "scatter", lambda words: np.zeros(len(words), np.uint64))
    table = WordTable(2)
    table.numbers(np.array([7, 8], np.uint64))
    for words in ([1, 2, 3, 4, 5], [0]):
        with pytest.raises(TooManyWords):
            table.numbers(np.array(words, np.uint64))


def test_a_full_codec_says_so() -> None:
    with pytest.raises(TooManyWords):
        WideCodec(2, most=10).encode([np.arange(11, dtype=np.uint64)] * 2)


def test_rows_of_another_width_and_codecs_for_one_word_are_refused() -> None:
    with pytest.raises(ValueError, match="expected 3 columns, got 2"):
        WideCodec(3).encode([np.zeros(1, np.uint64)] * 2)
    with pytest.raises(ValueError, match="its own key"):
        WideCodec(1)

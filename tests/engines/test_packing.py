"""Packing is a bijection between digits and words, whatever the sizes."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from checker.backends.columns.packing import SHARED_BITS_MAX, Packing, pack

SIZES = st.lists(st.sampled_from([1, 2, 3, 5, 7, 11, 13, 19, 64, 1100, 5000, 65537, 524289]), min_size=1, max_size=40)


def words_of(packing: Packing, digits: list[int]) -> list[int]:
    words = [0] * packing.words
    for place, digit in zip(packing.places, digits, strict=True):
        words[place.word] += digit * place.weight if place.radix > 1 else 0
    return words


@given(SIZES, st.randoms(use_true_random=False))
def test_every_digit_can_be_read_back(sizes: list[int], chance: random.Random) -> None:
    packing = pack(sizes)
    digits = [chance.choice([0, size - 1, chance.randrange(size)]) for size in sizes]
    words = words_of(packing, digits)

    assert all(0 <= word < 1 << 64 for word in words)
    found = [((words[p.word] >> p.shift) & p.mask) // p.stride % p.radix if p.radix > 1 else 0 for p in packing.places]
    assert found == digits


@given(SIZES)
def test_a_shared_field_leaves_room_for_the_sign(sizes: list[int]) -> None:
    assert all(place.mask.bit_length() <= SHARED_BITS_MAX for place in pack(sizes).places if place.shared)


def test_what_fits_a_word_takes_one() -> None:
    assert pack([2] * 64).words == 1
    assert pack([3] * 40).words == 1
    assert pack([2] * 65).words == 2

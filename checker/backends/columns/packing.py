"""Where each slot of a state stands in 64-bit words.

A slot gets a bit field of its own where all fields fit one word: shifting and masking is the fastest way to read it.
Where they do not fit, slots whose number of values is no power of two share fields in mixed radix, which loses less;
where even that does not fit, the state takes several words. Packing is exact in each case: a bijection between states
and rows of words.
"""

from __future__ import annotations

from dataclasses import dataclass

WORD_BITS = 64
SHARED_BITS_MAX = 63
"""A shared field is divided as a signed number, so that its last bit must stay clear."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a slot stands: `(word >> shift) & mask`, then `// stride % radix` where the field is shared.

    `weight` is what one step of the slot's digit adds to the word. A slot with a single value takes no room.
    """

    word: int
    shift: int
    mask: int
    stride: int
    radix: int
    shared: bool

    @property
    def weight(self) -> int:
        """What is added to the word when the digit grows by one."""
        return self.stride << self.shift

    @property
    def field(self) -> int:
        """The bits of the field, in place."""
        return self.mask << self.shift


@dataclass(frozen=True, slots=True)
class Packing:
    """The places of all slots, and the number of words of a state."""

    places: tuple[Place, ...]
    words: int


def pack(sizes: list[int]) -> Packing:
    """Lay out slots with these numbers of values, the first one least significant.

    Slots next to each other stay next to each other, so that what belongs together changes together.
    """
    single = _pack_words([_fields_of_one(sizes)], sizes)
    if single is not None:
        return single
    shared = _pack_words([_shared_fields(sizes, list(range(len(sizes))))], sizes)
    if shared is not None:
        return shared
    return _several_words(sizes)


_Field = list[int]
"""The slots that share a field, the first one with stride 1."""


def _bits(field: _Field, sizes: list[int]) -> int:
    product = 1
    for slot in field:
        product *= sizes[slot]
    return (product - 1).bit_length()


def _fields_of_one(sizes: list[int]) -> list[_Field]:
    return [[slot] for slot in range(len(sizes))]


def _shared_fields(sizes: list[int], slots: list[int]) -> list[_Field]:
    """Put slots together until they fit a word, each time the pair that saves a bit for the least arithmetic.

    Slots whose size is a power of two lose nothing on their own. What remains of a field that is already shared is
    shared further only where no fresh pair saves a bit.
    """
    fields = [[slot] for slot in slots]

    def total() -> int:
        return sum(_bits(f, sizes) for f in fields)

    while total() > WORD_BITS:
        best: tuple[int, int, int, int] | None = None
        for i, left in enumerate(fields):
            for j in range(i + 1, min(i + 9, len(fields))):
                joined = left + fields[j]
                if _bits(joined, sizes) > SHARED_BITS_MAX:
                    continue
                saved = _bits(left, sizes) + _bits(fields[j], sizes) - _bits(joined, sizes)
                if saved > 0 and (best is None or (len(joined), -saved) < best[:2]):
                    best = (len(joined), -saved, i, j)
        if best is None:
            return _fields_by_triples(fields, sizes)
        _, _, i, j = best
        fields[i] = fields[i] + fields.pop(j)
    return fields


def _fields_by_triples(fields: list[_Field], sizes: list[int]) -> list[_Field]:
    """Join neighbours regardless of what a single pair saves: several together may still save a bit."""
    while sum(_bits(f, sizes) for f in fields) > WORD_BITS and len(fields) > 1:
        uneven = [i for i, f in enumerate(fields) if len(f) > 1 or sizes[f[0]] & (sizes[f[0]] - 1)]
        if len(uneven) < 2:
            return fields
        i, j = uneven[0], uneven[1]
        if _bits(fields[i] + fields[j], sizes) > SHARED_BITS_MAX:
            return fields
        fields[i] = fields[i] + fields.pop(j)
    return fields


def _pack_words(words: list[list[_Field]], sizes: list[int]) -> Packing | None:
    places: list[Place | None] = [None] * len(sizes)
    for number, fields in enumerate(words):
        shift = 0
        for field in fields:
            bits = _bits(field, sizes)
            mask = (1 << bits) - 1
            stride = 1
            for slot in field:
                places[slot] = Place(number, shift, mask, stride, sizes[slot], len(field) > 1)
                stride *= sizes[slot]
            shift += bits
        if shift > WORD_BITS:
            return None
    done = [place for place in places if place is not None]
    assert len(done) == len(sizes)
    return Packing(tuple(done), len(words))


def _several_words(sizes: list[int]) -> Packing:
    """Fill words with fields in order, about equally, so that each word has few distinct values."""
    bits = [_bits([slot], sizes) for slot in range(len(sizes))]
    count = max(2, -(-sum(bits) // WORD_BITS))
    while True:
        goal = -(-sum(bits) // count)
        words: list[list[_Field]] = [[]]
        filled = 0
        for slot, width in enumerate(bits):
            if words[-1] and (filled + width > WORD_BITS or (filled >= goal and len(words) < count)):
                words.append([])
                filled = 0
            words[-1].append([slot])
            filled += width
        packed = _pack_words(words, sizes)
        assert packed is not None
        return packed

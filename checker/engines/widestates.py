"""States wider than 64 bits, each under a key of 64 bits that stands for it exactly ("tree compression").

A wide state is a row of words. Every distinct word of a column gets a number below 2**32; two numbers side by side make
a word again, and so on up a balanced tree, until two numbers are left: the key. Rows share their parts, so the tables
stay far smaller than the set of states. After Laarman, van de Pol and Weber, Parallel Recursive State Compression for
Free (SPIN 2011), with numbers in place of table positions.
"""

from collections.abc import Sequence
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from checker.engines.visited import States, scatter

Numbers = NDArray[np.uint32]

_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_MOST = (1 << 32) - 1  # slots hold number + 1, with 0 for an empty slot
_BATCH = 1 << 15


class TooManyWords(Exception):
    """A table is full: the states do not fit into 64-bit keys."""


class WordTable:
    """Numbers distinct words 0, 1, 2, … in the order of arrival, exactly. Safe to use from several threads."""

    def __init__(self, most: int = _MOST) -> None:
        """Make an empty table for at most ``most`` words."""
        self._most = most
        self._lock = Lock()
        self._count = 0
        self._words = np.zeros(1 << 10, np.uint64)
        self._slots = np.zeros(1 << 12, np.uint32)

    def __len__(self) -> int:
        return self._count

    @property
    def nbytes(self) -> int:
        """Return the size of the table."""
        return self._words.nbytes + self._slots.nbytes

    def numbers(self, words: States) -> Numbers:
        """Return the number of each word; words not met before are given one. Raises TooManyWords."""
        result = np.empty(len(words), np.uint32)
        with self._lock:
            for start in range(0, len(words), _BATCH):
                batch = words[start : start + _BATCH]
                self._reserve(len(batch))
                self._probe(batch, result[start : start + _BATCH])
        return result

    def words(self, numbers: Numbers) -> States:
        """Return the words behind numbers that this table gave out."""
        # Without the lock: words are never moved within an array, and an outgrown array stays right for old numbers.
        return self._words.take(numbers)

    def _home(self, words: States) -> NDArray[np.int64]:
        hashes = scatter(words)
        hashes >>= _HALF
        hashes *= np.uint64(len(self._slots))
        hashes >>= _HALF
        return hashes.view(np.int64)

    def _probe(self, words: States, result: Numbers) -> None:
        """Walk the chains of all words in step (linear probing) and fill ``result``, numbering words not found."""
        slots = self._slots
        slot = self._home(words)
        asked = np.arange(len(words))
        while len(words):
            held = slots.take(slot)
            vacant = (held == 0).nonzero()[0]
            if len(vacant):
                held[vacant] = self._claim(slot.take(vacant), words.take(vacant))
            held -= np.uint32(1)
            same = self._words.take(held) == words
            result[asked.compress(same)] = held.compress(same)
            onward = (~same).nonzero()[0]
            asked, words, slot = asked.take(onward), words.take(onward), slot.take(onward)
            slot += 1
            slot[slot == len(slots)] = 0

    def _claim(self, slot: NDArray[np.int64], words: States) -> Numbers:
        """Give numbers to words at empty slots, some of them at the same slot; return what each finds there then."""
        # Everybody writes its position. Of those who meet in a slot, one reads its own back, and is the one to move in.
        position = np.arange(len(slot), dtype=np.uint32)
        self._slots[slot] = position
        won = self._slots.take(slot) == position
        slots, fresh = slot.compress(won), words.compress(won)
        count = self._count + len(fresh)
        if count > self._most:
            self._slots[slots] = 0
            raise TooManyWords(f"more than {self._most} different words in one column of the wide states")
        self._words[self._count : count] = fresh
        self._slots[slots] = np.arange(self._count + 1, count + 1, dtype=np.uint32)
        self._count = count
        return self._slots.take(slot)

    def _reserve(self, extra: int) -> None:
        """Make room for ``extra`` more words, at most half of the slots being used."""
        needed = self._count + extra
        if needed > len(self._words):
            words = np.zeros(max(needed, len(self._words) * 3 // 2), np.uint64)
            words[: self._count] = self._words[: self._count]
            self._words = words
        if needed * 2 > len(self._slots):
            self._slots = np.zeros(needed * 4, np.uint32)
            self._reinsert()

    def _reinsert(self) -> None:
        """Fill fresh slots with the numbers of all words, which are distinct."""
        for start in range(0, self._count, _BATCH):
            number = np.arange(start + 1, min(start + _BATCH, self._count) + 1, dtype=np.uint32)
            slot = self._home(self._words[start : start + len(number)])
            while len(number):
                vacant = (self._slots.take(slot) == 0).nonzero()[0]
                self._slots[slot.take(vacant)] = number.take(vacant)
                onward = (self._slots.take(slot) != number).nonzero()[0]
                number, slot = number.take(onward), slot.take(onward)
                slot += 1
                slot[slot == len(self._slots)] = 0


class WideCodec:
    """Translates between rows of two words or more and keys.

    Equal rows have equal keys and different rows different ones, for as long as the codec lives. Which key a row gets
    depends on the order of arrival: with several workers keys may differ from run to run, so compare and print rows,
    never keys. (Numbers fixed in advance would need all words in advance; numbering a layer's new words at its end, in
    sorted order, would hold every new row in full until then.)
    """

    def __init__(self, width: int, most: int = _MOST) -> None:
        """Make a codec for rows of ``width`` words, with tables of at most ``most`` words."""
        if width < 2:
            raise ValueError("a state of one word is its own key")
        self._width = width
        self._levels: list[list[WordTable]] = []
        while width > 2:
            self._levels.append([WordTable(most) for _ in range(width)])
            width = -(-width // 2)
        self._levels.append([WordTable(most) for _ in range(2)])

    def encode(self, columns: Sequence[States]) -> States:
        """Return the keys of rows given as one array per word. Raises TooManyWords. Safe from several threads."""
        if len(columns) != self._width:
            raise ValueError(f"expected {self._width} columns, got {len(columns)}")
        row = list(columns)
        for level in self._levels:
            numbers = [table.numbers(column).astype(np.uint64) for table, column in zip(level, row, strict=True)]
            row = [(left << _HALF) | right for left, right in zip(numbers[::2], numbers[1::2], strict=False)]
            row += numbers[len(row) * 2 :]  # of an odd number of columns the last goes up alone
        return row[0]

    def decode(self, keys: States) -> list[States]:
        """Return the rows behind keys that this codec made, one array per word."""
        row = [keys]
        for level in reversed(self._levels):
            numbers: list[States] = []
            for place, column in enumerate(row):
                alone = 2 * place + 1 == len(level)
                numbers += [column] if alone else [column >> _HALF, column & _LOW]
            row = [table.words(number.astype(np.uint32)) for table, number in zip(level, numbers, strict=True)]
        return row

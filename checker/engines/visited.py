"""Exact set of packed states, for breadth-first search in columns.

A state is one ``uint64``. The set is an open-addressing hash table with probing whose steps are NumPy gathers
and scatters over whole batches. It holds the states themselves and no fingerprints, so membership is exact.

The table is cut into shards by the leading bits of the hash. A shard is only touched under its lock, so several
workers can insert at once, and shards grow at different times: there are two copies of one shard, never of the set.
"""

from threading import Lock

import numpy as np
from numpy.typing import NDArray

States = NDArray[np.uint64]
Mask = NDArray[np.bool_]
Slots = NDArray[np.int64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # Fibonacci hashing: Knuth, The Art of Computer Programming 3, 6.4
_HALF = np.uint64(32)
_EMPTY = np.uint64(0)
_BATCH = 1 << 17  # states inserted at a time; long array operations make workers wait less for the interpreter lock

_SHARD_BITS = 3
_SPLIT_AT = 1 << 17  # states; a smaller set is one shard, which costs the fewest NumPy calls
_ROOMY_SLOTS = 1 << 19  # a table up to this size (4 MB) is kept nearly empty: chains are short, probing rounds few
_ROOMY_LOAD = 0.25
_FIRST_SLOTS = 1 << 12
_LOAD = 0.75
_GROWTH = 2.0
_LINEAR_FROM = 64  # less than the smallest table


def scatter(states: States) -> States:
    """Hash states to 64 bits, of which the leading ones are the good ones."""
    mixed = states >> _HALF
    mixed ^= states
    mixed *= _GOLDEN
    return mixed


class SeenFilter:
    """Drops most repetitions before they reach the set: a direct-mapped cache of the states that passed lately.

    Only a state equal to one that passed before is dropped, so whoever inserts everything that passes loses nothing.
    A filter belongs to one worker.
    """

    __slots__ = ("_cache", "_shift")

    def __init__(self, bits: int) -> None:
        """Make room for ``2**bits`` states."""
        self._shift = np.uint64(64 - bits)
        self._cache = np.zeros(1 << bits, np.uint64)
        self._cache[0] = 1  # state 0 belongs here and has not passed; 1 belongs elsewhere, so it equals nothing asked

    def __call__(self, states: States) -> States:
        """Return some of ``states``, among them at least one copy of each that has not passed before."""
        index = scatter(states)
        index >>= self._shift
        slot = index.view(np.int64)
        fresh = self._cache.take(slot, mode="wrap") != states
        states = states.compress(fresh)
        self._cache[slot.compress(fresh)] = states
        return states


class _Shard:
    """One hash table. A slot with 0 is empty; state 0 itself is remembered beside the table."""

    __slots__ = ("_has_zero", "_prefix", "_table", "count", "lock")

    def __init__(self, prefix: int, slots: int) -> None:
        """Make an empty table for hashes that share their ``prefix`` leading bits."""
        self.lock = Lock()
        self.count = 0
        self._prefix = np.uint64(prefix)
        self._has_zero = False
        self._table = np.zeros(slots, np.uint64)

    @property
    def nbytes(self) -> int:
        return self._table.nbytes

    def members(self) -> States:
        """Return all states, in no particular order."""
        states = self._table.compress(self._table != _EMPTY)
        return np.append(states, np.uint64(0)) if self._has_zero else states

    def contains(self, states: States) -> Mask:
        """Return for each state whether it is a member."""
        answer = np.zeros(len(states), np.bool_)
        if self._has_zero:
            np.equal(states, _EMPTY, out=answer)
        asked = states.nonzero()[0]
        states = states.take(asked)
        slot = self._home(states)
        step = 0
        while len(states):
            step += 1
            content = self._table.take(slot)
            answer[asked.compress(content == states)] = True
            onward = ((content != states) & (content != _EMPTY)).nonzero()[0]
            asked, states = asked.take(onward), states.take(onward)
            slot = self._next(slot.take(onward), step)
        return answer

    def insert(self, states: States) -> States:
        """Insert states, possibly repeated; return those that were new, each once."""
        fresh: list[States] = []
        done = 0
        for start in range(0, len(states), _BATCH):
            batch = states[start : start + _BATCH]
            self._reserve(len(batch))
            if not batch.all():  # somewhere a 0, which looks like an empty slot and must not reach the table
                if not self._has_zero:
                    self._has_zero = True
                    fresh.append(np.zeros(1, np.uint64))
                batch = batch.compress(batch != _EMPTY)
            self._probe(batch, fresh)
            self.count += sum(map(len, fresh[done:]))
            done = len(fresh)
        return fresh[0] if len(fresh) == 1 else np.concatenate(fresh or [states[:0]])

    def _home(self, states: States) -> Slots:
        """Return the slot where a state's chain begins: the hash after its prefix, scaled to the size of the table."""
        hashes = scatter(states)
        hashes <<= self._prefix
        hashes >>= _HALF
        hashes *= np.uint64(len(self._table))
        hashes >>= _HALF
        return hashes.view(np.int64)

    def _next(self, slot: Slots, step: int) -> Slots:
        """Move to the next slot of the chain, in place.

        The distances 1, 2, 3, … keep chains shorter than linear probing would; from a point on all are 1, so that a
        chain comes by every slot whatever the size of the table.
        """
        slot += step if step < _LINEAR_FROM else 1
        slot[slot >= len(self._table)] -= len(self._table)
        return slot

    def _probe(self, states: States, fresh: list[States]) -> None:
        """Walk the chains of all states in step, and put each state met by an empty slot there."""
        table = self._table
        slot = self._home(states)
        step = 0
        while True:
            step += 1
            content = table.take(slot)
            vacant = (content == _EMPTY).nonzero()[0]
            if len(vacant):
                content[vacant], new = _claim(table, slot.take(vacant), states.take(vacant))
                fresh.append(new)
            # Who sees its own state is done: it was a member, or it or its double has just become one.
            onward = (content != states).nonzero()[0]
            if not len(onward):
                return
            states = states.take(onward)
            slot = self._next(slot.take(onward), step)

    def _reserve(self, extra: int) -> None:
        """Keep the table sparse enough for ``extra`` more states; a full one would probe for ever."""
        slots = len(self._table)
        needed = self.count + extra
        if needed <= slots * (_ROOMY_LOAD if slots <= _ROOMY_SLOTS else _LOAD):
            return
        old = self._table
        slots = int(needed / _ROOMY_LOAD * 2)
        if slots > _ROOMY_SLOTS:
            slots = max(int(len(old) * _GROWTH), int(needed / _LOAD) + 1, _ROOMY_SLOTS + 1)
        self._table = np.zeros(slots, np.uint64)
        for start in range(0, len(old), _BATCH):
            part = old[start : start + _BATCH]
            self._probe(part.compress(part != _EMPTY), [])


class VisitedSet:
    """The states seen so far. ``insert`` may be called by several workers at once; all else wants them at rest.

    After an exception out of ``insert`` (an interrupt, no memory) the set is not to be used any more.
    """

    __slots__ = ("_shards",)

    def __init__(self) -> None:
        """Make an empty set."""
        self._shards = [_Shard(0, _FIRST_SLOTS)]

    def __len__(self) -> int:
        return sum(shard.count for shard in self._shards)

    @property
    def nbytes(self) -> int:
        """Return the size of the tables."""
        return sum(shard.nbytes for shard in self._shards)

    def contains(self, states: States) -> Mask:
        """Return for each state whether it is in the set."""
        if len(self._shards) == 1:
            return self._shards[0].contains(states)
        answer = np.empty(len(states), np.bool_)
        order, bounds = self._by_shard(states)
        for number, shard in enumerate(self._shards):
            mine = order[bounds[number] : bounds[number + 1]]
            answer[mine] = shard.contains(states.take(mine))
        return answer

    def insert(self, states: States, turn: int = 0) -> list[States]:
        """Insert states, possibly repeated; return arrays that contain, in no particular order, each new one once.

        When several workers insert the same state, exactly one of them is told that it was new. Workers should give
        different ``turn``s, which keeps them from queueing at the same shard.
        """
        if len(self._shards) == 1:
            with self._shards[0].lock:
                return [self._shards[0].insert(states)]
        order, bounds = self._by_shard(states)
        states = states.take(order)
        fresh = []
        for step in range(len(self._shards)):
            number = (5 * turn + step) % len(self._shards)  # 5: the first few workers begin far apart
            shard = self._shards[number]
            with shard.lock:
                fresh.append(shard.insert(states[bounds[number] : bounds[number + 1]]))
        return fresh

    def settle(self) -> None:
        """Cut a set that has become large into shards. Call it when no worker is inserting."""
        if len(self._shards) > 1 or len(self) < _SPLIT_AT:
            return
        whole = self._shards[0]
        number = 1 << _SHARD_BITS
        # Sizes are staggered, so that shards that fill at the same rate do not grow at the same time.
        slots = [int(_SPLIT_AT / _ROOMY_LOAD / number * _GROWTH ** (shard / number)) for shard in range(number)]
        self._shards = [_Shard(_SHARD_BITS, size) for size in slots]
        self.insert(whole.members())

    def _by_shard(self, states: States) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the order that groups states by shard, and where in it each shard begins and the last one ends."""
        hashes = scatter(states)
        hashes >>= np.uint64(64 - _SHARD_BITS)
        number = hashes.astype(np.uint8)
        bounds = np.zeros(len(self._shards) + 1, np.intp)
        np.cumsum(np.bincount(number, minlength=len(self._shards)), out=bounds[1:])
        return number.argsort(kind="stable"), bounds


def _claim(table: States, slot: Slots, states: States) -> tuple[States, States]:
    """Write states into empty slots, several of which may be the same slot; return what each finds there, and the new.

    Everybody first writes its number. Of those who meet in a slot, equal states or not, exactly one reads its own
    number back, and that one moves in.
    """
    number = np.arange(len(slot), dtype=np.uint64)
    table[slot] = number
    winner = table.take(slot)
    won = winner == number
    new = states.compress(won)
    table[slot.compress(won)] = new
    return states.take(winner.view(np.int64)), new

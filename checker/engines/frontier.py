"""Breadth-first exploration in layers, over columns of packed states.

The transition relation is one pure function from an array of states to arrays of successors. A layer is expanded in
chunks by several threads (NumPy releases the interpreter lock); each worker drops what it has just seen and inserts the
rest into the shared set, which tells it what was new. What was new in a layer is, sorted, the next layer: as a set it
does not depend on who inserted first, so layers are the same for any number of workers and any size of chunk.
"""

import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from threading import Event, Lock
from typing import IO, Protocol, Self

import numpy as np

from checker.engines.visited import SeenFilter, States, VisitedSet

_FILTER_BITS = 20  # 8 MB a worker
_SLICE = 1 << 16  # successors filtered at a time: a later slice sees the repetitions of the earlier ones
_CHUNK_SUCCESSORS = 1 << 20  # a chunk is as many states as are expected to have about so many successors
_CHUNK_MAX = 1 << 17
_SHARED_LAYER = 1 << 13  # states; a smaller layer is expanded by the calling thread alone, which is faster
_FILTERED = 1 << 14  # successors; fewer of them go straight to the set


class Expand(Protocol):
    """The transition relation over packed states."""

    def __call__(self, states: States) -> list[States]:
        """Return arrays that together contain one entry for every transition out of ``states``: its successor.

        Pure, and called from several threads at once. The arrays may be views, of any order and length.
        """
        ...


@dataclass(frozen=True, slots=True)
class Layer:
    """The states first reached after ``depth`` steps: sorted, each once, not to be written to."""

    depth: int
    states: States


class LayerStore:
    """The layers by depth: the youngest in memory up to a budget, older ones in a temporary file without a name.

    Feed it as, or from, ``on_layer``; a trace is found by walking the layers back. Not for use by several threads.
    """

    def __init__(self, budget: int) -> None:
        """Keep at most ``budget`` bytes of layers in memory; a single layer that is larger goes to the file."""
        self._budget = budget
        self._held: dict[int, States] = {}
        self._sizes: list[int] = []
        self._file: IO[bytes] | None = None
        self._offsets: list[int] = []
        self.nbytes = 0
        self.spilled_bytes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self._sizes)

    def append(self, states: States) -> None:
        """Add the next layer, which must not be written to afterwards. Raises OSError when the disk is full."""
        self._held[len(self._sizes)] = states
        self._sizes.append(len(states))
        self.nbytes += states.nbytes
        while self.nbytes > self._budget:
            self._spill()

    def __getitem__(self, depth: int) -> States:
        """Return a layer, from memory or from the file."""
        if depth in self._held:
            return self._held[depth]
        if not 0 <= depth < len(self._offsets) or self._file is None:
            raise IndexError(f"no layer at depth {depth}")
        self._file.seek(self._offsets[depth])
        states = np.fromfile(self._file, np.uint64, self._sizes[depth])
        if len(states) != self._sizes[depth]:
            raise OSError(f"the layer at depth {depth} could not be read back")
        return states

    def close(self) -> None:
        """Forget all layers and give the disk space back."""
        self._held.clear()
        self._sizes.clear()
        self._offsets.clear()
        self.nbytes = self.spilled_bytes = 0
        if self._file is not None:
            self._file.close()
            self._file = None

    def _spill(self) -> None:
        """Move the oldest layer in memory to the file; layers are spilled in order, so offsets are by depth."""
        depth = len(self._offsets)
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="killpoint-layers-")  # noqa: SIM115 - closed by close()
        self._file.seek(self.spilled_bytes)
        self._held[depth].tofile(self._file)
        self._offsets.append(self.spilled_bytes)
        size = self._held.pop(depth).nbytes
        self.spilled_bytes += size
        self.nbytes -= size


@dataclass(frozen=True, slots=True)
class Limits:
    """When to give up: with more than ``states`` states, or when ``stop`` (polled between chunks) returns true."""

    states: int | None = None
    stop: Callable[[], bool] | None = None


@dataclass(frozen=True, slots=True)
class Exploration:
    """What was explored.

    ``states`` and ``layers`` count what ``on_layer`` was given, ``transitions`` those out of the layers that were
    expanded entirely. Only with ``complete`` are these all there are; else ``cut`` says which limit was met.
    """

    states: int
    transitions: int
    layers: int
    complete: bool
    cut: str | None


def explore(
    initial: States,
    expand: Expand,
    *,
    workers: int = 1,
    on_layer: Callable[[Layer], None] | None = None,
    limits: Limits = Limits(),
    chunk: int | None = None,
) -> Exploration:
    """Explore all states reachable from ``initial`` (any order, repetitions allowed), layer by layer.

    ``on_layer`` is called in the calling thread with each layer before it is expanded. ``chunk`` fixes the number of
    states expanded at a time. An exception from ``expand`` or ``on_layer`` ends the exploration and is passed on.
    """
    if workers < 1:
        raise ValueError("an exploration needs at least one worker")
    with _Search(expand, workers, limits, chunk) as search:
        return search.run(np.unique(initial.astype(np.uint64)), on_layer)


class _Search:
    """One exploration under way."""

    def __init__(self, expand: Expand, workers: int, limits: Limits, chunk: int | None) -> None:
        self._expand = expand
        self._workers = workers
        self._limits = limits
        self._chunk = chunk
        self._visited = VisitedSet()
        self._filters: list[SeenFilter | None] = [None] * workers
        self._pool: ThreadPoolExecutor | None = None
        self._fanout = 8.0  # successors a state, as seen so far
        self._cut: str | None = None
        self._halt = Event()
        self._next_chunk = Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._halt.set()
        if self._pool is not None:
            self._pool.shutdown()

    def run(self, layer: States, on_layer: Callable[[Layer], None] | None) -> Exploration:
        self._visited.insert(layer)
        states = transitions = depth = 0
        while len(layer) and not self._over_limit():
            layer.setflags(write=False)
            if on_layer is not None:
                on_layer(Layer(depth, layer))
            states += len(layer)
            depth += 1
            fresh, fired = self._step(layer)
            # Asked again, so that it makes no difference whether the limit was noticed within the layer or only now.
            if self._cut is not None or self._over_limit():
                break
            transitions += fired
            self._fanout = max(1.0, fired / len(layer))
            layer = self._sorted(fresh)
            self._visited.settle()
        return Exploration(states, transitions, depth, self._cut is None, self._cut)

    def _over_limit(self) -> bool:
        """Poll the limits; only the calling thread does."""
        if self._limits.states is not None and len(self._visited) > self._limits.states:
            self._cut = "states"
        elif self._limits.stop is not None and self._limits.stop():
            self._cut = "stop"
        return self._cut is not None

    def _step(self, layer: States) -> tuple[list[States], int]:
        """Expand a layer; return arrays of what was new, and the number of transitions."""
        if self._workers == 1 or len(layer) < _SHARED_LAYER:
            return self._work(0, self._chunks(layer))
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._workers - 1, thread_name_prefix="explore")
        chunks = self._chunks(layer)
        others = [self._pool.submit(self._work, worker, chunks) for worker in range(1, self._workers)]
        fresh, fired = self._work(0, chunks)
        for other in others:
            more, count = other.result()
            fresh += more
            fired += count
        return fresh, fired

    def _chunks(self, layer: States) -> Iterator[States]:
        size = self._chunk or max(1, min(_CHUNK_MAX, int(_CHUNK_SUCCESSORS / self._fanout)))
        if len(layer) >= _SHARED_LAYER:
            size = min(size, self._chunk or -(-len(layer) // (2 * self._workers)))
        return (layer[start : start + size] for start in range(0, len(layer), size))

    def _work(self, worker: int, chunks: Iterator[States]) -> tuple[list[States], int]:
        """Expand chunks until none is left: what one worker does in a layer."""
        fresh: list[States] = []
        fired = 0
        try:
            while not self._halt.is_set():
                with self._next_chunk:
                    states = next(chunks, None)
                if states is None:
                    break
                successors = self._expand(states)
                count = sum(map(len, successors))
                if count:
                    fresh += self._visited.insert(self._thinned(worker, successors, count), worker)
                    fired += count
                if worker == 0 and self._over_limit():
                    self._halt.set()
        except BaseException:
            self._halt.set()  # the others need not finish the layer
            raise
        return fresh, fired

    def _thinned(self, worker: int, successors: list[States], count: int) -> States:
        """Return the successors in one array, without most of their repetitions."""
        flat = np.concatenate(successors)
        if count < _FILTERED:
            return flat
        seen = self._filters[worker]
        if seen is None:
            seen = self._filters[worker] = SeenFilter(_FILTER_BITS)
        return np.concatenate([seen(flat[start : start + _SLICE]) for start in range(0, count, _SLICE)])

    def _sorted(self, parts: list[States]) -> States:
        """Return all of ``parts``, which share no state, as one sorted array."""
        states = np.concatenate(parts) if parts else np.zeros(0, np.uint64)
        parts.clear()
        if self._pool is None or len(states) < _SHARED_LAYER:
            states.sort()
            return states
        # Cut by value into one part for each worker; the parts, sorted, follow one another.
        sample = np.sort(states[:: max(1, len(states) // 1024)])
        cuts = [int(sample[len(sample) * part // self._workers]) for part in range(1, self._workers)]
        ranges = list(pairwise([0, *cuts, 1 << 64]))
        others = [self._pool.submit(_sorted_between, states, low, high) for low, high in ranges[1:]]
        first = _sorted_between(states, *ranges[0])
        return np.concatenate([first, *(other.result() for other in others)])


def _sorted_between(states: States, low: int, high: int) -> States:
    """Return, sorted, the states from ``low`` to below ``high``."""
    if low == high:
        return states[:0]
    part = states.compress((states >= np.uint64(low)) & (states <= np.uint64(high - 1)))
    part.sort()
    return part

"""The reachable states of one system, as an array: what a certificate is made of.

The same generated transition relation and the same search as in `checker.engines.columnar`, without looking for
anything.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from checker.backends.columns.program import Program, Tally, Words
from checker.backends.columns.translation import Translation
from checker.engines import frontier
from checker.engines.widestates import WideCodec
from checker.exploration import Limits
from model.system import TransitionSystem


class CutShort(Exception):
    """A limit was met before all states were known; the message says which."""


def reachable_states(system: TransitionSystem, limits: Limits) -> NDArray[np.integer]:
    """Return for each reachable state, layer by layer, and each slot the position of its value in the slot's domain.

    One thread does it, so that wide states too come in the same order each time.

    Raises:
        CutShort: there are more states than allowed, or time is up.
        SpecificationError: a limit of the language is met in translation.
    """
    program = Program(Translation([system], ()), [0])
    codec = WideCodec(program.packing.words) if program.wide else None
    expander = program.expander()
    layers: list[NDArray[np.integer]] = []
    known = 0

    def keys_of(columns: tuple[Words, ...]) -> Words:
        return columns[0] if codec is None else codec.encode(columns)

    def words_of(keys: Words) -> tuple[Words, ...]:
        return (keys,) if codec is None else tuple(codec.decode(keys))

    def expand(states: Words) -> list[Words]:
        tally = Tally(np.zeros((max(1, len(program.entries)), 1), np.int64), np.zeros((1, 1), np.int64))
        return [keys_of(columns) for _, _, columns in expander(*words_of(states), None, tally)]

    def on_layer(layer: frontier.Layer) -> None:
        nonlocal known
        known += len(layer.states)
        layers.append(program.positions(words_of(layer.states)))

    starts = [program.encode(0, state) for state in system.initial_states]
    initial = tuple(np.array(column, np.uint64) for column in zip(*starts, strict=True))
    outcome = frontier.explore(
        keys_of(initial),
        expand,
        on_layer=on_layer,
        limits=frontier.Limits(stop=lambda: bool(limits.reason_to_stop(known))),
    )
    if not outcome.complete or limits.reason_to_stop(known):
        raise CutShort(limits.reason_to_stop(known) or "cut short")
    return np.concatenate(layers)

"""Which systems are explored in one run: those whose states fit one machine word together."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from checker.backends.columns.packing import WORD_BITS
from checker.backends.columns.program import SYSTEMS_MAX
from checker.backends.columns.translation import slot_keys
from model.system import TransitionSystem


def grouped(systems: Sequence[TransitionSystem]) -> list[list[int]]:
    """Divide systems into groups whose common states fit one word: each joins the first group in which it fits.

    A system that does not fit a word even alone stays alone.
    """
    groups: list[tuple[list[int], dict[Hashable, int]]] = []
    for number, system in enumerate(systems):
        own = {key: slot.domain.size for key, slot in zip(slot_keys(system), system.slots, strict=True)}
        for group, sizes in groups:
            joined = {key: max(sizes.get(key, 1), own.get(key, 1)) for key in {**sizes, **own}}
            bits = sum((size - 1).bit_length() for size in joined.values()) + len(group).bit_length()
            if bits <= WORD_BITS and len(group) < SYSTEMS_MAX:
                group.append(number)
                sizes.update(joined)
                break
        else:
            groups.append(([number], own))
    return [group for group, _ in groups]

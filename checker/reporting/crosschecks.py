"""How far the engines were compared, in words and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from checker.reporting.envelope import Document

if TYPE_CHECKING:
    from checker.crosscheck import CrossCheck


def compared_text(compared: Mapping[str, CrossCheck]) -> str:
    """Say what the engines were compared on, and everything on which they were not."""
    return "; ".join(_parts(compared))


def _parts(compared: Mapping[str, CrossCheck]) -> Iterator[str]:
    states = sum(each.compared for each in compared.values())
    transitions = sum(each.transitions for each in compared.values())
    claims = f"{len(compared)} claim{'s' * (len(compared) != 1)}"
    yield (
        f"evaluator, columns and terms agree on {claims}, in {states:,} states and on the {transitions:,} transitions"
        " from them"
    )
    sampled = {name: each for name, each in compared.items() if each.compared < each.states}
    if sampled:
        shown = ", ".join(f"{name} {each.compared:,} of {each.states:,}" for name, each in sampled.items())
        yield f"evenly spread states only of {shown}"
    whole = sum(each.oracle for each in compared.values())
    if whole == len(compared):
        yield "the oracle, exploring everything, counts and finds the same"
    else:
        without = ", ".join(name for name, each in compared.items() if not each.oracle)
        yield f"the oracle counts and finds the same on {whole}, and has not explored {without}"
    cut = sorted({each.cut for each in compared.values() if each.cut})
    if cut:
        yield f"not finished: {', '.join(cut)}"


def compared_document(compared: Mapping[str, CrossCheck]) -> Document:
    """Return the same as JSON, by claim."""
    return {
        name: {
            "states": each.states,
            "compared": each.compared,
            "transitions": each.transitions,
            "oracle": each.oracle,
            "cut": each.cut,
        }
        for name, each in compared.items()
    }

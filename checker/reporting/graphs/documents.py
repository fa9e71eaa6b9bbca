"""A projected transition graph as a JSON document."""

from __future__ import annotations

from checker.engines.projection import Projection
from checker.reporting.documents import value_document


def graph_document(found: Projection) -> dict[str, object]:
    """Return the situations and the passages between them, which name situations by their place in the list."""
    return {
        "variables": list(found.slots),
        "states": found.states,
        "transitions": found.transitions,
        "situations": [
            {
                "values": [value_document(v) for v in s.values],
                "states": s.states,
                "initial": s.initial,
                "breaks": [*s.breaks],
            }
            for s in found.situations
        ],
        "passages": [
            {
                "from": p.source,
                "to": p.target,
                "steps": [*p.steps],
                "crashes": [*p.crashes],
                "transitions": p.transitions,
            }
            for p in found.passages
        ],
    }

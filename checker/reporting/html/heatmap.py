"""The kill-point matrix as a heat map: every cell says in a sign and in words what its colour says."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast

from checker.reporting.envelope import Document

Cell = dict[str, str]
"""A style, a sign for the cell, and a sentence."""


def heat_map(matrix: Document, whole: Collection[str]) -> dict[str, Any]:
    """Return rows of cells, made of the document of a matrix; `whole` are the properties that hold with any crashes.

    What breaks without any crash says nothing of kill points and is left out, as on a terminal.
    """
    rows = cast("list[dict[str, Any]]", matrix["rows"])
    needed = cast("dict[str, int | None]", matrix["needed"])
    anyway = set(_lengths(cast("dict[str, Any]", matrix["without_crashes"])))
    once = {row["kill_point"]: set(_lengths(row["once"])) for row in rows}
    return {
        "anyway": sorted(anyway),
        "pairs": bool(rows and rows[0]["then"]),
        "rows": [
            {
                "number": number,
                "point": row["kill_point"],
                "meaning": row["meaning"],
                "crashed": row["crashed"],
                "elsewhere": row["crashed_in"],
                "excuse": row["excuse"],
                "sees": row["sees"],
                "next": row["takes_next"],
                "once": _cell(row["once"], anyway, (), reached=row["once"]["reached"]),
                "only": _cell(row["only_there"], anyway, (), reached=row["crashed"]),
                "then": [
                    {
                        **_cell(
                            cell,
                            anyway,
                            once.get(cell["crashes"][0], set()) | once.get(cell["crashes"][-1], set()),
                            reached=cell["reached"],
                        ),
                        "point": cell["crashes"][-1],
                    }
                    for cell in row["then"]
                ],
            }
            for number, row in enumerate(rows, start=1)
        ],
        "needed": sorted((count, name) for name, count in needed.items() if count is not None),
        "whole": [name for name, count in needed.items() if count is None and name in whole],
        "open": [name for name, count in needed.items() if count is None and name not in whole],
    }


def _cell(outcome: Mapping[str, Any], anyway: Collection[str], alone: Collection[str], *, reached: bool) -> Cell:
    if not reached:
        return {"style": "none", "sign": "–", "words": "it never comes to that"}
    broken = {name: length for name, length in _lengths(outcome).items() if name not in anyway}
    more = {name: length for name, length in broken.items() if name not in alone}
    if more:
        words = f"breaks {_list(more)}"
        return {"style": "bad", "sign": f"✗ {min(more.values())}", "words": words}
    if broken:
        return {"style": "doubt", "sign": "✗", "words": f"breaks {_list(broken)}, as one of the two does alone"}
    if outcome["verdict"] in {"holds", "proved", "violated"}:
        return {"style": "good", "sign": "✓", "words": "nothing more breaks" if anyway else "nothing breaks"}
    return {"style": "doubt", "sign": "?", "words": str(outcome["verdict"])}


def _lengths(outcome: Mapping[str, Any]) -> dict[str, int]:
    return {one["property"]: one["length"] for one in cast("Sequence[Mapping[str, Any]]", outcome["broken"])}


def _list(lengths: Mapping[str, int]) -> str:
    return ", ".join(f"{name} after {length}" for name, length in lengths.items())

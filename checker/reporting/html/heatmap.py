"""The kill-point matrix as a heat map: every cell says in a sign and in words what its colour says, and has its run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from checker.matrix import Course
from checker.reporting.envelope import Document

Cell = dict[str, Any]
"""A style, a sign for the cell, a sentence, and the number of the run that shows it, if there is one."""

Play = Callable[[Course, str], int | None]
"""The number of the run in which a property breaks in a cell, or through all its crashes where the name is empty."""


def only_there(point: str) -> Course:
    """Return what any number of crashes at one kill point goes by, among courses of crashes."""
    return (point, "...")


def heat_map(matrix: Document, whole: Collection[str], play: Play) -> dict[str, Any]:
    """Return rows of cells, made of the document of a matrix; `whole` are the properties that hold with any crashes.

    What breaks without any crash says nothing of kill points and is left out, as on a terminal.
    """
    rows = cast("list[dict[str, Any]]", matrix["rows"])
    needed = cast("dict[str, int | None]", matrix["needed"])
    anyway = set(_lengths(cast("dict[str, Any]", matrix["without_crashes"])))
    once = {row["kill_point"]: set(_lengths(row["once"])) for row in rows}
    painter = _Painter(anyway, play)
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
                "once": painter.cell((row["kill_point"],), row["once"], reached=row["once"]["reached"]),
                "only": painter.cell(only_there(row["kill_point"]), row["only_there"], reached=row["crashed"]),
                "then": [
                    {
                        **painter.cell(
                            tuple(cell["crashes"]),
                            cell,
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
        # What the file says of no kill point gets no column.
        "told": {
            "leaves": any(row["meaning"] or not row["crashed"] for row in rows),
            "next": any(row["takes_next"] for row in rows),
            "sees": any(row["sees"] for row in rows),
        },
        "needed": sorted((count, name) for name, count in needed.items() if count is not None),
        "whole": [name for name, count in needed.items() if count is None and name in whole],
        "open": [name for name, count in needed.items() if count is None and name not in whole],
    }


@dataclass(frozen=True, slots=True)
class _Painter:
    anyway: Collection[str]
    """What breaks without any crash."""
    play: Play

    def cell(self, course: Course, outcome: Mapping[str, Any], alone: Collection[str] = (), *, reached: bool) -> Cell:
        """Return a cell; `alone` is what breaks by one of its crashes."""
        if not reached:
            return {"style": "none", "sign": "–", "words": "it never comes to that", "run": None}
        broken = {name: length for name, length in _lengths(outcome).items() if name not in self.anyway}
        more = {name: length for name, length in broken.items() if name not in alone}
        if more or broken:
            soonest, length = min((more or broken).items(), key=lambda item: (item[1], item[0]))
            run = self.play(course, soonest)
            if more:
                return {"style": "bad", "sign": f"✗ {length}", "words": f"breaks {_list(more)}", "run": run}
            words = f"breaks {_list(broken)}, as one of the two does alone"
            return {"style": "doubt", "sign": "✗", "words": words, "run": run}
        run = self.play(course, "")
        if outcome["verdict"] in {"holds", "proved", "violated"}:
            words = "nothing more breaks" if self.anyway else "nothing breaks"
            return {"style": "good", "sign": "✓", "words": words, "run": run}
        if outcome["verdict"] == "error":
            return {"style": "bad", "sign": "!", "words": "a run-time error", "run": run}
        return {"style": "doubt", "sign": "?", "words": str(outcome["verdict"]), "run": run}


def _lengths(outcome: Mapping[str, Any]) -> dict[str, int]:
    return {one["property"]: one["length"] for one in cast("Sequence[Mapping[str, Any]]", outcome["broken"])}


def _list(lengths: Mapping[str, int]) -> str:
    return ", ".join(f"{name} after {length}" for name, length in lengths.items())

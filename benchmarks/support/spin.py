"""SPIN on the Promela models: built once for a case, then run as often as wanted.

Exhaustive search for safety without partial order reduction, so that it visits the same states; the hash table has
room for them from the start. Only the search is timed: translation and the C compiler are not counted.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from benchmarks.support.cases import Case
from benchmarks.support.measuring import ROOT, Measured, measure

COMPILER_FLAGS = ["-O2", "-w", "-DSAFETY", "-DNOREDUCE", "-DMEMLIM=20000"]
SEARCH_FLAGS = ["-m10000", "-w24"]

SPIN = "spin"
COMPILER = "gcc"


def installed() -> bool:
    """Tell whether SPIN and a C compiler are there."""
    return shutil.which(SPIN) is not None and shutil.which(COMPILER) is not None


@dataclass(frozen=True, slots=True)
class Search:
    """A finished search: SPIN's own time for it, what the process cost, and what was counted."""

    seconds: float
    process: Measured
    states: int
    transitions: int
    holds: bool


def build(case: Case, directory: Path) -> Path:
    """Make the program that searches one case, and return it."""
    directory.mkdir()
    shutil.copy(ROOT / case.promela, directory / "model.pml")
    measure([SPIN, *case.spin_definitions, "-a", "model.pml"], where=directory)
    measure([COMPILER, *COMPILER_FLAGS, "-o", "pan", "pan.c"], where=directory)
    return directory / "pan"


def search(program: Path) -> Search:
    """Run a search. SPIN counts the initial state as a transition, which we do not.

    Raises:
        SystemExit: the search is not exhaustive, or its output is not as known.
    """
    process = measure([program, "-E", *SEARCH_FLAGS], where=program.parent)
    if "truncated" in process.output or "max search depth too small" in process.output:
        raise SystemExit(f"SPIN did not search everything:\n{process.output}")
    return Search(
        float(_read(r"elapsed time ([\d.e+]+) seconds", process)),
        process,
        int(float(_read(r"([\d.e+]+) states, stored", process))),
        int(float(_read(r"([\d.e+]+) transitions", process))) - 1,
        _read(r"errors: (\d+)", process) == "0",
    )


def _read(pattern: str, process: Measured) -> str:
    found = re.search(pattern, process.output)
    if found is None:
        raise SystemExit(f"SPIN said nothing like `{pattern}`:\n{process.output}")
    return found.group(1)

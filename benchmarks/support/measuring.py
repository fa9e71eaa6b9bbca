"""Whole processes, measured by what the operating system says of them when they are over; and plain tables.

The standard library only, so that nothing that is measured depends on what measures. Figures are of whole processes,
interpreter and imports included, because that is what a person waits for.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Measured:
    """A process that has ended: seconds on the clock, seconds of all its processors, and the most memory it held."""

    wall: float
    cpu: float
    peak_bytes: int
    output: str


def measure(
    command: Sequence[str | Path], environment: Mapping[str, str] | None = None, *, where: Path = ROOT
) -> Measured:
    """Run a command to its end.

    Raises:
        SystemExit: it fails; what it has said is shown.
    """
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        started = time.perf_counter()
        process = subprocess.Popen(
            list(map(str, command)), cwd=where, env={**os.environ, **(environment or {})}, stdout=output, stderr=errors
        )
        # wait4 rather than wait: its usage is that of this child alone, and of the children it has waited for.
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        for stream in (output, errors):
            stream.seek(0)
        if process.returncode != 0:
            raise SystemExit(
                f"{' '.join(map(str, command))}: exit code {process.returncode}\n{errors.read()}{output.read()}"
            )
        return Measured(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * _RSS_UNIT, output.read())


_RSS_UNIT = 1 if platform.system() == "Darwin" else 1024
"""Bytes in which the peak of memory is counted."""


def spread(values: Iterable[float]) -> dict[str, float]:
    """Return the least, the middle and the greatest of some figures."""
    ordered = sorted(values)
    return {"min": ordered[0], "median": median(ordered), "max": ordered[-1]}


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table: the first column to the left, the others, which are figures, to the right."""
    texts = [[str(cell) for cell in row] for row in [columns, *rows]]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    print(f"\n{title}\n")
    for row in texts:
        cells = [
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        print("  " + "  ".join(cells).rstrip(), flush=True)


def machine() -> dict[str, object]:
    """Say where the figures come from; they mean little anywhere else."""
    return {"system": platform.platform(), "python": platform.python_version(), "processors": os.cpu_count()}


def write_json(file: Path, results: Mapping[str, object]) -> None:
    """Write results, with the machine they belong to."""
    file.write_text(json.dumps({"machine": machine(), **results}, indent=2) + "\n", encoding="utf-8")

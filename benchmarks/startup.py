"""From `killpoint check` to its verdict on one protocol: explored anew, and out of the cache.

    python benchmarks/startup.py [--runs 5] [--json results.json]

The runs in which nothing is explored show what the program itself costs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

# Also from a checkout in which nothing is installed.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.support.measuring import ROOT, measure, print_table, spread, write_json

SPECIFICATION = "spec/killed_workflow.yaml"

WAYS = {
    "explored anew": ["check", SPECIFICATION, "--no-cache"],
    "out of the cache": ["check", SPECIFICATION],
    "help, nothing loaded": ["--help"],
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print, and write down where asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--runs", type=int, default=5, help="runs of each way, taken in turns")
    parser.add_argument("--quick", action="store_true", help="one run of each way")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures to a file")
    options = parser.parse_args(arguments)
    walls: dict[str, list[float]] = {way: [] for way in WAYS}
    cpus: dict[str, list[float]] = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory(prefix="killpoint-cache-") as cache:
        environment = {"PYTHONPATH": str(ROOT), "KILLPOINT_CACHE": cache}
        measure([sys.executable, "-m", "checker", *WAYS["out of the cache"]], environment)  # fills the cache
        for _ in range(1 if options.quick else options.runs):
            for way, command in WAYS.items():
                run = measure([sys.executable, "-m", "checker", *command], environment)
                walls[way].append(run.wall)
                cpus[way].append(run.cpu)
    spreads = {way: {"wall_s": spread(walls[way]), "cpu_s": spread(cpus[way])} for way in WAYS}
    rows = [
        [
            way,
            *(f"{figures['wall_s'][name]:.2f}" for name in ("min", "median", "max")),
            f"{figures['cpu_s']['median']:.2f}",
        ]
        for way, figures in spreads.items()
    ]
    print_table(f"{SPECIFICATION}: seconds from start to verdict", ["", "min", "median", "max", "CPU (median)"], rows)
    if options.json is not None:
        write_json(options.json, {"startup": spreads})


if __name__ == "__main__":
    main()

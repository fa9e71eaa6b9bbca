"""How fast and in how much memory states are explored, how that grows, and how it compares with SPIN.

    python benchmarks/explore.py            the full sizes, some minutes
    python benchmarks/explore.py --quick    small sizes, some seconds
    python benchmarks/explore.py --json results.json

Each figure is of a whole process. Runs alternate, so that a machine that others use as well slows all of them alike.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

# Also from a checkout in which nothing is installed.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.support import spin
from benchmarks.support.cases import GROWING, Case
from benchmarks.support.measuring import ROOT, Measured, measure, print_table, spread, write_json

FIXED_BYTES = 150_000_000
"""What a process may take whatever it explores: the interpreter, NumPy, filters, chunks under way."""

BYTES_SHOWN_FROM = 1_000_000
"""States from which on bytes a state mean something; below, memory is what the program itself takes."""

QUICK_STATES_MAX = 1_200_000
SPIN_STATES_MIN = 200_000
"""SPIN gives its time in hundredths of a second: less is not worth comparing."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print, and write down where asked to."""
    options = _options(arguments)
    families = {
        family: [case for case in cases if not options.quick or case.states <= QUICK_STATES_MAX]
        for family, cases in GROWING.items()
    }
    results: dict[str, object] = {"growth": [_growth(cases, options.workers) for cases in families.values()]}
    runs = options.runs if options.runs is not None else 1 if options.quick else 3
    compared = [case for cases in families.values() for case in cases if case.states >= SPIN_STATES_MIN]
    if not spin.installed():
        print(f"\nSPIN is not compared: `{spin.SPIN}` and `{spin.COMPILER}` are not both installed")
    elif runs:
        results["spin"] = _against_spin(compared, options.workers, runs)
    if options.json is not None:
        write_json(options.json, results)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    sizes = parser.add_mutually_exclusive_group()
    sizes.add_argument("--quick", action="store_true", help="small sizes only")
    sizes.add_argument("--full", action="store_true", help="all sizes (what happens unless told)")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2], help="numbers of workers (1 2)")
    parser.add_argument("--runs", type=int, help="alternating runs with SPIN (3, or 1 with --quick); 0 for none")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures to a file")
    return parser.parse_args(arguments)


def _explore(case: Case, workers: int) -> Measured:
    """Explore a case in a process of its own, and insist on the right counts."""
    settings = [f"{name}={value}" for name, value in case.settings]
    command = [
        sys.executable,
        "benchmarks/support/one_run.py",
        case.specification,
        case.asked,
        str(workers),
        *settings,
    ]
    measured = measure(command, {"PYTHONPATH": str(ROOT)})
    _insist(case, json.loads(measured.output))
    return measured


def _insist(case: Case, found: dict[str, object]) -> None:
    expected = {"states": case.states, "transitions": case.transitions, "holds": True}
    if found != expected:
        raise SystemExit(f"{case.name}: {expected} expected, {found} found")


def _growth(cases: Sequence[Case], worker_counts: Sequence[int]) -> dict[str, object]:
    """Measure the members of a family one after the other."""
    rows: list[list[object]] = []
    runs: list[dict[str, object]] = []
    before: dict[int, tuple[Case, Measured]] = {}
    for case in cases:
        for workers in worker_counts:
            run = _explore(case, workers)
            beyond = max(0, run.peak_bytes - FIXED_BYTES) / case.states
            row = [case.name, workers, f"{case.states:,}", f"{run.wall:.2f}", f"{run.cpu:.2f}"]
            row += [
                f"{case.states / run.wall:,.0f}",
                f"{case.transitions / run.wall:,.0f}",
                f"{run.peak_bytes / 1e6:.0f}",
            ]
            row += [f"{beyond:.1f}" if case.states >= BYTES_SHOWN_FROM else ""]
            rows.append([*row, _factors(before.get(workers), case, run)])
            before[workers] = case, run
            counts = {"case": case.name, "workers": workers, "states": case.states, "transitions": case.transitions}
            runs.append({**counts, "wall_s": run.wall, "cpu_s": run.cpu, "peak_bytes": run.peak_bytes})
    print_table(
        "Exploring with one property, whole processes; bytes are beyond 150 MB, growth is of states and CPU time",
        (
            "system",
            "workers",
            "states",
            "wall s",
            "CPU s",
            "states/s",
            "transitions/s",
            "peak MB",
            "bytes/state",
            "growth",
        ),
        rows,
    )
    return {"family": cases[0].family, "runs": runs}


def _factors(before: tuple[Case, Measured] | None, case: Case, run: Measured) -> str:
    if before is None:
        return ""
    smaller, its_run = before
    return f"x{case.states / smaller.states:.1f} x{run.cpu / its_run.cpu:.1f}"


def _against_spin(cases: Sequence[Case], worker_counts: Sequence[int], runs: int) -> list[dict[str, object]]:
    """Run SPIN and killpoint in turns: a ratio is SPIN's search over our whole process, of the same turn."""
    rows: list[list[object]] = []
    results: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory(prefix="killpoint-spin-") as directory:
        for number, case in enumerate(cases):
            program = spin.build(case, Path(directory) / str(number))
            searches: list[spin.Search] = []
            explored: dict[int, list[Measured]] = {workers: [] for workers in worker_counts}
            for _ in range(runs):
                searches.append(_searched(case, program))
                for workers in worker_counts:
                    explored[workers].append(_explore(case, workers))
            for workers, ours in explored.items():
                spreads = _spreads(searches, ours)
                rows.append([case.name, workers, *map(_shown, spreads.values())])
                results.append({"case": case.name, "workers": workers, **spreads})
    print_table(
        f"SPIN's search against our whole process: min/median/max of {runs} alternating runs",
        ("system", "workers", "SPIN's search s", "killpoint s", "ratio", "ratio of CPU time", "ratio of peak memory"),
        rows,
    )
    return results


def _spreads(searches: Sequence[spin.Search], ours: Sequence[Measured]) -> dict[str, dict[str, float]]:
    turns = list(zip(searches, ours, strict=True))
    return {
        "spin_search_s": spread(search.seconds for search in searches),
        "wall_s": spread(run.wall for run in ours),
        "ratio": spread(search.seconds / run.wall for search, run in turns),
        "cpu_ratio": spread(search.process.cpu / run.cpu for search, run in turns),
        "memory_ratio": spread(search.process.peak_bytes / run.peak_bytes for search, run in turns),
    }


def _searched(case: Case, program: Path) -> spin.Search:
    search = spin.search(program)
    # SPIN prints transitions from a hundred million on in six digits only.
    transitions = case.transitions if abs(search.transitions / case.transitions - 1) < 1e-5 else search.transitions
    _insist(case, {"states": search.states, "transitions": transitions, "holds": search.holds})
    return search


def _shown(values: dict[str, float]) -> str:
    return "/".join(f"{values[name]:.2f}" for name in ("min", "median", "max"))


if __name__ == "__main__":
    main()

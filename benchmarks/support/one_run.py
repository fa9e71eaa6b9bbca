"""One exploration in a process of its own: `one_run.py SPECIFICATION PROPERTY WORKERS NAME=VALUE...`.

Prints the numbers of states and transitions as JSON. Only this property is looked at, as the peers look at it only;
nothing of the command line is loaded.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

from checker.engines.columnar import explore
from checker.exploration import Limits
from model.loader import load_file
from model.system import TransitionSystem


def main(specification: str, asked: str, workers: str, *settings: str) -> None:
    """Explore the first scenario under these settings."""
    scenario = next(iter(load_file(Path(specification)).scenarios.values()))
    chosen = {name: int(value) for name, value in (setting.split("=") for setting in settings)}
    system = TransitionSystem.of(replace(scenario, set={**scenario.set, **chosen}))
    (found,) = explore([system], Limits(workers=int(workers)), properties=[asked])
    holds = found.complete and found.failure is None and not found.findings
    print(json.dumps({"states": found.states, "transitions": found.transitions, "holds": holds}))


if __name__ == "__main__":
    main(*sys.argv[1:])

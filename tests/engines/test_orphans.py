"""Processes that share the work end with the one that shared it out, even if that is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOLVERS = """
import os, time
from checker.certificates.sharing import processes

if __name__ == "__main__":
    with processes(2) as executor:
        for number in {executor.submit(os.getpid).result() for _ in range(4)}:
            print(number, flush=True)
        for _ in range(2):
            executor.submit(time.sleep, 600)
        print("busy", flush=True)
        time.sleep(600)
"""
EXPLORERS = """
import os, time
from checker.engines.processes import in_processes
from checker.exploration import Limits

here = os.getpid()

def explore(group, workers, silent):
    if os.getpid() != here:
        os.write(1, b"%d\\n" % os.getpid())
    else:
        time.sleep(2)
        print("busy", flush=True)
    time.sleep(600)

in_processes(explore, [1, 2, 3], Limits(workers=2))
"""


def ended(number: int) -> bool:
    """Tell whether a process is gone, or only waits for somebody to hear of its end."""
    try:
        state = Path(f"/proc/{number}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return True
    return state in "ZX"


@pytest.mark.skipif(sys.platform != "linux", reason="the state of a process is read as Linux tells it")
@pytest.mark.parametrize("program", [SOLVERS, EXPLORERS], ids=["solvers", "explorers"])
@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGTERM], ids=lambda blow: blow.name)
def test_who_shares_work_out_is_killed_and_nobody_works_on(tmp_path: Path, program: str, blow: signal.Signals) -> None:
    script = tmp_path / "script.py"
    script.write_text(program, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen([sys.executable, str(script)], env=environment, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        workers = []
        try:
            for line in parent.stdout:
                if line == "busy\n":
                    break
                workers.append(int(line))
            assert workers
            assert not any(map(ended, workers))
        finally:
            parent.send_signal(blow)
        patience = time.monotonic() + 20
        while not all(map(ended, workers)) and time.monotonic() < patience:
            time.sleep(0.05)
        left = [number for number in workers if not ended(number)]
        for number in left:
            os.kill(number, signal.SIGKILL)
        assert left == []

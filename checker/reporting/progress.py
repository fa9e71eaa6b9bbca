"""How a long run is going, on one line that is written over and over; only where a person is watching."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from checker.exploration import Progress
from checker.reporting.output import Output
from model.source import visible

QUIET_SECONDS = 0.5
"""A run that is over before says nothing."""

INTERVAL_SECONDS = 0.1

_ERASE = "\r\x1b[K"
"""Back to the beginning of the line, and nothing after it."""


class ProgressLine:
    """The line, on a stream that may turn out to be no terminal; then nothing is ever written."""

    def __init__(self, output: Output) -> None:
        self.output = output
        self.shown = False
        self.last = 0.0

    def of(self, what: str) -> Callable[[Progress], None] | None:
        """Return a function that shows the progress of something; None where nobody watches."""
        return (lambda progress: self._show(what, progress)) if self.output.terminal else None

    def tell(self, text: str) -> None:
        """Show how far something has come; nothing where nobody watches, or it was just said."""
        now = time.monotonic()
        if self.output.terminal and now - self.last >= INTERVAL_SECONDS:
            self.last = now
            self._write(text)

    @property
    def erasure(self) -> str:
        """What takes the line away again."""
        return _ERASE if self.output.terminal else ""

    def clear(self) -> None:
        """Take the line away again, if there is one."""
        if self.shown:
            self.output.stream.write(_ERASE)
            self.output.flush()
            self.shown = False

    def _show(self, what: str, progress: Progress) -> None:
        now = time.monotonic()
        if progress.seconds < QUIET_SECONDS or now - self.last < INTERVAL_SECONDS:
            return
        self.last = now
        self._write(f"{progress_text(progress, memory())}  {what}")

    def _write(self, text: str) -> None:
        # Room is left for the `^C` of a terminal, which would break the line.
        self.output.stream.write(f"{_ERASE}{visible(text)[: self.output.width - 4]}")
        self.output.flush()
        self.shown = True


def progress_text(progress: Progress, memory_bytes: int) -> str:
    """Return layer, states, rate and memory in words."""
    rate = progress.states / progress.seconds if progress.seconds else 0.0
    return (
        f"layer {progress.layer}  {progress.states:,} states  {rate:,.0f}/s  "
        f"{progress.frontier:,} to expand  {memory_bytes / (1 << 20):,.0f} MiB"
    )


def memory() -> int:
    """Return the bytes of memory that this process holds now; 0 where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0

"""What the fixtures of the command line hand out."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Done:
    """How a command ended and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.out)
        return document

    @property
    def words(self) -> str:
        """What it wrote, on one line."""
        return " ".join((self.out + self.err).split())


Killpoint = Callable[..., Done]
"""Runs a command line."""

Edit = Callable[..., str]
"""Writes a copy of the lamp with replaced texts; returns its name."""

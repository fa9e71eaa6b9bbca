"""Everything together in one directory: the storage, the provider, the host's files, and the processes on them."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path

from model.reference.operator_control.arbitration import Arbitration
from model.reference.operator_control.channel import LookupVerifier, Manner, Provider
from model.reference.operator_control.controls import ControlRules
from model.reference.operator_control.records import Limits
from model.reference.operator_control.rules import Rules
from model.reference.operator_control.service import Control
from model.reference.operator_control.storage import Storage
from model.reference.operator_control.worker import Worker
from model.reference.operator_control.world import Clock, Desk, Host


@dataclass(frozen=True, slots=True)
class Parts:
    """Of which classes a deployment is made; a deliberate mistake replaces one."""

    rules: type[Rules] = Rules
    controls: type[ControlRules] = ControlRules
    arbitration: type[Arbitration] = Arbitration
    storage: type[Storage] = Storage
    worker: type[Worker] = Worker
    control: type[Control] = Control


class Deployment:
    """What one process has open of a directory. Whoever forks makes another one in the child."""

    def __init__(
        self,
        directory: Path,
        limits: Limits | None = None,
        manner: Manner = Manner.NOTHING,
        parts: Parts | None = None,
    ) -> None:
        self.parts = parts or Parts()
        self.limits = limits or Limits()
        self.clock = Clock(directory / "clock")
        self.host = Host(directory / "host")
        self.desk = Desk(directory / "desk")
        self.provider = Provider(directory / "provider.sqlite", manner)
        self.verifier = LookupVerifier(self.provider)
        rules = self.parts.rules(self.limits)
        self.storage = self.parts.storage(
            directory / "storage.sqlite", rules, self.parts.controls(rules), self.parts.arbitration()
        )
        self.gate = threading.Lock()

    def worker(self) -> Worker:
        """Return a worker that has done nothing yet."""
        return self.parts.worker(self.storage, self.provider, self.clock, self.host)

    def control(self) -> Control:
        """Return the handling of one request, not begun."""
        return self.parts.control(self.storage, self.host, self.clock, self.desk, self.verifier, self.gate)

    def close(self) -> None:
        """Close both databases."""
        self.storage.close()
        self.provider.close()

"""What the adapters of `spec/delivery_profiles.yaml` and `spec/operator_control.yaml` share: one deployment each.

A deployment is a directory with a storage, a provider and a host, and in it one piece of work. Its processes are
generators in this process, or are launched.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from tempfile import TemporaryDirectory
from typing import Any

from checker.conformance.adapter import Plain, Setting
from checker.conformance.forking import quick_directory
from checker.conformance.generators import Generators
from checker.conformance.launching import Launches
from model.reference.operator_control.deployment import Deployment
from model.reference.operator_control.records import Profile, WorkRecord

WORK = "notice-1"
OPERATOR = "operator"


class DeployedAdapter(ABC):
    """An adapter whose system is a deployment with one piece of work."""

    child: str
    """`module:function` that runs a process of its own."""

    def __init__(self) -> None:
        self._directory: TemporaryDirectory[str] | None = None
        self._deployment: Deployment | None = None
        self._launches = Launches(self.child)
        self._generators = Generators()
        self._setting = Setting({})

    def close(self) -> None:
        """End the parent of the children and remove the directory."""
        self._throw_away()
        self._launches.close()

    @abstractmethod
    def _argument(self) -> dict[str, Any]:
        """Return what a process of its own is told of the deployment."""

    def _deploy(self, setting: Setting, make: Callable[[Mapping[str, Any]], Deployment]) -> None:
        """Throw away what there is, and deploy anew in another directory; processes of their own `make` it likewise."""
        self._throw_away()
        self._setting = setting
        self._directory = quick_directory()
        self._deployment = make(self._argument())

    def _throw_away(self) -> None:
        self._generators.clear()
        if self._deployment is not None:
            self._deployment.close()
        if self._directory is not None:
            self._directory.cleanup()
        self._deployment = self._directory = None

    @property
    def _here(self) -> Deployment:
        assert self._deployment is not None, "reset comes first"
        return self._deployment

    @property
    def _path(self) -> str:
        assert self._directory is not None, "reset comes first"
        return self._directory.name

    @property
    def _record(self) -> WorkRecord:
        return self._here.storage.snapshot().books.records[WORK]

    def _register(self) -> None:
        """Let the host take the work for something else than it is, or see it right again."""
        stored = self._record.intent.profile
        alike = self._here.host.policies.registered is stored
        other = next(profile for profile in Profile if profile is not stored)
        self._here.host.change(registered=other if alike else stored)


def state_of(record: WorkRecord) -> dict[str, Plain]:
    """Return the model's words for what is stored of the work."""
    return {
        "state": str(record.phase),
        "attempts": record.attempts,
        "delivery": str(record.delivery or "NotStarted"),
    }


def number_of(value: Plain) -> int:
    """Return a value of which it is known that it is a number."""
    assert isinstance(value, int)
    return value

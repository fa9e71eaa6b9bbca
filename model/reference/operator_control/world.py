"""What lies outside the storage: the clock, the host's policies, and the operator's request files.

Each is a small file that is written whole or not at all, so that processes that are killed and started again find it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from model.reference.operator_control.controls import Request, read_request
from model.reference.operator_control.records import Code, Profile, canonical


def write_whole(path: Path, text: str) -> None:
    """Replace a file; whoever reads it sees the old text or the new one."""
    scratch = path.with_name(f"{path.name}.{os.getpid()}.part")
    with scratch.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    scratch.replace(path)


class Clock:
    """Seconds, which only the environment moves."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def now(self) -> int:
        """Return the time."""
        return int(self.path.read_text(encoding="utf-8")) if self.path.exists() else 0

    def set(self, seconds: int) -> None:
        """Make it that late."""
        write_whole(self.path, str(seconds))


@dataclass(frozen=True, slots=True)
class Policies:
    """What the host grants and has registered.

    `operators`: those who may inspect and control (by default nobody). `scopes`: the definitions whose work they may.
    `services`: the identities that may still do work. `registered`: under which profile the definition is registered
    now. `verifier`: whether one is registered.
    """

    operators: tuple[str, ...] = ()
    services: tuple[str, ...] = ("service",)
    scopes: tuple[str, ...] = ("notice",)
    registered: Profile = Profile.AT_LEAST_ONCE
    verifier: bool = True


class Host:
    """The host's policies as they are now; they are asked anew each time."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def policies(self) -> Policies:
        """Return what is granted and registered."""
        if not self.path.exists():
            return Policies()
        data = json.loads(self.path.read_text(encoding="utf-8"))
        return Policies(
            operators=tuple(data["operators"]),
            services=tuple(data["services"]),
            scopes=tuple(data["scopes"]),
            registered=Profile(data["registered"]),
            verifier=bool(data["verifier"]),
        )

    def change(self, **changes: Any) -> None:
        """Grant, revoke or register something."""
        write_whole(self.path, canonical(asdict(replace(self.policies, **changes))))

    def authorized(self, principal: str, scope: str | None = None) -> bool:
        """Say whether an operator may control work at all, or work of a definition."""
        policies = self.policies
        return principal in policies.operators and (scope is None or scope in policies.scopes)

    def serves(self, service_key: str) -> bool:
        """Say whether the service that is recorded with the work may still do it."""
        return service_key in self.policies.services


@dataclass(frozen=True, slots=True)
class Answer:
    """What the operator is told: a result or a refusal, and whether it was known before."""

    code: str
    replayed: bool = False

    @property
    def final(self) -> bool:
        """Say whether the operator sends this request no more.

        After Unknown, Unresolved and Denied the same request may still come to a result.
        """
        return self.code not in (Code.UNKNOWN, Code.DENIED, UNRESOLVED)


UNRESOLVED = "Unresolved"
"""The verifier established nothing: nothing was written, and the key is free as before."""


class Desk:
    """The operator's request files, one a key, and the answers that have come.

    A request file stays as it is until a final answer has come: that is how the operator asks again for the same.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def submit(self, principal: str, request: Request) -> None:
        """Put a request on file; an answer to an earlier one under that name is thrown away."""
        self._answer_path(request.key).unlink(missing_ok=True)
        write_whole(self._request_path(request.key), canonical({"principal": principal, "request": asdict(request)}))

    def request(self, key: str) -> tuple[str, Request] | None:
        """Return principal and request of a file, if there is one."""
        path = self._request_path(key)
        if not path.exists():
            return None
        data = json.loads(path.read_text(encoding="utf-8"))
        return data["principal"], read_request(canonical(data["request"]))

    def edit(self, key: str, change: Callable[[Request], Request]) -> None:
        """Change a file that was submitted, which an operator should not do."""
        found = self.request(key)
        if found is not None:
            principal, request = found
            text = canonical({"principal": principal, "request": asdict(change(request))})
            write_whole(self._request_path(key), text)

    def waiting(self) -> list[str]:
        """Return the keys of the requests that no final answer has come to."""
        return sorted(path.name.removesuffix(".request") for path in self.folder.glob("*.request"))

    def reply(self, key: str, answer: Answer) -> None:
        """Tell the operator what became of a control; a caller that has gone hears nothing."""
        if self.request(key) is None:
            return
        write_whole(self._answer_path(key), canonical(asdict(answer)))
        if answer.final:
            self._request_path(key).unlink()

    def answer(self, key: str) -> Answer | None:
        """Return what the operator was told, if anything."""
        path = self._answer_path(key)
        return Answer(**json.loads(path.read_text(encoding="utf-8"))) if path.exists() else None

    def _request_path(self, key: str) -> Path:
        return self.folder / f"{key}.request"

    def _answer_path(self, key: str) -> Path:
        return self.folder / f"{key}.answer"

"""The coordinator's side of the provider: one HTTP request a call, and honest words for what is not known."""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import quote

DRIVER = "killpoint-reference"
DRIVER_VERSION = "1"


class ReplyLost(Exception):
    """The call may or may not have been carried out."""


class LookUpUnsupported(Exception):
    """This provider cannot find work by its dispatch key."""


class ProviderMisbehaved(Exception):
    """An answer that the interface does not have."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """The provider has the work, under this id of its own."""

    external_id: str


@dataclass(frozen=True, slots=True)
class Rejected:
    """The provider has not taken the work and never will under this call."""

    code: str


@dataclass(frozen=True, slots=True)
class ProviderClient:
    """A provider at a port of the loopback interface.

    `looks_up_by_key`: whether this driver can ask for work by its dispatch key; a driver that cannot is never asked to.
    """

    port: int
    looks_up_by_key: bool = True
    timeout_s: float = 5.0

    def submit(self, dispatch_key: str, request_digest: str) -> Accepted | Rejected:
        """Send work to the provider: the one call that cannot be undone.

        Raises:
            ReplyLost: nobody knows whether it was accepted.
        """
        status, body = self._request(
            "POST", "/submissions", {"dispatch_key": dispatch_key, "request_digest": request_digest}
        )
        if status == 201:
            return Accepted(body["external_id"])
        if status in {409, 422}:
            return Rejected(body["code"])
        raise ProviderMisbehaved(f"{status} for a submission")

    def look_up(self, dispatch_key: str) -> Accepted | None:
        """Return what the provider has under a dispatch key, None where it has nothing or does not see it yet.

        Raises:
            LookUpUnsupported: it cannot say.
            ReplyLost: no answer came.
        """
        status, body = self._request("GET", f"/submissions?dispatch_key={quote(dispatch_key, safe='')}")
        if status == 501:
            raise LookUpUnsupported(body["code"])
        if status == 404:
            return None
        if status == 200:
            return Accepted(body["external_id"])
        raise ProviderMisbehaved(f"{status} for a look-up")

    def observe(self, external_id: str) -> Literal["running", "succeeded", "failed"]:
        """Return what has become of a job, by the provider's own id.

        Raises:
            ReplyLost: no answer came.
        """
        status, body = self._request("GET", f"/jobs/{quote(external_id, safe='')}")
        if status == 200:
            outcome: Literal["running", "succeeded", "failed"] = body["outcome"]
            return outcome
        raise ProviderMisbehaved(f"{status} for job {external_id}")

    def control(self, command: str, **body: Any) -> bool:
        """Decide something in the provider's place, in a test; false where it cannot be."""
        return self._request("POST", f"/control/{command}", body)[0] == 200

    def state(self) -> dict[str, Any]:
        """Return everything that the provider remembers."""
        return self._request("GET", "/control/state")[1]

    def _request(self, method: str, path: str, body: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=self.timeout_s)
        try:
            connection.request(method, path, None if body is None else json.dumps(body))
            reply = connection.getresponse()
            return reply.status, json.loads(reply.read())
        except (OSError, http.client.HTTPException) as problem:
            raise ReplyLost(f"{method} {path}: {problem!r}") from problem
        finally:
            connection.close()

"""The provider as an HTTP server over SQLite, with a control interface for what a test decides in its place.

`http.server` serves this better than an application framework: a lost reply is a connection that closes without a
word, and a call that is still travelling one whose caller hears nothing, and both need the connection itself.

    POST /submissions {dispatch_key, request_digest}  201 {external_id} | 422 rejected | 409 key conflict
    GET  /submissions?dispatch_key=K                  200 {external_id} | 404 nothing | 501 no look-up by key
    GET  /jobs/N                                      200 {outcome} | 404

    POST /control/reset {deduplicates, look_up, asks_gate}          start afresh
    POST /control/turn {dispatch_key, answer, lose_reply, delay, stale}   how calls under a key turn out from now on
    POST /control/gate {open}                         open or close the gate that it may ask
    POST /control/arrive {call, answer}               let a delayed submission arrive
    POST /control/finish {external_id, outcome}       let a job end
    GET  /control/state                               every job, rejected key and call under way
"""

from __future__ import annotations

import argparse
import json
import socket
import threading
from dataclasses import asdict, dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from model.reference.killed_workflow.jobs import Answer, Conduct, Jobs, KeyConflict


@dataclass(frozen=True, slots=True)
class Turn:
    """How calls under a dispatch key turn out.

    `answer` is the verdict on a submission. `lose_reply`: it is carried out, and the caller hears nothing.
    `delay`: it travels on until it is let arrive, and the caller hears nothing. `stale`: a look-up does not see what
    there is.
    """

    answer: Answer = "accept"
    lose_reply: bool = False
    delay: bool = False
    stale: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """An HTTP status and the JSON object that comes with it."""

    status: int
    body: dict[str, Any]


class Provider:
    """The server, in a thread of the process that made it; it lives on while its callers die."""

    def __init__(self, directory: Path, conduct: Conduct | None = None, port: int = 0) -> None:
        self.jobs = Jobs(directory / "provider.sqlite", Conduct() if conduct is None else conduct)
        self._lock = threading.Lock()
        self._turns: dict[str, Turn] = {}
        self._gate_open = True
        self._server = _Server(("127.0.0.1", port), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def port(self) -> int:
        """Return the port on the loopback interface at which the provider can be called."""
        return int(self._server.server_address[1])

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def serve(self) -> None:
        """Answer in this thread until the process ends."""
        self._server.serve_forever()

    def close(self) -> None:
        """Stop answering; the database stays."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        self.jobs.close()

    def submit(self, key: str, request_digest: str) -> Reply | None:
        """Carry out a submission; None where the caller is to hear nothing."""
        with self._lock:
            turn = self._turns.get(key, Turn())
            if turn.delay:
                self.jobs.hold(key, request_digest)
                return None
            closed = self.jobs.conduct.asks_gate and not self._gate_open
            try:
                job = self.jobs.submit(key, request_digest, "reject" if closed else turn.answer)
            except KeyConflict:
                return Reply(409, {"code": "key_conflict"})
            if turn.lose_reply:
                return None
            return Reply(422, {"code": "rejected"}) if job is None else Reply(201, {"external_id": str(job.number)})

    def look_up(self, key: str) -> Reply:
        """Look a job up by its dispatch key."""
        with self._lock:
            if self.jobs.conduct.look_up == "absent":
                return Reply(501, {"code": "no_look_up_by_key"})
            job = None if self._turns.get(key, Turn()).stale else self.jobs.find(key)
            return Reply(404, {"code": "nothing"}) if job is None else Reply(200, {"external_id": str(job.number)})

    def observe(self, external_id: str) -> Reply:
        """Tell what has become of a job."""
        with self._lock:
            job = self.jobs.job(int(external_id)) if external_id.isdecimal() else None
            return Reply(404, {"code": "nothing"}) if job is None else Reply(200, {"outcome": job.outcome})

    def control(self, command: str, body: dict[str, Any]) -> Reply:
        """Do what a test decides in the provider's place."""
        with self._lock:
            if command == "reset":
                self._turns.clear()
                self._gate_open = True
                self.jobs.forget_everything(Conduct(**body))
            elif command == "turn":
                self._turns[body["dispatch_key"]] = Turn(**{k: v for k, v in body.items() if k != "dispatch_key"})
            elif command == "gate":
                self._gate_open = body["open"]
            elif command == "arrive":
                if not self.jobs.let_arrive(body["call"], body["answer"]):
                    return Reply(404, {"code": "nothing"})
            elif command == "finish":
                if self.jobs.finish(int(body["external_id"]), body["outcome"]) is None:
                    return Reply(404, {"code": "nothing"})
            else:
                return Reply(404, {"code": "no_such_command"})
            return Reply(200, {})

    def state(self) -> dict[str, Any]:
        """Tell everything that the provider remembers."""
        with self._lock:
            return {
                "jobs": [asdict(job) for job in self.jobs.all_jobs()],
                "rejected": self.jobs.rejected_keys(),
                "calls": [asdict(call) for call in self.jobs.calls_under_way()],
            }


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64


def _handler(provider: Provider) -> type[BaseHTTPRequestHandler]:
    """Return a handler class that speaks for one provider."""

    class Handler(BaseHTTPRequestHandler):
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            address = urlsplit(self.path)
            if address.path == "/submissions":
                self._answer(provider.look_up(parse_qs(address.query)["dispatch_key"][0]))
            elif address.path.startswith("/jobs/"):
                self._answer(provider.observe(address.path.removeprefix("/jobs/")))
            elif address.path == "/control/state":
                self._answer(Reply(200, provider.state()))
            else:
                self._answer(Reply(404, {"code": "no_such_address"}))

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}")
            if self.path == "/submissions":
                self._answer(provider.submit(body["dispatch_key"], body["request_digest"]))
            elif self.path.startswith("/control/"):
                self._answer(provider.control(self.path.removeprefix("/control/"), body))
            else:
                self._answer(Reply(404, {"code": "no_such_address"}))

        def _answer(self, reply: Reply | None) -> None:
            if reply is None:
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            content = json.dumps(reply.body).encode()
            self.send_response(reply.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is http.server's
            """Say nothing: the database is the log."""

    return Handler


def main() -> None:
    """Serve a directory's provider in a process of its own, and print the port."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--port", type=int, default=0)
    arguments = parser.parse_args()
    provider = Provider(arguments.directory, port=arguments.port)
    print(provider.port, flush=True)  # noqa: T201 - the caller reads it
    provider.serve()


if __name__ == "__main__":
    main()

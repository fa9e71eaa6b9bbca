"""An adapter that is a process of its own and speaks JSON lines, in whatever language it is written.

We write one request a line to its standard input, and it writes one answer a line to its standard output. The requests
are the methods of `Adapter` and `Killable`; docs/adapters.md describes them, and docs/schemas/adapter.schema.json is
their schema. Whatever it writes to standard error is kept and shown when something goes wrong.
"""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, cast

from checker.conformance.adapter import (
    Action,
    Adapter,
    AdapterFailed,
    Ended,
    Errand,
    Launch,
    Observation,
    Refused,
    Setting,
    UnknownSetting,
)

PROTOCOL = 1
"""The version of the protocol; counts up when a request changes its meaning."""

_LINE_MAX = 1 << 22
"""Characters of an answer."""

_ERRORS_KEPT = 20
"""Lines of standard error that are shown."""

_PATIENCE = 2.0
"""Seconds that a process gets to end after it was asked to."""


def connect(command: Sequence[str], seconds: float) -> Adapter:
    """Start a command and return the adapter that it is, a `Killable` one if it says so.

    `seconds` is how long it may take for one answer.

    Raises:
        AdapterFailed: it cannot be started, or its greeting is none.
    """
    line = _Connection(command, seconds)
    try:
        greeting = line.mapping("hello", killpoint=PROTOCOL)
        observes, defects = (_texts(greeting.get(key, []), key) for key in ("observes", "defects"))
    except BaseException:
        line.end()
        raise
    kind = _KillableProcess if greeting.get("killable") is True else _Process
    return kind(line, observes, defects)


class _Process:
    """The adapter."""

    def __init__(self, line: _Connection, observes: Sequence[str], defects: Sequence[str]) -> None:
        self.line = line
        self.observes = observes
        self.defects = defects

    def reset(self, setting: Setting) -> None:
        self.line.ask("reset", setting=_plain_setting(setting))

    def perform(self, action: Action) -> None:
        self.line.ask("perform", action=asdict(action))

    def observe(self) -> Observation:
        return self.line.mapping("observe")

    def offers(self) -> Sequence[Action]:
        return [_action(item) for item in self.line.items("offers")]

    def close(self) -> None:
        try:
            self.line.ask("close")
        finally:
            self.line.end()


class _KillableProcess(_Process):
    """An adapter that can also start processes and kill them."""

    def errands(self) -> Sequence[Errand]:
        return [_errand(item) for item in self.line.items("errands")]

    def launch(self, launch: Launch, kill_at: int | None) -> Ended:
        found = self.line.mapping("launch", launch=asdict(launch), kill_at=kill_at)
        how = found.get("how")
        if how not in ("killed", "waiting", "stopped"):
            raise AdapterFailed(f"it says that a process ended {how!r}: that is `killed`, `waiting` or `stopped`")
        return Ended(how, tuple(_texts(found.get("points"), "points")))


class _Connection:
    """A running command, its last words on standard error, and one request at a time."""

    def __init__(self, command: Sequence[str], seconds: float) -> None:
        self.command = command
        self.seconds = seconds
        try:
            self.process = subprocess.Popen(  # noqa: S603 - the command is what the user asks us to run
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                errors="replace",
                start_new_session=True,  # Ctrl-C is ours to hear: we end it when we end
            )
        except OSError as error:
            raise AdapterFailed(f"`{command[0]}` cannot be started: {error.strerror or error}") from error
        self.answers: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.errors: deque[str] = deque(maxlen=_ERRORS_KEPT)
        self.listeners = [threading.Thread(target=run, daemon=True) for run in (self._hear, self._hear_errors)]
        for listener in self.listeners:
            listener.start()

    def _hear(self) -> None:
        assert self.process.stdout is not None
        while line := self.process.stdout.readline(_LINE_MAX):
            self.answers.put(line)
        self.answers.put("")  # the end

    def _hear_errors(self) -> None:
        assert self.process.stderr is not None
        while line := self.process.stderr.readline(_LINE_MAX):
            self.errors.append(line.rstrip())

    def ask(self, request: str, **content: object) -> Any:
        """Send a request and return what it is answered with.

        Raises:
            AdapterFailed: it did not answer in time, ended, wrote something else, or says that it failed.
            Refused: it refuses.
            UnknownSetting: it does not know a parameter, variant or defect.
        """
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps({"do": request, **content}) + "\n")
            self.process.stdin.flush()
        except (OSError, ValueError) as error:
            raise self._ended(f"it ended before it was asked to `{request}`") from error
        try:
            line = self.answers.get(timeout=self.seconds)
        except queue.Empty:
            failed = self._failed(f"it gave no answer to `{request}` in {self.seconds:g} seconds")
            self.end()
            raise failed from None
        if not line:
            raise self._ended(f"it ended instead of answering `{request}`")
        return self._answer(request, line)

    def _answer(self, request: str, line: str) -> Any:
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict) or len(answer) != 1:
            raise self._failed(f"its answer to `{request}` is no JSON object with one key: {line.rstrip()[:200]!r}")
        ((key, value),) = answer.items()
        match key:
            case "ok":
                return value
            case "refused":
                raise Refused(str(value))
            case "unknown":
                raise UnknownSetting(str(value))
            case "error":
                raise self._failed(f"it failed at `{request}`: {value}")
            case _:
                keys = "none of ok, refused, unknown, error"
                raise self._failed(f"its answer to `{request}` has the key {key!r}: {keys}")

    def mapping(self, request: str, **content: object) -> Mapping[str, Any]:
        """Ask for an object.

        Raises:
            AdapterFailed: among others, the answer is none.
        """
        found = self.ask(request, **content)
        if not isinstance(found, dict):
            raise self._failed(f"it answers `{request}` with {found!r}, which is no object")
        return found

    def items(self, request: str) -> Sequence[object]:
        """Ask for a list.

        Raises:
            AdapterFailed: among others, the answer is none.
        """
        found = self.ask(request)
        if not isinstance(found, list):
            raise self._failed(f"it answers `{request}` with {found!r}, which is no list")
        return found

    def end(self) -> None:
        """End the process, kindly first."""
        with contextlib.suppress(OSError, ValueError):
            assert self.process.stdin is not None
            self.process.stdin.close()
        try:
            self.process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for listener in self.listeners:
            listener.join(_PATIENCE)
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()

    def _ended(self, message: str) -> AdapterFailed:
        """Return the failure of a process whose pipes are closed, once it has ended as well."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(_PATIENCE)
        return self._failed(message)

    def _failed(self, message: str) -> AdapterFailed:
        if self.process.poll() is not None:
            message += f" (exit code {self.process.returncode})"
            self.listeners[1].join(_PATIENCE)
        return AdapterFailed(message, "\n".join(self.errors))


# --- What it says, read ---


def _plain_setting(setting: Setting) -> dict[str, object]:
    return {
        "parameters": dict(setting.parameters),
        "variant": setting.variant,
        "defect": setting.defect,
        "initial": dict(setting.initial),
    }


def _texts(value: object, key: str) -> Sequence[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise AdapterFailed(f"its `{key}` is {value!r}, and should be a list of texts")
    return cast("list[str]", value)


def _action(value: object) -> Action:
    """Read an action; what is left out of it is as in `Action`."""
    if not isinstance(value, dict):
        raise AdapterFailed(f"it offers {value!r}, which is no action")
    known = {"instance": 0, "step": "", "choices": [], "faults": [], "torn": False, **value}
    fits = (
        known.get("kind") in ("step", "crash", "restart")
        and isinstance(known.get("process"), str)
        and type(known["instance"]) is int
        and isinstance(known["step"], str)
        and isinstance(known["choices"], list)
        and isinstance(known["torn"], bool)
    )
    if not fits:
        raise AdapterFailed(f"it offers {value!r}, which is no action")
    choices, faults = tuple(known["choices"]), tuple(_texts(known["faults"], "faults"))
    return Action(known["kind"], known["process"], known["instance"], known["step"], choices, faults, known["torn"])


def _errand(value: object) -> Errand:
    if not isinstance(value, dict) or not isinstance(value.get("acts"), list) or "name" not in value:
        raise AdapterFailed(f"it names {value!r} as an errand, which has a name and acts")
    return Errand(str(value["name"]), tuple(_act(act) for act in value["acts"]))


def _act(value: object) -> Launch | Action:
    match value:
        case {"launch": {"process": str(process), **rest}}:
            instance = rest.get("instance", 0)
            if type(instance) is int:
                return Launch(process, instance)
        case {"action": action}:
            return _action(action)
    raise AdapterFailed(f"an act of its errands is {value!r}: neither a launch nor an action")

"""Adapters out of process: the same as in process, and whatever goes wrong with them is said."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from checker.conformance.adapter import (
    Action,
    Adapter,
    AdapterFailed,
    Ended,
    Errand,
    Killable,
    Launch,
    Refused,
    Setting,
    UnknownSetting,
)
from checker.conformance.remote import connect
from tests.cli.schemas import DIRECTORY, validator
from tests.conformance.commands import ROOT, STAMPS, answered, ran

NODE = shutil.which("node")
Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def from_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program imports the office."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def command(mood: str) -> list[str]:
    return [sys.executable, str(Path(__file__).parent / "served.py"), mood]


@pytest.fixture
def served() -> Iterator[Adapter]:
    adapter = connect(command("well"), 30)
    yield adapter
    adapter.close()


def test_an_adapter_out_of_process_conforms_like_the_one_in_process(capsys: Capture) -> None:
    (file,) = answered(capsys, "conform", STAMPS, "--command", shlex.join(command("well")))["files"]

    assert [(scenario["covered"], scenario["exit_code"]) for scenario in file["scenarios"]] == [(277, 0), (38, 0)]


def test_a_difference_out_of_process_is_the_same_difference(capsys: Capture) -> None:
    done = ran(capsys, "conform", STAMPS, "--command", shlex.join(command("well")), "--defect", "forgets-to-record")

    assert done.code == 1
    assert "the system: status=stamping (the model: stamped)" in done.words


def test_it_refuses_and_does_not_know_what_it_does_not_know(served: Adapter) -> None:
    served.reset(Setting({}))

    with pytest.raises(Refused, match="the clerk is at rest"):
        served.perform(Action("step", "clerk", 0, "record"))
    with pytest.raises(UnknownSetting, match="no defect is named laziness"):
        served.reset(Setting({}, defect="laziness"))


def test_what_it_leaves_out_of_an_offer_is_as_it_mostly_is(served: Adapter) -> None:
    served.reset(Setting({}))

    assert Action("step", "clerk", 0, "rest") in served.offers()


def test_it_starts_and_kills_processes_where_it_says_that_it_can(served: Adapter) -> None:
    assert isinstance(served, Killable)
    chief = Action("step", "chief", 0, "empty")
    assert served.errands() == [Errand("one letter", (Launch("clerk"), chief))]
    assert served.launch(Launch("clerk"), 2) == Ended("killed", ("clerk.rest", "clerk.rest"))
    assert served.launch(Launch("clerk"), None).how == "waiting"


def test_it_kills_nothing_where_it_does_not_say_so() -> None:
    adapter = connect(command("plain"), 30)
    try:
        assert not isinstance(adapter, Killable)
    finally:
        adapter.close()


@pytest.mark.parametrize(
    ("mood", "message"),
    [
        ("dies", "it ended instead of answering `observe` (exit code 7)"),
        ("dies at once", "`hello` (exit code 7)"),
        ("sleeps", "it gave no answer to `observe` in 1 seconds"),
        ("babbles", "its answer to `observe` is no JSON object with one key: 'debugging: I am here'"),
        ("answers nothing", "its answer to `observe` is no JSON object with one key: '{}'"),
        ("answers otherwise", "its answer to `observe` has the key 'okay'"),
        ("answers a number", "it answers `observe` with 7, which is no object"),
        ("gives up", "it failed at `observe`: no stamps in the drawer"),
        ("nests", "its answer to `observe` is no JSON object"),
    ],
)
def test_an_adapter_that_goes_wrong_is_no_difference_but_bad_input(capsys: Capture, mood: str, message: str) -> None:
    done = ran(capsys, "conform", STAMPS, "--seconds", "1", "--command", shlex.join(command(mood)))

    assert done.code == 2
    assert message in done.words
    assert "KP710" in done.err


def test_its_standard_error_is_shown_when_it_dies(capsys: Capture) -> None:
    assert "out of paper" in ran(capsys, "conform", STAMPS, "--command", shlex.join(command("dies"))).err


def test_a_program_that_is_not_there_is_said(capsys: Capture) -> None:
    done = ran(capsys, "conform", STAMPS, "--command", "no-such-program")

    assert done.code == 2
    assert "`no-such-program` cannot be started: No such file or directory" in done.words


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ({"observes": "run"}, "its `observes` is 'run', and should be a list of texts"),
        ([], "which is no object"),
    ],
)
def test_a_greeting_that_is_none_is_refused(reply: Any, message: str) -> None:
    program = f"import sys; sys.stdin.readline(); print({json.dumps({'ok': reply})!r}, flush=True); sys.stdin.read()"

    with pytest.raises(AdapterFailed, match=message):
        connect([sys.executable, "-c", program], 30)


# --- The schema ---


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What goes back and forth, parsed."""
    heard: list[Any] = []
    dumps, loads = json.dumps, json.loads

    def said(value: object) -> str:
        heard.append(loads(dumps(value)))
        return dumps(value)

    def understood(text: str) -> Any:
        heard.append(loads(text))
        return heard[-1]

    monkeypatch.setattr("checker.conformance.remote.json.dumps", said)
    monkeypatch.setattr("checker.conformance.remote.json.loads", understood)
    return heard


def test_what_goes_back_and_forth_is_what_the_schema_says(lines: list[Any]) -> None:
    adapter = connect(command("well"), 30)
    assert isinstance(adapter, Killable)
    adapter.reset(Setting({"letters": 2}, initial={"status": "empty"}))
    adapter.perform(Action("step", "clerk", 0, "rest"))
    adapter.observe()
    adapter.offers()
    adapter.errands()
    adapter.launch(Launch("clerk"), 1)
    adapter.close()

    said = [*lines]
    assert len(said) == 16
    assert [error.message for line in said for error in validator("adapter").iter_errors(line)] == []


@pytest.mark.parametrize("line", [{"do": "sing"}, {"okay": 1}, {"ok": 1, "refused": ""}, {"do": "perform"}, []])
def test_the_schema_refuses_other_lines(line: Any) -> None:
    assert list(validator("adapter").iter_errors(line)) != []


def test_the_page_on_adapters_shows_lines_that_are_what_the_schemas_say() -> None:
    page = (ROOT / "docs" / "adapters.md").read_text(encoding="utf-8")
    said = [json.loads(text) for text in re.findall(r"`(\{.*?\})`", page) if '": ' in text]
    logged = [
        json.loads(line) for block in re.findall(r"```json\n(.*?)```", page, re.DOTALL) for line in block.splitlines()
    ]

    requests = {line["do"] for line in said if "do" in line}
    assert requests == {"hello", "reset", "perform", "observe", "offers", "errands", "launch", "close"}
    assert [error.message for line in said for error in validator("adapter").iter_errors(line)] == []
    assert len(logged) == 3
    assert [error.message for line in logged for error in validator("log").iter_errors(line)] == []


@pytest.mark.parametrize(
    ("definition", "request_"),
    [
        ("greeting", "hello"),
        ("observation", "observe"),
        ("offers", "offers"),
        ("errands", "errands"),
        ("ended", "launch"),
    ],
)
def test_an_answer_is_what_the_schema_says_of_its_request(definition: str, request_: str, lines: list[Any]) -> None:
    adapter = connect(command("well"), 30)
    assert isinstance(adapter, Killable)
    adapter.reset(Setting({}))
    adapter.observe()
    adapter.offers()
    adapter.errands()
    adapter.launch(Launch("clerk"), 1)
    adapter.close()

    (answer,) = (after["ok"] for before, after in pairwise(lines) if before.get("do") == request_)
    schema = json.loads((DIRECTORY / "adapter.schema.json").read_text(encoding="utf-8"))
    narrowed = {**schema, "oneOf": [{"$ref": f"#/$defs/{definition}"}]}
    assert list(validator("adapter").evolve(schema=narrowed).iter_errors(answer)) == []

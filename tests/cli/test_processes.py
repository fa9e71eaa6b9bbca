"""The command line as a process of its own: exit codes, terminals, pipes, interrupts, start-up."""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LAMP = Path(__file__).parent / "data" / "lamp.yaml"
COMMAND = [sys.executable, "-m", "checker"]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    variables = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "COLUMNS"}}
    return variables | {"PYTHONPATH": str(ROOT), "KILLPOINT_CACHE": str(tmp_path / "cache"), "TERM": "xterm"}


@pytest.fixture
def here(tmp_path: Path) -> Path:
    directory = tmp_path / "here"
    directory.mkdir()
    shutil.copy(LAMP, directory / "lamp.yaml")
    text = LAMP.read_text(encoding="utf-8").replace("breaks: [lit_once], because: the", "because: the")
    (directory / "broken.yaml").write_text(text, encoding="utf-8")
    return directory


def run(here: Path, environment: Mapping[str, str], *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*COMMAND, *arguments], cwd=here, env=environment, capture_output=True, check=False, timeout=120
    )


class Terminal:
    """A process whose three streams are a terminal."""

    def __init__(self, here: Path, environment: Mapping[str, str], *arguments: str) -> None:
        import pty

        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [*COMMAND, *arguments],
            cwd=here,
            env=environment,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        self.text = ""

    def wait_for(self, text: str, seconds: float = 60) -> None:
        end = time.monotonic() + seconds
        while text not in self.text:
            assert time.monotonic() < end, self.text
            self._read(end)

    def finish(self) -> int:
        while self._read(time.monotonic() + 60):
            pass
        code = self.process.wait(60)
        os.close(self.master)
        return code

    def _read(self, end: float) -> bool:
        ready, _, _ = select.select([self.master], [], [], max(0, end - time.monotonic()))
        try:
            data = os.read(self.master, 65536) if ready else b""
        except OSError:  # how Linux says that the other end is closed
            return False
        self.text += data.decode(errors="replace")
        return bool(data)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["check", "lamp.yaml"], 0),
        (["check", "broken.yaml"], 1),
        (["check", "missing.yaml"], 2),
        (["check", "--no-such-option"], 2),
        (["explore", "lamp.yaml", "--max-states", "3"], 3),
        (["explore", "lamp.yaml", "--allow", "crash=0", "--set", "limit=2"], 0),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_the_process_ends_with_the_code(
    here: Path, environment: Mapping[str, str], arguments: list[str], code: int
) -> None:
    done = run(here, environment, *arguments)

    assert done.returncode == code, done.stdout + done.stderr
    assert b"Traceback" not in done.stdout + done.stderr


def test_a_pipe_gets_no_colour_and_no_progress(here: Path, environment: Mapping[str, str]) -> None:
    done = run(here, environment, "check", "broken.yaml", "lamp.yaml")

    assert b"\x1b" not in done.stdout + done.stderr
    assert b"\r" not in done.stdout + done.stderr
    assert done.stderr == b""


def test_a_terminal_gets_colour(here: Path, environment: Mapping[str, str]) -> None:
    terminal = Terminal(here, environment, "check", "broken.yaml")

    assert terminal.finish() == 1
    assert "\x1b[" in terminal.text
    assert "lit_once" in terminal.text


@pytest.mark.parametrize("variable", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_terminal_that_wants_no_colour_gets_none(
    here: Path, environment: Mapping[str, str], variable: Mapping[str, str]
) -> None:
    terminal = Terminal(here, {**environment, **variable}, "check", "broken.yaml")

    assert terminal.finish() == 1
    assert "\x1b" not in terminal.text


def test_what_is_explained_on_a_terminal_is_rendered(here: Path, environment: Mapping[str, str]) -> None:
    terminal = Terminal(here, environment, "explain", "KP201")

    assert terminal.finish() == 0
    assert "```" not in terminal.text


@pytest.mark.slow
def test_ctrl_c_ends_with_what_is_known_so_far(here: Path, environment: Mapping[str, str]) -> None:
    terminal = Terminal(here, environment, "explore", "two_phase_commit", "--set", "managers=9", "--workers", "1")
    terminal.wait_for("layer ")
    assert "states" in terminal.text
    assert "MiB" in terminal.text
    terminal.process.send_signal(signal.SIGINT)

    assert terminal.finish() == 3, terminal.text
    assert "interrupted" in terminal.text
    assert "not explored to the end: interrupted" in terminal.text
    assert "Traceback" not in terminal.text


@pytest.mark.slow
def test_a_second_ctrl_c_ends_at_once(here: Path, environment: Mapping[str, str]) -> None:
    terminal = Terminal(here, environment, "explore", "two_phase_commit", "--set", "managers=9", "--workers", "1")
    terminal.wait_for("layer ")
    terminal.process.send_signal(signal.SIGINT)
    terminal.wait_for("once more to end at once")
    terminal.process.send_signal(signal.SIGINT)

    assert terminal.finish() == -signal.SIGINT, terminal.text
    assert "Traceback" not in terminal.text


def test_a_reader_that_has_seen_enough_is_no_error(here: Path, environment: Mapping[str, str]) -> None:
    process = subprocess.Popen(
        [*COMMAND, "show", "killed_workflow"], cwd=here, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    process.wait(60)

    assert errors == b""


def test_a_stream_that_is_no_unicode_gets_escapes(here: Path, environment: Mapping[str, str]) -> None:
    done = run(here, {**environment, "PYTHONIOENCODING": "ascii"}, "check", "lamp.yaml")

    assert done.returncode == 0
    assert b"\\u2713 baseline" in done.stdout


def test_a_file_name_cannot_move_the_cursor(here: Path, environment: Mapping[str, str]) -> None:
    name = "a\x1b[2Jb.yaml"
    shutil.copy(LAMP, here / name)
    done = run(here, environment, "check", name, "no\x1b[2Jfile.yaml")
    found = run(here, environment, "check", name)

    assert (done.returncode, found.returncode) == (2, 0)
    assert b"\x1b" not in done.stdout + done.stderr + found.stdout + found.stderr


def test_help_loads_neither_an_engine_nor_a_renderer() -> None:
    commands = "main(['--help']); main(['check', 'missing.yaml'])"
    program = f"import sys; from checker.cli import main; {commands}; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())

    assert loaded & {"numpy", "rich", "jinja2", "networkx", "z3", "checker.engines.columnar"} == set()


# --- What is installed ---


def start_with(tmp_path: Path, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Start in a way that finds another package `model` first."""
    return subprocess.run(
        [sys.executable, "-c", "import sys; from checker.cli import main; sys.exit(main(['show', 'killed_workflow']))"],
        cwd=tmp_path,
        env={**environment, "PYTHONPATH": f"{tmp_path / 'foreign'}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("regular", [True, False])
def test_another_package_called_model_is_named(tmp_path: Path, environment: Mapping[str, str], regular: bool) -> None:
    foreign = tmp_path / "foreign" / "model"
    foreign.mkdir(parents=True)
    if regular:
        (foreign / "__init__.py").touch()
    done = start_with(tmp_path, environment)

    # A directory without `__init__.py` gives way to ours, which has one.
    assert done.returncode == (2 if regular else 0), done.stderr
    assert "Traceback" not in done.stderr
    if regular:
        assert f"the package `model` is taken from {foreign}" in done.stderr


def test_an_internal_error_asks_to_be_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from checker.cli import main

    monkeypatch.setattr("checker.commands.show.load_one", lambda _: 1 // 0)
    code = main(["show", "killed_workflow"])
    out, err = capsys.readouterr()

    assert (code, out) == (70, "")
    assert "ZeroDivisionError" in err
    assert "Please report it" in err


def test_engines_that_disagree_exit_with_five(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from checker.cli import main
    from checker.trace import EngineDisagreement

    def contradict(_: str) -> None:
        raise EngineDisagreement("two engines, two answers")

    monkeypatch.setattr("checker.commands.show.load_one", contradict)
    code = main(["show", "killed_workflow"])

    assert code == 5
    assert "engines disagree: two engines, two answers" in capsys.readouterr().err

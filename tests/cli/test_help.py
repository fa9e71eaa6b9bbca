"""The help: one face for all commands."""

from __future__ import annotations

import re
import shlex

import pytest
import typer.main
from typer.core import TyperCommand, TyperGroup

from checker.cli import app, main
from checker.cli.application import Purpose
from checker.commands.inputs import load_one

COMMANDS = typer.main.get_command(app)
assert isinstance(COMMANDS, TyperGroup)
NAMES = list(COMMANDS.commands)


def _command(name: str) -> TyperCommand:
    found = COMMANDS.commands[name]  # type: ignore[attr-defined]
    assert isinstance(found, TyperCommand)
    return found


def _examples(name: str) -> list[str]:
    return re.findall(r"(?m)^ +killpoint (.+)$", _command(name).epilog or "")


def test_every_command_is_listed_once_under_what_it_is_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    listed = capsys.readouterr().out.partition("-h, --help")[2]
    sections = re.findall(r"(?m)^([A-Z][a-z-]+):$", listed)
    assert sections == [purpose.value for purpose in Purpose if f"\n{purpose.value}:" in listed]
    assert sorted(re.findall(r"(?m)^  ([a-z]+) ", listed)) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_command_shows_an_example_that_its_options_accept(name: str) -> None:
    examples = _examples(name)
    assert examples
    for example in examples:
        first, *arguments = shlex.split(example)
        assert first == name
        context = _command(name).make_context(name, arguments)
        if isinstance(context.params.get("specification"), str) and context.params["specification"]:
            file = load_one(context.params["specification"]).file
            asked = [context.params.get("scenario"), context.params.get("mutant")]
            assert {each for each in asked if isinstance(each, str) and each} <= {*file.scenarios, *file.mutants}


@pytest.mark.parametrize("name", NAMES)
def test_the_same_flag_means_the_same_everywhere(name: str) -> None:
    """A flag has one long name, and a long name one flag; `--json`, `--timeout` and their like read alike."""
    meaning = {
        "-h": "--help",
        "-m": "--mutant",
        "-o": "--out",
        "-p": "--property",
        "-s": "--scenario",
    }
    for parameter in _command(name).params:
        short = [option for option in parameter.opts if re.fullmatch("-[a-z]", option)]
        long = [option for option in parameter.opts if option.startswith("--")]
        assert [meaning[option] for option in short] == long * bool(short)


def test_a_shell_can_complete_commands(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("_KILLPOINT_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "killpoint expl")
    monkeypatch.setenv("COMP_CWORD", "1")
    main([])
    assert capsys.readouterr().out.split() == ["explore", "explain"]

"""What README.md and docs/ show is what happens: commands are run, and numbers and tables compared with the files.

A `console` block holds commands, `$ …`, each followed by what it prints. They are run in a directory that has a copy of
spec/; a `diff` block edits a file there, a `yaml` block with a file name writes one, and at the next heading there is
a fresh directory. Compared are the texts at 112 columns, with

- durations (`2.7 s`) all the same, and
- a line `…` in the document, indented or not, standing for any number of lines.

Of `make` only the existence of the target is checked: it would run this test. With `UPDATE_README=1` in the
environment the outputs that have no `…`, and the table of protocols, are written anew.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from checker.cli import main
from checker.verdict import ExitCode, Verdict, worst
from model.loader import load_file
from tests.docs.markdown import ROOT, Block, blocks, documents, table

README = ROOT / "README.md"
SPEC = ROOT / "spec"
COLUMNS = 112
ELISION = "…"
UPDATING = os.environ.get("UPDATE_README") == "1"


@dataclass(frozen=True, slots=True)
class Session:
    """The blocks of one section, which share a directory."""

    blocks: tuple[Block, ...]

    def __str__(self) -> str:
        return str(self.blocks[0])


def sessions() -> list[Session]:
    """Return the sections of all documents that run something."""
    sections: dict[tuple[Path, int], list[Block]] = {}
    for document in documents():
        for block in blocks(document):
            # The tutorial is one long session: what a section has built the next one builds upon.
            section = 0 if document.name == "tutorial.md" else block.section
            sections.setdefault((document, section), []).append(block)
    return [Session(tuple(group)) for group in sections.values() if any(block.info == "console" for block in group)]


def commands(block: Block) -> Iterator[tuple[str, str]]:
    """Yield the commands of a block, each with what is said to come out."""
    parts = re.split(r"^\$ (.*)\n", block.text, flags=re.MULTILINE)
    assert parts[0] == "", f"{block} starts with no command"
    yield from zip(parts[1::2], parts[2::2], strict=True)


def normalised(text: str) -> list[str]:
    """Return the lines of an output without what differs from run to run."""
    return re.sub(r"\b\d+(\.\d+)? s\b", "N s", text).rstrip("\n").split("\n")


def matches(expected: list[str], actual: list[str]) -> bool:
    """Compare line by line; an elision in what is expected stands for any number of lines."""
    pieces: list[list[str]] = [[]]
    for line in expected:
        if line.strip() == ELISION:
            pieces.append([])
        else:
            pieces[-1].append(line)
    if len(pieces) == 1:
        return expected == actual
    first, *between, last = pieces
    if actual[: len(first)] != first or (last and actual[-len(last) :] != last):
        return False
    # Taking each piece where it comes first leaves the most room for those behind it.
    position, end = len(first), len(actual) - len(last)
    for piece in between:
        starts = range(position, end - len(piece) + 1)
        found = next((start for start in starts if actual[start : start + len(piece)] == piece), None)
        if found is None:
            return False
        position = found + len(piece)
    return position <= end


def has_elision(expected: str) -> bool:
    """Tell whether lines were left out by hand, which no program can do again."""
    return any(line.strip() == ELISION for line in expected.splitlines())


def edit(block: Block, directory: Path) -> None:
    """Apply a diff, whose removed and unchanged lines must be found exactly once."""
    head, *lines = block.text.splitlines()
    path = directory / head.removeprefix("--- ")
    before = "".join(f"{line[1:]}\n" for line in lines if line[0] in " -")
    after = "".join(f"{line[1:]}\n" for line in lines if line[0] in " +")
    text = path.read_text(encoding="utf-8")
    assert text.count(before) == 1, f"{block}: {head} has these lines {text.count(before)} times"
    path.write_text(text.replace(before, after), encoding="utf-8")


def make_targets() -> set[str]:
    """Return the targets of the Makefile."""
    return set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def rewrite(document: Path, old: str, new: str) -> None:
    """Put what is printed now into a document, in the place of what was printed once."""
    text = document.read_text(encoding="utf-8")
    assert old in text
    document.write_text(text.replace(old, new, 1), encoding="utf-8")


class Shell:
    """Runs the commands of one session in its directory."""

    def __init__(self, directory: Path, capture: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch) -> None:
        self.directory = directory
        self.capture = capture
        self.patch = patch
        self.code: int = ExitCode.AS_DECLARED
        self.runs = 0

    def run(self, command: str) -> str:
        """Return what a command prints, results and errors."""
        match command.split():
            case ["printf", *_] if " | killpoint " in command:
                typed, _, rest = command.partition(" | ")
                (text,) = shlex.split(typed)[1:]
                self.patch.setattr(sys, "stdin", io.StringIO(text.encode().decode("unicode_escape")))
                return self.run(rest)
            case ["killpoint", *_]:
                self.runs += 1
                self.patch.setenv("KILLPOINT_CACHE", str(self.directory / f"cache{self.runs}"))
                self.patch.setattr(sys, "stderr", sys.stdout)  # both in the order in which a terminal shows them
                self.capture.readouterr()
                self.code = main(shlex.split(command)[1:])
                return self.capture.readouterr().out
            case ["echo", "$?"]:
                return f"{int(self.code)}\n"
            case ["make", target]:
                assert target in make_targets()
                return ""
            case _:
                raise AssertionError(f"this test cannot run `{command}`")

    def show(self, block: Block) -> None:
        """Run the commands of a block and compare what they print."""
        shown = ""
        for command, expected in commands(block):
            printed = self.run(command)
            same = matches(normalised(expected), normalised(printed))
            if not same and not (UPDATING and not has_elision(expected)):
                raise AssertionError(f"{block}: `{command}` prints\n\n{printed}\nand the document says\n\n{expected}")
            shown += f"$ {command}\n{expected if same else printed}"
        if shown != block.text:
            fences = f"{block.fence}console\n", block.fence
            rewrite(block.path, block.text.join(fences), shown.join(fences))


@pytest.mark.parametrize("session", sessions(), ids=str)
def test_commands_print_what_the_document_shows(
    session: Session, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(SPEC, tmp_path / "spec")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", str(COLUMNS))
    monkeypatch.setenv("NO_COLOR", "1")
    shell = Shell(tmp_path, capsys, monkeypatch)

    for block in session.blocks:
        kind, *name = block.info.split(" ")
        if kind == "console":
            shell.show(block)
        elif kind == "diff":
            edit(block, tmp_path)
        elif kind == "yaml" and name:
            (tmp_path / name[0]).write_text(block.text, encoding="utf-8")


def test_the_readme_runs_check_trace_show_explore_and_explain() -> None:
    shown = {
        command.split()[1]
        for session in sessions()
        for block in session.blocks
        if block.path == README and block.info == "console"
        for command, _ in commands(block)
        if command.startswith("killpoint ")
    }

    assert shown >= {"check", "trace", "show", "explore", "explain"}


def test_an_elision_stands_for_any_lines_and_nothing_else_does() -> None:
    assert matches(["a", ELISION, "d"], ["a", "b", "c", "d"])
    assert matches(["a", ELISION], ["a"])
    assert matches([ELISION, "b", ELISION, "b"], ["a", "b", "b"])
    assert not matches([ELISION, "b", ELISION, "b"], ["a", "b"])
    assert not matches(["a", ELISION, "a"], ["a"])
    assert not matches(["a", ELISION, "d"], ["a", "b", "c"])
    assert not matches(["a", "b"], ["a", "x"])
    assert normalised("explored  2.7 s\n") == normalised("explored  13 s\n")
    assert normalised("380 states\n") != normalised("381 states\n")


def test_the_verdicts_are_those_there_are() -> None:
    assert [row[0] for row in table(README, "Verdicts and exit codes")] == [f"`{verdict.value}`" for verdict in Verdict]


def test_the_exit_codes_are_those_there_are() -> None:
    assert [int(row[0]) for row in table(README, "Exit codes")] == [int(code) for code in ExitCode]


def test_of_several_exit_codes_the_first_in_the_readmes_order_is_returned() -> None:
    (order,) = re.findall(r"the first of ((?:\d+, )+\d+) is returned", README.read_text(encoding="utf-8"))
    codes = [ExitCode(int(code)) for code in order.split(", ")]

    assert set(codes) == set(ExitCode) - {ExitCode.AS_DECLARED}
    assert all(worst(reversed(codes[position:])) is code for position, code in enumerate(codes))


def protocols() -> list[str]:
    """Return the rows of the table of protocols, from the files themselves."""
    rows = []
    for path in [*sorted(SPEC.glob("*.yaml")), *sorted((SPEC / "classics").glob("*.yaml"))]:
        file = load_file(path)
        breaking = sum(bool(scenario.breaks) for scenario in file.scenarios.values())
        name = path.relative_to(ROOT).as_posix()
        counts = f"{len(file.scenarios) - breaking} | {breaking} | {len(file.mutants)}"
        rows.append(f"| [{path.stem}]({name}) | {file.specification.title} | {counts} |")
    return rows


def test_the_table_of_protocols_is_that_of_the_files() -> None:
    shown = [f"| {' | '.join(row)} |" for row in table(README, "The protocols")]

    if UPDATING and shown != protocols():
        rewrite(README, "\n".join(shown), "\n".join(protocols()))
    else:
        assert shown == protocols(), "run this test with UPDATE_README=1"

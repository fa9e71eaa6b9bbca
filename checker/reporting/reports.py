"""The repository's own record of what was checked: `reports/`.

Everything but `run.json` is the same wherever the same specifications are checked: it says the command, hashes and
what came out, and nothing of when, where or how fast. So a reviewer sees in a diff what a change does to the verdicts,
and CI sees whether the record is stale. What is true of one run only — commit, versions, times — goes to `run.json`,
which is not committed.
"""

from __future__ import annotations

import json
import platform
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from checker.identity import claim_hash, file_hash
from checker.judgement import PropertyReport, ScenarioReport
from checker.reporting.claims import lengths, mark
from checker.reporting.envelope import MEANING, Document, written
from checker.reporting.files import write_all
from checker.reporting.findings import answer_document, answers_of, findings_markdown
from checker.reporting.incidents import incidents_markdown
from checker.reporting.markdown import cell
from checker.results import CheckedFile, exit_code_of
from checker.verdict import ExitCode
from model.bundled import specification_directory

_HASH_SHOWN = 12


def checkout_root() -> Path | None:
    """Return the root of the repository that this killpoint runs from; None where it is installed elsewhere."""
    try:
        directory = specification_directory()
    except FileNotFoundError:
        return None
    root = directory.parent
    return root if directory.name == "spec" and (root / "pyproject.toml").is_file() else None


def write_reports(directory: Path, root: Path, command: str, version: str, checked: Sequence[CheckedFile]) -> None:
    """Write the reports; file names in them are relative to `root`.

    Raises:
        OSError: the directory cannot be written to; what was there before is unchanged.
    """
    directory.mkdir(parents=True, exist_ok=True)
    in_order = sorted(checked, key=lambda each: _name(each, root))
    named = [(_name(each, root), each) for each in in_order]
    run = {**_of_other_commands(directory), **_run_document(root, version, in_order)}
    write_all(
        {
            directory / "summary.md": summary_markdown(command, root, in_order),
            directory / "findings.md": findings_markdown(command, [one for one in named if not one[1].file.pattern]),
            directory / "incidents.md": incidents_markdown(command, [one for one in named if one[1].file.pattern]),
            directory / "summary.json": written(summary_document(command, root, in_order)),
            directory / "run.json": written(run),
        }
    )


def write_proofs(directory: Path, text: str, seconds: Mapping[str, Mapping[str, float]]) -> None:
    """Write the record of proofs, and how long they took into `run.json` beside what is there.

    Raises:
        OSError: the directory cannot be written to.
    """
    directory.mkdir(parents=True, exist_ok=True)
    run = {**read_run(directory), "proofs": {name: dict(each) for name, each in seconds.items()}}
    write_all({directory / "proofs.md": text, directory / "run.json": written(run)})


def read_run(directory: Path) -> dict[str, Any]:
    """Return what `run.json` says of earlier runs; nothing where there is none."""
    try:
        document = json.loads((directory / "run.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return document if isinstance(document, dict) else {}


def _of_other_commands(directory: Path) -> Document:
    return {key: value for key, value in read_run(directory).items() if key in ("conformance", "mutation", "proofs")}


def record_name(path: Path, root: Path) -> str:
    """Return the name of a file in the record."""
    resolved = path.resolve()
    return resolved.relative_to(root).as_posix() if resolved.is_relative_to(root) else path.as_posix()


def _name(checked: CheckedFile, root: Path) -> str:
    return record_name(checked.path, root)


# --- For programs ---


def summary_document(command: str, root: Path, checked: Sequence[CheckedFile]) -> Document:
    """Return the summary as JSON."""
    code = exit_code_of(checked)
    return {
        "command": command,
        "exit_code": int(code),
        "outcome": MEANING[code],
        "files": [_file(each, _name(each, root)) for each in checked],
    }


def _file(checked: CheckedFile, name: str) -> Document:
    report = checked.report
    return {
        "file": name,
        "protocol": report.protocol,
        "title": report.title,
        "sha256": file_hash(checked.file.source),
        "exit_code": int(report.exit_code),
        "scenarios": [_claim(checked, claim) for claim in report.scenarios],
        "mutants": [_claim(checked, claim) for claim in report.mutants],
        "questions": [answer_document(answer) for answer in answers_of(checked)],
        "used": {tally.kind.value: [tally.used, tally.total] for tally in report.teeth.tallies},
        "unused": {unused.name: unused.excuse for unused in report.teeth.unused},
    }


def _claim(checked: CheckedFile, report: ScenarioReport) -> Document:
    exploration = report.exploration
    return {
        "name": report.name,
        "sha256": claim_hash(checked.file.source, checked.claim(report), exploration.system),
        "verdict": report.verdict.value,
        "exit_code": int(report.exit_code),
        "states": exploration.states,
        "transitions": exploration.transitions,
        "depth": exploration.depth,
        "properties": {asked.name: [asked.verdict.value, _length(asked)] for asked in report.properties},
        "problems": [problem.message for problem in report.problems],
    }


def _length(asked: PropertyReport) -> int | None:
    return None if asked.finding is None else len(asked.finding.trace)


def _run_document(root: Path, version: str, checked: Sequence[CheckedFile]) -> Document:
    return {
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "commit": _git(root, "rev-parse", "HEAD"),
        "changed_since": _git(root, "status", "--porcelain", "--", "model", "checker", "spec") not in {"", None},
        "killpoint": version,
        "python": platform.python_version(),
        "system": platform.platform(),
        "seconds": {_name(each, root): round(each.seconds, 3) for each in checked},
        "cached": {_name(each, root): sorted(each.cached) for each in checked},
    }


def _git(root: Path, *arguments: str) -> str | None:
    """Return what git says of the repository; None where there is no git, or no repository."""
    program = shutil.which("git")
    if program is None:
        return None
    command = [program, "-c", f"safe.directory={root}", "-C", str(root), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - fixed arguments
    return done.stdout.strip() if done.returncode == 0 else None


# --- For people ---


def summary_markdown(command: str, root: Path, checked: Sequence[CheckedFile]) -> str:
    """Return the summary as Markdown."""
    return "\n".join(_lines(command, root, checked)) + "\n"


def _lines(command: str, root: Path, checked: Sequence[CheckedFile]) -> Iterator[str]:
    yield "# What was checked"
    yield ""
    yield f"Made by `{command}`; do not edit. Together: **{MEANING[exit_code_of(checked)]}**."
    yield ""
    yield "States are distinct ones, transitions are counted path by path, depth counts levels with the initial one. A"
    yield "number behind a property is the length of its shortest trace, in transitions."
    for each in checked:
        yield from _file_lines(each, _name(each, root))


def _file_lines(checked: CheckedFile, name: str) -> Iterator[str]:
    report = checked.report
    yield ""
    yield f"## {cell(report.title or report.protocol)}"
    yield ""
    yield f"`{name}`, SHA-256 `{file_hash(checked.file.source)[:_HASH_SHOWN]}…`"
    for heading, reports in (("Scenario", report.scenarios), ("Mutant", report.mutants)):
        if reports:
            yield ""
            yield f"| {heading} | | Verdict | States | Transitions | Depth | |"
            yield "|---|---|---|--:|--:|--:|---|"
            yield from (_row(claim) for claim in reports)
    teeth = report.teeth
    if teeth.tallies:
        tallies = (
            f"{tally.used} of {tally.total} {tally.kind.value}{'s' * (tally.total != 1)}" for tally in teeth.tallies
        )
        yield ""
        yield f"In use: {', '.join(tallies)}."
    for unused in teeth.unused:
        yield ""
        yield f"Never used: `{cell(unused.name)}`{f' ({cell(unused.excuse)})' if unused.excuse else ''}."


def _row(report: ScenarioReport) -> str:
    exploration = report.exploration
    notes = [problem.message for problem in report.problems]
    broken = tuple(asked for asked in report.properties if asked.broken)
    if broken:
        notes.append(", ".join(lengths(broken)))
    why = report.because or report.survives
    if why and report.exit_code is ExitCode.AS_DECLARED:
        notes.append(why)
    cells = [
        report.name,
        mark(report.exit_code)[1],
        report.verdict.value,
        f"{exploration.states:,}",
        f"{exploration.transitions:,}",
        f"{exploration.depth}",
        ": ".join(notes) if len(notes) == 2 and why else "; ".join(notes),
    ]
    return f"| {' | '.join(cell(text) for text in cells)} |".replace("|  |", "| |")

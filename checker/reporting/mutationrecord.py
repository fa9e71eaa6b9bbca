"""The repository's own record of mutants: `reports/mutation.md`.

`killpoint mutate --fail-on-survivors` writes it whenever it has gone over all bundled specifications. Everything in it
is the same wherever the same files are gone over; how long that took goes to `run.json`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from checker.identity import file_hash
from checker.mutation.fates import Fate, MutationReport
from checker.reporting.envelope import written
from checker.reporting.files import write_all
from checker.reporting.markdown import cell, inline
from checker.reporting.reports import read_run
from model.specification import SpecificationFile

Recorded = Mapping[str, tuple[SpecificationFile, MutationReport]]
"""What was found out of each file, by its name in the record."""

_NAME = "mutation"

_COLUMNS = (Fate.KILLED, Fate.ERROR, Fate.VACUOUS, Fate.INVALID, Fate.NARROWER)


def write_mutation(directory: Path, command: str, files: Recorded) -> None:
    """Write the record, and how long each file took into `run.json` beside what is there.

    Raises:
        OSError: the directory cannot be written to; what was there before is unchanged.
    """
    directory.mkdir(parents=True, exist_ok=True)
    seconds = {name: round(report.seconds, 3) for name, (_, report) in sorted(files.items())}
    run = {**read_run(directory), _NAME: seconds}
    text = mutation_markdown(command, dict(sorted(files.items())))
    write_all({directory / f"{_NAME}.md": text, directory / "run.json": written(run)})


def mutation_markdown(command: str, files: Recorded) -> str:
    """Return the record as Markdown."""
    return "\n".join(_lines(command, files)) + "\n"


def _lines(command: str, files: Recorded) -> Iterator[str]:
    reports = [report for _, report in files.values()]
    yield "# Whether the claims notice when a protocol is changed"
    yield ""
    yield f"Made by `{command}`; do not edit."
    yield "[docs/mutation.md](../docs/mutation.md) says what is changed and what the words mean. *Equivalent* are the"
    yield "survivors for which a file gives a reason, *left* those for which it gives none. A kill is credited to all"
    yield "properties that break in the scenario that was first to notice."
    yield ""
    yield "| Specification | Mutants | Killed | Err | Vacuous | Invalid | Narrower | Equivalent | Left |"
    yield f"|---|{'--:|' * 8}"
    yield from (_row(f"`{name}`", _numbers([report])) for name, (_, report) in files.items())
    if len(files) > 1:
        yield _row("together", _numbers(reports))
    for name, (file, report) in files.items():
        yield from _file_lines(name, file, report)


def _numbers(reports: Sequence[MutationReport]) -> list[int]:
    survive = sum(len(report.of(Fate.SURVIVED)) for report in reports)
    left = sum(len(report.unexplained) for report in reports)
    fates = [sum(len(report.of(fate)) for report in reports) for fate in _COLUMNS]
    return [sum(len(report.decided) for report in reports), *fates, survive - left, left]


def _row(first: str, numbers: Sequence[int]) -> str:
    return f"| {first} | {' | '.join(f'{number:,}' for number in numbers)} |"


def _file_lines(name: str, file: SpecificationFile, report: MutationReport) -> Iterator[str]:
    yield ""
    yield f"## {inline(report.title or report.protocol)}"
    yield ""
    yield f"`{name}`, SHA-256 `{file_hash(file.source)}`"
    yield ""
    asked = ", ".join(f"`{held.scenario.name}`" for held in report.scenarios)
    yield f"Asked: {asked or 'no scenario, for none holds'}."
    for scenario in report.left_out:
        yield f"Not asked: `{scenario}`, which does not hold."
    killing = [credit for credit in report.credits if credit.kills]
    if killing:
        yield ""
        yield "| Property | Kills | Of these alone |"
        yield "|---|--:|--:|"
        yield from (_row(cell(credit.property), [credit.kills, len(credit.alone)]) for credit in killing)
    idle = [f"`{credit.property}`" for credit in report.credits if not credit.kills]
    if idle:
        yield ""
        yield f"Kill no mutant: {', '.join(idle)}."
    yield from _survivor_lines(report)
    for stale in report.stale:
        yield ""
        yield f"Stale reason: {stale.message}."


def _survivor_lines(report: MutationReport) -> Iterator[str]:
    """Yield each reason with the survivors that it explains, and then what nothing explains."""
    by_reason: dict[str, list[str]] = {}
    for each in report.of(Fate.SURVIVED):
        by_reason.setdefault(each.explained, []).append(f"`{' '.join(each.mutant.id.split())}`")
    left = by_reason.pop("", [])
    if by_reason or left:
        yield ""
    for reason, names in by_reason.items():
        yield f"- {inline(reason)}"
        yield from (f"    - {name}" for name in names)
    if left:
        yield "- **nothing explains**"
        yield from (f"    - {name}" for name in left)

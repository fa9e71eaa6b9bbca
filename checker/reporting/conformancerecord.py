"""The repository's own record of what implementations were held against: `reports/conformance.md`.

`killpoint conform` writes one part of it and `killpoint kill` the other, each whenever it has gone over all bundled
specifications. Everything in it is the same wherever the same files are run; what is not goes to `run.json`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from checker.reporting.envelope import Document, written
from checker.reporting.files import write_all
from checker.reporting.markdown import cell, inline
from checker.reporting.reports import read_run

Part = Literal["driven", "killed"]

_NAME = "conformance"

_DRIVEN_KEYS = ("name", "sha256", "mode", "states", "transitions", "wanted", "covered", "runs", "actions", "walks")
_WALK_KEYS = ("walks", "taken", "refused")


def record_part(
    directory: Path, part: Part, command: str, files: Mapping[str, Document], seconds: Mapping[str, Mapping[str, float]]
) -> None:
    """Replace one part of the record; `files` has the documents of a command by the names of the files.

    Raises:
        OSError: the directory cannot be written to; what was there before is unchanged.
    """
    directory.mkdir(parents=True, exist_ok=True)
    record = _read(directory)
    record["format"] = 1
    condensed = {name: _condensed(part, document) for name, document in sorted(files.items())}
    record[part] = {"command": command, "files": condensed}
    run = read_run(directory)
    run[_NAME] = {**run.get(_NAME, {}), part: {name: dict(each) for name, each in seconds.items()}}
    write_all(
        {
            directory / f"{_NAME}.json": written(dict(sorted(record.items()))),
            directory / f"{_NAME}.md": conformance_markdown(record),
            directory / "run.json": written(run),
        }
    )


def _read(directory: Path) -> dict[str, Any]:
    try:
        document = json.loads((directory / f"{_NAME}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return document if isinstance(document, dict) and document.get("format") == 1 else {}


def _condensed(part: Part, document: Document) -> Document:
    """Return of the document of a file what belongs into the record."""
    scenarios: Any = document["scenarios"]
    return {
        "title": document["title"] or document["protocol"],
        "sha256": document["sha256"],
        "implementation": document["implementation"],
        "scenarios": [_driven(each) if part == "driven" else _killed(each) for each in scenarios],
    }


def _driven(scenario: Mapping[str, Any]) -> Document:
    walks = scenario.get("walks")
    shown = {key: scenario[key] for key in _DRIVEN_KEYS if key in scenario}
    return {**shown, "walks": None if walks is None else {key: walks[key] for key in _WALK_KEYS}}


def _killed(scenario: Mapping[str, Any]) -> Document:
    return {key: scenario[key] for key in ("name", "sha256", "errands", "killed_at", "counted", "kill_points")}


# --- For people ---


def conformance_markdown(record: Mapping[str, Any]) -> str:
    """Return the record as Markdown."""
    return "\n".join(_lines(record)) + "\n"


def _lines(record: Mapping[str, Any]) -> Iterator[str]:
    driven, killed = (record.get(part, {"command": "", "files": {}}) for part in ("driven", "killed"))
    commands = " and ".join(f"`{part['command']}`" for part in (driven, killed) if part["command"])
    yield "# What implementations were held against"
    yield ""
    yield f"Made by {commands}; do not edit."
    yield "[docs/adapters.md](../docs/adapters.md) and [docs/killing.md](../docs/killing.md) say what that means."
    yield ""
    yield "*Driven*: each run is a way through the model that the implementation takes step by step, and after each"
    yield "action everything that can be observed must be what the model says. *Walks* go the other way: the"
    yield "implementation does something at random, and that must be a run of the model."
    yield ""
    yield "*Killed*: processes of their own get a SIGKILL at each kill point that they come by, one run after the"
    yield "other, and so does each recovery (*pairs*). Every run must be a run of the model, and the kill points of"
    yield "both must be the same."
    for name in sorted({*driven["files"], *killed["files"]}):
        yield from _file_lines(name, driven["files"].get(name), killed["files"].get(name))


def _file_lines(name: str, driven: Mapping[str, Any] | None, killed: Mapping[str, Any] | None) -> Iterator[str]:
    either = driven or killed
    assert either is not None
    yield ""
    yield f"## {inline(either['title'])}"
    yield ""
    yield f"`{name}`, held against `{either['implementation']}`"
    if driven is not None:
        yield from _driven_lines(driven["scenarios"])
    if killed is not None:
        yield from _killed_lines(killed["scenarios"])


def _driven_lines(scenarios: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield ""
    yield "| Driven | Covered | Of | | Runs | Actions | Walks | Their actions |"
    yield "|---|--:|--:|---|--:|--:|--:|--:|"
    for each in scenarios:
        what = "transitions" if each["mode"] == "transitions" else "pairs of step path and situation"
        walks = each["walks"] or {"walks": 0, "taken": 0}
        numbers = [f"{each[key]:,}" for key in ("runs", "actions")] + [f"{walks[key]:,}" for key in ("walks", "taken")]
        share = "100 %" if each["covered"] == each["wanted"] else f"{each['covered']:,}"
        yield _row([each["name"], share, f"{each['wanted']:,}", what, *numbers])


def _killed_lines(scenarios: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield ""
    yield "| Killed | Errand | Runs | Kills | Pairs | Processes |"
    yield "|---|---|--:|--:|--:|--:|"
    for scenario in scenarios:
        errands = scenario["errands"]
        keys = ("runs", "kills", "pairs", "processes")
        for errand in errands:
            yield _row([scenario["name"], errand["name"], *(f"{errand[key]:,}" for key in keys)])
        if len(errands) > 1:
            sums = [f"{sum(errand[key] for errand in errands):,}" for key in keys]
            yield _row([scenario["name"], "(altogether)", *sums])
    yield ""
    for scenario in scenarios:
        yield f"- {inline(scenario['name'])}: {'; '.join(_kill_facts(scenario))}."


def _kill_facts(scenario: Mapping[str, Any]) -> Iterator[str]:
    gate = scenario["kill_points"]
    if gate is not None:
        missing = [*gate["never_reached"], *gate["excused"]]
        yield f"{len(gate['model']) - len(missing)} of {len(gate['model'])} kill points of the model were come by"
        for point, reason in gate["excused"].items():
            yield f"`{point}` never: {inline(reason)}"
    for name, counted in scenario["counted"].items():
        yield f"`{name}` at most {counted['most']} in a run"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(cell, cells))} |"

"""A change of protocol as Markdown, fit for a comment on a pull request, and as a document."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

from checker.backends.smt.differences import RowChange
from checker.backends.smt.situations import Situation
from checker.difference.claims import Turn
from checker.difference.comparing import Difference, Reached
from checker.difference.declarations import KINDS
from checker.exploration import Finding
from checker.reporting.documents import trace_document, value_document
from checker.reporting.envelope import Document
from checker.reporting.lanes import Conclusion, shown_value, trace_lines
from checker.reporting.markdown import cell, inline
from checker.reporting.texts import FileTexts
from checker.verdict import Verdict
from model.system import TransitionSystem
from model.types import Value

_TRACE_WIDTH = 110
_SITUATIONS_SHOWN = 12
_TOLD_FIRST = 6

_PLURALS = {"property": "properties", "process": "processes"}


def difference_markdown(difference: Difference) -> str:
    """Return what a change means, the most important first."""
    parts = [
        _head(difference),
        _turned(difference, worse=True),
        _turned(difference, worse=False),
        _claims(difference),
        _tables(difference),
        _declarations(difference),
        _steps(difference),
        _situations(difference),
        _open(difference),
    ]
    return "\n".join(line for part in parts for line in part)


def _head(difference: Difference) -> Iterator[str]:
    old, new = difference.old.source.file, difference.new.source.file
    yield f"# {inline(difference.new.specification.name)}: what the change means"
    yield ""
    yield f"`{old}` → `{new}`" if old != new else f"`{new}`"
    yield ""
    worse = difference.worse
    if worse:
        told = [*map(inline, worse[:_TOLD_FIRST]), *([f"{len(worse) - _TOLD_FIRST} more"] * (len(worse) > _TOLD_FIRST))]
        yield f"**Less safe:** {'; '.join(told)}."
    else:
        count = len(difference.posed)
        yield f"**Nothing got less safe** in {_counted(count, 'scenario')} of the old version, put to the new one."
    yield ""


def _turned(difference: Difference, *, worse: bool) -> Iterator[str]:
    turns = [turn for turn in difference.turns if turn.worse is worse]
    if not turns:
        return
    yield "## Less safe: held before, and breaks now" if worse else "## Safer: broke before, and holds now"
    yield ""
    shortest: dict[str, Turn] = {}
    for turn in turns:
        found = shortest.setdefault(turn.claim, turn)
        if _length(turn) < _length(found):
            shortest[turn.claim] = turn
    for claim, turn in shortest.items():
        where = [each for each in turns if each.claim == claim]
        under = ", ".join(f"{inline(each.scenario)}{_without(each)}" for each in where)
        yield f"- **{inline(claim)}** {_came_out(turn)} under {under}{_needs(where)}"
    yield ""
    for claim, turn in shortest.items():
        if turn.finding is not None and turn.system is not None:
            which = "in the new version" if worse else "in the old version"
            summary = (
                f"{inline(claim)}, {which}, {_counted(_length(turn), 'transition')}, scenario {inline(turn.scenario)}"
            )
            yield from _folded(summary, _trace(turn.system, turn.finding, f"{claim} breaks"))


def _came_out(turn: Turn) -> str:
    words = {
        Verdict.VIOLATED: "breaks",
        Verdict.VACUOUS: "is never reached",
        Verdict.ERROR: "has no value",
    }
    shown = turn.after if turn.worse else turn.before
    now = "now " if turn.worse else ""
    past = {"breaks": "broke", "is never reached": "was never reached", "has no value": "had no value"}
    word = words.get(shown, shown.value)
    length = f" after {_counted(_length(turn), 'transition')}" if turn.finding is not None else ""
    return f"{now}{word if turn.worse else past.get(word, word)}{length}"


def _without(turn: Turn) -> str:
    return f" (without {_listed(turn.left_out)}, which is gone)" if turn.left_out else ""


def _needs(turns: Sequence[Turn]) -> str:
    common = [fault for fault in turns[0].needs_off if all(fault in turn.needs_off for turn in turns)]
    return f"; it now needs that there is no {' or no '.join(map(inline, common))}" if common else ""


def _claims(difference: Difference) -> Iterator[str]:
    added, removed, _ = difference.changes.of("property")
    if not (added or removed or difference.claims):
        return
    yield "## Claims"
    yield ""
    for name in removed:
        yield f"- **{inline(name)}** is claimed no more"
    for name, strength in difference.claims:
        if strength.allows is not None and strength.forbids is not None:
            yield f"- **{inline(name)}** says something else: it now allows {_situation(strength.allows)}"
            yield f"  and forbids {_situation(strength.forbids)}"
        elif strength.allows is not None:
            yield f"- **{inline(name)}** is weaker: it now allows {_situation(strength.allows)}"
        elif strength.forbids is not None:
            yield f"- **{inline(name)}** is stronger: it now forbids {_situation(strength.forbids)}"
    for name in added:
        yield f"- {inline(name)} is new"
    yield ""


def _tables(difference: Difference) -> Iterator[str]:
    if not difference.tables:
        return
    yield "## Tables, where they give something else"
    yield ""
    yield "| table | for example where | before | now |"
    yield "|---|---|---|---|"
    for name, change in difference.tables:
        situation = ", ".join(f"{slot}={shown_value(value)}" for slot, value in change.situation) or "always"
        yield f"| {cell(name)} | {cell(situation)} | {_row(change, new=False)} | {_row(change, new=True)} |"
    yield ""


def _row(change: RowChange, *, new: bool) -> str:
    row, gives = (change.after, change.gives) if new else (change.before, change.gave)
    if not row:
        return "no row"
    said = ", ".join(f"{column}={value}" for column, value in gives)
    return f"{cell(row)}: {cell(said)}" if said else cell(row)


def _declarations(difference: Difference) -> Iterator[str]:
    lines = []
    for kind in KINDS:
        added, removed, changed = difference.changes.of(kind)
        if kind in ("row", "property", "step"):
            changed = []  # told by what they mean, or as text
        renamed = [(old, new) for k, old, new in difference.changes.renamed if k == kind]
        said = [
            *([f"added {_listed(added)}"] if added and kind != "property" else []),
            *([f"removed {_listed(removed)}"] if removed and kind != "property" else []),
            *([f"changed {_listed(changed)}"] if changed else []),
            *([f"renamed {', '.join(f'{inline(a)} → {inline(b)}' for a, b in renamed)}"] if renamed else []),
        ]
        if said:
            lines.append(f"- **{_PLURALS.get(kind, f'{kind}s')}**: {'; '.join(said)}")
    if lines:
        yield "## Declarations"
        yield ""
        yield from lines
        yield ""


def _steps(difference: Difference) -> Iterator[str]:
    _, _, changed = difference.changes.of("step")
    if not changed:
        return
    yield "## Steps that do something else"
    yield ""
    back = {difference.renaming.of("step", name): name for name in _step_names(difference)}
    old, new = FileTexts(difference.old.source), FileTexts(difference.new.source)
    for name in changed:
        before = old.step(*_split(back.get(name, name))).splitlines()
        after = new.step(*_split(name)).splitlines()
        lines = list(difflib.unified_diff(before, after, lineterm="", n=2))[3:]
        if lines:
            yield from _folded(inline(name), lines, "diff")
        else:
            yield f"- {inline(name)}: by a definition, a type or a name that it uses"
            yield ""


def _step_names(difference: Difference) -> Iterator[str]:
    for process in difference.old.specification.processes.values():
        yield from (step.id for step in process.steps)


def _split(name: str) -> tuple[str, str]:
    process, _, step = name.partition(".")
    return process, step


def _situations(difference: Difference) -> Iterator[str]:
    shown = [reached for reached in difference.reached if reached.newly or reached.gone]
    if not shown:
        return
    yield "## Situations"
    yield ""
    for reached in shown:
        variables = ", ".join(f"`{name}`" for name in reached.variables)
        yield f"View `{reached.view}` ({variables}), scenario {inline(reached.scenario)}:"
        yield ""
        for word, found in (("newly reachable", reached.newly), ("gone", reached.gone)):
            if found:
                more = f" and {len(found) - _SITUATIONS_SHOWN} more" if len(found) > _SITUATIONS_SHOWN else ""
                listed = "; ".join(_values(values) for values in found[:_SITUATIONS_SHOWN])
                yield f"- {word}: {listed}{more}"
        yield ""


def _open(difference: Difference) -> Iterator[str]:
    lines = [f"- {inline(what)}: {inline(why)}" for what, why in difference.not_compared]
    lines += [
        f"- scenario {inline(name)}: a run was cut short, so nothing is said of it" for name in difference.undecided
    ]
    if lines:
        yield "## Not compared"
        yield ""
        yield from lines
        yield ""


def _folded(summary: str, lines: Sequence[str], language: str = "text") -> Iterator[str]:
    yield f"<details><summary>{summary}</summary>"
    yield ""
    yield f"```{language}"
    yield from lines
    yield "```"
    yield ""
    yield "</details>"
    yield ""


def _trace(system: TransitionSystem, finding: Finding, message: str) -> list[str]:
    lines = trace_lines(system, finding, Conclusion(False, message), _TRACE_WIDTH)
    return ["".join(text for _, text in line).rstrip() for line in lines]


def _situation(situation: Situation) -> str:
    return ", ".join(f"`{name}={shown_value(value)}`" for name, value in situation) or "everything"


def _values(values: Sequence[Value]) -> str:
    return " / ".join(f"`{shown_value(value)}`" for value in values)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(inline, names))


def _length(turn: Turn) -> int:
    return len(turn.finding.trace) if turn.finding is not None else 0


def _counted(number: int, word: str) -> str:
    return f"{number} {word}{'s' * (number != 1)}"


# --- The same as JSON ---


def difference_document(difference: Difference) -> Document:
    """Return what a change means as JSON."""
    changes = difference.changes
    return {
        "old": {"file": difference.old.source.file, "protocol": difference.old.specification.name},
        "new": {"file": difference.new.source.file, "protocol": difference.new.specification.name},
        "worse": difference.worse,
        "added": [{"kind": kind, "name": name} for kind, name in changes.added],
        "removed": [{"kind": kind, "name": name} for kind, name in changes.removed],
        "changed": [{"kind": kind, "name": name} for kind, name in changes.changed],
        "renamed": [{"kind": kind, "old": old, "new": new} for kind, old, new in changes.renamed],
        "tables": [
            {
                "table": name,
                "situation": _valued(change.situation),
                "before": {"row": change.before or None, "gives": dict(change.gave)},
                "after": {"row": change.after or None, "gives": dict(change.gives)},
            }
            for name, change in difference.tables
        ],
        "claims": [
            {
                "property": name,
                "forbids": None if strength.forbids is None else _valued(strength.forbids),
                "allows": None if strength.allows is None else _valued(strength.allows),
            }
            for name, strength in difference.claims
        ],
        "turns": [_turn_document(turn) for turn in difference.turns],
        "situations": [_reached_document(reached) for reached in difference.reached],
        "posed": list(difference.posed),
        "not_compared": [{"what": what, "why": why} for what, why in difference.not_compared],
        "undecided": list(difference.undecided),
    }


def _turn_document(turn: Turn) -> Document:
    return {
        "scenario": turn.scenario,
        "property": turn.claim,
        "before": turn.before.value,
        "after": turn.after.value,
        "worse": turn.worse,
        "left_out": list(turn.left_out),
        "needs_off": list(turn.needs_off),
        "trace": None if turn.finding is None or turn.system is None else trace_document(turn.system, turn.finding),
    }


def _reached_document(reached: Reached) -> Document:
    return {
        "view": reached.view,
        "scenario": reached.scenario,
        "variables": list(reached.variables),
        "newly": [[value_document(value) for value in values] for values in reached.newly],
        "gone": [[value_document(value) for value in values] for values in reached.gone],
    }


def _valued(situation: Situation) -> Document:
    return {name: value_document(value) for name, value in situation}

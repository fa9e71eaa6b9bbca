"""Checked files as Markdown for the summary of a job: what came out first, then what is wrong, then each claim."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checker.reporting.claims import lengths, mark
from checker.reporting.envelope import MEANING
from checker.reporting.exports.wording import Wrong, wrong_in
from checker.reporting.markdown import cell, inline
from checker.results import CheckedFile, exit_code_of

_SHOWN_MOST = 10
"""More traces than this make a summary that nobody reads, and hosts cut it off."""


def summary_text(checked: Sequence[CheckedFile]) -> str:
    """Return the Markdown of what was checked."""
    return "\n".join([*_head(checked), *_wrong(checked), *(line for each in checked for line in _file(each))]) + "\n"


def _head(checked: Sequence[CheckedFile]) -> Iterator[str]:
    code = exit_code_of(checked)
    scenarios = sum(len(each.report.scenarios) for each in checked)
    mutants = sum(len(each.report.mutants) for each in checked)
    yield f"# {mark(code)[1]} killpoint: {MEANING[code]}"
    yield ""
    yield f"{_counted(len(checked), 'file')}, {_counted(scenarios, 'scenario')}, {_counted(mutants, 'mutant')}."
    yield ""


def _wrong(checked: Sequence[CheckedFile]) -> Iterator[str]:
    found = [wrong for each in checked for wrong in wrong_in(each)]
    if not found:
        return
    yield "## Not as declared"
    yield ""
    groups: dict[tuple[str, ...], list[Wrong]] = {}
    for wrong in found:
        key = (wrong.span.file, wrong.broken) if wrong.broken else (wrong.span.file, wrong.kind, wrong.message)
        groups.setdefault(key, []).append(wrong)
    for group in groups.values():
        yield f"- {_told(group)}"
    yield ""
    shown = [min(group, key=_steps) for group in groups.values() if group[0].shown is not None]
    for wrong in shown[:_SHOWN_MOST]:
        yield f"<details><summary>{inline(wrong.message)}{_length(wrong)}</summary>"
        yield ""
        yield "```text"
        yield wrong.trace_text
        yield "```"
        yield ""
        yield "</details>"
        yield ""
    if len(shown) > _SHOWN_MOST:
        yield f"{len(shown) - _SHOWN_MOST} more runs: `killpoint trace`."
        yield ""


def _told(group: Sequence[Wrong]) -> str:
    """Return what is wrong in one line; that one property breaks here and there is one thing."""
    wrong = min(group, key=_steps)
    place = f"`{wrong.span.file}:{wrong.span.line}`"
    if not wrong.broken or len(group) == 1:
        return f"**{inline(wrong.message)}**{_length(wrong)} ({place}: {wrong.kind})"
    claims = ", ".join(inline(each.claim.name) for each in group if each.claim is not None)
    count = _counted(len(group), "claim")
    return f"**{inline(wrong.broken)} breaks in {count}**{_length(wrong)} at the soonest ({place}): {claims}"


def _steps(wrong: Wrong) -> int:
    return len(wrong.finding.trace) if wrong.finding is not None else 0


def _length(wrong: Wrong) -> str:
    return "" if wrong.finding is None else f", after {_counted(len(wrong.finding.trace), 'transition')}"


def _file(checked: CheckedFile) -> Iterator[str]:
    report = checked.report
    sign = mark(checked.exit_code)[1]
    claims = f"{_counted(len(report.scenarios), 'scenario')}, {_counted(len(report.mutants), 'mutant')}"
    yield f"<details><summary>{sign} <code>{inline(report.file)}</code>: {claims}</summary>"
    yield ""
    yield f"{inline(report.title or report.protocol)}"
    yield ""
    yield "| | claim | verdict | states | breaks |"
    yield "|---|---|---|--:|---|"
    for each in checked.claims:
        name = f"{cell(each.name)}{' (mutant)' if each.mutant else ''}"
        broken = ", ".join(lengths(tuple(p for p in each.properties if p.broken)))
        row = [mark(each.exit_code)[1], name, each.verdict.value, f"{each.exploration.states:,}", cell(broken)]
        yield f"| {' | '.join(row)} |"
    yield ""
    assumed = sorted({one for each in checked.claims for one in each.assumed})
    not_covered = sorted({one for each in checked.claims for one in each.not_covered})
    for heading, listed in (("Assumed", assumed), ("Not covered", not_covered)):
        if listed:
            yield f"**{heading}** (in some claim): {'; '.join(map(inline, listed))}."
            yield ""
    yield "</details>"
    yield ""


def _counted(number: int, word: str) -> str:
    return f"{number:,} {word}{'s' * (number != 1)}"

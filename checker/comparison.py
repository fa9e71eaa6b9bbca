"""What two explorations of one system say differently."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from checker.exploration import Coverage, Exploration, Finding


def differences(expected: Exploration, found: Exploration) -> Iterator[str]:
    """Yield what two explorations of one system say differently, what explains most first."""
    for name in ("complete", "states", "transitions", "depth", "failing_states"):
        if getattr(expected, name) != getattr(found, name):
            yield f"{name}: {getattr(expected, name)} expected, {getattr(found, name)} found"
    for name in sorted({*expected.findings, *found.findings}):
        yield from _finding_differences(f"finding `{name}`", expected.findings.get(name), found.findings.get(name))
    yield from _finding_differences("run-time error", expected.failure, found.failure)
    yield from _finding_differences("waiting", expected.waiting, found.waiting)
    for field in fields(Coverage):
        wanted, got = getattr(expected.coverage, field.name), getattr(found.coverage, field.name)
        # None: the engine does not look for this.
        if wanted is not None and got is not None and wanted != got:
            missing, extra = sorted(map(str, wanted - got)), sorted(map(str, got - wanted))
            yield f"coverage of {field.name}: {missing} missing, {extra} too many"


def _finding_differences(what: str, expected: Finding | None, found: Finding | None) -> Iterator[str]:
    depths = [None if finding is None else _length(finding) for finding in (expected, found)]
    if depths[0] != depths[1]:
        yield f"{what}: at depth {depths[0]} expected, at {depths[1]} found"
    elif (
        expected
        and found
        and expected.still_possible != found.still_possible
        and expected.trace.last == found.trace.last
    ):
        yield f"{what}: still possible {expected.still_possible} expected, {found.still_possible} found"


def _length(finding: Finding) -> int:
    """Return what all engines must find the least of: of a lasso the transitions before it goes round."""
    return finding.depth if finding.trace.loop is None else finding.trace.loop

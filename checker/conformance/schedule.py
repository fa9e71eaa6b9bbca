"""A run of a model as plain data, and driving a system through it: what the tests of `trace --as-pytest` rest on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from checker.conformance.adapter import Action, Adapter, Observation, Plain, Refused, Setting

Schedule = Sequence[tuple[Action, Mapping[str, Plain]]]
"""Actions, each with the variables that it changes and their new values."""


class Departed(AssertionError):
    """The system did something else than the schedule says, or refused. The message says what, and where."""


def follow(adapter: Adapter, setting: Setting, schedule: Schedule, ends: Mapping[str, int] | None = None) -> None:
    """Start a system afresh, let it take a schedule action by action, and compare what is observed after each.

    `ends` has the greatest values of counters, which stand for all greater ones as well. The adapter is closed.

    Raises:
        Departed: a variable that is observed has another value, or the system refused an action.
        UnknownSetting: the system has no such parameter, variant or defect.
    """
    try:
        adapter.reset(setting)
        expected = dict(setting.initial)
        _compare(expected, adapter.observe(), ends or {}, "at the start")
        for number, (action, changes) in enumerate(schedule, start=1):
            where = f"action {number} of {len(schedule)}, {action.kind} {_name(action)}"
            try:
                adapter.perform(action)
            except Refused as refused:
                raise Departed(f"refused: {where}: {refused}") from refused
            expected |= changes
            _compare(expected, adapter.observe(), ends or {}, f"after {where}")
    finally:
        adapter.close()


def _name(action: Action) -> str:
    """Return a step or kill point with the number of the instance."""
    return f"{action.process}[{action.instance}].{action.id.partition('.')[2]}"


def _compare(expected: Mapping[str, Plain], observed: Observation, ends: Mapping[str, int], where: str) -> None:
    unknown = [name for name in observed if name not in expected]
    if unknown or not observed:
        what = f"{', '.join(unknown)}, which the model does not have" if unknown else "nothing"
        raise Departed(f"{where}: the adapter observes {what}")
    different = [
        f"{name} is {value}, and the schedule says {expected[name]}"
        for name, value in observed.items()
        if not _same(expected[name], value, ends.get(name))
    ]
    if different:
        raise Departed(f"{where}: {'; '.join(different)}")


def _same(expected: Plain, observed: Plain, end: int | None) -> bool:
    """Compare one value; true is not 1, and the elements of a set come in any order."""
    if isinstance(expected, list) and isinstance(observed, list):
        return sorted(map(repr, expected)) == sorted(map(repr, observed))
    if end is not None and type(observed) is int:
        observed = min(observed, end)
    return type(expected) is type(observed) and expected == observed

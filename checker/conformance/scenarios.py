"""One scenario of a model against an implementation that is killed: all errands, and the staleness gate.

The gate compares the kill points of the model with those that the implementation ever came by, both ways: a kill point
that exists on one side only says that the two have drifted apart. What an implementation rightly never comes by, its
adapter says with a reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable

from checker.conformance.adapter import Setting
from checker.conformance.driver import asking
from checker.conformance.killing import Failed, Judge, KillableAdapter, Tally, kill_everywhere
from checker.conformance.spreading import Spread, can_spread
from checker.conformance.translation import setting_of
from checker.exploration import Exploration
from model.specification import Property, PropertyKind, Scenario
from model.system import TransitionSystem


@runtime_checkable
class Excusing(Protocol):
    """An adapter that says of some kill points of the model why the implementation never comes by them."""

    unreached: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Gate:
    """Kill points on one side only. `stale` are reasons for kill points that are come by after all, or do not exist."""

    model: tuple[str, ...]
    """All kill points that crashes of the scenario hit."""
    never_reached: tuple[str, ...]
    excused: Mapping[str, str]
    stale: tuple[str, ...]

    @property
    def closed(self) -> bool:
        """Whether something is wrong."""
        return bool(self.never_reached or self.stale)


@dataclass(slots=True)
class Killed:
    """What came of killing an implementation in one scenario. Where it failed, or was cut short, there is no gate."""

    claim: Scenario
    system: TransitionSystem
    defect: str
    errands: dict[str, Tally] = field(default_factory=dict)
    failed: Failed | None = None
    cut: str = ""
    gate: Gate | None = None
    seconds: float = 0.0

    @property
    def total(self) -> Tally:
        """All errands together."""
        total = Tally()
        for tally in self.errands.values():
            total.add(tally)
        return total

    @property
    def blind(self) -> bool:
        """Whether nothing was ever observed, so that only the order of kill points was compared."""
        return bool(self.errands) and not self.total.observed

    @property
    def refuted(self) -> bool:
        """Whether the implementation is not what the model says, or not where it says."""
        return self.failed is not None or (self.gate is not None and self.gate.closed)


@dataclass(frozen=True, slots=True)
class How:
    """How much to kill, which errands, and under which deliberate defect; `stop` gives a reason to stop, or ""."""

    kills: int
    errands: tuple[str, ...] = ()
    defect: str = ""
    workers: int = 1
    stop: Callable[[], str] = str
    tell: Callable[[str], None] = lambda _: None


class NoErrand(Exception):
    """An adapter has no errand of that name."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        super().__init__(name)
        self.name = name
        self.known = tuple(known)


class _Stopped(Exception):
    """There was a reason to stop; the message is it."""


@dataclass(slots=True)
class _Done:
    """What came of one errand."""

    tally: Tally
    failed: Failed | None = None
    cut: str = ""


def kill_scenario(
    adapter: KillableAdapter,
    claim: Scenario,
    exploration: Exploration,
    how: How,
    make: Callable[[], KillableAdapter] | None = None,
) -> Killed:
    """Run the errands of an adapter in a scenario and kill them, several at once where `make` makes more adapters.

    Raises:
        UnknownSetting: the system has no such parameter, variant or defect.
        AdapterFailed: the adapter is at fault.
        NoErrand: it has no errand of a name that was asked for.
    """
    system = exploration.system
    judge = Judge(system, _holding(claim, exploration))
    setting = setting_of(claim, system, system.initial_states[0], how.defect)
    with asking("at the start"):
        adapter.reset(setting)
    names = _errands(adapter, how)
    result = Killed(claim, system, how.defect)
    # In order and up to the first that fails, so that it does not matter how many are done at once.
    for name, done in zip(names, _done(adapter, names, judge, setting, how, make), strict=False):
        result.errands[name] = done.tally
        result.failed, result.cut = done.failed, done.cut
        if done.failed is not None or done.cut:
            return result
    if names and not how.errands:
        excuses = adapter.unreached if isinstance(adapter, Excusing) else {}
        result.gate = _gate(exploration, result.total.reached, excuses)
    return result


def _done(
    adapter: KillableAdapter,
    names: Sequence[str],
    judge: Judge,
    setting: Setting,
    how: How,
    make: Callable[[], KillableAdapter] | None,
) -> Iterator[_Done]:
    if make is not None and can_spread(how.workers, len(names)):
        silent = replace(how, tell=lambda _: None)  # only one process says how far it is
        spread = Spread(make, lambda own, number: _kill_errand(own, names[number], judge, setting, silent), how.workers)
        yield from spread.all(len(names), how.tell)
    else:
        yield from (_kill_errand(adapter, name, judge, setting, how) for name in names)


def _kill_errand(adapter: KillableAdapter, name: str, judge: Judge, setting: Setting, how: How) -> _Done:
    def on_run(done: int, of: int) -> None:
        how.tell(f"{name}: {done:,} of {of:,} runs")
        if reason := how.stop():
            raise _Stopped(reason)

    result = _Done(Tally())
    adapter.reset(setting)  # which errands there are is a matter of the setting
    errand = next(errand for errand in adapter.errands() if errand.name == name)
    try:
        result.failed = kill_everywhere(adapter, errand, setting, judge, result.tally, kills=how.kills, on_run=on_run)
    except _Stopped as stopped:
        result.cut = str(stopped)
    return result


def _errands(adapter: KillableAdapter, how: How) -> list[str]:
    known = [errand.name for errand in adapter.errands()]
    for name in how.errands:
        if name not in known:
            raise NoErrand(name, known)
    return [name for name in known if not how.errands or name in how.errands]


def _holding(claim: Scenario, exploration: Exploration) -> list[Property]:
    asked = exploration.system.specification.properties.values()
    return [
        p
        for p in asked
        if p.kind is PropertyKind.ALWAYS
        and (claim.only is None or p.name in claim.only)
        and p.name not in exploration.findings
    ]


def _gate(exploration: Exploration, reached: Counter[str], excuses: Mapping[str, str]) -> Gate:
    points = [
        point
        for process in exploration.system.specification.processes.values()
        for point in process.kill_points
        if point in exploration.coverage.kill_points
    ]
    missing = [point for point in points if point not in reached]
    excused = {point: excuses[point] for point in missing if point in excuses}
    known = {point for process in exploration.system.specification.processes.values() for point in process.kill_points}
    stale = [point for point in excuses if point in reached or point not in known]
    return Gate(tuple(points), tuple(p for p in missing if p not in excused), excused, tuple(stale))

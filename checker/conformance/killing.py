"""Killing an implementation at every kill point, and its recovery at every kill point again.

An errand is a run worth killing. A *plan* says at which kill points its processes are killed: `(3, 1)` is at the third
that they come by, then at the first after that. A process that has been killed is launched again, which is the
recovery. A run that came by seven kill points after its last kill is followed by seven plans with one kill more: so
every kill point is killed at, at every visit, and every one of each recovery likewise.

Each run must be a run of the model. What a process does between two observations shows only in the kill points that it
comes by, so the model is followed in all ways that fit (`checker.conformance.following`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from checker.conformance.adapter import (
    Action,
    Adapter,
    AdapterFailed,
    Ended,
    Errand,
    Killable,
    Launch,
    Observation,
    Refused,
    Setting,
)
from checker.conformance.driver import asking
from checker.conformance.following import Follower, Instance, Remembering, Unexplained
from checker.conformance.forking import ChildFailed
from checker.trace import Trace
from model.specification import Property
from model.system import State, TransitionSystem
from model.transitions import EvaluationError
from model.types import CounterType


class KillableAdapter(Adapter, Killable, Protocol):
    """Both: what can be driven step by step, and killed."""


@dataclass(frozen=True, slots=True)
class Kill:
    """A process that was killed: where, and as it came by the how manieth kill point since the last kill."""

    process: str
    instance: int
    point: str
    visit: int
    again: bool = False
    """Whether it was killed before: this is a recovery."""


@dataclass(frozen=True, slots=True)
class Failed:
    """A run that is none of the model, or breaks a property.

    `trace` is a run of the model that explains everything before, `broken` names the properties that are false in what
    was observed.
    """

    errand: str
    kills: tuple[Kill, ...]
    message: str
    broken: tuple[str, ...]
    trace: Trace


@dataclass(slots=True)
class Tally:
    """What was done, and where processes came by.

    `counted` has for each counter of the model that is observed the greatest value that it ever had, and the sum of
    its last values over all runs.
    """

    runs: int = 0
    kills: int = 0
    pairs: int = 0
    """Runs with a kill and a kill of the recovery."""
    processes: int = 0
    reached: Counter[str] = field(default_factory=Counter)
    killed_at: Counter[str] = field(default_factory=Counter)
    most: dict[str, int] = field(default_factory=dict)
    total: dict[str, int] = field(default_factory=dict)
    transitions: int = 0
    """Of the model, on the ways that explain the runs."""
    observed: int = 0
    """Values that were compared with the model; of a run in which there were none nothing is known."""

    def add(self, other: Tally) -> None:
        """Take over what was done elsewhere."""
        self.runs += other.runs
        self.kills += other.kills
        self.pairs += other.pairs
        self.processes += other.processes
        self.transitions += other.transitions
        self.observed += other.observed
        self.reached.update(other.reached)
        self.killed_at.update(other.killed_at)
        for name, most in other.most.items():
            self.most[name] = max(self.most.get(name, 0), most)
            self.total[name] = self.total.get(name, 0) + other.total.get(name, 0)


def kill_everywhere(
    adapter: KillableAdapter,
    errand: Errand,
    setting: Setting,
    judge: Judge,
    tally: Tally,
    *,
    kills: int,
    on_run: Callable[[int, int], None],
) -> Failed | None:
    """Run an errand under every plan of up to so many kills, the shortest ones first; return the first run that fails.

    What was done is added to the tally, also where something interrupts it. `on_run` hears how many of the runs with so
    many kills are done.
    """
    plans: list[tuple[int, ...]] = [()]
    for _ in range(kills + 1):
        longer: list[tuple[int, ...]] = []
        for done, plan in enumerate(plans, start=1):
            run = _Run(adapter, errand, setting, judge, tally, plan)
            failed = run.failed()
            on_run(done, len(plans))
            if failed is not None:
                return failed
            longer += [(*plan, visit) for visit in range(1, run.visits + 1)]
        plans = longer
    return None


class Judge:
    """What must be true in one scenario: its transitions, and the `always` properties that hold."""

    def __init__(self, system: TransitionSystem, properties: Sequence[Property]) -> None:
        self.system = system
        self.evaluator = Remembering(system)
        self._properties = properties
        self._known: dict[State, tuple[str, ...]] = {}
        counters = [v for v in system.specification.ghosts if isinstance(v.type, CounterType)]
        slots = (slot for v in counters for slot in system.layouts[v.key, 0].slots)
        self.counters = tuple(system.slots[slot].name for slot in slots)
        """The names of the slots of counters: what is counted because it must not happen twice."""

    def broken(self, states: Iterable[State]) -> tuple[str, ...]:
        """Return the properties that are false in each of some states, whichever is the true one."""
        broken: set[str] | None = None
        for state in states:
            false = self._false(state)
            broken = set(false) if broken is None else broken & set(false)
            if not broken:
                break
        return tuple(p.name for p in self._properties if broken and p.name in broken)

    def _false(self, state: State) -> tuple[str, ...]:
        known = self._known.get(state)
        if known is None:
            known = self._known[state] = tuple(p.name for p in self._properties if not self._true(p, state))
        return known

    def _true(self, asked: Property, state: State) -> bool:
        try:
            return self.evaluator.holds(asked.expression, state)
        except EvaluationError:
            return False


class _Broken(Exception):
    """A run of the model breaks properties that hold in it, which says that the verdict or the evaluator is wrong."""

    def __init__(self, broken: tuple[str, ...]) -> None:
        super().__init__("the model allows this")
        self.broken = broken


class _Run:
    """One run of an errand under one plan."""

    def __init__(
        self,
        adapter: KillableAdapter,
        errand: Errand,
        setting: Setting,
        judge: Judge,
        tally: Tally,
        plan: Sequence[int],
    ) -> None:
        self.kills: list[Kill] = []
        self._adapter = adapter
        self._errand = errand
        self._setting = setting
        self._judge = judge
        self._tally = tally
        self._plan = plan
        self.visits = 0
        """How many kill points were come by since the last kill."""
        self._gone: set[Instance] = set()
        """Processes that ran as processes of their own and have ended: what they remembered is lost."""
        self._private: set[str] = set()
        """The slots of where such processes stand and of what they remember, which nobody can see from outside."""
        self._follower = Follower(judge.evaluator, [judge.system.initial_states[0]])

    def failed(self) -> Failed | None:
        """Carry it out; return what is wrong with it, if anything is."""
        with asking("at the start"):
            self._adapter.reset(self._setting)
        failed = None
        try:
            self._observe()
            for act in self._errand.acts:
                if isinstance(act, Launch):
                    self._launch_until_it_ends(act)
                else:
                    self._perform(act)
            self._require_all_kills()
            self._count(self._observation())
        except ChildFailed as broke_off:
            failed = self._failed(str(broke_off), ())
        except Unexplained as wrong:
            # What was observed may be no state of the model, and break a property all the same.
            broken = self._judge.broken(self._follower.overlaid(self._observation(), self._private))
            failed = self._failed(str(wrong), broken)
        except _Broken as wrong:
            failed = self._failed(str(wrong), wrong.broken)
        self._tally.runs += 1
        self._tally.pairs += len(self.kills) > 1
        self._tally.transitions += len(self._follower.trace)
        return failed

    def _failed(self, message: str, broken: tuple[str, ...]) -> Failed:
        return Failed(self._errand.name, tuple(self.kills), message, broken, self._follower.trace)

    # -- what is done ----------------------------------------------------------------------------------------------

    def _launch_until_it_ends(self, launch: Launch) -> None:
        """Launch a process, again where it was killed: as often as the plan kills, unless none ever starts again."""
        restarts = self._judge.system.specification.processes[launch.process].restarts
        while self._launch(launch) and restarts != "never":
            pass

    def _launch(self, launch: Launch) -> bool:
        """Launch a process and follow it; return whether it was killed."""
        instance = Instance(launch.process, launch.instance)
        self._come_back(instance)
        kill_at = self._plan[len(self.kills)] - self.visits if len(self.kills) < len(self._plan) else None
        with asking(f"launching {launch.process}"):
            ended = self._adapter.launch(launch, kill_at)
        self._tally.processes += 1
        self._tally.reached.update(ended.points)
        self.visits += len(ended.points)
        killed = ended.how == "killed"
        if killed != (len(ended.points) == kill_at):
            # Only somebody else's adapter can say so: ours read it off the wait status.
            told = f"{ended.how} after {len(ended.points)} kill points"
            raise AdapterFailed(f"{launch.process} was to be killed at {kill_at or 'none'}, and it says: {told}")
        if killed:
            kill = Kill(launch.process, launch.instance, ended.points[-1], self.visits, again=bool(self.kills))
            self.kills.append(kill)
            self.visits = 0
            self._tally.kills += 1
            self._tally.killed_at[kill.point] += 1
        self._follow(instance, ended)
        self._gone.add(instance)
        lane = self._judge.system.instance_name(launch.process, launch.instance)
        self._private |= {slot.name for slot in self._judge.system.slots if slot.lane == lane}
        self._observe()
        return killed

    def _perform(self, action: Action) -> None:
        """Let others do something; what the model does not allow the system may refuse, and nothing has changed."""
        refused = False
        try:
            with asking(f"in {action.kind} {action.id}"):
                self._adapter.perform(action)
        except Refused:
            refused = True
        instance = Instance(action.process, action.instance)
        if refused and instance not in self._gone:  # of one that is gone nobody knows where it would stand
            self._follower.refuse(action)
        elif not refused:
            if action.kind != "restart":
                self._come_back(instance)
            self._follower.act(action)
        self._observe()

    def _come_back(self, instance: Instance) -> None:
        """See a process start anew that has ended."""
        if instance in self._gone:
            self._gone.remove(instance)
            self._follower.leave(instance)
        if not self._judge.system.specification.processes[instance.process].environment:
            self._follower.restart(instance)

    def _observation(self) -> Observation:
        with asking("observing"):
            return self._adapter.observe()

    def _require_all_kills(self) -> None:
        if len(self.kills) < len(self._plan):
            message = "this came by fewer kill points than the same run before: kills are missed if runs do not repeat"
            raise Unexplained(message)

    # -- what is made of it ----------------------------------------------------------------------------------------

    def _follow(self, instance: Instance, ended: Ended) -> None:
        """Follow a process along the kill points that it came by, to its end."""
        standing = ""
        torn = False
        for point in ended.points:
            label, torn = self._label(instance, point)
            if torn and label == standing:
                continue
            if standing:
                self._follower.step(instance, standing)
            self._follower.stand(instance, label)
            standing = label
        if ended.how == "killed":
            self._follower.crash(instance, standing, torn=torn)
            return
        if standing:
            self._follower.step(instance, standing, perhaps=ended.how == "waiting" and not torn)
        self._follower.rest(instance, stopped=ended.how == "stopped")

    def _label(self, instance: Instance, point: str) -> tuple[str, bool]:
        """Return of a kill point the label, and whether it lies inside the step."""
        process, _, rest = point.partition(".")
        label, _, inside = rest.partition(".")
        points = self._judge.system.kill_points[instance.process]
        steps = {step.id for step in self._judge.system.specification.processes[instance.process].steps}
        if process != instance.process or point not in points | steps:
            message = f"the implementation comes by {point}, a kill point that the model does not have"
            raise Unexplained(message)
        return label, inside == "torn"

    def _observe(self) -> None:
        """Compare what is observed with the model, and ask the properties of both."""
        observation = self._observation()
        self._tally.observed += len(observation)
        for name, value in self._counted(observation):
            self._tally.most[name] = max(self._tally.most.get(name, 0), value)
        self._follower.observe(observation, self._private)
        if broken := self._judge.broken(self._follower.states):
            raise _Broken(broken)

    def _count(self, observation: Observation) -> None:
        for name, value in self._counted(observation):
            self._tally.total[name] = self._tally.total.get(name, 0) + value

    def _counted(self, observation: Observation) -> Iterator[tuple[str, int]]:
        """Yield the counters that are observed; of one that is not, nothing may be said."""
        for name in self._judge.counters:
            value = observation.get(name)
            if isinstance(value, int):
                yield name, value

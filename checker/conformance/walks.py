"""Random walks of an implementation, each of which must be a run of the model.

The system says itself what may be tried (`Adapter.offers`); somebody draws from that: `random.Random` here, Hypothesis
in the tests, which also shrinks what goes wrong. What the system then does is recorded, with what is observed after it,
and the model has to accept it with nothing hidden. So an implementation is caught that does more than the model allows,
which driving it along the model's own transitions cannot see.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from checker.conformance.accepts import Acceptor, Rejection, observed
from checker.conformance.adapter import Action, Adapter, Refused
from checker.conformance.driver import asking
from checker.conformance.eventlog import Event
from checker.conformance.translation import action_of, setting_of
from checker.trace import Trace
from model.specification import Scenario
from model.system import State, TransitionSystem

_RARE = 0.3
"""How likely a crash is beside a step: a walk that crashes all the time comes nowhere."""


class Walk:
    """One walk of one system, from an initial state."""

    def __init__(
        self,
        claim: Scenario,
        system: TransitionSystem,
        adapter: Adapter,
        defect: str = "",
        initial: State | None = None,
    ) -> None:
        """Start the system afresh.

        Raises:
            AdapterFailed: the adapter is at fault.
            UnknownSetting: the system has no such parameter, variant or defect.
        """
        self.system = system
        self.adapter = adapter
        start = system.initial_states[0] if initial is None else initial
        self.acceptor = Acceptor(system, initial=[start])
        self.spent: Counter[str] = Counter()
        self.taken = 0
        self.refused = 0
        self.last: Action | None = None
        """What was tried last."""
        with asking("at the start"):
            adapter.reset(setting_of(claim, system, start, defect))
        self.rejection = self._record(None)

    def offers(self) -> Sequence[Action]:
        """Return what may be tried: what the system offers, as far as the scenario allows the faults in it.

        Raises:
            AdapterFailed: the adapter is at fault.
        """
        with asking("offering"):
            offered = self.adapter.offers()
        return [action for action in offered if self._allowed(action)]

    def take(self, action: Action) -> Rejection | None:
        """Let the system do something, and return why the model does not; a refusal must change nothing.

        Raises:
            AdapterFailed: the adapter is at fault.
        """
        assert self.rejection is None, "the walk is over"
        self.last = action
        try:
            with asking(f"walking, in action {self.taken + 1}, {action.kind} {action.id}"):
                self.adapter.perform(action)
        except Refused:
            self.refused += 1
            self.rejection = self._record(None)
        else:
            self.taken += 1
            self.spent.update(action.faults)
            self.rejection = self._record(action)
        return self.rejection

    def _record(self, action: Action | None) -> Rejection | None:
        with asking("observing"):
            observation = self.adapter.observe()
        line = len(self.acceptor.events) + 1
        if action is None:
            return self.acceptor.take(observed(line, observation))
        event = Event(
            line,
            action.kind,
            action.process,
            action.step,
            action.torn,
            action.instance,
            action.choices,
            action.faults,
            observation,
            prepared=True,
        )
        return self.acceptor.take(event)

    def _allowed(self, action: Action) -> bool:
        """Tell whether the budgets have room for the faults of an action, and a crash falls where it may."""
        wanted = Counter(action.faults)
        for fault, count in wanted.items():
            budget = self.system.budgets.get(fault)
            if budget is not None and budget.limit is not None and self.spent[fault] + count > budget.limit:
                return False
            if budget is not None and action.kind == "crash" and budget.at is not None and action.id not in budget.at:
                return False
        return True


@dataclass(slots=True)
class Wandered:
    """What came of some walks: what was tried, and the first one that is no run of the model."""

    walks: int = 0
    taken: int = 0
    refused: int = 0
    cut: str = ""
    failed: Walk | None = None
    """Its `rejection` says what happened."""


def wander(
    start: Callable[[State], Walk],
    initial: Sequence[State],
    stop: Callable[[], str],
    *,
    seed: int,
    walks: int,
    length: int,
) -> Wandered:
    """Walk at random, from the initial states in turn; the same seed gives the same walks.

    What has ended walks before their length is drawn more seldom, so that others come further.

    Raises:
        AdapterFailed: the adapter is at fault.
        UnknownSetting: the system has no such parameter, variant or defect.
    """
    random = Random(seed)  # noqa: S311 - nothing is to be kept secret
    result = Wandered()
    ends: Counter[str] = Counter()
    """After which actions there was nothing to do any more: a cancellation that is always possible ends every walk."""
    for number in range(walks):
        result.cut = stop()
        if result.cut:
            break
        walk = start(initial[number % len(initial)])
        offers = list(walk.offers())
        last: Action | None = None
        while offers and walk.rejection is None and walk.taken < length and not result.cut:
            weights = [(_RARE if each.kind == "crash" else 1.0) / (1 + ends[str(each)]) ** 2 for each in offers]
            taken, action = walk.taken, random.choices(offers, weights)[0]
            walk.take(action)
            if walk.taken > taken:
                offers = list(walk.offers())
                last = action
            else:
                offers.remove(action)  # refused: something else then, until there is nothing else
            result.cut = stop()
        if not offers and last is not None:
            ends[str(last)] += 1
        result.walks += 1
        result.taken += walk.taken
        result.refused += walk.refused
        if walk.rejection is not None:
            result.failed = walk
        if walk.rejection is not None or result.cut:
            break
    return result


def shortened(failed: Walk, again: Callable[[], Walk], way: Trace) -> Walk:
    """Go a shorter way to where a walk went wrong, and do the same; return the walk that is shorter and wrong as well.

    Raises:
        AdapterFailed: the adapter is at fault.
    """
    if failed.last is None or len(way) >= len(failed.acceptor.events):
        return failed
    walk = again()
    for action in [*(action_of(step.action, step.choices, step.faults) for step in way.steps), failed.last]:
        if walk.rejection is None:
            walk.take(action)
    return walk if walk.rejection is not None else failed

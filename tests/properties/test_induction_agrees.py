"""Whatever induction says of a random specification, looking at every state says too."""

from __future__ import annotations

from hypothesis import event, given, note

from checker.engines import oracle
from checker.engines.induction import Effort, decide
from checker.exploration import Exploration, Limits
from checker.verdict import Verdict
from model.specification import PropertyKind
from model.system import TransitionSystem
from tests.strategies.specifications import specifications
from tests.strategies.trying import loaded, systems, tries

# The plain explorer gives up beyond.
STATES_MAX = 1_000

# Runs that the solver looks at, and states in a row over which it argues.
DEPTH = 2


def expected(exploration: Exploration, name: str) -> int | None:
    """Return after how many transitions a property breaks, or a `possible` one is reached; None: never."""
    finding = exploration.findings.get(name)
    return None if finding is None else finding.depth


def check_system(system: TransitionSystem, exploration: Exploration) -> None:
    names = list(system.specification.properties)
    decisions = {d.name: d for d in decide(system, names, Effort(DEPTH, None, spacer_seconds=1))}
    if decisions[""].verdict is Verdict.HOLDS:
        in_steps = exploration.failure is not None and exploration.failure.trace.failing is not None
        assert not in_steps
    for name, decision in decisions.items():
        if not name or exploration.failure is not None:
            continue
        depth = expected(exploration, name)
        event(f"{decision.kind.value} {decision.verdict.value} {decision.how.split(' ')[0]}")
        match decision.verdict:
            case Verdict.VIOLATED:
                assert decision.finding is not None
                assert decision.finding.depth == depth
            case Verdict.HOLDS if decision.kind is PropertyKind.POSSIBLE:
                assert decision.finding is not None
                assert decision.finding.depth == depth
            case Verdict.HOLDS | Verdict.VACUOUS:
                assert depth is None, name
            case Verdict.UNKNOWN:
                assert depth is None or depth > decision.searched
            case _:
                raise AssertionError(f"`{name}` is {decision.verdict}")


@tries(30)
@given(specifications())
def test_induction_says_nothing_that_looking_at_every_state_contradicts(text: str) -> None:
    note(f"\n{text}")
    for system in systems(loaded(text)):
        if system.naturals:
            continue  # these are cut off where induction goes on
        exploration = oracle.explore(system, Limits(states_max=STATES_MAX))
        if exploration.complete:
            check_system(system, exploration)

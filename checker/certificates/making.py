"""Certificates from explorations: the reachable states become the invariant.

The only part that knows an explorer. Whether it did its work well is not for it to say: a certificate is worth what
comes of checking it again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from checker.backends.smt.relation import Relation
from checker.backends.smt.solvers import SOLVERS, solver_version
from checker.certificates.certificate import Certificate
from checker.certificates.diagram import Diagram, ranking_of
from checker.certificates.obligations import Ranking
from checker.certificates.ordering import small_diagram
from checker.engines.reachable import CutShort, Reachable
from checker.exploration import Exploration, Limits
from checker.installation import version
from checker.judgement import asked_properties, explored_to_the_end
from model.source import Source
from model.specification import PropertyKind, Scenario
from model.system import TransitionSystem

STATES_MAX = 2_000_000
"""With more states there is no certificate: beyond, building the diagram takes more than a gigabyte."""


class NoCertificate(Exception):
    """There can be no certificate; the message says why."""


def make_certificate(
    source: Source, claim: Scenario, system: TransitionSystem, exploration: Exploration, limits: Limits
) -> Certificate:
    """Make the certificate of a scenario that has been explored.

    Raises:
        NoCertificate: it was not explored to the end, or has too many states, or numbers without end.
    """
    if system.naturals:
        # The system that was explored ends at a bound. A proof about that would be taken for one about all numbers.
        raise NoCertificate("it has a `nat`: `killpoint induct` proves for any number")
    if not explored_to_the_end(exploration):
        raise NoCertificate(exploration.cut or "not explored to the end, or it errs")
    most = min(STATES_MAX, limits.states_max or STATES_MAX)
    if exploration.states > most:
        raise NoCertificate(f"{exploration.states:,} states; certificates are made of up to {most:,}")
    asked = asked_properties(claim)
    goals = [each.name for each in asked if each.kind is PropertyKind.RECOVERABLE and each.name not in claim.breaks]
    try:
        reachable = Reachable(system, Limits(states_max=most, deadline=limits.deadline), goals)
    except CutShort as cut:
        raise NoCertificate(str(cut)) from cut
    invariant = small_diagram(reachable.positions, _sizes(system))
    return Certificate(
        source=source,
        claim=claim,
        system=system,
        invariant=invariant,
        witnesses={
            each.name: exploration.findings[each.name]
            for each in asked
            if each.kind is PropertyKind.POSSIBLE and each.name in exploration.findings
        },
        rankings=dict(_rankings(system, reachable, goals, invariant)),
    )


def _rankings(
    system: TransitionSystem, reachable: Reachable, goals: Sequence[str], invariant: Diagram
) -> Iterator[tuple[str, Ranking]]:
    """Yield a ranking for each goal that can be reached from everywhere, in the invariant's order of slots."""
    if not goals:
        return
    relation = Relation(system)
    numbers = {effect.action: number for number, effect in enumerate(relation.effects)}
    sizes, order = _sizes(system), invariant.order
    for goal in goals:
        ways = reachable.ways(goal)
        used = {ways.actions[number] for number in np.unique(ways.helpful).tolist() if number >= 0}
        short = ways.helpful >= 0
        if (ways.distance < 0).any() or not all(relation.can_be_tried(relation.effects[numbers[a]]) for a in used):
            continue
        effects = np.array([numbers[action] for action in ways.actions], np.int64)
        plan = ranking_of(reachable.positions[short], effects[ways.helpful[short]], sizes, order)
        yield goal, Ranking(ranking_of(reachable.positions, ways.distance, sizes, order), plan)


def _sizes(system: TransitionSystem) -> list[int]:
    return [slot.domain.size for slot in system.slots]


def versions() -> dict[str, str]:
    """Return the versions of what makes a certificate."""
    return {"killpoint": version(), **{solver: solver_version(solver) for solver in SOLVERS}}

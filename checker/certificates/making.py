"""Certificates from explorations: the reachable states become the invariant; without end of numbers, an induction does.

The only part that knows an engine. Whether it did its work well is not for it to say: a certificate is worth what
comes of checking it again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from checker.backends.smt.relation import Relation
from checker.backends.smt.solvers import SOLVERS, solver_version
from checker.backends.smt.unrolling import NO_ERROR
from checker.certificates.certificate import STATES_MAX, Certificate
from checker.certificates.diagram import Diagram, ranking_of
from checker.certificates.inductive import Induction
from checker.certificates.obligations import INVARIANT_KINDS, Ranking
from checker.certificates.ordering import small_diagram
from checker.engines.induction import rounds_of
from checker.engines.reachable import CutShort, Reachable
from checker.exploration import Exploration, Finding, Limits
from checker.installation import version
from checker.judgement import asked_properties, explored_to_the_end
from model.source import Source
from model.specification import PropertyKind, Scenario
from model.system import TransitionSystem

DEPTH = 10
"""An induction goes no further than to runs with so many transitions."""


class NoCertificate(Exception):
    """There can be no certificate; the message says why."""


def make_certificate(
    source: Source, claim: Scenario, system: TransitionSystem, exploration: Exploration, limits: Limits
) -> Certificate:
    """Make the certificate of a scenario that has been explored.

    Where it has numbers without end, it was explored up to a bound, and the certificate is about all numbers.

    Raises:
        NoCertificate: it was not explored to the end, or has too many states; nothing follows by induction.
    """
    if system.naturals:
        return _by_induction(source, claim, exploration, limits.deadline)
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
    relation = Relation(system)
    return Certificate(
        source=source,
        claim=claim,
        system=system,
        invariant=invariant,
        witnesses=_witnesses(claim, exploration),
        rankings=dict(_rankings(relation, reachable, goals, invariant)),
        relation=relation,
    )


def _by_induction(source: Source, claim: Scenario, exploration: Exploration, deadline: float | None) -> Certificate:
    """Make a certificate about all numbers, of what follows by induction; what is possible was seen below the bound."""
    system = TransitionSystem.endless(claim)
    names = [each.name for each in asked_properties(claim) if each.kind in INVARIANT_KINDS]
    induction = Induction(rounds_of(system, names, DEPTH, deadline))
    if NO_ERROR not in induction.claims:
        raise NoCertificate("induction does not show that no step errs; `killpoint induct` says more")
    witnesses = _witnesses(claim, exploration)
    return Certificate(source=source, claim=claim, system=system, invariant=induction, witnesses=witnesses)


def _witnesses(claim: Scenario, exploration: Exploration) -> dict[str, Finding]:
    """Return by property the trace to what is possible."""
    possible = [each.name for each in asked_properties(claim) if each.kind is PropertyKind.POSSIBLE]
    return {name: exploration.findings[name] for name in possible if name in exploration.findings}


def _rankings(
    relation: Relation, reachable: Reachable, goals: Sequence[str], invariant: Diagram
) -> Iterator[tuple[str, Ranking]]:
    """Yield a ranking for each goal that can be reached from everywhere, in the invariant's order of slots."""
    if not goals:
        return
    numbers = {effect.action: number for number, effect in enumerate(relation.effects)}
    sizes, order = _sizes(relation.system), invariant.order
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

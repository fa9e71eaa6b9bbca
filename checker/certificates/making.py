"""Certificates from explorations: the reachable states become the invariant.

The only part that knows an explorer. Whether it did its work well is not for it to say: a certificate is worth what
comes of checking it again.
"""

from __future__ import annotations

from checker.backends.smt.solvers import SOLVERS, solver_version
from checker.certificates.certificate import Certificate
from checker.certificates.ordering import small_diagram
from checker.engines.reachable import CutShort, reachable_states
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
        NoCertificate: it was not explored to the end, or has too many states.
    """
    if not explored_to_the_end(exploration):
        raise NoCertificate(exploration.cut or "not explored to the end, or it errs")
    most = min(STATES_MAX, limits.states_max or STATES_MAX)
    if exploration.states > most:
        raise NoCertificate(f"{exploration.states:,} states; certificates are made of up to {most:,}")
    try:
        states = reachable_states(system, Limits(states_max=most, deadline=limits.deadline))
    except CutShort as cut:
        raise NoCertificate(str(cut)) from cut
    witnesses = {
        asked.name: exploration.findings[asked.name]
        for asked in asked_properties(claim)
        if asked.kind is PropertyKind.POSSIBLE and asked.name in exploration.findings
    }
    return Certificate(
        source=source,
        claim=claim,
        system=system,
        invariant=small_diagram(states, [slot.domain.size for slot in system.slots]),
        witnesses=witnesses,
    )


def versions() -> dict[str, str]:
    """Return the versions of what makes a certificate."""
    return {"killpoint": version(), **{solver: solver_version(solver) for solver in SOLVERS}}

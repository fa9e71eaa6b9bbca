"""Which certificates have been checked again, so that a later `check` may say `proved` without asking a solver.

An entry of the cache is bound to the hash of the claim (the specification's text, the scenario, its parameters and
faults), to every source file of this program and to the versions of the solvers. Whoever changes any of them has no
certificate any more. An entry is written only here, after a solver other than Z3 has confirmed every obligation, of an
obligation list that this program has computed itself; it is believed as far as the rest of the cache is, which belongs
to whoever runs this.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from checker.backends.smt.solvers import SOLVERS, solver_version
from checker.cache import Cache, cache_key

if TYPE_CHECKING:  # it needs a solver, and who only looks something up needs none
    from checker.certificates.rechecking import Rechecked


def remember(cache: Cache, found: Rechecked) -> None:
    """Remember a certificate that proves something."""
    if found.proves():
        document = {"shown": list(found.shown), "obligations": found.digest, "solvers": sorted(found.refused)}
        cache.write(_key(found.sha256), document)


@dataclass(frozen=True, slots=True)
class Remembered:
    """What is known of a certificate: the properties it shows, the hash of its obligations, and who confirmed them."""

    shown: frozenset[str]
    obligations: str
    solvers: tuple[str, ...]


def remembered(cache: Cache, claim: str) -> Remembered | None:
    """Return what is known of a certificate of the claim with this hash; None where none was checked again."""
    document = cache.read(_key(claim))
    if document is None or not isinstance(document.get("shown"), list):
        return None
    solvers = document.get("solvers")
    return Remembered(
        frozenset(str(name) for name in document["shown"]),
        str(document.get("obligations", "")),
        tuple(map(str, solvers)) if isinstance(solvers, list) else (),
    )


def _key(claim: str) -> str:
    return cache_key(claim, f"certificate {' '.join(solver_version(solver) for solver in SOLVERS)}")

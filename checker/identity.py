"""What makes two questions the same: hashes of files, of systems and of claims.

A hash is SHA-256 over canonical JSON, so that it is the same on every machine and in every year. The text of the whole
file goes into each: a comment changes them too, which costs a run and can never hide a change of meaning.
"""

from __future__ import annotations

import hashlib
import json

from model.source import Source
from model.specification import Scenario
from model.system import TransitionSystem


def file_hash(source: Source) -> str:
    """Return the hash of a specification's text, as `sha256sum` prints it for the file."""
    return hashlib.sha256(source.text.encode("utf-8")).hexdigest()


def system_hash(source: Source, patch: str, system: TransitionSystem) -> str:
    """Return the hash of what is explored: the file, the variant or mutant in force, parameters and faults.

    `patch` tells a variant from a mutant of the same name.
    """
    return _hash(
        {
            "file": file_hash(source),
            "patch": patch,
            "parameters": dict(system.parameters),
            "faults": {
                name: [budget.limit, sorted(budget.at) if budget.at is not None else None]
                for name, budget in system.budgets.items()
            },
            **({"bound": system.bound} if system.bound is not None else {}),
            **({"crashes": course_of(system)} if system.crashes is not None else {}),
        }
    )


def course_of(system: TransitionSystem) -> list[list[str] | None] | None:
    """Return where the crashes of a run fall in turn, None for anywhere; None where that is not said."""
    if system.crashes is None:
        return None
    return [None if points is None else sorted(points) for points in system.crashes]


def claim_hash(source: Source, claim: Scenario, system: TransitionSystem) -> str:
    """Return the hash of a scenario or mutant: what is explored and what is claimed of it."""
    return _hash(
        {
            "system": system_hash(source, patch_of(claim), system),
            "name": claim.name,
            "only": list(claim.only) if claim.only is not None else None,
            "breaks": sorted(claim.breaks),
            "survives": bool(claim.survives),
        }
    )


def certified_hash(source: Source, claim: Scenario, system: TransitionSystem) -> str:
    """Return the hash of what a certificate of a claim is about: all numbers, up to whichever bound it was explored."""
    return claim_hash(source, claim, system if system.bound is None else TransitionSystem.endless(claim))


def patch_of(claim: Scenario) -> str:
    """Name the patch under which a claim runs the protocol; empty where there is none."""
    if claim.mutant:
        return f"mutant {claim.name}"
    return f"variant {claim.variant}" if claim.variant else ""


def _hash(content: object) -> str:
    text = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()

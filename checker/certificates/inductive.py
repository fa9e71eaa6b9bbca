"""What has to be shown where numbers have no end: the rounds of an induction, one SMT-LIB text a question.

There is no set of states to write down, so the invariant is that claims are true. `checker.engines.induction` says why
what is left after its rounds is true in every reachable state. Of the solver that found them nothing is believed: each
claim of a round must not break in the first states of any run, and must follow from those before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from checker.backends.smt.relation import Relation
from checker.backends.smt.text import Writer
from checker.backends.smt.unrolling import COVERED, NO_ERROR, Claims, Frames, Round
from checker.certificates.obligations import Obligation, file_name
from model.system import TransitionSystem

LOGIC: Final = "ALL"
"""Integers together with bit vectors for sets; no logic of the standard with a name of its own has just these."""

LENGTH_MAX: Final = 100
"""States in a row that a claim may follow from. What somebody writes into a file need not be sensible."""


@dataclass(frozen=True)
class Induction:
    """Claims that are true in every reachable state, round by round, each claim in one of them."""

    rounds: tuple[Round, ...]

    @cached_property
    def claims(self) -> frozenset[str]:
        """All of them; `NO_ERROR` is the claim that no step errs."""
        return frozenset(name for each in self.rounds for name in each.claims)

    def shows(self, name: str) -> bool:
        """Tell whether a claim is shown: a run-time error ends runs, so none is where these are not excluded."""
        return name in self.claims and NO_ERROR in self.claims

    @property
    def states(self) -> int:
        """From how many states in a row claims follow, at most."""
        return max((each.length for each in self.rounds), default=0)


def inductive_obligations(system: TransitionSystem, induction: Induction) -> Iterator[Obligation]:
    """Yield the obligations, in the order of the rounds."""
    claims = Claims(Relation(system), system.specification.properties.values())
    frames = Frames(claims)
    before: list[str] = []
    for each in induction.rounds:
        for name in each.claims:
            shown, file = name or "no step errs", file_name(name) if name else "no-error"
            for depth in range(each.length):
                says = f"{shown}: so it is after {depth} transitions of every run"
                question = frames.question(name, depth, initially=True, given={})
                yield _obligation(f"begins-{file}-{depth}", says, question)
            given = each.given(name, before, claims.of_states)
            question = frames.question(name, each.length, initially=False, given=given)
            states = f"{each.length} state{'s' * (each.length > 1)}"
            says = f"{shown}: so it is after {states} in which the claims of its round are true"
            yield _obligation(f"follows-{file}", says, question)
        before += each.claims


def _obligation(name: str, says: str, question: Sequence[Any]) -> Obligation:
    writer = Writer()
    definitions, texts = writer.texts(question)
    lines = [
        f"; {says}",
        f"(set-logic {LOGIC})",
        *writer.declarations(),
        *definitions,
        *(f"(assert {text})" for text in texts if text != "true"),
        "(check-sat)",
    ]
    return Obligation(name, says, "\n".join(lines) + "\n")


def induction_document(induction: Induction) -> dict[str, Any]:
    """Return an induction as JSON."""
    return {"rounds": [[each.length, list(each.claims)] for each in induction.rounds]}


def induction_from(document: dict[str, Any], system: TransitionSystem) -> Induction:
    """Return the induction that a document describes.

    Raises:
        ValueError, KeyError, TypeError: it describes none about the properties of this system.
    """
    properties = system.specification.properties
    known = {NO_ERROR, *(name for name, each in properties.items() if each.kind in COVERED)}
    rounds = []
    for length, claims in document["rounds"]:
        if type(length) is not int or not 1 <= length <= LENGTH_MAX:
            raise ValueError(f"claims follow from 1 to {LENGTH_MAX} states, not {length!r}")
        rounds.append(Round(length, tuple(claims)))
    names = [name for each in rounds for name in each.claims]
    if len(set(names)) < len(names) or not known.issuperset(names):
        raise ValueError("the rounds do not have properties of the specification, each of them once")
    return Induction(tuple(rounds))

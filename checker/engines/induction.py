"""The engine for what cannot be enumerated: claims proved or refuted for any value of each `nat`.

In turn for lengths 0, 1, 2, …: can a claim break after so many transitions (bounded model checking; the first
counterexample is a shortest one), and if not, does it follow in every state from the states before (k-induction)? All
claims are tried together, each of them a lemma for the others; one that does not follow is dropped, until those that
are left follow from one another (Flanagan, Leino: Houdini, FME 2001). Spacer is asked about what is then still open.

Soundness: what is left of a round for `k` states has been shown not to break in the first `k` states of any run, and
follows in any state from all of itself in the `k` states before; so by induction all of it is true in every reachable
state. Claims of transitions, and that no step errs, may in a state rest on claims of that very state: none of these
rests on them there. A run-time error ends runs, so that nothing is said to hold before errors are excluded.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise

from checker.backends.smt.relation import Relation
from checker.backends.smt.spacer import invariant_for
from checker.backends.smt.unrolling import COVERED, NO_ERROR, Answer, Claims, Outcome, Round, Unrolling
from checker.exploration import Finding
from checker.trace import EngineDisagreement, Trace, TraceStep, describe_state, first_error
from checker.verdict import Verdict
from model.evaluate import Evaluator
from model.specification import Property, PropertyKind
from model.system import State, TransitionSystem
from model.transitions import EvaluationError, Transition


@dataclass(frozen=True, slots=True)
class Gap:
    """Why a claim does not follow: states in which everything was true, and then it breaks.

    No run has to come there: what excludes it is what a proof still needs.
    """

    trace: Trace
    length: int
    """In how many states in a row everything was true before."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What has been found of one property, or of `NO_ERROR`.

    `how` says by what means it was decided, or what was tried. `lemmas` are the properties that the proof rests on.
    """

    name: str
    kind: PropertyKind
    verdict: Verdict
    how: str
    lemmas: tuple[str, ...] = ()
    finding: Finding | None = None
    searched: int = -1
    """No run with so many transitions breaks it; -1 where nothing is known."""
    gap: Gap | None = None


@dataclass(frozen=True, slots=True)
class Effort:
    """How far to go: the longest runs, when to stop, and how long Spacer may take for one claim."""

    depth: int = 10
    deadline: float | None = None
    spacer_seconds: float = 20.0


@dataclass(slots=True)
class _Open:
    """A claim that is not decided yet."""

    searched: int = -1
    stuck: bool = False
    """Whether the solver has given up on a run of the next length."""
    gap: Sequence[State] = field(default_factory=tuple)


def covered(properties: Iterable[Property]) -> list[Property]:
    """Return the properties that this engine can speak of."""
    return [claim for claim in properties if claim.kind in COVERED]


def decide(system: TransitionSystem, asked: Collection[str], effort: Effort) -> list[Decision]:
    """Decide properties of a system, by name, and after them that nothing errs (`NO_ERROR`).

    All properties of the specification that can be lemmas take part.

    Raises:
        EngineDisagreement: the evaluator does not confirm a run that the solver has found.
    """
    return _Induction(system, asked, effort).run()


def rounds_of(
    system: TransitionSystem, asked: Collection[str], depth: int, deadline: float | None
) -> tuple[Round, ...]:
    """Return the rounds of induction that show what was asked, as far as they do, without Spacer."""
    induction = _Induction(system, asked, Effort(depth, deadline, spacer_seconds=0.0))
    induction.search()
    return tuple(induction.rounds)


class _Induction:
    def __init__(self, system: TransitionSystem, asked: Collection[str], effort: Effort) -> None:
        self.system = system
        self.effort = effort
        self.properties = system.specification.properties
        lemmas = covered(self.properties.values())
        self.asked = [claim.name for claim in lemmas if claim.name in asked]
        self.claims = Claims(Relation(system), lemmas)
        self.unrolling = Unrolling(self.claims, effort.deadline)
        self.open = {name: _Open() for name in self.claims.breaks}
        self.proved: dict[str, tuple[str, frozenset[str]]] = {}
        self.rounds: list[Round] = []
        """What induction has proved; a round rests on those before, and on what Spacer has proved by then."""
        self.refuted: dict[str, Sequence[State]] = {}

    def run(self) -> list[Decision]:
        self.search()
        return [self._decision(name) for name in [*self.asked, NO_ERROR]]

    def search(self) -> None:
        for depth in range(self.effort.depth + 1):
            if not self._wanted() or self._late():
                break
            self._search(depth)
            if depth < self.effort.depth or not depth:
                self._induce(depth + 1)
        self._search_for_invariants()

    def _wanted(self) -> list[str]:
        """Return what is still to be decided of what was asked."""
        return [name for name in (*self.asked, NO_ERROR) if name in self.open]

    def _late(self) -> bool:
        return self.effort.deadline is not None and time.monotonic() > self.effort.deadline

    # -- counterexamples ------------------------------------------------------------------------------------------

    def _search(self, depth: int) -> None:
        """Look for runs of a length at whose end something breaks."""
        for name, claim in list(self.open.items()):
            if claim.stuck:
                continue
            answer = self.unrolling.breaks(name, depth, initially=True, given={})
            if answer.outcome is Outcome.FOUND:
                self.refuted[name] = answer.states
                del self.open[name]
            elif answer.outcome is Outcome.NEVER:
                claim.searched = depth
            else:
                claim.stuck = True

    # -- proofs ---------------------------------------------------------------------------------------------------

    def _induce(self, length: int) -> None:
        """Find the largest set of claims that follow in each state from themselves in the states before."""
        candidates = [name for name, claim in self.open.items() if claim.searched >= length - 1]
        rests_on: dict[str, frozenset[str]] = {}
        dropped = True
        while dropped:
            dropped = False
            rests_on.clear()
            for name in list(candidates):
                answer = self._follows(name, candidates, length)
                if answer.outcome is Outcome.NEVER:
                    rests_on[name] = answer.by
                    continue
                candidates.remove(name)
                dropped = True
                if answer.states:
                    self.open[name].gap = answer.states
        if candidates:
            self.rounds.append(Round(length, tuple(candidates)))
        for name in candidates:
            how = f"induction over {length} state{'s' * (length > 1)}"
            self.proved[name] = (how, rests_on[name] - {name})
            del self.open[name]

    def _follows(self, name: str, candidates: Sequence[str], length: int) -> Answer:
        given = Round(length, tuple(candidates)).given(name, self.proved, self.claims.of_states)
        return self.unrolling.breaks(name, length, initially=False, given=given)

    def _search_for_invariants(self) -> None:
        """Ask Spacer about what is open, briefly first; whatever it proves is a lemma for induction at once."""
        for seconds in (self.effort.spacer_seconds / 10, self.effort.spacer_seconds):
            progress = True
            while progress:
                before = len(self.open)
                for name in self._wanted():
                    if name in self.open:
                        self._ask_spacer(name, seconds)
                        if name in self.proved:
                            self._induce(1)
                progress = len(self._wanted()) > 0 and len(self.open) < before

    def _ask_spacer(self, name: str, left: float) -> None:
        if self.effort.deadline is not None:
            left = min(left, self.effort.deadline - time.monotonic())
        if left <= 0:
            return
        known = [other for other in self.proved if other in self.claims.of_states]
        outcome, checked = invariant_for(self.claims, name, known, left)
        if outcome is Outcome.NEVER and checked:
            self.proved[name] = ("an invariant that Spacer found", frozenset(known))
            del self.open[name]
        elif outcome is Outcome.FOUND:
            # It breaks somewhere, and nobody is told so without a run.
            depth = self.effort.depth + 1
            while name in self.open and not self.open[name].stuck and not self._late():
                self._search(depth)
                depth += 1

    # -- results --------------------------------------------------------------------------------------------------

    def _decision(self, name: str) -> Decision:
        kind = self.properties[name].kind if name else PropertyKind.ALWAYS
        if name in self.refuted:
            finding = self._finding(name, self.refuted[name])
            how = f"a run of {finding.depth} transitions, the shortest"
            if finding.error is not None:
                return Decision(name, kind, Verdict.ERROR, how, finding=finding)
            reached = kind is PropertyKind.POSSIBLE
            return Decision(name, kind, Verdict.HOLDS if reached else Verdict.VIOLATED, how, finding=finding)
        if name in self.proved:
            how, rests_on = self.proved[name]
            lemmas = tuple(other for other in self.claims.breaks if other in rests_on and other)
            if NO_ERROR not in self.proved:
                return Decision(name, kind, Verdict.UNKNOWN, f"{how}, unless something errs", lemmas)
            reached = kind is PropertyKind.POSSIBLE
            return Decision(name, kind, Verdict.VACUOUS if reached else Verdict.HOLDS, how, lemmas)
        claim = self.open[name]
        tried = "neither induction nor Spacer decides it"
        how = f"not within {claim.searched} transitions; {tried}" if claim.searched >= 0 else tried
        gap = self._gap(name, claim.gap) if claim.gap else None
        return Decision(name, kind, Verdict.UNKNOWN, how, searched=claim.searched, gap=gap)

    def _finding(self, name: str, states: Sequence[State]) -> Finding:
        """Return a run with the evaluator's own transitions, and the error where it ends in one."""
        if states[0] not in self.system.initial_states:
            raise EngineDisagreement(f"a run begins in no initial state: {describe_state(self.system, states[0])}")
        steps = self._steps(states)
        try:
            if name:
                trace = Trace(states[0], (*steps, *self._end(self.properties[name], states[-1])))
                return Finding(len(trace), trace)
        except EvaluationError as error:
            return Finding(len(steps), Trace(states[0], steps), error)
        found, action = first_error(self.system, states[-1])
        if found is None:
            raise EngineDisagreement("the terms find a run-time error in a state in which the evaluator finds none")
        return Finding(len(steps), Trace(states[0], steps, action), found)

    def _gap(self, name: str, states: Sequence[State]) -> Gap:
        """Return the last two states of what a solver has found, with the transition between them."""
        length = len(states) - 1
        shown = states[-2:] if name in self.claims.of_states else states[-1:]
        steps = self._steps(shown)
        if name and name not in self.claims.of_states:
            with suppress(EvaluationError):
                steps = (*steps, *self._end(self.properties[name], states[-1]))
        return Gap(Trace(shown[0], steps), length)

    def _steps(self, states: Sequence[State]) -> tuple[TraceStep, ...]:
        """Take a path with the evaluator."""
        evaluator = Evaluator(self.system)
        return tuple(self._step(evaluator, before, after) for before, after in pairwise(states))

    def _end(self, claim: Property, state: State) -> tuple[TraceStep, ...]:
        """Return the transition from a state that breaks a claim of transitions; none for one of states.

        Raises:
            EvaluationError: the claim has no value there.
        """
        evaluator = Evaluator(self.system)
        if claim.kind.of_transitions:
            return (self._breaking_step(evaluator, claim, state),)
        evaluator.holds(claim.expression, state)
        return ()

    def _step(self, evaluator: Evaluator, before: State, after: State) -> TraceStep:
        for outcome in evaluator.transitions(before):
            if isinstance(outcome, Transition) and outcome.successor == after:
                return TraceStep.of(outcome)
        raise EngineDisagreement(f"no transition leads to {describe_state(self.system, after)}")

    def _breaking_step(self, evaluator: Evaluator, claim: Property, state: State) -> TraceStep:
        for outcome in evaluator.transitions(state):
            if not isinstance(outcome, Transition):
                continue
            if claim.kind is PropertyKind.CHECKED:
                broken = claim.name in outcome.violated
            else:
                broken = not evaluator.holds(claim.expression, state, outcome.successor)
            if broken:
                return TraceStep.of(outcome)
        raise EngineDisagreement(f"no transition from {describe_state(self.system, state)} breaks `{claim.name}`")

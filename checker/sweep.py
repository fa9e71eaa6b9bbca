"""The sweep: a protocol under every combination of what its surroundings may promise.

A *combination* takes one value of each dimension. Values are in order from the weakest promise to the strongest, so
combinations are in order too: one is stronger than another where it promises no less in any dimension and more in some.

Along the dimensions of faults a verdict of one combination decides others. What may happen less often leaves fewer
runs: a property that nothing breaks where faults may happen more often is broken nowhere that they may happen less, and
a state that is reached stays reached where they may happen more. Of `recoverable` and `leads_to` the same is true, for
faults are unfair: what a run may do to get to its goal does not depend on what is allowed. `verify` explores what was
concluded, and compares. Nothing of the kind is taken for granted of parameters: every value is tried, and one that
promises more and breaks more makes its dimension a choice without order.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from checker.exploration import Finding
from checker.judgement import PropertyReport, ScenarioReport, asked_properties
from checker.trace import EngineDisagreement
from checker.verdict import ExitCode, Verdict, worst
from model.specification import Allowance, Count, Dimension, PropertyKind, Scenario, Sweep
from model.types import Value

Combination = tuple[int, ...]
"""For each dimension the number of its value, 0 for the weakest promise."""

Judge = Callable[[Sequence[Scenario]], Sequence[ScenarioReport]]
"""Explores claims, as many as possible in one run, and judges them."""

Promises = dict[str, Value | Count]
"""Values of some dimensions, by name."""


@dataclass(slots=True)
class Outcome:
    """How one combination came out."""

    combination: Combination
    promises: Promises
    """All of them."""
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    """By property, in the order of the file."""
    findings: dict[str, Finding] = field(default_factory=dict)
    """The shortest runs that break properties; only of what was explored."""
    report: ScenarioReport | None = None
    """What exploring it has shown; None where everything follows from other combinations."""

    @property
    def explored(self) -> bool:
        """Whether anybody has looked."""
        return self.report is not None


@dataclass(frozen=True, slots=True)
class Contract:
    """A minimal set of assumptions that suffice, or of weaknesses that break something."""

    combination: Combination
    names: Promises
    """What it takes: of a sufficient one what goes beyond the weakest promise, of a breaking one what falls short."""
    broken: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reversal:
    """A promise that breaks a property: stronger in one dimension, everything else the same, and it is worse."""

    property: str
    dimension: str
    weaker: Combination
    stronger: Combination


@dataclass(frozen=True, slots=True)
class Swept:
    """All combinations, and what follows from them."""

    sweep: Sweep
    claim: Scenario
    """What is the same in all of them."""
    kinds: Mapping[str, PropertyKind]
    outcomes: Mapping[Combination, Outcome]
    sufficient: tuple[Contract, ...]
    """Every combination that promises at least one of these is safe, and of fewer promises this is not so."""
    breaking: tuple[Contract, ...]
    """Every combination that is at least as weak as one of these breaks something; of fewer weaknesses not so."""
    reversals: tuple[Reversal, ...]
    """One for each property and dimension that has any. Such a dimension counts as a choice without order."""
    idle: tuple[str, ...]
    """Dimensions that make no difference to any verdict."""
    verified: int
    """How many verdicts that had been concluded were also explored."""

    @property
    def exit_code(self) -> ExitCode:
        """Bad input where a combination errs, inconclusive where a verdict is open."""
        codes = [ExitCode.AS_DECLARED]
        for outcome in self.outcomes.values():
            if outcome.report is not None and outcome.report.failure is not None:
                codes.append(ExitCode.BAD_INPUT)
            if Verdict.UNKNOWN in outcome.verdicts.values():
                codes.append(ExitCode.INCONCLUSIVE)
        return worst(codes)

    def safe(self, combination: Combination) -> bool | None:
        """Tell whether nothing breaks; None where that is not known."""
        return _safe(self.outcomes[combination], self.kinds)


def sweep(declared: Sweep, claim: Scenario, judge: Judge, properties: Sequence[str], *, verify: bool = False) -> Swept:
    """Try all combinations of a sweep; what it does not vary is as in the claim.

    Raises:
        BadInput: whatever `judge` raises.
        EngineDisagreement: with `verify`, an exploration contradicts what was concluded.
    """
    return _Sweeper(declared, claim, judge, properties).run(verify=verify)


class _Sweeper:
    def __init__(self, declared: Sweep, claim: Scenario, judge: Judge, properties: Sequence[str]) -> None:
        self.declared = declared
        self.dimensions = declared.dimensions
        self.claim = claim
        self.judge = judge
        asked = asked_properties(replace(claim, only=declared.only or claim.only), list(properties) or None)
        self.kinds = {each.name: each.kind for each in asked}
        sizes = [range(len(dimension.values)) for dimension in self.dimensions]
        self.outcomes = {c: Outcome(c, _promises(self.dimensions, c)) for c in itertools.product(*sizes)}
        self.ordered: list[int] = []
        """The dimensions in which promising more never makes anything worse, once that is known."""
        self.faults = [number for number, dimension in enumerate(self.dimensions) if dimension.fault]

    def run(self, *, verify: bool) -> Swept:
        """Explore the weakest and the strongest of each setting of the parameters, then what that leaves open."""
        last = [len(dimension.values) - 1 for dimension in self.dimensions]
        ends = [
            c for c in self.outcomes if all(c[d] == 0 for d in self.faults) or all(c[d] == last[d] for d in self.faults)
        ]
        self._explore(ends)
        self._conclude()
        self._explore(
            [c for c, o in self.outcomes.items() if not o.explored and o.verdicts.keys() != self.kinds.keys()]
        )
        self._conclude()
        verified = self._verify() if verify else 0
        reversals = tuple(self._reversals())
        unordered = {each.dimension for each in reversals}
        self.ordered = [n for n, dimension in enumerate(self.dimensions) if dimension.name not in unordered]
        sufficient, breaking = tuple(self._sufficient()), tuple(self._breaking())
        self._explore([c.combination for c in breaking if not self.outcomes[c.combination].explored])
        return Swept(
            self.declared,
            self.claim,
            self.kinds,
            self.outcomes,
            sufficient,
            breaking,
            reversals,
            tuple(self._idle()),
            verified,
        )

    # -- exploring ------------------------------------------------------------------------------------------------

    def _explore(self, combinations: Sequence[Combination]) -> None:
        if not combinations:
            return
        claims = [claim_of(self.claim, self.dimensions, combination) for combination in combinations]
        for combination, report in zip(combinations, self.judge(claims), strict=True):
            outcome = self.outcomes[combination]
            outcome.report = report
            outcome.verdicts = {
                asked.name: _verdict(report, asked) for asked in report.properties if asked.name in self.kinds
            }
            outcome.findings = {
                asked.name: asked.finding for asked in report.properties if asked.broken and asked.finding is not None
            }

    def _verify(self) -> int:
        """Explore all that was concluded, and compare.

        Raises:
            EngineDisagreement: with the first difference.
        """
        concluded = {c: dict(outcome.verdicts) for c, outcome in self.outcomes.items() if not outcome.explored}
        self._explore(list(concluded))
        for combination, verdicts in concluded.items():
            outcome = self.outcomes[combination]
            for name, verdict in verdicts.items():
                if outcome.verdicts[name] not in (verdict, Verdict.UNKNOWN):
                    where = ", ".join(f"{key} {value}" for key, value in outcome.promises.items())
                    message = f"{name} was concluded to be {verdict.value} and is {outcome.verdicts[name].value}"
                    raise EngineDisagreement(f"sweep, with {where}: {message}")
        return sum(map(len, concluded.values()))

    # -- concluding -----------------------------------------------------------------------------------------------

    def _conclude(self) -> None:
        """Carry verdicts along the dimensions of faults, one step after the other, as far as they go."""
        todo = [c for c, outcome in self.outcomes.items() if outcome.verdicts]
        while todo:
            combination = todo.pop()
            known = self.outcomes[combination].verdicts
            for dimension in self.faults:
                for step in (-1, 1):
                    other = self.outcomes.get(_moved(combination, dimension, step))
                    if other is None or other.explored:
                        continue
                    new = {
                        name: verdict
                        for name, verdict in known.items()
                        if name not in other.verdicts and _carries(self.kinds[name], verdict, step)
                    }
                    if new:
                        other.verdicts |= new
                        todo.append(other.combination)

    # -- what follows ---------------------------------------------------------------------------------------------

    def _sufficient(self) -> Iterator[Contract]:
        """Yield the weakest combinations of which all that promise at least as much are safe."""
        for combination, names in self._extreme(safe=True):
            yield Contract(combination, names)

    def _breaking(self) -> Iterator[Contract]:
        """Yield the strongest combinations of which all that promise no more break something."""
        for combination, names in self._extreme(safe=False):
            yield Contract(combination, names, tuple(_broken(self.outcomes[combination], self.kinds)))

    def _extreme(self, *, safe: bool) -> Iterator[tuple[Combination, Promises]]:
        """Yield the weakest combinations from which on all are safe, or the strongest up to which all break something.

        With each, what it takes: values beyond the weakest, or short of the strongest; and of a dimension without an
        order its value, unless it could have any.
        """
        inwards, outwards = (1, -1) if safe else (-1, 1)
        closed: set[Combination] = set()
        for combination in sorted(self.outcomes, key=sum, reverse=safe):
            further = self._neighbours(combination, inwards)
            if _safe(self.outcomes[combination], self.kinds) is safe and closed.issuperset(further):
                closed.add(combination)
        found: dict[tuple[tuple[str, Value | Count], ...], Combination] = {}
        for combination in sorted(closed, key=lambda c: (self._distance(c, safe=safe), c)):
            if not closed.intersection(self._neighbours(combination, outwards)):
                names = self._names(combination, closed, safe=safe)
                found.setdefault(tuple(names.items()), combination)
        for pairs, combination in sorted(found.items(), key=lambda item: len(item[0])):
            yield combination, dict(pairs)

    def _distance(self, combination: Combination, *, safe: bool) -> int:
        """Return how many ordered dimensions have another value than the extreme one."""
        last = [len(dimension.values) - 1 for dimension in self.dimensions]
        return sum(combination[d] != (0 if safe else last[d]) for d in self.ordered)

    def _names(self, combination: Combination, closed: set[Combination], *, safe: bool) -> Promises:
        names: Promises = {}
        for number, dimension in enumerate(self.dimensions):
            if number in self.ordered:
                matters = combination[number] != (0 if safe else len(dimension.values) - 1)
            else:
                values = range(len(dimension.values))
                matters = any(_with(combination, number, value) not in closed for value in values)
            if matters:
                names[dimension.name] = dimension.values[combination[number]]
        return names

    def _neighbours(self, combination: Combination, step: int) -> list[Combination]:
        """Return the combinations that are next to one, in dimensions that are ordered."""
        moved = [_moved(combination, dimension, step) for dimension in self.ordered]
        return [other for other in moved if other in self.outcomes]

    def _reversals(self) -> Iterator[Reversal]:
        """Yield, for each property and dimension, the first place where more promised is worse."""
        seen: set[tuple[str, int]] = set()
        for combination, outcome in self.outcomes.items():
            for dimension in range(len(self.dimensions)):
                stronger = self.outcomes.get(_moved(combination, dimension, 1))
                for name in () if stronger is None else _broken(stronger, self.kinds):
                    held = outcome.verdicts.get(name) in (Verdict.HOLDS, Verdict.BOUNDED, Verdict.PROVED)
                    if held and stronger is not None and (name, dimension) not in seen:
                        seen.add((name, dimension))
                        yield Reversal(name, self.dimensions[dimension].name, combination, stronger.combination)

    def _idle(self) -> Iterator[str]:
        for number, dimension in enumerate(self.dimensions):
            pairs = (
                (outcome, self.outcomes.get(_moved(combination, number, 1)))
                for combination, outcome in self.outcomes.items()
            )
            if all(other is None or other.verdicts == outcome.verdicts for outcome, other in pairs):
                yield dimension.name


def claim_of(claim: Scenario, dimensions: Sequence[Dimension], combination: Combination) -> Scenario:
    """Return the claim of one combination; its name is what it promises."""
    promises = _promises(dimensions, combination)
    faults = {dimension.name for dimension in dimensions if dimension.fault}
    allow = {name: Allowance(_count(value)) for name, value in promises.items() if name in faults}
    settings = {name: value for name, value in promises.items() if name not in faults}
    name = " ".join(f"{key}={value}" for key, value in promises.items())
    return replace(claim, name=name, breaks=(), set={**claim.set, **settings}, allow={**claim.allow, **allow})


def _count(value: Value | Count) -> Count:
    assert value == "unlimited" or isinstance(value, int)
    return "unlimited" if value == "unlimited" else int(str(value))


def _promises(dimensions: Sequence[Dimension], combination: Combination) -> Promises:
    return {dimension.name: dimension.values[n] for dimension, n in zip(dimensions, combination, strict=True)}


def _moved(combination: Combination, dimension: int, step: int) -> Combination:
    return _with(combination, dimension, combination[dimension] + step)


def _with(combination: Combination, dimension: int, value: int) -> Combination:
    return (*combination[:dimension], value, *combination[dimension + 1 :])


def _verdict(report: ScenarioReport, asked: PropertyReport) -> Verdict:
    return Verdict.ERROR if report.failure is not None and asked.verdict is Verdict.UNKNOWN else asked.verdict


def _carries(kind: PropertyKind, verdict: Verdict, step: int) -> bool:
    """Tell whether a verdict is also that of a combination with more (1) or less (-1) promised of one fault."""
    if kind is PropertyKind.POSSIBLE:
        return verdict is (Verdict.VACUOUS if step > 0 else Verdict.HOLDS)
    if step < 0:
        return verdict is Verdict.VIOLATED
    return verdict in (Verdict.HOLDS, Verdict.PROVED)


def _broken(outcome: Outcome, kinds: Mapping[str, PropertyKind]) -> list[str]:
    return [n for n, v in outcome.verdicts.items() if v is Verdict.VIOLATED and kinds[n] is not PropertyKind.POSSIBLE]


def _safe(outcome: Outcome, kinds: Mapping[str, PropertyKind]) -> bool | None:
    """Tell whether nothing breaks; what is merely not reached does not count."""
    verdicts = {verdict for name, verdict in outcome.verdicts.items() if kinds[name] is not PropertyKind.POSSIBLE}
    if Verdict.VIOLATED in verdicts:
        return False
    return None if verdicts & {Verdict.UNKNOWN, Verdict.ERROR} else True

"""A sweep as people read it, and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from checker.exploration import Finding
from checker.judgement import ScenarioReport
from checker.reporting.claims import remark_lines
from checker.reporting.documents import file_document, trace_document
from checker.reporting.envelope import Document
from checker.reporting.lanes import shown_value
from checker.reporting.output import Line, aligned, blank, flowed, sentence
from checker.sweep import Combination, Contract, Outcome, Swept
from checker.verdict import Verdict
from model.specification import Count, Dimension, PropertyKind, SpecificationFile
from model.types import Value

# --- As JSON ---


def sweep_document(file: SpecificationFile, swept: Swept) -> Document:
    """Return everything as JSON."""
    return {
        **file_document(file),
        "scenario": swept.sweep.scenario or None,
        "variant": swept.claim.variant,
        "properties": [{"name": name, "kind": kind.value} for name, kind in swept.kinds.items()],
        "dimensions": [
            {"name": each.name, "kind": "fault" if each.fault else "parameter", "values": list(each.values)}
            for each in swept.sweep.dimensions
        ],
        "combinations": [_combination(swept, outcome) for outcome in swept.outcomes.values()],
        "sufficient": [
            {"assumes": dict(each.names), "combination": dict(swept.outcomes[each.combination].promises)}
            for each in swept.sufficient
        ],
        "breaking": [_breaking(swept, each) for each in swept.breaking],
        "not_monotone": [
            {
                "property": each.property,
                "dimension": each.dimension,
                "holds": dict(swept.outcomes[each.weaker].promises),
                "breaks": dict(swept.outcomes[each.stronger].promises),
            }
            for each in swept.reversals
        ],
        "no_difference": list(swept.idle),
        "verified": swept.verified,
    }


def _combination(swept: Swept, outcome: Outcome) -> dict[str, Any]:
    return {
        "promises": dict(outcome.promises),
        "safe": swept.safe(outcome.combination),
        "explored": outcome.explored,
        "states": None if outcome.report is None else outcome.report.exploration.states,
        "verdicts": {name: outcome.verdicts[name].value for name in swept.kinds},
    }


def _breaking(swept: Swept, contract: Contract) -> dict[str, Any]:
    outcome = swept.outcomes[contract.combination]
    return {
        "without": dict(contract.names),
        "combination": dict(outcome.promises),
        "breaks": [
            {"property": name, "length": finding.depth, "trace": trace_document(report.exploration.system, finding)}
            for name, report, finding in _traces(outcome, contract.broken)
        ],
    }


def _traces(outcome: Outcome, names: Sequence[str]) -> Iterator[tuple[str, ScenarioReport, Finding]]:
    for name in names:
        if outcome.report is not None and name in outcome.findings:
            yield name, outcome.report, outcome.findings[name]


# --- For people ---


def sweep_lines(file: SpecificationFile, swept: Swept, width: int) -> Iterator[Line]:
    """Yield what was varied, what suffices, what breaks, and what each property says to it."""
    yield (("title", f"{file.specification.name}: what it takes of its surroundings"),)
    rest = f"all else as in {swept.sweep.scenario}" if swept.sweep.scenario else "all else as declared"
    yield (("dim", f"{file.source.file}  {rest}  {len(swept.kinds)} propert{'y' if len(swept.kinds) == 1 else 'ies'}"),)
    yield ()
    yield (("dim", "tried, each from the weakest promise to the strongest"),)
    names = max(len(dimension.name) for dimension in swept.sweep.dimensions)
    for dimension in swept.sweep.dimensions:
        values = " → ".join(_value(dimension, value) for value in dimension.values)
        yield (*blank(2), *aligned((("name", dimension.name),), names + 2), ("", values))
    yield ()
    yield from flowed((), [(piece,) for piece in _tally(swept)], width=width, gap="")
    yield ()
    yield from _contracts(swept, width)
    yield from _properties(swept, width)
    yield from _remarks(swept, width)


def _tally(swept: Swept) -> Line:
    counts = Counter(swept.safe(combination) for combination in swept.outcomes)
    explored = sum(outcome.explored for outcome in swept.outcomes.values())
    pieces: list[tuple[str, str]] = [("", f"{len(swept.outcomes)} combinations: ")]
    pieces += [("good", f"{counts[True]} safe"), ("", ", "), ("bad", f"{counts[False]} break something")]
    if counts[None]:
        pieces += [("", ", "), ("doubt", f"{counts[None]} open")]
    more = len(swept.outcomes) - explored
    follows = (
        f", {more} follow from these" if more else f", {swept.verified:,} conclusions confirmed" * (swept.verified > 0)
    )
    return (*pieces, ("dim", f"  ({explored} explored{follows})"))


def _contracts(swept: Swept, width: int) -> Iterator[Line]:
    dimensions = {dimension.name: dimension for dimension in swept.sweep.dimensions}
    yield from _heading("good", "safe", "promises", width)
    yield from _list(swept, swept.sufficient, dimensions, "it is never safe", "nothing at all is promised", width)
    yield ()
    yield from _heading("bad", "breaks", "weaknesses", width)
    yield from _list(swept, swept.breaking, dimensions, "nothing ever breaks", "even with everything promised", width)
    yield ()


def _heading(style: str, outcome: str, what: str, width: int) -> Iterator[Line]:
    text = sentence("dim", f"with these {what}, whatever else there is, and with no fewer")
    yield from flowed(((style, outcome), ("", " ")), text, width=width, rest=blank(2), gap=" ")


def _list(
    swept: Swept,
    contracts: Sequence[Contract],
    dimensions: Mapping[str, Dimension],
    none: str,
    empty: str,
    width: int,
) -> Iterator[Line]:
    if not contracts:
        yield (*blank(2), ("", none))
    numbers = len(str(len(contracts)))
    for number, contract in enumerate(contracts, start=1):
        items: list[Line] = [
            (("name", name), ("", f" {_value(dimensions[name], value)}")) for name, value in contract.names.items()
        ]
        items = [(*item, ("dim", " +" * (item is not items[-1]))) for item in items] or [(("", empty),)]
        start: Line = (*blank(2), ("dim", f"{number:>{numbers}} "))
        yield from flowed(start, items, width=width, rest=blank(numbers + 3), gap=" ")
        if contract.broken:
            found = {
                name: finding.depth
                for name, _, finding in _traces(swept.outcomes[contract.combination], contract.broken)
            }
            texts = [f"{name} after {found[name]}" if name in found else name for name in contract.broken]
            words = sentence("dim", ", ".join(texts))
            yield from flowed(blank(numbers + 5), words, width=width, rest=blank(numbers + 5), gap=" ")


def _value(dimension: Dimension, value: Value | Count) -> str:
    if not dimension.fault:
        return shown_value(value)
    return str(value) if isinstance(value, str) else "off" if value == 0 else f"≤ {value}"


def _properties(swept: Swept, width: int) -> Iterator[Line]:
    """Yield for each property in how many combinations it breaks; of what is merely reached, in how many it is."""
    names = max((len(name) for name in swept.kinds), default=0)
    total = len(swept.outcomes)
    calm: list[str] = []
    text = "combinations that break a property, or in which what should be possible never happens"
    yield from flowed((), sentence("dim", text), width=width, gap=" ")
    for name, kind in swept.kinds.items():
        bad = Verdict.VACUOUS if kind is PropertyKind.POSSIBLE else Verdict.VIOLATED
        found = [c for c, outcome in swept.outcomes.items() if outcome.verdicts[name] is bad]
        if not found:
            calm.append(name)
            continue
        style = "doubt" if kind is PropertyKind.POSSIBLE else "bad"
        start: Line = (*blank(2), *aligned((("name", name),), names), (style, f"  {len(found):>{len(str(total))}}  "))
        shared = _in_all(swept, found)
        words = sentence("dim", f"all with {shared}" if shared else "")
        yield from flowed(start, words, width=width, rest=blank(names + 6 + len(str(total))), gap=" ")
    if calm:
        rest = f"{'the other ' if len(calm) < len(swept.kinds) else 'all '}{len(calm)}"
        yield (*blank(2), ("good", f"✓ {rest} hold in every combination"))


def _in_all(swept: Swept, combinations: Sequence[Combination]) -> str:
    """Return the values of dimensions that some combinations have in common."""
    found = []
    for number, dimension in enumerate(swept.sweep.dimensions):
        values = {combination[number] for combination in combinations}
        if len(values) == 1:
            found.append(f"{dimension.name} {_value(dimension, dimension.values[values.pop()])}")
    return ", ".join(found)


def _remarks(swept: Swept, width: int) -> Iterator[Line]:
    if swept.idle or swept.reversals:
        yield ()
    if swept.idle:
        yield from remark_lines("no matter", f"{', '.join(swept.idle)}: no verdict depends on it", width)
    for name in dict.fromkeys(each.dimension for each in swept.reversals):
        yield from remark_lines("not ordered", _reversal(swept, name), width)


def _reversal(swept: Swept, name: str) -> str:
    """Say how a dimension turns out to have no order, by the first example."""
    found = [each for each in swept.reversals if each.dimension == name]
    dimension = next(dimension for dimension in swept.sweep.dimensions if dimension.name == name)
    old, new = (swept.outcomes[c].promises[name] for c in (found[0].weaker, found[0].stronger))
    others = [
        f"{other.name} {_value(other, swept.outcomes[found[0].weaker].promises[other.name])}"
        for other in swept.sweep.dimensions
        if other.name != name
    ]
    breaks = f"{', '.join(each.property for each in found)} break{'s' * (len(found) == 1)}"
    where = f"{breaks} with {_value(dimension, new)} and not with {_value(dimension, old)}"
    return f"{name}: {where}, so that neither counts as the stronger; first with {', '.join(others)}"

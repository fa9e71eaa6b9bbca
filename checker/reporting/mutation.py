"""Mutants for people and as JSON: what was killed by what, and what survives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from checker.exploration import Finding
from checker.mutation.fates import Credit, Decided, Difference, Fate, Move, MutationReport
from checker.mutation.mutants import Operator
from checker.reporting.documents import file_document, trace_document, value_document
from checker.reporting.envelope import Document
from checker.reporting.lanes import Conclusion, trace_lines, transition_items
from checker.reporting.output import Line, Piece, blank, flowed, one_line, sentence
from checker.trace import TraceStep
from model.diagnostics import Code
from model.specification import SpecificationFile
from model.system import TransitionSystem

_WORDS = {
    Fate.KILLED: ("good", "killed"),
    Fate.ERROR: ("dim", "err"),
    Fate.VACUOUS: ("dim", "vacuous"),
    Fate.INVALID: ("dim", "invalid"),
    Fate.NARROWER: ("dim", "narrower"),
    Fate.SURVIVED: ("bad", "survive"),
    Fate.OPEN: ("doubt", "open"),
}
_DRAWN = 3
"""So many survivors are shown with whole traces; of more the names of the steps must do."""

_STEPS = 8
"""Steps of a run that are named in one line, the last ones."""


def mutation_lines(report: MutationReport, width: int, *, detailed: bool) -> Iterator[Line]:
    """Yield everything about the mutants of a file; `detailed` also about those that somebody asked about by name."""
    yield from flowed(
        (("title", report.file), ("", "  ")), sentence("", report.title), width=width, rest=blank(4), gap=" "
    )
    yield ()
    yield from _operators(report)
    yield from _credits(report.credits, width, whole=not report.narrowed)
    if detailed and len(report.decided) <= _DRAWN * 4:
        yield from _asked(report, width)
    yield from _explained(report, width)
    yield from _survivors(report, width, drawn=detailed)
    yield from _rest(report, width)
    yield from _summary(report, width)


def brief_lines(report: MutationReport, width: int) -> Iterator[Line]:
    """Yield of one file among several what somebody has to look at, and the summary."""
    yield (("title", report.file),)
    yield from _survivors(report, width, drawn=False)
    yield from _summary(report, width)
    yield ()


def together_lines(reports: Sequence[MutationReport], width: int) -> Iterator[Line]:
    """Yield one summary of several files."""
    stale = sum(len(report.stale) for report in reports)
    ended = {
        "bad": any(report.unexplained or report.stale or report.left_out for report in reports),
        "doubt": any(report.of(Fate.OPEN) or report.unfinished or not report.scenarios for report in reports),
    }
    style = next((style for style, is_so in ended.items() if is_so), "good")
    counts = _counts(reports) + ([_counted(stale, "stale reason")] if stale else [])
    seconds = sum(report.seconds for report in reports)
    total = _counted(sum(len(report.decided) for report in reports), "mutant")
    text = f"{_counted(len(reports), 'specification')}, {total}: {', '.join(counts)}  {seconds:.1f} s"
    yield from flowed((), sentence(style, text), width=width, gap=" ")


def _operators(report: MutationReport) -> Iterator[Line]:
    """Yield a table of operators and fates; columns in which nothing would stand are left out."""
    counts = Counter((each.mutant.operator, each.fate) for each in report.decided)
    fates = [fate for fate in Fate if any(counts[operator, fate] for operator in Operator)]
    operators = [operator for operator in Operator if any(counts[operator, fate] for fate in Fate)]
    if not operators:
        return
    names = max(len(operator.value) for operator in operators)
    heading = "".join(f"{_WORDS[fate][1]:>10}" for fate in fates)
    yield (("heading", f"    {'operator':<{names}}{'mutants':>10}{heading}"),)
    rows: list[tuple[str, list[int]]] = [(o.value, [counts[o, fate] for fate in fates]) for o in operators]
    rows += [("together", [len(report.of(fate)) for fate in fates])]
    for name, numbers in rows:
        style = "heading" if name == "together" else ""
        pieces: list[Piece] = [("", "    "), (style or "name", f"{name:<{names}}"), (style, f"{sum(numbers):>10,}")]
        for fate, number in zip(fates, numbers, strict=True):
            colour = _WORDS[fate][0] if number and fate in (Fate.SURVIVED, Fate.OPEN) else style
            pieces.append((colour, f"{number:>10,}" if number else f"{'·':>10}"))
        yield tuple(pieces)
    yield ()


def _credits(credits_: Sequence[Credit], width: int, *, whole: bool) -> Iterator[Line]:
    """Yield what each property kills, and what it alone kills; of some mutants only those that kill any."""
    if not any(credit.kills for credit in credits_):
        return
    names = max(len(credit.property) for credit in credits_)
    yield (("heading", f"    {'property':<{names}}{'kills':>8}{'alone':>8}"),)
    for credit in credits_:
        start: Line = (("", "    "), ("name", f"{credit.property:<{names}}"), ("", f"{credit.kills:>8,}"))
        alone = f"{len(credit.alone):>8,}" if credit.alone else f"{'·':>8}"
        items: list[Line] = [(("dim", name),) for name in credit.alone]
        if credit.kills:
            yield one_line((*start, ("", alone), ("", "  ")), items, width=width)
        elif whole:
            yield (*start, ("", f"{'·':>8}"), ("doubt", "  kills no mutant"))
    yield ()


# --- Single mutants ---


def _heading(each: Decided, sign: Piece, width: int) -> Iterator[Line]:
    yield from flowed((("", "  "), sign, ("", " ")), [(("name", each.mutant.id),)], width=width, rest=blank(6))
    mutant = each.mutant
    change: list[Line] = [(("dim", str(mutant.span)),), (("", mutant.before),)]
    change += [(("", f"→ {mutant.after}"),)] if mutant.after else [(("", "→ nothing"),)]
    yield from flowed(blank(6), change, width=width, rest=blank(8))


def _asked(report: MutationReport, width: int) -> Iterator[Line]:
    """Yield the mutants that do not survive, with the traces that decide."""
    for each in report.decided:
        if each.fate is Fate.SURVIVED:
            continue
        style, word = _WORDS[each.fate]
        yield from _heading(each, (style, "✓" if each.fate is Fate.KILLED else "·"), width)
        by = f" by {', '.join(each.broken)}" if each.broken else f": {each.why}" if each.why else ""
        where = f" in {each.scenario}" if each.scenario else ""
        yield from flowed(blank(6), sentence("", f"{word}{where}{by}"), width=width, rest=blank(8), gap=" ")
        if each.finding is not None and each.system is not None:
            message = f"{each.property} breaks" if each.property else f"run-time error {each.why}"
            yield from trace_lines(each.system, each.finding, Conclusion(good=False, message=message), width)
        yield ()


def _explained(report: MutationReport, width: int) -> Iterator[Line]:
    """Yield the reasons that the file gives, each with the number of its mutants."""
    reasons = Counter(each.explained for each in report.of(Fate.SURVIVED) if each.explained)
    if not reasons:
        return
    yield (("heading", "    survivors that the file explains"),)
    for reason, number in reasons.items():
        yield from flowed(
            (("good", "  ✓ "), ("", f"{number:>3}  ")), sentence("", reason), width=width, rest=blank(9), gap=" "
        )
    yield ()


def _survivors(report: MutationReport, width: int, *, drawn: bool) -> Iterator[Line]:
    """Yield what nothing explains: what it changes, and the shortest run that shows it."""
    left = report.unexplained
    if not left:
        return
    yield (("heading", "    survivors that nothing explains"),)
    for each in left:
        yield from _heading(each, ("bad", "✗"), width)
        if each.same:
            yield from _text("changes no reachable transition: superfluous, or equivalent", width)
        elif each.difference is None:
            yield from _text("breaks no claim; whether it does anything else is not known", width)
        else:
            yield from _difference(report, each.difference, width, drawn=drawn and len(left) <= _DRAWN)
    yield ()


def _text(text: str, width: int, style: str = "dim") -> Iterator[Line]:
    yield from flowed(blank(6), sentence(style, text), width=width, rest=blank(8), gap=" ")


def _difference(report: MutationReport, difference: Difference, width: int, *, drawn: bool) -> Iterator[Line]:
    system = next(held.system for held in report.scenarios if held.scenario.name == difference.scenario)
    trace = difference.trace
    if drawn:
        message = f"up to here, in {difference.scenario}, both do the same"
        yield from trace_lines(system, Finding(len(trace), trace), Conclusion(good=True, message=message), width)
    elif trace.steps:
        names = [
            transition_items(system, before, step)[0] for before, step in zip(trace.states, trace.steps, strict=False)
        ]
        more = f"… {len(names) - _STEPS} more, " if len(names) > _STEPS else ""
        start: Line = (("", "      "), ("dim", f"{difference.scenario}, after {more}"))
        items: list[Line] = [(*name, ("dim", ",")) for name in names[-_STEPS:-1]] + [names[-1]]
        yield from flowed(start, items, width=width, rest=blank(8), gap=" ")
    else:
        yield from _text(f"{difference.scenario}, at the very start", width)
    for word, moves in (("only the mutant", difference.gained), ("only the original", difference.lost)):
        yield from _move(system, difference, word, moves, width)


def _move(
    system: TransitionSystem, difference: Difference, word: str, moves: Sequence[Move], width: int
) -> Iterator[Line]:
    if not moves:
        return
    first = moves[0]
    start: Line = (("", "      "), ("doubt", f"{word}: "))
    more: list[Line] = [(("dim", f"(and {len(moves) - 1} more)"),)] if len(moves) > 1 else []
    if first.after is None:
        action = f"{first.action.process}.{first.action.label}"
        said = first.error.message if first.error is not None else "errs"
        yield from flowed(start, [(("name", action),), (("bad", said),), *more], width=width, rest=blank(8))
        return
    step = TraceStep(first.action, (), first.faults, first.after)
    name, items = transition_items(system, difference.trace.last, step)
    yield from flowed(start, [name, *(items or [(("dim", "changes nothing"),)]), *more], width=width, rest=blank(8))


# --- The rest ---


def _rest(report: MutationReport, width: int) -> Iterator[Line]:
    """Yield what is neither killed nor survives, in few words."""
    for fate in (Fate.VACUOUS, Fate.OPEN, Fate.INVALID):
        why = Counter(f"{each.why} ({each.scenario})" if each.scenario else each.why for each in report.of(fate))
        for reason, number in why.most_common():
            style, word = _WORDS[fate]
            start: Line = ((style, "  · "), ("", f"{number:>3}  {word}: "))
            yield from flowed(start, sentence("dim", reason), width=width, rest=blank(9), gap=" ")
    if report.of(Fate.VACUOUS) or report.of(Fate.OPEN) or report.of(Fate.INVALID):
        yield ()


def _summary(report: MutationReport, width: int) -> Iterator[Line]:
    for stale in report.stale:
        start: Line = (("bad", "  ✗ "), ("location", str(stale.span)), ("", "  "))
        said = f"{Code.EQUIVALENT_STALE.number} stale reason: {stale.message}"
        yield from flowed(start, sentence("", said), width=width, rest=blank(4), gap=" ")
    for name in report.left_out:
        said = f"the scenario {name} does not hold; see `killpoint check`"
        yield from flowed((("bad", "  ✗ "),), sentence("", said), width=width, rest=blank(4), gap=" ")
    if report.narrowed:
        yield (("dim", f"    {report.narrowed}"),)
    if report.unfinished:
        yield (("doubt", f"    {report.unfinished}: what is open was not decided"),)
    total, left = len(report.decided), len(report.unexplained)
    style = "bad" if left or report.stale or report.left_out else "doubt" if report.of(Fate.OPEN) else "good"
    scenarios = _counted(len(report.scenarios), "scenario")
    hold = "holds" if len(report.scenarios) == 1 else "hold"
    text = f"{_counted(total, 'mutant')} in {scenarios} that {hold}: "
    counts = ", ".join(_counts([report]))
    yield from flowed((), sentence(style, f"{text}{counts}  {report.seconds:.1f} s"), width=width, gap=" ")


def _counts(reports: Sequence[MutationReport]) -> list[str]:
    """Return how many mutants have come to what, and what is left of the survivors."""
    numbers = {fate: sum(len(report.of(fate)) for report in reports) for fate in Fate}
    left = sum(len(report.unexplained) for report in reports)
    explained = numbers[Fate.SURVIVED] - left
    return [
        *(f"{numbers[fate]:,} {word}" for fate, word in _SUMMARY.items() if numbers[fate]),
        *([f"{explained:,} explained"] if explained else []),
        _counted(left, "survivor") + " unexplained" if left else "no survivor unexplained",
    ]


_SUMMARY = {
    Fate.KILLED: "killed",
    Fate.ERROR: "err",
    Fate.VACUOUS: "vacuous",
    Fate.INVALID: "invalid",
    Fate.NARROWER: "narrower",
    Fate.OPEN: "open",
}


def _counted(number: int, word: str) -> str:
    return f"{number:,} {word}{'s' * (number != 1)}"


# --- JSON ---


def mutation_document(file: SpecificationFile, report: MutationReport) -> Document:
    """Return everything about the mutants of a file."""
    return {
        **file_document(file),
        "narrowed": report.narrowed,
        "unfinished": report.unfinished,
        "seconds": round(report.seconds, 3),
        "scenarios": [held.scenario.name for held in report.scenarios],
        "left_out": list(report.left_out),
        "counts": {fate.value: len(report.of(fate)) for fate in Fate} | {"unexplained": len(report.unexplained)},
        "properties": [{"name": c.property, "kills": c.kills, "alone": list(c.alone)} for c in report.credits],
        "mutants": [_mutant(report, each) for each in report.decided],
        "stale": [{"entry": s.entry, "line": s.span.line, "message": s.message} for s in report.stale],
    }


def _mutant(report: MutationReport, each: Decided) -> Document:
    mutant = each.mutant
    traced = each.finding is not None and each.system is not None
    return {
        "id": mutant.id,
        "operator": mutant.operator.value,
        "place": mutant.place,
        "line": mutant.span.line,
        "column": mutant.span.column,
        "before": mutant.before,
        "after": mutant.after,
        "fate": each.fate.value,
        "asked": each.asked,
        "scenario": each.scenario,
        "property": each.property,
        "broken": dict(each.broken),
        "why": each.why,
        "length": each.finding.depth if traced and each.finding is not None else None,
        "same": each.same,
        "explained": each.explained,
        "difference": None if each.difference is None else _difference_document(report, each.difference),
    }


def _difference_document(report: MutationReport, difference: Difference) -> Document:
    system = next(held.system for held in report.scenarios if held.scenario.name == difference.scenario)
    trace = difference.trace
    return {
        "scenario": difference.scenario,
        "trace": trace_document(system, Finding(len(trace), trace)),
        "gained": list(_moves(system, difference, difference.gained)),
        "lost": list(_moves(system, difference, difference.lost)),
    }


def _moves(system: TransitionSystem, difference: Difference, moves: Iterable[Move]) -> Iterator[Document]:
    for move in moves:
        changes = {}
        if move.after is not None:
            changes = {
                slot.name: value_document(new)
                for slot, old, new in zip(system.slots, difference.trace.last, move.after, strict=True)
                if (type(old), old) != (type(new), new)
            }
        yield {
            "kind": move.action.kind,
            "process": move.action.process,
            "instance": move.action.instance,
            "step": move.action.label,
            "faults": list(move.faults),
            "changes": changes,
            "error": "" if move.error is None else move.error.message,
        }

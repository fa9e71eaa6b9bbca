"""The kill-point matrix as people read it, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from checker.engines.consultations import Consultations
from checker.exploration import Finding
from checker.judgement import ScenarioReport
from checker.matrix import Cell, Course, Matrix, Row, claims_of, verdict_of
from checker.reporting.claims import ShownTrace, mark, remark_lines, system_items
from checker.reporting.documents import file_document, system_document, trace_document, value_document
from checker.reporting.envelope import Document
from checker.reporting.lanes import shown_value
from checker.reporting.output import Line, aligned, blank, cells, flowed, sentence
from checker.verdict import ExitCode, Verdict
from model.specification import Scenario, SpecificationFile
from model.system import TransitionSystem
from model.types import Value


@dataclass(frozen=True)
class MatrixView:
    """A matrix with what there is to say of its kill points: what recovery finds there, and what it does next."""

    file: SpecificationFile
    claim: Scenario
    matrix: Matrix
    keys: tuple[str, ...]
    """The variables that say what a recovery sees."""
    system: TransitionSystem
    """The scenario with crashes anywhere."""
    consulted: Consultations
    """How its tables are consulted, and what crashes leave of these variables."""

    @cached_property
    def slots(self) -> list[str]:
        """The names of the slots of these variables."""
        return [
            self.system.slots[slot].name
            for key in self.keys
            for (known, _), layout in self.system.layouts.items()
            if known == key
            for slot in layout.slots
        ]

    def sees(self, point: str) -> list[dict[str, Value]]:
        """Return what recovery may see after a crash at a kill point, in the order of the types."""
        found = self.consulted.left_behind.get(point, set()) if self.keys else set()
        domains = [slot.domain for name in self.slots for slot in self.system.slots if slot.name == name]

        def order(values: tuple[Value, ...]) -> list[int]:
            return [domain.index(value) for domain, value in zip(domains, values, strict=True)]

        return [dict(zip(self.slots, values, strict=True)) for values in sorted(found, key=order)]

    def next_rows(self, point: str) -> list[str]:
        """Return the rows that may be the next ones after a crash at a kill point, in the order of the file."""
        taken = {
            (key, judged.row)
            for key, situations in self.consulted.situations.items()
            for judged in situations.values()
            if key[1] is not None and point in judged.kill_points
        }
        tables = self.system.specification.tables
        alone = len({name for name, _ in tables}) == 1
        return list(
            dict.fromkeys(
                row.name if alone else f"{key[0]}.{row.name}"
                for key, table in tables.items()
                for row in table.rows
                if (key, row.name) in taken
            )
        )


# --- As JSON ---


def matrix_document(view: MatrixView, course: Course = ()) -> Document:
    """Return everything as JSON; of one cell where a course names it."""
    made = view.matrix
    whole = {
        **file_document(view.file),
        "scenario": view.claim.name,
        "mutant": view.claim.mutant,
        "variant": view.claim.variant,
        **system_document(made.declared.exploration.system),
        "declared": list(made.declared.declared),
        "view": list(view.keys),
        "problems": [{"exit_code": int(p.code), "message": p.message} for p in made.problems],
        "kill_points": list(made.points),
        "needed": dict(made.needed),
        "looked_at": {"states": view.consulted.states, "cut": view.consulted.cut},
        "without_crashes": _cell(made.none),
        "any_crashes": _outcome(made.anywhere),
    }
    rows = [_row(view, row) for row in made.rows if not course or row.point == course[0]]
    if len(course) > 1:
        rows = [{**row, "then": [c for c in row["then"] if c["crashes"] == list(course)]} for row in rows]
    return {**whole, "rows": rows}


def _row(view: MatrixView, row: Row) -> dict[str, Any]:
    return {
        "kill_point": row.point,
        "meaning": row.meaning,
        "crashed": row.crashed,
        "crashed_in": row.elsewhere or None,
        "excuse": row.excuse or None,
        "sees": [{name: value_document(value) for name, value in one.items()} for one in view.sees(row.point)],
        "takes_next": view.next_rows(row.point),
        "once": _cell(row.once),
        "only_there": _outcome(row.only_there),
        "then": [_cell(cell) for cell in row.then],
    }


def _cell(cell: Cell) -> dict[str, Any]:
    return {"crashes": list(cell.course), "reached": cell.reached, **_outcome(cell.report)}


def _outcome(report: ScenarioReport) -> dict[str, Any]:
    system = report.exploration.system
    broken = [asked for asked in claims_of(report) if asked.broken and asked.finding is not None]
    return {
        "verdict": verdict_of(report).value,
        "broken": [
            {"property": asked.name, "length": asked.finding.depth, "trace": trace_document(system, asked.finding)}
            for asked in broken
            if asked.finding is not None
        ],
    }


# --- For people ---


def matrix_lines(view: MatrixView, width: int) -> Iterator[Line]:
    """Yield the whole matrix."""
    made = view.matrix
    kind = "mutant" if view.claim.mutant else "scenario"
    yield from _title(f"{view.file.specification.name}: killed at every point, {kind} {view.claim.name}", width)
    items: list[Line] = [(("dim", item),) for item in [view.file.source.file, *_setting(view)]]
    yield from flowed((), items, width=width)
    yield ()
    if made.none.broken:
        text = f"{', '.join(made.none.broken)} break{'s' * (len(made.none.broken) == 1)} without any crash; "
        yield from flowed((), sentence("doubt", f"{text}here is what crashes add"), width=width, gap=" ")
        yield ()
    if made.rows:
        yield from _points(view, width)
        yield ()
    if made.rows and made.rows[0].then:
        yield from _pairs(made, width)
        yield ()
    yield from _needed(made, width)
    yield from _remarks(view, width)


def _title(text: str, width: int) -> Iterator[Line]:
    yield from flowed((), sentence("title", text), width=width, rest=blank(2), gap=" ")


def _setting(view: MatrixView) -> list[str]:
    variant = [f"variant {view.claim.variant}"] if view.claim.variant else []
    crashes = {name for name, fault in view.system.specification.faults.items() if fault.crashes}
    return variant + [item for item in system_items(view.system) if item.split(" ")[0] not in crashes]


def _points(view: MatrixView, width: int) -> Iterator[Line]:
    """Yield a paragraph for each kill point: how it comes out, then what recovery finds and does."""
    rows = view.matrix.rows
    numbers = len(str(len(rows)))
    names = max(len("killed before"), *(len(_short(view.matrix, row.point)) for row in rows))
    head = (*blank(numbers + 2), *aligned((("dim", "killed before"),), names), ("dim", "  once   only there"))
    beside = cells(head) + 4
    yield (*head, ("dim", "    and then")) if width - beside >= _BESIDE_MIN else head
    for number, row in enumerate(rows, start=1):
        start: Line = (
            ("dim", f"{number:>{numbers}}  "),
            *aligned((("name", _short(view.matrix, row.point)),), names),
            *blank(2),
            *aligned(_outcome_piece(view.matrix, row.once.report, row.once.reached), 7),
            *aligned(_outcome_piece(view.matrix, row.only_there, row.crashed), 14),
        )
        text = _after(view, row)
        if width - beside >= _BESIDE_MIN:
            yield from flowed(start, text, width=width, rest=blank(beside), gap=" ")
        else:
            yield start
            yield from flowed(blank(numbers + 4), text, width=width, rest=blank(numbers + 4), gap=" ")


_BESIDE_MIN = 44


def _outcome_piece(made: Matrix, report: ScenarioReport, reached: bool) -> Line:
    """Return how a kill point comes out; what breaks without any crash is left out."""
    if not reached:
        return (("dim", "–"),)
    lengths = [depth for name, depth in _depths(report).items() if name not in made.none.broken]
    verdict = verdict_of(report)
    if verdict is Verdict.VIOLATED and not lengths:
        verdict = Verdict.HOLDS
    style, sign = _SIGNS[verdict]
    return ((style, f"{sign} {min(lengths)}" if lengths else sign),)


def _depths(report: ScenarioReport) -> dict[str, int]:
    """Return the properties that break with the lengths of their shortest runs."""
    return {a.name: a.finding.depth for a in claims_of(report) if a.broken and a.finding is not None}


_SIGNS = {
    Verdict.HOLDS: ("good", "✓"),
    Verdict.BOUNDED: ("doubt", "?"),
    Verdict.VIOLATED: ("bad", "✗"),
    Verdict.UNKNOWN: ("doubt", "?"),
    Verdict.ERROR: ("bad", "!"),
}


def _after(view: MatrixView, row: Row) -> list[Line]:
    """Return the words for what follows a crash at a kill point."""
    if not row.crashed:
        if row.elsewhere:
            return sentence("dim", f"not reached here; a crash falls there in {row.elsewhere}")
        return sentence("dim", f"never: {row.excuse}") if row.excuse else sentence("bad", "never, in no scenario")
    words = sentence("", f"{row.meaning};") if row.meaning else []
    count, rows = len(view.sees(row.point)), view.next_rows(row.point)
    if count:
        words += sentence("dim", f"{count} situation{'s' * (count != 1)}{', next row' if rows else ''}")
    elif rows:
        words += sentence("dim", "next row")
    words += [(("changed", f"{name}{',' * (name is not rows[-1])}"),) for name in rows]
    return words


def _pairs(made: Matrix, width: int) -> Iterator[Line]:
    """Draw the square of pairs: a line for the first crash, a column for the second."""
    rows = made.rows
    drawn = {piece for row in rows for cell in row.then for piece in [_pair_piece(made, cell, 0)]}
    column = max(2, len(str(len(rows))), *(len(text) for _, text in drawn)) + 1
    numbers = len(str(len(rows)))
    names = max(len(_short(made, row.point)) for row in rows) + 2
    names = names if numbers + names + 2 + column * len(rows) <= width else 0
    yield (("dim", "killed there, and once more afterwards, before"),)
    head = "".join(f"{number:>{column}}" for number in range(1, len(rows) + 1))
    yield (*blank(numbers + 2 + names), ("dim", head))
    for number, row in enumerate(rows, start=1):
        name: Line = aligned((("name", _short(made, row.point)),), names) if names else ()
        line = [_pair_piece(made, cell, column) for cell in row.then]
        yield (("dim", f"{number:>{numbers}}  "), *name, *line)
    signs = [sign for sign in (_NOTHING, _NEVER) if any(text == sign[1][0] for _, text in drawn)]
    numbered = next((text for style, text in sorted(drawn) if style == "bad" and text.isdigit()), "")
    signs += [("bad", f"{numbered} so many transitions to break what neither crash breaks alone")] if numbered else []
    signs += [_ALONE] if any(text == _ALONE[1][0] for _, text in drawn) else []
    yield from flowed(blank(numbers + 2), [(piece,) for piece in signs], width=width, rest=blank(numbers + 2))


_NOTHING = ("good", "✓ nothing breaks")
_NEVER = ("dim", "– it never comes to that")
_ALONE = ("doubt", "✗ breaks as it does with one of them alone")


def _short(made: Matrix, point: str) -> str:
    """Return a kill point without its process, where there is only one."""
    processes = {other.partition(".")[0] for other in made.points}
    return point.partition(".")[2] if len(processes) == 1 else point


def _pair_piece(made: Matrix, cell: Cell, width: int) -> tuple[str, str]:
    first, second = made.cell(cell.course[:1]), made.cell(cell.course[1:])
    alone = {name for one in (first, second) if one is not None for name in one.broken}
    broken = {name: finding for name, finding in cell.broken.items() if name not in made.none.broken}
    more = [finding.depth for name, finding in broken.items() if name not in alone]
    if not cell.reached:
        style, text = "dim", "–"
    elif more:
        style, text = "bad", str(min(more))
    elif broken:
        style, text = "doubt", "✗"
    else:
        style, text = _SIGNS[Verdict.HOLDS if cell.verdict is Verdict.VIOLATED else cell.verdict]
    return style, f"{text:>{width}}"


def _needed(made: Matrix, width: int) -> Iterator[Line]:
    """Yield how many crashes it takes to break each property."""
    broken = {name: count for name, count in made.needed.items() if count is not None}
    names = max((len(name) for name in broken), default=0)
    if broken:
        heading = sentence("dim", "crashes that it takes to break a property, and the shortest run")
        yield from flowed((), heading, width=width, rest=blank(2), gap=" ")
    for name, count in sorted(broken.items(), key=lambda item: item[1]):
        course, finding = _shortest(made, name, count)
        where = (
            "without any"
            if not count
            else " and then ".join(_short(made, point) for point in course)
            if course
            else f"{count} anywhere"
        )
        text = f"{where}, {len(finding.trace)} transitions" if finding is not None else where
        start: Line = (*blank(2), *aligned((("name", name),), names), ("bad", f"  {count}  "))
        yield from flowed(start, sentence("", text), width=width, rest=blank(names + 7), gap=" ")
    whole = [asked for asked in claims_of(made.anywhere) if asked.name not in broken]
    if whole:
        holds = sum(asked.verdict in (Verdict.HOLDS, Verdict.PROVED) for asked in whole)
        what = "all" if not broken else "the other" if len(whole) > 1 else "the last"
        text = f"{what} {len(whole)} properties hold" if holds == len(whole) else f"{len(whole)} properties are open"
        yield (
            ("good" if holds == len(whole) else "doubt", f"{'✓' if holds == len(whole) else '?'} {text}"),
            ("", ", killed any number of times anywhere"),
        )


def _shortest(made: Matrix, name: str, count: int) -> tuple[Course, Finding | None]:
    """Return the course of so many crashes that breaks a property soonest; none of more than two."""
    if not count:
        return (), made.none.broken.get(name)
    singles = [row.once for row in made.rows]
    pairs = [cell for row in made.rows for cell in row.then]
    known = [cell for cell in (singles if count == 1 else pairs if count == 2 else []) if name in cell.broken]
    best = min(known, key=lambda cell: cell.broken[name].depth, default=None)
    if best is not None:
        return best.course, best.broken[name]
    return (), next((a.finding for a in claims_of(made.anywhere) if a.name == name), None)


def _remarks(view: MatrixView, width: int) -> Iterator[Line]:
    made = view.matrix
    if made.declared.declared:
        code = made.exit_code
        text = f"{', '.join(made.declared.declared)}: the {'mutant' if view.claim.mutant else 'scenario'} says so"
        if code is ExitCode.AS_DECLARED:
            yield from remark_lines("declared", text, width)
    if made.declared.because:
        yield from remark_lines("because", made.declared.because, width)
    for problem in made.problems:
        style, sign = mark(problem.code)
        yield from flowed(((style, f"{sign} "),), sentence(style, problem.message), width=width, rest=blank(2), gap=" ")
    if view.consulted.cut:
        text = f"of situations and rows only {view.consulted.states:,} states were looked at"
        yield from remark_lines("cut short", text, width, "dim")


def cell_lines(view: MatrixView, cell: Cell, witness: ShownTrace | None, width: int) -> Iterator[Line]:
    """Yield one cell: how it comes out, what recovery sees there, and its shortest run."""
    where = " and then before ".join(cell.course)
    yield from _title(f"{view.file.specification.name}: killed before {where}", width)
    items: list[Line] = [(("dim", item),) for item in [view.file.source.file, view.claim.name, *_setting(view)]]
    yield from flowed((), items, width=width)
    yield ()
    last = cell.course[-1]
    meaning = view.file.kill_points.get(last, "")
    if meaning:
        yield from remark_lines("then", meaning, width)
    for number, one in enumerate(view.sees(last)):
        text = "  ".join(f"{name}={shown_value(value)}" for name, value in one.items())
        yield from remark_lines("it may see" if not number else "", text, width)
    rows = view.next_rows(last)
    if rows:
        yield from remark_lines("next row", ", ".join(rows), width)
    yield from _verdicts(cell, width)
    if witness is not None:
        yield ()
        yield from witness.lines(width)


def _verdicts(cell: Cell, width: int) -> Iterator[Line]:
    if not cell.reached:
        yield from remark_lines("verdict", "it never comes to that", width, "dim")
        return
    lengths: Mapping[str, int] = {name: finding.depth for name, finding in cell.broken.items()}
    broken: Sequence[str] = [f"{name} after {length}" for name, length in lengths.items()]
    style, _ = _SIGNS[cell.verdict]
    text = f"breaks {', '.join(broken)}" if broken else f"{len(cell.decided)} properties: {cell.verdict.value}"
    yield from remark_lines("verdict", text, width, style)

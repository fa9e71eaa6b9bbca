"""Decision tables as people draw them, with what is known of every row, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

from checker.reporting.documents import file_document, value_document
from checker.reporting.envelope import Document
from checker.reporting.output import Line, aligned, blank, cells, flowed, one_line, sentence
from checker.reporting.texts import FileTexts
from checker.tables import RowReport, TableReport, Witness
from model.specification import SpecificationFile
from model.system import TransitionSystem

Table = dict[str, Any]
"""The document of one table."""

_WHEN_WIDTH_MIN = 16
_POINTS_WIDTH_MIN = 26
_CELL_WIDTH_MAX = 18
_NAME_WIDTH_MAX = 24
_SHOWN = 5
"""Pairs of rows, or scenarios, that are shown; all are in the document."""

_TAKEN = "taken in"
_AFTER = "next after a crash at"


def tables_document(
    file: SpecificationFile, system: TransitionSystem, reports: Sequence[TableReport], *, scenario: str, variant: str
) -> Document:
    """Return everything as JSON."""
    texts = FileTexts(file.source)
    return {
        **file_document(file),
        "scenario": scenario,
        "parameters": dict(system.parameters),
        "tables": [_table(report, texts, variant) for report in reports],
    }


def _table(report: TableReport, texts: FileTexts, variant: str) -> Document:
    return {
        "name": report.name,
        "match": "first" if report.table.first_match else "exclusive",
        "exit_code": int(report.exit_code),
        "columns": list(report.table.columns),
        "consulted_by": list(report.consulted_by),
        "inputs": [{"name": name, "values": size} for name, size in report.inputs],
        "typed_situations": report.typed_situations,
        "reached_situations": report.reached,
        "rows": [_row(report, row, texts, variant) for row in report.rows],
        "gap": None if report.gap is None else _witness(report.gap),
        "overlaps": [_witness(witness) for witness in report.overlaps],
        "valueless": [_witness(witness) for witness in report.valueless],
        "alike": [list(group) for group in report.alike],
        "scenarios": [{"name": name, "states": states} for name, states in report.counted],
        "left_out": list(report.left_out),
        "cut": list(report.cut),
    }


def _row(report: TableReport, row: RowReport, texts: FileTexts, variant: str) -> Document:
    name = row.row.name
    return {
        "name": name,
        "when": texts.row(report.name, name, "when", variant),
        "gives": {column: texts.row(report.name, name, column, variant) for column in report.table.columns},
        "standing": row.standing,
        "fits": row.fits,
        "fires": row.fires,
        "situations": row.situations,
        "taken_in": list(row.taken_in),
        "kill_points": list(row.kill_points),
    }


def _witness(witness: Witness) -> Document:
    return {
        "rows": list(witness.rows),
        "situation": {name: value_document(value) for name, value in witness.situation},
        "text": ", ".join(f"{name}={value}" for name, value in witness.situation) or "any situation",
        "reached_in": witness.reached_in or None,
    }


# --- For people ---


def table_lines(document: Document, width: int) -> Iterator[Line]:
    """Yield all tables."""
    for number, table in enumerate(cast("list[Table]", document["tables"])):
        if number:
            yield ()
        yield from _lines(table, width)


def _lines(table: Table, width: int) -> Iterator[Line]:
    by = ", ".join(table["consulted_by"]) or "properties only"
    yield (("title", table["name"]), ("", f"  {table['match']} match, consulted by {by}"))
    inputs = ", ".join(f"{one['name']} ({one['values']})" for one in table["inputs"]) or "nothing"
    text = f"{inputs}: {table['typed_situations']:,} situations, {table['reached_situations']:,} of them reached"
    yield from _paragraph("reads", text, width)
    yield ()
    yield from _drawn(table, width)
    yield ()
    for heading, text in _facts(table):
        yield from _paragraph(heading, text, width)


def _drawn(table: Table, width: int) -> Iterator[Line]:
    """Draw the table: a line for each row, the kill points behind it or, where there is no room, below it."""
    rows: list[Table] = table["rows"]
    points = [_points(table, row) for row in rows]
    names = _width(["row", *(row["name"] for row in rows)], _NAME_WIDTH_MAX)
    columns = {c: _width([c, *(row["gives"][c] for row in rows)], _CELL_WIDTH_MAX) for c in table["columns"]}
    taken = _width([_TAKEN, *(_standing(row)[1] for row in rows)], _CELL_WIDTH_MAX)
    fixed = names + sum(columns.values()) + taken + 2 * (len(columns) + 4) + 3
    if fixed + _WHEN_WIDTH_MIN > width:
        yield from _below_each_other(rows, points, width)
        return
    whens = _width(["when", *(row["when"] for row in rows)], max(_WHEN_WIDTH_MIN, width - fixed))
    beside = width - fixed - whens >= _POINTS_WIDTH_MIN
    heading = [("row", names), ("when", whens), ("→", 1), *columns.items(), (_TAKEN, taken)]
    line = (*blank(2), *(piece for text, cell in heading for piece in _cell("dim", text, cell)))
    yield (*line, ("dim", _AFTER)) if any(points) and beside else line
    for row, after in zip(rows, points, strict=True):
        drawn: Line = (
            *blank(2),
            *_cell("name", row["name"], names),
            *_cell("", row["when"], whens),
            *_cell("dim", "→", 1),
            *(piece for column, cell in columns.items() for piece in _cell("changed", row["gives"][column], cell)),
            *_cell(*_standing(row), taken),
        )
        if beside or not after:
            yield from flowed(drawn, after, width=width, rest=blank(cells(drawn)))
        else:
            yield drawn
            yield from flowed((*blank(4), ("dim", f"{_AFTER} ")), after, width=width, rest=blank(6))


def _below_each_other(rows: Sequence[Table], points: Sequence[Sequence[Line]], width: int) -> Iterator[Line]:
    """Tell row by row what has no room side by side."""
    for row, after in zip(rows, points, strict=True):
        style, standing = _standing(row)
        count = row["situations"]
        said = f"{_TAKEN} {count:,} situation{'s' * (count != 1)}" if row["standing"] == "taken" else standing
        yield from flowed((*blank(2), ("name", row["name"]), *blank(2)), sentence(style, said), width=width, gap=" ")
        gives: list[Line] = [(("", f"{column}="), ("changed", value)) for column, value in row["gives"].items()]
        yield from flowed((*blank(4), ("dim", "when ")), sentence("", row["when"]), width=width, rest=blank(6), gap=" ")
        yield from flowed((*blank(4), ("dim", "→ ")), gives, width=width, rest=blank(6))
        if after:
            yield from flowed((*blank(4), ("dim", f"{_AFTER} ")), after, width=width, rest=blank(6))


def _points(table: Table, row: Table) -> list[Line]:
    """Return the kill points of a row; of the process that consults the table, without its name."""
    alone = f"{table['consulted_by'][0]}." if len(table["consulted_by"]) == 1 else ""
    return [(("", point.removeprefix(alone)),) for point in row["kill_points"]]


def _standing(row: Table) -> tuple[str, str]:
    if row["standing"] == "taken":
        return "good", str(row["situations"])
    return ("doubt" if row["standing"] == "not reached" else "bad"), row["standing"]


def _cell(style: str, text: str, width: int) -> Line:
    return (*aligned(one_line((), [((style, text),)], width=width), width), *blank(2))


def _width(texts: Sequence[str], most: int) -> int:
    return min(most, max(cells([("", text)]) for text in texts))


def _facts(table: Table) -> Iterator[tuple[str, str]]:
    yield (
        "total",
        "in every situation some row fits" if table["gap"] is None else f"no row fits: {_seen(table['gap'], table)}",
    )
    pairs = table["overlaps"]
    if pairs:
        text = "; ".join(f"{' and '.join(pair['rows'])}: {_seen(pair, table)}" for pair in pairs[:_SHOWN])
        more = f"; {len(pairs) - _SHOWN} more in `--json`" if len(pairs) > _SHOWN else ""
        yield "both fit", f"{'the first counts; ' if table['match'] == 'first' else ''}{text}{more}"
    elif table["match"] == "exclusive":
        yield "exclusive", "in no situation two rows fit"
    for standing, text in _NEVER.items():
        names = [row["name"] for row in table["rows"] if row["standing"] == standing]
        if names:
            yield standing, f"{', '.join(names)}: {text}"
    for one in table["valueless"]:
        yield "no value", f"the condition of {one['rows'][0]}: {_seen(one, table)}"
    for group in table["alike"]:
        yield "alike", f"{', '.join(group)} give the same, and could be one row in the place of {group[0]}"
    states = sum(one["states"] for one in table["scenarios"])
    scenarios = _some([one["name"] for one in table["scenarios"]])
    yield "looked at", f"{states:,} states of {scenarios}" if scenarios else "nothing: no scenario has this table"
    if table["left_out"]:
        yield "left out", f"{_some(table['left_out'])}: the table is another one there"
    if table["cut"]:
        yield "cut short", f"not all states were looked at in {_some(table['cut'])}"


def _some(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


_NEVER = {
    "never fits": "the condition is false in every situation",
    "shadowed": "wherever the condition is true, that of another row is as well",
    "not reached": "possible, and no scenario comes to it",
}


def _seen(witness: Table, table: Table) -> str:
    never = "not reached so far" if table["cut"] else "not reached"
    return f"{witness['text']} ({'reached in ' + witness['reached_in'] if witness['reached_in'] else never})"


def _paragraph(heading: str, text: str, width: int) -> Iterator[Line]:
    start: Line = (("", "  "), *aligned((("dim", heading),), 11), ("", "  "))
    yield from flowed(start, sentence("", text), width=width, rest=blank(15), gap=" ")

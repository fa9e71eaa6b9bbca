"""The overview of a specification, for people; what it says is gathered in `checker.reporting.overview`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from checker.reporting.lanes import shown_value
from checker.reporting.output import Line, aligned, blank, flowed, sentence

_NAME_WIDTH_MAX = 36
_HEADINGS = {
    "parameters": "Parameters",
    "stores": "Stores, which survive a crash",
    "ghosts": "Ghosts, which only properties read",
    "faults": "Faults",
    "processes": "Processes; ✖ is a kill point: a crash can fall right before the step",
    "tables": "Tables",
    "properties": "Properties",
    "scenarios": "Scenarios",
    "mutants": "Mutants",
    "questions": "Questions, and the scenarios that answer them",
}

Overview = dict[str, Any]
"""What `overview_document` returns."""


def overview_lines(overview: Overview, width: int) -> Iterator[Line]:
    """Yield the overview."""
    yield (("title", overview["title"] or overview["protocol"]),)
    points, environments = overview["kill_points"], [p for p in overview["processes"] if p["environment"]]
    several = "es" * (len(overview["processes"]) != 1)
    counts = (
        f"{len(points)} kill point{'s' * (len(points) != 1)}, {len(overview['processes'])} process{several}"
        f" ({len(environments)} of the environment)"
    )
    yield from flowed(
        (), sentence("dim", f"{overview['file']}: {overview['protocol']}; {counts}"), width=width, gap=" "
    )
    if overview["sources"]:
        yield from flowed((), sentence("dim", f"sources: {'; '.join(overview['sources'])}"), width=width, gap=" ")
    sections = {
        "parameters": _parameters,
        "stores": _stores,
        "ghosts": _ghosts,
        "faults": _faults,
        "processes": _processes,
        "tables": _tables,
        "properties": _properties,
        "scenarios": _claims,
        "mutants": _claims,
        "questions": _questions,
    }
    for key, lines in sections.items():
        if overview[key]:
            yield ()
            yield (("heading", _HEADINGS[key]),)
            yield from lines(overview[key], width)


def _entry(name: Line, words: Sequence[Line], name_width: int, width: int, gap: str = " ") -> Iterator[Line]:
    start = (*blank(2), *aligned(name, name_width), *blank(2))
    yield from flowed(start, words, width=width, rest=blank(name_width + 4), gap=gap)


def _width_of(names: list[str]) -> int:
    return min(_NAME_WIDTH_MAX, max((len(name) for name in names), default=0))


def _parameters(parameters: list[Overview], width: int) -> Iterator[Line]:
    name_width = _width_of([p["name"] for p in parameters])
    for parameter in parameters:
        words = [(("", shown_value(parameter["default"])),), (("dim", f"of {parameter['values']}"),)]
        yield from _entry((("name", parameter["name"]),), words, name_width, width)


def _stores(stores: list[Overview], width: int) -> Iterator[Line]:
    name_width = _width_of([store["name"] for store in stores])
    for store in stores:
        items = [_variable(variable) for variable in store["variables"]]
        if store["versioned"]:
            items.insert(0, (("dim", "(versioned)"),))
        yield from _entry((("name", store["name"]),), items, name_width, width, "  ")


def _ghosts(ghosts: list[Overview], width: int) -> Iterator[Line]:
    yield from flowed(blank(2), [_variable(ghost) for ghost in ghosts], width=width, rest=blank(2))


def _variable(variable: Overview) -> Line:
    index = f"[{', '.join(variable['per'])}]" if variable["per"] else ""
    return (("", f"{variable['name']}{index}"), ("dim", f": {variable['type']}"))


def _faults(faults: list[Overview], width: int) -> Iterator[Line]:
    name_width = _width_of([fault["name"] for fault in faults])
    for fault in faults:
        at_most = fault["at_most"]
        often = (
            "off unless a scenario allows it"
            if at_most == "0"
            else at_most
            if at_most == "unlimited"
            else f"at most {at_most}"
        )
        words = sentence("", f"{'crash of ' + ', '.join(fault['crashes']) + '; ' if fault['crashes'] else ''}{often}")
        yield from _entry((("fault", fault["name"]),), words, name_width, width)


# --- Processes ---


def _processes(processes: list[Overview], width: int) -> Iterator[Line]:
    name_width = _width_of([step["name"] for process in processes for step in process["steps"]]) + 2
    for process in processes:
        yield from flowed(blank(2), list(_process(process)), width=width, rest=blank(4))
        for step in process["steps"]:
            point: Line = (("bad", "✖ "),) if step["kill_point"] else blank(2)
            yield from _entry((*point, ("name", step["name"])), list(_step(process, step)), name_width, width, "  ")


def _process(process: Overview) -> Iterator[Line]:
    yield (("title", process["name"]),)
    if process["environment"]:
        yield (("dim", "environment: any step whenever it is enabled"),)
    if process["count"] != "1":
        yield (("dim", f"instances: {process['count']}"),)
    if process["boot"]:
        yield (("dim", "starts at "), ("name", process["boot"]))
    if process["restarts"] != "at_once":
        yield (("dim", f"restarts {process['restarts']}"),)
    if process["on_crash"]:
        yield (("dim", "a crash does something"),)
    if process["volatile"]:
        yield (("dim", "volatile:"),)
        for variable in process["volatile"]:
            yield (*_variable(variable), *((("dim", " kept"),) if variable["keep"] else ()))


def _step(process: Overview, step: Overview) -> Iterator[Line]:
    yield from ((("", f"read({store})"),) for store in step["read"])
    yield from ((("", f"fresh({store})"),) for store in step["fresh"])
    if step["tables"]:
        yield (("dim", "plans by "), ("", ", ".join(step["tables"])))
    own = f"{process['name']}."
    reads = [name.removeprefix(own) for name in step["reads"] if name not in step["writes"]]
    if reads:
        yield (("dim", "reads "), ("", ", ".join(reads)))
    if step["writes"]:
        yield (("dim", "writes "), ("changed", ", ".join(name.removeprefix(own) for name in step["writes"])))
    yield from ((("fault", f"fault({fault})"),) for fault in step["faults"])
    if step["torn"]:
        yield (("dim", "can be torn"),)
    if not step["fair"]:
        yield (("dim", "unfair"),)
    if step["goes_to"]:
        yield (("dim", f"→ {', '.join(step['goes_to'])}"),)
    if step["stops"]:
        yield (("dim", "→ stopped"),)


# --- Tables and claims ---


def _tables(tables: list[Overview], width: int) -> Iterator[Line]:
    for table in tables:
        otherwise = [f"{column}={table['defaults'][column]}" for column in table["defaults"]]
        text = f"{table['match']} match; gives {', '.join(table['columns'])}"
        words = sentence("dim", f"{text}; unless a row says otherwise {', '.join(otherwise)}" if otherwise else text)
        yield from flowed((*blank(2), ("title", table["name"]), *blank(2)), words, width=width, rest=blank(4), gap=" ")
        name_width = _width_of([row["name"] for row in table["rows"]]) + 2
        for row in table["rows"]:
            words = [*sentence("dim", row["when"]), (("dim", "→"),), *_given(row, table["defaults"])]
            yield from _entry((*blank(2), ("name", row["name"])), words, name_width, width)


def _given(row: Overview, defaults: Overview) -> Iterator[Line]:
    for column, value in row["gives"].items():
        if value != defaults.get(column):
            yield (("", f"{column}="), ("changed", value))


def _properties(properties: list[Overview], width: int) -> Iterator[Line]:
    name_width = _width_of([p["name"] for p in properties])
    for declared in properties:
        words = [(("", f"{declared['kind']:<11}"),), *sentence("dim", declared["text"])]
        yield from _entry((("name", declared["name"]),), words, name_width, width)


def _claims(claims: list[Overview], width: int) -> Iterator[Line]:
    name_width = _width_of([claim["name"] for claim in claims])
    for claim in claims:
        yield from _entry((("name", claim["name"]),), list(_claim(claim)), name_width, width, "  ")


def _claim(claim: Overview) -> Iterator[Line]:
    yield from ((("", item),) for item in claim["settings"])
    if claim["only"] is not None:
        yield (("dim", f"asks only about {', '.join(claim['only'])}"),)
    if claim["breaks"]:
        yield (("bad", f"breaks {', '.join(claim['breaks'])}"),)
    elif claim["survives"]:
        yield (("doubt", "survives"),)
    else:
        yield (("good", "holds"),)


def _questions(questions: list[Overview], width: int) -> Iterator[Line]:
    name_width = _width_of([question["name"] for question in questions])
    for question in questions:
        answer = question["shown_by"] or ["no answer"]
        words = [*sentence("", question["asks"]), *sentence("dim", f"→ {', '.join(answer)}")]
        yield from _entry((("name", question["name"]),), words, name_width, width)

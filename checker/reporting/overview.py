"""A specification at a glance: kill points, steps, tables, faults, parameters, claims.

Gathered once as plain data (`overview_document`); the lines for people are made from that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from checker.reporting.claims import setting_items
from checker.reporting.documents import file_document
from checker.reporting.envelope import Document
from checker.reporting.texts import FileTexts
from model.expressions import AtLabel, Expression, FaultDraw, Fresh, TableColumn, VariableValue, walk
from model.specification import Process, Scenario, Specification, SpecificationFile, Step, Table, Variable
from model.statements import Assign, Choose, Count, Goto, Read, Statement, Stop, expressions_of, walk_statements
from model.types import BoolType, CounterType, EnumType, ValueType


def overview_document(file: SpecificationFile) -> Document:
    """Return what a specification declares, as JSON."""
    specification = file.specification
    texts = FileTexts(file.source)
    return {
        **file_document(file),
        "sources": list(file.sources),
        "parameters": [
            {"name": p.name, "default": p.default, "values": _values(p.type)} for p in specification.parameters.values()
        ],
        "stores": [
            {
                "name": store.name,
                "versioned": store.versioned,
                "variables": [_variable(v, texts) for v in store.variables],
            }
            for store in specification.stores.values()
        ],
        "ghosts": [_variable(variable, texts) for variable in specification.ghosts],
        "faults": [
            {"name": f.name, "crashes": list(f.crashes), "at_most": _at_most(texts, f.name, f.at_most)}
            for f in specification.faults.values()
        ],
        "processes": [_process(specification, process, texts) for process in specification.processes.values()],
        "kill_points": kill_points(specification),
        "tables": [_table(table, texts) for table in _distinct(specification)],
        "properties": [
            {"name": p.name, "kind": p.kind.value, "text": texts.property(p.name, p.kind)}
            for p in specification.properties.values()
        ],
        "variants": list(file.variants),
        "scenarios": [_claim(scenario) for scenario in file.scenarios.values()],
        "mutants": [_claim(mutant) for mutant in file.mutants.values()],
        "questions": [
            {"name": q.name, "asks": q.asks, "shown_by": list(q.shown_by), "unanswered": q.unanswered}
            for q in file.questions.values()
        ],
        "unused": dict(file.unused),
    }


def kill_points(specification: Specification) -> list[str]:
    """Return the ids of all kill points: of every process that can crash."""
    crashing = {process for fault in specification.faults.values() for process in fault.crashes}
    return [
        point
        for process in specification.processes.values()
        if process.name in crashing
        for point in process.kill_points
    ]


def _values(value_type: ValueType) -> str:
    match value_type:
        case EnumType(literals=literals):
            return ", ".join(literals)
        case BoolType():
            return "false, true"
        case _:
            return str(value_type)


def _variable(variable: Variable, texts: FileTexts) -> Document:
    path = ("ghost",) if variable.role.value == "ghost" else ("stores", variable.owner, "holds")
    if variable.role.value == "volatile":
        path = ("processes", variable.owner, "volatile")
    return {
        "name": variable.name,
        "type": _type(variable, texts, path),
        "per": [str(index) for index in variable.per],
        "initial": texts.initial_of(*path, variable.name),
    }


def _type(variable: Variable, texts: FileTexts, path: tuple[str, ...]) -> str:
    if isinstance(variable.type, CounterType):
        return texts.type_of(*path, variable.name) or "counter"
    return str(variable.type)


def _at_most(texts: FileTexts, name: str, at_most: Expression | str) -> str:
    return texts.at_most(name) or (at_most if isinstance(at_most, str) else "")


def _claim(claim: Scenario) -> Document:
    return {
        "name": claim.name,
        "settings": setting_items(claim),
        "only": None if claim.only is None else list(claim.only),
        "breaks": list(claim.breaks),
        "because": claim.because,
        "survives": claim.survives,
    }


# --- Processes ---


def _process(specification: Specification, process: Process, texts: FileTexts) -> Document:
    points = set(kill_points(specification))
    return {
        "name": process.name,
        "count": texts.count(process.name) or "1",
        "environment": process.environment,
        "boot": process.boot,
        "restarts": process.restarts,
        "on_crash": process.on_crash is not None,
        "volatile": [{**_variable(variable, texts), "keep": variable.keep} for variable in process.volatile],
        "steps": [_step(process, step, kill_point=step.id in points) for step in process.steps],
    }


def _step(process: Process, step: Step, *, kill_point: bool) -> Document:
    statements = list(walk_statements(step.body))
    nodes = [node for statement in statements for top in expressions_of(statement) for node in walk(top)]
    targets = [target for statement in statements for target in _targets(statement)]
    reads = _unique(node.key for node in nodes if isinstance(node, VariableValue))
    return {
        "name": step.name,
        "id": step.id,
        "kill_point": kill_point,
        "fair": step.fair,
        "torn": step.torn is not None,
        "reads": reads,
        "writes": _unique(target.key for target in targets),
        "tables": _unique(node.table for node in nodes if isinstance(node, TableColumn)),
        "faults": _unique(node.fault for node in nodes if isinstance(node, FaultDraw)),
        "read": _unique(statement.store for statement in statements if isinstance(statement, Read)),
        "fresh": _unique(node.store for node in nodes if isinstance(node, Fresh)),
        "watches": _unique(f"{node.process}.{node.label}" for node in nodes if isinstance(node, AtLabel)),
        "goes_to": [] if process.environment else _goes_to(step, statements),
        "stops": any(isinstance(statement, Stop) for statement in statements),
    }


def _targets(statement: Statement) -> Iterator[VariableValue]:
    if isinstance(statement, Assign | Count | Choose) and isinstance(statement.target, VariableValue):
        yield statement.target


def _goes_to(step: Step, statements: list[Statement]) -> list[str]:
    """Return the labels that may come next; falling through counts where the text does not end in a jump."""
    labels = [statement.label for statement in statements if isinstance(statement, Goto)]
    falls = not step.body or not isinstance(step.body[-1], Goto | Stop)
    return _unique([*labels, *([step.next_label] if falls else [])])


def _unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


# --- Tables ---


def _distinct(specification: Specification) -> list[Table]:
    """Return each table once, though it is elaborated for every process that consults it."""
    return list({table.name: table for table in specification.tables.values()}.values())


def _table(table: Table, texts: FileTexts) -> Document:
    return {
        "name": table.name,
        "match": "first" if table.first_match else "exclusive",
        "columns": {name: str(value_type) for name, value_type in table.columns.items()},
        "defaults": {name: text for name in table.columns if (text := texts.default(table.name, name))},
        "rows": [
            {
                "name": row.name,
                "when": texts.row(table.name, row.name, "when"),
                "gives": {column: texts.row(table.name, row.name, column) for column in row.gives},
            }
            for row in table.rows
        ],
    }

"""The pieces of a specification that a run should make use of, by stable names.

Coverage (`checker.exploration`) speaks of spans and ids; a person, and `unused:` in a file, of names:

    coordinator.submit                    a step
    coordinator.submit if found           an arm of an `if`: its condition true
    coordinator.submit unless found       ... or false
    plan.in_doubt                         a row of a decision table
    kill point coordinator.submit         a crash right before the step
    kill point coordinator.submit.torn    a crash inside the step
    coordinator.submit.torn if found      an arm of an `if` in what that crash leaves behind
    coordinator.on_crash if found         ... or in what every crash of the process does
    final premise run == decided          the premise of an `implies` in a property
    check one_key                         a `checked` property, somewhere in a step

A second `if` with the same condition in one step (or a second such premise in one property) is called `... (2)`.
Scenarios may run variants of the protocol. A piece that a variant rewrites is a piece of its own with the same name.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from enum import Enum

from checker.exploration import Coverage
from model.expressions import Implies, walk
from model.source import Span
from model.specification import Property, PropertyKind, Row, Specification, Step
from model.statements import For, If, Statement
from model.system import TransitionSystem


class Kind(Enum):
    """What kind of piece an element is."""

    STEP = "step"
    ARM = "arm"
    ROW = "row"
    KILL_POINT = "kill point"
    PREMISE = "premise"
    CHECK = "check"


@dataclass(frozen=True, slots=True)
class Element:
    """One piece. Two scenarios share it when its `key` is the same.

    `mark` is how coverage speaks of it. `parent` is the key of what it lies in: an arm in a step that never happens
    needs no remark of its own.
    """

    kind: Kind
    name: str
    key: Hashable
    mark: object
    span: Span
    parent: Hashable = None

    def used_by(self, coverage: Coverage) -> bool:
        """Tell whether a run made use of it."""
        match self.kind:
            case Kind.STEP:
                return self.mark in coverage.steps
            case Kind.ARM:
                return self.mark in coverage.branches
            case Kind.ROW:
                return self.mark in coverage.rows
            case Kind.KILL_POINT:
                return self.mark in coverage.kill_points
            case Kind.PREMISE:
                return self.mark in coverage.premises
            case Kind.CHECK:
                return self.mark in coverage.checks


def elements_of(system: TransitionSystem, asked: tuple[Property, ...]) -> Iterator[Element]:
    """Yield every element of a system, with the premises of the properties asked about, in the order of the file.

    The kill points are those of every process that a crash allowed here may hit, also where the scenario places its
    crashes at some of them only: that is its choice, and another scenario has to cover the rest.
    """
    specification = system.specification
    for step in system.steps():
        yield _step(step)
        yield from _arms(step)
    yield from _rows(specification)
    yield from _kill_points(system)
    for question in asked:
        if question.kind is PropertyKind.CHECKED:
            key = (Kind.CHECK, question.name)
            yield Element(Kind.CHECK, f"check {question.name}", key, question.name, question.span)
        yield from _premises(question)


def _step(step: Step) -> Element:
    return Element(Kind.STEP, step.id, _step_key(step), step.id, step.span)


def _step_key(step: Step) -> Hashable:
    """Tell a step from its rewriting in a variant, which has another text though the same name."""
    return (Kind.STEP, step.id, step.body[0].span if step.body else None)


def _arms(step: Step) -> Iterator[Element]:
    seen: dict[str, int] = {}
    yield from _arms_in(step.body, step, _step_key(step), seen)


def _arms_in(body: tuple[Statement, ...], step: Step, parent: Hashable, seen: dict[str, int]) -> Iterator[Element]:
    for statement in body:
        if isinstance(statement, For):
            yield from _arms_in(statement.body, step, parent, seen)
        elif isinstance(statement, If):
            again = _again(statement.text, seen)
            for taken, word, inside in ((True, "if", statement.then), (False, "unless", statement.otherwise)):
                mark = (statement.span, taken)
                name = f"{step.id} {word} {statement.text}{again}"
                yield Element(Kind.ARM, name, (Kind.ARM, mark), mark, statement.span, parent)
                yield from _arms_in(inside, step, (Kind.ARM, mark), seen)


def _again(text: str, seen: dict[str, int]) -> str:
    """Return what tells a repetition of a text from the first one."""
    seen[text] = seen.get(text, 0) + 1
    return f" ({seen[text]})" if seen[text] > 1 else ""


def _rows(specification: Specification) -> Iterator[Element]:
    # A table is elaborated once for each process that consults it; its rows are the same text each time.
    rows: dict[Hashable, Element] = {}
    for table in specification.tables.values():
        for row in table.rows:
            key = _row_key(table.name, row)
            rows.setdefault(key, Element(Kind.ROW, f"{table.name}.{row.name}", key, row.span, row.span))
    yield from rows.values()


def _row_key(table: str, row: Row) -> Hashable:
    """Tell a row from its patched copies in variants, which stand under the same name at the same place."""
    return (Kind.ROW, table, row.name, row.when.span, *(cell.span for cell in row.gives.values()))


def _kill_points(system: TransitionSystem) -> Iterator[Element]:
    """Yield the kill points, and the arms of what is done there."""
    for process in system.specification.processes.values():
        if any(True for _ in system.crash_faults(process)):
            for step in process.steps:
                for body in (step, step.torn):
                    if body is not None and body.id in system.kill_points[process.name]:
                        key = (Kind.KILL_POINT, body.id)
                        yield Element(
                            Kind.KILL_POINT, f"kill point {body.id}", key, body.id, body.span, _step_key(step)
                        )
                if step.torn is not None:
                    yield from _arms_in(step.torn.body, step.torn, (Kind.KILL_POINT, step.torn.id), {})
            if process.on_crash is not None:
                yield from _arms_in(process.on_crash.body, process.on_crash, None, {})


def _premises(asked: Property) -> Iterator[Element]:
    seen: dict[str, int] = {}
    spans: set[Span] = set()
    for node in walk(asked.expression):
        # A definition that is used twice stands in the property twice, and is one text.
        if isinstance(node, Implies) and node.span not in spans:
            spans.add(node.span)
            name = f"{asked.name} premise {node.text}{_again(node.text, seen)}"
            yield Element(Kind.PREMISE, name, (Kind.PREMISE, asked.name, node.span), node.span, node.span)

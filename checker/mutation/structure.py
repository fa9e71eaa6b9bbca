"""The operators on whole steps and rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from checker.mutation.changes import is_fault, true
from checker.mutation.mutants import Exchange, Operator
from checker.mutation.places import Places
from model.expressions import Not
from model.source import Span
from model.specification import Process, Row, Specification, Step, Table
from model.statements import When, body_ends

Found = tuple[Operator, Span, str, str, str, Exchange]
"""The operator, the text that is changed, what tells it from others there, how it reads before and after, and how."""


def structural(specification: Specification, places: Places) -> Iterator[Found]:
    """Yield every change of whole steps and rows."""
    for process in specification.processes.values():
        for step in process.steps:
            yield from _skipped(step, environment=process.environment)
        if process.on_crash is not None:
            yield from _skipped(process.on_crash, environment=False)
        if not process.environment:
            yield from _with_the_next(process)
    for table in specification.tables.values():
        for row in table.rows:
            yield from _outputs(table, row, places)
            if len(table.rows) > 1:
                yield Operator.DROP_ROW, row.span, "", f"row {row.name}", "", Exchange(((row, None),))


def _skipped(step: Step, *, environment: bool) -> Iterator[Found]:
    """Yield a step that does nothing, of an environment one that never happens; and a crash in it that does nothing."""
    if step.body and not is_fault(step):
        nothing = (When(Not(true(step.span), step.span), step.span),) if environment else ()
        exchange = Exchange(((step, replace(step, body=nothing)),))
        yield Operator.SKIP_STEP, step.span, "", f"step {step.id}", "", exchange
    if step.torn is not None:
        yield from _skipped(step.torn, environment=False)


def _with_the_next(process: Process) -> Iterator[Found]:
    """Yield swaps and merges of steps of which one goes on to the other without `goto`.

    The way back to the first step is no such pair: a process forgets there.
    """
    by_name = {step.name: step for step in process.steps}
    for step in process.steps:
        after = by_name[step.next_label]
        if after is step or after.name == process.first or body_ends(step.body):
            continue
        pair = f"{step.name} and {after.name}"
        first = _as(step, after, step.next_label)
        exchange = Exchange(((step, first), (after, _as(after, step, after.next_label))))
        yield (
            Operator.SWAP_STEPS,
            step.span,
            after.name,
            f"{step.name}, then {after.name}",
            f"{after.name}, then {step.name}",
            exchange,
        )
        merged = replace(step, body=step.body + after.body, next_label=after.next_label, fair=step.fair and after.fair)
        yield Operator.MERGE_STEPS, step.span, after.name, pair, f"{pair} in one step", Exchange(((step, merged),))


def _as(place: Step, content: Step, next_label: str) -> Step:
    """Return what one step does, under the label of another."""
    torn = None if content.torn is None else replace(content.torn, name=f"{place.name}.torn")
    return replace(content, name=place.name, next_label=next_label, torn=torn)


def _outputs(table: Table, row: Row, places: Places) -> Iterator[Found]:
    """Yield for each output of a row every other that some row gives in its place."""
    for column, cell in row.gives.items():
        own = places.text(cell.span)
        others = {places.text(other.gives[column].span): other.gives[column] for other in table.rows}
        for text, other in others.items():
            if text != own:
                changed = replace(row, gives={**row.gives, column: other})
                before, after = f"{column}: {own}", f"{column}: {text}"
                exchange = Exchange(((row, changed),))
                yield Operator.REPLACE_OUTPUT, row.span, f"{column}={text}", before, after, exchange

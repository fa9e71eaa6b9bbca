"""A trace as a test: a file for pytest that drives an implementation through it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from checker.reporting.documents import value_document
from checker.trace import Trace, TraceStep
from model.system import State, TransitionSystem

_WIDTH = 120


def pytest_file(
    system: TransitionSystem, trace: Trace, *, name: str, heading: str, variant: str, adapter: str, departs: bool
) -> str:
    """Return the text of the file.

    `name` says what the test is called, `adapter` is `MODULE:CLASS`. Where the implementation is right if it `departs`
    from the trace, because that is a mutant's, the test demands it.
    """
    module, _, cls = adapter.partition(":")
    ends = {slot.name: slot.domain.size - 1 for slot in system.slots if slot.domain.counter}
    parameters = {key: value_document(value) for key, value in system.parameters.items()}
    lines = [
        f'"""{heading}',
        "",
        *_explanation(trace, departs=departs),
        '"""',
        "",
        *(["import pytest", ""] if departs else []),
        "from checker.conformance.adapter import Action, Setting",
        f"from checker.conformance.schedule import {'Departed, ' * departs}follow",
        "",
        "# The implementation: any class that has what `checker.conformance.adapter.Adapter` asks for.",
        f"from {module} import {cls} as Implementation",
        "",
        "SETTING = Setting(",
        *_mapping("    parameters=", parameters),
        f"    variant={_literal(variant)},",
        '    defect="",',
        *_mapping("    initial=", _values(system, trace.initial)),
        ")",
        "",
        "# Each action, and the variables that it changes. What the implementation does not observe is not compared.",
        "SCHEDULE = [",
        *(
            line
            for before, step in zip(trace.states, trace.steps, strict=False)
            for line in _entry(system, before, step)
        ),
        "]",
        "",
        "# Counters stand still at these values, which mean: or more.",
        f"ENDS = {_literal(ends)}",
        "",
        "",
        f"def test_{re.sub(r'[^a-z0-9]+', '_', name.lower()).strip('_')}() -> None:",
        *(['    with pytest.raises(Departed, match=r"^(after|refused)"):'] if departs else []),
        f"    {'    ' * departs}follow(Implementation(), SETTING, SCHEDULE, ENDS)",
        "",
    ]
    return "\n".join(lines)


def _explanation(trace: Trace, *, departs: bool) -> Iterator[str]:
    if departs:
        yield "The model is broken on purpose here. A right implementation parts from this run: it refuses an action,"
        yield "or has other values after one."
    else:
        yield "The model allows this run, and an implementation of it does the same, action by action."
    if trace.loop is not None:
        yield f"From action {trace.loop + 1} on the run goes round for ever; here it goes round once."


def _entry(system: TransitionSystem, before: State, step: TraceStep) -> Iterator[str]:
    action = step.action
    label = "" if action.kind == "restart" else action.label
    arguments = [_literal(action.kind), _literal(action.process), str(action.instance), _literal(label)]
    arguments += [f"choices={_tuple([value_document(c) for c in step.choices])}"] if step.choices else []
    arguments += [f"faults={_tuple(step.faults)}"] if step.faults else []
    arguments += ["torn=True"] if action.torn else []
    changed = {
        slot.name: value_document(new)
        for slot, old, new in zip(system.slots, before, step.state, strict=True)
        if (type(old), old) != (type(new), new)
    }
    yield "    ("
    yield f"        Action({', '.join(arguments)}),"
    yield from _mapping("        ", changed)
    yield "    ),"


def _mapping(start: str, values: Mapping[str, object]) -> Iterator[str]:
    """Lay out a mapping on one line, or where that is too long on one line for each entry."""
    line = f"{start}{_literal(values)},"
    if len(line) <= _WIDTH:
        yield line
        return
    indent = " " * (len(start) - len(start.lstrip()))
    yield f"{start}{{"
    yield from (f"{indent}    {_literal(key)}: {_literal(value)}," for key, value in values.items())
    yield f"{indent}}},"


def _values(system: TransitionSystem, state: State) -> dict[str, object]:
    return {slot.name: value_document(value) for slot, value in zip(system.slots, state, strict=True)}


def _tuple(values: Sequence[object]) -> str:
    return f"({', '.join(map(_literal, values))}{',' * (len(values) == 1)})"


def _literal(value: object) -> str:
    """Write a value as Python has it, with double quotes."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_literal(key)}: {_literal(each)}' for key, each in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_literal, value))}]"
    assert value is None or isinstance(value, bool | int)
    return repr(value)

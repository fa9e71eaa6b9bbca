"""Traces in the Informal Trace Format of Apalache (its ADR 015), which other tools read and draw.

    {"#meta": {…}, "vars": ["coordinator.at", "ledger.run", …], "states": [{"#meta": {"index": 0}, "ledger.run": …}, …]}

Every state is written in full. Arrays become maps (`{"#map": [[index, value], …]}`), of two dimensions a map of maps;
a process with several instances becomes a map by their numbers. `None` is written as a string. `#meta` of a state says
what led to it. Of a lasso `loop` is the number of the state from which it goes round. The last state is the same one
again, so that `#meta` can say what leads back to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from checker.exploration import Finding
from checker.reporting.lanes import Conclusion
from checker.trace import TraceStep
from model.system import Domain, State, TransitionSystem
from model.types import SetValue, Value

_SAFE_INTEGER_MAX = 2**53 - 1
"""Up to here every reader of JSON agrees on what an integer is."""

_Place = tuple[int, tuple[Domain, ...]]
"""The first slot of a variable and the domains of its indices."""


def itf_document(
    system: TransitionSystem, finding: Finding, conclusion: Conclusion, about: Mapping[str, object]
) -> dict[str, object]:
    """Return a trace as an ITF document; `about` says of which file, scenario and property it is."""
    variables = dict(sorted(_variables(system)))
    states = [{"#meta": {"index": 0, "action": None}, **_state(finding.trace.initial, variables)}]
    for index, step in enumerate(finding.trace.steps, start=1):
        states.append({"#meta": {"index": index, **_action(step)}, **_state(step.state, variables)})
    return {
        "#meta": {
            "format": "ITF",
            "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html",
            "description": conclusion.message,
            **about,
        },
        "vars": list(variables),
        "states": states,
        **({} if finding.trace.loop is None else {"loop": finding.trace.loop}),
    }


def _action(step: TraceStep) -> dict[str, object]:
    action = step.action
    return {
        "action": action.step or action.kind,
        "process": action.process,
        "instance": action.instance,
        "kill_point": action.kill_point,
        "fault": ", ".join(step.faults) or None,
        "choices": [_value(choice) for choice in step.choices],
    }


def _variables(system: TransitionSystem) -> Iterator[tuple[str, list[_Place]]]:
    """Yield every variable with its places: one, or one for each of several instances of its process."""
    places: dict[str, dict[int, _Place]] = {}
    for (key, instance), layout in system.layouts.items():
        places.setdefault(key, {})[instance] = (layout.first, layout.indices)
    for (process, instance), slot in system.label_slots.items():
        places.setdefault(f"{process}.at", {})[instance] = (slot, ())
    for (process, instance, store), slot in system.fresh_slots.items():
        places.setdefault(f"{process}.fresh.{store}", {})[instance] = (slot, ())
    for fault, slot in system.budget_slots.items():
        places.setdefault(f"spent.{fault}", {})[0] = (slot, ())
    for name, by_instance in places.items():
        yield name, [by_instance[instance] for instance in sorted(by_instance)]


def _state(state: State, variables: Mapping[str, list[_Place]]) -> dict[str, object]:
    return {name: _variable(state, places) for name, places in variables.items()}


def _variable(state: State, places: Sequence[_Place]) -> object:
    values = [_array(state, first, indices) for first, indices in places]
    return values[0] if len(values) == 1 else {"#map": [[number, value] for number, value in enumerate(values)]}


def _array(state: State, first: int, indices: tuple[Domain, ...]) -> object:
    if not indices:
        return _value(state[first])
    domain, *rest = indices
    size = 1
    for other in rest:
        size *= other.size
    return {
        "#map": [
            [_value(index), _array(state, first + number * size, tuple(rest))]
            for number, index in enumerate(domain.values())
        ]
    }


def _value(value: Value) -> object:
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _SAFE_INTEGER_MAX:
        return {"#bigint": str(value)}
    if value is None:
        # No literal of the language has this name, and the format has no other word for nothing.
        return "None"
    return {"#set": [_value(element) for element in value.elements]} if isinstance(value, SetValue) else value

"""What is shown at each stop of a walk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checker.exploration import Finding
from checker.reporting.lanes import Conclusion, shown_value, trace_lines, transition_items
from checker.reporting.output import Line, aligned, blank, flowed
from checker.stepping import Walk
from checker.trace import Trace, TraceStep
from model.transitions import Failure, Transition

_ACTION_WIDEST = 44
_MARGIN = 13

HELP = """\
  1, 2, …       take that transition           a WORDS…    only list what has these words
  b [N]         back, N transitions            s           the whole state
  c [PROCESS]   crash here                     t           the run so far
  w [PROCESS]   what recovery would do         r [N]       N random transitions
  v [PROPERTY]  jump to a violation            start       back to the start
  h             this help                      q           quit
"""


def stop_lines(walk: Walk, width: int) -> Iterator[Line]:
    """Yield where the walk is: what is not as it was at the start, what is false here, and what may happen."""
    number = len(walk.trace)
    items = [
        (("", f"{slot.name}="), ("value", shown_value(value)))
        for place, (slot, value) in enumerate(zip(walk.system.slots, walk.state, strict=True))
        if place not in walk.hidden and (value != walk.trace.initial[place] or place in _labels(walk))
    ]
    yield from flowed(aligned((("title", f"state {number}"),), _MARGIN), items, width=width, rest=blank(_MARGIN))
    for name in walk.false_here():
        yield (*blank(_MARGIN), ("bad", f"✗ {name} is false here"))
    if not walk.options:
        yield (*blank(_MARGIN), ("doubt", "nothing can happen any more"))


def option_lines(walk: Walk, words: Sequence[str], width: int) -> Iterator[Line]:
    """Yield what may happen next, numbered; with words, only what has all of them in its line."""
    for number, option in enumerate(walk.options, start=1):
        action, items = _option(walk, option)
        text = "".join(text for _, text in [*action, *(piece for item in items for piece in item)])
        if all(word in text for word in words):
            start = (("dim", f"{number:>4}"), ("", "  "), *action, ("", "  "))
            column = 6 + _ACTION_WIDEST
            yield from flowed(aligned(start, column), items, width=width, rest=blank(min(column, width // 2)))


def state_lines(walk: Walk, width: int) -> Iterator[Line]:
    """Yield the values of all variables, by process and store."""
    lanes: dict[str, list[Line]] = {}
    for place, (slot, value) in enumerate(zip(walk.system.slots, walk.state, strict=True)):
        if place not in walk.hidden:
            name = slot.name.removeprefix(f"{slot.lane}.").removeprefix(f"{slot.lane} ")
            lanes.setdefault(slot.lane, []).append((("", f"{name}="), ("value", shown_value(value))))
    widest = max(map(len, lanes)) + 3
    for lane, items in lanes.items():
        yield from flowed(aligned((("name", f"  {lane}"),), widest + 2), items, width=width, rest=blank(widest + 2))


def walk_lines(walk: Walk, width: int) -> Iterator[Line]:
    """Yield the run so far as a trace."""
    false = walk.false_here()
    conclusion = Conclusion(not false, f"{', '.join(false)}: false here" if false else "you are here")
    return trace_lines(walk.system, Finding(len(walk.trace), walk.trace), conclusion, width)


def recovery_lines(walk: Walk, trace: Trace, width: int, *, waits: bool) -> Iterator[Line]:
    """Yield what a process does alone after a crash."""
    action = trace.steps[0].action
    name = walk.system.instance_name(action.process, action.instance)
    end = "then it waits" if waits else "and so on"
    return trace_lines(walk.system, Finding(len(trace), trace), Conclusion(True, f"{name} alone: {end}"), width)


def _option(walk: Walk, option: Transition | Failure) -> tuple[Line, list[Line]]:
    if isinstance(option, Failure):
        name = walk.system.instance_name(option.action.process, option.action.instance)
        return (("bad", f"{name}.{option.action.label}"),), [(("bad", option.error.message),)]
    action, items = transition_items(walk.system, walk.state, TraceStep.of(option))
    if items:
        return action, items
    if option.action.kind == "crash":
        place = walk.system.label_slots[option.action.process, option.action.instance]
        return action, [(("dim", f"is at {option.successor[place]} again"),)]
    return action, [(("dim", "changes nothing" if option.successor == walk.state else "goes on"),)]


def _labels(walk: Walk) -> frozenset[int]:
    return frozenset(walk.system.label_slots.values())

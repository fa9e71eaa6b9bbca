"""Kill points by their names: those that a scenario speaks of, and what the file says a crash at each of them means."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from model.declare import Declared
from model.diagnostics import Code, did_you_mean, quoted
from model.reader import Reader
from model.yamlnodes import Mapping, Scalar


def crashing(declared: Declared) -> tuple[str, ...]:
    """Return the names of the processes that some fault crashes, in the order of the faults."""
    faults = declared.specification.faults.values()
    return tuple(dict.fromkeys(process for fault in faults for process in fault.crashes))


def check_points(
    items: Iterable[Scalar], whose: str, processes: tuple[str, ...], declared: Declared, reader: Reader
) -> None:
    """Refuse what is no kill point of some processes that crash.

    Raises:
        Failed: one is none; reported.
    """
    labels = {process: declared.labels.get(process, ()) for process in processes}
    known = declared.specification.processes
    points = [point for name in processes if name in known for point in known[name].kill_points]
    for item in items:
        process, _, label = item.text.partition(".")
        if item.text in points or declared.excuses(process) or declared.excuses(label):
            continue
        if process in labels and process not in known:
            continue  # what is wrong with it has been reported
        message = f"{quoted(item.text)} is no kill point of {whose}"
        help_text = did_you_mean(item.text, points)
        if process in labels and label in labels[process]:
            place = "the first step" if label == known[process].first else "where it starts"
            message = f"a crash before {quoted(item.text)}, {place}, changes nothing: it is no kill point"
        elif owners := [other for other in labels if item.text in labels[other]]:
            help_text = f"write `{owners[0]}.{item.text}`"
        reader.fail(Code.NO_KILL_POINT, message, item.span, help=help_text)


def meanings(root: Mapping, declared: Declared, reader: Reader) -> dict[str, str]:
    """Read what the file says of the kill points of its protocol: of all of them, or nothing."""
    section = reader.section(root, "kill_points", "`kill_points`")
    found: dict[str, str] = {}
    sound = not declared.incomplete
    for name, entry in section.entries.items():
        known = reader.attempt(partial(_known, entry.key, declared, reader))
        sound = sound and bool(known)
        text = reader.attempt(partial(reader.text, entry.value, "what a crash means there"))
        found[name] = text or ""
    if section.entries and sound:
        reader.attempt(partial(_check_complete, root, found, declared, reader))
    return found


def _known(item: Scalar, declared: Declared, reader: Reader) -> bool:
    check_points([item], "this protocol", crashing(declared), declared, reader)
    return True


def _check_complete(root: Mapping, found: Iterable[str], declared: Declared, reader: Reader) -> None:
    processes = declared.specification.processes
    points = [point for name in crashing(declared) if name in processes for point in processes[name].kill_points]
    left_out = [point for point in points if point not in found]
    if left_out:
        message = f"`kill_points` says nothing of {', '.join(quoted(point) for point in left_out)}"
        help_text = "it speaks of all kill points, so that none comes or goes unseen"
        reader.fail(Code.KILL_POINT_LEFT_OUT, message, root.entries["kill_points"].key.span, help=help_text)

"""Where an instance of a process starts, and starts again after a crash: the keys `boot` and `restarts`."""

from __future__ import annotations

from model.diagnostics import Code, did_you_mean, quoted
from model.reader import Reader
from model.scope import ProcessHeader
from model.specification import RESTARTS, Restarts
from model.yamlnodes import Mapping


def boot_of(reader: Reader, mapping: Mapping, labels: tuple[str, ...]) -> str | None:
    """Read `boot` of a process with these labels; None where it is absent.

    Raises:
        Failed: it is no label, or the only one; reported.
    """
    node = reader.entry(mapping, "boot")
    if node is None:
        return None
    label = reader.scalar(node, "`boot`")
    if label.text not in labels:
        message = f"no step is named {quoted(label.text)}"
        reader.fail(Code.UNKNOWN_LABEL, message, label.span, help=did_you_mean(label.text, labels))
    if len(labels) == 1:
        message = f"{quoted(label.text)} is the only step, and after `boot` comes the first of the others"
        reader.fail(Code.UNKNOWN_LABEL, message, label.span)
    return label.text


def restarts_of(reader: Reader, mapping: Mapping) -> Restarts:
    """Read `restarts` of a process.

    Raises:
        Failed: it is none of the words; reported.
    """
    node = reader.entry(mapping, "restarts")
    if node is None:
        return "at_once"
    word = reader.scalar(node, "`restarts`")
    for possible in RESTARTS:
        if word.text == possible:
            return possible
    message = f"`restarts` is `at_once`, `later` or `never`, not {quoted(word.text)}"
    reader.fail(Code.VALUE_NOT_ALLOWED, message, word.span, help=did_you_mean(word.text, RESTARTS, known=""))


def following_of(label: str, process: ProcessHeader) -> str:
    """Return where a step falls through to: the next one in the text, after the last and after `boot` the first."""
    order = [other for other in process.labels if other != process.boot]
    return order[0] if label == process.boot else order[(order.index(label) + 1) % len(order)]

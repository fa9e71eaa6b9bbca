"""Reading a YAML file as a tree in which every key and value knows where it stands.

Less than YAML on purpose: only `true` and `false` are booleans (`on`, `off`, `yes`, `no` are good names of things),
only plain decimals are numbers, nothing is a date; tags, merge keys and keys that are not text are refused, and
so are tabs in the indentation. What both parsers of PyYAML accept, the C one and its fallback, they read as one tree.
"""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from model.diagnostics import Code, Diagnostics, quoted
from model.limits import FILE_SIZE_MAX
from model.source import HIDDEN, LINE_END, Source, Span
from model.yamlbuilder import Refused, TreeBuilder
from model.yamlnodes import Entry, Mapping, Node, Scalar, ScalarKind, Sequence
from model.yamlproblems import report_yaml_error

__all__ = [
    "DEFAULT_LOADER",
    "Entry",
    "Mapping",
    "Node",
    "Scalar",
    "ScalarKind",
    "Sequence",
    "decode_source",
    "load_tree",
    "read_source",
]

# libyaml is some ten times faster; PyYAML can be installed without it.
DEFAULT_LOADER: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_INDENTING_TAB = re.compile(r"(?:^|(?<=\r)) *\t", re.MULTILINE)


def read_source(path: Path, diagnostics: Diagnostics, *, file: str = "") -> Source | None:
    """Read a file as UTF-8 text, to be called `file` in messages; None, reported, where it cannot be read."""
    file = file or str(path)
    try:
        if path.exists() and not path.is_file():
            # Reading a directory fails; reading a pipe or a device may never end.
            diagnostics.report(Code.FILE_UNREADABLE, f"{quoted(file)} is not a file", None)
            return None
        with path.open("rb") as stream:
            data = stream.read(FILE_SIZE_MAX + 1)
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        diagnostics.report(Code.FILE_UNREADABLE, f"{quoted(file)} cannot be read: {reason}", None)
        return None
    return decode_source(file, data, diagnostics)


def decode_source(file: str, data: bytes, diagnostics: Diagnostics) -> Source | None:
    """Decode a file's bytes as UTF-8, a byte order mark allowed; None, reported, where they are something else."""
    if len(data) > FILE_SIZE_MAX:
        diagnostics.report(Code.LIMIT, f"the file has more than {FILE_SIZE_MAX:,} bytes", Span(file, 1, 1, 1, 1))
        return None
    try:
        return Source(file, data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        # `object` is what was decoded: the bytes without their byte order mark.
        place = _place(file, error.object[: error.start].decode("utf-8"))
        message = f"the byte 0x{error.object[error.start]:02x} is not UTF-8 text"
        diagnostics.report(Code.NOT_UTF8, message, place, help="save the file as UTF-8")
        return None


def _place(file: str, before: str) -> Span:
    """Return the one character behind the text `before` of a file."""
    lines = LINE_END.split(before)
    return Span(file, len(lines), len(lines[-1]) + 1, len(lines), len(lines[-1]) + 2)


def load_tree(source: Source, diagnostics: Diagnostics, *, loader: type = DEFAULT_LOADER) -> Mapping | None:
    """Read a YAML file whose root is a mapping; None where nothing usable is left of it.

    Everything that is wrong is reported. A tree that comes with errors (a duplicate key, a tag) is usable for finding
    further ones: of two equal keys it has the first.
    """
    if len(source.text) > FILE_SIZE_MAX:
        message = f"the file has more than {FILE_SIZE_MAX:,} characters"
        diagnostics.report(Code.LIMIT, message, Span(source.file, 1, 1, 1, 1))
        return None
    if _has_hidden_character(source, diagnostics) or _has_tab_in_indentation(source, diagnostics):
        return None
    builder = TreeBuilder(source, diagnostics)
    try:
        for event in yaml.parse(source.text, Loader=loader):
            builder.take(event)
    except Refused:
        return None
    except (yaml.YAMLError, ValueError) as error:
        # The Python parser lets a ValueError of `chr` through for escapes beyond Unicode.
        report_yaml_error(error, source, diagnostics)
        return None
    return builder.root()


def _has_hidden_character(source: Source, diagnostics: Diagnostics) -> bool:
    match = HIDDEN.search(source.text)
    if match is None:
        return False
    diagnostics.report(
        Code.HIDDEN_CHARACTER,
        f"the file contains the invisible character U+{ord(match.group()):04X}",
        _place(source.file, source.text[: match.start()]),
        help="delete it; what a reviewer cannot see must not be in a specification",
    )
    return True


def _has_tab_in_indentation(source: Source, diagnostics: Diagnostics) -> bool:
    # YAML allows some of them, and its parsers disagree about which.
    match = _INDENTING_TAB.search(source.text)
    if match is None:
        return False
    place = _place(source.file, source.text[: match.end() - 1])
    diagnostics.report(Code.YAML_SYNTAX, "a tab stands in the indentation", place, help="indent with spaces only")
    return True

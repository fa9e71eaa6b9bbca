"""The words of the language, and what else may be called by them."""

from __future__ import annotations

import keyword
import re

IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
"""What a name is that expressions use. ASCII only: Python would silently read `ﬁnished` as `finished`."""

CALLS = ("all", "any", "count", "implies", "min", "max", "next", "fresh", "fault", "stopped", "crashed", "size", "set")
"""Words that are called for a value."""

STATEMENT_CALLS = ("when", "goto", "stop", "read", "check")
"""Words that are called as a statement."""

SET_METHODS = ("add", "remove")
"""Words that are called of a set variable, as a statement: `s.add(x)`."""

NOT_IN_CRASHES = {
    "torn": frozenset({"goto", "stop", "read", "fault"}),
    "on_crash": frozenset({"goto", "stop", "read", "fault", "when", "fresh"}),
}
"""What has no place in the bodies that a crash runs, by the key that such a body stands under."""

PYTHON_WORDS = frozenset({*keyword.kwlist, "self", "true", "false"})
"""What nothing can be called: Python reads these words before we do, or somebody would take them for a truth value."""

RESERVED = PYTHON_WORDS | {
    *CALLS,
    *STATEMENT_CALLS,
    "choose",
    "ghost",
    "parameters",
    "bool",
    "nat",
    "counter",
}
"""What nothing can be called that an expression reads, calls, or puts before a dot, and no step.

Literals, columns, rows, faults and properties stand where no word of the language can, so for them the words of Python
are enough.
"""

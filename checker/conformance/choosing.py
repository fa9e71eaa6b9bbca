"""Which implementation is held against a model: the bundled one, a class of anybody's, or a command."""

from __future__ import annotations

import importlib
import pkgutil
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

from checker.conformance import adapters
from checker.conformance.adapter import Adapter
from checker.conformance.remote import connect

MakeAdapter = Callable[[], Adapter]
"""Makes an adapter; every user closes the one that it has made."""


class NoAdapter(Exception):
    """There is no such adapter; the message says why."""


def bundled_references() -> list[str]:
    """Return the names that `reference` may have: what is installed with killpoint, and nothing else."""
    return sorted(found.name for found in pkgutil.iter_modules(adapters.__path__))


def of_reference(name: str) -> MakeAdapter:
    """Return the adapter of a bundled implementation.

    A name comes from a specification, which may be a stranger's: it only ever chooses among what is installed here.

    Raises:
        NoAdapter: there is no implementation of that name, or what it needs is not installed.
    """
    known = bundled_references()
    if name not in known:
        raise NoAdapter(f"no implementation named `{name}` comes with killpoint; there is {', '.join(known) or 'none'}")
    return _class_of(f"{adapters.__name__}.{name}", "Adapter")


def of_class(text: str) -> MakeAdapter:
    """Return the adapter that `MODULE:CLASS` names; modules in the current directory are found too.

    Raises:
        NoAdapter: it cannot be imported.
    """
    module, colon, name = text.partition(":")
    if not (module and colon and name):
        raise NoAdapter(f"`{text}` is no `MODULE:CLASS`")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    return _class_of(module, name)


def of_command(text: str, seconds: float) -> MakeAdapter:
    """Return the adapter that a command is, which speaks JSON lines.

    Raises:
        NoAdapter: the command cannot be read.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise NoAdapter(f"the command cannot be read: {error}") from error
    if not words:
        raise NoAdapter("the command is empty")
    return lambda: connect(words, seconds)


def _class_of(module: str, name: str) -> MakeAdapter:
    try:
        found = getattr(importlib.import_module(module), name)
    except ImportError as error:
        raise NoAdapter(f"`{module}` cannot be imported: {error}") from error
    except AttributeError as error:
        raise NoAdapter(f"`{module}` has no `{name}`") from error
    if not callable(found):
        raise NoAdapter(f"`{module}:{name}` is no class")
    make: MakeAdapter = found
    return make

"""What is installed: the version of killpoint, and whether its two packages belong together.

Imports nothing of `model`: another distribution may own a package of that common name, and then even the first import
would fail with a message that helps nobody.
"""

from __future__ import annotations

import importlib.util
import tomllib
from pathlib import Path

_HOME = Path(__file__).resolve().parent.parent


def version() -> str:
    """Return the version; in a checkout the one that its `pyproject.toml` says."""
    try:
        text = (_HOME / "pyproject.toml").read_text(encoding="utf-8")
        return str(tomllib.loads(text)["project"]["version"])
    except (OSError, KeyError, tomllib.TOMLDecodeError):
        from importlib.metadata import version as installed_version

        return installed_version("killpoint")


def foreign_model() -> str:
    """Return what is wrong with the package that `import model` would find; empty where it is ours."""
    found = importlib.util.find_spec("model")
    ours = f"killpoint's own is {_HOME / 'model'}"
    if found is None:
        return f"the package `model` is missing; {ours}"
    if found.origin is None:
        places = ", ".join(found.submodule_search_locations or ["nowhere"])
        return f"the package `model` is taken from {places}, which is not killpoint's; {ours}"
    home = Path(found.origin).resolve().parent
    if home == _HOME / "model":
        return ""
    return f"the package `model` is taken from {home}, which hides killpoint's; {ours}"

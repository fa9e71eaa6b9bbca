"""Pages made of the templates beside this file; style and script are part of each page.

Specifications come from strangers, so nothing that they say is ever markup: everything is escaped unless one of our
own templates wrote it, data for the script is JSON that cannot end its element, and each page forbids the browser to
load or run anything but the one script whose hash it names.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from model.source import visible

_HERE = Path(__file__).resolve().parent / "templates"


def rendered(template: str, content: dict[str, Any]) -> str:
    """Return a page, the same for the same content."""
    style, script = (_file(name) for name in ("page.css", "page.js"))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'"
    # Both are files of ours, which is why they may stand in the page as they are.
    ours = {"style": Markup(style), "script": Markup(script), "policy": policy}  # noqa: S704
    return _environment().get_template(template).render(**ours, **content).rstrip("\n") + "\n"


def embedded(data: object) -> Markup:
    """Return data as JSON that can stand in a `script` element, whatever it says."""
    text = json.dumps(_shown(data), ensure_ascii=True, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704


def _shown(data: Any) -> Any:
    match data:
        case str():
            return _plain(data)
        case dict():
            return {_plain(str(key)): _shown(value) for key, value in data.items()}
        case list() | tuple():
            return [_shown(value) for value in data]
        case _:
            return data


def _plain(text: str) -> str:
    """Return text in which nothing hides or turns round what stands beside it."""
    return "\n".join(visible(line) for line in text.split("\n"))


def _breakable(text: str) -> Markup:
    """Return a long name that may be broken after its underscores and dots."""
    return Markup(re.sub(r"(?<=[_.])(?=\w)", "<wbr>", str(escape(_plain(text)))))  # noqa: S704


def _value(value: object) -> str:
    """Return a value of a document as a specification would write it."""
    if isinstance(value, bool):
        return str(value).lower()
    return "{" + ", ".join(map(_value, value)) + "}" if isinstance(value, list) else str(value)


def _allowed(value: object, kind: str, equals: str = "") -> str:
    """Return a value of a dimension of a sweep, after what says that it has it: of a fault how often it may happen."""
    if kind == "fault" and not isinstance(value, str):
        return f"≤ {value}" if value else f"{equals}off"
    return f"{equals}{_value(value)}"


def _finished(value: object) -> object:
    return _plain(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finished,
    )
    environment.filters["embedded"] = embedded
    environment.filters["breakable"] = _breakable
    environment.filters["zip"] = zip
    environment.filters["value"] = _value
    environment.filters["allowed"] = _allowed
    environment.filters["number"] = lambda number: f"{number:,}"
    environment.filters["counted"] = lambda number, word: f"{number:,} {word}{'s' * (number != 1)}"
    return environment


@cache
def _file(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")

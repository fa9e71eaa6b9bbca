"""Text for Markdown files that nobody should be able to break by a name or a sentence."""

from __future__ import annotations

_MARKUP = "\\`*_<>[]#"


def inline(text: str) -> str:
    """Return text that cannot start markup or break a line."""
    escaped = " ".join(text.split())
    for character in _MARKUP:
        escaped = escaped.replace(character, f"\\{character}")
    return escaped


def cell(text: str) -> str:
    """Return text that cannot start markup, break a line or end the cell of a table."""
    return inline(text).replace("|", "\\|")

"""Reads the fenced blocks and links of our Markdown files, for the tests that hold them to what they say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

_BLOCK = re.compile(r"^(?P<fence>`{3,})(?P<info>[^`\n]*)\n(?P<text>.*?)^(?P=fence)$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: the words behind its fence, its text, how many headings stand above it, and where it stands."""

    info: str
    text: str
    section: int
    path: Path
    line: int
    fence: str

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT).as_posix()}:{self.line}"


def documents() -> list[Path]:
    """Return every Markdown file that people read: the top level and docs/."""
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def blocks(path: Path) -> Iterator[Block]:
    """Yield the fenced blocks of a file in order."""
    text = path.read_text(encoding="utf-8")
    for found in _BLOCK.finditer(text):
        before = text[: found.start()]
        line = before.count("\n") + 1
        yield Block(found["info"].strip(), found["text"], len(headings(before)), path, line, found["fence"])


def links(path: Path) -> Iterator[str]:
    """Yield the targets of the links of a file."""
    yield from (found["target"] for found in _LINK.finditer(_without_blocks(path.read_text(encoding="utf-8"))))


def headings(text: str) -> list[str]:
    """Return the headings of a text."""
    return _HEADING.findall(_without_blocks(text))


def anchors(path: Path) -> set[str]:
    """Return the fragments by which the headings of a file are linked, as GitHub makes them."""
    found = headings(path.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in found}


def table(path: Path, heading: str) -> list[list[str]]:
    """Return the cells of the first table below a heading, without its head."""
    text = _without_blocks(path.read_text(encoding="utf-8"))
    below = text.partition(f" {heading}\n")[2]
    rows = re.findall(r"^\|(.*)\|$", below.partition("\n#")[0], re.MULTILINE)
    return [[cell.strip() for cell in row.split("|")] for row in rows[2:]]


def _without_blocks(text: str) -> str:
    return _BLOCK.sub("", text)

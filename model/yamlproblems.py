"""What a YAML parser complains about, in sentences for people who write specifications.

The two parsers of PyYAML word the same complaint differently; the rules below look for what both have in common.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import yaml

from model.diagnostics import Code, Diagnostics, Note, quoted
from model.limits import NESTING_MAX
from model.source import LINE_END, Source, Span

_QUOTE_IT = "put quotes around the text"


@dataclass(frozen=True, slots=True)
class _Complaint:
    """What a parser said, in lower case, with its positions as the parser counts them: from 0."""

    problem: str
    context: str
    at: tuple[int, int]
    begun: tuple[int, int] | None
    character: str


@dataclass(frozen=True, slots=True)
class _Answer:
    """What we say instead: `at_beginning` points at where the construct began rather than where it failed."""

    message: str
    help: str = ""
    code: Code = Code.YAML_SYNTAX
    at_beginning: bool = False
    begun: str = ""


# In order: the first pattern found in "context: problem" answers.
_RULES: tuple[tuple[str, Callable[[_Complaint], _Answer]], ...] = (
    (
        r"maximum nesting",
        lambda _: _Answer(f"mappings and lists are nested more than {NESTING_MAX} deep", code=Code.LIMIT),
    ),
    (
        r"tab character|character '\\t'",
        lambda _: _Answer("a tab stands where YAML wants spaces", "indent with spaces only"),
    ),
    (
        r"cannot start any token",
        lambda c: (
            _Answer("a tab stands where YAML wants spaces", "indent with spaces only")
            if c.character == "\t"
            else _Answer(f"a value cannot begin with {quoted(c.character)}", _QUOTE_IT)
        ),
    ),
    (
        r"quoted scalar.*(end of stream|document indicator)",
        lambda _: _Answer("the quote that opens here is never closed", at_beginning=True),
    ),
    (
        r"quoted scalar.*escape",
        lambda _: _Answer("this escape does not exist", "in single quotes a backslash is an ordinary character"),
    ),
    (
        r"mapping values are not allowed",
        lambda _: _Answer(
            "a `:` makes a key here, where no key can be",
            "put quotes around a text that contains a colon and a space, or check the indentation of this line",
        ),
    ),
    (
        r"could not find expected ':'",
        lambda _: _Answer(
            "this line is neither a key with `:` nor part of the value before it",
            "check its indentation, and that its key ends with a colon and a space",
            at_beginning=True,
        ),
    ),
    (
        r"sequence entries are not allowed",
        lambda _: _Answer("a list cannot begin behind its key", "begin it on the next line, or write it in `[ ]`"),
    ),
    (
        r"flow (sequence|mapping)",
        lambda c: _Answer(
            f"a comma or the closing {'`]`' if 'sequence' in c.context else '`}`'} is missing here",
            # PyYAML's own parser, unlike the one in C, ends a word inside braces before a `?`.
            "put quotes around a type that ends with `?`"
            if c.character == "?"
            else "put quotes around an expression that contains brackets, braces, commas or colons",
            begun="opened here",
        ),
    ),
    (
        r"block (sequence|collection)",
        lambda _: _Answer(
            "this line does not belong to the list above it",
            "items of one list begin with `-` in the same column",
            begun="the list begins here",
        ),
    ),
    (
        r"block mapping",
        lambda _: _Answer(
            "this does not belong to the mapping it stands in",
            "keys of one mapping begin in the same column, and nothing follows a closing quote",
            begun="the mapping begins here",
        ),
    ),
    (
        r"(alias|anchor).*alphabetic",
        lambda _: _Answer("`*` and `&` begin an alias or an anchor, and a name must follow", _QUOTE_IT),
    ),
    (
        r"block scalar",
        lambda _: _Answer(
            "after `|` or `>` the text begins on the next line", "see the line before for its indentation"
        ),
    ),
    (r"\btag\b", lambda _: _Answer("a tag (`!`) is not part of the language", _QUOTE_IT, code=Code.YAML_TAG)),
    (
        r"directive|incompatible yaml",
        lambda _: _Answer("a YAML directive (`%`) is not part of the language", "leave the line out"),
    ),
    (r"node content", lambda _: _Answer("a value is missing here", f"if this is the value, {_QUOTE_IT}")),
)


def report_yaml_error(error: yaml.YAMLError | ValueError, source: Source, diagnostics: Diagnostics) -> None:
    """Report why a file is not valid YAML, at the place that has to be changed as far as the parser knows it."""
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        diagnostics.report(Code.YAML_SYNTAX, f"the file is not valid YAML: {error}", _span(source, (0, 0)))
        return
    complaint = _complaint(error, source)
    said = f"{complaint.context}: {complaint.problem}"
    answer = next((answer(complaint) for pattern, answer in _RULES if re.search(pattern, said)), None)
    if answer is None:
        answer = _Answer(f"this is not valid YAML: {said.removeprefix(': ')}")
    at = complaint.begun if answer.at_beginning and complaint.begun else complaint.at
    notes = (Note(answer.begun, _span(source, complaint.begun)),) if answer.begun and complaint.begun else ()
    diagnostics.report(answer.code, answer.message, _span(source, at), notes=notes, help=answer.help)


def _complaint(error: yaml.MarkedYAMLError, source: Source) -> _Complaint:
    mark, begun = error.problem_mark, error.context_mark
    assert mark is not None
    line = source.line_text(mark.line + 1)
    return _Complaint(
        problem=(error.problem or "").lower(),
        context=(error.context or "").lower(),
        at=(mark.line, mark.column),
        begun=(begun.line, begun.column) if begun else None,
        character=line[mark.column : mark.column + 1],
    )


def _span(source: Source, at: tuple[int, int]) -> Span:
    """Return the character at a position that counts from 0; behind the last text of the file where it is beyond."""
    line, column = at
    lines = LINE_END.split(source.text.rstrip())
    if line >= len(lines):
        line, column = len(lines) - 1, len(lines[-1])
    return Span(source.file, line + 1, column + 1, line + 1, column + 2)

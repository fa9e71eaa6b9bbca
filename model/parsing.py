"""Text of the YAML file that is read with the syntax of Python, and the way back from its nodes to the file.

`ast.parse` builds a tree and executes nothing. What it accepts beyond the language, the readers of the tree refuse.
"""

from __future__ import annotations

import ast
import re
from typing import NoReturn

from model import limits
from model.diagnostics import Code, Diagnostics, quoted
from model.failures import Failed
from model.source import Span
from model.yamlnodes import Scalar

_LINE_END = re.compile(r"\r\n|\n|\r")
_COMMENT = re.compile(r"#[^\r\n]*")
# What Python would read as something else than it looks like, or warn of: letters that are not ASCII, backslashes, and
# numbers that run into a word (`1if`).
_SUSPECT = re.compile(r"[^\x00-\x7f]|\\|(?<!\w)\d+\.?[A-Za-z_]\w*")
_TOO_DEEP = ("too many nested", "too many statically nested", "too many levels", "maximum recursion")
_BRACKETS = {")": "(", "]": "[", "}": "{"}

# What people write who come from another language, and what to write instead.
_INSTEAD = (
    (re.compile(r"&&"), "write `and` instead of `&&`"),
    (re.compile(r"\|\|"), "write `or` instead of `||`"),
    (re.compile(r"\.\."), "a range cannot stand in an expression; name it under `types`"),
    (re.compile(r"(?<![=!<>])!(?!=)"), "write `not` instead of `!`"),
    (re.compile(r"\?"), "write `a if condition else b`"),
)
_SINGLE_EQUALS = re.compile(r"(?<![=!<>+\-*])=(?!=)")


class Text:
    """A scalar's text that has been parsed; finds the place in the file of every node of its tree."""

    __slots__ = ("_column", "_line", "scalar", "wrapped")

    def __init__(self, scalar: Scalar, *, wrapped: bool) -> None:
        self.scalar = scalar
        self.wrapped = wrapped
        """Whether the text was parsed between parentheses, which shift its first line by one column."""
        # Where the way back is adding two numbers, they are kept: nearly every text, and several times as fast.
        self._line, self._column = _offsets(scalar)

    def span(self, node: ast.AST) -> Span:
        """Return where in the file a syntax node stands."""
        line: int = getattr(node, "lineno", 1)
        column: int = getattr(node, "col_offset", 0)
        end_line: int = getattr(node, "end_lineno", None) or line
        end_column: int = getattr(node, "end_col_offset", None) or column
        if self.wrapped:
            column -= line == 1
            end_column -= end_line == 1
        if self._column < 0:
            return self.scalar.locate(line, max(column, 0), end_line, max(end_column, 0))
        return Span(
            self.scalar.span.file,
            self._line + line,
            self._column + column,
            self._line + end_line,
            self._column + end_column,
        )

    def written(self, node: ast.expr) -> str:
        """Return a node as it is written, on one line; for messages, whatever the node is."""
        lines = _LINE_END.split(self.scalar.text)
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        start = node.col_offset - (self.wrapped and first == 0)
        end = (node.end_col_offset or 0) - (self.wrapped and last == 0)
        if first == last:
            return lines[first].encode()[start:end].decode(errors="replace")
        return lines[first].encode()[start:].decode(errors="replace") + " …"


def _offsets(scalar: Scalar) -> tuple[int, int]:
    """Return what to add to a line and a column of the text to get those of the file; a column of -1: that fails.

    It works where the text stands in the file as it is, in one line or, all lines indented alike, in a block.
    """
    text, span = scalar.text, scalar.span
    if not text.isascii():
        return 0, -1
    if span.line == span.end_line:
        if scalar.raw == text:
            return span.line - 1, span.column
        if scalar.raw[1:-1] == text:
            return span.line - 1, span.column + 1
        return 0, -1
    first = re.search(r"\S", text)
    if scalar.style != "literal" or first is None:
        return 0, -1
    place = scalar.locate_slice(first.start(), first.end())
    before = _LINE_END.split(text[: first.start()])
    # The whole scalar is what `locate_slice` answers where it does not know.
    return (0, -1) if place == span else (place.line - len(before), place.column - len(before[-1]))


def parse_expression(
    scalar: Scalar, diagnostics: Diagnostics, start: int = 0, end: int | None = None
) -> tuple[ast.expr, Text]:
    """Parse the text of a scalar, or its characters `start` to `end`, as an expression.

    Raises:
        Failed: it is too long or nested too deeply, or has not the syntax of Python; reported.
    """
    _check_characters(scalar, diagnostics, "an expression", limits.EXPRESSION_LENGTH_MAX)
    text = Text(scalar, wrapped=scalar.kind != "bool")
    # Between parentheses an expression may go on in the next line. Blanks in the place of what comes before keep the
    # columns of a part those of the whole.
    source = f"({' ' * start}{scalar.text[start:end]}\n)" if text.wrapped else scalar.text.capitalize()
    try:
        tree = ast.parse(source, mode="eval").body
    except SyntaxError as error:
        _refuse(error, text, diagnostics)
    except (RecursionError, MemoryError, ValueError):
        _refuse_depth(scalar, diagnostics)
    if text.wrapped and (tree.lineno, tree.col_offset) == (1, 0) and not isinstance(tree, ast.Tuple | ast.GeneratorExp):
        # Our own parenthesis became part of the tree, so one of the text closed it: `a) or (b`.
        _refuse(SyntaxError("unmatched ')'"), text, diagnostics)
    return tree, text


def parse_statements(scalar: Scalar, diagnostics: Diagnostics) -> tuple[list[ast.stmt], Text]:
    """Parse the text of a step.

    Raises:
        Failed: it is nested too deeply or has not the syntax of Python; reported.
    """
    _check_characters(scalar, diagnostics, "a step", limits.SCALAR_LENGTH_MAX)
    text = Text(scalar, wrapped=False)
    try:
        return ast.parse(scalar.text, mode="exec").body, text
    except SyntaxError as error:
        _refuse(error, text, diagnostics)
    except (RecursionError, MemoryError, ValueError):
        _refuse_depth(scalar, diagnostics)


def _check_characters(scalar: Scalar, diagnostics: Diagnostics, what: str, most: int) -> None:
    code = _COMMENT.sub("", scalar.text)
    if not code.strip():
        help_text = "a step that does nothing says `pass`" if what == "a step" else ""
        diagnostics.report(Code.EMPTY_TEXT, f"{what} must not be empty", scalar.span, help=help_text)
        raise Failed
    if len(scalar.text) > most:
        diagnostics.report(Code.LIMIT, f"{what} has more than {most:,} characters", scalar.span)
        raise Failed
    if not _SUSPECT.search(code):
        return
    for found in re.finditer(rf"{_COMMENT.pattern}|{_SUSPECT.pattern}", scalar.text):
        suspect = found.group()
        if not suspect.startswith("#"):
            span = scalar.locate_slice(found.start(), found.end())
            diagnostics.report(Code.SYNTAX, f"this cannot be read: {_suspicion(suspect)}", span, help=_SUSPECT_HELP)
            raise Failed


_SUSPECT_HELP = "names are plain ASCII letters, digits and `_`, and do not begin with a digit"


def _suspicion(suspect: str) -> str:
    if suspect.isascii():
        return f"{quoted(suspect)} is neither a name nor a number"
    return f"{quoted(suspect)} (U+{ord(suspect):04X}) is not a character of the language"


def _refuse(error: SyntaxError, text: Text, diagnostics: Diagnostics) -> NoReturn:
    """Report a syntax error where Python found it. Its columns count characters, from 1."""
    message = (error.msg or "invalid syntax").split(" (")[0]
    if message.startswith("Exceeds the limit"):
        message = f"a number is larger than {limits.INTEGER_MAX:,}"
        diagnostics.report(Code.LIMIT, message, text.scalar.span)
        raise Failed
    if any(words in message for words in _TOO_DEEP):
        _refuse_depth(text.scalar, diagnostics)
    code = _COMMENT.sub(lambda comment: " " * len(comment.group()), text.scalar.text)
    foreign = next(((found, instead) for wrong, instead in _INSTEAD if (found := wrong.search(code))), None)
    unbalanced = _unbalanced(code)
    help_text = "indent with spaces, the lines of one block alike" if "indent" in message else ""
    if unbalanced is not None:
        at, message = unbalanced
    elif foreign is not None:
        at, help_text = foreign[0].start(), foreign[1]
    elif text.wrapped and (equals := _SINGLE_EQUALS.search(code)):
        at, help_text = equals.start(), "write `==` to compare"
    else:
        lines = [0, *(end.end() for end in _LINE_END.finditer(text.scalar.text))]
        line = min(max(error.lineno or 1, 1), len(lines))
        column = max((error.offset or 1) - 1 - (text.wrapped and line == 1), 0)
        at = min(lines[line - 1] + column, len(text.scalar.text.rstrip()))
    span = text.scalar.locate_slice(at, at + 1)
    diagnostics.report(Code.SYNTAX, f"this cannot be read: {_sentence(message)}", span, help=help_text)
    raise Failed


def _unbalanced(text: str) -> tuple[int, str] | None:
    """Return where a bracket closes none or is never closed, with a sentence about it."""
    opened: list[tuple[int, str]] = []
    for found in re.finditer(r"[()\[\]{}]", text):
        bracket = found.group()
        if bracket in _BRACKETS.values():
            opened.append((found.start(), bracket))
        elif bracket in _BRACKETS:
            if not opened or opened[-1][1] != _BRACKETS[bracket]:
                return found.start(), f"a `{bracket}` closes nothing"
            opened.pop()
    return (opened[-1][0], f"a `{opened[-1][1]}` is never closed") if opened else None


def _sentence(message: str) -> str:
    """Return Python's message without what it guesses about Python programs."""
    if "Perhaps you forgot a comma" in message or message == "invalid syntax":
        return "something is missing or too much here"
    if "Maybe you meant '=='" in message or "cannot assign" in message:
        return "`=` assigns, and this is no place for it"
    return message


def _refuse_depth(scalar: Scalar, diagnostics: Diagnostics) -> NoReturn:
    message = f"this is nested more than {limits.EXPRESSION_DEPTH_MAX} levels deep"
    diagnostics.report(Code.LIMIT, message, scalar.span)
    raise Failed

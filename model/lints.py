"""Warnings about a step that can be read off its text (language, points 7 and 19)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from model.diagnostics import Code, Diagnostics, Note, quoted
from model.expressions import Expression, Fresh, TableColumn, VariableValue, walk
from model.scope import Declarations
from model.source import Span
from model.specification import Step
from model.statements import (
    Assign,
    Choose,
    Count,
    For,
    Goto,
    If,
    Read,
    Statement,
    Stop,
    expressions_of,
    walk_statements,
)


def lint_step(step: Step, declarations: Declarations, diagnostics: Diagnostics, *, crashing: bool, atomic: bool, environment: bool) -> None:
    """Report what is suspicious in a step.

    `crashing` says whether some fault crashes the process, `atomic` whether the step says `atomic: true`.
    """
    if crashing and not atomic:
        _two_stores(step, declarations, diagnostics)
    if not environment:
        _never_known_fresh(step, declarations, diagnostics)


def _two_stores(step: Step, declarations: Declarations, diagnostics: Diagnostics) -> None:
    written: dict[str, Span] = {}
    for statement in walk_statements(step.body):
        if isinstance(statement, Assign | Choose) and isinstance(statement.target, VariableValue):
            owner = statement.target.key.split(".", 1)[0]
            if owner in declarations.stores:
                written.setdefault(owner, statement.span)
    if len(written) < 2:
        return
    (first, first_span), (second, second_span) = list(written.items())[:2]
    diagnostics.report(
        Code.TWO_STORES,
        f"the step {quoted(step.id)} changes the stores `{first}` and `{second}` at once: no crash can fall between the two",
        second_span,
        notes=(Note(f"`{first}` is changed here", first_span),),
        help="split the step, or say `atomic: true` where one transaction really covers both",
    )


@dataclass(frozen=True, slots=True)
class _Path:
    """What has happened so far on the paths to a point of a step, per versioned store."""

    tested: frozenset[str] = frozenset()
    used: tuple[tuple[str, str, Span], ...] = ()
    """Store, variable and place of each use that no test has vouched for yet (the first of each store)."""

    def test(self, store: str) -> _Path:
        return replace(self, tested=self.tested | {store}, used=tuple(u for u in self.used if u[0] != store))

    def use(self, store: str, variable: str, span: Span) -> _Path:
        if store in self.tested or any(u[0] == store for u in self.used):
            return self
        return replace(self, used=(*self.used, (store, variable, span)))


def _never_known_fresh(step: Step, declarations: Declarations, diagnostics: Diagnostics) -> None:
    """Warn of a path that uses a versioned store and neither reads it nor tests that it is fresh."""
    walker = _FreshWalker({name for name, versioned in declarations.stores.items() if versioned})
    ended, going = walker.block(step.body, {_Path()})
    reported: set[str] = set()
    for path in sorted(ended | going, key=repr):
        for store, variable, span in path.used:
            if store in reported:
                continue
            reported.add(store)
            diagnostics.report(
                Code.NOT_KNOWN_FRESH,
                f"`{variable}` is read as it is now: on this path the step neither reads `{store}` nor tests that it is fresh",
                span,
                help="test `fresh` first, or copy the value into volatile memory where it was read",
            )


class _FreshWalker:
    """Follows all paths at once; paths with equal histories are one."""

    def __init__(self, versioned: set[str]) -> None:
        self.versioned = versioned

    def block(self, body: tuple[Statement, ...], paths: set[_Path]) -> tuple[set[_Path], set[_Path]]:
        """Return the paths that have ended and those that go on behind the block."""
        ended: set[_Path] = set()
        for statement in body:
            done, paths = self.statement(statement, paths)
            ended |= done
        return ended, paths

    def statement(self, statement: Statement, paths: set[_Path]) -> tuple[set[_Path], set[_Path]]:
        for expression in expressions_of(statement):
            paths = {self.expression(expression, path) for path in paths}
        match statement:
            case Read(store=store):
                return set(), {path.test(store) for path in paths}
            case Goto() | Stop():
                return paths, set()
            case If():
                first_ended, first = self.block(statement.then, paths)
                second_ended, second = self.block(statement.otherwise, paths)
                return first_ended | second_ended, first | second
            case For():
                ended, after = self.block(statement.body, paths)
                return ended, after | paths
            case Count():
                return set(), paths
            case _:
                return set(), paths

    def expression(self, expression: Expression, path: _Path) -> _Path:
        for node in walk(expression):
            match node:
                case Fresh(store=store):
                    path = path.test(store)
                case VariableValue(key=key):
                    owner, _, name = key.partition(".")
                    if owner in self.versioned:
                        path = path.use(owner, name, node.span)
                case TableColumn():
                    continue
                case _:
                    continue
        return path

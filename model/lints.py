"""Warnings about steps and processes that can be read off their text (language, points 7 and 19)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise

from model.diagnostics import Code, Diagnostics, Note, quoted
from model.expressions import Expression, Fresh, VariableValue, walk
from model.scope import Declarations
from model.source import Span
from model.specification import Process, Step, Table
from model.statements import (
    Assign,
    Check,
    Choose,
    For,
    Goto,
    If,
    Read,
    Statement,
    Stop,
    body_ends,
    expressions_of,
    walk_statements,
)


def lint_step(
    step: Step,
    declarations: Declarations,
    diagnostics: Diagnostics,
    *,
    crashing: bool,
    atomic: bool,
    environment: bool,
) -> None:
    """Report what is suspicious in a step.

    `crashing` says whether some fault crashes the process, `atomic` whether the step says `atomic: true`.
    """
    if crashing and not atomic:
        _two_stores(step, declarations, diagnostics)
    if not environment:
        _never_known_fresh(step, declarations, diagnostics)


def lint_process(process: Process, fresh: Mapping[str, Span], diagnostics: Diagnostics) -> None:
    """Report steps that nothing leads to, and tests of what is never read; `fresh` says where which store is tested."""
    if process.environment:
        return
    _never_entered(process, diagnostics)
    for store, span in fresh.items():
        if store not in process.reads:
            message = f"no step of `{process.name}` reads `{store}`, so it is never known to be fresh"
            help_text = f"say `read({store})` where the process looks at it first"
            diagnostics.report(Code.FRESH_WITHOUT_READ, message, span, help=help_text)


def lint_table(table: Table, diagnostics: Diagnostics) -> None:
    """Report rows that can never be the one, as far as constants tell."""
    decided: str | None = None
    for row in table.rows:
        value = getattr(row.when, "value", None)
        if decided is not None:
            message = f"the row `{decided}` takes every case before the row {quoted(row.name)} is looked at"
            diagnostics.report(Code.ROW_NEVER_MATCHES, message, row.span, help="the first row that matches decides")
        elif value is False:
            message = f"the condition of the row {quoted(row.name)} is always false"
            diagnostics.report(Code.ROW_NEVER_MATCHES, message, row.when.span)
        elif value is True and table.first_match:
            decided = row.name


def _never_entered(process: Process, diagnostics: Diagnostics) -> None:
    targets = {s.label for step in process.steps for s in walk_statements(step.body) if isinstance(s, Goto)}
    in_order = [step for step in process.steps if step.name != process.boot]
    for before, step in pairwise(in_order):
        if step.name not in targets and body_ends(before.body):
            message = f"no `goto` leads to the step {quoted(step.name)}, and {quoted(before.name)} never goes on to it"
            diagnostics.report(Code.STEP_NEVER_ENTERED, message, step.span)


def _two_stores(step: Step, declarations: Declarations, diagnostics: Diagnostics) -> None:
    ended: _Ways = {}
    ways = _ways(step.body, {frozenset(): ()}, frozenset(declarations.stores), ended)
    written = next((way for way in (ended | ways).values() if len(way) > 1), None)
    if written is None:
        return
    (first, first_span), (second, second_span) = written[:2]
    message = (
        f"the step {quoted(step.id)} changes the stores `{first}` and `{second}` at once: no crash can fall between"
    )
    diagnostics.report(
        Code.TWO_STORES,
        message,
        second_span,
        notes=(Note(f"`{first}` is changed here", first_span),),
        help="split the step, or say `atomic: true` where one transaction really covers both",
    )


_Ways = dict[frozenset[str], tuple[tuple[str, Span], ...]]
"""The ways to a point by the stores that they have changed; for each store the place where it was first."""


def _ways(body: Iterable[Statement], before: _Ways, stores: frozenset[str], ended: _Ways) -> _Ways:
    """Return the ways through a body; those that end in it are added to `ended`."""
    ways = before
    for statement in body:
        match statement:
            case If():
                then = _ways(statement.then, ways, stores, ended)
                ways = then | _ways(statement.otherwise, ways, stores, ended)
            case For():
                rounds: _Ways = {}
                while rounds.keys() != ways.keys():
                    rounds, ways = ways, ways | _ways(statement.body, ways, stores, ended)
            case Goto() | Stop():
                ended |= ways
                return {}
            case Assign(target=VariableValue(key=key)) | Choose(target=VariableValue(key=key)):
                owner = key.split(".", 1)[0]
                if owner in stores:
                    ways = {
                        changed | {owner}: way if owner in changed else (*way, (owner, statement.span))
                        for changed, way in ways.items()
                    }
            case _:
                continue
    return ways


_Use = tuple[str, Span]
"""A variable that is read with nothing to vouch for its store, and where."""

_Seen = frozenset[_Use | None]
"""How paths can come to a point: None, without a use that nothing vouches for."""

_NOTHING: _Seen = frozenset({None})


class _Paths:
    """All paths to a point of a step: for each versioned store, what has happened on them.

    The stores are followed side by side, not together: their combinations would be too many. Once a store is vouched
    for on all paths, it stays so until the step ends.
    """

    def __init__(self, seen: Mapping[str, _Seen], vouched: frozenset[str]) -> None:
        self.seen = dict(seen)
        self.vouched = vouched

    def test(self, store: str) -> None:
        self.vouched |= {store}
        self.seen[store] = _NOTHING

    def use(self, store: str, variable: str, span: Span) -> None:
        if store not in self.vouched:
            before = self.seen.get(store, _NOTHING)
            self.seen[store] = frozenset(found or (variable, span) for found in before)

    def copy(self) -> _Paths:
        return _Paths(self.seen, self.vouched)

    def join(self, other: _Paths) -> None:
        """Add the paths that come another way."""
        for store, found in other.seen.items():
            self.seen[store] = self.seen.get(store, _NOTHING) | found
        self.vouched &= other.vouched


def _never_known_fresh(step: Step, declarations: Declarations, diagnostics: Diagnostics) -> None:
    """Warn of a path that uses a versioned store and neither reads it nor tests that it is fresh."""
    walker = _FreshWalker({name for name, versioned in declarations.stores.items() if versioned})
    walker.end(walker.block(step.body, _Paths({}, frozenset())))
    for store, found in sorted(walker.ended.items()):
        uses = [use for use in found if use is not None]
        if uses:
            variable, span = min(uses, key=lambda use: (use[1].line, use[1].column))
            message = (
                f"`{variable}` is read as it is now: on this path the step neither reads `{store}` nor tests that it "
                "is fresh"
            )
            help_text = "test `fresh` first, or copy the value into volatile memory where it was read"
            diagnostics.report(Code.NOT_KNOWN_FRESH, message, span, help=help_text)


class _FreshWalker:
    """Follows all paths through a step at once."""

    def __init__(self, versioned: set[str]) -> None:
        self.versioned = versioned
        self.ended: dict[str, _Seen] = {}

    def end(self, paths: _Paths | None) -> None:
        """Note how the paths that end here have come."""
        for store, found in (paths.seen if paths is not None else {}).items():
            self.ended[store] = self.ended.get(store, frozenset()) | found

    def block(self, body: tuple[Statement, ...], paths: _Paths | None) -> _Paths | None:
        """Follow a block; returns the paths behind it, None where all have ended."""
        for statement in body:
            if paths is not None:
                paths = self.statement(statement, paths)
        return paths

    def statement(self, statement: Statement, paths: _Paths) -> _Paths | None:
        # What a check looks at decides nothing.
        for expression in () if isinstance(statement, Check) else expressions_of(statement):
            self.expression(expression, paths)
        match statement:
            case Read(store=store):
                paths.test(store)
            case Goto() | Stop():
                self.end(paths)
                return None
            case If():
                first = self.block(statement.then, paths.copy())
                second = self.block(statement.otherwise, paths)
                if first is None or second is None:
                    return first or second
                first.join(second)
                return first
            case For():
                after = self.block(statement.body, paths.copy())
                if after is not None:
                    paths.join(after)
            case _:
                pass
        return paths

    def expression(self, expression: Expression, paths: _Paths) -> None:
        """Note what an expression tests and uses; a table it consults is not looked into."""
        for node in walk(expression):
            if isinstance(node, Fresh):
                paths.test(node.store)
            elif isinstance(node, VariableValue):
                owner, _, name = node.key.partition(".")
                if owner in self.versioned:
                    paths.use(owner, name, node.span)

"""The operators on statements and on what rows ask.

What belongs to the claims stays: ghosts and what only they depend on, and `check`. So does what is assumed of the
world: where a fault may happen, and what it does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from checker.mutation.changes import Change, draws, is_fault, of_statement, takes_a_fault, true
from checker.mutation.expressions import changes_of
from checker.mutation.mutants import Operator, Piece
from checker.mutation.places import Places
from checker.mutation.rewriting import Body
from model.expressions import Constant, Fresh, LocalValue, Not, VariableValue
from model.source import Span
from model.specification import Row, Step
from model.statements import Assign, Check, Choose, Count, For, If, Statement, When, expressions_of


def changes_of_step(step: Step, places: Places) -> Iterator[Change]:
    """Yield every change inside a step, or inside what a crash does."""
    if not is_fault(step):
        yield from _Finder(places).body(step.body, frozenset(), alone=len(step.body) == 1)


def changes_of_row(row: Row, places: Places) -> Iterator[Change]:
    """Yield every change of what a row asks and of the expressions that it gives."""
    asked, span = row.when, row.when.span
    if not isinstance(asked, Constant):
        text = places.text(span)

        def made(piece: Piece, *, negated: bool) -> Piece:
            assert isinstance(piece, Row)
            return replace(piece, when=Not(piece.when, span) if negated else true(span))

        before, after = f"when: {text}", f"when: not ({text})"
        # Where a definition is all that is asked its text is elsewhere, and stays; what it says is not asked here.
        here = places.name(span).rpartition(":")[2] == places.name(row.span).rpartition(":")[2]
        where = span if here else row.span
        yield Change(Operator.DROP_GUARD, where, "", before, "when: True", lambda r: made(r, negated=False))
        yield Change(Operator.NEGATE_GUARD, where, "", before, after, lambda r: made(r, negated=True))
    for expression in (asked, *row.gives.values()):
        yield from changes_of(expression, expression.span, places)


class _Finder:
    """Goes through bodies, in the order of their text."""

    def __init__(self, places: Places) -> None:
        self.places = places
        self.text = places.text

    def body(self, body: Body, declared: frozenset[str], *, alone: bool) -> Iterator[Change]:
        """Yield the changes of a body.

        `declared` are the locals known before it; `alone` says that a whole step has but this one statement.
        """
        for statement in body:
            if _only_for_claims(statement):
                continue
            match statement:
                case Assign(target=target) | Count(target=target) | Choose(target=target):
                    if isinstance(target, LocalValue) and target.name not in declared:
                        declared |= {target.name}
                    elif not alone:
                        yield self._dropped(statement, target.span.joined(statement.span))
                case When(condition=condition) if not draws(condition):
                    yield from self._of_when(statement)
                case If(condition=condition) if not draws(condition):
                    yield from self._of_if(statement)
                case _:
                    pass
            # What the world chooses from is its affair, as is whether and where a fault happens.
            own = replace(statement, elements=()) if isinstance(statement, Choose) else statement
            for expression in expressions_of(own):
                if not draws(expression):
                    yield from changes_of(expression, statement.span, self.places)
            match statement:
                case If(condition=condition, then=then, otherwise=otherwise):
                    if not takes_a_fault(condition):
                        yield from self.body(then, declared, alone=False)
                    if not (isinstance(condition, Not) and takes_a_fault(condition.item)):
                        yield from self.body(otherwise, declared, alone=False)
                case For(variable=variable, body=inner):
                    yield from self.body(inner, declared | {variable}, alone=False)
                case _:
                    pass

    def _dropped(self, statement: Statement, span: Span) -> Change:
        text = self.text(span)
        return Change(Operator.DROP_ASSIGNMENT, span, text, text, "", of_statement(statement, lambda _: ()))

    def _of_when(self, statement: When) -> Iterator[Change]:
        before = self.text(statement.span)
        asked = before.removeprefix("when(").removesuffix(")")
        dropped = of_statement(statement, lambda _: ())
        yield Change(Operator.DROP_GUARD, statement.span, asked, before, "", dropped)
        made = of_statement(statement, _negated)
        yield Change(Operator.NEGATE_GUARD, statement.span, asked, before, f"when(not ({asked}))", made)

    def _of_if(self, statement: If) -> Iterator[Change]:
        condition, span = statement.condition, statement.span
        asked = self.text(span)
        before = f"if {asked}"
        # Where nothing is asked but whether something is fresh, that being true is a mutant already; so is the loss of
        # an assignment that is all there is.
        stale = isinstance(condition, Not) and isinstance(condition.item, Fresh)
        if not isinstance(condition, Fresh):
            then = of_statement(statement, lambda s: s.then if isinstance(s, If) else (s,))
            yield Change(Operator.DROP_GUARD, span, asked, before, "if True", then)
        if not stale and not _is_one_assignment(statement):
            otherwise = of_statement(statement, lambda s: s.otherwise if isinstance(s, If) else (s,))
            yield Change(Operator.SKIP_BRANCH, span, asked, before, "if False", otherwise)
        yield Change(Operator.NEGATE_GUARD, span, asked, before, f"if not ({asked})", of_statement(statement, _negated))


def _negated(statement: Statement) -> Body:
    assert isinstance(statement, If | When)
    condition = statement.condition
    return (replace(statement, condition=Not(condition, condition.span)),)


def _is_one_assignment(statement: If) -> bool:
    only = len(statement.then) == 1 and not statement.otherwise
    return only and isinstance(statement.then[0], Assign | Count | Choose)


def _only_for_claims(statement: Statement) -> bool:
    """Tell whether a statement does nothing but write history or look at the state."""
    match statement:
        case Assign(target=target) | Count(target=target) | Choose(target=target):
            return isinstance(target, VariableValue) and target.key.startswith("ghost.")
        case If(then=then, otherwise=otherwise):
            return all(map(_only_for_claims, (*then, *otherwise)))
        case For(body=body):
            return all(map(_only_for_claims, body))
        case _:
            return isinstance(statement, Check)

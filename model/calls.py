"""The words of expressions that are written as calls: `all(…)`, `implies(…)`, `next(…)`, `fault(…)` and so on."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Literal, NoReturn

from model.diagnostics import Code, did_you_mean
from model.expressions import (
    And,
    AtLabel,
    Expression,
    Extremum,
    FaultDraw,
    Fresh,
    Implies,
    Next,
    Quantifier,
    SetOf,
    Size,
    Stopped,
)
from model.failures import Failed, collect
from model.parsing import Text
from model.resolve import Resolver, describe
from model.scope import Place, ProcessHeader, Scope
from model.source import Span
from model.system import CRASHED
from model.types import BOOL, INT, SetType, ValueType, kind_of
from model.words import CALLS, NOT_IN_CRASHES, RESERVED, STATEMENT_CALLS

_NOT_IN_CRASHES = {
    "when": "a crash asks for no permission; use `if`",
    "read": "what would be remembered is lost in the same moment",
    "fresh": "a crash does its part whatever others have written",
    "fault": "a crash is the fault; what may or may not happen in it is `choose`",
}
_QUANTIFIERS: dict[str, Literal["all", "any", "count"]] = {"all": "all", "any": "any", "count": "count"}


class CallElaborator(Resolver):
    """Elaborates calls in expressions."""

    def boolean(self, node: ast.expr, text: Text, scope: Scope) -> Expression:
        """Elaborate a node that must be a truth value."""
        return self.require(self.expression(node, text, scope, BOOL), BOOL)

    def integer(self, node: ast.expr, text: Text, scope: Scope) -> Expression:
        """Elaborate a node that must be an integer; it holds no fault draw."""
        return self.require(self.expression(node, text, without_faults(scope), INT), INT)

    def call(self, node: ast.Call, text: Text, scope: Scope, expected: ValueType | None) -> Expression:
        """Elaborate a call of a definition or of a word of the language."""
        if isinstance(node.func, ast.Attribute):
            return self._at_label(node, node.func, text, scope)
        if not isinstance(node.func, ast.Name):
            self.fail(Code.NOT_IN_LANGUAGE, "this cannot be called", text.span(node.func))
        name, span = node.func.id, text.span(node)
        if node.keywords:
            self.fail(Code.NOT_IN_LANGUAGE, "arguments have no names here", text.span(node.keywords[0]))
        if name in self.declarations.definitions:
            inner = without_faults(scope)
            arguments: list[Callable[[ValueType | None], Expression]] = [
                partial(self.expression, argument, text, inner) for argument in node.args
            ]
            return self._expand(self.declarations.definitions[name], arguments, span, scope, expected)
        if name in self.declarations.failed:
            raise Failed
        match name:
            case "all" | "any" | "count":
                return self._quantifier(name, node, text, without_faults(scope))
            case "implies":
                return self._implies(node, text, without_faults(scope))
            case "min" | "max":
                return self._extremum(node, name, text, scope)
            case "next":
                return self._next(node, text, scope, expected)
            case "fresh":
                return self._fresh(node, text, scope)
            case "fault":
                return self.fault_draw(node, text, scope)
            case "size":
                return self._size(node, text, without_faults(scope))
            case "set":
                return self._empty_set(node, text, expected)
            case "stopped" | "crashed":
                return self._life(name, node, text, scope)
            case _:
                self._unknown_call(name, node, text)

    def _unknown_call(self, name: str, node: ast.Call, text: Text) -> NoReturn:
        span = text.span(node)
        if name == "choose":
            message = "`choose` stands only as the whole right-hand side of an assignment"
            help_text = "choose into a local first: `x: Type = choose(Type)`"
            self.fail(Code.CHOOSE_PLACE, message, span, help=help_text)
        if name in STATEMENT_CALLS:
            message = f"`{name}` is a statement and has no value"
            self.fail(Code.STATEMENT_AS_VALUE, message, span, help=f"put `{name}(…)` on a line of its own")
        if self.declarations.excuses(name):
            raise Failed
        if name in self.declarations.variable_names:
            help_text = f"write `{name}[…]`, with square brackets"
            self.fail(Code.UNKNOWN_FUNCTION, f"`{name}` is a variable and cannot be called", span, help=help_text)
        help_text = did_you_mean(name, [*CALLS, *self.declarations.definitions])
        message = f"no function or definition is named `{name}`"
        self.fail(Code.UNKNOWN_FUNCTION, message, text.span(node.func), help=help_text)

    def _argument(self, node: ast.Call, text: Text) -> ast.expr:
        return self._arguments(node, 1, text)[0]

    def _arguments(self, node: ast.Call, count: int, text: Text) -> list[ast.expr]:
        if len(node.args) != count or node.keywords:
            name = text.written(node.func)
            wanted = "one argument" if count == 1 else f"{count} arguments"
            self.fail(Code.ARGUMENTS, f"`{name}` takes {wanted}, not {len(node.args)}", text.span(node))
        return node.args

    def _implies(self, node: ast.Call, text: Text, scope: Scope) -> Expression:
        first, second = self._arguments(node, 2, text)
        premise, conclusion = collect(
            [lambda: self.boolean(first, text, scope), lambda: self.boolean(second, text, scope)]
        )
        return Implies(premise, conclusion, ast.unparse(first), text.span(node))

    def _extremum(self, node: ast.Call, name: Literal["min", "max"], text: Text, scope: Scope) -> Expression:
        if len(node.args) < 2:
            self.fail(Code.ARGUMENTS, f"`{name}` takes two numbers or more, not {len(node.args)}", text.span(node))
        inner = without_faults(scope)
        items = collect([partial(self._ordered, item, name, text, inner) for item in node.args])
        return Extremum(name, tuple(items), text.span(node))

    def _ordered(self, node: ast.expr, name: str, text: Text, scope: Scope) -> Expression:
        item = self.expression(node, text, scope, None)
        if kind_of(item.type) != "integer":
            message = f"`{name}` needs an order, and this is {describe(item.type)}"
            self.fail(Code.NOT_ORDERED, message, item.span)
        return self.require(item, INT)

    def _size(self, node: ast.Call, text: Text, scope: Scope) -> Expression:
        item = self.expression(self._argument(node, text), text, scope, None)
        if not isinstance(item.type, SetType):
            self.fail(Code.TYPE_MISMATCH, f"`size` takes a set, and this is {describe(item.type)}", item.span)
        return Size(item, text.span(node))

    def _empty_set(self, node: ast.Call, text: Text, expected: ValueType | None) -> Expression:
        span = text.span(node)
        if node.args:
            message = "`set()` is the set without elements"
            self.fail(Code.ARGUMENTS, message, span, help="write the elements in braces: `{a, b}`")
        if not isinstance(expected, SetType):
            self.fail(Code.NOT_IN_LANGUAGE, "a set where none is expected is not part of the language", span)
        return SetOf((), expected, span)

    # -- quantifiers ----------------------------------------------------------------------------------------------

    def _quantifier(self, word: str, node: ast.Call, text: Text, scope: Scope) -> Expression:
        generator = self._argument(node, text)
        if not isinstance(generator, ast.GeneratorExp):
            message = f"`{word}` is written `{word}(condition for x in Type)`"
            self.fail(Code.NOT_IN_LANGUAGE, message, text.span(node))
        clauses = generator.generators
        if len(clauses) > 1 and word == "count":
            self.fail(Code.NOT_IN_LANGUAGE, "`count` goes over one variable", text.span(clauses[1].target))
        return self._clauses(_QUANTIFIERS[word], clauses, generator.elt, text, scope, text.span(node))

    def _clauses(
        self,
        operator: Literal["all", "any", "count"],
        clauses: list[ast.comprehension],
        body: ast.expr,
        text: Text,
        scope: Scope,
        span: Span,
    ) -> Expression:
        """Elaborate `body for x in T if c for y in U …`: one quantifier inside the other."""
        first, rest = clauses[0], clauses[1:]
        if not isinstance(first.target, ast.Name):
            self.fail(Code.NOT_IN_LANGUAGE, "one variable at a time", text.span(first.target))
        self.refuse_hiding(first.target.id, text.span(first.target), scope)
        what = "`for` goes over a type here"
        domain = self.value_type(first.iter, text, code=Code.LOOP_OVER_NO_TYPE, what=what)
        inner = self.unrolled(scope, domain, span).with_local(first.target.id, domain)
        conditions: list[Callable[[], Expression]] = [
            partial(self.boolean, condition, text, inner) for condition in first.ifs
        ]
        if rest:
            conditions.append(partial(self._clauses, operator, rest, body, text, inner, span))
        else:
            conditions.append(partial(self.boolean, body, text, inner))
        *conjuncts, elaborated = collect(conditions)
        condition = None
        if conjuncts:
            condition = conjuncts[0] if len(conjuncts) == 1 else And(tuple(conjuncts), span)
        value_type = INT if operator == "count" else BOOL
        variable = inner.locals[first.target.id].name
        return Quantifier(operator, variable, domain, condition, elaborated, value_type, span)

    def unrolled(self, scope: Scope, domain: ValueType, span: Span) -> Scope:
        """Return the scope inside a loop or quantifier, and remember what it goes over."""
        domains = (*scope.domains, domain)
        self.findings.unrolled.setdefault(domains, span)
        return replace(scope, domains=domains)

    def refuse_hiding(self, name: str, span: Span, scope: Scope) -> None:
        """Refuse a local, or the variable of a loop or quantifier, that would hide what has the same name."""
        declarations = self.declarations
        if name in RESERVED:
            message = f"`{name}` is a word of the language and cannot name a local"
            self.fail(Code.NOT_AN_IDENTIFIER, message, span)
        own = scope.process.volatile if scope.process else {}
        for kind, names in (
            ("a local", scope.locals),
            ("an argument of the definition", scope.arguments),
            ("volatile memory", own),
            ("a variable", declarations.shared),
            ("a parameter", declarations.parameters),
            ("a definition", declarations.definitions),
        ):
            if name in names:
                self.fail(
                    Code.SHADOWED_NAME, f"`{name}` is already the name of {kind}", span, help="choose another name"
                )

    # -- transitions, stores, faults, instances -------------------------------------------------------------------

    def _next(self, node: ast.Call, text: Text, scope: Scope, expected: ValueType | None) -> Expression:
        span = text.span(node)
        if scope.place is not Place.STEP_PROPERTY:
            self.fail(Code.NEXT_PLACE, "`next` can be read only in a `step` property", span)
        if scope.inside_next:
            self.fail(Code.NEXT_NESTED, "`next` inside `next`: a step property sees one transition", span)
        self.findings.looks_ahead = True
        item = self.expression(self._argument(node, text), text, replace(scope, inside_next=True), expected)
        return Next(item, item.type, span)

    def _fresh(self, node: ast.Call, text: Text, scope: Scope) -> Expression:
        span = text.span(node)
        store = self.versioned_store("fresh", node, text, scope)
        self.findings.fresh.setdefault(store, span)
        return Fresh(store, span)

    def versioned_store(self, name: str, node: ast.Call, text: Text, scope: Scope) -> str:
        """Check the argument of `read` and `fresh` and return the name of the store."""
        self.refuse_in_crash(name, scope, text.span(node))
        argument = self._argument(node, text)
        span = text.span(argument)
        if scope.place is not Place.STEP or scope.process is None or scope.process.environment:
            message = f"no process is here to remember what it read: `{name}` belongs in a step of one that can crash"
            self.fail(Code.FRESH_PLACE, message, text.span(node))
        stores = self.declarations.stores
        if not isinstance(argument, ast.Name) or argument.id not in stores:
            written = text.written(argument)
            if self.declarations.excuses(written):
                raise Failed
            message = f"`{name}` takes the name of a store, and none is named `{written}`"
            self.fail(Code.UNKNOWN_STORE, message, span, help=did_you_mean(written, stores))
        if not stores[argument.id]:
            message = f"the store `{argument.id}` is not versioned"
            self.fail(Code.UNVERSIONED_STORE, message, span, help="declare it with `versioned: true`")
        return argument.id

    def refuse_in_crash(self, word: str, scope: Scope, span: Span) -> None:
        """Refuse a word that has no place in `torn` or `on_crash`."""
        if scope.crash and word in NOT_IN_CRASHES[scope.crash]:
            help_text = _NOT_IN_CRASHES.get(word, "where the process goes on is said by `boot` and `restarts`")
            self.fail(Code.CRASH_PLACE, f"`{word}` has no place in `{scope.crash}`", span, help=help_text)

    def fault_draw(self, node: ast.Call, text: Text, scope: Scope) -> FaultDraw:
        """Elaborate `fault(name)`."""
        span = text.span(node)
        self.refuse_in_crash("fault", scope, span)
        if not scope.fault_allowed:
            message = "`fault` stands only in the condition of an `if` or a `when`, or as a whole right-hand side"
            self.fail(Code.FAULT_PLACE, message, span)
        argument = self._argument(node, text)
        faults = self.declarations.faults
        if not isinstance(argument, ast.Name) or argument.id not in faults:
            written = text.written(argument)
            if self.declarations.excuses(written):
                raise Failed
            help_text = did_you_mean(written, faults)
            self.fail(Code.UNKNOWN_FAULT, f"no fault is named `{written}`", text.span(argument), help=help_text)
        if faults[argument.id].crashes:
            message = f"`{argument.id}` is a crash: it happens between steps and is not drawn in one"
            self.fail(Code.CRASH_AS_FAULT, message, span)
        self.findings.used.add(("fault", argument.id))
        return FaultDraw(argument.id, span)

    def _life(self, name: str, node: ast.Call, text: Text, scope: Scope) -> Expression:
        span = text.span(node)
        argument = self._argument(node, text)
        if not isinstance(argument, ast.Subscript):
            self.fail(Code.ARRAY_INDEX, f"`{name}` takes an instance", span, help=f"write `{name}(p[i])`")
        process, index = self.instance(argument, text, scope)
        if name == "stopped":
            self._refuse_environment(process, "never stops", span)
            return Stopped(process.name, index, span)
        self._refuse_environment(process, "never crashes", span)
        if process.restarts == "at_once":
            message = "`crashed` is never true: a process restarts in the transition in which it crashes"
            help_text = f"say `restarts: later` or `restarts: never` of `{process.name}`"
            self.fail(Code.CRASHED_NEVER, message, span, help=help_text)
        return AtLabel(process.name, index, CRASHED, span)

    def _at_label(self, node: ast.Call, func: ast.Attribute, text: Text, scope: Scope) -> Expression:
        span = text.span(node)
        if func.attr != "at" or not isinstance(func.value, ast.Subscript):
            message = "the only method is `at`, of a process instance: `p[i].at(label)`"
            self.fail(Code.NOT_IN_LANGUAGE, message, span)
        process, index = self.instance(func.value, text, scope)
        label = text.written(self._argument(node, text))
        self._refuse_environment(process, "is at no step", span)
        if label not in process.labels:
            message = f"`{process.name}` has no step `{label}`"
            self.fail(Code.UNKNOWN_LABEL, message, text.span(node.args[0]), help=did_you_mean(label, process.labels))
        return AtLabel(process.name, index, label, span)

    def _refuse_environment(self, process: ProcessHeader, why: str, span: Span) -> None:
        if process.environment:
            self.fail(Code.NOT_VISIBLE, f"`{process.name}` is an environment: it {why}", span)


def without_faults(scope: Scope) -> Scope:
    """Return the scope of a part in which no fault may be drawn."""
    return replace(scope, fault_allowed=False) if scope.fault_allowed else scope

"""From the text of an expression to a typed tree: parse with `ast`, resolve names, check kinds.

Nothing is executed. A failure is reported once and raised as `Failed`; siblings are still elaborated, so that all
errors of an expression come in one run.
"""

from __future__ import annotations

import ast
from functools import partial
from typing import Literal, NoReturn

from model import limits
from model.calls import CallElaborator, without_faults
from model.constants import constant_value, is_constant
from model.counters import FLIPPED, above_message, compares_above
from model.diagnostics import Code, Diagnostics
from model.expressions import (
    And,
    Arithmetic,
    ArithmeticOperator,
    Comparison,
    ComparisonOperator,
    Conditional,
    Constant,
    Expression,
    LocalValue,
    Membership,
    Not,
    Or,
    Quantifier,
    SetMembership,
    SetOf,
    SetOperation,
)
from model.failures import Effort, Failed, collect
from model.parsing import Text, parse_expression
from model.resolve import Parsed, describe
from model.scope import Declarations, Findings, Place, Scope
from model.source import Span
from model.specification import CounterComparison
from model.types import (
    BOOL,
    INT,
    NONE,
    CounterType,
    NatType,
    NoneType,
    OptionalType,
    RangeType,
    SetType,
    ValueType,
    kind_of,
    may_be_none,
    same_kind,
    whole,
    without_none,
)
from model.yamlnodes import Scalar

_COMPARISONS: dict[type[ast.cmpop], ComparisonOperator] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_ARITHMETIC: dict[type[ast.operator], ArithmeticOperator] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}
_PYTHON_NAMES = {
    "Lambda": "a lambda",
    "Dict": "a dictionary",
    "List": "a list",
    "Tuple": "a tuple",
    "ListComp": "a list comprehension",
    "SetComp": "a set comprehension",
    "DictComp": "a dictionary comprehension",
    "JoinedStr": "a format string",
    "Await": "`await`",
    "Yield": "`yield`",
    "YieldFrom": "`yield`",
    "NamedExpr": "`:=`",
    "Starred": "`*`",
    "Slice": "a slice",
    "Set": "a set where none is expected",
    "GeneratorExp": "`for` outside `all`, `any` and `count`",
}


class ExpressionElaborator(CallElaborator):
    """Elaborates expressions against the declarations of one specification."""

    def __init__(self, declarations: Declarations, diagnostics: Diagnostics, parsed: Parsed, effort: Effort) -> None:
        super().__init__(declarations, diagnostics, parsed)
        self.effort = effort
        self._nodes = 0
        self._depth = 0
        self._refused = False

    # -- entry points ---------------------------------------------------------------------------------------------

    def from_scalar(
        self, scalar: Scalar, scope: Scope, expected: ValueType | None, start: int = 0, end: int | None = None
    ) -> Expression:
        """Elaborate a YAML scalar, or its characters `start` to `end`.

        Raises:
            Failed: something is wrong with it; reported.
        """
        tree, text = parse_expression(scalar, self.diagnostics, start, end)
        self.begin()
        try:
            result = self.expression(tree, text, scope, expected)
            return result if expected is None else self.require(result, expected)
        finally:
            self.effort.spend(self._nodes, scalar.span)

    def begin(self) -> None:
        """Begin another expression or step: its nodes are counted anew."""
        self._nodes = 0
        self._refused = False

    def end(self, span: Span) -> None:
        """Add what has been elaborated since `begin` to the work that the file makes."""
        self.effort.spend(self._nodes, span)

    def separate(self) -> Findings:
        """Keep apart what is found from now on; returns where it is gathered."""
        self.findings = Findings()
        return self.findings

    # -- the walk -------------------------------------------------------------------------------------------------

    def expression(self, node: ast.expr, text: Text, scope: Scope, expected: ValueType | None) -> Expression:
        """Elaborate one syntax node; `expected` only guides the reading of literals."""
        self._nodes += 1
        if self._nodes > limits.EXPRESSION_NODES_MAX:
            what = f"has more than {limits.EXPRESSION_NODES_MAX:,} parts once its definitions are substituted"
            self._refuse_size(what, text.scalar.span)
        self._depth += 1
        try:
            if self._depth > limits.EXPRESSION_DEPTH_MAX:
                self._refuse_size(f"is nested more than {limits.EXPRESSION_DEPTH_MAX} levels deep", text.span(node))
            return self._dispatch(node, text, scope, expected)
        finally:
            self._depth -= 1

    def _refuse_size(self, what: str, span: Span) -> NoReturn:
        """Refuse an expression once, however many of its parts are too many."""
        if not self._refused:
            self.diagnostics.report(Code.LIMIT, f"this {what}", span)
        self._refused = True
        raise Failed

    def _dispatch(self, node: ast.expr, text: Text, scope: Scope, expected: ValueType | None) -> Expression:
        match node:
            case ast.Constant():
                return self._constant(node, text)
            case ast.Name():
                return self.name(node, text, scope, expected)
            case ast.Attribute():
                return self.attribute(node, text, scope)
            case ast.Subscript():
                return self.subscript(node, text, scope)
            case ast.Call():
                return self.call(node, text, scope, expected)
            case ast.BoolOp():
                return self._bool_op(node, text, scope)
            case ast.UnaryOp():
                return self._unary(node, text, scope)
            case ast.BinOp():
                return self._binary(node, text, scope, expected)
            case ast.Set() if isinstance(expected, SetType):
                return self._set(node.elts, expected, text.span(node), text, scope)
            case ast.Compare():
                return self._compare(node, text, scope)
            case ast.IfExp():
                return self._conditional(node, text, scope, expected)
            case _:
                name = type(node).__name__
                what = _PYTHON_NAMES.get(name, f"Python's {name}")
                self.fail(Code.NOT_IN_LANGUAGE, f"{what} is not part of the language", text.span(node))

    def _constant(self, node: ast.Constant, text: Text) -> Expression:
        span = text.span(node)
        match node.value:
            case bool():
                return Constant(node.value, BOOL, span)
            case int():
                if abs(node.value) > limits.INTEGER_MAX:
                    self.fail(Code.LIMIT, f"a number is larger than {limits.INTEGER_MAX:,}", span)
                return Constant(node.value, INT, span)
            case str():
                help_text = f"write `{node.value}`" if node.value.isidentifier() else ""
                self.fail(Code.NOT_IN_LANGUAGE, "a literal is written without quotes", span, help=help_text)
            case None:
                return Constant(None, NONE, span)
            case _:
                message = f"`{text.written(node)}` is not part of the language, which has whole numbers only"
                self.fail(Code.NOT_IN_LANGUAGE, message, span)

    # -- operators ------------------------------------------------------------------------------------------------

    def _bool_op(self, node: ast.BoolOp, text: Text, scope: Scope) -> Expression:
        items = tuple(collect([partial(self.boolean, value, text, scope) for value in node.values]))
        span = text.span(node)
        return And(items, span) if isinstance(node.op, ast.And) else Or(items, span)

    def _unary(self, node: ast.UnaryOp, text: Text, scope: Scope) -> Expression:
        span = text.span(node)
        match node.op:
            case ast.Not():
                return Not(self.boolean(node.operand, text, scope), span)
            case ast.USub():
                item = self.integer(node.operand, text, scope)
                if isinstance(item, Constant) and isinstance(item.value, int):
                    return Constant(-item.value, INT, span)
                return Arithmetic("-", Constant(0, INT, span), item, span)
            case _:
                self.fail(Code.NOT_IN_LANGUAGE, "this operator is not part of the language", span)

    def _binary(self, node: ast.BinOp, text: Text, scope: Scope, expected: ValueType | None) -> Expression:
        span = text.span(node)
        if isinstance(node.op, ast.BitOr | ast.BitAnd):
            return self._set_operation(node, "|" if isinstance(node.op, ast.BitOr) else "&", text, scope, expected)
        operator = _ARITHMETIC.get(type(node.op))
        if operator is None:
            message = "this operator is not part of the language"
            self.fail(Code.NOT_IN_LANGUAGE, message, span, help="arithmetic is `+`, `-` and `*`, of sets `|` and `&`")
        left, right = collect(
            [lambda: self.integer(node.left, text, scope), lambda: self.integer(node.right, text, scope)]
        )
        return Arithmetic(operator, left, right, span)

    def _conditional(self, node: ast.IfExp, text: Text, scope: Scope, expected: ValueType | None) -> Expression:
        inner = without_faults(scope)
        condition, then, otherwise = collect(
            [
                lambda: self.boolean(node.test, text, inner),
                lambda: self.expression(node.body, text, inner, expected),
                lambda: self.expression(node.orelse, text, inner, expected),
            ]
        )
        span = text.span(node)
        for side in (then, otherwise):
            self.accept(side, side.type)
        joined = _joined(then.type, otherwise.type)
        if joined is None:
            message = f"one side is {describe(then.type)}, the other {describe(otherwise.type)}"
            self.fail(Code.TYPE_MISMATCH, message, span)
        return Conditional(condition, then, otherwise, joined, span)

    # -- comparisons ----------------------------------------------------------------------------------------------

    def _compare(self, node: ast.Compare, text: Text, scope: Scope) -> Expression:
        sides = [node.left, *node.comparators]
        scope = without_faults(scope)
        parts = collect(
            [
                partial(self._comparison, sides[position], op, sides[position + 1], text, scope)
                for position, op in enumerate(node.ops)
            ]
        )
        return parts[0] if len(parts) == 1 else And(tuple(parts), text.span(node))

    def _comparison(self, left: ast.expr, op: ast.cmpop, right: ast.expr, text: Text, scope: Scope) -> Expression:
        span = text.span(left).joined(text.span(right))
        if isinstance(op, ast.In | ast.NotIn):
            member = self._membership(left, right, span, text, scope)
            return member if isinstance(op, ast.In) else Not(member, span)
        operator = _COMPARISONS.get(type(op))
        if operator is None:
            sign = "==" if isinstance(op, ast.Is) else "!="
            none = isinstance(right, ast.Constant) and right.value is None
            help_text = f"write `{sign} None`" if none else f"write `{sign}`"
            self.fail(Code.NOT_IN_LANGUAGE, "`is` is not part of the language", span, help=help_text)
        first, second = self._both(left, right, text, scope)
        if not same_kind(first.type, second.type):
            message = f"{describe(first.type)} is compared with {describe(second.type)}"
            others = [side.type for side in (first, second) if not may_be_none(side.type)]
            compared_with_none = others and (isinstance(first.type, NoneType) or isinstance(second.type, NoneType))
            help_text = f"only a type `{others[0]}?` has it" if compared_with_none else ""
            self.fail(Code.TYPE_MISMATCH, message, span, help=help_text)
        if operator not in {"==", "!="}:
            for side in (first, second):
                if kind_of(side.type) != "integer":
                    message = f"`{operator}` needs an order, and this is {describe(side.type)}"
                    self.fail(Code.NOT_ORDERED, message, span, help="list the values that are meant: `x in {a, b}`")
            first, second = self.given(first), self.given(second)
        self._check_counters(operator, first, second, span)
        return Comparison(operator, first, second, span)

    def _both(self, left: ast.expr, right: ast.expr, text: Text, scope: Scope) -> tuple[Expression, Expression]:
        """Elaborate two operands of one kind: the side that is not a bare literal tells what the other must be."""
        open_left, open_right = (_is_open(side) or self._may_be_literal(side, scope) for side in (left, right))
        if open_left and not open_right:
            second = self.expression(right, text, scope, None)
            return self.expression(left, text, scope, second.type), second
        try:
            first = self.expression(left, text, scope, None)
        except Failed:
            if not open_right:
                self.expression(right, text, scope, None)
            raise
        return first, self.expression(right, text, scope, first.type)

    def _may_be_literal(self, node: ast.expr, scope: Scope) -> bool:
        if not isinstance(node, ast.Name) or node.id in scope.locals or node.id in scope.arguments:
            return False
        if self.declarations.enums_with(node.id):
            return True
        # A misspelt one: what it is compared with tells which enumeration was meant.
        volatile = scope.process.volatile if scope.process else {}
        return not any(
            node.id in names
            for names in (
                volatile,
                self.declarations.shared,
                self.declarations.definitions,
                self.declarations.parameters,
                ("self",),
            )
        )

    def _membership(self, left: ast.expr, right: ast.expr, span: Span, text: Text, scope: Scope) -> Expression:
        if isinstance(right, ast.Name) and right.id in (*self.declarations.types, *self.declarations.processes):
            return self._of_type(left, right, span, text, scope)
        if self._may_be_set(right, scope):
            return self._set_membership(left, right, span, text, scope)
        if not isinstance(right, ast.Set):
            message = "after `in` stands a set in braces or the name of a type"
            self.fail(Code.NOT_IN_LANGUAGE, message, text.span(right), help="write `x in {a, b}`")
        item = self.expression(left, text, scope, None)
        elements = collect([partial(self._element, element, item, text, scope) for element in right.elts])
        return Membership(item, tuple(elements), span)

    def _element(self, node: ast.expr, item: Expression, text: Text, scope: Scope) -> Expression:
        element = self.expression(node, text, scope, item.type)
        if not same_kind(element.type, item.type):
            message = f"{describe(item.type)} is looked for among other things: this is {describe(element.type)}"
            self.fail(Code.TYPE_MISMATCH, message, element.span)
        self._check_counters("==", item, element, element.span)
        return element

    def _of_type(self, left: ast.expr, right: ast.Name, span: Span, text: Text, scope: Scope) -> Expression:
        """Elaborate `x in T`."""
        domain = self.value_type(right, text)
        item = self.accept(self.expression(left, text, scope, domain), domain)
        if isinstance(domain, RangeType) and domain.low is not None and domain.high is not None:
            given = self.given(item)
            above = Comparison(">=", given, domain.low, span)
            bounds = (above, Comparison("<=", given, domain.high, span))
            there = (Comparison("!=", item, Constant(None, NONE, span), span),) if given is not item else ()
            return And((*there, *bounds), span)
        element = LocalValue("∈", domain, span)
        return Quantifier("any", "∈", domain, None, Comparison("==", item, element, span), BOOL, span)

    def _check_counters(self, operator: ComparisonOperator, left: Expression, right: Expression, span: Span) -> None:
        """Refuse a comparison that asks of a counter what it cannot tell, or keep it until the parameters are fixed."""
        if isinstance(right.type, CounterType) and not isinstance(left.type, CounterType):
            operator, left, right = FLIPPED[operator], right, left
        if not isinstance(left.type, CounterType):
            return
        if isinstance(right.type, CounterType):
            if operator not in {"==", "!="} or left.type != right.type:
                message = "two counters cannot be compared: each stops counting at its end"
                self.fail(Code.COUNTER_COMPARED_ABOVE, message, span, help="compare each with a number")
            return
        if not is_constant(right):
            message = "a counter is compared with something that changes during a run, perhaps beyond its end"
            self.fail(Code.COUNTER_COMPARED_ABOVE, message, right.span, help="compare it with numbers or parameters")
        limit = left.type.limit
        if not (isinstance(right, Constant) and isinstance(limit, Constant)):
            self.findings.comparisons.append(CounterComparison(operator, limit, right, span))
            return
        threshold, most = whole(constant_value(right, {})), whole(constant_value(limit, {}))
        if compares_above(operator, threshold, most):
            help_text = f"declare `counter {threshold + (operator in {'<=', '>'})}`"
            self.fail(Code.COUNTER_COMPARED_ABOVE, above_message(operator, threshold, most), span, help=help_text)

    # -- sets -----------------------------------------------------------------------------------------------------

    def set_of(self, elements: tuple[Expression, ...], expected: SetType, span: Span) -> Expression:
        """Return a set of elements that must be of its type."""
        return SetOf(tuple(self.require(element, expected.element) for element in elements), expected, span)

    def _set(self, nodes: list[ast.expr], expected: SetType, span: Span, text: Text, scope: Scope) -> Expression:
        inner = without_faults(scope)
        elements = collect([partial(self.expression, node, text, inner, expected.element) for node in nodes])
        return self.set_of(tuple(elements), expected, span)

    def _set_operation(
        self, node: ast.BinOp, operator: Literal["|", "&"], text: Text, scope: Scope, expected: ValueType | None
    ) -> Expression:
        """Elaborate `s | t` and `s & t`; a set in braces takes its type from what is expected, or the other side."""
        inner = without_faults(scope)
        if isinstance(expected, SetType):
            sides = collect([partial(self.expression, side, text, inner, expected) for side in (node.left, node.right)])
        else:
            sides = list(self._both(node.left, node.right, text, inner))
        for side in sides:
            if not isinstance(side.type, SetType):
                word = "or" if operator == "|" else "and"
                help_text = f"write `{word}`" if kind_of(side.type) == "bool" else ""
                message = f"`{operator}` joins sets, and this is {describe(side.type)}"
                self.fail(Code.TYPE_MISMATCH, message, side.span, help=help_text)
        left, right = sides
        self.accept(right, left.type)
        assert isinstance(left.type, SetType)
        return SetOperation(operator, left, right, left.type, text.span(node))

    def _may_be_set(self, node: ast.expr, scope: Scope) -> bool:
        """Tell whether what stands behind `in` can be an expression whose value is a set."""
        if isinstance(node, ast.Name):
            declarations = self.declarations
            own = scope.process.volatile if scope.process else {}
            known = (scope.locals, scope.arguments, own, declarations.shared, declarations.definitions)
            return any(node.id in names for names in known)
        return isinstance(node, ast.Attribute | ast.Subscript | ast.Call | ast.BinOp | ast.IfExp)

    def _set_membership(self, left: ast.expr, right: ast.expr, span: Span, text: Text, scope: Scope) -> Expression:
        searched = self.expression(right, text, scope, None)
        if not isinstance(searched.type, SetType):
            message = f"after `in` stands a set or the name of a type, and this is {describe(searched.type)}"
            self.fail(Code.NOT_IN_LANGUAGE, message, searched.span, help="write `x in {a, b}`")
        element = searched.type.element
        item = self.accept(self.expression(left, text, scope, element), OptionalType(element))
        return SetMembership(item, searched, span)

    # -- types ----------------------------------------------------------------------------------------------------

    def in_constant(
        self, scalar: Scalar, expected: ValueType | None, start: int = 0, end: int | None = None
    ) -> Expression:
        """Elaborate what must be known before a run: numbers, literals, parameters and what is computed of them."""
        result = self.from_scalar(scalar, Scope(Place.CONSTANT), expected, start, end)
        if not is_constant(result):
            message = "this must be known before a run: numbers, literals, parameters, and what `+ - *` make of them"
            self.fail(Code.NOT_CONSTANT, message, scalar.span)
        return result


def _is_open(node: ast.expr) -> bool:
    """Tell whether what stands around a node tells its type: a set in braces, `set()`, or `None`."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr | ast.BitAnd):
        return _is_open(node.left) and _is_open(node.right)
    call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "set"
    return call or isinstance(node, ast.Set) or (isinstance(node, ast.Constant) and node.value is None)


def _joined(left: ValueType, right: ValueType) -> ValueType | None:
    """Return a type that holds the values of two, as far as its kind goes; None where there is none."""
    if isinstance(left, NoneType) or isinstance(right, NoneType):
        other = without_none(right if isinstance(left, NoneType) else left)
        if isinstance(other, NoneType):
            return NONE
        other = INT if isinstance(other, NatType) else other
        return None if isinstance(other, SetType | CounterType | OptionalType) else OptionalType(other)
    if not same_kind(left, right):
        return None
    first, second = without_none(left), without_none(right)
    inner = first if first == second or kind_of(first) != "integer" else INT
    if not may_be_none(left) and not may_be_none(right):
        return inner
    assert not isinstance(inner, SetType | CounterType | NatType | OptionalType | NoneType)
    return OptionalType(inner)

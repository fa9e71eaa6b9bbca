"""From the text of an expression to a typed tree: parse with `ast`, resolve names, check kinds.

Nothing is executed. A failure is reported once and raised as `Failed`; siblings are still elaborated, so that all
errors of an expression come in one run.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import NoReturn, TypeVar

from model import limits
from model.diagnostics import Code, Diagnostics, Note, did_you_mean
from model.expressions import (
    And,
    Arithmetic,
    ArithmeticOperator,
    AtLabel,
    Comparison,
    ComparisonOperator,
    Conditional,
    Constant,
    Expression,
    Extremum,
    FaultDraw,
    Fresh,
    Implies,
    LocalValue,
    Membership,
    Next,
    Not,
    Or,
    ParameterValue,
    Quantifier,
    SelfValue,
    Stopped,
    TableColumn,
    VariableValue,
)
from model.scope import Declarations, Definition, Place, ProcessHeader, Scope
from model.source import Span
from model.specification import Role, Variable
from model.types import BOOL, INT, BoolType, EnumType, ProcessType, RangeType, ValueType, kind_of, same_kind
from model.yamltree import Scalar

T = TypeVar("T")

COMPARISONS: dict[type[ast.cmpop], ComparisonOperator] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
ARITHMETIC: dict[type[ast.operator], ArithmeticOperator] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}
CALLS = ("all", "any", "count", "implies", "min", "max", "next", "fresh", "fault", "stopped")


class Failed(Exception):
    """An error has been reported; give up this piece and go on with the next."""


def collect(items: Iterable[Callable[[], T]]) -> list[T]:
    """Run every thunk, even after one has failed; raise `Failed` at the end if any did."""
    results: list[T] = []
    failed = False
    for item in items:
        try:
            results.append(item())
        except Failed:
            failed = True
    if failed:
        raise Failed
    return results


class Text:
    """A piece of YAML text that is read as Python syntax, and the way back from its nodes to the file."""

    def __init__(self, scalar: Scalar, *, wrapped: bool) -> None:
        self.scalar = scalar
        self.wrapped = wrapped
        """Whether the text was parsed between parentheses, which shift its first line by one column."""

    def span(self, node: ast.AST) -> Span:
        """Return where in the file a syntax node stands."""
        line: int = getattr(node, "lineno", 1)
        column: int = getattr(node, "col_offset", 0)
        end_line: int = getattr(node, "end_lineno", None) or line
        end_column: int = getattr(node, "end_col_offset", None) or column
        shift = 1 if self.wrapped else 0
        if line == 1:
            column -= shift
        if end_line == 1:
            end_column -= shift
        return self.scalar.locate(line, max(column, 0), end_line, max(end_column, 0))


def parse(scalar: Scalar, mode: str, diagnostics: Diagnostics, start: int = 0, end: int | None = None) -> tuple[ast.Module | ast.Expression, Text]:
    """Parse the text of a scalar, or its characters `start` to `end`, as an expression (`eval`) or as statements (`exec`).

    Raises:
        Failed: the text is not in the syntax of Python, or is nested too deeply; reported.
    """
    text = Text(scalar, wrapped=mode == "eval")
    # Blanks in the place of what comes before keep the columns of a part those of the whole.
    source = f"({' ' * start}{scalar.text[start:end]}\n)" if mode == "eval" else scalar.text
    if mode == "eval" and scalar.kind == "bool":
        source = scalar.text.capitalize()
        text.wrapped = False
    if not scalar.text.strip():
        diagnostics.report(Code.EMPTY_TEXT, f"{'an expression' if mode == 'eval' else 'a step'} must not be empty", scalar.span)
        raise Failed
    try:
        tree: ast.Module | ast.Expression = ast.parse(source, mode=mode)  # type: ignore[assignment]
    except SyntaxError as error:
        line = max(error.lineno or 1, 1)
        column = max((error.offset or 1) - 1 - (1 if text.wrapped and line == 1 else 0), 0)
        lines = scalar.text.splitlines()
        if line > len(lines):
            line, column = len(lines), len(lines[-1])
        span = scalar.locate(line, column, line, column + 1)
        message = (error.msg or "not an expression").removeprefix("invalid syntax. ")
        diagnostics.report(Code.SYNTAX, f"this cannot be read: {message}", span, help=_syntax_help(scalar.text))
        raise Failed from None
    except (RecursionError, MemoryError, ValueError):
        diagnostics.report(Code.LIMIT, "this text is nested too deeply to be read", scalar.span)
        raise Failed from None
    return tree, text


def _syntax_help(text: str) -> str:
    for wrong, right in (("&&", "and"), ("||", "or"), ("..", "a named type (a range cannot stand in an expression)")):
        if wrong in text:
            return f"instead of `{wrong}` write {right}" if wrong == ".." else f"write `{right}` instead of `{wrong}`"
    return ""


class ExpressionElaborator:
    """Elaborates expressions against the declarations of one specification."""

    def __init__(self, declarations: Declarations, diagnostics: Diagnostics) -> None:
        self.declarations = declarations
        self.diagnostics = diagnostics
        self.table_uses: set[tuple[str, str | None]] = set()
        """Tables consulted so far, with the process in whose step."""
        self.used_definitions: set[str] = set()
        """Definitions substituted so far."""
        self._nodes = 0
        self._depth = 0

    # -- entry points ---------------------------------------------------------------------------------------------

    def from_scalar(self, scalar: Scalar, scope: Scope, expected: ValueType | None, start: int = 0, end: int | None = None) -> Expression:
        """Elaborate a YAML scalar, or its characters `start` to `end`.

        Raises:
            Failed: something is wrong with it; reported.
        """
        tree, text = parse(scalar, "eval", self.diagnostics, start, end)
        assert isinstance(tree, ast.Expression)
        self._nodes = 0
        result = self.expression(tree.body, text, scope, expected)
        if expected is not None:
            self.require(result, expected)
        return result

    def require(self, expression: Expression, expected: ValueType, what: str = "") -> Expression:
        """Return the expression if its kind is the expected one; report and raise `Failed` if not."""
        if not same_kind(expression.type, expected):
            self.fail(
                Code.TYPE_MISMATCH,
                f"expected {describe(expected)}{what}, found {describe(expression.type)}",
                expression.span,
                label=f"this is {describe(expression.type)}",
            )
        return expression

    def fail(self, code: Code, message: str, span: Span, *, label: str = "", notes: tuple[Note, ...] = (), help: str = "") -> NoReturn:  # noqa: A002 - the word of the diagnostics
        """Report an error and give up the piece at hand."""
        self.diagnostics.report(code, message, span, label=label, notes=notes, help=help)
        raise Failed

    # -- the walk -------------------------------------------------------------------------------------------------

    def expression(self, node: ast.expr, text: Text, scope: Scope, expected: ValueType | None) -> Expression:
        """Elaborate one syntax node; `expected` only guides the reading of literals."""
        self._nodes += 1
        if self._nodes > limits.EXPRESSION_NODES_MAX:
            self.fail(Code.LIMIT, f"an expression has more than {limits.EXPRESSION_NODES_MAX} nodes once its definitions are substituted", text.scalar.span)
        self._depth += 1
        try:
            if self._depth > limits.EXPRESSION_DEPTH_MAX:
                self.fail(Code.LIMIT, f"an expression is nested more than {limits.EXPRESSION_DEPTH_MAX} levels deep", text.span(node))
            return self._dispatch(node, text, scope, expected)
        finally:
            self._depth -= 1

    def _dispatch(self, node: ast.expr, text: Text, scope: Scope, expected: ValueType | None) -> Expression:
        match node:
            case ast.Constant():
                return self._constant(node, text)
            case ast.Name():
                return self.name(node, text, scope, expected)
            case ast.Attribute():
                return self._attribute(node, text, scope)
            case ast.Subscript():
                return self._subscript(node, text, scope)
            case ast.Call():
                return self._call(node, text, scope, expected)
            case ast.BoolOp():
                return self._bool_op(node, text, scope)
            case ast.UnaryOp():
                return self._unary(node, text, scope)
            case ast.BinOp():
                return self._binary(node, text, scope)
            case ast.Compare():
                return self._compare(node, text, scope)
            case ast.IfExp():
                return self._conditional(node, text, scope, expected)
            case _:
                self.fail(Code.NOT_IN_LANGUAGE, f"{_python_name(node)} is not part of the language", text.span(node))

    def _constant(self, node: ast.Constant, text: Text) -> Expression:
        span = text.span(node)
        match node.value:
            case bool():
                return Constant(node.value, BOOL, span)
            case int():
                if abs(node.value) > limits.INTEGER_MAX:
                    self.fail(Code.LIMIT, f"a number is larger than {limits.INTEGER_MAX}", span)
                return Constant(node.value, INT, span)
            case str():
                self.fail(Code.NOT_IN_LANGUAGE, "a literal is written without quotes", span, help=f"write {node.value}")
            case _:
                self.fail(Code.NOT_IN_LANGUAGE, f"{node.value!r} is not part of the language", span)

    # -- names ----------------------------------------------------------------------------------------------------

    def name(self, node: ast.Name, text: Text, scope: Scope, expected: ValueType | None) -> Expression:
        """Resolve a bare name; exactly one reading is allowed (language, point 16)."""
        name, span = node.id, text.span(node)
        readings = self._readings(name, span, scope, expected)
        if not readings:
            self._unknown(name, span, scope, expected)
        if len(readings) > 1:
            ways = ", ".join(f"`{qualified}`" for qualified, _ in readings)
            self.fail(Code.AMBIGUOUS_NAME, f"`{name}` has {len(readings)} readings here", span, help=f"write one of {ways}")
        return readings[0][1]()

    def _readings(self, name: str, span: Span, scope: Scope, expected: ValueType | None) -> list[tuple[str, Callable[[], Expression]]]:
        found: list[tuple[str, Callable[[], Expression]]] = []
        if name in scope.arguments:
            argument = scope.arguments[name]
            found.append((name, lambda: argument(expected)))
        if name in scope.locals:
            local_type = scope.locals[name]
            found.append((f"{name} (the local, renamed)", lambda: LocalValue(name, local_type, span)))
        if name == "self" and scope.process is not None and scope.place is not Place.CONSTANT:
            own = scope.process
            found.append(("self", lambda: SelfValue(own.type, span)))
        if scope.place is Place.CONSTANT:
            return found + self._constant_readings(name, span, expected)
        if scope.process is not None and name in scope.process.volatile:
            process = scope.process
            found.append((f"{process.name}[self].{name}", lambda: self._own(process, name, span)))
        for variable in self.declarations.shared.get(name, ()):
            found.append((variable.key, lambda v=variable: self._shared(v, (), span, scope)))  # type: ignore[misc]
        return found + self._constant_readings(name, span, expected, scope)

    def _constant_readings(self, name: str, span: Span, expected: ValueType | None, scope: Scope | None = None) -> list[tuple[str, Callable[[], Expression]]]:
        found: list[tuple[str, Callable[[], Expression]]] = []
        declarations = self.declarations
        if name in declarations.parameters:
            parameter = declarations.parameters[name]
            found.append((f"parameters.{name}", lambda: ParameterValue(name, parameter.type, span)))
        if scope is not None and name in declarations.definitions:
            definition = declarations.definitions[name]
            found.append((f"{name} (the definition, renamed)", lambda: self._expand(definition, [], span, scope, expected)))
        enums = declarations.enums_with(name)
        if isinstance(expected, EnumType):
            enums = [enum for enum in enums if enum.name == expected.name]
        elif expected is not None and found:
            enums = []
        for enum in enums:
            found.append((f"{enum.name}.{name}", lambda e=enum: Constant(name, e, span)))  # type: ignore[misc]
        return found

    def _unknown(self, name: str, span: Span, scope: Scope, expected: ValueType | None) -> NoReturn:
        declarations = self.declarations
        if isinstance(expected, EnumType) and (others := declarations.enums_with(name)):
            names = " and ".join(f"`{enum.name}`" for enum in others)
            self.fail(Code.TYPE_MISMATCH, f"`{name}` is a literal of {names}, not of `{expected.name}`", span, help=did_you_mean(name, expected.literals))
        owners = [p.name for p in declarations.processes.values() if name in p.volatile]
        if owners:
            self.fail(Code.NOT_VISIBLE, f"`{name}` is volatile memory of `{owners[0]}` and cannot be read by its bare name here", span,
                      help=f"in properties, for ghosts and in environment steps write `{owners[0]}[i].{name}`")
        if name in {"true", "false"}:
            self.fail(Code.UNKNOWN_NAME, f"`{name}` is not a name of the language", span, help=f"write {name.capitalize()}")
        if scope.place is Place.CONSTANT and name in declarations.shared:
            self.fail(Code.NOT_CONSTANT, f"`{name}` changes during a run; only parameters may be read here", span)
        candidates = expected.literals if isinstance(expected, EnumType) else ()
        names_here = [*scope.locals, *scope.arguments, *candidates, *declarations.value_names()]
        what = "parameter or literal" if scope.place is Place.CONSTANT else "variable, parameter, definition or literal"
        self.fail(Code.UNKNOWN_NAME, f"no {what} is named `{name}`", span, help=did_you_mean(name, names_here))

    def _own(self, process: ProcessHeader, name: str, span: Span, indices: tuple[Expression, ...] = ()) -> Expression:
        return self._variable(process.volatile[name], indices, SelfValue(process.type, span), span)

    def _shared(self, variable: Variable, indices: tuple[Expression, ...], span: Span, scope: Scope) -> Expression:
        if variable.role is Role.GHOST and not scope.sees_ghosts:
            self.fail(Code.GHOST_READ, f"the ghost `{variable.name}` is history; behaviour may not read it", span,
                      help="ghosts may be read in properties, on the right-hand side of ghosts, and in an `if` whose branches assign only ghosts")
        return self._variable(variable, indices, None, span)

    def _variable(self, variable: Variable, indices: tuple[Expression, ...], instance: Expression | None, span: Span) -> Expression:
        if len(indices) != len(variable.per):
            wanted = ", ".join(str(t) for t in variable.per)
            message = (f"`{variable.name}` is an array over {wanted}: it needs an index" if variable.per and not indices
                       else f"`{variable.name}` takes {len(variable.per)} index(es), {len(indices)} given")
            self.fail(Code.ARRAY_INDEX, message, span)
        for index, value_type in zip(indices, variable.per, strict=True):
            self.require(index, value_type, " as an index")
        return VariableValue(variable.key, indices, instance, variable.type, span)

    def _expand(self, definition: Definition, arguments: list[Callable[[ValueType | None], Expression]], span: Span, scope: Scope, expected: ValueType | None) -> Expression:
        self.used_definitions.add(definition.name)
        if definition.name in scope.active_definitions:
            ring = " → ".join([*scope.active_definitions, definition.name])
            self.fail(Code.RECURSIVE_DEFINITION, f"the definition `{definition.name}` uses itself ({ring})", span)
        if len(arguments) != len(definition.parameters):
            self.fail(Code.ARGUMENTS, f"`{definition.name}` takes {len(definition.parameters)} argument(s), {len(arguments)} given", span)
        tree, text = parse(definition.text, "eval", self.diagnostics)
        assert isinstance(tree, ast.Expression)
        inner = replace(scope, locals={}, arguments=dict(zip(definition.parameters, arguments, strict=True)),
                        fault_allowed=False, active_definitions=(*scope.active_definitions, definition.name))
        return self.expression(tree.body, text, inner, expected)

    # -- a.b, a[i], a[i].b ----------------------------------------------------------------------------------------

    def _attribute(self, node: ast.Attribute, text: Text, scope: Scope) -> Expression:
        span = text.span(node)
        if isinstance(node.value, ast.Subscript):
            return self._process_member(node, text, scope)
        if not isinstance(node.value, ast.Name):
            self.fail(Code.NOT_IN_LANGUAGE, "only a store, type, table or process instance has members", span)
        owner, member = node.value.id, node.attr
        declarations = self.declarations
        if owner in declarations.tables:
            return self._table_column(owner, member, span, scope)
        if owner in declarations.types:
            return self._qualified_literal(owner, member, span)
        if owner in declarations.stores or owner == "ghost":
            return self._shared(self._store_member(owner, member, span), (), span, scope)
        if owner == "parameters":
            if member not in declarations.parameters:
                self.fail(Code.UNKNOWN_PARAMETER, f"no parameter is named `{member}`", span, help=did_you_mean(member, declarations.parameters))
            return ParameterValue(member, declarations.parameters[member].type, span)
        if owner in declarations.processes:
            self.fail(Code.ARRAY_INDEX, f"say which instance: `{owner}[i].{member}`", span)
        candidates = [*declarations.tables, *declarations.types, *declarations.stores, *declarations.processes]
        self.fail(Code.UNKNOWN_NAME, f"no store, type, table or process is named `{owner}`", text.span(node.value), help=did_you_mean(owner, candidates))

    def _table_column(self, table: str, column: str, span: Span, scope: Scope) -> Expression:
        header = self.declarations.tables[table]
        if scope.place in (Place.CONSTANT, Place.TABLE):
            self.fail(Code.NOT_CONSTANT, f"the table `{table}` cannot be consulted here", span, help="put what both need into a definition")
        if column not in header.columns:
            self.fail(Code.UNKNOWN_COLUMN, f"the table `{table}` has no column `{column}`", span, help=did_you_mean(column, header.columns))
        process = scope.process.name if scope.process is not None else None
        self.table_uses.add((table, process))
        return TableColumn(table, column, process, header.columns[column], span)

    def _qualified_literal(self, owner: str, member: str, span: Span) -> Expression:
        value_type = self.declarations.types[owner]
        if not isinstance(value_type, EnumType) or member not in value_type.literals:
            known = value_type.literals if isinstance(value_type, EnumType) else ()
            self.fail(Code.UNKNOWN_LITERAL, f"the type `{owner}` has no literal `{member}`", span, help=did_you_mean(member, known))
        return Constant(member, value_type, span)

    def _store_member(self, owner: str, member: str, span: Span) -> Variable:
        for variable in self.declarations.shared.get(member, ()):
            if variable.owner == owner:
                return variable
        known = [v.name for group in self.declarations.shared.values() for v in group if v.owner == owner]
        where = "no ghost" if owner == "ghost" else f"the store `{owner}` has no variable"
        self.fail(Code.UNKNOWN_MEMBER, f"{where} `{member}`", span, help=did_you_mean(member, known))

    def _instance(self, node: ast.Subscript, text: Text, scope: Scope) -> tuple[ProcessHeader, Expression]:
        """Elaborate `p[i]`."""
        if not isinstance(node.value, ast.Name) or node.value.id not in self.declarations.processes:
            self.fail(Code.UNKNOWN_PROCESS, "only a process instance `p[i]` has members", text.span(node.value),
                      help=did_you_mean(getattr(node.value, "id", ""), self.declarations.processes))
        process = self.declarations.processes[node.value.id]
        index = self.require(self.expression(node.slice, text, scope, process.type), process.type, " as the instance")
        own = isinstance(index, SelfValue) and scope.process is process
        if not own and not scope.sees_processes:
            self.fail(Code.NOT_VISIBLE, f"a step of a process cannot see the memory of `{process.name}`", text.span(node),
                      help="only properties, ghosts and environment steps may")
        return process, index

    def _process_member(self, node: ast.Attribute, text: Text, scope: Scope) -> Expression:
        assert isinstance(node.value, ast.Subscript)
        process, index = self._instance(node.value, text, scope)
        span = text.span(node)
        if node.attr not in process.volatile:
            self.fail(Code.UNKNOWN_MEMBER, f"`{process.name}` has no volatile variable `{node.attr}`", span, help=did_you_mean(node.attr, process.volatile))
        return self._variable(process.volatile[node.attr], (), index, span)

    def _subscript(self, node: ast.Subscript, text: Text, scope: Scope) -> Expression:
        span = text.span(node)
        raw = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        variable, instance = self.array(node.value, text, scope)
        if len(raw) != len(variable.per):
            self.fail(Code.ARRAY_INDEX, f"`{variable.name}` takes {len(variable.per)} index(es), {len(raw)} given", span)
        indices = tuple(collect([lambda n=n, t=t: self.expression(n, text, scope, t) for n, t in zip(raw, variable.per, strict=True)]))  # type: ignore[misc]
        if variable.role is Role.GHOST and not scope.sees_ghosts:
            self._shared(variable, indices, span, scope)
        return self._variable(variable, indices, instance, span)

    def array(self, node: ast.expr, text: Text, scope: Scope) -> tuple[Variable, Expression | None]:
        """Find the variable before an index, and whose it is."""
        span = text.span(node)
        if isinstance(node, ast.Attribute):
            if isinstance(node.value, ast.Subscript):
                process, index = self._instance(node.value, text, scope)
                if node.attr in process.volatile:
                    return process.volatile[node.attr], index
                self.fail(Code.UNKNOWN_MEMBER, f"`{process.name}` has no volatile variable `{node.attr}`", span, help=did_you_mean(node.attr, process.volatile))
            if isinstance(node.value, ast.Name):
                return self._store_member(node.value.id, node.attr, span), None
        if isinstance(node, ast.Name):
            name = node.id
            found: list[tuple[Variable, Expression | None]] = [(v, None) for v in self.declarations.shared.get(name, ())]
            if scope.process is not None and name in scope.process.volatile:
                found.append((scope.process.volatile[name], SelfValue(scope.process.type, span)))
            if len(found) == 1:
                return found[0]
            if found:
                ways = ", ".join(f"`{v.key}`" for v, _ in found)
                self.fail(Code.AMBIGUOUS_NAME, f"`{name}` has {len(found)} readings here", span, help=f"write one of {ways}")
            if name in self.declarations.processes:
                self.fail(Code.ARRAY_INDEX, f"`{name}[…]` is an instance; name what you want of it", span, help=f"write `{name}[i].variable` or `{name}[i].at(label)`")
            self._unknown(name, span, scope, None)
        self.fail(Code.NOT_IN_LANGUAGE, "only a variable can be indexed", span)

    # -- operators ------------------------------------------------------------------------------------------------

    def _bool_op(self, node: ast.BoolOp, text: Text, scope: Scope) -> Expression:
        items = tuple(collect([lambda n=n: self.boolean(n, text, scope) for n in node.values]))  # type: ignore[misc]
        span = text.span(node)
        return And(items, span) if isinstance(node.op, ast.And) else Or(items, span)

    def boolean(self, node: ast.expr, text: Text, scope: Scope) -> Expression:
        """Elaborate a node that must be a truth value."""
        return self.require(self.expression(node, text, scope, BOOL), BOOL)

    def integer(self, node: ast.expr, text: Text, scope: Scope) -> Expression:
        """Elaborate a node that must be an integer; it holds no fault draw."""
        return self.require(self.expression(node, text, replace(scope, fault_allowed=False), INT), INT)

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

    def _binary(self, node: ast.BinOp, text: Text, scope: Scope) -> Expression:
        span = text.span(node)
        operator = ARITHMETIC.get(type(node.op))
        if operator is None:
            self.fail(Code.NOT_IN_LANGUAGE, "this operator is not part of the language; it has `+`, `-` and `*`", span)
        left, right = collect([lambda: self.integer(node.left, text, scope), lambda: self.integer(node.right, text, scope)])
        return Arithmetic(operator, left, right, span)

    def _compare(self, node: ast.Compare, text: Text, scope: Scope) -> Expression:
        scope = replace(scope, fault_allowed=False)
        operands = [node.left, *node.comparators]
        parts = collect([
            lambda i=i, op=op: self._comparison(operands[i], op, operands[i + 1], text, scope)  # type: ignore[misc]
            for i, op in enumerate(node.ops)
        ])
        return parts[0] if len(parts) == 1 else And(tuple(parts), text.span(node))

    def _comparison(self, left: ast.expr, op: ast.cmpop, right: ast.expr, text: Text, scope: Scope) -> Expression:
        span = text.span(left).joined(text.span(right))
        if isinstance(op, ast.In | ast.NotIn):
            member = self._membership(left, right, span, text, scope)
            return member if isinstance(op, ast.In) else Not(member, span)
        operator = COMPARISONS.get(type(op))
        if operator is None:
            self.fail(Code.NOT_IN_LANGUAGE, "`is` is not part of the language", span, help="write `==`")
        first, second = self._both(left, right, text, scope)
        if not same_kind(first.type, second.type):
            self.fail(Code.TYPE_MISMATCH, f"{describe(first.type)} is compared with {describe(second.type)}", span)
        if operator not in ("==", "!=") and kind_of(first.type) != "integer":
            self.fail(Code.TYPE_MISMATCH, f"`{operator}` compares integers; this is {describe(first.type)}", span)
        return Comparison(operator, first, second, span)

    def _both(self, left: ast.expr, right: ast.expr, text: Text, scope: Scope) -> tuple[Expression, Expression]:
        """Elaborate two operands of one kind: the side that is not a bare literal tells what the other must be."""
        if self._may_be_literal(left, scope) and not self._may_be_literal(right, scope):
            second = self.expression(right, text, scope, None)
            return self.expression(left, text, scope, second.type), second
        try:
            first = self.expression(left, text, scope, None)
        except Failed:
            if not self._may_be_literal(right, scope):
                self.expression(right, text, scope, None)
            raise
        return first, self.expression(right, text, scope, first.type)

    def _may_be_literal(self, node: ast.expr, scope: Scope) -> bool:
        if not isinstance(node, ast.Name) or node.id in scope.locals or node.id in scope.arguments:
            return False
        return bool(self.declarations.enums_with(node.id))

    def _membership(self, left: ast.expr, right: ast.expr, span: Span, text: Text, scope: Scope) -> Expression:
        if isinstance(right, ast.Name) and right.id in (*self.declarations.types, *self.declarations.processes):
            domain = self.value_type(right, text, scope)
            item = self.require(self.expression(left, text, scope, domain), domain)
            variable = LocalValue("∈", domain, span)
            if isinstance(domain, RangeType) and domain.low is not None and domain.high is not None:
                return And((Comparison(">=", item, domain.low, span), Comparison("<=", item, domain.high, span)), span)
            return Quantifier("any", "∈", domain, None, Comparison("==", item, variable, span), BOOL, span)
        if not isinstance(right, ast.Set):
            self.fail(Code.NOT_IN_LANGUAGE, "after `in` stands a set in braces or the name of a type", text.span(right), help="write `x in {a, b}`")
        item = self.expression(left, text, scope, None)
        elements = collect([lambda n=n: self.require(self.expression(n, text, scope, item.type), item.type) for n in right.elts])  # type: ignore[misc]
        return Membership(item, tuple(elements), span)

    def _conditional(self, node: ast.IfExp, text: Text, scope: Scope, expected: ValueType | None) -> Expression:
        scope = replace(scope, fault_allowed=False)
        condition, then, otherwise = collect([
            lambda: self.boolean(node.test, text, scope),
            lambda: self.expression(node.body, text, scope, expected),
            lambda: self.expression(node.orelse, text, scope, expected),
        ])
        if not same_kind(then.type, otherwise.type):
            self.fail(Code.TYPE_MISMATCH, f"one side is {describe(then.type)}, the other {describe(otherwise.type)}", text.span(node))
        value_type = then.type if then.type == otherwise.type else (INT if kind_of(then.type) == "integer" else then.type)
        return Conditional(condition, then, otherwise, value_type, text.span(node))

    # -- calls ----------------------------------------------------------------------------------------------------

    def _call(self, node: ast.Call, text: Text, scope: Scope, expected: ValueType | None) -> Expression:
        span = text.span(node)
        if node.keywords:
            self.fail(Code.NOT_IN_LANGUAGE, "arguments have no names here", span)
        if isinstance(node.func, ast.Attribute):
            return self._at_label(node, node.func, text, scope)
        if not isinstance(node.func, ast.Name):
            self.fail(Code.NOT_IN_LANGUAGE, "this cannot be called", span)
        name = node.func.id
        if name in self.declarations.definitions:
            arguments: list[Callable[[ValueType | None], Expression]] = [
                lambda wanted, n=n: self.expression(n, text, replace(scope, fault_allowed=False), wanted) for n in node.args  # type: ignore[misc]
            ]
            return self._expand(self.declarations.definitions[name], arguments, span, scope, expected)
        match name:
            case "all" | "any" | "count":
                return self._quantifier(name, node, text, replace(scope, fault_allowed=False))
            case "implies":
                first, second = self._arguments(node, 2, text)
                inner = replace(scope, fault_allowed=False)
                premise, conclusion = collect([lambda: self.boolean(first, text, inner), lambda: self.boolean(second, text, inner)])
                return Implies(premise, conclusion, ast.unparse(first), span)
            case "min" | "max":
                if len(node.args) < 2:
                    self.fail(Code.ARGUMENTS, f"`{name}` takes two or more numbers", span)
                items = collect([lambda n=n: self.integer(n, text, scope) for n in node.args])  # type: ignore[misc]
                return Extremum("min" if name == "min" else "max", tuple(items), span)
            case "next":
                return self._next(node, text, scope, expected)
            case "fresh":
                return Fresh(self.versioned_store(node, text, scope), span)
            case "fault":
                return self.fault_draw(node, text, scope)
            case "stopped" | "crashed":
                return self._life(name, node, text, scope)
            case "choose":
                self.fail(Code.CHOOSE_PLACE, "`choose` stands only as the whole right-hand side of an assignment", span)
            case _:
                help_text = did_you_mean(name, [*CALLS, *self.declarations.definitions])
                self.fail(Code.UNKNOWN_FUNCTION, f"no function or definition is named `{name}`", text.span(node.func), help=help_text)

    def _arguments(self, node: ast.Call, count: int, text: Text) -> list[ast.expr]:
        if len(node.args) != count:
            name = ast.unparse(node.func)
            self.fail(Code.ARGUMENTS, f"`{name}` takes {count} argument(s), {len(node.args)} given", text.span(node))
        return node.args

    def _quantifier(self, operator: str, node: ast.Call, text: Text, scope: Scope) -> Expression:
        span = text.span(node)
        (generator,) = self._arguments(node, 1, text)
        if not isinstance(generator, ast.GeneratorExp):
            self.fail(Code.NOT_IN_LANGUAGE, f"`{operator}` is written `{operator}(condition for x in Type)`", span)
        return self._generators(operator, generator.generators, generator.elt, text, scope, span)

    def _generators(self, operator: str, generators: list[ast.comprehension], body: ast.expr, text: Text, scope: Scope, span: Span) -> Expression:
        first, rest = generators[0], generators[1:]
        if not isinstance(first.target, ast.Name):
            self.fail(Code.NOT_IN_LANGUAGE, "one variable at a time", text.span(first.target))
        variable = first.target.id
        domain = self.value_type(first.iter, text, scope)
        inner = scope.with_local(variable, domain)
        conditions = [lambda n=n: self.boolean(n, text, inner) for n in first.ifs]  # type: ignore[misc]
        if rest and operator == "count":
            self.fail(Code.NOT_IN_LANGUAGE, "`count` goes over one variable", span)
        parts = collect([*conditions, lambda: self._generators(operator, rest, body, text, inner, span) if rest else self.boolean(body, text, inner)])
        *conjuncts, elaborated = parts
        condition = None if not conjuncts else conjuncts[0] if len(conjuncts) == 1 else And(tuple(conjuncts), span)
        kind = "all" if operator == "all" else "any" if operator == "any" else "count"
        return Quantifier(kind, variable, domain, condition, elaborated, INT if kind == "count" else BOOL, span)  # type: ignore[arg-type]

    def _next(self, node: ast.Call, text: Text, scope: Scope, expected: ValueType | None) -> Expression:
        span = text.span(node)
        if scope.place is not Place.STEP_PROPERTY:
            self.fail(Code.NEXT_PLACE, "`next` can be read only in a `step` property", span)
        if scope.inside_next:
            self.fail(Code.NEXT_NESTED, "`next` inside `next`: a step property sees one transition", span)
        (argument,) = self._arguments(node, 1, text)
        item = self.expression(argument, text, replace(scope, inside_next=True), expected)
        return Next(item, item.type, span)

    def versioned_store(self, node: ast.Call, text: Text, scope: Scope) -> str:
        """Check the argument of `read` and `fresh` and return the name of the store."""
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        (argument,) = self._arguments(node, 1, text)
        span = text.span(argument)
        if scope.place is not Place.STEP or scope.process is None or scope.process.environment:
            self.fail(Code.FRESH_PLACE, f"`{name}` belongs in a step of a process that is not an environment", text.span(node))
        if not isinstance(argument, ast.Name) or argument.id not in self.declarations.stores:
            self.fail(Code.UNKNOWN_STORE, f"`{name}` takes the name of a store", span, help=did_you_mean(ast.unparse(argument), self.declarations.stores))
        if not self.declarations.stores[argument.id]:
            self.fail(Code.UNVERSIONED_STORE, f"the store `{argument.id}` is not versioned", span, help="declare it with `versioned: true`")
        return argument.id

    def fault_draw(self, node: ast.Call, text: Text, scope: Scope) -> FaultDraw:
        """Elaborate `fault(name)`."""
        span = text.span(node)
        if not scope.fault_allowed:
            self.fail(Code.FAULT_PLACE, "`fault` stands only in the condition of an `if` or a `when`, or as a whole right-hand side", span)
        (argument,) = self._arguments(node, 1, text)
        faults = self.declarations.faults
        if not isinstance(argument, ast.Name) or argument.id not in faults:
            self.fail(Code.UNKNOWN_FAULT, f"no fault is named `{ast.unparse(argument)}`", text.span(argument), help=did_you_mean(ast.unparse(argument), faults))
        if faults[argument.id].crashes:
            self.fail(Code.CRASH_AS_FAULT, f"`{argument.id}` is a crash: it happens between steps and is not drawn in one", span)
        return FaultDraw(argument.id, span)

    def _life(self, name: str, node: ast.Call, text: Text, scope: Scope) -> Expression:
        span = text.span(node)
        if name == "crashed":
            self.fail(Code.CRASHED_NEVER, "`crashed` is never true: processes restart in the same transition in which they crash", span)
        (argument,) = self._arguments(node, 1, text)
        if not isinstance(argument, ast.Subscript):
            self.fail(Code.ARRAY_INDEX, f"`{name}` takes an instance: `{name}(p[i])`", span)
        process, index = self._instance(argument, text, scope)
        if process.environment:
            self.fail(Code.NOT_VISIBLE, f"`{process.name}` is an environment: it has no label and never stops", span)
        return Stopped(process.name, index, span)

    def _at_label(self, node: ast.Call, func: ast.Attribute, text: Text, scope: Scope) -> Expression:
        span = text.span(node)
        if func.attr != "at" or not isinstance(func.value, ast.Subscript):
            self.fail(Code.NOT_IN_LANGUAGE, "the only method is `at`, of a process instance: `p[i].at(label)`", span)
        process, index = self._instance(func.value, text, scope)
        (argument,) = self._arguments(node, 1, text)
        label = ast.unparse(argument)
        if process.environment:
            self.fail(Code.NOT_VISIBLE, f"`{process.name}` is an environment: it has no label", span)
        if label not in process.labels:
            self.fail(Code.UNKNOWN_LABEL, f"`{process.name}` has no step `{label}`", text.span(argument), help=did_you_mean(label, process.labels))
        return AtLabel(process.name, index, label, span)

    # -- types in expressions -------------------------------------------------------------------------------------

    def value_type(self, node: ast.expr, text: Text, scope: Scope) -> ValueType:
        """Resolve the name of a type (`for x in T`, `choose(T)`, `x: T = …`)."""
        span = text.span(node)
        if not isinstance(node, ast.Name):
            self.fail(Code.UNKNOWN_TYPE, "the name of a type is needed here", span, help="name a range under `types`")
        resolved = self.named_type(node.id)
        if resolved is None:
            self._unknown_type(node.id, span)
        return resolved

    def named_type(self, name: str) -> ValueType | None:
        """Return the type of that name, None if there is none."""
        declarations = self.declarations
        if name == "bool":
            return BOOL
        if name in declarations.types:
            return declarations.types[name]
        if name in declarations.processes:
            return ProcessType(name)
        return None

    def _unknown_type(self, name: str, span: Span) -> NoReturn:
        known = ["bool", *self.declarations.types, *self.declarations.processes]
        self.fail(Code.UNKNOWN_TYPE, f"no type is named `{name}`", span, help=did_you_mean(name, known))


def describe(value_type: ValueType) -> str:
    """Say the kind of a type in a sentence."""
    match value_type:
        case BoolType():
            return "a truth value"
        case EnumType(name=name):
            return f"a `{name}`"
        case _:
            return "an integer"


def _python_name(node: ast.AST) -> str:
    names = {
        "Lambda": "a lambda", "Dict": "a dictionary", "List": "a list", "Tuple": "a tuple", "ListComp": "a list comprehension",
        "SetComp": "a set comprehension", "JoinedStr": "a format string", "Await": "`await`", "Yield": "`yield`",
        "NamedExpr": "`:=`", "Starred": "`*`", "Set": "a set outside `in` and `choose`", "GeneratorExp": "a bare generator",
    }
    return names.get(type(node).__name__, f"Python's {type(node).__name__}")

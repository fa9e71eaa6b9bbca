"""From the text of a step to typed statements; expressions are left to `model.elaborate`."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace

from model import limits
from model.diagnostics import Code, Diagnostics, did_you_mean
from model.elaborate import ExpressionElaborator, Failed, Text, collect, describe, parse
from model.expressions import Arithmetic, Expression, LocalValue, VariableValue
from model.scope import Declarations, Scope
from model.specification import Role
from model.statements import Assign, Choose, Count, For, Goto, If, Read, Statement, Stop, Target, When
from model.types import BOOL, INT, CounterType, EnumType, ValueType
from model.yamltree import Scalar

STATEMENT_CALLS = ("when", "goto", "stop", "read")


class StepElaborator:
    """Elaborates the body of one step."""

    def __init__(self, expressions: ExpressionElaborator, labels: tuple[str, ...]) -> None:
        self.expressions = expressions
        self.declarations: Declarations = expressions.declarations
        self.diagnostics: Diagnostics = expressions.diagnostics
        self.labels = labels
        self._statements = 0
        self._failed_locals: set[str] = set()
        self._text: Text

    def body(self, scalar: Scalar, scope: Scope) -> tuple[Statement, ...]:
        """Elaborate a whole step.

        Raises:
            Failed: something is wrong with it; reported.
        """
        tree, self._text = parse(scalar, "exec", self.diagnostics)
        assert isinstance(tree, ast.Module)
        return self._block(tree.body, scope, 0)

    def _block(self, nodes: list[ast.stmt], scope: Scope, depth: int) -> tuple[Statement, ...]:
        if depth > limits.NESTING_MAX:
            self.expressions.fail(Code.LIMIT, f"statements are nested more than {limits.NESTING_MAX} levels deep", self._text.span(nodes[0]))
        statements: list[Statement] = []
        failed = False
        for position, node in enumerate(nodes):
            self._statements += 1
            if self._statements > limits.STATEMENTS_PER_STEP_MAX:
                self.expressions.fail(Code.LIMIT, f"a step has more than {limits.STATEMENTS_PER_STEP_MAX} statements", self._text.span(node))
            if statements and isinstance(statements[-1], Goto | Stop):
                self.diagnostics.report(Code.UNREACHABLE_STATEMENT, "no path reaches this statement", self._text.span(node),
                                        help="`goto` and `stop` end the step at once")
                raise Failed
            try:
                statement, scope = self._statement(node, scope, depth)
                if statement is not None:
                    statements.append(statement)
            except Failed:
                failed = True
                if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                    self._failed_locals.add(node.target.id)
            if position == limits.STATEMENTS_PER_STEP_MAX:
                break
        if failed:
            raise Failed
        return tuple(statements)

    def _statement(self, node: ast.stmt, scope: Scope, depth: int) -> tuple[Statement | None, Scope]:
        match node:
            case ast.Pass():
                return None, scope
            case ast.Assign():
                return self._assign(node, scope), scope
            case ast.AnnAssign():
                return self._declare(node, scope)
            case ast.AugAssign():
                return self._augmented(node, scope), scope
            case ast.If():
                return self._if(node, scope, depth), scope
            case ast.For():
                return self._for(node, scope, depth), scope
            case ast.Expr(value=ast.Call()):
                return self._call(node.value, scope), scope
            case _:
                name = type(node).__name__
                self.expressions.fail(Code.NOT_IN_LANGUAGE, f"{'an expression alone' if name == 'Expr' else f'`{name.lower()}`'} is not a statement of the language",
                                      self._text.span(node), help="a step has assignments, `if`, `for`, `pass`, `when`, `goto`, `stop` and `read`")

    # -- assignments ----------------------------------------------------------------------------------------------

    def _assign(self, node: ast.Assign, scope: Scope) -> Statement:
        if len(node.targets) != 1:
            self.expressions.fail(Code.NOT_ASSIGNABLE, "one variable at a time", self._text.span(node))
        target = self._target(node.targets[0], scope)
        if isinstance(target.type, CounterType):
            self.expressions.fail(Code.COUNTER_USE, "a counter only counts: `+=`", self._text.span(node))
        return self._assignment(target, node.value, scope, node)

    def _declare(self, node: ast.AnnAssign, scope: Scope) -> tuple[Statement, Scope]:
        span = self._text.span(node)
        if not isinstance(node.target, ast.Name):
            self.expressions.fail(Code.NOT_ASSIGNABLE, "only a local is declared in a step", span)
        if node.value is None:
            self.expressions.fail(Code.LOCAL_NOT_SET, "a local is declared together with its value", span, help=f"write `{ast.unparse(node)} = …`")
        name = node.target.id
        self._refuse_hiding(name, node.target, scope)
        value_type = self.expressions.value_type(node.annotation, self._text, scope)
        target = LocalValue(name, value_type, self._text.span(node.target))
        return self._assignment(target, node.value, scope, node), scope.with_local(name, value_type)

    def _refuse_hiding(self, name: str, node: ast.expr, scope: Scope) -> None:
        declarations = self.declarations
        own = scope.process.volatile if scope.process else {}
        for kind, names in (("a local", scope.locals), ("a variable", declarations.shared), ("volatile memory", own),
                            ("a parameter", declarations.parameters), ("a definition", declarations.definitions)):
            if name in names:
                self.expressions.fail(Code.SHADOWED_NAME, f"`{name}` is already the name of {kind}", self._text.span(node), help="choose another name")

    def _assignment(self, target: Target, value: ast.expr, scope: Scope, node: ast.stmt) -> Statement:
        span = self._text.span(node)
        inner = self._scope_for(target, scope)
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
            if value.func.id == "choose":
                return self._choose(target, value, inner, span)
            if value.func.id == "fault":
                draw = self.expressions.fault_draw(value, self._text, replace(scope, fault_allowed=True))
                self.expressions.require(draw, target.type)
                return Assign(target, draw, span)
        expression = self.expressions.expression(value, self._text, inner, target.type)
        self.expressions.require(expression, target.type, f" for `{self._text_of(target)}`")
        return Assign(target, expression, span)

    def _choose(self, target: Target, call: ast.Call, scope: Scope, span: object) -> Statement:
        assert span is not None
        where = self._text.span(call)
        if len(call.args) != 1 or call.keywords:
            self.expressions.fail(Code.ARGUMENTS, "`choose` takes a set in braces or the name of a type", where)
        argument = call.args[0]
        if isinstance(argument, ast.Set):
            elements = collect([
                lambda n=n: self.expressions.require(self.expressions.expression(n, self._text, scope, target.type), target.type)  # type: ignore[misc]
                for n in argument.elts
            ])
            return Choose(target, None, tuple(elements), where)
        domain = self.expressions.value_type(argument, self._text, scope)
        if describe(domain) != describe(target.type):
            self.expressions.fail(Code.TYPE_MISMATCH, f"`{self._text_of(target)}` is {describe(target.type)}, the choice is {describe(domain)}", where)
        return Choose(target, domain, (), where)

    def _augmented(self, node: ast.AugAssign, scope: Scope) -> Statement:
        target = self._target(node.target, scope)
        span = self._text.span(node)
        operators = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}
        operator = operators.get(type(node.op))
        if operator is None:
            self.expressions.fail(Code.NOT_IN_LANGUAGE, "this operator is not part of the language; it has `+=`, `-=` and `*=`", span)
        self.expressions.require(target, INT)
        amount = self.expressions.integer(node.value, self._text, self._scope_for(target, scope))
        if isinstance(target.type, CounterType) and isinstance(target, VariableValue):
            if operator != "+":
                self.expressions.fail(Code.COUNTER_USE, "a counter only counts: `+=`", span)
            return Count(target, amount, span)
        return Assign(target, Arithmetic(operator, target, amount, span), span)  # type: ignore[arg-type]

    def _target(self, node: ast.expr, scope: Scope) -> Target:
        span = self._text.span(node)
        writing = replace(scope, history=True)
        if isinstance(node, ast.Name):
            if node.id in self._failed_locals:
                raise Failed
            if not self._is_assignable(node.id, scope):
                self._refuse_target(node.id, node, scope)
            target = self.expressions.name(node, self._text, writing, None)
        elif isinstance(node, ast.Subscript | ast.Attribute):
            target = self.expressions.expression(node, self._text, replace(writing, locals=scope.locals), None)
        else:
            self.expressions.fail(Code.NOT_ASSIGNABLE, "only a variable can be assigned", span)
        if not isinstance(target, VariableValue | LocalValue):
            self.expressions.fail(Code.NOT_ASSIGNABLE, f"`{ast.unparse(node)}` is no variable", span)
        if isinstance(target, VariableValue) and target.instance is not None:
            if scope.process is None or not target.key.startswith(f"{scope.process.name}.") or not self._is_self(target):
                self.expressions.fail(Code.NOT_VISIBLE, "a step cannot write the memory of another instance", span)
        return target

    def _is_self(self, target: VariableValue) -> bool:
        return type(target.instance).__name__ == "SelfValue"

    def _is_assignable(self, name: str, scope: Scope) -> bool:
        own = scope.process.volatile if scope.process else {}
        return name in scope.locals or name in own or name in self.declarations.shared

    def _refuse_target(self, name: str, node: ast.expr, scope: Scope) -> None:
        declarations = self.declarations
        for kind, names in (("parameter", declarations.parameters), ("definition", declarations.definitions)):
            if name in names:
                self.expressions.fail(Code.NOT_ASSIGNABLE, f"`{name}` is a {kind} and cannot be assigned", self._text.span(node))
        own = scope.process.volatile if scope.process else {}
        known = [*scope.locals, *own, *declarations.shared]
        self.expressions.fail(Code.UNDECLARED_LOCAL, f"`{name}` is neither a variable nor a declared local", self._text.span(node),
                              help=did_you_mean(name, known) or f"declare a local with its type: `{name}: Type = …`")

    def _scope_for(self, target: Target, scope: Scope) -> Scope:
        if isinstance(target, VariableValue) and target.key.startswith("ghost."):
            return replace(scope, history=True)
        return scope

    def _text_of(self, target: Target) -> str:
        return target.name if isinstance(target, LocalValue) else target.key.split(".", 1)[1]

    # -- control --------------------------------------------------------------------------------------------------

    def _if(self, node: ast.If, scope: Scope, depth: int) -> Statement:
        only_ghosts = self._only_ghosts([*node.body, *node.orelse], scope)
        test_scope = replace(scope, fault_allowed=not only_ghosts, history=scope.history or only_ghosts)
        condition, then, otherwise = collect_parts(
            lambda: self.expressions.boolean(node.test, self._text, test_scope),
            lambda: self._block(node.body, scope, depth + 1),
            lambda: self._block(node.orelse, scope, depth + 1),
        )
        return If(condition, then, otherwise, ast.unparse(node.test), self._text.span(node.test))

    def _only_ghosts(self, nodes: Iterable[ast.stmt], scope: Scope) -> bool:
        """Tell whether the statements assign nothing but ghosts, so that a ghost may decide between them."""
        for node in nodes:
            match node:
                case ast.Pass():
                    continue
                case ast.Assign(targets=[target]) | ast.AugAssign(target=target):
                    if not self._is_ghost(target, scope):
                        return False
                case ast.If():
                    if not self._only_ghosts([*node.body, *node.orelse], scope):
                        return False
                case ast.For():
                    if not self._only_ghosts(node.body, scope):
                        return False
                case _:
                    return False
        return True

    def _is_ghost(self, target: ast.expr, scope: Scope) -> bool:
        base = target.value if isinstance(target, ast.Subscript) else target
        if isinstance(base, ast.Attribute) and isinstance(base.value, ast.Name):
            return base.value.id == "ghost"
        if not isinstance(base, ast.Name) or base.id in scope.locals:
            return False
        variables = self.declarations.shared.get(base.id, ())
        own = scope.process.volatile if scope.process else {}
        return base.id not in own and bool(variables) and all(v.role is Role.GHOST for v in variables)

    def _for(self, node: ast.For, scope: Scope, depth: int) -> Statement:
        span = self._text.span(node.target)
        if node.orelse or not isinstance(node.target, ast.Name):
            self.expressions.fail(Code.NOT_IN_LANGUAGE, "a loop is written `for x in Type:`", span)
        if not isinstance(node.iter, ast.Name):
            self.expressions.fail(Code.LOOP_OVER_NO_TYPE, "a loop goes over a type", self._text.span(node.iter), help="name the range under `types`")
        self._refuse_hiding(node.target.id, node.target, scope)
        domain = self.expressions.value_type(node.iter, self._text, scope)
        body = self._block(node.body, scope.with_local(node.target.id, domain), depth + 1)
        return For(node.target.id, domain, body, span)

    def _call(self, node: ast.Call, scope: Scope) -> Statement:
        span = self._text.span(node)
        name = node.func.id if isinstance(node.func, ast.Name) else ast.unparse(node.func)
        if name not in STATEMENT_CALLS:
            if name == "check":
                self.expressions.fail(Code.NOT_YET_SUPPORTED, "`check` is not yet supported", span)
            code = Code.STATEMENT_AS_VALUE if name in ("choose", "fault", "fresh") else Code.UNKNOWN_FUNCTION
            self.expressions.fail(code, f"`{name}` is not a statement", span, help=did_you_mean(name, STATEMENT_CALLS))
        if name in ("goto", "stop", "read") and scope.process is not None and scope.process.environment:
            self.expressions.fail(Code.NO_PROGRAM_COUNTER, f"`{name}` in an environment: its steps may happen whenever they are enabled", span)
        if name == "read":
            return Read(self.expressions.versioned_store(node, self._text, scope), span)
        wanted = 0 if name == "stop" else 1
        if len(node.args) != wanted or node.keywords:
            self.expressions.fail(Code.ARGUMENTS, f"`{name}` takes {wanted or 'no'} argument{'' if wanted == 1 else 's'}", span)
        if name == "stop":
            return Stop(span)
        if name == "when":
            return When(self.expressions.boolean(node.args[0], self._text, replace(scope, fault_allowed=True)), span)
        label = node.args[0]
        if not isinstance(label, ast.Name) or label.id not in self.labels:
            text = ast.unparse(label)
            self.expressions.fail(Code.UNKNOWN_LABEL, f"no step is named `{text}`", self._text.span(label), help=did_you_mean(text, self.labels))
        return Goto(label.id, span)


def collect_parts(condition, then, otherwise):  # type: ignore[no-untyped-def]
    """Elaborate the three parts of an `if`, all of them even after one has failed."""
    return tuple(collect([condition, then, otherwise]))


__all__ = ["BOOL", "EnumType", "Expression", "StepElaborator", "ValueType"]

"""From the text of a step to typed statements; expressions are left to `model.elaborate`."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import NoReturn

from model import limits
from model.diagnostics import Code, Diagnostics, did_you_mean
from model.elaborate import ExpressionElaborator
from model.expressions import (
    Arithmetic,
    ArithmeticOperator,
    Expression,
    LocalValue,
    SelfValue,
    SetOperation,
    VariableValue,
    Without,
)
from model.failures import Failed, collect
from model.parsing import Text, parse_statements
from model.resolve import describe
from model.scope import Declarations, Scope
from model.source import Span
from model.specification import Role
from model.statements import (
    Assign,
    Check,
    Choose,
    Count,
    For,
    Goto,
    If,
    Read,
    Statement,
    Stop,
    Target,
    When,
    always_ends,
)
from model.types import INT, CounterType, SetType, same_kind
from model.words import SET_METHODS, STATEMENT_CALLS
from model.yamlnodes import Scalar

_CHOOSE_WHERE = "a choice under a condition is written `choose(v for v in Type if condition)`"
_ARITHMETIC: dict[type[ast.operator], ArithmeticOperator] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}
_STATEMENTS = "a step has assignments, `if`, `for`, `pass`, `when`, `goto`, `stop`, `read` and `check`"
_VALUES = ("choose", "fault", "fresh")


class StepElaborator:
    """Elaborates the body of one step."""

    def __init__(self, expressions: ExpressionElaborator, labels: tuple[str, ...], *, lint: bool) -> None:
        self.expressions = expressions
        self.declarations: Declarations = expressions.declarations
        self.diagnostics: Diagnostics = expressions.diagnostics
        self.labels = labels
        self.lint = lint
        self._failed_locals: set[str] = set()
        self._text: Text

    def body(self, scalar: Scalar, scope: Scope) -> tuple[Statement, ...]:
        """Elaborate a whole step.

        Raises:
            Failed: something is wrong with it; reported.
        """
        nodes, self._text = parse_statements(scalar, self.diagnostics)
        declared = self._survey(nodes)
        self.expressions.begin()
        try:
            return self._block(nodes, replace(scope, declared=declared))
        finally:
            self.expressions.end(scalar.span)

    def _survey(self, nodes: list[ast.stmt]) -> frozenset[str]:
        """Return the locals that a body declares anywhere; refuse a body that is too large or nested too deeply.

        Iterative, as this is what makes sure that nobody after it recurses too deeply.
        """
        declared: set[str] = set()
        statements = 0
        stack = [(node, 0) for node in nodes]
        while stack:
            node, depth = stack.pop()
            statements += 1
            if depth > limits.STATEMENT_NESTING_MAX:
                most = limits.STATEMENT_NESTING_MAX
                message = f"statements are nested more than {most} levels deep, where each `elif` is one more"
                self._fail(Code.LIMIT, message, node)
            if statements > limits.STATEMENTS_PER_STEP_MAX:
                self._fail(Code.LIMIT, f"a step has more than {limits.STATEMENTS_PER_STEP_MAX} statements", node)
            match node:
                case ast.AnnAssign(target=ast.Name(id=name)):
                    declared.add(name)
                case ast.If(body=body, orelse=orelse) | ast.For(body=body, orelse=orelse):
                    stack += [(inner, depth + 1) for inner in (*body, *orelse)]
                case _:
                    continue
        return frozenset(declared)

    def _fail(self, code: Code, message: str, node: ast.AST, help_text: str = "") -> NoReturn:
        self.expressions.fail(code, message, self._text.span(node), help=help_text)

    def _block(self, nodes: list[ast.stmt], scope: Scope) -> tuple[Statement, ...]:
        statements: list[Statement] = []
        failed = False
        for node in nodes:
            if statements and always_ends(statements[-1]):
                help_text = "`goto` and `stop` end the step at once"
                self._fail(Code.UNREACHABLE_STATEMENT, "no path reaches this statement", node, help_text)
            try:
                made, scope = self._statement(node, scope)
            except Failed:
                failed = True
                if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                    self._failed_locals.add(node.target.id)
                    scope = replace(scope, arguments={**scope.arguments, node.target.id: _failed})
                continue
            statements += made
        if failed:
            raise Failed
        return tuple(statements)

    def _statement(self, node: ast.stmt, scope: Scope) -> tuple[tuple[Statement, ...], Scope]:
        match node:
            case ast.Pass():
                return (), scope
            case ast.Assign():
                return self._assign(node, scope), scope
            case ast.AnnAssign():
                return self._declare(node, scope)
            case ast.AugAssign():
                return (self._augmented(node, scope),), scope
            case ast.If():
                return (self._if(node, scope),), scope
            case ast.For():
                return (self._for(node, scope),), scope
            case ast.Expr(value=ast.Call() as call):
                return (self._call(call, scope),), scope
            case ast.Expr():
                help_text = "`x = e` assigns, `when(e)` lets only those paths go on where it is true"
                self._fail(Code.NOT_IN_LANGUAGE, "a value alone does nothing", node, help_text)
            case _:
                name = type(node).__name__.lower()
                self._fail(Code.NOT_IN_LANGUAGE, f"`{name}` is not a statement of the language", node, _STATEMENTS)

    # -- assignments ----------------------------------------------------------------------------------------------

    def _assign(self, node: ast.Assign, scope: Scope) -> tuple[Statement, ...]:
        if len(node.targets) != 1:
            self._fail(Code.NOT_ASSIGNABLE, "one variable at a time", node)
        target = self._target(node.targets[0], scope)
        if isinstance(target.type, CounterType):
            self._fail(Code.COUNTER_USE, "a counter only counts: `+=`", node)
        return self._assignment(target, node.value, scope, node)

    def _declare(self, node: ast.AnnAssign, scope: Scope) -> tuple[tuple[Statement, ...], Scope]:
        if not isinstance(node.target, ast.Name):
            self._fail(Code.NOT_ASSIGNABLE, "only a local is declared in a step", node)
        if node.value is None:
            help_text = f"write `{self._text.written(node.target)}: {self._text.written(node.annotation)} = …`"
            self._fail(Code.LOCAL_NOT_SET, "a local is declared together with its value", node, help_text)
        name = node.target.id
        span = self._text.span(node.target)
        self.expressions.refuse_hiding(name, span, scope)
        what = "a local is declared with the name of a type"
        value_type = self.expressions.value_type(node.annotation, self._text, code=Code.TYPE_SYNTAX, what=what)
        target = LocalValue(name, value_type, span)
        return self._assignment(target, node.value, scope, node), scope.with_local(name, value_type)

    def _assignment(self, target: Target, value: ast.expr, scope: Scope, node: ast.stmt) -> tuple[Statement, ...]:
        span = self._text.span(node)
        inner = self._scope_for(target, scope)
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
            if value.func.id == "choose":
                if len(value.args) == 1 and isinstance(value.args[0], ast.GeneratorExp) and not value.keywords:
                    return self._choose_where(target, value.args[0], scope, span)
                return (self._choose(target, value, scope),)
            if value.func.id == "fault":
                draw = self.expressions.fault_draw(value, self._text, replace(scope, fault_allowed=True))
                self.expressions.accept(draw, target.type)
                return (Assign(target, draw, span),)
        expression = self.expressions.expression(value, self._text, inner, target.type)
        self.expressions.accept(expression, target.type, f" for `{_name(target)}`")
        return (Assign(target, expression, span),)

    def _choose_where(
        self, target: Target, chosen: ast.GeneratorExp, scope: Scope, span: Span
    ) -> tuple[Statement, ...]:
        """Elaborate `x = choose(v for v in T if c)`: choose `v`, let the path exist only if `c`, and assign."""
        clause, *more = chosen.generators
        element = clause.target
        if more or not isinstance(element, ast.Name) or not isinstance(chosen.elt, ast.Name):
            self._fail(Code.NOT_IN_LANGUAGE, _CHOOSE_WHERE, chosen)
        if chosen.elt.id != element.id or not clause.ifs:
            self._fail(Code.NOT_IN_LANGUAGE, _CHOOSE_WHERE, chosen)
        self.expressions.refuse_hiding(element.id, self._text.span(element), scope)
        what = "`for` goes over a type here"
        domain = self.expressions.value_type(clause.iter, self._text, code=Code.LOOP_OVER_NO_TYPE, what=what)
        if not same_kind(domain, target.type):
            message = f"`{_name(target)}` is {describe(target.type)}, the choice is {describe(domain)}"
            self._fail(Code.TYPE_MISMATCH, message, chosen)
        inner = scope.with_local(element.id, domain)
        local = LocalValue(inner.locals[element.id].name, domain, self._text.span(element))
        # Which path exists is behaviour, also where what is chosen goes into a ghost.
        conditions = collect([partial(self.expressions.boolean, test, self._text, inner) for test in clause.ifs])
        whens = [When(condition, self._text.span(test)) for condition, test in zip(conditions, clause.ifs, strict=True)]
        return (Choose(local, domain, (), span), *whens, Assign(target, local, span))

    def _choose(self, target: Target, call: ast.Call, scope: Scope) -> Statement:
        where = self._text.span(call)
        if len(call.args) != 1 or call.keywords:
            self._fail(Code.ARGUMENTS, "`choose` takes a set or the name of a type", call)
        argument = call.args[0]
        if isinstance(argument, ast.Set):
            inner = self._scope_for(target, scope)
            elements = collect([partial(self._element, element, target, inner) for element in argument.elts])
            return Choose(target, None, tuple(elements), where)
        what = "`choose` takes a set or the name of a type"
        if not isinstance(argument, ast.Name) or self._is_variable(argument.id, scope):
            return self._choose_from(target, argument, scope, where)
        domain = self.expressions.value_type(argument, self._text, code=Code.ARGUMENTS, what=what)
        if not same_kind(domain, target.type):
            message = f"`{_name(target)}` is {describe(target.type)}, the choice is {describe(domain)}"
            self._fail(Code.TYPE_MISMATCH, message, call)
        return Choose(target, domain, (), where)

    def _is_variable(self, name: str, scope: Scope) -> bool:
        """Tell whether a name behind `choose` is no type, and something that may hold a set."""
        declarations = self.declarations
        if name == "bool" or name in declarations.types or name in declarations.processes:
            return False
        own = scope.process.volatile if scope.process else {}
        known = (scope.locals, scope.arguments, own, declarations.shared, declarations.definitions)
        return any(name in names for names in known)

    def _choose_from(self, target: Target, argument: ast.expr, scope: Scope, where: Span) -> Statement:
        """Elaborate `x = choose(s)` for a set that changes during a run.

        Of an empty one there is no way on, which is behaviour: history may not decide it, also for a ghost.
        """
        source = self.expressions.expression(argument, self._text, scope, None)
        if not isinstance(source.type, SetType):
            message = f"`choose` takes a set or the name of a type, and this is {describe(source.type)}"
            self.expressions.fail(Code.ARGUMENTS, message, source.span)
        if not same_kind(source.type.element, target.type):
            message = f"`{_name(target)}` is {describe(target.type)}, the choice is {describe(source.type.element)}"
            self.expressions.fail(Code.TYPE_MISMATCH, message, where)
        return Choose(target, None, (), where, source)

    def _element(self, node: ast.expr, target: Target, scope: Scope) -> Expression:
        element = self.expressions.expression(node, self._text, scope, target.type)
        return self.expressions.accept(element, target.type, f" for `{_name(target)}`")

    def _augmented(self, node: ast.AugAssign, scope: Scope) -> Statement:
        target = self._target(node.target, scope)
        span = self._text.span(node)
        operator = _ARITHMETIC.get(type(node.op))
        if operator is None:
            help_text = "it has `+=`, `-=` and `*=`"
            if isinstance(node.op, ast.BitOr | ast.BitAnd):
                sign = "|" if isinstance(node.op, ast.BitOr) else "&"
                help_text = f"{help_text}; of sets write `s = s {sign} t`, or `s.add(x)` and `s.remove(x)`"
            self._fail(Code.NOT_IN_LANGUAGE, "this operator is not part of the language", node, help_text)
        amount_scope = self._scope_for(target, scope)
        if isinstance(target.type, CounterType) and isinstance(target, VariableValue):
            if operator != "+":
                self._fail(Code.COUNTER_USE, "a counter only counts: `+=`", node)
            amount = self.expressions.integer(node.value, self._text, amount_scope)
            return Count(target, amount, span)
        before = self.expressions.require(target, INT)
        amount = self.expressions.integer(node.value, self._text, amount_scope)
        return Assign(target, Arithmetic(operator, before, amount, span), span)

    # -- what is assigned to --------------------------------------------------------------------------------------

    def _target(self, node: ast.expr, scope: Scope) -> Target:
        writing = replace(scope, target=True, history=scope.history or self._is_ghost(node, scope))
        if isinstance(node, ast.Name):
            self._refuse_target(node, scope)
            target = self.expressions.name(node, self._text, writing, None)
        elif isinstance(node, ast.Subscript | ast.Attribute):
            target = self.expressions.expression(node, self._text, writing, None)
        else:
            self._fail(Code.NOT_ASSIGNABLE, "only a variable can be assigned, one at a time", node)
        if not isinstance(target, VariableValue | LocalValue):
            self._fail(Code.NOT_ASSIGNABLE, f"`{self._text.written(node)}` is no variable", node)
        if isinstance(target, VariableValue) and target.instance is not None:
            own = scope.process is not None and target.key.startswith(f"{scope.process.name}.")
            if not own or not isinstance(target.instance, SelfValue):
                self._fail(Code.NOT_ASSIGNABLE, "a step cannot write the memory of another instance", node)
        return target

    def _refuse_target(self, node: ast.Name, scope: Scope) -> None:
        """Refuse a bare name that cannot be assigned to."""
        name = node.id
        declarations = self.declarations
        own = scope.process.volatile if scope.process else {}
        if name in self._failed_locals:
            raise Failed
        if name in scope.locals or name in own or name in declarations.shared:
            return
        if declarations.excuses(name):
            raise Failed
        for kind, names in (
            ("parameter", declarations.parameters),
            ("definition", declarations.definitions),
            ("table", declarations.tables),
            ("store", declarations.stores),
            ("type", declarations.types),
            ("process", declarations.processes),
            ("word of the language", ("self",)),
        ):
            if name in names:
                self._fail(Code.NOT_ASSIGNABLE, f"`{name}` is a {kind} and cannot be assigned", node)
        known = [*scope.locals, *own, *declarations.shared]
        help_text = did_you_mean(name, known) if len(known) > 0 else ""
        if name in scope.declared:
            help_text = f"the declaration of `{name}` is in another branch, or comes later"
        elif not help_text.startswith("did you mean"):
            help_text = f"declare a local with its type: `{name}: Type = …`"
        self._fail(Code.UNDECLARED_LOCAL, f"`{name}` is neither a variable nor a declared local", node, help_text)

    def _scope_for(self, target: Target, scope: Scope) -> Scope:
        """Return the scope of what is assigned: ghosts may be read for ghosts."""
        if isinstance(target, VariableValue) and target.key.startswith("ghost."):
            return replace(scope, history=True)
        return scope

    # -- control --------------------------------------------------------------------------------------------------

    def _if(self, node: ast.If, scope: Scope) -> Statement:
        draws = _draws(node.test)
        # A fault drawn or not drawn is behaviour, so a condition asks ghosts or draws faults, never both.
        history = not draws and self._only_ghosts([*node.body, *node.orelse], scope)
        test_scope = replace(
            scope, fault_allowed=not history, history=scope.history or history, decides=not (scope.history or history)
        )
        span = self._text.span(node.test)
        try:
            condition = self.expressions.boolean(node.test, self._text, test_scope)
        except Failed:
            condition = None
        blocks = [partial(self._block, block, scope) for block in (node.body, node.orelse)]
        then, otherwise = collect(blocks)
        if condition is None:
            raise Failed
        self._warn_of_constant(node.test)
        return If(condition, then, otherwise, ast.unparse(node.test), span)

    def _warn_of_constant(self, test: ast.expr) -> None:
        """Warn of a condition that is written as a constant; one that a definition or parameter decides is a switch."""
        if self.lint and isinstance(test, ast.Constant):
            always = "true" if test.value else "false"
            message = f"this condition is always {always}"
            help_text = "a parameter says openly that a path can be switched off"
            self.diagnostics.report(Code.CONDITION_CONSTANT, message, self._text.span(test), help=help_text)

    def _only_ghosts(self, nodes: Iterable[ast.stmt], scope: Scope) -> bool:
        """Tell whether the statements assign nothing but ghosts, so that a ghost may decide between them.

        A fault or a choice among them would be behaviour that a ghost decides about.
        """
        for node in nodes:
            match node:
                case ast.Pass():
                    continue
                case ast.Assign(targets=[target], value=value) | ast.AugAssign(target=target, value=value):
                    if not self._is_ghost(target, scope) or _draws(value):
                        return False
                case ast.Expr(value=ast.Call(func=ast.Attribute(value=target, attr=method))) if method in SET_METHODS:
                    if not self._is_ghost(target, scope):
                        return False
                case ast.If():
                    if _draws(node.test) or not self._only_ghosts([*node.body, *node.orelse], scope):
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

    def _for(self, node: ast.For, scope: Scope) -> Statement:
        if node.orelse or not isinstance(node.target, ast.Name):
            self._fail(Code.NOT_IN_LANGUAGE, "a loop is written `for x in Type:`", node.target)
        span = self._text.span(node.target)
        self.expressions.refuse_hiding(node.target.id, span, scope)
        what = "a loop goes over a type"
        domain = self.expressions.value_type(node.iter, self._text, code=Code.LOOP_OVER_NO_TYPE, what=what)
        inner = self.expressions.unrolled(scope, domain, span).with_local(node.target.id, domain)
        return For(node.target.id, domain, self._block(node.body, inner), span)

    def _call(self, node: ast.Call, scope: Scope) -> Statement:
        span = self._text.span(node)
        name = self._text.written(node.func)
        if isinstance(node.func, ast.Attribute) and node.func.attr in SET_METHODS:
            return self._change_set(node, node.func, scope)
        if name not in STATEMENT_CALLS:
            self._refuse_call(name, node)
        self.expressions.refuse_in_crash(name, scope, span)
        if name in {"goto", "stop"} and scope.process is not None and scope.process.environment:
            message = f"`{name}` in an environment, whose steps may happen whenever they are enabled"
            self._fail(Code.NO_PROGRAM_COUNTER, message, node)
        if name == "read":
            return Read(self.expressions.versioned_store("read", node, self._text, scope), span)
        if name == "check":
            return self._check(node, scope, span)
        wanted = 0 if name == "stop" else 1
        if len(node.args) != wanted or node.keywords:
            amount = "one argument" if wanted else "no argument"
            self._fail(Code.ARGUMENTS, f"`{name}` takes {amount}", node)
        if name == "stop":
            return Stop(span)
        if name == "when":
            condition = self.expressions.boolean(node.args[0], self._text, replace(scope, fault_allowed=True))
            self._warn_of_constant(node.args[0])
            return When(condition, span)
        label = node.args[0]
        if not isinstance(label, ast.Name) or label.id not in self.labels:
            written = self._text.written(label)
            help_text = did_you_mean(written, self.labels)
            self._fail(Code.UNKNOWN_LABEL, f"no step is named `{written}`", label, help_text)
        return Goto(label.id, span)

    def _change_set(self, node: ast.Call, method: ast.Attribute, scope: Scope) -> Statement:
        """Elaborate `s.add(x)` and `s.remove(x)`, which assign to `s`."""
        span = self._text.span(node)
        target = self._target(method.value, scope)
        value_type = target.type
        if not isinstance(value_type, SetType):
            message = f"`.{method.attr}` changes a set, and `{_name(target)}` is {describe(value_type)}"
            self._fail(Code.TYPE_MISMATCH, message, node)
        if len(node.args) != 1 or node.keywords:
            self._fail(Code.ARGUMENTS, f"`.{method.attr}` takes one element", node)
        inner = self._scope_for(target, scope)
        element = self.expressions.expression(node.args[0], self._text, inner, value_type.element)
        element = self.expressions.require(element, value_type.element, f" for an element of `{_name(target)}`")
        if method.attr == "remove":
            return Assign(target, Without(target, element, value_type, span), span)
        added = self.expressions.set_of((element,), value_type, span)
        return Assign(target, SetOperation("|", target, added, value_type, span), span)

    def _check(self, node: ast.Call, scope: Scope, span: Span) -> Statement:
        if len(node.args) != 2 or node.keywords:
            self._fail(Code.ARGUMENTS, "`check` takes the name of a `checked` property and what must be true", node)
        named, condition = node.args
        name = self._text.written(named)
        if name not in self.declarations.checked:
            self._refuse_checked(name, named)
        self.expressions.findings.used.add(("checked", name))
        # A check observes like a property: it may read history, and it draws nothing.
        return Check(name, self.expressions.boolean(condition, self._text, replace(scope, history=True)), span)

    def _refuse_checked(self, name: str, node: ast.expr) -> NoReturn:
        if self.declarations.excuses(name):
            raise Failed
        if name in self.declarations.properties:
            message = f"the property `{name}` is judged by itself; only a `checked` one is checked in a step"
            self._fail(Code.UNKNOWN_PROPERTY, message, node, f"declare it as `{name}: {{checked: …}}`, with a sentence")
        help_text = did_you_mean(name, self.declarations.checked)
        self._fail(Code.UNKNOWN_PROPERTY, f"no `checked` property is named `{name}`", node, help_text)

    def _refuse_call(self, name: str, node: ast.Call) -> NoReturn:
        if name in _VALUES:
            help_text = (
                "assign it, or ask it in `when(…)` or `if`" if name != "choose" else "assign it: `x = choose(…)`"
            )
            self._fail(Code.STATEMENT_AS_VALUE, f"`{name}` is a value and does nothing alone", node, help_text)
        help_text = did_you_mean(name, STATEMENT_CALLS, known="the statements that are called")
        self._fail(Code.UNKNOWN_FUNCTION, f"`{name}` is not a statement", node, help_text)


def _failed(_: object) -> NoReturn:
    """Stand in for a local whose declaration has failed: reading it is no further error."""
    raise Failed


def _name(target: Target) -> str:
    return target.name if isinstance(target, LocalValue) else target.key.split(".", 1)[1]


def _draws(node: ast.expr) -> bool:
    """Tell whether a fault is drawn or a choice made in an expression. Definitions can do neither."""
    return any(
        isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id in {"fault", "choose"}
        for part in ast.walk(node)
    )

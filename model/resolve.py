"""What the names in an expression mean: `x`, `a.b`, `a[i]`, `p[i].x`, and definitions where they stand.

Exactly one reading is allowed (language, point 16). A name that could be read in two ways is refused, never resolved by
an order of precedence.
"""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import NoReturn

from model.diagnostics import Code, Diagnostics, Note, did_you_mean, nearest
from model.expressions import (
    Constant,
    Expression,
    Given,
    LocalValue,
    ParameterValue,
    SelfValue,
    TableColumn,
    VariableValue,
)
from model.failures import Failed, collect
from model.parsing import Text, parse_expression
from model.scope import Declarations, Definition, Findings, Place, ProcessHeader, Scope
from model.source import Span
from model.specification import Role, Variable
from model.types import (
    BOOL,
    INT,
    BoolType,
    CounterType,
    ElementType,
    EnumType,
    NoneType,
    OptionalType,
    ProcessType,
    SetType,
    ValueType,
    may_be_none,
    same_kind,
    without_none,
)

Reading = tuple[str, Callable[[], Expression]]
"""How a name is written without doubt, and what it is then."""

Parsed = dict[int, tuple[ast.expr, Text]]
"""Texts of definitions that have been parsed, by the identity of their node."""

_TYPE_NEEDED = "the name of a type is needed here"
_GHOSTS_READ = (
    "ghosts may be read in properties, on the right-hand side of ghosts, and in an `if` whose branches assign nothing "
    "else"
)


class Resolver(ABC):
    """Resolves names against the declarations of one specification."""

    def __init__(self, declarations: Declarations, diagnostics: Diagnostics, parsed: Parsed) -> None:
        self.declarations = declarations
        self.diagnostics = diagnostics
        self.findings = Findings()
        self._parsed = parsed

    @abstractmethod
    def expression(self, node: ast.expr, text: Text, scope: Scope, expected: ValueType | None) -> Expression:
        """Elaborate one syntax node; `expected` only guides the reading of literals.

        Raises:
            Failed: something is wrong with it; reported.
        """

    def fail(
        self,
        code: Code,
        message: str,
        span: Span,
        *,
        label: str = "",
        notes: tuple[Note, ...] = (),
        help: str = "",  # noqa: A002 - the word of the diagnostics
    ) -> NoReturn:
        """Report an error and give up the piece at hand."""
        self.diagnostics.report(code, message, span, label=label, notes=notes, help=help)
        raise Failed

    def require(self, expression: Expression, expected: ValueType, what: str = "") -> Expression:
        """Return the expression as a value of the expected type; report and raise `Failed` if its kind is another.

        Where `T?` is found and a T is needed, `None` becomes an error of the run.
        """
        accepted = self.accept(expression, expected, what)
        return accepted if may_be_none(expected) else self.given(accepted)

    def given(self, expression: Expression) -> Expression:
        """Return an expression whose value is never `None`: where it would be, there is none."""
        if not isinstance(expression.type, OptionalType):
            return expression
        return Given(expression, expression.type.inner, expression.span)

    def accept(self, expression: Expression, expected: ValueType, what: str = "") -> Expression:
        """Return the expression if its kind is the expected one, `None` included: it is assigned, which is checked."""
        if isinstance(expression.type, CounterType):
            message = "a counter only counts: it is compared with numbers, and is no value for anything else"
            self.fail(Code.COUNTER_USE, message, expression.span, help="count with a range where the number is needed")
        if not same_kind(expression.type, expected):
            found = describe(expression.type)
            message = f"expected {describe(expected)}{what}, found {found}"
            named = isinstance(expression.type, NoneType) and expected != INT
            help_text = f"only a type `{expected}?` has it" if named else ""
            self.fail(Code.TYPE_MISMATCH, message, expression.span, label=f"this is {found}", help=help_text)
        return expression

    # -- x --------------------------------------------------------------------------------------------------------

    def name(self, node: ast.Name, text: Text, scope: Scope, expected: ValueType | None) -> Expression:
        """Resolve a bare name."""
        name, span = node.id, text.span(node)
        expected = without_none(expected) if expected is not None else None
        if name in self.declarations.failed and name not in scope.locals and name not in scope.arguments:
            raise Failed
        readings = self._readings(name, span, scope, expected)
        if not readings:
            self._unknown(name, span, scope, expected)
        if len(readings) > 1:
            self._ambiguous(name, [qualified for qualified, _ in readings], span)
        return readings[0][1]()

    def _ambiguous(self, name: str, ways: list[str], span: Span) -> NoReturn:
        qualified = [f"`{way}`" for way in ways if way != name]
        help_text = f"write {' or '.join(qualified)}" if len(qualified) == len(ways) else "rename one of them"
        if 0 < len(qualified) < len(ways):
            help_text = f"write {' or '.join(qualified)}, or rename the other"
        self.fail(Code.AMBIGUOUS_NAME, f"`{name}` has {len(ways)} readings here", span, help=help_text)

    def _readings(self, name: str, span: Span, scope: Scope, expected: ValueType | None) -> list[Reading]:
        found: list[Reading] = []
        if name in scope.arguments:
            argument = scope.arguments[name]
            found.append((name, lambda: argument(expected)))
        if name in scope.locals:
            local = scope.locals[name]
            found.append((name, lambda: LocalValue(local.name, local.type, span)))
        if name == "self" and scope.process is not None:
            own = scope.process
            found.append(("self", lambda: SelfValue(own.type, span)))
        if scope.place is not Place.CONSTANT:
            if scope.process is not None and name in scope.process.volatile:
                process = scope.process
                found.append((f"{process.name}[self].{name}", lambda: self._own(process, name, span, scope)))
            shared = self.declarations.shared.get(name, ())
            found += [(variable.key, partial(self._shared, variable, (), span, scope)) for variable in shared]
            if name in self.declarations.definitions:
                definition = self.declarations.definitions[name]
                found.append((name, lambda: self._expand(definition, [], span, scope, expected)))
        if name in self.declarations.parameters:
            found.append((f"parameters.{name}", lambda: self._parameter(name, span)))
        return found + self._literals(name, span, expected, alone=not found)

    def _literals(self, name: str, span: Span, expected: ValueType | None, *, alone: bool) -> list[Reading]:
        """Return the readings of a name as a literal: of the expected enumeration, or of any if nothing is expected."""
        enums = self.declarations.enums_with(name)
        if isinstance(expected, EnumType):
            enums = [enum for enum in enums if enum.name == expected.name]
        elif expected is not None and not alone:
            enums = []
        return [(f"{enum.name}.{name}", partial(Constant, name, enum, span)) for enum in enums]

    def _unknown(self, name: str, span: Span, scope: Scope, expected: ValueType | None) -> NoReturn:
        declarations = self.declarations
        if declarations.excuses(name):
            raise Failed
        if name == "self":
            message = "`self` is the instance whose step is running, and there is none here"
            self.fail(Code.SELF_OUTSIDE_PROCESS, message, span)
        if name in scope.declared:
            message = f"the local `{name}` is not set on every path that leads here"
            self.fail(
                Code.LOCAL_NOT_SET, message, span, help="declare it, with its type and a value, before the branches"
            )
        if isinstance(expected, EnumType) and (others := declarations.enums_with(name)):
            names = " and ".join(f"`{enum.name}`" for enum in others)
            message = f"`{name}` is a literal of {names}, not of `{expected.name}`"
            self.fail(Code.TYPE_MISMATCH, message, span, help=did_you_mean(name, expected.literals))
        self._not_here(name, span, scope)
        if isinstance(expected, EnumType) and nearest(name, expected.literals) is not None:
            message = f"the type `{expected.name}` has no literal `{name}`"
            self.fail(Code.UNKNOWN_LITERAL, message, span, help=did_you_mean(name, expected.literals))
        candidates = expected.literals if isinstance(expected, EnumType) else ()
        known = declarations.parameters if scope.place is Place.CONSTANT else declarations.value_names()
        what = "parameter or literal" if scope.place is Place.CONSTANT else "variable, parameter, definition or literal"
        help_text = did_you_mean(name, [*scope.locals, *scope.arguments, *candidates, *known])
        self.fail(Code.UNKNOWN_NAME, f"no {what} is named `{name}`", span, help=help_text)

    def _not_here(self, name: str, span: Span, scope: Scope) -> None:
        """Report a name that means something, though not in this place."""
        declarations = self.declarations
        if scope.place is Place.CONSTANT:
            if name in declarations.variable_names:
                message = f"`{name}` changes during a run; only parameters may be read here"
                self.fail(Code.NOT_CONSTANT, message, span, help=did_you_mean(name, declarations.parameters))
            if name in declarations.definitions:
                self.fail(Code.NOT_CONSTANT, f"`{name}` is a definition; only parameters may be read here", span)
        owners = [process.name for process in declarations.processes.values() if name in process.volatile]
        if owners:
            message = f"`{name}` is volatile memory of `{owners[0]}` and cannot be read by its bare name here"
            help_text = f"in properties, for ghosts and in environment steps write `{owners[0]}[i].{name}`"
            self.fail(Code.NOT_VISIBLE, message, span, help=help_text)
        if name in {"true", "false"}:
            help_text = f"write `{name.capitalize()}`"
            self.fail(Code.UNKNOWN_NAME, f"`{name}` is not a word of expressions", span, help=help_text)
        for kind, names, wanted in (
            ("table", declarations.tables, "one of its columns: `{}.column`"),
            ("store", declarations.stores, "one of its variables: `{}.variable`"),
            ("process", declarations.processes, "what of an instance is meant: `{}[i].variable`"),
            ("type", declarations.types, ""),
            ("fault", declarations.faults, "`fault({})` in a step"),
        ):
            if name in names:
                help_text = f"write {wanted.format(name)}" if wanted else ""
                self.fail(Code.UNKNOWN_NAME, f"`{name}` is a {kind} and no value", span, help=help_text)

    def _parameter(self, name: str, span: Span) -> Expression:
        self.findings.used.add(("parameter", name))
        return ParameterValue(name, self.declarations.parameters[name].type, span)

    def _own(self, process: ProcessHeader, name: str, span: Span, scope: Scope) -> Expression:
        return self._variable(process.volatile[name], (), SelfValue(process.type, span), span, scope)

    def _shared(self, variable: Variable, indices: tuple[Expression, ...], span: Span, scope: Scope) -> Expression:
        if variable.role is Role.GHOST and not scope.sees_ghosts and not scope.target:
            if scope.decides:
                message = f"the ghost `{variable.name}` decides here over more than ghosts"
                self.fail(Code.GHOST_DECIDES, message, span, help=_GHOSTS_READ)
            message = f"the ghost `{variable.name}` is history; behaviour may not read it"
            self.fail(Code.GHOST_READ, message, span, help=_GHOSTS_READ)
        return self._variable(variable, indices, None, span, scope)

    def _variable(
        self,
        variable: Variable,
        indices: tuple[Expression, ...],
        instance: Expression | None,
        span: Span,
        scope: Scope,
    ) -> Expression:
        if len(indices) != len(variable.per):
            self._wrong_indices(variable, len(indices), span)
        indices = tuple(
            self.require(index, value_type, " as an index")
            for index, value_type in zip(indices, variable.per, strict=True)
        )
        self.findings.used.add(("assigned" if scope.target else "read", variable.key))
        return VariableValue(variable.key, indices, instance, variable.type, span)

    def _wrong_indices(self, variable: Variable, given: int, span: Span) -> NoReturn:
        if not variable.per:
            self.fail(Code.ARRAY_INDEX, f"`{variable.name}` is no array and has no index", span)
        wanted = ", ".join(str(value_type) for value_type in variable.per)
        if not given:
            message = f"`{variable.name}` is an array over {wanted}: it needs an index"
            self.fail(Code.ARRAY_INDEX, message, span, help=f"write `{variable.name}[…]`")
        message = (
            f"`{variable.name}` is an array over {wanted}: it takes {_count(len(variable.per), 'index', 'indices')}"
        )
        self.fail(Code.ARRAY_INDEX, f"{message}, not {given}", span)

    def _expand(
        self,
        definition: Definition,
        arguments: list[Callable[[ValueType | None], Expression]],
        span: Span,
        scope: Scope,
        expected: ValueType | None,
    ) -> Expression:
        """Elaborate a definition where it stands."""
        self.findings.used.add(("definition", definition.name))
        if definition.name in scope.active_definitions:
            # Reported where it is declared.
            raise Failed
        if len(arguments) != len(definition.parameters):
            wanted = _count(len(definition.parameters), "argument", "arguments")
            note = Note("it is declared here", definition.span)
            self.fail(Code.ARGUMENTS, f"`{definition.name}` takes {wanted}, not {len(arguments)}", span, notes=(note,))
        tree, text = self.parsed(definition)
        inner = scope.inside_definition(definition, dict(zip(definition.parameters, arguments, strict=True)))
        return self.expression(tree, text, inner, expected)

    def parsed(self, definition: Definition) -> tuple[ast.expr, Text]:
        """Return the tree of a definition's text."""
        known = self._parsed.get(id(definition.text))
        if known is None:
            known = self._parsed[id(definition.text)] = parse_expression(definition.text, self.diagnostics)
        return known

    # -- a.b ------------------------------------------------------------------------------------------------------

    def attribute(self, node: ast.Attribute, text: Text, scope: Scope) -> Expression:
        """Resolve `store.variable`, `Type.literal`, `table.column`, `parameters.name` and `p[i].variable`."""
        span = text.span(node)
        if isinstance(node.value, ast.Subscript):
            process, index = self.instance(node.value, text, scope)
            return self._variable(self._member(process, node, span), (), index, span, scope)
        if not isinstance(node.value, ast.Name):
            self.fail(Code.NOT_IN_LANGUAGE, "only a store, type, table or process instance has members", span)
        owner, member = node.value.id, node.attr
        readings = self._member_readings(owner, member, span, scope)
        if len(readings) > 1:
            kinds = " and ".join(kind for kind, _ in readings)
            message = f"`{owner}.{member}` has {len(readings)} readings here: {kinds}"
            self.fail(Code.AMBIGUOUS_NAME, message, span, help="rename one of them")
        if not readings:
            self._unknown_member(owner, member, span, text.span(node.value))
        return readings[0][1]()

    def _member_readings(self, owner: str, member: str, span: Span, scope: Scope) -> list[Reading]:
        declarations = self.declarations
        found: list[Reading] = []
        if owner in declarations.tables and member in declarations.tables[owner].columns:
            found.append(("a column of a table", lambda: self._table_column(owner, member, span, scope)))
        value_type = declarations.types.get(owner)
        if isinstance(value_type, EnumType) and member in value_type.literals:
            literal = Constant(member, value_type, span)
            self.findings.used.add(("type", owner))
            found.append(("a literal of a type", lambda: literal))
        shared = [variable for variable in declarations.shared.get(member, ()) if variable.owner == owner]
        found += [("a variable", partial(self._shared, variable, (), span, scope)) for variable in shared]
        if owner == "parameters" and member in declarations.parameters:
            found.append(("a parameter", lambda: self._parameter(member, span)))
        return found

    def _unknown_member(self, owner: str, member: str, span: Span, owner_span: Span) -> NoReturn:
        declarations = self.declarations
        if declarations.excuses(owner) or declarations.excuses(member):
            raise Failed
        if owner in declarations.tables:
            columns = declarations.tables[owner].columns
            message = f"the table `{owner}` has no column `{member}`"
            self.fail(Code.UNKNOWN_COLUMN, message, span, help=did_you_mean(member, columns))
        if owner in declarations.types:
            value_type = declarations.types[owner]
            known = value_type.literals if isinstance(value_type, EnumType) else ()
            message = f"the type `{owner}` has no literal `{member}`"
            self.fail(Code.UNKNOWN_LITERAL, message, span, help=did_you_mean(member, known))
        if owner in declarations.stores or owner == "ghost":
            self.store_member(owner, member, span)
        if owner == "parameters":
            help_text = did_you_mean(member, declarations.parameters)
            self.fail(Code.UNKNOWN_PARAMETER, f"no parameter is named `{member}`", span, help=help_text)
        if owner in declarations.processes:
            self.fail(Code.ARRAY_INDEX, "this does not say which instance", span, help=f"write `{owner}[i].{member}`")
        self._unknown_owner(owner, member, owner_span)

    def _unknown_owner(self, owner: str, member: str, span: Span) -> NoReturn:
        """Report an unknown name before a dot; what comes behind it tells what it was meant to be."""
        declarations = self.declarations
        if declarations.excuses(owner):
            raise Failed
        if any(member in table.columns for table in declarations.tables.values()):
            help_text = did_you_mean(owner, declarations.tables)
            self.fail(Code.UNKNOWN_TABLE, f"no table is named `{owner}`", span, help=help_text)
        if member in declarations.shared:
            stores = [variable.owner for variable in declarations.shared[member]]
            self.fail(Code.UNKNOWN_STORE, f"no store is named `{owner}`", span, help=did_you_mean(owner, stores))
        if enums := declarations.enums_with(member):
            help_text = did_you_mean(owner, [enum.name for enum in enums])
            self.fail(Code.UNKNOWN_TYPE, f"no type is named `{owner}`", span, help=help_text)
        owners = [*declarations.tables, *declarations.types, *declarations.stores, *declarations.processes]
        message = f"no store, type, table or process is named `{owner}`"
        self.fail(Code.UNKNOWN_NAME, message, span, help=did_you_mean(owner, owners))

    def _table_column(self, table: str, column: str, span: Span, scope: Scope) -> Expression:
        header = self.declarations.tables[table]
        if scope.place is Place.CONSTANT:
            self.fail(Code.NOT_CONSTANT, f"the table `{table}` changes its answer during a run", span)
        if scope.place is Place.TABLE:
            message = f"a row cannot consult a table, and `{table}` is one"
            self.fail(Code.NOT_VISIBLE, message, span, help="put what both need into a definition")
        process = scope.process.name if scope.process is not None else None
        self.findings.tables.add((table, process))
        self.findings.used.add(("table", table))
        return TableColumn(table, column, process, header.columns[column], span)

    def store_member(self, owner: str, member: str, span: Span) -> Variable:
        """Return the variable of a store, or of `ghost`."""
        for variable in self.declarations.shared.get(member, ()):
            if variable.owner == owner:
                return variable
        if self.declarations.excuses(member):
            raise Failed
        known = [v.name for group in self.declarations.shared.values() for v in group if v.owner == owner]
        where = (
            f"no ghost is named `{member}`" if owner == "ghost" else f"the store `{owner}` has no variable `{member}`"
        )
        self.fail(Code.UNKNOWN_MEMBER, where, span, help=did_you_mean(member, known))

    # -- p[i], a[i] -----------------------------------------------------------------------------------------------

    def instance(self, node: ast.Subscript, text: Text, scope: Scope) -> tuple[ProcessHeader, Expression]:
        """Resolve `p[i]`, an instance of a process."""
        processes = self.declarations.processes
        if not isinstance(node.value, ast.Name) or node.value.id not in processes:
            written = text.written(node.value)
            if self.declarations.excuses(written):
                raise Failed
            message = f"no process is named `{written}`, and only a process instance `p[i]` has members"
            self.fail(Code.UNKNOWN_PROCESS, message, text.span(node.value), help=did_you_mean(written, processes))
        process = processes[node.value.id]
        index = self.expression(node.slice, text, scope.reading(), process.type)
        index = self.require(index, process.type, " as the instance")
        own = isinstance(index, SelfValue) and scope.process is process
        if not own and not scope.sees_processes:
            message = f"a step of a process cannot see what other instances of `{process.name}` do or know"
            help_text = "only properties, ghosts and environment steps may; what a process must know stands in a store"
            self.fail(Code.NOT_VISIBLE, message, text.span(node), help=help_text)
        return process, index

    def _member(self, process: ProcessHeader, node: ast.Attribute, span: Span) -> Variable:
        if node.attr in process.volatile:
            return process.volatile[node.attr]
        if self.declarations.excuses(node.attr):
            raise Failed
        message = f"`{process.name}` has no volatile variable `{node.attr}`"
        help_text = did_you_mean(node.attr, process.volatile)
        if node.attr in process.labels:
            help_text = f"for the step of this name write `.at({node.attr})`"
        self.fail(Code.UNKNOWN_MEMBER, message, span, help=help_text)

    def subscript(self, node: ast.Subscript, text: Text, scope: Scope) -> Expression:
        """Resolve an element of an array."""
        span = text.span(node)
        raw = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        variable, instance = self._array(node.value, text, scope)
        if len(raw) != len(variable.per):
            self._wrong_indices(variable, len(raw), span)
        # What is read to find the place of an assignment is read, also by behaviour where a ghost is assigned.
        reading = scope.reading()
        indices = tuple(
            collect(
                [
                    partial(self.expression, index, text, reading, value_type)
                    for index, value_type in zip(raw, variable.per, strict=True)
                ]
            )
        )
        if instance is None:
            return self._shared(variable, indices, span, scope)
        return self._variable(variable, indices, instance, span, scope)

    def _array(self, node: ast.expr, text: Text, scope: Scope) -> tuple[Variable, Expression | None]:
        """Find the variable before an index, and whose it is."""
        span = text.span(node)
        if isinstance(node, ast.Attribute):
            if isinstance(node.value, ast.Subscript):
                process, index = self.instance(node.value, text, scope)
                return self._member(process, node, span), index
            if isinstance(node.value, ast.Name):
                owner = node.value.id
                if owner != "ghost" and owner not in self.declarations.stores:
                    self._unknown_owner(owner, node.attr, text.span(node.value))
                return self.store_member(owner, node.attr, span), None
        if isinstance(node, ast.Name):
            return self._array_by_name(node.id, span, scope)
        self.fail(Code.NOT_IN_LANGUAGE, "only a variable can have an index", span)

    def _array_by_name(self, name: str, span: Span, scope: Scope) -> tuple[Variable, Expression | None]:
        declarations = self.declarations
        if name in declarations.failed:
            raise Failed
        found: list[tuple[Variable, Expression | None]] = [(v, None) for v in declarations.shared.get(name, ())]
        if scope.process is not None and name in scope.process.volatile:
            found.append((scope.process.volatile[name], SelfValue(scope.process.type, span)))
        if len(found) == 1:
            return found[0]
        if found:
            self._ambiguous(name, [v.key if i is None else f"{v.owner}[self].{v.name}" for v, i in found], span)
        if name in declarations.processes:
            help_text = f"write `{name}[i].variable` or `{name}[i].at(label)`"
            self.fail(Code.ARRAY_INDEX, f"`{name}[…]` is an instance, and no value by itself", span, help=help_text)
        if name in declarations.definitions and declarations.definitions[name].parameters:
            help_text = f"write `{name}(…)`, with round brackets"
            self.fail(Code.ARRAY_INDEX, f"`{name}` is a definition, and no array", span, help=help_text)
        if name in (*scope.locals, *scope.arguments, *declarations.parameters, *declarations.definitions):
            self.fail(Code.ARRAY_INDEX, f"`{name}` is no array and has no index", span)
        self._unknown(name, span, scope, None)

    # -- types ----------------------------------------------------------------------------------------------------

    def value_type(self, node: ast.expr, text: Text, *, code: Code = Code.UNKNOWN_TYPE, what: str = "") -> ValueType:
        """Resolve the name of a type (`for x in T`, `choose(T)`, `x: T = …`); `code` is for what is no name."""
        span = text.span(node)
        if not isinstance(node, ast.Name):
            self.fail(code, what or _TYPE_NEEDED, span, help="declare the type under `types`, and name it here")
        resolved = self.named_type(node.id)
        if resolved is not None:
            return resolved
        declarations = self.declarations
        if declarations.excuses(node.id):
            raise Failed
        if node.id == "nat":
            self.fail(Code.NAT_PLACE, f"there is no end of the values of `nat`, and {_TYPE_NEEDED}", span)
        known = ["bool", *declarations.types, *declarations.processes]
        help_text = did_you_mean(node.id, known)
        for kind, names in (("a variable", declarations.variable_names), ("a parameter", declarations.parameters)):
            if node.id in names and not isinstance(declarations.parameters.get(node.id), EnumType):
                self.fail(code, f"`{node.id}` is {kind}, and {_TYPE_NEEDED}", span, help=help_text)
        self.fail(Code.UNKNOWN_TYPE, f"no type is named `{node.id}`", span, help=help_text)

    def named_type(self, name: str) -> ElementType | OptionalType | SetType | None:
        """Return the type of that name, None if there is none."""
        declarations = self.declarations
        if name == "bool":
            return BOOL
        if name in declarations.types:
            self.findings.used.add(("type", name))
            return declarations.types[name]
        if name in declarations.processes:
            return ProcessType(name)
        return None


def describe(value_type: ValueType) -> str:
    """Say the kind of a type in a sentence."""
    match value_type:
        case BoolType():
            return "a truth value"
        case EnumType(name=name):
            return f"a `{name}`"
        case OptionalType(inner=inner):
            return f"{describe(inner)} or `None`"
        case SetType(element=BoolType()):
            return "a set of truth values"
        case SetType(element=EnumType(name=name)):
            return f"a set of `{name}`"
        case SetType():
            return "a set of numbers"
        case NoneType():
            return "`None`"
        case _:
            return "a number"


def _count(number: int, one: str, several: str) -> str:
    return f"{number or 'no'} {one if number == 1 else several}"

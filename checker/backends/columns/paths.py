"""Guarded paths: every step, crash and property of a transition system as terms over one state.

A step is run symbolically. Each `if`, `choose` and `fault` splits the run, so that a path is a straight line with one
guard; a small `if` that only assigns is kept as a choice between values instead, or loops would explode. What the
evaluator does by running statements is done here by splitting, on purpose: the two must not share a mistake.

Soundness: the guards of the paths of one step that come from one resolution of its choices and faults exclude each
other, and each path stands for exactly one transition of the evaluator wherever its guard is true. A path whose
`errors` may be true has its guard restricted to where they are not.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace
from typing import assert_never

from checker.backends.columns.terms import Term, Terms, conjuncts
from model import limits
from model.diagnostics import Code, Diagnostic, SpecificationError
from model.evaluate import Action
from model.expressions import (
    And,
    Arithmetic,
    AtLabel,
    Comparison,
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
    walk,
)
from model.source import Span
from model.specification import Process, Step, Table
from model.statements import Assign, Choose, Count, For, Goto, If, Read, Statement, Stop, Target, When
from model.system import BOOL_DOMAIN, STOPPED, Domain, TransitionSystem
from model.types import RangeType, Value, ValueType

VALUE_MAX = 2**62
"""Terms are computed in signed 64-bit words; a value that could leave this interval is refused."""

MERGED_ASSIGNMENTS_MAX = 3
"""An `if` without further choices that assigns at most so many variables becomes a choice between values."""

Event = tuple[Hashable, Term]
"""Something worth counting (see `checker.exploration.Coverage`) and where it happens."""


Update = tuple[int, int, Term]
"""The number of a slot, the least value of its domain, and its value after the step."""


@dataclass(frozen=True, slots=True)
class GuardedPath:
    """One path: possible where `guard`, giving `updates` to the state."""

    action: Action
    guard: Term
    updates: tuple[Update, ...]
    faults: tuple[str, ...]
    fair: bool
    events: tuple[Event, ...]
    twin: int = 0
    """Tells apart paths of one step that are alike in everything."""


@dataclass(frozen=True, slots=True)
class ActionPaths:
    """All paths of one step or crash of one instance, and where it errs."""

    action: Action
    paths: tuple[GuardedPath, ...]
    error: Term
    may_wait: bool
    """Whether there may be states in which the step is next and no path exists."""
    events: tuple[Event, ...] = ()
    """What evaluating the step meets on the way, also on paths that come to nothing: rows and premises."""


@dataclass(frozen=True, slots=True)
class PropertyTerm:
    """A property as a term: its value, where it has none, and its events."""

    value: Term
    error: Term
    events: tuple[Event, ...]


@dataclass(slots=True)
class _Run:
    """A partial path."""

    guard: Term
    values: dict[int, Term]
    locals: dict[str, Term]
    events: list[Event] = field(default_factory=list)
    faults: tuple[str, ...] = ()
    written: frozenset[str] = frozenset()
    ended: bool = False
    label: str = ""
    excluded: frozenset[frozenset[int]] = frozenset()
    """Errors that cannot have happened, or the run would have ended: each as the numbers of its conditions."""

    def fork(self, guard: Term) -> _Run:
        return replace(self, guard=guard, values=dict(self.values), locals=dict(self.locals), events=list(self.events))


class PathBuilder:
    """Builds the paths of one transition system from terms of one maker.

    `slot_numbers` maps the system's slots to the numbers by which terms know them, so that systems with different
    layouts can share terms.
    """

    def __init__(self, system: TransitionSystem, terms: Terms, slot_numbers: list[int]) -> None:
        self.system = system
        self.terms = terms
        self.slot_numbers = slot_numbers

    # -- slots ----------------------------------------------------------------------------------------------------

    def slot_term(self, slot: int) -> Term:
        """Return the value of a slot before the step."""
        domain = self.system.slots[slot].domain
        return self.terms.slot(self.slot_numbers[slot], domain.low, domain.size, is_bool=domain is BOOL_DOMAIN)

    def encode(self, slot: int, value: Value) -> Term:
        """Return a constant value of a slot."""
        return self.encoded(self.system.slots[slot].domain, value)

    def encoded(self, domain: Domain, value: Value) -> Term:
        """Return a constant of a domain: literals by their position, integers as they are."""
        if domain is BOOL_DOMAIN:
            return self.terms.truth(bool(value))
        return self.terms.constant(domain.low + domain.index(value))

    # -- actions --------------------------------------------------------------------------------------------------

    def step(self, process: Process, instance: int, step: Step) -> ActionPaths:
        """Split a step into its guarded paths; the label is taken for granted, not part of the guards."""
        action = Action(process.name, instance, step.name)
        runner = _StepRunner(self, process, instance, step)
        paths = tuple(
            GuardedPath(action, run.guard, self._updates(run.values), run.faults, step.fair and not run.faults, tuple(dict.fromkeys(run.events)))
            for run in runner.runs()
        )
        return ActionPaths(action, paths, runner.error, runner.may_wait, tuple(dict.fromkeys(runner.events)))

    def crash(self, process: Process, instance: int, step: Step, fault: str) -> ActionPaths | None:
        """Build the crash of an instance before a step; None where the scenario does not allow it there."""
        system, terms = self.system, self.terms
        budget = system.budgets[fault]
        action = Action(process.name, instance, step.name, fault)
        if step.name == process.first or (budget.at is not None and step.id not in budget.at):
            return None
        values = self._forgotten(process, instance, process.first)
        guard = terms.true
        if fault in system.budget_slots:
            slot = system.budget_slots[fault]
            spent = self.slot_term(slot)
            assert budget.limit is not None
            guard = terms.less_equal(spent, terms.constant(budget.limit - 1))
            values[slot] = terms.sum(spent, terms.constant(1))
        path = GuardedPath(action, guard, self._updates(values), (fault,), fair=False, events=())
        return ActionPaths(action, (path,), terms.false, may_wait=False)

    def _forgotten(self, process: Process, instance: int, label: str) -> dict[int, Term]:
        values = {slot: self.encode(slot, self.system.slots[slot].initial) for slot in self.system.memory_slots(process, instance)}
        label_slot = self.system.label_slots[process.name, instance]
        values[label_slot] = self.encode(label_slot, label)
        return values

    def _updates(self, values: dict[int, Term]) -> tuple[Update, ...]:
        changed = ((slot, term) for slot, term in sorted(values.items()) if term is not self.slot_term(slot))
        return tuple((self.slot_numbers[slot], self.system.slots[slot].domain.low, term) for slot, term in changed)

    # -- properties -----------------------------------------------------------------------------------------------

    def state_property(self, expression: Expression) -> PropertyTerm:
        """Translate the expression of an `always`, `possible` or `recoverable` property."""
        compiler = ExpressionCompiler(self, {}, {}, None, 0)
        value = compiler.compile(expression, self.terms.true)
        return PropertyTerm(value, self.terms.any_of(compiler.errors), tuple(dict.fromkeys(compiler.events)))

    def step_property(self, expression: Expression, updates: tuple[Update, ...]) -> PropertyTerm:
        """Translate a `step` property for the transitions that make these updates."""
        back = {number: slot for slot, number in enumerate(self.slot_numbers)}
        # Budgets of other systems are no slots here; no property can read them.
        successor = {back[number]: term for number, _, term in updates if number in back}
        compiler = ExpressionCompiler(self, {}, {}, None, 0, successor=successor)
        value = compiler.compile(expression, self.terms.true)
        return PropertyTerm(value, self.terms.any_of(compiler.errors), tuple(dict.fromkeys(compiler.events)))

    def slots_after(self, expression: Expression) -> frozenset[int]:
        """Return the numbers of the slots that an expression may read inside `next`."""
        found: set[int] = set()
        for node in walk(expression):
            if isinstance(node, Next):
                found |= self._slots_in(node.item)
        return frozenset(self.slot_numbers[slot] for slot in found)

    def _slots_in(self, expression: Expression) -> set[int]:
        found: set[int] = set()
        for node in walk(expression):
            match node:
                case VariableValue(key=key):
                    for (name, _), layout in self.system.layouts.items():
                        if name == key:
                            size = 1
                            for domain in layout.indices:
                                size *= domain.size
                            found |= set(range(layout.first, layout.first + size))
                case AtLabel(process=process) | Stopped(process=process):
                    found |= {slot for (name, _), slot in self.system.label_slots.items() if name == process}
                case TableColumn(table=table, process=context):
                    for row in self.system.specification.tables[table, context].rows:
                        for part in (row.when, *row.gives.values()):
                            found |= self._slots_in(part)
                case _:
                    continue
        return found


class ExpressionCompiler:
    """Turns expressions into terms; `condition` says where an expression is evaluated at all.

    Errors and events are collected in `errors` and `events`, each restricted to where it can happen.
    """

    def __init__(self, builder: PathBuilder, values: dict[int, Term], local_values: dict[str, Term], process: Process | None, instance: int, *, successor: dict[int, Term] | None = None, excluded: frozenset[frozenset[int]] = frozenset()) -> None:
        self.builder = builder
        self.system = builder.system
        self.terms = builder.terms
        self.values = values
        self.locals = local_values
        self.process = process
        self.instance = instance
        self.successor = successor
        self.excluded = excluded
        self.errors: list[Term] = []
        self.events: list[Event] = []

    def read(self, slot: int) -> Term:
        """Return the present value of a slot."""
        known = self.values.get(slot)
        return known if known is not None else self.builder.slot_term(slot)

    def compile(self, expression: Expression, condition: Term) -> Term:  # noqa: C901, PLR0911, PLR0912 - one case a node
        """Return the term of an expression that is evaluated where `condition`."""
        terms = self.terms
        match expression:
            case Constant(value=value, type=value_type):
                return self._constant(value, value_type)
            case ParameterValue(name=name, type=value_type):
                return self._constant(self.system.parameters[name], value_type)
            case LocalValue(name=name):
                return self.locals[name]
            case SelfValue():
                return terms.constant(self.instance)
            case VariableValue():
                return self._variable(expression, condition)
            case AtLabel(process=process, label=label):
                return self._label(process, expression.instance, label, condition)
            case Stopped(process=process):
                return self._label(process, expression.instance, STOPPED, condition)
            case Fresh(store=store):
                assert self.process is not None
                slot = self.system.fresh_slots.get((self.process.name, self.instance, store))
                return terms.false if slot is None else self.read(slot)
            case FaultDraw():
                raise AssertionError("faults are drawn by the step runner")
            case Comparison():
                return self._comparison(expression.operator, self.compile(expression.left, condition), self.compile(expression.right, condition))
            case Arithmetic(operator=operator):
                left, right = self.compile(expression.left, condition), self.compile(expression.right, condition)
                made = terms.sum(left, right) if operator == "+" else terms.difference(left, right) if operator == "-" else terms.product(left, right)
                return self._bounded(made, expression.span)
            case Extremum(operator=operator, items=items):
                return self._extremum(operator, [self.compile(item, condition) for item in items])
            case Not(item=item):
                return terms.negation(self.compile(item, condition))
            case And(items=items):
                return self._and(items, condition)
            case Or(items=items):
                return self._or(items, condition)
            case Implies():
                premise = self.compile(expression.premise, condition)
                there = terms.all_of((condition, premise))
                self._event(("premise", expression.span), there)
                return terms.any_of((terms.negation(premise), self.compile(expression.conclusion, there)))
            case Conditional():
                test = self.compile(expression.condition, condition)
                then = self.compile(expression.then, terms.all_of((condition, test)))
                return terms.choice(test, then, self.compile(expression.otherwise, terms.all_of((condition, terms.negation(test)))))
            case Membership(elements=elements):
                item_term = self.compile(expression.item, condition)
                return terms.any_of([terms.equal(item_term, self.compile(element, condition)) for element in elements])
            case Quantifier():
                return self._quantifier(expression, condition)
            case TableColumn():
                return self._table(expression, condition)
            case Next(item=item):
                return self._next(item, condition)
            case _:
                assert_never(expression)

    def _constant(self, value: Value, value_type: ValueType) -> Term:
        if isinstance(value, bool):
            return self.terms.truth(value)
        if isinstance(value, int):
            return self.terms.constant(value)
        return self.builder.encoded(self.system.domain(value_type), value)

    def _bounded(self, term: Term, span: Span) -> Term:
        if term.low < -VALUE_MAX or term.high > VALUE_MAX:
            message = "the value of this arithmetic could leave 62 bits"
            raise SpecificationError([Diagnostic(Code.LIMIT, message, span)])
        return term

    def _event(self, key: Hashable, where: Term) -> None:
        if self.errors:
            where = self.terms.all_of((where, self.terms.outside(self.terms.any_of(self.errors))))
        if where is not self.terms.false:
            self.events.append((key, where))

    def error(self, where: Term) -> None:
        """Record that evaluation errs there, unless an error that is already excluded covers it."""
        if where is self.terms.false:
            return
        conditions = {condition.number for condition in conjuncts(where)}
        if not any(known <= conditions for known in self.excluded):
            self.errors.append(where)

    def _comparison(self, operator: str, left: Term, right: Term) -> Term:
        terms = self.terms
        match operator:
            case "==":
                return terms.equal(left, right)
            case "!=":
                return terms.negation(terms.equal(left, right))
            case "<=":
                return terms.less_equal(left, right)
            case ">=":
                return terms.less_equal(right, left)
            case "<":
                return terms.negation(terms.less_equal(right, left))
            case _:
                return terms.negation(terms.less_equal(left, right))

    def _extremum(self, operator: str, items: list[Term]) -> Term:
        best = items[0]
        for item in items[1:]:
            smaller = self.terms.less_equal(best, item)
            best = self.terms.choice(smaller, best, item) if operator == "min" else self.terms.choice(smaller, item, best)
        return best

    def _and(self, items: Iterable[Expression], condition: Term) -> Term:
        result = self.terms.true
        for item in items:
            here = self.terms.all_of((condition, result))
            if here is self.terms.false:
                break
            result = self.terms.all_of((result, self.compile(item, here)))
        return result

    def _or(self, items: Iterable[Expression], condition: Term) -> Term:
        result = self.terms.false
        for item in items:
            here = self.terms.all_of((condition, self.terms.negation(result)))
            if here is self.terms.false:
                break
            result = self.terms.any_of((result, self.compile(item, here)))
        return result

    def _quantifier(self, expression: Quantifier, condition: Term) -> Term:
        terms = self.terms
        outer = self.locals
        domain = self.system.domain(expression.domain)
        decided = terms.false
        count = terms.constant(0)
        for value in domain.values():
            here = terms.all_of((condition, terms.negation(decided))) if expression.operator != "count" else condition
            if here is terms.false and expression.operator != "count":
                break
            self.locals = {**outer, expression.variable: self.builder.encoded(domain, value)}
            if expression.condition is not None:
                chosen = self.compile(expression.condition, here)
                body = self.compile(expression.body, terms.all_of((here, chosen)))
            else:
                chosen, body = terms.true, self.compile(expression.body, here)
            match expression.operator:
                case "any":
                    decided = terms.any_of((decided, terms.all_of((chosen, body))))
                case "all":
                    decided = terms.any_of((decided, terms.all_of((chosen, terms.negation(body)))))
                case _:
                    count = terms.sum(count, terms.choice(terms.all_of((chosen, body)), terms.constant(1), terms.constant(0)))
        self.locals = outer
        if expression.operator == "count":
            return count
        return decided if expression.operator == "any" else terms.negation(decided)

    def _table(self, expression: TableColumn, condition: Term) -> Term:
        """Return what the matching row gives; of an exclusive table every row is evaluated, of the other up to the match.

        The number of the matching row is one term, `len(rows)` where none matches; every column is a function of it.
        """
        terms = self.terms
        table = self.system.specification.tables[expression.table, expression.process]
        outer, self.locals = self.locals, {}
        conditions = self._row_conditions(table, condition)
        number = terms.constant(len(table.rows))
        for position in range(len(table.rows) - 1, -1, -1):
            number = terms.choice(conditions[position], terms.constant(position), number)
        cells = []
        for position, row in enumerate(table.rows):
            here = terms.all_of((condition, terms.equal(number, terms.constant(position))))
            self._event(("row", row.span), here)
            cells.append(self.compile(row.gives[expression.column], here))
        self.error(terms.all_of((condition, terms.equal(number, terms.constant(len(table.rows))))))
        self.locals = outer
        return self._cell(number, cells)

    def _row_conditions(self, table: Table, condition: Term) -> list[Term]:
        """Return when each row's condition is true; two at once are an error of an exclusive table."""
        terms = self.terms
        conditions: list[Term] = []
        matched = terms.false
        for row in table.rows:
            evaluated = terms.all_of((condition, terms.negation(matched))) if table.first_match else condition
            conditions.append(self.compile(row.when, evaluated))
            if not table.first_match:
                self.error(terms.all_of((condition, matched, conditions[-1])))
            matched = terms.any_of((matched, conditions[-1]))
        return conditions

    def _cell(self, number: Term, cells: list[Term]) -> Term:
        terms = self.terms
        if number.constant is not None:
            return cells[min(number.constant, len(cells) - 1)]
        if all(cell.constant is not None for cell in cells):
            constants = [cell.constant if cell.constant is not None else 0 for cell in cells]
            # Where no row matches the value does not matter: that is an error.
            entries = [constants[min(i, len(cells) - 1)] for i in range(number.low, number.high + 1)]
            return terms.lookup(number, tuple(entries), is_bool=cells[0].is_bool)
        result = cells[-1]
        for position in range(len(cells) - 2, -1, -1):
            result = terms.choice(terms.equal(number, terms.constant(position)), cells[position], result)
        return result

    def _next(self, item: Expression, condition: Term) -> Term:
        assert self.successor is not None
        before, self.values = self.values, self.successor
        term = self.compile(item, condition)
        self.values = before
        return term

    # -- variables ------------------------------------------------------------------------------------------------

    def places(self, variable: VariableValue, condition: Term) -> list[tuple[Term, int]]:
        """Return the slots that a variable may stand for, each with the condition under which it does."""
        terms = self.terms
        found: list[tuple[Term, int]] = []
        here = terms.false
        for chosen, instance in self._instances(variable, condition):
            layout = self.system.layouts.get((variable.key, instance))
            if layout is None:
                continue
            options: list[tuple[Term, int]] = [(chosen, 0)]
            for index, domain in zip(variable.indices, layout.indices, strict=True):
                position = self.compile(index, condition)
                options = [
                    (terms.all_of((guard, terms.equal(position, self.builder.encoded(domain, value)))), offset * domain.size + domain.index(value))
                    for guard, offset in options
                    for value in domain.values()
                ]
            options = [(guard, offset) for guard, offset in options if guard is not terms.false]
            here = terms.any_of([here, *(guard for guard, _ in options)])
            found.extend((guard, layout.first + offset) for guard, offset in options)
        if not self._always_inside(variable):
            self.error(terms.all_of((condition, terms.negation(here))))
        return found

    def _always_inside(self, variable: VariableValue) -> bool:
        """Tell by intervals that every index lies in its array, which spares a test that is always true."""
        if variable.instance is not None and not isinstance(variable.instance, SelfValue):
            return False
        layout = self.system.layouts.get((variable.key, self.instance if variable.instance is not None else 0))
        if layout is None:
            return False
        for index, domain in zip(variable.indices, layout.indices, strict=True):
            term = self.compile(index, self.terms.false)
            if domain.literals is None and not domain.low <= term.low <= term.high < domain.low + domain.size:
                return False
        return True

    def _instances(self, variable: VariableValue, condition: Term) -> list[tuple[Term, int]]:
        if variable.instance is None:
            return [(self.terms.true, 0)]
        number = self.compile(variable.instance, condition)
        process = variable.key.split(".", 1)[0]
        options = [(self.terms.equal(number, self.terms.constant(i)), i) for i in range(self.system.counts[process])]
        return [(guard, i) for guard, i in options if guard is not self.terms.false]

    def _variable(self, variable: VariableValue, condition: Term) -> Term:
        options = self.places(variable, condition)
        if not options:
            # No such place exists at all; the error is recorded, and any value of the type will do.
            return self._constant(self.system.domain(variable.type).first, variable.type)
        result = self.read(options[-1][1])
        for guard, slot in reversed(options[:-1]):
            result = self.terms.choice(guard, self.read(slot), result)
        return result

    def _label(self, process: str, instance: Expression, label: str, condition: Term) -> Term:
        terms = self.terms
        number = self.compile(instance, condition)
        inside, result = terms.false, terms.false
        for i in range(self.system.counts[process]):
            slot = self.system.label_slots[process, i]
            here = terms.equal(number, terms.constant(i))
            inside = terms.any_of((inside, here))
            if self.system.slots[slot].domain.contains(label):
                result = terms.any_of((result, terms.all_of((here, terms.equal(self.read(slot), self.builder.encode(slot, label))))))
        self.error(terms.all_of((condition, terms.negation(inside))))
        return result


class _StepRunner:
    """Runs one step symbolically."""

    def __init__(self, builder: PathBuilder, process: Process, instance: int, step: Step) -> None:
        self.builder = builder
        self.system = builder.system
        self.terms = builder.terms
        self.process = process
        self.instance = instance
        self.step = step
        self.errors: list[Term] = []
        self.events: list[Event] = []
        self.may_wait = False

    @property
    def error(self) -> Term:
        """Where some path errs."""
        return self.terms.any_of(self.errors)

    def runs(self) -> list[_Run]:
        """Return all paths that reach the end."""
        start = _Run(self.terms.true, {}, {}, label=self.step.next_label)
        runs = self._block(self.step.body, [start])
        for run in runs:
            self._finish(run)
        return runs

    def _block(self, body: tuple[Statement, ...], runs: list[_Run]) -> list[_Run]:
        for statement in body:
            following: list[_Run] = []
            for run in runs:
                following.extend([run] if run.ended else self._execute(statement, run))
            if len(following) > limits.PATHS_PER_STEP_MAX:
                message = f"the step `{self.step.id}` has more than {limits.PATHS_PER_STEP_MAX:,} paths"
                raise SpecificationError([Diagnostic(Code.LIMIT, message, self.step.span)])
            runs = following
        return runs

    def _compiler(self, run: _Run) -> ExpressionCompiler:
        return ExpressionCompiler(self.builder, run.values, run.locals, self.process, self.instance, excluded=run.excluded)

    def _evaluate(self, expression: Expression, run: _Run, condition: Term | None = None) -> Term:
        """Compile an expression at the point that a run has reached; where it errs the run ends."""
        compiler = self._compiler(run)
        where = run.guard if condition is None else self.terms.all_of((run.guard, condition))
        term = compiler.compile(expression, where)
        self._settle(compiler, run)
        return term

    def _settle(self, compiler: ExpressionCompiler, run: _Run) -> None:
        self.events.extend(compiler.events)
        if compiler.errors:
            error = self.terms.any_of(compiler.errors)
            self.errors.append(error)
            run.excluded |= {frozenset(c.number for c in conjuncts(e)) for e in compiler.errors}
            run.guard = self.terms.all_of((run.guard, self.terms.outside(error)))

    def _execute(self, statement: Statement, run: _Run) -> list[_Run]:
        match statement:
            case Assign():
                return self._assign(statement, run)
            case Count():
                return self._count(statement, run)
            case Choose():
                return self._choose(statement, run)
            case If():
                return self._if(statement, run)
            case For():
                return self._for(statement, run)
            case When(condition=condition):
                self.may_wait = True
                outcomes = self._condition(condition, run, self.terms.true)
                return self._alive(self._restricted(branch, value) for branch, value in outcomes)
            case Goto(label=label):
                run.label, run.ended = label, True
                return [run]
            case Stop():
                run.label, run.ended = STOPPED, True
                return [run]
            case Read(store=store):
                run.values[self.system.fresh_slots[self.process.name, self.instance, store]] = self.terms.true
                return [run]
            case _:
                assert_never(statement)

    def _restricted(self, run: _Run, condition: Term) -> _Run:
        run.guard = self.terms.all_of((run.guard, condition))
        return run

    def _alive(self, runs: Iterable[_Run]) -> list[_Run]:
        return [run for run in runs if run.guard is not self.terms.false]

    # -- conditions with faults -----------------------------------------------------------------------------------

    def _condition(self, expression: Expression, run: _Run, condition: Term) -> list[tuple[_Run, Term]]:
        """Evaluate a condition that may draw faults: the runs it splits into, each with the condition's value.

        `condition` says where, within the run's guard, the expression is evaluated at all.
        """
        terms = self.terms
        if not any(isinstance(node, FaultDraw) for node in walk(expression)):
            return [(run, self._evaluate(expression, run, condition))]
        match expression:
            case FaultDraw(fault=fault):
                drawn = self._drawn(fault, run, condition)
                return [(run, terms.false), *([(drawn, terms.true)] if drawn is not None else [])]
            case Not(item=item):
                return [(branch, terms.negation(value)) for branch, value in self._condition(item, run, condition)]
            case And(items=items) | Or(items=items):
                conjunction = isinstance(expression, And)
                outcomes = [(run, terms.true if conjunction else terms.false)]
                for item in items:
                    following: list[tuple[_Run, Term]] = []
                    for branch, value in outcomes:
                        undecided = value if conjunction else terms.negation(value)
                        if undecided is terms.false:
                            following.append((branch, value))
                            continue
                        for after, item_value in self._condition(item, branch, terms.all_of((condition, undecided))):
                            joined = terms.all_of((value, item_value)) if conjunction else terms.any_of((value, item_value))
                            following.append((after, joined))
                    outcomes = following
                return outcomes
            case _:
                raise AssertionError("the elaborator allows faults under `and`, `or` and `not` only")

    def _drawn(self, fault: str, run: _Run, condition: Term) -> _Run | None:
        """Return the run in which the fault happens, None where it cannot."""
        budget = self.system.budgets[fault]
        if not budget.allowed:
            return None
        branch = run.fork(self.terms.all_of((run.guard, condition)))
        branch.faults = (*run.faults, fault)
        slot = self.system.budget_slots.get(fault)
        if slot is not None:
            spent = self._compiler(run).read(slot)
            assert budget.limit is not None
            self._restricted(branch, self.terms.less_equal(spent, self.terms.constant(budget.limit - 1)))
            branch.values[slot] = self.terms.sum(spent, self.terms.constant(1))
        return branch if branch.guard is not self.terms.false else None

    # -- statements -----------------------------------------------------------------------------------------------

    def _assign(self, statement: Assign, run: _Run) -> list[_Run]:
        if isinstance(statement.value, FaultDraw):
            outcomes = self._condition(statement.value, run, self.terms.true)
            for branch, value in outcomes:
                self._store(statement.target, value, branch)
            return self._alive(branch for branch, _ in outcomes)
        places = self._places(statement.target, run)
        value = self._evaluate(statement.value, run)
        self._put(statement.target, places, value, run)
        return self._alive([run])

    def _store(self, target: Target, value: Term, run: _Run) -> None:
        self._put(target, self._places(target, run), value, run)

    def _places(self, target: Target, run: _Run) -> list[tuple[Term, int]]:
        if isinstance(target, LocalValue):
            return []
        compiler = self._compiler(run)
        places = compiler.places(target, run.guard)
        self._settle(compiler, run)
        return places

    def _put(self, target: Target, places: list[tuple[Term, int]], value: Term, run: _Run) -> None:
        """Store a value; outside the type of the target the run ends in an error."""
        terms = self.terms
        unbounded = isinstance(target.type, RangeType) and target.type.low is None
        if not unbounded:
            domain = self.system.domain(target.type)
            if domain.literals is None:
                outside = terms.all_of((run.guard, terms.negation(terms.within(value, domain.low, domain.low + domain.size - 1))))
                if outside is not terms.false:
                    self.errors.append(outside)
                    self._restricted(run, terms.outside(outside))
                value = self._clamped(value, domain)
        if isinstance(target, LocalValue):
            run.locals[target.name] = value
            return
        for here, slot in places:
            run.values[slot] = terms.choice(here, value, self._compiler(run).read(slot))
        run.written = run.written | {target.key.split(".", 1)[0]}

    def _clamped(self, value: Term, domain: Domain) -> Term:
        """Return the value with the interval of its target, which it has wherever the run goes on."""
        if domain.low <= value.low and value.high < domain.low + domain.size:
            return value
        if value.constant is not None:
            return self.terms.constant(domain.low)
        return self.terms.narrowed(value, domain.low, domain.low + domain.size - 1)

    def _count(self, statement: Count, run: _Run) -> list[_Run]:
        terms = self.terms
        places = self._places(statement.target, run)
        amount = self._evaluate(statement.amount, run)
        negative = terms.all_of((run.guard, terms.negation(terms.less_equal(terms.constant(0), amount))))
        if negative is not terms.false:
            self.errors.append(negative)
            self._restricted(run, terms.outside(negative))
        limit = terms.constant(self.system.domain(statement.target.type).size - 1)
        for here, slot in places:
            before = self._compiler(run).read(slot)
            total = terms.sum(before, amount)
            counted = terms.narrowed(terms.choice(terms.less_equal(total, limit), total, limit), 0, limit.high)
            run.values[slot] = terms.choice(here, counted, before)
        run.written = run.written | {statement.target.key.split(".", 1)[0]}
        return self._alive([run])

    def _choose(self, statement: Choose, run: _Run) -> list[_Run]:
        terms = self.terms
        places = self._places(statement.target, run)
        if statement.domain is not None:
            domain = self.system.domain(statement.domain)
            options = [self.builder.encoded(domain, value) for value in domain.values()]
            self.may_wait = self.may_wait or not options
        else:
            options = [self._evaluate(element, run) for element in statement.elements]
        runs: list[_Run] = []
        for position, option in enumerate(options):
            # A set has each element once: an option equal to an earlier one is no further choice.
            fresh = terms.all_of([terms.negation(terms.equal(option, earlier)) for earlier in options[:position]])
            branch = run.fork(terms.all_of((run.guard, fresh)))
            if branch.guard is terms.false:
                continue
            self._put(statement.target, places, option, branch)
            runs.append(branch)
        return self._alive(runs)

    def _for(self, statement: For, run: _Run) -> list[_Run]:
        domain = self.system.domain(statement.domain)
        runs = [run]
        for value in domain.values():
            for each in runs:
                each.locals[statement.variable] = self.builder.encoded(domain, value)
            runs = self._block(statement.body, runs)
        return runs

    def _if(self, statement: If, run: _Run) -> list[_Run]:
        terms = self.terms
        runs: list[_Run] = []
        for branch, value in self._condition(statement.condition, run, terms.true):
            if value.constant is None and self._is_small(statement):
                runs.extend(self._merged(statement, branch, value))
                continue
            for taken, guard, body in ((True, value, statement.then), (False, terms.negation(value), statement.otherwise)):
                side = branch.fork(terms.all_of((branch.guard, guard)))
                if side.guard is not terms.false:
                    side.events.append((("branch", statement.span, taken), side.guard))
                    runs.extend(self._block(body, [side]))
        return runs

    def _is_small(self, statement: If) -> bool:
        body = (*statement.then, *statement.otherwise)
        return len(body) <= MERGED_ASSIGNMENTS_MAX and all(
            isinstance(s, Count) or (isinstance(s, Assign) and not isinstance(s.value, FaultDraw) and isinstance(s.target, VariableValue)) for s in body
        )

    def _merged(self, statement: If, run: _Run, value: Term) -> list[_Run]:
        """Run both sides and choose between what they leave behind, without splitting the path.

        The stores written must be the same on both sides: whose fresh bits are cleared may not depend on a choice.
        """
        terms = self.terms
        sides: list[_Run] = []
        for taken, guard, body in ((True, value, statement.then), (False, terms.negation(value), statement.otherwise)):
            side = run.fork(terms.all_of((run.guard, guard)))
            if side.guard is terms.false:
                continue
            side.events.append((("branch", statement.span, taken), side.guard))
            sides.extend(self._block(body, [side]))
        if len(sides) != 2 or not self._same_effects(*sides):  # noqa: PLR2004 - then and else
            return sides
        then, otherwise = sides
        untouched = then.guard is terms.all_of((run.guard, value)) and otherwise.guard is terms.all_of((run.guard, terms.negation(value)))
        merged = run.fork(run.guard if untouched else terms.any_of((then.guard, otherwise.guard)))
        for slot in sorted(then.values.keys() | otherwise.values.keys()):
            before = self._compiler(run).read(slot)
            merged.values[slot] = terms.choice(value, then.values.get(slot, before), otherwise.values.get(slot, before))
        merged.events = list(dict.fromkeys([*then.events, *otherwise.events]))
        merged.written = then.written | otherwise.written
        return [merged]

    def _same_effects(self, then: _Run, otherwise: _Run) -> bool:
        versioned = {name for name, store in self.system.specification.stores.items() if store.versioned}
        return then.written & versioned == otherwise.written & versioned

    def _finish(self, run: _Run) -> None:
        """Clear the fresh bits that writes made stale, and go to the next label."""
        for store in run.written:
            for slot in self.system.others_fresh(self.process.name, self.instance, store):
                run.values[slot] = self.terms.false
        if self.process.environment:
            return
        if run.label in (self.process.first, STOPPED):
            run.values.update(self.builder._forgotten(self.process, self.instance, run.label))  # noqa: SLF001 - one module
        else:
            slot = self.system.label_slots[self.process.name, self.instance]
            run.values[slot] = self.builder.encode(slot, run.label)

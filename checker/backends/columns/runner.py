"""A step run symbolically: each `if`, `choose` and `fault` splits the run into straight lines with one guard each.

A small `if` that only assigns is kept as a choice between values instead, or loops would explode.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace
from typing import assert_never

from checker.backends.columns.compiler import Event, ExpressionCompiler, Slots
from checker.backends.columns.compounds import Compound, Members
from checker.backends.columns.terms import Term, conjuncts
from model import limits
from model.diagnostics import Code, Diagnostic, SpecificationError
from model.expressions import (
    And,
    Expression,
    FaultDraw,
    LocalValue,
    Not,
    Or,
    VariableValue,
    walk,
)
from model.specification import Process, Step
from model.statements import Assign, Check, Choose, Count, For, Goto, If, Read, Statement, Stop, Target, When
from model.system import CRASHED, STOPPED

MERGED_ASSIGNMENTS_MAX = 3
"""An `if` without further choices that assigns at most so many variables becomes a choice between values."""


@dataclass(slots=True)
class Run:
    """A partial path."""

    guard: Term
    values: dict[int, Term]
    locals: dict[str, Term]
    events: list[Event] = field(default_factory=list)
    faults: tuple[str, ...] = ()
    violations: tuple[tuple[str, Term], ...] = ()
    """The `checked` properties that the run has come by, each with where its check is false."""
    written: frozenset[str] = frozenset()
    ended: bool = False
    label: str = ""
    excluded: frozenset[frozenset[int]] = frozenset()
    """Errors that cannot have happened, or the run would have ended: each as the numbers of its conditions."""
    consulted: dict[Hashable, Term] = field(default_factory=dict)
    """The rows of tables that the run has met, by table and values."""

    def fork(self, guard: Term) -> Run:
        """Return a copy that goes its own way from here, under its own guard."""
        return replace(
            self,
            guard=guard,
            values=dict(self.values),
            locals=dict(self.locals),
            events=list(self.events),
            consulted=dict(self.consulted),
        )


class StepRunner:
    """Runs one step symbolically."""

    def __init__(self, slots: Slots, process: Process, instance: int, step: Step) -> None:
        self.slots = slots
        self.system = slots.system
        self.terms = slots.terms
        self.process = process
        self.instance = instance
        self.step = step
        self.errors: list[Term] = []
        self.events: list[Event] = []
        self.may_wait = False
        self._loops = 0

    @property
    def error(self) -> Term:
        """Where some path errs."""
        return self.terms.any_of(self.errors)

    def runs(self) -> list[Run]:
        """Return all paths that reach the end."""
        start = Run(self.terms.true, {}, {}, label=self.step.next_label)
        runs = self._block(self.step.body, [start])
        for run in runs:
            self._finish(run)
        return runs

    def crashes(self, start: Term, bodies: Iterable[Step]) -> list[Run]:
        """Return all paths of a crash that is possible where `start`: through its bodies, one after the other.

        Then memory is lost, and the label says that the instance is down or starts again.
        """
        process, instance = self.process, self.instance
        runs = [Run(start, {}, {}, label=process.start if process.restarts == "at_once" else CRASHED)]
        for body in bodies:
            runs = self._block(body.body, runs)
        for run in runs:
            self._clear_fresh(run)
            run.values.update(self.slots.forgotten(process, instance, kept=True))
            slot = self.system.label_slots[process.name, instance]
            run.values[slot] = self.slots.encode(slot, run.label)
        return runs

    def _block(self, body: tuple[Statement, ...], runs: list[Run]) -> list[Run]:
        for statement in body:
            following: list[Run] = []
            for run in runs:
                following.extend([run] if run.ended else self._execute(statement, run))
            if len(following) > limits.PATHS_PER_STEP_MAX:
                message = f"the step `{self.step.id}` has more than {limits.PATHS_PER_STEP_MAX:,} paths"
                raise SpecificationError([Diagnostic(Code.LIMIT, message, self.step.span)])
            runs = following
        return runs

    def _compiler(self, run: Run) -> ExpressionCompiler:
        return ExpressionCompiler(
            self.slots,
            run.values,
            run.locals,
            self.process,
            self.instance,
            excluded=run.excluded,
            consulted=run.consulted,
            guard=run.guard,
        )

    def _evaluate(self, expression: Expression, run: Run, condition: Term | None = None) -> Term:
        """Compile an expression at the point that a run has reached; where it errs the run ends."""
        compiler = self._compiler(run)
        where = run.guard if condition is None else self.terms.all_of((run.guard, condition))
        term = compiler.compile(expression, where)
        self._settle(compiler, run)
        return term

    def _value(self, expression: Expression, run: Run) -> Compound:
        """Evaluate an expression of any type, as `_evaluate` does."""
        compiler = self._compiler(run)
        value = compiler.value(expression, run.guard)
        self._settle(compiler, run)
        return value

    def _settle(self, compiler: ExpressionCompiler, run: Run) -> None:
        self.events.extend(compiler.events)
        if compiler.errors:
            error = self.terms.any_of(compiler.errors)
            self.errors.append(error)
            run.excluded |= {frozenset(c.number for c in conjuncts(e)) for e in compiler.errors}
            run.guard = self.terms.all_of((run.guard, self.terms.outside(error)))

    def _execute(self, statement: Statement, run: Run) -> list[Run]:
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
            case Check():
                return self._check(statement, run)
            case _:
                assert_never(statement)

    def _restricted(self, run: Run, condition: Term) -> Run:
        run.guard = self.terms.all_of((run.guard, condition))
        return run

    def _alive(self, runs: Iterable[Run]) -> list[Run]:
        return [run for run in runs if run.guard is not self.terms.false]

    # -- conditions with faults -----------------------------------------------------------------------------------

    def _condition(self, expression: Expression, run: Run, condition: Term) -> list[tuple[Run, Term]]:
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
                    following: list[tuple[Run, Term]] = []
                    for branch, value in outcomes:
                        undecided = value if conjunction else terms.negation(value)
                        if undecided is terms.false:
                            following.append((branch, value))
                            continue
                        for after, item_value in self._condition(item, branch, terms.all_of((condition, undecided))):
                            joined = (
                                terms.all_of((value, item_value)) if conjunction else terms.any_of((value, item_value))
                            )
                            following.append((after, joined))
                    outcomes = following
                return outcomes
            case _:
                raise AssertionError("the elaborator allows faults under `and`, `or` and `not` only")

    def _drawn(self, fault: str, run: Run, condition: Term) -> Run | None:
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

    def _assign(self, statement: Assign, run: Run) -> list[Run]:
        if isinstance(statement.value, FaultDraw):
            outcomes = self._condition(statement.value, run, self.terms.true)
            for branch, value in outcomes:
                self._store(statement.target, value, branch)
            return self._alive(branch for branch, _ in outcomes)
        places = self._places(statement.target, run)
        self._put(statement.target, places, self._value(statement.value, run), run)
        return self._alive([run])

    def _store(self, target: Target, value: Term, run: Run) -> None:
        self._put(target, self._places(target, run), value, run)

    def _places(self, target: Target, run: Run) -> list[tuple[Term, int]]:
        if isinstance(target, LocalValue):
            return []
        compiler = self._compiler(run)
        places = compiler.places(target, run.guard)
        self._settle(compiler, run)
        return places

    def _put(self, target: Target, places: list[tuple[Term, int]], stored: Compound, run: Run) -> None:
        """Store a value; outside the type of the target the run ends in an error, beyond a bound without one."""
        terms = self.terms
        domain = self.system.domain(target.type)
        if domain.natural:
            self._restricted(run, terms.negation(self.slots.compounds.cut_off(stored, domain)))
        beyond, value = self.slots.compounds.fitted(stored, domain)
        outside = terms.all_of((run.guard, beyond))
        if outside is not terms.false:
            self.errors.append(outside)
            self._restricted(run, terms.outside(outside))
        if isinstance(target, LocalValue):
            run.locals[target.name] = value
            return
        for here, slot in places:
            run.values[slot] = terms.choice(here, value, self._compiler(run).read(slot))
        run.written = run.written | {target.key.split(".", 1)[0]}

    def _count(self, statement: Count, run: Run) -> list[Run]:
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

    def _check(self, statement: Check, run: Run) -> list[Run]:
        """Note where a check is false. It is no fork: the run goes on either way, and leaves the same state behind.

        An `if` around it is never merged (`_is_small`), so the check is met wherever the run's guard is true.
        """
        false = self.terms.negation(self._evaluate(statement.condition, run))
        run.events.append((("check", statement.span, statement.property), run.guard))
        if false is not self.terms.false:
            run.violations = (*run.violations, (statement.property, false))
        return self._alive([run])

    def _choose(self, statement: Choose, run: Run) -> list[Run]:
        terms = self.terms
        places = self._places(statement.target, run)
        options = self._options(statement, run)
        runs: list[Run] = []
        for position, (there, option) in enumerate(options):
            # A set has each element once: an option equal to an earlier one is no further choice.
            known = [] if statement.source is not None else options[:position]
            fresh = [terms.negation(self.slots.compounds.equal(option, earlier)) for _, earlier in known]
            branch = run.fork(terms.all_of((run.guard, there, *fresh)))
            if branch.guard is terms.false:
                continue
            self._put(statement.target, places, option, branch)
            runs.append(branch)
        return self._alive(runs)

    def _options(self, statement: Choose, run: Run) -> list[tuple[Term, Compound]]:
        """Return what can be chosen, each with the condition under which it is there."""
        compounds = self.slots.compounds
        if statement.domain is not None:
            domain = self.system.domain(statement.domain)
            self.may_wait = self.may_wait or not domain.size
            codes = [self.slots.encoded(domain, value) for value in domain.values()]
            return [(self.terms.true, compounds.read(code, domain)) for code in codes]
        if statement.source is not None:
            source = self._value(statement.source, run)
            assert isinstance(source, Members)
            self.may_wait = True
            return [(present, compounds.key(key, source)) for key, present in source.present]
        return [(self.terms.true, self._value(element, run)) for element in statement.elements]

    def _for(self, statement: For, run: Run) -> list[Run]:
        domain = self.system.domain(statement.domain)
        runs = [run]
        self._loops += 1
        for value in domain.values():
            for each in runs:
                each.locals[statement.variable] = self.slots.encoded(domain, value)
            runs = self._block(statement.body, runs)
        self._loops -= 1
        return runs

    def _if(self, statement: If, run: Run) -> list[Run]:
        terms = self.terms
        runs: list[Run] = []
        for branch, value in self._condition(statement.condition, run, terms.true):
            if self._loops and value.constant is None and self._is_small(statement):
                runs.extend(self._merged(statement, branch, value))
                continue
            for taken, guard, body in (
                (True, value, statement.then),
                (False, terms.negation(value), statement.otherwise),
            ):
                side = branch.fork(terms.all_of((branch.guard, guard)))
                if side.guard is not terms.false:
                    side.events.append((("branch", statement.span, taken), side.guard))
                    runs.extend(self._block(body, [side]))
        return runs

    def _is_small(self, statement: If) -> bool:
        body = (*statement.then, *statement.otherwise)
        return len(body) <= MERGED_ASSIGNMENTS_MAX and all(
            isinstance(s, Count)
            or (isinstance(s, Assign) and not isinstance(s.value, FaultDraw) and isinstance(s.target, VariableValue))
            for s in body
        )

    def _merged(self, statement: If, run: Run, value: Term) -> list[Run]:
        """Run both sides and choose between what they leave behind, without splitting the path.

        The stores written must be the same on both sides: whose fresh bits are cleared may not depend on a choice.
        """
        terms = self.terms
        sides: list[Run] = []
        for taken, guard, body in ((True, value, statement.then), (False, terms.negation(value), statement.otherwise)):
            side = run.fork(terms.all_of((run.guard, guard)))
            if side.guard is terms.false:
                continue
            side.events.append((("branch", statement.span, taken), side.guard))
            sides.extend(self._block(body, [side]))
        if len(sides) != 2 or not self._same_effects(*sides):
            return sides
        then, otherwise = sides
        untouched = then.guard is terms.all_of((run.guard, value)) and otherwise.guard is terms.all_of(
            (run.guard, terms.negation(value))
        )
        merged = run.fork(run.guard if untouched else terms.any_of((then.guard, otherwise.guard)))
        for slot in sorted(then.values.keys() | otherwise.values.keys()):
            before = self._compiler(run).read(slot)
            merged.values[slot] = terms.choice(value, then.values.get(slot, before), otherwise.values.get(slot, before))
        merged.events = list(dict.fromkeys([*then.events, *otherwise.events]))
        merged.written = then.written | otherwise.written
        return [merged]

    def _same_effects(self, then: Run, otherwise: Run) -> bool:
        versioned = {name for name, store in self.system.specification.stores.items() if store.versioned}
        return then.written & versioned == otherwise.written & versioned

    def _clear_fresh(self, run: Run) -> None:
        for store in run.written:
            for slot in self.system.others_fresh(self.process.name, self.instance, store):
                run.values[slot] = self.terms.false

    def _finish(self, run: Run) -> None:
        """Clear the fresh bits that writes made stale, and go to the next label."""
        self._clear_fresh(run)
        if self.process.environment:
            return
        slot = self.system.label_slots[self.process.name, self.instance]
        run.values[slot] = self.slots.encode(slot, run.label)
        if run.label in (self.process.first, STOPPED):
            kept = run.label == STOPPED
            run.values.update(self.slots.forgotten(self.process, self.instance, kept=kept))

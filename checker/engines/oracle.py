"""The plain explorer: breadth-first, one state at a time, over the evaluator. Slow and obvious, to judge others by.

It decides every property over the whole space and keeps what it needs to do so in plain dictionaries and lists: the
number of each state, how each was first reached, and all transitions. Expect some thousand states a second.

Invariants:
- States are numbered in the order in which they are found, so the first finding of a kind has a shortest trace.
- Properties are evaluated, all of them, in every state that is expanded and on every transition from it, violated or
  not: coverage and errors must not depend on what was violated before.
- A path that errs gives no successor. What lies behind it is unknown, so nothing is said of it.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence

from checker.engines.plainlassos import Edge, unanswered
from checker.engines.plainsearch import PlainSearch
from checker.exploration import Coverage, Exploration, Finding, Limits, Progress
from checker.trace import Trace, TraceStep, replay
from model.evaluate import Evaluator
from model.source import Span
from model.specification import Property, PropertyKind, Row, Table
from model.system import State, TransitionSystem
from model.transitions import Action, EvaluationError, Failure, Transition
from model.types import Value


def explore(system: TransitionSystem, limits: Limits) -> Exploration:
    """Explore everything that is reachable, and decide every property of the specification.

    An exploration that was cut short keeps what it has found, but says nothing of `recoverable` and `leads_to`
    properties: a way to the goal, or out of a cycle, may lead through states that nobody has looked at.
    """
    return _Explorer(system, limits).run()


class _Explorer:
    def __init__(self, system: TransitionSystem, limits: Limits) -> None:
        self.system = system
        self.limits = limits
        self.result = Exploration(system, engine="oracle")
        self.recorder = _Recorder(self.result.coverage)
        self.evaluator = Evaluator(system, self.recorder)
        self.properties = tuple(system.specification.properties.values())
        self.search = PlainSearch()
        self.edges: list[list[Edge]] = []
        """The transitions from each expanded state, by its number."""
        self.goals: dict[str, set[int]] = {p.name: set() for p in self._of(PropertyKind.RECOVERABLE)}
        self.owing: dict[str, set[int]] = {p.name: set() for p in self._of(PropertyKind.LEADS_TO)}
        self.silent: dict[str, set[int]] = {p.name: set() for p in self._of(PropertyKind.LEADS_TO)}
        """For each `leads_to` the states with `p` and without `q`, and all those without `q`."""
        self.started = time.monotonic()

    def run(self) -> Exploration:
        cut = self.search.run(self.system.initial_states, self._expand, self.limits, self._report)
        self.result.cut, self.result.depth = cut, self.search.depth
        self.recorder.shadowed -= self.result.coverage.rows
        self.result.states = len(self.search.states)
        self.result.complete = not self.result.cut
        if self.result.complete:
            for recoverable in self._of(PropertyKind.RECOVERABLE):
                self._recover(recoverable)
            for leading in self._of(PropertyKind.LEADS_TO):
                self._leads_to(leading)
        return self.result

    def _of(self, *kinds: PropertyKind) -> Iterable[Property]:
        return (p for p in self.properties if p.kind in kinds)

    def _expand(self, number: int) -> list[int]:
        """Decide the properties in a state and on its transitions; return the states that are new."""
        state = self.search.states[number]
        errors = self._errors_of_properties(number, state)
        ways_out = 0
        following: list[int] = []
        edges: list[Edge] = []
        for outcome in self.evaluator.transitions(state):
            ways_out += 1
            if isinstance(outcome, Failure):
                errors += 1
                self._failed(number, outcome.error, outcome.action)
                continue
            self.result.transitions += 1
            self._cover(outcome)
            new = self.search.reached(number, outcome)
            following += [] if new is None else [new]
            target = self.search.numbers[outcome.successor]
            edges.append(Edge(target, outcome.action, outcome.fair, faulty=bool(outcome.faults)))
            errors += self._errors_on_transition(number, state, outcome)
        self.edges.append(edges)
        self.result.failing_states += errors > 0
        if not ways_out and self.result.waiting is None and self.system.waits(state):
            self.result.waiting = self._finding(number)
        return following

    # -- properties -----------------------------------------------------------------------------------------------

    def _errors_of_properties(self, number: int, state: State) -> int:
        """Evaluate everything that is said of single states; return how many properties have no value here."""
        errors = 0
        for asked in self._of(PropertyKind.ALWAYS, PropertyKind.POSSIBLE, PropertyKind.RECOVERABLE):
            try:
                true = self.evaluator.holds(asked.expression, state)
            except EvaluationError as error:
                errors += 1
                self._failed(number, error, None)
                continue
            if asked.kind is PropertyKind.RECOVERABLE:
                if true:
                    self.goals[asked.name].add(number)
            elif true == (asked.kind is PropertyKind.POSSIBLE) and asked.name not in self.result.findings:
                self.result.findings[asked.name] = self._finding(number)
        for asked in self._of(PropertyKind.LEADS_TO):
            errors += self._errors_of_leads_to(number, state, asked)
        return errors

    def _errors_of_leads_to(self, number: int, state: State, asked: Property) -> int:
        """Note what is owed in a state; one in which a part has no value counts as answered: nothing rests on it."""
        values: list[bool] = []
        for expression in asked.expressions:
            try:
                values.append(self.evaluator.holds(expression, state))
            except EvaluationError as error:
                self._failed(number, error, None)
        if len(values) < len(asked.expressions):
            return 1
        owes_nothing, answered = values
        if not owes_nothing:
            self.owing[asked.name].add(number)
        if not answered:
            self.silent[asked.name].add(number)
        return 0

    def _errors_on_transition(self, number: int, state: State, transition: Transition) -> int:
        """Evaluate everything that is said of transitions; return how many properties have no value on this one."""
        errors = 0
        for asked in self._of(PropertyKind.STEP, PropertyKind.CHECKED):
            try:
                true = (
                    asked.name not in transition.violated
                    if asked.kind is PropertyKind.CHECKED
                    else self.evaluator.holds(asked.expression, state, transition.successor)
                )
            except EvaluationError as error:
                errors += 1
                self._failed(number, error, None)
                continue
            if not true and asked.name not in self.result.findings:
                self.result.findings[asked.name] = self._finding(number, transition)
        return errors

    def _recover(self, asked: Property) -> None:
        """Find the first state from which fair transitions lead to no state of the goal."""
        predecessors: list[list[int]] = [[] for _ in self.search.states]
        for source, edges in enumerate(self.edges):
            for edge in edges:
                if edge.fair:
                    predecessors[edge.target].append(source)
        able = set(self.goals[asked.name])
        pending = deque(able)
        while pending:
            for source in predecessors[pending.popleft()]:
                if source not in able:
                    able.add(source)
                    pending.append(source)
        lost = next((number for number in range(len(self.search.states)) if number not in able), None)
        if lost is not None:
            self.result.findings[asked.name] = self._finding(lost, still_possible=self._still_possible(lost))

    def _leads_to(self, asked: Property) -> None:
        """Find a run that has `p` and then never `q`, fair to every instance and step."""
        found = unanswered(self.edges, self.search.depths, self.owing[asked.name], self.silent[asked.name])
        if found is None:
            return
        before = self.search.trace(found.start)
        on = [*found.stem, *found.cycle]
        states = [*before.states, *(self.search.states[number] for _, number in on)]
        actions = [*(step.action for step in before.steps), *(action for action, _ in on)]
        trace = replay(self.system, states, actions, loop=len(before) + len(found.stem))
        self.result.findings[asked.name] = Finding(len(trace), trace)

    def _still_possible(self, start: int) -> tuple[str, ...]:
        """Return the steps that can happen in or after a state, whether fair or not, crashes in between included."""
        known = {start}
        pending = deque(known)
        steps: set[str] = set()
        while pending:
            for edge in self.edges[pending.popleft()]:
                if (step := edge.action.step) is not None:
                    steps.add(step)
                if edge.target not in known:
                    known.add(edge.target)
                    pending.append(edge.target)
        return tuple(sorted(steps))

    # -- what is noted --------------------------------------------------------------------------------------------

    def _cover(self, transition: Transition) -> None:
        coverage = self.result.coverage
        coverage.faults.update(transition.faults)
        step, kill_point = transition.action.step, transition.action.kill_point
        if step is not None:
            coverage.steps.add(step)
        if kill_point is not None:
            coverage.kill_points.add(kill_point)

    def _failed(self, number: int, error: EvaluationError, failing: Action | None) -> None:
        if self.result.failure is None:
            trace = self.search.trace(number)
            self.result.failure = Finding(len(trace), Trace(trace.initial, trace.steps, failing), error)

    def _finding(self, number: int, last: Transition | None = None, *, still_possible: tuple[str, ...] = ()) -> Finding:
        trace = self.search.trace(number)
        if last is not None:
            trace = Trace(trace.initial, (*trace.steps, TraceStep.of(last)))
        return Finding(len(trace), trace, still_possible=still_possible)

    def _report(self, layer: list[int]) -> None:
        if self.limits.on_progress is not None:
            seconds = time.monotonic() - self.started
            done = self.result
            self.limits.on_progress(
                Progress(self.search.depth, len(self.search.states), done.transitions, len(layer), seconds)
            )


class _Recorder:
    """Keeps what the evaluator reports; see `model.evaluate.Observer`.

    A branch or check counts only on a path that becomes a transition. A row counts wherever it is the one that matches:
    the row that keeps a `when` false has decided something, though there is no path.
    """

    def __init__(self, coverage: Coverage) -> None:
        self.coverage = coverage
        self.shadowed: set[Span] = set()
        coverage.shadowed_rows = self.shadowed
        self.path: set[tuple[Span, bool]] = set()
        self.checked: set[str] = set()

    def branch(self, span: Span, taken: bool) -> None:
        self.path.add((span, taken))

    def check(self, name: str) -> None:
        self.checked.add(name)

    def path_ended(self, completed: bool) -> None:
        if completed:
            self.coverage.branches |= self.path
            self.coverage.checks |= self.checked
        self.path.clear()
        self.checked.clear()

    def barred(self, span: Span) -> None:
        pass

    def consulted(self, table: Table, values: Sequence[Value], instance: int) -> None:
        pass

    def row(self, span: Span) -> None:
        self.coverage.rows.add(span)

    def passed_over(self, rows: tuple[Row, ...], fits: Callable[[Row], bool]) -> None:
        # Only rows that have not matched so far are of interest, and there are few of them after a while.
        for row in rows:
            if row.span not in self.coverage.rows and row.span not in self.shadowed and fits(row):
                self.shadowed.add(row.span)

    def premise(self, span: Span) -> None:
        self.coverage.premises.add(span)

"""The transition system: a specification with its parameters and faults fixed, so that everything is finite.

A state is one value for each *slot*. Slots come in a fixed order — stores, ghosts, then for every process instance its
label, volatile memory and fresh bits, last the spent budgets of counted faults — and that order is part of the
contract: traces, hashes and packings depend on it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from model import limits
from model.constants import constant_value
from model.counters import above_message, compares_above
from model.diagnostics import Code, Diagnostic, SpecificationError
from model.source import Span
from model.specification import (
    UNLIMITED,
    Allowance,
    CrashCourse,
    Fault,
    Process,
    Scenario,
    Specification,
    Step,
    Variable,
)
from model.types import (
    BoolType,
    CounterType,
    EnumType,
    NatType,
    NoneType,
    OptionalType,
    ProcessType,
    RangeType,
    SetType,
    SetValue,
    Value,
    ValueType,
    whole,
)

State = tuple[Value, ...]
"""One value for each slot, in the order of the slots."""

STOPPED = "stopped"
"""What stands in the label slot of an instance after `stop()`; no step can have this name (see `Domain`)."""

CRASHED = "crashed"
"""What stands there while an instance is down after a crash; no step can have this name either."""


@dataclass(frozen=True, slots=True)
class Domain:
    """A finite set of values in a fixed order; `literals` is None for integers, which count up from `low`.

    `inner` is the domain of T where this is one of `T?`: `None` comes first. `elements` is the domain of T where this
    is one of `set of T`: the bits of a set's position say which elements it has.
    """

    low: int
    size: int
    literals: tuple[Value, ...] | None = None
    counter: bool = False
    inner: Domain | None = None
    elements: Domain | None = None
    natural: bool = False
    """Whether this is one of `nat`: what an exploration looks at of it, from 0 to its bound. Without a bound, which
    only a prover can do, the size is 0 though there is no end of values."""

    @classmethod
    def optional(cls, inner: Domain) -> Domain:
        """Return the domain with `None` and the values of another."""
        return cls(0, inner.size + 1, inner=inner)

    @classmethod
    def sets(cls, elements: Domain) -> Domain:
        """Return the domain of all sets of another's values."""
        values = list(elements.values())
        masks = range(1 << elements.size)
        literals = tuple(SetValue(tuple(_plain(v) for i, v in enumerate(values) if mask >> i & 1)) for mask in masks)
        return cls(0, len(literals), literals, elements=elements)

    def values(self) -> Iterator[Value]:
        """Yield the values in order."""
        if self.inner is not None:
            yield None
            yield from self.inner.values()
        else:
            yield from self.literals if self.literals is not None else range(self.low, self.low + self.size)

    def contains(self, value: Value) -> bool:
        """Tell whether the value is one of the domain's; `True` is no integer here."""
        if self.inner is not None:
            return value is None or self.inner.contains(value)
        if self.literals is not None:
            return value in self.literals
        if not isinstance(value, int) or isinstance(value, bool):
            return False
        return self.low <= value and (self.endless or value < self.low + self.size)

    def cuts_off(self, value: Value) -> bool:
        """Tell whether a value is one of `nat` beyond the bound: no error, but not looked at."""
        return self.natural and not self.endless and isinstance(value, int) and value >= self.size

    @property
    def endless(self) -> bool:
        """Whether there is no end of values."""
        return self.natural and self.size == 0

    def index(self, value: Value) -> int:
        """Return the position of a value in the order of the domain, from 0."""
        if self.inner is not None:
            return 0 if value is None else 1 + self.inner.index(value)
        if self.literals is not None:
            return self.literals.index(value)
        return whole(value) - self.low

    def value(self, index: int) -> Value:
        """Return the value at a position."""
        if self.inner is not None:
            return self.inner.value(index - 1) if index else None
        return self.literals[index] if self.literals is not None else self.low + index

    @property
    def first(self) -> Value:
        """The default initial value: 0 where that is an integer of the domain, else the first."""
        if self.inner is not None:
            return None
        if self.literals is None:
            return 0 if self.contains(0) else self.low
        return self.literals[0]

    def __str__(self) -> str:
        if self.inner is not None:
            return f"{self.inner} or None"
        if self.elements is not None:
            return f"set of {self.elements}"
        if self.literals is not None:
            return "{" + ", ".join(str(v) for v in self.literals) + "}"
        if self.natural:
            return "nat"
        return f"{self.low}..{self.low + self.size - 1}"


BOOL_DOMAIN = Domain(0, 2, (False, True))


@dataclass(frozen=True, slots=True)
class Slot:
    """One place of the state: a variable or array element, a label, a fresh bit, or a spent budget.

    `lane` is the store, process instance or `faults` it belongs to; traces are drawn in these lanes.
    """

    name: str
    lane: str
    domain: Domain
    initial: Value
    free: bool = False
    """Whether a run may start with any value of the domain; `initial` is then the first."""


@dataclass(frozen=True, slots=True)
class ArrayLayout:
    """Where a variable's elements are: the first slot, and the domain of each index (the last one varies fastest)."""

    first: int
    indices: tuple[Domain, ...]

    @property
    def slots(self) -> range:
        """The slots of all elements."""
        return range(self.first, self.first + math.prod(domain.size for domain in self.indices))


@dataclass(frozen=True, slots=True)
class Budget:
    """What is allowed of a fault: `limit` times (None: any number), crashes only `at` these kill points (None: all).

    Where a scenario says which crashes there are, they are counted together, whichever fault they are: `in_turn` says
    where each of them may fall, and `limit` is their number.
    """

    limit: int | None
    at: frozenset[str] | None = None
    in_turn: CrashCourse | None = None

    @property
    def allowed(self) -> bool:
        """Whether the fault may happen at all."""
        return self.limit != 0

    def turns_at(self, kill_point: str) -> tuple[int, ...] | None:
        """Return the numbers of spent crashes with which the next may fall at a kill point; None for any number."""
        if self.at is not None and kill_point not in self.at:
            return ()
        if self.in_turn is None:
            return None if self.limit is None else tuple(range(self.limit))
        return tuple(turn for turn, points in enumerate(self.in_turn) if points is None or kill_point in points)


class TransitionSystem:
    """A specification under fixed parameters and faults."""

    def __init__(
        self,
        specification: Specification,
        settings: Mapping[str, Value],
        allow: Mapping[str, Allowance],
        bound: int | None = None,
        crashes: CrashCourse | None = None,
    ) -> None:
        """Fix the parameters and lay out the state; `bound` is the last value of each `nat`, None for no last one.

        `crashes` says which crashes there are, in the place of the budgets of those crash faults that are allowed.

        Raises:
            SpecificationError: a parameter or an initial value lies outside its type, a type is empty, too large, or
                gone over together with others too often, a counter is compared with more than it can tell, or there
                are no initial states, or too many.
        """
        self.specification = specification
        self.naturals = tuple(v for v in specification.variables.values() if isinstance(v.type, NatType))
        """The variables without a bound of their own."""
        self.bound = bound if self.naturals else None
        """The last value of each of them; None where there is none, or nothing needs one."""
        self.parameters: dict[str, Value] = {
            name: settings.get(name, p.default) for name, p in specification.parameters.items()
        }
        self._check_parameters()
        self._domains: dict[ValueType, Domain] = {}
        self.counts: dict[str, int] = {}
        for process in specification.processes.values():
            self.counts[process.name] = self._count(process)
        self.crashes = crashes
        """Which crashes there are, one after the other; None where each crash fault has a budget of its own."""
        self.budgets: dict[str, Budget] = {
            name: self._budget(f, allow.get(name)) for name, f in specification.faults.items()
        }
        self.slots: list[Slot] = []
        self.layouts: dict[tuple[str, int], ArrayLayout] = {}
        """Variable key and instance (0 for stores and ghosts) → where it is."""
        self.label_slots: dict[tuple[str, int], int] = {}
        self.fresh_slots: dict[tuple[str, int, str], int] = {}
        self.budget_slots: dict[str, int] = {}
        self.kill_points = {p.name: frozenset(p.kill_points) for p in specification.processes.values()}
        for value_type in specification.types.values():
            self.domain(value_type)
        self._check_sizes()
        self._check_comparisons()
        self._lay_out()
        self._check_initial_states()

    @classmethod
    def of(cls, scenario: Scenario) -> TransitionSystem:
        """Build the system of a scenario or mutant."""
        return cls(scenario.specification, scenario.set, scenario.allow, scenario.bound, scenario.crashes)

    @classmethod
    def endless(cls, scenario: Scenario) -> TransitionSystem:
        """Build the system of a scenario or mutant in which no `nat` has a bound. It cannot be explored."""
        return cls(scenario.specification, scenario.set, scenario.allow, crashes=scenario.crashes)

    # -- building -------------------------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        for name, parameter in self.specification.parameters.items():
            declared = parameter.type
            if not isinstance(declared, RangeType) or declared.low is None or declared.high is None:
                continue
            low, high = constant_value(declared.low, self.parameters), constant_value(declared.high, self.parameters)
            value = self.parameters[name]
            if not whole(low) <= whole(value) <= whole(high):
                message = f"`{name}` lies in {low}..{high}; {value} is outside"
                raise SpecificationError([Diagnostic(Code.PARAMETER_OUT_OF_RANGE, message, parameter.span)])

    def _check_sizes(self) -> None:
        """Refuse arrays, and loops and quantifiers inside one another, that go over too many elements."""
        for unrolling in self.specification.unrollings:
            elements = 1
            for value_type in unrolling.domains:
                elements *= self.domain(value_type).size
            if elements > limits.ARRAY_SIZE_MAX:
                most = f"at most {limits.ARRAY_SIZE_MAX:,} are allowed"
                message = f"with these parameters this goes over {elements:,} elements; {most}"
                raise SpecificationError([Diagnostic(Code.LIMIT, message, unrolling.span)])

    def _check_comparisons(self) -> None:
        """Refuse comparisons that ask of a counter what it cannot tell (language, point 12)."""
        for comparison in self.specification.comparisons:
            threshold = whole(constant_value(comparison.threshold, self.parameters))
            limit = whole(constant_value(comparison.limit, self.parameters))
            if compares_above(comparison.operator, threshold, limit):
                message = f"with these parameters {above_message(comparison.operator, threshold, limit)}"
                raise SpecificationError([Diagnostic(Code.COUNTER_COMPARED_ABOVE, message, comparison.span)])

    def _count(self, process: Process) -> int:
        count = whole(constant_value(process.count, self.parameters))
        if not 0 <= count <= limits.INSTANCES_MAX:
            message = f"`{process.name}` has {count:,} instances; 0 to {limits.INSTANCES_MAX} are allowed"
            raise SpecificationError([Diagnostic(Code.LIMIT, message, process.count.span)])
        return count

    def _budget(self, fault: Fault, allowance: Allowance | None) -> Budget:
        at_most: int | Literal["unlimited"] | None = allowance.at_most if allowance is not None else None
        if at_most is None:
            at_most = UNLIMITED if fault.at_most == UNLIMITED else whole(constant_value(fault.at_most, self.parameters))
        if at_most != UNLIMITED and not 0 <= int(at_most) <= limits.FAULT_BUDGET_MAX:
            message = (
                f"the fault `{fault.name}` is allowed {at_most} times; 0 to {limits.FAULT_BUDGET_MAX:,} can be counted"
            )
            raise SpecificationError([Diagnostic(Code.FAULT_BUDGET, message, fault.span)])
        if fault.crashes and self.crashes is not None:
            return self._in_turn(fault, self.crashes) if at_most != 0 else Budget(0)
        return Budget(None if at_most == UNLIMITED else int(at_most), allowance.at if allowance is not None else None)

    def _in_turn(self, fault: Fault, crashes: CrashCourse) -> Budget:
        """Return what is left to a crash fault where it is said which crashes there are."""
        processes = self.specification.processes
        own = frozenset(point for name in fault.crashes for point in processes[name].kill_points)
        places = [own if points is None else points & own for points in crashes]
        at = None if None in crashes else frozenset[str]().union(*places)
        return Budget(len(crashes) if any(places) else 0, at, crashes)

    def domain(self, value_type: ValueType) -> Domain:
        """Return the values of a type under these parameters.

        Raises:
            SpecificationError: the type is empty or too large.
        """
        known = self._domains.get(value_type)
        if known is None:
            known = self._domains[value_type] = self._domain(value_type)
        return known

    def _domain(self, value_type: ValueType) -> Domain:
        match value_type:
            case BoolType():
                return BOOL_DOMAIN
            case EnumType(literals=literals):
                return Domain(0, len(literals), literals)
            case ProcessType(name=name):
                return Domain(0, self.counts[name])
            case CounterType(limit=limit):
                most = whole(constant_value(limit, self.parameters))
                self._check_size(most + 1, 2, f"counter {most}", limit.span, limits.COUNTER_MAX + 1)
                return Domain(0, most + 1, counter=True)
            case RangeType(low=low, high=high):
                assert low is not None, "only declared types have domains"
                assert high is not None, "only declared types have domains"
                first, last = whole(constant_value(low, self.parameters)), whole(constant_value(high, self.parameters))
                self._check_size(
                    last - first + 1, 1, f"{first}..{last}", low.span.joined(high.span), limits.RANGE_SIZE_MAX
                )
                return Domain(first, last - first + 1)
            case NatType():
                return Domain(0, 0 if self.bound is None else self.bound + 1, natural=True)
            case OptionalType(inner=inner):
                return Domain.optional(self.domain(inner))
            case SetType(element=element):
                return self._sets(value_type, self.domain(element))
            case NoneType():
                raise AssertionError("nothing is declared to be `None` alone")

    def _sets(self, value_type: SetType, elements: Domain) -> Domain:
        if elements.size > limits.SET_ELEMENTS_MAX:
            message = f"with these parameters the elements of `{value_type}` are {elements.size:,} values"
            most = f"at most {limits.SET_ELEMENTS_MAX} are allowed"
            spans = [t.low.span for t in (value_type.element,) if isinstance(t, RangeType) and t.low is not None]
            raise SpecificationError([Diagnostic(Code.LIMIT, f"{message}; {most}", spans[0] if spans else None)])
        return Domain.sets(elements)

    def _check_size(self, size: int, least: int, text: str, span: Span, most: int) -> None:
        if size < least:
            raise SpecificationError(
                [Diagnostic(Code.EMPTY_TYPE, f"with these parameters the type is `{text}`, which has no values", span)]
            )
        if size > most:
            message = f"with these parameters the type is `{text}`; at most {most:,} values are allowed"
            raise SpecificationError([Diagnostic(Code.LIMIT, message, span)])

    def _lay_out(self) -> None:
        specification = self.specification
        for store in specification.stores.values():
            for variable in store.variables:
                self._place(variable, 0, store.name, variable.name)
        for variable in specification.ghosts:
            self._place(variable, 0, "ghost", variable.name)
        for process in specification.processes.values():
            if not process.environment:
                for instance in range(self.counts[process.name]):
                    self._place_instance(process, instance)
        together: int | None = None
        for name, budget in self.budgets.items():
            if not budget.limit:
                continue
            if budget.in_turn is not None and together is not None:
                self.budget_slots[name] = together
                continue
            what = f"{name} spent" if budget.in_turn is None else "crashes so far"
            slot = self._add(Slot(what, "faults", Domain(0, budget.limit + 1), 0), None)
            self.budget_slots[name] = slot
            together = together if budget.in_turn is None else slot

    def _place_instance(self, process: Process, instance: int) -> None:
        lane = self.instance_name(process.name, instance)
        labels: list[Value] = [step.name for step in process.steps]
        labels += [STOPPED] if process.stops else []
        labels += [CRASHED] if process.restarts != "at_once" else []
        self.label_slots[process.name, instance] = self._add(
            Slot(f"{lane} at", lane, Domain(0, len(labels), tuple(labels)), process.start), process.span
        )
        for variable in process.volatile:
            self._place(variable, instance, lane, f"{lane}.{variable.name}")
        for store in process.reads:
            self.fresh_slots[process.name, instance, store] = self._add(
                Slot(f"{lane} fresh {store}", lane, BOOL_DOMAIN, False), process.span
            )

    def _place(self, variable: Variable, instance: int, lane: str, name: str) -> None:
        domain = self.domain(variable.type)
        if not domain.size and not domain.natural:
            message = f"`{variable.name}` holds an instance of `{variable.type}`, which has none with these parameters"
            raise SpecificationError([Diagnostic(Code.EMPTY_TYPE, message, variable.span)])
        initial = domain.first if variable.initial is None else constant_value(variable.initial, self.parameters)
        if not domain.contains(initial):
            assert variable.initial is not None
            message = f"`{variable.name}` starts with {initial}, which is outside {domain}"
            if domain.cuts_off(initial):
                message = f"`{variable.name}` starts with {initial}, which is beyond the bound {self.bound}"
            raise SpecificationError([Diagnostic(Code.VALUE_OUTSIDE_TYPE, message, variable.initial.span)])
        indices = tuple(self.domain(t) for t in variable.per)
        self.layouts[variable.key, instance] = ArrayLayout(len(self.slots), indices)
        for suffix in _suffixes(indices):
            self._add(Slot(name + suffix, lane, domain, initial, variable.starts_anywhere), variable.span)

    def _add(self, slot: Slot, span: Span | None) -> int:
        if len(self.slots) >= limits.SLOTS_MAX:
            message = f"a state has more than {limits.SLOTS_MAX:,} variables and array elements"
            raise SpecificationError([Diagnostic(Code.LIMIT, message, span)])
        self.slots.append(slot)
        return len(self.slots) - 1

    def _check_initial_states(self) -> None:
        combinations = math.prod(slot.domain.size for slot in self.slots if slot.free)
        if combinations > limits.INITIAL_STATES_MAX:
            first = next(v for v in self.specification.variables.values() if v.starts_anywhere)
            message = f"`init: any` makes more than {limits.INITIAL_STATES_MAX:,} initial states"
            help_text = "let fewer variables start anywhere; `initially` is asked only afterwards"
            raise SpecificationError([Diagnostic(Code.LIMIT, message, first.span, help=help_text)])
        if self.specification.initially is not None and not self.initial_states:
            message = "no state satisfies this, so no run can start"
            raise SpecificationError([Diagnostic(Code.NO_INITIAL_STATE, message, self.specification.initially.span)])

    # -- reading --------------------------------------------------------------------------------------------------

    @cached_property
    def initial_states(self) -> tuple[State, ...]:
        """The states in which a run can start, the last slot that starts anywhere varying fastest."""
        starts = [tuple(slot.domain.values()) if slot.free else (slot.initial,) for slot in self.slots]
        states = itertools.product(*starts)
        if self.specification.initially is None:
            return tuple(states)
        # The evaluator is about systems; here one asks it about itself.
        from model.evaluate import satisfying

        return satisfying(self, self.specification.initially, states)

    def instance_name(self, process: str, instance: int) -> str:
        """Return how an instance is called: by its process alone where it is the only one."""
        return process if self.counts[process] == 1 else f"{process}[{instance}]"

    def instances(self) -> Iterator[tuple[Process, int]]:
        """Yield every process instance in the order of the file."""
        for process in self.specification.processes.values():
            for instance in range(self.counts[process.name]):
                yield process, instance

    def memory_slots(self, process: Process, instance: int, *, kept: bool = True) -> Iterator[int]:
        """Yield the slots that an instance loses in a crash: volatile memory and fresh bits.

        Without what is `kept` they are those that it forgets at its first step.
        """
        for variable in process.volatile:
            if kept or not variable.keep:
                yield from self.layouts[variable.key, instance].slots
        for store in process.reads:
            yield self.fresh_slots[process.name, instance, store]

    def waits(self, state: State) -> bool:
        """Tell whether some instance stands before a step that is not its first one: neither stopped nor down.

        Where numbers have been cut off nothing is said of it: what is waited for may lie beyond.
        """
        return self.bound is None and any(
            state[self.label_slots[process.name, instance]] not in (process.first, STOPPED, CRASHED)
            for process, instance in self.instances()
            if not process.environment
        )

    def others_fresh(self, process: str, instance: int, store: str) -> Iterator[int]:
        """Yield the fresh bits of a store that a write by this instance clears."""
        for (other, number, name), slot in self.fresh_slots.items():
            if name == store and (other, number) != (process, instance):
                yield slot

    def crash_faults(self, process: Process) -> Iterator[tuple[str, Budget]]:
        """Yield the crash faults that may hit a process here, with what is allowed of them."""
        for name, fault in self.specification.faults.items():
            if process.name in fault.crashes and self.budgets[name].allowed:
                yield name, self.budgets[name]

    def steps(self) -> Iterator[Step]:
        """Yield every step of the specification."""
        for process in self.specification.processes.values():
            yield from process.steps


def _plain(value: Value) -> bool | int | str:
    assert value is not None
    assert not isinstance(value, SetValue)
    return value


def _suffixes(indices: tuple[Domain, ...]) -> list[str]:
    suffixes = [""]
    for position, domain in enumerate(indices):
        opening = "[" if position == 0 else ", "
        suffixes = [f"{known}{opening}{value}" for known in suffixes for value in domain.values()]
    return [f"{suffix}]" if indices else suffix for suffix in suffixes]

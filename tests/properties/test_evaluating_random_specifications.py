"""What the evaluator does is what the language says of every step, whatever the specification."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from hypothesis import given

from model.evaluate import Evaluator
from model.expressions import VariableValue
from model.specification import Process, Step
from model.statements import Assign, Choose, Count, Read, walk_statements
from model.system import CRASHED, STOPPED, State, TransitionSystem
from model.transitions import Transition
from model.types import whole
from tests.strategies.specifications import specifications
from tests.strategies.trying import described, loaded, some_reachable, systems, tries

# States of each system that are looked at.
STATES = 40


def transitions(text: str) -> Iterator[tuple[TransitionSystem, State, Transition]]:
    """Yield transitions of all systems of a specification."""
    for system in systems(loaded(text)):
        evaluator = Evaluator(system)
        for state in some_reachable(system, STATES):
            for outcome in evaluator.transitions(state):
                if isinstance(outcome, Transition):
                    yield system, state, outcome


def step_of(system: TransitionSystem, transition: Transition) -> Step:
    action = transition.action
    return next(s for s in system.specification.processes[action.process].steps if s.name == action.label)


def writes(step: Step) -> set[str]:
    """Return the owners of the variables that a step may assign."""
    targets = [s.target for s in walk_statements(step.body) if isinstance(s, Assign | Choose | Count)]
    return {target.key.split(".", 1)[0] for target in targets if isinstance(target, VariableValue)}


def store_slots(system: TransitionSystem, store: str) -> list[int]:
    variables = system.specification.stores[store].variables
    slots: list[int] = []
    for variable in variables:
        layout = system.layouts[variable.key, 0]
        size = 1
        for domain in layout.indices:
            size *= domain.size
        slots += range(layout.first, layout.first + size)
    return slots


def own_slots(system: TransitionSystem, process: Process, instance: int) -> set[int]:
    return {system.label_slots[process.name, instance], *system.memory_slots(process, instance)}


def sequential(system: TransitionSystem) -> list[tuple[Process, int]]:
    return [(process, instance) for process, instance in system.instances() if not process.environment]


@tries(30)
@given(specifications())
def test_the_transitions_from_a_state_are_the_same_each_time(text: str) -> None:
    for system in systems(loaded(text)):
        for state in some_reachable(system, STATES):
            first, second = Evaluator(system).transitions(state), Evaluator(system).transitions(state)
            assert described(first) == described(second)


@tries(50)
@given(specifications())
def test_every_successor_lies_in_the_domains(text: str) -> None:
    for system, _, transition in transitions(text):
        outside = [
            f"{slot.name} = {value!r}"
            for slot, value in zip(system.slots, transition.successor, strict=True)
            if not slot.domain.contains(value)
            or (value is not None and slot.initial is not None and type(value) is not type(slot.initial))
        ]
        assert outside == [], transition


@tries(50)
@given(specifications())
def test_at_its_first_step_stopped_and_down_a_process_has_forgotten_all_but_what_it_keeps(text: str) -> None:
    for system, _, transition in transitions(text):
        for process, instance in sequential(system):
            label = transition.successor[system.label_slots[process.name, instance]]
            if label in {process.first, STOPPED, CRASHED}:
                remembered = [
                    system.slots[slot].name
                    for slot in system.memory_slots(process, instance, kept=label != process.first)
                    if transition.successor[slot] != system.slots[slot].initial
                ]
                assert remembered == [], transition


@tries(50)
@given(specifications())
def test_a_step_changes_nothing_in_other_processes_but_their_fresh_bits(text: str) -> None:
    for system, state, transition in transitions(text):
        bits = set(system.fresh_slots.values())
        for process, instance in sequential(system):
            if (process.name, instance) == (transition.action.process, transition.action.instance):
                continue
            touched = [
                system.slots[slot].name
                for slot in own_slots(system, process, instance) - bits
                if state[slot] != transition.successor[slot]
            ]
            assert touched == [], transition


@tries(80)
@given(specifications())
def test_a_write_keeps_the_own_fresh_bit_and_clears_all_others(text: str) -> None:
    for system, state, transition in transitions(text):
        after, action = transition.successor, transition.action
        if action.kind != "step":
            continue
        may_write = writes(step_of(system, transition))
        reads = {s.store for s in walk_statements(step_of(system, transition).body) if isinstance(s, Read)}
        for (process, instance, store), slot in system.fresh_slots.items():
            changed = any(state[place] != after[place] for place in store_slots(system, store))
            label, name = after[system.label_slots[process, instance]], system.slots[slot].name
            if (process, instance) != (action.process, action.instance):
                assert not (changed and after[slot]), f"{name} survives {transition}"
                assert not (after[slot] and not state[slot]), f"{name} appears in {transition}"
                assert store in may_write or after[slot] == state[slot], f"{name} is lost in {transition}"
            elif label not in {system.specification.processes[process].first, STOPPED}:
                assert not (state[slot] and not after[slot]), f"{name} is lost in {transition}"
                assert store in reads or after[slot] == state[slot], f"{name} appears in {transition}"


@tries(50)
@given(specifications())
def test_a_crash_takes_the_memory_of_one_process_and_writes_only_what_its_bodies_say(text: str) -> None:
    for system, state, transition in transitions(text):
        action = transition.action
        if action.kind != "crash":
            continue
        process = system.specification.processes[action.process]
        own = own_slots(system, process, action.instance)
        bodies = [step.torn for step in process.steps if action.torn and step.name == action.label]
        written = {owner for body in (*bodies, process.on_crash) if body is not None for owner in writes(body)}
        others = {slot for name in written & system.specification.stores.keys() for slot in store_slots(system, name)}
        others |= {slot for (_, _, store), slot in system.fresh_slots.items() if store in written}
        if "ghost" in written:
            others |= {slot for slot, each in enumerate(system.slots) if each.lane == "ghost"}
        budget = {slot for name, slot in system.budget_slots.items() if name == action.fault}
        changed = {slot for slot, value in enumerate(state) if transition.successor[slot] != value}

        assert changed <= own | budget | others
        assert changed - budget, "a crash that changes nothing but its budget is none"
        memory = system.memory_slots(process, action.instance)
        assert all(transition.successor[slot] == system.slots[slot].initial for slot in memory)
        label = system.label_slots[action.process, action.instance]
        assert transition.successor[label] == (process.start if process.restarts == "at_once" else CRASHED)
        assert action.label == state[label]


@tries(50)
@given(specifications())
def test_what_is_down_comes_up_where_it_starts_and_does_nothing_else(text: str) -> None:
    for system, state, transition in transitions(text):
        action = transition.action
        process = system.specification.processes[action.process]
        if process.environment:
            continue
        slot = system.label_slots[action.process, action.instance]
        assert (state[slot] == CRASHED) == (action.kind == "restart"), transition
        if action.kind == "restart":
            assert process.restarts == "later"
            assert transition.fair
            assert transition.successor == (*state[:slot], process.start, *state[slot + 1 :])


@tries(50)
@given(specifications())
def test_faults_are_counted_each_time_and_never_beyond_what_is_allowed(text: str) -> None:
    for system, state, transition in transitions(text):
        happened = Counter(transition.faults)
        for name, budget in system.budgets.items():
            assert budget.allowed or not happened[name], transition
            if name in system.budget_slots:
                slot = system.budget_slots[name]
                assert transition.successor[slot] == whole(state[slot]) + happened[name], transition
        assert not (transition.faults and transition.fair), transition

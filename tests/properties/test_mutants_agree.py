"""What is said of mutants of random specifications is what the plain explorer and the evaluator say of each alone."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import assume, event, given, note
from hypothesis import strategies as st

from checker.engines import oracle
from checker.engines.altered import explore_altered, ways_to
from checker.engines.differences import compare, plainly_compared
from checker.exploration import Exploration, Limits
from checker.mutation.generation import mutants_of
from checker.mutation.mutants import Mutant
from checker.mutation.survivors import difference_in
from model.diagnostics import SpecificationError
from model.evaluate import Evaluator
from model.specification import PropertyKind, Scenario
from model.system import State, TransitionSystem
from model.transitions import Failure
from tests.strategies.specifications import specifications
from tests.strategies.trying import loaded, tries

STATES_MAX = 600
MUTANTS = 12


def original_and_mutants(
    text: str, data: st.DataObject
) -> tuple[TransitionSystem, list[tuple[Mutant, TransitionSystem]]]:
    """Choose a scenario in which nothing errs, and some mutants of what it runs."""
    file = loaded(text)
    scenario = data.draw(st.sampled_from(list(file.scenarios.values())), "scenario")
    original = built(scenario)
    found = mutants_of(file.source, [scenario.specification])
    assume(found)
    chosen = data.draw(st.lists(st.sampled_from(found), min_size=1, max_size=MUTANTS, unique_by=lambda m: m.id))
    note(f"\n{text}\n{scenario.name}: {[mutant.id for mutant in chosen]}")
    systems = []
    for mutant in chosen:
        specification = mutant.applied(scenario.specification)
        assert specification is not scenario.specification, "it was made from this one"
        try:
            systems.append((mutant, TransitionSystem.of(replace(scenario, specification=specification))))
        except SpecificationError:
            event("no such protocol")
    return original, systems


def built(scenario: Scenario) -> TransitionSystem:
    try:
        return TransitionSystem.of(scenario)
    except SpecificationError:
        assume(condition=False)
        raise


def plainly(system: TransitionSystem) -> Exploration:
    return oracle.explore(system, Limits(states_max=STATES_MAX))


@tries(60)
@given(specifications(), st.data())
def test_a_mutant_breaks_what_the_plain_explorer_says(text: str, data: st.DataObject) -> None:
    original, mutants = original_and_mutants(text, data)
    try:
        results = explore_altered(original, [system for _, system in mutants], Limits(states_max=20 * STATES_MAX), None)
    except SpecificationError:
        assume(condition=False)
        raise
    for (mutant, system), found in zip(mutants, results, strict=True):
        expected = plainly(system)
        if not expected.complete:
            continue
        if found.alike:
            event("alike")
            check_same_graph(mutant, original, system, expected=True)
            continue
        kinds = {name: claim.kind for name, claim in system.specification.properties.items()}
        certain = {PropertyKind.ALWAYS, PropertyKind.STEP, PropertyKind.CHECKED}
        if expected.failure is None:
            certain |= {PropertyKind.RECOVERABLE, PropertyKind.LEADS_TO}
        broken = {name for name in expected.findings if kinds[name] in certain}
        event(f"breaks {bool(broken)}, errs {expected.failure is not None}")
        assert found.states == expected.states, mutant.id
        assert set(found.broken) == broken, mutant.id
        assert found.reached == {n for n in expected.findings if kinds[n] is PropertyKind.POSSIBLE}, mutant.id
        assert (found.failure is None) == (expected.failure is None or bool(broken)), mutant.id
        assert found.coverage.faults == expected.coverage.faults, mutant.id
        for name, finding in found.findings.items():
            if kinds[name] is not PropertyKind.LEADS_TO:
                assert finding.depth == found.broken[name] == min(found.broken.values()), mutant.id


@tries(60)
@given(specifications(), st.data())
def test_a_mutant_has_the_graph_of_its_original_exactly_where_it_is_said_to(text: str, data: st.DataObject) -> None:
    original, mutants = original_and_mutants(text, data)
    assume((plain := plainly(original)).complete and plain.failure is None)
    try:
        results = compare(original, [system for _, system in mutants], Limits())
    except SpecificationError:
        assume(condition=False)
        raise
    for (mutant, system), found in zip(mutants, results, strict=True):
        assert found.complete
        event(f"same {found.differs_in is None}")
        check_same_graph(mutant, original, system, expected=found.differs_in is None)
        if found.differs_in is not None:
            again = plainly_compared(original, system, Limits())
            assert again.differs_at == found.differs_at, mutant.id
            (trace,) = ways_to(original, [(found.differs_at, found.differs_in)], Limits())
            assert len(trace) == found.differs_at
            difference = difference_in("", original, system, trace)
            assert difference.gained or difference.lost, mutant.id


def check_same_graph(mutant: Mutant, original: TransitionSystem, system: TransitionSystem, *, expected: bool) -> None:
    """Compare all that two systems do, from their initial states on."""
    same = graph(original) == graph(system)
    assert same is expected, f"{mutant.id}: {mutant.before} -> {mutant.after}"


def graph(system: TransitionSystem) -> dict[State, set[object]]:
    """Return the transitions of every reachable state, and the actions that err there."""
    evaluator = Evaluator(system)
    found: dict[State, set[object]] = {}
    pending = list(system.initial_states)
    while pending and len(found) <= 3 * STATES_MAX:
        state = pending.pop()
        if state in found:
            continue
        found[state] = set()
        for outcome in evaluator.transitions(state):
            if isinstance(outcome, Failure):
                found[state].add((outcome.action, "errs"))
            else:
                found[state].add((outcome.action, outcome.fair, outcome.successor))
                pending.append(outcome.successor)
    assume(len(found) <= 3 * STATES_MAX)
    return found

"""`leads_to: [p, q]` on small protocols: who may starve, what faults excuse, and what a finding has to show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from checker.confirm import confirm_property
from checker.exploration import Exploration, Finding, Limits
from checker.stored import from_document, to_document
from checker.trace import EngineDisagreement
from model.loader import load
from model.source import Source
from model.system import TransitionSystem
from tests.engines.exploring import ENGINES, explored_by

Explored = Callable[..., Exploration]


@pytest.fixture(params=ENGINES)
def explored(request: pytest.FixtureRequest) -> Explored:
    """Explore a specification, of whose findings each is confirmed and stands being stored."""

    def explore(text: str, limits: Limits | None = None) -> Exploration:
        file = load(Source("example.yaml", "language: 1\nprotocol: example\n" + text))
        system = TransitionSystem.of(next(iter(file.scenarios.values())))
        found = explored_by(request.param, system, limits)
        for name, finding in found.findings.items():
            confirm_property(system, system.specification.properties[name], finding)
        assert from_document(to_document(found), system).findings == found.findings
        return found

    return explore


def environment(steps: str, holds: str, properties: str, more: str = "") -> str:
    """Write a protocol of one environment."""
    lines = "".join(f"      {line}\n" for line in steps.strip().split("\n"))
    return (
        f"{more}stores: {{s: {{holds: {{{holds}}}}}}}\n"
        f"processes:\n  e:\n    environment: true\n    steps:\n{lines}properties: {{{properties}}}\n"
    )


X = "x: {type: 0..3}"
SMALL = "types: {Small: 0..3}\n"


def number(steps: str, properties: str, more: str = "") -> str:
    """Write a protocol of one environment and one number `x` that starts with 0."""
    return environment(steps, "x: {type: Small}", properties, SMALL + more)


TO_ONE = 'one: {leads_to: ["x == 0", "x == 1"]}'


def test_a_fair_step_that_stays_possible_is_taken(explored: Explored) -> None:
    assert explored(number('up: "when(x == 0)\\nx = 1"', TO_ONE)).findings == {}


def test_a_step_that_is_not_fair_need_not_be_taken(explored: Explored) -> None:
    found = explored(number('up: {fair: false, do: "when(x == 0)\\nx = 1"}', TO_ONE)).findings["one"]

    assert found.trace.loop == 0
    assert found.depth == 0, "it stays where it is"


def test_the_same_moment_counts(explored: Explored) -> None:
    assert explored(number('up: "x = 1"', 'same: {leads_to: ["x == 0", "x <= 1"]}')).findings == {}


def test_what_happened_before_does_not_count(explored: Explored) -> None:
    found = explored(number('up: "when(x < 3)\\nx += 1"', 'back: {leads_to: ["x == 2", "x <= 1"]}'))

    assert found.findings["back"].trace.loop == 3
    assert found.findings["back"].trace.cycle == ()


def test_ping_pong_keeps_a_step_from_being_owed(explored: Explored) -> None:
    steps = 'ping: "when(x == 0)\\nx = 2"\npong: "when(x == 2)\\nx = 0"\nleave: "when(x == 0)\\nx = 1"'
    found = explored(number(steps, TO_ONE)).findings["one"]

    assert (found.trace.loop, len(found.trace.cycle)) == (0, 2)


def test_ping_pong_does_not_keep_off_a_step_that_is_possible_all_along(explored: Explored) -> None:
    steps = 'ping: "when(x == 0)\\nx = 2"\npong: "when(x == 2)\\nx = 0"\nleave: "when(x != 1)\\nx = 1"'

    assert explored(number(steps, TO_ONE)).findings == {}


def test_steps_that_are_not_fair_may_go_round_for_ever(explored: Explored) -> None:
    steps = (
        'ping: {fair: false, do: "when(x == 0)\\nx = 2"}\npong: "when(x == 2)\\nx = 0"\nleave: "when(x == 0)\\nx = 1"'
    )
    found = explored(number(steps, TO_ONE)).findings["one"]

    assert [step.action.label for step in found.trace.cycle] == ["ping", "pong"]


def test_an_unfair_step_alone_does_not_keep_a_run_from_staying(explored: Explored) -> None:
    steps = 'ping: {fair: false, do: "when(x == 0)\\nx = 2"}\npong: "when(x == 2)\\nx = 0"'

    assert explored(number(steps, TO_ONE)).findings["one"].trace.cycle == ()


def test_a_step_that_changes_nothing_is_no_progress_and_not_owed(explored: Explored) -> None:
    found = explored(number('idle: "pass"\nstill: "x = x"', TO_ONE)).findings["one"]

    assert found.trace.cycle == ()


def test_all_outcomes_of_a_choice_are_one_step(explored: Explored) -> None:
    """The environment may choose badly for ever: a livelock."""
    steps = 'go: "when(x != 1)\\nx = choose({0, 1, 2})"'
    found = explored(number(steps, TO_ONE)).findings["one"]

    assert (found.trace.loop, len(found.trace.cycle)) == (0, 2)


def test_a_choice_that_can_only_stay_or_arrive_arrives(explored: Explored) -> None:
    """Staying is no change, so the step is owed until it makes one."""
    assert explored(number('go: "when(x == 0)\\nx = choose({0, 1})"', TO_ONE)).findings == {}


def test_a_way_out_that_only_a_fault_opens_is_not_owed(explored: Explored) -> None:
    more = "faults: {luck: {at_most: unlimited}}\n"
    found = explored(number('go: "when(x == 0 and fault(luck))\\nx = 1"', TO_ONE, more))

    assert found.findings["one"].trace.cycle == ()


WORKER = """
stores: {s: {holds: {done: {type: bool}, tries: {type: bool}}}}
faults: {crash: {of: [worker]}, mishap: {at_most: unlimited}}
processes:
  worker:
    steps:
      begin: "tries = not tries"
      finish: |
        if fault(mishap): goto(begin)
        done = True
      rest: stop()
properties:
  arrives: {leads_to: ["not done", "done"]}
"""


def test_crashes_and_faults_do_not_go_on_for_ever(explored: Explored) -> None:
    found = explored(WORKER)

    assert found.findings == {}
    assert found.coverage.faults == {"crash", "mishap"}


def test_what_faults_have_led_to_counts(explored: Explored) -> None:
    text = WORKER.replace("if fault(mishap): goto(begin)", "if fault(mishap): stop()")
    found = explored(text).findings["arrives"]

    assert [step.faults for step in found.trace.steps] == [(), ("mishap",)]
    assert found.trace.loop == 2


def test_faults_on_the_way_from_p_to_the_cycle_count(explored: Explored) -> None:
    text = WORKER.replace("if fault(mishap): goto(begin)", "if fault(mishap): stop()").replace(
        '"not done"', '"not tries"'
    )

    assert explored(text).findings["arrives"].depth == 2


TWO = """
stores: {s: {holds: {turn: {type: worker}, served: {type: bool, per: worker}}}}
processes:
  worker:
    count: 2
    volatile: {seen: {type: bool}}
    steps:
      ask: "when(LOCK)"
      serve: |
        served[self] = True
        turn = 1 - self
      clear: "served[self] = False"
properties:
  first: {leads_to: ["worker[0].at(ask)", "served[0]"]}
  second: {leads_to: ["worker[1].at(ask)", "served[1]"]}
"""


def test_a_process_starves_where_another_takes_the_lock_in_between(explored: Explored) -> None:
    """Neither is owed the lock: each time that the other has it, asking is not possible."""
    text = TWO.replace("LOCK", "free").replace("turn: {type: worker}", "free: {type: bool, init: true}")
    text = text.replace('ask: "when(free)"', "ask: |\n        when(free)\n        free = False")
    text = text.replace("turn = 1 - self", "free = True")
    found = explored(text)

    assert set(found.findings) == {"first", "second"}
    assert {step.action.instance for step in found.findings["first"].trace.cycle} == {1}


def test_a_turn_keeps_processes_from_starving(explored: Explored) -> None:
    assert explored(TWO.replace("LOCK", "turn == self")).findings == {}


def test_a_process_that_is_not_fair_may_hold_up_the_others(explored: Explored) -> None:
    text = TWO.replace("LOCK", "turn == self").replace("    count: 2\n", "    count: 2\n    fair: false\n")

    assert set(explored(text).findings) == {"first", "second"}


def test_each_instance_is_owed_its_own_turn(explored: Explored) -> None:
    """One that could always go on goes on, whatever the other one does; so nobody goes round alone."""
    text = TWO.replace('ask: "when(LOCK)"', "ask: pass")

    assert explored(text).findings == {}


def test_a_run_that_is_cut_says_nothing(explored: Explored) -> None:
    steps = 'up: "when(x < 2)\\nx += 1"'

    assert explored(number(steps, TO_ONE.replace("1", "3")), Limits(states_max=1)).findings == {}


def test_where_p_or_q_has_no_value_nothing_is_owed(explored: Explored) -> None:
    more = "types: {Small: 0..3, Few: 0..1}\n"
    text = environment(
        'up: "pass"', "x: {type: Small, init: 3}, a: {type: bool, per: Few}", 'one: {leads_to: ["True", "a[x]"]}', more
    )
    found = explored(text)

    assert found.failure is not None
    assert found.findings == {}


def test_a_premise_that_is_true_somewhere_is_covered(explored: Explored) -> None:
    properties = 'met: {leads_to: ["x == 1", "True"]}, missed: {leads_to: ["x == 2", "True"]}'
    found = explored(number('up: "when(x == 0)\\nx = 1"', properties))
    spans = {name: p.expression.span for name, p in found.system.specification.properties.items()}

    assert found.coverage.premises == {spans["met"]}


# --- What is not believed ---

PING = number('ping: "when(x == 0)\\nx = 2"\npong: "when(x == 2)\\nx = 0"\nleave: "when(x == 0)\\nx = 1"', TO_ONE)


def changed(found: Finding, **changes: object) -> Finding:
    trace = replace(found.trace, **changes)  # type: ignore[arg-type]
    return Finding(len(trace), trace)


@pytest.mark.parametrize(
    ("text", "wrong", "reason"),
    [
        (PING, lambda f: changed(f, loop=None), "does not come back"),
        (PING, lambda f: changed(f, loop=1), "does not come back"),
        (PING, lambda f: changed(f, loop=2), "never takes"),
        (PING, lambda f: changed(f, steps=f.trace.steps[:1], loop=1), "never takes"),
        (PING.replace("x != 1", "x == 0"), lambda f: changed(f, steps=(), loop=0), "never takes"),
    ],
)
def test_a_lasso_that_is_none_is_not_believed(
    explored: Explored, text: str, wrong: Callable[[Finding], Finding], reason: str
) -> None:
    found = explored(text)

    with pytest.raises(EngineDisagreement, match=reason):
        confirm_property(found.system, found.system.specification.properties["one"], wrong(found.findings["one"]))


@pytest.mark.parametrize("claim", ['["x == 1", "x == 3"]', '["x == 0", "x == 2"]', '["x == 3", "x == 1"]'])
def test_a_lasso_of_another_property_is_not_believed(explored: Explored, claim: str) -> None:
    found = explored(PING)
    other = explored(PING.replace('["x == 0", "x == 1"]', claim)).system.specification.properties["one"]

    with pytest.raises(EngineDisagreement, match="unanswered where"):
        confirm_property(found.system, other, found.findings["one"])


def test_a_lasso_with_a_fault_where_it_goes_round_is_not_believed(explored: Explored) -> None:
    more = "faults: {slip: {at_most: unlimited}}\n"
    steps = 'ping: "when(x == 0)\\nx = 2"\npong: "when(x == 2)\\nx = 0"\nleave: "when(x == 0)\\nx = 1"'
    found = explored(number(steps, TO_ONE, more).replace("when(x == 2)", "when(x == 2 and not fault(slip))"))
    faulty = number(steps, TO_ONE, more).replace("when(x == 2)", "when(x == 2 and fault(slip))")
    system = explored(faulty).system

    with pytest.raises(EngineDisagreement, match="none of the evaluator's"):
        confirm_property(system, system.specification.properties["one"], found.findings["one"])

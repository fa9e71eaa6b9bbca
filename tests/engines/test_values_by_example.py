"""Optional values, sets and several initial states, by examples whose state graphs were counted by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from checker.engines import columnar, oracle
from checker.exploration import Exploration, Limits
from checker.reporting.documents import trace_document
from checker.reporting.itf import itf_document
from checker.reporting.lanes import Conclusion, trace_lines
from model.codes import Code
from model.diagnostics import SpecificationError
from model.loader import load
from model.source import Source
from model.system import TransitionSystem
from model.types import SetValue

Explore = Callable[[TransitionSystem], Exploration]

ENGINES = {
    "oracle": lambda system: oracle.explore(system, Limits()),
    "columns": lambda system: columnar.explore([system], Limits())[0],
}

HEAD = """
language: 1
protocol: example
types:
  Job: 1..3
  Colour: [red, green, blue]
  Perhaps: Job?
  All: set of 0..7
stores:
  shop:
    holds:
"""


def system_of(text: str) -> TransitionSystem:
    return TransitionSystem.of(load(Source("example.yaml", text)).scenarios["default"])


def environment(holds: str, *bodies: str, rest: str = "") -> TransitionSystem:
    """Build a system of one store and an environment with a step for each body."""
    steps = "".join(f"      step{n}: |\n{indented(body)}" for n, body in enumerate(bodies))
    text = f"{HEAD}{indented(holds, 6)}processes:\n  world:\n    environment: true\n    steps:\n{steps}{rest}"
    return system_of(text)


def indented(text: str, columns: int = 8) -> str:
    return "".join(f"{' ' * columns}{line}\n" for line in text.splitlines())


def counts(found: Exploration) -> tuple[int, int, int]:
    return found.states, found.transitions, found.depth


@pytest.fixture(params=ENGINES)
def explore(request: pytest.FixtureRequest) -> Explore:
    return ENGINES[request.param]


# --- T? ---


def test_a_lease_that_one_of_two_holds_or_nobody(explore: Explore) -> None:
    text = """
language: 1
protocol: lease
stores: {lock: {holds: {owner: {type: 'worker?'}}}}
processes:
  worker:
    count: 2
    steps:
      take: |
        when(owner == None)
        owner = self
      give: owner = None
properties:
  held: {always: "all(implies(worker[w].at(give), owner == w) for w in worker)"}
"""
    found = explore(system_of(text))

    # Free, or held by one of the two: each takes it and gives it back.
    assert counts(found) == (3, 4, 2)
    assert found.findings == {}


def test_none_comes_first_and_then_the_values_in_their_order() -> None:
    domain = environment("colour: {type: 'Colour?'}", "pass").slots[0].domain

    assert list(domain.values()) == [None, "red", "green", "blue"]
    assert domain.first is None


def test_a_choice_of_an_optional_type_has_none_and_all_values(explore: Explore) -> None:
    found = explore(environment("job: {type: 'Job?'}", "x: Perhaps = choose(Perhaps)\njob = x"))

    assert counts(found) == (4, 16, 2)


BODIES_ON_NONE = {
    "an order": ("if owner >= 1: n = 1", Code.NONE_HAS_NO_VALUE),
    "arithmetic": ("n = owner + 1", Code.NONE_HAS_NO_VALUE),
    "counting on": ("owner += 1", Code.NONE_HAS_NO_VALUE),
    "a minimum": ("n = min(owner, 1)", Code.NONE_HAS_NO_VALUE),
    "an index": ("flags[owner] = True", Code.NONE_HAS_NO_VALUE),
    "a condition": ("if perhaps: n = 1", Code.NONE_HAS_NO_VALUE),
    "a negation": ("when(not perhaps)", Code.NONE_HAS_NO_VALUE),
    "an element": ("seen.add(owner)", Code.NONE_HAS_NO_VALUE),
    "an assignment to a plain variable": ("n = owner", Code.ASSIGNED_OUTSIDE_TYPE),
    "a choice for a plain variable": ("n = choose({owner, 1})", Code.ASSIGNED_OUTSIDE_TYPE),
}
BODIES_WITHOUT_ERROR = {
    "equality": "if owner == None and owner != 1 and None == owner: n = 1",
    "a set with None": "if owner in {None, 2} and owner not in {1, n}: n = 1",
    "the name of a type": "if owner in Job: n = 1",
    "a set variable": "if owner in seen: n = 1",
    "two optional values of different ranges": "if owner == other: n = 1",
    "an order behind a test": "if owner != None and owner > 1: n = 1",
    "a plain value instead": "n = 1 if owner == None else owner",
    "an assignment of None": "owner = None\nother = owner",
}
HOLDS = """\
owner: {type: 'Job?'}
other: {type: '0..5?'}
perhaps: {type: 'bool?'}
n: {type: 1..3}
flags: {type: bool, per: Job}
seen: {type: set of Job}"""


@pytest.mark.parametrize("name", BODIES_ON_NONE)
def test_what_needs_a_value_errs_on_none(explore: Explore, name: str) -> None:
    body, code = BODIES_ON_NONE[name]
    found = explore(environment(HOLDS, body))

    assert found.failing_states == 1
    assert found.failure is not None
    assert found.failure.error is not None
    assert found.failure.error.code is code
    assert found.failure.depth == 0


@pytest.mark.parametrize("name", BODIES_WITHOUT_ERROR)
def test_what_may_meet_none_does_not_err(explore: Explore, name: str) -> None:
    found = explore(environment(HOLDS, BODIES_WITHOUT_ERROR[name]))

    assert found.failure is None


def test_values_of_different_ranges_are_equal_where_their_numbers_are(explore: Explore) -> None:
    system = environment(
        "a: {type: '1..2?'}\nb: {type: '0..1?'}",
        "a = choose({None, 1, 2})\nb = choose({None, 0, 1})",
        rest='properties: {differ: {always: "a != b"}, both: {possible: "a == b and a != None"}}\n',
    )
    found = explore(system)

    assert counts(found) == (9, 81, 2)
    assert found.findings["differ"].depth == 0
    assert found.findings["both"].trace.last == (1, 1)


# --- set of T ---


def test_a_set_that_grows_and_shrinks_has_all_subsets(explore: Explore) -> None:
    found = explore(
        environment(
            "seen: {type: set of Colour}",
            "x: Colour = choose(Colour)\nseen.add(x)",
            "x: Colour = choose(Colour)\nseen.remove(x)",
        )
    )

    # 8 subsets of 3 colours; from each 3 additions and 3 removals, with or without effect.
    assert counts(found) == (8, 48, 4)


def test_a_choice_from_a_set_takes_each_element_and_nothing_from_the_empty_one(explore: Explore) -> None:
    found = explore(
        environment(
            "left: {type: set of Job, init: [1, 2, 3]}\nlast: {type: 'Job?'}",
            "x: Job = choose(left)\nleft.remove(x)",
            rest='properties: {empty: {possible: "left == set()"}}\n',
        )
    )

    # Subsets of three: from one with k elements there are k ways on, 3 + 3 * 2 + 3 * 1.
    assert counts(found) == (8, 12, 4)
    assert found.findings["empty"].depth == 3
    # Elements come in the order of their type, so of the shortest traces the first takes the least first.
    assert {step.choices[0] for step in found.findings["empty"].trace.steps} == {1, 2, 3}


def test_sets_of_different_ranges_meet(explore: Explore) -> None:
    system = environment(
        "low: {type: set of 0..1, init: [0, 1]}\nhigh: {type: set of 1..2, init: [1, 2]}\nn: {type: 0..3}",
        "n = size(low | high)",
        "low = low & high",
        rest="""
properties:
  three: {always: "size(low | high) == 3 or low == {1}"}
  one: {always: "(low & high) == {1}"}
  members: {always: "2 in high and not 2 in low and 7 not in high"}
  counted: {possible: "n == 3"}
""",
    )
    found = explore(system)

    # `low` has two values that can be reached, {0, 1} and {1}; `n` has 0 and 3, and 2 where `low` is {1}.
    assert counts(found)[0] == 5
    assert set(found.findings) == {"counted"}


ELEMENTS = {
    "an added element": ("seen.add(n)", 1),
    "an element of a set that is written": ("seen = {1, n}", 1),
    "a set with a foreign element": ("seen = wide", 1),
    "a removed element": ("seen.remove(n)", 0),
    "an element that is looked for": ("if n in seen: n = 0", 0),
}


@pytest.mark.parametrize("name", ELEMENTS)
def test_only_what_goes_into_a_set_must_be_of_its_type(explore: Explore, name: str) -> None:
    body, failing = ELEMENTS[name]
    found = explore(
        environment("seen: {type: set of 0..2}\nwide: {type: set of 0..5, init: [4]}\nn: {type: 0..4, init: 4}", body)
    )

    assert found.failing_states == failing
    if found.failure is not None:
        assert found.failure.error is not None
        assert found.failure.error.code is Code.ASSIGNED_OUTSIDE_TYPE


def test_an_addition_is_a_write_even_where_it_changes_nothing(explore: Explore) -> None:
    text = """
language: 1
protocol: example
stores:
  ledger: {versioned: true, holds: {seen: {type: set of 0..1, init: [1]}}}
  notes: {holds: {stale: {type: bool}}}
processes:
  reader:
    steps:
      look: read(ledger)
      use: stale = not fresh(ledger)
  world:
    environment: true
    steps: {put: seen.add(1)}
properties: {overtaken: {possible: "stale"}}
"""
    found = explore(system_of(text))

    assert found.findings["overtaken"].depth == 3


def test_a_set_of_eight_has_256_values(explore: Explore) -> None:
    found = explore(environment("seen: {type: set of 0..7}", "seen = choose(All)"))

    assert counts(found) == (256, 256 * 256, 2)


# --- Initial states ---


def test_runs_start_in_every_state_that_is_not_left_out(explore: Explore) -> None:
    system = environment(
        "a: {type: bool, per: 0..1, init: any}\nseen: {type: set of 0..1, init: any}\nhit: {type: bool}",
        "hit = True",
        rest="""
initially: "(a[0] or a[1]) and size(seen) == 1"
properties: {never: {always: "not (hit and a[0] and not a[1] and 1 in seen)"}}
""",
    )
    found = explore(system)

    # 3 of 4 pairs, 2 of 4 sets; each of the 6 states is hit, and stays so.
    assert len(system.initial_states) == 6
    assert counts(found) == (12, 12, 2)
    assert found.generated == 18
    trace = found.findings["never"].trace
    assert trace.initial == (True, False, SetValue((1,)), False)
    assert len(trace) == 1


def test_initial_states_come_in_the_order_of_the_types() -> None:
    system = environment(
        "a: {type: 'Job?', init: any}\nb: {type: bool, init: any}", "pass", rest='initially: "a != 2"\n'
    )

    assert system.initial_states == tuple((a, b) for a in (None, 1, 3) for b in (False, True))


def test_ghosts_may_start_anywhere(explore: Explore) -> None:
    found = explore(environment("a: {type: bool}", "pass", rest="ghost: {tally: {type: counter 3, init: any}}\n"))

    assert counts(found) == (4, 4, 1)


REFUSED = {
    "no initial state": ("a: {type: Job, init: any}", 'initially: "a > 3"\n', Code.NO_INITIAL_STATE),
    "too many initial states": ("a: {type: 0..99, per: 0..2, init: any}", "", Code.LIMIT),
    "no value of the condition": ("a: {type: 'Job?', init: any}", 'initially: "a > 1"\n', Code.NONE_HAS_NO_VALUE),
    "too many elements": ("a: {type: set of 0..n}", "parameters: {n: {default: 8}}\n", Code.LIMIT),
    "an element outside at the start": (
        "a: {type: set of 0..n, init: [3]}",
        "parameters: {n: {default: 2}}\n",
        Code.VALUE_OUTSIDE_TYPE,
    ),
    "no value at the start": ("a: {type: 0..n, init: None if n > 1 else 2}", "", Code.NONE_HAS_NO_VALUE),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_only_the_parameters_tell_is_refused_then(name: str) -> None:
    holds, rest, code = REFUSED[name]
    if "parameters" not in rest:
        rest += "parameters: {n: {default: 2}}\n"

    with pytest.raises(SpecificationError) as refused:
        environment(holds, "pass", rest=rest)
    assert [diagnostic.code for diagnostic in refused.value.diagnostics] == [code]


# --- How they are shown ---


def test_a_trace_shows_sets_and_none_in_every_form() -> None:
    system = environment(
        "seen: {type: set of Colour, init: [blue]}\njob: {type: 'Job?'}\nstart: {type: Job, init: any}",
        "seen.add(red)\njob = choose({None, 2})",
        rest='properties: {small: {always: "size(seen) < 2 or job == None"}}\ninitially: "start == 3"\n',
    )
    finding = ENGINES["columns"](system).findings["small"]
    conclusion = Conclusion(good=False, message="`small` is false here")
    document = trace_document(system, finding)
    itf = itf_document(system, finding, conclusion, {})
    lines = ["".join(text for _, text in line) for line in trace_lines(system, finding, conclusion, 100)]

    assert document["initial"] == {"seen": ["blue"], "job": None, "start": 3}
    assert document["final"] == {"seen": ["red", "blue"], "job": 2, "start": 3}
    states = itf["states"]
    assert isinstance(states, list)
    assert states[0]["shop.seen"] == {"#set": ["blue"]}
    assert states[0]["shop.job"] == "None"
    assert states[1]["shop.seen"] == {"#set": ["red", "blue"]}
    assert any("seen={blue}  job=None  start=3" in line for line in lines)
    assert any("seen={red, blue}  job=2" in line for line in lines)

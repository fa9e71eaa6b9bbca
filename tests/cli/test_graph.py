"""`killpoint graph`: the transition graph seen through a view."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from checker.commands.inputs import load_one
from checker.engines.projection import projection
from checker.exploration import Limits
from model.evaluate import Evaluator
from model.system import State, TransitionSystem
from model.transitions import Transition
from tests.cli.running import Killpoint

TWO_STEPS = """
language: 1
protocol: two-steps
stores: {disk: {holds: {x: {type: 0..2}, y: {type: bool}}}}
faults: {crash: {of: [worker], at_most: unlimited}}
processes:
  worker:
    steps:
      first: |
        when(x == 0)
        x = 1
      second: |
        x = 2
        y = True
properties: {x_small: {always: "x < 2"}, gets_there: {possible: "y"}}
scenarios: {only: {breaks: [x_small], because: the second step writes a 2}}
views: {number: [x]}
"""


def _by_hand(system: TransitionSystem, slots: list[int]) -> tuple[Counter[tuple[object, ...]], set[tuple[object, ...]]]:
    """Return how many states each situation has, and the passages, found with the evaluator."""

    def seen(state: State) -> tuple[object, ...]:
        return tuple(state[slot] for slot in slots)

    evaluator = Evaluator(system)
    known, todo = set(system.initial_states), list(system.initial_states)
    passages: set[tuple[object, ...]] = set()
    while todo:
        state = todo.pop()
        for found in evaluator.transitions(state):
            assert isinstance(found, Transition)
            passages.add((seen(state), seen(found.successor), found.action.step, found.action.kill_point))
            if found.successor not in known:
                known.add(found.successor)
                todo.append(found.successor)
    return Counter(map(seen, known)), passages


@pytest.mark.parametrize(
    ("name", "scenario", "view"),
    [("killed_workflow", "baseline", ["run", "submission[1]"]), ("two_phase_commit", "three-managers", [])],
)
def test_a_projection_is_what_the_evaluator_shows(name: str, scenario: str, view: list[str]) -> None:
    file = load_one(name).file
    claim = file.scenarios.get(scenario) or next(iter(file.scenarios.values()))
    system = TransitionSystem.of(claim)
    slots = [number for number, slot in enumerate(system.slots) if slot.name in view] or [0, 1]
    sizes, passages = _by_hand(system, slots)

    found = projection(system, slots, Limits())

    assert {s.values: s.states for s in found.situations} == sizes
    by_number = [situation.values for situation in found.situations]
    assert {
        (by_number[p.source], by_number[p.target], step, point)
        for p in found.passages
        for step, point in [*((each, None) for each in p.steps), *((None, each) for each in p.crashes)]
    } == passages


@pytest.fixture
def two_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("two.yaml").write_text(TWO_STEPS, encoding="utf-8")
    return "two.yaml"


def test_situations_passages_and_what_breaks_where(killpoint: Killpoint, two_steps: str) -> None:
    graph = killpoint("graph", two_steps, "--json").json["graph"]

    assert [(s["values"], s["initial"], s["breaks"]) for s in graph["situations"]] == [
        ([0], True, []),
        ([1], False, []),
        ([2], False, ["x_small"]),
    ]
    ways = {(p["from"], p["to"]): (p["steps"], p["crashes"]) for p in graph["passages"]}
    # A worker that dies before its second step is at its first again, which waits: the situation stays.
    assert ways == {(0, 1): (["worker.first"], []), (1, 2): (["worker.second"], []), (1, 1): ([], ["worker.second"])}


def test_a_crash_that_leads_on_is_dashed(killpoint: Killpoint, two_steps: str) -> None:
    done = killpoint("graph", two_steps, "--view", "x", "--loops")

    assert '  s1 -.->|"crash"| s1' in done.out.splitlines()
    assert '  s0 -->|"worker.first"| s1' in done.out.splitlines()
    assert '"crash"' not in killpoint("graph", two_steps).out


def test_graphml_says_what_there_is(killpoint: Killpoint, two_steps: str) -> None:
    root = ET.fromstring(killpoint("graph", two_steps, "--format", "graphml").out.partition("\n")[2])
    space = {"g": "http://graphml.graphdrawing.org/xmlns"}

    assert [node.get("id") for node in root.findall(".//g:node", space)] == ["s0", "s1", "s2"]
    edges = {(edge.get("source"), edge.get("target")) for edge in root.findall(".//g:edge", space)}
    assert edges == {("s0", "s1"), ("s1", "s2")}
    keys = {key.get("id") for key in root.findall("g:key", space)}
    assert {data.get("key") for data in root.findall(".//g:data", space)} <= keys


def test_dot_quotes_what_it_must(killpoint: Killpoint, two_steps: str) -> None:
    lines = killpoint("graph", two_steps, "--format", "dot").out.splitlines()

    assert lines[0] == "digraph killpoint {"
    assert '  s1 -> s2 [label="worker.second"];' in lines
    assert any(line.startswith('  s2 [label="x=2"') and "color=red" in line for line in lines)


@pytest.mark.parametrize("ending", ["svg", "png", "gv", "mmd", "graphml"])
def test_the_ending_of_the_file_says_the_format(killpoint: Killpoint, two_steps: str, ending: str) -> None:
    pytest.importorskip("graphlay")
    pytest.importorskip("resvg_py")

    done = killpoint("graph", two_steps, "-o", f"x.{ending}")

    assert (
        done.words == f"x.{ending}: 3 situations and 2 ways between them, of 4 states"
    )  # 1 is two: before and after a crash
    content = Path(f"x.{ending}").read_bytes()
    begins = {"svg": b"<svg ", "png": b"\x89PNG", "gv": b"digraph", "mmd": b"---", "graphml": b"<?xml"}
    assert content.startswith(begins[ending])
    if ending == "svg":
        texts = [text.text for text in ET.fromstring(content.decode()).iter("{http://www.w3.org/2000/svg}text")]
        assert texts == ["two-steps, only", "x=0", "x=1", "x=2", "worker.first", "worker.second"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--view", "z"], "there is no view or variable `z`"),
        (["--view", "x,z"], "there is no variable `z`"),
        (["-o", "graph.pdf"], "`graph.pdf` says no format by its ending"),
        (["--max-states", "2"], "not all states are known: more than 2 states"),
    ],
)
def test_what_cannot_be_drawn_is_said(killpoint: Killpoint, two_steps: str, arguments: list[str], said: str) -> None:
    done = killpoint("graph", two_steps, *arguments)

    assert done.code == 2
    assert said in done.err
    assert not list(Path().glob("graph.*"))

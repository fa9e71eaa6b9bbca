"""Every `--json` answer and every ITF file is what the published schemas say, and says nothing that they do not."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from model.codes import Code
from tests.cli.running import Edit, Killpoint
from tests.cli.schemas import DIRECTORY, problems, validator

PAGE = Path(__file__).parent / "data" / "page.yaml"
COMMANDS = [
    ["check", "lamp.yaml"],
    ["check", "lamp.yaml", "--max-states", "20"],
    ["check", "lamp.yaml", "--mutant", "never-recorded"],
    ["check", "lamp.yaml", "--scenario", "nothing"],
    ["check", "two_phase_commit"],
    ["trace", "lamp.yaml", "--scenario", "careless"],
    ["trace", "lamp.yaml", "--property", "nothing"],
    ["explore", "lamp.yaml", "--allow", "crash=1@hand.record", "--set", "limit=2"],
    ["explore", "lamp.yaml", "--set", "limit=9"],
    ["show", "lamp.yaml"],
    ["show", "killed_workflow"],
    ["show", "nothing.yaml"],
    ["list"],
    ["list", "phase", "--property", "consistent"],
    ["list", "--fault", "nothing"],
    ["table", "lamp.yaml"],
    ["table", "lamp.yaml", "plan", "--scenario", "careless"],
    ["table", "lamp.yaml", "nothing"],
    ["check", "lamp.yaml", "--paranoid", "--paranoid-states", "9"],
    ["induct", "any_attempt", "--scenario", "any-coordinators"],
    ["induct", "any_attempt", "--mutant", "no-look-up", "--property", "one_submission"],
    ["induct", "lamp.yaml", "--depth", "1", "--property", "lit_once"],
    ["induct", "any_attempt", "--depth", "0", "--timeout", "1", "--property", "can_retry"],
    ["induct", "any_attempt", "--scenario", "nothing"],
    ["graph", "killed_workflow", "--view", "run,submission"],
    ["graph", "killed_workflow", "--view", "nothing"],
    ["mutate", "lamp.yaml", "--scenario", "baseline"],
    ["mutate", "lamp.yaml", "--operator", "nothing"],
    ["matrix", "lamp.yaml"],
    ["matrix", "lamp.yaml", "--scenario", "careless", "--cell", "record"],
    ["matrix", "lamp.yaml", "--cell", "record,record", "--view", "order"],
    ["matrix", "lamp.yaml", "--cell", "nothing"],
    ["matrix", "two_phase_commit"],
    ["explore", "lamp.yaml", "--crashes", "hand.record,anywhere"],
    ["explore", "lamp.yaml", "--crashes", "hand.rest"],
    ["sweep", "killed_workflow", "--property", "one_submission"],
    ["sweep", "lamp.yaml"],
    ["diff", "lamp.yaml", "lamp.yaml"],
    ["diff", "audited_recovery", "audited_recovery_revised"],
    ["diff", "lamp.yaml", "nothing.yaml"],
    ["explain", "KP201"],
    ["explain", "KP999"],
]


@pytest.mark.parametrize("schema", sorted(path.name.removesuffix(".schema.json") for path in DIRECTORY.iterdir()))
def test_the_schemas_are_schemas(schema: str) -> None:
    Draft202012Validator.check_schema(validator(schema).schema)


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_an_answer_is_what_its_schema_says(killpoint: Killpoint, arguments: list[str]) -> None:
    done = killpoint(*arguments, "--json")

    assert problems(arguments[0], done.json) == []
    assert done.json["exit_code"] == done.code
    assert done.err == ""


def test_the_answer_of_a_run_time_error_is_what_the_schema_says(killpoint: Killpoint, edit: Edit) -> None:
    done = killpoint("check", edit(('      over: {when: "order == done", act: false}\n', "")), "--json")

    assert done.code == 2
    assert problems("check", done.json) == []
    failure = done.json["files"][0]["scenarios"][0]["failure"]
    assert failure["diagnostic"]["code"] == Code.NO_ROW_MATCHES.number
    assert failure["trace"]["failing"] == "hand.rest"


def test_the_answer_of_a_file_with_errors_is_what_the_schema_says(killpoint: Killpoint, edit: Edit) -> None:
    done = killpoint("check", edit(("order = asked", "ordr = asked")), "--json")

    assert done.code == 2
    assert problems("check", done.json) == []
    (diagnostic,) = done.json["diagnostics"]
    assert (diagnostic["place"]["file"], diagnostic["code"]) == ("edited.yaml", "KP217")


def test_a_schema_refuses_a_key_that_it_does_not_know(killpoint: Killpoint) -> None:
    document = killpoint("check", "lamp.yaml", "--json").json
    document["files"][0]["scenarios"][0]["mood"] = "calm"

    assert problems("check", document) != []


def test_a_claim_says_its_size_its_setting_and_its_limits(killpoint: Killpoint) -> None:
    claim = killpoint("check", "lamp.yaml", "--scenario", "deaf", "--json").json["files"][0]["scenarios"][0]

    assert claim["generated"] == claim["transitions"] + 1
    assert claim["parameters"] == {"limit": 1, "careful": False, "mood": "calm"}
    assert claim["faults"] == {"crash": {"at_most": 0, "at": None}, "lost_reply": {"at_most": 1, "at": None}}
    assert claim["assumed"] != []
    assert "crash: off" in claim["not_covered"]


def test_a_trace_tells_what_each_transition_changes(killpoint: Killpoint) -> None:
    claim = killpoint("trace", "lamp.yaml", "--scenario", "careless", "--json").json["claim"]
    (shown,) = [p for p in claim["properties"] if p["name"] == "lit_once"]
    trace = shown["trace"]
    state = dict(trace["initial"])
    for step in trace["steps"]:
        assert step["changes"].keys() <= state.keys()
        assert all(state[name] != value for name, value in step["changes"].items())
        state |= step["changes"]

    assert state == trace["final"]
    (crash,) = [step for step in trace["steps"] if step["kind"] == "crash"]
    assert (crash["kill_point"], crash["faults"]) == ("hand.record", ["crash"])


def test_a_trace_tells_a_crash_inside_a_step_and_a_restart(killpoint: Killpoint, here: Path) -> None:
    shutil.copy(PAGE, here / "page.yaml")
    done = killpoint("trace", "page.yaml", "--property", "whole", "--json")
    (shown,) = [p for p in done.json["claim"]["properties"] if p["name"] == "whole"]
    steps = shown["trace"]["steps"]

    assert problems("trace", done.json) == []
    assert [(step["kind"], step["step"], step["kill_point"]) for step in steps[2:4]] == [
        ("crash", "write", "writer.write.torn"),
        ("step", "look", None),
    ]
    assert steps[2]["choices"] == [False]
    assert (steps[2]["changes"]["page"], steps[2]["changes"]["writer at"]) == ("half", "crashed")


def test_a_trace_tells_a_restart(killpoint: Killpoint, here: Path) -> None:
    text = PAGE.read_text(encoding="utf-8").replace(
        "whole: {always: ",
        'up_again: {step: "not (crashed(writer[0]) and next(writer[0].at(mend)))"}\n  whole: {always: ',
    )
    text = text.replace("breaks: [whole]", "breaks: [whole, up_again]")
    (here / "page.yaml").write_text(text, encoding="utf-8")
    shown = killpoint("trace", "page.yaml", "--property", "up_again", "--json")
    restart = shown.json["claim"]["properties"][0]["trace"]["steps"][-1]
    states = itf(killpoint, here, "page.yaml", "-p", "up_again")["states"]

    assert problems("trace", shown.json) == []
    assert (restart["kind"], restart["step"], restart["kill_point"], restart["changes"]) == (
        "restart",
        "mend",
        None,
        {"writer at": "mend"},
    )
    assert [state["#meta"]["action"] for state in states[-2:]] == ["crash", "restart"]


# --- ITF ---


def itf(killpoint: Killpoint, here: Path, *arguments: str) -> dict[str, Any]:
    done = killpoint("trace", *arguments, "--out-itf", "trace.itf.json")
    assert done.code == 0, done.err
    document: dict[str, Any] = json.loads((here / "trace.itf.json").read_text(encoding="utf-8"))
    return document


@pytest.mark.parametrize(
    "arguments",
    [
        ["lamp.yaml", "-s", "careless"],
        ["lamp.yaml", "-s", "deaf"],
        ["lamp.yaml", "-p", "can_finish"],
        ["killed_workflow", "-s", "q-a1-slow-coordinator"],
    ],
    ids=" ".join,
)
def test_an_itf_file_is_what_the_schema_says(killpoint: Killpoint, here: Path, arguments: list[str]) -> None:
    document = itf(killpoint, here, *arguments)

    assert problems("itf", document) == []
    assert [state["#meta"]["index"] for state in document["states"]] == list(range(len(document["states"])))
    assert all(state.keys() - {"#meta"} == set(document["vars"]) for state in document["states"])


def test_an_itf_file_says_action_kill_point_fault_and_property(killpoint: Killpoint, here: Path) -> None:
    crashing = itf(killpoint, here, "lamp.yaml", "-s", "careless")
    deaf = itf(killpoint, here, "lamp.yaml", "-s", "deaf")

    assert (crashing["#meta"]["scenario"], crashing["#meta"]["property"]) == ("careless", "lit_once")
    (crash,) = [state["#meta"] for state in crashing["states"] if state["#meta"]["action"] == "crash"]
    assert (crash["kill_point"], crash["fault"]) == ("hand.record", "crash")
    assert [s["#meta"].get("fault") for s in deaf["states"] if s["#meta"].get("fault")] == ["lost_reply"]
    assert [s["#meta"]["action"] for s in deaf["states"]][:3] == [None, "hand.rest", "hand.ask"]


ROUND = ('{recoverable: "order == done"}', '{leads_to: ["order == asked", "order == done"]}')


def test_a_lasso_says_where_it_begins_to_go_round(killpoint: Killpoint, here: Path, edit: Edit) -> None:
    arguments = (edit(ROUND), "--mutant", "never-recorded", "-p", "finishes")
    document = itf(killpoint, here, *arguments)
    shown = killpoint("trace", *arguments, "--json").json
    (asked,) = shown["claim"]["properties"]
    loop = document["loop"]

    assert problems("itf", document) == []
    assert problems("trace", shown) == []
    assert asked["trace"]["loop"] == loop < asked["length"]
    first, last = ({**state, "#meta": {}} for state in (document["states"][loop], document["states"][-1]))
    assert first == last
    assert "loop" not in itf(killpoint, here, "lamp.yaml", "-s", "careless")


def test_itf_arrays_and_instances_are_maps(killpoint: Killpoint, here: Path) -> None:
    lamp = itf(killpoint, here, "lamp.yaml", "-s", "careless")["states"][-1]
    workflow = itf(killpoint, here, "killed_workflow", "-s", "q-a1-slow-coordinator")["states"][-1]

    assert lamp["lamp.lit"] == {"#map": [[1, True]]}
    assert lamp["ghost.lightings"] == 2
    assert workflow["coordinator.at"]["#map"] == [[0, "record_reply"], [1, "record_reply"]]
    assert workflow["provider.job"] == {"#map": [[1, "running"], [2, "unknown"]]}


def test_an_itf_array_of_two_dimensions_is_a_map_of_maps(killpoint: Killpoint, here: Path, edit: Edit) -> None:
    text = (
        "lit: {type: bool, per: Room}",
        "lit: {type: bool, per: Room}\n      spot: {type: bool, per: [Order, Room]}",
    )
    name = edit(text, ("          order = done\n", "          order = done\n          spot[asked, 1] = True\n"))

    state = itf(killpoint, here, name, "-p", "can_finish")["states"][-1]
    rows = [[order, {"#map": [[1, order == "asked"]]}] for order in ("nothing", "asked", "done")]
    assert state["lamp.spot"] == {"#map": rows}


def test_an_itf_file_that_cannot_be_written_is_an_error_and_nothing_is_left(killpoint: Killpoint, here: Path) -> None:
    done = killpoint("trace", "lamp.yaml", "-s", "careless", "--out-itf", "nowhere/trace.json")

    assert done.code == 2
    assert "`nowhere/trace.json` cannot be written" in done.err
    assert sorted(path.name for path in here.iterdir()) == ["lamp.yaml"]


def test_check_writes_the_trace_that_it_shows(killpoint: Killpoint, here: Path, edit: Edit) -> None:
    name = edit(("breaks: [lit_once], because: the reply is lost", "because: the reply is lost"))

    assert killpoint("check", name, "--out-itf", "it.json").code == 1
    assert '"scenario": "deaf"' in (here / "it.json").read_text(encoding="utf-8")
    assert "nothing breaks undeclared" in killpoint("check", "lamp.yaml", "--out-itf", "not.json").err
    assert not (here / "not.json").exists()

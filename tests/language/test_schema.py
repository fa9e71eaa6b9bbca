"""The JSON Schema for editors and the loader agree about the structure of a specification (decision 002).

What the loader accepts the schema accepts, and what the loader refuses for its structure the schema refuses. Compared
are the JSON values of the tree that the loader itself reads: a YAML library would see more booleans and numbers in it.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator

from model import limits
from model.codes import Code
from model.diagnostics import Diagnostics, Severity, SpecificationError
from model.loader import load
from model.source import Source
from model.yamltree import Mapping, Node, Scalar, load_tree
from tests.docs.test_specifications import patches, source, whole_blocks
from tests.language.mistakes import mistakes
from tests.language.office import OFFICE, changed
from tests.strategies.specifications import specifications
from tests.strategies.trying import tries

ROOT = Path(__file__).resolve().parents[2]
SCHEMA: dict[str, Any] = json.loads((ROOT / "spec" / "killpoint.schema.json").read_text(encoding="utf-8"))
DEFINITIONS: dict[str, Any] = SCHEMA["$defs"]
VALIDATOR = Draft202012Validator(SCHEMA)

FILES = [*sorted((ROOT / "spec").rglob("*.yaml")), *sorted((ROOT / "tests" / "cli" / "data").glob("*.yaml"))]
BLOCKS = whole_blocks()
LAID_OVER = [source(base, patch) for base, patch in patches("patch")]
MISTAKES = mistakes()

STRUCTURE = {
    Code.UNKNOWN_KEY,
    Code.MISSING_KEY,
    Code.WRONG_SHAPE,
    Code.NOT_AN_IDENTIFIER,
    Code.LANGUAGE_VERSION,
    Code.CONFLICTING_KEYS,
    Code.NOTHING_DECLARED,
    Code.NAMED_TWICE,
    Code.VALUE_NOT_ALLOWED,
    Code.TYPE_SYNTAX,
    Code.PROPERTY_KIND,
    Code.MUTANT_WITHOUT_CLAIM,
    Code.QUESTION_WITHOUT_ANSWER,
}
"""The codes of errors that need no knowledge of what else the file declares."""


# --- What a file looks like to a schema ---


def plain(node: Node) -> Any:
    """Return a tree as the values that JSON has."""
    if isinstance(node, Mapping):
        return {name: plain(entry.value) for name, entry in node.entries.items()}
    if not isinstance(node, Scalar):
        return [plain(item) for item in node.items]
    match node.kind:
        case "int":
            return node.integer
        case "bool":
            return node.text == "true"
        case "null":
            return None
        case "str":
            return node.text


def document(text: str) -> Any:
    """Read a text as the loader reads it."""
    root = load_tree(Source("specification.yaml", text), Diagnostics())
    assert root is not None, text
    return plain(root)


def problems(document: Any) -> list[str]:
    """Return what the schema says about a specification."""
    return [f"{error.json_path}: {error.message[:300]}" for error in VALIDATOR.iter_errors(document)]


def errors(text: str) -> set[Code]:
    """Return the errors that the loader finds."""
    try:
        load(Source("specification.yaml", text))
    except SpecificationError as refusal:
        return {d.code for d in refusal.diagnostics if d.severity is Severity.ERROR}
    return set()


def test_only_true_and_false_are_truth_values_and_only_plain_numbers_numbers() -> None:
    read = document("{a: true, b: yes, c: True, d: 1, e: '1', f: -2, g: 1.5, h: null, i: [0x1, 'null'], j: {k: }}")

    expected = {"a": True, "b": "yes", "c": "True", "d": 1, "e": "1", "f": -2, "g": "1.5", "h": None}
    assert read == {**expected, "i": ["0x1", "null"], "j": {"k": None}}
    assert read["a"] is True


# --- The schema ---


def subschemas(schema: Any, path: str = "#") -> Iterator[tuple[str, Any]]:
    """Yield every schema that is part of a schema."""
    yield path, schema
    if not isinstance(schema, dict):
        return
    for word in ("properties", "$defs"):
        for name, inner in schema.get(word, {}).items():
            yield from subschemas(inner, f"{path}/{word}/{name}")
    for word in ("anyOf", "oneOf", "allOf"):
        for number, inner in enumerate(schema.get(word, ())):
            yield from subschemas(inner, f"{path}/{word}/{number}")
    for word in ("items", "additionalProperties", "propertyNames", "not", "if", "then", "else"):
        if word in schema:
            yield from subschemas(schema[word], f"{path}/{word}")


def resolved(schema: Any) -> Any:
    """Return a schema with what it refers to; its own words come first."""
    while "$ref" in schema:
        target: Any = SCHEMA
        for part in schema["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        schema = {**target, **{word: value for word, value in schema.items() if word != "$ref"}}
    return schema


def test_the_schema_is_one_of_draft_2020_12() -> None:
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    Draft202012Validator.check_schema(SCHEMA)


def test_the_schema_uses_no_word_that_a_validator_would_ignore() -> None:
    known = {*Draft202012Validator.VALIDATORS, "$schema", "$id", "$comment", "$defs", "title", "description"}
    known |= {"examples", "default", "then", "else"}
    used = {word for _, schema in subschemas(SCHEMA) if isinstance(schema, dict) for word in schema}

    assert used - known == set()


def test_every_definition_is_used_and_every_reference_leads_somewhere() -> None:
    references = [schema["$ref"] for _, schema in subschemas(SCHEMA) if isinstance(schema, dict) and "$ref" in schema]

    assert all(resolved({"$ref": reference}) for reference in references)
    assert {reference.split("/")[2] for reference in references} == set(DEFINITIONS)


def described_keys() -> Iterator[tuple[str, Any]]:
    """Yield the keys that people write, outside of conditions."""
    for owner in (SCHEMA, *DEFINITIONS.values()):
        for holder in (owner, *owner.get("anyOf", ())):
            for key, value in holder.get("properties", {}).items():
                found = resolved(value)
                # In a patch a key is what it is elsewhere, or nothing.
                yield (
                    key,
                    resolved(found["anyOf"][0])
                    if DEFINITIONS["removed"] in map(resolved, found.get("anyOf", ()))
                    else found,
                )


def test_an_editor_has_something_to_say_about_every_key_and_definition() -> None:
    assert [key for key, value in described_keys() if not value.get("description", "").endswith((".", "`"))] == []
    assert [
        name for name, value in DEFINITIONS.items() if "description" not in value and not name.endswith("_patch")
    ] == []


def test_every_example_is_what_it_is_an_example_of() -> None:
    wrong = [
        (path, example)
        for path, schema in subschemas(SCHEMA)
        if isinstance(schema, dict)
        for example in schema.get("examples", ())
        if not VALIDATOR.evolve(schema=schema).is_valid(example)
    ]

    assert wrong == []


# --- What the loader accepts ---


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_specification_in_a_file_has_the_structure(path: Path) -> None:
    assert problems(document(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_a_specification_in_the_documentation_has_the_structure(block: Any) -> None:
    assert problems(document(block.text)) == []


@pytest.mark.parametrize("text", LAID_OVER, ids=lambda text: text.file)
def test_a_specification_with_a_block_of_the_documentation_laid_over_it_has_the_structure(text: Source) -> None:
    assert problems(document(text.text)) == []


@pytest.mark.parametrize("name", [name for name in MISTAKES if name.startswith("KP9")])
def test_what_draws_only_a_warning_has_the_structure(name: str) -> None:
    assert problems(document(MISTAKES[name])) == []


@tries(100)
@given(specifications())
def test_a_random_specification_has_the_structure(text: str) -> None:
    assert problems(document(text)) == []


UNUSUAL = {
    "sections with nothing in them": changed(("views: {overview: [sale, phase]}", "views:\nunused: ~")),
    "notes of any shape": changed(("reference: ticket_office", "note: [first, {second: third}]")),
    "arguments of a definition": changed(("settled(x):", "settled ( x ) :")),
    "a type with a sum in it": changed(("refusals: {type: 0..9}", "refusals: {type: 0 .. seats + 7}")),
    "an array of one dimension as a list": changed(("{type: bool, per: Seat,", "{type: bool, per: [Seat],")),
    "names with dashes and dots": changed(
        ("  careless: {proc", "  v1.2-b: {proc"), ("variant: careless", "variant: v1.2-b")
    ),
    "an allowance of nothing in particular": changed(("allow: {lost_reply: unlimited}", "allow: {lost_reply: {}}")),
    "a mutant that survives and breaks nothing": changed(
        ('{processes: {clerk: {steps: {record: "goto(rest)"}}}, breaks: [can_sell]}',
         '{processes: {clerk: {steps: {record: "goto(rest)"}}}, breaks: [], survives: who knows}')
    ),
    "a step of its own to start with, and a long outage": changed(
        ("    count: clerks\n", "    count: clerks\n    boot: charge\n    restarts: later\n")
    ),
    "what a crash does": changed(
        ("    count: clerks\n", "    count: clerks\n    on_crash: phase = closed\n"),
        ("      rest: |\n        read", "      rest:\n       torn: last = seat\n       do: |\n        read"),
        ("  busy: {set: {clerks: 2}, allow: {", "  busy: {set: {clerks: 2}, allow: {crash: {at: [clerk.rest.torn]}, "),
    ),
    "a scenario for every transition, and one for every situation": changed(
        ("  baseline: {}", "  baseline: {conform: transitions}"),
        ("  busy: {set", "  busy: {conform: situations, set"),
        ("views: {overview", "views: {situation"),
    ),
    "memory that is kept": changed(("seat: {type: 0..seats, init: 0}", "seat: {type: 0..seats, init: 0, keep: true}")),
    "a patch of everything": changed(
        ('careless: {processes: {clerk: {steps: {charge: "goto(record)"}}}}',
         """careless:
    because: to see whether it can be written
    parameters: {seats: {range: null}, spare: {default: 1, note: new}}
    types: {Sale: [free, reserved, sold, disputed, lost], Phase: [open, closed, late]}
    stores: {ledger: {holds: {last: {init: spare}}}, bank: {versioned: false}}
    ghost: {refusals: {type: 0..8, init: 0}}
    definitions: {settled(y): "sale[y] != disputed"}
    faults: {lost_reply: {at_most: unlimited}}
    tables: {plan: {match: exclusive, defaults: {urgent: true}, rows: {doubtful: {urgent: null}, next_seat: null}}}
    processes:
      clerk:
        count: null
        boot: rest
        on_crash: phase = closed
        restarts: never
        volatile: {reply: {init: refused, keep: true}, seat: {keep: false}}
        steps:
          charge: {do: goto(record), torn: pass, fair: false}
          pause: {after: charge, do: pass, atomic: true}
      box_office: {fair: false}
    properties: {no_rush: null, can_sell: {possible: null, always: "last >= 0"}}""")
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", UNUSUAL)
def test_what_is_unusual_and_allowed_is_allowed_by_both(name: str) -> None:
    assert errors(UNUSUAL[name]) == set()
    assert problems(document(UNUSUAL[name])) == []


# --- What the loader refuses ---

Change = Callable[[Any], None]


def put(path: str, value: Any) -> Change:
    """Put a value at a place, given by its keys."""

    def change(root: Any) -> None:
        *parts, last = path.split(" ")
        for part in parts:
            root = root[part]
        root[last] = value

    return change


def drop(path: str) -> Change:
    """Take the key at a place away."""

    def change(root: Any) -> None:
        *parts, last = path.split(" ")
        for part in parts:
            root = root[part]
        del root[last]

    return change


PLACES = {
    "a specification": "",
    "a parameter": "parameters seats ",
    "a store": "stores ledger ",
    "a variable of a store": "stores ledger holds last ",
    "a ghost": "ghost refusals ",
    "a variable of a process": "processes clerk volatile seat ",
    "a fault": "faults lost_reply ",
    "a table": "tables plan ",
    "a process": "processes clerk ",
    "a step": "processes clerk steps detailed ",
    "a property": "properties no_rush ",
    "a scenario": "scenarios busy ",
    "an allowance": "scenarios placed allow crash ",
    "a variant": "variants careless ",
    "a mutant": "mutants forgetful ",
    "a process in a patch": "mutants forgetful processes clerk ",
}
"""A place of every kind whose keys are fixed."""

REFUSED: dict[str, Change] = {
    **{f"an unknown key in {what}": put(f"{path}colour", "red") for what, path in PLACES.items()},
    # Keys that are needed.
    "no language": drop("language"),
    "no protocol": drop("protocol"),
    "no processes": drop("processes"),
    "a parameter without a default": drop("parameters seats default"),
    "a variable without a type": drop("ghost refusals type"),
    "a crash of nobody": put("faults crash", {"at_most": 1}),
    "a table without columns": drop("tables plan gives"),
    "a table without rows": drop("tables plan rows"),
    "a row without a condition": drop("tables plan rows otherwise when"),
    "a process without steps": drop("processes clerk steps"),
    "a step without statements": drop("processes clerk steps detailed do"),
    "a property without a kind": put("properties no_rush", {"note": "to come"}),
    "a mutant without a claim": drop("mutants forgetful breaks"),
    # Shapes.
    "a `leads_to` of one expression": put("properties no_rush", {"leads_to": ["True"]}),
    "a `leads_to` of three expressions": put("properties no_rush", {"leads_to": ["True", "True", "True"]}),
    "a `leads_to` that is a text": put("properties no_rush", {"leads_to": "True"}),
    "a `checked` without a sentence": put("properties no_rush", {"checked": None}),
    "a section that is a list": put("parameters", ["seats"]),
    "a section that is a text": put("scenarios", "baseline"),
    "processes that are nothing": put("processes", None),
    "a title that is a list": put("title", ["A seat is sold once"]),
    "a source that is not in a list": put("sources", "an example"),
    "a type that is a mapping": put("types Phase", {"open": "closed"}),
    "a parameter that is a number": put("parameters seats", 2),
    "a variable that is only its type": put("ghost refusals", "bool"),
    "a variable of no dimension": put("stores ledger holds sale per", []),
    "a fault that is a number": put("faults lost_reply", 1),
    "one process where a list belongs": put("faults crash of", "clerk"),
    "an expression that is a mapping": put("definitions in_doubt", {"sale[1]": None}),
    "an expression that is a list": put("tables plan rows otherwise when", [True]),
    "rows that are a list": put("tables plan rows", [{"when": "True"}]),
    "a cell that is nothing": put("tables plan rows otherwise action", None),
    "steps that are a text": put("processes clerk steps", "pass"),
    "a step that is a list": put("processes clerk steps rest", ["pass"]),
    "a property that is a text": put("properties no_rush", "not plan.urgent"),
    "a scenario that is nothing": put("scenarios baseline", None),
    "an allowance that is nothing": put("scenarios busy allow lost_reply", None),
    "one property where a list belongs": put("scenarios busy breaks", "charged_once"),
    "one kill point where a list belongs": put("scenarios placed allow crash at", "clerk.record"),
    "a variant that is a text": put("variants careless", "careless"),
    "a question that asks nothing": drop("questions Q-1 asks"),
    "a question without a lesson": drop("questions Q-1 lesson"),
    "a question with and without an answer": put("questions Q-2 lesson", "None."),
    "a question that no scenario answers": put("questions Q-1 shown_by", []),
    "a question that one scenario answers twice": put("questions Q-1 shown_by", ["forgetful", "forgetful"]),
    "a question with a word of its own": put("questions Q-2 answer", "yes"),
    "crashes that are a text": put("scenarios killed crashes", "anywhere"),
    "a sweep of a text": put("sweep allow lost_reply", "unlimited"),
    "a sweep of the same twice": put("sweep allow lost_reply", [1, 0, 1]),
    "a meaning that is a list": put("kill_points clerk.record", ["it is lost"]),
    "a reason that is a list": put("unused", {"clerk.rest": ["nobody rests"]}),
    "reasons that are a list": put("equivalent", ["clerk.rest/skip-step"]),
    "a view that is a text": put("views overview", "sale"),
    # Values.
    "another version": put("language", 2),
    "the version as a text": put("language", "1"),
    "a match that is none": put("tables plan match", "best"),
    "a text for a truth value": put("stores ledger versioned", "yes"),
    "a number for a truth value": put("processes box_office environment", 1),
    "a text for fairness": put("processes box_office fair", "never"),
    "a text for atomicity": put("processes clerk steps detailed atomic", "no"),
    "a parameter of no kind": put("parameters strict default", "maybe"),
    "a range that is no range": put("parameters seats range", "1-4"),
    "a choice of nothing": put("parameters on_doubt one_of", []),
    "a type without literals": put("types Phase", []),
    "a literal twice": put("types Phase", ["open", "open"]),
    "a type that is a name": put("types Phase", "Sale"),
    "a set of sets": put("ghost refusals type", "set of set of Seat"),
    "a type that is optional twice": put("ghost refusals type", "Seat??"),
    "an optional counter without an end": put("ghost refusals type", "counter?"),
    "a declared set of nothing": put("types Phase", "set of"),
    "a set of lists at the start": put("ghost refusals init", [["sold"]]),
    "a mapping at the start": put("initially", {"last": 0}),
    "a list that patches what holds at the start": put("variants careless initially", ["last == 0"]),
    "a number without a bound": put("ghost refusals per", "nat"),
    "a counter without an end": put("ghost charges type", "counter"),
    "a fault less often than never": put("faults lost_reply at_most", -1),
    "a fault too often": put("faults lost_reply at_most", limits.FAULT_BUDGET_MAX + 1),
    "a fault as a truth value": put("faults lost_reply at_most", True),
    "an allowance less than never": put("scenarios busy allow lost_reply", -1),
    "an allowance too large": put("scenarios busy allow lost_reply", limits.FAULT_BUDGET_MAX + 1),
    "an allowance in words": put("scenarios busy allow lost_reply", "twice"),
    "an allowance in words in a mapping": put("scenarios placed allow crash at_most", "twice"),
    "a kill point without its process": put("scenarios placed allow crash at", ["record"]),
    "too many instances": put("processes clerk count", limits.INSTANCES_MAX + 1),
    "instances as a truth value": put("processes clerk count", True),
    "a process named twice": put("faults crash of", ["clerk", "clerk"]),
    "a property named twice": put("scenarios busy breaks", ["charged_once", "charged_once"]),
    # Names.
    "a dash in a parameter": put("parameters spare-seats", {"default": 1}),
    "a dash in a definition": put("definitions in-doubt", "True"),
    "a definition called like a word": put("definitions next", "True"),
    "an argument called like a word": put("definitions sold(self)", "True"),
    "a definition with half a bracket": put("definitions sold(a", "True"),
    "a step called like a word": put("processes clerk steps goto", "pass"),
    "a property called like a word of Python": put("properties if", {"always": "True"}),
    "a literal with a dash": put("types Phase", ["open", "sold-out"]),
    "a literal that is a truth value": put("types Phase", ["open", True]),
    "a literal that is a number": put("types Phase", ["open", 1]),
    "a column called `when`": put("tables plan gives when", "bool"),
    "a column called `note`": put("tables plan gives note", "bool"),
    "a scenario with a space": put("scenarios base line".replace(" line", "\u00a0line"), {}),
    "a variant that begins with a dash": put("variants -careless", {"parameters": {"seats": {"default": 1}}}),
    # Keys that exclude each other, and those that have another place.
    "a range and a choice": put("parameters on_doubt range", "1..2"),
    "memory of an environment": put("processes box_office volatile", {"till": {"type": "bool"}}),
    "a variable of a store that is kept": put("stores ledger holds last keep", True),
    "a ghost that is kept": put("ghost refusals keep", True),
    "a text for what is kept": put("processes clerk volatile seat keep", "yes"),
    "what a crash does as a list": put("processes clerk on_crash", ["pass"]),
    "what a torn step leaves as a number": put("processes clerk steps detailed torn", 1),
    "a crash of an environment": put("processes box_office on_crash", "pass"),
    "a boot of an environment": put("processes box_office boot", "close"),
    "a restart of an environment": put("processes box_office restarts", "never"),
    "a restart at some other time": put("processes clerk restarts", "soon"),
    "two steps to boot with": put("processes clerk boot", ["rest", "record"]),
    "two kinds of property": put("properties no_rush possible", "in_doubt"),
    "a mutant with two claims": put("mutants forgetful survives", "nobody looks"),
    "a mutant that breaks nothing": put("mutants forgetful breaks", []),
    "a scenario that survives": put("scenarios busy survives", "nobody looks"),
    "a scenario with a patch": put("scenarios busy parameters", {"seats": {"default": 1}}),
    "a variant with a claim": put("variants careless breaks", ["can_sell"]),
    "a variant of scenarios": put("variants careless scenarios", {}),
    "`after` outside a patch": put("processes clerk steps detailed after", "charge"),
    "a new step in a patch with an unknown key": put(
        "variants careless processes clerk steps", {"x": {"after": "rest", "does": "pass"}}
    ),
    "a mapping as a cell in a patch": put(
        "mutants forgetful tables", {"plan": {"rows": {"otherwise": {"action": {}}}}}
    ),
    "a list as a set of properties in a patch": put("mutants forgetful properties", ["can_sell"]),
}  # fmt: skip


def spacious() -> Any:
    """Return the ticket office with a step written out, and a scenario that says where."""
    root = document(OFFICE)
    steps = root["processes"]["clerk"]["steps"]
    steps["detailed"] = {"do": "if not fresh(ledger): goto(rest)\ngoto(record)\n", "atomic": False}
    root["scenarios"]["placed"] = {"allow": {"crash": {"at": ["clerk.record"], "at_most": 1}}}
    root["unused"] = {"clerk.detailed": "an example"}
    root["equivalent"] = {"clerk.detailed/*": "an example"}
    root["scenarios"]["killed"] = {"crashes": ["clerk.record", "anywhere"]}
    points = ("reserve", "charge", "record", "detailed")
    root["kill_points"] = {f"clerk.{step}": "something is lost" for step in points}
    root["sweep"] = {
        "scenario": "baseline",
        "set": {"strict": [False, True]},
        "allow": {"lost_reply": ["unlimited", 1, 0]},
        "only": ["charged_once"],
    }
    root["questions"] = {
        "Q-1": {"asks": "Why?", "shown_by": ["forgetful"], "lesson": "So.", "repaired_by": ["baseline"]},
        "Q-2": {"asks": "When?", "unanswered": "nobody knows"},
    }
    return root


def test_the_specification_that_the_structure_is_spoilt_in_is_sound() -> None:
    assert errors(json.dumps(spacious())) == set()
    assert problems(spacious()) == []


@pytest.mark.parametrize("name", REFUSED)
def test_a_mistake_of_structure_is_refused_by_both(name: str) -> None:
    root = spacious()
    REFUSED[name](root)

    with pytest.raises(SpecificationError):
        load(Source("specification.yaml", json.dumps(root)))
    assert problems(root) != []


@pytest.mark.parametrize("name", [n for n in MISTAKES if n[:5] in {code.number for code in STRUCTURE}])
def test_a_mistake_of_structure_in_a_text_is_refused_by_the_schema(name: str) -> None:
    root = load_tree(Source("specification.yaml", MISTAKES[name]), Diagnostics())

    assert root is None or problems(plain(root)) != []


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to every value inside a value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from places(inner, (*path, key))


def spoilt(root: Any, path: tuple[Any, ...]) -> Iterator[Any]:
    """Yield documents that differ in one place: the key gone, called otherwise, or another value under it."""
    values: list[Any] = [None, True, 7, "word", "a b", [], ["word"], [["word"]], {}, {"word": "word"}]
    for change in ("drop", "rename", *values):
        changed_root = copy.deepcopy(root)
        parent = changed_root
        for part in path[:-1]:
            parent = parent[part]
        if change == "drop":
            del parent[path[-1]]
        elif change == "rename":
            if isinstance(parent, list):
                continue
            parent["wo-rd"] = parent.pop(path[-1])
        elif parent[path[-1]] == change:
            continue
        else:
            parent[path[-1]] = change
        yield changed_root


SPOILT = [document for path in places(spacious()) for document in spoilt(spacious(), path)]
EVERY = 11
"""Of so many spoilt documents one is tried here: prime, so that all kinds of spoiling have their turn."""


@pytest.mark.parametrize("number", range(0, len(SPOILT), EVERY))
def test_a_specification_spoilt_in_one_place_is_refused_by_both_or_by_neither(number: int) -> None:
    """Whether a patched step is whole only the loader can tell, as it knows what the step is laid over."""
    found, complaints = errors(json.dumps(SPOILT[number])), problems(SPOILT[number])

    assert found or not complaints
    assert complaints or found.isdisjoint(STRUCTURE - {Code.MISSING_KEY})

"""What `killpoint explain` shows is true: the wrong example is refused under its own number, and the right one is not.

The examples are fragments. Each is laid over a specification that declares what they speak of; its keys tell where it
belongs.
"""

from __future__ import annotations

import re

import pytest
import yaml

from model.codes import Code, explanation
from model.diagnostics import Diagnostics, SpecificationError
from model.loader import load
from model.merge import PATCHABLE
from model.source import Source
from model.yamltree import load_tree

WORLD = """\
language: 1
protocol: world
title: The world in which the examples are
parameters:
  attempts: {default: 2, range: 1..4}
  on_miss: {default: submit, one_of: [submit, stop]}
  retries_allowed: {default: true}
types:
  RunState: [proposed, previewed, admitted, dispatched, decided, cancelled, lost]
  Submission: [unrecorded, not_submitted, submitted, ambiguous]
  Job: [unknown, running, succeeded]
  Reply: [nothing, accepted, refused]
  Action: [wait, submit, no_action, dispatch]
  AttemptNumber: 1..attempts
stores:
  ledger:
    versioned: true
    holds:
      run: {type: RunState, init: proposed}
      attempt: {type: 0..attempts, init: 0}
      owner: {type: 0..2}
      submission: {type: Submission, per: AttemptNumber}
  provider:
    holds:
      job: {type: Job, per: AttemptNumber}
      seen: {type: bool, per: AttemptNumber}
ghost:
  submissions: {type: counter 2, per: AttemptNumber}
  first_submissions: {type: counter 2}
definitions:
  in_doubt: "submission[1] == ambiguous"
faults:
  crash: {of: [coordinator, worker]}
  stale_lookup: {at_most: 0}
  lost_reply: {at_most: 0}
tables:
  plan:
    gives: {action: Action}
    rows:
      finished: {when: "run in {decided, cancelled}", action: no_action}
      unconfirmed: {when: "run not in {decided, cancelled}", action: wait}
processes:
  coordinator:
    volatile: {reply: {type: Reply}, claimed: {type: bool}}
    steps:
      rest: "read(ledger)"
      look_up: "pass"
      submit: "pass"
  worker:
    count: 2
    volatile: {answer: {type: Reply}}
    steps:
      rest: "pass"
      act: "pass"
  provider:
    environment: true
    steps:
      finish: "pass"
properties:
  one_submission: {always: "all(submissions[a] <= 1 for a in AttemptNumber)"}
  final: {step: "implies(run == decided, next(run) == run)"}
variants:
  claim-before-submit: {parameters: {attempts: {default: 3}}}
scenarios:
  baseline: {}
  lagging: {breaks: [one_submission], because: a look-up misses}
mutants: {}
"""

# What these say stands in the text itself: its encoding, its YAML, what scenarios make use of, a command, a run.
NOT_A_FRAGMENT = {
    Code.NOT_UTF8,
    Code.NO_INITIAL_STATE,
    Code.UNUSED_UNKNOWN,
    Code.UNUSED_STALE,
    Code.EQUIVALENT_STALE,
    Code.EMPTY_FILE,
    Code.SEVERAL_DOCUMENTS,
}
FRAGMENTS = [
    code for code in Code if code.number[2] not in "078" and code not in NOT_A_FRAGMENT
] + [Code.LIMIT]  # fmt: skip
TEXTS = [code for code in Code if code.number[2] == "0" and code not in {Code.NOT_UTF8, Code.LIMIT}]

SECTIONS = {*yaml.safe_load(WORLD), "kill_points", "questions", "reference", "sweep", "unused", "views"} - {"claim"}
SECTIONS |= {"equivalent"}
CLAIM_KEYS = {"allow", "crashes", "set", "breaks", "only", "because", "variant"}
ONE_STEP = "one step"
SINGLE = {"holds", "ghost", "properties"}
PROPERTY_KEYS = {"always", "possible", "recoverable", "leads_to"}


def examples(code: Code) -> tuple[str, str]:
    """Return the wrong and the right example of an explanation."""
    found = re.search(r"^```yaml\n# wrong\n(.*?)^# right\n(.*?)^```", explanation(code), re.MULTILINE | re.DOTALL)
    assert found is not None, f"{code.number} has no examples in YAML"
    return found[1], found[2]


def laid_over(base: dict[str, object], patch: dict[str, object], inside: str = "") -> dict[str, object]:
    """Return two mappings merged, down to single variables and properties; steps and rows are replaced together."""
    merged = dict(base)
    for key, value in patch.items():
        old = merged.get(key)
        if key == ONE_STEP:
            steps = merged["steps"]
            assert isinstance(steps, dict)
            assert isinstance(value, dict)
            merged["steps"] = {**steps, **value}
        elif (
            isinstance(old, dict) and isinstance(value, dict) and inside not in SINGLE and key not in {"steps", "rows"}
        ):
            merged[key] = laid_over(old, value, key)
        else:
            merged[key] = value
    return merged


def place(code: Code, key: str, value: object) -> dict[str, object]:
    """Return the whole of which one entry of an example is a part."""
    keys = set(value) if isinstance(value, dict) else set()
    if key in SECTIONS:
        return {key: value}
    if key in PROPERTY_KEYS or (key == "step" and code.number[2] in "39" and "next" in f"{value}{code.name.lower()}"):
        return {"properties": {"example": {key: value}}}
    if key in {"rows", "gives", "match", "defaults"}:
        return {"tables": {"plan": {key: value}}}
    if key == "when":
        return {"tables": {"plan": {"rows": {"unconfirmed": {"when": value, "action": "wait"}}}}}
    if key in {"steps", "volatile"}:
        patch: dict[str, object] = {"processes": {"coordinator": {key: value}}}
        return {"mutants": {"example": patch}} if code.number[2] == "6" else patch
    if key == "holds":
        return {"stores": {"ledger": {key: value}}}
    if key == "default":
        return {"parameters": {"example": {key: value}}}
    if key in CLAIM_KEYS:
        return {"scenarios": {"example": {key: value}}}
    return whole(key, value, keys)


def whole(key: str, value: object, keys: set[str]) -> dict[str, object]:
    """Return the whole of which a named entry is a part; what it is, its own keys tell."""
    if keys & {"default", "range", "one_of"}:
        return {"parameters": {key: value}}
    if keys & {"gives", "rows", "match"}:
        return {"tables": {key: value}}
    if keys & {"of", "at_most"}:
        return {"faults": {key: value}}
    if keys & {"steps", "environment"}:
        return {"processes": {key: value}}
    if keys & {"always", "step", "possible"}:
        return {"properties": {key: value}}
    if keys & set(PATCHABLE):
        return {"mutants": {key: value}}
    if keys & CLAIM_KEYS:
        return {"scenarios": {key: value}}
    if "when" in keys:
        return {"tables": {"plan": {"rows": {key: value}}}}
    if "type" in keys:
        is_ghost = "counter" in str(value)
        return {"ghost": {key: value}} if is_ghost else {"stores": {"ledger": {"holds": {key: value}}}}
    if isinstance(value, list) or re.fullmatch(r"-?\w+\.\.-?\w+", str(value)):
        return {"types": {key: value}}
    return {"processes": {"coordinator": {ONE_STEP: {key: value}}}}


def numbers(code: Code, fragment: str) -> list[str]:
    """Return what is found in an example that is laid over the world."""
    tree = yaml.safe_load(WORLD)
    for key, value in yaml.safe_load(fragment).items():
        tree = laid_over(tree, place(code, str(key), value))
    text = yaml.safe_dump(tree, sort_keys=False, width=200)
    try:
        return [diagnostic.code.number for diagnostic in load(Source("world.yaml", text)).warnings]
    except SpecificationError as refusal:
        return [diagnostic.code.number for diagnostic in refusal.diagnostics]


def numbers_of_text(fragment: str) -> set[str]:
    diagnostics = Diagnostics()
    load_tree(Source("text.yaml", fragment), diagnostics)
    return {diagnostic.code.number for diagnostic in diagnostics.sorted()}


def test_the_world_of_the_examples_has_no_error() -> None:
    load(Source("world.yaml", WORLD))


@pytest.mark.parametrize("code", FRAGMENTS, ids=lambda code: code.number)
def test_the_wrong_example_is_what_its_number_says_and_the_right_one_is_not(code: Code) -> None:
    wrong, right = examples(code)
    # The world declares much that only some example uses, so of these two there are always some.
    always = numbers(code, "{}").count(code.number)

    assert numbers(code, wrong).count(code.number) > numbers(code, right).count(code.number) <= always


@pytest.mark.parametrize("code", TEXTS, ids=lambda code: code.number)
def test_the_wrong_text_is_what_its_number_says_and_the_right_one_is_fine(code: Code) -> None:
    wrong, right = examples(code)

    assert code.number in numbers_of_text(wrong)
    assert numbers_of_text(right) <= ({"KP009"} if code is Code.MERGE_KEY else set())

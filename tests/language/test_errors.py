"""Every mistake has a number, a place, a sentence and its help, and what it says is compared with what it said before.

After a change of the messages: `UPDATE_SNAPSHOTS=1 pytest tests/language/test_errors.py`, and read the difference.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from model.codes import Code, Severity
from model.counters import above_message
from model.diagnostics import Diagnostic, SpecificationError, render
from model.evaluate import Evaluator
from model.loader import load, load_file
from model.source import Source
from model.system import TransitionSystem
from tests.language.mistakes import CHANGES, mistakes
from tests.language.office import OFFICE, changed

SNAPSHOTS = Path(__file__).resolve().parents[1] / "snapshots" / "errors"
SPECIFICATIONS = sorted((Path(__file__).resolve().parents[2] / "spec").rglob("*.yaml"))
MISTAKES = mistakes()
UPDATE = os.environ.get("UPDATE_SNAPSHOTS") == "1"

# What no file alone can produce: the bytes of a file, what scenarios make use of, the command line, a run.
ELSEWHERE = {Code.NOT_UTF8, Code.NO_INITIAL_STATE, Code.UNUSED_UNKNOWN, Code.UNUSED_STALE, Code.EQUIVALENT_STALE}
ELSEWHERE |= {code for code in Code if code.number.startswith(("KP7", "KP8"))}


def found(text: str) -> tuple[Diagnostic, ...]:
    """Return the errors and warnings of a text."""
    try:
        return load(Source("office.yaml", text)).warnings
    except SpecificationError as refusal:
        return refusal.diagnostics


def shown(diagnostics: tuple[Diagnostic, ...], text: str) -> str:
    source = Source("office.yaml", text)
    return "\n".join(render(diagnostic, {source.file: source}) for diagnostic in diagnostics)


def numbers(text: str) -> list[str]:
    return [diagnostic.code.number for diagnostic in found(text)]


def file_name(mistake: str) -> str:
    return re.sub(r"\W+", "-", mistake.replace("`", "")).strip("-") + ".txt"


# --- The messages ---


def test_the_specification_that_the_mistakes_are_made_in_has_none() -> None:
    assert found(OFFICE) == ()


@pytest.mark.parametrize("path", SPECIFICATIONS, ids=lambda path: path.stem)
def test_the_bundled_specifications_have_neither_errors_nor_warnings(path: Path) -> None:
    assert load_file(path).warnings == ()


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_reported_under_its_number(mistake: str) -> None:
    assert mistake[:5] in numbers(MISTAKES[mistake])


@pytest.mark.parametrize("mistake", [name for name in MISTAKES if not name.startswith("KP9")])
def test_an_error_does_not_draw_others_after_it(mistake: str) -> None:
    assert set(numbers(MISTAKES[mistake])) == {mistake[:5]}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_explained_as_it_was_before(mistake: str) -> None:
    message = shown(found(MISTAKES[mistake]), MISTAKES[mistake])
    snapshot = SNAPSHOTS / file_name(mistake)
    if UPDATE:
        snapshot.parent.mkdir(parents=True, exist_ok=True)
        snapshot.write_text(message, encoding="utf-8")

    assert message == snapshot.read_text(encoding="utf-8")


def test_no_snapshot_is_left_of_a_mistake_that_nobody_makes_any_more() -> None:
    assert {path.name for path in SNAPSHOTS.iterdir()} == {file_name(mistake) for mistake in MISTAKES}


def test_every_number_is_produced_by_a_mistake_or_elsewhere() -> None:
    produced = {mistake[:5] for mistake in MISTAKES}

    assert {code.number for code in set(Code) - ELSEWHERE} == produced


# --- Several at once ---


def test_all_errors_of_a_file_come_in_one_run_in_the_order_of_the_file() -> None:
    names = [
        "KP111 a default outside its range",
        "KP303 a type that is none",
        "KP208 a fault that is not there",
        "KP201 a misspelt variable",
        "KP216 a variant that is not there",
        "KP602 a misspelt step",
    ]
    changes = [CHANGES[name] for name in names]
    text = changed(*(change for change in changes if isinstance(change, tuple)))

    assert numbers(text) == ["KP111", "KP303", "KP208", "KP201", "KP216", "KP602"]


def test_errors_in_both_operands_of_one_expression_are_both_reported() -> None:
    text = changed(('"all(charges[s] <= 1 for s in Seat)"', '"lst == 0 and phase == opne and nobody(1)"'))

    assert numbers(text) == ["KP201", "KP214", "KP215"]


def test_a_definition_with_an_error_is_reported_once_however_often_it_is_used() -> None:
    uses = " and ".join(["settled(1)"] * 300)
    text = changed(
        ('"sale[x] in {free, sold}"', '"sale[x] in {fre, sold}"'),
        ("no_rush:", f'often: {{always: "{uses}"}}\n  rush: {{always: "lst > 0"}}\n  no_rush:'),
    )

    assert numbers(text) == ["KP214", "KP201"]


def test_a_step_that_fails_leaves_its_kill_point_known() -> None:
    text = changed(
        ("        last = seat\n", "        lst = seat\n"), ("{}\n", "{allow: {crash: {at: [clerk.charge]}}}\n")
    )

    assert numbers(text) == ["KP217"]


def test_a_property_that_fails_can_still_be_broken_and_asked_about() -> None:
    text = changed(('"all(charges[s] <= 1 for s in Seat)"', '"all(chargs[s] <= 1 for s in Seat)"'))

    assert numbers(text) == ["KP201"]


def test_a_patch_of_a_base_with_an_error_is_checked_too() -> None:
    text = changed(("init: free", "init: fre"), ('{record: "goto(rest)"}', '{record: "goto(bed)"}'))

    assert numbers(text) == ["KP214", "KP205"]


def test_what_a_patch_replaces_stands_in_the_patch() -> None:
    text = changed(
        ("mutants:\n", "mutants:\n  idle: {tables: {plan: {rows: {otherwise: {urgent: true}}}}, breaks: [no_rush]}\n")
    )
    file = load(Source("office.yaml", text))
    line = text.split("\n").index("mutants:") + 2
    rows = file.mutants["idle"].specification.tables["plan", "clerk"].rows
    steps = file.mutants["forgetful"].specification.processes["clerk"].steps

    assert [row.span.line for row in rows if row.name == "otherwise"] == [line]
    assert [step.span.line for step in steps if step.name == "record"] == [line + 1]
    assert [row.span.line for row in rows if row.name == "doubtful"] < [line]


# --- Errors that wait for the parameters ---


def refused(*changes: tuple[str, str]) -> list[str]:
    """Return the errors of those scenarios that cannot be run."""
    file = load(Source("office.yaml", changed(*changes)))
    messages = []
    for scenario in file.scenarios.values():
        try:
            TransitionSystem.of(scenario)
        except SpecificationError as refusal:
            messages += [f"{scenario.name}: {diagnostic}" for diagnostic in refusal.diagnostics]
    return messages


BUSY = ("set: {clerks: 2}", "set: {clerks: 2, seats: 4}")
CHARGED_ONCE = "all(charges[s] <= 1 for s in Seat)"


def test_a_counter_is_compared_with_a_parameter_as_far_as_it_counts() -> None:
    messages = refused(BUSY, (CHARGED_ONCE, "all(charges[s] < seats for s in Seat)"))

    assert messages == ["busy: office.yaml:87:31: error[KP307]: with these parameters " + above_message("<", 4, 2)]


def test_a_counter_that_counts_to_a_parameter_is_compared_below_it() -> None:
    messages = refused(BUSY, ("counter 2", "counter seats"), (CHARGED_ONCE, "all(2 >= charges[s] for s in Seat)"))

    assert [message.split(":")[0] for message in messages] == ["baseline", "hasty"]


def test_a_type_that_is_empty_for_a_scenario_is_refused_there() -> None:
    messages = refused(
        BUSY,
        ("  Seat: 1..seats\n", "  Seat: 1..seats\n  Rest: seats..3\n"),
        ("reply: {type: Reply}", "reply: {type: Reply}\n      left: {type: Rest}"),
    )

    assert messages == [
        "busy: office.yaml:14:9: error[KP302]: with these parameters the type is `4..3`, which has no values"
    ]


def test_what_goes_over_too_much_for_a_scenario_is_refused_there() -> None:
    messages = refused(
        ("range: 1..4", "range: 1..4000"),
        ("set: {clerks: 2}", "set: {seats: 200}"),
        (CHARGED_ONCE, "all(charges[s] <= 1 or charges[z] <= 1 for s in Seat for z in Seat)"),
    )

    message = "with these parameters this goes over 40,000 elements; at most 10,000 are allowed"
    assert messages == [f"busy: office.yaml:87:27: error[KP020]: {message}"]


# --- Meaning that is easy to get wrong ---


def test_the_argument_of_a_definition_keeps_its_variable_inside_a_quantifier_of_the_same_name() -> None:
    """`shared(s)` must compare the caller's seat with all seats, and not every seat with itself."""
    file = load(
        Source(
            "office.yaml",
            changed(
                ("  settled(x):", '  alone(x): "all(sale[s] != sale[x] or s == x for s in Seat)"\n  settled(x):'),
                ("no_rush:", 'apart: {always: "all(alone(s) for s in Seat)"}\n  no_rush:'),
            ),
        )
    )
    system = TransitionSystem.of(file.scenarios["baseline"])
    (state,) = system.initial_states

    # Both seats are free at first, so neither is alone.
    assert not Evaluator(system).holds(file.specification.properties["apart"].expression, state)


def test_a_literal_may_be_called_like_a_word_that_is_only_called() -> None:
    text = changed(
        ("one_of: [hold, resell]", "one_of: [hold, stop]"), ("Phase: [open, closed]", "Phase: [open, closed, read]")
    )

    assert numbers(text) == []


def test_a_ghost_may_count_faults() -> None:
    text = changed(("if fault(lost_reply): reply = nothing", "if fault(lost_reply): refusals = 0"))

    assert numbers(text) == []


def test_warnings_of_mutants_are_not_reported() -> None:
    text = changed(('{record: "goto(rest)"}', '{record: "if sale[seat] == sold: goto(rest)"}'))

    assert numbers(text) == []


def test_errors_and_warnings_are_what_their_number_says() -> None:
    for text in MISTAKES.values():
        for diagnostic in found(text):
            assert (diagnostic.severity is Severity.WARNING) == diagnostic.code.number.startswith("KP9")


# --- What a patch brings about elsewhere ---

SMALL = """\
language: 1
protocol: small
stores: {d: {holds: {x: {type: 0..2}}}}
processes:
  p:
    boot: b
    steps:
      a: "x = 1"
      b: "when(x < 2)"
properties: {q: {always: "x < 2"}}
"""


@pytest.mark.parametrize("patch", ["variants: {odd: {%s}}", "mutants: {odd: {%s, survives: it is drawn}}"])
def test_an_error_outside_of_the_patch_that_brings_it_about_names_the_patch(patch: str) -> None:
    text = SMALL + patch % "processes: {p: {steps: {b: null}}}" + "\n"

    (diagnostic,) = found(text)
    assert diagnostic.span is not None
    assert text.split("\n")[diagnostic.span.line - 1].strip() == "boot: b"
    assert [note.message for note in diagnostic.notes] == [f"in the {patch.split('s:', maxsplit=1)[0]} `odd`"]


def test_an_error_in_the_text_of_a_patch_needs_no_such_note() -> None:
    (diagnostic,) = found(
        SMALL + "variants:\n  odd:\n    processes:\n      p:\n        steps:\n          b: |\n            x = 7 +\n"
    )

    assert diagnostic.notes == ()


def test_an_error_of_the_protocol_itself_is_not_laid_to_a_patch() -> None:
    (diagnostic,) = found(
        SMALL.replace("boot: b", "boot: c") + "variants: {odd: {stores: {d: {holds: {x: {init: 1}}}}}}\n"
    )

    assert diagnostic.notes == ()

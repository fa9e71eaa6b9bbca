"""Specifications that somebody made to do harm are refused at once, with a limit that is named.

What hostile YAML does is tested where YAML is read; here the YAML is fine, and what it says is too much.
"""

from __future__ import annotations

import time

import pytest

from model.codes import Code
from model.diagnostics import Diagnostic, SpecificationError
from model.evaluate import Evaluator
from model.limits import EXPRESSION_DEPTH_MAX
from model.loader import load
from model.source import Source
from model.specification import SpecificationFile
from model.system import TransitionSystem
from tests.language.office import OFFICE, changed

SECONDS = 3.0
"""What one file may take. It is refused in less than one second by a machine that has nothing else to do."""

PROPERTY = '"all(charges[s] <= 1 for s in Seat)"'
STEP = "        last = seat\n"


def with_property(expression: str) -> str:
    return changed((PROPERTY, f'"{expression}"'))


def with_statements(*lines: str) -> str:
    return changed((STEP, "".join(f"        {line}\n" for line in lines)))


def with_definitions(*definitions: str, ask: str) -> str:
    lines = "".join(f"  {definition}\n" for definition in definitions)
    return changed(("definitions:\n", f"definitions:\n{lines}"), (PROPERTY, f'"{ask}"'))


def with_mutants(number: int, patch: str) -> str:
    lines = "".join(f"  mutant{each}: {patch.replace('EACH', str(each))}\n" for each in range(number))
    return changed(("mutants:\n", f"mutants:\n{lines}"))


def elif_chain(length: int) -> str:
    lines = ["if last == 0: pass", *(["elif last == 1: pass"] * length)]
    return with_statements(*lines)


def nested_ifs(depth: int) -> str:
    return with_statements(*(" " * level + "if strict:" for level in range(depth)), " " * depth + "pass")


CHAIN = tuple(f'd{number}: "d{number - 1} and d{number - 1}"' for number in range(1, 60))
MACROS = tuple(f'm{number}(y): "m{number - 1}(m{number - 1}(y))"' for number in range(1, 60))
STEPS = "\n".join(f"      s{number}: pass" for number in range(30_000))
FLOOD = "".join(f"  v{number}: {{type: bool}}\n" for number in range(5_000))
WIDE_DEFINITION = f'wide: "{" or ".join(["in_doubt"] * 450)}"'

HOSTILE = {
    "a range of a thousand million": (changed(("1..seats", "0..1000000000")), Code.LIMIT),
    "a number with a million digits": (with_property("last == " + "9" * 9_000), Code.LIMIT),
    "thirty thousand steps": (changed(("      reserve: |\n", f"{STEPS}\n      reserve: |\n")), Code.LIMIT),
    "five thousand variables": (changed(("ghost:\n", f"ghost:\n{FLOOD}")), Code.LIMIT),
    "an array of arrays": (
        changed(("      last: {", "      cube: {type: bool, per: [0..999, 0..999, 0..999]}\n      last: {")),
        Code.LIMIT,
    ),
    "quantifiers inside one another": (
        with_property("all(a + b + c == d" + "".join(f" for {v} in Huge" for v in "abcd") + ")").replace(
            "  Seat:", "  Huge: 0..9999\n  Seat:"
        ),
        Code.LIMIT,
    ),
    "not not not": (with_property("not " * 2_400 + "strict"), Code.LIMIT),
    "minus minus minus": (with_property("-" * 9_000 + "1 == 1"), Code.LIMIT),
    "parentheses": (with_property("(" * 4_000 + "strict" + ")" * 4_000), Code.LIMIT),
    "brackets": (with_property("sale[" * 1_500 + "1" + "]" * 1_500), Code.LIMIT),
    "a sum of four thousand terms": (with_property("+".join(["1"] * 4_000) + " == 1"), Code.LIMIT),
    "a text of ten thousand terms": (with_property("+".join(["last"] * 9_000) + " == 1"), Code.LIMIT),
    "conditionals": (with_property("strict if strict else " * 400 + "strict"), Code.LIMIT),
    "comparisons": (with_property("(" + " == ".join(["last"] * 1_100) + ")"), None),
    "a chain of elif": (elif_chain(300), Code.LIMIT),
    "a very long chain of elif": (elif_chain(1_500), Code.LIMIT),
    "ifs inside one another": (nested_ifs(80), Code.LIMIT),
    "ifs deeper than Python reads": (nested_ifs(120), Code.LIMIT),
    "a step of a thousand statements": (with_statements(*["last = seat"] * 1_000), Code.LIMIT),
    "a step that reads in five hundred branches": (with_statements(*["if strict: read(ledger)"] * 200), None),
    "a definition that uses the last one twice": (with_definitions('d0: "strict"', *CHAIN, ask="d59"), Code.LIMIT),
    "a macro of macros": (with_definitions('m0(y): "y and y"', *MACROS, ask="m59(strict)"), Code.LIMIT),
    "a macro of itself": (with_definitions('m(y): "m(m(y))"', ask="m(strict)"), Code.RECURSIVE_DEFINITION),
    "a macro that nobody uses": (
        with_definitions('m(y): "n(y)"', 'n(y): "m(y)"', ask="strict"),
        Code.RECURSIVE_DEFINITION,
    ),
    "a long chain of definitions": (
        with_definitions('d0: "strict"', *(f'd{n}: "d{n - 1}"' for n in range(1, 900)), ask="d899"),
        Code.LIMIT,
    ),
    "many properties of many nodes": (
        with_definitions(WIDE_DEFINITION, ask="strict").replace(
            "  no_rush:", "".join(f'  wide{n}: {{always: "wide and {n} > 0"}}\n' for n in range(900)) + "  no_rush:"
        ),
        Code.LIMIT,
    ),
    "two thousand scenarios": (
        changed(("scenarios:\n", "scenarios:\n" + "".join(f"  s{number}: {{}}\n" for number in range(2_000)))),
        Code.LIMIT,
    ),
    "two thousand mutants": (
        with_mutants(2_000, "{parameters: {seats: {default: 1}}, breaks: [can_sell]}"),
        Code.LIMIT,
    ),
    "mutants that change a definition everybody uses": (
        with_mutants(900, '{definitions: {in_doubt: "last == EACH"}, breaks: [can_sell]}').replace(
            "  no_rush:", "".join(f'  wide{n}: {{always: "in_doubt or {n} > 0"}}\n' for n in range(500)) + "  no_rush:"
        ),
        Code.LIMIT,
    ),
    "thirty thousand literals": (
        changed(("[open, closed]", "[open, closed, " + ", ".join(f"l{n}" for n in range(30_000)) + "]")),
        Code.LIMIT,
    ),
    "thirty thousand rows": (
        changed(
            (
                "      otherwise:",
                "".join(f'      r{n}: {{when: "False", action: wait}}\n' for n in range(9_000)) + "      otherwise:",
            )
        ),
        Code.LIMIT,
    ),
    "letters that Python folds": (with_property("\uff53\uff54\uff52\uff49\uff43\uff54"), Code.SYNTAX),
    "a name that looks like another": (changed(("  strict: {", "  stri\u0441t: {")), Code.NOT_AN_IDENTIFIER),
    "an import": (with_property("__import__('os').system('true')"), Code.NOT_IN_LANGUAGE),
    "a very long name": (with_property("a" * 9_000), Code.UNKNOWN_NAME),
    "a very deep name of a label": (with_statements("goto(" + "not " * 2_000 + "rest)"), Code.UNKNOWN_LABEL),
    "a very deep name of a fault": (with_statements("when(fault(" + "-" * 900 + "1))"), Code.UNKNOWN_FAULT),
}


def outcome(text: str) -> SpecificationFile | tuple[Diagnostic, ...]:
    try:
        return load(Source("hostile.yaml", text))
    except SpecificationError as refusal:
        return refusal.diagnostics


@pytest.mark.parametrize(("text", "code"), HOSTILE.values(), ids=HOSTILE.keys())
def test_what_is_too_much_is_refused_at_once_with_the_limit_named(text: str, code: Code | None) -> None:
    started = time.perf_counter()
    result = outcome(text)
    seconds = time.perf_counter() - started

    assert seconds < SECONDS
    if code is None:
        assert isinstance(result, SpecificationFile)
        return
    assert isinstance(result, tuple)
    errors = [diagnostic for diagnostic in result if diagnostic.severity.value == "error"]
    assert code in {error.code for error in errors}
    assert len(errors) <= 5, "one cause, few errors"
    if code is Code.LIMIT:
        assert any(any(character.isdigit() for character in error.message) for error in errors)


def test_a_large_array_is_refused_before_its_elements_are_counted_out() -> None:
    text = changed(
        ("range: 1..4", "range: 1..900000"),
        ("set: {clerks: 2}", "set: {seats: 900000}"),
        ("type: bool, per: Seat", "type: bool, per: [Seat, Seat]"),
        ("if charged[seat]", "if charged[seat, seat]"),
        ("charged[seat] =", "charged[seat, seat] ="),
    )
    file = load(Source("hostile.yaml", text))
    started = time.perf_counter()

    with pytest.raises(SpecificationError) as refusal:
        TransitionSystem.of(file.scenarios["busy"])

    assert refusal.value.diagnostics[0].code is Code.LIMIT
    assert time.perf_counter() - started < SECONDS


# --- The largest that is allowed is read, by whoever reads it ---


def test_the_deepest_expression_that_is_allowed_is_read() -> None:
    levels = EXPRESSION_DEPTH_MAX - 1

    assert isinstance(outcome(with_property("not " * levels + "strict")), SpecificationFile)
    assert isinstance(outcome(with_property("not " * (levels + 1) + "strict")), tuple)


DEEP = {
    "negations": ("not ", "strict", ""),
    "quantifiers": ("any(", "strict", " for VARIABLE in bool)"),
    "implications": ("implies(", "strict", ", strict)"),
    "junctions": ("(strict and ", "strict", ")"),
    "conditionals": ("(strict if strict else ", "strict", ")"),
    "differences": ("(1 - ", "1", ")"),
    "minima": ("min(1, ", "1", ")"),
    "indices": ("ladder[", "0", "]"),
}


@pytest.mark.parametrize(("opening", "inside", "closing"), DEEP.values(), ids=DEEP.keys())
def test_no_expression_that_is_read_is_too_deep_for_its_readers(opening: str, inside: str, closing: str) -> None:
    """Find the deepest that is read, and evaluate it: Python's own stack must not end before our limit."""
    for levels in range(EXPRESSION_DEPTH_MAX, 0, -1):
        closings = "".join(closing.replace("VARIABLE", f"v{level}") for level in range(levels))
        expression = opening * levels + inside + closings
        expression += "" if inside == "strict" else " == 0"
        text = with_property(expression).replace("ghost:\n", "ghost:\n  ladder: {type: 0..1, per: 0..1}\n")
        result = outcome(text)
        if isinstance(result, SpecificationFile):
            break
        assert {error.code for error in result} <= {Code.LIMIT}
    else:
        pytest.fail("nothing is read")
    system = TransitionSystem.of(result.scenarios["baseline"])
    expression_tree = result.specification.properties["charged_once"].expression
    Evaluator(system).holds(expression_tree, system.initial_states[0])


def test_the_specification_that_is_made_hostile_is_read() -> None:
    assert isinstance(outcome(OFFICE), SpecificationFile)

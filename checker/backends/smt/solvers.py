"""Asking a solver about an SMT-LIB text: the door to Z3 and to cvc5, which are handed the text and nothing else."""

from __future__ import annotations

from enum import Enum
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Literal, assert_never

SolverName = Literal["z3", "cvc5"]
SOLVERS: tuple[SolverName, ...] = ("z3", "cvc5")

_PACKAGES: dict[SolverName, str] = {"z3": "z3-solver", "cvc5": "cvc5"}


_BIT_VECTORS = "(set-logic QF_BV)"
"""In a text without integers: vectors are then turned into truth values at once, which is faster, and equations of
vectors left as they are."""

_RANKED = "(bvult rank"
"""In a text that compares ranks the truth values between them are better vectors too: cvc5 is three times as fast."""


class Answer(Enum):
    """What a solver says of a text."""

    UNSAT = "unsat"
    SAT = "sat"
    UNKNOWN = "unknown"
    """Out of time, or given up."""


class UnreadableText(Exception):
    """A solver cannot read the text."""


@cache
def solver_version(solver: SolverName) -> str:
    """Return the version of an installed solver, without loading it; empty where it is not installed."""
    try:
        return version(_PACKAGES[solver])
    except PackageNotFoundError:
        return ""


def ask(solver: SolverName, text: str, seconds: float) -> Answer:
    """Return the answer to the one `check-sat` of a text; `UNKNOWN` after about so many seconds.

    Raises:
        UnreadableText: the text is no such script.
    """
    match solver:
        case "z3":
            return _z3(text, seconds)
        case "cvc5":
            return _cvc5(text, seconds)
        case _:
            assert_never(solver)


def _z3(text: str, seconds: float) -> Answer:
    import z3

    context = z3.Context()
    solver = z3.SolverFor("QF_BV", ctx=context) if _BIT_VECTORS in text else z3.Solver(ctx=context)
    solver.set("timeout", max(1, int(seconds * 1000)))
    try:
        solver.from_string(text)
        return Answer(str(solver.check()))
    except z3.Z3Exception as error:
        raise UnreadableText(str(error)) from error


def _cvc5(text: str, seconds: float) -> Answer:
    import cvc5

    solver = cvc5.Solver(cvc5.TermManager())
    solver.setOption("tlimit-per", str(max(1, int(seconds * 1000))))
    if _BIT_VECTORS in text:
        solver.setOption("bitblast", "eager")
        solver.setOption("bitwise-eq", "false")
    if _RANKED in text:
        solver.setOption("bool-to-bv", "all")
    parser = cvc5.InputParser(solver)
    answers = []
    try:
        parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "obligation")
        symbols = parser.getSymbolManager()
        while True:
            command = parser.nextCommand()
            if command.isNull():
                break
            said = command.invoke(solver, symbols).strip()
            if said and said != "success":
                answers.append(said)
    except RuntimeError as error:
        raise UnreadableText(str(error)) from error
    if len(answers) != 1:
        raise UnreadableText(f"one answer is expected, not {answers}")
    known = {answer.value: answer for answer in Answer}
    word = answers[0].partition(" ")[0]  # a reason may follow: `unknown (TIMEOUT)`
    if word not in known:
        raise UnreadableText(answers[0])
    return known[word]

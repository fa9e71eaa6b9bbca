"""`killpoint induct`: claims proved or refuted without going over states, for any value of each `nat`."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from checker.commands.answers import print_document, warn
from checker.commands.choices import one_claim, one_property, positive, raise_if_any, within
from checker.commands.inputs import Loaded, load_one
from checker.commands.refusal import BadInput
from checker.confirm import confirm_failure, confirm_property
from checker.engines.induction import Decision, Effort, covered, decide
from checker.judgement import asked_properties
from checker.reporting.documents import file_document
from checker.reporting.induction import Induction, induction_document, induction_lines
from checker.reporting.output import standard_output
from checker.verdict import ExitCode, Verdict, worst
from model.diagnostics import Code, Diagnostic, SpecificationError, quoted
from model.specification import Property, Scenario
from model.system import TransitionSystem

DEPTH_MAX = 1_000


@dataclass(frozen=True, slots=True)
class InductOptions:
    """What to decide, how far to go, and in which form to tell. Without properties: all that the claim asks about."""

    specification: str
    scenario: str = ""
    mutant: str = ""
    properties: Sequence[str] = ()
    depth: int = 10
    timeout: float | None = None
    as_json: bool = False


def run(options: InductOptions) -> ExitCode:
    """Decide the claims of one scenario or mutant, and print what was found and what a proof still lacks.

    Raises:
        BadInput: the file or an option is wrong, or a property is none that induction decides.
        EngineDisagreement: the evaluator contradicts the solver.
    """
    raise_if_any([*within("--depth", options.depth, DEPTH_MAX), *positive("--timeout", options.timeout)])
    loaded = load_one(options.specification)
    claim = one_claim(loaded, options.scenario, options.mutant)
    asked, left_out = _asked(claim, options.properties)
    if not options.as_json:
        warn([loaded])
    started = time.monotonic()
    system = _system(loaded, claim)
    deadline = None if options.timeout is None else started + options.timeout
    decisions = decide(system, [each.name for each in asked], Effort(options.depth, deadline))
    for decision in decisions:
        _confirm(system, decision)
    code = worst(_codes(claim, decisions))
    result = Induction(loaded.file, claim, system, tuple(decisions), tuple(left_out), time.monotonic() - started)
    if options.as_json:
        print_document("induct", code, {**file_document(loaded.file), "claim": induction_document(result)})
    else:
        output = standard_output()
        output.lines(induction_lines(result, code, output.width))
    return code


def _asked(claim: Scenario, names: Sequence[str]) -> tuple[list[Property], list[str]]:
    """Return the properties to decide, and the names of those that only an exploration can."""
    for name in names:
        one_property(claim, name)
    wanted = asked_properties(claim, names or None)
    decided = covered(wanted)
    left_out = [each.name for each in wanted if each not in decided]
    if names and left_out:
        message = f"{quoted(left_out[0])} is about ways to a goal, of which induction says nothing"
        help_text = "`killpoint check` decides it"
        raise BadInput([Diagnostic(Code.OPTION_VALUE, message, None, help=help_text)])
    return decided, left_out


def _system(loaded: Loaded, claim: Scenario) -> TransitionSystem:
    try:
        return TransitionSystem.endless(claim)
    except SpecificationError as error:
        raise BadInput(error.diagnostics, loaded.sources) from error


def _confirm(system: TransitionSystem, decision: Decision) -> None:
    finding = decision.finding
    if finding is None:
        return
    if finding.error is not None:
        confirm_failure(system, finding)
    else:
        confirm_property(system, system.specification.properties[decision.name], finding)


def _codes(claim: Scenario, decisions: Sequence[Decision]) -> Iterator[ExitCode]:
    for decision in decisions:
        declared = decision.name in claim.breaks
        match decision.verdict:
            case Verdict.ERROR:
                yield ExitCode.BAD_INPUT
            case Verdict.HOLDS:
                yield ExitCode.NOT_AS_DECLARED if declared else ExitCode.AS_DECLARED
            case Verdict.VIOLATED:
                yield ExitCode.AS_DECLARED if declared else ExitCode.NOT_AS_DECLARED
            case Verdict.VACUOUS:
                yield ExitCode.AS_DECLARED if declared else ExitCode.VACUOUS
            case _:
                # That nothing errs is asked only for the sake of the others, which say so themselves.
                yield ExitCode.INCONCLUSIVE if decision.name else ExitCode.AS_DECLARED

"""`killpoint mutate`: whether the claims of a specification notice when its protocol is changed."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from checker.commands.answers import print_document, warn
from checker.commands.choices import check_names, raise_if_any
from checker.commands.inputs import Loaded, load_one
from checker.commands.refusal import BadInput
from checker.commands.running import Runner, RunOptions, systems_of
from checker.judgement import asked_properties, judge_scenario
from checker.mutation.deciding import Decider
from checker.mutation.explaining import apply_reasons, fits, stale_reasons
from checker.mutation.fates import Fate, Held, MutationReport, credits_of
from checker.mutation.generation import mutants_of
from checker.mutation.mutants import Mutant, Operator
from checker.mutation.survivors import explain
from checker.reporting.mutation import mutation_document, mutation_lines
from checker.reporting.output import standard_output
from checker.verdict import ExitCode, Verdict, worst
from model.diagnostics import Code, Diagnostic, did_you_mean, quoted
from model.specification import PropertyKind, Scenario

_HOLDING = (Verdict.HOLDS, Verdict.PROVED, Verdict.BOUNDED)


@dataclass(frozen=True, slots=True)
class MutateOptions:
    """Which mutants to make, which scenarios to ask, and whether survivors are a failure."""

    specification: str
    scenarios: Sequence[str] = ()
    operators: Sequence[str] = ()
    mutants: Sequence[str] = ()
    """Patterns of names."""
    fail_on_survivors: bool = False
    as_json: bool = False

    @property
    def narrowed(self) -> str:
        """Say why the run is not about all mutants and all scenarios."""
        reasons = [f"only {word} {', '.join(names)}" for word, names in self._chosen() if names]
        return "; ".join(reasons)

    def _chosen(self) -> tuple[tuple[str, Sequence[str]], ...]:
        return ("scenario", self.scenarios), ("operator", self.operators), ("mutant", self.mutants)


def run(options: MutateOptions, running: RunOptions) -> ExitCode:
    """Make the mutants of a specification, decide them, and print what came out.

    Raises:
        BadInput: the file or an option is wrong.
        EngineDisagreement: the evaluator contradicts an engine.
    """
    loaded = load_one(options.specification)
    claims = _claims(options, loaded, running.bound)
    if not options.as_json:
        warn([loaded])
    with Runner(running) as runner:
        report = _report(options, loaded, claims, runner)
    code = exit_code(report, fail_on_survivors=options.fail_on_survivors)
    if options.as_json:
        print_document("mutate", code, mutation_document(loaded.file, report))
    else:
        output = standard_output()
        output.lines(mutation_lines(report, output.width, detailed=bool(options.mutants)))
    return code


def mutated(loaded: Loaded, runner: Runner) -> MutationReport:
    """Make all mutants of a specification, and decide them.

    Raises:
        EngineDisagreement: the evaluator contradicts an engine.
    """
    options = MutateOptions(loaded.file.source.file)
    return _report(options, loaded, _claims(options, loaded, runner.options.bound), runner)


def _report(options: MutateOptions, loaded: Loaded, claims: Mapping[str, Scenario], runner: Runner) -> MutationReport:
    started = time.monotonic()
    held, left_out = _held(loaded, claims, runner.options, runner)
    mutants = _mutants(options, loaded, held)
    decider = Decider(mutants, held, runner.limits, runner.progress.tell)
    decider.run()
    apply_reasons(loaded.file, decider.decided)
    survivors = [each for each in decider.decided if each.fate is Fate.SURVIVED]
    explain(survivors, held, runner.limits, runner.progress.tell)
    return MutationReport(
        file=loaded.file.source.file,
        protocol=loaded.file.specification.name,
        title=loaded.file.specification.title,
        scenarios=tuple(held),
        decided=tuple(decider.decided),
        credits=credits_of(decider.decided, _properties(held)),
        stale=stale_reasons(loaded.file, decider.decided, whole=not options.narrowed),
        left_out=left_out,
        narrowed=options.narrowed,
        unfinished="interrupted" if runner.interrupted else "",
        seconds=time.monotonic() - started,
    )


def exit_code(report: MutationReport, *, fail_on_survivors: bool) -> ExitCode:
    """Return what a report comes to: survivors are a failure only where somebody says so."""
    codes = [ExitCode.AS_DECLARED]
    if report.left_out or (fail_on_survivors and (report.unexplained or report.stale)):
        codes.append(ExitCode.NOT_AS_DECLARED)
    if report.unfinished or report.of(Fate.OPEN) or not report.scenarios:
        codes.append(ExitCode.INCONCLUSIVE)
    return worst(codes)


def _claims(options: MutateOptions, loaded: Loaded, bound: int | None) -> dict[str, Scenario]:
    """Return the scenarios to ask: those that are named, or all that are said to hold."""
    scenarios = loaded.file.scenarios
    raise_if_any(check_names(options.scenarios, scenarios, Code.NO_SUCH_SCENARIO, "scenario"))
    broken = [name for name in options.scenarios if scenarios[name].breaks]
    if broken:
        message = f"the scenario {quoted(broken[0])} breaks a property anyway; mutants are asked of scenarios that hold"
        raise BadInput([Diagnostic(Code.OPTION_VALUE, message, None)])
    operators = [operator.value for operator in Operator]
    unknown = [name for name in options.operators if name not in operators]
    if unknown:
        message = f"there is no operator {quoted(unknown[0])}"
        help_ = did_you_mean(unknown[0], operators, known="the operators are")
        raise BadInput([Diagnostic(Code.OPTION_VALUE, message, None, help=help_)])
    return {
        name: scenario if bound is None else replace(scenario, bound=bound)
        for name, scenario in scenarios.items()
        if not scenario.breaks and (not options.scenarios or name in options.scenarios)
    }


def _held(
    loaded: Loaded, claims: Mapping[str, Scenario], running: RunOptions, runner: Runner
) -> tuple[list[Held], tuple[str, ...]]:
    """Explore scenarios, and return those that hold and the names of those that do not."""
    name = loaded.file.source.file
    systems = systems_of({name: (loaded, claims)}, running.bound)[name]
    found = runner.explore(loaded, claims, systems).explorations
    held, left_out = [], []
    for scenario, exploration in found.items():
        verdict = judge_scenario(claims[scenario], exploration).verdict
        if verdict in _HOLDING:
            held.append(Held(claims[scenario], systems[scenario], exploration))
        elif not runner.interrupted:
            left_out.append(scenario)
    return held, tuple(left_out)


def _mutants(options: MutateOptions, loaded: Loaded, held: Sequence[Held]) -> list[Mutant]:
    specifications = list(dict.fromkeys(each.scenario.specification for each in held))
    chosen = {Operator(name) for name in options.operators} or set(Operator)
    found = mutants_of(loaded.file.source, specifications, chosen)
    fitting = [each for each in found if not options.mutants or any(fits(p, each.id) for p in options.mutants)]
    if options.mutants and held and not fitting:
        message = f"no mutant is named {quoted(options.mutants[0])}"
        help_ = did_you_mean(options.mutants[0], [each.id for each in found])
        raise BadInput([Diagnostic(Code.NO_SUCH_MUTANT, message, None, help=help_)])
    return fitting


def _properties(held: Sequence[Held]) -> list[str]:
    """Return the properties that some scenario asks about and that can break; a `possible` one can only be empty."""
    asked = [claim for each in held for claim in asked_properties(each.scenario)]
    return list(dict.fromkeys(claim.name for claim in asked if claim.kind is not PropertyKind.POSSIBLE))

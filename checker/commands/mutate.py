"""`killpoint mutate`: whether the claims of specifications notice when their protocols are changed."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from checker.commands.answers import print_document, say, unwritable, warn
from checker.commands.choices import check_names, raise_if_any
from checker.commands.inputs import Loaded, load_all
from checker.commands.refusal import BadInput
from checker.commands.running import Runner, RunOptions, systems_of
from checker.judgement import asked_properties, judge_scenario
from checker.mutation.deciding import Decider
from checker.mutation.explaining import apply_reasons, fits, stale_reasons
from checker.mutation.fates import Fate, Held, MutationReport, credits_of
from checker.mutation.generation import mutants_of
from checker.mutation.mutants import Mutant, Operator
from checker.mutation.survivors import explain
from checker.reporting.envelope import Document
from checker.reporting.mutation import brief_lines, mutation_document, mutation_lines, together_lines
from checker.reporting.mutationrecord import write_mutation
from checker.reporting.output import standard_output
from checker.reporting.reports import checkout_root, record_name
from checker.verdict import ExitCode, Verdict, worst
from model.diagnostics import Code, Diagnostic, did_you_mean, quoted
from model.specification import PropertyKind, Scenario

_HOLDING = (Verdict.HOLDS, Verdict.PROVED, Verdict.BOUNDED)


@dataclass(frozen=True, slots=True)
class MutateOptions:
    """Which mutants to make, which scenarios to ask, whether survivors are a failure, and where the record goes."""

    specifications: Sequence[str] = ()
    scenarios: Sequence[str] = ()
    operators: Sequence[str] = ()
    mutants: Sequence[str] = ()
    """Patterns of names."""
    fail_on_survivors: bool = False
    as_json: bool = False
    reports: Path | None = None

    @property
    def narrowed(self) -> str:
        """Say why the run is not about all mutants and all scenarios."""
        reasons = [f"only {word} {', '.join(names)}" for word, names in self._chosen() if names]
        return "; ".join(reasons)

    def _chosen(self) -> tuple[tuple[str, Sequence[str]], ...]:
        return ("scenario", self.scenarios), ("operator", self.operators), ("mutant", self.mutants)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A file and the scenarios of it to ask."""

    loaded: Loaded
    claims: Mapping[str, Scenario]

    def mutants(self, options: MutateOptions) -> list[Mutant]:
        """Return the mutants that these scenarios run, by any operator and of any name that is chosen."""
        return _mutants(options, self.loaded, list(self.claims.values()))


def run(options: MutateOptions, running: RunOptions) -> ExitCode:
    """Make the mutants of specifications, decide them, print what came out, and refresh the record.

    Raises:
        BadInput: a file or an option is wrong, or the record cannot be written.
        EngineDisagreement: the evaluator contradicts an engine.
    """
    loaded = load_all(options.specifications)
    _refuse(options, loaded)
    asked = [_Asked(each, _claims(options, each, running.bound)) for each in loaded]
    asked = _with_something_to_ask(options, asked)
    if not options.as_json:
        warn(each.loaded for each in asked)
    documents: list[Document] = []
    with Runner(running) as runner:
        reports = [_decided(options, each, runner, documents, alone=len(asked) == 1) for each in asked]
    code = worst(exit_code(report, fail_on_survivors=options.fail_on_survivors) for report in reports)
    if options.as_json:
        print_document("mutate", code, {"files": documents})
    elif len(reports) > 1:
        output = standard_output()
        output.lines(together_lines(reports, output.width))
    _record(options, running, asked, reports)
    return code


def mutated(loaded: Loaded, runner: Runner) -> MutationReport:
    """Make all mutants of a specification, and decide them.

    Raises:
        EngineDisagreement: the evaluator contradicts an engine.
    """
    options = MutateOptions()
    return _report(options, _Asked(loaded, _claims(options, loaded, runner.options.bound)), runner)


def exit_code(report: MutationReport, *, fail_on_survivors: bool) -> ExitCode:
    """Return what a report comes to: survivors are a failure only where somebody says so."""
    codes = [ExitCode.AS_DECLARED]
    if report.left_out or (fail_on_survivors and (report.unexplained or report.stale)):
        codes.append(ExitCode.NOT_AS_DECLARED)
    if report.unfinished or report.of(Fate.OPEN) or not report.scenarios:
        codes.append(ExitCode.INCONCLUSIVE)
    return worst(codes)


def _decided(
    options: MutateOptions, asked: _Asked, runner: Runner, documents: list[Document], *, alone: bool
) -> MutationReport:
    """Decide the mutants of a file, and say what came out, of one of several files in short.

    What only that wants, the runs of the mutants, is let go of: many files have many.
    """
    report = _report(options, asked, runner)
    runner.progress.clear()
    output = standard_output()
    if options.as_json:
        documents.append(mutation_document(asked.loaded.file, report))
    elif alone:
        output.lines(mutation_lines(report, output.width, detailed=bool(options.mutants)))
    else:
        output.lines(brief_lines(report, output.width))
    for each in report.decided:
        each.system = each.finding = each.difference = None
    return report


def _report(options: MutateOptions, asked: _Asked, runner: Runner) -> MutationReport:
    started = time.monotonic()
    file = asked.loaded.file
    held, left_out, cut = _held(asked.loaded, asked.claims, runner.options, runner)
    mutants = _mutants(options, asked.loaded, [each.scenario for each in held])
    decider = Decider(mutants, held, runner.limits, runner.progress.tell)
    decider.run()
    apply_reasons(file, decider.decided)
    # What somebody has given a reason for is not looked into again, unless somebody asks for it by name.
    survivors = [each for each in decider.decided if each.fate is Fate.SURVIVED]
    asking = [each for each in survivors if options.mutants or not each.explained]
    explain(asking, held, runner.limits, runner.progress.tell)
    return MutationReport(
        file=file.source.file,
        protocol=file.specification.name,
        title=file.specification.title,
        scenarios=tuple(held),
        decided=tuple(decider.decided),
        credits=credits_of(decider.decided, _properties(held)),
        stale=stale_reasons(file, decider.decided, whole=not options.narrowed),
        left_out=left_out,
        narrowed=options.narrowed,
        unfinished="interrupted" if runner.interrupted else cut,
        seconds=time.monotonic() - started,
    )


# --- What is asked ---


def _refuse(options: MutateOptions, loaded: Sequence[Loaded]) -> None:
    """Refuse what no file has, and what no run can do.

    Raises:
        BadInput: with what is wrong with the options.
    """
    known = {name: scenario for each in loaded for name, scenario in _by_holding(each)}
    raise_if_any(check_names(options.scenarios, known, Code.NO_SUCH_SCENARIO, "scenario"))
    broken = [name for name in options.scenarios if known[name].breaks]
    if broken:
        message = f"the scenario {quoted(broken[0])} breaks a property anyway; mutants are asked of scenarios that hold"
        raise BadInput([Diagnostic(Code.OPTION_VALUE, message, None)])
    operators = [operator.value for operator in Operator]
    unknown = [name for name in options.operators if name not in operators]
    if unknown:
        message = f"there is no operator {quoted(unknown[0])}"
        help_ = did_you_mean(unknown[0], operators, known="the operators are")
        raise BadInput([Diagnostic(Code.OPTION_VALUE, message, None, help=help_)])
    if options.reports is not None and options.narrowed:
        message = "`--reports` records whole files; `--scenario`, `--operator` and `--mutant` leave mutants out"
        raise BadInput([Diagnostic(Code.OPTION_VALUE, message, None)])


def _by_holding(loaded: Loaded) -> list[tuple[str, Scenario]]:
    """Return the scenarios of a file, those last that are said to hold."""
    return sorted(loaded.file.scenarios.items(), key=lambda each: not each[1].breaks)


def _claims(options: MutateOptions, loaded: Loaded, bound: int | None) -> dict[str, Scenario]:
    """Return the scenarios to ask: those that are named, or all that are said to hold."""
    return {
        name: scenario if bound is None else replace(scenario, bound=bound)
        for name, scenario in loaded.file.scenarios.items()
        if not scenario.breaks and (not options.scenarios or name in options.scenarios)
    }


def _with_something_to_ask(options: MutateOptions, asked: Sequence[_Asked]) -> list[_Asked]:
    """Leave out the files that have none of the scenarios and mutants that somebody has named.

    Raises:
        BadInput: no file has a mutant of some name.
    """
    asked = [each for each in asked if each.claims or not options.scenarios]
    if not options.mutants:
        return list(asked)
    everything = replace(options, mutants=())
    names = {each.loaded.file.source.file: [m.id for m in each.mutants(everything)] for each in asked}
    known = [name for several in names.values() for name in several]
    for pattern in options.mutants:
        if not any(fits(pattern, name) for name in known):
            message = f"no mutant is named {quoted(pattern)}"
            raise BadInput([Diagnostic(Code.NO_SUCH_MUTANT, message, None, help=did_you_mean(pattern, known))])
    return [each for each in asked if _fitting(options.mutants, names[each.loaded.file.source.file])]


def _fitting(patterns: Sequence[str], names: Sequence[str]) -> list[str]:
    return [name for name in names if any(fits(pattern, name) for pattern in patterns)]


def _held(
    loaded: Loaded, claims: Mapping[str, Scenario], running: RunOptions, runner: Runner
) -> tuple[list[Held], tuple[str, ...], str]:
    """Explore scenarios; return those that hold, the names of those that do not, and why one is not known."""
    name = loaded.file.source.file
    systems = systems_of({name: (loaded, claims)}, running.bound)[name]
    found = runner.explore(loaded, claims, systems).explorations
    held, left_out, cut = [], [], ""
    for scenario, exploration in found.items():
        verdict = judge_scenario(claims[scenario], exploration).verdict
        if verdict in _HOLDING:
            held.append(Held(claims[scenario], systems[scenario], exploration))
        elif verdict is Verdict.UNKNOWN:
            cut = cut or f"scenario {scenario}: {exploration.cut}"
        else:
            left_out.append(scenario)
    return held, tuple(left_out), cut


def _mutants(options: MutateOptions, loaded: Loaded, scenarios: Sequence[Scenario]) -> list[Mutant]:
    """Return the mutants that some scenarios run, by the operators and of the names that are chosen."""
    specifications = list(dict.fromkeys(scenario.specification for scenario in scenarios))
    chosen = {Operator(name) for name in options.operators} or set(Operator)
    found = mutants_of(loaded.file.source, specifications, chosen)
    return [each for each in found if not options.mutants or _fitting(options.mutants, [each.id])]


def _properties(held: Sequence[Held]) -> list[str]:
    """Return the properties that some scenario asks about and that can break; a `possible` one can only be empty."""
    asked = [claim for each in held for claim in asked_properties(each.scenario)]
    return list(dict.fromkeys(claim.name for claim in asked if claim.kind is not PropertyKind.POSSIBLE))


# --- The record ---


def _record(
    options: MutateOptions, running: RunOptions, asked: Sequence[_Asked], reports: Sequence[MutationReport]
) -> None:
    """Write `mutation.md` where an option says, or for all specifications of a checkout in its `reports/`.

    Raises:
        BadInput: it cannot be written.
    """
    root = checkout_root()
    directory = options.reports
    if directory is None:
        plain = not (options.specifications or options.narrowed or running.bound is not None)
        if root is None or not plain or not options.fail_on_survivors:
            return
        directory = root / "reports"
    if any(report.unfinished or report.of(Fate.OPEN) for report in reports):
        say(f"{directory} is not refreshed: the run was cut short")
        return
    files = {
        record_name(each.loaded.path, root or Path.cwd()): (each.loaded.file, report)
        for each, report in zip(asked, reports, strict=True)
    }
    command = " ".join(["killpoint", "mutate", *options.specifications, "--fail-on-survivors"])
    try:
        write_mutation(directory, command, files)
    except OSError as error:
        raise unwritable(directory, error) from error

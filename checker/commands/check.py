"""`killpoint check`: whether all claims of specifications are as declared."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from checker.cache import Cache
from checker.campaign import judge
from checker.certificates.memory import remembered
from checker.commands.answers import print_document, say, unwritable, warn, write_itf
from checker.commands.choices import all_properties, check_names, raise_if_any
from checker.commands.exports import NO_EXPORTS, Exports
from checker.commands.inputs import Loaded, load_all
from checker.commands.pages import Pages, check_page_count
from checker.commands.refusal import BadInput
from checker.commands.running import Runner, RunOptions, systems_of
from checker.identity import certified_hash
from checker.installation import version
from checker.judgement import ScenarioReport, asked_properties, with_proofs
from checker.reporting.checks import file_lines, summary_line
from checker.reporting.claims import shortest_surprise
from checker.reporting.documents import checked_document
from checker.reporting.output import standard_output
from checker.reporting.reports import checkout_root, write_reports
from checker.results import CheckedFile, exit_code_of
from checker.verdict import ExitCode
from model.diagnostics import Code, Diagnostic
from model.specification import Scenario
from model.system import TransitionSystem


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """What to check, and what to make of it."""

    specifications: Sequence[str] = ()
    scenarios: Sequence[str] = ()
    properties: Sequence[str] = ()
    mutants: Sequence[str] = ()
    as_json: bool = False
    itf: Path | None = None
    reports: Path | None = None
    compared: int = 0
    """States of each claim in which the engines are compared, before anything is judged; 0 for no comparison."""
    certify: bool = False
    exports: Exports = NO_EXPORTS
    pages: Pages | None = None

    @property
    def narrowed(self) -> bool:
        """Whether only some claims of the files are asked about."""
        return bool(self.scenarios or self.properties or self.mutants)


def run(options: CheckOptions, running: RunOptions) -> ExitCode:
    """Check, and print what came out.

    Raises:
        BadInput: a file or an option is wrong.
        EngineDisagreement: the evaluator contradicts the engine.
    """
    if options.reports is not None and options.narrowed:
        message = "`--reports` records whole files; `--scenario`, `--property` and `--mutant` leave claims out"
        raise BadInput([Diagnostic(Code.OPTIONS_CONFLICT, message, None)])
    try:
        loaded = load_all(options.specifications)
        chosen = _choose(options, loaded)
        systems = systems_of(chosen, running.bound)
    except BadInput as error:
        options.exports.write_refusal(error)
        if options.pages is not None:
            options.pages.write_refusal(error)
        raise
    if options.pages is not None:
        check_page_count(options.pages, len(chosen))
    if not options.as_json:
        warn(each for each, _ in chosen.values())
    checked = _check(options, running, chosen, systems)
    code = exit_code_of(checked)
    if options.as_json:
        documents = [checked_document(_with_proofs(each, running.cache)) for each in checked]
        print_document("check", code, {"files": documents})
    else:
        standard_output().line(*summary_line(checked, code))
    if options.itf is not None:
        _write_itf(options.itf, chosen, checked)
    options.exports.write(checked, code)
    if options.pages is not None:
        known = [_with_proofs(each, running.cache) for each in checked]
        options.pages.write([each for each, _ in chosen.values()], known, running, _narrowing(options))
    _refresh_reports(options, running, checked)
    return code


def _check(
    options: CheckOptions,
    running: RunOptions,
    chosen: Mapping[str, tuple[Loaded, Mapping[str, Scenario]]],
    systems: Mapping[str, Mapping[str, TransitionSystem]],
) -> list[CheckedFile]:
    checked = []
    output = standard_output()
    with Runner(running) as runner:
        for name, (each, claims) in chosen.items():
            compared = runner.compare(each, systems[name], options.compared) if options.compared else None
            explored = runner.explore(each, claims, systems[name])
            report = judge(each.file, explored.explorations, properties=options.properties or None)
            found = CheckedFile(each.path, each.file, report, explored.cached, explored.seconds, compared)
            checked.append(found)
            if options.certify:
                _certify(found, running, runner)
            if not options.as_json:
                output.lines(file_lines(_with_proofs(found, running.cache), output.width))
                output.line()
                output.flush()
    return checked


def _certify(checked: CheckedFile, running: RunOptions, runner: Runner) -> None:
    """Make the certificates that are missing, check them, and remember those that stand.

    Raises:
        EngineDisagreement: a certificate is refuted, so that two readings of the specification contradict each other.
    """
    from checker.commands.proving import prove_missing

    runner.progress.clear()
    prove_missing(checked, running.workers, running.cache, runner.progress)


def _with_proofs(checked: CheckedFile, cache: Cache) -> CheckedFile:
    """Return what was checked with what is known of certificates.

    The reports are made without it: they say the same whether or not somebody has certificates.
    """
    report = checked.report
    scenarios = tuple(with_proofs(each, _shown(checked, each, cache)) for each in report.scenarios)
    return replace(checked, report=replace(report, scenarios=scenarios))


def _shown(checked: CheckedFile, report: ScenarioReport, cache: Cache) -> frozenset[str]:
    claim = certified_hash(checked.file.source, checked.claim(report), report.exploration.system)
    known = remembered(cache, claim)
    return frozenset() if known is None else known.shown


def _choose(options: CheckOptions, loaded: Sequence[Loaded]) -> dict[str, tuple[Loaded, dict[str, Scenario]]]:
    """Return, by file, the claims to run; files of which none is chosen are left out.

    Raises:
        BadInput: an option names what no file has, or together they choose nothing.
    """
    scenarios = [name for each in loaded for name in each.file.scenarios]
    mutants = [name for each in loaded for name in each.file.mutants]
    raise_if_any(
        [
            *check_names(options.scenarios, scenarios, Code.NO_SUCH_SCENARIO, "scenario"),
            *check_names(options.mutants, mutants, Code.NO_SUCH_MUTANT, "mutant"),
            *check_names(options.properties, all_properties(loaded), Code.NO_SUCH_PROPERTY, "property"),
        ]
    )
    chosen = {each.file.source.file: (each, _claims(options, each)) for each in loaded}
    if options.narrowed:
        chosen = {name: (each, claims) for name, (each, claims) in chosen.items() if claims}
    if not chosen:
        message = "these options together leave nothing to check: no scenario or mutant chosen asks about the property"
        raise BadInput([Diagnostic(Code.OPTIONS_CONFLICT, message, None)])
    return chosen


def _claims(options: CheckOptions, loaded: Loaded) -> dict[str, Scenario]:
    file = loaded.file
    everything = not options.scenarios and not options.mutants
    claims = [c for c in file.scenarios.values() if everything or c.name in options.scenarios]
    # A mutant is caught by what it names: one that does not name the property says nothing of it.
    claims += [
        c
        for c in file.mutants.values()
        if (everything or c.name in options.mutants)
        and (not options.properties or set(c.breaks) & set(options.properties))
    ]
    return {c.name: c for c in claims if not options.properties or asked_properties(c, options.properties)}


def _write_itf(
    path: Path, chosen: Mapping[str, tuple[Loaded, Mapping[str, Scenario]]], checked: Sequence[CheckedFile]
) -> None:
    """Write the first trace that was shown."""
    for each in checked:
        shown = shortest_surprise(each.file, each.claims)
        if shown is not None:
            write_itf(path, chosen[each.file.source.file][0], shown)
            return
    say(f"{path} is not written: nothing breaks undeclared")


def _narrowing(options: CheckOptions) -> str:
    """Return the options that change what a page says of a file, as they are typed."""
    named = [("-s", options.scenarios), ("-p", options.properties), ("-m", options.mutants)]
    words = [f" {option} {shlex.quote(name)}" for option, names in named for name in names]
    return "".join(words) + " --paranoid" * bool(options.compared)


def _refresh_reports(options: CheckOptions, running: RunOptions, checked: Sequence[CheckedFile]) -> None:
    """Write the reports: where an option says, or for the whole of a checkout's specifications in its `reports/`."""
    root = checkout_root()
    directory = options.reports
    if directory is None:
        if root is None or options.specifications or options.narrowed:
            return
        directory = root / "reports"
    if any(not claim.exploration.complete for each in checked for claim in each.claims) or any(
        each.report.not_run for each in checked
    ):
        say(f"{directory} is not refreshed: the run was cut short")
        return
    try:
        write_reports(directory, root or Path.cwd(), _command(options, running), version(), checked)
    except OSError as error:
        raise unwritable(directory, error) from error


def _command(options: CheckOptions, running: RunOptions) -> str:
    """Return the command that makes the same report again; limits that were not met make no difference."""
    engine = ["--engine", running.engine] if running.engine != "columnar" else []
    return " ".join(["killpoint", "check", *options.specifications, *engine])

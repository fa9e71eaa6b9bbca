"""`killpoint prove`: certificates for the scenarios of specifications, checked again as soon as they are made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from checker.backends.smt.solvers import SolverName
from checker.campaign import judge
from checker.certificates.rechecking import RecheckOptions
from checker.commands.answers import print_document, say, unwritable, warn
from checker.commands.choices import check_names, raise_if_any
from checker.commands.inputs import Loaded, load_all
from checker.commands.proving import prove_reports
from checker.commands.running import Runner, RunOptions, systems_of
from checker.judgement import ScenarioReport
from checker.reporting.certificates import ProofReport, proof_document, proof_lines, proofs_markdown
from checker.reporting.documents import file_document
from checker.reporting.output import Output, standard_output
from checker.reporting.reports import checkout_root, record_name, write_proofs
from checker.verdict import ExitCode, worst
from model.diagnostics import Code
from model.source import Source
from model.specification import Scenario


@dataclass(frozen=True, slots=True)
class ProveOptions:
    """What to prove, with which solvers, and where the certificates go; None to throw them away when checked."""

    specifications: Sequence[str] = ()
    scenarios: Sequence[str] = ()
    directory: Path | None = None
    solvers: tuple[SolverName, ...] = ("z3", "cvc5")
    seconds: float = 60.0
    as_json: bool = False
    reports: Path | None = None


def run(options: ProveOptions, running: RunOptions) -> ExitCode:
    """Explore, make certificates, check them, and print what came of it.

    Raises:
        BadInput: a file or an option is wrong, or a certificate cannot be written.
        EngineDisagreement: the evaluator contradicts the engine.
    """
    loaded = load_all(options.specifications)
    names = [name for each in loaded for name in each.file.scenarios]
    raise_if_any(check_names(options.scenarios, names, Code.NO_SUCH_SCENARIO, "scenario"))
    if not options.as_json:
        warn(loaded)
    chosen = {each.file.source.file: (each, _chosen(each, options.scenarios)) for each in loaded}
    chosen = {name: (each, claims) for name, (each, claims) in chosen.items() if claims}
    with Runner(running) as runner:
        reports = _judged(runner, chosen)
        recheck = RecheckOptions(options.solvers, options.seconds)
        proofs = prove_reports(
            reports, options.directory, recheck, running.workers, running.cache, runner.progress.tell
        )
    code = worst(each.exit_code for found in proofs.values() for each in found)
    if options.as_json:
        print_document("prove", code, {"files": [_document(chosen[name][0], found) for name, found in proofs.items()]})
    else:
        _print(standard_output(), proofs)
    _record(options, chosen, proofs)
    return code


def _chosen(loaded: Loaded, scenarios: Sequence[str]) -> dict[str, Scenario]:
    return {name: claim for name, claim in loaded.file.scenarios.items() if not scenarios or name in scenarios}


def _judged(
    runner: Runner, chosen: Mapping[str, tuple[Loaded, Mapping[str, Scenario]]]
) -> dict[str, tuple[Source, Sequence[ScenarioReport]]]:
    systems = systems_of(chosen)
    reports: dict[str, tuple[Source, Sequence[ScenarioReport]]] = {}
    for name, (each, claims) in chosen.items():
        explored = runner.explore(each, claims, systems[name])
        reports[name] = (each.file.source, judge(each.file, explored.explorations).scenarios)
    return reports


def _document(loaded: Loaded, proofs: Sequence[ProofReport]) -> dict[str, object]:
    return {**file_document(loaded.file), "scenarios": [proof_document(each) for each in proofs]}


def _print(output: Output, proofs: Mapping[str, Sequence[ProofReport]]) -> None:
    for name, found in proofs.items():
        output.line(("title", name))
        for each in found:
            output.lines(proof_lines(each, output.width))
        output.line()
    everything = [each for found in proofs.values() for each in found]
    accepted = sum(each.found is not None and each.found.proves() for each in everything)
    text = f"{accepted} of {len(everything)} scenarios have a certificate that stands"
    output.line(("good" if accepted == len(everything) else "doubt", text))


def _record(
    options: ProveOptions, chosen: Mapping[str, tuple[Loaded, object]], proofs: Mapping[str, Sequence[ProofReport]]
) -> None:
    """Write `proofs.md` where an option says, or for all specifications of a checkout in its `reports/`."""
    root = checkout_root()
    directory = options.reports
    if directory is None:
        if root is None or options.specifications or options.scenarios or len(options.solvers) < 2:
            return
        directory = root / "reports"
    base = root or Path.cwd()
    files = {
        record_name(chosen[name][0].path, base): (
            chosen[name][0].file.specification.title or chosen[name][0].file.specification.name,
            found,
        )
        for name, found in proofs.items()
    }
    if any(
        each.found is None and not each.report.exploration.complete for _, found in files.values() for each in found
    ):
        say(f"{directory} is not refreshed: the run was cut short")
        return
    chosen_scenarios = [part for name in options.scenarios for part in ("--scenario", name)]
    command = " ".join(["killpoint", "prove", *options.specifications, *chosen_scenarios])
    seconds = {name: {each.report.name: round(each.seconds, 3) for each in found} for name, (_, found) in files.items()}
    try:
        write_proofs(directory, proofs_markdown(command, dict(sorted(files.items()))), seconds)
    except OSError as error:
        raise unwritable(directory, error) from error

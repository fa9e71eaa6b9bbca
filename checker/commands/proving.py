"""What `prove` and `check --certify` share: certificates for scenarios that came out as declared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from checker.backends.smt.solvers import SOLVERS
from checker.cache import Cache
from checker.certificates.memory import remember, remembered
from checker.certificates.proving import Occupied, Task, prove_all
from checker.certificates.rechecking import RecheckOptions, loaded
from checker.commands.refusal import BadInput
from checker.identity import certified_hash
from checker.judgement import ScenarioReport
from checker.reporting.certificates import ProofReport
from checker.reporting.progress import ProgressLine
from checker.results import CheckedFile
from checker.trace import EngineDisagreement
from checker.verdict import ExitCode
from model.diagnostics import Code, Diagnostic
from model.source import Source

SECONDS_AN_OBLIGATION = 60.0
"""How long a solver may take for one obligation, unless told."""

Progress = Callable[[str], None]


def prove_reports(
    reports: Mapping[str, tuple[Source, Sequence[ScenarioReport]]],
    directory: Path | None,
    options: RecheckOptions,
    workers: int,
    cache: Cache,
    progress: Progress,
) -> dict[str, list[ProofReport]]:
    """Make and check certificates for scenarios, by file; remember those that prove something.

    Raises:
        BadInput: a folder for a certificate is in the way, or cannot be written.
    """
    found: dict[tuple[str, str], ProofReport] = {}
    tasks: dict[tuple[str, str], Task] = {}
    for file, (source, claims) in reports.items():
        for report in claims:
            reason = _no_certificate(report)
            claim = loaded(source).scenarios[report.name]
            sha256 = certified_hash(source, claim, report.exploration.system)
            found[file, report.name] = ProofReport(report, sha256, None, reason)
            if not reason:
                tasks[file, report.name] = Task.of(source, report, directory, options)
    try:
        for number, (key, proved) in enumerate(prove_all(tasks, workers), start=1):
            found[key] = replace(found[key], found=proved.found, reason=proved.reason, seconds=proved.seconds)
            if proved.found is not None:
                remember(cache, proved.found)
            progress(f"certificates: {number} of {len(tasks)}, {key[1]}")
    except Occupied as error:
        raise BadInput([Diagnostic(Code.OPTION_VALUE, str(error), None)]) from error
    except OSError as error:
        message = f"the certificate cannot be written: {error.strerror or error}"
        raise BadInput([Diagnostic(Code.OPTION_VALUE, message, None)]) from error
    return {file: [found[file, report.name] for report in claims] for file, (_, claims) in reports.items()}


def prove_missing(checked: CheckedFile, workers: int, cache: Cache, progress: ProgressLine) -> None:
    """Prove the scenarios of a file that came out as declared and have no certificate yet, as far as that is possible.

    Raises:
        EngineDisagreement: a certificate is refuted.
    """
    file, source = checked.report.file, checked.file.source
    missing = [
        report
        for report in checked.report.scenarios
        if not _no_certificate(report)
        and remembered(cache, certified_hash(source, checked.claim(report), report.exploration.system)) is None
    ]
    options = RecheckOptions(SOLVERS, SECONDS_AN_OBLIGATION)
    for each in prove_reports({file: (source, missing)}, None, options, workers, cache, progress.tell)[file]:
        if each.exit_code is ExitCode.DISAGREEMENT and each.found is not None:
            what = [*each.found.differences, *(f"{s} refutes {n}" for s, r in each.found.refused.items() for n in r)]
            raise EngineDisagreement(f"the certificate of {each.report.name} does not stand: {'; '.join(what[:4])}")
    progress.clear()


def _no_certificate(report: ScenarioReport) -> str:
    """Return why there is no certificate to make; empty where there is."""
    if report.exit_code not in (ExitCode.AS_DECLARED, ExitCode.VACUOUS):
        return "; ".join(problem.message for problem in report.problems)
    return ""

"""`killpoint accepts`: whether what a system has recorded of itself is a run of the model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from checker.commands.answers import print_document, warn
from checker.commands.choices import one_claim
from checker.commands.inputs import Loaded, load_one
from checker.commands.refusal import BadInput
from checker.commands.running import Runner, RunOptions, systems_of
from checker.conformance.accepts import Acceptor, TooManyStates
from checker.conformance.adapter import AdapterFailed
from checker.conformance.eventlog import LINE_MAX, LogError, events_of, header_of, recorded_of
from checker.conformance.reasons import reasons
from checker.identity import claim_hash
from checker.reporting.documents import file_document, system_document
from checker.reporting.output import standard_output
from checker.reporting.rejections import LogReport, log_document, log_lines
from checker.verdict import ExitCode
from model.diagnostics import Code, Diagnostic, quoted
from model.specification import Scenario

_REPORT_EVERY = 64
"""Events between two reports of progress."""


@dataclass(frozen=True, slots=True)
class AcceptsOptions:
    """Which log is held against what; the scenario is that of the log's header unless told."""

    specification: str
    log: Path
    scenario: str = ""
    as_json: bool = False


def run(options: AcceptsOptions, running: RunOptions) -> ExitCode:
    """Follow a log and print what came of it.

    Raises:
        BadInput: the file, the log or an option is wrong.
    """
    loaded = load_one(options.specification)
    if not options.as_json:
        warn([loaded])
    try:
        with options.log.open(encoding="utf-8") as stream:
            claim, report = _follow(stream, loaded, options, running)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        message = f"{quoted(str(options.log))} cannot be read: {reason}"
        raise BadInput([Diagnostic(Code.FILE_UNREADABLE, message, None)]) from error
    except LogError as error:
        message = f"{options.log}:{error.line}: {error.message}"
        raise BadInput([Diagnostic(Code.LOG_LINE, message, None, help=error.help)]) from error
    code = ExitCode.AS_DECLARED if report.rejection is None else ExitCode.NOT_AS_DECLARED
    if report.cut:
        code = ExitCode.INCONCLUSIVE
    if options.as_json:
        system = report.acceptor.system
        about = {"scenario": claim.name, "sha256": claim_hash(loaded.file.source, claim, system)}
        content = {**file_document(loaded.file), "claim": {**about, **system_document(system)}, **log_document(report)}
        print_document("accepts", code, content)
    else:
        output = standard_output()
        output.lines(log_lines(report, output.width))
    return code


def _follow(stream: TextIO, loaded: Loaded, options: AcceptsOptions, running: RunOptions) -> tuple[Scenario, LogReport]:
    lines = _lines(stream)
    header = header_of(next(lines, ""))
    protocol = loaded.file.specification.name
    if header.protocol and header.protocol != protocol:
        raise LogError(
            1, f"the log is of the protocol `{header.protocol}`, and {options.specification} is `{protocol}`"
        )
    claim = one_claim(loaded, options.scenario or header.scenario, "")
    file = loaded.file.source.file
    system = systems_of({file: (loaded, {claim.name: claim})})[file][claim.name]
    with Runner(running) as runner:
        runner.unit = "event"
        acceptor = Acceptor(system, recorded_of(header, system.specification), runner.limits)
        return claim, _followed(lines, acceptor, loaded, options, runner)


def _followed(
    lines: Iterator[str], acceptor: Acceptor, loaded: Loaded, options: AcceptsOptions, runner: Runner
) -> LogReport:
    name = str(options.log)
    number = -1
    for number, event in enumerate(events_of(lines, acceptor.system)):
        if number % _REPORT_EVERY == 0:
            runner.progress.tell(f"event {number:,}  {len(acceptor.possible):,} possible states  {name}")
        try:
            rejection = acceptor.take(event)
        except AdapterFailed as error:
            raise LogError(event.line, f"of what was observed: {error}") from error
        except TooManyStates as error:
            return LogReport(name, acceptor, None, (), str(error))
        if rejection is not None:
            return LogReport(name, acceptor, rejection, reasons(rejection, acceptor, loaded.file.source))
        if reason := runner.limits.reason_to_stop(0):
            return LogReport(name, acceptor, None, (), reason)
    if number < 0:
        help_text = "a recorder that writes none is mostly one that is not switched on"
        raise LogError(2, "the log has no event after its header, so that there is nothing to explain", help_text)
    return LogReport(name, acceptor, None, ())


def _lines(stream: TextIO) -> Iterator[str]:
    """Yield the lines, those that are too long cut off behind where that is noticed."""
    while line := stream.readline(LINE_MAX + 1):
        yield line

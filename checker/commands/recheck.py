"""`killpoint recheck`: whether certificates stand, without anything of the explorer that found them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path

from checker.backends.smt.solvers import SolverName
from checker.cache import Cache
from checker.certificates.memory import remember
from checker.certificates.rechecking import Outcome, Rechecked, RecheckOptions, certificate_folders, recheck
from checker.certificates.sharing import processes
from checker.commands.answers import print_document
from checker.commands.inputs import load_one
from checker.commands.refusal import BadInput
from checker.reporting.certificates import certificate_document, certificate_lines
from checker.reporting.output import standard_error, standard_output
from checker.reporting.progress import ProgressLine
from checker.verdict import ExitCode, worst
from model.diagnostics import Code, Diagnostic, quoted


@dataclass(frozen=True, slots=True)
class RecheckCommand:
    """What to check again, and what it has to be about."""

    directory: Path
    solvers: tuple[SolverName, ...] = ("z3", "cvc5")
    seconds: float = 60.0
    specification: str = ""
    as_json: bool = False
    workers: int = 1


def run(options: RecheckCommand, cache: Cache) -> ExitCode:
    """Check every certificate of a directory again, and print what came of it.

    Raises:
        BadInput: there is no certificate there, or the specification to compare with has errors.
    """
    specification = load_one(options.specification).file.source if options.specification else None
    folders = _folders(options.directory)
    asking = RecheckOptions(options.solvers, options.seconds, specification)
    progress = ProgressLine(standard_error())
    output = standard_output()
    found: list[Rechecked] = []
    with processes(options.workers) as executor:
        for each in _rechecked(folders, asking, executor, progress):
            progress.clear()
            remember(cache, each)
            found.append(each)
            if not options.as_json:
                output.lines(certificate_lines(each, output.width))
                output.flush()
    code = worst(_CODES[each.outcome] for each in found)
    if options.as_json:
        print_document("recheck", code, {"certificates": [certificate_document(each) for each in found]})
    else:
        standing = sum(each.outcome is Outcome.ACCEPTED for each in found)
        output.line(("good" if standing == len(found) else "bad", f"{standing} of {len(found)} certificates stand"))
    return code


def _folders(directory: Path) -> Sequence[Path]:
    folders = certificate_folders(directory) if directory.is_dir() else []
    if not folders:
        message = f"{quoted(str(directory))} holds no certificate"
        raise BadInput(
            [Diagnostic(Code.FILE_UNREADABLE, message, None, help="`killpoint prove SPEC -o DIR` makes some")]
        )
    return folders


def _rechecked(
    folders: Sequence[Path], asking: RecheckOptions, executor: Executor | None, progress: ProgressLine
) -> Iterator[Rechecked]:
    """Check certificates, several at a time; where there is only one, several of its obligations."""
    if executor is None or len(folders) == 1:
        for folder in folders:

            def tell(done: int, of: int, name: str = folder.name) -> None:
                progress.tell(f"{name}: {done} of {of} answers")

            yield recheck(folder, asking, executor=executor, on_answer=tell)
        return
    for number, each in enumerate(executor.map(recheck, folders, [asking] * len(folders)), start=1):
        yield each
        progress.tell(f"{number} of {len(folders)} certificates")


_CODES = {
    Outcome.ACCEPTED: ExitCode.AS_DECLARED,
    Outcome.INCONCLUSIVE: ExitCode.INCONCLUSIVE,
    Outcome.REFUTED: ExitCode.NOT_AS_DECLARED,
    Outcome.UNREADABLE: ExitCode.BAD_INPUT,
}

"""Which implementations a command holds against which specifications, and what is said where one is at fault."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from checker.commands.answers import say, unwritable
from checker.commands.inputs import Loaded, load_all
from checker.commands.refusal import BadInput
from checker.commands.running import Runner
from checker.conformance.adapter import Adapter, AdapterFailed, UnknownSetting
from checker.conformance.choosing import MakeAdapter, NoAdapter, of_class, of_command, of_reference
from checker.reporting.conformancerecord import Part, record_part
from checker.reporting.envelope import Document
from checker.reporting.reports import checkout_root, record_name
from model.diagnostics import Code, Diagnostic, quoted


@dataclass(frozen=True, slots=True)
class Wanted:
    """The implementation that options name: a class, or a command that answers within so many seconds."""

    adapter: str = ""
    command: str = ""
    seconds: float = 30.0

    @property
    def named(self) -> str:
        """What they name; empty for what the specification names."""
        return self.adapter or self.command


@dataclass(frozen=True, slots=True)
class Implementation:
    """An implementation of one specification, and what it is called."""

    loaded: Loaded
    make: MakeAdapter
    name: str


def implementations(specifications: Sequence[str], wanted: Wanted) -> list[Implementation]:
    """Return the implementations of the specifications that the arguments name.

    Without arguments: of the bundled ones that name one.

    Raises:
        BadInput: a specification that is asked for names none, or there is no such implementation.
    """
    if wanted.adapter and wanted.command:
        message = "`--adapter` and `--command` both name an implementation"
        raise BadInput([Diagnostic(Code.OPTIONS_CONFLICT, message, None)])
    found = []
    for loaded in load_all(specifications):
        name = wanted.named or loaded.file.reference
        if name:
            found.append(Implementation(loaded, _made(wanted, name), name))
        elif specifications:
            message = f"{quoted(loaded.file.source.file)} names no implementation"
            help_text = "name one with --adapter or --command, or write `reference: …`"
            raise BadInput([Diagnostic(Code.OPTION_VALUE, message, None, help=help_text)])
    if not found:
        message = "no specification says which implementation to hold against it"
        raise BadInput(
            [Diagnostic(Code.OPTION_VALUE, message, None, help="`reference: …` does, and so does --adapter")]
        )
    return found


def _made(wanted: Wanted, name: str) -> MakeAdapter:
    try:
        if wanted.adapter:
            return of_class(name)
        return of_command(name, wanted.seconds) if wanted.command else of_reference(name)
    except NoAdapter as error:
        raise BadInput([Diagnostic(Code.OPTION_VALUE, str(error), None)]) from error


@contextlib.contextmanager
def opened(implementation: Implementation) -> Iterator[Adapter]:
    """Make an adapter and close it in any case; that it cannot be closed counts only where nothing else went wrong."""
    adapter = implementation.make()
    try:
        yield adapter
    except BaseException:
        with contextlib.suppress(Exception):
            adapter.close()
        raise
    adapter.close()


@contextlib.contextmanager
def blaming(implementation: Implementation, where: str, runner: Runner, *, as_json: bool) -> Iterator[None]:
    """Say of an adapter that is at fault what and where.

    Raises:
        BadInput: it broke off, or cannot be set up for what is asked.
    """
    try:
        yield
    except AdapterFailed as error:
        runner.progress.clear()
        for line in error.details.splitlines() if not as_json else ():
            say(line)
        message = f"{where}: the adapter {quoted(implementation.name)} is at fault: {error}"
        raise BadInput([Diagnostic(Code.ADAPTER_FAILED, message, None)]) from error
    except UnknownSetting as error:
        message = f"{where}: {quoted(implementation.name)} cannot be set up for this: {error}"
        raise BadInput([Diagnostic(Code.SETTING_REFUSED, message, None)]) from error


def first_showing(attempts: Mapping[str, Callable[[], str]]) -> str:
    """Return by what a deliberate mistake shows in the first scenario where it does; empty where in none.

    An attempt, by the name of its scenario, says by what it shows there. An adapter may break off as well.
    """
    for name, attempt in attempts.items():
        try:
            by = attempt()
        except UnknownSetting:
            continue  # the mistake is none of this variant
        except AdapterFailed as error:
            return f"{name}: it breaks off: {error}"
        if by:
            return by
    return ""


def refresh_record(part: Part, command: str, entries: Sequence[tuple[Path, Document, Mapping[str, float]]]) -> None:
    """Replace one part of the record `reports/conformance.md` of a checkout; elsewhere there is none.

    Of each file: where it is, what came of it, and the seconds that each of its scenarios took.

    Raises:
        BadInput: the record cannot be written.
    """
    root = checkout_root()
    if root is None:
        return
    documents = {record_name(path, root): document for path, document, _ in entries}
    seconds = {record_name(path, root): each for path, _, each in entries}
    try:
        record_part(root / "reports", part, command, documents, seconds)
    except OSError as error:
        raise unwritable(root / "reports", error) from error

"""`killpoint check --html`: a page for each file, with what has to be asked beside the check itself."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from checker.commands.answers import unwritable, write_file
from checker.commands.inputs import Loaded
from checker.commands.refusal import BadInput
from checker.commands.running import Runner, RunOptions, systems_of
from checker.engines.projection import projection, viewed_slots
from checker.engines.reachable import CutShort
from checker.identity import claim_hash
from checker.judgement import ScenarioReport
from checker.reporting.envelope import Document
from checker.reporting.files import write_all
from checker.results import CheckedFile
from model.diagnostics import Code, Diagnostic, did_you_mean, quoted
from model.specification import Scenario

if TYPE_CHECKING:
    from checker.reporting.html.page import Proof

PARTS: Final = ("matrix", "sweep", "mutate")
"""What a page has only where it is asked for, as each takes a run of its own."""

_STATES_MAX = 20_000
"""Of the first scenario: with more states than this its tables and graph cost more than the check itself."""

_SITUATIONS_MAX = 60
"""More boxes than this are no picture that anybody reads beside a text."""


@dataclass(frozen=True, slots=True)
class Pages:
    """Where to write pages, a file or a directory, and with which further parts."""

    path: Path
    parts: frozenset[str] = frozenset()

    @property
    def one(self) -> bool:
        """Whether the path is that of a page, and not of a directory of pages."""
        return self.path.suffix.lower() in {".html", ".htm"} or (self.path.exists() and not self.path.is_dir())

    def write(self, loaded: Sequence[Loaded], checked: Sequence[CheckedFile], running: RunOptions, asked: str) -> None:
        """Write all of them; `asked` are the options that narrowed the check.

        Raises:
            BadInput: one cannot be written.
            EngineDisagreement: the evaluator contradicts an engine.
        """
        from checker.reporting.html.page import index_text

        with Runner(running) as runner:
            by_file = {each.file.source.file: each for each in loaded}
            texts = {
                name: self._text(by_file[each.file.source.file], each, runner, asked)
                for name, each in page_names(checked).items()
            }
        if self.one:
            (text,) = texts.values()
            write_file(self.path, text)
            return
        texts["index.html"] = index_text(page_names(checked))
        self._write_all(texts)

    def write_refusal(self, error: BadInput) -> None:
        """Write that the input was refused.

        Raises:
            BadInput: it cannot be written.
        """
        from checker.reporting.html.page import refused_text

        text = refused_text(error.diagnostics)
        if self.one:
            write_file(self.path, text)
        else:
            self._write_all({"index.html": text})

    def _write_all(self, texts: Mapping[str, str]) -> None:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            write_all({self.path / name: text for name, text in texts.items()})
        except OSError as error:
            raise unwritable(self.path, error) from error

    def _text(self, loaded: Loaded, checked: CheckedFile, runner: Runner, asked: str) -> str:
        from checker.reporting.html.page import Parts, page_text

        tables, why_no_tables = _tables(loaded, checked, runner)
        graph, why_no_graph = _graph(loaded, checked, runner)
        parts = Parts(
            tables=tables,
            why_no_tables=why_no_tables,
            graph=graph,
            why_no_graph=why_no_graph,
            proofs=_proofs(checked, runner.options),
        )
        with_ = f" --with {','.join(sorted(self.parts))}" if self.parts else ""
        command = f"killpoint check {shlex.quote(checked.report.file)}{asked} --html FILE{with_}"
        return page_text(checked, parts, command)


def pages_of(path: Path | None, with_: Sequence[str]) -> Pages | None:
    """Return the pages that options ask for; None for none.

    Raises:
        BadInput: a part does not exist, or parts are asked for and no page.
    """
    names = [name.strip() for each in with_ for name in each.split(",")]
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        message = f"there is no part {quoted(unknown[0])} of a page"
        help_ = did_you_mean(unknown[0], list(PARTS), known="the parts are")
        raise BadInput([Diagnostic(Code.OPTION_VALUE, message, None, help=help_)])
    if path is None:
        if names:
            raise BadInput([Diagnostic(Code.OPTIONS_CONFLICT, "`--with` is about the page that `--html` writes", None)])
        return None
    return Pages(path, frozenset(names))


def check_page_count(pages: Pages, files: int) -> None:
    """Refuse one page for several files.

    Raises:
        BadInput: there are several.
    """
    if pages.one and files != 1:
        message = f"{quoted(str(pages.path))} is one page, and {files} files are checked"
        help_ = "name a directory, which gets a page for each and an index.html"
        raise BadInput([Diagnostic(Code.OPTION_VALUE, message, None, help=help_)])


def page_names(checked: Iterable[CheckedFile]) -> dict[str, CheckedFile]:
    """Return a name for the page of each file, after the file; a number tells equal ones apart."""
    names: dict[str, CheckedFile] = {}
    for each in checked:
        stem = Path(each.report.file).stem
        candidates = [stem, *(f"{stem}-{number}" for number in range(2, len(names) + 3))]
        taken = {"index", *(Path(name).stem.casefold() for name in names)}
        names[next(f"{one}.html" for one in candidates if one.casefold() not in taken)] = each
    return names


def _first(loaded: Loaded, checked: CheckedFile) -> tuple[Scenario | None, str]:
    """Return the first scenario, which tables and graph are about, or why they are left out."""
    report: ScenarioReport | None = next(iter(checked.report.scenarios), None)
    if report is None:
        return None, "no scenario was checked"
    if not report.exploration.complete:
        return None, f"not all states of {report.name} are known"
    if report.exploration.states > _STATES_MAX:
        return None, f"{report.name} has more than {_STATES_MAX:,} states"
    return loaded.file.scenarios[report.name], ""


def _tables(loaded: Loaded, checked: CheckedFile, runner: Runner) -> tuple[Document | None, str]:
    claim, why = _first(loaded, checked)
    command = f"`killpoint table {shlex.quote(checked.report.file)}` shows them"
    if claim is None:
        return None, f"Decision tables are not on this page: {why}; {command}."
    names = list(dict.fromkeys(name for name, _ in claim.specification.tables))
    if not names:
        return None, "This protocol decides nothing by tables."
    from checker.commands.table import tables_of

    return tables_of(loaded, claim, names, runner)[0], ""


def _graph(loaded: Loaded, checked: CheckedFile, runner: Runner) -> tuple[str, str]:
    claim, why = _first(loaded, checked)
    if claim is None:
        return "", why
    if not claim.specification.views:
        return "", "the specification declares no view to look through"
    from checker.reporting.graphs.pictures import svg

    file = loaded.file.source.file
    system = systems_of({file: (loaded, {claim.name: claim})}, runner.options.bound)[file][claim.name]
    name, keys = next(iter(claim.specification.views.items()))
    try:
        found = projection(system, viewed_slots(system, keys), runner.limits)
        if len(found.situations) > _SITUATIONS_MAX:
            return "", f"through the view {name} it has {len(found.situations):,} situations"
        return svg(found, f"{claim.specification.name}, {claim.name}, view {name}"), ""
    except CutShort as cut:
        return "", f"not all states are known ({cut})"
    except ImportError:
        return "", "drawing needs the extra `pictures`"


def _proofs(checked: CheckedFile, options: RunOptions) -> dict[str, Proof]:
    """Return the certificates that are remembered of the scenarios."""
    from checker.certificates.memory import remembered
    from checker.reporting.html.page import Proof

    found = {}
    for report in checked.report.scenarios:
        claim = claim_hash(checked.file.source, checked.claim(report), report.exploration.system)
        known = remembered(options.cache, claim)
        if known is not None:
            found[report.name] = Proof(known.obligations, known.solvers)
    return found

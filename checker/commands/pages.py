"""`killpoint check --html`: a page for each file, with what has to be asked beside the check itself."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from checker.commands.answers import unwritable, write_file
from checker.commands.inputs import Loaded
from checker.commands.refusal import BadInput
from checker.commands.running import Runner, RunOptions
from checker.reporting.files import write_all
from checker.results import CheckedFile
from model.diagnostics import Code, Diagnostic, did_you_mean, quoted

PARTS: Final = ("matrix", "sweep", "mutate")
"""What a page has only where it is asked for, as each takes a run of its own."""


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
        from checker.commands.pageparts import parts_of
        from checker.reporting.html.page import page_text

        parts = parts_of(loaded, checked, runner, self.parts)
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

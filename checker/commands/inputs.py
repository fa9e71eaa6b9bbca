"""From what stands on the command line to loaded specifications; all errors of all files in one run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from checker.commands.refusal import BadInput
from model.bundled import specification_directory
from model.diagnostics import Code, Diagnostic, Diagnostics, SpecificationError, did_you_mean, quoted
from model.headings import Headings, headings_of
from model.loader import load
from model.source import Source
from model.specification import SpecificationFile
from model.yamltree import read_source

SUFFIXES = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class Loaded:
    """A file and what it declares."""

    path: Path
    file: SpecificationFile

    @property
    def sources(self) -> Mapping[str, Source]:
        """The text, as diagnostics want it."""
        return {self.file.source.file: self.file.source}


def load_all(specifications: Sequence[str]) -> list[Loaded]:
    """Load what the arguments name: files, directories with everything below them, bundled specifications by name.

    Without arguments, all bundled specifications.

    Raises:
        BadInput: with the errors of every file.
    """
    refused: list[Diagnostic] = []
    sources = _sources(specifications, refused)
    loaded: list[Loaded] = []
    for path, source in sources:
        try:
            loaded.append(Loaded(path, load(source)))
        except SpecificationError as error:
            refused += error.diagnostics
    for each in loaded:
        refused += _shared_names(each.file)
    if refused:
        raise BadInput(refused, {source.file: source for _, source in sources})
    return loaded


def headings_of_all(specifications: Sequence[str]) -> list[Headings]:
    """Read what is said at the head of the specifications that the arguments name; they need not be right below it.

    Raises:
        BadInput: with what is wrong with the arguments, and every file that is no YAML.
    """
    refused: list[Diagnostic] = []
    sources = _sources(specifications, refused)
    found: list[Headings] = []
    for _, source in sources:
        try:
            found.append(headings_of(source))
        except SpecificationError as error:
            refused += error.diagnostics
    if refused:
        raise BadInput(refused, {source.file: source for _, source in sources})
    return found


def _sources(specifications: Sequence[str], refused: list[Diagnostic]) -> list[tuple[Path, Source]]:
    """Read the files that the arguments name."""
    sources: list[tuple[Path, Source]] = []
    for path, shown_as in _places(specifications, refused):
        diagnostics = Diagnostics()
        source = read_source(path, diagnostics, file=shown_as)
        refused += diagnostics.sorted()
        if source is not None:
            sources.append((path, source))
    return sources


def load_one(specification: str) -> Loaded:
    """Load the one file that an argument names.

    Raises:
        BadInput: the argument names none or several, or the file has errors.
    """
    loaded = load_all([specification])
    if len(loaded) > 1:
        names = [each.file.source.file for each in loaded]
        message = f"{quoted(specification)} holds {len(names)} specifications; this command takes one"
        raise BadInput([Diagnostic(Code.OPTION_VALUE, message, None, help=did_you_mean("", names, known="they are"))])
    return loaded[0]


def load_text(text: str, shown_as: str) -> Loaded:
    """Load a specification that is in no file.

    Raises:
        BadInput: with its errors.
    """
    source = Source(shown_as, text)
    try:
        return Loaded(Path(shown_as), load(source))
    except SpecificationError as error:
        raise BadInput(error.diagnostics, {source.file: source}) from error


def bundled_names() -> dict[str, Path]:
    """Return the bundled specifications by the names under which a command takes them."""
    try:
        directory = specification_directory()
    except FileNotFoundError:
        return {}
    return {path.relative_to(directory).with_suffix("").as_posix(): path for path in _below(directory)}


def _places(specifications: Sequence[str], refused: list[Diagnostic]) -> list[tuple[Path, str]]:
    """Return the files to read, each once, with the names to show them by."""
    found: dict[Path, tuple[Path, str]] = {}
    for path in _default(refused) if not specifications else _named(specifications, refused):
        found.setdefault(path.resolve(), (path, str(path)))
    return list(found.values())


def _default(refused: list[Diagnostic]) -> Iterator[Path]:
    try:
        directory = specification_directory()
    except FileNotFoundError as error:
        refused.append(Diagnostic(Code.FILE_UNREADABLE, str(error), None, help="install killpoint again"))
        return
    yield from _in(_as_seen_from_here(directory), refused)


def _named(specifications: Sequence[str], refused: list[Diagnostic]) -> Iterator[Path]:
    for argument in specifications:
        path = Path(argument)
        if path.is_dir():
            yield from _in(path, refused)
        elif path.exists() or path.is_symlink():
            yield path
        elif (bundled := _bundled(argument)) is not None:
            yield _as_seen_from_here(bundled)
        else:
            known = [*bundled_names(), *(str(other) for other in _neighbours(path))]
            message = f"there is no file or directory {quoted(argument)}"
            refused.append(
                Diagnostic(
                    Code.FILE_UNREADABLE, message, None, help=did_you_mean(argument, known, known="bundled, or near")
                )
            )


def _bundled(name: str) -> Path | None:
    """Return the bundled specification of that name, with or without its directory where that leaves no doubt."""
    bundled = bundled_names()
    matching = [path for known, path in bundled.items() if known == name or known.endswith(f"/{name}")]
    return bundled[name] if name in bundled else matching[0] if len(matching) == 1 else None


def _in(directory: Path, refused: list[Diagnostic]) -> Iterator[Path]:
    files = _below(directory)
    if not files:
        message = f"{quoted(str(directory))} holds no specification ({', '.join(SUFFIXES)})"
        refused.append(Diagnostic(Code.FILE_UNREADABLE, message, None))
    yield from files


def _below(directory: Path) -> list[Path]:
    return sorted(path for path in directory.rglob("*") if path.suffix in SUFFIXES and path.is_file())


def _neighbours(path: Path) -> list[Path]:
    return (
        [other for other in sorted(path.parent.iterdir()) if other.suffix in SUFFIXES] if path.parent.is_dir() else []
    )


def _as_seen_from_here(path: Path) -> Path:
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _shared_names(file: SpecificationFile) -> Iterator[Diagnostic]:
    """Refuse a name that a scenario and a mutant share: results go by these names."""
    for name in file.scenarios.keys() & file.mutants.keys():
        message = f"a scenario and a mutant are both named {quoted(name)}"
        yield Diagnostic(Code.DECLARED_TWICE, message, file.mutants[name].span)

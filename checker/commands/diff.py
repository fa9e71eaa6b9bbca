"""`killpoint diff`: what a change of a protocol means."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from checker.commands.answers import print_document, say, warn, write_file
from checker.commands.inputs import SUFFIXES, Loaded, load_one, load_text
from checker.commands.refusal import BadInput
from checker.commands.running import Runner, RunOptions
from checker.difference.comparing import Difference, compare
from checker.difference.shapes import Renaming
from checker.exploration import Exploration
from checker.reporting.differences import difference_document, difference_markdown
from checker.reporting.output import standard_output
from checker.verdict import ExitCode, worst
from model.diagnostics import Code, Diagnostic, SpecificationError, quoted
from model.specification import Scenario, SpecificationFile
from model.system import TransitionSystem


@dataclass(frozen=True, slots=True)
class DiffOptions:
    """What to compare: two files, or what a range of commits changes."""

    old: str = ""
    new: str = ""
    git: str = ""
    renames: Sequence[str] = ()
    out: Path | None = None
    as_json: bool = False


@dataclass(frozen=True, slots=True)
class _Pair:
    """A specification before and after; None where there is none."""

    name: str
    old: Loaded | None
    new: Loaded | None


def run(options: DiffOptions, running: RunOptions) -> ExitCode:
    """Compare, and print what came out.

    Raises:
        BadInput: a file, an option or the range is wrong.
        EngineDisagreement: the evaluator contradicts the engine.
    """
    renaming = _renaming(options.renames)
    pairs = _of_git(options) if options.git else [_of_files(options)]
    if not options.as_json:
        warn(pair.new for pair in pairs if pair.new is not None)
    both = [(pair.old, pair.new) for pair in pairs if pair.old is not None and pair.new is not None]
    with Runner(running) as runner:
        found = [_compared(old, new, renaming, runner) for old, new in both]
    gone = [pair.name for pair in pairs if pair.new is None]
    come = [pair.name for pair in pairs if pair.old is None]
    code = worst([*map(_code, found), *[ExitCode.NOT_AS_DECLARED] * bool(gone), ExitCode.AS_DECLARED])
    if options.as_json:
        content = {"files": [difference_document(each) for each in found], "added": come, "removed": gone}
        print_document("diff", code, content)
        return code
    text = "\n".join([*_alone(come, gone), *map(difference_markdown, found)]) or "No specification has changed.\n"
    if options.out is not None:
        write_file(options.out, text)
        say(f"{options.out} is written")
    else:
        standard_output().markdown(text)
    return code


def _code(difference: Difference) -> ExitCode:
    if difference.worse:
        return ExitCode.NOT_AS_DECLARED
    return ExitCode.INCONCLUSIVE if difference.undecided else ExitCode.AS_DECLARED


def _alone(come: Sequence[str], gone: Sequence[str]) -> list[str]:
    lines = [f"- `{name}` is new" for name in come] + [
        f"- **`{name}` is gone, with all that it claims**" for name in gone
    ]
    return ["# Specifications", "", *lines, ""] if lines else []


def _compared(old: Loaded, new: Loaded, renaming: Renaming, runner: Runner) -> Difference:
    sides = {id(old.file): old, id(new.file): new}

    def explore(
        file: SpecificationFile, claims: Mapping[str, Scenario], systems: Mapping[str, TransitionSystem]
    ) -> Mapping[str, Exploration]:
        return runner.explore(sides[id(file)], claims, systems).explorations

    runner.limits.on_progress = runner.progress.of(new.file.source.file)
    try:
        return compare(old.file, new.file, renaming, explore, runner.limits)
    except SpecificationError as error:
        raise BadInput(error.diagnostics, {**old.sources, **new.sources}) from error
    finally:
        runner.progress.clear()


def _renaming(renames: Sequence[str]) -> Renaming:
    names: dict[str, str] = {}
    for rename in renames:
        old, equals, new = rename.partition("=")
        if not (old and equals and new):
            message = f"{quoted(rename)} renames nothing"
            raise BadInput([Diagnostic(Code.OPTION_VALUE, message, None, help="write `--rename OLD=NEW`")])
        names[old] = new
    return Renaming(names)


def _of_files(options: DiffOptions) -> _Pair:
    if not (options.old and options.new):
        message = "two versions are to be compared"
        help_ = "name two files, or write `--git BASE..HEAD`"
        raise BadInput([Diagnostic(Code.OPTIONS_CONFLICT, message, None, help=help_)])
    return _Pair(options.new, load_one(options.old), load_one(options.new))


# --- Git ---


def _of_git(options: DiffOptions) -> list[_Pair]:
    """Return the specifications that a range of commits changes, or the one that is named.

    Of `BASE...HEAD` the old side is where the two have parted, as in a pull request. Without HEAD it is the work tree.
    """
    if options.new:
        message = "`--git` takes at most one specification"
        raise BadInput([Diagnostic(Code.OPTIONS_CONFLICT, message, None)])
    base, dots, head = options.git.partition("...") if "..." in options.git else options.git.partition("..")
    base, head = base or "HEAD", head or ("HEAD" if dots else "")
    root = Path(_git("rev-parse", "--show-toplevel").strip())
    if dots == "...":
        base = _git("merge-base", base, head).strip()
    for commit in filter(None, (base, head)):
        _git("rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}", what=f"{quoted(commit)} is no commit")
    paths = [_in_repository(root, options.old)] if options.old else _changed(base, head)
    pairs = [_Pair(path, _at(base, path, root), _at(head, path, root)) for path in paths]
    if options.old and all(pair.old is None and pair.new is None for pair in pairs):
        message = f"{quoted(options.old)} is in neither version"
        raise BadInput([Diagnostic(Code.FILE_UNREADABLE, message, None)])
    return [pair for pair in pairs if pair.old is not None or pair.new is not None]


def _in_repository(root: Path, name: str) -> str:
    path = Path(name).resolve()
    return path.relative_to(root.resolve()).as_posix() if path.is_relative_to(root.resolve()) else name


def _changed(base: str, head: str) -> list[str]:
    listed = _git("diff", "--name-only", "--no-renames", "-z", base, *([head] if head else []), "--")
    return sorted(path for path in listed.split("\0") if path.endswith(SUFFIXES))


def _at(commit: str, path: str, root: Path) -> Loaded | None:
    """Return a specification as a commit has it, or as it is now; None where it is none there."""
    if commit:
        shown = _run_git("show", f"{commit}:{path}")
        text = shown.stdout if shown.returncode == 0 else None
    else:
        file = root / path
        text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else None
    if text is None or not _is_specification(text):
        return None
    return load_text(text, f"{commit[:12]}:{path}" if commit else path)


def _is_specification(text: str) -> bool:
    """Tell a specification from other YAML, of which a repository is full."""
    return any(line.startswith("language:") for line in text.splitlines())


def _git(*arguments: str, what: str = "") -> str:
    done = _run_git(*arguments)
    if done.returncode != 0:
        said = done.stderr.strip().removeprefix("fatal: ")
        message = what or f"git does not answer: {said or ' '.join(arguments)}"
        raise BadInput([Diagnostic(Code.OPTION_VALUE, message, None, help="`--git` wants BASE..HEAD in a repository")])
    return done.stdout


def _run_git(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["git", "-c", "core.quotepath=false", *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)  # noqa: S603
    except FileNotFoundError as error:
        message = "`--git` needs git, which is not installed"
        raise BadInput([Diagnostic(Code.OPTION_VALUE, message, None)]) from error

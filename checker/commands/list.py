"""`killpoint list`: which specifications there are, by pattern, property, fault and word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from checker.commands.answers import print_document
from checker.commands.choices import all_properties, check_names, raise_if_any
from checker.commands.inputs import Loaded, load_all
from checker.reporting.catalogue import catalogue_document, catalogue_lines
from checker.reporting.output import standard_output
from checker.verdict import ExitCode
from model.diagnostics import Code, Diagnostic, did_you_mean, quoted


@dataclass(frozen=True, slots=True)
class ListOptions:
    """What to look for; everything that is given must fit."""

    words: Sequence[str] = ()
    places: Sequence[str] = ()
    pattern: str = ""
    asked: str = ""
    fault: str = ""
    as_json: bool = False


def run(options: ListOptions) -> ExitCode:
    """Print the specifications that fit.

    Raises:
        BadInput: a file is wrong, or no file at all has the pattern, property or fault.
    """
    loaded = load_all(options.places)
    raise_if_any(list(_unknown(options, loaded)))
    found = [each for each in loaded if _fits(options, each)]
    document = catalogue_document([each.file for each in found])
    if options.as_json:
        print_document("list", ExitCode.AS_DECLARED, document)
        return ExitCode.AS_DECLARED
    output = standard_output()
    output.lines(catalogue_lines(document, output.width))
    return ExitCode.AS_DECLARED


def _unknown(options: ListOptions, loaded: Sequence[Loaded]) -> Iterator[Diagnostic]:
    patterns = sorted({each.file.pattern for each in loaded} - {""})
    if options.pattern and not any(options.pattern.lower() in pattern.lower() for pattern in patterns):
        message = f"no specification is about the pattern {quoted(options.pattern)}"
        yield Diagnostic(Code.OPTION_VALUE, message, None, help=did_you_mean(options.pattern, patterns))
    if options.asked:
        yield from check_names([options.asked], all_properties(loaded), Code.NO_SUCH_PROPERTY, "property")
    if options.fault:
        faults = [name for each in loaded for name in each.file.specification.faults]
        yield from check_names([options.fault], faults, Code.OPTION_VALUE, "fault")


def _fits(options: ListOptions, loaded: Loaded) -> bool:
    file = loaded.file
    return (
        options.pattern.lower() in file.pattern.lower()
        and (not options.asked or options.asked in all_properties([loaded]))
        and (not options.fault or options.fault in file.specification.faults)
        and all(word.lower() in f"{loaded.path.name}\n{file.source.text}".lower() for word in options.words)
    )

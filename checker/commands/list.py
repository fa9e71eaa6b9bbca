"""`killpoint list`: which specifications there are, by pattern, property, fault and word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from checker.commands.answers import print_document
from checker.commands.choices import check_names, raise_if_any
from checker.commands.inputs import headings_of_all
from checker.reporting.catalogue import catalogue_document, catalogue_lines
from checker.reporting.output import standard_output
from checker.verdict import ExitCode
from model.diagnostics import Code, Diagnostic, did_you_mean, quoted
from model.headings import Headings


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
        BadInput: a file cannot be read, or no file at all has the pattern, property or fault.
    """
    listed = headings_of_all(options.places)
    raise_if_any(list(_unknown(options, listed)))
    document = catalogue_document([each for each in listed if _fits(options, each)])
    if options.as_json:
        print_document("list", ExitCode.AS_DECLARED, document)
        return ExitCode.AS_DECLARED
    output = standard_output()
    output.lines(catalogue_lines(document, output.width))
    return ExitCode.AS_DECLARED


def _unknown(options: ListOptions, listed: Sequence[Headings]) -> Iterator[Diagnostic]:
    patterns = sorted({each.pattern for each in listed} - {""})
    if options.pattern and not any(options.pattern.lower() in pattern.lower() for pattern in patterns):
        message = f"no specification is about the pattern {quoted(options.pattern)}"
        yield Diagnostic(Code.OPTION_VALUE, message, None, help=did_you_mean(options.pattern, patterns))
    if options.asked:
        properties = [name for each in listed for name in each.properties]
        yield from check_names([options.asked], properties, Code.NO_SUCH_PROPERTY, "property")
    if options.fault:
        faults = [name for each in listed for name in each.faults]
        yield from check_names([options.fault], faults, Code.OPTION_VALUE, "fault")


def _fits(options: ListOptions, headings: Headings) -> bool:
    text = f"{headings.source.file}\n{headings.source.text}".lower()
    return (
        options.pattern.lower() in headings.pattern.lower()
        and (not options.asked or options.asked in headings.properties)
        and (not options.fault or options.fault in headings.faults)
        and all(word.lower() in text for word in options.words)
    )

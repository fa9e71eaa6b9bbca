"""Checked files as JUnit XML: a suite for each file, a case for each scenario and mutant, and one for the teeth.

What pipelines know of JUnit is a common core (testsuites, testsuite, testcase, failure, error, system-out); nothing
else is written. A claim that is not as declared is a failure; what could not be decided, or means nothing, is an error,
for no viewer shows either as passed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from xml.etree import ElementTree as ET

from checker.judgement import ScenarioReport
from checker.reporting.exports.wording import Wrong, wrong_in
from checker.results import CheckedFile
from model.diagnostics import Diagnostic
from model.source import visible

_FAILURES = ("breaks-undeclared", "declared-break-missing", "unused", "vacuous")


def junit_text(checked: Sequence[CheckedFile]) -> str:
    """Return the XML of what was checked."""
    root = ET.Element("testsuites", name="killpoint")
    for each in checked:
        _suite(root, each)
    for name in ("tests", "failures", "errors"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    return _written(root)


def refused_text(diagnostics: Iterable[Diagnostic]) -> str:
    """Return the XML of input that was refused: each error is one of a case named after its file."""
    found = list(diagnostics)
    root = ET.Element("testsuites", name="killpoint", tests=str(len(found)), failures="0", errors=str(len(found)))
    suite = ET.SubElement(
        root, "testsuite", name="refused", tests=str(len(found)), failures="0", errors=str(len(found)), skipped="0"
    )
    for diagnostic in found:
        file = diagnostic.span.file if diagnostic.span is not None else "command line"
        case = ET.SubElement(suite, "testcase", classname=_plain(file), name=diagnostic.code.number)
        _add(case, "error", diagnostic.code.number, diagnostic.message, str(diagnostic))
    return _written(root)


def _suite(root: ET.Element, checked: CheckedFile) -> None:
    suite = ET.SubElement(root, "testsuite", name=_plain(checked.report.file))
    wrong = list(wrong_in(checked))
    for report in checked.claims:
        _case(suite, checked, report, [each for each in wrong if each.claim is report])
    of_the_file = [each for each in wrong if each.claim is None]
    if not checked.report.teeth.why_not_judged or of_the_file:
        teeth = ET.SubElement(suite, "testcase", classname=checked.report.protocol, name="everything is put to use")
        for each in of_the_file:
            _add(teeth, "failure", each.kind, each.message, f"{each.span}: {each.message}")
    cases = list(suite)
    suite.set("tests", str(len(cases)))
    suite.set("failures", str(sum(case.find("failure") is not None for case in cases)))
    suite.set("errors", str(sum(case.find("error") is not None for case in cases)))
    suite.set("skipped", "0")
    suite.set("time", f"{checked.seconds:.3f}")


def _case(suite: ET.Element, checked: CheckedFile, report: ScenarioReport, wrong: Sequence[Wrong]) -> None:
    kind = "mutant" if report.mutant else "scenario"
    case = ET.SubElement(suite, "testcase", classname=f"{checked.report.protocol}.{kind}s", name=report.name)
    for each in wrong:
        body = f"{each.span}: {each.message}\n\n{each.trace_text}".rstrip()
        _add(case, "failure" if each.kind in _FAILURES else "error", each.kind, each.message, body)
    about = [f"verdict {report.verdict.value}", f"{report.exploration.states:,} states"]
    about += [f"assumed: {one}" for one in report.assumed] + [f"not covered: {one}" for one in report.not_covered]
    ET.SubElement(case, "system-out").text = _plain("\n".join(about))


def _add(case: ET.Element, tag: str, kind: str, message: str, body: str) -> None:
    ET.SubElement(case, tag, type=kind, message=_plain(message)).text = _plain(body)


def _plain(text: str) -> str:
    """Return text without what XML cannot hold."""
    return "\n".join(visible(line) for line in text.split("\n"))


def _written(root: ET.Element) -> str:
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'

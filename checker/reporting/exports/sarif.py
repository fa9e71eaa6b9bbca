"""Checked files as SARIF 2.1.0, which code hosts show beside the lines: a result for everything that is wrong.

A counterexample is a code flow: each of its transitions is a location in the file, the step that was taken. Paths are
relative to the root of the checkout, wherever in it the command ran, as the hosts want them. Fingerprints name the
claim and not the line, so that a host knows a result again after an edit further up.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from checker.exploration import Finding
from checker.reporting.envelope import Document
from checker.reporting.exports.wording import KINDS, Wrong, wrong_in
from checker.reporting.lanes import transition_items
from checker.results import CheckedFile
from model.diagnostics import Diagnostic
from model.source import Span
from model.specification import Specification
from model.system import TransitionSystem
from model.transitions import Action

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_NOTES = ("unused", "inconclusive", "vacuous")


def sarif_document(checked: Sequence[CheckedFile], version: str) -> Document:
    """Return the log of what was checked."""
    results = [_result(each, wrong) for each in checked for wrong in wrong_in(each)]
    return _log(version, results, [])


def refused_document(diagnostics: Iterable[Diagnostic], version: str) -> Document:
    """Return the log of input that was refused."""
    found = list(diagnostics)
    rules = {diagnostic.code.number: diagnostic.code.meaning for diagnostic in found}
    log = _log(
        version,
        [
            {
                "ruleId": diagnostic.code.number,
                "level": diagnostic.severity.value,
                "message": _message(diagnostic),
                "locations": [_location(diagnostic.span)],
            }
            for diagnostic in found
            if diagnostic.span is not None
        ],
        [_rule(number, meaning) for number, meaning in rules.items()],
    )
    # A result without a place makes GitHub refuse the whole file; what is wrong with an option is no result of a file.
    told = [
        {
            "descriptor": {"id": diagnostic.code.number},
            "level": diagnostic.severity.value,
            "message": _message(diagnostic),
        }
        for diagnostic in found
        if diagnostic.span is None
    ]
    log["runs"][0]["invocations"] = [{"executionSuccessful": False, "toolExecutionNotifications": told}]
    return log


def _message(diagnostic: Diagnostic) -> Document:
    return {"text": f"{diagnostic.message}{f'. {diagnostic.help}' if diagnostic.help else ''}"}


def _log(version: str, results: list[Document], more_rules: list[Document]) -> dict[str, Any]:
    rules = [_rule(kind, meaning) for kind, meaning in KINDS.items()] + more_rules
    driver = {"name": "killpoint", "semanticVersion": version, "rules": rules}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(name: str, meaning: str) -> Document:
    title = "".join(part.capitalize() for part in name.split("-"))
    level = "warning" if name in _NOTES else "error"
    return {
        "id": name,
        "name": title,
        "shortDescription": {"text": meaning},
        "defaultConfiguration": {"level": level},
    }


def _result(checked: CheckedFile, wrong: Wrong) -> Document:
    claim = wrong.claim.name if wrong.claim is not None else ""
    result: Document = {
        "ruleId": wrong.kind,
        "level": "warning" if wrong.kind in _NOTES else "error",
        "message": {"text": _text(wrong)},
        "locations": [_location(wrong.span)],
        "partialFingerprints": {"killpoint/v1": f"{checked.report.protocol}/{claim}/{wrong.kind}/{wrong.message}"},
    }
    if wrong.claim is not None:
        related = _location(checked.claim(wrong.claim).span)
        result["relatedLocations"] = [{**related, "message": {"text": f"the claim {claim}"}}]
    if wrong.finding is not None and wrong.claim is not None:
        flow = list(_flow(wrong.claim.exploration.system, wrong.finding))
        if flow:
            result["codeFlows"] = [{"threadFlows": [{"locations": flow}]}]
    return result


def _text(wrong: Wrong) -> str:
    if wrong.finding is None:
        return wrong.message
    length = len(wrong.finding.trace)
    return f"{wrong.message} after {length} transition{'s' * (length != 1)}."


def _flow(system: TransitionSystem, finding: Finding) -> Iterator[Document]:
    states = finding.trace.states
    for number, (before, step) in enumerate(zip(states, finding.trace.steps, strict=False), start=1):
        action, items = transition_items(system, before, step)
        said = "  ".join("".join(text for _, text in line) for line in (action, *items))
        place = _location(_span_of(system.specification, step.action))
        yield {"executionOrder": number, "location": {**place, "message": {"text": said}}}


def _span_of(specification: Specification, action: Action) -> Span:
    """Return where the step stands that is taken, or before which a crash falls; of a restart, the process."""
    process = specification.processes[action.process]
    return next((step.span for step in process.steps if step.name == action.label), process.span)


def _location(span: Span) -> Document:
    region = {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }
    return {"physicalLocation": {"artifactLocation": _artifact(span.file), "region": region}}


def _artifact(file: str) -> Document:
    """Return where a file is: from the root of the checkout that it is in, or from here where it is in none."""
    path = Path(file)
    whole = path.absolute()
    root = _checkout_of(whole.parent)
    if root is not None:
        path = whole.relative_to(root)
    elif path.is_absolute():
        return {"uri": path.as_uri()}
    return {"uri": quote(os.path.normpath(path.as_posix())), "uriBaseId": "%SRCROOT%"}


@cache
def _checkout_of(directory: Path) -> Path | None:
    """Return the root of the checkout that a directory lies in; every location asks, and most for the same one."""
    return next((above for above in (directory, *directory.parents) if (above / ".git").exists()), None)

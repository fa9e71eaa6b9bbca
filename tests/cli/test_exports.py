"""What `check` writes for other programs: JUnit, SARIF, Markdown and JSON files, read by programs that are not ours."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from junitparser import Error, Failure, JUnitXml
from sarif_pydantic import Sarif

from tests.cli.running import Killpoint
from tests.cli.schemas import problems


def _junit(path: str = "junit.xml") -> JUnitXml:
    found = JUnitXml.fromfile(path)
    assert isinstance(found, JUnitXml)
    return found


def _cases(xml: JUnitXml) -> dict[str, list[type]]:
    return {
        f"{case.classname} {case.name}": [type(result) for result in case.result] for suite in xml for case in suite
    }


def test_all_as_declared(killpoint: Killpoint) -> None:
    done = killpoint(
        "check", "two_phase_commit", "--junit", "junit.xml", "--sarif", "log.sarif", "--markdown", "job.md"
    )

    assert done.code == 0
    xml = _junit()
    assert (xml.tests, xml.failures, xml.errors) == (5, 0, 0)  # two scenarios, two mutants, the teeth
    assert all(results == [] for results in _cases(xml).values())
    log = Sarif.model_validate_json(Path("log.sarif").read_text(encoding="utf-8"))
    assert log.version == "2.1.0"
    assert log.runs[0].results == []
    text = Path("job.md").read_text(encoding="utf-8")
    assert text.startswith("# ✓ killpoint: everything as declared\n\n1 file, 2 scenarios, 2 mutants.\n")
    assert "## Not as declared" not in text


@pytest.fixture
def broken(killpoint: Killpoint) -> str:
    """A specification of which a scenario breaks undeclared, a mutant lives, and a step is never taken."""
    del killpoint
    text = """\
language: 1
protocol: press
stores: {hall: {holds: {sheets: {type: 0..3}}}}
faults: {crash: {of: [printer], at_most: unlimited}}
processes:
  printer:
    steps:
      rest: when(sheets < 2)
      print: sheets += 1
      tidy: |
        when(sheets == 3)
        pass
properties:
  one_sheet: {always: "sheets <= 1"}
  never_four: {always: "sheets <= 3"}
scenarios:
  baseline: {}
mutants:
  nothing-printed: {processes: {printer: {steps: {print: pass}}}, breaks: [never_four]}
"""
    Path("press.yaml").write_text(text, encoding="utf-8")
    return "press.yaml"


def test_what_is_wrong_is_a_failure_each(killpoint: Killpoint, broken: str) -> None:
    assert killpoint("check", broken, "--junit", "junit.xml").code == 1

    xml = _junit()
    cases = _cases(xml)
    assert cases["press.scenarios baseline"] == [Failure]
    assert cases["press.mutants nothing-printed"] == [Failure]
    assert cases["press everything is put to use"] != []
    assert xml.failures == 3
    suite = next(iter(xml))
    baseline = next(case for case in suite if case.name == "baseline")
    assert baseline.result[0].type == "breaks-undeclared"
    # rest, print; and then `tidy` waits for ever: a crash takes it back to the start, rest, print.
    assert "printer.print" in baseline.result[0].text
    assert "one_sheet is false here" in baseline.result[0].text


def test_a_counterexample_is_a_code_flow_through_the_steps(killpoint: Killpoint, broken: str) -> None:
    killpoint("check", broken, "--sarif", "log.sarif")

    log = Sarif.model_validate_json(Path("log.sarif").read_text(encoding="utf-8"))
    document = json.loads(Path("log.sarif").read_text(encoding="utf-8"))
    (run,) = document["runs"]
    rules = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    results = {result["ruleId"]: result for result in run["results"]}
    assert results.keys() >= {"breaks-undeclared", "declared-break-missing", "unused"}
    assert results.keys() <= rules
    assert len(log.runs[0].results or []) == len(run["results"])

    found = results["breaks-undeclared"]
    lines = Path(broken).read_text(encoding="utf-8").splitlines()
    region = found["locations"][0]["physicalLocation"]["region"]
    assert lines[region["startLine"] - 1].strip().startswith("one_sheet:")
    assert found["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "press.yaml"
    (flow,) = found["codeFlows"][0]["threadFlows"]
    shown = [place["location"]["physicalLocation"]["region"]["startLine"] for place in flow["locations"]]
    assert [lines[line - 1].split(":")[0].strip() for line in shown] == ["rest", "print", "tidy", "rest", "print"]
    assert [place["executionOrder"] for place in flow["locations"]] == [1, 2, 3, 4, 5]
    assert "CRASH of printer before tidy" in flow["locations"][2]["location"]["message"]["text"]
    unused = results["unused"]["locations"][0]["physicalLocation"]["region"]
    assert lines[unused["startLine"] - 1].strip().startswith("tidy:")


@pytest.mark.parametrize("below", [".", "deep/er", "spec files"])
def test_places_are_told_from_the_root_of_the_checkout(
    killpoint: Killpoint, broken: str, below: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A code host knows a file only by its path there; where the command ran does not matter to it."""
    for directory in (".git", "spec files", "deep/er"):
        Path(directory).mkdir(parents=True)
    place = Path(broken).rename(Path("spec files", "100%.yaml")).resolve()
    monkeypatch.chdir(below)
    # Typed as from there, with `..` where need be.
    killpoint("check", os.path.relpath(place), "--sarif", "log.sarif")

    document = json.loads(Path("log.sarif").read_text(encoding="utf-8"))
    places = {json.dumps(one) for one in _artifacts(document)}
    assert places == {json.dumps({"uri": "spec%20files/100%25.yaml", "uriBaseId": "%SRCROOT%"})}


def _artifacts(document: Any) -> Iterator[Any]:
    """Yield every `artifactLocation` of a document."""
    if isinstance(document, dict):
        for name, value in document.items():
            if name == "artifactLocation":
                yield value
            yield from _artifacts(value)
    elif isinstance(document, list):
        for value in document:
            yield from _artifacts(value)


def test_what_has_no_place_is_no_result_that_a_host_would_refuse(killpoint: Killpoint) -> None:
    assert killpoint("check", "nowhere.yaml", "--sarif", "log.sarif").code == 2

    Sarif.model_validate_json(Path("log.sarif").read_text(encoding="utf-8"))
    (run,) = json.loads(Path("log.sarif").read_text(encoding="utf-8"))["runs"]
    assert run["results"] == []
    (invocation,) = run["invocations"]
    assert not invocation["executionSuccessful"]
    (told,) = invocation["toolExecutionNotifications"]
    assert "nowhere.yaml" in told["message"]["text"]
    assert told["descriptor"]["id"] in {rule["id"] for rule in run["tool"]["driver"]["rules"]}


def test_a_job_summary_tells_what_is_wrong_first(killpoint: Killpoint, broken: str) -> None:
    killpoint("check", broken, "--markdown", "job.md")

    text = Path("job.md").read_text(encoding="utf-8")
    assert text.startswith("# ✗ killpoint: not as declared\n")
    assert "- **one\\_sheet breaks in the scenario baseline**, after 5 transitions (`press.yaml:14`" in text
    assert "<details><summary>one\\_sheet breaks in the scenario baseline" in text
    assert text.index("## Not as declared") < text.index("<code>press.yaml</code>")


def test_what_is_refused_is_told_too_and_no_old_file_is_left(killpoint: Killpoint, broken: str) -> None:
    text = Path(broken).read_text(encoding="utf-8")
    Path(broken).write_text(text.replace("sheets <= 1", "sheet <= 1"), encoding="utf-8")
    names = ["--junit", "junit.xml", "--sarif", "log.sarif", "--markdown", "job.md", "--json-file", "all.json"]
    for name in names[1::2]:
        Path(name).write_text("old", encoding="utf-8")

    assert killpoint("check", broken, *names).code == 2

    (results,) = _cases(_junit()).values()
    assert results == [Error]
    (found,) = json.loads(Path("log.sarif").read_text(encoding="utf-8"))["runs"][0]["results"]
    Sarif.model_validate_json(Path("log.sarif").read_text(encoding="utf-8"))
    assert found["ruleId"].startswith("KP")
    assert found["locations"][0]["physicalLocation"]["region"]["startLine"] == 14
    assert "press.yaml:14" in Path("job.md").read_text(encoding="utf-8")
    assert problems("check", json.loads(Path("all.json").read_text(encoding="utf-8"))) == []


def test_a_json_file_is_what_json_prints(killpoint: Killpoint) -> None:
    printed = killpoint("check", "two_phase_commit", "--json", "--json-file", "all.json").json

    assert json.loads(Path("all.json").read_text(encoding="utf-8")) == printed


def test_a_file_that_cannot_be_written_is_said(killpoint: Killpoint) -> None:
    done = killpoint("check", "two_phase_commit", "--sarif", "nowhere/log.sarif")

    assert done.code == 2
    assert "`nowhere/log.sarif` cannot be written" in done.err


def test_what_xml_cannot_hold_is_spelt_out(killpoint: Killpoint, broken: str) -> None:
    Path(broken).rename("\x1b[31m.yaml")

    assert killpoint("check", "\x1b[31m.yaml", "--junit", "junit.xml").code == 1

    assert _cases(_junit())["press.scenarios baseline"] == [Failure]

"""`killpoint conform`: what it says and how it ends, in every way that it can."""

from __future__ import annotations

import shutil
import signal
from pathlib import Path

import pytest

from checker.conformance.adapter import Action
from checker.engines import columnar
from checker.exploration import Limits
from model.loader import load_file
from model.system import TransitionSystem
from tests.conformance.commands import OFFICE, ROOT, STAMPS, answered, ran
from tests.conformance.office import Office

NODE = shutil.which("node")
EXAMPLE = f"node {ROOT / 'docs' / 'examples' / 'submission.mjs'}"
FILE = load_file(Path(STAMPS))
Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of its own."""
    monkeypatch.setenv("KILLPOINT_CACHE", str(tmp_path / "cache"))


def test_an_honest_implementation_conforms_in_the_scenarios_that_say_so(capsys: Capture) -> None:
    done = ran(capsys, "conform", STAMPS, *OFFICE)

    assert done.code == 0
    assert "✓ baseline 277 of 277 transitions" in done.words
    assert "✓ smudged 38 of 38 pairs of step path and situation" in done.words
    assert "not observed: clerk fresh book" in done.words


def test_where_nothing_is_observed_nothing_is_shown(capsys: Capture) -> None:
    done = ran(capsys, "conform", STAMPS, "--adapter", "tests.conformance.office:Blindfolded", "-s", "baseline")

    assert done.code == 4
    assert "? baseline 277 of 277 transitions" in done.words
    assert "nothing is observed, so that whatever the system does would pass" in done.words


def test_a_deliberate_mistake_that_nothing_shows_is_a_failure(capsys: Capture) -> None:
    arguments = ("conform", STAMPS, "-s", "smudged", "--defects", "--adapter")

    assert ran(capsys, *arguments, "tests.conformance.office:Spotless").code == 1
    done = ran(capsys, *arguments[:3], "baseline", *arguments[4:], OFFICE[1])
    assert done.code == 0
    assert "✓ mistake stamps-twice: baseline, clerk.stamp" in done.words
    assert "driving does not show it" not in done.words


def test_what_there_is_to_cover_is_what_the_fast_explorer_counts(capsys: Capture) -> None:
    scenario = answered(capsys, "conform", STAMPS, *OFFICE, "-s", "baseline")["files"][0]["scenarios"][0]
    claim = FILE.scenarios["baseline"]
    (explored,) = columnar.explore([TransitionSystem.of(claim)], Limits())

    assert (scenario["states"], scenario["wanted"]) == (explored.states, explored.transitions)


def test_the_document_says_what_was_covered(capsys: Capture) -> None:
    (file,) = answered(capsys, "conform", STAMPS, *OFFICE)["files"]

    assert [(s["name"], s["mode"], s["covered"] == s["wanted"]) for s in file["scenarios"]] == [
        ("baseline", "transitions", True),
        ("smudged", "situations", True),
    ]
    assert all(scenario["divergence"] is None for scenario in file["scenarios"])
    assert all(scenario["walks"]["rejection"] is None for scenario in file["scenarios"])


def test_a_difference_is_shown_as_a_trace_with_the_nearest_that_the_model_allows(capsys: Capture) -> None:
    done = ran(capsys, "conform", STAMPS, *OFFICE, "--defect", "forgets-to-record", "-s", "baseline")

    assert done.code == 1
    assert "4 ● ◆ │ │ clerk.record → rest status=stamped" in done.words
    assert "the system: status=stamping (the model: stamped)" in done.words
    assert (
        "nearest in the model: crash of clerk before record; differs in clerk at=rest (the model: crashed)"
        in done.words
    )


@pytest.mark.parametrize(
    ("defect", "kind"), [("stamps-twice", "differs"), ("refuses-blue", "refused"), ("starts-stamped", "start")]
)
def test_the_document_of_a_difference_says_what_it_is(capsys: Capture, defect: str, kind: str) -> None:
    document = answered(capsys, "conform", STAMPS, *OFFICE, "--defect", defect, "-s", "baseline")

    (scenario,) = document["files"][0]["scenarios"]
    assert (document["exit_code"], scenario["divergence"]["kind"]) == (1, kind)
    assert scenario["walks"] is None


def test_a_walk_that_is_no_run_of_the_model_is_shown_with_the_reason(capsys: Capture) -> None:
    done = ran(capsys, "conform", STAMPS, *OFFICE, "--defect", "empties-early", "-s", "baseline")

    assert done.code == 1
    assert "277 of 277 transitions" in done.words
    assert "the system then did what the model does not allow: step chief.empty" in done.words
    assert "why not: not enabled: `when(status != stamping)` bars the way" in done.words


def test_the_document_of_a_walk_says_why(capsys: Capture) -> None:
    document = answered(capsys, "conform", STAMPS, *OFFICE, "--defect", "empties-early", "-s", "baseline")

    rejection = document["files"][0]["scenarios"][0]["walks"]["rejection"]
    assert document["exit_code"] == 1
    assert "chief.empty" in rejection["event"]
    assert "when(status != stamping)" in rejection["reasons"][0]["text"]


def test_without_walks_what_only_they_find_is_not_found(capsys: Capture) -> None:
    done = ran(capsys, "conform", STAMPS, *OFFICE, "--defect", "empties-early", "-s", "baseline", "--walks", "0")

    assert done.code == 0


# --- A trace of one property ---


def test_a_counterexample_of_the_model_happens_in_the_system(capsys: Capture) -> None:
    done = ran(capsys, "conform", STAMPS, *OFFICE, "-s", "baseline", "-p", "one_stamp")

    assert done.code == 0
    assert "8 of 8 transitions of the trace of one_stamp" in done.words
    assert "the system has followed to the end; observed there: stamps=2" in done.words


def test_a_counterexample_of_a_mutant_happens_where_the_system_has_the_same_defect(capsys: Capture) -> None:
    arguments = ("conform", STAMPS, *OFFICE, "-m", "never-recorded", "-p", "one_stamp")

    assert ran(capsys, *arguments, "--defect", "forgets-to-record").code == 0
    assert ran(capsys, *arguments).code == 1
    assert answered(capsys, *arguments)["files"][0]["scenarios"][0]["mode"] == "trace"


def test_a_property_that_holds_has_no_trace_to_drive(capsys: Capture) -> None:
    done = ran(capsys, "conform", STAMPS, *OFFICE, "-s", "baseline", "-p", "stamps_in_the_end")

    assert done.code == 2
    assert "there is no trace of `stamps_in_the_end` in `baseline` to drive" in done.words


# --- What is refused ---


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("conform", STAMPS), "no implementation named `stamps` comes with killpoint"),
        (("conform", "two_phase_commit"), "names no implementation"),
        (("conform", "two_phase_commit", *OFFICE), "says `conform`"),
        (("conform", STAMPS, "--adapter", "office"), "`office` is no `MODULE:CLASS`"),
        (("conform", STAMPS, "--adapter", "no.such:Thing"), "`no.such` cannot be imported"),
        (("conform", STAMPS, "--adapter", "tests.conformance.office:Desk"), "has no `Desk`"),
        (("conform", STAMPS, "--adapter", "tests.conformance.office:COLOURS"), "is no class"),
        (("conform", STAMPS, "--command", ""), "no implementation named"),
        (("conform", STAMPS, "--command", "'"), "the command cannot be read"),
        (("conform", STAMPS, *OFFICE, "--command", "node"), "both name an implementation"),
        (("conform", STAMPS, *OFFICE, "-s", "basline"), "there is no scenario `basline`"),
        (("conform", STAMPS, *OFFICE, "-p", "one_stmp"), "did you mean `one_stamp`"),
        (("conform", *OFFICE, "-p", "one_stamp"), "about one specification"),
        (("conform", STAMPS, *OFFICE, "-p", "one_stamp", "-s", "baseline", "-s", "smudged"), "name one `--scenario`"),
        (("conform", STAMPS, *OFFICE, "--walks", "-1"), "`--walks` cannot be -1"),
        (("conform", STAMPS, *OFFICE, "--length", "0"), "`--length` must be above zero"),
        (("conform", STAMPS, *OFFICE, "--seconds", "0"), "`--seconds` must be above zero"),
        (("conform", STAMPS, *OFFICE, "--defect", "laziness"), "no defect is named laziness"),
        (("conform", STAMPS, *OFFICE, "--defect", "observes-nonsense"), "is at fault: it observes 1.5"),
        (("conform", STAMPS, *OFFICE, "--defect", "breaks-off"), "ZeroDivisionError: out of ink"),
    ],
)
def test_what_cannot_be_done_is_said(capsys: Capture, arguments: tuple[str, ...], message: str) -> None:
    done = ran(capsys, *arguments)

    assert done.code == 2
    assert message in done.words
    answered(capsys, *arguments)


def test_an_adapter_in_the_current_directory_is_found(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "desk_of_mine.py").write_text("from tests.conformance.office import Office as Desk\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*__import__("sys").path])

    assert ran(capsys, "conform", STAMPS, "--adapter", "desk_of_mine:Desk", "-s", "smudged").code == 0


# --- What is cut short ---


def test_too_many_states_are_inconclusive(capsys: Capture) -> None:
    done = ran(capsys, "conform", STAMPS, *OFFICE, "-s", "baseline", "--max-states", "50")

    assert done.code == 3
    assert "cut short: more than 50 states" in done.words
    assert answered(capsys, "conform", STAMPS, *OFFICE, "--max-states", "50")["exit_code"] == 3


def test_out_of_time_is_inconclusive(capsys: Capture) -> None:
    done = ran(capsys, "conform", STAMPS, *OFFICE, "--timeout", "0.000001")

    assert done.code == 3
    assert "out of time" in done.words


class Interrupted(Office):
    """Somebody presses Ctrl-C while it is driven."""

    performed = 0

    def perform(self, action: Action) -> None:
        self.performed += 1
        if self.performed == 100:
            signal.raise_signal(signal.SIGINT)
        super().perform(action)


def test_an_interrupt_ends_it_after_this_action_with_what_was_covered(capsys: Capture) -> None:
    arguments = ("--adapter", "tests.conformance.test_conform:Interrupted")
    done = ran(capsys, "conform", STAMPS, "-s", "baseline", *arguments)

    assert done.code == 3
    assert "of 277 transitions, in 1 run of 100 actions; cut short: interrupted" in done.words


# --- The example in another language ---


@pytest.mark.skipif(NODE is None, reason="there is no node here")
@pytest.mark.parametrize("scenario", ["fixed", "as-reported"])
def test_the_example_in_javascript_conforms(capsys: Capture, scenario: str) -> None:
    done = ran(capsys, "conform", "b_submission_timed_out", "-s", scenario, "--command", EXAMPLE)

    assert (done.code, done.err) == (0, "")
    assert "not observed" not in done.out


@pytest.mark.skipif(NODE is None, reason="there is no node here")
@pytest.mark.parametrize(
    ("defect", "message"),
    [("new-name-each-time", "the system refuses it: there is a job 1 already"), ("records-nothing", "id=None")],
)
def test_a_mistake_in_the_example_is_found(capsys: Capture, defect: str, message: str) -> None:
    done = ran(capsys, "conform", "b_submission_timed_out", "-s", "fixed", "--command", EXAMPLE, "--defect", defect)

    assert done.code == 1
    assert message in done.words


@pytest.mark.skipif(NODE is None, reason="there is no node here")
def test_the_example_submits_twice_where_the_model_does(capsys: Capture) -> None:
    done = ran(
        capsys, "conform", "b_submission_timed_out", "-s", "as-reported", "-p", "no_duplicate", "--command", EXAMPLE
    )

    assert done.code == 0
    assert "the system has followed to the end; observed there: jobs={1, 2}" in done.words

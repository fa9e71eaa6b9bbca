"""A certificate stands if it is right, and falls if anything in it is not: a state, a rank, a file, the manifest."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from checker.backends.smt.solvers import SOLVERS, Answer, SolverName, UnreadableText, ask
from checker.certificates import rechecking
from checker.certificates.certificate import (
    INVARIANT,
    MANIFEST,
    RANKINGS,
    SPECIFICATION,
    WITNESSES,
    Certificate,
    text_hash,
)
from checker.certificates.diagram import TRUE, Diagram, diagram_of
from checker.certificates.making import NoCertificate, make_certificate, versions
from checker.certificates.obligations import Ranking
from checker.certificates.proving import Occupied, write_certificate
from checker.certificates.rechecking import Outcome, Rechecked, RecheckOptions, recheck
from checker.engines.reachable import Reachable
from checker.exploration import Limits
from model.source import Source
from model.system import TransitionSystem
from tests.certificates.office import TEXT, certificate, explored, scenario

BOTH = RecheckOptions(SOLVERS, 60.0)
ONLY_Z3 = RecheckOptions(("z3",), 60.0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The certificate of the mailbox, as it was written."""
    return written(certificate(), tmp_path / "mailbox.baseline")


def written(made: Certificate, folder: Path) -> Path:
    write_certificate(folder, made.files(versions()))
    return folder


def refused(made: Certificate, solver: SolverName = "z3") -> list[str]:
    """Return the obligations that a solver does not confirm."""
    return [each.name for each in made.obligations if ask(solver, each.text, 60.0) is not Answer.UNSAT]


# --- What is right stands ---


def test_both_solvers_confirm_every_obligation(folder: Path) -> None:
    found = recheck(folder, BOTH)

    assert (found.outcome, found.differences, found.proves()) == (Outcome.ACCEPTED, (), True)
    assert found.states == 93
    assert {solver: dict(answers) for solver, answers in found.refused.items()} == {"z3": {}, "cvc5": {}}


def test_it_says_what_it_covers_and_what_not(folder: Path) -> None:
    found = recheck(folder, ONLY_Z3)

    assert found.shown == ("once", "sent_is_final", "sent_when_meant", "can_doubt", "ends")
    assert list(found.not_shown) == ["arrives"]


def test_z3_alone_does_not_prove(folder: Path) -> None:
    found = recheck(folder, ONLY_Z3)

    assert (found.outcome, found.proves()) == (Outcome.ACCEPTED, False)


def test_every_script_in_the_folder_is_an_obligation(folder: Path) -> None:
    names = {f"{each.name}.smt2" for each in certificate().obligations}

    assert {path.name for path in folder.glob("*.smt2")} == names
    assert {path.name for path in folder.iterdir()} == {
        *names,
        MANIFEST,
        INVARIANT,
        WITNESSES,
        RANKINGS,
        SPECIFICATION,
    }
    for path in folder.glob("*.smt2"):
        assert path.read_text(encoding="utf-8").endswith("(check-sat)\n")


def test_the_hashes_in_the_manifest_are_those_of_the_files(folder: Path) -> None:
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    listed = [
        *manifest["obligations"],
        *(manifest[key] for key in ("specification", "invariant", "witnesses", "rankings")),
    ]

    assert len(listed) == len(list(folder.iterdir())) - 1
    for each in listed:
        assert each["sha256"] == text_hash((folder / each["file"]).read_text(encoding="utf-8")), each["file"]


def test_the_same_specification_gives_the_same_files(folder: Path) -> None:
    source, claim, system = scenario()
    again = make_certificate(source, claim, system, explored(system), Limits())

    assert again.files({}) == certificate().files({})
    assert {path.name for path in folder.iterdir()} == again.files({}).keys()


# --- An invariant, a ranking or a claim that is wrong falls ---


def with_states(made: Certificate, keep: Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]]) -> Certificate:
    """Return a certificate whose invariant has other states."""
    sizes = [slot.domain.size for slot in made.system.slots]
    states = keep(Reachable(made.system, Limits()).positions)
    assert isinstance(made.invariant, Diagram)
    return replace(made, invariant=diagram_of(states, sizes, made.invariant.order))


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_state_that_the_explorer_forgot_is_found_and_the_action_is_named(solver: SolverName) -> None:
    made = certificate()
    states = Reachable(made.system, Limits()).positions
    posted = next(place for place, slot in enumerate(made.system.slots) if slot.name == "posted")
    last = int(np.flatnonzero(states[:, posted] == 3)[-1])  # both letters: only sending one leads there, or a crash
    short = with_states(made, lambda states: np.delete(states, last, axis=0))

    failing = refused(short, solver)

    assert failing
    assert all(name.startswith(("action-", "rank-")) for name in failing)
    assert any(name.startswith("action-") for name in failing)


def test_every_state_is_needed() -> None:
    """The reachable states are the smallest invariant: whichever is left out, an obligation falls."""
    made = certificate()
    bare = replace(made, rankings={})
    for number in range(0, len(Reachable(made.system, Limits()).positions), 9):
        short = with_states(bare, lambda states, number=number: np.delete(states, number, axis=0))  # type: ignore[misc]
        assert refused(short), number


def test_a_forgotten_initial_state_is_found() -> None:
    short = with_states(replace(certificate(), rankings={}), lambda states: states[1:])

    assert "initial" in refused(short)


def test_an_invariant_that_holds_everything_is_not_safe() -> None:
    made = certificate()
    assert isinstance(made.invariant, Diagram)
    failing = refused(replace(made, invariant=Diagram((), TRUE, made.invariant.order), rankings={}))

    assert "always-once" in failing


AGAIN = "if status[i] == sending and i in posted: goto(record)"


@pytest.mark.parametrize(
    ("edits", "obligation"),
    [
        ({"when(current not in posted)": "when(True)", AGAIN: "pass"}, "always-once"),
        ({"status[current] == sending)": "current == 1)"}, "action-002-clerk.send"),
        ({"when(status[i] != sent)": "when(True)"}, "action-001-clerk.intend"),
        ({"current = i\n": "current = i if i == 1 else None\n"}, "action-001-clerk.intend"),
    ],
    ids=["always", "checked", "step", "error"],
)
def test_what_breaks_is_not_proved(edits: dict[str, str], obligation: str) -> None:
    """The invariant is what is reachable; what is claimed of it is not true."""
    text = TEXT
    for old, new in edits.items():
        assert old in text
        text = text.replace(old, new)
    source, claim, system = scenario(text)
    made = replace(certificate(), source=source, claim=claim, system=system, rankings={}, witnesses={})

    assert obligation in refused(with_states(made, lambda states: states))


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_rank_that_does_not_fall_is_found(solver: SolverName) -> None:
    made = certificate()
    ranking = made.rankings["ends"]
    level = Diagram((), 1, ranking.rank.order)

    failing = refused(replace(made, rankings={"ends": Ranking(level, ranking.plan)}), solver)

    assert failing
    assert all(name.startswith("rank-ends") for name in failing)


def test_a_plan_that_names_the_wrong_action_is_found() -> None:
    made = certificate()
    ranking = made.rankings["ends"]
    for action in (0, 4, 99):  # one that does not always help, a crash, and none at all
        plan = Diagram((), action, ranking.plan.order, 100)
        assert refused(replace(made, rankings={"ends": Ranking(ranking.rank, plan)})), action


# --- What was tampered with is found ---


def edited(folder: Path, name: str, change: Callable[[str], str]) -> None:
    text = (folder / name).read_text(encoding="utf-8")
    changed = change(text)
    assert changed != text
    (folder / name).write_text(changed, encoding="utf-8")


def in_manifest(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    change(manifest)
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")


def adapted(folder: Path) -> None:
    """Adapt the manifest to the files that are there, as somebody would who wants to deceive."""

    def adapt(manifest: dict[str, Any]) -> None:
        listed = [each for each in manifest["obligations"] if (folder / each["file"]).exists()]
        manifest["obligations"] = listed
        for each in [*listed, *(manifest[key] for key in ("specification", "invariant", "witnesses", "rankings"))]:
            each["sha256"] = text_hash((folder / each["file"]).read_text(encoding="utf-8"))

    in_manifest(folder, adapt)


def weaker(folder: Path) -> None:
    edited(folder, "always-once.smt2", lambda text: text.replace("(check-sat)", "(assert false)\n(check-sat)"))


def forgotten(folder: Path) -> None:
    (folder / "action-002-clerk.send.smt2").unlink()


def another_invariant(folder: Path) -> None:
    edited(folder, INVARIANT, lambda text: text.replace('"root": 34', '"root": 33'))


def another_specification(folder: Path) -> None:
    edited(folder, SPECIFICATION, lambda text: text.replace("when(current not in posted)", "when(True)"))


def a_stranger(folder: Path) -> None:
    (folder / "always-more.smt2").write_text("(set-logic QF_BV)\n(assert false)\n(check-sat)\n", encoding="utf-8")


def another_rank(folder: Path) -> None:
    edited(folder, RANKINGS, lambda text: text.replace('"root": ', '"root": 0', 1))


def another_witness(folder: Path) -> None:
    edited(folder, WITNESSES, lambda text: text.replace('"can_doubt"', '"ends"'))


TAMPERING = [weaker, forgotten, another_invariant, another_specification, a_stranger, another_rank, another_witness]


@pytest.mark.parametrize("adapt", [False, True], ids=["as it was", "manifest adapted"])
@pytest.mark.parametrize("tamper", TAMPERING, ids=lambda tamper: tamper.__name__)
def test_what_was_tampered_with_is_found(folder: Path, tamper: Callable[[Path], None], adapt: bool) -> None:
    tamper(folder)
    if adapt:
        adapted(folder)
    found = recheck(folder, ONLY_Z3)

    assert found.outcome in (Outcome.REFUTED, Outcome.UNREADABLE)
    assert found.differences or found.unreadable


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m["properties"]["arrives"].update(shown=True),
        lambda m: m["scenario"].update(sha256="0" * 64),
        lambda m: m["parameters"].update(limit=3),
        lambda m: m["faults"]["lost"].update(at_most="unlimited"),
        lambda m: m["invariant"].update(states=12),
        lambda m: m["obligations"].pop(),
        lambda m: m.update(more=1),
        lambda m: m.update(answer="sat"),
    ],
)
def test_a_manifest_that_says_something_else_is_found(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    in_manifest(folder, change)
    found = recheck(folder, ONLY_Z3)

    assert (found.outcome, len(found.differences)) == (Outcome.REFUTED, 1)
    assert MANIFEST in found.differences[0]


def test_versions_may_differ(folder: Path) -> None:
    in_manifest(folder, lambda manifest: manifest.update(made_by={"z3": "another"}))

    assert recheck(folder, ONLY_Z3).outcome is Outcome.ACCEPTED


@pytest.mark.parametrize("name", [MANIFEST, SPECIFICATION, INVARIANT, WITNESSES, RANKINGS])
@pytest.mark.parametrize("text", [None, "", "[]", "{", "\x00", '{"a": 1}'])
def test_what_is_no_certificate_is_called_unreadable_or_refuted(folder: Path, name: str, text: str | None) -> None:
    (folder / name).unlink()
    if text is not None:
        (folder / name).write_text(text, encoding="utf-8")

    assert recheck(folder, ONLY_Z3).outcome in (Outcome.UNREADABLE, Outcome.REFUTED)


def test_a_changed_specification_is_found_by_comparing(folder: Path) -> None:
    now = Source("spec/mailbox.yaml", TEXT + "\n")
    found = recheck(folder, replace(ONLY_Z3, specification=now))

    assert found.differences == ("it is about another text than spec/mailbox.yaml has now",)
    assert recheck(folder, replace(ONLY_Z3, specification=replace(now, text=TEXT))).outcome is Outcome.ACCEPTED


# --- Solvers ---


def test_a_solver_without_an_answer_leaves_it_open(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rechecking, "ask", lambda *_: Answer.UNKNOWN)
    found = recheck(folder, BOTH)

    assert (found.outcome, found.proves()) == (Outcome.INCONCLUSIVE, False)


def test_one_solver_that_refutes_is_enough(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(solver: SolverName, text: str, seconds: float) -> Answer:
        del text, seconds
        return Answer.SAT if solver == "cvc5" else Answer.UNSAT

    monkeypatch.setattr(rechecking, "ask", answer)

    assert recheck(folder, BOTH).outcome is Outcome.REFUTED


def test_nobody_asked_is_no_proof() -> None:
    assert not Rechecked("nobody").proves()
    assert Rechecked("nobody").outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_solver_says_what_is_true(solver: SolverName) -> None:
    head = "(set-logic QF_BV)\n(declare-const x (_ BitVec 3))\n"

    assert ask(solver, f"{head}(assert (bvult x x))\n(check-sat)\n", 10) is Answer.UNSAT
    assert ask(solver, f"{head}(assert (bvult x #b101))\n(check-sat)\n", 10) is Answer.SAT
    with pytest.raises(UnreadableText):
        ask(solver, f"{head}(assert (bvult x y))\n(check-sat)\n", 10)


# --- Making and writing ---


def test_what_was_cut_short_gets_no_certificate() -> None:
    source, claim, system = scenario()
    cut = replace_complete(system)

    with pytest.raises(NoCertificate):
        make_certificate(source, claim, system, cut, Limits())
    with pytest.raises(NoCertificate, match="93 states"):
        make_certificate(source, claim, system, explored(system), Limits(states_max=92))


def replace_complete(system: TransitionSystem) -> Any:
    found = explored(system)
    found.complete, found.cut = False, "out of time"
    return found


def test_what_is_no_certificate_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.jpg").touch()

    with pytest.raises(Occupied):
        write_certificate(tmp_path / "photos", {MANIFEST: "{}"})
    assert (tmp_path / "photos" / "cat.jpg").exists()


def test_a_certificate_replaces_the_one_of_before(folder: Path) -> None:
    (folder / "action-999-left-over.smt2").touch()
    written(certificate(), folder)

    assert not (folder / "action-999-left-over.smt2").exists()
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_what_was_just_made_is_checked_by_its_files_all_the_same(folder: Path) -> None:
    made = certificate()
    assert recheck(folder, ONLY_Z3, made=made) == recheck(folder, ONLY_Z3)

    for tamper in TAMPERING:
        copy = Path(shutil.copytree(folder, folder.parent / "copy" / folder.name))
        tamper(copy)
        found = recheck(copy, ONLY_Z3, made=made)
        assert found.outcome in (Outcome.REFUTED, Outcome.UNREADABLE), tamper
        shutil.rmtree(copy)

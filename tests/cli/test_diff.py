"""`killpoint diff`: what a change of a protocol means."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cli.running import Killpoint

SENDER = """\
language: 1
protocol: sender
types:
  Mark: [blank, intended, sent]
  Advice: [send, ask, nothing]
stores:
  book: {holds: {mark: {type: Mark}}}
  post: {holds: {known: {type: bool}}}
ghost:
  letters: {type: counter 2}
faults:
  crash: {of: [clerk], at_most: unlimited}
tables:
  advise:
    match: first
    gives: {advice: Advice}
    rows:
      fresh: {when: "mark == blank", advice: send}
      doubt: {when: "mark == intended", advice: ask}
      done: {when: "True", advice: nothing}
processes:
  clerk:
    steps:
      rest: |
        when(advise.advice != nothing)
        if advise.advice == ask: goto(ask)
      intend: mark = intended
      send: |
        letters += 1
        known = True
      confirm: |
        mark = sent
        goto(rest)
      ask: |
        if not known: goto(send)
        mark = sent
        goto(rest)
properties:
  once: {always: "letters <= 1"}
  sent_means_known: {always: "implies(mark == sent, known)"}
  ends: {recoverable: "mark == sent"}
  can_end: {possible: "mark == sent"}
scenarios:
  baseline: {}
  calm: {allow: {crash: 0}, only: [once, can_end]}
views: {situation: [mark, known]}
"""


@pytest.fixture(autouse=True)
def old_version(killpoint: Killpoint) -> None:
    """The old version, where `killpoint` runs."""
    del killpoint
    Path("old.yaml").write_text(SENDER, encoding="utf-8")


def _new(*changes: tuple[str, str]) -> str:
    text = SENDER
    for before, after in changes:
        assert text.count(before) == 1
        text = text.replace(before, after)
    Path("new.yaml").write_text(text, encoding="utf-8")
    return "new.yaml"


def test_what_has_not_changed_is_no_less_safe(killpoint: Killpoint) -> None:
    done = killpoint("diff", "old.yaml", _new())

    assert done.code == 0
    assert "**Nothing got less safe** in 2 scenarios of the old version" in done.out
    assert "##" not in done.out


def test_a_step_that_no_longer_looks_is_less_safe_and_what_it_now_needs_is_said(killpoint: Killpoint) -> None:
    new = _new(("        if not known: goto(send)\n        mark = sent\n        goto(rest)\n", "        goto(send)\n"))

    done = killpoint("diff", "old.yaml", new)

    assert done.code == 1
    # rest, intend, send, a crash before `confirm`, rest, ask, send again.
    assert "- **once** now breaks after 7 transitions under baseline; it now needs that there is no crash" in done.out
    assert "calm" not in done.out.partition("## Steps")[0]
    assert "CRASH of clerk before confirm" in done.out
    assert "-if not known: goto(send)" in done.out
    assert "- newly reachable" not in done.out


def test_the_other_way_round_it_is_safer(killpoint: Killpoint) -> None:
    _new(("        if not known: goto(send)\n        mark = sent\n        goto(rest)\n", "        goto(send)\n"))

    done = killpoint("diff", "new.yaml", "old.yaml")

    assert done.code == 0
    assert "## Safer" in done.out
    assert "- **once** broke after 7 transitions under baseline" in done.out


def test_a_scenario_that_was_edited_says_nothing_of_the_change(killpoint: Killpoint) -> None:
    """The new file declares that it breaks, and is as declared; the claim of the old one breaks all the same."""
    new = _new(
        ("        if not known: goto(send)\n        mark = sent\n        goto(rest)\n", "        goto(send)\n"),
        ("baseline: {}", "baseline: {breaks: [once], because: it is what we want now}"),
    )
    assert killpoint("check", new).code == 0

    assert killpoint("diff", "old.yaml", new).code == 1


def test_tables_are_compared_by_what_they_give(killpoint: Killpoint) -> None:
    same = killpoint("diff", "old.yaml", _new(('when: "mark == intended"', 'when: "not (mark in {blank, sent})"')))
    assert "## Tables" not in same.out
    assert same.code == 0

    other = killpoint("diff", "old.yaml", _new(('{when: "mark == intended", advice: ask}', "null")), "--json")
    assert other.code == 2  # a row that is null is none

    changed = killpoint("diff", "old.yaml", _new(("advice: ask}", "advice: send}")), "--json").json["files"][0]
    assert changed["tables"] == [
        {
            "table": "advise",
            "situation": {"mark": "intended"},
            "before": {"row": "doubt", "gives": {"advice": "ask"}},
            "after": {"row": "doubt", "gives": {"advice": "send"}},
        }
    ]


def test_claims_are_compared_by_what_they_allow(killpoint: Killpoint) -> None:
    weaker = killpoint("diff", "old.yaml", _new(('always: "letters <= 1"', 'always: "letters <= 1 or known"')))
    assert weaker.code == 1
    assert "- **once** is weaker: it now allows `known=true`, `letters=2`" in weaker.out

    stronger = killpoint(
        "diff", "old.yaml", _new(('"implies(mark == sent, known)"', '"implies(mark != blank, known)"'))
    )
    assert "- **sent\\_means\\_known** is stronger: it now forbids" in stronger.out
    assert "- **sent\\_means\\_known** now breaks after 2 transitions under baseline" in stronger.out

    same = killpoint("diff", "old.yaml", _new(('always: "letters <= 1"', 'always: "not letters > 1"')))
    assert same.code == 0
    assert "## Claims" not in same.out


def test_what_is_claimed_no_more_is_less(killpoint: Killpoint) -> None:
    done = killpoint("diff", "old.yaml", _new(('  ends: {recoverable: "mark == sent"}\n', "")))

    assert done.code == 1
    assert "**Less safe:** ends is claimed no more." in done.out


def test_a_step_with_another_name_is_the_same_step(killpoint: Killpoint) -> None:
    new = _new(("      ask: |", "      look_up: |"), ("goto(ask)", "goto(look_up)"))

    done = killpoint("diff", "old.yaml", new)

    assert done.code == 0
    assert "- **steps**: renamed clerk.ask → clerk.look\\_up" in done.out
    assert "## Steps" not in done.out


def test_what_nobody_can_guess_can_be_said(killpoint: Killpoint) -> None:
    text = SENDER.replace("letters", "sheets").replace("intended", "meant")
    Path("new.yaml").write_text(text, encoding="utf-8")

    without = killpoint("diff", "old.yaml", "new.yaml", "--json").json["files"][0]
    assert {"kind": "variable", "name": "ghost.sheets"} in without["added"]

    done = killpoint("diff", "old.yaml", "new.yaml", "--rename", "letters=sheets", "--rename", "intended=meant")
    assert done.code == 0
    assert "- **variables**: renamed ghost.letters → ghost.sheets" in done.out
    assert "## Claims" not in done.out
    assert "## Tables" not in done.out


def test_situations_that_come_and_go(killpoint: Killpoint) -> None:
    new = _new(("        letters += 1\n        known = True\n", "        letters += 1\n        known = letters >= 1\n"))
    assert "## Situations" not in killpoint("diff", "old.yaml", new).out

    done = killpoint("diff", "old.yaml", _new(("      intend: mark = intended\n", "      intend: pass\n")))
    assert "- newly reachable: `blank` / `true`" in done.out
    assert "- gone: `intended` / `false`; `intended` / `true`" in done.out


# --- Git ---


def _git(*arguments: str) -> None:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *identity, *arguments], check=True, capture_output=True)


@pytest.fixture
def repository() -> None:
    """A repository whose last commit drops the look, adds a specification, and removes one."""
    Path("old.yaml").rename("sender.yaml")
    Path("gone.yaml").write_text(SENDER.replace("protocol: sender", "protocol: gone"), encoding="utf-8")
    Path("workflow.yml").write_text("on: push\n", encoding="utf-8")
    _git("init", ".")
    _git("add", "sender.yaml", "gone.yaml", "workflow.yml")
    _git("commit", "-m", "one")
    text = SENDER.replace(
        "        if not known: goto(send)\n        mark = sent\n        goto(rest)\n", "        goto(send)\n"
    )
    Path("sender.yaml").write_text(text, encoding="utf-8")
    Path("gone.yaml").unlink()
    Path("come.yaml").write_text(SENDER.replace("protocol: sender", "protocol: come"), encoding="utf-8")
    Path("workflow.yml").write_text("on: [push]\n", encoding="utf-8")
    _git("add", "-A", "sender.yaml", "gone.yaml", "come.yaml", "workflow.yml")
    _git("commit", "-m", "two")


@pytest.mark.usefixtures("repository")
def test_what_commits_change(killpoint: Killpoint) -> None:
    done = killpoint("diff", "--git", "HEAD~1..HEAD", "-o", "comment.md")

    assert done.code == 1
    text = Path("comment.md").read_text(encoding="utf-8")
    assert "- `come.yaml` is new" in text
    assert "- **`gone.yaml` is gone, with all that it claims**" in text
    assert "- **once** now breaks" in text
    assert "workflow" not in text


@pytest.mark.usefixtures("repository")
def test_what_the_work_tree_changes(killpoint: Killpoint) -> None:
    assert killpoint("diff", "--git", "HEAD").out == "No specification has changed.\n"

    Path("sender.yaml").write_text(SENDER, encoding="utf-8")
    done = killpoint("diff", "--git", "HEAD", "sender.yaml")
    assert done.code == 0
    assert "## Safer" in done.out


@pytest.mark.usefixtures("repository")
def test_a_branch_is_compared_from_where_it_parted(killpoint: Killpoint) -> None:
    _git("branch", "feature", "HEAD~1")

    assert killpoint("diff", "--git", "HEAD..feature", "sender.yaml").code == 0
    assert killpoint("diff", "--git", "HEAD...feature").out == "No specification has changed.\n"


@pytest.mark.usefixtures("repository")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--git", "nothing..HEAD"], "`nothing` is no commit"),
        (["--git", "HEAD~1..HEAD", "other.yaml"], "`other.yaml` is in neither version"),
        (["--git", "HEAD", "a.yaml", "b.yaml"], "`--git` takes at most one specification"),
        (["sender.yaml"], "two versions are to be compared"),
        (["sender.yaml", "come.yaml", "--rename", "a"], "`a` renames nothing"),
    ],
)
def test_what_cannot_be_compared_is_said(killpoint: Killpoint, arguments: list[str], said: str) -> None:
    done = killpoint("diff", *arguments)

    assert done.code == 2
    assert said in done.err


def test_outside_a_repository_git_is_quoted(killpoint: Killpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(Path.cwd().parent))

    done = killpoint("diff", "--git", "HEAD")

    assert done.code == 2
    assert "git does not answer: not a git repository" in done.err

"""Links lead somewhere, what is named exists, and nothing that ought to be listed or explained is left out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from model.codes import code_of
from model.words import CALLS, STATEMENT_CALLS
from tests.docs.markdown import ROOT, anchors, documents, links

DECISIONS = ROOT / "docs" / "decisions"
NAMED_PATH = re.compile(r"`((?:model|checker|spec|tests|docs|reports|benchmarks)/[\w./-]*)`")
NAMED_CODE = re.compile(r"\bKP\d{3}\b")


def name_of(path: Path) -> str:
    """Return the name of a document in the repository."""
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("document", documents(), ids=name_of)
def test_every_link_leads_somewhere(document: Path) -> None:
    broken = []
    for target in links(document):
        if re.match(r"https?:", target):
            continue
        path_text, _, fragment = target.partition("#")
        path = (document.parent / path_text).resolve() if path_text else document
        if not path.exists() or (fragment and fragment not in anchors(path)):
            broken.append(target)

    assert broken == []


@pytest.mark.parametrize("document", documents(), ids=name_of)
def test_every_path_that_is_named_exists(document: Path) -> None:
    named = set(NAMED_PATH.findall(document.read_text(encoding="utf-8")))

    # What a run writes is not there before it.
    assert {name for name in named if not (ROOT / name).exists() and not name.startswith("reports/")} == set()


@pytest.mark.parametrize("document", documents(), ids=name_of)
def test_every_code_that_is_named_exists(document: Path) -> None:
    named = set(NAMED_CODE.findall(document.read_text(encoding="utf-8"))) - {"KP000"}

    assert {number for number in named if code_of(number) is None} == set()


def test_every_decision_is_listed_in_order_under_its_title() -> None:
    pages = sorted(path for path in DECISIONS.glob("[0-9]*.md") if path.stem != "000-template")
    titles = {page.name: page.read_text(encoding="utf-8").splitlines()[0].partition(": ")[2] for page in pages}
    index = (DECISIONS / "README.md").read_text(encoding="utf-8")

    assert re.findall(r"^\| \[\d+\]\((.+?)\) \| (.+) \|$", index, re.MULTILINE) == list(titles.items())


def test_every_decision_has_the_form() -> None:
    words = ("In the context of ", "facing ", "we decided ", "to achieve ", "accepting ", "## Consequences")
    pages = sorted(DECISIONS.glob("[0-9]*.md"))
    lacking = {
        page.name: missing
        for page in pages
        if (missing := [word for word in words if word not in " ".join(page.read_text(encoding="utf-8").split())])
    }

    assert lacking == {}


def test_every_recipe_is_listed() -> None:
    recipes = {path.name for path in (ROOT / "docs" / "howto").glob("*.md")} - {"README.md"}

    assert recipes == set(links(ROOT / "docs" / "howto" / "README.md")) - {"../language.md"}


def test_the_language_page_has_every_word_of_the_language() -> None:
    code = re.findall(r"```.*?```|`[^`\n]+`", (ROOT / "docs" / "language.md").read_text(encoding="utf-8"), re.DOTALL)
    shown = set(re.findall(r"\w+", " ".join(code)))
    words = {*CALLS, *STATEMENT_CALLS, "choose", "self"}

    assert words - shown == set()

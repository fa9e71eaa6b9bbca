"""The pages that `check --html` writes: what is in them, what no text can do to them, and that they are the same."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from checker.reporting.html.heatmap import heat_map
from checker.reporting.html.rendering import embedded
from tests.cli.running import Edit, Killpoint

_VOID = {"meta", "br", "input", "wbr", "link", "img", "hr", "col"}
_DECLARED = "  baseline: {breaks: [lit_once], because: it is lit without a look}\n"
_FLAWED = (("lit[1] = True\n        lightings += 1", "lit[1] = True\n        lightings += 2"),)


class Page(HTMLParser):
    """A page as a browser would take it apart, as far as these tests ask."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.texts: list[tuple[str, str]] = []
        self.misnested: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in _VOID and not self._inside_svg():
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        if self._inside_svg() and tag != "svg":
            return
        if not self.open or self.open.pop() != tag:
            self.misnested.append(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append((self.open[-1] if self.open else "", data))

    def _inside_svg(self) -> bool:
        return bool(self.open) and self.open[-1] == "svg"

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def words(self) -> str:
        return " ".join(" ".join(text for tag, text in self.texts if tag not in {"script", "style"}).split())


def _page(path: str = "page.html") -> Page:
    return Page(Path(path).read_text(encoding="utf-8"))


def _runs(path: str = "page.html") -> dict[str, Any]:
    found = re.search(r'id="runs-data">(.*?)</script>', Path(path).read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    document: dict[str, Any] = json.loads(found[1])
    return document


def test_a_page_is_whole_and_asks_nothing_of_anybody(killpoint: Killpoint) -> None:
    assert killpoint("check", "lamp.yaml", "--html", "page.html").code == 0

    page = _page()
    assert (page.misnested, page.open) == ([], [])
    ids = Counter(attributes["id"] for _, attributes in page.elements if "id" in attributes)
    assert [name for name, count in ids.items() if count > 1] == []
    aimed = [attributes["href"][1:] for attributes in page.all("a") if attributes["href"].startswith("#")]
    labels = [attributes["aria-labelledby"] for _, attributes in page.elements if "aria-labelledby" in attributes]
    assert set(aimed) | set(labels) <= ids.keys()
    assert [attributes for _, attributes in page.elements if "src" in attributes or "srcset" in attributes] == []
    assert page.all("link") == []
    assert page.all("img") == []
    policy = next(a["content"] for a in page.all("meta") if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'; ")


def test_a_page_says_what_was_checked_and_what_was_not(killpoint: Killpoint) -> None:
    killpoint("check", "lamp.yaml", "--html", "page.html")

    words = _page().words
    assert "✓ everything as declared" in words
    assert "killpoint check lamp.yaml --html FILE" in words
    assert "Not covered" in words
    assert "lost_reply: off" in words
    for part, command in (("matrix", "matrix"), ("sweep", "sweep"), ("mutate", "mutate")):
        if part != "sweep":  # the lamp declares none
            assert f"killpoint {command} lamp.yaml" in words
    assert "killpoint check lamp.yaml --paranoid" in words
    assert "killpoint check lamp.yaml --certify" in words


def test_what_is_wrong_stands_at_the_top_and_leads_to_its_run(killpoint: Killpoint, edit: Edit) -> None:
    name = edit(*_FLAWED)
    assert killpoint("check", name, "--html", "page.html").code == 1

    page = _page()
    assert "✗ not as declared" in page.words
    assert "Not as declared" in page.words
    runs = _runs()["runs"]
    linked = {int(attributes["data-run"]) for attributes in page.all("a") if "data-run" in attributes}
    assert linked == set(range(len(runs)))
    assert any(not run["good"] for run in runs)


def test_a_run_has_all_that_it_takes_to_know_every_state(killpoint: Killpoint, edit: Edit) -> None:
    name = edit(*_FLAWED)
    killpoint("check", name, "--html", "page.html")
    (document,) = killpoint("check", name, "--json").json["files"]

    data = _runs()
    claims = {claim["name"]: claim for claim in document["scenarios"] + document["mutants"]}
    compared = 0
    for run in data["runs"]:
        asked = next(p for p in claims[run["claim"]]["properties"] if p["name"] == run["property"])
        state = list(run["initial"])
        for row in (data["rows"][number] for number in run["rows"]):
            for slot, value in row["changes"].items():
                state[int(slot)] = value
        names = [name for name, _ in data["layouts"][run["layout"]]]
        final = {name: _written(value) for name, value in asked["trace"]["final"].items()}
        assert dict(zip(names, state, strict=True)) == final
        assert len(run["rows"]) == run["length"] + 1 == asked["length"] + 1
        compared += 1
    assert compared > 2


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


HOSTILE = Path(__file__).parent / "data" / "hostile.yaml"


@pytest.fixture
def hostile(killpoint: Killpoint) -> Path:
    """The page of a specification whose texts try everything."""
    name = "<i>'\"&\u202e.yaml"
    shutil.copy(HOSTILE, name)
    assert killpoint("check", name, "--html", "page.html").code == 0
    return Path("page.html").resolve()


def test_strangers_texts_are_never_markup(hostile: Path) -> None:
    text = hostile.read_text(encoding="utf-8")

    page = Page(text)
    assert (page.misnested, page.open) == ([], [])
    assert len(page.all("script")) == 2
    assert page.all("img") == page.all("b") == page.all("i") == []
    assert "<script>alert('title')</script>" in page.words
    assert "\"quoted\" 'twice'</b><!--" in page.words
    assert "\u202e" not in text
    assert "onerror=alert" in _runs(str(hostile))["runs"][0]["text"]


@pytest.mark.parametrize("text", ["</script>", "<!--<script>", "\x1b[31m", "\u202e", "\u2028", "\x00", "]]>", "&lt;"])
def test_data_cannot_end_its_element_or_hide_anything(text: str) -> None:
    written = embedded({text: [text]})

    assert not set(written) & set("<>&\x1b\u202e\u2028\x00")
    ((name, (value,)),) = json.loads(written).items()
    assert name == value
    assert value.isprintable()


def test_the_same_check_gives_the_same_bytes(killpoint: Killpoint) -> None:
    for name, more in (("first", ["--no-cache"]), ("second", ["--no-cache"]), ("third", [])):
        killpoint("check", "lamp.yaml", "--html", f"{name}.html", *more)

    first = Path("first.html").read_bytes()
    assert first == Path("second.html").read_bytes()
    assert first == Path("third.html").read_bytes()  # made from the cache


def test_a_directory_gets_a_page_each_and_an_index(killpoint: Killpoint) -> None:
    Path("below").mkdir()
    Path("below/lamp.yaml").write_text(Path("lamp.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    assert killpoint("check", "lamp.yaml", "below/lamp.yaml", "--html", "pages").code == 0

    assert {each.name for each in Path("pages").iterdir()} == {"index.html", "lamp.html", "lamp-2.html"}
    index = _page("pages/index.html")
    assert [a["href"] for a in index.all("a")][1:] == ["lamp.html", "lamp-2.html"]
    assert "2 files" in index.words


def test_one_page_is_not_for_several_files(killpoint: Killpoint) -> None:
    done = killpoint("check", "lamp.yaml", "two_phase_commit", "--html", "page.html")

    assert done.code == 2
    assert "name a directory" in done.words
    assert not Path("page.html").exists()


def test_parts_are_known_by_name_and_belong_to_a_page(killpoint: Killpoint) -> None:
    unknown = killpoint("check", "lamp.yaml", "--html", "page.html", "--with", "matrx")
    assert unknown.code == 2
    assert "`matrix`" in unknown.words
    assert killpoint("check", "lamp.yaml", "--with", "matrix").code == 2


def test_a_refused_file_leaves_no_old_page(killpoint: Killpoint) -> None:
    killpoint("check", "lamp.yaml", "--html", "page.html")
    Path("lamp.yaml").write_text("language: 1\nprotocol: <i>\n", encoding="utf-8")
    assert killpoint("check", "lamp.yaml", "--html", "page.html").code == 2

    page = _page()
    assert "nothing was checked" in page.words
    assert page.all("i") == []


def test_what_is_proved_stands_with_the_hash_of_what_was_confirmed(killpoint: Killpoint) -> None:
    assert killpoint("check", "lamp.yaml", "-s", "careless", "--html", "before.html").code == 0
    assert killpoint("check", "lamp.yaml", "-s", "careless", "--certify", "--html", "page.html").code == 0
    killpoint("prove", "lamp.yaml", "-s", "careless", "-o", "certificates")
    (folder,) = Path("certificates").iterdir()
    obligations = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["obligations"]
    files = [folder / each["file"] for each in obligations]
    listed = "".join(f"{each.stem} {sha256(each.read_bytes()).hexdigest()}\n" for each in files)

    assert "No certificate of these claims is remembered here" in _page("before.html").words
    assert sha256(listed.encode()).hexdigest() in _page().words


def test_a_graph_is_drawn_where_the_file_has_a_view(killpoint: Killpoint, edit: Edit) -> None:
    pytest.importorskip("graphlay", reason="the extra `pictures` is not installed")
    name = edit(("properties:\n", "views: {situation: [order]}\n\nproperties:\n"))
    killpoint("check", name, "--html", "page.html")
    killpoint("check", name, "--html", "again.html", "--no-cache")

    text = Path("page.html").read_text(encoding="utf-8")
    assert text == Path("again.html").read_text(encoding="utf-8")
    drawing = ET.fromstring(text[text.index("<svg") : text.index("</svg>") + len("</svg>")])
    assert "order=asked" in [element.text for element in drawing.iter()]


def test_a_page_weighs_little_more_than_what_it_says(killpoint: Killpoint) -> None:
    killpoint("check", "lamp.yaml", "--html", "page.html", "--with", "matrix")

    # Style and script are 21 kB, whatever else is on it.
    assert Path("page.html").stat().st_size < 80_000


def test_no_mutants_are_no_reassurance(killpoint: Killpoint, edit: Edit) -> None:
    name = edit(*_FLAWED)  # so that no scenario holds
    killpoint("check", name, "--html", "page.html", "--with", "mutate")

    words = _page().words
    assert "There are no mutants" in words
    assert "No survivor is unexplained" not in words


def _kill_points(data: dict[str, Any], run: int) -> list[str]:
    """Return before which labels somebody is killed in a run, in order."""
    actions = ["".join(text for _, text in data["rows"][row]["action"]) for row in data["runs"][run]["rows"]]
    return [action.rpartition(" ")[2] for action in actions if "CRASH" in action]


def _cells(path: str = "page.html") -> dict[str, int | None]:
    """Return the runs of the cells of the matrix, by what the cell says."""
    text = Path(path).read_text(encoding="utf-8")
    cells = re.findall(r'<td class="[^"]*h-\w+" title="(killed [^"]*)">(?:<a href="#player" data-run="(\d+)">)?', text)
    return {said: int(run) if run else None for said, run in cells}


def test_every_cell_that_crashes_come_to_has_a_run_through_them(killpoint: Killpoint) -> None:
    killpoint("check", "lamp.yaml", "--html", "page.html", "--with", "matrix")
    matrix = killpoint("matrix", "lamp.yaml", "--json").json

    data, cells = _runs(), _cells()
    assert len(cells) == 4 * (2 + 4)
    checked = 0
    for row in matrix["rows"]:
        for cell in (row["once"], *row["then"]):
            labels = [point.partition(".")[2] for point in cell["crashes"]]
            where = ", and later before ".join(cell["crashes"])
            often = "once, " if len(labels) == 1 else ""
            words = "nothing breaks" if cell["reached"] else "it never comes to that"
            run = cells[f"killed {often}before {where}: {words}"]
            assert (run is not None) == cell["reached"]
            if run is not None:
                assert _kill_points(data, run) == labels
                assert data["runs"][run]["good"]
                checked += 1
    assert checked > 8


def test_a_cell_that_breaks_has_the_run_that_it_counts(killpoint: Killpoint, edit: Edit) -> None:
    # Careless from the beginning, the lamp is lit twice by who is killed before recording it.
    name = edit(("careful: {default: true}", "careful: {default: false}"), ("  baseline: {}\n", _DECLARED))
    killpoint("check", name, "-s", "baseline", "--html", "page.html", "--with", "matrix")
    matrix = killpoint("matrix", name, "--json").json

    data, cells = _runs(), _cells()
    (broken,) = matrix["rows"][2]["once"]["broken"]
    run = cells[f"killed once, before hand.record: breaks lit_once after {broken['length']}"]
    assert run is not None
    assert (data["runs"][run]["property"], data["runs"][run]["length"]) == ("lit_once", broken["length"])
    assert _kill_points(data, run) == ["record"]
    often = cells[f"killed any number of times, before hand.record: breaks lit_once after {broken['length']}"]
    assert often is not None
    assert data["runs"][often]["length"] == broken["length"]
    alone = f"breaks lit_once after {broken['length']}, as one of the two does alone"
    assert cells[f"killed before hand.record, and later before hand.ask: {alone}"] is not None


def test_runs_of_cells_are_no_runs_of_claims(killpoint: Killpoint) -> None:
    killpoint("check", "lamp.yaml", "--html", "without.html")
    killpoint("check", "lamp.yaml", "--html", "page.html", "--with", "matrix")

    before, data = _runs("without.html"), _runs()
    assert before["listed"] == len(before["runs"]) == data["listed"] < len(data["runs"])
    assert data["runs"][: data["listed"]] == before["runs"]
    assert len({json.dumps(row) for row in data["rows"]}) == len(data["rows"])


def test_a_sweep_says_how_often_a_fault_may_happen(killpoint: Killpoint, edit: Edit) -> None:
    sweep = "\nsweep:\n  set: {careful: [false, true]}\n  allow: {crash: [unlimited, 0], lost_reply: [1, 0]}\n"
    last = "breaks: [lit_once, finishes]}\n"
    killpoint("check", edit((last, last + sweep)), "--html", "page.html", "--with", "sweep")

    words = _page().words
    assert "lost_reply ≤ 1" in words
    assert "crash = off" in words
    assert "= ≤" not in words


def test_what_no_state_reaches_is_no_failure_of_a_table(killpoint: Killpoint, edit: Edit) -> None:
    name = edit(("Order: [nothing, asked, done]", "Order: [nothing, asked, done, spare]"))
    assert killpoint("check", name, "--html", "page.html").code == 0

    assert "· no row fits: order=spare (not reached)" in _page().words


def test_without_kill_points_there_is_no_empty_matrix(killpoint: Killpoint) -> None:
    killpoint("check", "two_phase_commit", "--html", "page.html", "--with", "matrix")

    page = _page()
    assert "No fault crashes anybody here, so there are no kill points" in page.words
    assert "killed before" not in page.words


def test_what_a_cut_matrix_does_not_know_is_not_called_unbroken() -> None:
    matrix: dict[str, object] = {
        "rows": [],
        "without_crashes": {"broken": []},
        "needed": {"a": None, "b": None, "c": 2},
    }

    found = heat_map(matrix, ["a"], lambda _, __: None)

    assert (found["whole"], found["open"], found["needed"]) == (["a"], ["b"], [(2, "c")])


def test_what_was_asked_for_is_on_the_page(killpoint: Killpoint) -> None:
    assert killpoint("check", "lamp.yaml", "--html", "page.html", "--with", "matrix,mutate", "--paranoid").code == 0

    words = _page().words
    assert "And once more afterwards" in words
    assert "evaluator, columns and terms agree" in words
    assert "killpoint check lamp.yaml --paranoid --html FILE --with matrix,mutate" in words
    assert "made one change at a time" in words

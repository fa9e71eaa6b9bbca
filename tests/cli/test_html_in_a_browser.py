"""The pages of `check --html` in a real browser: stepping, keys, colours, and that nothing leaves the page."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.running import Edit, Killpoint

if TYPE_CHECKING:
    from playwright import sync_api
else:
    sync_api = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_FOUND = next((path for name in _NAMES if (path := shutil.which(name))), "")
_FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not _FOUND, reason=f"none of the browsers {', '.join(_NAMES)} is installed"),
]

HOSTILE = Path(__file__).parent / "data" / "hostile.yaml"

_ROUND = """\
language: 1
protocol: round
title: A lamp that blinks never stays on
stores: {lamp: {holds: {lit: {type: bool}, asked: {type: bool}, warm: {type: bool}}}}
processes:
  hand:
    steps:
      ask: asked = True
      on: lit = True
      off: |
        lit = False
        goto(on)
properties:
  warms: {leads_to: [asked, warm]}
scenarios:
  baseline: {breaks: [warms]}
"""


class Browser:
    """A browser that shows one page at a time and remembers what went wrong in it."""

    def __init__(self, browser: sync_api.Browser) -> None:
        self.browser = browser
        self.wrong: list[str] = []
        self.requests: list[str] = []

    def open(self, path: Path, **options: Any) -> sync_api.Page:
        page = self.browser.new_context(**options).new_page()
        page.on("console", lambda message: self.wrong.append(message.text))
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("dialog", self._dismiss)
        page.on("request", lambda request: self.requests.append(request.url))
        page.goto(path.as_uri())
        return page

    def _dismiss(self, dialog: sync_api.Dialog) -> None:
        self.wrong.append(dialog.message)
        dialog.dismiss()


@pytest.fixture(scope="module")
def started() -> Iterator[sync_api.Browser]:
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_FOUND, args=_FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def browser(started: sync_api.Browser) -> Iterator[Browser]:
    """Fails afterwards where a page said anything on the console, or asked for anything but itself."""
    shown = Browser(started)
    yield shown
    for context in started.contexts:
        context.close()
    assert shown.wrong == []
    assert [url for url in shown.requests if not url.startswith("file:") or not url.endswith(".html")] == []
    assert shown.requests


@pytest.fixture
def flawed(killpoint: Killpoint, edit: Edit) -> Path:
    name = edit(("lightings += 1", "lightings += 2"))
    assert killpoint("check", name, "--html", "page.html").code == 1
    return Path("page.html").resolve()


def _step(page: sync_api.Page) -> str:
    return str(page.locator("#status").inner_text()).split(":")[0]


def _value(page: sync_api.Page, name: str) -> str:
    return str(page.locator(f'#state [data-slot="{name}"]').inner_text())


def test_buttons_step_forward_and_back(browser: Browser, flawed: Path) -> None:
    page = browser.open(flawed)
    last = page.locator("#lanes tbody tr").count() - 1
    assert last > 2
    assert _step(page) == f"Step 0 of {last}"
    assert page.get_attribute("#back", "aria-disabled") == "true"
    assert (_value(page, "order"), _value(page, "lightings")) == ("nothing", "0")

    page.click("#forward")
    page.click("#forward")
    assert _step(page) == f"Step 2 of {last}"
    assert _value(page, "order") == "asked"
    page.click("#back")
    assert _value(page, "order") == "nothing"
    page.click("#last")
    assert _step(page) == f"Step {last} of {last}"
    assert _value(page, "lightings") == "2"
    assert page.get_attribute("#forward", "aria-disabled") == "true"
    page.click("#first")
    assert _value(page, "lightings") == "0"


def test_keys_step_forward_and_back(browser: Browser, flawed: Path) -> None:
    page = browser.open(flawed)
    page.focus("#lanes")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert _value(page, "order") == "asked"
    assert page.locator("#lanes tr[aria-current=step] td.n").inner_text() == "2"
    page.keyboard.press("ArrowLeft")
    assert _value(page, "order") == "nothing"
    page.keyboard.press("End")
    assert _value(page, "lightings") == "2"
    page.keyboard.press("Home")
    assert _step(page).startswith("Step 0 of ")


def test_a_run_is_chosen_by_its_link_and_by_the_list(browser: Browser, flawed: Path) -> None:
    page = browser.open(flawed)
    options = page.locator("#run option").count()
    assert options > 1
    page.select_option("#run", str(options - 1))
    assert page.locator("#run option:checked").inner_text().split(":")[0] in page.locator("#claims").inner_text()
    page.locator("#claims .broken a[data-run]").first.click()
    assert "✗" in page.locator("#ends").inner_text()
    page.keyboard.press("ArrowRight")
    assert _step(page).startswith("Step 1 of ")


@pytest.fixture
def careless(killpoint: Killpoint, edit: Edit) -> Path:
    """A page with a matrix in which some cells break and others do not."""
    declared = "  baseline: {breaks: [lit_once], because: it is lit without a look}\n"
    name = edit(("careful: {default: true}", "careful: {default: false}"), ("  baseline: {}\n", declared))
    killpoint("check", name, "-s", "baseline", "--html", "page.html", "--with", "matrix")
    return Path("page.html").resolve()


def test_a_cell_is_played_by_a_click_and_leads_back(browser: Browser, careless: Path) -> None:
    page = browser.open(careless)
    listed = page.locator("#ends").inner_text()
    cell = page.locator(".points td.h-bad a").first
    cell.click()

    said = page.locator("#cell").inner_text()
    assert said.startswith("Cell of the kill-point matrix: killed once, before hand.record: breaks lit_once after ")
    assert not page.locator("#run").is_visible()
    assert page.locator(".heat td.played").count() == 1
    page.keyboard.press("End")
    assert _value(page, "lightings") == "2"
    page.click("#to-cell")
    assert cell.evaluate("link => link === document.activeElement")
    page.click("#to-runs")
    assert page.locator("#run").is_visible()
    assert not page.locator("#cell").is_visible()
    assert page.locator("#ends").inner_text() == listed
    assert page.locator(".heat td.played").count() == 0


def test_cells_of_pairs_are_reached_by_keys(browser: Browser, careless: Path) -> None:
    page = browser.open(careless)
    square = page.locator("table.square")
    assert square.locator("a").count() == 3 * 3  # who is careless never looks, and is not killed before that
    assert square.locator('a:not([tabindex="-1"])').count() == 1  # one stop, then arrows
    square.locator("a").first.focus()
    for key in ("ArrowLeft", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement.closest('td').title").startswith(
        "killed before hand.light, and later before hand.light: "
    )
    page.keyboard.press("Enter")
    assert "killed before hand.light, and later before hand.light" in page.locator("#cell").inner_text()
    page.keyboard.press("End")
    assert "CRASH of hand before light" in page.locator("#status").inner_text()


def test_a_page_whose_claims_have_no_runs_plays_cells(browser: Browser, killpoint: Killpoint, edit: Edit) -> None:
    name = edit(('  can_finish: {possible: "order == done"}\n', ""))
    killpoint("check", name, "-s", "baseline", "--html", "page.html", "--with", "matrix")

    page = browser.open(Path("page.html").resolve())
    assert not page.locator("#stage").is_visible()
    page.locator(".points td.h-good a").first.click()
    assert page.locator("#stage").is_visible()
    assert not page.locator("#to-runs").is_visible()


def test_a_lasso_goes_round(browser: Browser, killpoint: Killpoint) -> None:
    Path("round.yaml").write_text(_ROUND, encoding="utf-8")
    assert killpoint("check", "round.yaml", "--html", "page.html").code == 0

    page = browser.open(Path("page.html").resolve())
    assert page.locator("#lanes tr.goes-round").count() == 1
    page.click("#last")
    at_the_end = page.locator("#state").inner_text()
    page.click("#forward")
    assert "round 2" in page.locator("#status").inner_text()
    page.click("#last")
    assert page.locator("#state").inner_text() == at_the_end
    page.click("#first")
    assert "round" not in page.locator("#status").inner_text()


def test_colours_follow_the_system_until_somebody_switches(browser: Browser, flawed: Path) -> None:
    back = "getComputedStyle(document.body).backgroundColor"
    page = browser.open(flawed, color_scheme="dark")
    dark = page.evaluate(back)
    light = browser.open(flawed, color_scheme="light").evaluate(back)
    assert dark != light
    page.click("#theme")
    assert page.evaluate(back) == light
    page.reload()
    assert page.evaluate(back) == light


def test_claims_are_found_by_text(browser: Browser, flawed: Path) -> None:
    page = browser.open(flawed)
    every = page.locator("tbody.claim:visible").count()
    page.fill("#filter", "baseline")
    assert 0 < page.locator("tbody.claim:visible").count() < every
    page.fill("#filter", "nothing has this text")
    assert page.locator("tbody.claim:visible").count() == 0


def test_a_narrow_window_scrolls_only_downwards(browser: Browser, flawed: Path) -> None:
    page = browser.open(flawed, viewport={"width": 380, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 380


def test_on_a_phone_no_verdict_is_beyond_the_edge(browser: Browser, careless: Path) -> None:
    page = browser.open(careless, viewport={"width": 380, "height": 800})
    for cells in (".claims tr:not(.more) td", ".points td.cell"):
        boxes = [cell.bounding_box() for cell in page.locator(cells).all()]
        assert boxes
        assert all(box is not None and box["x"] >= 0 and box["x"] + box["width"] <= 380 for box in boxes)


def test_a_point_is_named_whole_above_the_pairs(browser: Browser, killpoint: Killpoint, edit: Edit) -> None:
    killpoint("check", edit(("look", "look_whether_it_is_lit_already")), "--html", "page.html", "--with", "matrix")
    page = browser.open(Path("page.html").resolve())
    cut = "name => name.scrollHeight > name.clientHeight + 1 || name.scrollWidth > name.clientWidth + 1"
    names = page.locator(".tall").all()
    assert names
    assert not any(name.evaluate(cut) for name in names)


def test_strangers_texts_do_nothing(browser: Browser, killpoint: Killpoint) -> None:
    shutil.copy(HOSTILE, "hostile.yaml")
    killpoint("check", "hostile.yaml", "--html", "page.html")

    page = browser.open(Path("page.html").resolve())
    assert page.title().startswith("</script></title><script>alert('title')</script><!--")
    page.click("#last")
    assert "<img src=x onerror=alert('json')>" in page.locator("#ends").inner_text()

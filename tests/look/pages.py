"""The report's pages in headless Chromium; `make look` runs this, `make test` does not.

The pages are those of a made-up site in which everything occurs, and those of `reports/` if there are any. Screenshots
at all widths are left in `build/look`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

sys.path.insert(0, str(Path(__file__).parent))
from made_site import ITEMS, write_site

ROOT = Path(__file__).resolve().parents[2]
SHOTS = ROOT / "build" / "look"
WIDTHS = (1800, 1300, 400)
#: The width of a sheet between its margins: A4, 186 mm at 96 pixels an inch; and the most sheets of a paper.
PAPER, SHEETS = 703, 20
REPORTS = sorted((ROOT / "reports").glob("**/*.html"))
MADE = ("index.html", "made/index.html", "made/items.html")
Open = Callable[..., Page]


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    write_site(folder)
    return folder


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Open]:
    """Opens a page; whatever it logs, or asks of a network, fails the test."""
    contexts, complaints = [], list[str]()

    def opened(path: Path, width: int = 1300, script: bool = True, **settings: str) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            java_script_enabled=script,
            **settings,  # type: ignore[arg-type]
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: None if request.url.startswith("file:") else complaints.append(request.url))
        page.goto(path.as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not complaints


def pages(site: Path) -> dict[str, Path]:
    return {name: site / name for name in MADE} | {str(path.relative_to(ROOT)): path for path in REPORTS}


NAMES = [*MADE, *(str(path.relative_to(ROOT)) for path in REPORTS)]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_no_wider_than_the_screen(site: Path, open_page: Open, name: str, width: int) -> None:
    page = open_page(pages(site)[name], width)
    SHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SHOTS / f"{name.replace('/', '_')}_{width}.png", full_page=True)
    for details in page.locator("details").all():
        details.evaluate("each => each.open = true")
    assert page.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.parametrize("name", NAMES)
def test_on_paper_nothing_is_folded_or_cut_or_to_be_clicked(site: Path, open_page: Open, name: str) -> None:
    page = open_page(pages(site)[name], PAPER, color_scheme="dark")
    page.emulate_media(media="print")
    assert page.evaluate("document.documentElement.scrollWidth") <= PAPER
    assert not page.evaluate(
        "[...document.querySelectorAll('nav, form, button')].filter(each => each.checkVisibility()).length"
    )
    assert not page.evaluate(
        "[...document.querySelectorAll('details :not(summary)')].filter("
        "each => !each.closest('[hidden], .screen') && each.textContent.trim() && !each.getClientRects().length).length"
    )
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(255, 255, 255)"


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith("/index.html") or name == "index.html"])
def test_a_paper_is_printed_on_few_sheets(site: Path, open_page: Open, name: str) -> None:
    printed = open_page(pages(site)[name]).pdf(prefer_css_page_size=True)
    assert 0 < len(re.findall(rb"/Type\s*/Page\b", printed)) <= SHEETS


@pytest.mark.parametrize("name", NAMES)
def test_the_navigation_stays_in_sight(site: Path, open_page: Open, name: str) -> None:
    for width in WIDTHS:
        page = open_page(pages(site)[name], width)
        page.evaluate("scrollTo(0, document.documentElement.scrollHeight / 2)")
        box = page.locator("nav.bar").bounding_box()
        assert box and 0 <= box["y"] < 50


@pytest.mark.parametrize("name", NAMES)
def test_no_heading_of_a_table_breaks_inside_a_word(site: Path, open_page: Open, name: str) -> None:
    """A word that breaks has boxes on several lines."""
    page = open_page(pages(site)[name], PAPER)
    for media in ("screen", "print"):
        page.emulate_media(media=media)
        broken = page.evaluate(
            """[...document.querySelectorAll('thead th')].filter(each => each.checkVisibility()).flatMap(each => {
                const walker = document.createTreeWalker(each, NodeFilter.SHOW_TEXT), found = []
                for (let text; (text = walker.nextNode());)
                    for (const { 0: word, index } of text.data.matchAll(/[^\\s_/-]+/g)) {
                        const range = document.createRange()
                        range.setStart(text, index), range.setEnd(text, index + word.length)
                        const tops = [...range.getClientRects()].map(box => Math.round(box.top))
                        if (new Set(tops).size > 1) found.push(word)
                    }
                return found
            })"""
        )
        assert not broken


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("name", NAMES)
def test_axe_finds_nothing_serious(site: Path, open_page: Open, name: str, colours: str) -> None:
    page = open_page(pages(site)[name], color_scheme=colours)
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    found = Axe().run(page).response["violations"]
    serious = [f"{one['id']}: {one['nodes'][0]['html']}" for one in found if one["impact"] in ("serious", "critical")]
    assert not serious


@pytest.mark.parametrize("name", NAMES)
def test_every_link_to_a_page_or_a_place_of_the_site_leads_there(site: Path, open_page: Open, name: str) -> None:
    page = open_page(pages(site)[name])
    folder = pages(site)[name].parent
    hrefs = page.evaluate("[...document.querySelectorAll('a[href]')].map(each => each.getAttribute('href'))")
    for href in {each for each in hrefs if each.startswith("#")}:
        assert page.locator(f'[id="{href[1:]}"]').count() == 1, href
    for href in {each for each in hrefs if each.endswith("items.html") or each.endswith("/index.html")}:
        assert "other" in href or (folder / href).exists(), href


def test_a_reason_is_reached_by_keyboard_and_seen(site: Path, open_page: Open) -> None:
    page = open_page(site / "made/index.html", 400)
    link = page.locator("#table-2 a.why").first
    link.focus()
    page.keyboard.press("Enter")
    note = page.locator(":target")
    assert note.inner_text() == "a no reference rhymes"
    assert note.evaluate(
        "each => each.getBoundingClientRect().top >= 0 && each.getBoundingClientRect().top < innerHeight"
    )


def test_every_scrolling_region_is_reached_by_keyboard(site: Path, open_page: Open) -> None:
    page = open_page(site / "made/index.html", 400)
    unreached = page.evaluate(
        "[...document.querySelectorAll('*')].filter(each => each.scrollWidth > each.clientWidth + 1"
        " && ['auto', 'scroll'].includes(getComputedStyle(each).overflowX) && each.tabIndex < 0).length"
    )
    assert unreached == 0


def ids(page: Page) -> list[str]:
    return page.locator("#items h2").all_inner_texts()


def test_items_are_paged_and_the_address_keeps_the_place(site: Path, open_page: Open) -> None:
    page = open_page(site / "made/items.html")
    assert ids(page) == [f"item-{place:03d}" for place in range(20)]
    page.get_by_role("button", name="Next").first.click()
    page.get_by_role("button", name="Next").first.click()
    assert ids(page) == [f"item-{place:03d}" for place in range(40, ITEMS)]
    assert page.get_by_role("button", name="Next").first.is_disabled()
    assert page.get_by_role("status").inner_text() == f"Items 41 to {ITEMS} of {ITEMS}"
    page.reload()
    assert ids(page)[0] == "item-040"


def test_items_are_searched_in_the_texts_that_are_shown(site: Path, open_page: Open) -> None:
    page = open_page(site / "made/items.html")
    page.get_by_label("Contains").fill("MADE_ONE text 12 ")
    assert ids(page) == ["item-012"]
    page.get_by_label("One", exact=True).uncheck()
    assert ids(page) == [] and page.get_by_role("status").inner_text() == "No item contains this."
    page.get_by_label("Contains").fill("reference 12")
    assert ids(page) == ["item-012"]
    assert page.locator("#items dt").all_inner_texts() == ["source", "reference", "Two"]


def test_the_address_keeps_which_runs_are_shown(site: Path, open_page: Open) -> None:
    page = open_page(site / "made/items.html")
    page.get_by_role("checkbox", name="One").uncheck()
    assert page.url.endswith("#without=made_one")
    page.reload()
    assert (
        not page.get_by_role("checkbox", name="One").is_checked()
        and page.get_by_role("checkbox", name="Two").is_checked()
    )
    assert page.locator("#items article").first.locator("dt").all_inner_texts() == ["source", "reference", "Two"]
    page.goto(page.url.split("#")[0] + "#page=2")
    assert page.get_by_role("checkbox", name="One").is_checked() and ids(page)[0] == "item-020"


def test_items_are_ordered_by_a_score_of_a_run(site: Path, open_page: Open) -> None:
    page = open_page(site / "made/items.html")
    page.get_by_label("Order").select_option(label="G 0 Score 0, best first")
    assert ids(page)[:2] == [f"item-{ITEMS - 1:03d}", f"item-{ITEMS - 2:03d}"]
    page.get_by_label("Order").select_option(label="G 0 Score 0, worst first")
    assert ids(page)[0] == "item-000"


def test_trees_of_a_script_are_those_of_the_page(site: Path, open_page: Open) -> None:
    """The paper's page draws the first item in Python, the other page in JavaScript."""
    drawn = open_page(site / "made/index.html").locator("#trees .trees").first
    page = open_page(site / "made/items.html")
    page.locator("summary", has_text="Trees").first.click()
    scripted = page.locator(".trees").first
    assert drawn.locator(".tree").count() == 3
    for kind in ("figcaption", ".tree"):
        of_page, of_script = (
            each.locator(kind).evaluate_all("all => all.map(one => one.outerHTML)") for each in (drawn, scripted)
        )
        assert of_page == of_script


def test_words_of_a_dependency_tree_stand_in_their_order(site: Path, open_page: Open) -> None:
    words = open_page(site / "made/index.html").locator("#trees .heads").first.locator(".word")
    places = words.evaluate_all("all => all.map(one => [one.textContent, one.getBoundingClientRect().left])")
    assert [word for word, _ in sorted(places, key=lambda place: place[1])] == ["cows", "sleep", "."]


def test_markup_in_a_text_is_text(site: Path, open_page: Open) -> None:
    page = open_page(site / "made/items.html")
    assert "<script>throw" in page.locator("#items article").nth(7).inner_text()
    assert page.locator("#items img, #items script").count() == 0


def test_without_a_script_items_can_be_read_and_no_control_is_shown(site: Path, open_page: Open) -> None:
    page = open_page(site / "made/items.html", script=False)
    assert ids(page) == [f"item-{place:03d}" for place in range(20)]
    assert "shows the first 20 items" in page.locator("main").inner_text()
    assert not page.locator(".controls").is_visible() and not page.get_by_role("button").first.is_visible()

"""`espalier demo` in headless Chromium: opened, used by mouse and keyboard, and photographed.

`make look` runs this, `make test` does not. It needs the nursery's models (`make repro`). Screenshots are left in
`build/look`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("gradio", reason="the extra demo is not installed")
pytest.importorskip("playwright", reason="the extra look is not installed")
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

sys.path.insert(0, str(Path(__file__).parent))
from demo_server import ROOT, served

from espalier.cli.demo.tabs import TABS, Tab

SHOTS = ROOT / "build" / "look"
#: Milliseconds of an answer, with its model's loading, on a busy machine.
ANSWER = 120_000
#: What an answer of each tab has.
SIGNS = {
    "Verse": ".verse .rhyme", "Polish": ".verse", "Paraphrase": ".tree", "Granularity": ".shades",
    "Reply": ".tree.heads", "Template": "table u", "Check": "mark",
}  # fmt: skip
pytestmark = pytest.mark.skipif(
    not (ROOT / "data/models").is_dir(), reason="the nursery's models are not made: make repro"
)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with served() as found:
        yield found


@pytest.fixture(params=[1200, 400])
def page(request: pytest.FixtureRequest, address: str, browser: Browser) -> Iterator[Page]:
    """The page at two widths. Errors that it logs, or a request of a network, fail the test."""
    complaints: list[str] = []
    context = browser.new_context(viewport={"width": request.param, "height": 900})
    opened = context.new_page()
    opened.on("console", lambda each: complaints.append(each.text) if each.type == "error" else None)
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    local = (address, "data:", "blob:", address.replace("http", "ws"))
    opened.on("request", lambda each: None if each.url.startswith(local) else complaints.append(each.url))
    opened.goto(address)
    expect(opened.locator(".verse").first).to_be_visible(timeout=ANSWER)
    yield opened
    context.close()
    assert not complaints


def choose(page: Page, tab: Tab) -> None:
    """Open a tab; in a narrow window some are in a menu."""
    if not page.get_by_role("tab", name=tab.title, exact=True).is_visible():
        page.locator(".overflow-menu > button").click()
        page.locator(".overflow-dropdown button", has_text=tab.title).click()
        return
    page.get_by_role("tab", name=tab.title, exact=True).click()


@pytest.mark.parametrize("tab", TABS, ids=lambda tab: tab.title)
def test_a_tab_answers_and_shows_its_command_and_the_page_stays_as_wide_as_the_window(page: Page, tab: Tab) -> None:
    choose(page, tab)
    panel = page.get_by_role("tabpanel").locator("visible=true")
    if tab.title == "Polish":
        panel.locator("button[data-place='0']").click()
        expect(panel.get_by_label("template (argument)")).to_have_value("_" + str(tab.first["template"])[1:])
    panel.get_by_role("button", name=tab.verb, exact=True).click()
    expect(panel.locator(f".answer {SIGNS[tab.title]}").first).to_be_visible(timeout=ANSWER)
    expect(panel.locator(".typed code")).to_contain_text(f"espalier {tab.command.__name__.lower()} ")
    expect(page.locator(".pending")).to_have_count(0, timeout=ANSWER)  # it is faded until then
    width = page.viewport_size["width"]  # type: ignore[index]
    SHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SHOTS / f"demo_{tab.title.lower()}_{width}.png", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = Axe().run(page).response["violations"]
    serious = [f"{one['id']}: {one['nodes'][0]['html']}" for one in found if one["impact"] in ("serious", "critical")]
    assert not serious


def test_a_verse_is_polished_by_keyboard_alone(page: Page) -> None:
    choose(page, TABS[1])
    panel = page.get_by_role("tabpanel").locator("visible=true")
    verse = str(TABS[1].first["template"])
    panel.locator("button[data-place='0']").focus()
    page.keyboard.press("Enter")
    template = panel.get_by_label("template (argument)")
    expect(template).to_have_value("_" + verse[1:])
    expect(panel.locator("button[data-place='0']")).to_be_focused()  # of the new picture
    page.keyboard.press("Enter")
    expect(template).to_have_value(verse)
    page.keyboard.press("Enter")
    expect(template).to_have_value("_" + verse[1:])
    template.focus()
    page.keyboard.press("Enter")
    expect(panel.locator(".answer .verse")).to_be_visible(timeout=ANSWER)


def test_a_mistake_is_said_in_the_words_of_the_command_line(page: Page) -> None:
    panel = page.get_by_role("tabpanel").locator("visible=true")
    panel.get_by_label("--format").fill("x")
    panel.get_by_role("button", name="Write", exact=True).click()
    expect(panel.locator(".problem")).to_contain_text("counts look like 5,5。7,5。", timeout=ANSWER)

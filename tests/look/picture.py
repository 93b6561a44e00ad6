"""README's picture: the last item with trees of GuiG's report. `make picture` writes docs/report.png."""

from __future__ import annotations

import shutil
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[2]
PAGE, PICTURE = ROOT / "reports/guig/index.html", ROOT / "docs/report.png"
WIDTH, MARGIN = 1100, 16


def main() -> None:
    """Write the picture from the reports of the nursery."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": 900})
        page.goto(PAGE.as_uri())
        # The nursery's scores are no evidence, and differ between processors.
        page.add_style_tag(content=".scores-of { display: none !important }")
        item, trees = (page.locator(f"#trees {part}").last.bounding_box() for part in (".item", ".trees"))
        assert item is not None and trees is not None
        top, bottom = item["y"] - MARGIN, trees["y"] + trees["height"] + MARGIN
        clip = {"x": 0, "y": top, "width": WIDTH, "height": bottom - top}
        page.screenshot(path=PICTURE, full_page=True, clip=clip)  # type: ignore[arg-type]
        browser.close()


if __name__ == "__main__":
    main()

"""README's picture: the demo with a verse by the released model. `make picture` writes docs/demo.png."""

from __future__ import annotations

import shutil

from demo_server import ROOT, served
from playwright.sync_api import sync_playwright

PICTURE = ROOT / "docs/demo.png"
WIDTH, MARGIN = 1000, 16


def main() -> None:
    """Write the picture."""
    with served() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": 900})
        page.goto(address)
        page.locator(".verse").first.wait_for(timeout=120_000)
        command = page.locator(".typed code").first.bounding_box()
        assert command is not None
        clip = {"x": 0, "y": 0, "width": WIDTH, "height": command["y"] + command["height"] + MARGIN}
        page.screenshot(path=PICTURE, full_page=True, clip=clip)  # type: ignore[arg-type]
        browser.close()


if __name__ == "__main__":
    main()

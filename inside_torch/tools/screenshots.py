"""Pictures of every page of the built site, for people to look at: `make screenshots`."""

import shutil
from itertools import product
from pathlib import Path

from playwright.sync_api import sync_playwright

from inside_torch.edition import ROOT, Edition
from inside_torch.tools import browser

WIDTHS, THEMES = (360, 1280), ("light", "dark")
TALL = 3000  # px of one picture; a longer page becomes several


def take(page, url: str, stem: str, folder: Path) -> None:
    """Write a page from top to bottom as PNG files `stem-1.png`, `stem-2.png` and so on."""
    page.goto(url)
    page.wait_for_load_state("networkidle")
    width, height = page.evaluate("[innerWidth, document.documentElement.scrollHeight]")
    for number, top in enumerate(range(0, height, TALL), 1):
        clip = {"x": 0, "y": top, "width": width, "height": min(TALL, height - top)}
        page.screenshot(path=folder / f"{stem}-{number}.png", full_page=True, clip=clip)


def main() -> None:
    """Empty the folder and fill it anew."""
    folder = Edition().cache / "screenshots"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    pages = sorted((ROOT / "site").glob("*.html"))
    with sync_playwright() as playwright, browser.served(ROOT / "site") as address:
        launched = playwright.chromium.launch(executable_path=browser.chromium(), args=browser.FLAGS)
        for width, theme in product(WIDTHS, THEMES):
            context = launched.new_context(viewport={"width": width, "height": 900}, color_scheme=theme)
            for file in pages:
                take(context.new_page(), f"{address}/{file.name}", f"{file.stem}-{width}-{theme}", folder)
        launched.close()
    print(f"{len(list(folder.iterdir()))} pictures of {len(pages)} pages in {folder}")


if __name__ == "__main__":
    main()

"""Lighthouse's verdict on every page: `make lighthouse`.

Not part of `make test`: it is no Python package. What it measures that a test can measure as well is in
tests/test_browser.py.
"""

import json
import os
import shutil
import subprocess
import sys

from inside_torch.book import Book
from inside_torch.edition import ROOT
from inside_torch.tools import browser

VERSION = "12"  # npm's major version
WANTED = {"accessibility": 100, "best-practices": 100, "performance": 95}


def verdict(url: str) -> dict[str, float]:
    """Scores (0 to 100) and the total blocking time in ms, as Lighthouse finds them on its slowed-down phone."""
    program = ["lighthouse"] if shutil.which("lighthouse") else ["npx", "--yes", f"lighthouse@{VERSION}"]
    asked = ["--quiet", "--output=json", f"--only-categories={','.join(WANTED)}"]
    ran = subprocess.run(
        [*program, url, *asked, f"--chrome-flags=--headless {' '.join(browser.FLAGS)}"],
        env=os.environ | {"CHROME_PATH": browser.chromium() or ""},
        capture_output=True,
        text=True,
    )
    if ran.returncode:
        sys.exit(f"Lighthouse failed on {url}:\n{ran.stderr}")
    found = json.loads(ran.stdout)
    scores = {name: round(100 * one["score"]) for name, one in found["categories"].items()}
    return scores | {"blocking": found["audits"]["total-blocking-time"]["numericValue"]}


def main() -> None:
    """Print the verdicts; end with status 1 when a page has less than WANTED, or its scripts block."""
    bad = False
    with browser.served(ROOT / "site") as address:
        for page in Book.read().pages:
            found = verdict(f"{address}/{page.url}")
            print(page.name, ", ".join(f"{what} {value:.0f}" for what, value in found.items()), flush=True)
            bad |= any(found[name] < least for name, least in WANTED.items()) or found["blocking"] >= 150
    sys.exit(bad)


if __name__ == "__main__":
    main()

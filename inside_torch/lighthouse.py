"""Lighthouse's verdict on the home page, the heaviest chapter and the notebook: `make lighthouse`.

Not part of `make test`: it is no Python package. What it measures that a test can measure as well is in
tests/test_browser.py.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

from inside_torch import browser, edition

VERSION = "12"  # npm's major version


def verdict(url: str) -> dict[str, float]:
    """Scores (0 to 100) and the total blocking time in ms, as Lighthouse finds them on its slowed-down phone."""
    program = ["lighthouse"] if shutil.which("lighthouse") else ["npx", "--yes", f"lighthouse@{VERSION}"]
    asked = ["--quiet", "--output=json", "--only-categories=accessibility,best-practices,performance"]
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
    """Print the verdicts; end with status 1 when accessibility or best practices are below 100, or scripts block."""
    site = edition.ROOT / "site"
    heaviest = max((edition.ROOT / "docs").glob("*.md"), key=lambda page: (site / f"{page.stem}.html").stat().st_size)
    bad = False
    with browser.served(site) as address:
        for name in ("index", heaviest.stem, "tour"):
            found = verdict(f"{address}/{name}.html")
            print(name, ", ".join(f"{what} {value:.0f}" for what, value in found.items()))
            bad |= min(found["accessibility"], found["best-practices"]) < 100 or found["blocking"] >= 150
    sys.exit(bad)


if __name__ == "__main__":
    main()

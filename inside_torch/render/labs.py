"""Labs: their recordings, beside their scripts, to be loaded when a lab is touched."""

import json
from pathlib import Path

from inside_torch.build import Build
from inside_torch.render.figures import data_of

FOLDER = "labs"


def labs_of(build: Build) -> dict[str, dict]:
    """The labs of the book by name, each with its page's address under "page"."""
    figures = [(page, fence) for page in build.book.pages for fence in page.running if fence.info == "figure"]
    drawn = [(page, build.result(fence)) for page, fence in figures]
    found = [(page, data_of(result.output).get("lab")) for page, result in drawn if not result.failed]
    return {lab["name"]: lab | {"page": page.url} for page, lab in found if lab}


def write(site: Path, build: Build) -> None:
    """Write the recordings into a finished site: scripts, which a page in a folder can load as well."""
    for name, lab in labs_of(build).items():
        text = json.dumps(lab["recording"], ensure_ascii=False, separators=(",", ":"))
        file = site / FOLDER / f"{name}.data.js"
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"Labs.recordings['{name}'] = {text}\n", encoding="utf-8", newline="\n")

"""What a reader downloads to do an exercise anywhere: its files, all of them as a zip, and a notebook for Colab."""

import io
import re
import textwrap
import zipfile

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell

from inside_torch.book import Page
from inside_torch.edition import ROOT
from inside_torch.take.notebook import written
from inside_torch.take.prose import folded

FOLDER = ROOT / "examples" / "exercises"
TASK = re.compile(r"\A(.+?)^## The starter$", re.M | re.S)
HINT = re.compile(r'^\?\?\? tip "(.+)"\n((?:    .*\n|\n)+)', re.M)
CODE_OR_LINK = re.compile(r"```.*?```|`[^`\n]+`|\[(?P<shown>(?:`[^`\n]+`|[^]`])+)\]\((?!https?:)[^)]+\)", re.S)


def offered(page: Page) -> dict[str, bytes]:
    """What the page of an exercise, or of the ladder, offers, by its place in the site; nothing for other pages."""
    folder, _, name = page.stem.rpartition("/")
    if (FOLDER / folder / "rungs.py").exists():
        return {f"{folder}/{folder}.zip": zipped(rungs(folder))}
    if page.kind != "exercise" or not (FOLDER / name / "judge.py").exists():
        return {}
    made = files(name) | {f"{name}.zip": zipped(files(name)), f"do-{name}.ipynb": notebook(name).encode()}
    return {f"{folder}/{path}": content for path, content in made.items()}


def files(name: str) -> dict[str, bytes]:
    """The files of an exercise by name, `strides/start.py` for one; there, `python check.py start.py` checks it."""
    paths = FOLDER / name / "start.py", FOLDER / "check.py", FOLDER / name / "judge.py"
    return {f"{name}/{path.name}": path.read_bytes() for path in paths}


def rungs(folder: str) -> dict[str, bytes]:
    """The files of a ladder, and the toytorch that it extends, placed as in the book."""
    paths = FOLDER / "check.py", *FOLDER.glob(f"{folder}/rungs.py"), *(FOLDER.parent / "toytorch").glob("*.py")
    paths += (*FOLDER.glob(f"{folder}/*/start.py"), *FOLDER.glob(f"{folder}/*/judge.py"))
    return {f"{folder}/{path.relative_to(FOLDER.parent).as_posix()}": path.read_bytes() for path in sorted(paths)}


def zipped(files: dict[str, bytes]) -> bytes:
    """Files by name as a zip, the same bytes each time."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in files.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = 0o644 << 16
            archive.writestr(info, content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def notebook(name: str) -> str:
    """A notebook that does an exercise by itself: its cells write the files, and the last one checks."""
    text = (ROOT / "docs" / "exercises" / f"{name}.md").read_text(encoding="utf-8")
    text = CODE_OR_LINK.sub(lambda found: found["shown"] or found[0], text)  # without links that lead into the book
    start, check, judge = (
        new_code_cell(f"%%writefile {path.rpartition('/')[2]}\n{content.decode()}")
        for path, content in files(name).items()
    )
    cells = [
        new_markdown_cell(TASK.search(text)[1].strip()),
        new_markdown_cell("Run these two cells once. They write the check."),
        check,
        judge,
        new_markdown_cell("Write your solution into this cell, run it, then run the cell below it."),
        start,
        new_code_cell("import sys\n\n!{sys.executable} check.py start.py"),
        new_markdown_cell("\n\n".join(folded(title, textwrap.dedent(body)) for title, body in HINT.findall(text))),
    ]
    return nbformat.writes(written(cells)) + "\n"

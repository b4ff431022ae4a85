"""The book in other forms: each page as Markdown with its outputs, as a notebook and as a script; an index of
the Markdown for programs that read (llms.txt); and the whole site as one zip to open without a network."""

from __future__ import annotations

import html
import json
import re
import textwrap
import zipfile
from dataclasses import dataclass
from pathlib import Path

from inside_torch import citations, edition, gallery, overview, quiz, render
from inside_torch.cache import Cache, digest
from inside_torch.fences import Fence, fences
from inside_torch.pictures import checked_figure

ZIP = "inside-pytorch.zip"
SECTION = re.compile(r'--8<-- "(?P<file>[^":]+)(?::(?P<section>[\w-]+))?"')
CODE_OR_CITATION = re.compile(f"(?:{citations.INLINE_CODE.pattern})|{citations.TARGET.pattern}")
# What outlives a block: settings, registrations, caches and counters of the whole process. Such a block gets a
# process of its own, because in a notebook all cells share one.
PROCESS_WIDE = re.compile(
    r"torch\.(?:set_\w+|compile|export|compiler|library|_dynamo|_inductor|_functorch|_logging|distributed)\b"
    r"|\bset_\w+_(?:enabled|dtype|device)\b|\bregister_(?:module|optimizer)_\w+|\bcpp_extension\b|\b(?:logging|warnings|gc|weakref|profiler|profile)\b"
    r"|\bsys\.\w+|\bdis\b"
)
RUNNER = '''\
import os, subprocess, sys, tempfile


def run_alone(program):
    """Run a whole program in an interpreter of its own, as the book does."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "block.py")
        with open(path, "w") as file:
            file.write(program[1:])
        done = subprocess.run([sys.executable, path], text=True, capture_output=True)
    print(done.stdout, end="")
    print(done.stderr, end="", file=sys.stderr)
'''


@dataclass(frozen=True)
class Part:
    """A piece of a page: prose as Markdown, or (with `code`) a program and what it prints."""

    text: str
    code: bool = False
    output: str = ""


def fenced(text: str, info: str = "") -> str:
    """A Markdown fence around any text: longer than any row of backticks in it."""
    ticks = "`" * max(3, 1 + max(map(len, re.findall(r"`+", text)), default=0))
    return f"{ticks}{info}\n{text.rstrip()}\n{ticks}"


def cell(value) -> str:
    return str(value).replace("|", "\\|").replace("\n", " ")


def figure_as_text(svg: str) -> str:
    """A figure for those who cannot see it: its finding, its description and its data."""
    drawing = checked_figure(svg)
    title, description, data = (
        next(drawing.iter("{http://www.w3.org/2000/svg}" + name)).text for name in ("title", "desc", "metadata")
    )
    table = json.loads(data)
    rows = [table["columns"], ["---"] * len(table["columns"]), *table["rows"]]
    lines = ["| " + " | ".join(map(cell, row)) + " |" for row in rows]
    return f"*Figure: {title}.* {description}\n\n" + "\n".join(lines)


def quiz_as_text(asked: quiz.Quiz) -> tuple[str, str]:
    """A quiz as Markdown: what comes before its program, and what comes after."""
    wrong = "\n\n".join(f"Not this: {because}\n\n{fenced(answer, 'text')}" for answer, because in asked.wrong)
    return f"**Predict, then run.** {asked.question}", wrong


def listing(include: str) -> str:
    """The section of an example that a listing shows."""
    found = SECTION.search(include)
    text = (edition.ROOT / found["file"]).read_text(encoding="utf-8")
    if found["section"]:
        text = text.split(f"[start:{found['section']}]", 1)[1].partition("\n")[2]
        text = text.split(f"[end:{found['section']}]", 1)[0].rpartition("\n")[0]
    return textwrap.dedent("\n".join(line for line in text.splitlines() if "--8<--" not in line))


def cited(text: str) -> str:
    """The prose with its citations as the links they stand for; in code there are none."""
    return CODE_OR_CITATION.sub(
        lambda m: m[0].replace(f"src:{m[2]}", citations.citation(m[2]).link) if m[2] else m[0], text
    )


def fence_parts(fence: Fence) -> list[Part]:
    """A fence, as the parts of a page that it becomes."""
    if not fence.runs:
        if SECTION.fullmatch(fence.source.strip()):
            return [Part(fenced(listing(fence.source), "python"))]
        return [Part(fenced(fence.source, fence.info))]
    output = render.blocks().result(fence.info, fence.source).output
    if fence.info == "figure":
        return [Part(figure_as_text(output))]
    if fence.info == "quiz":
        before, after = quiz_as_text(quiz.parse(fence.source))
        return [Part(before), Part(fence.program, True, output), Part(after)]
    return [Part(fence.source, True, output)]


def parts(text: str) -> list[Part]:
    """A page of the book, taken apart."""
    lines, found, at = text.splitlines(), [], 0
    for fence in fences(text, "")[0]:
        found.append(Part(cited("\n".join(lines[at : fence.line - 1]))))
        found += fence_parts(fence)
        at = fence.line + (fence.source.count("\n") + 1) + 1
    found.append(Part(cited("\n".join(lines[at:]))))
    return [part for part in found if part.text.strip()]


def notebook_parts(text: str, page_html: str) -> list[Part]:
    """A page that is a notebook: its cells, and the outputs that stand in the built page."""
    import jupytext

    shown = re.findall(r'<div class="it-block">.*?</code></pre></div>(.*?)</div>', page_html, re.S)
    outputs = iter(["".join(f"{text}\n" for text in re.findall(r"<samp>(.*?)</samp>", one, re.S)) for one in shown])
    return [
        Part(one.source, True, html.unescape(next(outputs, ""))) if one.cell_type == "code" else Part(cited(one.source))
        for one in jupytext.reads(text, "py:percent").cells
    ]


def as_markdown(found: list[Part]) -> str:
    """The page with each output below its block."""
    made = []
    for part in found:
        made.append(fenced(part.text, "python") if part.code else part.text.strip("\n"))
        if part.output.strip():
            made.append(fenced(part.output, "text"))
    return "\n\n".join(made) + "\n"


def alone(program: str) -> str:
    """A block as a cell that runs it in a process of its own."""
    quote = "'''" if "'''" not in program else '"""'
    return f"run_alone(r{quote}\n{program}\n{quote})"


def as_notebook(found: list[Part], shared: bool):
    """The page as a notebook that first installs this edition's torch; `shared`: its cells need one another."""
    from nbformat import v4

    version = edition.torch_version()[0].partition("+")[0]
    cells = [v4.new_code_cell(f'%pip install --quiet "torch=={version}" "numpy>=2.1,<3" "pyyaml>=6,<7"')]
    apart = [part.code and not shared and bool(PROCESS_WIDE.search(part.text)) for part in found]
    if any(apart):
        cells.append(v4.new_code_cell(RUNNER.rstrip()))
    for part, separately in zip(found, apart):
        if part.code:
            printed = [v4.new_output("stream", name="stdout", text=part.output)] if part.output else []
            cells.append(v4.new_code_cell(alone(part.text) if separately else part.text, outputs=printed))
        else:
            cells.append(v4.new_markdown_cell(part.text.strip("\n")))
    for number, one in enumerate(cells, 1):
        one["id"] = f"cell-{number}"
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return v4.new_notebook(cells=cells, metadata={"kernelspec": kernel, "language_info": {"name": "python"}})


def file_names(page: str) -> dict[str, str]:
    """What the forms of a page are called. A script that is run as numpy.py would be imported as numpy."""
    return {"notebook": f"inside-{page}.ipynb", "script": f"inside-{page}.py", "Markdown": f"{page}.md"}


def forms(text: str, page_html: str, is_notebook: bool) -> dict[str, str]:
    """A page in its other forms, by the keys of `file_names`."""
    import jupytext

    found = notebook_parts(text, page_html) if is_notebook else parts(text)
    notebook = as_notebook(found, shared=is_notebook)
    return {
        "notebook": jupytext.writes(notebook, "ipynb"),
        "script": jupytext.writes(notebook, "py:percent"),
        "Markdown": as_markdown(found),
    }


def opening(markdown: str) -> str:
    """The first paragraph of a page, on one line, without its links."""
    paragraph = next((one for one in markdown.split("\n\n") if not one.startswith(("#", "```"))), "")
    return re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", " ".join(paragraph.split()))


def write_zip(site: Path) -> None:
    """The finished site as one file, the same bytes for the same site."""
    with zipfile.ZipFile(site / ZIP, "w", zipfile.ZIP_DEFLATED) as made:
        for path in sorted(site.rglob("*")):
            if path.is_file() and path.name != ZIP:
                info = zipfile.ZipInfo(f"inside-pytorch/{path.relative_to(site).as_posix()}")
                info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
                made.writestr(info, path.read_bytes())


def in_reading_order(files) -> list:
    """The pages as one turns them, then those that no turning reaches."""
    pages = [file.page for file in files.documentation_pages()]
    ordered, page = [], next((page for page in pages if page.next_page and not page.previous_page), None)
    while page:
        ordered.append(page)
        page = page.next_page
    return ordered + [page for page in pages if page not in ordered]


def write_forms(config, files) -> None:
    """Write every form of every rendered page, and llms.txt. Only for a book without failures."""
    site, cache = Path(config.site_dir), Cache(edition.CACHE / "forms")
    code = edition.hash_of_files([Path(__file__)])
    index = []
    for page in in_reading_order(files):
        source = Path(page.file.abs_src_path)
        text = overview.expanded(gallery.expanded(source.read_text(encoding="utf-8-sig")))
        key = digest(text, page.content, code)
        stored = cache.get(key)
        made = json.loads(stored) if stored else forms(text, page.content, source.suffix == ".py")
        if not stored:
            cache.put(key, json.dumps(made))
        name = page.file.url.removesuffix(".html")
        for form, file in file_names(name).items():
            path = site / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(made[form], encoding="utf-8", newline="\n")
        index.append(f"- [{page.title}]({config.site_url or ''}{name}.md): {opening(made['Markdown'])}")
    head = f"# {config.site_name}\n\n> {config.site_description}\n\n## Pages\n\n"
    (site / "llms.txt").write_text(head + "\n".join(index) + "\n", encoding="utf-8", newline="\n")

"""The files that readers take along: each page as a notebook, a script and Markdown, an index of the Markdown for
programs that read (llms.txt), and the whole site as one zip to open without a network."""

import html
from pathlib import Path

from nbformat import writes

from inside_torch.book import Page, reading_order
from inside_torch.build import Build
from inside_torch.edition import site_url
from inside_torch.render import changes, notebook, ten_lines
from inside_torch.run.cache import Cache
from inside_torch.take import exercise, figures
from inside_torch.take.markdown import as_markdown
from inside_torch.take.notebook import as_notebook, as_script
from inside_torch.take.parts import parts

ZIP = "inside-pytorch.zip"


def file_names(stem: str) -> dict[str, str]:
    """What the forms of a page are called. A script that is run as numpy.py would be imported as numpy."""
    folder, slash, name = stem.rpartition("/")
    start = f"{folder}{slash}inside-{name}"
    return {"notebook": f"{start}.ipynb", "script": f"{start}.py", "Markdown": f"{stem}.md"}


def forms(page: Page, build: Build, site: str = "") -> dict[str, str]:
    """A page in its other forms, by the keys of `file_names`; its links lead to `site`, else to files beside it."""
    seen, read = (parts(page, build, site, drawn) for drawn in (figures.as_picture, figures.as_text))
    made = as_notebook(seen, build.edition, page.kind == "notebook")
    return {"notebook": writes(made) + "\n", "script": as_script(made), "Markdown": as_markdown(read)}


def write(path: Path, content: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def write_forms(build: Build, config, pages: list, told: dict[str, Page]) -> None:
    """Write every form of every one of MkDocs' pages, and llms.txt. Only for a book without failures. `told` has the
    pages that say something of all others."""
    folder, site = Path(config.site_dir), site_url()
    cache = Cache(build.edition, "forms", "take", "citations", "run", "render")
    index, rendered = [], {page.file.src_uri: page for page in pages}
    order = [src for src in reading_order(build.book.root) if src in rendered]
    for src in dict.fromkeys([*order, *rendered]):  # as one turns the pages, then the others
        page, shown = told.get(src) or build.book.page(src), rendered[src]
        printed = [build.result(fence).output for fence in page.running]
        if page.kind == "notebook":
            printed = [build.blocks.result(notebook.program(page.text)).output]
        inputs = site, figures.style(), page.src, build.with_includes(page.text), *printed
        made = cache.memo(lambda page=page: forms(page, build, site), *inputs)
        named = {file: made[form] for form, file in file_names(page.stem).items()}
        for file, content in (named | exercise.offered(page)).items():
            write(folder / file, content)
        index.append(f"- [{shown.title}]({site}{page.stem}.md): {html.unescape(shown.meta['description'])}")
    if any(ten_lines.HERO in build.book.page(src).text for src in rendered):
        write(folder / ten_lines.MEASURES, ten_lines.measuring(build.book.root) + "\n")
    if build.others.torches:
        write(folder / changes.JSON, changes.as_json(build.others))
    head = f"# {config.site_name}\n\n> {config.site_description}\n\n## Pages\n\n"
    write(folder / "llms.txt", head + "\n".join(index) + "\n")


def write_zip(site: Path) -> None:
    """The finished site as one file, the same bytes for the same site."""
    paths = [path for path in sorted(site.rglob("*")) if path.is_file() and path.name != ZIP]
    named = {f"inside-pytorch/{path.relative_to(site).as_posix()}": path.read_bytes() for path in paths}
    write(site / ZIP, exercise.zipped(named))

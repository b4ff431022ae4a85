"""What MkDocs is asked to do beside rendering: start all blocks early, count them, stop on failures."""

from __future__ import annotations

import atexit
import hashlib
import html
import itertools
import logging
import os
import platform
import re
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

from jinja2 import FileSystemBytecodeCache
from mkdocs.exceptions import Abort
from mkdocs.utils import CountHandler
from tqdm import tqdm

from inside_torch import blocks, citations, dressing, edition, gallery, quiz, render, search_index, takeaway
from inside_torch.citations.markdown import in_html
from inside_torch.fences import Fence, Problem, fences

log = logging.getLogger("mkdocs.inside_torch")
SERVING = "INSIDE_TORCH_SERVING"  # `mkdocs serve` loads this file anew for each build; the environment stays
HIGHLIGHTED = '<div class="language-python highlight">'


def page_name(path: str | Path, config) -> str:
    """A page's path as an editor opens it: relative to the folder of mkdocs.yml."""
    return os.path.relpath(path, Path(config.config_file_path).parent)


def pages(config) -> Iterator[tuple[str, str, list[Fence], list[Problem]]]:
    """Every Markdown page of the book: its name, its text, its fences and the problems with them."""
    for path in sorted(Path(config.docs_dir).rglob("*.md")):
        name, text = page_name(path, config), gallery.expanded(path.read_text(encoding="utf-8-sig"))
        yield name, text, *fences(text, name)


def lock_site(folder: str) -> None:
    """Wait until no other build writes into `folder`; the lock goes with the process."""
    if sys.platform == "win32":
        return
    import fcntl

    name = hashlib.sha256(os.path.realpath(folder).encode()).hexdigest()[:16]
    edition.CACHE.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(edition.CACHE / f"site-{name}.lock", os.O_CREAT | os.O_RDWR)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        log.info("Waiting for another build of the same site")
        fcntl.flock(descriptor, fcntl.LOCK_EX)


def edition_stamp() -> str:
    """The line under every page: what printed it, and from which commit of the book."""
    version, commit = edition.torch_version()
    book = edition.book_commit()
    source = f"https://github.com/pytorch/pytorch/tree/{commit}"
    made = f"book {book[0][:10]} of {book[1]:%Y-%m-%d %H:%M} UTC" if book else "book without a commit"
    if repository := os.environ.get("REPO_URL"):
        made = f'<a href="{html.escape(repository)}">{made}</a>'
    return (
        f'Every output printed by <a href="{source}">torch {html.escape(version)} ({commit[:10]})</a>, '
        f"{platform.python_implementation()} {platform.python_version()}, "
        f"{platform.machine()} {platform.system()} · {made}"
    )


def show_progress(begun: list[Future]) -> None:
    """Show how the blocks come in: a bar on a terminal, a line now and then elsewhere."""
    terminal = sys.stderr.isatty()
    bar = tqdm(total=len(begun), desc="blocks", leave=False, disable=not begun or not terminal)
    numbers = itertools.count(1)

    def come_in(_: Future) -> None:
        number = next(numbers)
        bar.update()
        if number == len(begun):
            bar.close()
        if not terminal and (number == len(begun) or number % 25 == 0):
            log.info(f"{number} of {len(begun)} blocks have run")

    for future in begun:
        future.add_done_callback(come_in)


def on_startup(command: str, dirty: bool) -> None:
    """Remember whether failures are shown on their pages (`mkdocs serve`, `make drift`) or stop the build."""
    os.environ[SERVING] = "1" if command == "serve" or os.environ.get("INSIDE_TORCH_DRIFT") else ""
    atexit.register(render.blocks().close)


def on_config(config):
    """Start every block that is not cached, while MkDocs goes on; set the edition stamp."""
    if os.environ.get(SERVING):
        for handler in [h for h in logging.getLogger("mkdocs").handlers if isinstance(h, CountHandler)]:
            logging.getLogger("mkdocs").removeHandler(handler)  # not strict: what fails is shown on its page
    else:
        lock_site(config.site_dir)
    all_blocks = render.blocks()
    all_blocks.refresh()
    book_pages = list(pages(config))
    running = [fence for _, _, found, _ in book_pages for fence in found if fence.runs]
    begun = all_blocks.start((fence.info, fence.source) for fence in running)
    all_blocks.start(program for _, text, _, _ in book_pages for program in citations.programs(text))
    for _, text, _, _ in book_pages:
        citations.begin(text)
    log.info(f"{len(begun)} of {len(running)} blocks to run")
    show_progress(begun)
    for fence in running:
        if fence.info != "figure":
            render.source_html(fence.program)  # while the server imports torch
    if book := edition.book_commit():
        os.environ.setdefault("SOURCE_DATE_EPOCH", str(int(book[1].timestamp())))
    config.copyright = edition_stamp()
    os.environ.update(edition.PINNED)  # the notebook's kernel inherits them
    if plugin := config.plugins.get("mkdocs-jupyter"):
        plugin.config["cache_dir"] = str(edition.CACHE / "notebooks" / all_blocks.fingerprint[:16])
        plugin.config["execute"] = sys.executable == edition.PYTHON  # another interpreter may have no kernel
    return config


def on_page_markdown(markdown: str, page, config, files) -> str:
    """Put the problems of a page's fences at its top, where `mkdocs serve` shows them; the gallery at its marker."""
    path = Path(page.file.abs_src_path)
    _, problems = fences(path.read_text(encoding="utf-8-sig"), page_name(path, config))
    shown = "".join(f"<p>{html.escape(str(problem))}</p>" for problem in problems)
    return (f'<div class="it-failure" role="alert">{shown}</div>\n\n' if problems else "") + gallery.expanded(markdown)


def on_page_content(page_html: str, page, config, files) -> str:
    """Make a notebook look like the other pages; end a page that has quizzes with the reader's progress."""
    if page.file.src_uri.endswith(".md"):
        return page_html + quiz.progress_html(page_html)
    from inside_torch import notebooks  # it imports an HTML parser that no other page needs

    return notebooks.page(in_html(page_html), page_name(page.file.abs_src_path, config))


def on_page_context(context, page, config, nav):
    """Put links, buttons and the line about the page around what has been counted and proven."""
    page.content = dressing.dressed(page.content, page.file.url.removesuffix(".html"))
    return context


def on_post_page(output: str, page, config) -> str:
    """Mend what the theme leaves wrong."""
    return dressing.mended(output)


def on_post_template(output: str, template_name: str, config) -> str:
    """As `on_post_page`, for the page that says that there is no such page."""
    return dressing.mended(output) if template_name == "404.html" else output


def on_post_build(config) -> None:
    """Make the finished site one that works without a server; a page that is being edited can wait for that."""
    if not os.environ.get(SERVING):
        search_index.finish(Path(config.site_dir), Path(config.docs_dir))
        takeaway.write_zip(Path(config.site_dir))


def miscounted(page_html: str, name: str, found: list[Fence]) -> list[tuple[int, str]]:
    """Say where a rendered page shows another set of blocks than its source holds."""
    keys = {fence: render.blocks().key(fence.info, fence.source)[:12] for fence in found if fence.runs}
    surplus = Counter(re.findall(r'<div class="it-block(?: it-quiz)?" data-block="(\w+)">', page_html))
    missing = []
    for fence, key in keys.items():
        if not surplus[key]:
            missing.append((fence.line, f"{name}:{fence.line}: this block is not on the page"))
        surplus[key] -= 1
    highlighted = sum(fence.is_listing or fence.info in ("python", "quiz") for fence in found)
    if missing or surplus.total() != 0 or page_html.count(HIGHLIGHTED) != highlighted:
        return missing or [(1, f"{name}:1: the page shows Python that did not run")]
    return []


def lost_section(fence: Fence, name: str, rendered: dict[str, str]) -> list[tuple[int, str]]:
    """Say where a quiz refers to a section that the rendered pages do not have."""
    section, (page, anchor) = quiz.parse(fence.source).section, quiz.parse(fence.source).target
    target = os.path.normpath(os.path.join(os.path.dirname(name), page)) if page else name
    if f' id="{anchor}"' in rendered.get(target, ""):
        return []
    return [(fence.line, f"{name}:{fence.line}: there is no section `{section}` that could explain this quiz")]


def broken_formulas(page_html: str, name: str, text: str) -> list[tuple[int, str]]:
    """The formulas of a rendered page that could not be converted, with the line each begins on."""
    found = []
    for formula, message in re.findall(r'data-formula="([^"]*)">([^<]*)<', page_html):
        line = text[: text.find(html.unescape(formula))].count("\n") + 1
        found.append((line, f"{name}:{line}: {html.unescape(message)}"))
    return found


def broken_citations(page_html: str, name: str, text: str) -> list[tuple[int, str]]:
    """The citations of a rendered page that are not proven, at each line that has them."""
    broken = dict(re.findall(r'data-citation="([^"]*)">([^<]*)<', page_html))
    raw = re.findall(r'href="src:([^"]*)"', page_html)
    broken |= {reference: f"the citation src:{reference} is raw HTML, not a Markdown link" for reference in raw}
    cited, found = citations.references(text), []
    for reference, message in broken.items():
        for line in [line for line, one in cited if one == html.unescape(reference)] or [1]:
            found.append((line, f"{name}:{line}: {html.unescape(message)}"))
    return found


def failures(config, files) -> list[str]:
    """Every problem and every failed block of the book, in the order of its pages and lines."""
    rendered = {page_name(file.abs_src_path, config): file.page.content for file in files.documentation_pages()}
    texts = []
    for name, text, found, problems in pages(config):
        reports = [(problem.line, str(problem)) for problem in problems]
        for fence in found:
            if fence.runs and (result := render.blocks().result(fence.info, fence.source)).failed:
                reports.append((fence.line, blocks.report(name, fence.line, result)))
        if name in rendered:
            reports += broken_citations(rendered[name], name, text)
        if name in rendered and not problems:
            reports += miscounted(rendered[name], name, found)
            reports += [said for fence in found if fence.info == "quiz" for said in lost_section(fence, name, rendered)]
            reports += broken_formulas(rendered[name], name, text)
        texts += [said for _, said in sorted(reports)]
    for notebook, content in rendered.items():
        if not notebook.endswith(".md"):
            text = (Path(config.config_file_path).parent / notebook).read_text(encoding="utf-8-sig")
            texts += [said for _, said in sorted(broken_citations(content, notebook, text))]
        for name, message in re.findall(r'data-notebook="([^"]*)">([^<]*)<', content):
            texts.append(f"{name}:1: {html.unescape(message)}")
    return texts


def on_env(env, config, files):
    """Before anything is written: list every failure of the book, and stop unless we are serving."""
    (edition.CACHE / "templates").mkdir(parents=True, exist_ok=True)
    env.bytecode_cache = FileSystemBytecodeCache(str(edition.CACHE / "templates"))  # the theme compiles in 0.1 s
    texts = failures(config, files)
    for text in texts:
        log.error(text)
    if texts and not os.environ.get(SERVING):
        raise Abort(f"{len(texts)} failures: nothing was built")
    if not texts:
        takeaway.write_forms(config, files)
    return env

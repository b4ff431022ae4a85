"""MkDocs' events, and what of the book answers each; nothing else."""

from __future__ import annotations

import logging
import os
from pathlib import Path

from mkdocs.exceptions import Abort
from mkdocs.utils import CountHandler

from inside_torch import rules
from inside_torch.build import Build
from inside_torch.edition import Edition
from inside_torch.failures import all_told
from inside_torch.render import cards, moved, search
from inside_torch.render import page as pages
from inside_torch.run.lock import lock_site
from inside_torch.run.progress import show_progress
from inside_torch.take import files as taken

log = logging.getLogger("mkdocs.inside_torch")
SERVING = "INSIDE_TORCH_SERVING"  # `mkdocs serve` loads this file anew for each build; the environment stays


def on_startup(command: str, dirty: bool) -> None:
    """Remember whether failures are shown on their pages or stop the build."""
    os.environ[SERVING] = "1" if command == "serve" else ""


def on_config(config):
    """Run every block that is not cached. Who calls MkDocs with a Build in `extra` looks at its problems himself."""
    build = config.extra.setdefault("build", None) or Build(Edition(), Path(config.config_file_path).parent)
    config.extra |= {"build": build, "stops": not (config.extra["build"] or os.environ.get(SERVING))}
    if config.extra["stops"]:
        lock_site(build.edition, config.site_dir)
    for handler in logging.getLogger("mkdocs").handlers if not config.extra["stops"] else ():
        if isinstance(handler, CountHandler):  # not strict: what fails is shown on its page
            logging.getLogger("mkdocs").removeHandler(handler)
    show_progress(build.start(), sum(len(page.running) for page in build.book.pages))
    build.check_sources()
    pages.furnish(config, build)
    return config


def on_page_markdown(markdown: str, page, config, files) -> str:
    """Render the page's Markdown as the page of the book that it is."""
    build, src = config.extra["build"], page.file.src_uri
    config.mdx_configs["inside_torch.render.extension"] = {"build": build, "src": src}
    return build.book.page(src).body


def on_page_content(page_html: str, page, config, files) -> str:
    """Complete what was rendered, below what is wrong with it."""
    build, src = config.extra["build"], page.file.src_uri
    advice = rules.broken(build.book.page(src), build) if os.environ.get(SERVING) else []
    return pages.problems_html(build.book.page(src), advice) + pages.completed(page_html, build, page)


def on_env(env, config, files):
    """Before anything is written: list every problem of the book, and stop unless somebody else looks at them."""
    build = config.extra["build"]
    rendered = files.documentation_pages()
    build.check_html({file.src_uri: file.page.content for file in rendered})
    problems = all_told(build.book)
    for problem in problems:
        log.error(problem)
    if problems and config.extra["stops"]:
        raise Abort(f"{len(problems)} failures: nothing was built")
    if not problems:
        taken.write_forms(build, config, [file.page for file in rendered])
        pages.write_feed(env, config)
    return pages.remembered(env, build.edition)


def on_page_context(context, page, config, nav):
    """Put links, buttons and the line about the page around what has been counted and proven."""
    this = config.extra["build"].book.page(page.file.src_uri)
    page.content = pages.dressed(page.content, this, config.extra["imprint"])
    return context


def on_post_page(output: str, page, config) -> str:
    """Mend what the theme leaves wrong."""
    return pages.mended(output)


def on_post_template(output: str, template_name: str, config) -> str:
    """As `on_post_page`, for the page that says that there is no such page."""
    return pages.mended(output) if template_name.endswith(".html") else output


def on_post_build(config) -> None:
    """Write the search index, old addresses, and the zip, for which a page that is being edited can wait."""
    search.finish(Path(config.site_dir), config.extra["build"].book)
    moved.write(Path(config.site_dir), config.extra.get("moved", {}))
    if not os.environ.get(SERVING):
        taken.write_zip(Path(config.site_dir))
        cards.write(Path(config.site_dir), config.extra["imprint"])

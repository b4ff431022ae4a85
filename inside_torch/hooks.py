"""MkDocs' events, and what of the book answers each; nothing else."""

import os
from pathlib import Path

from inside_torch import failures, rules
from inside_torch.build import Build
from inside_torch.edition import Edition
from inside_torch.render import cards, moved
from inside_torch.render import page as pages
from inside_torch.run.lock import lock_site
from inside_torch.take import files as taken

SERVING = "INSIDE_TORCH_SERVING"  # `mkdocs serve` loads this file anew for each build; the environment stays


def on_startup(command: str, dirty: bool) -> None:
    """Remember that failures are shown on their pages, and stop no build."""
    os.environ.setdefault(SERVING, "1" if command == "serve" else "")


def on_config(config) -> None:
    """Run every block that is not cached."""
    build = config.extra["build"] = Build(Edition(), Path(config.config_file_path).parent)
    lock_site(build.edition, config.site_dir)
    if os.environ.get(SERVING):
        failures.stop_nothing()
    build.check_sources()
    pages.furnish(config, build)


def on_page_markdown(markdown: str, page, config, files) -> str:
    """Render the page's Markdown as the page of the book that it is."""
    build, src = config.extra["build"], page.file.src_uri
    config.mdx_configs["inside_torch.render.extension"] = {"build": build, "src": src}
    return build.book.page(src).body


def on_page_content(page_html: str, page, config, files) -> str:
    """Complete what was rendered, below what is wrong with it."""
    build = config.extra["build"]
    this = build.book.page(page.file.src_uri)
    advice = rules.broken(this, build) if os.environ.get(SERVING) else []
    return pages.problems_html(this, advice) + pages.completed(page_html, build, page)


def on_env(env, config, files):
    """List every problem of the book, and stop unless it is served; nobody takes along a book with problems."""
    build, rendered = config.extra["build"], [file.page for file in files.documentation_pages()]
    told = pages.finish(rendered, build)
    if not failures.reported(build.book, stop=not os.environ.get(SERVING)):
        taken.write_forms(build, config, rendered, told)
        pages.write_feed(env, config)
    return env


def on_page_context(context, page, config, nav) -> None:
    """Put links, buttons and the line about the page around what has been counted and proven."""
    this = config.extra["build"].book.page(page.file.src_uri)
    page.content = pages.dressed(page.content, this, config.extra["imprint"])


def on_post_page(output: str, page, config) -> str:
    """Mend what the theme leaves wrong."""
    return pages.mended(output)


def on_post_template(output: str, template_name: str, config) -> str:
    """As `on_post_page`, for the page that says that there is no such page."""
    return pages.mended(output) if template_name.endswith(".html") else output


def on_post_build(config) -> None:
    """Write what pages load, old addresses, and the zip, for which a page that is being edited can wait."""
    site = Path(config.site_dir)
    pages.write_assets(site, config.extra["build"])
    moved.write(site, config.extra.get("moved", {}))
    if not os.environ.get(SERVING):
        taken.write_zip(site)
        cards.write(site, config.extra["imprint"])

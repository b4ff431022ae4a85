"""What every page carries around its prose: links, copy buttons, the line about it, and who printed it."""

import functools
import html
import os
import platform
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment

from inside_torch.book import Page
from inside_torch.build import Build
from inside_torch.citations.markdown import in_html
from inside_torch.edition import Edition
from inside_torch.failures import told
from inside_torch.fences import Problem
from inside_torch.history import book_commit
from inside_torch.render import glossary, labs, learning, mathfont, notebook, search, ten_lines
from inside_torch.render.about import Imprint, about_html, description, with_files
from inside_torch.render.changes import folded_html
from inside_torch.render.fences import failure_html, numbered
from inside_torch.render.quiz import progress_html
from inside_torch.render.source import tools_html
from inside_torch.run.cache import digest

THEME = Path(__file__).resolve().parent.parent / "theme"
OTHER_CODE = re.compile(r'<div class="(language-(?!python)\w+ highlight)">(.*?)</code>', re.S)
SCRIPTED = "<head><script>document.documentElement.className = 'js js-focus-visible'</script>"
# What of the theme makes a browser style or measure the whole page again on every visit, and what stands there instead.
SLOW = {
    "palette": {  # While colours change, no element fades. For this rule, all are styled twice more.
        r"\[data-md-color-switching\] \*[^{}]*\{transition-duration:0s!important\}": "",
    },
    "bundle": {
        # The scheme of the page; book.css has a rule instead.
        r'(\w+)=\w+\("meta",\{name:"color-scheme"\}\);document\.head\.appendChild\(\1\);': r"\1={};",
        # It measures each box of code, those in closed folds too; book.js measures them all at once.
        r'\.\.\.\w+\("pre:not\(\.mermaid\) > code",\w+\)\.map\(\w+=>\w+\(\w+,\{[^{}]*\}\)\),': "",
        # It puts each table into two boxes; the build does so.
        r'\.\.\.\w+\("table:not\(\[class\]\)",\w+\)\.map\(\w+=>\w+\(\w+\)\),': "",
    },
}
BOXED = r'<div class="md-typeset__scrollwrap"><div class="md-typeset__table">\g<0></div></div>'
# Names, operators, punctuation and spaces look like the text around them: elements for them were most of a page's.
COLOURLESS = re.compile(r'<span class="(?:n|o|p|w)">([^<]*)</span>|<span></span>')


def with_links(page_html: str) -> str:
    """The page with an id, a link and a copy button for each box of code that is no block, and so has none yet."""
    names: Counter[str] = Counter()

    def dress(found: re.Match[str]) -> str:
        name = numbered(f"c-{digest(found[2])[:8]}", names)
        return f'<div class="{found[1]}" id="{name}">{tools_html(name, "listing")}{found[2]}</code>'

    return OTHER_CODE.sub(dress, page_html)


def dressed(page_html: str, page: Page, imprint: Imprint) -> str:
    """A rendered page as readers get it."""
    head = f'<header class="it-head">{ten_lines.strip_html(page, imprint.book)}'
    about = about_html(page, page_html, imprint)
    page_html = glossary.defining(with_links(page_html), page, imprint.terms)
    page_html = COLOURLESS.sub(lambda span: span[1] or "", page_html)
    page_html = re.sub(r"<table>.*?</table>", BOXED, page_html, flags=re.S)
    return re.sub(r"<h1.*?</h1>", lambda title: f"{head}{title[0]}{about}</header>", page_html, count=1, flags=re.S)


def stamp(edition: Edition) -> str:
    """The line under every page: what printed it, and from which commit of the book."""
    book = book_commit()
    source = f"https://github.com/pytorch/pytorch/tree/{edition.commit}"
    made = f"book {book[0][:10]} of {book[1]:%Y-%m-%d %H:%M} UTC" if book else "book without a commit"
    if repository := os.environ.get("REPO_URL"):
        made = f'<a href="{html.escape(repository)}">{made}</a>'
    torch = f'<a href="{source}">torch {html.escape(edition.version)} ({edition.commit[:10]})</a>'
    machine = f"{platform.machine()} {platform.system()}"
    return f"Every output below a program printed by {torch}, {edition.python_name}, {machine} · {made}"


def furnish(config, build: Build) -> None:
    """Tell MkDocs what stands on every page, and where our templates lie: the news, too, when there are any."""
    if book := book_commit():
        os.environ.setdefault("SOURCE_DATE_EPOCH", str(int(book[1].timestamp())))
    config.copyright = stamp(build.edition)
    config.extra["imprint"] = Imprint(build.book, build.edition)
    config.theme.dirs.insert(0, str(THEME))
    if config.extra["imprint"].news:
        config.theme.static_templates.add("changes.html")


def write_feed(env: Environment, config) -> None:
    """The news for feed readers, when there are any."""
    if config.extra["imprint"].news:
        feed = env.get_template("feed.html").render(config=config) + "\n"
        Path(config.site_dir, "feed.xml").write_text(feed, encoding="utf-8", newline="\n")


def write_assets(site: Path, build: Build) -> None:
    """What pages load from a finished site: what the theme has, the font, the labs' recordings, the search index."""
    for file in [*site.glob("assets/stylesheets/palette.*.css"), *site.glob("assets/javascripts/bundle.*.js")]:
        quick = without_slow(file.name.split(".")[0], file.read_text(encoding="utf-8"))
        file.write_text(quick, encoding="utf-8", newline="\n")
    mathfont.write(site, build.edition)
    labs.write(site, build)
    search.finish(site, build.book)


def problems_html(page: Page, advice: Sequence[Problem]) -> str:
    """What is wrong with a page, to stand at its top while it is served, and below it what the tests would say."""
    said = "\n".join(f"{page.name}:{one.line}: {one.text}" for one in page.problems)
    advised = html.escape("\n".join(told(one, page.name) for one in advice))
    folded = f'<details class="it-advice"><summary>what make test will say</summary><pre>{advised}</pre></details>'
    return (failure_html(said) if said else "") + (folded if advice else "")


def completed(page_html: str, build: Build, shown) -> str:
    """A notebook made to look like the other pages; the ten lines with what a run of them printed; a page that has
    quizzes with the reader's progress. `shown` is MkDocs' page, which gets its description."""
    page = build.book.page(shown.file.src_uri)
    printed = build.blocks.result(build.whole(page)) if build.whole(page) else None
    if page.kind == "notebook":
        other = functools.partial(folded_html, build.others, page.src)
        page_html = notebook.page(in_html(page_html, build.proofs), page.text, printed.output, build.html, other)
    elif printed and not printed.failed:
        hero = ten_lines.hero_html(page, build.book, printed.output, build.html)
        page_html = page_html.replace(ten_lines.HERO, hero, 1)
    elif page.kind == "exercise":
        page_html = with_files(page_html, page)
    shown.meta.setdefault("description", description(page_html))
    return page_html + progress_html(page_html)


def finish(shown: Sequence, build: Build) -> dict[str, Page]:
    """Check MkDocs' pages once all are rendered, and complete those that tell something of all others. Returns these
    by `src`, as they are taken along."""
    rendered = {page.file.src_uri: page.content for page in shown}
    build.check_html(rendered)
    whole = learning.filled(rendered, build)
    for page in shown:
        page.content = whole.get(page.file.src_uri, page.content)
    return {src: learning.in_words(build.book.page(src), build.book.pages, rendered) for src in whole}


def mended(output: str) -> str:
    """A finished file of the theme, told in its head that scripts run: the theme does so after the first paint, and
    things move. Raises ValueError when the theme has changed."""
    if output.count("<head>") != 1:
        raise ValueError("Material's <head> looks different: mend inside_torch/render/page.py")
    return output.replace("<head>", SCRIPTED)


def without_slow(name: str, text: str) -> str:
    """The theme's file of that name without what is SLOW in it. Raises ValueError as `mended` does."""
    for pattern, instead in SLOW[name].items():
        text, found = re.subn(pattern, instead, text)
        if found != 1:
            raise ValueError(f"Material's {name} looks different: mend inside_torch/render/page.py")
    return text

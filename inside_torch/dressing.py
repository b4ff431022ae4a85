"""What every page carries around its prose: permalinks, copy buttons, reading time, and itself in other forms."""

from __future__ import annotations

import html
import os
import re
from collections import Counter
from math import ceil
from urllib.parse import urlparse

from inside_torch import edition
from inside_torch.takeaway import file_names

BLOCK = re.compile(
    r'<h[1-6] id="(?P<section>[^"]+)"|<div class="it-block(?P<quiz> it-quiz)?"(?=[ >])'
    r'|<div class="language-\w+ highlight"(?P<code>>)|(?P<figure></figcaption>)'
)
MENDED = {
    "<head>": """<head><script>document.documentElement.className = 'js'</script>""",
    'data-md-component="search" role="dialog"': 'data-md-component="search" role="dialog" aria-label="Search"',
}
# Names, operators, punctuation and spaces look like the text around them: elements for them were most of a page's.
COLOURLESS = re.compile(r'<span class="(?:n|o|p|w)">([^<]*)</span>|<span></span>')
WORDS, LINES = 200, 40  # what one reads in a minute: of prose, and of code with its output


def link_html(name: str, what: str) -> str:
    """The link that a reader copies to show somebody else this very place."""
    return f'<a class="it-link" href="#{name}" title="Link to this {what}" data-search-exclude>#</a>'


def tools_html(name: str, what: str) -> str:
    """What stands in the corner of a block: its link, and a button for book.js to make work."""
    copy = '<button type="button" class="it-copy">copy</button>'
    return f'<div class="it-tools" data-search-exclude>{link_html(name, what)}{copy}</div>'


def with_links(page_html: str) -> str:
    """The page with an id, a link and a copy button for each block. An id is the section's and a number in it."""
    section, block, what = "top", "", ""
    numbers: Counter[str] = Counter()

    def dress(found: re.Match[str]) -> str:
        nonlocal section, block, what
        if found["section"]:
            section = found["section"]
            return found[0]
        if found["figure"]:
            here, block = block, ""
            return f" {link_html(here, 'figure')}{found[0]}"
        if found["code"] and block:  # the source of a block, which has the id
            here, block = block, ""
            return found[0] + tools_html(here, what)
        numbers[section] += 1
        here = f"{section}--{numbers[section]}"
        if found["code"]:
            return f'{found[0][:-1]} id="{here}">{tools_html(here, "listing")}'
        block, what = here, "quiz" if found["quiz"] else "block"
        return f'{found[0]} id="{here}"'

    return BLOCK.sub(dress, page_html)


def minutes(page_html: str) -> int:
    """How long a page takes to read, in minutes, rounded up; what is folded away is not counted."""
    page_html = re.sub(r"<details.*?</details>", "", page_html, flags=re.S)
    code = "\n".join(re.findall(r"<(?:code|samp)>(.*?)</(?:code|samp)>", page_html, re.S))
    prose = re.sub(r"<pre.*?</pre>|<[^>]+>", " ", page_html, flags=re.S)
    return ceil(len(prose.split()) / WORDS + code.count("\n") / LINES)


def colab_link(notebook: str) -> str:
    """Where Colab opens a notebook of the book: from the branch that the publishing workflow pushes."""
    repository = urlparse(os.environ.get("REPO_URL", "")).path.strip("/")
    address = f"https://colab.research.google.com/github/{repository}/blob/notebooks/{notebook}"
    return f', <a href="{html.escape(address)}">open in Colab</a>' if repository else ""


def about_html(page_html: str, name: str) -> str:
    """The line under a page's title: how long it takes, which torch, and the page to take along."""
    version = edition.torch_version()[0].partition("+")[0]
    takes, files = minutes(page_html), file_names(name)
    colab = colab_link(files["notebook"])
    forms = ", ".join(f'<a href="{file}" download>{form}</a>' for form, file in files.items())
    return (
        f'<p class="it-about" data-search-exclude>{takes} minute{"s" if takes > 1 else ""} · torch {version} · '
        f"take this page with you: {forms}{colab}</p>"
    )


def dressed(page_html: str, name: str) -> str:
    """A rendered page as readers get it; `name` is its address without the ending."""
    about = about_html(page_html, name)
    page_html = COLOURLESS.sub(lambda span: span[1] or "", with_links(page_html))
    return re.sub(r"</h1>", lambda end: end[0] + about, page_html, count=1)


def mended(output: str) -> str:
    """A finished file of the theme: its search dialog named, and told in its head that scripts run, which the theme
    does after the first paint, and things move. Raises ValueError when the theme has changed."""
    for old, new in MENDED.items():
        if output.count(old) != 1:
            raise ValueError(f"Material's {old} looks different: mend inside_torch/dressing.py")
        output = output.replace(old, new)
    return output

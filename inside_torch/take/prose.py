"""The book's prose as Markdown that any viewer shows: no admonitions, attributes or includes, and links that lead."""

import posixpath
import re
from urllib.parse import urljoin

from inside_torch.book import INLINE_CODE, Page
from inside_torch.build import Build
from inside_torch.render import formulas, quiz

# What stands in a text for a fence: a program, which cannot be folded away in a notebook, or anything else.
PROGRAM, TEXT = "\x1a", "\x1b"
BOX = re.compile(
    r"^(?P<indent> *)(?P<mark>\?\?\?\+?|!!!|===[!+]?(?= +\")) +(?P<kind>[\w ]*?) *(?:\"(?P<title>[^\"\n]*)\")? *\n"
    r"(?P<body>(?:(?P=indent) {4}.*(?:\n|\Z)| *\n)+)",
    re.M,
)
ATTRIBUTE = r"(?:[#.][\w-]+|[\w-]+=(?:\"[^\"]*\"|[\w-]+))"
# Code and formulas come first, so that nothing inside them is taken for what it looks like.
FORMS = re.compile(
    rf"{INLINE_CODE.pattern}|{formulas.INLINE}"
    r"|(?P<before>\]\(\s*<?|^\[[^\]\n]+\]:\s*<?|(?:href|src)=\")(?P<target>(?:[^\s()<>\"]|\([^\s()<>]*\))+)"
    rf"| *\{{:? *{ATTRIBUTE}(?: +{ATTRIBUTE})* *\}}|</?div\b[^>]*>",
    re.M,
)


def folded(summary: str, body: str) -> str:
    """Markdown behind a line that opens it."""
    return f"<details><summary>{quiz.prose(summary)}</summary>\n\n{body.strip()}\n\n</details>"


def opened(box: re.Match[str]) -> str:
    """An admonition, a fold or a tab without the syntax of MkDocs; what holds a program is not folded."""
    body = re.sub(rf"^ {{{len(box['indent']) + 4}}}", "", box["body"], flags=re.M)
    body = BOX.sub(opened, body).strip("\n")
    title = box["kind"].capitalize() if box["title"] is None else box["title"]
    if box["mark"].startswith("???") and PROGRAM not in body:
        made = folded(title, body)
    else:
        made = f"**{title}**\n\n{body}" if title else body
    return f"\n{made}\n\n"


def address(target: str, page: Page, build: Build, site: str) -> str:
    """Where a link of a page leads: to the proven source, to the page on the site, or to its file in the zip."""
    if target.startswith("src:"):
        return build.proofs.citation(target.removeprefix("src:")).link(build.edition.commit)
    if re.match(r"[a-z][a-z+.-]*:|//", target):
        return target
    path, rest = re.fullmatch(r"([^?#]*)(.*)", target).groups()  # the rest leads to a heading or into a lab
    folder = posixpath.dirname(page.src)
    src = posixpath.normpath(posixpath.join(folder, path)) if path else page.src
    file = {one.src: one.url for one in build.book.pages}.get(src, src)
    return (urljoin(site, file) if site else posixpath.relpath(file, folder or ".")) + rest


def plain(text: str, page: Page, build: Build, site: str) -> str:
    """The prose of a page as plain Markdown; `site` is the address that its links lead to, if there is one."""

    def made(found: re.Match[str]) -> str:
        if found["target"]:
            return found["before"] + address(found["target"], page, build, site)
        return found[0] if found[0][0] in "`$" else ""

    return re.sub(r"\n{3,}", "\n\n", BOX.sub(opened, FORMS.sub(made, build.with_includes(text))))

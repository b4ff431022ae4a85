"""The source of a program as HTML: highlighted, its fold closed, with a link to it and a button to copy it."""

import ast
import html

from markdown import Markdown
from markdown_exec import base_format, markdown_config

from inside_torch.fences import folded
from inside_torch.run.cache import Cache

# A source is highlighted by a Markdown instance that knows nothing else: it cannot run it again.
EXTENSIONS = ["pymdownx.highlight", "pymdownx.superfences"]
OPENING = '<div class="language-python highlight">'


def link_html(name: str, what: str) -> str:
    """The link that a reader copies to show somebody else this very place."""
    return f'<a class="it-link" href="#{name}" title="Link to this {what}" data-search-exclude>#</a>'


def tools_html(name: str, what: str) -> str:
    """What stands in the corner of a block: its link, and a button for book.js to make work."""
    copy = '<button type="button" class="it-copy">copy</button>'
    return f'<div class="it-tools" data-search-exclude>{link_html(name, what)}{copy}</div>'


def highlighted(source: str) -> str:
    """Python with its colors, as one box."""
    markdown_config.save(EXTENSIONS, {"pymdownx.highlight": {"pygments_lang_class": True}})
    shown = {"language": "python", "code": source, "html": True, "source": "above", "update_toc": False}
    margin = source[: len(source) - len(source.lstrip(" "))]  # markdown-exec drops that of the first line
    box = str(base_format(run=lambda *_, **__: "", md=Markdown(), **shown))
    return box.replace("<code>", f"<code>{margin}", 1)


def highlighted_parts(cache: Cache, program: str) -> tuple[str, str]:
    """The box of what is folded away of a program, empty when nothing is, and the box of what is in view."""
    lines, end = program.split("\n"), folded(program)
    hidden, shown = "\n".join(lines[:end]), "\n".join(lines[end:])
    below = cache.memo(lambda: highlighted(shown), shown)
    if not hidden:
        return "", below
    blank = "\n" * (len(hidden) - len(hidden.rstrip("\n")))  # lines that the highlighter drops
    above = cache.memo(lambda: highlighted(hidden), hidden)
    return above.replace("</code>", f"<span hidden>{blank}</span></code>"), below


def fold_line(hidden: str) -> str:
    """What a closed fold says of itself: the names that it defines, functions and classes first. Where it only
    imports, its first line."""
    lines = [line for line in hidden.split("\n") if line.strip()]
    try:
        body = ast.parse(hidden).body
    except SyntaxError:
        body = []
    called = [node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    targets = [target for node in body if isinstance(node, ast.Assign) for target in node.targets]
    stored = [node for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]
    names = [*called, *(node.id for node in stored if isinstance(node.ctx, ast.Store))]
    return f"in the fold: {', '.join(dict.fromkeys(names))}" if names else lines[0] + " …" * (len(lines) > 1)


def source_html(cache: Cache, program: str, name: str, what: str, title: str = "") -> str:
    """A program: what is folded away behind a line that opens it, the rest in view. `name` is the id of its block,
    `title` the file that a listing is from."""
    above, below = highlighted_parts(cache, program)
    if above:
        said = html.escape(fold_line("\n".join(program.split("\n")[: folded(program)])))
        above = f'<details class="it-fold"><summary>{said}</summary>{above}</details>'
    if title:
        below = below.replace(OPENING, f'{OPENING}<span class="filename">{html.escape(title)}</span>', 1)
    return f'<div class="it-source">{tools_html(name, what)}{above}{below}</div>'

"""A notebook page as the rest of the book looks: its cells run by us, as one program, and its prose without the half
megabyte of styles and scripts (and the request to another host) that mkdocs-jupyter puts around it."""

import re
from collections.abc import Callable

from bs4 import BeautifulSoup, Tag

from inside_torch.fences import Fence
from inside_torch.render.fences import block_name, fence_html
from inside_torch.run.blocks import Result
from inside_torch.run.cache import Cache

CELL = re.compile(r"^# %%(?! \[markdown\]).*$", re.M)
MARK = "-- a cell of the notebook begins --"
LINE = re.compile(r'block\.py(?:", line |:)(\d+)')


def program(text: str) -> str:
    """The notebook as a program, line by line the same, that says where the output of each cell begins."""
    return CELL.sub(f"print({MARK!r})", text)


def outputs(printed: str) -> list[str]:
    """What each cell printed, from what the program did."""
    return printed.split(f"{MARK}\n")[1:]


def failing_line(result: Result) -> int:
    """The line of a notebook at which its program failed, as far as stderr tells."""
    found = LINE.findall(result.stderr)
    return int(found[-1]) if found else 1


def cells(text: str) -> list[str]:
    """The sources of the code cells."""
    import jupytext  # it takes 0.2 s, and no other page needs it

    return [cell.source for cell in jupytext.reads(text, "py:percent").cells if cell.cell_type == "code"]


def prose(part: Tag) -> str:
    """The HTML of a Markdown cell, its headings linked as on other pages."""
    for anchor in part.select("a.anchor-link"):
        anchor["class"], anchor["title"], anchor.string = "headerlink", "Link to this section", "#"
    return part.decode_contents()


def page(page_html: str, text: str, printed: str, cache: Cache, other: Callable[[str], str] = lambda name: "") -> str:
    """The page made anew from what mkdocs-jupyter rendered of the source `text`, whose program printed `printed`;
    `other` gives what other torches print of the cell of a name."""
    found = zip(cells(text), outputs(printed))
    made = []
    for part in BeautifulSoup(page_html, "html.parser").select(".jp-RenderedMarkdown, .highlight-ipynb pre"):
        if part.name == "pre":
            source, output = next(found)
            fence = Fence("python", source, 0)
            name = block_name(fence)
            made.append(fence_html(fence, Result(output), "", name, cache, other(name)))
        else:
            made.append(prose(part))
    return "\n".join(made)

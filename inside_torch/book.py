"""The book: its pages, each read once, and what was found wrong with each. Nothing else lists or parses pages."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from inside_torch.edition import ROOT
from inside_torch.fences import Fence, Problem, parse, without

KINDS = {"exercises": "exercise", "reference": "other"}  # folder of docs/ -> kind of its pages; the others: chapter
FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.S)
INLINE_CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
# A term stands in italics, after one of these words, where it is defined.
BEFORE = r"\b(?:[Aa]n?|[Tt]he|[Ii]ts|is|called)\s"
DEFINED = re.compile(BEFORE + r"\*([A-Za-z][\w -]*)\*(?!\*)")


def reading_order(root: Path) -> list[str]:
    """The pages of the navigation of mkdocs.yml, by `src`, as one turns them."""
    settings = (root / "mkdocs.yml").read_text(encoding="utf-8")
    nav = re.search(r"^nav:\n((?: .*\n)*)", settings, re.M)
    return re.findall(r"[ :]([\w/-]+\.(?:md|py|ipynb))$", nav[1], re.M) if nav else []


@dataclass
class Page:
    """A page as it was read. `src` is its path below docs/, `name` its path as an editor opens it, `text` its
    Markdown (a notebook's: its source) with generated parts in place, and `problems` whatever was found wrong with it
    so far."""

    path: Path
    src: str
    name: str
    text: str
    fences: list[Fence] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.kind != "notebook":
            self.fences, self.problems = parse(self.text)

    @property
    def kind(self) -> str:
        """chapter, exercise, notebook or other."""
        folder, _, file = self.src.rpartition("/")
        if not file.endswith(".md"):
            return "notebook"
        return "other" if file == "index.md" else KINDS.get(folder, "chapter")

    @property
    def stem(self) -> str:
        """The page's address without its ending, as `exercises/strides`."""
        return self.src.rpartition(".")[0]

    @property
    def url(self) -> str:
        return f"{self.stem}.html"

    @property
    def body(self) -> str:
        """The text without the settings that may stand above it."""
        return FRONT_MATTER.sub("", self.text)

    @property
    def title(self) -> str:
        found = re.search(r"^# # (.+)$" if self.kind == "notebook" else r"^# (.+)$", self.text, re.M)
        return found[1] if found else self.stem

    @property
    def programs(self) -> list[Fence]:
        """The blocks and quizzes."""
        return [fence for fence in self.fences if fence.is_program]

    @property
    def running(self) -> list[Fence]:
        """What the build runs: the blocks, quizzes and figures."""
        return [fence for fence in self.fences if fence.runs]

    @property
    def prose(self) -> str:
        """The text with its fences as empty lines, so that lines keep their numbers."""
        return without(self.text, self.fences)

    @property
    def words(self) -> str:
        """The prose with inline code blanked out; nothing for a notebook."""
        return INLINE_CODE.sub(lambda code: " " * len(code[0]), self.prose) if self.kind != "notebook" else ""

    @property
    def terms(self) -> list[str]:
        """The terms that the page defines."""
        return DEFINED.findall(" ".join(self.prose.split()))

    def add(self, line: int, text: str, details: str = "") -> None:
        """Note what is wrong with a line."""
        self.problems.append(Problem(line, text, details))


@dataclass(frozen=True)
class Book:
    """The pages below the folder `docs` of `root`, in the order of their names."""

    root: Path
    docs: Path
    pages: tuple[Page, ...]

    @classmethod
    def read(cls, root: Path = ROOT, expand: Callable[[Page, Sequence[Page]], str] = lambda page, pages: page.text):
        """Read every page; `expand` gives a page's text with generated parts, which are made from all pages."""
        docs = root / "docs"
        paths = sorted(path for path in docs.rglob("*") if path.suffix in (".md", ".py", ".ipynb"))
        texts = {path.relative_to(docs).as_posix(): path.read_text(encoding="utf-8-sig") for path in paths}
        plain = [Page(docs / src, src, f"docs/{src}", text) for src, text in texts.items()]
        made = [(page, expand(page, plain)) for page in plain]
        pages = [page if text == page.text else Page(page.path, page.src, page.name, text) for page, text in made]
        return cls(root, docs, tuple(pages))

    def page(self, src: str) -> Page:
        """The page whose path below docs/ is `src`. Raises KeyError."""
        return {page.src: page for page in self.pages}[src]

"""One build of the book: what its blocks print, what proves its citations, and everything that is wrong with it."""

import functools
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from markdown import Markdown
from pymdownx.snippets import SnippetMissingError

from inside_torch.book import Book, Page
from inside_torch.citations import Proofs, references
from inside_torch.edition import ROOT, Edition
from inside_torch.failures import failure_of
from inside_torch.fences import Fence, folded
from inside_torch.others import Others
from inside_torch.quiz import objection
from inside_torch.render import formulas, notebook, tables, ten_lines
from inside_torch.render.fences import block_name
from inside_torch.render.figures import checked_figure
from inside_torch.render.source import OPENING, highlighted_parts
from inside_torch.run.blocks import Blocks, Program, Result
from inside_torch.run.cache import Cache
from inside_torch.run.progress import show_progress

ELEMENT = re.compile(r'<div class="it-block(?: it-quiz)?" id="(b-[0-9a-f]+)')


class Build:
    """The pages of a book with an edition's torch, and what is wrong with each: `check_sources` adds what can be told
    once all blocks have run, `check_html` what only the finished pages show."""

    def __init__(self, edition: Edition, root: Path = ROOT) -> None:
        self.edition = edition
        self.book = Book.read(root, tables.expand)
        self.blocks = Blocks(edition, checked_figure)
        self.proofs = Proofs(edition, self.blocks.result)
        self.html = Cache(edition, "html", "render/source.py")
        included = {"base_path": [str(root)], "check_paths": True, "dedent_subsections": True}
        self.markdown = Markdown(extensions=["pymdownx.snippets"], extension_configs={"pymdownx.snippets": included})

    @functools.cached_property
    def others(self) -> Others:
        """What other torches print."""
        return Others(self.book.root, self.book.pages)

    def with_includes(self, text: str) -> str:
        """A text with the files that it includes in their place. Raises SnippetMissingError."""
        return "\n".join(self.markdown.preprocessors["snippet"].run(text.split("\n")))

    def start(self, pages: Sequence[Page]) -> None:
        """Begin with everything that has to run for some pages, and show how far it has come."""
        running = [fence for page in pages for fence in page.running]
        begun = self.blocks.start(Program(fence.program, fence.info == "figure") for fence in running)
        self.blocks.start(Program(whole) for whole in map(self.whole, pages) if whole)
        cited = [one for page in pages for _, one in references(page.text, page.fences)]
        self.blocks.start(Program(source) for one in dict.fromkeys(cited) for source in self.proofs.programs(one))
        self.proofs.begin(cited)
        show_progress(begun, len(running))
        for fence in running if begun else ():
            highlighted_parts(self.html, fence.program)  # while the server imports torch

    def result(self, fence: Fence) -> Result:
        """What a fence printed; waits for it."""
        return self.blocks.result(fence.program, fence.info == "figure")

    def failure(self, fence: Fence, name: str) -> tuple[str, str]:
        """Why a fence of the page `name` is not shown, and the details; both empty when it is."""
        result = self.result(fence)
        if result.failed:
            return failure_of(result, name, fence.program_line)
        if fence.info == "quiz":
            return (fence.quiz.problems[0][1] if fence.quiz.problems else objection(fence.quiz, result.output)), ""
        return "", ""

    def whole(self, page: Page) -> str:
        """The program that a page runs besides its fences: a notebook's cells, or the ten lines; else nothing."""
        if page.kind == "notebook":
            return notebook.program(page.text)
        return ten_lines.measuring(self.book.root) if ten_lines.HERO in page.text else ""

    def fence(self, src: str, info: str, source: str) -> Fence:
        """The fence of the page `src` that holds `source`; one on line 0 where the page has none."""
        fences = [fence for page in self.book.pages if page.src == src for fence in page.fences]
        return next((one for one in fences if (one.info, one.source) == (info, source)), Fence(info, source, 0))

    def wrong_blocks(self, page: Page) -> Iterator[tuple[int, str, str]]:
        """Line, message and details of each block that failed, and of each quiz whose answers cannot be right."""
        for fence in page.running:
            message, details = self.failure(fence, page.name)
            if message and not (fence.info == "quiz" and fence.quiz.problems):  # those are on the page already
                yield fence.line, message, details
        if (whole := self.whole(page)) and (result := self.blocks.result(whole)).failed:
            line = notebook.failing_line(result) if page.kind == "notebook" else ten_lines.line_of(page)
            yield line, *failure_of(result, page.name, 0)

    def missing_files(self, page: Page) -> Iterator[tuple[int, str]]:
        """Line and message of each include of a file or a section that is not there."""
        for number, line in enumerate(page.text.split("\n"), 1):
            try:
                self.with_includes(line)
            except SnippetMissingError as error:
                yield number, f"this includes what is not there: {error}"
            if found := tables.PRINTS.fullmatch(line):
                yield number, f"examples/README.md has no output of {found[1]}"

    def check_sources(self, pages: Sequence[Page] = ()) -> None:
        """Run some pages, or all; add the problems that their sources show, and the blocks that failed."""
        pages = pages or self.book.pages
        self.start(pages)
        for page in pages:
            for line, text, details in self.wrong_blocks(page):
                page.add(line, text, details)
            cited = self.proofs.problems(page.text, page.fences)
            for line, text in [*self.missing_files(page), *formulas.problems(page.words), *cited]:
                page.add(line, text)

    def check_html(self, rendered: dict[str, str]) -> None:
        """Add the problems that only rendered pages (HTML by `src`) show."""
        for page in [page for page in self.book.pages if page.src in rendered]:
            for fence in [fence for fence in page.fences if fence.info == "quiz"]:
                target, anchor = fence.quiz.target
                explains = os.path.normpath(os.path.join(os.path.dirname(page.src), target)) if target else page.src
                if f' id="{anchor}"' not in rendered.get(explains, ""):
                    page.add(fence.line, f"there is no section `{fence.quiz.section}` that could explain this quiz")
            if not page.problems:
                for line, text in self.miscounted(page, rendered[page.src]):
                    page.add(line, text)

    def miscounted(self, page: Page, page_html: str) -> Iterator[tuple[int, str]]:
        """Say where a rendered page shows another set of blocks than its source holds, or a failure without a line."""
        shown = Counter(ELEMENT.findall(page_html))
        for fence in page.running:
            if not shown[block_name(fence)]:
                yield fence.line, "this block is not on the page"
            shown[block_name(fence)] -= 1
        listings = [self.with_includes(fence.source) for fence in page.fences if fence.is_listing]
        sources = [*(fence.program for fence in page.programs), *listings]
        boxes = sum(1 + bool(folded(source)) for source in sources)
        if page.kind != "notebook" and (any(shown.values()) or page_html.count(OPENING) != boxes):
            yield 1, "the page shows Python that did not run"
        if "it-failure" in page_html:
            yield 1, "something on this page could not be rendered"

"""The Markdown extension of the book: fences that run, listings, formulas and proven citations, for one page."""

import functools
from collections import Counter

from markdown import Extension, Markdown
from pymdownx.superfences import SuperFencesCodeExtension, SuperFencesException

from inside_torch.build import Build
from inside_torch.citations.markdown import CitedLinks
from inside_torch.edition import Edition
from inside_torch.fences import LISTING, RUN, Fence
from inside_torch.render.changes import folded_html
from inside_torch.render.fences import block_name, fence_html, numbered
from inside_torch.render.formulas import INLINE, DisplayedFormula, InlineFormula
from inside_torch.render.source import source_html


def takes(language, inputs, options, attrs, md) -> bool:
    """Validator: a fence has nothing else on its line, but for the title of a listing."""
    title = f'{language} title="{inputs.get("title", "")}"'
    if inputs and not (inputs.keys() == {"title"} and LISTING.fullmatch(title)):
        return False
    options.update(inputs)
    return True


class BookPage(Extension):
    """Renders `src`, the path of a page below docs/, with what `build` knows of it."""

    def __init__(self, build: Build | None = None, src: str = "") -> None:
        super().__init__()
        self.given, self.src = build, src
        self.names: Counter[str] = Counter()

    @functools.cached_property
    def build(self) -> Build:
        """Made when a page is rendered: MkDocs also makes this extension to see whether it can."""
        return self.given or Build(Edition())

    def format_fence(self, source, language, class_name, options, md, **kwargs) -> str:
        """Formatter: the HTML of a fence. superfences swallows every exception but its own."""
        try:
            title, page = options.get("title"), f"docs/{self.src}"
            fence = Fence(title, source, 0) if title else self.build.fence(self.src, language, source)
            name = numbered(block_name(fence), self.names)
            if title:
                return f'<div id="{name}">{source_html(self.build.html, source, name, "listing", title)}</div>'
            if failure := "\n".join(self.build.failure(fence, page)).strip():
                failure = f"{page}:{fence.line}: {failure}"
            other = folded_html(self.build.others, self.src, block_name(fence))
            return fence_html(fence, self.build.result(fence), failure, name, self.build.html, other)
        except Exception as error:
            raise SuperFencesException(f"{language} fence: {error!r}\n{source}") from error

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 - Markdown's name
        fences = [{"name": one, "class": one, "format": self.format_fence, "validator": takes} for one in RUN]
        md.registerExtensions([SuperFencesCodeExtension(custom_fences=fences)], {})
        md.preprocessors.register(DisplayedFormula(md), "it-displayed-formula", 24)  # fences: 25
        md.inlinePatterns.register(InlineFormula(INLINE, md), "it-inline-formula", 189)  # code: 190
        md.treeprocessors.register(CitedLinks(md, lambda: self.build.proofs), "it-citations", 15)  # inline: 20


def makeExtension(**options) -> BookPage:  # noqa: N802 - Markdown's name
    """Entry point of Python-Markdown."""
    return BookPage(**options)

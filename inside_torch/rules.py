"""The rules of a page that stop no build: `make page` and `make serve` say what breaks one, `make test` insists.

Each yields the lines and texts of what breaks it. Its docstring is the reason, which CONTRIBUTING.md repeats.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from posixpath import dirname, join, normpath

from markdown.extensions.toc import slugify

from inside_torch.approved import CITATIONS, before, differences, is_edition, shown
from inside_torch.book import DEFINED, Page, reading_order
from inside_torch.build import Build
from inside_torch.citations import references
from inside_torch.fences import Problem, folded
from inside_torch.render import glossary, prerequisites, tables

Found = Iterator[tuple[int, str]]
Rule = Callable[[Page, Build], Found]
PARTS = ("Why", "Build it", "When it breaks", "In the source", "Check yourself", "Recap")
UNSTABLE = {
    r"print\([^()]*(?:\bid\(|hex\(id)": "prints an address",
    r"time\.(?:time|perf_counter|monotonic)\(": "measures time",
    r"torch\.get_num_threads\(": "prints the number of threads",
    r"os\.getcwd\(|\.resolve\(\)": "prints a path",
    r"\A(?!(?s:.*)manual_seed)(?s:.*?)(?:\brandn?\(|randperm|randint)": "draws without a seed",
}
TYPED = re.compile(r"(?:prints?|outputs?|returns)\b|[-=]+>|tensor\(|torch\.Size\(|[(\[]*-?\d[\d., )\]]*$|True$|False$")
SOFT = re.compile(r"\b(?:simply|obviously|of course|just|easily)\b", re.I)
# What whoever has trained models for a year knows; a chapter makes each of them exact.
FAMILIAR = ("gradient", "module", "parameter")
HEADING = re.compile(r"^(#+) (.+)$", re.M)


def places(pattern: str | re.Pattern[str], text: str, above: int = 0) -> Iterator[tuple[int, re.Match[str]]]:
    """Each match in a text that stands below the line `above` of its page, with its line."""
    return ((above + text.count("\n", 0, found.start()) + 1, found) for found in re.finditer(pattern, text))


def length(page: Page, build: Build) -> Found:
    """A reader takes in one idea at a time: 25 lines in view at most, 30 with the fold."""
    for fence in page.running:
        whole = fence.program.count("\n") + 1
        if (seen := whole - folded(fence.program)) > 25 or whole > 30:
            yield fence.line, f"has {seen} lines in view, {whole} with the fold"


def width(page: Page, build: Build) -> Found:
    """Code is read without scrolling: 76 columns at most."""
    for fence in page.running if page.kind == "other" else page.fences:
        for line, found in places(r".{77,}", fence.program, fence.program_line):
            yield line, f"is {len(found[0])} columns wide"


def apart(page: Page, build: Build) -> Found:
    """A blank line stands below a fence: without it, the text that follows is set as part of the block."""
    lines = page.text.split("\n")
    for fence in page.fences:
        if "".join(lines[fence.end : fence.end + 1]).strip():
            yield fence.end + 1, "follows a fence without a blank line"


def stable(page: Page, build: Build) -> Found:
    """A block prints the same in every run and on every machine: a seed; no address, time, path, number of threads."""
    for fence in page.running:
        for pattern, said in UNSTABLE.items():
            yield from ((line, said) for line, _ in places(pattern, fence.program, fence.program_line))
        if found := re.search(r"\b0x(?:…|[57][0-9a-f]{8,})", build.result(fence).output):
            yield fence.line, f"prints an address: {found[0]}"


def typed(page: Page, build: Build) -> Found:
    """The build prints outputs; one that is typed, into a comment or a `text` fence below its block, goes stale."""
    for fence in page.running:
        printed = {line.strip() for line in build.result(fence).output.splitlines()}
        for line, found in places(r"#[ \t]*(.*\S)", fence.program, fence.program_line):
            if found[1] in printed or TYPED.match(found[1]):
                yield line, f"types an output into a comment: {found[1]}"
    for block, fence in pairwise(page.fences):
        if (block.info, fence.info) == ("python", "text"):
            between = page.text.splitlines()[block.end : fence.line - 1]
            printed = build.result(block).output
            same = [line.strip() for line in fence.source.splitlines() if len(line.strip()) > 3 and line in printed]
            if same or not "".join(between).strip():
                yield fence.line, f"looks like the output of the block on line {block.line}"


def voice(page: Page, build: Build) -> Found:
    """Nothing is easy to who reads it for the first time: no simply, obviously, of course, just, easily."""
    return ((line, f"says `{found[0]}`") for line, found in places(SOFT, page.prose))


def admonitions(page: Page, build: Build) -> Found:
    """Where every other thing stands in a box, nothing stands out: two admonitions a page at most."""
    return ((line, "is one admonition too many") for line, _ in list(places(r"(?m)^[ \t]*!!! ", page.text))[2:])


def terms(page: Page, build: Build) -> Found:
    """A term is defined once on a page, because the search leads there."""
    first: dict[str, int] = {}
    for line, found in places(DEFINED, page.prose):
        if first.setdefault(found[1], line) != line:
            yield line, f"defines `{found[1]}`, as line {first[found[1]]} does"


def introduced(page: Page, build: Build) -> Found:
    """A term is defined before it is used, or the line that first uses it links to its page or to the glossary."""
    order = reading_order(build.book.root)
    if page.src not in order:
        return
    terms = glossary.defined(glossary.chapters(build.book.pages, build.book.root))
    after = order[order.index(page.src) + 1 :]
    later = {name: one for name, one in terms.items() if one.page.src in after and name not in FAMILIAR}
    written, lines = page.path.read_text(encoding="utf-8"), page.text.split("\n")
    yield from (found for found in glossary.unlinked(page, later) if lines[found[0] - 1] in written)


def glossed(page: Page, build: Build) -> Found:
    """What the glossary calls a mistake is about a term that a chapter defines."""
    return ((line, found[0]) for line, found in places(rf".*{glossary.UNDEFINED}", page.text))


def answers(page: Page, build: Build) -> Found:
    """Answers are compared at a glance: at most 8 lines of 76 columns each."""
    for fence in page.running:
        for text, _ in fence.quiz.wrong if fence.info == "quiz" else ():
            if text.count("\n") >= 8 or max(map(len, text.split("\n"))) > 76:
                yield fence.line, f"has an answer that is too large: {text.splitlines()[0]}"


def navigation(page: Page, build: Build) -> Found:
    """A page stands in the navigation, or nobody finds it."""
    known = reading_order(build.book.root)
    if known and page.src not in known:
        yield 1, "is not in the nav of mkdocs.yml"


def anchors(page: Page) -> set[str]:
    """The names of a page's headings, as links have them, and those that it gives itself."""
    names = Counter(slugify(text, "-") for _, text in HEADING.findall(page.prose))
    again = {f"{name}_{number}" for name, count in names.items() for number in range(1, count)}
    return {*names, *again, *re.findall(r"\{ #([\w-]+) \}", page.prose)}


def links(page: Page, build: Build) -> Found:
    """A link, or the section that explains a quiz, leads to a page of the book and to a heading that is there."""
    pages = {one.src: one for one in build.book.pages}
    aims = [(line, found[1].partition("#")) for line, found in places(r"\]\(([^():\s]+)\)", page.words)]
    aims += [(fence.line, fence.quiz.target) for fence in page.fences if fence.info == "quiz"]
    for line, (path, *_, anchor) in aims:
        src = normpath(join(dirname(page.src), path)) if path else page.src
        if src.endswith(".md") and src not in pages:
            yield line, f"leads to {path}, which is no page"
        elif anchor and src in pages and pages[src].kind != "notebook" and anchor not in anchors(pages[src]):
            yield line, f"leads to `#{anchor}`, which no heading of docs/{src} is called"


def examples(page: Page, build: Build) -> Found:
    """An example that a page shows begins with its thesis in one plain line, and examples/README.md has its output."""
    folder = build.book.root / "examples"
    listed = {found[1]: line for line, found in places(r'--8<-- "examples/((?:toytorch/)?\w+\.py)', page.text)}
    printed = tables.sections((folder / "README.md").read_text(encoding="utf-8")) if listed else {}
    for name, line in listed.items():
        thesis = tables.thesis((folder / name).read_text(encoding="utf-8")) if (folder / name).exists() else "None."
        if not thesis.endswith(".") or len(thesis) > 120 or SOFT.search(thesis):
            yield line, f"shows {name}, which does not begin with a thesis"
        runs = name in tables.programs(build.book.root) or not (folder / name).exists()
        if runs and not all(printed.get(name, [""])):
            yield line, f"shows {name}, whose output is not in examples/README.md"


def approved(page: Page, build: Build) -> Found:
    """Outputs and citations change on purpose only: look at what is new, then `make approve`."""
    folder = build.book.root / "tests" / "approved"
    if folder.exists() and is_edition() and not any(build.wrong_blocks(page)):
        yield from differences(page, before(page, folder), list(shown(page, build)))
        known = json.loads((folder / CITATIONS).read_text(encoding="utf-8"))["citations"]
        cited = references(page.text, page.fences)
        yield from ((line, f"the citation src:{one} is not approved yet") for line, one in cited if one not in known)


def compared(page: Page, build: Build) -> Found:
    """What another torch prints differently has a sentence on why in tests/approved/why.yaml, and a sentence has a
    difference."""
    return ((line, text) for src, line, text in build.others.problems if src == page.src)


def chapter(page: Page, build: Build) -> Found:
    """A chapter is one sitting: a puzzle in 40 to 80 words, an aim (`After this page you can`), its parts, 10 to 23
    blocks, a figure, 1,500 to 2,500 words."""
    headings = [text for _, text in HEADING.findall(page.prose)]
    kinds = Counter(fence.info for fence in page.fences)
    puzzle, words = page.text.split("```")[0].partition("\n")[2].split(), page.prose.split()
    missing = [part for part in PARTS if not any(heading.startswith(part) for heading in headings)]
    yield from ((1, f"has no part `{part}`") for part in missing)
    if not prerequisites.objective(page):
        yield 1, "does not say `After this page you can ...`"
    if not 40 <= len(puzzle) <= 80:
        yield 1, f"opens with {len(puzzle)} words"
    if not (10 <= kinds["python"] <= 23 and kinds["figure"] and 1500 <= len(words) <= 2500):
        yield 1, f"has {kinds['python']} blocks, {kinds['figure']} figures and {len(words)} words"


def quizzed(page: Page, build: Build) -> Found:
    """Each main section of a chapter has a quiz, which shows its readers what they can predict."""
    quizzes = {fence.quiz.section for fence in page.fences if fence.info == "quiz"}
    sections: list[tuple[int, list[str]]] = []
    for line, found in places(r"(?m)^(###?) (.+)$", page.prose):
        sections += [(line, [])] if found[1] == "##" or not sections else []
        sections[-1][1].append(found[2])
    for line, within in sections:
        if not within[0].startswith(PARTS) and not quizzes.intersection(within):
            yield line, f"has no quiz about `{within[0]}`"


def exercise(page: Page, build: Build) -> Found:
    """An exercise says what it teaches and how it is checked, in 200 to 700 words, and has two hints or more."""
    hints, words = page.text.count('??? tip "Hint'), len(page.prose.split())
    if hints < 2 or not 200 <= words <= 700:
        yield 1, f"has {hints} hints and {words} words"
    for what in ("\n## What it teaches\n", f"make check EX={page.path.stem}\n"):
        if what not in page.text:
            yield 1, f"does not say `{what.strip()}`"


RULES = {
    "page": (
        *(length, width, apart, stable, typed, voice, admonitions, terms, introduced, glossed),
        *(answers, navigation, links, examples, approved, compared),
    ),
    "chapter": (chapter, quizzed),
    "exercise": (exercise,),
}


def reason(rule: Rule) -> str:
    """The name of a rule, and why it is one."""
    return f"{rule.__name__}: {' '.join(rule.__doc__.split())}"


def broken(page: Page, build: Build) -> list[Problem]:
    """What breaks a rule on a page, by line, each with the rule and its reason."""
    rules = RULES["page"] + RULES.get(page.kind, ())
    found = [Problem(*one, f"  {reason(rule)}") for rule in rules for one in rule(page, build)]
    return sorted(found, key=lambda problem: problem.line)

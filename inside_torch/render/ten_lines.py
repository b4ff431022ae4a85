"""The ten lines of examples/network.py: the one table of what happens in each, and which chapters belong to it. The
home page's hero, the strip at the head of each chapter and their tests are made from it."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from posixpath import dirname, relpath

from inside_torch.book import Book, Page
from inside_torch.render.source import highlighted, tools_html
from inside_torch.run.cache import Cache

HERO, TITLE = "<!-- ten lines -->", "the ten lines"
MEASURES = "the-ten-lines.py"  # the program that reads their numbers, for readers to take along
SECTION = re.compile(r"^(import .+?)\n+# --8<-- \[start:ten\]\n(.+?)# --8<-- \[end:ten\]", re.M | re.S)


@dataclass(frozen=True)
class Line:
    """A line: its `word` in the strip, what happens in it, the chapters that open it (addresses without ending), and
    a dict's arguments, evaluated right after the line in each step, that give the numbers `said` asks for."""

    word: str
    chapters: tuple[str, ...]
    said: str = ""
    measured: str = ""


LINES = (
    Line(
        "seed",
        ("random",),
        "Sets <b>the generator of random numbers</b>, whose state has {seed:,} bytes: each run draws the same numbers.",
        "seed=torch.get_rng_state().nbytes",
    ),
    Line(
        "x, target",
        ("tensor", "views", "syntax", "promotion", "footguns", "dtensor"),
        "<b>Two tensors</b> of {x} and {labels} bytes. In memory <samp>x</samp> is one block: each sample begins "
        "{stride} numbers after the one before it.",
        "x=x.nbytes, stride=x.stride(0), labels=target.nbytes",
    ),
    Line(
        "model",
        ("modules", "loading"),
        "<b>{numbers} numbers to learn</b>, in {parameters} Parameters: the tensors that training changes.",
        "numbers=sum(p.numel() for p in model.parameters()), parameters=len(list(model.parameters()))",
    ),
    Line(
        "optimizer",
        ("optimizer",),
        "Holds <b>the same {held} Parameters</b>, no copies. What it will remember of their gradients is still empty: "
        "{state} entries.",
        "held=same(optimizer, model), state=len(optimizer.state)",
    ),
    Line(
        "compile",
        ("compile", "graph-breaks", "inductor", "export"),
        "<b>Compiles nothing yet</b>: {now} kernels in C++. The first call of <samp>compiled</samp> writes "
        "{functions}, the first backward pass {more} more.",
        "now=len(written)",
    ),
    Line(
        "for",
        ("schedulers", "leaks", "profiling", "measuring"),
        "{steps} steps, <b>compiled {graphs}</b>. The loss falls from {first:.2f} to {last:.2f}.",
    ),
    Line(
        "loss",
        ("forward", "grad-modes", "errors-shapes", "errors-devices"),
        "Makes <b>{nodes} nodes</b>, the steps that backward will take: one for the whole compiled model, {leaves} "
        "that write a <samp>.grad</samp>, and {rest} of the loss.",
        "nodes=watch(loss), leaves=seen['leaves'], functions=seen.get('functions', len(written)), steps=step + 1, "
        "first=seen.get('first', loss.item()), last=loss.item(), had=grads(model)",
    ),
    Line(
        "zero_grad",
        ("gradients",),
        "<b>Drops {freed} gradients</b> of the step before, {bytes} bytes. It writes no zeros.",
        "freed=len(seen['had']) - len(grads(model)), bytes=sum(grad.nbytes for grad in seen.pop('had'))",
    ),
    Line(
        "backward",
        (
            *("backward", "numpy", "function-transforms", "saved-tensors", "versions"),
            *("less-memory", "layers", "errors", "distributed", "ddp"),
        ),
        "<b>Runs the {ran} nodes</b> from the loss back, <samp>{newest}</samp> first, and leaves {grads} gradients.",
        "ran=len(ran), newest=ran[0], grads=len(grads(model)), before=copies(model), "
        "more=seen.get('more', len(written) - seen['functions'])",
    ),
    Line(
        "step",
        ("update-rules", "memory", "sharding", "sharded-training"),
        "<b>{changed} numbers change.</b> AdamW keeps {averages} running averages and {counts} step counts for the "
        "next step.",
        "changed=sum(int((a != b).sum()) for a, b in zip(seen.pop('before'), copies(model))), "
        "averages=kept(optimizer, 'exp_avg', 'exp_avg_sq'), counts=kept(optimizer, 'step'), graphs=compiles()",
    ),
)
BELOW = Line(
    "below",
    (
        *("tensor-types", "tensor-kinds", "sparse", "dispatcher", "dispatch-keys", "yaml-to-kernel", "structured"),
        *("kernels", "source-map", "extending", "custom-operators", "cpp-operators", "extensions", "subclasses"),
        *("backends", "allocator", "fragmentation", "layers-all", "ecosystem", "contributing", "adding-an-operator"),
    ),
    "Below all lines: the C++ objects, the dispatcher, and the layers between.",
)

HEAD = """\
import json
import torch._functorch.config, torch._inductor.config
from torch._dynamo.utils import counters
from torch._inductor.async_compile import AsyncCompile
torch._inductor.config.fx_graph_cache = False  # so that the functions are written, and counted, in this very run
torch._functorch.config.enable_autograd_cache = False
seen, ran, handles, written = {}, [], [], []
def writes(self, *function, compiles=AsyncCompile.cpp_pybinding):
    written.append(function)
    return compiles(self, *function)
AsyncCompile.cpp_pybinding = writes  # each call has one function in C++ that Inductor wrote
def same(optimizer, model):
    held = {id(p) for group in optimizer.param_groups for p in group["params"]}
    return len(held & {id(p) for p in model.parameters()})
def grads(model):
    return [p.grad for p in model.parameters() if p.grad is not None]
def kept(optimizer, *names):
    assert all(set(one) == {"exp_avg", "exp_avg_sq", "step"} for one in optimizer.state.values())
    return sum(one[name].numel() for one in optimizer.state.values() for name in names)
def copies(model):
    return [p.detach().clone() for p in model.parameters()]
def compiles():
    count = counters["stats"]["unique_graphs"]
    return "once" if count == 1 else f"{count} times"
def watch(loss):
    while handles:
        handles.pop().remove()
    ran.clear()
    nodes = [loss.grad_fn]
    for node in nodes:
        nodes += [one for one, _ in node.next_functions if one is not None and one not in nodes]
        handles.append(node.register_prehook(lambda _, name=node.name(): ran.append(name)))
    assert sum(node.name() == "CompiledFunctionBackward" for node in nodes) == 1
    seen["leaves"] = sum("AccumulateGrad" in node.name() for node in nodes)
    seen["rest"] = len(nodes) - 1 - seen["leaves"]
    return len(nodes)
"""


def program(root: Path) -> tuple[str, list[str]]:
    """What examples/network.py imports, and its ten lines. Raises ValueError when they are not the table's."""
    found = SECTION.search((root / "examples" / "network.py").read_text(encoding="utf-8"))
    lines = found[2].splitlines() if found else []
    if len(lines) != len(LINES) or any(line.word not in text for line, text in zip(LINES, lines)):
        raise ValueError("examples/network.py: its section `ten` has other lines than inside_torch/render/ten_lines.py")
    return found[1], lines


def whole(root: Path) -> str:
    """The ten lines as a program."""
    imports, lines = program(root)
    return "\n".join([imports, "", *lines])


def measuring(root: Path) -> str:
    """The ten lines as a program that notes, after each line, what the table asks for, and prints it as JSON."""
    imports, lines = program(root)
    made = [imports, HEAD]
    for line, text in zip(LINES, lines):
        indent = text[: len(text) - len(text.lstrip())]
        made += [text] + [f"{indent}seen |= dict({line.measured})"] * bool(line.measured)
    return "\n".join([*made, "print(json.dumps(seen))"])


def line_of(page: Page) -> int:
    """The line of a page that asks for the ten lines."""
    return page.text[: page.text.index(HERO)].count("\n") + 1


def links(line: Line, page: Page, book: Book) -> Iterator[tuple[str, str]]:
    """Address, from `page`, and title of each chapter of a line that the book has."""
    known = {one.stem: one for one in book.pages}
    for chapter in (known[stem] for stem in line.chapters if stem in known):
        yield relpath(chapter.url, dirname(page.url) or "."), chapter.title


def sentences(printed: str) -> list[str]:
    """What happens in each line, as HTML, with the numbers that `measuring` printed."""
    numbers = json.loads(printed)
    return [line.said.format(**numbers) for line in LINES]


def plain(printed: str) -> str:
    """The same as text, a line each."""
    return "\n".join(html.unescape(re.sub(r"<[^>]+>", "", said)) for said in sentences(printed))


def hero_html(page: Page, book: Book, printed: str, cache: Cache) -> str:
    """The ten lines, each with what happens in it and its chapters; `printed` is the output of `measuring`."""
    imports, lines = program(book.root)
    shown = cache.memo(lambda: highlighted("\n".join(lines)), "ten", *lines)
    codes = re.search(r"<code>(.*?)\n?</code>", shown, re.S)[1].split("\n")
    rows = []
    for line, code, said in zip(LINES, codes, sentences(printed)):
        leads = ", ".join(f'<a href="{address}">{html.escape(title)}</a>' for address, title in links(line, page, book))
        rows.append(f'<li><code>{code}\n</code><p>{said}</p><p class="it-leads">{leads}</p></li>')
    return (
        f'<div class="it-ten highlight" id="ten-lines">{tools_html("ten-lines", "program")}'
        f'<p class="it-imports"><code>{html.escape(imports)}\n\n</code></p><ol>{"".join(rows)}</ol></div>'
    )


def strip_html(page: Page, book: Book) -> str:
    """The ten lines in small, each a link to its first chapter, the page's own marked, and folded the lines themselves;
    nothing for a page that belongs to none."""
    lines = (*LINES, BELOW)
    if not any(page.stem in line.chapters for line in lines):
        return ""
    items = []
    for line in lines:
        here = ' aria-current="true"' if page.stem in line.chapters else ""
        if address := next((address for address, _ in links(line, page, book)), ""):
            kind = ' class="it-layer"' if line is BELOW else ""
            items.append(f'<li{kind}><a href="{address}"{here}>{line.word}</a></li>')
    texts = [html.escape(text) for text in program(book.root)[1]]
    own = [f"<b>{text}</b>" if page.stem in line.chapters else text for line, text in zip(LINES, texts)]
    return (
        f'<nav class="it-strip" aria-label="The ten lines" data-search-exclude><ol>{"".join(items)}</ol>'
        f"<details><summary>the ten lines</summary><pre>{chr(10).join(own)}</pre></details></nav>"
    )

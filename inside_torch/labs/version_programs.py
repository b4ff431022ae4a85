"""The programs of the version stepper, and how they run. A line after `[x]` can be switched off, one after `[ ]` on."""

from collections.abc import Iterator
from contextlib import ExitStack
from itertools import product
from typing import NamedTuple

import torch


class Program(NamedTuple):
    said: str  # what it is about
    text: str
    setup: str = ""  # what stands above its first line
    asks: str = "w.grad"  # the gradient that it is run for

    @property
    def lines(self) -> list[str]:
        return self.text.split(" | ")


NETWORK = """from torch import nn
from torch.nn.functional import gelu

torch.manual_seed(0)
x = torch.randn(8, 3)
first, second = (nn.Linear(*n, bias=False) for n in ((3, 4), (4, 2)))"""
ALLOWED = "from torch.autograd.graph import allow_mutation_on_saved_tensors"

PROGRAMS = {
    "network": Program(
        "two layers and a GELU",
        "a = first(x) | h = gelu(a) | [ ] h.mul_(2) | y = second(h) | [x] h.mul_(2) | [ ] a.mul_(2) | "
        "[ ] y.mul_(2) | y.sum().backward()",
        setup=NETWORK,
        asks="first.weight.grad[0]",
    ),
    "results": Program(
        "exp and sin",
        "[ ] with allow_mutation_on_saved_tensors(): | w = torch.tensor([1.0, 2.0], requires_grad=True) | "
        "a = w * 1 | e = a.exp() | s = a.sin() | [x] e.add_(1) | [ ] s.add_(1) | [ ] a.add_(1) | "
        "(e + s).sum().backward()",
        setup=ALLOWED,
    ),
    "undone": Program(
        "a write taken back",
        "w = torch.tensor([1.0, 2.0], requires_grad=True) | y = w.exp() | [x] y.add_(1) | [x] y.sub_(1) | "
        "[ ] y.add_(0) | y.sum().backward()",
    ),
    "view": Program(
        "a write through a view",
        "w = torch.tensor([1.0, 2.0], requires_grad=True) | b = w * 1 | left = b[:1] | [ ] left.mul_(3) | "
        "y = b.sin() | [x] left.mul_(3) | [ ] with torch.no_grad(): b.zero_() | y.sum().backward()",
    ),
    "data": Program(
        ".data and detach()",
        "w = torch.tensor([1.0, 2.0], requires_grad=True) | y = w.exp() | d = y.data | c = y.detach() | "
        "[x] d.add_(1) | [ ] c.add_(1) | [ ] with torch.no_grad(): y.add_(1) | y.sum().backward()",
    ),
    "optimizer": Program(
        "an optimizer's step",
        "v = torch.tensor([1.0, 2.0], requires_grad=True) | w = torch.tensor([1.0, 2.0], requires_grad=True) | "
        "y = v * w | w.grad = torch.ones(2) | [x] SGD([w], lr=0.1).step() | "
        "[ ] SGD([w], lr=0.1, fused=True).step() | [ ] with torch.no_grad(): w.sub_(0.1) | y.sum().backward()",
        setup="from torch.optim import SGD",
        asks="v.grad",
    ),
    "leaf": Program(
        "a leaf and a split",
        "w = torch.tensor([1.0, 2.0], requires_grad=True) | [x] w.add_(1) | [ ] with torch.no_grad(): w.add_(1) | "
        "b = w * 1 | p, q = b.split(1) | [ ] p.mul_(2) | y = b.sin() | y.sum().backward()",
    ),
}


def code(line: str) -> str:
    """A line without its switch."""
    return line[4:] if line.startswith("[") else line


def combinations(lines: list[str]) -> list[str]:
    """All ways to switch the lines: 1 for a line that is on, 0 for one that is off."""
    return ["".join(one) for one in product(*("01" if line.startswith("[") else "1" for line in lines))]


def above(program: Program) -> dict:
    """The names of a program before its first line."""
    exec(f"import torch\n{program.setup}", space := {})
    return space


def stepped(lines: list[str], on: str, space: dict) -> Iterator[tuple[int, str | None]]:
    """Run the lines that are on until one is refused: after each, its number, and torch's message if it was refused."""
    with ExitStack() as around:
        for number in (i for i, one in enumerate(on[: len(lines)], 1) if one == "1"):
            line = code(lines[number - 1])
            try:
                if line.endswith(":"):  # a `with` around all that follows
                    around.enter_context(eval(line[len("with ") : -1], space))
                else:
                    exec(line, space)
            except RuntimeError as error:
                yield number, str(error)
                return
            yield number, None


def loss(program: Program, on: str, place: int, by: float) -> float:
    """What is differentiated, in double precision, when `by` is added to one number of the leaf."""
    space, leaf = above(program), program.asks.split(".grad")[0]
    space |= {k: v.double() for k, v in space.items() if isinstance(v, torch.Tensor | torch.nn.Module)}
    torch.set_default_dtype(torch.float64)
    try:
        for _ in stepped(["0", *program.lines[:-1]], "1" + on, space):  # the first line does nothing
            if by and leaf.split(".")[0] in space:
                eval(leaf, space).data.view(-1)[place] += by
                by = 0
        return eval(program.lines[-1].removesuffix(".backward()"), space).item()
    finally:
        torch.set_default_dtype(torch.float32)


def derivative(program: Program, on: str, like: torch.Tensor) -> torch.Tensor:
    """The gradient that a program asks for, by differences: no saved tensor has a part in it."""
    slopes = [(loss(program, on, i, 1e-4) - loss(program, on, i, -1e-4)) / 2e-4 for i in range(like.numel())]
    found = torch.tensor(slopes).view(like.shape)
    return found[0] if program.asks.endswith("[0]") else found

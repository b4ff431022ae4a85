"""The operators that the layers and losses of torch.nn and the optimizers of torch.optim use most, with arguments."""

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from typing import Any

import torch
from torch import nn, optim
from torch.autograd.profiler import profile

SHAPES = ((2, 2, 2, 2), (2, 2), (2, 2, 2), (2, 2, 2, 2, 2))  # of the inputs that layers are tried with
SIZES = ("2, 2", "2, 2, 2, 2", "2, 2, 2", "2", "1")  # of the tensors that operators are tried with
MANY = 10  # arguments that an operator needs: too many to guess
VALUES = {"number": "2", "float": "0.5", "bool": "True", "Optional": "None", "List[bool]": "[True, True, True]"}


def used(count: int) -> dict[str, int]:
    """The `count` operators that most programs use, of those that Python offers for tensors, as `addmm` or
    `add.Tensor`, with how many of the programs use each. A program is a layer or loss of torch.nn, forward and
    backward, or a step of an optimizer of torch.optim; operators that are used alike stand in the alphabet's order."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seen = Counter(name for run in programs() for name in called(run))
    return dict(sorted(((n, k) for n, k in seen.items() if offered(n)), key=lambda one: (-one[1], one[0]))[:count])


def named() -> set[str]:
    return {name.removeprefix("aten::") for name in torch._C._dispatch_get_all_op_names() if name.startswith("aten::")}


def operator(name: str) -> torch._ops.OpOverload:
    packet, _, overload = name.partition(".")
    return getattr(getattr(torch.ops.aten, packet), overload or "default")


def offered(name: str) -> bool:
    """Whether Python has a function or method of this name, and the operator takes a tensor, and none to write to."""
    packet = name.partition(".")[0]
    has = any(hasattr(where, packet) for where in (torch, torch.Tensor, nn.functional)) and packet[0] != "_"
    taken = [str(one.type) for one in operator(name)._schema.arguments if not one.is_out]
    return (
        has and {"Tensor", "List[Tensor]"} & {*taken} != set() and len(taken) == len(operator(name)._schema.arguments)
    )


def first(options: Iterable) -> Any:
    """What the first of the functions returns that does not raise; None where each does."""
    for option in options:
        try:
            return option()
        except Exception:  # an option is a guess at what a layer takes, refused with whatever error
            continue
    return None


def programs() -> Iterator[Callable]:
    """A function for each layer, loss and optimizer that can be built and run with small numbers."""
    for cls in (getattr(nn, name) for name in nn.modules.__all__):
        for layer in (first([lambda n=n: cls(*[2] * n)]) for n in range(5)):  # noqa: B023
            runs = (lambda xs=xs: forward_backward(layer, xs) for xs in inputs()) if layer else ()  # noqa: B023
            if run := first(lambda run=run: (run(), run)[1] for run in runs):
                yield run
                break
    for cls in (getattr(optim, name) for name in optim.__all__):
        if run := first([lambda: (step(cls)(), step(cls))[1]]):  # noqa: B023
            yield run


def inputs() -> Iterator[list]:
    for shape, count, classes in product(SHAPES, (1, 2, 3), (False, True)):
        xs = [torch.full(shape, 0.5, requires_grad=True) for _ in range(count)]
        yield [*xs[:-1], torch.ones(shape[:1] + shape[2:], dtype=torch.long)] if classes else xs


def forward_backward(layer: nn.Module, xs: list) -> None:
    y = layer(*xs)
    (y[0] if isinstance(y, tuple) else y).sum().backward()


def step(cls: type) -> Callable:
    weight = torch.ones(2, 2, requires_grad=True)
    weight.grad = torch.ones(2, 2)
    optimizer = cls([weight])
    return lambda: optimizer.step(lambda: torch.ones(()))


def called(run: Callable) -> set[str]:
    """The operators that run in a call."""
    names = torch._C._profiler._ExperimentalConfig(capture_overload_names=True)
    with profile(experimental_config=names) as seen:
        run()
    found = {e.name() + "." * bool(e.overload_name()) + e.overload_name() for e in seen.kineto_results.events()}
    return {name.removeprefix("aten::") for name in found if name.startswith("aten::")} & named()


def arguments(name: str) -> tuple[str, str]:
    """Arguments with which an operator can be called, as Python in which x is a tensor of ones and i one of integers,
    and the size of both; empty where none of those that are tried fit."""
    wanted = [one for one in operator(name)._schema.arguments if not one.has_default_value()]
    for size, integers, number, many in product(
        SIZES if len(wanted) < MANY else (), ((), (-1,), (0,), (1,)), "120", (1, 2, 3, 4, 5)
    ):
        tensors = [at for at, one in enumerate(wanted) if str(one.type) == "Tensor"]
        long = [tensors[at] for at in integers if at < len(tensors)]
        text = ", ".join(value(one, number, many, at in long) for at, one in enumerate(wanted))
        if first([lambda: (call(name, text, size), True)[1]]):  # noqa: B023
            return text, size
    return "", ""


def value(argument: Any, number: str, many: int, integers: bool) -> str:
    kind = str(argument.type)
    kinds = VALUES | {"Tensor": "i" if integers else "x", "List[Tensor]": "[x, x]", "int": number, "SymInt": number}
    lists = kind.startswith(("List[int]", "List[SymInt]"))
    return f"[{', '.join([number] * many)}]" if lists else kinds.get(kind.split("[")[0] if "Opt" in kind else kind, "0")


def call(name: str, text: str, size: str) -> Any:
    space = {"x": eval(f"torch.ones({size})"), "i": eval(f"torch.ones({size}).long()")}
    return eval(f"f({text})", space | {"f": operator(name)})

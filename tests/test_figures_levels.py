"""What the figure of the levels of function transforms promises: what torch says of the same call."""

from __future__ import annotations

import pytest
import torch
from test_figures import HOSTILE, plain_and_fits, rows_of
from torch._C._functorch import TransformType, get_interpreter_stack
from torch.func import grad, jvp, vmap
from torch.utils._python_dispatch import TorchDispatchMode

from inside_torch.figures import call_levels


def tensors() -> dict[str, torch.Tensor]:
    return {"w": torch.ones(4, 3), "x": torch.ones(8, 3)}


def each(f):
    return vmap(grad(f), in_dims=(None, 0))


def nested(f):
    return vmap(vmap(grad(f), in_dims=(None, 0)), in_dims=(None, 0))


class Operators(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.ran.append(func)
        return func(*args, **(kwargs or {}))


def test_the_levels_are_those_of_the_interpreters_the_highest_first():
    stack = []

    def f(w, x):
        stack.extend(one.key() for one in reversed(get_interpreter_stack()))
        return torch.mv(w, x).sum()

    each(f)(*tensors().values())
    assert stack == [TransformType.Grad, TransformType.Vmap]
    rows = rows_of(call_levels(each, torch.mv, tensors(), title="t"))
    assert [row[0] for row in rows] == ["f", "level 2: grad", "level 1: vmap", "kernels"]


def test_arguments_lose_a_wrapper_at_each_level_and_the_result_gains_it():
    f, _, batched, kernels = rows_of(call_levels(each, torch.mv, tensors(), title="t"))
    assert f[1:] == ["torch.mv(w, x)", "", ""]
    assert batched[2:] == ["w Tensor (4, 3), x BatchedTensor (3,)", "BatchedTensor (4,)"]
    assert kernels[2:] == ["w Tensor (4, 3), x Tensor (8, 3)", "Tensor (4, 8)"]
    inputs = {"w": torch.ones(4, 3), "x": torch.ones(2, 8, 3)}
    rows = rows_of(call_levels(nested, torch.mv, inputs, title="t"))
    assert [row[2] for row in rows[3:]] == [
        "w Tensor (4, 3), x BatchedTensor (8, 3)",
        "w Tensor (4, 3), x Tensor (2, 8, 3)",
    ]


def test_the_node_and_the_kernels_are_those_of_a_run():
    rows = rows_of(call_levels(each, torch.mv, tensors(), title="t"))
    w, x = tensors().values()
    with Operators() as seen:
        seen.ran = []
        vmap(torch.mv, in_dims=(None, 0), out_dims=1)(w, x)
    assert [one.split()[0] for one in rows[3][1].split("; ")] == [str(one.overloadpacket) for one in seen.ran]
    assert torch.mv(w.requires_grad_(), x[0]).grad_fn.name() in rows[1][1]


def test_a_batching_rule_may_be_that_of_an_overload():
    rows = rows_of(call_levels(vmap, torch.mul, {"a": torch.ones(3), "b": torch.ones(3)}, title="t"))
    assert rows[1][1] == "unwraps BatchedTensor; runs the batching rule of mul"


def along(f):
    return lambda x: jvp(f, (x,), (x,))


@pytest.mark.parametrize(
    ("transform", "f", "inputs", "error", "part"),
    [
        (each, torch.mv, {"w": 3, "x": 4}, TypeError, "torch.Tensor, got int"),
        (each, torch.mv, {"w" * 60: torch.ones(4, 3), "x": torch.ones(8, 3)}, ValueError, "too wide"),
        (each, lambda w, x: torch.mv(w, x).sin(), tensors(), ValueError, "one call of torch"),
        (lambda f: f, torch.sin, {"x": torch.ones(3)}, ValueError, "only levels of vmap and of grad"),
        (along, torch.sin, {"x": torch.ones(3)}, ValueError, "only levels of vmap and of grad"),
        (vmap, torch.histc, {"x": torch.ones(8, 3)}, ValueError, "aten::histc has no batching rule"),
        (vmap, torch.max, {"a": torch.ones(3), "b": torch.ones(3)}, ValueError, "aten::max has no batching rule"),
        (grad, torch.argmax, {"x": torch.ones(3)}, ValueError, "level 1 left no node"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_what_disagrees_with_the_figure_raises(transform, f, inputs, error, part):
    with pytest.raises(error, match=part):
        call_levels(transform, f, inputs, title="t")


def test_it_is_plain_stable_and_fits_a_phone():
    svg = call_levels(each, torch.mv, tensors(), title=HOSTILE)
    assert svg == call_levels(each, torch.mv, tensors(), title=HOSTILE)
    plain_and_fits(svg)

"""What the figure of both levels promises: what torch's own modes and hooks see of the same line."""

from __future__ import annotations

import pytest
import torch
from test_figures import HOSTILE, plain_and_fits, rows_of
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from inside_torch.figures import both_levels


class Functions(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.seen.append(func.__name__)
        return func(*args, **(kwargs or {}))


class Operators(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.seen.append(func.overloadpacket.__name__)
        return func(*args, **(kwargs or {}))


def line():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    return lambda x, target: nn.functional.cross_entropy(model(x), target)


def inputs() -> tuple[torch.Tensor, torch.Tensor]:
    return torch.ones(8, 3), torch.zeros(8, dtype=torch.long)


def test_the_outer_columns_are_what_two_modes_see_in_order():
    rows, f, given = rows_of(both_levels(line(), *inputs(), title="t")), line(), inputs()
    with Functions() as functions, Operators() as operators:
        functions.seen, operators.seen = [], []
        f(*given).backward()
    assert [row[1] for row in rows if row[1]] == functions.seen
    assert [name for row in rows for name in row[3].split()] == operators.seen


def test_the_middle_column_has_the_nodes_as_they_are_made_and_as_they_run():
    rows, ran = rows_of(both_levels(line(), *inputs(), title="t")), []
    y = line()(*inputs())
    nodes = [y.grad_fn]
    for node in nodes:
        node.register_prehook(lambda _, node=node: ran.append(node.name().rpartition("::")[2]))
        nodes += [after for after, _ in node.next_functions if after and after not in nodes]
    made = sorted((node for node in nodes if not hasattr(node, "variable")), key=lambda node: node._sequence_nr())
    assert [name for row in rows if row[0] == "forward" for name in row[2].split()] == [node.name() for node in made]
    y.backward()
    assert [row[2] for row in rows if row[0] == "backward" and not row[1]] == ran


def test_the_operators_of_a_node_are_those_that_it_calls_alone():
    rows = rows_of(both_levels(line(), *inputs(), title="t"))
    hidden, grad = torch.ones(8, 4, requires_grad=True).relu(), torch.ones(8, 4)
    with Operators() as operators:
        operators.seen = []
        hidden.grad_fn(grad)
    drawn = next(row[3] for row in rows if row[0] == "backward" and row[2] == "ReluBackward0")
    assert drawn.split() == operators.seen


def test_without_backward_the_rows_of_forward_stay_and_nothing_runs_backward():
    f, heads = line(), ("Python", "autograd", "kernels")
    both, above = (rows_of(both_levels(f, *inputs(), title="t", backward=one)) for one in (True, False))
    assert above == [row for row in both if row[0] == "forward"] and len(above) < len(both)
    ran, wide = [], torch.ones(3, requires_grad=True)
    wide.register_hook(lambda grad: ran.append(grad))
    svg = both_levels(torch.sum, wide, title="t", heads=heads, backward=False)
    assert not ran and wide.grad is None
    assert all(f"{head}: " in svg for head in heads) and "backward pass" not in svg and "function level" not in svg


@pytest.mark.parametrize(
    ("f", "inputs", "error", "part"),
    [
        (torch.sum, (3,), TypeError, "torch.Tensor, got int"),
        (torch.sum, (torch.ones(3),), ValueError, "one number that has a node"),
        (torch.exp, (torch.ones(3, requires_grad=True),), ValueError, "one number that has a node"),
        (lambda x: (x, x), (torch.ones(3),), ValueError, "one number that has a node"),
    ],
)
def test_what_disagrees_with_the_figure_raises(f, inputs, error, part):
    with pytest.raises(error, match=part):
        both_levels(f, *inputs, title="t")


def test_a_name_without_room_raises():
    @torch.library.custom_op(f"figures::{'operator' * 6}", mutates_args=())
    def long(x: torch.Tensor) -> torch.Tensor:
        return x.clone()

    with pytest.raises(ValueError, match="too wide"):
        both_levels(lambda x: (x * long(x.detach())).sum(), torch.ones(3, requires_grad=True), title="t")


def test_it_is_plain_stable_and_fits_a_phone():
    svg = both_levels(line(), *inputs(), title=HOSTILE)
    assert svg == both_levels(line(), *inputs(), title=HOSTILE)
    plain_and_fits(svg)

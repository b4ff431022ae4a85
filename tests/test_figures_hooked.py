"""What the figure of the hooks along a training program promises: it counts real calls, each in a run of its own."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import pytest
import torch
from test_figures import ATTRIBUTES, CSS, SVG, rows_of
from torch import nn
from torch.optim import optimizer

from inside_torch.figures import hook_points
from inside_torch.figures.hooked import HOOKS
from inside_torch.render.figures import checked_figure, figure_html

PROGRAM = {
    "seed": "torch.manual_seed(0)",
    "model": "x, model = torch.ones(8, 3), nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))",
    "optimizer": "optimizer = torch.optim.SGD(model.parameters())",
    "compile": "compiled = torch.compile(model, backend=backend)",
    "loss": "loss = compiled(x).sum()",
    "backward": "loss.backward()",
    "step": "optimizer.step()",
}
USERS = dict.fromkeys(HOOKS, "somebody")


def drawn(program=PROGRAM, users=USERS) -> str:
    return hook_points(program, users, title="t")


def test_each_hook_stands_in_the_line_that_calls_it():
    rows = {(line, hook): n for line, hook, n, _ in rows_of(drawn())}
    parameters, modules = 4, 4
    saved = rows.pop(("loss", "saved_tensors_hooks"))
    assert saved == rows.pop(("backward", "saved_tensors_hooks")) > 0
    assert rows == {
        ("model", "register_parameter"): parameters,
        ("loss", "backend of torch.compile"): 1,
        ("loss", "forward hook"): modules,
        ("backward", "post-accumulate hook"): parameters,
        ("step", "optimizer step hook"): 1,
    }


def test_one_layer_more_is_counted():
    more = PROGRAM | {
        "model": "x, model = torch.ones(8, 3), nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2), nn.Tanh())"
    }
    rows = {hook: n for _, hook, n, _ in rows_of(drawn(more, {"forward hook": "a"}))}
    assert rows == {"forward hook": 4}
    fewer = PROGRAM | {"model": "x, model = torch.ones(8, 3), nn.Linear(3, 4)"}
    assert rows_of(drawn(fewer, {"forward hook": "a"}))[0][2] == 1


def test_nothing_stays_registered():
    before = nn.Module.register_parameter
    drawn()
    assert nn.Module.register_parameter is before
    w = torch.ones(2, requires_grad=True)
    assert (w * w).grad_fn._saved_self is w
    assert not optimizer._global_optimizer_post_hooks


def test_it_raises_for_what_it_cannot_show():
    with pytest.raises(KeyError):
        drawn(users={"a hook of mine": "me"})
    still = PROGRAM | {"backward": "pass"}
    with pytest.raises(ValueError, match="never calls post-accumulate hook"):
        drawn(still, {"post-accumulate hook": "me"})
    with pytest.raises(ValueError, match="too long"):
        drawn(users={"forward hook": "a name that does not fit on a phone at all"})


def test_it_is_plain_stable_and_fits_a_phone():
    svg = drawn()
    assert svg == drawn()
    for element in ElementTree.fromstring(svg).iter():
        assert set(element.keys()) <= ATTRIBUTES[element.tag.removeprefix(SVG)]
    classes = {name for value in re.findall(r'class="([^"]+)"', svg) for name in value.split()}
    assert classes <= set(re.findall(r"\.(figure|it-[\w-]+)", CSS))
    figure_html(checked_figure(svg), "")

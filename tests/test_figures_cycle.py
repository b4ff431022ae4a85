"""The figure of a reference cycle shows what the collector is told, and refuses what is no such cycle."""

from __future__ import annotations

import pytest
import torch
from test_figures import rows_of

from inside_torch.figures import reference_cycle
from inside_torch.render.figures import checked_figure, figure_html, layouts

SILENT = ("node", "hooks")


def ring() -> dict[str, object]:
    y = torch.ones(8, 3, requires_grad=True).exp()

    def hook(grad):
        return grad * y

    y.register_hook(hook)
    return {"y": y, "node": y.grad_fn, "hooks": y._backward_hooks, "hook": hook}


def test_arrows_are_what_the_objects_name_to_the_collector():
    svg = reference_cycle(ring(), SILENT, title="t")
    assert rows_of(svg) == [
        ["y", "Tensor", "node, hooks"],
        ["node", "ExpBackward0", ""],
        ["hooks", "OrderedDict", "hook"],
        ["hook", "function", "y"],
    ]
    (one,) = layouts(checked_figure(svg))
    assert float(one.get("width")) <= 328
    figure_html(checked_figure(svg), "")


def test_what_is_no_silent_owner_or_no_ring_is_refused():
    objects = ring()
    with pytest.raises(ValueError, match="'y' names 'hooks' to the collector"):
        reference_cycle(objects, ("y", "hooks"), title="t")
    with pytest.raises(ValueError, match="a ring has 4 objects, got 3"):
        reference_cycle(dict(list(objects.items())[:3]), SILENT, title="t")
    with pytest.raises(ValueError, match="'hooks' does not name 'hook', so there is no ring"):
        reference_cycle({**objects, "hook": print}, SILENT, title="t")
    known = {"y": [], "node": [], "hooks": [], "hook": []}
    with pytest.raises(ValueError, match="has 1 owners, and the collector finds 1"):
        reference_cycle(known, SILENT, title="t")

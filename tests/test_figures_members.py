"""The figure of a module's attributes says what the module says."""

from __future__ import annotations

import pytest
import torch
from test_figures import rows_of
from torch import nn

from inside_torch.figures import who_sees
from inside_torch.render.figures import checked_figure, figure_html


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.zeros(2))
        self.mean = nn.Buffer(torch.zeros(2))
        self.mask = nn.Buffer(torch.ones(2), persistent=False)
        self.inner = nn.Linear(2, 2)
        self.twice = self.w * 2
        self.rest = [nn.Linear(2, 2)]
        self.drop = nn.Dropout()


def answers(svg: str) -> dict[str, list[str]]:
    rows = rows_of(svg)
    return {name: seen for _, name, *seen in rows}


def test_each_observer_is_asked():
    net = Net()
    versions = [t._version for t in (*net.parameters(), *net.buffers())]
    svg = who_sees(net, title="t")
    assert answers(svg) == {
        "w": ["yes", "yes", "yes", ""],
        "mean": ["no", "yes", "yes", ""],
        "mask": ["no", "no", "yes", ""],
        "inner": ["yes", "yes", "yes", "yes"],
        "twice": ["no", "no", "no", ""],
        "rest": ["no", "no", "no", "no"],
        "drop": ["", "", "", "yes"],
    }
    assert net.training and versions == [t._version for t in (*net.parameters(), *net.buffers())]
    figure_html(checked_figure(svg), "")


def test_the_observers_are_chosen():
    assert answers(who_sees(Net(), title="t", observers=("to()",)))["mask"] == ["yes"]


def hidden(net):
    vars(net)["w"] = torch.ones(2)


def another(net):
    net.register_state_dict_post_hook(lambda module, state, prefix, _: state.update(w=torch.ones(2)))


def partly(net):
    net.rest.append(net.inner)


@pytest.mark.parametrize("disagree", [hidden, another, partly])
def test_a_module_that_disagrees_with_itself_is_not_drawn(disagree):
    disagree(net := Net())
    with pytest.raises(ValueError, match=r"hides 'w'|another tensor as 'w'|only a part"):
        who_sees(net, title="t")


def test_what_has_nothing_to_draw_is_refused():
    with pytest.raises(TypeError, match=r"torch\.nn\.modules\.module\.Module, got Tensor"):
        who_sees(torch.ones(2), title="t")
    with pytest.raises(ValueError, match="0 attributes"):
        who_sees(nn.ReLU(), title="t")

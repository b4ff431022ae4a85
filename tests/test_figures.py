"""What the figures promise: true to the live object, the same bytes everywhere, safe, readable."""

import hashlib
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from inside_torch.drawing.layout import PHONE
from inside_torch.figures import (
    backward_graph,
    hook_timeline,
    object_chain,
    program_graph,
    storage_strip,
    stride_steps,
    view_groups,
    write_counted,
)
from inside_torch.render.figures import checked_figure, figure_html, layouts

ROOT = Path(__file__).parents[1]
CSS = (ROOT / "docs/assets/figures.css").read_text()
SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = 'x <b> & "q" \']]>'
ATTRIBUTES = {
    "svg": {"class", "viewBox", "width", "height", "role", "aria-labelledby"},
    "title": {"id"},
    "desc": {"id"},
    "metadata": set(),
    "g": {"class", "tabindex", "role", "aria-label"},
    "rect": {"class", "x", "y", "width", "height", "rx"},
    "path": {"class", "d"},
    "circle": {"class", "cx", "cy", "r"},
    "text": {"class", "x", "y", "text-anchor"},
}


def views() -> dict:
    """Tensors over twelve integers: every layout a strip has to cope with."""
    x = torch.arange(20, 32).reshape(3, 4)
    return {
        "x": x,
        "x[1:, ::2]": x[1:, ::2],
        "x.t()": x.t(),
        "x[2, 3]": x[2, 3],
        "x[0, 5:6] expanded": x.view(-1)[5:6].expand(3, 4),
        "x in windows": x.as_strided((3, 4), (1, 1), 2),
        "x by planes": x.as_strided((2, 2, 3), (1, 6, 2)),
        "x from its end": x.as_strided((2, 1, 2), (3, 100, 0), 8),
    }


def two_layers():
    """Result and names of relu(x @ w1 + b1) @ w2."""
    torch.manual_seed(0)
    x = torch.ones(2, 3)
    w1, b1, w2 = (torch.randn(size, requires_grad=True) for size in [(3, 4), (4,), (4, 1)])
    h = torch.relu(x @ w1 + b1)
    return h @ w2, {"x": x, "w1": w1, "b1": b1, "w2": w2, "h": h}


def skipping():
    """A graph whose edges pass levels and meet in one leaf, three at a time."""
    x = torch.ones(3, requires_grad=True)
    return (x.exp().sin() * 2 + x).sum() * x[0].pow(2), {"x": x}


def all_figures() -> list:
    """One figure of every kind that the tests below look at."""
    tensors = views()
    x = tensors.pop("x")
    whole = [{"x": x, HOSTILE: view} for view in tensors.values()]
    figures = [storage_strip(pair, title=HOSTILE) for pair in whole]
    figures += [storage_strip({"x": x, "a": x[1], "b": x[:, 1]}, title="Three views")]
    figures += [stride_steps(view, name=name, title="Steps") for name, view in tensors.items()]
    figures += [object_chain({"x": x}, title="A chain"), view_groups(x, name=HOSTILE, title="A group")]
    figures += [write_counted({"z": z}, "z.add_(1)", title="A write") for z in [torch.arange(3)]]
    y = torch.ones(3, requires_grad=True)
    graphs = [two_layers(), skipping(), (y * y, {HOSTILE: y})]
    figures += [backward_graph(t, names=names, title="A graph") for t, names in graphs]
    figures += [program_graph("z = y.exp()\nl = z.sum()", {"y": y}, names={HOSTILE: y}, title=HOSTILE)]
    return [*figures, hook_timeline(torch.nn.Linear(3, 4), y, title="Hooks")]


FIGURES = all_figures()


def plain_and_fits(svg: str) -> None:
    """A figure has the elements, attributes and classes that the page's style knows, and fits the text and a phone."""
    for element in ElementTree.fromstring(svg).iter():
        assert set(element.keys()) <= ATTRIBUTES[element.tag.removeprefix(SVG)]
    drawn = {name for value in re.findall(r'class="([^"]+)"', svg) for name in value.split()}
    assert drawn <= set(re.findall(r"\.(figure|it-[\w-]+)", CSS))
    wide, narrow = layouts(checked_figure(svg))
    assert float(wide.get("width")) <= 688 and float(narrow.get("width")) <= 328
    figure_html(checked_figure(svg), "")


def rows_of(svg: str) -> list:
    """The rows of a figure's data table."""
    return json.loads(ElementTree.fromstring(svg).find(SVG + "metadata").text)["rows"]


def texts(svg: str) -> list:
    """All text that is drawn."""
    return [element.text for element in ElementTree.fromstring(svg).iter(SVG + "text")]


def numbers(element, *names) -> list:
    return [float(element.get(name)) for name in names]


@pytest.mark.parametrize("label", views())
def test_each_element_is_joined_to_the_cell_at_its_address(label):
    x, tensor = views()["x"], views()[label]
    x = tensor.as_strided((12,), (1,), 0)
    rows = rows_of(storage_strip({"whole": x, label: tensor}, title="A view"))
    assert len([row for row in rows if row[0] == label]) == tensor.numel()
    for name, position, index, value in rows:
        element = {"whole": x, label: tensor}[name][tuple(position)]
        assert index == (element.data_ptr() - x.data_ptr()) / x.itemsize
        assert value == str(element.item())


def test_each_line_ends_at_the_cell_the_table_names():
    tensors = views()
    for label, tensor in tensors.items():
        svg = ElementTree.fromstring(storage_strip({label: tensor}, title="A view"))
        edges = [numbers(e, "x", "width") for e in svg.iter(SVG + "rect") if e.get("class") == "it-edge"]
        ends = [numbers(e, "cx")[0] for e in svg.iter(SVG + "circle")]
        cells = [[x < end < x + width for x, width in edges].index(True) for end in ends]
        assert cells == [row[2] for row in rows_of(ElementTree.tostring(svg).decode())]


def test_the_strip_shows_the_storage_itself_and_not_the_tensor():
    x = torch.arange(8)
    for svg in [storage_strip({"x": x[2:4]}, title="t"), stride_steps(x[2:4], name="x", title="t")]:
        assert [said for said in texts(svg) if said == "7"] == ["7", "7"]  # an index and a value
    floats = torch.tensor([0.1, -2.0, float("nan"), 1e10, float("-inf")])
    assert {"0.1", "-2", "nan", "1e+10", "-inf"} <= set(texts(storage_strip({"f": floats}, title="t")))


def test_steps_say_stride_offset_and_where_they_lead():
    x = torch.arange(12).reshape(3, 4)
    svg = stride_steps(x[1:, ::2], name="x", title="t")
    assert {"stride(0) = 4", "stride(1) = 2", "offset 4"} <= set(texts(svg))
    assert rows_of(svg) == [[0, 2, 4, 4, 8], [1, 2, 2, 4, 6]]
    svg = stride_steps(x[:, 1:2].expand(3, 2), name="x", title="t")
    assert rows_of(svg) == [[0, 3, 4, 1, 5], [1, 2, 0, 1, 1]]
    svg = stride_steps(x[:, 1:2], name="x", title="t")
    assert "stride(1) = 1, never taken: size 1" in texts(svg) and rows_of(svg)[1][-1] is None
    image = torch.arange(8.0).reshape(1, 2, 2, 2).to(memory_format=torch.channels_last)
    assert [row[2] for row in rows_of(stride_steps(image, name="x", title="t"))] == [8, 1, 4, 2]


def test_steps_along_a_long_strip_are_laid_out_anew_for_a_phone():
    short, long = torch.arange(6).view(2, 3), torch.arange(20).view(4, 5)[:, 1::3]
    assert "it-narrow" not in stride_steps(short, name="x", title="t")
    drawn = ElementTree.fromstring(stride_steps(long, name="x", title="t"))
    narrow = next(one for one in drawn if one.get("class") == "figure it-narrow")
    assert int(narrow.get("width")) <= PHONE < int(drawn.get("width"))
    said = [one.text for one in narrow.iter() if one.text]
    assert {"0", "19", "stride(0) = 5", "stride(1) = 3"} <= set(said) and any("offset 1" in one for one in said)


def test_a_graph_has_the_nodes_edges_and_saved_tensors_of_autograd():
    result, names = two_layers()
    svg = backward_graph(result, names=names, title="t")
    rows = {row[0]: row for row in rows_of(svg)}
    assert rows[1][1] == result.grad_fn.name() == "MmBackward0"
    relu, w2 = (rows[int(number)] for number in rows[1][4].split(", "))
    assert (relu[1], relu[2]) == ("ReluBackward0", "result = h (2, 4)")
    assert (w2[1], w2[3]) == ("torch::autograd::AccumulateGrad", "w2 (4, 1)")
    assert {"mat2 = w2 (4, 1)", "self = h (2, 4)", "self = x (2, 3)", "grad_fn of h"} <= set(texts(svg))
    assert "mat2 None" not in svg and "mat2_sym_sizes (3, 4)" in texts(svg)
    assert "mat2_sym" not in backward_graph(result, names=names, title="t", values=False)


def test_two_edges_to_one_node_are_drawn_apart():
    x = torch.ones(3, requires_grad=True)
    svg = backward_graph(x * x, names={"x": x}, title="t")
    assert rows_of(svg)[0][4] == "2, 2" and "receives the sum of 2 gradients" in svg
    lines = [e.get("d") for e in ElementTree.fromstring(svg).iter(SVG + "path") if e.get("class") == "it-line"]
    assert len(lines) == len(set(lines)) == 4  # to Mul, twice to AccumulateGrad, to x


@pytest.mark.parametrize("graph", [two_layers, skipping])
def test_every_edge_ends_on_a_node_and_crosses_none(graph):
    result, names = graph()
    root = ElementTree.fromstring(backward_graph(result, names=names, title="t"))
    boxes = [numbers(e, "x", "y", "width", "height") for e in root.iter(SVG + "rect")]
    for head in (e.get("d") for e in root.iter(SVG + "path") if e.get("class") == "it-head"):
        x, y = map(float, head.split()[1:3])
        assert any(left < x < left + width and y == top for left, top, width, _ in boxes)
    for line in (e.get("d") for e in root.iter(SVG + "path") if e.get("class") == "it-line"):
        for x, low, high in re.findall(r"([\d.]+) ([\d.]+) V ([\d.]+)", line):
            for left, top, width, height in boxes:
                apart = float(x) < left or float(x) > left + width
                assert apart or float(high) <= top or float(low) >= top + height


def test_functions_of_ones_own_show_what_they_save():
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return 2 * x

    x = torch.ones(2, requires_grad=True)
    assert "saved_tensors[0] = x (2,)" in texts(backward_graph(Double.apply(x), names={"x": x}, title="t"))


def test_same_input_same_bytes_in_any_process():
    code = "import hashlib, test_figures as t; print(hashlib.sha256(''.join(t.FIGURES).encode()).hexdigest())"
    here = hashlib.sha256("".join(FIGURES).encode()).hexdigest()
    assert hashlib.sha256("".join(all_figures()).encode()).hexdigest() == here
    for seed in ["1", "2"]:
        env = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"}
        run = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
        assert run.stdout.strip() == here


def test_only_plain_shapes_and_classes():
    for svg in FIGURES:
        root = ElementTree.fromstring(svg)
        assert [child.tag.removeprefix(SVG) for child in root[:3]] == ["title", "desc", "metadata"]
        for element in root.iter():
            assert set(element.keys()) <= ATTRIBUTES[element.tag.removeprefix(SVG)]
        for name in root.iter(SVG + "text"):
            assert name.text.strip()
    drawn = {name for svg in FIGURES for value in re.findall(r'class="([^"]+)"', svg) for name in value.split()}
    assert drawn == set(re.findall(r"\.(figure|it-[\w-]+)", CSS))  # no class without a rule, nor the reverse


def test_ids_never_clash_and_are_what_the_label_refers_to():
    ids = []
    for svg in FIGURES:
        root = ElementTree.fromstring(svg)
        own = [element.get("id") for element in root.iter() if element.get("id")]
        assert own == root.get("aria-labelledby").split()
        ids += own
    assert len(ids) == len(set(ids)) == 2 * len(FIGURES)


def test_all_text_is_escaped():
    x = torch.ones(3, requires_grad=True)
    data = x.detach()
    for svg in [
        storage_strip({HOSTILE: data}, title=HOSTILE),
        stride_steps(data, name=HOSTILE, title=HOSTILE),
        backward_graph(x.exp(), names={HOSTILE: x}, title=HOSTILE),
    ]:
        assert ElementTree.fromstring(svg).find(SVG + "title").text == HOSTILE
        assert HOSTILE in " ".join(texts(svg)) and HOSTILE in ElementTree.fromstring(svg).find(SVG + "desc").text


class Liar(torch.Tensor):
    """A tensor that says other strides than its elements have."""

    def stride(self, *dimension):
        return (1,)


def nothing_to_draw() -> dict:
    """What must be refused: name -> (call, error, part of its message)."""
    x, long = torch.arange(4), torch.arange(33)
    w = torch.ones(2, requires_grad=True)
    freed = (w * w).sum()
    freed.backward()
    deep = w
    for _ in range(30):
        deep = deep.exp()
    with FakeTensorMode():
        fake = torch.empty(2)
    strip = lambda tensors, title="t": lambda: storage_strip(tensors, title=title)  # noqa: E731
    steps = lambda tensor, **named: lambda: stride_steps(tensor, **{"name": "x", "title": "t", **named})  # noqa: E731
    graph = lambda tensor, names=None, title="t": lambda: backward_graph(tensor, names=names, title=title)  # noqa: E731
    return {
        "no dict": (strip([x]), TypeError, "dict"),
        "no tensors": (strip({}), ValueError, "1 to 3"),
        "four tensors": (strip({f"x{i}": x for i in range(4)}), ValueError, "1 to 3"),
        "no tensor": (strip({"x": [1]}), TypeError, "torch.Tensor"),
        "label no text": (strip({1: x}), TypeError, "str"),
        "label blank": (strip({" ": x}), ValueError, "visible"),
        "label of two lines": (strip({"a\nb": x}), ValueError, "one line"),
        "labels alike": (strip({"x": x, "x ": x}), ValueError, "differ"),
        "title empty": (strip({"x": x}, ""), ValueError, "title"),
        "title no text": (strip({"x": x}, None), TypeError, "title"),
        "two storages": (strip({"x": x, "y": x.clone()}), ValueError, "'y' does not share"),
        "two dtypes": (strip({"x": x, "y": x.view(torch.float64)}), ValueError, "dtype"),
        "four dimensions": (strip({"x": x.view(1, 1, 2, 2)}), ValueError, "4 dimensions"),
        "sparse": (strip({"x": x.to_sparse()}), ValueError, "storage"),
        "meta": (strip({"x": torch.empty(2, device="meta")}), ValueError, "meta"),
        "fake": (strip({"x": fake}), ValueError, "meta"),
        "elsewhere": (strip({"x": x[::2].as_subclass(Liar)}), ValueError, "'x'[1] is not where its strides say"),
        "lazy": (strip({"x": torch.ones(2, dtype=torch.complex64).conj()}), ValueError, "lazy"),
        "no elements": (strip({"x": x[:0]}), ValueError, "0 elements"),
        "many elements": (strip({"x": x.expand(9, 4)}), ValueError, "36 elements"),
        "large storage": (strip({"x": long[:2]}), ValueError, "33 elements"),
        "steps: no tensor": (steps(3), TypeError, "torch.Tensor"),
        "steps: large storage": (steps(long[:2]), ValueError, "33 elements"),
        "steps: five dimensions": (steps(x.view(1, 1, 1, 2, 2)), ValueError, "5 dimensions"),
        "steps: name": (steps(x, name=""), ValueError, "label"),
        "steps: title": (steps(x, title=" "), ValueError, "title"),
        "graph: no tensor": (graph(3), TypeError, "torch.Tensor"),
        "graph: leaf": (graph(w), ValueError, "grad_fn"),
        "graph: title": (graph(w * 2, title=""), ValueError, "title"),
        "graph: freed": (graph(freed), ValueError, "freed"),
        "graph: deep": (graph(deep), ValueError, "24 nodes"),
        "graph: names no dict": (graph(w * 2, [w]), TypeError, "dict"),
        "graph: name of no tensor": (graph(w * 2, {"w": 1}), TypeError, "torch.Tensor"),
        "graph: name unknown": (graph(w * 2, {"w": w, "x": x}), ValueError, "'x'"),
        "graph: names alike": (graph(w * 2, {"w": w, " w": x}), ValueError, "differ"),
        "graph: two names": (graph(w * 2, {"w": w, "v": w}), ValueError, "two names"),
    }


REFUSED = nothing_to_draw()


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_drawn_raises(case):
    call, error, part = REFUSED[case]
    with pytest.raises(error, match=re.escape(part)):
        call()


def colours(scheme: str) -> dict:
    """Custom properties of a colour scheme, as the three channels."""
    block = re.search(rf'\[data-md-color-scheme="{scheme}"\] {{(.*?)}}', CSS, re.S)[1]
    found = re.findall(r"--it-([\w-]+): #(..)(..)(..);", block)
    assert len(found) == block.count("--it-")
    return {name: [int(channel, 16) / 255 for channel in channels] for name, *channels in found}


def contrast(a: list, b: list) -> float:
    """WCAG 2 contrast ratio of two sRGB colours."""

    def luminance(colour):
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted([luminance(a), luminance(b)], reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["default", "slate"])
def test_contrast(scheme):
    colour = colours(scheme)
    tones = ["accent", "second", "third"]
    for text in ["ink", "soft", *tones]:
        assert contrast(colour[text], colour["paper"]) >= 4.5, text
    for tone in tones:
        assert contrast(colour["ink"], colour[f"{tone}-soft"]) >= 4.5, tone
        assert contrast(colour[tone], colour[f"{tone}-soft"]) >= 3, tone
    assert contrast(colour["line"], colour["paper"]) >= 3


def test_colours_are_custom_properties_and_no_text_is_small():
    rules = re.sub(r"--it-[\w-]+: #\w+;", "", re.sub(r"/\*.*?\*/", "", CSS, flags=re.S))
    assert not re.search(r"#[0-9a-f]{3}|rgb|hsl", rules)
    sizes = [float(size) for size in re.findall(r"(?:font|font-size): ([\d.]+)px", CSS)]
    assert sizes and min(sizes) >= 11
    assert len(sizes) == len(re.findall(r"\bfont(?:-size)?:", CSS))  # and none in another unit

"""What the figures of training promise: true to the numbers, the same bytes everywhere, small, safe, or an error."""

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
import torch
from test_figures import SVG

from inside_torch.drawing.layout import PHONE, WIDE, code_width
from inside_torch.figures import loss_paths, step_curves
from inside_torch.render.figures import checked_figure

ROOT = Path(__file__).parents[1]
CSS = (ROOT / "docs/assets/figures.css").read_text()
HOSTILE = 'x <b> & "q" \']]>'


def bowl(x, y):
    """A loss whose contours are circles around (1, 0)."""
    return (x - 1) ** 2 + y**2


def spiral(steps=30):
    """A path that ends at (1, 0)."""
    angle = torch.linspace(0, 6, steps, dtype=torch.float64)
    radius = torch.linspace(1.5, 0, steps, dtype=torch.float64)
    return torch.stack([1 + radius * angle.cos(), radius * angle.sin()], dim=1)


def surface(paths=None, *, loss=bowl, x=(-1, 3), y=(-2, 2), lowest=(1, 0), title="A surface"):
    paths = {"path": spiral()} if paths is None else paths
    return loss_paths(loss, paths, x=x, y=y, axes=("across", "up"), lowest=lowest, title=title)


def all_figures():
    curves = {HOSTILE: [1.0, 0.5, 0.25], "b": torch.tensor([-1.0, 0.0, 2.0]), "c": [3, 3, 3]}
    plots = {HOSTILE: curves, "b": {"alone": [0.0, 1.0, 0.0]}, "c": {"alone": [0.0, -1.0, 0.0]}}
    return [
        surface({HOSTILE: spiral(), "b": spiral(2), "c": -spiral(9) + torch.tensor([2.0, 0.0])}, title=HOSTILE),
        surface({"p": spiral() * 0.6}, loss=lambda x, y: x**2 + 10 * y, y=(-1, 1), lowest=(0, -1)),
        step_curves(plots, title=HOSTILE),
        step_curves(plots, title="One above the other", columns=1),
        step_curves({"one": {"alone": [0.0, 1.0]}}, title="One"),
        step_curves({"one": {"alone": [0.0, 1.0]}}, title="Two", phases={HOSTILE: 1, "b": 1}),
    ]


FIGURES = all_figures()


def parts(svg, name, kind=None):
    root = ElementTree.fromstring(svg)
    for narrow in root.findall(SVG + "svg"):
        root.remove(narrow)
    found = root.iter(SVG + name)
    return [e for e in found if kind is None or e.get("class") == kind]


def table(svg):
    return json.loads(parts(svg, "metadata")[0].text)


def numbers(text):
    return [float(n) for n in re.findall(r"-?[\d.]+", text)]


def test_each_contour_runs_where_the_loss_is_its_level():
    svg = surface()
    frame = parts(svg, "rect", "it-edge")[0]
    left, top, side = (float(frame.get(name)) for name in ("x", "y", "width"))
    levels = numbers(parts(svg, "desc")[0].text.split(", its minimum")[0])
    assert len(levels) == 6 and levels == sorted(levels)
    lines = [numbers(e.get("d")) for e in parts(svg, "path", "it-edge")]
    assert len(lines) >= 6
    for line in lines:
        points = [(-1 + (a - left) / side * 4, 2 - (b - top) / side * 4) for a, b in zip(line[::2], line[1::2])]
        away = [bowl(*point) ** 0.5 * side / 4 for point in points]  # in px, from the middle of the circles
        assert any(all(abs(r - level**0.5 * side / 4) < 1 for r in away) for level in levels)


def test_each_dot_is_a_step_and_the_table_has_its_loss():
    steps = spiral()
    svg = surface({"path": steps})
    rows = table(svg)["rows"]
    assert [row[:2] for row in rows] == [["path", i] for i in range(30)]
    for row, point in zip(rows, steps):
        assert [float(value) for value in row[2:]] == pytest.approx([*point.tolist(), bowl(*point).item()], rel=0.01)
    frame = parts(svg, "rect", "it-edge")[0]
    left, top, side = (float(frame.get(name)) for name in ("x", "y", "width"))
    dots = parts(svg, "circle", "it-head")[:30]
    for dot, (x, y) in zip(dots, steps.tolist()):
        assert float(dot.get("cx")) == pytest.approx(left + (x + 1) / 4 * side, abs=0.1)
        assert float(dot.get("cy")) == pytest.approx(top + (2 - y) / 4 * side, abs=0.1)


def test_a_unit_is_as_long_upwards_as_sideways():
    frame = parts(surface({"p": spiral() * 0.4}, x=(-3, 3), y=(-1, 2)), "rect", "it-edge")[0]
    assert float(frame.get("width")) == 2 * float(frame.get("height"))


def test_each_path_has_a_surface_with_a_cross_at_the_minimum():
    svg = surface({"a": spiral(), "b": spiral(9)})
    frames = parts(svg, "rect", "it-edge")
    crosses = [numbers(e.get("d")) for e in parts(svg, "path", "it-pill")][:2]
    for frame, (x, y, *_) in zip(frames, crosses, strict=True):
        left, top, side = (float(frame.get(name)) for name in ("x", "y", "width"))
        assert (x + 6, y) == pytest.approx((left + side / 2, top + side / 2), abs=0.1)


def test_a_phone_shows_the_surfaces_one_below_the_other():
    root = ElementTree.fromstring(surface({"a": spiral(), "b": spiral(9), "c": spiral(4)}))
    (narrow,) = root.findall(SVG + "svg")
    for svg, room in ((root, WIDE), (narrow, PHONE)):
        frames = [e for child in svg if child is not narrow for e in child.iter(SVG + "rect")]
        assert (
            float(svg.get("width")) <= room and len({frame.get("y" if svg is root else "x") for frame in frames}) == 1
        )
        assert all(float(f.get("x")) + float(f.get("width")) <= float(svg.get("width")) for f in frames)


def test_a_curve_holds_each_value_for_one_step():
    svg = step_curves({"p": {"a": [1.0, 1.0, 0.0, 0.5]}}, title="t")
    line = parts(svg, "path", "it-line")[0]
    words = line.get("d").split()
    x0, top = float(words[1]), float(words[2])
    assert [word for word in words if word.isalpha()] == ["M", "H", "V", "H", "V", "H"]
    first, low, second, middle, end = (float(words[i]) for i in (4, 6, 8, 10, 12))
    step = (end - x0) / 4
    assert (first, second) == pytest.approx((x0 + 2 * step, x0 + 3 * step), abs=0.1)
    assert middle == pytest.approx((top + low) / 2, abs=0.1)
    assert table(svg) == {"columns": ["step", "p: a"], "rows": [[0, "1"], [1, "1"], [2, "0"], [3, "0.5"]]}


def test_an_axis_may_count_something_else_than_steps():
    svg = step_curves({"p": {"a": [1.0, 0.5]}}, title="t", unit="epoch")
    assert "epoch 0" in [e.text for e in parts(svg, "text", "it-index")]
    assert table(svg)["columns"] == ["epoch", "p: a"]


def test_a_curve_ends_at_its_first_none():
    svg = step_curves({"p": {"a": [1.0, None, None], "b": [0.0, 1.0, 0.5]}}, title="t")
    ended, _, whole = (path.get("d").split() for path in parts(svg, "path", "it-line")[:3])
    x0, end, last = float(ended[1]), float(ended[-1]), float(whole[-1])
    assert end - x0 == pytest.approx((last - x0) / 3, abs=0.1)
    assert table(svg)["rows"] == [[0, "1", "0"], [1, "", "1"], [2, "", "0.5"]]


def test_phases_share_the_axis_and_a_circle_marks_where_a_curve_is_highest():
    svg = step_curves({"p": {"a": [1.0, 3.0, 0.0, 3.0]}}, title="t", phases={"there": 1, "back": 3})
    x0, *_, end = (float(word) for word in parts(svg, "path", "it-line")[0].get("d").split() if not word.isalpha())
    step = (end - x0) / 4
    names = {e.text: float(e.get("x")) for e in parts(svg, "text", "it-index") if e.get("text-anchor") == "middle"}
    assert names == {"there": pytest.approx(x0 + step / 2, abs=0.1), "back": pytest.approx(x0 + 2.5 * step, abs=0.1)}
    limit = [e.get("d").split() for e in parts(svg, "path", "it-edge")]
    assert float(limit[2][1]) == pytest.approx(x0 + step, abs=0.1)
    circle, *_ = parts(svg, "circle", "it-pill")
    assert float(circle.get("cx")) == pytest.approx(x0 + 1.5 * step, abs=0.1)


def test_ticks_stand_instead_of_the_ends_and_values_have_four_digits():
    svg = step_curves({"p": {"a": [4.5, 11.254]}}, title="t", ticks=(0, 4.5, 6.19))
    assert [e.text for e in parts(svg, "text", "it-index") if e.get("text-anchor") == "end"] == ["0", "4.5", "6.19"]
    assert table(svg)["rows"] == [[0, "4.5"], [1, "11.25"]]
    with pytest.raises(ValueError, match="lie between 0 and 2"):
        step_curves({"p": {"a": [1.0, 2.0]}}, title="t", ticks=(0, 3))


def test_a_phone_shows_the_plots_one_below_the_other():
    plots = {name: {"a" * 34: [1.0, 0.5, 0.5], "b": [0.0, -1.0, 2.0]} for name in ("one", "two", "three")}
    root = ElementTree.fromstring(step_curves(plots, title="t"))
    (narrow,) = root.findall(SVG + "svg")
    assert root.get("class") == "figure it-wide" and float(narrow.get("width")) <= PHONE < float(root.get("width"))
    wide = [e for child in root if child is not narrow for e in child.iter()]
    for elements, places in ((wide, 2), (list(narrow.iter()), 1)):
        names = [e for e in elements if e.get("class") == "it-name"]
        assert [e.text for e in names] == list(plots) and len({e.get("x") for e in names}) == places
    drawn = [[e.get("d") for e in part if e.get("class") == "it-line"] for part in (wide, narrow.iter())]
    for one, other in zip(*drawn, strict=True):
        assert re.findall("[A-Za-z]", one) == re.findall("[A-Za-z]", other)  # the same steps, in another place
    width, height = float(narrow.get("width")), float(narrow.get("height"))
    said = [(float(e.get("x")), float(e.get("y")), e) for e in narrow.iter(SVG + "text")]
    assert len({(x, y) for x, y, _ in said}) == len(said)
    for x, y, e in said:
        ends = {"start": (0, 1), "middle": (-0.5, 0.5), "end": (-1, 0)}[e.get("text-anchor")]
        assert all(0 <= x + end * code_width(e.text) <= width for end in ends) and 0 < y <= height
    assert all(0 <= place <= width for way in drawn[1] for place in map(float, re.findall(r"[MH] (\S+)", way)))


def test_same_input_same_bytes_in_any_process():
    code = "import test_figures_curves as t; print(hash(''.join(t.FIGURES)))"
    said = set()
    for _ in range(2):
        env = os.environ | {"PYTHONHASHSEED": "1", "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"}
        run = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
        said.add(run.stdout)
    assert len(said) == 1 and all_figures() == FIGURES


def test_figures_are_small_safe_and_carry_title_description_and_table():
    for svg in FIGURES:
        assert len(svg) < 30_000
        checked_figure(svg)
        for element in ElementTree.fromstring(svg).iter():
            assert set(element.keys()).isdisjoint({"style", "fill", "stroke"})
        drawn = {name for value in re.findall(r'class="([^"]+)"', svg) for name in value.split()}
        assert drawn <= set(re.findall(r"\.(figure|it-[\w-]+)", CSS))
    assert HOSTILE in parts(FIGURES[0], "title")[0].text and f"{HOSTILE}: {HOSTILE}" in table(FIGURES[2])["columns"]


def test_everything_lies_inside_and_labels_do_not_meet():
    for svg in FIGURES:
        root = ElementTree.fromstring(svg)
        width, height = float(root.get("width")), float(root.get("height"))
        for dot in parts(svg, "circle"):
            assert 0 <= float(dot.get("cx")) <= width and 0 <= float(dot.get("cy")) <= height
        places = [(e.get("x"), e.get("y")) for e in parts(svg, "text")]
        assert len(places) == len(set(places))
        for x, y in places:
            assert 0 <= float(x) <= width and 0 < float(y) <= height


def refused():
    path, flat = {"p": spiral()}, lambda x, y: x * 0
    nan = spiral()
    nan[3, 0] = float("nan")
    return {
        "paths no dict": (lambda: surface([spiral()]), TypeError, "dict"),
        "no paths": (lambda: surface({}), ValueError, "1 to 3"),
        "four paths": (lambda: surface({str(i): spiral() for i in range(4)}), ValueError, "1 to 3"),
        "no tensor": (lambda: surface({"p": [[0, 0], [1, 1]]}), TypeError, "torch.Tensor"),
        "three coordinates": (lambda: surface({"p": torch.zeros(4, 3)}), ValueError, "(4, 3)"),
        "one point": (lambda: surface({"p": torch.zeros(1, 2)}), ValueError, "(1, 2)"),
        "outside": (lambda: surface({"p": spiral() * 3}), ValueError, "leaves the window"),
        "nan": (lambda: surface({"p": nan}), ValueError, "nan"),
        "window turned": (lambda: surface(path, x=(3, -1)), ValueError, "smaller"),
        "window flat": (lambda: surface(path, y=(-0.1, 0.1)), ValueError, "third"),
        "loss no field": (lambda: surface(path, loss=lambda x, y: x.sum()), ValueError, "each point"),
        "loss not finite": (lambda: surface(path, loss=lambda x, y: 1 / (x * 0)), ValueError, "finite"),
        "loss flat": (lambda: surface(path, loss=flat), ValueError, "everywhere"),
        "minimum elsewhere": (lambda: surface(lowest=(2, 0)), ValueError, "lower elsewhere than at [2.0, 0.0]"),
        "minimum outside": (lambda: surface(lowest=(4, 0)), ValueError, "leaves the window"),
        "label": (lambda: surface({" ": spiral()}), ValueError, "visible"),
        "title": (lambda: surface(path, title=""), ValueError, "title"),
        "curves no dict": (lambda: step_curves({"p": [1, 2]}, title="t"), TypeError, "dict"),
        "no curves": (lambda: step_curves({"p": {}}, title="t"), ValueError, "1 to 3"),
        "no number": (lambda: step_curves({"p": {"a": ["1", "2"]}}, title="t"), TypeError, "numbers"),
        "infinite": (lambda: step_curves({"p": {"a": [1.0, float("inf")]}}, title="t"), ValueError, "inf"),
        "ragged": (lambda: step_curves({"p": {"a": [1, 2], "b": [1, 2, 3]}}, title="t"), ValueError, "one length"),
        "one step": (lambda: step_curves({"p": {"a": [1]}}, title="t"), ValueError, "one length"),
        "phases": (lambda: step_curves({"p": {"a": [1, 2]}}, title="t", phases={"a": 3}), ValueError, "2 steps in all"),
        "wide label": (lambda: step_curves({"p": {"a" * 36: [0, 1]}}, title="t"), ValueError, "wider"),
        "wide name": (lambda: step_curves({"a" * 36: {"p": [0, 1]}}, title="t"), ValueError, "a name"),
        "all zero": (lambda: step_curves({"p": {"a": [0, 0]}}, title="t"), ValueError, "0 everywhere"),
    }


REFUSED = refused()


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_drawn_raises(case):
    call, error, part = REFUSED[case]
    with pytest.raises(error, match=re.escape(part)):
        call()

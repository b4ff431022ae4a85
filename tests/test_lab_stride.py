"""The stride lab: its arithmetic against torch on thousands of random tensors, and the lab in a browser, as a reader
plays with it."""

from __future__ import annotations

import contextlib
import io
import json
import random
import re
from collections import Counter

import pytest
import torch
from test_browser import AXE, AXE_PATH, CLIPBOARD, opened
from test_labs import unfold

CASES, SEED = 12_000, 20
OFTEN = "slice view reshape permute expand as_strided".split()  # three times as often as the others
SELDOM = "transpose unfold diagonal squeeze unsqueeze flip t contiguous clone".split()
ROWS = "all => all.map(row => [...row.cells].map(cell => cell.textContent))"
INVITATION = "try other operations"
LAB = "document.querySelector('stride-lab')"
TOTAL = {"contiguous", "clone"}  # these refuse nothing
OVERLAP = ("no", "yes", "too hard")  # as torch's check numbers them
COMPUTED = """text => JSON.stringify(JSON.parse(text).map(([size, stride, offset, room, code]) => {
  const y = { size, stride, offset, memory: Strides.range(room) }
  try {
    const z = Strides.chain(code).reduce(Strides.applied, y), of = [Strides.contiguous(z), Strides.overlap(z)]
    return [z.size, z.stride, z.offset, z.memory === y.memory, Strides.values(z), ...of]
  } catch (error) {
    if (!(error instanceof Strides.Refused)) throw error
    return [error.kind, error.message]
  }
}))"""
VERDICTS = """text => JSON.stringify(JSON.parse(text).map(([size, stride, offset, room, shape]) =>
  Strides.verdict({ size, stride, offset, memory: Strides.range(room) }, shape)))"""


class Cases:
    """Random tensors and operations on them, as text."""

    def __init__(self, seed: int) -> None:
        self.pick = random.Random(seed)
        self.choice, self.between = self.pick.choice, self.pick.randint

    def sometimes(self, share: float) -> bool:
        return self.pick.random() < share

    def layout(self) -> tuple[list, list, int, int]:
        """Sizes, strides, offset, and the length of a memory that has room for them."""
        size = [self.choice([1, 1, 2, 2, 3, 3, 4, 6]) for _ in range(self.choice([0, 1, 1, 2, 2, 2, 3, 3, 3, 4]))]
        size = [0 if self.sometimes(0.02) else n for n in size]
        x, offset = torch.empty(size), self.choice([0, 0, 5])
        if self.sometimes(0.5):  # permuted, and cut
            x = x.permute(self.pick.sample(range(x.dim()), x.dim()))
            x = x[tuple(slice(self.choice([None, None, 1]), None, self.choice([None, None, 2])) for _ in size)]
            offset = x.storage_offset()
        size, stride = list(x.shape), list(x.stride())
        if self.sometimes(0.3):  # any strides
            stride = [self.choice([0, 1, 1, 2, 3, 4, 6, 12]) for _ in size]
        room = 1 + offset + sum((n - 1) * step for n, step in zip(size, stride)) if 0 not in size else 1
        return size, stride, offset, max(1, room) + self.choice([0, 0, 3])

    def dim(self, y: torch.Tensor) -> int:
        if self.sometimes(0.1):
            return self.choice([y.dim(), -y.dim() - 1, y.dim() + 2])
        return self.between(-y.dim(), max(y.dim() - 1, 0))

    def small(self) -> int:
        return self.between(-1, 4) if self.sometimes(0.9) else self.between(-2, 8)

    def product_of(self, count: int, parts: int) -> list[int]:
        """Numbers with that product."""
        made = [1] * parts
        while count > 1:
            factor = next(n for n in range(2, count + 1) if count % n == 0)
            made[self.pick.randrange(parts)] *= factor
            count //= factor
        return made

    def shape(self, y: torch.Tensor) -> list[int]:
        """A shape to view as: of the same number of elements, mostly, with neighbors joined or dimensions cut."""
        if self.sometimes(0.15):
            return [self.choice([-2, -1, 0, 1, 2, 3, 4, 6]) for _ in range(self.between(1, 4))]
        made = list(y.shape) if self.sometimes(0.5) else self.product_of(y.numel(), self.between(1, 4))
        for d in [self.pick.randrange(len(made)) for _ in made[:2]]:
            if d + 1 < len(made) and self.sometimes(0.5):
                made[d : d + 2] = [made[d] * made[d + 1]]
            elif d < len(made) and made[d] > 1:
                made[d : d + 1] = self.product_of(made[d], 2)
            else:
                made.insert(d, 1)
        made = made or [1]
        if self.sometimes(0.2):
            made[self.pick.randrange(len(made))] = -1
        return made

    def item(self) -> str:
        if self.sometimes(0.25):
            return str(self.between(-4, 3))
        start, stop = (str(self.between(-5, 6)) if self.sometimes(0.5) else "" for _ in "12")
        return f"{start}:{stop}" + (self.choice(["", "", ":", ":1", ":2", ":3"]) if self.sometimes(0.95) else ":-1")

    def slice(self, y: torch.Tensor) -> list[str]:
        items = [self.item() for _ in range(self.between(1, max(y.dim(), 1) + self.sometimes(0.1)))]
        for extra in ("None", "..."):
            if self.sometimes(0.15):
                items.insert(self.between(0, len(items)), extra)
        return items

    def permute(self, y: torch.Tensor) -> list[int]:
        order = [d - y.dim() * self.sometimes(0.2) for d in self.pick.sample(range(y.dim()), y.dim())] or [0]
        if self.sometimes(0.15):
            order[-1] = self.between(-y.dim() - 1, y.dim())
        return order + [0] * self.sometimes(0.05)

    def expand(self, y: torch.Tensor) -> list[int]:
        sizes = [self.choice([-1, 2, 3]) if n == 1 else n for n in y.shape]
        sizes = [n if self.sometimes(0.9) else self.choice([-1, 1, 2, 4] + [-2] * bool(y.numel())) for n in sizes]
        sizes = [self.choice([1, 2, 3]) for _ in range(self.between(0, 2))] + sizes
        return sizes[self.sometimes(0.1) :] or [2]

    def as_strided(self, y: torch.Tensor) -> list:
        size = [self.choice([1, 2, 2, 3, 3, 4]) if self.sometimes(0.97) else -1 for _ in range(self.between(0, 4))]
        stride = [self.choice([0, 1, 1, 2, 3, 4]) if self.sometimes(0.97) else -1 for _ in size]
        offset = [self.between(-1, 6)] if self.sometimes(0.5) else []
        return [size, stride[self.sometimes(0.05) :], *offset]

    def transpose(self, y: torch.Tensor) -> list[int]:
        return [self.dim(y), self.dim(y)]

    def unfold(self, y: torch.Tensor) -> list[int]:
        return [self.dim(y), self.small(), self.small()]

    def diagonal(self, y: torch.Tensor) -> list[int]:
        return [self.small() - 2, self.dim(y), self.dim(y)][: self.choice([0, 1, 3, 3])]

    def squeeze(self, y: torch.Tensor) -> list[int]:
        return [self.dim(y), self.dim(y)][: self.between(0, 2)]

    def unsqueeze(self, y: torch.Tensor) -> list[int]:
        return [self.dim(y)]

    def flip(self, y: torch.Tensor) -> list[int]:
        return [self.dim(y), self.dim(y)][: self.between(1, 2)]

    view = reshape = shape

    def one(self) -> tuple[str, list]:
        """The name of an operation, and a case of it: a tensor and the code after it."""
        name = self.choice(SELDOM + 3 * OFTEN)
        size, stride, offset, room = self.layout()
        y = torch.empty(room).as_strided(size, stride, offset)
        given = ", ".join(map(str, getattr(self, name)(y) if hasattr(self, name) else []))
        return name, [size, stride, offset, room, f"[{given}]" if name == "slice" else f".{name}({given})"]


def answer(size: list, stride: list, offset: int, room: int, code: str) -> list:
    """What torch says of a case, as COMPUTED says it."""
    y = torch.arange(room).as_strided(size, stride, offset)
    try:
        z = eval(f"y{code}", {"y": y})
    except (IndexError, RuntimeError, ValueError) as error:
        return [type(error).__name__, str(error)]
    shares = z.untyped_storage().data_ptr() == y.untyped_storage().data_ptr()
    facts = z.is_contiguous(), OVERLAP[torch._debug_has_internal_overlap(z)]
    return [list(z.shape), list(z.stride()), z.storage_offset(), shares, z.reshape(-1).tolist(), *facts]


def computed_by(page, script: str, cases: list) -> list:
    """What the page computes of the cases; as text, which goes there and back in no time."""
    return json.loads(page.evaluate(script, json.dumps(cases)))


def at_lab(browser, address: str, query: str = "", width: int = 1280, **options):
    """The chapter with the lab open, and what the page complains of."""
    url = f"{address}/tensor.html?lab=stride-lab&{query}#stride-lab"
    page, said = opened(browser, url, width, reduced_motion="reduce", **options)
    page.wait_for_selector(".it-lab-box")
    unfold(page)
    return page, said


def told(page) -> str:
    return page.locator(".it-lab-said").text_content()


def field(page, name: str) -> str:
    return page.get_by_role("textbox", name=name, exact=True).input_value()


def fields(page) -> list[str]:
    return [field(page, name) for name in ("sizes", "strides", "offset")]


def wrong(page) -> list[str]:
    """The names of the fields with something else than what the picture shows."""
    return page.locator("[aria-invalid=true]").evaluate_all("all => all.map(one => one.labels[0].innerText.trim())")


@pytest.fixture(scope="module")
def cases() -> list[tuple[str, list]]:
    made = Cases(SEED)
    return [made.one() for _ in range(CASES)]


def test_the_arithmetic_is_that_of_torch(chromium, address, cases):
    wanted = [answer(*case) for _, case in cases]
    page, said = at_lab(chromium, address)
    computed = computed_by(page, COMPUTED, [case for _, case in cases])
    page.close()
    wrong = [(case, mine, its) for (_, case), mine, its in zip(cases, computed, wanted, strict=True) if mine != its]
    assert (wrong[:5], said) == ([], [])
    count, refused = Counter(), Counter()
    for (name, _), its in zip(cases, wanted):
        count[name] += 1
        refused[name] += len(its) == 2
    assert min(count.values()) > 300 and all(count[name] > 900 for name in OFTEN)
    assert all(refused[name] > 9 for name in set(count) - TOTAL) and sum(refused.values()) > CASES / 8


def test_a_refused_view_is_explained_by_two_neighbors_that_do_not_merge(chromium, address, cases):
    asked = [case for name, case in cases if name == "view" and "spans" in answer(*case)[-1][-200:]]
    shapes = [[*case[:-1], re.search(r"\((.*)\)", case[-1])[1]] for case in asked]
    page, _ = at_lab(chromium, address)
    verdicts = computed_by(page, VERDICTS, shapes)
    page.close()
    assert len(asked) > 100
    for (size, stride, *_), verdict in zip(asked, verdicts):
        spans, left, right, *numbers = map(int, re.findall(r"\d+", verdict.partition("refused: ")[2]))
        assert left < right and set(size[left + 1 : right]) <= {1} and spans < 8
        assert stride[left] != size[right] * stride[right]
        assert numbers == [left, stride[left], right, right, size[right], stride[right], size[right] * stride[right]]


def test_wrong_arithmetic_is_found(chromium, address, cases):
    def broken(route) -> None:
        script, right = route.fetch().text(), "y.stride[d] * step, y.offset"
        assert script.count(right) == 1
        route.fulfill(body=script.replace(right, "y.stride[d], y.offset"), content_type="text/javascript")

    page, _ = opened(chromium, f"{address}/tensor.html")
    page.route("**/labs/strides.js", broken)
    page.get_by_role("button", name=INVITATION).click()
    page.wait_for_selector(".it-lab-box")
    few = [case for name, case in cases if name == "slice"]
    assert any(mine != answer(*case) for mine, case in zip(computed_by(page, COMPUTED, few), few))
    page.close()


def test_the_first_view_is_the_figure(chromium, address):
    page, said = opened(chromium, f"{address}/tensor.html")
    rows = page.locator("#stride-lab figure tr").evaluate_all(ROWS)
    page.get_by_role("button", name=INVITATION).click()
    page.wait_for_selector(".it-lab-box")
    assert page.evaluate("document.activeElement.localName") == "select"
    memories = page.evaluate(f"[{LAB}.seen.x.memory, {LAB}.seen.y.memory]")
    shown = [[int(row[2]) for row in rows if row[0] == name] for name in ("x", "x.t().reshape(-1)")]
    assert shown == memories and len(rows) == 25
    assert told(page) == "x.t().reshape(-1) is a copy, contiguous. view(-1) works, with strides (1,)."
    page.close()
    assert said == []


@pytest.mark.parametrize("width", [360, 1280])
def test_a_reader_plays(chromium, address, width):
    page, said = at_lab(chromium, address, width=width)
    press = lambda name: page.get_by_role("button", name=name, exact=True).click()  # noqa: E731
    page.get_by_label("puzzle").select_option("windows that overlap")
    assert "but torch allows in-place writes, because its check looks only for a stride 0" in told(page)
    torch.arange(5).unfold(0, 3, 1).add_(1)
    page.get_by_label("puzzle").select_option("what view makes of a transpose")
    assert told(page) == "x.t() is a view, not contiguous. view(2, 2, 3) works, with strides (2, 1, 4)."
    press(".view(-1)")
    with pytest.raises(RuntimeError) as refused:
        torch.arange(12).reshape(3, 4).t().view(-1)
    message = f"torch refuses x.t().view(-1) with a RuntimeError: {refused.value}"
    assert told(page) == f"{message}\nThe picture still shows x.t(), sizes (4, 3), strides (1, 4), offset 0."
    press("[::-1]")
    assert "torch refuses x.t()[::-1] with a ValueError: step must be greater than zero" in told(page)
    press("undo")
    press("[:, ::2]")
    assert field(page, "y = x") == ".t()[:, ::2]" and fields(page) == ["4, 2", "1, 8", "0"]
    page.get_by_label("strides", exact=True).fill("0, 4")
    assert "share a cell, so torch refuses in-place writes, because its check sees a stride 0" in told(page)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor refers to a single memory"):
        torch.arange(12).as_strided((4, 2), (0, 4)).add_(1)
    page.get_by_label("strides", exact=True).fill("1, -4")
    assert "Negative strides are not supported" in told(page) and field(page, "strides") == "1, -4"
    assert "The picture still shows x.t()[:, ::2].as_strided((4, 2), (0, 4), 0), sizes (4, 2), strides (0" in told(page)
    assert wrong(page) == ["y = x", "strides"]
    page.get_by_label("strides", exact=True).fill("one")
    assert told(page).startswith("The lab cannot show that: one is not a whole number. The picture still shows x.t()[")
    page.get_by_label("strides", exact=True).blur()
    assert (fields(page), wrong(page)) == (["4, 2", "0, 4", "0"], ["y = x"]), "the number of the picture is back"
    press("undo")
    assert wrong(page) == []
    page.get_by_label("y = x", exact=True).fill(".cumsum(0)")
    assert "the lab has no cumsum" in told(page)
    page.get_by_label("sizes of x").fill("99")
    assert "x has one to four dimensions here, and 1 to 32 elements" in told(page) and wrong(page) == ["sizes of x"]
    press("[1:]")
    assert (wrong(page), field(page, "sizes of x")) == ([], "3, 4"), "the next operation is on what the picture shows"
    page.get_by_label("view to", exact=True).fill("2, x")
    assert wrong(page) == ["view to"]
    press("start again")
    assert told(page).startswith("x.t().reshape(-1) is a copy")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    page.add_script_tag(path=AXE_PATH)
    assert page.evaluate(AXE.replace("axe.run(", "axe.run('#stride-lab', ")) == []
    page.close()
    assert said == []


@pytest.mark.parametrize("width", [360, 1280])
def test_what_is_dragged_also_goes_by_arrow_keys(chromium, address, width):
    page, said = at_lab(chromium, address, "x=3,4&y=[:2, :2]", width)
    offset, stride = (page.get_by_role("slider", name=name, exact=True) for name in ("offset", "stride(0)"))
    side = page.evaluate(f"{LAB}.picture.cells[0][2]")
    for slider, cells in ((offset, 2), (stride, 1)):
        slider.scroll_into_view_if_needed()
        box = slider.bounding_box()
        page.mouse.move(box["x"] + 14, box["y"] + 14)
        page.mouse.down()
        page.mouse.move(box["x"] + 14 + cells * side, box["y"] + 14, steps=4)
        page.mouse.up()
    assert fields(page) == ["2, 2", "5, 1", "2"]
    offset.focus()
    page.keyboard.press("ArrowRight")
    stride.focus()
    page.keyboard.press("ArrowLeft")
    assert fields(page) == ["2, 2", "4, 1", "3"] and stride.get_attribute("aria-valuenow") == "4"
    assert field(page, "y = x") == "[:2, :2].as_strided((2, 2), (4, 1), 3)"
    element = page.get_by_role("slider", name="element of y")
    element.focus()
    page.keyboard.press("ArrowDown")
    assert element.get_attribute("aria-valuetext") == "y[1, 1] reads cell 8"
    looks = "one => [getComputedStyle(one).cursor, getComputedStyle(one).outlineStyle]"
    assert element.evaluate(looks) == ["pointer", "solid"] and offset.evaluate(looks) == ["grab", "none"]
    offset.hover()
    assert offset.evaluate(looks) == ["grab", "dotted"]
    page.close()
    assert said == []


@pytest.mark.parametrize("width", [360, 1280])
def test_sizes_are_dragged_and_go_by_arrow_keys(chromium, address, width):
    page, said = at_lab(chromium, address, "x=3,4&y=[:2, :2]&shape=4", width)
    rows, columns = (page.get_by_role("slider", name=f"size({d})", exact=True) for d in (0, 1))
    columns.scroll_into_view_if_needed()
    box = columns.bounding_box()
    page.mouse.move(box["x"] + 14, box["y"] + 14)
    page.mouse.down()
    page.mouse.move(box["x"] + 54, box["y"] + 14, steps=4)
    page.mouse.up()
    assert fields(page) == ["2, 4", "4, 1", "0"] and field(page, "view to") == "-1", "the view had four elements"
    page.get_by_label("view to", exact=True).fill("8")
    rows.focus()
    page.keyboard.press("ArrowRight")
    assert fields(page) == ["3, 4", "4, 1", "0"] and rows.get_attribute("aria-valuenow") == "3"
    page.keyboard.press("ArrowUp")
    assert "out of bounds for storage of size 96" in told(page), "three rows are all there are"
    assert fields(page) == ["3, 4", "4, 1", "0"] and rows.get_attribute("aria-valuenow") == "3"
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    assert fields(page)[0] == "0, 4" and field(page, "y = x") == "[:2, :2].as_strided((0, 4), (4, 1), 0)"
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    assert fields(page)[0] == "1, 4", "from no rows there is a way back"
    page.close()
    assert said == []


@pytest.mark.parametrize("width", [360, 1280])
def test_it_asks_first(chromium, address, width):
    page, said = at_lab(chromium, address, "x=3,4&y=.t()", width)
    ask = page.get_by_label("ask me first")
    ask.focus()
    page.keyboard.press("Space")
    i, j = map(int, re.search(r"Which cell does y\[(\d), (\d)\] read\?", told(page)).groups())
    page.get_by_role("slider", name="cell of y").focus()
    for _ in range(i + 4 * j):
        page.keyboard.press("ArrowRight")
    assert told(page).startswith("Which")
    page.keyboard.press("Enter")
    assert told(page) == f"Right: y[{i}, {j}] reads cell {i + 4 * j}, because 0 + {i} · 1 + {j} · 4 = {i + 4 * j}."
    page.get_by_role("button", name="next element").click()
    i, j = map(int, re.search(r"Which cell does y\[(\d), (\d)\] read\?", told(page)).groups())
    wrong = (i + 4 * j + 1) % 12
    side = page.evaluate(f"{LAB}.picture.cells[0][2]")
    page.get_by_role("slider", name="cell of y").click(position={"x": (wrong + 0.5) * side, "y": 12})
    right = f"y[{i}, {j}] reads cell {i + 4 * j}: "
    assert told(page).startswith(f"No: cell {wrong} is read by y[{wrong % 4}, {wrong // 4}]. {right}")
    page.get_by_role("button", name="[1:]", exact=True).click()
    assert told(page).startswith("Which"), "after a change it asks again"
    page.close()
    assert said == []


STATES = (
    {},
    {"y": ".t()", "shape": "2, 2, 3"},
    {"x": "2, 3, 4", "y": "[:, 1:]", "shape": "4, 4"},
    {"x": "4", "y": ".expand(3, -1)"},
    {"x": "5", "y": ".unfold(0, 3, 1)"},
    {"y": "[::-1]"},
    {"x": "1, 3, 2, 2", "y": ".permute(0, 2, 3, 1).contiguous()", "shape": "x"},
    {"y": ".as_strided((2, 9), (4, 1), 0)"},
    {"y": "[3:]"},
)


def printed_by(program: str) -> list[str]:
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(program, "program", "exec"), {})
    return printed.getvalue().splitlines()


def test_the_program_says_what_the_lab_shows(chromium, address):
    page, said = at_lab(chromium, address)
    for state in STATES:
        page.evaluate(f"state => {LAB}.set({{ ...{LAB}.constructor.start, ...state }})", state)
        shown, sentence, cells = fields(page), told(page), page.evaluate(f"{LAB}.read")
        lines = printed_by(page.locator(".it-lab-foot code").text_content())
        is_of_y = re.fullmatch(r"sizes \((.*?),?\) strides \((.*?),?\) offset (\d+)", lines[0])
        assert [int(one) for one in re.findall(r"\d+", lines[2])] == cells
        assert list(is_of_y.groups()) == shown
        if refused := re.match(r"torch refuses .* with a (\w+): (.*)\n", sentence):
            assert lines[-1].endswith(f"{refused[1]} {refused[2]}")
            continue
        assert lines[1] == f"a view: {'is a view' in sentence} contiguous: {', contiguous' in sentence}"
        assert lines[2].endswith(f"shared: {'share a cell' in sentence}")
        granted = re.search(r"view\((.*?)\) works, with strides (.*)\.$", sentence)
        assert granted is None or lines[3] == f".view({granted[1]}): {granted[2]}"
        assert granted or len(lines) == 3 or "RuntimeError view size" in lines[3]
    page.close()
    assert said == []


def test_a_link_opens_the_same_view(chromium, address):
    page, _ = at_lab(chromium, address, "x=2,3,4&y=[:, 1:]", permissions=CLIPBOARD)
    page.get_by_role("button", name=".transpose(0, 1)", exact=True).click()
    page.get_by_label("view to").fill("2, 2, 2, 2")
    page.get_by_role("button", name="copy a link to this view").click()
    page.get_by_role("button", name="copied").wait_for()
    link, before = page.evaluate("navigator.clipboard.readText()"), (told(page), fields(page))
    drawn = page.locator(".it-lab-stage svg").evaluate("one => one.outerHTML")
    page.goto("about:blank")
    page.goto(link)
    page.wait_for_selector(".it-lab-box")
    assert (told(page), fields(page)) == before
    assert page.locator(".it-lab-stage svg").evaluate("one => one.outerHTML") == drawn
    page.close()

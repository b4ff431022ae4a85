"""The version stepper: its recording is what torch does, and a reader can step, switch, link and paste it."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from conftest import ROOT
from test_browser import AXE, AXE_PATH, CLIPBOARD, opened
from test_labs import unfold

from inside_torch.labs import version_programs, version_stepper
from inside_torch.labs.version_programs import PROGRAMS, combinations

NAME = "version-stepper"
READ = f"document.querySelector('{NAME}')"


def unlike(recorded: dict, fresh: dict) -> list[str]:
    """The combinations whose steps in two recordings are not the same."""

    def steps(recording: dict, name: str, on: str) -> list[dict]:
        found = [recording["steps"][i] for i in recording["programs"].get(name, {}).get("runs", {}).get(on, [])]
        return [one | {"cards": [recording["cards"][i] for i in one["cards"]]} for one in found]

    pairs = {(name, on) for one in (recorded, fresh) for name, has in one["programs"].items() for on in has["runs"]}
    return [f"{name} {on}" for name, on in sorted(pairs) if steps(recorded, name, on) != steps(fresh, name, on)]


@pytest.fixture(scope="module")
def recorded(book: Path) -> dict:
    """What the built book brings along."""
    return json.loads((book / "labs" / f"{NAME}.data.js").read_text("utf-8").partition(" = ")[2])


def test_all_combinations_recorded_are_what_a_fresh_run_does_and_a_doctored_one_is_found(recorded):
    fresh = json.loads(json.dumps(version_stepper.recording()))
    assert unlike(recorded, fresh) == [] and recorded == fresh
    assert {name: set(one["runs"]) for name, one in fresh["programs"].items()} == {
        name: set(combinations(one.lines)) for name, one in PROGRAMS.items()
    }
    assert all(len(one["runs"]) <= 16 and 5 <= len(one["lines"]) <= 9 for one in fresh["programs"].values())
    end = recorded["programs"]["undone"]["runs"]["111101"][-1]
    for doctored in (
        {"refused": None},
        {"refused": recorded["steps"][end]["refused"].replace("version 2", "version 1")},
    ):
        other = copy.deepcopy(recorded)
        other["steps"][end] |= doctored
        assert unlike(other, fresh) == ["undone 111101"]
    other = copy.deepcopy(recorded)
    other["programs"]["undone"]["runs"].pop("110001")
    other["cards"][recorded["steps"][end]["cards"][0]]["counters"][0]["version"] += 1
    assert "undone 110001" in unlike(other, fresh) and "undone 111101" in unlike(other, fresh)


def test_only_writes_that_no_counter_sees_give_a_wrong_gradient(recorded):
    wrong = {}
    for name, program in recorded["programs"].items():
        for on, run in program["runs"].items():
            end = recorded["steps"][run[-1]]
            if not end["refused"] and end["gradient"] != pytest.approx(end["derivative"], abs=2e-4):
                wrong[name, on] = [line for line, is_on in zip(program["lines"], on) if is_on == "1"]
    assert set(wrong) == {("data", "11111001"), ("optimizer", "11110101")}
    said = [recorded["programs"][name]["said"] for name, _ in wrong]
    assert all(f'"{one}"' in (ROOT / "docs/versions.md").read_text("utf-8") for one in said), "the chapter says so"
    assert "d.add_(1)" in wrong["data", "11111001"]
    assert "SGD([w], lr=0.1, fused=True).step()" in wrong["optimizer", "11110101"]


def test_the_recorder_refuses_what_torch_contradicts(monkeypatch):
    w = torch.ones(2, requires_grad=True)
    y = w.exp()
    assert version_stepper.reading(y.grad_fn, "_saved_result", y) == ("kept", 0)
    moved = y.data
    moved.add_(1)
    with pytest.raises(ValueError, match="is at version 0, and its tensor at 1"):
        version_stepper.reading(y.grad_fn, "_saved_result", moved)
    node = y.grad_fn
    y.add_(1)
    y.add_(1)
    assert version_stepper.reading(node, "_saved_result", y) == ("changed", 0)
    with pytest.raises(RuntimeError, match="is at version 2; expected version 0"):
        version_stepper.reading(node, "_saved_result", moved)
    assert version_stepper.together(y, y.detach()) and not version_stepper.together(y, y.data)
    assert version_stepper.together(y, y[:1]) and not version_stepper.together(y, w) and y._version == 2
    monkeypatch.setattr(version_stepper, "reading", lambda *_: ("kept", 0))
    with pytest.raises(ValueError, match="backward and the counters do not agree"):
        version_stepper.played(PROGRAMS["undone"], "111101")


def test_the_derivative_is_that_of_the_program():
    program = version_programs.Program("", "w = torch.tensor([1.0, 2.0]) | (w**3).sum().backward()")
    found = version_programs.derivative(program, "11", torch.zeros(2))
    assert found.tolist() == pytest.approx([3, 12], abs=1e-5) and torch.get_default_dtype() == torch.float32


def ran(program: str) -> list[str]:
    """The lines that a program prints."""
    with contextlib.redirect_stdout(io.StringIO()) as said:
        exec(program, {"__name__": "__main__"})
    return said.getvalue().splitlines()


def facts(recorded: dict, step: dict) -> tuple[dict[str, int], list[str]]:
    """The versions of a step, and what nodes saved at which."""
    counters = [one for i in step["cards"] for one in recorded["cards"][i]["counters"]]
    versions = {name: one["version"] for one in counters for name in one["names"]}
    saved = [f"{node} saved {key} at version {at}" for one in counters for node, _, key, _, at in one["saved"]]
    return versions, saved


def visit(chromium, address: str, query: str = "", width: int = 1280, **options):
    """The page with the lab awake."""
    page, said = opened(chromium, f"{address}/versions.html{query}", width, **options)
    if not query:
        page.locator(f"{NAME} .it-lab-open button").click()
    page.locator(f"{NAME} .it-lab-said").wait_for()
    return page, said


def told(page) -> str:
    return page.locator(f"{NAME} .it-lab-said").inner_text()


def test_every_combination_pasted_prints_what_the_lab_shows(chromium, address, recorded):
    page, said = visit(chromium, address)
    seen = set()
    for name, program in recorded["programs"].items():
        for number, (on, run) in enumerate(program["runs"].items()):
            ats = range(1, len(run) + 1) if number in (0, len(program["runs"]) - 1) else [len(run)]
            for at in ats:
                state = {"program": name, "on": on, "at": str(at)}
                page.evaluate(f"state => ({READ}.set({{program: state.program}}), {READ}.set(state))", state)
                step, shown = recorded["steps"][run[at - 1]], told(page)
                *printed, last = ran(page.evaluate(f"{READ}.program()"))
                versions, saved = facts(recorded, step)
                assert json.loads(last.replace("'", '"')) == versions, state
                if at < len(run):
                    assert sorted(printed) == sorted(saved), state
                elif step["refused"]:
                    assert printed == [step["refused"]] and shown.endswith(step["refused"]), state
                else:
                    numbers = json.loads(printed[0].partition(": ")[2])
                    assert numbers == step["gradient"] and "Backward runs" in shown, state
                seen.add(shown.split(":")[0][:22])
    assert {"Backward refuses", "Line 2 itself is refus", "Line 6 itself is refus", "Backward runs, and w.g"} <= seen
    page.close()
    assert said == []


def test_initialization_counts_and_a_fused_kernel_does_not(recorded):
    assert torch.empty(2)._version == 0 and torch.nn.init.uniform_(torch.empty(2))._version == 1
    assert torch.nn.Linear(2, 2).weight._version == 1
    counts = lambda name: torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{name}", "ADInplaceOrView")  # noqa: E731
    w = torch.ones(2, requires_grad=True)
    w.grad = torch.ones(2)
    with torch.profiler.profile() as seen:
        torch.optim.SGD([w], lr=0.1, fused=True).step()
    names = {one.key.removeprefix("aten::") for one in seen.key_averages() if one.key.startswith("aten::")}
    assert "_fused_sgd_" in names and [name for name in names if name.endswith("_") and counts(name)] == []
    assert w._version == 0 and w.tolist() != [1, 1] and counts("sub_.Tensor")


def test_a_pasted_program_runs_by_itself(chromium, address, tmp_path):
    page, _ = visit(chromium, address, f"?lab={NAME}&program=optimizer&on=11110101&at=6")
    file = tmp_path / "pasted.py"
    page.locator(f"{NAME} summary", has_text="as a program").click()
    file.write_text(page.locator(f"{NAME} .it-lab-foot code").inner_text())
    run = subprocess.run([sys.executable, file], capture_output=True, text=True, check=True)
    assert run.stdout == "v.grad: [0.9, 1.9]\n{'v': 0, 'w': 0, 'y': 0}\n" and run.stderr == ""
    assert "v.grad is wrong: [0.9, 1.9]. By finite differences it is [1, 2]" in told(page)
    page.close()


def test_the_first_view_shows_what_the_figure_shows(chromium, address):
    page, _ = opened(chromium, f"{address}/versions.html")
    rows = page.locator(f"{NAME} tr").evaluate_all(
        "rows => rows.map(row => [...row.children].map(one => one.textContent))"
    )
    figure = [(node, what) for _, node, saves, *_ in rows[1:] for what in saves.split(", ") if re.match(r"[a-z]", what)]
    page.locator(f"{NAME} .it-lab-open button").click()
    page.locator(f"{NAME} .it-lab-stage .it-label").first.wait_for()
    lab = page.locator(f"{NAME} .it-lab-stage .it-label").all_text_contents()
    assert sorted((one.split()[0], one.split()[-2]) for one in lab) == sorted((a, b.split()[0]) for a, b in figure)
    assert len(lab) == 4
    assert not page.locator(f"{NAME} figure").first.is_visible()
    page.close()


@pytest.mark.parametrize(("width", "scheme"), [(360, "light"), (1280, "dark")])
def test_a_reader_steps_switches_links_and_returns(chromium, address, width, scheme):
    page, said = visit(chromium, address, width=width, color_scheme=scheme, permissions=CLIPBOARD)
    lab = page.locator(NAME)
    assert told(page).startswith(
        "MmBackward0 saved h at version 0 and second.weight at version 1. A weight of nn.Linear be"
    )
    assert lab.locator(".it-lab-box :is(select, button)").first.evaluate("one => one === document.activeElement"), (
        "the first control has the focus"
    )
    lab.get_by_role("button", name="next").click()
    assert lab.locator(".it-lab-stage").get_by_text("5: h.mul_(2)").count() == (width == 360)
    unfold(page)
    assert "Line 5 wrote to h: version 1." in told(page) and told(page).endswith("will it run?")
    assert lab.locator("[aria-current=step]").inner_text().strip() == "h.mul_(2)"
    lab.get_by_role("button", name="next").press("Enter")
    assert told(page).startswith("Backward refuses: MmBackward0 (line 4) saved h at version 0, and h is at version 1.")
    assert "which is output 0 of Mul, is at version 1; expected version 0 instead." in told(page)
    boxes = lab.get_by_role("checkbox")
    assert boxes.count() == 4
    boxes.nth(1).press("Space")
    assert told(page).startswith("Backward runs, and first.weight.grad[0] is right"), "switched off by the keyboard"
    boxes.nth(2).click()
    assert told(page).startswith("Backward refuses: GeluBackward0 (line 2) saved a at version 0"), "on by the mouse"
    lab.get_by_role("slider").press("ArrowLeft")
    assert told(page).startswith("Line 6 wrote to a: version 1.")
    lab.get_by_role("slider").press("Home")
    assert told(page) == "No line has run yet. Press next."
    lab.locator("select").select_option("data")
    assert lab.locator("[aria-current=step]").inner_text().strip() == "c = y.detach()", "before the first write"
    lab.get_by_role("button", name="next").click()
    assert "wrote to d: version 1. In the same memory, y and c stayed at version 0." in told(page)
    lab.get_by_role("button", name="next").click()
    assert "w.grad is wrong: [3.7183, 8.3891]. By finite differences it is [2.7183, 7.3891]" in told(page)
    lab.get_by_role("button", name="copy a link to this view").click()
    lab.get_by_role("button", name="copied").wait_for()
    link, before = page.evaluate("navigator.clipboard.readText()"), told(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert lab.locator(".it-lab-stage").evaluate("one => one.scrollWidth <= one.clientWidth")
    page.add_script_tag(path=AXE_PATH)
    assert page.evaluate(AXE) == []
    page.goto(link)
    lab.locator(".it-lab-said").wait_for()
    assert told(page) == before
    lab.get_by_role("button", name="start again").click()
    assert told(page).startswith("MmBackward0 saved h at version 0")
    page.close()
    assert said == []


# What a picture's texts lie over or reach beyond, in every view of the lab.
OVERLAPS = """() => {
  const lab = document.querySelector('version-stepper'), found = new Set()
  for (const [program, { runs }] of Object.entries(lab.recording.programs))
    for (const [on, run] of Object.entries(runs)) for (let at = 0; at <= run.length; at++) {
      Object.assign(lab.state, { program, on, at: String(at) })
      lab.draw()
      const edge = lab.stage.getBoundingClientRect().right
      const boxes = [...lab.stage.querySelectorAll('text')].map(one => [one.textContent, one.getBoundingClientRect()])
      boxes.forEach(([text, a], i) => {
        if (a.right > edge) found.add(`${program} ${on} ${at}: ${text} is cut`)
        for (const [other, b] of boxes.slice(i + 1))
          if (a.left < b.right && b.left < a.right && a.top + 3 < b.bottom && b.top + 3 < a.bottom)
            found.add(`${program} ${on} ${at}: ${text} meets ${other}`)
      })
    }
  return [...found]
}"""


def test_no_text_meets_another_in_any_view(chromium, address):
    page, said = visit(chromium, address, width=360)
    assert page.evaluate(OVERLAPS) == []
    page.locator(f"{NAME} .it-lab-stage").evaluate("one => (one.style.width = '200px')")
    found = page.evaluate(OVERLAPS)
    assert any("meets" in one for one in found) and any("is cut" in one for one in found), "there is no room for these"
    page.close()
    assert said == []


def test_an_address_with_mistakes_opens_the_start(chromium, address):
    page, said = visit(chromium, address, f"?lab={NAME}&program=none&on=2&at=x")
    assert told(page) == "No line has run yet. Press next."
    page.locator(NAME).get_by_role("button", name="next").click()
    assert told(page).startswith("MmBackward0 saved x at version 0.")
    page.goto(f"{address}/versions.html?lab={NAME}&program=view&on=2&at=999")
    page.locator(f"{NAME} .it-lab-said").wait_for()
    assert told(page).startswith("Backward refuses: SinBackward0 (line 5) saved b at version 0")
    page.close()
    assert said == []

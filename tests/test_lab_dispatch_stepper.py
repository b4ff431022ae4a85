"""The lab that steps through a call: its walks against what really ran, and the lab in a browser, as a reader plays."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from test_browser import AXE, AXE_PATH, CLIPBOARD, opened
from test_labs import unfold

from inside_torch.edition import Edition

ROOT = Path(__file__).resolve().parent.parent
LAB = "dispatch-stepper"
ALONE = {"detach_"}  # its autograd kernel ends the call, where by the rules it would go on
PAIRS = 1500  # of an operator and a kind of tensor, at least, that were really called
FRESH = "import json; from inside_torch.labs.dispatch_stepper import recording; print(json.dumps(recording()))"
WALKS = """real => {
  const lab = document.querySelector("dispatch-stepper"), found = {}
  for (const op in lab.recording.ops) for (const kind in lab.recording.kinds) {
    lab.state = { op, kind, step: "0" }
    const runs = (stops) => stops.filter(({ happens }) => happens === "runs").map(({ key }) => key)
    const said = lab.stops().map((_, i) => ((lab.state.step = String(i)), lab.said()))
    found[`${op} ${kind}`] = { rules: runs(lab.stops(false)), shown: runs(lab.stops()), last: lab.stops().at(-1), said }
  }
  return found
}"""


@pytest.fixture(scope="module")
def recorded(book) -> dict:
    """The recording that the site has."""
    text = (book / "labs" / f"{LAB}.data.js").read_text("utf-8")
    return json.loads(text.partition(" = ")[2])


@pytest.fixture(params=[1280, 360])
def lab(request, chromium, address):
    """The page with the lab open, at a desktop's and a phone's width; at the end it has complained of nothing."""
    page, said = opened(chromium, f"{address}/dispatcher.html", request.param, permissions=CLIPBOARD)
    page.locator(f"#{LAB} .it-lab-open button").click()
    page.locator(".it-lab-box").wait_for()
    yield page
    page.add_script_tag(path=AXE_PATH)
    found = [*page.evaluate(AXE), *said]
    wide = page.evaluate("document.documentElement.scrollWidth")
    page.close()
    assert (found, wide) == ([], request.param)


def told(page) -> str:
    return page.locator(".it-lab-said").text_content()


def shown(page) -> list[str]:
    return page.locator(".it-lab-stage svg text").all_text_contents()


def came(recording: dict) -> dict[str, list]:
    """Of each call that was made its kernels, what they called, and its error, by operator and kind."""
    texts, kinds = recording["texts"], list(recording["kinds"])
    rows = {name: row[4] for name, row in recording["ops"].items()}
    return {f"{op} {kind}": [texts[i] for i in one] for op, runs in rows.items() for kind, one in zip(kinds, runs)}


def disagreeing(walks: dict, calls: dict[str, list]) -> list[str]:
    """The walks by the rules that are not what ran. Where a call raised, the rules may lead further than it came."""
    found = []
    for pair, (ran, _, error) in calls.items():
        rules, ran = walks[pair]["rules"], ran.split()
        found += [pair] * (rules[: len(ran)] != ran if error else rules != ran)
    return found


def test_each_walk_is_what_really_ran(chromium, address, recorded):
    page, _ = opened(chromium, f"{address}/dispatcher.html")
    page.locator(f"#{LAB} .it-lab-open button").click()
    page.locator(".it-lab-box").wait_for()
    walks, calls = page.evaluate(WALKS), came(recorded)
    page.close()
    assert len(calls) > PAIRS and len(recorded["ops"]) == 200
    assert {pair.split()[0] for pair in disagreeing(walks, calls)} == ALONE
    for pair, (ran, _, error) in calls.items():
        assert walks[pair]["shown"] == ran.split(), pair
        assert (walks[pair]["last"]["happens"] == "no kernel") <= ("Could not run" in error), pair
        assert bool(error) == bool(walks[pair]["last"].get("raises") or walks[pair]["last"]["happens"] == "no kernel")
    assert not [said for one in walks.values() for said in one["said"] if re.search("undefined|NaN|null|\\{\\}", said)]
    calls["addmm plain"] = ["CPU", "", ""]
    assert "addmm plain" in disagreeing(walks, calls), "a doctored recording is found"


def test_the_recording_is_what_a_fresh_run_records(recorded):
    ran = subprocess.run(
        [sys.executable, "-c", FRESH],
        cwd=ROOT,
        env=Edition().environment | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    fresh = json.loads(ran.stdout)
    assert came(fresh) == came(recorded)
    assert fresh == recorded


def test_a_kernel_that_no_table_has_stops_the_recording(monkeypatch):
    from inside_torch.labs import dispatch_stepper

    monkeypatch.setattr(dispatch_stepper, "used", lambda count: {"relu": 1})
    monkeypatch.setattr(dispatch_stepper, "noted", lambda *call: ["AutogradCPU", "SparseCPU"])
    with pytest.raises(ValueError, match="SparseCPU is no kernel of relu for plain"):
        dispatch_stepper.recording()


def output(program: str) -> list[str]:
    command = [sys.executable, "-c", program]
    ran = subprocess.run(command, env=Edition().environment, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


def test_a_reader_plays(lab):
    assert told(lab).startswith(
        "The keys are asked from the top down. One call of addmm on a plain tensor runs 2 kernels of addmm itself: "
        "AutogradCPU and CPU."
    )
    assert lab.locator(".it-lab-controls [role=group] button").all_text_contents()[:3] == [
        "plain: 2",
        "grad: 2",
        "inference: 1",
    ]
    lab.get_by_role("button", name="autocast").click()
    assert "3 kernels of addmm itself" in told(lab) and told(lab).endswith("are only named here.")
    lab.get_by_role("button", name="next").click()
    assert told(lab).startswith("At AutocastCPU the kernel runs, registered at aten/src/ATen/autocast_mode.cpp:")
    assert "calls addmm again. In all it calls to.dtype \N{MULTIPLICATION SIGN}3, addmm." in told(lab)
    lab.get_by_role("slider", name="step").focus()
    lab.keyboard.press("ArrowRight")
    assert told(lab).startswith("At AutogradCPU the autograd kernel runs")
    unfold(lab)
    lab.get_by_role("textbox", name="operator").or_(lab.get_by_role("combobox", name="operator")).focus()
    lab.keyboard.press("ControlOrMeta+a")
    lab.keyboard.type("gelX")
    assert told(lab) == "No operator here is called “gelX”: choose another. The picture shows addmm."
    lab.keyboard.press("Backspace")
    assert "choose gelu" in told(lab) and "AutocastCPU" in shown(lab)
    lab.keyboard.type("u")
    sparse = lab.get_by_role("button", name="sparse: 1 fails")
    sparse.focus()
    lab.keyboard.press("Enter")
    assert "NotImplementedError: Could not run 'aten::gelu' with arguments from the 'SparseCPU' backend" in told(lab)
    assert "no kernel: the call fails" in " ".join(shown(lab))
    lab.get_by_role("button", name="copy a link").click()
    lab.get_by_role("button", name="copied").wait_for()
    link, seen = lab.evaluate("navigator.clipboard.readText()"), (told(lab), shown(lab))
    lab.get_by_role("button", name="start again").click()
    assert "addmm" in told(lab)
    lab.goto(link)
    lab.locator(".it-lab-box").wait_for()
    assert (told(lab), shown(lab)) == seen


@pytest.mark.parametrize(
    "state",
    [("addmm", "plain"), ("linear", "autocast"), ("gelu", "sparse"), ("mul.Tensor", "vmap"), ("relu", "mode")],
    ids=" ".join,
)
def test_the_program_prints_what_the_lab_shows(chromium, address, recorded, state):
    op, kind = state
    page, _ = opened(chromium, f"{address}/dispatcher.html?lab={LAB}&op={op}&kind={kind}#{LAB}")
    page.locator(".it-lab-box").wait_for()
    texts, said = shown(page), told(page)
    lines = output(page.locator(f"#{LAB} .it-lab-foot code").text_content())
    page.close()
    ran, _, error = came(recorded)[f"{op} {kind}"]
    assert lines[-1].split()[1 : 1 + len(ran.split())] == ran.split()
    entries = [line.split(" | ") for line in lines if " | " in line]
    again = [key for key, _ in entries[::-1]] if kind == "vmap" else [key for key, _ in entries]
    assert all(key in "".join(texts) for key in again)
    for key in ran.split():
        (entry, *_) = [entry for name, entry in entries if name == key]
        file, number, registered = re.search(r"([^/]+):(\d+) \[(.+)\]", entry).groups()
        assert registered in texts and f"{file}:{number}" in "".join(texts)
    assert not error or (error.partition(":")[0] in said and any(error.partition(":")[0] in line for line in lines))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_an_address_that_makes_no_sense_shows_the_first_view(chromium, address, theme):
    odd = "&op=no-such&kind=none&step=x"
    page, said = opened(chromium, f"{address}/dispatcher.html?lab={LAB}{odd}#{LAB}", color_scheme=theme)
    page.locator(".it-lab-box").wait_for()
    assert told(page).startswith("No operator here is called “no-such”") and "AutogradCPU" in shown(page)
    page.add_script_tag(path=AXE_PATH)
    assert (page.evaluate(AXE), said) == ([], [])
    page.close()

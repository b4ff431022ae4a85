"""The replay of backward: its recording against fresh runs of the same programs, and the page as a reader plays it."""

from __future__ import annotations

import copy
import functools
import heapq
import subprocess
import sys
from collections import Counter

import pytest
from conftest import BOOK, build
from test_browser import AXE, AXE_PATH, CLIPBOARD, opened
from test_labs import unfold

from inside_torch.labs import backward_replay
from inside_torch.labs.backward_programs import LEAF, Scenario
from inside_torch.labs.backward_run import Run
from inside_torch.take.prose import address as led

AGAIN = """
import contextlib, io, sys
for program in sys.stdin.read().split("\\0"):
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(program, {})
    print(printed.getvalue(), end="\\0")
"""


@pytest.fixture(scope="module")
def recording() -> dict:
    return backward_replay.recording()


@functools.cache
def fresh(*programs: str) -> list[str]:
    """What each of the programs prints, which run in one process. What ran before in this way is not run again."""
    command = [sys.executable, "-W", "error", "-c", AGAIN]
    ran = subprocess.run(command, input="\0".join(programs), capture_output=True, text=True, timeout=120)
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout.split("\0")[:-1]


def program(recording: dict, name: str) -> str:
    run = recording["runs"][name]
    (setup,) = [one["setup"] for one in recording["scenarios"] if one["value"] == name.split()[0]]
    lines = "\n".join(run["lines"])
    start = f"import torch\n{setup}\n{lines}\nroots = {run['roots']}\n\n{recording['hooks']}\n"
    return f"{start}{run['call']}\n{recording['end']}"


def wrong_in(run: dict, printed: str) -> list[str]:
    """Where a recorded run is not what a fresh one printed."""
    told = [line.removesuffix(" ") for line in printed.splitlines()]
    begins = len(told) and told[0] == "f runs"
    expected = ["f runs"] * begins
    grads = dict(run["grads"])
    for step in run["steps"]:
        name, number, _, leaf, *_ = run["nodes"][step["node"]]
        number = "largest" if number is None else number
        expected.append(f"{number:>7} {name} gets {' '.join(step['gets'])}")
        expected += [step["printed"]] if "printed" in step else []
        if leaf:
            grads[leaf] = step["grad"][1]
    ends = {f"{leaf}.grad {grad}" for leaf, grad in grads.items()}
    found = [f"{a!r} is not {b!r}" for a, b in zip(told, expected) if a != b]
    rest = set(told[len(expected) :])
    return found + [f"{rest} are not {ends}"] * (rest != ends)


def wrong_inside(run: dict) -> list[str]:
    """Where the queues, the sums and what was freed do not follow from the graph and from what was sent."""
    nodes, edges, found = run["nodes"], run["edges"], []
    waits = Counter(to for _, to, _ in edges)
    key = lambda i: -(2**64 if nodes[i][1] is None else nodes[i][1])  # noqa: E731
    heap = [(key(i), i) for i in run["queue"]]
    heapq.heapify(heap)
    held = {(i, 0): "1" for i in run["queue"]}
    for step in run["steps"]:
        i = heapq.heappop(heap)[1]
        found += [f"{step['node']} ran, not {i}"] * (step["node"] != i)
        gets = [held.get((i, slot)) for slot in range(len(step["gets"]))]
        found += [f"{i} got {step['gets']}, not {gets}"] * (step["gets"] != gets)
        for edge, _, sums in step["sent"]:
            source, to, slot = edges[edge]
            held[to, slot] = sums
            waits[to] -= 1
            found += [f"an edge from {source} in the step of {i}"] * (source != i)
            if not waits[to]:
                heapq.heappush(heap, (key(to), to))
        queue = [i for _, i in sorted(heap)]
        found += [f"the queue is {step['queue']}, not {queue}"] * (step["queue"] != queue)
    ran = {step["node"] for step in run["steps"]}
    return found + [f"{i} ran: {i in ran}" for i, node in enumerate(nodes) if (i in ran) != bool(node[5])]


def test_a_fresh_run_of_each_program_prints_what_was_recorded(recording):
    runs = recording["runs"]
    for (name, run), printed in zip(runs.items(), fresh(*(program(recording, name) for name in runs)), strict=True):
        assert wrong_in(run, printed) == [], name
        assert wrong_inside(run) == [], name
    assert [node[0] for node in runs["checkpoint"]["nodes"] if node[6]] == ["ExpBackward0", "SinBackward0"]
    assert not any(node[6] for name, run in runs.items() if name != "checkpoint" for node in run["nodes"])
    assert len(runs) == 15 and len(recording["scenarios"]) == 8
    (before,) = runs["again"]["grads"].values()
    assert runs["again"]["steps"][-1]["grad"] == [before, "(2,): 5, 7"] and before == "(2,): 2, 4"


def test_a_doctored_recording_is_found(recording):
    printed = fresh(*(program(recording, name) for name in recording["runs"]))[2]
    for change in (
        lambda run: run["steps"].insert(1, run["steps"].pop(2)),
        lambda run: run["steps"][3]["gets"].__setitem__(0, "18"),
        lambda run: run["steps"][4]["grad"].__setitem__(1, "50"),
        lambda run: run["nodes"][1].__setitem__(1, 1),
    ):
        run = copy.deepcopy(recording["runs"]["uses"])
        change(run)
        assert wrong_in(run, printed)
    for change in (
        lambda run: run["steps"][0]["queue"].reverse(),
        lambda run: run["steps"][2]["sent"][0].__setitem__(2, "16"),
        lambda run: run["edges"].pop(3),
        lambda run: run["nodes"][2].__setitem__(5, 0),
    ):
        run = copy.deepcopy(recording["runs"]["uses"])
        change(run)
        try:
            found = wrong_inside(run)
        except (IndexError, KeyError) as error:
            found = [error]
        assert found


def test_the_recorder_refuses_what_its_rules_do_not_explain(monkeypatch):
    plain = Scenario("", LEAF, "loss = (x * 2).exp().sum()")
    assert backward_replay.record(plain)["steps"]
    kept = plain._replace(call="loss.backward(retain_graph=True)")
    with pytest.raises(ValueError, match="still there"):
        backward_replay.record(kept)
    two = plain._replace(setup=LEAF + "w = x.detach().clone().requires_grad_()\n", lines="loss = (x * w).sum()")
    with pytest.raises(ValueError, match="the same sequence number"):
        backward_replay.record(two)
    changed = plain._replace(call="(x.register_hook(lambda grad: grad * 2), loss.backward())")
    with pytest.raises(ValueError, match="another sum"):
        backward_replay.record(changed)
    lines = "h = x * 2\na = h.exp()\nb = h.sin()\nloss = (a + b).sum()"
    numbered = Run.number
    monkeypatch.setattr(Run, "number", lambda run, i: -numbered(run, i))  # the oldest first
    with pytest.raises(ValueError, match="another order than the hooks saw"):
        backward_replay.record(plain._replace(lines=lines))


def test_a_link_into_the_lab_leads_to_its_page_from_anywhere():
    (page,) = [one for one in BOOK.pages if one.src == "backward.md"]
    assert led("?lab=a&b=c", page, build(), "https://book/") == "https://book/backward.html?lab=a&b=c"
    assert led("?lab=a&b=c", page, build(), "") == "backward.html?lab=a&b=c"


def said(page) -> str:
    return page.locator(".it-lab-said").inner_text()


def drawn(page) -> str:
    return "\n".join(page.locator(".it-lab-stage text").all_text_contents())


def cut(page) -> list[str]:
    """Texts of the picture that stick out of it or lie on each other."""
    return page.evaluate("""() => {
      const stage = document.querySelector(".it-lab-stage").getBoundingClientRect()
      const texts = [...document.querySelectorAll(".it-lab-stage text")].filter(one => one.textContent)
      const boxes = texts.map(one => [one.textContent, one.getBoundingClientRect()])
      const out = boxes.filter(([, box]) => box.left < stage.left || box.right > stage.right).map(([text]) => text)
      return out.concat(boxes.flatMap(([text, a], i) => boxes.slice(i + 1).filter(([, b]) =>
        a.left < b.right && b.left < a.right && a.top + 4 < b.bottom && b.top + 4 < a.bottom
      ).map(([b]) => `${text} ${b}`)))
    }""")


@pytest.mark.parametrize("width", [360, 1280])
def test_a_reader_plays_it(chromium, address, recording, width):
    allowed = {"permissions": CLIPBOARD, "reduced_motion": "reduce"}
    page, complaints = opened(chromium, f"{address}/backward.html", width, **allowed)
    lab = page.locator("backward-replay")
    lab.get_by_role("button", name="Replay it, node by node").click()
    page.wait_for_selector(".it-lab-box svg")
    assert said(page) == "Backward begins: NllLossBackward0 has the gradient 1. 11 nodes will run."
    names = [node[0] for node in recording["runs"]["ten"]["nodes"]]
    assert all(name in drawn(page) for name in names) and cut(page) == []
    lab.get_by_role("button", name="next").click(click_count=3)
    assert "which has the largest sequence number of the 3 that are ready" in said(page)
    lab.get_by_role("slider", name="step").focus()
    for _ in range(8):
        page.keyboard.press("ArrowRight")
    assert "Backward is done: 11 nodes ran." in said(page) and cut(page) == []
    page.keyboard.press("Home")
    unfold(page)
    lab.get_by_label("only inputs=[2.weight]").focus()
    page.keyboard.press("Space")
    assert "5 nodes will run, and 6 do not" in said(page)
    lab.get_by_label("graph of").select_option("uses")
    lab.get_by_role("button", name="next").press("Enter")
    lab.get_by_role("button", name="next").press("Enter")
    assert "sent 6 and 6" in said(page)
    assert "MulBackward0 (sequence number 0) has 2 of 3 gradients and waits" in said(page)
    lab.get_by_label("swap a and b").check()
    assert "step=" not in page.url
    lab.get_by_role("button", name="next").click(click_count=2)
    assert "sent 5" in said(page)
    lab.get_by_role("button", name="copy a link").click()
    lab.get_by_role("button", name="copied").wait_for()
    link, seen = page.evaluate("navigator.clipboard.readText()"), (said(page), drawn(page))
    page.goto(link)
    page.wait_for_selector(".it-lab-box svg")
    assert (said(page), drawn(page)) == seen and "swap=true" in link
    page.add_script_tag(path=AXE_PATH)
    assert page.evaluate(AXE) == []
    lab.get_by_role("button", name="start again").click()
    assert "11 nodes will run" in said(page)
    lab.get_by_role("button", name="play").click()
    page.wait_for_function("document.querySelector('.it-lab-count').textContent === '2 of 11'")
    lab.get_by_role("button", name="pause").click()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    page.close()
    assert complaints == []


@pytest.mark.parametrize("width", [360, 1280])
def test_every_step_of_every_run_is_drawn_whole_and_its_program_runs(chromium, address, recording, width):
    page, complaints = opened(chromium, f"{address}/backward.html?lab=backward-replay#backward-replay", width)
    page.wait_for_selector(".it-lab-box svg")
    programs = []
    for name, run in recording["runs"].items():
        graph, *switches = name.split()
        state = {one: str(one in switches).lower() for one in ("swap", "inputs")} | {"graph": graph}
        for step in range(len(run["steps"]) + 1):
            page.evaluate("state => document.querySelector('backward-replay').set(state)", state | {"step": str(step)})
            assert cut(page) == [], (name, step)
        assert "Backward is done" in said(page) and f"{len(run['steps'])} nodes ran" in said(page)
        programs.append(page.locator(".it-lab-foot code").text_content())
        assert programs[-1] == program(recording, name)
    for run, printed in zip(recording["runs"].values(), fresh(*programs), strict=True):
        assert wrong_in(run, printed) == []
    first = "document.querySelectorAll('.it-lab-stage text')[0].setAttribute('x', -300)"
    page.evaluate(first)
    assert len(cut(page)) == 1, "a text outside is found"
    page.goto(f"{address}/backward.html?lab=backward-replay&graph=none&step=x&swap=maybe#backward-replay")
    page.wait_for_selector(".it-lab-box svg")
    assert "11 nodes will run" in said(page)
    page.close()
    assert complaints == []

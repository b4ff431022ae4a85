"""Whatever a page holds, the build ends in a right page or in a failure that names page and line."""

from __future__ import annotations

import html
import re

import pytest
from conftest import fence, left_behind

SVG = "<svg xmlns='http://www.w3.org/2000/svg'><title>t</title><desc>d</desc><metadata>{{}}</metadata>{}</svg>"

# What a block does -> what the build says of it.
FAILING = {
    "def f(:": "status 1: SyntaxError: invalid syntax",
    "print('before')\nprint(1 / 0)": "status 1: ZeroDivisionError: division by zero",
    "import sys\nsys.exit(1)": "ended with status 1",
    "import sys\nsys.exit('reason')": "ended with status 1: reason",
    "import os\nos._exit(0)": "ended before its last line",
    "while True:\n    pass": "ran longer than 8 seconds",
    "import ctypes\nctypes.string_at(0)": "killed by signal 11",
    "raise KeyboardInterrupt": "status 1: KeyboardInterrupt",
    "print('x' * 100_000_000)": "printed more than 100000 bytes",
    "import os\nos.write(1, b'\\xff\\xfe')": "printed bytes that are not UTF-8",
    "print('\\x1b[31mred\\x1b[0m')": "control character '\\x1b'",
    "print('nul \\0')": "control character '\\x00'",
    "input()": "EOFError: EOF when reading a line",
    "import os\nos.close(1)\nprint('lost')": "OSError: [Errno 9] Bad file descriptor",
    "import sys\nsys.stdout.close()\nprint('lost')": "ValueError: I/O operation on closed file",
    "import warnings\nwarnings.warn('old', DeprecationWarning)": "wrote to stderr: block.py:2: DeprecationWarning: old",
    "import warnings\nwarnings.warn('soon', FutureWarning)": "wrote to stderr: block.py:2: FutureWarning: soon",
    "import torch\ntorch.ones(3).storage()": "wrote to stderr",
    "import torch\ntorch.ones(3).T.T.new_empty(2, 2, 2).T": "wrote to stderr",
    "import ctypes\nctypes.CDLL(None).dprintf(2, b'from C')": "wrote to stderr: from C",
    "import inside_torch": "No module named 'inside_torch'",
    "import threading, time\nthreading.Thread(target=time.sleep, args=(600,)).start()": "ran longer than 8 seconds",
}
FIGURES = {
    "print('no svg')": "not a figure: a figure prints one SVG",
    f"print({SVG.format('<script>alert(1)</script>')!r})": "must not contain <script>",
    f"print({SVG.format('<rect onload=' + chr(34) + 'alert(1)' + chr(34) + '/>')!r})": "must not contain onload=",
    f"print({SVG.format('<path fill=' + chr(34) + 'url(http://x)' + chr(34) + '/>')!r})": "must not contain fill=",
    f"print({SVG.format('')!r}, 'and more')": "this does not parse as one",
    "print(\"<svg xmlns='http://www.w3.org/2000/svg'/>\")": "a figure needs a <title>",
    "1 / 0": "ZeroDivisionError",
}
UNKNOWN = {
    "Python": "did you mean `python`?",
    "py": "did you mean `python`?",
    "pyhton": "did you mean `python`?",
    "python exec=on": "a `python` fence has nothing else on its line",
    'python exec="on"': "a `python` fence has nothing else on its line",
    "{.python}": "a `python` fence has nothing else on its line",
    " python": "a `python` fence has nothing else on its line",
    'figure alt="x"': "a `figure` fence has nothing else on its line",
    'python title="examples/none.py"': "a listing of examples/none.py holds one line",
    "": "has no meaning",
}


def page_and_lines(parts: list[str]) -> tuple[str, list[int]]:
    """A page of the given parts, and the line each begins on."""
    text, lines = "# Page\n\n", []
    for part in parts:
        lines.append(text.count("\n") + 1)
        text += part + "\n"
    return text, lines


def test_every_failing_block_is_named_with_its_line(site):
    cases = [(fence(source), said) for source, said in FAILING.items()]
    cases += [(fence(source, "figure"), said) for source, said in FIGURES.items()]
    good = fence("import torch\nprint(torch.get_default_dtype(), 'and intact')")
    text, lines = page_and_lines([part for part, _ in cases] + [good])
    built = site.write(index=text).build(INSIDE_TORCH_DEADLINE="8")
    assert built.returncode == 1
    passed = [
        part for line, (part, _) in zip(lines, cases, strict=False) if f"docs/index.md:{line}: " not in built.stdout
    ]
    assert passed == []
    assert f"{len(cases)} failures: nothing was built" in built.stdout
    reports = re.split(r"^ERROR   -  ", built.stdout, flags=re.M)[1:]
    for report, line, (part, said) in zip(reports, lines, cases, strict=False):
        assert report.startswith(f"docs/index.md:{line}: "), (part, report)
        assert said in report.partition("\n")[0], (part, report)
    assert not (site.folder / "site").exists()
    assert site.cached() == 1, "the good block alone: no failure is kept"
    assert not left_behind(str(site.folder))


def test_the_line_inside_the_block_and_the_output_so_far_are_shown(site):
    said = site.write(index="# P\n\ntext\n\n" + fence("print('before')\nprint(1 / 0)")).build().stdout
    assert 'File "docs/index.md", line 7, in <module>' in said
    assert re.search(r"output so far:\n\s+before\n", said)


def test_a_failure_keeps_the_end_of_stderr_where_the_cause_is(site):
    source = "import sys\nsys.stderr.write('noise\\n' * 1000)\nraise SystemExit('the cause')"
    said = site.write(index="# P\n\n" + fence(source)).build().stdout
    assert "docs/index.md:3: it ended with status 1: the cause" in said
    assert "characters before]" in said and "    the cause" in said and said.count("noise") < 400


def test_a_listing_of_a_missing_file_is_named_with_its_line(site):
    lost = '```python title="examples/lost.py"\n--8<-- "examples/lost.py"\n```\n'
    built = site.write(index=f"# P\n\ntext\n\n{lost}").build()
    assert built.returncode == 1 and "Traceback" not in built.stdout
    assert "docs/index.md:6: this includes what is not there" in built.stdout


def test_an_output_that_the_readme_does_not_have_is_named_with_its_line(site):
    built = site.write(index="# P\n\ntext\n\n<!-- prints lost.py -->\n").build()
    assert built.returncode == 1 and "Traceback" not in built.stdout
    assert "docs/index.md:5: examples/README.md has no output of lost.py" in built.stdout


@pytest.mark.parametrize(("info", "said"), UNKNOWN.items())
def test_a_fence_without_a_meaning_stops_the_build(info, said):
    from inside_torch.fences import parse

    _, problems = parse(f"# P\n\n{fence('print(1)', info)}")
    assert [problem.line == 3 and said in problem.text for problem in problems] == [True]


def test_fences_without_a_meaning_end_the_build_and_are_all_listed(site):
    text, lines = page_and_lines([fence("print(1)", info) for info in UNKNOWN] + ["```python\nprint('open')"])
    built = site.write(index=text).build()
    assert built.returncode == 1
    for line in lines:
        assert f"docs/index.md:{line}: " in built.stdout
    assert f"docs/index.md:{lines[-1]}: this fence is not closed" in built.stdout


NESTED = """\
# Nested

- in a list

    ```python
    print("from a list")
    ```

!!! note

    ```python
    print("from an admonition")
    ```

=== "tab"

    ```python
    print("from a tab")
    ```

> ```python
> print("from a quotation")
> ```

1.  deep

    ??? question "closed"

        ```python
        for word in "from", "deep":

            print(word)
        ```
"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_fence_runs_wherever_it_stands(site, end):
    built = site.write(index=NESTED.replace("\n", end)).build()
    assert built.returncode == 0, built.stdout
    page = site.html()
    for words in ("from a list", "from an admonition", "from a tab", "from a quotation", "from\ndeep"):
        assert f"<samp>{words}</samp>" in page


HOSTILE = """\
print("</script><img src=x onerror=alert(1)>")
print("`" * 8)
print("<b>bold</b>")
print("</samp></pre>")
print("&amp; %s {{ page }} $x$ [a](b)")
"""


def test_what_a_block_prints_is_text_and_nothing_else(site):
    built = site.write(index="# P\n\n" + fence(HOSTILE.strip())).build()
    assert built.returncode == 0, built.stdout
    shown = re.search(r"<samp>(.*?)</samp>", site.html(), re.S)[1]
    assert "<" not in shown
    expected = "</script><img src=x onerror=alert(1)>\n````````\n<b>bold</b>\n</samp></pre>\n"
    assert html.unescape(shown) == expected + "&amp; %s {{ page }} $x$ [a](b)"


LEAKING = """\
import subprocess, threading, time, torch
torch.set_default_dtype(torch.float64)
torch.Tensor.__repr__ = lambda self: "patched"
open("left.txt", "w").write("x")
threading.Thread(target=time.sleep, args=(900,), daemon=True).start()
subprocess.Popen(["sleep", "901.5"], start_new_session=True)
subprocess.Popen(["sh", "-c", "sleep 901.5 & sleep 901.5"])
print("done")
"""


def test_nothing_reaches_another_block_and_no_process_stays(site):
    clean = "import os, torch\nprint(os.listdir(), torch.ones(1), torch.ones(1).dtype)"
    built = site.write(index=fence(LEAKING.strip()) + "\n" + fence(clean)).build()
    assert built.returncode == 0, built.stdout
    assert "[] tensor([1.]) torch.float32" in html.unescape(site.html())
    assert not left_behind("901.5")


def test_ending_early_on_purpose_is_no_failure(site):
    built = site.write(index=fence("import sys\nprint('told')\nsys.exit(0)")).build()
    assert built.returncode == 0, built.stdout
    assert "<samp>told</samp>" in site.html()


def test_a_block_that_prints_nothing_has_no_output_box(site):
    assert site.write(index=fence("x = 1")).build().returncode == 0
    assert "it-output" not in site.html()


def test_python_and_c_print_in_the_order_of_the_program(site):
    source = "import ctypes\nfor n in range(3):\n    print('python', n)\n    ctypes.CDLL(None).puts(b'c')"
    assert site.write(index=fence(source)).build().returncode == 0
    assert "<samp>python 0\nc\npython 1\nc\npython 2\nc</samp>" in site.html()


def test_a_block_is_a_real_main_program(site):
    source = "import inspect, pickle, sys\nclass A:\n    x = 1\ndef f():\n    return A\n"
    source += "print(__name__, inspect.getsource(f).strip(), inspect.getsource(A).strip())\n"
    source += "print(pickle.loads(pickle.dumps(A())).x, sys.modules['__main__'].f is f)"
    assert site.write(index=fence(source)).build().returncode == 0
    assert "__main__ def f():\n    return A class A:\n    x = 1\n1 True" in site.html()

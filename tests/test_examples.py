"""pytest-codeblocks skips in silence: so count what it collects, and require each example in a fence."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from conftest import ROOT

EXAMPLES = sorted(path.name for path in (ROOT / "examples").glob("*.py"))
READMES = [ROOT / "examples" / "README.md", ROOT / "README.md"]


def fences_run(text: str) -> list[str]:
    """The contents of the fences that pytest-codeblocks runs."""
    return re.findall(r"^```(?:python|sh|bash)\n(.*?)^```$", text, re.M | re.S)


def missing(readme: str, examples: list[str]) -> list[str]:
    """The examples that no fence of `readme` runs."""
    run = "\n".join(fences_run(readme))
    return [name for name in examples if not re.search(rf"\bexamples/{re.escape(name)}\b", run)]


def test_every_example_is_run_by_a_fence_with_expected_output():
    readme = READMES[0].read_text()
    assert EXAMPLES
    assert missing(readme, EXAMPLES) == []
    assert readme.count("<!--pytest-codeblocks:expected-output-->") >= len(EXAMPLES)


def test_an_example_in_no_fence_is_noticed():
    assert missing("```sh\npython examples/a.py\n```\n\n```console\npython examples/b.py\n```\n", ["a.py", "b.py"]) == [
        "b.py"
    ]


def collected(folder: Path, *names: str) -> int:
    command = [sys.executable, "-m", "pytest", "--codeblocks", "--collect-only", "-q", "-p", "no:cacheprovider", *names]
    said = subprocess.run(command, cwd=folder, capture_output=True, text=True).stdout
    found = re.search(r"^(\d+) tests? collected", said, re.M)
    return int(found[1]) if found else 0


def test_every_fence_of_the_readmes_is_collected():
    expected = sum(len(fences_run(path.read_text())) for path in READMES)
    assert collected(ROOT, "examples", "README.md") == expected > 0


def test_a_fence_that_is_skipped_in_silence_is_noticed(tmp_path: Path):
    (tmp_path / "README.md").write_text("```py\nprint(1)\n```\n")
    assert collected(tmp_path, "README.md") == 0


def complaints(path: Path) -> list[str]:
    """What an example does that none may, running it included."""
    text = path.read_text()
    found = [] if text.startswith('"""') else ["its first line says no thesis"]
    if text.count("\n") > 120:
        found.append("it has more than 120 lines")
    if "assert" not in text:
        found.append("it asserts nothing")
    environment = os.environ | {"PYTHONWARNINGS": "default::DeprecationWarning,default::FutureWarning"}
    ran = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=60, env=environment)
    if ran.returncode or ran.stderr:
        found.append(f"it ended with status {ran.returncode}, and wrote to stderr: {ran.stderr.strip()}")
    return found


def test_examples_keep_the_rules():
    for name in EXAMPLES:
        assert complaints(ROOT / "examples" / name) == [], name


def test_an_example_that_breaks_the_rules_is_noticed(tmp_path: Path):
    (tmp_path / "bad.py").write_text("import warnings\nwarnings.warn('old', DeprecationWarning)\n" + "x = 1\n" * 120)
    said = complaints(tmp_path / "bad.py")
    assert len(said) == 4
    assert "DeprecationWarning: old" in said[3]

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


def test_examples_are_short_and_say_their_thesis_first():
    for name in EXAMPLES:
        text = (ROOT / "examples" / name).read_text()
        assert text.startswith('"""'), name
        assert len([line for line in text.splitlines() if line.strip()]) <= 120, name
        assert "assert" in text, name
        ran = subprocess.run(
            [sys.executable, str(ROOT / "examples" / name)],
            capture_output=True,
            text=True,
            timeout=60,
            env=os.environ | {"PYTHONWARNINGS": "error::DeprecationWarning"},
        )
        assert ran.returncode == 0, ran.stderr
        assert not ran.stderr, name

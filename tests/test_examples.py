"""pytest-codeblocks skips in silence: so count what it collects, and require each example in a fence."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

from inside_torch.edition import Edition
from inside_torch.render import tables
from inside_torch.run.needs import needs
from inside_torch.run.normal import without_notices

EXAMPLES = tables.programs(ROOT)
COMPILED = [name for name in EXAMPLES if needs((ROOT / "examples" / name).read_text()).compiler]
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
    plain = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    said = subprocess.run(command, cwd=folder, env=plain, capture_output=True, text=True).stdout
    found = re.search(r"^(\d+) tests? collected", said, re.M)
    return int(found[1]) if found else 0


def test_every_fence_of_the_readmes_is_collected():
    expected = sum(len(fences_run(path.read_text())) for path in READMES)
    assert collected(ROOT, "examples", "README.md") == expected > 0


def test_a_fence_that_is_skipped_in_silence_is_noticed(tmp_path: Path):
    (tmp_path / "README.md").write_text("```py\nprint(1)\n```\n")
    assert collected(tmp_path, "README.md") == 0


def run(path: Path, timeout: float = 0, **environment: str) -> subprocess.CompletedProcess:
    """Runs a program. What compiles C++ took 10 s where two cores were free, and 60 s where they were not."""
    environment = os.environ | {"TORCH_EXTENSIONS_DIR": str(Edition().extensions)} | environment
    timeout = timeout or (300 if path.name in COMPILED else 60)
    try:
        return subprocess.run(
            [sys.executable, str(path)], capture_output=True, text=True, timeout=timeout, env=environment
        )
    except subprocess.TimeoutExpired:
        for lock in Edition().extensions.glob("*/lock"):
            lock.unlink()  # a killed build leaves it, and the next would wait for it
        raise


def complaints(path: Path) -> list[str]:
    """What an example does that none may. What it does when it runs, its fence in the README shows."""
    text = path.read_text()
    found = [] if text.startswith('"""') else ["its first line says no thesis"]
    if text.count("\n") > 120:
        found.append("it has more than 120 lines")
    if "assert" not in text:
        found.append("it asserts nothing")
    return found


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_keeps_the_rules(name: str):
    assert complaints(ROOT / "examples" / name) == []


def test_an_example_that_breaks_the_rules_is_noticed(tmp_path: Path):
    (tmp_path / "bad.py").write_text("x = 1\n" * 121)
    assert len(complaints(tmp_path / "bad.py")) == 3


def test_a_build_that_was_killed_does_not_hang_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "slow.py").write_text("import time\ntime.sleep(60)\n")
    (tmp_path / "name").mkdir()
    (tmp_path / "name" / "lock").touch()
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(tmp_path))
    with pytest.raises(subprocess.TimeoutExpired):
        run(tmp_path / "slow.py", timeout=0.5)
    assert not (tmp_path / "name" / "lock").exists()


@pytest.mark.parametrize("name", COMPILED)
def test_without_a_compiler_an_example_says_what_is_missing(name: str):
    ran = run(ROOT / "examples" / name, PATH="", CXX="c++")
    assert (ran.returncode, without_notices(ran.stderr), ran.stdout.count("\n")) == (77, "", 1)
    assert ran.stdout.startswith("skipped: this example compiles C++")
    assert "the PATH has no c++ and no ninja" in ran.stdout


def test_where_torch_uses_no_avx2_its_example_checks_what_it_can_and_says_so():
    ran = run(ROOT / "examples" / "simd_square.py", ATEN_CPU_CAPABILITY="default")
    assert (ran.returncode, without_notices(ran.stderr)) == (77, "")
    assert "no AVX2" in ran.stdout or "the PATH has no" in ran.stdout


def fence_run(folder: Path, command: str, **environment: str) -> subprocess.CompletedProcess:
    """pytest-codeblocks on a README whose one fence runs a command. Its extensions are its own: when a fence hangs, the
    locks of builds are cleared, and other tests build at the same time."""
    (folder / "README.md").write_text(f"```sh\n{command}\n```\n")
    pytests = [sys.executable, "-m", "pytest", "-ra", "-p", "no:cacheprovider", "-p", "conftest", "--codeblocks"]
    environment = os.environ | {"COLUMNS": "200", "TORCH_EXTENSIONS_DIR": str(folder / "extensions")} | environment
    return subprocess.run(
        [*pytests, str(folder / "README.md")], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120
    )


@pytest.mark.parametrize("ci, word, status", [("false", "skipped", 0), ("true", "failed", 1)])
def test_a_missing_compiler_is_a_skip_in_the_report_and_in_ci_a_failure(ci, word, status, tmp_path: Path):
    (tmp_path / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (tmp_path / "python").chmod(0o755)  # the PATH holds this alone
    ran = fence_run(tmp_path, "python examples/simd_square.py", PATH=str(tmp_path), CXX="c++", CI=ci)
    assert ran.returncode == status, ran.stdout
    assert re.search(rf"^=+ 1 {word} in", ran.stdout, re.M)
    reason = r"skipped: this example compiles C\+\+, and the PATH has no c\+\+"
    assert re.search(rf"^{word.upper()}.*{reason}", ran.stdout, re.M), ran.stdout


def test_a_missing_device_is_a_skip_in_ci_too(tmp_path: Path):
    program = "print('skipped: no CUDA device, so this is left out'); raise SystemExit(77)"
    ran = fence_run(tmp_path, f'{sys.executable} -c "{program}"', CI="true")
    assert ran.returncode == 0, ran.stdout
    assert re.search(r"^SKIPPED.*skipped: no CUDA device", ran.stdout, re.M), ran.stdout


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("import warnings; warnings.warn('old', DeprecationWarning)", "DeprecationWarning: old"),
        ("import sys; print('oh', file=sys.stderr)", "it wrote to stderr: oh"),
        ("assert 1 == 2, 'never'", "AssertionError: never"),
        ("import time; time.sleep(70)", "timed out after 6 seconds"),
    ],
)
def test_a_fence_that_complains_fails_or_hangs_is_reported_with_what_it_said(program, said, tmp_path: Path):
    lock = tmp_path / "extensions" / "name" / "lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    ran = fence_run(tmp_path, f'{sys.executable} -c "{program}"', INSIDE_TORCH_DEADLINE="6")
    assert lock.exists() == ("timed out" not in said)
    assert ran.returncode == 1 and "1 failed" in ran.stdout
    assert said in ran.stdout

"""The workflows promise: every reference exists, nothing is trusted unasked.

zizmor and the schema see neither an undefined `needs` nor an undefined step,
and zizmor lets a job-wide restore of a cache in publish.yml pass.
"""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".github" / "workflows"
FILES = sorted(FOLDER.glob("*.yml"))


def load(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_there_are_workflows():
    assert {path.stem for path in FILES} == {"test", "publish", "weekly"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_reference_exists(path):
    jobs = load(path)["jobs"]
    for name, job in jobs.items():
        needs = job.get("needs", [])
        needs = [needs] if isinstance(needs, str) else needs
        assert set(needs) <= set(jobs), f"{name} needs {needs}"
        # Only a job's own steps can be referred to, and only earlier ones.
        known = set()
        for step in job["steps"]:
            for used in re.findall(r"\bsteps\.([\w-]+)", str(step)):
                assert used in known, f"{name}: steps.{used} is not defined before use"
            known.add(step.get("id"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_nothing_is_trusted_unasked(path):
    workflow = load(path)
    assert workflow["permissions"] == {}, "grant in the job that needs it"
    for line in path.read_text(encoding="utf-8").splitlines():
        if "uses:" in line:
            assert re.search(r"@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line), line
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"] <= 90
        assert "write" not in str(job["permissions"]) or job["permissions"] in (
            {"pages": "write", "id-token": "write"},
            {"contents": "write"},
        )
        if "contents" in job["permissions"] and job["permissions"]["contents"] == "write":
            assert not any("uses" in step for step in job["steps"]), "whoever may push runs no code but these lines"
            assert not re.search(r"\b(make|pip|python)\b", str(job["steps"]))
        for step in job["steps"]:
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False


def test_what_is_published_comes_from_no_cache():
    for job in load(FOLDER / "publish.yml")["jobs"].values():
        for step in job["steps"]:
            uses = step.get("uses", "")
            assert not re.match(r"actions/cache(/restore)?@", uses)
            assert "cache" not in step.get("with", {})


def test_publish_saves_what_test_restores():
    def caches(name, action):
        (job,) = (j for n, j in load(FOLDER / name)["jobs"].items() if n not in ("deploy", "notebooks"))
        steps = [s["with"] for s in job["steps"] if s.get("uses", "").startswith(action)]
        return {step["key"]: step["path"] for step in steps}

    saved = caches("publish.yml", "actions/cache/save@")
    assert saved and saved == caches("test.yml", "actions/cache@")


def test_the_oldest_and_the_newest_python_are_tested_and_named_everywhere():
    tested = load(FOLDER / "test.yml")["jobs"]["test"]["strategy"]["matrix"]["python"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    oldest, above = re.fullmatch(r">=([\d.]+),<3\.(\d+)", project["requires-python"]).groups()
    newest = f"3.{int(above) - 1}"
    assert tested == [oldest.rpartition(".")[0], newest]
    assert f"Python {oldest} to {newest} " in (ROOT / "README.md").read_text(encoding="utf-8")
    checked = (ROOT / "inside_torch" / "machine.sh").read_text(encoding="utf-8")
    assert f"A Python from {oldest} to {newest} " in checked
    assert f"({oldest.replace('.', ', ')}) <= sys.version_info < (3, {above})" in checked

"""The notebook page is executed by the build, and a failing cell fails it."""

from __future__ import annotations

import re

import pytest
from conftest import BOOK, CONFIGURATION, ROOT, Site

from inside_torch.render.notebook import cells

NOTEBOOK = """\
  mkdocs-jupyter:
    include: ["tour.py"]
    execute: false
"""


def with_notebook(site: Site, text: str) -> Site:
    (site.folder / "mkdocs.yml").write_text(CONFIGURATION.format(root=ROOT) + NOTEBOOK)
    (site.folder / "docs" / "tour.py").write_text(text)
    return site.write(index="# P\n")


def test_a_notebook_is_executed_and_slim(site: Site):
    built = with_notebook(site, "# %% [markdown]\n# # Tour\n\n# %%\nprint(6 * 7)\n").build()
    assert built.returncode == 0, built.stdout
    page = site.html("tour")
    assert "<samp>42</samp>" in page, "and no empty line above it"
    assert "Tour" in page
    assert len(page) < 60_000
    assert not re.search(r'(?:src|href)="(?:https?:)?//(?!github\.com/pytorch)', page)


def test_a_failing_cell_fails_the_build(site: Site):
    built = with_notebook(site, "# %% [markdown]\n# # Tour\n\n# %%\nprint('so far')\n1 / 0\n").build()
    assert built.returncode == 1
    assert "docs/tour.py:6: it ended with status 1: ZeroDivisionError: division by zero" in built.stdout
    assert "so far" in built.stdout


def test_a_cell_that_warns_fails_the_build(site: Site):
    cell = "import warnings\nwarnings.warn('old', DeprecationWarning)"
    built = with_notebook(site, f"# %% [markdown]\n# # Tour\n\n# %%\n{cell}\n").build()
    assert built.returncode == 1
    assert "docs/tour.py:6: it wrote to stderr: block.py:6: DeprecationWarning: old" in built.stdout


def test_two_clean_builds_of_a_notebook_are_the_same_bytes(site: Site):
    text = "# %% [markdown]\n# # Tour\n\n# %%\nprint(6 * 7)\n"
    with_notebook(site, text).build()
    first = site.files()
    site.build(INSIDE_TORCH_CACHE=str(site.folder / "other"))
    assert site.files() == first


@pytest.mark.parametrize(
    ("mine", "said"),
    [
        ("cdgebaf", "7 of 7 in place"),
        ("cgdebaf", "5 of 7 in place"),
        ("dgcbfea", "0 of 7 in place"),
        ("", "g The result gets its node."),
    ],
)
def test_the_order_at_the_end_of_the_tour_can_be_filled_in(capsys: pytest.CaptureFixture, mine: str, said: str):
    (cell,) = (cell for cell in cells(BOOK.page("tour.py").text) if "\nmine = " in cell)
    exec(re.sub(r"(?m)^mine = .*$", f"mine = {mine!r}", cell), {})
    assert capsys.readouterr().out.splitlines()[-1] == said

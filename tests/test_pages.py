"""The book keeps its own rules: no page has a problem, none breaks a rule of inside_torch/rules.py."""

from __future__ import annotations

import re

import pytest
from conftest import BOOK, ROOT, build

from inside_torch.render import tables
from inside_torch.rules import broken


@pytest.mark.parametrize("src", [page.src for page in BOOK.pages])
def test_a_page_keeps_the_rules(src):
    page = build().book.page(src)
    assert [
        f"{page.name}:{one.line}: {one.text}\n{one.details}" for one in [*page.problems, *broken(page, build())]
    ] == []


def test_every_example_is_shown_by_a_page():
    shown = set(re.findall(r'--8<-- "(examples/[^":]+)', "".join(page.text for page in BOOK.pages)))
    assert {f"examples/{name}" for name in tables.programs(ROOT)} <= shown

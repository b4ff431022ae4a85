"""What the figure of the names in compiled files promises: what the compiler, the linker and torch say."""

from __future__ import annotations

import pytest
from test_figures import plain_and_fits, rows_of

from inside_torch.figures import linked_names

SOURCES = {
    "a.cpp": 'int b(int x); extern "C" void torch_call_dispatcher();\n'
    "int a() { torch_call_dispatcher(); return b(1); }",
    "b.cpp": "int b(int x) { return x; }",
}


def test_it_asks_compiler_linker_and_torch():
    rows = {row[0]: row[1:] for row in rows_of(linked_names(SOURCES, "ab.so", title="t"))}
    assert rows["a()"] == ["has", "\u2013", "has", "\u2013"]
    assert rows["b(int)"] == ["asks", "has", "has", "\u2013"]
    assert rows["torch_call_dispatcher"] == ["asks", "\u2013", "asks", "has"]


def test_a_library_of_the_first_source_alone_asks_for_what_the_others_have():
    rows = {row[0]: row[1:] for row in rows_of(linked_names(SOURCES, "ab.so", alone="a.so", title="t"))}
    assert rows["b(int)"] == ["asks", "asks", "has", "has", "\u2013"]
    assert rows["a()"] == ["has", "has", "\u2013", "has", "\u2013"]


def test_it_is_plain_and_fits_a_phone():
    svg = linked_names(SOURCES, "ab.so", title="t")
    plain_and_fits(svg)


def test_what_disagrees_with_the_figure_raises():
    with pytest.raises(ValueError, match=r"(?s)c\+\+: .*error"):
        linked_names({"a.cpp": "int a() {"}, "a.so", title="t")
    with pytest.raises(ValueError, match=r"neither a.so nor torch has b\(int\)"):
        linked_names({"a.cpp": "int b(int); int a() { return b(1); }"}, "a.so", title="t")
    with pytest.raises(TypeError, match=r"'a\.cpp' must be a str, got int"):
        linked_names({"a.cpp": 3}, "a.so", title="t")

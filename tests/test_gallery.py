"""The gallery: each example is on it, whole, with its thesis, its chapters and what it prints."""

from __future__ import annotations

import re
from pathlib import Path

from bs4 import BeautifulSoup
from conftest import BOOK, ROOT

from inside_torch.render import tables
from inside_torch.rules import SOFT

README = (ROOT / "examples" / "README.md").read_text()
FOUND = tables.examples({page.src: page.text for page in BOOK.pages if "gallery" not in page.src})


def without_markers(source: str) -> str:
    return re.sub(r"^[ \t]*# --8<-- \[(?:start|end):[\w-]+\]\n", "", source, flags=re.M)


def linked(readme: str) -> dict[str, list[str]]:
    """The table at the top of a README: each topic with the headings it links to."""
    rows = re.findall(r"^\| ([^|]+) \| (\[.*\)) \|$", readme, re.M)
    found = {topic: re.findall(r"\[([\w/]+)\]\(#(\w+)py\)", links) for topic, links in rows}
    return {topic: [name for name, to in links if to == name.replace("/", "")] for topic, links in found.items()}


def test_every_example_has_a_topic_a_thesis_and_an_output():
    assert {example.name for example in FOUND} == set(tables.programs(ROOT))
    for example in FOUND:
        assert example.topic and example.printed, f"{example.name}: the README has no section for it under a topic"
        assert example.thesis.endswith(".") and len(example.thesis) <= 120, example.name
        assert not SOFT.search(example.thesis), example.name


def test_the_readme_begins_with_a_table_of_its_sections():
    topics: dict[str, list[str]] = {}
    for name, (topic, _) in tables.sections(README).items():
        topics.setdefault(topic, []).append(name.removesuffix(".py"))
    assert linked(README) == topics


def test_the_gallery_has_no_problem_and_lists_every_example():
    page = BOOK.page("reference/gallery.md")
    assert not page.problems
    assert [f.source for f in page.fences if "--8<--" in f.source] == [f'--8<-- "examples/{e.name}"' for e in FOUND]


def test_a_reader_sees_thesis_chapters_program_and_output(book: Path):
    article = BeautifulSoup((book / "reference" / "gallery.html").read_text(encoding="utf-8"), "html.parser").article
    said = [p.get_text() for p in article.select("h3 + p")]
    closed = article.select("details:not(.it-about details)")
    assert len(said) == len(closed) == len(FOUND)
    for example, paragraph, details in zip(FOUND, said, closed):
        assert paragraph.startswith(example.thesis)
        assert "open" not in details.attrs and example.name in details.summary.get_text()
        listing, *printed = [code.get_text() for code in details.select("pre")]
        source = (ROOT / "examples" / example.name).read_text()
        assert listing.strip() == without_markers(source).strip(), example.name
        assert [text.strip("\n") for text in printed] == [example.printed.strip("\n")], example.name
    (tensor,) = [p for p in article.select("h3 + p") if "flat list" in p.get_text()]
    assert {"../tensor.html"} <= {link["href"] for link in tensor.select("a")}


SMALL = """\
# Examples

| topic | examples |
|---|---|
| One | [a](#apy) |

## One

### a.py

```sh
python examples/a.py
```

<!--pytest-codeblocks:expected-output-->
```
## not a heading
```

## b.py
"""


def test_the_parts_of_a_readme(tmp_path: Path):
    assert tables.sections(SMALL) == {"a.py": ("One", "## not a heading\n"), "b.py": ("", "")}
    assert linked(SMALL) == {"One": ["a"]}
    (tmp_path / "examples" / "toytorch").mkdir(parents=True)
    (tmp_path / "examples" / "README.md").write_text(SMALL)
    (tmp_path / "examples" / "a.py").write_text('"""x_1 *is* <b>.\n\nMore.\n"""\n')
    (tmp_path / "examples" / "c.py").write_text("x = 1\n")
    (tmp_path / "examples" / "toytorch" / "module.py").write_text("y = 1\n")
    a, c = tables.examples({"t.md": '# A title\n\n```python title="examples/a.py"\n```\n'}, tmp_path)
    assert a == tables.Example("a.py", "One", "x_1 *is* <b>.", "## not a heading\n", (("A title", "t.md"),))
    assert c == tables.Example("c.py", "", "", "", ())
    text = tables.markdown([a, c], "reference")
    assert r"x\_1 \*is\* &lt;b&gt;. Shown in [A title](../t.md)." in text and "## More" in text

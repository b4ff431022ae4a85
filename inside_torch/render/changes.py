"""What other torches print, as readers see it: a folded line below a block that differs, the page that lists all
differences, the same as JSON, and the report on one torch."""

import html
import json
import posixpath
import re
from collections.abc import Sequence

from inside_torch.approved import FAILS
from inside_torch.book import Page
from inside_torch.fences import fenced
from inside_torch.others import KINDS, NOISE, PAGE, Difference, Others, Reason, label
from inside_torch.render.quiz import prose
from inside_torch.run.blocks import STDERR

MARKER = "<!-- changes -->"
HEADINGS = dict(
    zip(KINDS, ("Values", "Errors and warnings", "Names and texts", "Generated and shipped source", "Noise"))
)
SEEN, LONG, WIDE, GONE = 14, 160, 60, 12  # lines of a difference, their columns, those of a summary; citations named
UNCHECKED = "nobody but the author checked that this link says so"
JSON = PAGE.replace(".md", ".json")


def cut(lines: Sequence[str]) -> str:
    """The first lines of a difference, and how many there are besides."""
    more = len(lines) - SEEN
    short = [line if len(line) <= LONG else line[:LONG] + " …" for line in (lines[:SEEN] if more > 1 else lines)]
    return "\n".join([*short, f"⋯ {more} more lines, all in what-changed.json"] if more > 1 else short)


def literal(text: str) -> str:
    """A text as HTML in which Markdown finds nothing to do."""
    return re.sub(r"[\\`*_\[\]]", lambda found: f"&#{ord(found[0])};", html.escape(text))


def joined(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def summary(one: Difference, names: Sequence[str]) -> str:
    """What a difference comes to: on which torches, and the first line that they print."""
    said = next((line[1:].strip() for line in one.diff if line.startswith("+") and line.strip("+ ")), "less")
    verb = "it fails:" if said.startswith(FAILS) else "it prints"
    said = said.removeprefix(FAILS).strip()
    if said.startswith(STDERR):  # to a reader no failure
        verb, said = "it also writes to stderr:", said.removeprefix(STDERR)
    said = said if len(said) <= WIDE else said[:WIDE].rstrip() + " …"
    return f"With {html.escape(joined(names))} {verb} <code>{html.escape(said)}</code>"


def source_html(reason: Reason) -> str:
    return f'<a href="{html.escape(reason.source)}" title="{UNCHECKED}">source, not checked by the build</a>'


def opening(found: Sequence[Difference]) -> str:
    """What the folded line says: with which torches a block prints something else, and with which it fails."""
    names: dict[str, list[str]] = {"another output with ": [], "fails with ": []}
    for one in found:
        stops = one.fails and FAILS + STDERR not in one.now  # to a reader, a warning on stderr is no failure
        names["fails with " if stops else "another output with "].append(label(one.torch))
    return html.escape("; ".join(said + joined(sorted(torches)) for said, torches in names.items() if torches))


def folded_html(others: Others, src: str, key: str) -> str:
    """What other torches print of a block, folded away; nothing where all print the same, differ by noise, only warn
    besides, or cannot draw a figure."""
    groups: dict[tuple, list[Difference]] = {}
    known = (one for one in others.differences if (one.src, one.key) == (src, key))
    for one in (one for one in known if not one.warns and not one.undrawn):
        reasons = [reason for reason in others.why(one) if reason.kind != NOISE]
        if reasons:
            groups.setdefault((one.now, *(reason.says for reason in reasons)), []).append(one)
    parts = []
    for same in groups.values():
        reasons = [reason for reason in others.why(same[0]) if reason.kind != NOISE]
        said = "".join(f"<p>{prose(reason.says)} ({source_html(reason)})</p>" for reason in reasons)
        lines, torches = html.escape(cut(same[0].diff)), [label(one.torch) for one in same]
        parts.append(f'<p>{summary(same[0], torches)}</p>{said}<pre tabindex="0"><samp>{lines}</samp></pre>')
    if not parts:
        return ""
    inside = f"<summary>{opening([one for same in groups.values() for one in same])}</summary>{''.join(parts)}"
    return f'<details class="it-other" data-search-exclude>{inside}</details>'


def block_link(one: Difference, others: Others) -> str:
    """A link to a block, named by its page and what it says of itself."""
    page = others.pages[one.src]
    place = posixpath.relpath(page.url, posixpath.dirname(PAGE)) + f"#{one.key}" * one.key.startswith("b-")
    return f'<a href="{place}">{literal(page.title)}, <code>{literal(one.source[:WIDE])}</code></a>'


def counts(others: Others, name: str) -> str:
    """How a record was made, and how much stayed the same."""
    meta, found = others.torches[name], [one for one in others.differences if one.torch == name]
    noise = sum(all(reason.kind == NOISE for reason in others.why(one)) for one in found if others.why(one))
    cited = meta["citations"]
    same = cited["all"] - cited["moved"] - cited["changed"] - len(meta["gone"])
    commit = f"[{meta['commit'][:10]}](https://github.com/pytorch/pytorch/tree/{meta['commit']})"
    fail = sum(one.fails for one in found)
    said = (
        f"Recorded on {meta['recorded']} by `make compare` with torch {meta['torch']} ({commit}), {meta['python']}, "
        f"{meta['machine']}, from the book's commit `{meta['book'] or 'unknown'}`.\n\n"
        f"- {meta['blocks'] - len(found)} of {meta['blocks']} blocks, figures and cells print the same. {len(found)} "
        f"differ, of which {fail} fail and {noise} are noise.\n"
        f"- {same} of {cited['all']} citations of PyTorch's source lead to the same line. {cited['moved']} moved, "
        f"{cited['changed']} lead to another text, {len(meta['gone'])} are gone.\n"
    )
    if gone := meta["gone"]:
        more = f" and {len(gone) - GONE} more" if len(gone) > GONE else ""
        said += f"\nGone, or no longer provable: {', '.join(f'`{one}`' for one in gone[:GONE])}{more}.\n"
    return said


def item(reason: Reason, found: Sequence[Difference], others: Others, known: str) -> str:
    """A reason as Markdown: its sentence, and the blocks; the first one's difference unless it is `known`."""
    links = "; ".join(block_link(one, others) for one in found)
    if reason.kind == NOISE:
        return f"- {reason.says} {len(found)} block{'s' * (len(found) > 1)}: {links}."
    head = f"**{reason.says}** ([source]({reason.source}), not checked by the build)"
    same = f"As on {known}. " if known else ""
    return f"{head}\n\n{same}In {links}.\n" + ("" if known else f"\n{fenced(cut(found[0].diff), 'text')}\n")


def section(others: Others, name: str, above: Sequence[str] = ()) -> str:
    """All differences of one torch as Markdown, by how much they matter; what `above` has told already in short."""
    parts = [f"## {label(name)}\n\n{counts(others, name)}"]
    for kind in KINDS:
        items = []
        for reason in (reason for reason in others.reasons if reason.kind == kind):
            found = [one for one in others.differences if one.torch == name and reason.covers(one)]
            told = next((before for before in above if before in reason.torches), "")
            items += [item(reason, found, others, label(told) if told else "")] if found else []
        if items:
            parts.append(f"### {HEADINGS[kind]}, {label(name)}\n\n" + "\n".join(items))
    return "\n".join(parts)


def markdown(others: Others) -> str:
    """All records as Markdown, for the page that lists them."""
    names = list(others.torches)
    return "\n".join(section(others, name, names[:at]) for at, name in enumerate(names))


def report(others: Others, name: str) -> str:
    """The record of one torch, what has no sentence yet first, each with its difference."""
    without = [one for one in others.differences if one.torch == name and not others.why(one)]
    parts = [
        f"- {others.pages[one.src].name}:{one.line} {one.key} `{one.source}`\n\n" + fenced("\n".join(one.diff), "text")
        for one in sorted(without, key=lambda one: (one.src, one.line))
    ]
    head = f"# The book on {label(name)}\n\n{len(without)} differences have no sentence yet.\n"
    return "\n\n".join([head, *parts, section(others, name)])


def as_json(others: Others) -> str:
    """Everything that is known of other torches."""

    def row(one: Difference) -> dict:
        why = [{"kind": reason.kind, "says": reason.says, "source": reason.source} for reason in others.why(one)]
        kind = min((KINDS.index(reason["kind"]) for reason in why), default=0)
        place = {"page": one.src, "address": f"{others.pages[one.src].url}#{one.key}", "begins": one.source}
        return {"kind": KINDS[kind], **place, "why": why, "book": one.was, "other": one.now}

    made = {}
    for name, meta in others.torches.items():
        found = [row(one) for one in others.differences if one.torch == name]
        meta = {key: value for key, value in meta.items() if key != "seal"}
        made[name] = meta | {"differences": sorted(found, key=lambda one: KINDS.index(one["kind"]))}
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"


def expanded(page: Page, pages: Sequence[Page], text: str) -> str:
    """The text of a page with all differences in place of the marker."""
    if MARKER not in text:
        return text
    root = page.path.parents[page.src.count("/") + 1]
    return text.replace(MARKER, markdown(Others(root, pages)))

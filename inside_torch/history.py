"""What git knows of the book: its commit, and those that changed its pages."""

import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from inside_torch.book import Book, Page
from inside_torch.edition import ROOT

LOG = "-c core.quotePath=false log -M --name-status --relative --format=%x00%H%x00%ct%x00%s -- docs".split()


@dataclass(frozen=True)
class Commit:
    """A commit, its time in UTC, and those of its pages that the book still has."""

    hash: str
    time: datetime
    subject: str
    pages: tuple[Page, ...]

    @property
    def day(self) -> str:
        return f"{self.time:%Y-%m-%d}"


def git(root: Path, *arguments: str) -> str:
    """What git says in a folder; nothing where there is no git or no repository."""
    try:
        return subprocess.run(["git", "-C", root, *arguments], capture_output=True, check=True).stdout.decode()
    except (OSError, subprocess.CalledProcessError):
        return ""


def book_commit() -> tuple[str, datetime] | None:
    """The commit of the book and its date in UTC, or None outside a git checkout."""
    found = git(ROOT, "log", "-1", "--format=%H %ct").split()
    return (found[0], datetime.fromtimestamp(int(found[1]), UTC)) if found else None


def history(book: Book) -> list[Commit]:
    """The commits that changed pages of the book, newest first; none in a shallow clone, whose dates are not true. A
    page that was renamed keeps its past, and being renamed as it stands is no change."""
    if git(book.root, "rev-parse", "--is-shallow-repository").strip() != "false":
        return []
    pages = {page.name: page for page in book.pages}
    now: dict[str, str] = {}  # what a file is called today, by its older names
    commits = []
    entries = git(book.root, *LOG).split("\0")[1:]
    for name, seconds, rest in zip(entries[::3], entries[1::3], entries[2::3]):
        subject, *lines = rest.split("\n")
        changed = []
        for status, *paths in (line.split("\t") for line in lines if line):
            now[paths[0]] = now.get(paths[-1], paths[-1])
            if status != "R100" and now[paths[0]] in pages:
                changed.append(pages[now[paths[0]]])
        if changed:
            commits.append(Commit(name, datetime.fromtimestamp(int(seconds), UTC), subject, tuple(changed)))
    return commits

"""The files that ship: their text as the wheel's RECORD has it, and where they stand upstream."""

from __future__ import annotations

import base64
import csv
import functools
import hashlib
import re
from collections.abc import Callable
from pathlib import Path

from inside_torch import edition
from inside_torch.citations.proof import Citation, UnprovenError, only

# A folder of the wheel -> the folder of the repository that it is a copy of; the first that fits.
UPSTREAM = {
    "torch/include/ATen/": "aten/src/ATen/",
    "torch/include/": "",
    "torchgen/packaged/autograd/": "tools/autograd/",
    "torchgen/packaged/ATen/": "aten/src/ATen/",
    "": "",
}
OURS = re.compile(r"(torch/include/(ATen|c10|caffe2|torch)|torch(?!/include)|torchgen|functorch)/")
BUILT = re.compile(r"torch/version\.py|.*/(cmake_macros|ATen/Config|ATen/CUDAConfig)\.h|.*/lazy/generated/.*")
# Packaging puts one line before most headers and three after. Upstream counts without the first.
WRAPPER = "!defined(TORCH_STABLE_ONLY) && !defined(TORCH_TARGET_VERSION)"
GENERATED = re.compile(r"^// @generated (?:by (\S+) )?from (?:\S*/)?(\S+)$", re.M)
BESIDE_GENERATED = re.compile(r"torch/include/(?:ATen/(?:core/)?|torch/csrc/(?:(autograd)|lazy)/generated/)(\w+\.h)")
NOTE = re.compile(r"^[ \t]*(?://+|/?\*+|#+)[ \t]*note ?\[ *([^\]\n]+?) *\](?=[ \t]*:?[ \t]*$)", re.M | re.I)

Find = Callable[[str, str, str], int]


def folder() -> Path:
    """Where torch is installed: the folder that has torch/ and torchgen/."""
    return edition.torch_folder().parent


@functools.cache
def record() -> dict[str, str]:
    """Path -> digest of each file of the wheel, by its RECORD (see the packaging specification of wheels)."""
    file = folder() / f"torch-{edition.torch_version()[0]}.dist-info" / "RECORD"
    rows = csv.reader(file.read_text(encoding="utf-8").splitlines())
    return {path: digest for path, digest, _ in rows}


@functools.cache
def text(path: str) -> str:
    """The text of a file of the wheel. Raises UnprovenError when it does not ship, or was changed since."""
    if path not in record():
        raise UnprovenError(f"{path} is not in the installed torch")
    content = (folder() / path).read_bytes()
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    if record()[path] != f"sha256={digest}":
        raise UnprovenError(f"{path} is not what the wheel brought: it was changed after the installation")
    return content.decode("utf-8")


def source_file(path: str) -> str:
    """A header's path in the wheel, from the path by which it is included."""
    if path.startswith("aten/src/"):
        raise UnprovenError(f"a header is named as it is included: src:{path.removeprefix('aten/src/')}")
    return f"torch/include/{path}"


def shift(content: str) -> int:
    """How many lines the packaging put before a header's first."""
    wrapped = content.startswith(f"#if {WRAPPER}\n") and content.rstrip().endswith(f"#endif  // {WRAPPER}")
    return int(wrapped)


def template(content: str, path: str = "") -> str:
    """The upstream path of the template that a generated file was made from; empty for a file written by hand.

    Most generated files name it. The others stand where nothing else does, under their template's name.
    """
    if marked := GENERATED.search(content):
        kind, name = "ATen" if marked[1] == "torchgen/gen.py" else "autograd", marked[2]
    elif placed := BESIDE_GENERATED.fullmatch(path):
        kind, name = placed[1] or "ATen", placed[2]
    else:
        return ""
    place = f"torchgen/packaged/{kind}/templates/{name}"
    if place in record():
        return upstream(place)
    if marked:
        raise UnprovenError(f"a generated file: its template {name} does not ship")
    return ""


def upstream(path: str) -> str:
    """Where a file of the wheel stands in PyTorch's repository."""
    if not OURS.match(path) or BUILT.fullmatch(path):
        raise UnprovenError(f"{path} ships with torch and is not in its repository")
    ours = next(ours for ours in UPSTREAM if path.startswith(ours))
    return UPSTREAM[ours] + path.removeprefix(ours)


def note_name(title: str) -> str:
    """A note's title as a reference spells it: Note-Version-Counter-Sharing."""
    return "Note-" + re.sub(r"\W+", "-", title).strip("-")


def find_note(content: str, symbol: str, where: str) -> int:
    """The line of `// Note [Title]`: a comment that holds nothing else, underlined if there are several."""
    notes = [(note_name(m[1]), m) for m in NOTE.finditer(content)]
    found = [m for name, m in notes if name == symbol]
    if len(found) > 1:
        found = [m for m in found if re.match(r"[^\n]*\n[ \t]*(//+|\*+|#+)[ \t]*~~", content[m.end() :])] or found
    lines = [(symbol, content.count("\n", 0, m.start()) + 1) for m in found]
    return only(lines, symbol, where, (name for name, _ in notes))


def cite(proof: str, path: str, line: int) -> Citation:
    """The citation of a line of a file of the wheel; generated files are cited by their template."""
    content = text(path)
    cited = content.split("\n")[line - 1].strip()
    if made_from := template(content, path):
        return Citation("generated header", made_from, None, f"{path.removeprefix('torch/include/')}: {cited}")
    return Citation(proof, upstream(path), line - shift(content), cited)


def shipped(path: str, symbol: str, find: Find) -> Citation:
    """The citation of a symbol, a note or, without either, the whole of a file that ships."""
    content = text(path)
    if not symbol:
        return Citation("file", upstream(path), None, upstream(path))
    note = symbol.startswith("Note-")
    line = (find_note if note else find)(content, symbol, path.removeprefix("torch/include/"))
    return cite("note" if note else "python" if path.endswith(".py") else "header", path, line)


def at_upstream_line(proof: str, path: str, line: int, otherwise: str) -> Citation:
    """The citation of a line that the running torch names by its upstream path.

    The line is shown where the file ships; where it does not, `otherwise` is.
    """
    for ours in (path, f"torch/include/{path}", f"torch/include/{path.removeprefix('aten/src/')}"):
        if ours in record():
            return cite(proof, ours, line + shift(text(ours)))
    return Citation(proof, path, line, otherwise)

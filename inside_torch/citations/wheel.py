"""The files that ship: their text as the wheel's RECORD has it, and where they stand upstream."""

import base64
import csv
import functools
import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from inside_torch.citations.proof import Citation, UnprovenError, one_of
from inside_torch.edition import Edition

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
GENERATED = re.compile(r"^// @generated (.*\bfrom (?:\S*/)?)([\w.]+)$", re.M)
BESIDE_GENERATED = re.compile(r"torch/include/(?:ATen/|torch/csrc/(?:autograd|lazy)/generated/)")
# The YAML files from which most of ATen and autograd is generated, and where they ship.
YAML = {
    "native_functions.yaml": "torchgen/packaged/ATen/native/native_functions.yaml",
    "derivatives.yaml": "torchgen/packaged/autograd/derivatives.yaml",
}
ENTRY = re.compile(r"- (?:func|name): ([\w.]+)\(")
NOTE = re.compile(r"[ \t]*(?://+|/?\*+|#+)[ \t]*note ?\[ *([^\]]+?) *\][ \t]*:?[ \t]*$", re.I)

Find = Callable[[str, str, str], int]  # content, symbol, name of the file -> line
Run = Callable[[str], Any]  # a program's source -> what has its .output, and its .failure: empty when it ran well


def shift(content: str) -> int:
    """How many lines the packaging put before a header's first."""
    return int(content.startswith(f"#if {WRAPPER}\n") and content.rstrip().endswith(f"#endif  // {WRAPPER}"))


def upstream(path: str) -> str:
    """Where a file of the wheel stands in PyTorch's repository."""
    if not OURS.match(path) or BUILT.fullmatch(path):
        raise UnprovenError(f"{path} ships with torch and is not in its repository")
    ours = next(ours for ours in UPSTREAM if path.startswith(ours))
    return UPSTREAM[ours] + path.removeprefix(ours)


def titled(pattern: re.Pattern[str], content: str) -> list[tuple[str, int]]:
    """What `pattern` finds at the beginning of lines, with each line's number."""
    lines = enumerate(content.split("\n"), 1)
    return [(found[1], number) for number, line in lines if (found := pattern.match(line))]


def find_note(content: str, symbol: str, where: str) -> int:
    """The line of the comment `// Note [Some Title]`, which holds nothing else, for the symbol Note-Some-Title."""
    known = [("Note-" + re.sub(r"\W+", "-", title).strip("-"), line) for title, line in titled(NOTE, content)]
    return one_of(known, symbol, where)


@dataclass(frozen=True)
class Wheel:
    """The torch of an edition: the files that pip recorded, and what programs print that `run` runs with it."""

    edition: Edition
    run: Run

    def output(self, source: str) -> str:
        """What a program printed. Raises UnprovenError when it failed."""
        result = self.run(source)
        if result.failure:
            raise UnprovenError(f"the program that would prove it failed: {result.failure}")
        return result.output

    @functools.cached_property
    def record(self) -> dict[str, str]:
        """Path -> digest of each file, by the RECORD (see the packaging specification of wheels)."""
        if not self.edition.record:
            raise UnprovenError("torch was not installed by pip: no RECORD says which files it brought")
        return {path: digest for path, digest, _ in csv.reader(self.edition.record.splitlines())}

    def text(self, path: str) -> str:
        """The text of a file. Raises UnprovenError when it does not ship, or was changed since."""
        if path not in self.record:
            raise UnprovenError(f"{path} is not in the installed torch")
        content = (self.edition.packages / path).read_bytes()
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        if self.record[path] != f"sha256={digest}":
            raise UnprovenError(f"{path} is not what the wheel brought: it was changed after the installation")
        return content.decode("utf-8")

    def template(self, content: str, path: str = "") -> str:
        """The upstream path of the template that a generated file was made from; empty for a file written by hand.
        Most generated files name it. The others stand where nothing else does, under their template's name."""
        marked = GENERATED.search(content)
        folder, name = marked.groups() if marked else path.rpartition("/")[::2]
        place = f"torchgen/packaged/{'autograd' if 'autograd' in folder else 'ATen'}/templates/{name}"
        if marked and place not in self.record:
            raise UnprovenError(f"a generated file: its template {name} does not ship")
        return upstream(place) if place in self.record and (marked or BESIDE_GENERATED.match(path)) else ""

    def cite(self, proof: str, path: str, line: int) -> Citation:
        """The citation of a line of a file; generated files are cited by their template."""
        content = self.text(path)
        cited = content.split("\n")[line - 1].strip()
        if template := self.template(content, path):
            return Citation("generated header", template, None, f"{path.removeprefix('torch/include/')}: {cited}")
        return Citation(proof, upstream(path), line - shift(content), cited)

    def shipped(self, path: str, symbol: str, find: Find) -> Citation:
        """The citation of a symbol, a note or, without either, the whole of a file."""
        included = path.removeprefix("torch/include/")
        if included != path and included.startswith("aten/src/"):
            raise UnprovenError(f"a header is named as it is included: src:{included.removeprefix('aten/src/')}")
        content = self.text(path)
        if not symbol:
            return Citation("file", upstream(path), None, upstream(path))
        if symbol.startswith("Note-"):
            return self.cite("note", path, find_note(content, symbol, included))
        return self.cite("header" if included != path else "python", path, find(content, symbol, included))

    def entry(self, name: str, operator: str) -> Citation:
        """The entry of `operator`, as add.Tensor, in the YAML file called `name`."""
        if not operator:
            raise UnprovenError(f"{name} is cited by entry, as src:{name}#add.Tensor")
        return self.cite("yaml entry", YAML[name], one_of(titled(ENTRY, self.text(YAML[name])), operator, name))

    def at_upstream_line(self, proof: str, path: str, line: int, otherwise: str) -> Citation:
        """The citation of a line that the running torch names by its path upstream; shown is `otherwise`, unless the
        file ships."""
        for ours in (path, f"torch/include/{path}", f"torch/include/{path.removeprefix('aten/src/')}"):
            if ours in self.record:
                return self.cite(proof, ours, line + shift(self.text(ours)))
        return Citation(proof, path, line, otherwise)

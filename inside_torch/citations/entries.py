"""Entries of the two YAML files from which most of ATen and autograd is generated, found line by line."""

from __future__ import annotations

import re

from inside_torch.citations.proof import Citation, UnprovenError, only
from inside_torch.citations.wheel import cite, text

# The name in a reference -> the file of the wheel, and what an entry begins with.
FILES = {
    "native_functions.yaml": ("torchgen/packaged/ATen/native/native_functions.yaml", "func"),
    "derivatives.yaml": ("torchgen/packaged/autograd/derivatives.yaml", "name"),
}


def entry(name: str, operator: str) -> Citation:
    """The entry of `operator`, as add.Tensor, in the YAML file called `name`. Raises UnprovenError."""
    path, head = FILES[name]
    if not operator:
        raise UnprovenError(f"{name} is cited by entry, as src:{name}#add.Tensor")
    lines = enumerate(text(path).split("\n"), 1)
    known = [(m[1], number) for number, line in lines if (m := re.match(rf"- {head}: ([\w.]+)\(", line))]
    line = only([one for one in known if one[0] == operator], operator, name, (name for name, _ in known))
    return cite("yaml entry", path, line)

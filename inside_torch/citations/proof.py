"""What a proof ends in: a citation, or the reason why there is none."""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass


class UnprovenError(ValueError):
    """Why a reference cannot be cited; the sentence is shown to the author."""


@dataclass(frozen=True)
class Citation:
    """A place in PyTorch's repository. `proof` says what stands behind it, `path` is the path upstream, `line` the
    line upstream (None: the file), `text` the cited line as the installed torch has it, or the record it keeps of a
    line that does not ship."""

    proof: str
    path: str
    line: int | None
    text: str

    @property
    def place(self) -> str:
        return self.path + (f", line {self.line}" if self.line else "")

    def link(self, commit: str) -> str:
        """The permalink at a commit of PyTorch."""
        url = f"https://github.com/pytorch/pytorch/blob/{commit}/{self.path}"
        return url + (f"#L{self.line}" if self.line else "")


def only(found: list[tuple[str, int]], symbol: str, where: str, known: Iterable[str] = ()) -> int:
    """The line of the one match among (name, line); `known` are names that might have been meant."""
    if len(found) > 1:
        places = ", ".join(f"{name} in line {line}" for name, line in found)
        raise UnprovenError(f"{symbol} is ambiguous in {where}: {places}")
    if not found:
        near = difflib.get_close_matches(symbol, set(known), 1)
        raise UnprovenError(f"{where} has no {symbol}" + (f"; did you mean {near[0]}?" if near else ""))
    return found[0][1]


def one_of(known: list[tuple[str, int]], symbol: str, where: str) -> int:
    """The line of the one among `known` that is called `symbol`."""
    return only([one for one in known if one[0] == symbol], symbol, where, (name for name, _ in known))

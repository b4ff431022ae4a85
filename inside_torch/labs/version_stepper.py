"""The version stepper: small programs that save tensors and write to them, run in all combinations of their lines."""

import inspect
import json
import re

import torch

from inside_torch.labs import version_listing
from inside_torch.labs.version_programs import PROGRAMS, Program, above, code, combinations, derivative, stepped


def tensors(space: dict) -> dict[str, torch.Tensor]:
    """The tensors of a program by name, parameters of its modules among them."""
    modules = {name: one for name, one in space.items() if isinstance(one, torch.nn.Module)}
    inside = {f"{name}.{part}": p for name, one in modules.items() for part, p in one.named_parameters()}
    return {name: one for name, one in (space | inside).items() if isinstance(one, torch.Tensor)}


def rounded(tensor: torch.Tensor) -> list[float]:
    return [round(one, 4) for one in tensor.tolist()]


def memory(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


def together(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two tensors share memory and counter: is what is written into the one's count seen in the other's?"""
    count, write = a._version, torch._C._autograd._unsafe_set_version_counter
    write((a,), (count + 1000,))
    seen = b._version
    write((a,), (count,))
    return seen == count + 1000 and memory(a) == memory(b)


def nodes(node, found: dict) -> dict:
    """The nodes from `node` on, each after those that it leads to, without those of leaves."""
    if node and node not in found and "AccumulateGrad" not in node.name():
        for deeper, _ in node.next_functions:
            nodes(deeper, found)
        found[node] = True
    return found


def saved(node, named: dict[str, torch.Tensor]) -> dict[str, str]:
    """What a new node saved: attributes, each with the name of the first tensor that has its memory and its counter."""
    read = {key: getattr(node, key) for key in dir(node) if key.startswith("_saved_")}
    kept = {key: one for key, one in read.items() if isinstance(one, torch.Tensor) and one.dim()}  # a number has none
    return {key: next(name for name, one in named.items() if together(one, kept[key])) for key in kept}


def reading(node, key: str, home: torch.Tensor) -> tuple[str, int | None]:
    """What a node has of a saved tensor by now, and the version at which it was saved, in torch's own words."""
    try:
        tensor = getattr(node, key)
    except RuntimeError as error:
        found = re.search(r"is at version (\d+); expected version (\d+)", str(error))
        if found and int(found[1]) != home._version:
            raise
        return ("changed", int(found[2])) if found else ("freed", None)
    if memory(tensor) != memory(home):
        return "copy", tensor._version
    if tensor._version != home._version:
        raise ValueError(f"{key} is at version {tensor._version}, and its tensor at {home._version}")
    return "kept", tensor._version


def cards(named: dict[str, torch.Tensor], made: dict) -> list[dict]:
    """Each memory with its numbers and its counters: who shares the count, and which nodes saved at which."""
    found = {}
    for name, one in named.items():
        numbers = rounded(one.detach()) if one.numel() < 4 else " x ".join(map(str, one.shape))
        card = found.setdefault(memory(one), {"numbers": numbers, "counters": []})
        counter = next((each for each in card["counters"] if together(named[each["names"][0]], one)), None)
        if not counter:
            card["counters"].append(counter := {"version": one._version, "names": [], "saved": []})
        counter["names"].append(name)
        for node, (line, kept) in made.items():
            of = [key for key, owner in kept.items() if owner == name]
            counter["saved"] += [[node.name(), line, key[len("_saved_") :], *reading(node, key, one)] for key in of]
    return list(found.values())


def played(program: Program, on: str) -> list[dict]:
    """One combination, line by line. Raises when backward refuses what no counter shows, or takes what one does."""
    space, made, steps, stale = above(program), {}, [], False
    for line, refused in stepped(program.lines, on, space):
        named, found = tensors(space), {}
        for one in named.values():
            nodes(one.grad_fn, found)
        made |= {node: (line, saved(node, named)) for node in found if node not in made}
        step = {"line": line, "cards": cards(named, made), "refused": refused}
        step["idle"] = [node.name() for node, (_, kept) in made.items() if not kept]
        if line == len(program.lines) and stale != bool(refused):
            raise ValueError(f"{program.said}, {on}: backward and the counters do not agree")
        stale = any(one[3] == "changed" for card in step["cards"] for each in card["counters"] for one in each["saved"])
        steps.append(step)
    if not steps[-1]["refused"]:
        steps[-1]["gradient"] = rounded(eval(program.asks, space))
        leaf = tensors(space)[program.asks.split(".grad")[0]]
        steps[-1]["derivative"] = rounded(derivative(program, on, leaf))
    return steps


def recording() -> dict:
    """All programs in all combinations. Steps and memories that are alike are kept once."""
    kept, seen = {"listing": inspect.getsource(version_listing.saved), "programs": {}, "steps": [], "cards": []}, {}

    def place(kind: str, one: dict) -> int:
        key = kind, json.dumps(one)
        if key not in seen:
            seen[key] = len(kept[kind])
            kept[kind].append(one)
        return seen[key]

    for name, program in PROGRAMS.items():
        runs = {}
        for on in combinations(program.lines):
            steps = [one | {"cards": [place("cards", card) for card in one["cards"]]} for one in played(program, on)]
            runs[on] = [place("steps", one) for one in steps]
        switches = "".join(line[1] if line.startswith("[") else "-" for line in program.lines)
        about = {"said": program.said, "setup": program.setup, "asks": program.asks}
        kept["programs"][name] = about | {"lines": [*map(code, program.lines)], "switches": switches, "runs": runs}
    return kept

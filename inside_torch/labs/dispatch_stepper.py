"""The recording of the lab that steps through the keys of a call: live tables, key sets, and what really ran."""

import re
import warnings
from typing import Any

import torch

from .dispatch_calls import noted, outcome
from .dispatch_kinds import KINDS, key_sets
from .dispatch_program import CODE
from .dispatch_used import arguments, used

COUNT = 200  # operators
ENTRY = re.compile(r"^(\w+): (fallthrough )?registered at (\S+):(\d+) \[(.+)\]$", re.M)
ROOT = re.compile(r"^.*?/(?=aten/src/|torch/)")  # of the machine where torch was compiled, or is installed


def recording() -> dict:
    """Keys, files, kinds of tensors and operators, each named once and then by its number. Raises ValueError where a
    kernel runs that the table or the key sets of the call do not have."""
    torch._C._functorch._set_vmap_fallback_warning_enabled(False)
    kinds = {kind: key_sets(kind) for kind in KINDS}
    keys = list(dict.fromkeys(key for sets in kinds.values() for one in sets for key, *_ in one))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.eye(2).to_sparse_csr()  # warns once that it is new, from here on silently
        counts = used(COUNT)
        calls = {name: arguments(name) for name in counts}
        tables = {name: table(name, keys) for name in counts}
        pairs = [(name, kind) for name in counts for kind in KINDS if calls[name][0]]
        outcomes = {(name, kind): outcome(name, kind, *calls[name]) for name, kind in pairs}
        ran = {(name, kind): noted(name, kind, *calls[name], tables[name]) for name, kind in pairs}
    for (name, kind), found in ran.items():
        if strange := [key for key in found if not runs(key, tables[name], kinds[kind])]:
            raise ValueError(f"{strange[0]} is no kernel of {name} for {kind}, and ran: {found}")
    return packed(kinds, keys, counts, calls, tables, {pair: [" ".join(ran[pair]), *outcomes[pair]] for pair in pairs})


def runs(key: str, entries: dict, sets: list) -> bool:
    """Whether a key is in one of the key sets, and has an entry that does not fall through."""
    return [key, 1] in [[name, there] for one in sets for name, _, there in one] and not entries.get(key, [1])[-1]


def packed(kinds: dict, keys: list, counts: dict, calls: dict, tables: dict, came: dict) -> dict:
    """All that, with the texts in lists, and their numbers in their place."""
    files, entries, texts, rows = [], [], [""], {}
    for name, count in counts.items():
        row = [tables[name].get(key) for key in keys]
        row = [number(entries, [one[0], number(files, one[1]), *one[2:]]) if one else -1 for one in row]
        of_kinds = [[number(texts, one) for one in came[name, kind]] for kind in KINDS if (name, kind) in came]
        rows[name] = [count, row, *calls[name], of_kinds]
    sets = {kind: [[[keys.index(key), *rest] for key, *rest in one] for one in kinds[kind]] for kind in kinds}
    made = {kind: [*KINDS[kind], sets[kind]] for kind in KINDS}
    found = {"keys": keys, "kinds": made, "files": files, "entries": entries, "texts": texts, "ops": rows}
    return found | {"code": CODE}


def number(texts: list, one: Any) -> int:
    """The place of a text, which is added where it is new."""
    if one not in texts:
        texts.append(one)
    return texts.index(one)


def table(name: str, keys: list) -> dict[str, list]:
    """The operator's entries for these keys: the kind, the file, the line, and whether it falls through."""
    found = ENTRY.findall(torch._C._dispatch_dump_table(f"aten::{name}"))
    return {k: [kind, ROOT.sub("", file), int(line), int(bool(f))] for k, f, file, line, kind in found if k in keys}

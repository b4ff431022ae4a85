"""What the compiled libraries tell by themselves: the symbols they export, the source files they name."""

from __future__ import annotations

import ctypes
import functools
import json
import mmap
import re
import struct
from collections.abc import Callable
from pathlib import Path

from inside_torch import edition, render
from inside_torch.cache import Cache, digest
from inside_torch.citations import cpp, wheel
from inside_torch.citations.proof import Citation, UnprovenError

LIBRARIES = ("libtorch_cpu.so", "libtorch_python.so", "libc10.so")
SOURCE = re.compile(rb"/((?:build/)?(?:aten|c10|caffe2|torch)/[\w./+-]+\.(?:cpp|cu|c|mm))\0")
DYNSYM = 11  # elf.h: SHT_DYNSYM


def opened(library: str) -> mmap.mmap:
    """A library of the wheel, mapped into memory."""
    try:
        with open(wheel.folder() / "torch" / "lib" / library, "rb") as file:
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise UnprovenError(f"the installed torch has no {library}: this proof needs Linux") from error
    if content[:6] != b"\x7fELF\x02\x01":
        raise UnprovenError(f"{library} is no 64-bit little-endian ELF file")
    return content


def exported_names(library: str) -> list[str]:
    """The mangled names that an ELF library defines for others, from its .dynsym (see elf(5))."""
    content = opened(library)
    start, size, count = struct.unpack_from("<Q10xHH", content, 40)
    sections = [struct.unpack_from("<4xI16xQQI20x", content, start + n * size) for n in range(count)]
    symbols = next(section for section in sections if section[0] == DYNSYM)
    strings = sections[symbols[3]]
    names = content[strings[1] : strings[1] + strings[2]]
    table = struct.iter_unpack("<I2xH16x", content[symbols[1] : symbols[1] + symbols[2]])
    return [names[name : names.index(b"\0", name)].decode() for name, section in table if section]


def named_files(library: str) -> list[str]:
    """The source files of the repository that a library names, as TORCH_CHECK does by __FILE__."""
    return sorted({path.decode() for path in SOURCE.findall(opened(library))})


@functools.cache
def table(read: Callable[[str], list[str]], library: str) -> list[str]:
    """What `read` finds in a library, read once an edition."""
    cache = Cache(edition.CACHE / "citations")
    key = digest(read.__name__, library, render.blocks().fingerprint, edition.hash_of_files([Path(__file__)]))
    stored = cache.get(key)
    if stored is None:
        cache.put(key, stored := json.dumps(read(library)))
    return json.loads(stored)


@functools.cache
def demangler() -> Callable[[str], str]:
    """abi::__cxa_demangle, from the C++ library that torch itself needs."""
    library = ctypes.CDLL("libstdc++.so.6")
    library.__cxa_demangle.restype = ctypes.c_void_p
    free = ctypes.CDLL(None).free
    free.argtypes = [ctypes.c_void_p]

    def demangle(name: str) -> str:
        found = library.__cxa_demangle(name.encode(), None, None, None)
        text = ctypes.string_at(found).decode() if found else name
        free(found)
        return text

    return demangle


def exports(library: str, symbol: str) -> bool:
    """Whether a library exports a function or variable of that full name."""
    last = re.split(r"::~?", symbol)[-1]
    part = f"{len(last)}{last}" if last.isidentifier() else ""  # so the C++ ABI spells a name
    names = (name for name in table(exported_names, library) if part in name or name == symbol)
    return any(re.split(r"[(\[]", demangler()(name))[0] == symbol for name in names)


def declaring(symbol: str) -> list[tuple[str, int]]:
    """Header and line of each declaration of `symbol`, given by its full name, in the headers that ship."""
    words = [re.compile(rf"\b{re.escape(part)}(?!\w)") for part in symbol.replace("~", "").split("::")]
    found = []
    for path in sorted(wheel.record()):
        if not wheel.OURS.match(path) or not path.endswith((".h", ".hpp")) or "/ATen/ops/" in path:
            continue
        content = (wheel.folder() / path).read_text(encoding="utf-8")
        if all(word.search(content) for word in reversed(words)):
            matches = cpp.matching(cpp.declarations(content), symbol)
            found += [(path, one.line) for one in matches if one.name == symbol]
    return found


def symbol(name: str) -> Citation:
    """An exported symbol, cited by the one declaration of it in the headers. Raises UnprovenError."""
    library = next((library for library in LIBRARIES if exports(library, name)), None)
    if library is None:
        raise UnprovenError(f"{', '.join(LIBRARIES)} export no {name or 'symbol without a name'}; give its full name")
    places = declaring(name)
    if len(places) != 1:
        where = ", ".join(f"{path.removeprefix('torch/include/')} line {line}" for path, line in places)
        raise UnprovenError(
            f"{library} exports {name}, but "
            + (f"it is declared in {where}" if where else "no header outside ATen/ops declares it")
        )
    return wheel.cite("symbol", *places[0])


def file(path: str) -> Citation:
    """A source file that does not ship, without a line; the proof says whether a library names it."""
    named = {name for library in LIBRARIES for name in table(named_files, library)}
    if f"build/{path}" in named or "/generated/" in path:
        raise UnprovenError(
            f"{path} is generated by torch's build: cite src:generated/{path.rpartition('/')[2]}#SYMBOL"
        )
    known = path in named
    return Citation("file in the binary" if known else "file, unproven", path, None, path)

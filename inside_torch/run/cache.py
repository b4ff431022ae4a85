"""What is remembered between builds: values on disk, each named by everything that could change it."""

import hashlib
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from inside_torch.edition import Edition

HERE = Path(__file__).resolve().parent.parent


def digest(*parts: str) -> str:
    """A name for the given texts together."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def code_of(*names: str) -> str:
    """A digest of files and rooms of inside_torch, as "run" or "render/quiz.py"."""
    files = sorted(file for name in names for file in ([HERE / name] if "." in name else (HERE / name).rglob("*.py")))
    return digest(*(text for file in files for text in (file.name, file.read_text(encoding="utf-8"))))


class Cache:
    """A folder of JSON values, kept for one edition and for the code that makes them, named as for `code_of`. Every
    entry carries a digest of itself: a damaged one counts as missing."""

    def __init__(self, edition: Edition, folder: str, *code: str) -> None:
        self.folder = edition.cache / folder
        self.maker = digest(edition.fingerprint, code_of(*code))

    def key(self, *inputs: str) -> str:
        """The name of what is made from `inputs`."""
        return digest(self.maker, *inputs)

    def path(self, *inputs: str) -> Path:
        key = self.key(*inputs)
        return self.folder / key[:2] / f"{key}.json"

    def get(self, *inputs: str) -> Any:
        """The value made from `inputs`; None when there is none or it is damaged."""
        try:
            entry = json.loads(self.path(*inputs).read_text(encoding="utf-8"))
            return entry["value"] if digest(self.key(*inputs), json.dumps(entry["value"])) == entry["seal"] else None
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def put(self, value: Any, *inputs: str) -> None:
        """Keep a value: written beside and renamed, so that no reader sees half of it."""
        path = self.path(*inputs)
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, beside = tempfile.mkstemp(dir=path.parent)
        with open(handle, "w", encoding="utf-8") as file:
            json.dump({"value": value, "seal": digest(self.key(*inputs), json.dumps(value))}, file)
        os.replace(beside, path)

    def memo(self, make: Callable[[], Any], *inputs: str) -> Any:
        """The value made from `inputs`, made now if it is not known. What raises is not kept."""
        value = self.get(*inputs)
        if value is None:
            self.put(value := make(), *inputs)
        return value

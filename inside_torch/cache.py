"""Outputs of blocks on disk, one small file each, named by what could change them."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path


def digest(*parts: str) -> str:
    """A name for the given texts together."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


class Cache:
    """A folder of outputs. Every entry carries a digest of itself: a damaged one counts as missing."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.json"

    def get(self, key: str) -> str | None:
        """The output stored under `key`; None when there is none or it is damaged."""
        try:
            entry = json.loads(self.path(key).read_text(encoding="utf-8"))
            output, seal = entry["output"], entry["seal"]
            return output if digest(key, output) == seal else None
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def put(self, key: str, output: str) -> None:
        """Store `output` under `key`: written beside and renamed, so that no reader sees half of it."""
        path = self.path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, beside = tempfile.mkstemp(dir=path.parent)
        with open(handle, "w", encoding="utf-8") as file:
            json.dump({"output": output, "seal": digest(key, output)}, file)
        os.replace(beside, path)

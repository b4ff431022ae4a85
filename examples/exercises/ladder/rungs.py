"""What the judges of the ladder share: toytorch, which lies above the exercises, and its tensors as plain numbers."""

import sys
from pathlib import Path

import numpy as np
from check import Wrong

EXAMPLES = Path(__file__).resolve().parents[2]
if not (EXAMPLES / "toytorch" / "__init__.py").is_file():
    where = "in a clone of the book, or in the folder of the ladder's download"
    raise Wrong(f"there is no toytorch in {EXAMPLES}. The ladder extends it, so check a rung {where}.")
sys.path.append(str(EXAMPLES))

import torch  # noqa: E402
import toytorch  # noqa: E402

TENSORS = toytorch.Tensor, toytorch.nn.Parameter, torch.Tensor, torch.nn.Parameter


def values(x):
    """The elements of a tensor in nested lists, rounded, with a text for what is no number; None has none."""
    if x is None:
        return None
    if type(x) not in TENSORS:
        raise Wrong(f"an object of the class `{type(x).__name__}` came where a tensor is expected")
    return readable(np.asarray(x.detach().numpy(), np.float64).round(3).tolist())


def readable(value):
    if isinstance(value, list):
        return [readable(one) for one in value]
    return value + 0.0 if np.isfinite(value) else str(value)


def both(ask):
    """The function `ask(torch, *case)` for toytorch, and for torch."""
    return lambda *case: ask(toytorch, *case), lambda *case: ask(torch, *case)

"""What the programs of the version stepper print of their graph: the function is pasted with them as it stands."""

import re

import torch


def saved(node, seen):
    """Print what the nodes from this one on saved, and at which version."""
    if node is None or node in seen:
        return
    seen.add(node)
    for name in [one for one in dir(node) if one.startswith("_saved_")]:
        try:
            one = getattr(node, name)
            version = one._version if torch.is_tensor(one) and one.dim() else None
        except RuntimeError as error:
            version = re.search(r"expected version (\d+)", str(error))[1]
        if version is not None:
            print(f"{node.name()} saved {name[7:]} at version {version}")
    for deeper, _ in node.next_functions:
        saved(deeper, seen)

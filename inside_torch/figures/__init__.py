"""Figures of the book: each function draws one SVG from live torch objects, or raises."""

from .curves import loss_paths, step_curves
from .fx import fx_graphs
from .graph import backward_graph
from .keys import kernels, key_set
from .layers import line_layers
from .order import execution_order
from .storage import storage_strip, stride_steps

__all__ = [
    "backward_graph",
    "execution_order",
    "fx_graphs",
    "kernels",
    "key_set",
    "line_layers",
    "loss_paths",
    "step_curves",
    "storage_strip",
    "stride_steps",
]

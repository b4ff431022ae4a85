"""Figures of the book: each function draws one SVG from live torch objects, or raises."""

from .graph import backward_graph
from .storage import storage_strip, stride_steps

__all__ = ["backward_graph", "storage_strip", "stride_steps"]

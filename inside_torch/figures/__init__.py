"""Figures of the book: each function draws one SVG from live torch objects, or raises."""

from .call import call_path as call_path
from .compiled import compile_path as compile_path
from .copies import lazy_copy as lazy_copy
from .copies import memory_order as memory_order
from .counters import write_counted as write_counted
from .curves import loss_paths as loss_paths
from .curves import step_curves as step_curves
from .fx import fx_graphs as fx_graphs
from .graph import backward_graph as backward_graph
from .groups import view_groups as view_groups
from .hooks import hook_timeline as hook_timeline
from .kernel import kernel_lines as kernel_lines
from .keys import kernels as kernels
from .keys import key_set as key_set
from .layers import line_layers as line_layers
from .levels import call_levels as call_levels
from .members import who_sees as who_sees
from .objects import object_chain as object_chain
from .program import program_graph as program_graph
from .storage import storage_strip as storage_strip
from .storage import stride_steps as stride_steps

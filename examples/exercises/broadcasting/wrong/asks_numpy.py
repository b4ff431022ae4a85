# says: the file imports `numpy`
"""Asks NumPy."""

import numpy as np


def broadcast(a, b):
    return np.broadcast_shapes(a, b)

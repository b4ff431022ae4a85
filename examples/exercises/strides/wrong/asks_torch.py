# says: the file imports `torch`
"""Asks torch for what it should predict."""

import torch


def fresh(sizes):
    return sizes, torch.empty(sizes).stride(), 0

# says: Only kernels under the very keys
"""Knows no aliases."""

ORDER = ["AutocastCPU", "AutogradMeta", "AutogradCPU", "ADInplaceOrView", "BackendSelect", "SparseCPU", "Meta", "CPU"]


def kernels(registered, keys):
    return [key for key in ORDER if key in keys and key in registered] or ["missing"]

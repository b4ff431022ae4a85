# says: CompositeExplicitAutograd took an autograd key
"""Treats both composite kinds alike."""

ORDER = ["AutocastCPU", "AutogradMeta", "AutogradCPU", "ADInplaceOrView", "BackendSelect", "SparseCPU", "Meta", "CPU"]
BACKENDS = ORDER[-3:]
BACKEND_OF = {"AutogradCPU": "CPU", "AutogradMeta": "Meta"}


def entry(registered, key):
    """What the operator's table holds for one key: a kernel, or None where the call passes on or ends."""
    autograd = key in BACKEND_OF
    if key in registered:
        return key
    if (autograd or key in BACKENDS) and "CompositeExplicitAutograd" in registered:
        return "CompositeExplicitAutograd"
    has_backend = BACKEND_OF.get(key) in registered or "CompositeExplicitAutograd" in registered
    if (autograd or key in BACKENDS) and "CompositeImplicitAutograd" in registered and not has_backend:
        return "CompositeImplicitAutograd"
    return "Autograd" if autograd and "Autograd" in registered else None


def kernels(registered, keys):
    ran = []
    for key in ORDER:
        kernel = entry(registered, key) if key in keys else None
        if kernel:
            ran.append(kernel)
        if kernel and (key in BACKENDS or kernel.startswith("Composite")):
            return ran
    return [*ran, "missing"]

"""Fill the slot of one key, then walk down the keys of the call."""

ORDER = ["AutocastCPU", "AutogradMeta", "AutogradCPU", "ADInplaceOrView", "BackendSelect", "SparseCPU", "Meta", "CPU"]
BACKENDS = ORDER[-3:]
BACKEND_OF = {"AutogradMeta": "Meta", "AutogradCPU": "CPU"}
EXPLICIT, IMPLICIT = "CompositeExplicitAutograd", "CompositeImplicitAutograd"


def slot(registered, key):
    """The kernel in the operator's slot for one key, or None."""
    if key in registered:
        return key
    if key in BACKENDS:
        if EXPLICIT in registered:
            return EXPLICIT
        if IMPLICIT in registered:
            return IMPLICIT
    if key in BACKEND_OF:
        backend_has_kernel = BACKEND_OF[key] in registered or EXPLICIT in registered
        if IMPLICIT in registered and not backend_has_kernel:
            return IMPLICIT
        if "Autograd" in registered:
            return "Autograd"
    return None


def kernels(registered, keys):
    ran = []
    for key in ORDER:
        if key not in keys:
            continue
        kernel = slot(registered, key)
        if kernel:
            ran.append(kernel)
            if key in BACKENDS or kernel == IMPLICIT:
                break
        elif key in BACKENDS:
            ran.append("missing")
    return ran

# says: You may have thought that enable_grad ends
"""Has enable_grad undo inference_mode."""

ORDER = """
    PythonTLSSnapshot AutocastCPU AutogradMeta AutogradCPU ADInplaceOrView
    Conjugate Python BackendSelect SparseMeta SparseCPU Meta CPU
""".split()
BACKENDS = ["Meta", "CPU"]
PER_BACKEND = {"Dense": "", "Sparse": "Sparse", "Autograd": "Autograd"}


def of(kind):
    """The bits of one tensor."""
    found = {"Sparse" if kind == "sparse" else "Dense"}
    found |= {"Meta"} if kind == "meta" else {"CPU", "AutocastCPU"}
    if kind != "inference":
        found |= {"Autograd", "ADInplaceOrView"}
    if kind == "conj":
        found |= {"Conjugate"}
    if kind == "subclass":
        found |= {"Python", "PythonTLSSnapshot"}
    return found


def key_set(tensors, modes):
    include, exclude = {"BackendSelect", "ADInplaceOrView"}, {"AutocastCPU"}
    for mode in modes:
        if mode == "inference_mode":
            include.discard("ADInplaceOrView")
            exclude.add("Autograd")
        elif mode in ("inference_mode(False)", "enable_grad"):
            include.add("ADInplaceOrView")
            exclude.discard("Autograd")
        elif mode == "autocast":
            exclude.discard("AutocastCPU")
        elif mode == "autocast(enabled=False)":
            exclude.add("AutocastCPU")
        elif mode == "dispatch mode":
            include |= {"Python", "PythonTLSSnapshot"}
    bits = set().union(include, *map(of, tensors)) - exclude
    names = set()
    for bit in bits - set(BACKENDS):
        if bit in PER_BACKEND:
            names |= {PER_BACKEND[bit] + backend for backend in BACKENDS if backend in bits}
        else:
            names.add(bit)
    return [name for name in ORDER if name in names]

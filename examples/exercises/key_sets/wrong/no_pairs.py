# says: have joined names
"""Names the keys of each tensor, and joins the names."""

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
        elif mode == "inference_mode(False)":
            include.add("ADInplaceOrView")
            exclude.discard("Autograd")
        elif mode == "autocast":
            exclude.discard("AutocastCPU")
        elif mode == "autocast(enabled=False)":
            exclude.add("AutocastCPU")
        elif mode == "dispatch mode":
            include |= {"Python", "PythonTLSSnapshot"}
    names = set()
    for kind in tensors:
        bits = (include | of(kind)) - exclude
        backend = "Meta" if "Meta" in bits else "CPU"
        for bit in bits - set(BACKENDS):
            names.add(PER_BACKEND[bit] + backend if bit in PER_BACKEND else bit)
    return [name for name in ORDER if name in names]

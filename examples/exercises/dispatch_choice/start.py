"""Predict, in plain Python, which kernels of an operator run."""

ORDER = """
    AutocastCPU AutogradMeta AutogradCPU ADInplaceOrView
    BackendSelect SparseCPU Meta CPU
""".split()


def kernels(registered, keys):
    """The kernels that run in a call, a list in the order in which they do.

    `registered` is a tuple of names: some of ORDER, but not BackendSelect,
    and perhaps the aliases "Autograd", "CompositeExplicitAutograd" and
    "CompositeImplicitAutograd". Their order says nothing.

    `keys` is a tuple with the key set of the call, in alphabetical order.
    ORDER has the keys from the one that is asked first to the last.

    A kernel of "AutocastCPU", "AutogradMeta", "AutogradCPU", "Autograd" or
    "ADInplaceOrView" calls the operator again, with the keys behind the one
    at which it ran. Every other kernel ends the call, a composite one, too.
    If a key of a backend has no kernel, the list ends with "missing".
    """
    raise NotImplementedError("write kernels")


if __name__ == "__main__":
    call = ("ADInplaceOrView", "AutogradCPU", "BackendSelect", "CPU")
    try:
        print("with its own gradient:", kernels(("Autograd", "CPU"), call))
        implicit = ("CompositeImplicitAutograd",)
        print("made of operators:    ", kernels(implicit, call))
        print("for meta only:        ", kernels(("Meta",), call))
    except NotImplementedError as missing:
        print("not written yet:", missing)

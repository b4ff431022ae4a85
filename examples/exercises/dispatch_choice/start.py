"""Predict, in plain Python, which kernels of an operator run."""

ORDER = """
    AutocastCPU AutogradCPU AutogradMeta ADInplaceOrView
    BackendSelect SparseCPU Meta CPU
""".split()


def kernels(registered, keys):
    """The kernels that run in a call, named as they were registered.

    `registered` has some names of ORDER, but not BackendSelect, and perhaps
    the aliases "Autograd", "CompositeExplicitAutograd" and
    "CompositeImplicitAutograd". Where both composite names are there,
    CompositeExplicitAutograd was registered first. In the other order,
    torch may give another answer.

    `keys` is the key set of the call, in alphabetical order. ORDER goes
    from the key that is asked first to the last. A kernel for autocast,
    autograd or ADInplaceOrView calls the operator again, with the keys
    behind its own. All others end the call. Where the dispatcher finds no
    kernel in the end, the list ends with "missing".
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

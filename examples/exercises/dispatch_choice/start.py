"""Say which kernels of an operator run, and in which order, in plain Python: the dispatcher's rules, by hand."""

ORDER = ["AutocastCPU", "AutogradCPU", "AutogradMeta", "ADInplaceOrView", "BackendSelect", "SparseCPU", "Meta", "CPU"]


def kernels(registered, keys):
    """The kernels that run when an operator is called, each named by what it was registered under.

    `registered` has some names of ORDER, but not BackendSelect, and perhaps the aliases "Autograd",
    "CompositeExplicitAutograd" and "CompositeImplicitAutograd"; of the last two, explicit was registered before
    implicit. (The other way round, what implicit put under an autograd key stays there.) `keys` is the key set of
    the call, in alphabetical order: names of ORDER, which goes from the key that is asked first to the last. A
    kernel for autocast, autograd or ADInplaceOrView calls the operator again, with the keys behind its own; all
    others end the call. Where the dispatcher finds no kernel in the end, the list ends with "missing".
    """
    raise NotImplementedError("write kernels")


if __name__ == "__main__":
    call = ("ADInplaceOrView", "AutogradCPU", "BackendSelect", "CPU")
    try:
        print("with its own gradient:", kernels(("Autograd", "CPU"), call))
        print("made of operators:    ", kernels(("CompositeImplicitAutograd",), call))
        print("for meta only:        ", kernels(("Meta",), call))
    except NotImplementedError as missing:
        print("not written yet:", missing)

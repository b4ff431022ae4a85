"""Predict, in plain Python, the key set of a call."""

# From the highest priority to the lowest. BACKENDS is in this order, too.
ORDER = """
    PythonTLSSnapshot AutocastCPU AutogradMeta AutogradCPU ADInplaceOrView
    Conjugate Python BackendSelect SparseMeta SparseCPU Meta CPU
""".split()
BACKENDS = ["Meta", "CPU"]


def key_set(tensors, modes):
    """The names of the call's keys, in the order of ORDER.

    `tensors` has the kind of each tensor in the call:
      "dense"      torch.ones(2)
      "int"        the same, with integers
      "parameter"  the same, as an nn.Parameter
      "conj"       a complex dense tensor after .conj()
      "sparse"     a sparse tensor on the CPU
      "meta"       a dense tensor on the device meta
      "inference"  a dense tensor that was made in inference_mode
      "subclass"   a wrapper over a dense tensor, with __torch_dispatch__

    `modes` has the modes around the call, the outermost first: "no_grad",
    "enable_grad", "inference_mode", "inference_mode(False)", "autocast",
    "autocast(enabled=False)" (both for the CPU) and "dispatch mode".

    Fallthroughs stay in the set: they are a matter of the operator.
    """
    raise NotImplementedError("write key_set")


if __name__ == "__main__":
    try:
        print("plain:    ", key_set(["dense"], []))
        print("autocast: ", key_set(["dense"], ["autocast"]))
        print("two kinds:", key_set(["dense", "meta"], []))
    except NotImplementedError as missing:
        print("not written yet:", missing)

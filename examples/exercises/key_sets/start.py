"""Predict, in plain Python, the key set of a call."""

# From the highest priority to the lowest. BACKENDS is in this order, too.
ORDER = """
    PythonTLSSnapshot AutocastCPU AutogradMeta AutogradCPU ADInplaceOrView
    Conjugate Python BackendSelect SparseMeta SparseCPU Meta CPU
""".split()
BACKENDS = ["Meta", "CPU"]


def key_set(tensors, modes):
    """The names of the call's keys, a list in the order of ORDER.

    `tensors` has the kind of each tensor in the call, of x = torch.ones(2):
      "dense"      x
      "int"        x.int()
      "parameter"  torch.nn.Parameter(x)
      "conj"       x.cfloat().conj()
      "sparse"     x.to_sparse()
      "meta"       x.to("meta")
      "inference"  torch.ones(2), made in inference_mode
      "subclass"   a wrapper over x with __torch_dispatch__, for instance
                   torch.testing._internal.two_tensor.TwoTensor(x, x)

    `modes` has the modes around the call, the outermost first:
      "no_grad", "enable_grad", "inference_mode", "inference_mode(False)"
      "autocast", "autocast(enabled=False)"    both for the CPU
      "dispatch mode"    torch.utils._python_dispatch.TorchDispatchMode()
    """
    raise NotImplementedError("write key_set")


if __name__ == "__main__":
    try:
        print("plain:    ", key_set(["dense"], []))
        print("autocast: ", key_set(["dense"], ["autocast"]))
        print("two kinds:", key_set(["dense", "meta"], []))
    except NotImplementedError as missing:
        print("not written yet:", missing)

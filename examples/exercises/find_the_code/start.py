"""Find an operator's CPU kernel in native_functions.yaml."""


def find_the_code(entry, delegate):
    """How an operator gets its CPU kernel, where, and the function's name.

    `entry` is the operator's entry in native_functions.yaml, as a dict. It
    has "func", and where the file has them "structured", which is True,
    "structured_delegate" and "dispatch", a dict as the file has it. The
    entry that "structured_delegate" names is `delegate`, else it is None.

    The result is a list of three strings:
    - "structured", "own" (a kernel for the CPU that is not structured),
      "composite" (CompositeImplicitAutograd), "explicit" (one of the two
      CompositeExplicit... keys) or "none", the first that applies
    - the file in which torchgen registers the kernel, without its number:
      "Register" and the dispatch key that serves the CPU, or ""
    - the kernel's name in "dispatch", or where there is no "dispatch" the
      name that torchgen gives it: the operator's without its overload, and
      "_out" if an argument behind "*" is written to, as (a!) says; or ""
    """
    raise NotImplementedError("write find_the_code")


if __name__ == "__main__":
    kernels = {"CPU, CUDA": "relu", "MPS": "relu_mps"}
    relu = {"func": "relu(Tensor self) -> Tensor", "dispatch": kernels}
    try:
        print("relu:", find_the_code(relu, None))
    except NotImplementedError as missing:
        print("not written yet:", missing)

"""Find an operator's CPU kernel in native_functions.yaml."""


def find_the_code(entry, delegate):
    """How an operator gets its CPU kernel, the file, and the kernel's name.

    `entry` is the operator's entry in native_functions.yaml, as a dict. It
    always has "func". Where the file has them, it has "structured" (True),
    "structured_delegate" (a name) and "dispatch" (a dict, see below).
    `delegate` is the entry that "structured_delegate" names, or None. If
    there is one, the answer is that for `delegate`.

    The result is a list of three strings:
    - "structured", "own", "explicit", "composite" or "none", the first
      that fits
    - "Register" and the dispatch key of the kernel; "" for "none"
    - the kernel's name in "dispatch"; "" for "none". Without "dispatch",
      the operator's name up to the period, and "_out" if an argument after
      "*, " is written to
    """
    raise NotImplementedError("write find_the_code")


if __name__ == "__main__":
    hardswish = {
        "func": "hardswish(Tensor self) -> Tensor",
        "dispatch": {"CPU, CUDA, MPS": "hardswish"},
    }
    square = {
        "func": "square.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    }
    try:
        print("hardswish: ", find_the_code(hardswish, None))
        print("square.out:", find_the_code(square, None))
    except NotImplementedError as missing:
        print("not written yet:", missing)

"""Make real tensors, enter real modes, and compare the predicted key set with the one that torch computes."""

import contextlib
import random
import re

import torch
from check import compare
from torch._C import _dispatch_keys
from torch._C import _dispatch_tls_local_exclude_set as excluded
from torch._C import _dispatch_tls_local_include_set as included
from torch.utils._python_dispatch import TorchDispatchMode

PLAIN = True
ORDER = """
    PythonTLSSnapshot AutocastCPU AutogradMeta AutogradCPU ADInplaceOrView
    Conjugate Python BackendSelect SparseMeta SparseCPU Meta CPU
""".split()
PER_BACKEND = {"Dense": "", "Sparse": "Sparse", "Autograd": "Autograd"}
PYTHON = {"Python", "PythonTLSSnapshot"}


class Wrapper(torch.Tensor):
    @staticmethod
    def __new__(cls, x):
        return torch.Tensor._make_wrapper_subclass(cls, x.shape, dtype=x.dtype)

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        raise NotImplementedError("only the keys of this tensor are read")


def inference():
    with torch.inference_mode():
        return torch.ones(2)


X = torch.ones(2)
TENSORS = {
    "dense": X,
    "int": X.int(),
    "parameter": torch.nn.Parameter(X),
    "conj": torch.ones(2, dtype=torch.complex64).conj(),
    "sparse": X.to_sparse(),
    "meta": X.to("meta"),
    "inference": inference(),
    "subclass": Wrapper(X),
}
MODES = {
    "no_grad": torch.no_grad,
    "enable_grad": torch.enable_grad,
    "inference_mode": torch.inference_mode,
    "inference_mode(False)": lambda: torch.inference_mode(False),
    "autocast": lambda: torch.autocast("cpu"),
    "autocast(enabled=False)": lambda: torch.autocast("cpu", enabled=False),
    "dispatch mode": TorchDispatchMode,
}


def torchs(tensors, modes):
    """What torch computes."""
    with contextlib.ExitStack() as stack:
        for mode in modes:
            stack.enter_context(MODES[mode]())
        keys = included()
        for kind in tensors:
            keys = keys | _dispatch_keys(TENSORS[kind])
        names = re.findall(r"\w+", str(keys - excluded()))[1:]
    return tuple(sorted(names, key=ORDER.index))


def rule(wrong=None):
    """The rules of torch, wrong in one thing."""

    def of(kind):
        found = {"Sparse" if kind == "sparse" else "Dense"}
        found |= {"Meta"} if kind == "meta" else {"CPU"}
        if kind != "meta" or wrong == "autocast adds":
            found |= {"AutocastCPU"}
        if kind != "inference" or wrong == "inference tensor":
            found |= {"Autograd", "ADInplaceOrView"}
        if (wrong == "requires grad" and kind != "parameter") or (wrong == "integers" and kind == "int"):
            found -= {"Autograd"}
        if kind == "conj":
            found |= {"Conjugate"}
        return found | (PYTHON if kind == "subclass" else set())

    def names(bits):
        made = {bit for bit in bits if bit not in (*PER_BACKEND, "Meta", "CPU")}
        backends = [backend for backend in ("Meta", "CPU") if backend in bits]
        if wrong == "highest backend":
            backends = backends[:1]
        return made | {PER_BACKEND[bit] + one for bit in bits if bit in PER_BACKEND for one in backends}

    def key_set(tensors, modes):
        include, exclude = {"BackendSelect", "ADInplaceOrView"}, {"AutocastCPU"}
        if wrong == "no include set":
            include = set()
        if wrong == "no exclude set":
            exclude = set()
        for mode in modes[-1:] if wrong == "innermost" else modes:
            if mode == "inference_mode":
                include.discard("ADInplaceOrView")
                exclude |= {"Autograd", "ADInplaceOrView"} if wrong == "inference excludes" else {"Autograd"}
            elif mode == "inference_mode(False)" or (mode == "enable_grad" and wrong == "enable_grad"):
                if wrong != "never left":
                    include.add("ADInplaceOrView")
                    exclude -= {"Autograd", "ADInplaceOrView"}
            elif mode == "autocast":
                exclude.discard("AutocastCPU")
            elif mode == "autocast(enabled=False)":
                exclude |= {"AutocastCPU"} if wrong != "never left" else set()
            elif mode == "dispatch mode":
                include |= PYTHON if wrong != "one key" else {"Python"}
            elif mode == "no_grad" and wrong == "no_grad":
                exclude.add("Autograd")
        found = [of(kind) for kind in tensors]
        if wrong == "first tensor":
            found = found[:1]
        if wrong == "no pairs":
            made = set().union(*(names((one | include) - exclude) for one in found))
        else:
            made = names(set().union(include, *found) - exclude)
        order = sorted(ORDER) if wrong == "alphabet" else ORDER
        return [name for name in order if name in made]

    return key_set


IDEAS = {
    "You may have thought that no_grad removes autograd's keys. It sets a flag, which autograd's kernel reads. So the "
    "kernel still runs, and makes no node.": rule("no_grad"),
    "You may have thought that enable_grad ends inference_mode. It sets the flag of grad mode and changes no key. "
    "inference_mode(False) is what undoes inference_mode.": rule("enable_grad"),
    "You may have given autograd's key only to a tensor that requires grad. The kernel of autograd asks that; the key "
    "is on every tensor that was not made in inference_mode.": rule("requires grad"),
    "You may have thought that integers need no autograd. The dtype is no part of a key set.": rule("integers"),
    "You may have given an inference tensor the keys of an ordinary one. It has neither autograd's key nor "
    "ADInplaceOrView of its own; outside inference_mode, the include set adds the second.": rule("inference tensor"),
    "You may have excluded ADInplaceOrView in inference_mode. The mode only takes it out of the include set, so a "
    "tensor that carries the key brings it.": rule("inference excludes"),
    "You may have left out the include set. Every call gets what the thread includes, in the plain state BackendSelect "
    "and ADInplaceOrView.": rule("no include set"),
    "You may have left out the exclude set. Every thread starts with the keys of autocast in it, and autocast takes "
    "one of them out.": rule("no exclude set"),
    "You may have thought that autocast adds its key. The key is on the tensors, and a meta tensor does not have "
    "AutocastCPU. Autocast stops excluding it.": rule("autocast adds"),
    "You may have joined names. A union joins bits: the backends of all tensors and the functionalities of all "
    "tensors, and each pair is a key, also one that no tensor has.": rule("no pairs"),
    "You may have kept only the highest backend. It is the first to be taken, but the bits of the others stay in "
    "the set.": rule("highest backend"),
    "You may have looked at the first tensor only. All tensors of a call bring their keys.": rule("first tensor"),
    "You may have counted the innermost mode only. A mode changes the two sets as the modes around it left them.": rule(
        "innermost"
    ),
    "You may have overlooked the modes that undo others: inference_mode(False) and autocast(enabled=False).": rule(
        "never left"
    ),
    "You may have given a dispatch mode one key. It includes two: Python, where its handler is called, and "
    "PythonTLSSnapshot, which notes the thread's sets first.": rule("one key"),
    "You may have sorted the names. ORDER goes from the highest key to the lowest.": rule("alphabet"),
}


def cases(draw):
    for kind in TENSORS:
        yield (kind,), ()
    for mode in MODES:
        yield ("dense",), (mode,)
    yield ("sparse", "meta"), ()
    yield ("inference",), ("inference_mode",)
    for _ in range(400):
        yield (
            tuple(draw.choices(list(TENSORS), k=draw.randint(1, 3))),
            tuple(draw.choices(list(MODES), k=draw.randint(0, 4))),
        )


def check(work):
    otherwise = (
        "Take the bits of each tensor, functionalities and backends apart, and join them. Add what the thread includes "
        "and remove what it excludes. Then name each pair of a functionality and a backend."
    )
    compare("key_set", cases(random.Random(0)), work.key_set, torchs, IDEAS, otherwise)

# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # The tour
#
# Ten lines train a small network. This notebook takes them apart once, from your Python down to a loop in C++ that
# computes, and back. It has ten stops. If you run the cells yourself, plan 45 minutes. Each stop ends with links to
# the chapters that explain it in full, so what you should take away is the order of what happens. At the last stop
# you put it in order yourself.
#
# The cells share one Python, and they ran from the top to the bottom. The first cell has the ten lines but one, the
# line with `torch.compile`, which waits for the ninth stop, and it has an `if` that prints the loss of the first and
# the last step.

# %%
import torch
from torch import nn

torch.manual_seed(0)
x, target = torch.randn(8, 3), torch.randint(2, (8,))
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
for step in range(100):
    loss = nn.functional.cross_entropy(model(x), target)
    if step in (0, 99):
        print(f"step {step:2}: loss {loss.item():.4f}")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

# %% [markdown]
# The loss fell. To see how, we go through this loop once more, line by line. Stops 7 to 9 look at its bytes, its
# calls, and what `torch.compile` makes of it.
#
# ## 1. A tensor is a way to read memory
#
# `x` has 8 rows of 3 numbers, but in memory there are no rows. The 24 numbers lie one after another in a *storage*,
# and the tensor says how to read them: its *strides* tell how many numbers to go on for the next row, and for the
# next column.

# %%
size = x.untyped_storage().nbytes()
print("shape  ", tuple(x.shape), "strides", x.stride())
print("storage", size, "bytes for", x.numel(), "numbers")

# %% [markdown]
# Each number takes 4 bytes, and the next row begins 3 numbers later. Many operations only change the way of reading.
# The transpose swaps the two strides and copies nothing, so a write through it arrives in `x`:

# %%
y = x.t()
print("shape  ", tuple(y.shape), "strides", y.stride())
first = x[0, 0].item()
y[0, 0] = 100.0
print("x[0, 0] is now", x[0, 0].item())
y[0, 0] = first

# %% [markdown]
# Such a `y` is called a *view* of `x`. A linear layer multiplies by the transpose of its weight, and because that is a
# view, nothing is copied.
#
# *In full:* [Tensor](tensor.html), [Syntax](syntax.html), [Shapes and dtypes](promotion.html),
# [Footguns](footguns.html).
#
# ## 2. A model is a tree of modules
#
# `model` is a module that holds three others, and two of those hold the numbers to learn, each tensor of them in a
# `Parameter`. `named_parameters()` walks through the tree, and the optimizer has a list of its own:

# %%
for name, w in model.named_parameters():
    print(f"{name:9} {tuple(w.shape)!s:7} requires grad: {w.requires_grad}")
print("together", sum(w.numel() for w in model.parameters()), "numbers")
(group,) = optimizer.param_groups
both = zip(group["params"], model.parameters())
print("the optimizer has the same four:", all(a is b for a, b in both))

# %% [markdown]
# The digit in a name is the place of the layer in `model`. Place 1 is the ReLU, which has nothing to learn. The
# optimizer holds the same objects, so what it writes is what the model reads in the next step.
#
# *In full:* [Modules](modules.html).
#
# ## 3. A call becomes operators
#
# `model(x)` calls the three modules, one after another. They call *operators*, functions on tensors that PyTorch
# knows by name, such as `addmm`. A dispatch mode is an object that is called when an operator is about to compute.
# Ours writes down the name, except for `detach`, with which PyTorch keeps a tensor for later, and lets the operator
# compute:

# %%
from torch.utils._python_dispatch import TorchDispatchMode

called = []


class Operators(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func.overloadpacket.__name__
        if name != "detach":
            called.append(name)
        return func(*args, **(kwargs or {}))


# ---
with Operators():
    loss = nn.functional.cross_entropy(model(x), target)
forward = list(called)
print("forward:", *forward)

# %% [markdown]
# The first linear layer is `t`, the view from the first stop, and `addmm`, a matrix product with the bias added. The
# last two are `cross_entropy`.
#
# An operator has several *kernels*. A kernel is a function that does one job for the operator: one computes on a CPU,
# another prepares what backward will need. Each job has a name, its *key*, and all keys have one fixed order. A tensor
# carries the keys of the jobs that it may need.
#
# For each call, the *dispatcher* puts together the keys of the call, mainly those of all tensor arguments, and goes
# through them from the highest down. It skips a key that is switched off, or for which the operator has no work, and
# runs the first kernel that is left. Here are the keys for `addmm` in the first layer:


# %%
def state(key):
    """What the dispatcher finds for `addmm` at a key."""
    table = torch._C._dispatch_dump_table("aten::addmm").splitlines()
    (row,) = [row for row in table if row.startswith(f"{key.name}:")]
    if torch._C._dispatch_tls_is_dispatch_key_excluded(key):
        return "switched off"
    return "no work: falls through" if "fallthrough" in row else "a kernel"


# ---
keys = torch._C._dispatch_keys(x)
for w in (model[0].weight, model[0].bias):
    keys = keys | torch._C._dispatch_keys(w)
for _ in range(4):
    key = keys.highestPriorityTypeId()
    print(f"{key.name:16} {state(key)}")
    keys = keys.remove(key)

# %% [markdown]
# Two kernels remain. `AutogradCPU` is the higher one, so its kernel runs first. It belongs to *autograd*, the part of
# PyTorch that prepares backward. `CPU` is the one that computes. `AutocastCPU` is for mixed precision, and
# `ADInplaceOrView` for views and writes in place.
#
# The first kernel calls the second, and can then still change what is returned. What it does shows in `grad_fn`,
# where autograd keeps an object called a *node*, which knows how to go back through this operator. The mode `Inside`
# prints it right after the kernel for `CPU` has computed, and the last row is what `model[0](x)` returns to us:


# %%
class Inside(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func.overloadpacket.__name__
        result = func(*args, **(kwargs or {}))
        print(f"    {name} has computed, its node: {result.grad_fn}")
        return result


# ---
print("call model[0](x)")
with Inside():
    result = model[0](x)
print("returned, its node:", result.grad_fn.name())

# %% [markdown]
# Inside, the product is computed and has no node. Outside, it has one. The kernel for `AutogradCPU` runs around the
# one for `CPU`, and attaches the node on the way out. The [home page](index.html#the-map) draws this call.
#
# *In full:* [Tensor types](tensor-types.html), [Forward](forward.html), [Dispatcher](dispatcher.html).
#
# ## 4. Forward leaves a graph
#
# `loss.grad_fn` is the node of the loss. A node turns the gradient of its operator's result into the gradients of the
# inputs. For that it may need numbers from forward, so it keeps the tensors that hold them, which is called to save a
# tensor. It also knows the nodes that backward runs next, and all nodes with these links are the graph that forward
# leaves.
#
# We walk from the loss, indent what comes next below each node, and print the memory that a node has saved: by its
# name if it has one, else by a number after `#`. Guess first: which of the two weights has been saved, and why not
# the other?

# %%
parameters = {id(w): name for name, w in model.named_parameters()}
memory = {w.data_ptr(): name for name, w in model.named_parameters()}
memory |= {x.data_ptr(): "x", target.data_ptr(): "target"}


def short(node):
    return node.name().split("::")[-1]


def saved(node):
    """The memory that a node has saved, or the Parameter that it writes to."""
    if hasattr(node, "variable"):
        yield "for " + parameters[id(node.variable)]
    for name in dir(node):
        value = getattr(node, name)
        if name.startswith("_saved_") and isinstance(value, torch.Tensor):
            number = 1 + sum(one.startswith("#") for one in memory.values())
            yield memory.setdefault(value.data_ptr(), f"#{number}")


# ---
def show(node, depth=0):
    print(f"{'  ' * depth + short(node):32}", *saved(node))
    for after, _ in node.next_functions:
        if after:
            show(after, depth + 1)


show(loss.grad_fn)

# %% [markdown]
# Read it from the top: the loss, the log softmax, the second linear layer, the ReLU, the first linear layer. The
# `AddmmBackward0` of the second layer has saved the ReLU's result and `2.weight`, because it needs each for the
# gradient of the other. The `AddmmBackward0` of the first layer has saved `x` only, because its weight would be needed
# for the gradient of `x` alone, which nobody wants.
#
# Two of the saved tensors stand there twice: `#1`, the logarithms of the probabilities, and `#3`, the ReLU's result,
# are each saved by two nodes and paid for once. `#2` is the number by which the loss was divided.
#
# The four `AccumulateGrad` nodes are the ends, one for each Parameter, and write its `.grad`. A `TBackward0` saves
# nothing, because it only transposes a gradient.
#
# *In full:* [Forward](forward.html), [Saved tensors](saved-tensors.html).
#
# ## 5. Backward runs the graph
#
# `zero_grad()` drops the gradients of the step before, and `backward()` runs the nodes. A *hook* is a function of
# ours that is called at a node. Ours prints the number that the node got when it was made, counted from the first of
# this forward pass, and the shape of the gradient that has come.


# %%
def walk(loss):
    nodes = [loss.grad_fn]
    for node in nodes:
        following = [after for after, _ in node.next_functions if after]
        nodes += [after for after in following if after not in nodes]
    return nodes


def before(node):
    """A hook that prints a node, its number and the shape of its gradient."""
    made = node._sequence_nr()
    number = "2**64 - 1" if made == 2**64 - 1 else made - start

    def hook(gradients):
        print(f"{short(node):20} {number!s:9} {tuple(gradients[0].shape)}")

    return hook


has_saved = {node: [*saved(node)] for node in walk(loss)}
# ---
nodes = walk(loss)
start = min(node._sequence_nr() for node in nodes)
hooks = [node.register_prehook(before(node)) for node in nodes]
weight = model[0].weight
print("grad of the step before:", tuple(weight.grad.shape))
optimizer.zero_grad()
print("grad after zero_grad(): ", weight.grad)
loss.backward()

# %% [markdown]
# `zero_grad()` writes no zeros: it sets `.grad` to None. Then the *engine*, the loop that runs the nodes, begins at
# the loss. The gradient of the loss with respect to itself is 1, a single number, which is the `()` in the first row.
# A node is ready when its gradient has come, and of the ready nodes the engine takes the one with the largest number.
# So it takes the node that forward made last, but an `AccumulateGrad` first, which has the largest number that 64 bits
# can hold.
#
# Are the gradients right? For cross entropy the first gradient is a short formula: the probabilities, minus 1 for the
# right class, divided by the number of samples. The rest is three matrix products, two sums, and a mask for the ReLU:

# %%
for hook in hooks:
    hook.remove()
# ---
with torch.no_grad():
    hidden = model[1](model[0](x))
    p = model[2](hidden).softmax(1)
    grad_output = (p - nn.functional.one_hot(target, 2)) / len(target)
    grad_hidden = (grad_output @ model[2].weight) * (hidden > 0)
    by_hand = {
        "0.weight": grad_hidden.t() @ x,
        "0.bias": grad_hidden.sum(0),
        "2.weight": grad_output.t() @ hidden,
        "2.bias": grad_output.sum(0),
    }
for name, w in model.named_parameters():
    print(name, "as autograd's:", torch.allclose(by_hand[name], w.grad, atol=1e-6))

# %% [markdown]
# From forward these lines need `p`, `hidden`, `x`, `target`, its length and the weight of the second layer. That is
# what the nodes had saved: `p` as its logarithms, and the length as `#2`.
#
# *In full:* [Backward](backward.html), [Gradients](gradients.html), [NumPy](numpy.html) for all of it by hand.
#
# ## 6. The optimizer writes
#
# `step()` reads `.grad`, updates what it remembers about each Parameter, and writes the Parameter in place, which
# means into its own memory. We print the operators that write `0.weight`, each with the numbers it was given:


# %%
class Writes(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if args[0] is weight and func._schema.is_mutable:
            numbers = [*args[1:], *(kwargs or {}).values()]
            numbers = [f"{one:.4f}" for one in numbers if isinstance(one, float)]
            print("writes:", func.overloadpacket.__name__, *numbers)
        return func(*args, **(kwargs or {}))


# ---
old, version = weight.detach().clone(), weight._version
with Writes():
    optimizer.step()
print("largest change", f"{(weight - old).abs().max().item():.4f}")
print("version went up by", weight._version - version)
for name, value in optimizer.state[weight].items():
    print(f"{name:10} {value.item() if name == 'step' else tuple(value.shape)}")

# %% [markdown]
# There are two writes. `mul_` multiplies the weight by 0.9999, which is 1 minus the learning rate times AdamW's
# default weight decay, both 0.01. `addcdiv_` adds a quotient times -0.0100, the negative learning rate. The quotient
# is made from the last two rows, which AdamW remembers for each Parameter: the average gradient, divided by the root
# of the average square, both corrected because they began at 0. A tensor has a
# *version*, a counter that such writes raise, which is why it went up by 2.
#
# *In full:* [Optimizer](optimizer.html), [Update rules](update-rules.html), [Schedulers](schedulers.html), [Version
# counters](versions.html).
#
# ## 7. Where the bytes are
#
# When does a step need most memory? `MemTracker` is a dispatch mode that sorts the bytes of all tensors by what they
# are for. We repeat the batch 64 times, so that it counts, and print the bytes alive after each node that computes,
# each `=` for 1024 of them. A node drops what it saved only after our hook, so each drop shows one row later:

# %%
from torch.distributed._tools.mem_tracker import MemTracker

large, labels = x.repeat(64, 1), target.repeat(64)


def after(node):
    """A hook that prints how much is alive right after a node has run."""
    alive = tracker.get_tracker_snapshot("current")[x.device]["Total"]
    print(f"{short(node):20} {alive:6} {'=' * (alive // 1024)}")


# ---
optimizer.zero_grad()
tracker = MemTracker()
tracker.track_external(model, optimizer, large, labels)
with tracker:
    loss = nn.functional.cross_entropy(model(large), labels)
    for node in walk(loss):
        if not hasattr(node, "variable"):
            node.register_hook(lambda *_, node=node: after(node))
    loss.backward()
print("\nat the peak")
for kind, size in tracker.get_tracker_snapshot("peak")[x.device].items():
    if size:
        print(f"{getattr(kind, 'value', kind):20} {size:6}")

# %% [markdown]
# The peak is in the middle of backward, right after `ReluBackward0`. `Other` is the batch: 512 rows of 3 numbers are
# 6144 bytes, and 512 labels, integers of 8 bytes each, are 4096. The 26 learned numbers are 104 bytes, `Optstate` is
# two averages of each and four step counts, and `Gradient` is that of the second layer, 10 numbers.
#
# The rest is made by the step. `Activation` is what forward computed and is still there: the ReLU's result, 512 rows
# of 4 numbers or 8192 bytes, which `ReluBackward0` is about to drop. The logarithms are gone, because their nodes have
# dropped what they saved. The 8 bytes more are the loss and the gradient 1 at which backward began. `Temp` holds two
# gradients as large as the ReLU's result, the one that `ReluBackward0` got and the one that it made.
#
# *In full:* [Memory](memory.html), [Leaks](leaks.html), [The allocator](allocator.html).
#
# ## 8. Computation instead of memory, and a profile
#
# Training keeps the ReLU's result from forward until backward. *Checkpointing* keeps only the input of a part of the
# model, and in backward runs that part again until all that its nodes had saved is back. Guess first: which operators
# run again, and does the peak fall? We ask for our network as one part, and for a deeper one, of ten linear layers,
# part by part:

# %%
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)
part = lambda: nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4), nn.ReLU())
deep = nn.Sequential(nn.Linear(3, 4), *[part() for _ in range(4)], nn.Linear(4, 2))


def parts_of(model):
    """The parts of a model that are checkpointed: those of `deep`, or all of it."""
    return list(deep) if model is deep else [model]


def measured(model, checkpointed):
    """The bytes after forward and at the peak, and operators of backward."""
    model.zero_grad()
    tracker = MemTracker()
    tracker.track_external(model, optimizer, large, labels)
    with tracker:
        out = large
        for one in parts_of(model):
            out = checkpoint(one, out, use_reentrant=False) if checkpointed else one(out)
        loss = nn.functional.cross_entropy(out, labels)
        del out
        kept = tracker.get_tracker_snapshot("current")[x.device]["Total"]
        called.clear()
        with Operators():
            loss.backward()
    peak = tracker.get_tracker_snapshot("peak")[x.device]["Total"]
    return kept, peak, [name for name in called if name in ("mm", "addmm", "relu")]


# ---
for name, one in {"ours": model, "deep": deep}.items():
    for way in ("plain", "checkpointed"):
        kept, peak, ran = measured(one, way == "checkpointed")
        print(f"{name} {way:12} kept {kept:6} peak {peak:6}")
        if one is model:
            print("     of mm, addmm and relu, backward runs", *ran)

# %% [markdown]
# In our network the peak does not fall, although 8192 bytes less are kept after forward. The peak comes right after
# `ReluBackward0`, and by then the ReLU's result is back: the `addmm` and the `relu` in front of the three `mm`
# computed it again. The second layer does not run again, because by then all is back that was saved. In the deeper
# network the peak falls, because only one part at a time is computed again.
#
# The mode saw two operators in a linear layer. A profile also records the calls around and inside them, and counts the
# floating-point operations of a matrix product:

# %%
from torch.profiler import profile


def tree(event, depth=0):
    print("    " * depth + event.name, *[event.flops] * bool(event.flops))
    for child in event.cpu_children:
        tree(child, depth + 1)


# ---
with profile(with_flops=True) as prof:
    model[0](x)
tree(prof.events()[0])

# %% [markdown]
# The `t` and `addmm` of the third stop are there, and around and below them stand calls that our mode did not see.
# `copy_` puts the bias into each row of the result. `addmm` leaves the multiplication to a library. The 192 are 2 · 8
# · 3 · 4, a multiplication and an addition for each of the 8 · 4 results and 3 inputs.
#
# *In full:* [Less memory](less-memory.html), [Profiling](profiling.html), [Measuring](measuring.html).
#
# ## 9. What compile makes of it
#
# `torch.compile` replaces the way from Python to the kernels. In the first call, torch reads your Python and writes
# down the operators as a graph, and a *backend* makes code of the graph. Ours prints its operators, without those
# that make a view or pick a result, and runs it as it is:

# %%
import textwrap

from functorch.compile import make_boxed_func
from torch._dynamo.backends.common import aot_autograd


def printing(direction):
    def compiler(graph, inputs):
        calls = [n.target for n in graph.graph.nodes if n.op == "call_function"]
        names = [getattr(c, "overloadpacket", c).__name__ for c in calls]
        left_out = ("t", "view", "detach", "getitem")
        names = [name for name in names if name not in left_out]
        print(textwrap.fill(f"{direction}: {' '.join(names)}", 72))
        return make_boxed_func(graph.forward)

    return compiler


def loss_of(x):
    return nn.functional.cross_entropy(model(x), target)


torch.compiler.reset()
forth, back = printing("forward"), printing("backward")
backend = aot_autograd(fw_compiler=forth, bw_compiler=back)
# ---
compiled = torch.compile(loss_of, backend=backend)
for call in ("first", "second"):
    loss = compiled(x)
    print(call, "call is done")
    loss.backward()

# %% [markdown]
# Each graph is printed once, although the function ran twice: the second call used the code of the first. The graph
# of backward came only when `backward()` ran. It is the fifth stop written as operators: three products, two sums for
# the biases, and `threshold_backward`, the mask of the ReLU.
#
# Inductor, the backend that you get if you name none, merges operators into loops and writes them in C++ for a CPU.
# Here is what its code calls, and the loop in one of the functions, without casts, for a run under `no_grad`:

# %%
import re

from torch._inductor.utils import run_and_get_code


def loop(name, code):
    """The loop in the C++ of a function, without casts and empty braces."""
    text = code.split(f"{name} =")[1].split("'''")[1]
    text = re.sub(r"static_cast<int64_t>\((\w+)\)", r"\1", text)
    text = re.sub(r"([{}])(\s*\1)+", r"\1", text)
    for row in re.search(r"for\(.*?\}", text, re.S)[0].splitlines():
        yield "    " * ("tmp" in row) + row.strip()


torch.compiler.reset()
torch._inductor.config.cpp.simdlen = 1  # one number at a time
# ---
with torch.no_grad():
    _, (code,) = run_and_get_code(torch.compile(loss_of), x)
call = code[code.index("def call(") :]
print(*re.findall(r"(?m)^ +((?:extern_kernels|cpp_fused)[\w.]*)\(", call), "", sep="\n")
print(*loop("cpp_fused_relu_0", code), sep="\n")

# %% [markdown]
# Inductor wrote the two `cpp_fused` itself, the last one for both operators of `cross_entropy`, and leaves the two
# `addmm` to a library. The loop is the ReLU. It runs over the 32 numbers as they lie in memory. For the ReLU this is
# the bottom: below it there are only instructions of the CPU. A setting in the fold keeps Inductor from taking several
# numbers at a time.
#
# *In full:* [Compile](compile.html), [Graph breaks](graph-breaks.html), [Inductor](inductor.html), [One
# line](layers-all.html).
#
# ## 10. The map
#
# Here is the whole step, made from the operators of the third stop and the nodes of the fourth. Beside each operator
# stand the memory that was saved and the node that its autograd kernel left. The last column names the Parameter
# whose `.grad` comes out there:

# %%
recorded = [node for node in nodes if not hasattr(node, "variable")]
recorded.sort(key=lambda node: node._sequence_nr())


def learned(node):
    """The Parameters whose gradients a node makes."""
    after = [after for after, _ in node.next_functions]
    return [parameters[id(one.variable)] for one in after if hasattr(one, "variable")]


def row(*cells):
    print("{:18}{:18}{:22}{}".format(*cells).rstrip())


row("forward", "saved", "backward", ".grad of")
row("   |", "", "   ^", "")
# ---
for operator, node in zip(forward, recorded, strict=True):
    row(operator, " ".join(has_saved[node]), node.name(), " ".join(learned(node)))
row("   v", "-> loss -> 1", "   |", "")
print("step() reads each .grad, writes the Parameter, keeps", *optimizer.state[weight])

# %% [markdown]
# Follow `0.weight`: forward transposes it in the first row and multiplies in the second. The gradient passes the same
# two rows upward and becomes its `.grad`, which the optimizer turns into two averages and a write.
#
# The map leaves out who acts, and that part is yours. In which order do these seven things happen in one round of the
# loop at the top of this page? Look only at the first `addmm` and its bias. In the notebook, write the seven letters
# into `mine` and run the cell. In a browser, open the fold afterwards.

# %%
ORDER = [
    "The kernel for AutogradCPU starts.",
    "The kernel for CPU computes.",
    "The result gets its node.",
    "The old gradients are dropped.",
    "The engine runs the node.",
    "AccumulateGrad writes the new gradient.",
    "The optimizer writes the Parameter.",
]
lettered = dict(zip("abcdefg", sorted(ORDER)))
for letter, event in lettered.items():
    print(letter, event)

# ---
mine = ""
for letter in mine:
    print(lettered[letter])
if mine:
    places = zip(mine, ORDER)
    print(sum(lettered[one] == event for one, event in places), "of 7 in place")

# %% [markdown]
# One round of the ten lines, in one sentence: forward computes and leaves
# nodes, `zero_grad()` drops the old gradients, the engine runs the nodes from the last to the first, and the optimizer
# writes the Parameters that the next forward reads.
#
# ## Where to go on
#
# The [learning path](reference/learning-path.html) has ways through the book, each for one kind of question. To read
# in order, begin with [Tensor](tensor.html). To try yourself, there are [exercises](exercises/index.html).

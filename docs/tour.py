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
# Ten lines train a small network. This notebook takes them apart once, from your Python down to the code that
# computes, and back. It has ten stops, the sections below. If you run the cells yourself, plan 45 minutes. Each stop ends with links to
# the chapters that explain it in full, so you need not understand each detail now. What you should have at the end is
# the order of what happens: at the last stop you put it in order yourself.
#
# The cells share one Python, and they ran from the top to the bottom. Here are the ten lines, with two more that print
# the loss, and without `torch.compile`, which waits for the ninth stop.

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
# The loss fell. To see how, we go through one more step of this loop, line by line.
#
# ## 1. A tensor is a way to read memory
#
# `x` has 8 rows of 3 numbers. In memory there are no rows. The 24 numbers lie one after another in a *storage*, and
# the tensor says how to read them: its *strides* tell how many numbers to go on for the next row, and for the next
# column.

# %%
size = x.untyped_storage().nbytes()
print("shape  ", tuple(x.shape), "strides", x.stride())
print("storage", size, "bytes for", x.numel(), "numbers")

# %% [markdown]
# Each number takes 4 bytes. The strides are 3 and 1: the next row begins 3 numbers later. Many operations only change
# the way of reading. The transpose swaps the two strides and copies nothing, so a write through it arrives in `x`:

# %%
y = x.t()
print("shape  ", tuple(y.shape), "strides", y.stride())
first = x[0, 0].item()
y[0, 0] = 100.0
print("x[0, 0] is now", x[0, 0].item())
y[0, 0] = first

# %% [markdown]
# Such a `y` is called a *view* of `x`. A linear layer stores its weight with one row for each output, and
# multiplies by the transpose of it. Because the transpose is a view, that copies nothing.
#
# *In full:* [Tensor](tensor.html), [Syntax](syntax.html), [Shapes and dtypes](promotion.html), [Footguns](footguns.html).
#
# ## 2. A model is a tree of modules
#
# `model` computes nothing by itself. It is a tree whose leaves hold the numbers to learn, each in a `Parameter`:

# %%
for name, w in model.named_parameters():
    print(f"{name:9} {tuple(w.shape)!s:7} requires grad: {w.requires_grad}")
print("together", sum(w.numel() for w in model.parameters()), "numbers")
(group,) = optimizer.param_groups
print("the optimizer has it:", group["params"][0] is model[0].weight)

# %% [markdown]
# The digit in a name is the place of the layer in `model`. Place 1 is the ReLU, which has nothing to learn. A
# `Parameter` is a tensor that requires grad unless you say otherwise, and a module keeps a list of its Parameters. The
# last row shows that the optimizer holds the same object as the model, so what it writes is what the model reads in
# the next step.
#
# *In full:* [Modules](modules.html).
#
# ## 3. A call becomes operators
#
# `model(x)` calls three modules. PyTorch sees something finer: the *operators* that they call, which are functions on
# tensors that PyTorch knows by name, such as `addmm`. A dispatch mode is an object that PyTorch calls right before
# an operator computes. Ours notes the name, and then lets the operator compute:

# %%
from torch.utils._python_dispatch import TorchDispatchMode


class Operators(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        called.append(func.overloadpacket.__name__)
        return func(*args, **(kwargs or {}))


# ---
called = []
with Operators():
    loss = nn.functional.cross_entropy(model(x), target)
forward = list(called)
print("forward:", *forward)

# %% [markdown]
# The first linear layer is `t`, the view from the first stop, and `addmm`, a matrix product with the bias added.
# `cross_entropy` is `_log_softmax` and `nll_loss_forward`. No line of ours asked for the two calls of `detach`. They
# come from *autograd*, the part of PyTorch that records for backward: it saves the results of `relu` and of
# `_log_softmax`, and it saves a result that requires grad as a view made by `detach`.
#
# An operator has several *kernels*. A kernel is a function that does one job for the operator: it computes on a CPU,
# or on CUDA, or it records what backward will need. Each job has a name, its key. A tensor carries the keys of the
# jobs that its operators may need. PyTorch has put all keys in one fixed order, and for each call the *dispatcher*
# runs the kernel of the highest key that is switched on. Here are the keys of `x` from the highest to the lowest, and
# what two operators have for each:


# %%
def has(operator, key):
    """Whether an operator has a kernel for a key, or the call falls through to the next key."""
    table = torch._C._dispatch_dump_table(f"aten::{operator}").splitlines()
    (row,) = [row for row in table if row.startswith(f"{key}:")]
    return "falls through" if "fallthrough" in row else "a kernel"


# ---
keys = torch._C._dispatch_keys(x)
print(f"{'key':16} {'addmm':14} t")
for _ in range(4):
    key = keys.highestPriorityTypeId()
    keys = keys.remove(key)
    print(f"{key.name:16} {has('addmm', key.name):14} {has('t', key.name)}")

# %% [markdown]
# `AutocastCPU`, mixed precision, is switched off unless you ask for it, so the dispatcher skips it.
# `ADInplaceOrView` keeps the books on in-place operations and views. `t` makes a view and has a kernel for that,
# while a call of `addmm` falls through to the next key. That leaves two kernels for `addmm`: `AutogradCPU`, which
# records, and `CPU`, which computes. `x` carries the key of autograd although it does not require grad. Whether there
# is something to record, the kernel finds out.
#
# The two kernels run one inside the other. A second mode, `Inside`, is called between the two and prints the *node* of
# what the CPU kernel returned, its note for backward. The last row is what `model[0](x)` returns to us:


# %%
class Inside(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        print(f"    {func} begins")
        result = func(*args, **(kwargs or {}))
        print(f"    {func} has computed, its node: {result.grad_fn}")
        return result


# ---
print("call model[0](x)")
with Inside():
    result = model[0](x)
print("returned, its node:", result.grad_fn.name())

# %% [markdown]
# The kernel for `AutogradCPU` starts first. It prepares a node, and calls `addmm` again without the key
# of autograd. This inner call passes our mode and ends in the kernel for `CPU`, whose result has no
# node yet: `None`. Back outside, the kernel for `AutogradCPU` hangs the node on the result. The
# [home page](index.html#the-map) has this call as a drawing.
#
# *In full:* [Tensor types](tensor-types.html), [Forward](forward.html), [Dispatcher](dispatcher.html).
#
# ## 4. Forward leaves a graph
#
# `loss.grad_fn` is the node of the loss. A node knows how to turn the gradient of its result into the gradients of its
# inputs, and which nodes come next. We walk from the loss and print each node with the tensors that it has saved. The
# number after `#` says which memory a tensor uses, so the same number is the same memory:


# %%
parameters = {id(w): name for name, w in model.named_parameters()}
memory = {}


def saved(node):
    """What a node has saved, or the Parameter whose gradient it writes."""
    if hasattr(node, "variable"):
        yield parameters[id(node.variable)]
    for name in dir(node):
        value = getattr(node, name)
        if name.startswith("_saved_") and isinstance(value, torch.Tensor):
            number = memory.setdefault(value.data_ptr(), len(memory) + 1)
            yield f"{name[7:]} {tuple(value.shape)} #{number}"


# ---
def walk(loss):
    nodes = [loss.grad_fn]
    for node in nodes:
        following = [after for after, _ in node.next_functions if after]
        nodes += [after for after in following if after not in nodes]
    return nodes


nodes = walk(loss)
for node in nodes:
    print(f"{node.name().split('::')[-1]:20}", ", ".join(saved(node)))

# %% [markdown]
# The list begins at the loss, then come the nodes one step further back, then two steps, and so on. `NllLossBackward0`
# belongs to the last operator of forward. It has saved the logarithms of the probabilities, the targets, and
# `total_weight`, the number by which the loss was divided. That is a second result of the operator. It requires no
# grad, so there was no third `detach`. `LogSoftmaxBackward0` has saved its result, and `#1` says that these are the
# same logarithms. The first `AddmmBackward0`, that of the second layer, has saved its input and the transposed weight,
# because it needs each for the gradient of the other. The input is the result that `ReluBackward0` has saved, `#4`:
# where it is 0, no gradient passes.
#
# The second `AddmmBackward0`, that of the first layer, has saved its input `x` and not the weight. The weight would be
# needed for the gradient of `x` only, and nobody wants that. A `TBackward0` saves nothing: it transposes a gradient.
# The four `AccumulateGrad` nodes are the ends, one for each Parameter, and write its `.grad`.
#
# *In full:* [Forward](forward.html), [Saved tensors](saved-tensors.html).
#
# ## 5. Backward runs the graph
#
# `zero_grad()` drops the gradients of the last step; it sets `.grad` to None. Then `backward()` runs the nodes. A
# *hook*, a function of ours that is called at a node, prints the node and the shape of the gradient that has come:


# %%
def before(node):
    """A hook that prints a node and the shape of its gradient."""
    name = node.name().split("::")[-1]

    def hook(gradients):
        print(f"{name:20} {tuple(gradients[0].shape)}")

    return hook


# ---
weight = model[0].weight
hooks = [node.register_prehook(before(node)) for node in nodes]
optimizer.zero_grad()
print("grad before:", weight.grad)
loss.backward()
print("grad after: ", tuple(weight.grad.shape))

# %% [markdown]
# The *engine*, the loop that runs the nodes, begins at the loss. A node is ready when all its gradients have come. Of
# the nodes that are ready the engine takes an `AccumulateGrad` first, and else the one that forward made last. The
# shapes say what each node did: `TBackward0` gets (4, 2) and passes on (2, 4), the shape of the second weight.
#
# Are the gradients right? The gradient of cross entropy for its input is a short formula: the probabilities, minus 1
# for the right class, divided by the number of samples. From there on it is three matrix products, two sums, and a
# mask for the ReLU:

# %%
for hook in hooks:
    hook.remove()
with torch.no_grad():
    hidden = model[1](model[0](x))
    p = model[2](hidden).softmax(1)

# ---
with torch.no_grad():
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
# *In full:* [NumPy](numpy.html), [Backward](backward.html), [Gradients](gradients.html).
#
# ## 6. The optimizer writes
#
# `step()` reads `.grad`, updates what it remembers about each Parameter, and writes the Parameter in place. AdamW
# remembers two averages, of the gradient and of its square, and how many steps it has made:


# %%
class Writes(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if args[0] is weight and func._schema.is_mutable:
            print("writes:", func.overloadpacket.__name__)
        return func(*args, **(kwargs or {}))


# ---
old, version = weight.detach().clone(), weight._version
with Writes():
    optimizer.step()
print("largest change", f"{(weight - old).abs().max().item():.3f}")
print("version went up by", weight._version - version)
for name, value in optimizer.state[weight].items():
    print(f"{name:10} {value.item() if name == 'step' else tuple(value.shape)}")

# %% [markdown]
# There are two writes. `mul_` makes each number of the weight a little smaller, which is called weight decay.
# `addcdiv_` subtracts the learning rate times a quotient: the average gradient divided by the root of the average
# square, both corrected because they began at 0. The quotient was small here, so the largest change is less than the
# learning rate, 0.01. A tensor has a *version*, a counter that such in-place operations raise, which is why it
# went up by 2. [Version counters](versions.html) says how autograd uses it.
#
# *In full:* [Optimizer](optimizer.html), [Update rules](update-rules.html), [Schedulers](schedulers.html).
#
# ## 7. Where the bytes are
#
# Now we weigh such a step. `MemTracker`, a private class, is a dispatch mode, too. It sorts the bytes of all tensors
# by what they are for, and keeps the sums of the moment when most are alive. We make the batch 64 times as large, so
# that it counts:

# %%
from torch.distributed._tools.mem_tracker import MemTracker

large, labels = x.repeat(64, 1), target.repeat(64)
totals = []


def note(node):
    """A hook that notes what lives right after a node has run."""
    now = tracker.get_tracker_snapshot("current")[x.device]["Total"]
    totals.append((now, node.name()))


def train():
    loss = nn.functional.cross_entropy(model(large), labels)
    optimizer.zero_grad()
    for node in walk(loss):
        node.register_hook(lambda *_, node=node: note(node))
    loss.backward()
    optimizer.step()


# ---
tracker = MemTracker()
tracker.track_external(model, optimizer, large, labels)
with tracker:
    train()
for kind, size in tracker.get_tracker_snapshot("peak")[x.device].items():
    print(f"{getattr(kind, 'value', kind):10} {size:6}")
print("largest after a node:", *max(totals))
print("the batch:", large.nbytes, "and", labels.nbytes)
print("the ReLU's result:", model[1](model[0](large)).nbytes)

# %% [markdown]
# The peak is right after `ReluBackward0`. `Temp` is what backward computes on its way: here the gradient that came to
# this node and the one that it made, each as large as the ReLU's result, 8192 bytes. `Activation` is what forward
# computed and still lives: the ReLU's result, and two single numbers of 4 bytes. The logarithms are gone, because a
# node drops what it saved once it has run. `Other` is the batch.
#
# The rest comes from the 26 numbers of the model. The parameters are 104 bytes, and `Optstate` is twice as much and 4
# bytes for each of the four step counts. All gradients would be 104 bytes, too, but only those of the second layer
# have come so far, which are 40. A `Buffer` would be a tensor that a module keeps without learning it. Ours has none.
#
# *In full:* [Memory](memory.html), [Leaks](leaks.html), [The allocator](allocator.html).
#
# ## 8. Memory for computation, and a profile
#
# Training keeps the ReLU's result from forward until backward. *Checkpointing* keeps only the input of a part of the
# model instead, and runs that part again during backward, as far as backward needs it. We look at both sides of the
# trade: the bytes of each tensor that forward saves, weights apart, and the matrix products that backward runs.

# %%
from torch.autograd.graph import saved_tensors_hooks
from torch.utils.checkpoint import checkpoint


def kept(forward):
    """The bytes that forward saves in each memory, and the matrix products in backward."""
    own, sizes = {w.data_ptr() for w in model.parameters()}, {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            sizes[storage.data_ptr()] = storage.nbytes()
        return tensor

    with saved_tensors_hooks(pack, lambda tensor: tensor):
        loss = nn.functional.cross_entropy(forward(), labels)
    called.clear()
    with Operators():
        loss.backward()
    return sizes.values(), [name for name in called if name in ("mm", "addmm")]


# ---
ways = {
    "plain": lambda: model(large),
    "checkpointed": lambda: checkpoint(model, large, use_reentrant=False),
}
for way, run in ways.items():
    sizes, products = kept(run)
    print(f"{way:12} saves", *sizes)
    print(f"{'':12} backward runs", *products)

# %% [markdown]
# Both save the batch (6144 and 4096), the logarithms (the other 4096) and the number by which the loss is divided (4).
# Only the plain way saves the ReLU's result, 8192 bytes. The three `mm` are the three products that we wrote by hand
# in the fifth stop. The price of checkpointing is the `addmm` before them: the first layer once more. The second layer
# is not computed again, because backward needs its input and its weight, and not its result.
#
# How many calls does a step make, and how much arithmetic? A profile records each call of an operator as an event,
# also the calls that operators make inside. Here are the events of the three parts of a step, and the floating-point operations of their matrix products:

# %%
from torch.profiler import profile, record_function


def below(event):
    """The events within an event."""
    return [inner for child in event.cpu_children for inner in (child, *below(child))]


optimizer.zero_grad()
# ---
with profile(with_flops=True) as prof:
    with record_function("forward"):
        loss = nn.functional.cross_entropy(model(x), target)
    with record_function("backward"):
        loss.backward()
    with record_function("step()"):
        optimizer.step()
for event in prof.events():
    if event.name in ("forward", "backward", "step()"):
        flops = [one.flops for one in below(event) if one.name in ("aten::mm", "aten::addmm")]
        print(f"{event.name:8} {len(below(event)):3} events, products:", *flops)

# %% [markdown]
# The products of forward have 2 · 8 · 3 · 4 and 2 · 8 · 4 · 2 operations. Most calls are in `step()`, which has no
# product: it does small work on each Parameter. That is why PyTorch has
# [other versions of it](optimizer.html#for-loop-foreach-fused-who-does-the-arithmetic) for a GPU.
#
# *In full:* [Less memory](less-memory.html), [Profiling](profiling.html), [Measuring](measuring.html).
#
# ## 9. What compile makes of it
#
# `torch.compile` replaces the way from Python to the kernels. In the first call of a compiled model, torch reads
# your Python step by step and writes down the operators as a graph, forward and backward; a *backend* makes code of the
# graph. Ours prints both graphs and runs them as they are:

# %%
import textwrap

from functorch.compile import make_boxed_func
from torch._dynamo.backends.common import aot_autograd


def show(direction):
    def compiler(graph, inputs):
        nodes = graph.graph.nodes
        calls = [n.target for n in nodes if n.op == "call_function"]
        names = [getattr(c, "overloadpacket", c).__name__ for c in calls]
        print(textwrap.fill(f"{direction}: {' '.join(names)}", 72))
        return make_boxed_func(graph.forward)

    return compiler


# ---
torch.compiler.reset()
def loss_of(x):
    return nn.functional.cross_entropy(model(x), target)


forth, back = show("forward"), show("backward")
backend = aot_autograd(fw_compiler=forth, bw_compiler=back)
compiled = torch.compile(loss_of, backend=backend)
for call in ("first", "second"):
    loss = compiled(x)
    print(call, "call is done")
    loss.backward()

# %% [markdown]
# Each graph is printed once, although the function ran twice: the second call used the code of the first.
# [Compile](compile.html) says when it may. The forward graph holds the operators of the third stop.
# `nll_loss_forward` returns a pair, the loss and the number by which it was divided, and each `getitem` takes one of
# them. Our backend got the backward graph only when `backward()` ran.
#
# The backward graph is the fifth stop written as operators. The three `mm` are the three products,
# `threshold_backward` is the mask of the ReLU, and each `sum` is the gradient of a bias. Every `t`, `view` and
# `detach` only makes a view.
#
# The backend that you get if you name none is Inductor. It merges operators into loops and writes them in C++ for
# a CPU, or in Triton, a language for the kernels of a GPU. Here is what its code for a forward pass without gradients
# calls:

# %%
import re

from torch._inductor.utils import run_and_get_code

# ---
torch.compiler.reset()
with torch.no_grad():
    _, (code,) = run_and_get_code(torch.compile(loss_of), x)
call = code[code.index("def call(") :]
print(*re.findall(r"(?m)^ +((?:extern_kernels|cpp_fused)[\w.]*)\(", call), sep="\n")

# %% [markdown]
# The two `addmm` are left to a library. The two names with `cpp_fused` are functions that Inductor wrote itself. The
# last one merges `_log_softmax` and `nll_loss_forward` into one.
#
# *In full:* [Compile](compile.html), [Graph breaks](graph-breaks.html), [Inductor](inductor.html).
#
# ## 10. The map
#
# Now you have seen all parts of one step of training. Here is the step as one picture, made from the operators of the
# third stop, without `detach`, and the nodes of the fourth, without the four `AccumulateGrad`. Each operator stands
# beside the node that its kernel for autograd left. Forward runs down the first column, and backward runs up the
# second. The third column names the Parameter whose gradient the node makes, and the last row is what the optimizer
# keeps for each of them:

# %%
recorded = [node for node in nodes if not hasattr(node, "variable")]
recorded.sort(key=lambda node: node._sequence_nr())
operators = [name for name in forward if name != "detach"]


def learned(node):
    """The Parameters whose gradients a node makes."""
    after = [after for after, _ in node.next_functions]
    return [parameters[id(one.variable)] for one in after if hasattr(one, "variable")]


# ---
print("forward, down     backward, up         gradient of")
for operator, node in zip(operators, recorded, strict=True):
    print(f"{operator:17} {node.name():20}", *learned(node))
print("the optimizer keeps", *optimizer.state[weight])

# %% [markdown]
# Follow `0.weight`: forward transposes it (the first row) and multiplies (the second). On the way back the gradient
# passes the same two rows upward and becomes the `.grad` of `0.weight`, and the optimizer turns that into two averages
# and a write.
#
# The map leaves out who acts. In which order do these seven things happen, for the call of `addmm` in the first layer?
# In the notebook, write the seven letters into `mine` and run the cell: it
# prints your order and tells how many are in their place. In a browser, answer in your head, and then open the fold of
# the cell, where they stand in order.

# %%
ORDER = [
    "A module calls the operator.",
    "The kernel for AutogradCPU starts.",
    "The kernel for CPU computes.",
    "The result gets its node.",
    "The old gradients are dropped.",
    "The engine runs the node.",
    "The optimizer writes the Parameter.",
]
# ---
lettered = dict(zip("abcdefg", sorted(ORDER)))
for letter, event in lettered.items():
    print(letter, event)

mine = ""
for letter in mine:
    print(lettered[letter])
if mine:
    places = zip(mine, ORDER)
    print(sum(lettered[one] == event for one, event in places), "of 7 in place")

# %% [markdown]
# If you are unsure, go back to stops 3 to 6.
#
# ## Where to go on
#
# The [learning path](reference/learning-path.html) has ways through the book, each for one kind of question. To read
# in order, begin with [Tensor](tensor.html). To try yourself, there are [exercises](exercises/index.html).

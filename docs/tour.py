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
# computes, and back. It takes one sitting: plan 45 minutes if you look at every output. The stops end with links
# to the chapters that explain them in full, so you need not understand each detail now. What you should have at the end
# is the order of what happens: at the last stop you fill it in yourself.
#
# The cells of this notebook share one Python, and they ran from the top to the bottom. (On all other pages of the
# book a block is a whole program.) Here are the ten lines, but for two things: the loss is printed, and
# `torch.compile` waits for the ninth stop.

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
# The strides are 3 and 1: the next row begins 3 numbers later. Many operations only change the way of reading. The
# transpose swaps the two strides and copies nothing, so a write through it arrives in `x`:

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

# %% [markdown]
# A `Parameter` is a tensor that by default requires grad, and that a module lists. The optimizer got this list, not a
# copy of the numbers, so what it writes is what the model reads in the next step.
#
# *In full:* [Modules](modules.html).
#
# ## 3. A call becomes operators
#
# `model(x)` calls three modules. PyTorch sees something finer: the *operators* that they call, which are functions on
# tensors with a name, such as `addmm`. A dispatch mode is an object that PyTorch calls in place of each operator. Ours
# notes the name, and then lets the operator run:

# %%
from torch.utils._python_dispatch import TorchDispatchMode


class Operators(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        names.append(func.overloadpacket.__name__)
        return func(*args, **(kwargs or {}))


# ---
names = []
with Operators():
    loss = nn.functional.cross_entropy(model(x), target)
forward = list(names)
print("forward:", *forward)

# %% [markdown]
# The first linear layer is `t` (the view from the first stop) and `addmm`, a matrix product with the bias added.
# `cross_entropy` is `_log_softmax` and `nll_loss_forward`. The two calls of `detach` are nobody's line: autograd, the
# part of PyTorch that records for backward, makes them when it saves the result of the operator before.
#
# One operator has many *kernels*, functions that compute it: one for the CPU, one for CUDA, one that records what
# backward will need. Each of these jobs has a name, its key: `CPU`, `CUDA`, `AutogradCPU`. A tensor carries the keys of
# the jobs that it may need, and the *dispatcher* runs the kernel of the highest key that a call's tensors carry. It
# skips a key that is switched off, and one that has nothing to do for this operator. Here are the keys of `x` and of
# the loss, and two kernels of `addmm`. (The two functions of `torch._C` are private: fine for looking, not for
# building on.)

# %%
weight = model[0].weight
print("x:     ", torch._C._dispatch_keys(x))
print("result:", torch._C._dispatch_keys(loss))
table = torch._C._dispatch_dump_table("aten::addmm").splitlines()
for line in table:
    if line.startswith(("CPU:", "AutogradCPU:")):
        print(line.split(" [")[0].replace("/__w/pytorch/pytorch/", ""))

# %% [markdown]
# Keys are printed from the lowest to the highest. Two of the four are skipped in a call of `addmm`: mixed precision,
# `AutocastCPU`, is switched off, and `ADInplaceOrView` has nothing to do for `addmm`. So two kernels run, one after the
# other. The one for `AutogradCPU` notes how to go back, and calls `addmm` again without the keys of autograd. This
# second call ends in the one for `CPU`, which computes. (Our mode sees a call only after autograd, so it noted the
# second.) `x` has the key of autograd, too, although it does not require grad: the kernel finds out that there is
# nothing to note. The rows name the files of PyTorch that registered the two kernels. Both files are generated when
# PyTorch is built; the number is a line in the file.
#
# *In full:* [Tensor types](tensor-types.html), [Forward](forward.html), [Dispatcher](dispatcher.html).
#
# ## 4. Forward leaves a graph
#
# What the kernels for autograd noted hangs on the result. `loss.grad_fn` is a *node*: it knows how to turn the
# gradient of its result into the gradients of its inputs, and which nodes come next. We walk from the loss and
# print each node with the shapes of what it has saved:


# %%
def saved(node):
    """The shapes of the tensors that a node has saved."""
    names = [name for name in dir(node) if name.startswith("_saved_")]
    values = [getattr(node, name) for name in names]
    tensors = [value for value in values if isinstance(value, torch.Tensor)]
    return [tuple(tensor.shape) for tensor in tensors]


# ---
nodes = [loss.grad_fn]
for node in nodes:
    following = [after for after, _ in node.next_functions if after]
    nodes += [after for after in following if after not in nodes]
for node in nodes:
    print(f"{node.name().split('::')[-1]:20}", *saved(node))

# %% [markdown]
# The list begins at the loss, then come the nodes one step further back, then two steps, and so on. `NllLossBackward0`
# belongs to the last operator of forward. It has saved the logarithms, the targets, and the number by which the loss
# was divided. The four `AccumulateGrad` nodes are the ends, one for each Parameter, and write its `.grad`. `ReluBackward0` has saved its result of
# shape (8, 4): where that is 0, no gradient passes. The lower `AddmmBackward0`, that of the first layer, has saved `x`
# and not the weight, because the weight would be needed for the gradient of `x` only, and nobody wants that. Saved
# tensors are one reason why training needs more memory than prediction. Gradients, the optimizer's state and what
# backward makes on its way are the others.
#
# *In full:* [Forward](forward.html), [Saved tensors](saved-tensors.html).
#
# ## 5. Backward runs the graph
#
# `zero_grad()` drops the gradients of the last step; it sets `.grad` to None. Then `backward()` runs the nodes. A
# *hook*, a function of ours that is called before a node, notes when its turn comes:

# %%
order = []
for node in nodes:
    name = node.name().split("::")[-1]
    node.register_prehook(lambda grads, name=name: order.append(name))
optimizer.zero_grad()
print("grad before:", weight.grad)
loss.backward()
print(*order)
print("grad after: ", tuple(weight.grad.shape))

# %% [markdown]
# The *engine*, the loop that runs the nodes, begins at the loss. A node is ready when all its gradients have come. Of
# the nodes that are ready the engine takes an `AccumulateGrad` first, and else the one that forward made last. Now
# each `.grad` is a tensor of the shape of its Parameter. Is it right? The gradient of cross entropy for its input is
# a short formula: the probabilities, minus 1 for the right class, divided by the number of samples. From there on it
# is matrix products, and a mask for the ReLU:

# %%
with torch.no_grad():
    hidden = model[1](model[0](x))
    p = model[2](hidden).softmax(1)
    grad_output = (p - nn.functional.one_hot(target, 2)) / len(target)
    grad_hidden = (grad_output @ model[2].weight) * (hidden > 0)
    by_hand = grad_hidden.t() @ x
print("as autograd's:", torch.allclose(by_hand, weight.grad, atol=1e-6))

# %% [markdown]
# *In full:* [NumPy](numpy.html), [Backward](backward.html), [Gradients](gradients.html).
#
# ## 6. The optimizer writes
#
# `step()` reads `.grad`, updates what it remembers about each Parameter, and writes the Parameter in place. AdamW
# remembers two averages, of the gradient and of its square, and how many steps it has made:

# %%
before = weight.detach().clone()
version = weight._version
optimizer.step()
for name, value in optimizer.state[weight].items():
    print(f"{name:10} shape {tuple(value.shape)}")
change = (weight - before).abs().max().item()
print(f"largest change {change:.3f} with a learning rate of 0.01")
print("writes to the weight:", weight._version - version)

# %% [markdown]
# Adam divides the average gradient by the size that gradients usually have. So a number moves by about the learning
# rate in its first steps, and by less when the gradients shrink, as here after 100 steps. The last row counts
# in-place operations on the weight: AdamW makes one for weight decay and one for the step. Every tensor has such a
# counter. A node notes the count when it saves a tensor, and backward compares: if somebody has overwritten what was
# saved, it raises an error.
#
# *In full:* [Optimizer](optimizer.html), [Update rules](update-rules.html), [Schedulers](schedulers.html).
#
# ## 7. Where the bytes are
#
# Now we weigh such a step. `MemTracker` (private) is a dispatch mode, too. It sorts the bytes of all tensors by
# what they are for, and keeps the sums of the moment when most are alive. We make the batch 64 times as
# large, so that it counts:

# %%
from torch.distributed._tools.mem_tracker import MemTracker

large, labels = x.repeat(64, 1), target.repeat(64)


def train():
    loss = nn.functional.cross_entropy(model(large), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


# ---
tracker = MemTracker()
tracker.track_external(model, optimizer, large, labels)
with tracker:
    train()
for kind, size in tracker.get_tracker_snapshot("peak")[x.device].items():
    print(f"{getattr(kind, 'value', kind):10} {size:6}")

# %% [markdown]
# The parameters are 104 bytes, and the optimizer keeps twice as much (and 4 bytes for each step count). Most of the
# peak is `Activation` and `Temp`: what forward computed and backward still needs at this moment, and what backward
# computes on the way. `Gradient` is small, because only the last layer has its gradients by then. Activations and
# temporaries grow with the batch, and so does `Other`, the batch itself. The parameters do not.
#
# *In full:* [Memory](memory.html), [Leaks](leaks.html), [The allocator](allocator.html).
#
# ## 8. Memory for time, and a profile
#
# *Checkpointing* keeps only the input of a part of the model, and runs that part again during backward, as far as
# backward needs it. We count both sides of the trade: the bytes that forward saves, and the matrix products that
# backward runs.

# %%
from torch.autograd.graph import saved_tensors_hooks
from torch.utils.checkpoint import checkpoint


def kept(forward):
    """The bytes that forward saves, and the matrix products in backward."""
    own, sizes = {w.data_ptr() for w in model.parameters()}, {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            sizes[storage.data_ptr()] = storage.nbytes()
        return tensor

    with saved_tensors_hooks(pack, lambda tensor: tensor):
        loss = nn.functional.cross_entropy(forward(), labels)
    names.clear()
    with Operators():
        loss.backward()
    return sum(sizes.values()), names.count("mm") + names.count("addmm")


# ---
ways = {
    "plain": lambda: model(large),
    "checkpointed": lambda: checkpoint(model, large, use_reentrant=False),
}
for name, way in ways.items():
    size, products = kept(way)
    print(f"{name:12} {size} bytes saved, {products} products in backward")

# %% [markdown]
# The difference in bytes is the result of the ReLU, 8 kilobytes. The price is one product: backward ran the first
# layer again. It did not need to run the second one again, because that layer has to save only its input. (Both
# numbers are larger than the activations of the seventh stop: the batch is among them, and what the loss has let go
# before the peak.)
#
# How many calls does one step make? A profile records each operator with its place in the tree of calls. Here are the
# events of one step by who called them, and the floating-point operations of the matrix products:

# %%
from torch.profiler import ProfilerActivity, profile, record_function


PRODUCTS = ("aten::mm", "aten::addmm")


def below(event):
    """The events within an event."""
    within = [one for child in event.cpu_children for one in below(child)]
    return [*event.cpu_children, *within]


# ---
optimizer.zero_grad()
with profile(activities=[ProfilerActivity.CPU], with_flops=True) as prof:
    with record_function("forward"):
        loss = nn.functional.cross_entropy(model(x), target)
    with record_function("backward"):
        loss.backward()
    with record_function("step"):
        optimizer.step()

for event in prof.events():
    if event.name in ("forward", "backward", "step"):
        flops = [one.flops for one in below(event) if one.name in PRODUCTS]
        print(f"{event.name:9} {len(below(event)):4} events,", end=" ")
        print(len(flops), f"products of {sum(flops):3} flops")

# %% [markdown]
# The step of the optimizer has the most events, and no product at all. (There are more events than operators in the
# third stop, because operators call others.)
#
# *In full:* [Less memory](less-memory.html), [Profiling](profiling.html), [Measuring](measuring.html).
#
# ## 9. What compile makes of it
#
# `torch.compile` replaces the way from Python to the kernels. The first call of a compiled model runs your Python
# under observation and writes down the operators as a graph, forward and backward; a *backend* makes code of the
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
# Each graph is printed once, although the function ran twice: the second call used the code of the first. Before,
# it checked the [guards](compile.html), the conditions under which this code is right: the same shapes and dtypes,
# for example. The forward graph holds the operators of the third stop (each `getitem` only takes a result out of a
# pair). The backward graph was derived together with it, in the first call. Our backend got it only when
# `backward()` ran.
#
# The backend that you get if you name none is Inductor. It merges the operators of a graph into loops and writes
# them in C++ for a CPU, or in Triton, a language for the kernels of a GPU:

# %%
import re

from torch._inductor.utils import run_and_get_code

# ---
torch.compiler.reset()
with torch.no_grad():
    _, (code,) = run_and_get_code(torch.compile(loss_of), x)
call = code[code.index("def call(") :]
for kind in ("extern_kernels", "cpp_fused"):
    called = re.findall(rf"(?m)^ +({kind}[\w.]*)\(", call)
    print(f"{kind:15}", len(called), "calls")

# %% [markdown]
# The first row counts the products, which Inductor leaves to a library. The second counts loops that it wrote
# itself.
#
# *In full:* [Compile](compile.html), [Graph breaks](graph-breaks.html), [Inductor](inductor.html).
#
# ## 10. The map
#
# That was one step of training. Each operator below went the way of the third stop: the dispatcher ran its kernel for
# autograd, which left a node, and then its kernel for the CPU. Here is the step as one picture, made from the nodes
# of the fourth stop and the operators of the third. Forward runs down on the left. Each operator has left the node
# beside it, and backward runs the nodes from the bottom to the top. (That is the order of time. An `AddmmBackward0`
# sends one gradient to the `TBackward0` above it, for the weight, and one past it, to the ReLU.) To the right are the
# gradients that a node passes to Parameters.
# `step()` reads them. The last row is what it writes for each:

# %%
names = {id(w): name for name, w in model.named_parameters()}
recorded = [node for node in nodes if not hasattr(node, "variable")]
recorded.sort(key=lambda node: node._sequence_nr())
operators = [name for name in forward if name != "detach"]


def written(node):
    """The gradients that a node passes to Parameters."""
    after = [after for after, _ in node.next_functions]
    leaves = [one.variable for one in after if hasattr(one, "variable")]
    return [f"> {names[id(w)]}.grad" for w in leaves]


# ---
print("  forward            backward              step() reads")
for operator, node in zip(operators, recorded, strict=True):
    print(f"v {operator:16} ^ {node.name():19}", *written(node))
print("> the loss           ^ 1.0, where backward begins")
print()
print("step() writes", *optimizer.state[weight], "and the Parameter")

# %% [markdown]
# Follow `0.weight`: forward transposes it (the first row) and multiplies (the second). On the way back the gradient
# passes the same two rows upward, becomes `0.weight.grad`, and the optimizer turns it into two averages and a
# write.
#
# The map leaves out who acts. Which seven words answer the seven rows below? In the notebook (its link is at the top
# of this page), write them into `mine` and run the cell: it tells how many are in their place. In a browser, answer
# in your head, and then open the fold of the cell, where the words stand in their order.

# %%
QUESTIONS = (
    "You call it, and it calls functions of PyTorch.",
    "What the dispatcher knows such a function as.",
    "Runs first, because its key is the highest that is on.",
    "What it leaves behind for backward.",
    "Runs next, and computes.",
    "What backward leaves in each Parameter.",
    "Reads that, and writes the Parameter.",
)
ANSWERS = [
    *("module", "operator", "AutogradCPU kernel", "node"),
    *("CPU kernel", "gradient", "optimizer"),
]
# ---
print("words:", *sorted(ANSWERS), sep="\n  ")
mine = ["?", "?", "?", "?", "?", "?", "?"]
for number, (question, word) in enumerate(zip(QUESTIONS, mine), 1):
    print(f"{number} {word:19} {question}")
print(sum(map(str.__eq__, ANSWERS, mine)), "of 7 in place")

# %% [markdown]
# If you are unsure, go back to stops 2 to 6. The [home page](index.html#the-map) has the whole map as a drawing,
# with both ways from a line of Python to a kernel: the one that we took, and the compiled one.
#
# ## Where to go on
#
# The [learning path](reference/learning-path.html) has ways through the book, each for one kind of question. To read in
# order, begin with [Tensor](tensor.html). To try yourself, there are [exercises](exercises/index.html).

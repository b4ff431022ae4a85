"""Compare hooks in toytorch with those of torch: which gradients they see, in which order, and what arrives at x."""

from check import compare
from ladder.rungs import both, torch, toytorch, values

ADDED = {"look": None, "double": 2.0, "negate": -1.0}
CASES = (
    (("look",), None),
    (("double",), None),
    (("double", "look"), None),
    (("look", "double", "negate", "look"), None),
    (("double", "negate"), 0),
    (("negate", "double", "look"), 1),
)


def run(register):
    """What hooks with these names saw, and the gradient of x; the tensor y is used twice."""

    def run(names, removed):
        package = toytorch if register is not RIGHT else torch
        seen, x = [], package.tensor([1.0, -2.0], requires_grad=True)
        y = x * x
        handles = [register(y, hook(name, seen)) for name in names]
        if removed is not None:
            handles[removed]()
        (y * 3.0 + y.tanh()).sum().backward()
        return seen, values(x.grad)

    return run


def hook(name, seen):
    def hook(grad):
        seen.append((name, values(grad)))
        return grad * ADDED[name] if ADDED[name] else None

    return hook


def RIGHT(tensor, hook):  # noqa: N802 - the right register_hook
    return tensor.register_hook(hook).remove


def rival(latest=False, last_only=False, keeps=False, returns=True, all_removed=False):
    def register(tensor, hook):
        node = tensor.grad_fn
        if "hooks" not in vars(node):
            node.hooks, apply = [], node.apply

            def hooked(grad):
                for one in node.hooks[::-1] if latest else node.hooks[-1:] if last_only else node.hooks:
                    changed = one(grad)
                    grad = grad if changed is None or not returns else changed
                return apply(grad)

            node.apply = hooked
        node.hooks.append(hook)
        return (lambda: None) if keeps else node.hooks.clear if all_removed else lambda: node.hooks.remove(hook)

    return run(register)


IDEAS = {
    "You may have wrapped apply once for each hook. The outermost function runs first, which is the hook that was "
    "registered last. The hook that was registered first has to run first.": rival(latest=True),
    "You may have kept one hook only, the last. A tensor may have many.": rival(last_only=True),
    "You may have thrown away what the hook returns. It replaces the gradient, for the hooks after it and for the "
    "node.": rival(returns=False),
    "You may have left a hook in place when it is taken away.": rival(keeps=True),
    "You may have taken away all hooks of the tensor. The function that register_hook returns is for one of "
    "them.": rival(all_removed=True),
}


def check(work):
    otherwise = "Each hook sees the sum of all gradients of y, and what it returns goes on unless that is None."
    compare("hooks", CASES, run(work.register_hook), run(RIGHT), IDEAS, otherwise)

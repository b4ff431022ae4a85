# says: kept one hook only
"""The node gets another apply, once, and a list of hooks."""


def register_hook(tensor, hook):
    node = tensor.grad_fn
    if "hooks" not in vars(node):
        node.hooks, apply = [], node.apply

        def hooked(grad):
            for one in node.hooks:
                changed = one(grad)
                grad = grad if changed is None else changed
            return apply(grad)

        node.apply = hooked
    node.hooks[:] = [hook]
    return lambda: hook in node.hooks and node.hooks.remove(hook)

# says: neither tensor nor number
"""The node gets another apply, once, and a list of hooks."""


def register_hook(tensor, hook):
    node = tensor.grad_fn
    if "hooks" not in vars(node):
        node.hooks, apply = [], node.apply

        def hooked(grad):
            for one in node.hooks:
                grad = one(grad)
            return apply(grad)

        node.apply = hooked
    node.hooks.append(hook)
    return lambda: node.hooks.remove(hook)

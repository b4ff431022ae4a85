# says: wrapped apply once for each hook
"""Wraps apply again and again."""


def register_hook(tensor, hook):
    node, active = tensor.grad_fn, [hook]
    apply = node.apply

    def hooked(grad):
        for one in active:
            changed = one(grad)
            grad = grad if changed is None else changed
        return apply(grad)

    node.apply = hooked
    return active.clear

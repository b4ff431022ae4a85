"""What takes a hook away again (torch/utils/hooks.py)."""


class RemovableHandle:
    def __init__(self, hooks, hook):
        self.hooks, self.hook = hooks, hook
        hooks[id(self)] = hook

    def remove(self):
        self.hooks.pop(id(self), None)

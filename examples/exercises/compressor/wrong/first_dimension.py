# says: One scale for each index of the first dimension
"""Takes the first dimension for the rows."""

import torch


def hooks(parameters):
    home = {p.untyped_storage().data_ptr() for p in parameters}

    def pack(t):
        t = t.detach()
        if t.numel() < 64 or not t.is_floating_point() or t.untyped_storage().data_ptr() in home:
            return t, t._version
        scale = t.abs().amax(list(range(min(1, t.dim() - 1), t.dim())), keepdim=True) / 127
        steps = (t / scale.where(scale > 0, 1)).round().clamp(-127, 127)
        steps = steps.where(steps != 0, t.sign())
        return steps.to(torch.int8), scale, t.dtype

    def unpack(kept):
        if len(kept) == 3:
            steps, scale, dtype = kept
            return steps.to(dtype) * scale
        t, version = kept
        if t._version != version:
            raise RuntimeError(f"a saved tensor was at version {version} and is at version {t._version}")
        return t

    return pack, unpack

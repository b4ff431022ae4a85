# says: off by one is another label
"""Rounds whole numbers, too."""

import torch


def hooks(parameters):
    home = {p.untyped_storage().data_ptr() for p in parameters}

    def pack(t):
        t = t.detach()
        if t.numel() < 64 or t.dtype == torch.bool or t.untyped_storage().data_ptr() in home:
            return t, t._version
        scale = (t / 127).abs().amax(-1, keepdim=True)
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

"""A row becomes whole numbers from -127 to 127 and one scale; all else is kept with its version."""

import torch


def hooks(parameters):
    home = {p.untyped_storage().data_ptr() for p in parameters}

    def pack(t):
        t = t.detach()  # a result must not hold its own node
        if t.numel() < 64 or not t.is_floating_point() or t.untyped_storage().data_ptr() in home:
            return "as it is", t, t._version
        scale = t.abs().amax(-1, keepdim=True) / 127
        divisor = scale.where(scale > 0, 1)  # for a row of zeros
        steps = (t / divisor).round().clamp(-127, 127)  # bfloat16 can round to 128
        steps = steps.where(steps != 0, t.sign())  # only 0 becomes 0
        return "rounded", steps.to(torch.int8), scale, t.dtype

    def unpack(kept):
        how, t, *more = kept
        if how == "rounded":
            scale, dtype = more
            return t.to(dtype) * scale
        if [t._version] != more:
            raise RuntimeError(f"a saved tensor was at version {more[0]} and is at version {t._version}")
        return t

    return pack, unpack

"""Walk through one step and note what is alive at each moment."""

from itertools import pairwise


def layers(widths):
    """The bytes of each linear layer, weight and bias."""
    return [4 * (a * b + b) for a, b in pairwise(widths)]


def always(widths, optimizer):
    parameters = sum(layers(widths))
    counts = 4 * 2 * len(layers(widths))  # a step count for each tensor
    state = {"SGD": 0, "momentum": parameters, "Adam": 2 * parameters + counts}
    return parameters + state[optimizer]


def saved(widths, batch):
    return 4 * batch * sum(widths[1:-1])  # the results of ReLU


def peak(widths, batch, optimizer, clear):
    sizes, rows = layers(widths), [4 * batch * width for width in widths]
    base = always(widths, optimizer) + rows[0]
    old_gradients = sum(sizes) if clear == "after" else 0
    kept, moments = 0, []
    for hidden in rows[1:-1]:
        # ReLU: its input and its result
        moments.append(base + old_gradients + kept + 2 * hidden)
        kept += hidden
    moments.append(base + old_gradients + kept + rows[-1] + 4)  # y and the loss

    gradients, coming = 0, 0  # the gradient of y is one number, expanded
    for i in reversed(range(len(sizes))):
        going = rows[i] if i else 0  # x needs no gradient
        gradients += sizes[i]
        # 8: the loss, and the number that backward starts from
        moments.append(base + 8 + kept + gradients + coming + going)
        if i:
            moments.append(base + 8 + kept + gradients + 2 * going)  # ReLU
            kept -= rows[i]
        coming = going

    # optimizer.step(): the loss is alive, the gradient of the loss is not
    temporaries = sum(sizes) if optimizer == "Adam" else 0  # foreach
    moments.append(base + 4 + gradients + temporaries)
    return max(moments)

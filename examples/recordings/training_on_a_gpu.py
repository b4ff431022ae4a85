"""What makes a training step on a GPU short or small: attention, precision, copies, parts; sections for the pages."""

import torch
from gpu import peak, profiled, seconds, section
from torch import nn
from torch.nn.functional import conv2d, cross_entropy, scaled_dot_product_attention
from torch.utils.checkpoint import checkpoint_sequential


def deep(width, layer, count, end=()):
    """`count` times a linear layer of this width and `layer`, on the GPU, from seed 0."""
    torch.manual_seed(0)
    return nn.Sequential(*(part for _ in range(count) for part in (nn.Linear(width, width), layer())), *end).cuda()


with section("attention"), torch.no_grad():
    torch.manual_seed(0)
    full = torch.randn(8, 16, 2048, 64, device="cuda")

    def written_out(q):
        return ((q @ q.mT) * q.shape[-1] ** -0.5).softmax(-1) @ q

    def fused(q):
        return scaled_dot_product_attention(q, q, q)

    print(f"{'':22}{'operator':22}  MiB   time")
    taken = []
    for q in (full, full.bfloat16()):
        for attention in (written_out, fused):
            attention(q)
            events, _ = profiled(attention, q)
            used = peak(lambda q=q, attention=attention: attention(q))
            taken.append(seconds(attention, q, times=10))
            ran = [one.name.removeprefix("aten::_scaled_dot_product_") for one in events if "_scaled_dot" in one.name]
            name = f"{str(q.dtype)[6:]:9}{attention.__name__.replace('_', ' '):13}"
            print(f"{name}{(ran or ['bmm, softmax, bmm'])[0]:22}{used:5}{taken[-1] / taken[0]:7.0%}")

with section("convolutions"):
    torch.manual_seed(0)
    image, weight = torch.randn(32, 128, 56, 56, device="cuda"), torch.randn(128, 128, 3, 3, device="cuda")
    exact, default = conv2d(image.double(), weight.double()), torch.backends.cudnn.allow_tf32
    print("torch.backends.cudnn    largest error   time")
    taken = []
    for allowed in (default, not default):
        torch.backends.cudnn.allow_tf32 = allowed
        conv2d(image, weight)
        taken.append(seconds(conv2d, image, weight))
        error = (conv2d(image, weight).double() - exact).abs().max()
        print(f"allow_tf32={allowed!s:10}{error:16.5f}{taken[-1] / taken[0]:7.0%}")
    torch.backends.cudnn.allow_tf32 = default

with section("step"):
    model = deep(4096, nn.GELU, 8, [nn.Linear(4096, 2)])
    x, target = torch.randn(8192, 4096, device="cuda"), torch.zeros(8192, dtype=torch.long, device="cuda")

    def step(precision, low):
        torch.set_float32_matmul_precision(precision)
        with torch.autocast("cuda", torch.bfloat16, enabled=low):
            loss = cross_entropy(model(x), target)
        loss.backward()
        model.zero_grad()

    print(f"{'':12}{'MiB':>5}   time")
    taken = []
    for name, *options in (("float32", "highest", False), ("TF32", "high", False), ("autocast", "highest", True)):
        step(*options)
        taken.append(seconds(step, *options, times=10))
        used = peak(lambda options=options: step(*options))
        print(f"{name:12}{used:5}{taken[-1] / taken[0]:7.0%}")
    torch.set_float32_matmul_precision("highest")

with section("overlap"):
    batches = [torch.randn(4096, 4096).pin_memory() for _ in range(16)]
    w, there = (torch.randn(4096, 4096, device="cuda") for _ in range(2))
    second = torch.cuda.Stream()

    def copies():
        for batch in batches:
            there.copy_(batch, non_blocking=True)

    def products():
        for _ in batches:
            there @ w

    def one_stream():
        for batch in batches:
            batch.to("cuda", non_blocking=True) @ w

    def fetch(batch):
        with torch.cuda.stream(second):
            return batch.to("cuda", non_blocking=True), second.record_event()

    def two_streams():
        """The next batch is copied while this one is multiplied."""
        coming = fetch(batches[0])
        for following in [*batches[1:], None]:
            x, ready = coming
            coming = following is not None and fetch(following)
            torch.cuda.current_stream().wait_event(ready)
            x.record_stream(torch.cuda.current_stream())
            x @ w

    for call in (copies, products, one_stream, two_streams):
        call()
    taken = [seconds(call, times=10) for call in (copies, products, one_stream, two_streams)]
    for name, one in zip(("copies alone", "products alone", "one stream", "two streams"), taken, strict=True):
        print(f"{name:15}{one / taken[2]:5.0%}")

with section("parts"):
    print("segments parts   width 1024  width 4096")
    rows = dict.fromkeys(((1, 1), (4, 1), (1, 4), (4, 4)), "")
    for width, samples in ((1024, 4096), (4096, 8192)):
        model, x, first = deep(width, nn.Tanh, 16), torch.randn(samples, width, device="cuda"), None

        def train(segments, parts, model=model, x=x):
            for part in x.chunk(parts):
                checkpoint_sequential(model, segments, part, use_reentrant=False).sum().backward()
            model.zero_grad()

        for row in rows:
            train(*row)
            taken = seconds(train, *row, times=10)
            first = first or taken
            rows[row] += f"{taken / first:12.0%}"
    for (segments, parts), said in rows.items():
        print(f"{segments:8}{parts:6} {said}")

with section("busy"):
    print("width  samples  kernels in a step  GPU busy")
    for width, samples in ((64, 64), (1024, 1024), (4096, 8192)):
        model = deep(width, nn.GELU, 8, [nn.Linear(width, 2)])
        optimizer = torch.optim.AdamW(model.parameters())
        x, target = torch.randn(samples, width, device="cuda"), torch.zeros(samples, dtype=torch.long, device="cuda")

        def ten_steps(model=model, optimizer=optimizer, x=x, target=target):
            for _ in range(10):
                optimizer.zero_grad()
                cross_entropy(model(x), target).backward()
                optimizer.step()

        _, kernels = profiled(ten_steps)
        kernels = sorted((k.time_range.start, k.time_range.end) for k in kernels if "Buffer" not in k.name)
        work, reached = 0, kernels[0][0]
        for start, end in kernels:  # some overlap
            work += max(0, end - max(start, reached))
            reached = max(reached, end)
        print(f"{width:5}{samples:9}{len(kernels) // 10:19}{work / (reached - kernels[0][0]):10.0%}")

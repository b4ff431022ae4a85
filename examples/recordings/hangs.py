import datetime

import torch
import torch.distributed as dist

# A collective that waits behind other work of its GPU, past its time-out
# --8<-- [start:hang]
store, timeout = dist.HashStore(), datetime.timedelta(seconds=2)
dist.init_process_group("nccl", store=store, rank=0, world_size=1, timeout=timeout)
x = torch.ones(3, device="cuda")
dist.all_reduce(x)
torch.cuda.synchronize()
torch.cuda._sleep(2 * 10**11)  # cycles, more than a minute
dist.all_reduce(x)
print("all_reduce returned", flush=True)
print(x.sum().item())
# --8<-- [end:hang]

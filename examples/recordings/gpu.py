"""What the programs share that record a GPU: a section stands between two marks, for the pages to include."""

import contextlib
import statistics
import subprocess
import sys
import textwrap
import time

import torch
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile

if not torch.cuda.is_available():
    print("skipped: no CUDA device")
    sys.exit(77)  # the status by which test runners know a skip

MB = 2**20


def smi(field):
    command = ["nvidia-smi", f"--query-gpu={field}", "--format=csv,noheader,nounits"]
    return subprocess.check_output(command, text=True).strip()


WHERE = f"{torch.cuda.get_device_name()}\ndriver {smi('driver_version')}, torch {torch.__version__}\n"


@contextlib.contextmanager
def section(name):
    """Says first where it was recorded."""
    print(f"--8<-- [start:{name}]", WHERE, sep="\n")
    yield
    print(f"--8<-- [end:{name}]", flush=True)


def message(code, call):
    print(f">>> {code}")
    try:
        call()
    except (RuntimeError, TypeError) as error:
        print(textwrap.fill(str(error), 76))
    else:
        raise AssertionError("nothing was refused")


def seconds(call, *args, times=50):
    """The median time of a call, from a GPU that has nothing to do until it has nothing to do again."""
    measured = []
    for _ in range(times):
        torch.cuda.synchronize()
        start = time.perf_counter()
        call(*args)
        torch.cuda.synchronize()
        measured.append(time.perf_counter() - start)
    return statistics.median(measured)


def profiled(call, *args):
    """The events of a call, and those of them that are work of the GPU; the first profile has work of its own."""
    for _ in range(2):
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as prof:
            call(*args)
            torch.cuda.synchronize()
    return prof.events(), [event for event in prof.events() if event.device_type == DeviceType.CUDA]


def peak(call):
    """The most MiB that were requested at a time during a call, beyond those before it."""
    torch.cuda.synchronize()
    before = torch.cuda.memory_stats()["requested_bytes.all.current"]
    torch.cuda.reset_peak_memory_stats()
    call()
    return (torch.cuda.memory_stats()["requested_bytes.all.peak"] - before) // MB

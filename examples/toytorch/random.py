"""The default generator of the CPU and what it draws (ATen/core/MT19937RNGEngine.h, DistributionsHelper.h,
aten/src/ATen/native/cpu/DistributionTemplates.h)."""

import math

import numpy as np

from .dispatch import library
from .factories import from_array
from .storage import TORCH_CHECK, float32, int64


class Generator:
    def manual_seed(self, seed):
        self.engine = np.random.RandomState(seed & 0xFFFFFFFF)  # the same Mersenne Twister
        self.next_normal_sample = None
        return self

    def random(self, n):
        """The next n words of 32 bits."""
        return np.frombuffer(self.engine.bytes(4 * n), "<u4")

    def uniform(self, n):
        """Float32 numbers in [0, 1): 24 bits of a word each."""
        return (self.random(n) & 0xFFFFFF).astype(np.float32) * np.float32(2**-24)

    def uniform64(self, n):
        high, low = self.random(2 * n).reshape(n, 2).astype(np.uint64).T
        return ((high << np.uint64(32) | low) & np.uint64(2**53 - 1)) * 2.0**-53

    def normal(self):
        """One number of a pair; the other waits for the next call."""
        if self.next_normal_sample is not None:
            sample, self.next_normal_sample = self.next_normal_sample, None
            return sample
        u1, u2 = self.uniform64(2)
        radius, theta = np.sqrt(-2 * np.log1p(-u2)), 2 * np.pi * u1
        self.next_normal_sample = radius * np.sin(theta)
        return radius * np.cos(theta)

    def normal_fill(self, n):
        """16 or more numbers: in blocks of 16, the first 8 of a block paired with the last 8."""
        data = self.uniform(n)
        for start in range(0, n - 15, 16):
            self.normal_fill_16(data[start : start + 16])
        if n % 16:
            data[-16:] = self.uniform(16)
            self.normal_fill_16(data[-16:])
        return data

    def normal_fill_16(self, data):
        radius, theta = np.sqrt(-2 * np.log(1 - data[:8])), np.float32(2 * np.pi) * data[8:]
        data[:8], data[8:] = radius * np.cos(theta), radius * np.sin(theta)


default_generator = Generator().manual_seed(67280421310721)
manual_seed = default_generator.manual_seed


@library("BackendSelect")
def randn(size, dtype=float32, device="cpu"):
    n = math.prod(size)
    numbers = [default_generator.normal() for _ in range(n)] if n < 16 else default_generator.normal_fill(n)
    return from_array(np.reshape(numbers, size), dtype, device)


@library("BackendSelect")
def randint(low, high=None, size=None, dtype=int64, device="cpu"):
    low, high, size = (low, high, size) if size is not None else (0, low, high)
    TORCH_CHECK(low < high, f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    words = default_generator.random(math.prod(size)).astype(np.int64)
    return from_array((words % (high - low) + low).reshape(size), dtype, device)


@library("CPU")
def uniform_(self, low=0.0, high=1.0):
    numbers = default_generator.uniform(self.numel()) * np.float32(high - low) + np.float32(low)
    self.array()[...] = numbers.reshape(self.shape)
    return self
